"""Published spellings of some models, put into those of the library.

Each function returns the keys of the part about text. What is wrong with a value that it carries
over is said where the usual spelling is read.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

from posenc._arguments import _shown
from posenc.config.entries import Entries, refuse_unknown
from posenc.config.families import BASE, LATENTS, SHARE
from posenc.config.keys import COUNTS, FLAT_RULE, LATENT, MLA

FULL, SLIDING = "full_attention", "sliding_attention"
GROK = "Grok1ForCausalLM"  # the architecture of Grok-2, whose model type is that of another model
SHARES_BY_LAYER = "partial_rotary_factors"
RULED = ("rope_theta", "rope_type")
# The keys that name the type of each layer by a number, and what the numbers mean.
_RATIOS = (
    (0, SLIDING),
    (4, "compressed_sparse_attention"),
    (128, "heavily_compressed_attention"),
)
NUMBERED: dict[str, tuple[str, tuple[tuple[int, str], ...]]] = {
    "deepseek_v4": ("compress_ratios", _RATIOS),
    "deepseek_ref": ("compress_ratios", _RATIOS),
    "mimo_v2_flash": ("hybrid_layer_pattern", ((0, FULL), (1, SLIDING))),
}


def usual(entries: Entries, notes: list[str]) -> Entries:
    """Return the entries with the spelling of the model type put into the usual one."""
    kind = entries.text("model_type")
    found = entries.mapping
    if kind in NUMBERED:
        key, names = NUMBERED[kind]
        found = _numbered(entries, key, dict(names))
    elif kind == "internlm":
        found = _internlm(entries)
    elif kind in ("step3p5", "step3p7"):
        found = _by_layer(entries)
    elif kind == "cohere_compass_text":
        found = _without_dangling(entries)
    elif kind == "git" and _is_grok(entries):
        found = _grok(entries, notes)
    elif kind in LATENTS and not entries.flag(MLA, True):
        notes.append(
            f"{MLA} is false: its attention is that of Llama, and no part of a head is a separate"
            " vector."
        )
        rest = _without(entries, [*LATENT, MLA])
        found = {**rest, "model_type": "deepseek"}
    return Entries(found, entries.place)


def _is_grok(entries: Entries) -> bool:
    given = entries.mapping.get("architectures")
    return isinstance(given, list) and GROK in given


def _without(entries: Entries, keys: Collection[str]) -> dict[str, Any]:
    return {key: value for key, value in entries.mapping.items() if key not in keys}


def _count(entries: Entries) -> int | None:
    """Return how many layers are said to be there, by the first key that says so."""
    return next((entries.integer(key) for key in COUNTS if key in entries), None)


def _numbered(entries: Entries, key: str, names: Mapping[int, str]) -> Mapping[str, Any]:
    """Return the keys with `layer_types`; numbers beyond the last layer are of predicted tokens."""
    listed = entries.mapping.get(key)
    if listed is None or "layer_types" in entries:
        return entries.mapping
    if not isinstance(listed, list) or any(_as_key(one) not in names for one in listed):
        allowed = ", ".join(map(str, names))
        raise ValueError(f"{entries.path(key)} must be a list of {allowed}; got {_shown(listed)}")
    types = [names[one] for one in listed[: _count(entries)]]
    return {**_without(entries, [key]), "layer_types": types}


def _as_key(value: object) -> object:
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    return value if is_number else None


def _internlm(entries: Entries) -> Mapping[str, Any]:
    """Return the keys with the base and the rule in `rotary`, as the code of InternLM has them."""
    if not isinstance(entries.mapping.get("rotary"), Mapping):
        return entries.mapping
    said = entries.within("rotary")
    refuse_unknown(said, {"base", "type", "scaling_factor"}, "InternLM")
    kind = said.text("type")
    if kind not in ("origin", "dynamic"):
        raise ValueError(f'{said.path("type")} must be "origin" or "dynamic"; got {_shown(kind)}')
    found = _without(entries, ["rotary"])
    if "base" in said:
        found[BASE] = said.mapping["base"]
    if kind == "dynamic":
        factor = said.number("scaling_factor", least=1) or 1.0
        found["rope_scaling"] = {"rope_type": "dynamic", "factor": factor}
    return found


def _by_layer(entries: Entries) -> Mapping[str, Any]:
    """Return the keys of Step 3.5, with a rule for each type of layers in place of lists.

    The lists go on for layers that predict further tokens; as in transformers, the first layer of a
    type says what holds for all, and a rule holds for full attention.
    """
    count = _count(entries)
    if "rope_parameters" in entries or count is None:
        return entries.mapping
    types = _listed(entries, "layer_types", count) or [FULL] * count
    bases, shares = (_listed(entries, key, count) for key in (BASE, SHARES_BY_LAYER))
    rules: dict[str, dict[str, Any]] = {}
    for number, name in enumerate(types):
        if not isinstance(name, str) or name in rules:
            continue
        base = bases[number] if bases else entries.mapping.get(BASE)
        rules[name] = {"rope_type": "default", BASE: 1e4 if base is None else base}
        if shares:
            rules[name][SHARE] = shares[number]
    if FULL in rules:
        rules[FULL] |= entries.within("rope_scaling").mapping
    rest = _without(entries, [BASE, SHARES_BY_LAYER, "rope_scaling", "layer_types"])
    return {**rest, "layer_types": types, "rope_parameters": rules}


def _listed(entries: Entries, key: str, count: int) -> list[Any] | None:
    """Return a list of one entry for each layer, or more; None if the entry is no list."""
    value = entries.mapping.get(key)
    if not isinstance(value, list):
        return None
    if len(value) < count:
        raise ValueError(
            f"{entries.path(key)} must have one entry for each of {count} layers; got {len(value)}"
        )
    return value[:count]


def _without_dangling(entries: Entries) -> Mapping[str, Any]:
    """Return the keys without a base and a rule for all beside those for each type of layers."""
    rules = entries.within("rope_parameters")
    if not any(isinstance(value, Mapping) for value in rules.mapping.values()):
        return entries.mapping
    return {**entries.mapping, "rope_parameters": _without(rules, RULED)}


def _grok(entries: Entries, notes: list[str]) -> Mapping[str, Any]:
    """Return the keys of Grok-2 without those of a rule that its type leaves without effect."""
    kind = entries.text("rope_type")
    if kind not in (None, "original"):
        raise ValueError(f'{entries.path("rope_type")} must be "original"; got {_shown(kind)}')
    given = ", ".join(entries.given(FLAT_RULE))
    if given:
        notes.append(f'rope_type is "original": {given} have no effect (SGLang, grok.py).')
    return {**_without(entries, ["rope_type", *FLAT_RULE]), "model_type": "grok"}
