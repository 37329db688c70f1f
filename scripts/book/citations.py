"""Citations, from `docs/data/references.yml`, and facts from papers, from `docs/data/facts.yml`.

`[^vaswani2017]` in a page makes a footnote with the full reference; `[@vaswani2017]` is replaced by
the reference. `fact("bert-positions")` in a bound number is a value in `facts.yml`, which also
names its source.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache
from typing import Any

from markdown import Markdown
from markdown.extensions import Extension
from markdown.preprocessors import Preprocessor

from scripts import DATA
from scripts.book.data import check_fields, load
from scripts.book.text import outside_code

NOTE = re.compile(r"\[\^(?P<key>[^\]]+)\](?!:)")
WHOLE = re.compile(r"\[@(?P<key>[^\]]+)\]")


@cache
def references() -> dict[str, dict[str, Any]]:
    """Return every reference by its key."""
    return _data("references.yml", ["authors", "title", "where", "url"])


@cache
def facts() -> dict[str, dict[str, Any]]:
    """Return every fact from a paper by its name."""
    return _data("facts.yml", ["value", "what", "source"], optional=["place"])


def _data(name: str, fields: list[str], optional: Sequence[str] = ()) -> dict[str, dict[str, Any]]:
    data: dict[str, dict[str, Any]] = load(DATA / name)
    for key, entry in data.items():
        check_fields(f"{name}: {key}", entry, fields, optional)
    return data


def fact(name: str) -> Any:
    """Return the value of a fact from a paper."""
    if name not in facts():
        raise KeyError(f"docs/data/facts.yml has no {name!r}")
    return facts()[name]["value"]


def reference(key: str) -> str:
    """Return a full reference as Markdown."""
    if key not in references():
        raise KeyError(f"docs/data/references.yml has no {key!r}")
    entry = references()[key]
    return f"{entry['authors']}, [“{entry['title']}”]({entry['url']}), {entry['where']}."


class _Citations(Preprocessor):
    def run(self, lines: list[str]) -> list[str]:
        text = "\n".join(lines)
        cited = [
            match["key"]
            for start, end, _ in outside_code(text)
            for match in NOTE.finditer(text, start, end)
        ]
        wholes = [m for s, e, _ in outside_code(text) for m in WHOLE.finditer(text, s, e)]
        for match in reversed(wholes):
            text = text[: match.start()] + reference(match["key"]) + text[match.end() :]
        notes = [f"[^{key}]: {reference(key)}\n" for key in dict.fromkeys(cited)]
        return [*text.split("\n"), "", *"\n".join(notes).split("\n")]


class CitationsExtension(Extension):
    """Writes the references that a page cites; an unknown one stops the build."""

    def extendMarkdown(self, md: Markdown) -> None:
        """Run before footnotes are parsed, since this writes footnotes."""
        md.preprocessors.register(_Citations(md), "book-citations", 31.5)


makeExtension = CitationsExtension  # the name that Python-Markdown looks for
