"""A configuration, read from its first key to the last."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from posenc._arguments import _shown
from posenc.config.diffusion import CLASS, axes
from posenc.config.entries import Entries, agreed
from posenc.config.families import (
    BASE,
    META,
    META_RULE,
    ORIGINAL,
    PAIRING,
    SAME,
    UNROTATED,
    WIDTH,
    defaults_of,
    layout_of,
)
from posenc.config.gguf import ARCHITECTURE, configuration
from posenc.config.head import Head, head_of
from posenc.config.keys import (
    LENGTHS,
    NONE,
    PARAMS,
    RULES,
    SCALED,
    SECTIONS,
    TRADITIONAL,
    TRAINED,
    refuse_strangers,
)
from posenc.config.layers import (
    Reading,
    Section,
    chosen_layers,
    completed,
    layers_of,
    refuse_axes,
    refuse_others,
    text_of,
)
from posenc.config.rule import UNGIVEN, Rule, promised_length, rule_of
from posenc.config.spellings import usual
from posenc.config.stack import Stack, stack_of, window_of
from posenc.config.training import FORMAT
from posenc.config.training import configuration as trained

# What is said of a model type that is not known, on standard error as well.
UNKNOWN = (
    "it is unclear which layers rotate, if any. The configuration is read as if all did, as in"
    " Llama."
)


class Place(NamedTuple):
    """Where the settings stand, to say how to change them."""

    entries: Entries  # the part about text
    section: Entries  # the part of it about these layers
    window: int | None  # how many positions back these layers attend, if not to all
    layers: Mapping[str | None, Section | None]  # all types of layers
    kind: str | None  # the model type, as families.py names it
    assumed: bool  # whether the promised length is taken for the trained one
    architecture: str | None  # of a GGUF file


class Found(NamedTuple):
    """All that was read."""

    rule: Rule
    head: Head
    layout: str | None
    sections: tuple[int, ...] | None
    interleaved_sections: bool
    layer_type: str | None
    layer_types: tuple[str, ...]
    stack: Stack
    notes: list[str]
    place: Place


def read(
    config: Mapping[str, Any], layer_type: str | None, trained_length: int | None = None
) -> Found:
    """Return what a configuration says about one type of layers."""
    notes: list[str] = []
    entries = usual(text_of(_translated(Entries(config), notes), notes), notes)
    is_given = ORIGINAL in entries or TRAINED in entries
    if trained_length is not None:
        given = {entries.path(ORIGINAL): entries.integer(ORIGINAL, least=2)}
        agreed(given | {"trained_length": trained_length})
        entries = Entries({**entries.mapping, ORIGINAL: trained_length}, entries.place)
    kind = entries.text("model_type")
    kind = SAME.get(kind or "", kind)
    defaults = defaults_of(kind)
    reading = Reading(entries, kind, defaults or {}, defaults is not None, notes)
    refuse_axes(reading)
    if kind not in UNROTATED:
        refuse_strangers(entries)
    refuse_others(reading)
    reading = completed(reading)
    entries = reading.entries
    if entries.flag("rotary_value", False):
        notes.append("Values are rotated too.")
    _note_unknown(reading)
    layers = layers_of(reading)
    chosen = chosen_layers(reading, layers, layer_type)
    section = layers[chosen]
    head = head_of(reading, section, chosen)
    if section is None:
        length = promised_length(entries)
        rule = Rule(NONE, trained_length=length, length=length)
    else:
        rule = rule_of(reading, section, head)
        if trained_length not in (None, rule.trained_length):
            raise ValueError(
                f'trained_length must be left out with rope_type "{rule.scheme}", which goes by'
                f" {LENGTHS[0]}; got {trained_length}"
            )
        is_given = is_given or ORIGINAL in section.entries
        if trained_length is not None and ORIGINAL in RULES.get(rule.scheme, ()) and not is_given:
            notes.append(
                f"{UNGIVEN}. This answer holds only once it is set to {trained_length}: without"
                f" it, transformers uses {LENGTHS[0]}."
            )
    return Found(
        rule,
        head,
        _layout(reading, head),
        _sections(section, head, notes),
        section is not None and section.entries.flag("mrope_interleaved", False),
        chosen if chosen is not None else layer_type,
        tuple(name for name in layers if name is not None),
        stack_of(reading, layers, chosen, layer_type),
        notes,
        Place(
            entries,
            Entries({}) if section is None else section.entries,
            window_of(reading, layer_type if chosen is None else chosen),
            layers,
            kind,
            rule.assumed,
            Entries(config).text(ARCHITECTURE),
        ),
    )


def _translated(entries: Entries, notes: list[str]) -> Entries:
    """Return the keys of config.json for those of GGUF, YAML, diffusers or Meta's params.json."""
    if ARCHITECTURE in entries:
        return Entries(configuration(entries, notes), entries.place)
    if FORMAT in entries:
        return Entries(trained(entries, notes), entries.place)
    if CLASS in entries and "model_type" not in entries:
        return Entries(axes(entries, notes), entries.place)
    is_params = all(key in entries for key in PARAMS) and "model_type" not in entries
    if not is_params or (WIDTH in entries and BASE not in entries):  # Mistral's has other defaults
        return entries
    notes.append(
        "The keys are those of a params.json, as Meta and Mistral publish it; Meta's code is"
        " followed."
    )
    rule = {"rope_scaling": META_RULE} if entries.flag(SCALED, False) else {}
    rest = {key: value for key, value in entries.mapping.items() if key != SCALED}
    return Entries({**rest, **rule, "model_type": META}, entries.place)


def _note_unknown(reading: Reading) -> None:
    """Note that nothing is known of a model type."""
    if reading.known:
        return
    kind = reading.entries.text("model_type")
    said = (
        "No model type is given"
        if kind is None
        else f"Model type {_shown(kind).removesuffix(' (str)')} is not known"
    )
    reading.notes.append(f"{said}: {UNKNOWN}")


def _layout(reading: Reading, head: Head) -> str | None:
    """Return which dimensions of the published weights form a pair, if that is known."""
    entries = reading.entries
    if "rotary_emb_interleaved" in entries:
        return "interleaved" if entries.flag("rotary_emb_interleaved", False) else "half"
    if reading.kind in PAIRING and not entries.flag(PAIRING[reading.kind], True):
        return "half"
    layout = layout_of(reading.kind, entries.flag("rope_interleave", True))
    for key in entries.given(["rope_interleave", "rope_interleaved"]):
        given = "interleaved" if entries.flag(key, False) else "half"
        layout = agreed({entries.path(key): given, "the layout": layout})
    if TRADITIONAL in entries:
        given = "interleaved" if entries.flag(TRADITIONAL, False) else "half"
        if given != layout:
            reading.notes.append(
                f'Only mlx-lm reads {TRADITIONAL}, and takes the layout "{given}" from it.'
            )
    if layout is None and head.latent:
        reading.notes.append("The layout depends on the model type, which is not known here.")
    if reading.kind == "llama":
        reading.notes.append(
            'Weights for transformers have the layout "half". Weights as Meta publishes them'
            ' are "interleaved".'
        )
    return layout


def _sections(section: Section | None, head: Head, notes: list[str]) -> tuple[int, ...] | None:
    """Return how many pairs each axis of positions rotates, which must add up."""
    if section is None:
        return None
    entries = section.entries
    given = agreed({entries.path(key): entries.mapping.get(key) for key in SECTIONS})
    if given is None:
        kinds = (section.entries.text("type"), section.entries.text("rope_type"))
        asking = 'type "mrope"' if "mrope" in kinds else "mrope_interleaved"
        if "mrope" in kinds or "mrope_interleaved" in section.entries:
            path = section.entries.path("mrope_section")
            raise ValueError(f"{path} must be given with {asking}; got none")
        return None
    path = entries.path(entries.given(SECTIONS)[0])
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
        "Each axis of positions rotates its own pairs. Contiguous and interleaved sections, which"
        " mrope_interleaved tells apart, are often taken for one another (MNN, PR 4133)."
    )
    return sections
