"""Figures in pages: `![alt](../figures/waves-light.svg)` shows a figure in light and dark.

The author names the light drawing, which any Markdown viewer can show. The built page gets a light
and a dark picture, and CSS shows one of them. Each has a wide and a phone drawing, and the browser
chooses one. The dark drawings are derived from the light ones when the site has been built. Sizes
are those of the drawings, so the layout does not shift while they load.

A missing drawing, or an image without alternative text, stops the build.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from xml.etree.ElementTree import Element, SubElement

from markdown import Markdown
from markdown.extensions import Extension
from markdown.treeprocessors import Treeprocessor

from scripts import DOCS

WRITTEN = re.compile(r"^(?P<folder>(?:.*/)?figures/)(?P<file>[^/]+)$")
LIGHT = "-light.svg"

# Below these window widths the text in a wide drawing would be too small to read: on phones for a
# drawing as wide as the text, and below a tablet's width for one that extends into the margin.
TEXT_WIDTH = 600
PHONES, BELOW_TABLETS = "(max-width: 44.98em)", "(max-width: 47.98em)"

POINTS = re.compile(r'<svg[^>]*? width="([\d.]+)pt" height="([\d.]+)pt"')
PIXELS_A_POINT = 96 / 72


class FigureError(ValueError):
    """A figure in a page is incomplete."""


@dataclass(frozen=True)
class Drawing:
    """One drawing of a figure: its address, relative to the page, and its size."""

    address: str
    width: str
    height: str


def size(file: Path) -> tuple[str, str]:
    """Return the width and height of an SVG in whole pixels of the page."""
    head = file.read_text(encoding="utf-8")[:2000]
    found = POINTS.search(head)
    if found is None:
        raise FigureError(f"{file.name} does not say its width and height in points")
    width, height = (round(float(points) * PIXELS_A_POINT) for points in found.groups())
    return str(width), str(height)


class _Pictures(Treeprocessor):
    """Replaces each image of a figure by two pictures."""

    def __init__(self, md: Markdown, folder: Path) -> None:
        super().__init__(md)
        self.folder = folder

    def run(self, root: Element) -> None:
        for parent in list(root.iter()):
            for child in list(parent):
                image = _only_image(child)
                if image is not None and (found := WRITTEN.match(image.get("src", ""))):
                    pictures = self._pictures(image, found["folder"], found["file"])
                    pictures[-1].tail = child.tail
                    place = list(parent).index(child)
                    parent[place : place + 1] = pictures

    def _pictures(self, image: Element, folder: str, file: str) -> list[Element]:
        if not file.endswith(LIGHT):
            raise FigureError(f"{file}: write the light drawing, {Path(file).stem}{LIGHT}")
        if not image.get("alt", "").strip():
            raise FigureError(f"{file}: describe what it shows, ![description](…{file})")
        stem = folder + file.removesuffix(LIGHT)
        return [self._picture(image, stem, shade) for shade in ("light", "dark")]

    def _picture(self, image: Element, stem: str, shade: str) -> Element:
        wide, phone = self._drawing(stem, shade), self._drawing(f"{stem}-phone", shade)
        picture = Element("picture", {"class": f"only-{shade}"})
        narrow = PHONES if int(wide.width) <= TEXT_WIDTH else BELOW_TABLETS
        sized = {"width": phone.width, "height": phone.height}
        SubElement(picture, "source", {"media": narrow, "srcset": phone.address, **sized})
        sized = {"width": wide.width, "height": wide.height}
        when = {"loading": "lazy", "decoding": "async"}
        SubElement(picture, "img", {**image.attrib, "src": wide.address, **sized, **when})
        return picture

    def _drawing(self, stem: str, shade: str) -> Drawing:
        file = self.folder / f"{stem.rpartition('/')[2]}{LIGHT}"
        if not file.is_file():
            raise FigureError(f"{file.name} is missing; `make figures` draws it")
        return Drawing(f"{stem}-{shade}.svg", *size(file))


def _only_image(element: Element) -> Element | None:
    """Return an element that is an image, or the image in a paragraph without other content."""
    if element.tag == "p" and len(element) == 1:
        words = (element.text or "") + (element[0].tail or "")
        element = element if words.strip() else element[0]
    return element if element.tag == "img" else None


class FiguresExtension(Extension):
    """Shows every figure in light and dark, on wide pages and on phones."""

    def __init__(self, **kwargs: Any) -> None:
        self.config = {"folder": [str(DOCS / "figures"), "folder of the drawings"]}
        super().__init__(**kwargs)

    def extendMarkdown(self, md: Markdown) -> None:
        """Run after mkdocs has made addresses relative to the page, which it does at 0."""
        processor = _Pictures(md, Path(self.getConfig("folder")))
        md.treeprocessors.register(processor, "book-figures", -1)


makeExtension = FiguresExtension  # the name that Python-Markdown looks for
