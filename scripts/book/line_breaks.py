"""Says where a line must not break: in short code, an option, a number, before an ellipsis.

Browsers break a line after each hyphen of `--length` and after that of 1e-300, after the question
mark of `?query=4`, and between the words of `pip install .`.
"""

from __future__ import annotations

import html
import itertools
import re
from collections.abc import Iterator
from xml.etree import ElementTree

from markdown import Markdown
from markdown.extensions import Extension
from markdown.treeprocessors import Treeprocessor
from markdown.util import AtomicString

from scripts.book.evidence import allow_breaks

SHORT = 24  # characters of code that fit on one line of a phone, with words beside them
NAME = 11  # characters of a row's name, such as "chapter 1", that its column has room for
LAST = 3  # characters of a last word that would look lost on a line of its own
HEADINGS = {"h1", "h2", "h3", "h4"}
BLOCKS = {"p", "ul", "ol", "div", "pre", "details", "figure"}
LINE = 32  # characters of code that fill a line of a phone
# An option; a sum, as in `n / (n - 1)`; the brackets of an index, as in `rows[..., 1:]`; the end of
# a longer list, as in `0.999, ...]`.
PART = re.compile(r"((?<!\S)-[^\s-]\S*|--\S+|\w+(?: [-+] \w+)+|\w*\[[^][]{,22}\]|[^\s[]+ \.\.\.\])")
SIGN = re.compile(r"(?<=\S) ([−+×]) (?=\S)")  # in n − 1, 2 × 2
# After the sign in 1e-300, UTF-8, −(n − 1).
NUMBER = re.compile(r"(?<=\de-)(?=\d)|(?<=UTF-)(?=\d)|(?<=\s−)(?=\()")
LONG = ElementTree.Element("code")  # stands for code that is longer than a short last word
LONG.text = "-" * (LAST + 1)
JOINED = "\u2060"  # no width, and no line breaks at it


class _LineBreaks(Treeprocessor):
    def run(self, root: ElementTree.Element) -> None:
        for heading in root.iterfind(".//th[@scope='row']"):
            for code in heading.iter("code"):
                allow_breaks(code)
            if " " not in (heading.text or "") and len(heading.text or "") > SHORT:
                _break_name(heading)
            if not len(heading) and len(heading.text or "") <= NAME:
                heading.set("class", f"{heading.get('class', '')} whole".strip())
        for heading in (element for element in root.iter() if element.tag in HEADINGS):
            if any("_" in word and len(word) > SHORT for word in (heading.text or "").split()):
                allow_breaks(heading)
        blocks = set(root.iterfind(".//pre//code"))
        for element in root.iter():
            if element.tag == "code":
                if element not in blocks and not len(element):
                    _keep_code(element)
            elif element.tag == "span" and element.get("class") == "whole":
                continue  # a part of code
            elif element.text and "arithmatex" not in element.get("class", ""):
                element.text = _with_joined_marks(element.text)
            if element.tail:
                element.tail = _with_joined_marks(element.tail)
        for parent in root.iter():
            for mark, following in itertools.pairwise(parent):
                if mark.tag == following.tag == "sup" and mark.tail == " ":
                    mark.tail = "\u00a0"
        for block in root.iter():
            if block.tag == "p" or _is_sentence(block):
                _keep_last_word(block)


def _is_sentence(item: ElementTree.Element) -> bool:
    """Return whether an element is an item of a list that is one block and ends in a full stop."""
    if item.tag != "li" or BLOCKS & {part.tag for part in item}:
        return False
    return "".join(item.itertext()).rstrip().endswith(".")


def _with_joined_marks(text: str) -> str:
    """Return a text whose ellipses and signs do not part from what they belong to.

    An `AtomicString`, in which nothing is marked up later, stays one.
    """
    kept = re.sub(r" (?=…|\.\.\.)", "\u00a0", text)
    kept = NUMBER.sub(JOINED, SIGN.sub("\u00a0\\1\u00a0", kept))
    return AtomicString(kept) if isinstance(text, AtomicString) else kept


def _break_name(heading: ElementTree.Element) -> None:
    """Let a long name wrap after its underscores, or before the last of its capitalized words."""
    name = heading.text or ""
    if "_" in name:
        allow_breaks(heading)
    elif last := re.search(r"(?<=[a-z])[A-Z][a-z]+[A-Z][a-z]+$", name):
        heading.text = name[: last.start()]
        wbr = ElementTree.Element("wbr")
        wbr.tail = last[0]
        heading.insert(0, wbr)


def _keep_code(code: ElementTree.Element) -> None:
    """Keep short code on one line, and short parts of longer code; break long names."""
    text = code.text or ""
    if not re.search(r"[\s?-]", text):
        if len(html.unescape(text)) > LINE:
            allow_breaks(code)
        return
    if len(html.unescape(text)) <= SHORT:
        code.set("class", f"{code.get('class', '')} whole".strip())
        return
    before, *parts = PART.split(text)
    code.text = AtomicString(before)
    kept: ElementTree.Element | None = None
    for part, after in zip(parts[::2], parts[1::2], strict=True):
        if len(html.unescape(part)) <= SHORT:
            kept = ElementTree.SubElement(code, "span", {"class": "whole"})
            kept.text = AtomicString(part)
            kept.tail = AtomicString(after)
        elif kept is None:
            code.text = AtomicString(code.text + part + after)
        else:
            kept.tail = AtomicString((kept.tail or "") + part + after)


def _keep_last_word(block: ElementTree.Element) -> None:
    """Join a last word of a letter or two, such as `x.`, to the word before it."""
    seen = 0
    for element, place in reversed(list(_texts(block))):
        text = getattr(element, place) or ""
        before, space, word = text.rpartition(" ")
        seen += len(word)
        if seen > LAST:
            return
        if space:
            joined = f"{before}\u00a0{word}"
            is_final = isinstance(text, AtomicString)
            setattr(element, place, AtomicString(joined) if is_final else joined)
            return


def _texts(element: ElementTree.Element) -> Iterator[tuple[ElementTree.Element, str]]:
    """Yield where each piece of an element's text stands, in reading order."""
    yield element, "text"
    for child in element:
        if child.tag != "code":
            yield from _texts(child)
        elif len(words := "".join(child.itertext())) <= LAST and " " not in words:
            yield child, "text"
        else:
            yield LONG, "text"
        yield child, "tail"


class LineBreaksExtension(Extension):
    """Keeps together what belongs together."""

    def extendMarkdown(self, md: Markdown) -> None:
        """Run when all text is in place, after quotes are curled, which code must not be."""
        md.treeprocessors.register(_LineBreaks(md), "book-line-breaks", 2.5)


makeExtension = LineBreaksExtension  # the name that Python-Markdown looks for
