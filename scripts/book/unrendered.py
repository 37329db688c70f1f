"""Stops the build if a finished page still contains page language.

An unclosed dollar sign, a misspelt `--src--` line, a malformed binding, or a list without an empty
line before it, would otherwise appear on the page as written, and unchecked.
"""

from __future__ import annotations

import re

from markdown import Markdown
from markdown.extensions import Extension
from markdown.postprocessors import Postprocessor

from scripts.book.mathematics import FORMULA

# Not prose: listings, inline code, formulas, tags.
SET_ASIDE = re.compile(rf"<pre\b.*?</pre>|<code\b.*?</code>|{FORMULA.pattern}|<[^<>]*>", re.S)
LEFT = re.compile(
    r"\{\{|\}\}|--src|\[[\^@]\w|(?<!\\)\$|(?:^|\n)\s*(?:///|!!!|\?\?\?)|\{ ?[.#:]\w|<!--"
)
# The next item of a list that is a paragraph for lack of an empty line before it.
ITEM = re.compile(r"\n *[-*+] ")


class LeftoverError(ValueError):
    """A page contains page language that was not processed."""


class _Leftovers(Postprocessor):
    def run(self, text: str) -> str:
        prose = SET_ASIDE.sub("", text)
        if left := LEFT.search(prose) or ITEM.search(prose):
            near = prose[max(0, left.start() - 20) : left.end() + 40].strip()
            raise LeftoverError(f"{left[0].strip()!r} would be shown as written: {near!r}")
        return text


class LeftoversExtension(Extension):
    """Rejects page language that was not processed."""

    def extendMarkdown(self, md: Markdown) -> None:
        """Run just before formulas are rendered, while they are still marked as formulas."""
        md.postprocessors.register(_Leftovers(md), "book-leftovers", 2)


makeExtension = LeftoversExtension  # the name that Python-Markdown looks for
