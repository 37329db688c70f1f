"""The page of models, docs/reference/models.md, made from `docs/data/models.yml`."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Mapping
from typing import Any

from scripts import DOCS
from scripts.book.evaluate import corrections
from scripts.book.models import Model, Value, models, sources
from scripts.book.text import corrected

PAGE = DOCS / "reference" / "models.md"
NOT_FOUND, NONE = "not found", "—"

HEAD = """\
---
title: Models of today
description: Scheme, base, trained length and layout of well-known models, each with its source.
audience: anyone who wants to know what a published model does with positions
time: a minute, to look up a model
needs: nothing; RoPE and its base, to read the last columns
---
# Models of today { #models }

How well-known models from {{ 0 = models.models()[0]["year"] }} to
{{ 0 = models.models()[-1]["year"] }} encode the order of their tokens, with a source for each
value.
{ .lead }

Of these {{ 0 = len(models.models()) }} models, {{ 0 = len(models.rotary()) }} rotate queries and
keys, as [RoPE](../chapters/by-hand.md#rope) does. Up to
{{ 0 = models.model("gpt-neox")["year"] }} every base is
{{ 0,000 = max(models.bases(until=2022)) }}. Of the {{ 0 = len(models.bases(since=2024)) }} since
{{ 0 = models.model("gemma")["year"] }},
{{ 0 = sum(base > 10000 for base in models.bases(since=2024)) }} are larger, and
{{ 0 = sum(base >= 1000000 for base in models.bases(since=2024)) }} are a million or more; the
largest is {{ 0,000 = max(models.bases()) }}.

A large base leaves slow pairs that complete no turn in training. Llama 2 has
{{ 0 = models.model("llama-2").never_round() }} of them among
{{ 0 = len(models.model("llama-2").wavelengths()) }} pairs. Code Llama was trained on longer
sequences and with a base of {{ 0,000 = models.model("code-llama")["base"] }}; it has
{{ 0 = models.model("code-llama").never_round() }}, and its slowest pair takes
{{ 0,000 = models.model("code-llama").wavelengths()[-1] }} tokens for one turn.
[Longer than trained](../long-context/index.md) explains the rules for such pairs.
Rotary settings as configurations state them are in
[Configurations of models](../long-context/configurations.md).

## The models { #table }

- **d** is the head dimension, in brackets the rotated part of it if that is not all.
- **base** is that of the layers that see the whole sequence; that of layers with a window is in
  brackets.
- **trained** is the longest length, in tokens, that the model was trained on with this base and,
  as far as its sources say, without a rule. If only a configuration has it, it is the length from
  which its rule starts or, without a rule, the longest that it allows.
- **slowest turn** and **no full turn** are computed by
  [`wavelengths`][posenc.frequency.wavelengths]: the tokens that the slowest pair takes for one
  turn, and how many of all pairs take longer than the trained length or, if the layers that rotate
  see less, than that. No rule is applied.
- **promised** is the longest length that is offered, and the rule for it.
- **layout** is that of the pairs in the authors’ code, in brackets that in Transformers if it
  differs or is the only one found.

“Not found” means that none of the sources below has the value. A dash means that a model has no
such value and, under *promised*, that none of these sources offers more than the trained length.

"""

CAPTION = """
/// table-caption | <
    attrs: {class: models}

Well-known models by year. Each name leads to the sources of its row.
///

Checked by `test_every_value_has_a_source`, `test_computed_columns_are_those_of_the_package`,
`test_values_from_configuration_classes_agree_with_them`,
`test_stated_layout_is_that_of_the_transformers_code`
{ .checked }

"""

BELOW = """\
## Where each value is from { #sources }

There are five kinds of source:

- the **paper**, or the **authors’** own repository with its code, its documentation or a report;
- the **library**: Transformers, by the defaults of a model’s configuration class where they are
  those of the model named there, by its code, or by its documentation. A year after “Copyright”
  is that of the model’s file;
- a **copy** of the published configuration, in a project that reads it;
- **quoted**, by a text whose author had the configuration or the report.

Weights with a configuration for Transformers are in the layout of Transformers, which for several
models is not the one that their authors trained with. If both were found, both are given.
"""

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


def page() -> str:
    """Return the whole page as Markdown, with its bound numbers computed."""
    text = "\n".join([HEAD + table() + CAPTION + BELOW, *map(entry, models())])
    return corrected(text, corrections(text))


def table() -> str:
    """Return the table of all models, bound to `rows`."""
    found = rows()
    align = ["---", *["--:" if name in NUMBERS else "---" for name in list(found[0])[1:]]]
    lines = [list(found[0]), align, *(list(cells.values()) for cells in found)]
    body = "".join(f"| {' | '.join(line)} |\n" for line in lines)
    return f"<!-- table: models_table() -->\n{body}"


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
        "trained": counted(found["trained"]),
        "slowest turn": _if_rotary(found, None if lengths is None else round(lengths[-1])),
        "no full turn": _if_rotary(found, never, f" of {0 if lengths is None else len(lengths)}"),
        "promised": promised(found),
        "layout": layout(found),
    }


def anchor(found: Model) -> str:
    """Return the address of a model's sources on the page."""
    return found.key.replace(".", "-")


def counted(number: int | None) -> str:
    """Return a number with its thousands apart, or that it was not found."""
    return NOT_FOUND if number is None else f"{number:,}"


def _if_rotary(found: Model, number: int | None, after: str = "") -> str:
    """Return a number for a model that rotates, and a dash for any other."""
    if not found.is_rotary:
        return NONE
    return counted(number) + after * (number is not None)


def width(found: Model) -> str:
    """Return the width of a head, in brackets how much of it is rotated where that is not all."""
    said = counted(found["d"])
    return f"{said} ({found['rotary']})" if found["rotary"] else said


def base(found: Model) -> str:
    """Return the base, in brackets that of layers with a window; a dash where there is none."""
    if not found.is_rotary and found["base"] is None:
        return NONE
    local = found["local_base"]
    return counted(found["base"]) + (f" ({local:,})" if local else "")


def promised(found: Model) -> str:
    """Return the longest length that is offered and its rule; a dash where no source has more."""
    said = [f"{found['promised']:,}"] if found["promised"] else []
    said += [rule(found["rule"])] if found["rule"] else []
    said += [found["besides"]] if found["besides"] else []
    return ", ".join(said) or NONE


def rule(numbers: Mapping[str, Any]) -> str:
    """Return a rule by its name and, if it has one, its factor."""
    factor = f" × {numbers['factor']}" if "factor" in numbers else ""
    return RULE_NAMES[numbers["kind"]] + factor


def layout(found: Model) -> str:
    """Return the authors' layout, in brackets that of Transformers where it is not the same."""
    if not found.is_rotary:
        return NONE
    theirs, here = found["layout"], found["hf_layout"]
    other = f"({here})" if here and here != theirs else ""
    return " ".join(filter(None, [theirs, other])) or NOT_FOUND


def entry(found: Model) -> str:
    """Return where each value of a model is from, an item a source, in a fold.

    The anchor is inside the fold, so that browsers open it for whoever follows a link to it.
    """
    of = f", by {found.by}" + (f", `{found.type}` in Transformers" if found.type else "")
    by_source: dict[str, list[str]] = {}
    for field, value in found.values.items():
        by_source.setdefault(value.source, []).append(_said(field, value))
    items = [f"- {_link(key)}: {'; '.join(said)}" for key, said in by_source.items()]
    missing = [LABELS[field] for field in found.missing()]
    items += [f"- Not found: {', '.join(missing)}"] if missing else []
    items[0] += f"\n{{ #{anchor(found)} }}"
    body = textwrap.indent("\n".join(items), "    ")
    return f'??? sources "{found.name}{of}"\n\n{body}\n'


def _link(key: str) -> str:
    source = sources()[key]
    return f"{source.kind}, [{source.title}]({source.url})"


def _said(field: str, value: Value) -> str:
    said = value.value
    if isinstance(said, dict):
        numbers = [f"{name} {number}".lower() for name, number in said.items() if name != "kind"]
        said = ", ".join([RULE_NAMES[said["kind"]], *numbers]).replace("_", " ")
    elif isinstance(said, int) and field != "year":
        said = f"{said:,}"
    return f"{LABELS[field]} {said} ({_place(value.where)})"


def _place(where: str) -> str:
    """Return a place in a source: as code if it is a file or a name, in words otherwise."""
    return f"`{where}`" if re.search(r"[_/]|\.[a-z]|\w+Config", where) else where
