"""Says where a line must not break: in short code, in an option, before an ellipsis.

Browsers break a line after each hyphen of `--length`, and between the words of `pip install .`.
"""

from __future__ import annotations

import html
import re
from xml.etree import ElementTree

from markdown import Markdown
from markdown.extensions import Extension
from markdown.treeprocessors import Treeprocessor
from markdown.util import AtomicString

from scripts.book.evidence import allow_breaks

SHORT = 24  # characters of code that fit on one line of a phone, with words beside them
OPTION = re.compile(r"(?<!\S)(-[^\s]+)")
ELLIPSIS = "\u00a0…"


class _LineBreaks(Treeprocessor):
    def run(self, root: ElementTree.Element) -> None:
        for heading in root.iterfind(".//th[@scope='row']"):
            for code in heading.iter("code"):
                allow_breaks(code)
        blocks = set(root.iterfind(".//pre//code"))
        for element in root.iter():
            if element.tag == "code":
                if element not in blocks and not len(element):
                    _keep_code(element)
            elif element.text:
                element.text = _kind(element.text)(element.text.replace(" …", ELLIPSIS))
            if element.tail:
                element.tail = _kind(element.tail)(element.tail.replace(" …", ELLIPSIS))


def _kind(text: str) -> type[str]:
    """Return the type of a text: in an `AtomicString` nothing is marked up later."""
    return AtomicString if isinstance(text, AtomicString) else str


def _keep_code(code: ElementTree.Element) -> None:
    """Keep short code on one line, and each option of longer code."""
    text = code.text or ""
    if not re.search(r"[\s-]", text):
        return  # has no place to break
    if len(html.unescape(text)) <= SHORT:
        code.set("class", f"{code.get('class', '')} whole".strip())
        return
    before, *parts = OPTION.split(text)
    code.text = AtomicString(before)
    for option, after in zip(parts[::2], parts[1::2], strict=True):
        kept = ElementTree.SubElement(code, "span", {"class": "whole"})
        kept.text = AtomicString(option)
        kept.tail = AtomicString(after)


class LineBreaksExtension(Extension):
    """Keeps together what belongs together."""

    def extendMarkdown(self, md: Markdown) -> None:
        """Run when all text is in place, after quotes are curled, which code must not be."""
        md.treeprocessors.register(_LineBreaks(md), "book-line-breaks", 2.5)


makeExtension = LineBreaksExtension  # the name that Python-Markdown looks for
