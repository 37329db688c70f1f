"""Makes the ledger of claims, docs/trust/claims.md, from `docs/data/claims/`."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator

import yaml

from scripts import DATA, DOCS
from scripts.book.claims import LEDGER, VERDICTS, Claim, claims
from scripts.book.data import compose
from scripts.book.evaluate import names as book_names
from scripts.book.formal import PROVED_BY
from scripts.book.numbers import BINDING, PRINTED, binding, compare
from scripts.book.sourcemap import format_lines, link, sources
from scripts.book.text import Correction, corrected

PAGE = DOCS / LEDGER
AS_STATED = "As stated."

HEAD = """\
---
title: The ledger of claims
description: What five texts claim, each with our verdict, its grounds and the tests behind it.
audience: anyone who has read something else elsewhere
time: a minute a claim
needs: nothing
---
# The ledger of claims { #claims }

This book reworks five texts. Here is what they claim, sentence by sentence, each with our verdict,
the grounds for it, what is right, and the tests behind it, which compute examples at some widths,
lengths and seeds. These tests run each time the book is tested. A verdict that rests on the
literature cites it.
{ .lead }

A claim is *true*; *true if* a condition is added that the text leaves out; *imprecise* if a right
idea is worded so that it misleads; *false*; or *not checkable* if it names no unit, no setting or
no measurement. Claims that say the same thing are *judged like* one another. The sources are
called S0 to S4, as in [the map of sources](sources.md).
{ #verdicts }
"""

FILTER = """\
<form class="ledger-filter" id="ledger-filter">
<fieldset><legend>Source</legend>
{sources}
</fieldset>
<fieldset><legend>Verdict</legend>
{verdicts}
</fieldset>
<p><output aria-live="polite"></output> <button type="reset">Show all</button></p>
</form>
"""
CHOICE = '<label><input type="checkbox" name="{name}" value="{value}"> {words}</label>'


def page() -> str:
    """Return the whole page as Markdown."""
    found = claims()
    names = list(dict.fromkeys(claim.source for claim in found))
    parts = [HEAD, counts(found, names), form(names)]
    for name in names:
        parts.append(f"## {name}, {sources()[name].title} {{ #{name.lower()} }}\n")
        parts += [entry(claim) for claim in found if claim.source == name]
    return "\n".join(parts)


def counts(found: list[Claim], names: list[str]) -> str:
    """Return a table that counts the claims of each source by verdict."""
    tally = Counter((claim.source, claim.verdict) for claim in found)
    rows = {f"[{name}](#{name.lower()})": [tally[name, v] for v in VERDICTS] for name in names}
    rows["all"] = [sum(column) for column in zip(*rows.values(), strict=True)]
    lines = [
        ["source", *VERDICTS.values(), "claims"],
        ["---", *["--:"] * (len(VERDICTS) + 1)],
        *([name, *map(str, row), str(sum(row))] for name, row in rows.items()),
    ]
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)


def form(names: list[str]) -> str:
    """Return the form that filters by source and verdict, which a script shows."""
    by_source = [CHOICE.format(name="source", value=n.lower(), words=n) for n in names]
    by_verdict = [CHOICE.format(name="verdict", value=v, words=w) for v, w in VERDICTS.items()]
    return FILTER.format(sources="\n".join(by_source), verdicts="\n".join(by_verdict))


def entry(claim: Claim) -> str:
    """Return the block of a claim: heading, quotation, evidence, correction and tests."""
    address, source, verdict = claim.id.lower(), claim.source.lower(), claim.verdict
    where = f"{'lines' if set('-,') & set(claim.lines) else 'line'} {format_lines(claim.lines)}"
    parts = [
        f'/// html | article.claim[data-source="{source}" data-verdict="{verdict}"]',
        f'<h3 id="{address}"><a href="#{address}">{claim.id}</a> '
        f'<span class="verdict {verdict}">{VERDICTS[verdict]}</span></h3>',
        f'“{claim.quote}” <span class="where">{where}</span>\n{{ .said }}',
        claim.evidence.strip(),
        *([f"{claim.right.strip()}\n{{ .right }}"] if claim.right != AS_STATED else []),
        f"In the book: {link(claim.at)}{_likes(claim)}\n{{ .place }}",
        *([f"Checked by {proof(claim.tests)}\n{{ .checked }}"] if claim.tests else []),
        *([f"{PROVED_BY}: {proof(claim.proofs)}\n{{ .checked }}"] if claim.proofs else []),
        "///\n",
    ]
    return "\n\n".join(parts)


def _likes(claim: Claim) -> str:
    """Return links to the claims with the same content, or an empty string."""
    links = ", ".join(f"[{other}](#{other.lower()})" for other in claim.like)
    return f"; judged like {links}" if links else ""


def proof(tests: list[str]) -> str:
    """Return the names of tests or proofs, formatted for a line of evidence."""
    return ", ".join(f"`{test}`" for test in tests)


def update_numbers() -> list[str]:
    """Rewrite the bound numbers in the data in place, and return a message for each change."""
    changes = []
    for file in sorted((DATA / "claims").glob("*.yml")):
        text = file.read_text("utf-8")
        found = corrections(text)
        changes += [f"{file.name}, {correction.message(text)}" for correction in found]
        if found:
            file.write_text(corrected(text, found), "utf-8")
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
