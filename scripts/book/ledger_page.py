"""Makes the ledger of claims, trust/claims.md, from `docs/data/claims/`."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from typing import Any

import yaml

from scripts import DATA
from scripts.book.claims import LEDGER, VERDICTS, Claim, claims
from scripts.book.data import compose
from scripts.book.evaluate import names as book_names
from scripts.book.formal import PROVED_BY
from scripts.book.numbers import BINDING, PRINTED, binding, compare
from scripts.book.sourcemap_page import format_lines, link, sources
from scripts.book.template import filled
from scripts.book.text import Correction, apply_corrections

AS_STATED = "As stated."
# What the templates of the page and of a claim use.
WORDS: dict[str, Any] = {
    "as_stated": AS_STATED,
    "format_lines": format_lines,
    "link": link,
    "numbers": {*VERDICTS.values(), "claims"},
    "proved_by": PROVED_BY,
    "verdicts": VERDICTS,
}


def page(path: str = LEDGER) -> str:
    """Return the whole page as Markdown."""
    found = claims()
    return filled("claims", claims=found, sources=sources(), counts=counts(found), **WORDS)


def counts(found: list[Claim]) -> list[dict[str, str | int]]:
    """Return the claims of each source counted by verdict, as rows of a table."""
    tally = Counter((claim.source, claim.verdict) for claim in found)
    rows = {f"[{name}](#{name.lower()})": [tally[name, v] for v in VERDICTS] for name in sources()}
    rows["all"] = [sum(column) for column in zip(*rows.values(), strict=True)]
    return [
        {"source": name} | dict(zip(VERDICTS.values(), row, strict=True)) | {"claims": sum(row)}
        for name, row in rows.items()
    ]


def entry(claim: Claim) -> str:
    """Return the block of a claim: heading, quotation, evidence, correction and tests."""
    return filled("claim", claim=claim, **WORDS)


def update_numbers() -> list[str]:
    """Rewrite the bound numbers in the data in place, and return a message for each change."""
    changes = []
    for file in sorted((DATA / "claims").glob("*.yml")):
        text = file.read_text("utf-8")
        found = corrections(text)
        changes += [f"{file.name}, {correction.message(text)}" for correction in found]
        if found:
            file.write_text(apply_corrections(text, found), "utf-8")
    return changes


def corrections(text: str) -> list[Correction]:
    """Return the corrections of the bound numbers in a data file.

    Bindings are read from the parsed YAML; their positions are found in the text.
    """
    found = []
    for node in scalars(compose(text)):
        bound = BINDING.finditer(node.value)
        printed = re.compile(PRINTED).finditer(text, node.start_mark.index, node.end_mark.index)
        for match, number in zip(bound, printed, strict=True):
            for wrong in binding(match).corrections(node.value, book_names()):
                start = number.start("printed")
                found += compare(start, number["printed"], wrong.should, wrong.about)
    return found


def scalars(node: yaml.Node | None) -> Iterator[yaml.ScalarNode]:
    """Yield all scalars under a YAML node."""
    if isinstance(node, yaml.ScalarNode):
        yield node
    elif isinstance(node, yaml.MappingNode):
        for pair in node.value:
            for inner in pair:
                yield from scalars(inner)
    elif isinstance(node, yaml.SequenceNode):
        for inner in node.value:
            yield from scalars(inner)
