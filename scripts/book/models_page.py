"""The page of models, reference/models.md, from `models.yml` and `configurations.yml`.

A configuration of a model of the first file has the same name; the others have a row of their own.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from posenc import RotaryConfig
from scripts.book.configurations import Configuration, configurations, not_read, turning
from scripts.book.configurations import rule as rule_of
from scripts.book.evaluate import corrected_page
from scripts.book.models import Model, Source, Value, families, models, sources
from scripts.book.template import filled

# A dash, and the reason: there is no such value; the sources named, a source not read, and the
# configuration do not have it.
NONE, NOT_FOUND, NOT_READ, NOT_SAID = "—", "— not found", "— not read", "— not said"

NUMBERS = {"year", "d", "base", "trained / reported", "trained / stated"}
NUMBERS |= {"slowest turn", "no full turn"}
UNROTATED, OTHERS = "Without rotation", "Others"
LAYERS = {"full_attention": "full attention", "sliding_attention": "with a window"}
RULE_NAMES = {
    "linear": "interpolation",
    "dynamic": "dynamic NTK",
    "yarn": "YaRN",
    "llama3": "Llama 3’s rule",
    "longrope": "LongRoPE",
    "proportional": "proportional rotation",
}
LABELS = {
    "year": "year",
    "scheme": "scheme",
    "d": "head dimension",
    "rotary": "rotated dimensions",
    "base": "base",
    "local_base": "base in layers with a window",
    "reported": "trained length",
    "stated": "stated length",
    "reach": "reach of the layers that rotate",
    "promised": "promised length",
    "rule": "rule",
    "besides": "in addition to the rule",
    "layers": "layers that differ",
    "layout": "layout in the authors’ code",
    "hf_layout": "layout in Transformers",
}


def page(path: str) -> str:
    """Return the whole page as Markdown, with its bound numbers computed."""
    unread = [{"model type": f"`{kind}`", "why": why} for kind, why in not_read().items()]
    return corrected_page(filled("models", numbers=NUMBERS, unread=unread, **WORDS))


def tables() -> dict[str, list[Model]]:
    """Return the models of each table, in the order of the page."""
    rows = [found for found in models() if found.is_rotary] + configured()
    named = {key: family for family, keys in families().items() for key in keys}
    found: dict[str, list[Model]] = {UNROTATED: [one for one in models() if not one.is_rotary]}
    for family, keys in families().items():
        found[family] = [one for key in keys for one in rows if _key(one) == key]
    return found | {OTHERS: [one for one in rows if _key(one) not in named]}


def configured() -> list[Model]:
    """Return the models of which only a configuration was read."""
    names = {found.name for found in models()}
    return [one.model() for one in configurations() if one.name not in names]


def configuration(found: Model) -> Configuration | None:
    """Return the configuration of a model, None if none was read."""
    return next((one for one in configurations() if one.name == found.name), None)


def _key(found: Model) -> str:
    return found.key.removeprefix("config-")


def rows(family: str) -> list[dict[str, str]]:
    """Return the cells of a table by their headings, without the columns that are of no use."""
    cells = [row(found) for found in tables()[family]]
    used = [name for name in cells[0] if any(one[name] != NONE for one in cells)]
    return [{name: one[name] for name in used} for one in cells]


def row(found: Model) -> dict[str, str]:
    """Return the cells of a model by their headings."""
    lengths, never = found.wavelengths(), found.never_round()
    return {
        "model": f"[{found.name}](#{anchor(found)})",
        "year": str(found["year"] or NONE),
        "scheme": found["scheme"],
        "d": width(found),
        "base": base(found),
        "trained / reported": reported_length(found),
        "trained / stated": stated_length(found),
        "slowest turn": _if_rotary(found, None if lengths is None else round(lengths[-1])),
        "no full turn": _if_rotary(found, never, f" of {0 if lengths is None else len(lengths)}"),
        "promised": offered_length(found),
        "layout": layout(found),
    }


def anchor(found: Model) -> str:
    """Return the address of a model's sources on the page."""
    return found.key.replace(".", "-")


def grouped_digits(number: int | None) -> str:
    """Return a number with its thousands apart, or that it was not found."""
    return NOT_FOUND if number is None else f"{number:,}"


def _if_rotary(found: Model, number: int | None, after: str = "") -> str:
    """Return a number for a model that rotates, and a dash for any other."""
    if not found.is_rotary:
        return NONE
    return grouped_digits(number) + after * (number is not None)


def reported_length(found: Model) -> str:
    """Return the reported length, or that no source has it or that no report was read."""
    return NOT_READ if found.is_configuration else grouped_digits(found["reported"])


def stated_length(found: Model) -> str:
    """Return the stated length, linked to its configuration, or why there is none."""
    one = configuration(found)
    if not found["stated"]:
        return NOT_SAID if one else NOT_READ
    length = grouped_digits(found["stated"])
    return f"[{length}]({workbench(one)})" if one else length


def workbench(one: Configuration) -> str:
    """Return the link that opens a configuration."""
    return f"../long-context/workbench.md?workbench.model={one.key}"


def width(found: Model) -> str:
    """Return the width of a head, in brackets how much of it is rotated where that is not all."""
    words = grouped_digits(found["d"])
    return f"{words} ({found['rotary']})" if found["rotary"] else words


def base(found: Model) -> str:
    """Return the base, in brackets that of layers with a window; a dash where there is none."""
    if not found.is_rotary and found["base"] is None:
        return NONE
    local = found["local_base"]
    return grouped_digits(found["base"]) + (f" ({local:,})" if local else "")


def offered_length(found: Model) -> str:
    """Return the longest length that is offered and its rule; a dash where no source has more."""
    parts = [f"{found['promised']:,}"] if found["promised"] else []
    parts += [rule(found["rule"])] if found["rule"] else []
    parts += [found["besides"]] if found["besides"] else []
    return ", ".join(parts) or NONE


def rule(numbers: Mapping[str, Any]) -> str:
    """Return a rule by its name and, if it has one, its factor."""
    factor = f" × {numbers['factor']:.10g}" if "factor" in numbers else ""
    return RULE_NAMES[numbers["kind"]] + factor


def layout(found: Model) -> str:
    """Return the authors' layout, in brackets that of Transformers where it is not the same."""
    if not found.is_rotary:
        return NONE
    authors, here = found["layout"], found["hf_layout"]
    other = f"({here})" if here and here != authors else ""
    nothing = NOT_SAID if found.is_configuration else NOT_FOUND
    return " ".join(filter(None, [authors, other])) or nothing


def entry(found: Model) -> str:
    """Return where each value of a model is from, an item a source, in a fold."""
    return filled("model", model=found, **WORDS)


def items(found: Model) -> list[str]:
    """Return where each value of a model is from, then what its configuration states."""
    read = [] if found.is_configuration else values_by_source(found)
    said = [f"{one.kind}, [{one.title}]({one.url}): {'; '.join(words)}" for one, words in read]
    one = configuration(found)
    return [*said, *([stated(one)] if one else [])]


def stated(one: Configuration) -> str:
    """Return what a configuration states of each type of its layers, and where it was read."""
    read = sources().get(one.source)
    place = f"[{read.title}]({read.url}), `{one.where}`" if read else "the values above"
    said = "; ".join(map(_layers_text, one.layers()))
    return f"[configuration]({workbench(one)}), from {place}: {said}"


def _layers_text(layers: RotaryConfig) -> str:
    pairs, numbers = turning(layers), rule_of(layers)
    never = sum(pair["never_round"] for pair in pairs)
    rotated = f" ({layers.rotary_d})" if layers.rotary_d != layers.d else ""
    said = [
        f"width of a head {layers.d}{rotated}",
        f"base {layers.base:,.10g}",
        rule(numbers) if numbers else "no rule",
        f"trained length {_said(layers.trained_length)}",
        f"promised length {_said(layers.length)}",
        f"{never} of {len(pairs)} pairs complete no turn",
        f"layout {layers.layout or 'not said'}",
    ]
    kind = f"{LAYERS[layers.layer_type]}: " if layers.layer_type else ""
    return kind + ", ".join(said)


def _said(length: int | None) -> str:
    return "not said" if length is None else f"{length:,}"


def values_by_source(found: Model) -> list[tuple[Source, list[str]]]:
    """Return the sources of a model, each with what it says."""
    texts: dict[str, list[str]] = {}
    for field, value in found.values.items():
        texts.setdefault(value.source, []).append(_value_text(field, value))
    return [(sources()[key], words) for key, words in texts.items()]


def missing(found: Model) -> list[str]:
    """Return what no source of a model has."""
    return [LABELS[field] for field in found.missing()]


def _value_text(field: str, value: Value) -> str:
    text = value.value
    if isinstance(text, dict):
        numbers = [f"{name} {number}".lower() for name, number in text.items() if name != "kind"]
        text = ", ".join([RULE_NAMES[text["kind"]], *numbers]).replace("_", " ")
    elif isinstance(text, int) and field != "year":
        text = f"{text:,}"
    return f"{LABELS[field]} {text} ({_place(value.where)})"


def _place(where: str) -> str:
    """Return a place in a source: as code if it is a file or a name, in words otherwise."""
    return f"`{where}`" if re.search(r"[_/]|\.[a-z]|\w+Config", where) else where


# What the templates of the page and of a model use.
WORDS: dict[str, Any] = {"anchor": anchor, "items": items, "missing": missing}
WORDS |= {"tables": tables, "rows": rows}
