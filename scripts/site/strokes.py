"""Drawings of boards for the slides: one SVG for light and dark, stroke by stroke.

Each stroke is a `<g class="stroke">` with the step in which it is drawn, `data-step`, and the
seconds after which it begins, `--at`. The style sheet of the slides draws a line, writes words from
left to right, and lets a filled shape appear. As for notebooks, the drawings are made in a process
of their own, `python -m scripts.site.strokes FOLDER board_row …`, and cached.
"""

from __future__ import annotations

import re
import sys
from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING
from xml.etree import ElementTree
from xml.etree.ElementTree import Element

from scripts.figures import SCRIPTS
from scripts.figures._dark import dark
from scripts.figures.style import LIGHT
from scripts.site import notebook_pictures

if TYPE_CHECKING:
    from matplotlib.figure import Figure

EVERY, LONGEST = 0.22, 2.6  # seconds from stroke to stroke, and to the last stroke of a step

# The properties of the style sheet, by the colour that a drawing has on light paper.
CHALK = {
    LIGHT.paper: "--paper",
    LIGHT.rule: "--rule",
    LIGHT.edge: "--edge",
    LIGHT.ink: "--ink",
    LIGHT.ink_2: "--ink-2",
    LIGHT.mark: "--mark",
    LIGHT.categorical[0]: "--line-0",
    LIGHT.categorical[2]: "--line-2",
}
COLOUR = re.compile(r"#[0-9a-f]{6}")
DECIMALS = re.compile(r"\d+\.\d{3,}")
NAMED = re.compile(r"(?<=#)[^)]+")
STROKE = re.compile(r"stroke-(?P<step>\d+)-(?P<number>\d+)")


def drawings(stems: Iterable[str]) -> dict[str, str]:
    """Return the drawings of boards as SVG to put into a page, by name."""
    made = notebook_pictures.pictures(stems, "scripts.site.strokes", ".svg")
    return {stem: drawing.decode() for stem, drawing in made.items()}


def number_strokes(figure: Figure) -> dict[str, list[str]]:
    """Give each stroke of a figure an id with its step and its number within that step.

    matplotlib writes no id on an image, so the ids of images are returned, by those of their axes.
    """
    from matplotlib.image import AxesImage
    from matplotlib.text import Annotation

    from scripts.figures._board import step_of, strokes

    counted: Counter[int] = Counter()
    images: dict[str, list[str]] = {}
    for place, axes in enumerate(figure.axes):
        axes.set_gid(f"axes-{place}")
        for artist in strokes(axes):
            step = step_of(artist)
            name = f"stroke-{step}-{counted[step]}"
            counted[step] += 1
            if isinstance(artist, AxesImage):
                images.setdefault(f"axes-{place}", []).append(name)
            elif isinstance(artist, Annotation) and artist.arrow_patch is not None:
                artist.arrow_patch.set_gid(name)
            else:
                artist.set_gid(name)
    return images


def named_strokes(stem: str) -> Element:
    """Return a drawing as a tree without namespaces, its strokes named."""
    from scripts.figures import _render  # slow to import, and rarely needed

    with _render.drawn_variant(_render.load(SCRIPTS / f"{stem}.py"), "light") as figure:
        images = number_strokes(figure)
        root = ElementTree.fromstring(_render.svg(figure))
    for element in root.iter():
        element.tag = element.tag.rpartition("}")[2]
        for key in list(element.attrib):
            element.set(key.rpartition("}")[2], element.attrib.pop(key))
    for axes, names in images.items():
        inside = [part for part in root.iter("g") if part.get("id") == axes]
        for name, image in zip(names, inside[0].iter("image"), strict=True):
            image.set("id", name)
    return root


def drawing(stem: str) -> str:
    """Return a board as SVG: no colours of its own, each image for light and for dark paper."""
    root = named_strokes(stem)
    for parent in list(root.iter()):
        for child in list(parent):
            if child.tag in ("metadata", "style"):
                parent.remove(child)
            elif child.tag == "image":
                both = Element("g", {"id": child.attrib.pop("id")})
                turned = {"class": "only-dark", "href": dark(child.attrib["href"])}
                child.set("class", "only-light")
                both.extend([child, Element("image", child.attrib | turned)])
                parent[list(parent).index(child)] = both
    _name_strokes(root)
    _share(root, stem)
    size = root.attrib["viewBox"]
    root.attrib.clear()
    root.attrib.update({"class": "drawing", "viewBox": size})
    return ElementTree.tostring(root, encoding="unicode", short_empty_elements=False)


def _name_strokes(root: Element) -> None:
    """Mark each stroke with its kind, its step and when it begins."""
    found = [(part, STROKE.fullmatch(part.get("id", ""))) for part in root.iter("g")]
    marked = [(part, int(name["step"]), int(name["number"])) for part, name in found if name]
    last = Counter(step for _, step, _ in marked)
    for part, step, number in marked:
        del part.attrib["id"]
        begins = number * min(EVERY, LONGEST / last[step])
        part.set("class", f"stroke {_kind(part)}")
        part.set("data-step", str(step))
        part.set("style", f"--at:{begins:.2f}s")


def _kind(part: Element) -> str:
    """Return how a stroke is drawn: as a line, as words, or at once."""
    tags = {inner.tag for inner in part.iter()}
    styles = " ".join(inner.get("style", "") for inner in part.iter("path"))
    if tags & {"image", "use"} or "stroke-dasharray" in styles:
        return "words" if "clipPath" not in tags else "wash"
    if "stroke: #" not in styles:
        return "wash"
    for inner in part.iter("path"):
        inner.set("pathLength", "1")
    return "line"


def _share(root: Element, stem: str) -> None:
    """Make names unique in a page, colours those of the page, and numbers short."""
    for element in root.iter():
        if "d" in element.attrib:
            short = DECIMALS.sub(lambda number: f"{float(number[0]):.2f}", element.attrib["d"])
            element.set("d", " ".join(short.split()))
        for key, value in element.attrib.items():
            if key == "id":
                element.set(key, f"{stem}-{value}")
            elif key == "style":
                element.set(key, COLOUR.sub(lambda found: f"var({CHALK[found[0]]})", value))
            elif value.startswith(("#", "url(#")):
                element.set(key, NAMED.sub(rf"{stem}-\g<0>", value))
        element.text = (element.text or "").strip()
        element.tail = (element.tail or "").strip()


if __name__ == "__main__":
    for name in sys.argv[2:]:
        Path(sys.argv[1], f"{name}.svg").write_text(drawing(name), encoding="utf-8")
