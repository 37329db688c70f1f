"""The page of models, reference/models.md, made from `docs/data/models.yml`."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from scripts.book.evaluate import corrected_page
from scripts.book.models import Model, Source, Value, models, sources
from scripts.book.template import filled

NOT_FOUND, NONE = "not found", "—"

NUMBERS = {"year", "d", "base", "trained", "slowest turn", "no full turn"}
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
    "d": "width of a head",
    "rotary": "rotated dimensions",
    "base": "base",
    "local_base": "base in layers with a window",
    "trained": "trained length",
    "reach": "reach of the layers that rotate",
    "promised": "promised length",
    "rule": "rule",
    "besides": "beside the rule",
    "layers": "layers that differ",
    "layout": "layout of the authors",
    "hf_layout": "layout in Transformers",
}


def page(path: str) -> str:
    """Return the whole page as Markdown, with its bound numbers computed."""
    found = {"rows": rows(), "numbers": NUMBERS, "models": models()}
    return corrected_page(filled("models", **found, **WORDS))


def rows() -> list[dict[str, str]]:
    """Return the cells of the table by their headings, one row per model."""
    return [row(found) for found in models()]


def row(found: Model) -> dict[str, str]:
    """Return the cells of a model by their headings."""
    lengths, never = found.wavelengths(), found.never_round()
    return {
        "model": f"[{found.name}](#{anchor(found)})",
        "year": str(found["year"]),
        "scheme": found["scheme"],
        "d": width(found),
        "base": base(found),
        "trained": grouped_digits(found["trained"]),
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
    factor = f" × {numbers['factor']}" if "factor" in numbers else ""
    return RULE_NAMES[numbers["kind"]] + factor


def layout(found: Model) -> str:
    """Return the authors' layout, in brackets that of Transformers where it is not the same."""
    if not found.is_rotary:
        return NONE
    authors, here = found["layout"], found["hf_layout"]
    other = f"({here})" if here and here != authors else ""
    return " ".join(filter(None, [authors, other])) or NOT_FOUND


def entry(found: Model) -> str:
    """Return where each value of a model is from, an item a source, in a fold."""
    return filled("model", model=found, **WORDS)


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
WORDS: dict[str, Any] = {"anchor": anchor, "by_source": values_by_source, "missing": missing}
