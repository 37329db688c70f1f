"""Which part of a configuration is about which layers."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any, NamedTuple

from posenc._arguments import _shown
from posenc.config.entries import Entries, agreed, is_misspelling
from posenc.config.families import (
    ALIBI,
    ASKING,
    AXES,
    AXIAL,
    BACKWARD,
    BASE,
    BY_LAYER,
    LABELS,
    LOCAL,
    OTHERS,
    PARAMETERS,
    RESCALING,
    ROTATING_WIDTHS,
    SAME,
    SCALED_WINDOWS,
    SWITCHED,
    UNROTATED,
    UNSCALED_WINDOWS,
    WINDOW,
    WINDOWS,
)
from posenc.config.keys import (
    ATTENTION,
    COMPRESSED,
    COUNTS,
    FLAGS,
    GAPS,
    HIDDEN,
    INTERVAL,
    LOCALS,
    RESCALED,
    ROTARY,
    SCHEMES,
    TEXTS,
    THETAS,
    THINKER,
    refuse_strangers,
    type_of,
)
from posenc.layers import GAPPED, WINDOWED

LINEAR = "linear_attention"  # layers of this type do not rotate
TYPES = ("full_attention", "sliding_attention", "chunked_attention", LINEAR)
ROTATING = ("rope", "rotary")  # the types of positions that are rotations
WRITTEN = (*ROTATING, "rope_gptj")  # another name, which no model type of transformers asks for
MOST = 10_000  # layers
ROPE, NO_ROPE = "rope", "no_rope"  # the names of layers that rotate, and of others


class Section(NamedTuple):
    """The settings of one type of layers."""

    entries: Entries
    apart: bool = False  # whether they have a base of their own
    base_given: bool = True  # whether that base is in the file


class Reading(NamedTuple):
    """A configuration being read, and the notes about it so far."""

    entries: Entries
    kind: str | None
    defaults: dict[str, float]
    known: bool  # whether the defaults of this model type are known
    notes: list[str]
    completed: bool = False  # whether rope_parameters are those of the model type


def completed(reading: Reading) -> Reading:
    """Return a configuration with the rule that its model type has where none is given."""
    entries, given = reading.entries, PARAMETERS.get(reading.kind)
    scaled = entries.within("rope_scaling").mapping and not _has_rule_per_type(given or {})
    if given is None or entries.within("rope_parameters").mapping or scaled:
        return reading
    reading.notes.append(
        "rope_parameters is not given. transformers has a default rule for this model type."
    )
    entries = Entries({**entries.mapping, "rope_parameters": given}, entries.place)
    return reading._replace(entries=entries, completed=True)


def _has_rule_per_type(parameters: Mapping[str, Any]) -> bool:
    """Say whether there is one rule for each type of layers, rather than one for all."""
    return any(isinstance(value, Mapping) for value in parameters.values())


def text_of(entries: Entries, notes: list[str]) -> Entries:
    """Return the part of a configuration about text, which may be the whole."""
    if THINKER in entries:
        refuse_strangers(entries)
        entries = entries.within(THINKER)
    parts = entries.given(TEXTS)
    if not parts:
        return entries
    refuse_strangers(entries)
    if len(parts) > 1:
        raise ValueError(
            f"{entries.path(parts[1])} must not be given together with {parts[0]}; got"
            f" {_shown(entries.mapping[parts[1]])}"
        )
    part = entries.within(parts[0])
    for key in entries.given(ROTARY):
        if key not in part:
            raise ValueError(
                f"{entries.path(key)} must be in {parts[0]}, which is what is read; got"
                f" {_shown(entries.mapping[key])} outside of it"
            )
        agreed({entries.path(key): entries.mapping[key], part.path(key): part.mapping[key]})
    notes.append(f"Only the part about text, {part.place.rstrip('.')}, is read.")
    whole = entries.text("model_type")
    if "model_type" in part or whole not in SAME:
        return part
    return Entries({**part.mapping, "model_type": SAME[whole]}, part.place)


def refuse_others(reading: Reading) -> None:
    """Raise ValueError if the model does not rotate queries and keys."""
    entries = reading.entries
    if _is_unrotated(reading):
        return
    other = _other_scheme(reading)
    if other is not None:
        raise ValueError(
            "config must have a model type that rotates queries and keys; got model type"
            f" {_shown(reading.kind)}, which uses {other}: it has no frequencies to scale"
        )
    for key, wanted in FLAGS.items():
        if entries.flag(key, wanted) != wanted:
            raise ValueError(
                f"{entries.path(key)} must be {str(wanted).lower()} in a model with"
                f" rotary positions; got {_shown(entries.mapping[key])}"
            )
    key = next(iter(entries.given(SCHEMES)), SCHEMES[0])
    scheme, asks = entries.text(key), reading.kind in ASKING
    allowed = ROTATING if asks else (None, *WRITTEN)
    if scheme not in allowed and (asks or not reading.known):
        raise ValueError(
            f'{entries.path(key)} must be "rope" or "rotary" in a model with'
            f" rotary positions; got {'none' if scheme is None else _shown(scheme)}"
        )
    if scheme not in allowed:
        reading.notes.append(
            f"{key} is {_shown(scheme).removesuffix(' (str)')}. transformers does"
            " not read it for this model type, which rotates."
        )
    width = ROTATING_WIDTHS.get(reading.kind or "")
    hidden = width and entries.integer(HIDDEN[0])
    if hidden != width:
        raise ValueError(
            f"{entries.path(HIDDEN[0])} must be {width}, as in the model of type"
            f" {_shown(reading.kind)} that rotates, not one with ALiBi; got"
            f" {'none' if hidden is None else hidden}"
        )
    if not reading.known and not entries.given(ROTARY):
        kind = entries.mapping.get("model_type")
        raise ValueError(
            "config must have a model type that is known to rotate, or a key such as rope_theta;"
            f" got {'no model type' if kind is None else f'model type {_shown(kind)}'}, and no"
            " such key"
        )


def _other_scheme(reading: Reading) -> str | None:
    """Return which positions a model has that does not rotate, if that is certain."""
    entries, kind = reading.entries, reading.kind
    attention = entries.mapping.get(ATTENTION)
    of_attention = isinstance(attention, Mapping) and attention.get("alibi") is True
    if (kind == "mpt" and of_attention) or (kind == "falcon" and entries.flag("alibi", False)):
        return ALIBI
    is_plain = {entries.text(key) for key in SCHEMES} <= {None, "absolute"}
    if not is_plain or entries.given(ROTARY):
        return None
    return next((scheme for scheme, kinds in OTHERS.items() if kind in kinds), None)


def _is_unrotated(reading: Reading) -> bool:
    """Say whether the model type has no rotation, or a key that switches it off."""
    switch = SWITCHED.get(reading.kind or "")
    off = switch is not None and not reading.entries.flag(switch, False)
    return off or reading.kind in UNROTATED


def refuse_axes(reading: Reading) -> None:
    """Raise ValueError if positions have several axes, as in images."""
    axes = AXES.get(reading.kind or "")
    rule = reading.entries.mapping.get("rope_parameters")
    if (
        axes is None
        and isinstance(rule, Mapping)
        and AXIAL in (rule.get("rope_type"), rule.get("type"))
    ):
        axes = "height and width"
    if axes is not None:
        raise ValueError(
            f"{reading.entries.path('model_type')} must be of a model that rotates by one axis of"
            f" positions; got {_shown(reading.entries.mapping.get('model_type'))}, which rotates by"
            f" {axes}"
        )


def layers_of(reading: Reading) -> dict[str | None, Section | None]:
    """Return the settings by type of layers, None for layers that do not rotate."""
    if _is_unrotated(reading):
        _note_unread(reading, [*ROTARY, GAPS, INTERVAL], "Its attention does not rotate.")
        return {None: None}
    entries, defaults = reading.entries, reading.defaults
    nested = entries.within("rope_parameters")
    if _has_rule_per_type(nested.mapping):
        return _nested_sections(reading, nested)
    if nested.given(nested.mapping) and (LOCAL in defaults or reading.kind in UNSCALED_WINDOWS):
        raise ValueError(
            f"{entries.path('rope_parameters')} must have one rule for each type of layers with"
            f" model type {_shown(reading.kind)}; got {_shown(dict(nested.mapping))}"
        )
    main = Section(_merged_entries(entries))
    if reading.kind in LABELS:
        return _compressed_sections(reading, main)
    named = named_layers(reading)
    if named or reading.kind in BACKWARD:
        return _named_sections(reading, main, named or (ROPE, NO_ROPE))
    local = _local_base(reading)
    if local is not None or LOCAL in defaults:
        rule = main.entries if reading.kind in SCALED_WINDOWS else Entries({})
        found = Entries({**rule.mapping, BASE: local or defaults[LOCAL]}, rule.place)
        sliding = Section(found, apart=True, base_given=local is not None)
        return {"full_attention": main, "sliding_attention": sliding}
    if reading.kind in UNSCALED_WINDOWS:
        plain = Entries({key: main.entries.mapping[key] for key in main.entries.given([BASE])})
        return {"full_attention": main, "sliding_attention": Section(plain)}
    default = WINDOWS.get(reading.kind or "") if WINDOW not in entries.mapping else None
    if reading.kind in WINDOWED and (WINDOW in entries or default is not None):
        return {"full_attention": None, "sliding_attention": main}
    return {ROPE: main, NO_ROPE: None} if _has_gaps(reading) else {None: main}


def named_layers(reading: Reading) -> tuple[str, ...]:
    """Return the name of each layer's settings where a key tells layers apart, else nothing."""
    kind = reading.kind
    if reading.known and kind not in (*BY_LAYER, *BACKWARD):
        _note_unread(reading, [THETAS], "All its layers that rotate have one base.")
    if reading.known and kind not in RESCALING:
        _note_unread(reading, [RESCALED], "A rule applies to all its layers.")
    count = layer_count(reading)
    if kind in RESCALING:
        return _rescaled_layers(reading, count)
    thetas = _listed_thetas(reading)
    if kind in BACKWARD:
        rotating = (ROPE if theta else NO_ROPE for theta in thetas)
        return tuple(rotating) if thetas else _backward_layers(count)
    several = len({*thetas} - {0}) > 1
    names = {theta: f"{BASE} {theta:.15g}" if several else ROPE for theta in thetas if theta}
    return tuple(names.get(theta, NO_ROPE) for theta in thetas)


def _backward_layers(count: int | None) -> tuple[str, ...]:
    """Return which layers rotate where every fourth, counted back from the last, does not."""
    return tuple(ROPE if back % 4 else NO_ROPE for back in reversed(range(count or 0)))


def _rescaled_layers(reading: Reading, count: int | None) -> tuple[str, ...]:
    """Return which layers a rule is for, by `rope_scaling_layers`; nothing if it is for all."""
    path, listed = reading.entries.path(RESCALED), reading.entries.mapping.get(RESCALED)
    if listed is None or count is None:
        return ()
    allowed = range(count)
    if not isinstance(listed, list) or any(
        type(one) is not int or one not in allowed for one in listed
    ):
        raise ValueError(
            f"{path} must be a list of layers, from 0 to {count - 1}; got {_shown(listed)}"
        )
    scaled = {*listed}
    return tuple("scaled" if number in scaled else "unscaled" for number in allowed)


def _listed_thetas(reading: Reading) -> list[float]:
    """Return the base of each layer, 0 where it does not rotate; nothing if none is listed."""
    entries = reading.entries
    path, listed = entries.path(THETAS), entries.mapping.get(THETAS)
    if listed is None or (reading.known and reading.kind not in (*BY_LAYER, *BACKWARD)):
        return []
    if not isinstance(listed, list):
        raise TypeError(f"{path} must be a list of numbers; got {_shown(listed)}")
    _check_count(reading, path, listed)
    each = Entries({str(i): one for i, one in enumerate(listed)}, f"{path}.")
    thetas = [each.required_number(str(i), least=0) for i in range(len(listed))]
    for number, theta in enumerate(thetas):
        if 0 < theta <= 1:
            raise ValueError(f"{path}.{number} must be 0 or a number above 1; got {theta:g}")
    return thetas


def _named_sections(
    reading: Reading, main: Section, named: tuple[str, ...]
) -> dict[str | None, Section | None]:
    """Return the settings by the names that layers have: `named_layers` says which."""
    thetas = [] if reading.kind in BACKWARD else _listed_thetas(reading)
    bases = dict(zip(named, thetas, strict=False))
    own = main.entries.mapping
    sections: dict[str | None, Section | None] = {}
    for name in sorted(dict.fromkeys(named), key=lambda name: name == NO_ROPE):
        if name == NO_ROPE:
            sections[name] = None
        elif name in bases:
            sections[name] = Section(Entries({**own, BASE: bases[name]}, main.entries.place), True)
        elif name == "unscaled":
            sections[name] = Section(Entries({key: own[key] for key in main.entries.given([BASE])}))
        else:
            sections[name] = main
    return sections if len(sections) > 1 else {None: next(iter(sections.values()))}


def _note_unread(reading: Reading, keys: Collection[str], why: str) -> None:
    """Note which keys are given to a model type that does not read them."""
    given = ", ".join(reading.entries.given(keys))
    verb = "have" if "," in given else "has"
    said = f"{why} So {given} {verb} no effect with model type {_quoted(reading)}."
    if given and said not in reading.notes:
        reading.notes.append(said)


def _quoted(reading: Reading) -> str:
    return _shown(reading.entries.mapping.get("model_type")).removesuffix(" (str)")


def _local_base(reading: Reading) -> float | None:
    """Return the base of layers with a window, if the model type reads one."""
    if reading.known and LOCAL not in reading.defaults:
        _note_unread(reading, LOCALS, "All its layers that rotate have one base.")
        return None
    entries = reading.entries
    local: float | None = agreed({key: entries.number(key, least=1, above=True) for key in LOCALS})
    return local


def _compressed_sections(reading: Reading, main: Section) -> dict[str | None, Section | None]:
    """Return the settings of DeepSeek-V4, whose layers that compress have the rule and a base."""
    entries = reading.entries
    base = entries.number(COMPRESSED, least=1, above=True)
    rule = {**main.entries.mapping, BASE: base or reading.defaults[COMPRESSED]}
    if type_of(main.entries) == "yarn":
        rule.setdefault("attention_factor", 1.0)
    plain = {BASE: entries.number(BASE, least=1, above=True) or reading.defaults[BASE]}
    place = main.entries.place
    return {
        "main": Section(Entries(plain, place), apart=True, base_given=BASE in entries),
        "compress": Section(Entries(rule, place), apart=True, base_given=base is not None),
    }


def _nested_sections(reading: Reading, parameters: Entries) -> dict[str | None, Section | None]:
    """Return the settings by type of layers in the new spelling."""
    entries = reading.entries
    if entries.within("rope_scaling").mapping:
        raise ValueError(
            f"{entries.path('rope_scaling')} must not be given together with rope_parameters with"
            f" one rule for each type of layers; got {_shown(entries.mapping['rope_scaling'])}"
        )
    labels = LABELS.get(reading.kind or "", {})
    types = [labels.get(one, one) for one in listed_types(reading)]
    listed = dict.fromkeys(types) or parameters.mapping
    for name in parameters.mapping:
        if name not in listed and name not in labels.values():
            _refuse_slips(reading, parameters, name, listed)
            raise ValueError(
                f"{parameters.path(name)} must be about a type in {entries.path('layer_types')};"
                f" got {_shown(name)}"
            )
    if (
        entries.given(LOCALS)
        and _local_base(reading)
        and parameters.mapping.get("sliding_attention") is None
    ):
        key = entries.given(LOCALS)[0]
        raise ValueError(
            f"{entries.path(key)} must have a rope_parameters.sliding_attention to apply to; got"
            f" {_shown(entries.mapping[key])}"
        )
    sections: dict[str | None, Section | None] = {
        name: _nested_section(reading, parameters, name) for name in parameters.mapping
    }
    if not labels:
        return sections
    return {name: one and one._replace(apart=True) for name, one in sections.items()}


def _refuse_slips(
    reading: Reading, parameters: Entries, name: str, listed: Collection[str]
) -> None:
    """Raise ValueError if a type is listed that is a slip for one with parameters."""
    allowed = ", ".join(f'"{one}"' for one in parameters.mapping)
    for one in listed:
        if one not in TYPES and is_misspelling(one, name, 2):
            raise ValueError(
                f"{reading.entries.path('layer_types')} must have types such as those in"
                f" {parameters.place.rstrip('.')}, {allowed}; got {_shown(one)}"
            )


def _nested_section(reading: Reading, parameters: Entries, name: str) -> Section | None:
    """Return the settings of one type of layers; a local base outside is that of windows."""
    if parameters.mapping[name] is None:
        return None
    section, outer = parameters.within(name), reading.entries
    if name != "sliding_attention":
        return Section(section)
    places = [(section, BASE), *((outer, key) for key in LOCALS if _local_base(reading))]
    given = agreed({one.path(key): one.number(key, least=1, above=True) for one, key in places})
    local = given or reading.defaults.get(LOCAL)
    if local is None:
        return Section(section)
    found = Entries({**section.mapping, BASE: local}, section.place)
    return Section(found, apart=True, base_given=given is not None)


def _merged_entries(entries: Entries) -> Entries:
    """Return the entries of `rope_scaling` and `rope_parameters`, which must agree."""
    old, new = entries.within("rope_scaling"), entries.within("rope_parameters")
    for key in {*old.mapping} & {*new.mapping} - {"rope_type", "type"}:
        agreed({old.path(key): old.mapping[key], new.path(key): new.mapping[key]})
    if old.mapping and new.mapping:
        agreed({old.place + "rope_type": type_of(old), new.place + "rope_type": type_of(new)})
    place = old.place if old.mapping else new.place
    return Entries({**new.mapping, **old.mapping}, place)


def _has_gaps(reading: Reading) -> bool:
    """Say whether layers are counted that do not rotate."""
    if reading.known and reading.kind not in GAPPED:
        _note_unread(reading, [GAPS, INTERVAL], "All its layers with attention rotate.")
        return False
    layers = listed_gaps(reading)
    return 0 in layers if layers else reading.kind in GAPPED


def listed_gaps(reading: Reading) -> list[int]:
    """Return 1 for each layer that rotates and 0 for others, none if that is not listed."""
    layers = reading.entries.mapping.get(GAPS) or []
    path = reading.entries.path(GAPS)
    if not isinstance(layers, list) or any(one not in (0, 1) for one in layers):
        raise ValueError(f"{path} must be a list of 0 and 1; got {_shown(layers)}")
    _check_count(reading, path, layers)
    return layers


def listed_types(reading: Reading) -> list[str]:
    """Return the type of each layer, or none if the configuration does not list them."""
    listed = reading.entries.mapping.get("layer_types") or []
    path = reading.entries.path("layer_types")
    if not isinstance(listed, list) or not all(isinstance(one, str) for one in listed):
        raise TypeError(f"{path} must be a list of strings; got {_shown(listed)}")
    _check_count(reading, path, listed)
    return listed


def _check_count(reading: Reading, path: str, listed: Collection[object]) -> None:
    """Raise ValueError if a list has not one entry for each layer."""
    count = layer_count(reading)
    if listed and count not in (None, len(listed)):
        raise ValueError(
            f"{path} must have one entry for each of {count} layers; got {len(listed)}"
        )


def layer_count(reading: Reading) -> int | None:
    """Return how many layers the model has, if that is said."""
    entries = reading.entries
    count: int | None = agreed({entries.path(key): entries.integer(key) for key in COUNTS})
    if count is not None and count > MOST:
        name = entries.given(COUNTS)[0]
        raise ValueError(f"{entries.path(name)} must be an integer, at most {MOST}; got {count}")
    return count


def is_about_layers_that_count(layers: Mapping[str | None, Section | None]) -> bool:
    """Say whether layers differ by their number alone: whether it is counted among the gaps."""
    return NO_ROPE in layers


def chosen_layers(
    reading: Reading, layers: Mapping[str | None, Section | None], asked: str | None
) -> str | None:
    """Return the name of the layers that are asked about."""
    attending = {one for one in listed_types(reading) if one.endswith("attention")} - {LINEAR}
    names = [*layers] if None not in layers else sorted(attending)
    if asked is not None:
        if not isinstance(asked, str):
            raise TypeError(f"layer_type must be a string or None; got {_shown(asked)}")
        if asked not in names:
            allowed = ", ".join(f'"{name}"' for name in names)
            allowed = f"one of {allowed}, or None" if names else "None, as all layers are alike"
            raise ValueError(f"layer_type must be {allowed}; got {_shown(asked)}")
        return asked if None not in layers else None
    rotating = [name for name, section in layers.items() if section is not None]
    if not rotating:
        return next(iter(layers))
    chosen = "full_attention" if "full_attention" in rotating else rotating[0]
    if len(layers) > 1:
        others = " and ".join(f'"{name}"' for name in layers if name != chosen)
        reading.notes.append(f'This is about layers of type "{chosen}"; ask for {others} as well.')
    return chosen
