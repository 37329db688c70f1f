"""Packs the pages of a built site as an EPUB 3: https://www.w3.org/TR/epub-33/."""

from __future__ import annotations

import html
import mimetypes
import re
import uuid
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import takewhile
from pathlib import Path
from typing import TYPE_CHECKING
from zipfile import ZIP_DEFLATED, ZIP_STORED, ZipFile

if TYPE_CHECKING:
    from playwright.sync_api import Page

Part = tuple[str, list[tuple[str, str]]]  # its title, and the path and title of each page
HERE = Path(__file__).parent
STYLES = "epub.css"
# matplotlib gives equal images of a figure equal ids, which nothing refers to.
REPEATED = re.compile(rb' id="image[0-9a-f]{10}"')
CONTAINER = """<?xml version="1.0" encoding="utf-8"?>
<container version="1.0" xmlns="urn:oasis:names:tc:opendocument:xmlns:container">
<rootfiles>
<rootfile full-path="book/book.opf" media-type="application/oebps-package+xml"/>
</rootfiles>
</container>
"""
DOCUMENT = """<?xml version="1.0" encoding="utf-8"?>
<!DOCTYPE html>
<html xmlns="http://www.w3.org/1999/xhtml" xmlns:epub="http://www.idpf.org/2007/ops" lang="en"
 xml:lang="en">
<head><title>{title}</title><link rel="stylesheet" href="epub.css"/></head>
<body>{body}</body>
</html>
"""
PACKAGE = """<?xml version="1.0" encoding="utf-8"?>
<package xmlns="http://www.idpf.org/2007/opf" version="3.0" unique-identifier="id" xml:lang="en">
<metadata xmlns:dc="http://purl.org/dc/elements/1.1/">
<dc:identifier id="id">urn:uuid:{identifier}</dc:identifier>
<dc:title>{title}</dc:title>
<dc:language>en</dc:language>
<dc:creator>{author}</dc:creator>
<meta property="dcterms:modified">{modified}</meta>
</metadata>
<manifest>
{manifest}
</manifest>
<spine>
{spine}
</spine>
</package>
"""


@dataclass(frozen=True)
class Book:
    """What an e-book says about itself: `modified` is a time like 2026-11-23T12:00:00Z."""

    title: str
    author: str
    modified: str


@dataclass(frozen=True)
class Chapter:
    """A page of the book: its file's stem, its title in the navigation, and its body as XHTML.

    `continues` says that the page belongs to the chapter that began before it.
    """

    name: str
    title: str
    body: str
    continues: bool = False

    @property
    def properties(self) -> str:
        """Return what the manifest has to say about it."""
        used = {"mathml": "<math", "svg": "<svg"}
        return " ".join(name for name, tag in used.items() if tag in self.body)


def read_chapters(
    page: Page, parts: list[Part], later: list[str], site: str
) -> tuple[list[tuple[str, list[Chapter]]], dict[str, str]]:
    """Return the chapters of each part, and the path of each picture by its name.

    Args:
        page: the first page of the site, open in a browser.
        parts: what is read.
        later: the paths of the pages that continue a chapter.
        site: the address where the site is published, or empty.
    """
    pages = [path for _, listed in parts for path, _ in listed]
    about = {"pages": pages, "later": later, "site": site}
    found = page.evaluate("about => chapters(about)", about)
    made = dict(zip(pages, found, strict=True))
    chapters = [
        (part, [_chapter(made[path], title, path in later) for path, title in listed])
        for part, listed in parts
    ]
    pictures = [picture for one in found for picture in one["pictures"]]
    return chapters, {picture["name"]: picture["path"] for picture in pictures}


def _chapter(made: dict[str, str], title: str, continues: bool) -> Chapter:
    return Chapter(made["name"], title, made["text"], continues)


def write(
    file: Path,
    book: Book,
    parts: list[tuple[str, list[Chapter]]],
    pictures: dict[str, bytes],
) -> None:
    """Write an e-book of these parts, with pictures by name."""
    chapters = [chapter for _, inside in parts for chapter in inside]
    with ZipFile(file, "w", ZIP_DEFLATED) as archive:
        archive.writestr("mimetype", "application/epub+zip", ZIP_STORED)
        archive.writestr("META-INF/container.xml", CONTAINER)
        archive.writestr("book/book.opf", package(book, chapters, sorted(pictures)))
        archive.writestr("book/nav.xhtml", document("Contents", navigation(parts)))
        archive.writestr(f"book/{STYLES}", (HERE / STYLES).read_text("utf-8"))
        for chapter in chapters:
            text = document(chapter.title, chapter.body)
            archive.writestr(f"book/{chapter.name}.xhtml", text)
        for name, content in pictures.items():
            archive.writestr(f"book/pictures/{name}", REPEATED.sub(b"", content))


def document(title: str, body: str) -> str:
    """Return a page of the e-book."""
    return DOCUMENT.format(title=html.escape(title), body=body)


def navigation(parts: list[tuple[str, list[Chapter]]]) -> str:
    """Return the table of contents."""
    lines = ['<nav epub:type="toc"><h1>Contents</h1>', "<ol>"]
    for title, chapters in parts:
        lines += [f"<li><span>{html.escape(title)}</span><ol>"]
        lines += _entries(chapters)
        lines += ["</ol></li>"]
    return "\n".join([*lines, "</ol></nav>"])


def _entries(chapters: list[Chapter]) -> Iterator[str]:
    """Yield the entries of a part; the pages that continue a chapter are inside of its entry."""
    for place, first in enumerate(chapters):
        if not first.continues:
            later = takewhile(lambda one: one.continues, chapters[place + 1 :])
            inside = "".join(f"<li>{_link(one)}</li>" for one in later)
            yield f"<li>{_link(first)}{f'<ol>{inside}</ol>' if inside else ''}</li>"


def _link(chapter: Chapter) -> str:
    return f'<a href="{chapter.name}.xhtml">{html.escape(chapter.title)}</a>'


def package(book: Book, chapters: list[Chapter], pictures: list[str]) -> str:
    """Return the package document: what the e-book is, which files it has, and their order."""
    return PACKAGE.format(
        identifier=uuid.uuid5(uuid.NAMESPACE_URL, book.title),
        title=html.escape(book.title),
        author=html.escape(book.author),
        modified=book.modified,
        manifest="\n".join(_items(chapters, pictures)),
        spine="\n".join(f'<itemref idref="page-{chapter.name}"/>' for chapter in chapters),
    )


def _items(chapters: list[Chapter], pictures: list[str]) -> Iterator[str]:
    """Yield a line of the manifest for each file."""
    page = "application/xhtml+xml"
    yield f'<item id="nav" href="nav.xhtml" media-type="{page}" properties="nav"/>'
    yield f'<item id="styles" href="{STYLES}" media-type="text/css"/>'
    for one in chapters:
        has = f' properties="{one.properties}"' if one.properties else ""
        yield f'<item id="page-{one.name}" href="{one.name}.xhtml" media-type="{page}"{has}/>'
    for number, name in enumerate(pictures):
        kind = mimetypes.guess_type(name)[0]
        yield f'<item id="picture-{number}" href="pictures/{name}" media-type="{kind}"/>'
