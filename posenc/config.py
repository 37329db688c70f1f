"""What a model configuration says about its rotary positions. `read_config` reads one.

Configurations in the manner of transformers, config.json, name the settings in two spellings: old,
`rope_scaling` beside a `rope_theta` of its own, and new, all in `rope_parameters`. Programs differ
in what they read of them, and what a program does not read it takes a default for, silently. Here a
key that is not read is an error.

A key of the whole configuration is not read, and no error, if it is not about positions: if none of
its words is, and it is not a slip of the pen from a key that is read. Inside `rope_scaling` and
`rope_parameters` every key must be one that the rule reads.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from posenc._arguments import _shown, as_integer
from posenc._entries import Entries, agreed, edits, load, nearest, refuse_unknown
from posenc._families import BASE, LOCAL, SAME, SHARE, WIDE, WIDTH, WINDOWED, defaults_of, layout_of
from posenc.frequencies import frequencies
from posenc.scaling import (
    FAST,
    SLOW,
    dynamic_frequencies,
    interpolated_frequencies,
    llama3_frequencies,
    longrope_frequencies,
    longrope_temperature,
    ntk_frequencies,
    proportional_frequencies,
    yarn_frequencies,
    yarn_temperature,
)

# Keys of the same meaning. Where several are given, they must agree.
HIDDEN = ("hidden_size", "n_embd", "d_model")
HEADS = ("num_attention_heads", "n_head", "n_heads", "num_heads")
WIDTHS = (WIDTH, "kv_channels")
LENGTHS = (
    "max_position_embeddings",
    "n_positions",
    "max_sequence_length",
    "max_seq_len",
    "seq_length",
    "n_ctx",
    "model_max_length",
)
BASES = (BASE, "rotary_emb_base", "global_rope_theta")
LOCALS = (LOCAL, "local_rope_theta")
SHARES = (SHARE, "rotary_pct", "rope_pct", "rotary_emb_fraction")
ORIGINAL = "original_max_position_embeddings"
TEXTS = ("text_config", "llm_config", "language_config")
LATENT = ("qk_rope_head_dim", "qk_nope_head_dim", "qk_head_dim")
# Of these, one is enough to tell that a model rotates.
ROTARY = (*BASES, *LOCALS, *SHARES, "rotary_dim", "rope_scaling", "rope_parameters", LATENT[0])
KINDS = ("layer_types", "no_rope_layers", "sliding_window")

READ = {
    *HIDDEN, *HEADS, *WIDTHS, *LENGTHS, *ROTARY, *TEXTS, *LATENT, *KINDS, ORIGINAL, WIDE,
    "model_type", "rope_interleave", "rotary_emb_interleaved", "alibi", "rotary",
    "position_embedding_type", "rotary_value",
}  # fmt: skip
# Written like one of these, or about positions, and of no effect on the rotation.
UNRELATED = {
    "v_head_dim", "hidden_sizes", "layer_type", "v_channels", "num_kv_heads",
    "sliding_window_pattern", "_sliding_window_pattern", "no_rope_layer_interval", "use_mrope",
    "max_window_layers", "rope_dropout", "position_id_per_seconds",
    "in_channels",
}  # fmt: skip
WORDS = {
    "rope", "mrope", "xdrope", "rotary", "rotate", "rotation", "position", "positions",
    "positional", "theta", "freq", "freqs", "frequency", "frequencies", "yarn", "ntk", "longrope",
    "mscale", "alibi", "nope",
}  # fmt: skip

# The keys that each rule reads, beside those that all read.
COMMON = {"rope_type", "type", BASE, SHARE, "mrope_section", "mrope_interleaved"}
STRETCHED = {"factor", ORIGINAL, "attention_factor"}
OF_YARN = {"beta_fast", "beta_slow", "mscale", "mscale_all_dim"}
RULES: dict[str, set[str]] = {
    "default": set(),
    "linear": {"factor"},
    "dynamic": {"factor"},
    "ntk": {"factor", "alpha", *OF_YARN},
    "yarn": {*STRETCHED, *OF_YARN, "truncate", "finetuned", "llama_4_scaling_beta", LENGTHS[0]},
    "longrope": {*STRETCHED, "short_factor", "long_factor", "short_mscale", "long_mscale"},
    "llama3": {"factor", ORIGINAL, "low_freq_factor", "high_freq_factor"},
    "proportional": {"factor"},
}
# Other names of rules. M-RoPE is no rule: it says which position rotates which pair.
SYNONYMS = {"mrope": "default", "su": "longrope", "deepseek_yarn": "yarn"}

NONE = "none"  # the scheme of layers that do not rotate


class RotaryConfig:
    """The rotary settings of a model, or of the layers of one type, as its configuration has them.

    Args:
        config: a configuration, or where one is: see `read_config`.
        layer_type: of which layers, where they differ; see `read_config`.

    Attributes:
        scheme: the rule of the frequencies, as transformers names it: "default", "linear",
            "dynamic", "yarn", "longrope", "llama3" or "proportional"; "ntk" for a larger base; or
            "none" for layers without rotation.
        d: width of one head; of its rotated part where that is a vector of its own, as in
            DeepSeek's latent attention.
        rotary_d: how many of the first dimensions are rotated; 0 if none.
        base: of the frequencies before scaling; None with the scheme "none".
        layout: of the weights as published: "interleaved" or "half", or None if the model type does
            not settle it.
        factor: by how much the context is extended, or pairs are slowed; 1.0 if the rule has none.
        trained_length: how many positions a sequence had before the rule was applied; None if the
            configuration does not say.
        length: how many positions the configuration promises; None if it does not say.
        attention_factor: by how much rotated dimensions of queries and keys are scaled.
        softmax_factor: by how much the scores are scaled beside, as in DeepSeek's models.
        sections: how many pairs each axis of positions rotates, in M-RoPE; None if there is one.
        interleaved_sections: whether the axes take turns, rather than one block each.
        layer_type: the type of layers that this is about, or None if all are alike.
        layer_types: the types that differ; empty if all are alike.
        settings: other settings of the rule, as arguments of its function in `posenc`.
        notes: what is ambiguous, or done differently by different programs, in sentences.

    Raises:
        TypeError: see `read_config`.
        ValueError: see `read_config`.
        OSError: see `read_config`.

    Source:
        transformers 5.23, modeling_rope_utils.py and the configurations of its models.

    Examples:
        >>> RotaryConfig({"head_dim": 64, "rope_theta": 1e6, "max_position_embeddings": 4096})
        RotaryConfig(default, d=64, rotary_d=64, base=1000000, length=4096)
    """

    def __init__(
        self,
        config: Mapping[str, Any] | str | os.PathLike[str],
        *,
        layer_type: str | None = None,
    ) -> None:
        found = _read(load(config), layer_type)
        rule, head = found.rule, found.head
        self.scheme = rule.scheme
        self.d = head.d
        self.rotary_d = head.rotary_d if rule.scheme != NONE else 0
        self.base = rule.base
        self.layout = found.layout
        self.factor = rule.factor
        self.trained_length = rule.trained_length
        self.length = rule.length
        self.attention_factor = rule.attention_factor
        self.softmax_factor = rule.softmax_factor
        self.sections = found.sections
        self.interleaved_sections = found.interleaved_sections
        self.layer_type = found.layer_type
        self.layer_types = found.layer_types
        self.settings = dict(rule.settings)
        self.notes = tuple(found.notes)

    def __repr__(self) -> str:
        parts = [self.scheme, f"d={self.d}", f"rotary_d={self.rotary_d}"]
        if self.base is not None:
            parts.append(f"base={self.base:.15g}")
        if self.factor != 1:
            parts.append(f"factor={self.factor:.15g}")
        return f"RotaryConfig({', '.join([*parts, f'length={self.length}'])})"

    def frequencies(self, length: int | None = None) -> NDArray[np.float64]:
        """Return the frequency of each rotated pair in a sequence of this length.

        Args:
            length: how many positions the whole sequence has; an integer, 1 or more. None for any
                up to the trained length. It matters for "dynamic" and "longrope" only.

        Returns:
            Shape `(rotary_d/2,)`, float64, radians per position, a new array. The result depends on
            nothing else: not on what was asked before.

        Raises:
            TypeError: `length` is not an integer.
            ValueError: `length` is below 1.

        Examples:
            >>> config = {"head_dim": 8, "rope_theta": 1e4, "max_position_embeddings": 256}
            >>> config["rope_scaling"] = {"rope_type": "dynamic", "factor": 2.0}
            >>> found = read_config(config)
            >>> found.frequencies(256)
            array([1.   , 0.1  , 0.01 , 0.001])
            >>> (found.frequencies(512) / found.frequencies(256)).round(4)
            array([1.    , 0.6934, 0.4807, 0.3333])
        """
        if length is not None:
            length = as_integer("length", length, least=1)
        return COMPUTED[self.scheme](self, length or 1)


def read_config(
    config: Mapping[str, Any] | str | os.PathLike[str], *, layer_type: str | None = None
) -> RotaryConfig:
    """Return the rotary settings that a configuration in the manner of transformers gives a model.

    It is read as transformers reads it. Where other programs, or the authors' own, read it
    otherwise, `notes` of the result say so.

    Args:
        config: the configuration as a mapping, or the path of its JSON file, or of a folder that
            has it as config.json. Of a model with text and images, the part about text is read.
        layer_type: of which layers, where they differ: a name in `layer_types` of the
            configuration, such as "sliding_attention"; or, where the configuration counts layers
            without rotation, "rope" or "no_rope". None for those with full attention, or those that
            rotate if full attention does not.

    Returns:
        A `RotaryConfig`.

    Raises:
        TypeError: `config` is neither a mapping nor a path, or an entry of it is of a wrong type.
        ValueError: `config` is not a JSON object, has a key about positions that is not read or
            written like one that is, or entries that contradict one another, or lacks one that is
            needed; an entry has a wrong value; `layer_type` is unknown.
        OSError: the file cannot be read.

    Source:
        transformers 5.23, modeling_rope_utils.py and the configurations of its models.

    Examples:
        >>> scaling = {"rope_type": "yarn", "factor": 4.0}
        >>> scaling["original_max_position_embeddings"] = 32768
        >>> config = {"head_dim": 128, "rope_theta": 1e6, "rope_scaling": scaling}
        >>> found = read_config(config)
        >>> found.scheme, found.trained_length, found.length, round(found.attention_factor, 4)
        ('yarn', 32768, 131072, 1.1386)
        >>> scaling["beta_fsat"] = 16
        >>> read_config(config)  # doctest: +NORMALIZE_WHITESPACE
        Traceback (most recent call last):
        ValueError: rope_scaling.beta_fsat must be a key that rope_type "yarn" reads, such as
        rope_scaling.beta_fast; got 16 (int)
    """
    return RotaryConfig(config, layer_type=layer_type)


COMPUTED: dict[str, Callable[[RotaryConfig, int], NDArray[np.float64]]] = {
    NONE: lambda c, _: np.empty(0),
    "default": lambda c, _: frequencies(c.rotary_d, base=_base(c)),
    "linear": lambda c, _: interpolated_frequencies(c.rotary_d, c.factor, base=_base(c)),
    "ntk": lambda c, _: ntk_frequencies(c.rotary_d, c.factor, base=_base(c)),
    "dynamic": lambda c, length: dynamic_frequencies(
        c.rotary_d, length, factor=c.factor, base=_base(c), **_trained(c)
    ),
    "yarn": lambda c, _: yarn_frequencies(
        c.rotary_d, c.factor, ramp="pairs", base=_base(c), **_trained(c), **c.settings
    ),
    "longrope": lambda c, length: longrope_frequencies(
        c.rotary_d, length, base=_base(c), **_trained(c), **c.settings
    ),
    "llama3": lambda c, _: llama3_frequencies(
        c.rotary_d, factor=c.factor, base=_base(c), **_trained(c), **c.settings
    ),
    "proportional": lambda c, _: proportional_frequencies(
        c.rotary_d, factor=c.factor, base=_base(c), **c.settings
    ),
}


def _base(config: RotaryConfig) -> float:
    """Return the base of a config whose layers rotate."""
    assert config.base is not None
    return config.base


def _trained(config: RotaryConfig) -> dict[str, Any]:
    """Return the trained length as the argument that rules take."""
    return {"trained_length": config.trained_length}


# Reading


class _Section(NamedTuple):
    """The settings of one type of layers."""

    entries: Entries
    apart: bool = False  # whether they have a base of their own


class _Head(NamedTuple):
    """What is rotated."""

    d: int
    rotary_d: int
    share: float = 1.0
    latent: bool = False  # whether the rotated part is a vector beside the rest of the head


class _Rule(NamedTuple):
    """How it is rotated; see `RotaryConfig`."""

    scheme: str
    base: float | None = None
    factor: float = 1.0
    trained_length: int | None = None
    length: int | None = None
    attention_factor: float = 1.0
    softmax_factor: float = 1.0
    settings: Mapping[str, Any] = {}


class _Found(NamedTuple):
    """All that was read."""

    rule: _Rule
    head: _Head
    layout: str | None
    sections: tuple[int, ...] | None
    interleaved_sections: bool
    layer_type: str | None
    layer_types: tuple[str, ...]
    notes: list[str]


class _Reading(NamedTuple):
    """A configuration being read, and the notes about it so far."""

    entries: Entries
    kind: str | None
    defaults: dict[str, float]
    known: bool  # whether the defaults of this model type are known
    notes: list[str]


def _read(config: Mapping[str, Any], layer_type: str | None) -> _Found:
    """Return what a configuration says about one type of layers."""
    notes: list[str] = []
    entries = _text_of(Entries(config), notes)
    kind = entries.text("model_type")
    kind = SAME.get(kind or "", kind)
    defaults = defaults_of(kind)
    reading = _Reading(entries, kind, defaults or {}, defaults is not None, notes)
    _refuse_strangers(entries)
    _refuse_others(reading)
    if entries.flag("rotary_value", False):
        notes.append("Values are rotated too.")
    layers = _layers(reading)
    chosen = _chosen(reading, layers, layer_type)
    section = layers[chosen]
    head = _head(reading, section, chosen)
    if section is None:
        length = _promised(entries)
        rule = _Rule(NONE, trained_length=length, length=length)
    else:
        rule = _rule(reading, section, head)
    return _Found(
        rule,
        head,
        _layout(reading, head),
        _sections(section, head, notes),
        section is not None and section.entries.flag("mrope_interleaved", False),
        chosen if chosen is not None else layer_type,
        tuple(name for name in layers if name is not None),
        notes,
    )


def _text_of(entries: Entries, notes: list[str]) -> Entries:
    """Return the part of a configuration about text, which may be the whole."""
    parts = entries.given(TEXTS)
    if not parts:
        return entries
    _refuse_strangers(entries)
    part = entries.within(parts[0])
    for key in entries.given(ROTARY):
        if key not in part:
            raise ValueError(
                f"{key} must be in {parts[0]}, which is what is read; got"
                f" {_shown(entries.mapping[key])} outside of it"
            )
        agreed({key: entries.mapping[key], part.path(key): part.mapping[key]})
    notes.append(f"The part about text, {parts[0]}, is read, and no other.")
    return part


def _refuse_strangers(entries: Entries) -> None:
    """Raise ValueError if a key is about positions, or written like one that is read."""
    for given in entries.mapping:
        key = str(given)
        if key in READ or key in UNRELATED:
            continue
        near = nearest(key, READ)
        slip = len(key) > 4 and edits(key.lower(), near) <= (1 if len(key) < 10 else 2)
        if slip or WORDS & set(re.split(r"[^a-z]+", key.lower())):
            raise ValueError(
                f"{entries.path(key)} must be a key that is read, such as {entries.path(near)};"
                f" got {_shown(entries.mapping[given])}"
            )


def _refuse_others(reading: _Reading) -> None:
    """Raise ValueError if the model does not rotate, or not only."""
    entries = reading.entries
    if entries.flag("alibi", False) or not entries.flag("rotary", True):
        key = "alibi" if entries.flag("alibi", False) else "rotary"
        raise ValueError(
            f"{entries.path(key)} must be {'false' if key == 'alibi' else 'true'} in a model with"
            f" rotary positions; got {_shown(entries.mapping[key])}"
        )
    if not reading.known and not entries.given(ROTARY):
        raise ValueError(
            f"config must have rotary positions, and a key such as rope_theta; got none, and model"
            f" type {_shown(entries.mapping.get('model_type'))}"
        )


def _layers(reading: _Reading) -> dict[str | None, _Section | None]:
    """Return the settings by type of layers, None for layers that do not rotate."""
    entries, defaults = reading.entries, reading.defaults
    nested = entries.within("rope_parameters")
    if any(isinstance(value, Mapping) for value in nested.mapping.values()):
        return {name: _nested(nested, name) for name in nested.mapping}
    main = _Section(_merged(entries))
    local = agreed({key: entries.number(key, least=1, above=True) for key in LOCALS})
    if local is not None or LOCAL in defaults:
        found = Entries({BASE: local or defaults[LOCAL]})
        return {"full_attention": main, "sliding_attention": _Section(found, apart=True)}
    if reading.kind in WINDOWED and "sliding_window" in entries:
        return {"full_attention": None, "sliding_attention": main}
    return {"rope": main, "no_rope": None} if _has_gaps(reading) else {None: main}


def _nested(parameters: Entries, name: str) -> _Section | None:
    """Return the settings of one type of layers in the new spelling."""
    if parameters.mapping[name] is None:
        return None
    return _Section(parameters.within(name), apart=BASE in parameters.within(name))


def _merged(entries: Entries) -> Entries:
    """Return the entries of `rope_scaling` and `rope_parameters`, which must agree."""
    old, new = entries.within("rope_scaling"), entries.within("rope_parameters")
    for key in {*old.mapping} & {*new.mapping} - {"rope_type", "type"}:
        agreed({old.path(key): old.mapping[key], new.path(key): new.mapping[key]})
    if old.mapping and new.mapping:
        agreed({old.place + "rope_type": _type_of(old), new.place + "rope_type": _type_of(new)})
    place = old.place if old.mapping else new.place
    return Entries({**new.mapping, **old.mapping}, place)


def _has_gaps(reading: _Reading) -> bool:
    """Say whether layers are counted that do not rotate."""
    layers = reading.entries.mapping.get("no_rope_layers")
    if layers:
        path = reading.entries.path("no_rope_layers")
        if not isinstance(layers, list) or any(one not in (0, 1) for one in layers):
            raise ValueError(f"{path} must be a list of 0 and 1; got {_shown(layers)}")
        return 0 in layers
    return reading.kind in ("llama4_text", "smollm3")


def _chosen(
    reading: _Reading, layers: Mapping[str | None, _Section | None], asked: str | None
) -> str | None:
    """Return the name of the layers that are asked about."""
    listed = reading.entries.mapping.get("layer_types") or []
    if not isinstance(listed, list) or not all(isinstance(one, str) for one in listed):
        path = reading.entries.path("layer_types")
        raise TypeError(f"{path} must be a list of strings; got {_shown(listed)}")
    names = [*layers] if None not in layers else sorted(set(listed))
    if asked is not None:
        if not isinstance(asked, str):
            raise TypeError(f"layer_type must be a string or None; got {_shown(asked)}")
        if asked not in names:
            allowed = ", ".join(f'"{name}"' for name in names)
            allowed = f"one of {allowed}, or None" if names else "None, as all layers are alike"
            raise ValueError(f"layer_type must be {allowed}; got {_shown(asked)}")
        return asked if None not in layers else None
    rotating = [name for name, section in layers.items() if section is not None]
    chosen = "full_attention" if "full_attention" in rotating else rotating[0]
    if len(layers) > 1:
        others = " and ".join(f'"{name}"' for name in layers if name != chosen)
        reading.notes.append(f'This is about layers of type "{chosen}"; ask for {others} as well.')
    return chosen


# The head


def _head(reading: _Reading, section: _Section | None, layer_type: str | None) -> _Head:
    """Return the widths of a head and of what is rotated in it."""
    latent = reading.entries.integer(LATENT[0])
    if latent is not None:
        return _latent(reading, section, latent)
    d = _width(reading, layer_type)
    share = _share(reading, section)
    count = reading.entries.integer("rotary_dim")
    if count is not None:
        path = reading.entries.path("rotary_dim")
        if share is not None and int(d * share) != count:
            raise ValueError(
                f"{path} and {SHARE} must agree; got {count} and {share:g} of a width of {d}"
            )
        if count > d or count % 2:
            raise ValueError(f"{path} must be an even integer from 2 to {d}; got {count}")
        return _Head(d, count)
    if share is None:
        share = reading.defaults.get(SHARE, 1.0)
        if share != 1:
            reading.notes.append(
                f"{SHARE} is not given. transformers takes {share:g} for this model type."
            )
    if section is not None and _type_of(section.entries) == "proportional":
        return _Head(d, d, share)
    rotary_d = int(d * share)
    if rotary_d < 2 or rotary_d % 2:
        name = next(iter(_shares(reading, section)), SHARE)
        raise ValueError(
            f"{name} must leave an even number of dimensions, 2 or more; got {share:g} of {d}"
        )
    return _Head(d, rotary_d)


def _latent(reading: _Reading, section: _Section | None, latent: int) -> _Head:
    """Return the rotated vector of latent attention, which stands beside the rest of a head."""
    entries = reading.entries
    rest, whole = entries.integer(LATENT[1], least=0), entries.integer(LATENT[2])
    path = entries.path(LATENT[0])
    if latent % 2:
        raise ValueError(f"{path} must be an even integer, 2 or more; got {latent}")
    if rest is not None:
        agreed({f"{path} + {LATENT[1]}": latent + rest, entries.path(LATENT[2]): whole})
    width, share = entries.integer(WIDTH), _share(reading, section)
    if width is not None and width not in (latent, latent + (rest or 0), _quotient(reading)):
        raise ValueError(f"{path} and {entries.path(WIDTH)} must agree; got {latent} and {width}")
    if share not in (None, 1.0) and int((width or latent + (rest or 0)) * share) != latent:
        raise ValueError(f"{path} and {SHARE} must agree; got {latent} and {share:g}")
    beside = "" if rest is None else f", {rest} wide,"
    reading.notes.append(
        f"What is rotated is a vector of its own, {latent} wide; the rest of a head{beside} is not."
    )
    return _Head(latent, latent, latent=True)


def _width(reading: _Reading, layer_type: str | None) -> int:
    """Return the width of a head, an even integer."""
    entries, defaults = reading.entries, reading.defaults
    widths = {entries.path(key): entries.integer(key) for key in WIDTHS}
    if layer_type == "full_attention" and (WIDE in entries or WIDE in defaults):
        widths = {entries.path(WIDE): entries.integer(WIDE) or int(defaults.get(WIDE, 0))}
    d, quotient = agreed(widths), _quotient(reading)
    name = next((path for path, width in widths.items() if width is not None), entries.path(WIDTH))
    if d is None and WIDTH in defaults:
        d = int(defaults[WIDTH])
        reading.notes.append(f"{name} is not given. transformers takes {d} for this model type.")
    elif d is None:
        d, name = _divided(reading), "hidden_size / num_attention_heads"
    if d % 2:
        raise ValueError(f"{name} must be an even integer, 2 or more; got {d}")
    if quotient is not None and quotient != d:
        reading.notes.append(
            f"A head is {d} wide, not hidden_size / num_attention_heads, {quotient:g}. A program"
            " that divides computes other frequencies, as transformers once did (PR 32495)."
        )
    return int(d)


def _quotient(reading: _Reading) -> float | None:
    """Return the width of the model divided by the number of heads, if both are given."""
    entries = reading.entries
    hidden = agreed({entries.path(key): entries.integer(key) for key in HIDDEN})
    heads = agreed({entries.path(key): entries.integer(key) for key in HEADS})
    return None if hidden is None or heads is None else float(hidden / heads)


def _divided(reading: _Reading) -> int:
    """Return the quotient, which must be an integer."""
    quotient = _quotient(reading)
    path = reading.entries.path
    if quotient is None:
        raise ValueError(
            f"{path(WIDTH)} must be given, or hidden_size and num_attention_heads; got none"
        )
    if quotient != int(quotient):
        raise ValueError(
            f"{path('hidden_size')} must be a multiple of num_attention_heads where head_dim is not"
            f" given; got {quotient:g} times as much"
        )
    return int(quotient)


def _shares(reading: _Reading, section: _Section | None) -> dict[str, float]:
    """Return which part of a head is rotated, by the name of the entry that says so."""
    inner = section.entries if section else Entries({})
    places = [(reading.entries, SHARES), (inner, (SHARE,))]
    found = {x.path(key): x.number(key, least=0, above=True) for x, keys in places for key in keys}
    for name, share in found.items():
        if share is not None and share > 1:
            raise ValueError(f"{name} must be a number above 0, at most 1; got {share:g}")
    return {name: share for name, share in found.items() if share is not None}


def _share(reading: _Reading, section: _Section | None) -> float | None:
    """Return which part of a head is rotated, or None if it is not given."""
    share: float | None = agreed(_shares(reading, section))
    return share


# The rule


def _type_of(entries: Entries) -> str:
    """Return the rule that a section names."""
    said = {entries.path(key): entries.text(key) for key in ("rope_type", "type")}
    for path, name in said.items():
        if name is not None and SYNONYMS.get(name, name) not in RULES.keys() - {"ntk"}:
            allowed = ", ".join(f'"{one}"' for one in RULES if one != "ntk")
            raise ValueError(f"{path} must be one of {allowed}; got {_shown(name)}")
    name = agreed({path: name and SYNONYMS.get(name, name) for path, name in said.items()})
    return name or "default"


def _rule(reading: _Reading, section: _Section, head: _Head) -> _Rule:
    """Return how layers that rotate are rotated."""
    entries = section.entries
    kind = _type_of(entries)
    scheme = "ntk" if kind == "dynamic" and "alpha" in entries else kind
    refuse_unknown(entries, COMMON | RULES[scheme], f'rope_type "{kind}"')
    if kind == "dynamic" and head.rotary_d < 4:
        raise ValueError(
            f'{WIDTH} must be 4 or more with rope_type "{kind}"; got a rotated width of'
            f" {head.rotary_d}"
        )
    base, length = _base_of(reading, section), _promised(reading.entries)
    return READERS[scheme](reading, entries, head, _Rule(scheme, base, 1.0, length, length))


def _base_of(reading: _Reading, section: _Section) -> float:
    """Return the base, which a model type may take for given."""
    entries = section.entries
    bases = {entries.path(BASE): entries.number(BASE, least=1, above=True)}
    if not section.apart:
        outer = reading.entries
        bases |= {outer.path(key): outer.number(key, least=1, above=True) for key in BASES}
    base: float | None = agreed(bases)
    if base is None and not reading.known:
        raise ValueError(
            f"{BASE} must be given, as the default of this model type is not known; got none"
        )
    if base is None:
        base = reading.defaults[BASE]
        reading.notes.append(
            f"{BASE} is not given. transformers takes {base:.15g} for this model type."
        )
    elif entries.path(BASE) == f"rope_parameters.{BASE}" and BASE not in reading.entries:
        reading.notes.append(
            f"{BASE} is in rope_parameters. A program that looks for it outside takes its default,"
            " as DeepSpeed did (PR 8345)."
        )
    return base


def _promised(entries: Entries) -> int | None:
    """Return the length that a configuration promises."""
    return next((entries.integer(key) for key in LENGTHS if key in entries), None)


def _original(reading: _Reading, entries: Entries, length: int | None) -> int | None:
    """Return the length before the context was extended."""
    outer = reading.entries
    original: int | None = agreed(
        {x.path(ORIGINAL): x.integer(ORIGINAL, least=2) for x in (outer, entries)}
    )
    if original is not None and length is not None and length < original:
        raise ValueError(
            f"{outer.path(LENGTHS[0])} must be at least {ORIGINAL}, {original}; got {length}"
        )
    return original


def _factor(entries: Entries) -> float:
    """Return the factor, which must be there."""
    return entries.required_number("factor", least=1)


def _needed(reading: _Reading, length: int | None, scheme: str) -> int:
    """Return a length that the rule cannot do without."""
    if length is None:
        path = reading.entries.path(LENGTHS[0])
        raise ValueError(f'{path} must be given with rope_type "{scheme}"; got none')
    return length


def _read_default(reading: _Reading, entries: Entries, head: _Head, rule: _Rule) -> _Rule:
    original = _original(reading, entries, rule.length)
    return rule._replace(trained_length=original or rule.length)


def _read_linear(reading: _Reading, entries: Entries, head: _Head, rule: _Rule) -> _Rule:
    original, factor = _original(reading, entries, rule.length), _factor(entries)
    if original is None and factor != 1:
        reading.notes.append(
            f'With "linear", {LENGTHS[0]} is the length before scaling to some, and after it to'
            f" others: vLLM multiplies it by the factor, {factor:g}, and transformers does not. So"
            " the trained length is open."
        )
    trained = rule.length if factor == 1 else original
    return rule._replace(factor=factor, trained_length=trained)


def _read_dynamic(reading: _Reading, entries: Entries, head: _Head, rule: _Rule) -> _Rule:
    factor, trained = _factor(entries), _needed(reading, rule.length, "dynamic")
    reading.notes.append(
        "The frequencies depend on the length of the whole sequence. transformers takes the longest"
        " it has met, and keys in its cache keep older ones (issue 25104)."
    )
    return rule._replace(factor=factor, length=int(trained * factor))


def _read_ntk(reading: _Reading, entries: Entries, head: _Head, rule: _Rule) -> _Rule:
    unread = entries.given(["factor", *sorted(OF_YARN)])
    said = f" {', '.join(unread)} have no effect." if unread else ""
    reading.notes.append(f"With alpha, the base is larger at every length.{said}")
    return rule._replace(factor=entries.required_number("alpha", least=1))


def _read_llama3(reading: _Reading, entries: Entries, head: _Head, rule: _Rule) -> _Rule:
    factor = _factor(entries)
    original = _needed(reading, _original(reading, entries, rule.length) or rule.length, "llama3")
    low = entries.required_number("low_freq_factor", least=0, above=True)
    high = entries.required_number("high_freq_factor", least=0, above=True)
    _check_order(entries, low_freq_factor=low, high_freq_factor=high)
    return rule._replace(
        factor=factor,
        trained_length=original,
        length=rule.length or int(original * factor),
        settings={"low": low, "high": high},
    )


def _check_order(entries: Entries, **limits: float) -> None:
    """Raise ValueError unless the second limit is above the first."""
    (first, low), (second, high) = limits.items()
    if high <= low:
        raise ValueError(f"{entries.path(second)} must be above {first}, {low:g}; got {high:g}")


def _read_yarn(reading: _Reading, entries: Entries, head: _Head, rule: _Rule) -> _Rule:
    promised = agreed(
        {x.path(LENGTHS[0]): x.integer(LENGTHS[0]) for x in (reading.entries, entries)}
    )
    promised = promised or rule.length
    original = _original(reading, entries, promised)
    trained = _needed(reading, original or promised, "yarn")
    if original is None:
        reading.notes.append(
            f"{ORIGINAL} is not given. transformers takes {LENGTHS[0]}, {trained}."
        )
    if "factor" not in entries and entries.mapping.keys() >= {"factor"} and promised is not None:
        factor = promised / trained
    else:
        factor = _factor(entries)
    length = round(factor * trained)
    if promised not in (None, trained, length):
        reading.notes.append(
            f"{LENGTHS[0]} is {promised}, but factor times {ORIGINAL} is {length}. transformers"
            " warns and goes by the factor."
        )
    fast = entries.number("beta_fast", least=0, above=True) or FAST
    slow = entries.number("beta_slow", least=0, above=True) or SLOW
    _check_order(entries, beta_slow=slow, beta_fast=fast)
    truncate = entries.flag("truncate", True)
    if not truncate:
        reading.notes.append(
            "The ramp is not truncated to whole pairs. mlx-lm 0.32.2 and llama.cpp truncate it all"
            " the same; vLLM did before PR 28244."
        )
    attention, softmax = _yarn_factors(reading, entries, head, factor)
    return rule._replace(
        factor=factor,
        trained_length=trained,
        length=length,
        attention_factor=attention,
        softmax_factor=softmax,
        settings={"fast": fast, "slow": slow, "truncate": truncate},
    )


def _yarn_factors(
    reading: _Reading, entries: Entries, head: _Head, factor: float
) -> tuple[float, float]:
    """Return by how much YaRN scales rotated dimensions, and by how much the scores beside."""
    given = entries.number("attention_factor", least=0, above=True)
    mscale, everywhere = (entries.number(key, least=0) for key in ("mscale", "mscale_all_dim"))
    notes = reading.notes
    if given is not None:
        notes.append(
            "attention_factor is the factor itself. SGLang multiplied it by its own (PR 33558), so"
            " did TensorRT-LLM (PR 16379), and mlx-lm 0.32.2 does not read it."
        )
        if mscale or everywhere:
            notes.append("mscale and mscale_all_dim give way to attention_factor.")
    elif mscale and everywhere:
        given = yarn_temperature(factor, mscale=mscale)
        given /= yarn_temperature(factor, mscale=everywhere)
        notes.append(
            "A program that does not read mscale has another attention factor (vLLM, PR 48623)."
        )
    else:
        given = yarn_temperature(factor)
        if mscale or everywhere:
            notes.append(
                "Of mscale and mscale_all_dim one is missing, or 0, so transformers ignores both."
                " DeepSeek's code takes 0 for the missing one."
            )
    softmax = 1.0
    if head.latent and everywhere:
        softmax = yarn_temperature(factor, mscale=everywhere) ** 2
        notes.append(
            "All scores are scaled too, by the square of the temperature with mscale_all_dim."
            " Without it, positions after the first are wrong (onnxruntime/mobius, PR 548)."
        )
    if "llama_4_scaling_beta" in entries:
        notes.append("Queries are scaled by their position as well, beside the rotation.")
    return given, softmax


def _read_longrope(reading: _Reading, entries: Entries, head: _Head, rule: _Rule) -> _Rule:
    original = _original(reading, entries, rule.length) or rule.length
    trained = _needed(reading, original, "longrope")
    factor = entries.number("factor", least=1)
    if factor is None:
        factor = _needed(reading, rule.length, "longrope") / trained
    pairs = head.rotary_d // 2
    scales = {
        key: entries.number(key, least=0, above=True) for key in ("short_mscale", "long_mscale")
    }
    given = agreed(
        {entries.path("attention_factor"): entries.number("attention_factor", least=0, above=True)}
        | {entries.path(key): scale for key, scale in scales.items()}
    )
    reading.notes.append(
        f"Up to {trained} positions the short divisors hold, beyond them the long ones, for all"
        " tokens of a sequence. mlx-lm 0.32.2 never uses the short ones; vLLM goes by the longest"
        " sequence it is set up for (PR 27431)."
    )
    return rule._replace(
        factor=factor,
        trained_length=trained,
        length=rule.length or round(factor * trained),
        attention_factor=given or longrope_temperature(factor, trained),
        settings={
            "short": entries.numbers("short_factor", pairs),
            "long": entries.numbers("long_factor", pairs),
        },
    )


def _read_proportional(reading: _Reading, entries: Entries, head: _Head, rule: _Rule) -> _Rule:
    turning = 2 * int(head.share * head.d // 2)
    if turning < 2:
        raise ValueError(
            f"{entries.path(SHARE)} must leave a pair to rotate; got {head.share:g} of {head.d}"
        )
    factor = entries.number("factor", least=1) or 1.0
    return rule._replace(factor=factor, settings={"rotary_d": turning})


READERS: dict[str, Callable[[_Reading, Entries, _Head, _Rule], _Rule]] = {
    "default": _read_default,
    "linear": _read_linear,
    "dynamic": _read_dynamic,
    "ntk": _read_ntk,
    "yarn": _read_yarn,
    "longrope": _read_longrope,
    "llama3": _read_llama3,
    "proportional": _read_proportional,
}


# Layout and sections


def _layout(reading: _Reading, head: _Head) -> str | None:
    """Return which dimensions of the published weights form a pair, if that is known."""
    entries = reading.entries
    if "rotary_emb_interleaved" in entries:
        return "interleaved" if entries.flag("rotary_emb_interleaved", False) else "half"
    interleave = entries.flag("rope_interleave", True)
    layout = layout_of(reading.kind, interleave)
    if layout is None and head.latent:
        reading.notes.append("The layout depends on the model type, which is not known here.")
    if reading.kind == "llama":
        reading.notes.append(
            'The layout "half" is that of weights for transformers. Weights as Meta publishes them'
            ' are "interleaved".'
        )
    return layout


def _sections(section: _Section | None, head: _Head, notes: list[str]) -> tuple[int, ...] | None:
    """Return how many pairs each axis of positions rotates, which must add up."""
    if section is None or "mrope_section" not in section.entries:
        return None
    entries = section.entries
    path, given = entries.path("mrope_section"), entries.mapping["mrope_section"]
    if not isinstance(given, list | tuple):
        raise TypeError(f"{path} must be a list of integers; got {_shown(given)}")
    each = Entries({str(i): one for i, one in enumerate(given)}, f"{path}.")
    sections = tuple(each.integer(str(i), least=0) or 0 for i in range(len(given)))
    if sum(sections) != head.rotary_d // 2:
        raise ValueError(
            f"{path} must add up to the {head.rotary_d // 2} pairs that rotate; got"
            f" {' + '.join(map(str, sections))} = {sum(sections)}"
        )
    notes.append(
        "Each axis of positions rotates its own pairs. Axes in blocks and axes in turns, as"
        " mrope_interleaved says, are often taken for one another (MNN, PR 4133)."
    )
    return sections
