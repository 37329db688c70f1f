"""YAML of training frameworks, and what its keys mean as those of a configuration.

Read are the files of litgpt, of Megatron and NeMo, the models of torchtune that are built by their
widths, and files that have the keys of config.json. Any other is refused, by what is seen in it.

Source: `Config` and `build_rope_cache` of litgpt 0.5.13, `RotaryEmbedding` of megatron-core 0.16.1,
the component builders and `Llama3ScaledRoPE` of torchtune 0.6.1.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any

from posenc._arguments import _shown
from posenc.config.families import BASE, META_RULE, ORIGINAL, SHARE, WIDTH

if TYPE_CHECKING:
    from posenc.config.entries import Entries

SUFFIXES = (".yaml", ".yml")
FORMAT = "posenc.yaml"  # the key under which the format of a file is kept
LONGEST, DEEPEST = 2**20, 64  # bytes of a file, and mappings or lists inside of one another
FLOAT = re.compile(r"[-+]?[0-9][0-9_]*(?:\.[0-9_]*)?[eE][-+]?[0-9]+")  # 1e6, as JSON has it
# The first line of YAML: an entry, after comments.
ENTRY = re.compile(rb"[ \t\r\n]*(?:#[^\n]*\n[ \t\r\n]*)*(?:---|[A-Za-z_][\w.-]*:(?:[ \r\n]|$))")
WORDS = ("rope", "rotary", "yarn", "theta", "latent_attention")  # in keys that are read, or refused
COMPONENT = "_component_"
BASES = ("base_model", "model_name_or_path", "pretrained_model_name_or_path")
# Where the settings of a model lie, and a key that tells a file of each kind.
LITGPT, MEGATRON, TORCHTUNE, PLAIN = "litgpt", "megatron", "torchtune", "plain"
PARTS = ((), ("model",), ("model", "language_model"), ("model", "model_config"), ("model_config",))
KEYS = {
    TORCHTUNE: (COMPONENT,),
    LITGPT: ("rope_condense_ratio", "rope_base"),
    MEGATRON: (
        "rotary_base", "rotary_percent", "rotary_percentage", "seq_len_interpolation_factor",
        "rotary_seq_len_interpolation_factor", "use_rope_scaling",
    ),
    PLAIN: (WIDTH, "hidden_size"),
}  # fmt: skip


def is_yaml(content: bytes, name: str) -> bool:
    """Say whether a file is YAML by its name, or by its first line where it has no name."""
    if name.endswith(SUFFIXES):
        return True
    return "." not in name and looks_like_yaml(content)


def looks_like_yaml(content: bytes) -> bool:
    """Say whether a text begins with an entry of YAML."""
    return ENTRY.match(content.removeprefix(b"\xef\xbb\xbf")) is not None


def settings(content: bytes, name: str) -> dict[str, Any]:
    """Return the settings of a model in a YAML file, and the format that they have.

    Raises:
        ValueError: PyYAML is missing; the file is too long, nested too deep, no mapping, or no
            YAML; it has a tag, an alias or a key twice; its format is none that is read.
    """
    found = _loaded(content, name)
    if not isinstance(found, dict):
        raise ValueError(f"config must be a YAML mapping; got {_shown(found)}")
    for kind, keys in KEYS.items():
        for part in PARTS:
            inner: Any = found
            for key in part:
                inner = inner.get(key) if isinstance(inner, dict) else None
            if isinstance(inner, dict) and any(inner.get(key) is not None for key in keys):
                return inner | {FORMAT: kind}
    raise ValueError(f"config must be YAML that has the widths of a model; {_seen(found)}")


def _seen(found: Mapping[str, Any]) -> str:
    """Return which format is seen, and what to pass instead."""
    for key in BASES:
        if isinstance(base := found.get(key), str):
            return f"got a file for training {_shown(base)}: pass the config.json of that model"
    keys = ", ".join(str(key) for key in [*found][:5])
    return f"got the keys {keys or 'none'}: pass the config.json of the model"


def _loaded(content: bytes, name: str) -> Any:
    """Return what a YAML file holds, without tags and aliases."""
    try:
        import yaml
    except ModuleNotFoundError:
        raise ValueError(
            f"config must be JSON where PyYAML is not installed (pip install pyyaml); got {name}"
        ) from None
    if len(content) > LONGEST:
        raise ValueError(f"config must be at most {LONGEST} bytes of YAML; got {len(content)}")
    try:
        text = content.decode("utf-8-sig")
        _check_events(yaml.parse(text, Loader=yaml.SafeLoader), name)
        return yaml.load(text, Loader=_loader())
    except (yaml.YAMLError, UnicodeDecodeError) as error:
        raise ValueError(f"config must be a YAML file; got {name}: {error}") from None


def _check_events(events: Iterable[Any], name: str) -> None:
    """Raise ValueError at a tag, an alias, or what is nested too deep."""
    depth = 0
    for event in events:
        kind = type(event).__name__
        depth += kind.endswith("StartEvent") - kind.endswith("EndEvent")
        if kind == "AliasEvent":
            raise ValueError(f"config must have no alias; got *{event.anchor} in {name}")
        if tag := getattr(event, "tag", None):
            raise ValueError(f"config must have no tag; got {tag} in {name}")
        if depth > DEEPEST:
            raise ValueError(f"config must be nested at most {DEEPEST} deep; got more in {name}")


def _loader() -> Any:
    """Return the safe loader, which also reads 1e6 as a number and refuses a key twice."""
    import yaml

    class Loader(yaml.SafeLoader):
        def construct_mapping(self, node: Any, deep: bool = False) -> Any:
            keys = [key.value for key, _ in node.value if isinstance(key, yaml.ScalarNode)]
            for key in keys:
                if keys.count(key) > 1:
                    raise ValueError(f"config must have one value for {key}; got two")
            return super().construct_mapping(node, deep=deep)

    Loader.add_implicit_resolver("tag:yaml.org,2002:float", FLOAT, list("-+0123456789"))
    return Loader


def configuration(entries: Entries, notes: list[str]) -> dict[str, Any]:
    """Return the settings in a file of YAML under the keys of config.json."""
    kind = entries.text(FORMAT) or PLAIN
    if kind == PLAIN:
        return {key: value for key, value in entries.mapping.items() if key != FORMAT}
    found, read = READERS[kind](entries)
    for key in entries.given(entries.mapping):
        unread = any(word in str(key) for word in WORDS) and key not in read
        if unread and entries.mapping[key] is not False:
            shown = _shown(entries.mapping[key])
            raise ValueError(f"{key} must be a key of {kind} that is read; got {shown}")
    notes.append(f"The keys are those of {kind}; here they have the names that config.json uses.")
    return {"model_type": kind} | {key: value for key, value in found.items() if value is not None}


Read = tuple[dict[str, Any], set[str]]


def _litgpt(entries: Entries) -> Read:
    """Return the settings of litgpt, whose key `rope_condense_ratio` divides positions."""
    rule: dict[str, Any] = {}
    condensed = entries.number("rope_condense_ratio", least=1) or 1.0
    adjusted = entries.within("rope_adjustments")
    if adjusted.mapping and condensed != 1:
        raise ValueError(f"rope_condense_ratio must be 1 with rope_adjustments; got {condensed:g}")
    if adjusted.mapping:
        rule = _llama3_of_litgpt(adjusted)
    elif condensed != 1:
        rule = {"rope_type": "linear", "factor": condensed}
    share = entries.number("rotary_percentage", least=0, above=True)
    found = {
        "hidden_size": entries.integer("n_embd"),
        "num_attention_heads": entries.integer("n_head"),
        WIDTH: entries.integer("head_size"),
        SHARE: 0.25 if share is None else share,
        BASE: entries.number("rope_base", least=1, above=True) or 1e4,
        "max_position_embeddings": entries.integer("block_size"),
        "num_hidden_layers": entries.integer("n_layer"),
        "rotary_emb_interleaved": entries.flag("rope_interleave", False),
        "rope_scaling": rule or None,
    }
    read = {"rope_condense_ratio", "rope_adjustments", "rotary_percentage", "rope_base"}
    return found, {*read, "rope_interleave", "rope_n_elem"}


def _llama3_of_litgpt(entries: Entries) -> dict[str, Any]:
    """Return the rule of Llama 3, the only one that is read in `rope_adjustments`."""
    names = {
        "factor": "factor", "low_freq_factor": "low_freq_factor",
        "high_freq_factor": "high_freq_factor", "original_max_seq_len": ORIGINAL,
    }  # fmt: skip
    for key in entries.given(entries.mapping):
        if key not in names:
            shown = _shown(entries.mapping[key])
            raise ValueError(f"{entries.path(str(key))} must be a key of Llama 3; got {shown}")
    return {"rope_type": "llama3"} | {new: entries.mapping.get(old) for old, new in names.items()}


def _megatron(entries: Entries) -> Read:
    """Return the settings of Megatron and NeMo, which rotate only if they say so."""
    scheme = entries.text("position_embedding_type")
    if scheme != "rope":
        said = "none, which means learned_absolute" if scheme is None else _shown(scheme)
        raise ValueError(f'position_embedding_type must be "rope"; got {said}')
    factors = ("seq_len_interpolation_factor", "rotary_seq_len_interpolation_factor")
    factor = next((entries.number(key, least=1) for key in factors if key in entries), None)
    rule = {"rope_type": "linear", "factor": factor} if factor not in (None, 1) else None
    if entries.flag("use_rope_scaling", False):
        own = entries.number("rope_scaling_factor", least=1) or META_RULE["factor"]
        rule = META_RULE | {"factor": own}
        if factor not in (None, 1):
            raise ValueError(f"{factors[0]} must be 1 with use_rope_scaling; got {factor:g}")
    shares = ("rotary_percent", "rotary_percentage")
    share = next((entries.number(one, least=0, above=True) for one in shares if one in entries), 1)
    found = {
        "hidden_size": entries.integer("hidden_size"),
        "num_attention_heads": entries.integer("num_attention_heads"),
        WIDTH: entries.integer("kv_channels"),
        SHARE: share,
        BASE: entries.number("rotary_base", least=1, above=True) or 1e4,
        "max_position_embeddings": entries.integer("max_position_embeddings"),
        "num_hidden_layers": entries.integer("num_layers"),
        "rotary_emb_interleaved": entries.flag("rotary_interleaved", False),
        "rope_scaling": rule,
    }
    read = {"rotary_base", "rotary_interleaved", "use_rope_scaling", "rope_scaling_factor"}
    return found, {*read, *factors, *shares}


def _torchtune(entries: Entries) -> Read:
    """Return the settings of a model of torchtune that is built by its widths."""
    name = entries.text(COMPONENT) or ""
    if "num_heads" not in entries or "embed_dim" not in entries:
        raise ValueError(
            f"{COMPONENT} must be a builder that takes embed_dim and num_heads; got {_shown(name)},"
            " whose widths are in its code: pass the config.json of that model"
        )
    kind = name.rpartition(".")[2]
    if kind not in TUNED:
        allowed = ", ".join(TUNED)
        raise ValueError(f"{COMPONENT} must be one of {allowed}; got {_shown(name)}")
    base, factor = TUNED[kind]
    if factor is not None:
        factor = entries.number("scale_factor", least=1) or factor
    found = {
        "hidden_size": entries.integer("embed_dim"),
        "num_attention_heads": entries.integer("num_heads"),
        BASE: entries.number("rope_base", least=1, above=True) or base,
        "max_position_embeddings": entries.integer("max_seq_len"),
        "num_hidden_layers": entries.integer("num_layers"),
        "rotary_emb_interleaved": kind != "qwen2",
        "rope_scaling": None if factor is None else META_RULE | {"factor": factor},
    }
    return found, {"rope_base"}


# Builders of torchtune: the base, and the factor of Llama 3's rule if they have it.
TUNED: dict[str, tuple[float, float | None]] = {
    "llama2": (1e4, None), "llama3": (5e5, None), "llama3_1": (5e5, 8.0), "llama3_2": (5e5, 32.0),
    "mistral": (1e4, None), "qwen2": (1e6, None),
}  # fmt: skip
READERS: dict[str, Callable[[Entries], Read]] = {
    LITGPT: _litgpt, MEGATRON: _megatron, TORCHTUNE: _torchtune,
}  # fmt: skip
