"""Counts the words of a page's prose.

Code, tables, displayed formulas, comments and lines of evidence are not prose. A bound number, a
formula in a sentence and a piece of code in a sentence count as one word each.
"""

from __future__ import annotations

import re

from scripts.book.numbers import BINDING
from scripts.book.text import spans

LIMIT = 2200  # words of a page that answers one question
IN_A_SENTENCE = {"code", "math"}
NOT_PROSE = re.compile(
    r"""^[ ]*(?:\||///|--src--|:::).*$                               # tables, captions, listings
      | ^[ ]*(?:Checked|Proved)\ by\b(?:.+\n)+?[ ]*\{\ \.checked.*$   # evidence
      | \[\^[^\]]+\]                                                 # citations
      | \]\([^)\s]*\)                                                # targets of links
      | \{[ ]?[.#:][^}]*\}                                           # attributes
      | <[a-zA-Z/][^<>\n]*>                                          # tags
    """,
    re.M | re.X,
)
WORD = re.compile(r"[^\W_]+(?:[’'.,/-][^\W_]+)*")


def prose_words(text: str) -> int:
    """Return how many words of prose a page has.

    Examples:
        >>> prose_words("Row $p$ is {{ 2.0 = np.sqrt(4) }} long.\\n\\n| a | b |\\n|---|---|")
        5
    """
    kept, place = [], 0
    for span in spans(text):
        kept += [text[place : span.start], "word" if span.kind in IN_A_SENTENCE else "\n"]
        place = span.end
    prose = NOT_PROSE.sub("", BINDING.sub("number", "".join([*kept, text[place:]])))
    return len(WORD.findall(prose))
