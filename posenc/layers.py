"""Models whose layers alternate: how far each layer attends, and whether it rotates.

One layer in every few is open: it attends to the whole sequence, and in some models it goes
without RoPE. The others attend to a window or to their piece of the sequence; in SmolLM3 they
attend to all of it, and only the rotation alternates. `posenc.read_config` reads which base and
which rule the layers of each type have.
"""

from __future__ import annotations

from typing import NamedTuple

from posenc._arguments import as_choice, as_integer


class Rule(NamedTuple):
    """In each group of `every` layers the last is open, or the `first`; what the others are."""

    every: int
    others: str
    first: bool = False


# Model types whose layers rotate only where attention has a window: full attention goes without.
WINDOWED = (
    "afmoe", "cohere2", "cohere2_moe", "exaone4", "exaone_moe", "flint", "kolibri1", "lara_mini",
)  # fmt: skip
# Those with layers that go without RoPE, listed in `no_rope_layers` or, without it, every fourth.
GAPPED = ("llama4_text", "smollm3")
RULES = {
    "cohere2": Rule(4, "sliding_attention"),
    "gemma2": Rule(2, "sliding_attention"),
    "gemma3_text": Rule(6, "sliding_attention"),
    "gemma3n_text": Rule(5, "sliding_attention"),
    "gpt_oss": Rule(2, "sliding_attention"),
    "llama4_text": Rule(4, "chunked_attention"),
    "modernbert": Rule(3, "sliding_attention", first=True),
    "olmo3": Rule(4, "sliding_attention"),
    "smollm3": Rule(4, "full_attention"),
}


def layer_types(model_type: str, layers: int) -> tuple[str, ...]:
    """Return the type of attention of each layer, first to last.

    Args:
        model_type: as configurations name it, with `_text` for a part that reads text: one of
            "cohere2", "gemma2", "gemma3_text", "gemma3n_text", "gpt_oss", "llama4_text",
            "modernbert", "olmo3" and "smollm3".
        layers: how many layers; an integer, 1 or more.

    Returns:
        For each layer "full_attention", "sliding_attention" (a window) or "chunked_attention"
        (pieces).

    Raises:
        TypeError: `model_type` is not a string, or `layers` not an integer.
        ValueError: the model type is none of these, or `layers` is below 1.

    Source:
        transformers 5.24, where it is the default of `layer_types` in these configurations. One
        that lists its layers, or gives another period, such as `sliding_window_pattern`, overrides
        the default.

    Examples:
        >>> layer_types("cohere2", 5)[2:]
        ('sliding_attention', 'full_attention', 'sliding_attention')
        >>> [layer for layer, kind in enumerate(layer_types("gemma3_text", 26)) if "full" in kind]
        [5, 11, 17, 23]
        >>> [layer for layer, kind in enumerate(layer_types("modernbert", 10)) if "full" in kind]
        [0, 3, 6, 9]
    """
    opens = _open_layers(model_type, layers)
    return tuple("full_attention" if one else RULES[model_type].others for one in opens)


def rotating_layers(model_type: str, layers: int) -> tuple[bool, ...]:
    """Return for each layer, first to last, whether RoPE rotates its queries and keys.

    Args:
        model_type: as in `layer_types`.
        layers: how many layers; an integer, 1 or more.

    Returns:
        For each layer True if it rotates.

    Raises:
        TypeError: `model_type` is not a string, or `layers` not an integer.
        ValueError: the model type is none of those of `layer_types`, or `layers` is below 1.

    Source:
        transformers 5.24. Its `no_rope_layers`, of Llama 4 and SmolLM3, has a 1 for a layer that
        rotates and a 0 for one without RoPE, whatever its name suggests.

    Examples:
        >>> rotating_layers("smollm3", 5)
        (True, True, True, False, True)
        >>> [int(rotates) for rotates in rotating_layers("llama4_text", 8)]  # no_rope_layers
        [1, 1, 1, 0, 1, 1, 1, 0]
        >>> all(rotating_layers("gemma3_text", 62))
        True
    """
    opens = _open_layers(model_type, layers)
    everywhere = model_type not in {*GAPPED, *WINDOWED}
    return tuple(everywhere or not one for one in opens)


def _open_layers(model_type: object, layers: object) -> list[bool]:
    """Return for each layer whether it is the one in every few."""
    every, _, first = RULES[as_choice("model_type", model_type, sorted(RULES))]
    place = 0 if first else every - 1
    return [i % every == place for i in range(as_integer("layers", layers, least=1))]
