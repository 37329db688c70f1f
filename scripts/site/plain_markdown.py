"""A page without the page language: Markdown as any reader of it knows it.

    plain(text)         numbers, listings and boxes written out
    set_aside(text)     code and mathematics replaced by marks; restored(…) puts them back
    prose(text)         captions, citations and attributes of what is left

notebook.py and markdown_copies.py are made of these.
"""

from __future__ import annotations

import re
import textwrap

from scripts.book.citations import NOTE, WHOLE, reference, references
from scripts.book.embed import LINE, source
from scripts.book.numbers import bindings, shown, shown_in_mathematics
from scripts.book.text import FRONT, spans

BLOCK = re.compile(
    r"""^(?:!!!|\?\?\?\+?)\ (?P<kind>\w+)(?:\ "(?P<title>[^"\n]*)")?\n
        (?P<body>(?:(?:[ ]{4}[^\n]*|[ ]*)(?:\n|\Z))+)""",
    re.M | re.X,
)
OPEN = re.compile(r"^[ ]*(?:`{3}|~{3})|\$\$", re.M)  # what not every reader shows in a quotation
VERDICT = re.compile(r"(?P<words>.+)\n\{ ?\.(?P<verdict>right|wrong) ?\}", re.S)
VERDICTS = {"right": "**Right.**", "wrong": "**Often printed.**"}

CAPTION = re.compile(r"^/// (?P<kind>table|figure)-caption \|[ <]*(?P<number>\d[\w.]*).*$", re.M)
ATTRIBUTES = re.compile(r'[ ]*\{:?[ ]*(?:[.#][\w-]|\w+=")[^{}\n]*\}')
FIGURE = re.compile(
    r"!\[(?P<words>[^]]*)\]\((?P<folder>[^)\s]*\bfigures/)(?P<stem>[\w-]+)-light\.svg\)"
)


def plain(text: str) -> str:
    """Return a page without its front matter, and with numbers, listings and boxes written out."""
    text = FRONT.sub("", text, count=1)
    for binding in reversed(list(bindings(text))):
        show = shown_in_mathematics if binding.in_mathematics else shown
        text = text[: binding.start] + show(binding.printed) + binding.unit + text[binding.end :]
    for span in reversed(list(spans(text))):
        if span.kind == "comment":
            text = text[: span.start] + text[span.end :].lstrip()
    return _opened(LINE.sub(_listing, text))


def _listing(line: re.Match[str]) -> str:
    """Return the code that a line embeds, under the name of its file."""
    path, code = source(line["symbol"], nodoc=bool(line["nodoc"]))
    listing = f"From `{path.as_posix()}`:\n\n```python\n{code}\n```"
    return textwrap.indent(listing, line["margin"])


def _opened(text: str) -> str:
    """Return a text whose boxes are quotations, each under its title."""
    return BLOCK.sub(_box, text)


def _box(block: re.Match[str]) -> str:
    """Return a box as a quotation, or as it stands where it holds what no quotation can."""
    title = block["title"] or block["kind"].capitalize()
    body = _opened(textwrap.dedent(block["body"])).strip()
    words = "\n\n".join([f"**{title}**", *map(_judged, re.split(r"\n{2,}", body))])
    if not OPEN.search(words):
        words = "\n".join(f"> {line}".rstrip() for line in words.split("\n"))
    return f"{words}\n\n"


def _judged(paragraph: str) -> str:
    """Return a paragraph with the word for its mark: right, or often printed."""
    found = VERDICT.fullmatch(paragraph.rstrip())
    return f"{VERDICTS[found['verdict']]} {found['words']}" if found else paragraph


def set_aside(text: str) -> tuple[str, list[str]]:
    """Return a text with a mark for each piece of code or mathematics, and the pieces."""
    pieces: list[str] = []
    marked, place = "", 0
    for span in spans(text):
        marked += f"{text[place : span.start]}\ue000{len(pieces)}\ue001"
        pieces.append(text[span.start : span.end])
        place = span.end
    return marked + text[place:], pieces


def restored(marked: str, pieces: list[str]) -> str:
    """Return a text with its code and mathematics in their places again."""
    return re.sub("\ue000(\\d+)\ue001", lambda mark: pieces[int(mark[1])], marked)


def prose(text: str) -> str:
    """Return prose as any reader of Markdown knows it, citations written out, marks left out."""
    text = CAPTION.sub(lambda caption: f"**{caption['kind'].title()} {caption['number']}**", text)
    text = re.sub(r"^///.*\n?", "", text, flags=re.M)
    text = WHOLE.sub(lambda cited: reference(cited["key"]), text)
    text = re.sub(rf" ?{NOTE.pattern}", _citation, text)
    text = re.sub(r"(?:\n>)+(?=\n(?!>)|\Z)", "", ATTRIBUTES.sub("", text))
    return re.sub(r"\n{3,}", "\n\n", text)


def _citation(note: re.Match[str]) -> str:
    """Return what stands for a footnote: who and when, linked to the work."""
    work = references()[note["key"]]
    names = re.split(r", | and ", work["authors"])
    others = " et al." if len(names) > 1 else ""
    year = re.search(r"\d{4}", note["key"])
    return f" ([{names[0]}{others}{f' {year[0]}' if year else ''}]({work['url']}))"
