"""The page of terms, docs/reference/glossary.md, made from `docs/data/glossary.yml`."""

from __future__ import annotations

from functools import cache
from os.path import relpath
from pathlib import Path

from scripts import DOCS
from scripts.book import glossary
from scripts.book.data import front_matter
from scripts.book.glossary import Term, terms

PAGE = DOCS / glossary.PAGE

HEAD = """\
---
title: Words
description: The terms of the book, each in two sentences, with a link to where it is explained.
audience: anyone who has met a word here and does not know it
time: a minute, to look up a word
needs: nothing
---
# Words { #words }

The terms of this book, each in two sentences, with a link to where the book explains it. On the
other pages a dotted line marks a term at its first use. Hover or focus shows these two sentences
there, and the link leads here.
{ .lead }

"""


def page() -> str:
    """Return the whole page as Markdown."""
    return HEAD + "\n".join(map(entry, terms()))


def entry(term: Term) -> str:
    """Return a term with its two sentences and its link, as an item of a definition list."""
    path, _, anchor = term.at.partition("#")
    address = f"{relpath(path, Path(glossary.PAGE).parent)}#{anchor}"
    return f"{term.name} {{ #{term.anchor} }}\n:   {term.says} See [{title(path)}]({address}).\n"


@cache
def title(path: str) -> str:
    """Return the title of a page, given by its path under docs/."""
    found: str = front_matter((DOCS / path).read_text(encoding="utf-8"))["title"]
    return found
