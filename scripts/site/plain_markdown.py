"""Converts the page language to plain Markdown, for notebook.py and markdown_copies.py.

plain(text)         writes out numbers, listings and boxes
set_aside(text)     replaces code and mathematics by marks; restored(…) puts them back
prose(text)         converts captions and citations, and drops attributes
"""

from __future__ import annotations

import re
import textwrap

from scripts.book.citations import NOTE, WHOLE, reference, references
from scripts.book.numbers import as_html, as_tex, bindings
from scripts.book.source_listings import LANGUAGES, LINE, listing
from scripts.book.source_listings import WHOLE as WHOLE_FILES
from scripts.book.text import FRONT, spans

BLOCK = re.compile(
    r"""^(?:!!!|\?\?\?\+?)\ (?P<kind>\w+)(?:\ "(?P<title>[^"\n]*)")?\n
        (?P<body>(?:(?:[ ]{4}[^\n]*|[ ]*)(?:\n|\Z))+)""",
    re.M | re.X,
)
UNQUOTABLE = re.compile(r"^[ ]*(?:`{3}|~{3})|\$\$", re.M)  # some viewers fail on these in a quote
VERDICT = re.compile(r"(?P<words>.+)\n\{ ?\.(?P<verdict>right|wrong) ?\}", re.S)
VERDICTS = {"right": "**Right.**", "wrong": "**Wrong.**"}

CAPTION = re.compile(r"^/// (?P<kind>table|figure)-caption \|[ <]*(?P<number>\d[\w.]*).*$", re.M)
ATTRIBUTES = re.compile(r'[ ]*\{:?[ ]*(?:[.#][\w-]|\w+=")[^{}\n]*\}')
FIGURE = re.compile(
    r"!\[(?P<words>[^]]*)\]\((?P<folder>[^)\s]*\bfigures/)(?P<stem>[\w-]+)-light\.svg\)"
)


def plain(text: str) -> str:
    """Return a page without its front matter, and with numbers, listings and boxes written out."""
    text = FRONT.sub("", text, count=1)
    for binding in reversed(list(bindings(text))):
        show = as_tex if binding.in_mathematics else as_html
        text = text[: binding.start] + show(binding.printed) + binding.unit + text[binding.end :]
    for span in reversed(list(spans(text))):
        if span.kind == "comment":
            text = text[: span.start] + text[span.end :].lstrip()
    return _quote_boxes(LINE.sub(_listing, text))


def _listing(line: re.Match[str]) -> str:
    """Return the code that a line embeds, with the name of its file."""
    path, code = listing(line)
    language = (LANGUAGES | WHOLE_FILES)[path.suffix]
    text = f"From `{path.as_posix()}`:\n\n```{language}\n{code}\n```"
    return textwrap.indent(text, line["margin"])


def _quote_boxes(text: str) -> str:
    """Return a text with its boxes turned into quotations, each with its title."""
    return BLOCK.sub(_box, text)


def _box(block: re.Match[str]) -> str:
    """Return a box as a quotation, or unquoted if it contains code fences or display formulas."""
    title = block["title"] or block["kind"].capitalize()
    body = _quote_boxes(textwrap.dedent(block["body"])).strip()
    words = "\n\n".join([f"**{title}**", *map(_with_verdict, re.split(r"\n{2,}", body))])
    if not UNQUOTABLE.search(words):
        words = "\n".join(f"> {line}".rstrip() for line in words.split("\n"))
    return f"{words}\n\n"


def _with_verdict(paragraph: str) -> str:
    """Return a paragraph with its verdict in words: right, or wrong."""
    found = VERDICT.fullmatch(paragraph.rstrip())
    return f"{VERDICTS[found['verdict']]} {found['words']}" if found else paragraph


def hide_code(text: str) -> tuple[str, list[str]]:
    """Return a text with code and mathematics replaced by marks, and the replaced pieces."""
    pieces: list[str] = []
    marked, place = "", 0
    for span in spans(text):
        marked += f"{text[place : span.start]}\ue000{len(pieces)}\ue001"
        pieces.append(text[span.start : span.end])
        place = span.end
    return marked + text[place:], pieces


def restore_code(marked: str, pieces: list[str]) -> str:
    """Return a text with its code and mathematics put back."""
    return re.sub("\ue000(\\d+)\ue001", lambda mark: pieces[int(mark[1])], marked)


def prose(text: str) -> str:
    """Return prose as plain Markdown, with citations written out and attributes dropped."""
    text = CAPTION.sub(lambda caption: f"**{caption['kind'].title()} {caption['number']}**", text)
    text = re.sub(r"^///.*\n?", "", text, flags=re.M)
    text = WHOLE.sub(lambda cited: reference(cited["key"]), text)
    text = re.sub(rf" ?{NOTE.pattern}", _citation, text)
    text = re.sub(r"(?:\n>)+(?=\n(?!>)|\Z)", "", ATTRIBUTES.sub("", text))
    return re.sub(r"\n{3,}", "\n\n", text)


def _citation(note: re.Match[str]) -> str:
    """Return the replacement for a footnote: author and year, linked to the work."""
    work = references()[note["key"]]
    names = re.split(r", | and ", work["authors"])
    others = " et al." if len(names) > 1 else ""
    year = re.search(r"\d{4}", note["key"])
    return f" ([{names[0]}{others}{f' {year[0]}' if year else ''}]({work['url']}))"
