"""Nothing of the page language may reach the reader as it was written.

A dollar that is never closed, a `--src--` with a word misspelt, a binding that is not one: each
would be shown as it stands, unchecked. This looks at the finished page and stops the build.
"""

from __future__ import annotations

import re

from markdown import Markdown
from markdown.extensions import Extension
from markdown.postprocessors import Postprocessor

from scripts.book.mathematics import FORMULA

# What the reader does not read as prose: listings, inline code, formulas, tags.
SET_ASIDE = re.compile(rf"<pre\b.*?</pre>|<code\b.*?</code>|{FORMULA.pattern}|<[^<>]*>", re.S)
LEFT = re.compile(
    r"\{\{|\}\}|--src|\[[\^@]\w|(?<!\\)\$|(?:^|\n)\s*(?:///|!!!|\?\?\?)|\{ ?[.#:]\w|<!--"
)


class LeftoverError(ValueError):
    """Something of the page language was not understood."""


class _Leftovers(Postprocessor):
    def run(self, text: str) -> str:
        prose = SET_ASIDE.sub("", text)
        if left := LEFT.search(prose):
            near = prose[max(0, left.start() - 20) : left.end() + 40].strip()
            raise LeftoverError(f"{left[0].strip()!r} would be shown as written: {near!r}")
        return text


class LeftoversExtension(Extension):
    """Stop at page language that nothing has understood."""

    def extendMarkdown(self, md: Markdown) -> None:
        """Run just before formulas are set, while they are still easily told from prose."""
        md.postprocessors.register(_Leftovers(md), "book-leftovers", 2)


makeExtension = LeftoversExtension  # the name that Python-Markdown looks for
