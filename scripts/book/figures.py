"""Figures in pages: `![alt](../figures/waves-light.svg)` stands for all four of its drawings.

The author writes the light one, which any viewer of Markdown shows. The built page gets a light
and a dark picture, of which its style shows one, and each has a wide and a phone drawing, of which
the browser takes one. Sizes are the drawings' own, so nothing moves while they load.

A drawing that is missing, or an image without words for those who do not see it, stops the build.
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

# Below these widths of a window the wide drawing would shrink until its words cannot be read: one
# as wide as the text on phones, one that takes the margin too wherever there is no margin.
TEXT_WIDTH = 600
PHONES, NO_MARGIN = "(max-width: 44.98em)", "(max-width: 59.98em)"

POINTS = re.compile(r'<svg[^>]*? width="([\d.]+)pt" height="([\d.]+)pt"')
PIXELS_A_POINT = 96 / 72


class FigureError(ValueError):
    """A page shows a figure that is not all there."""


@dataclass(frozen=True)
class Drawing:
    """One drawing of a figure: its address, seen from the page, and its size."""

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
    """Put two pictures where an image of a figure stands."""

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
            raise FigureError(f"{file}: say in words what it shows, ![words](…{file})")
        stem = folder + file.removesuffix(LIGHT)
        return [self._picture(image, stem, shade) for shade in ("light", "dark")]

    def _picture(self, image: Element, stem: str, shade: str) -> Element:
        wide, phone = self._drawing(f"{stem}-{shade}"), self._drawing(f"{stem}-phone-{shade}")
        picture = Element("picture", {"class": f"only-{shade}"})
        narrow = PHONES if int(wide.width) <= TEXT_WIDTH else NO_MARGIN
        sized = {"width": phone.width, "height": phone.height}
        SubElement(picture, "source", {"media": narrow, "srcset": phone.address, **sized})
        sized = {"width": wide.width, "height": wide.height}
        when = {"loading": "lazy", "decoding": "async"}
        SubElement(picture, "img", {**image.attrib, "src": wide.address, **sized, **when})
        return picture

    def _drawing(self, address: str) -> Drawing:
        file = self.folder / f"{address.rpartition('/')[2]}.svg"
        if not file.is_file():
            raise FigureError(f"{file.name} is missing; `make figures` draws it")
        return Drawing(f"{address}.svg", *size(file))


def _only_image(element: Element) -> Element | None:
    """Return an image, also where it is all that a paragraph holds."""
    if element.tag == "p" and len(element) == 1:
        words = (element.text or "") + (element[0].tail or "")
        element = element if words.strip() else element[0]
    return element if element.tag == "img" else None


class FiguresExtension(Extension):
    """Show every figure in its four drawings."""

    def __init__(self, **kwargs: Any) -> None:
        self.config = {"folder": [str(DOCS / "figures"), "where the drawings stand"]}
        super().__init__(**kwargs)

    def extendMarkdown(self, md: Markdown) -> None:
        """Run after a builder has made addresses relative to the page, which it does at 0."""
        processor = _Pictures(md, Path(self.getConfig("folder")))
        md.treeprocessors.register(processor, "book-figures", -1)


makeExtension = FiguresExtension  # the name that Python-Markdown looks for
