"""Says where a line must not break: in short code, an option, a number, before an ellipsis.

Browsers break a line after each hyphen of `--length` and after that of 1e-300, after the question
mark of `?query=4`, and between the words of `pip install .`.
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
LINE = 32  # characters of code that fill a line of a phone
OPTION = re.compile(r"(?<!\S)(-[^\s]+)")
NUMBER = re.compile(r"(?<=\de-)(?=\d)|(?<=\s−)(?=\()")  # after the sign in 1e-300, −(n − 1)
JOINED = "\u2060"  # no width, and no line breaks at it


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
                element.text = _kept(element.text)
            if element.tail:
                element.tail = _kept(element.tail)


def _kept(text: str) -> str:
    """Return a text whose ellipses and signs do not part from what they belong to.

    An `AtomicString`, in which nothing is marked up later, stays one.
    """
    kept = NUMBER.sub(JOINED, text.replace(" …", "\u00a0…"))
    return AtomicString(kept) if isinstance(text, AtomicString) else kept


def _keep_code(code: ElementTree.Element) -> None:
    """Keep short code on one line, and each option of longer code; break long names."""
    text = code.text or ""
    if not re.search(r"[\s?-]", text):
        if len(html.unescape(text)) > LINE:
            allow_breaks(code)
        return
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
