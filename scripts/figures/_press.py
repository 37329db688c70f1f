"""Run a figure's script and print its drawings: the same bytes from run to run."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from importlib.util import module_from_spec, spec_from_file_location
from io import BytesIO
from pathlib import Path
from typing import Any, Protocol, cast

import matplotlib as mpl
from cycler import cycler
from fontTools.ttLib import TTFont
from matplotlib import font_manager
from matplotlib.figure import Figure

from scripts import ROOT
from scripts.figures.style import DARK, LIGHT, Ink

PIXELS_AN_INCH = 96  # of a page; matplotlib counts points, 72 to the inch

FACE = ROOT / "node_modules" / "@fontsource" / "source-sans-3"
WEIGHTS = (400, 600)
PLAIN, STRONG = "Source Sans 3", "Source Sans 3 SemiBold"  # as the two name themselves


class Script(Protocol):
    """What the script of a figure defines."""

    SIZE: tuple[int, int]
    PHONE: tuple[int, int]

    def draw(self, figure: Figure, ink: Ink, narrow: bool) -> None:
        """Draw the figure into an empty one of `SIZE`, or of `PHONE` where it is narrow."""


def load(path: Path) -> Script:
    """Return a figure's script as a module, from wherever it stands."""
    spec = spec_from_file_location(f"scripts.figures.{path.stem}", path)
    assert spec is not None and spec.loader is not None, path
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return cast(Script, module)


@contextmanager
def drawn(script: Script, variant: str) -> Iterator[Figure]:
    """Draw one variant, and keep its style in force while the caller works with the drawing."""
    ink = DARK if variant.endswith("dark") else LIGHT
    narrow = variant.startswith("phone")
    width, height = script.PHONE if narrow else script.SIZE
    with mpl.rc_context():
        mpl.rcdefaults()  # whatever the reader's own matplotlibrc says
        mpl.rcParams.update(_settings(ink))
        figure = Figure(figsize=(width / PIXELS_AN_INCH, height / PIXELS_AN_INCH))
        script.draw(figure, ink, narrow)
        yield figure


def svg(figure: Figure) -> bytes:
    """Return a drawing as SVG, with no date, no program's name and no font in it."""
    _register_faces()
    page = BytesIO()
    nothing = dict.fromkeys(("Date", "Creator", "Format", "Type"))
    figure.savefig(page, format="svg", metadata=nothing)
    return page.getvalue()


def png(figure: Figure, ink: Ink) -> bytes:
    """Return a drawing as PNG on its paper, for notebooks, not all of which show SVG."""
    _register_faces()
    page = BytesIO()
    figure.savefig(page, format="png", dpi=1.5 * PIXELS_AN_INCH, facecolor=ink.paper)
    return page.getvalue()


@cache
def _register_faces() -> tempfile.TemporaryDirectory[str]:
    """Give matplotlib the page's own sans, which npm has as .woff and matplotlib reads as .ttf."""
    folder = tempfile.TemporaryDirectory(prefix="posenc-faces-")
    for weight in WEIGHTS:
        packed = FACE / "files" / f"source-sans-3-latin-{weight}-normal.woff"
        if not packed.exists():
            raise FileNotFoundError(f"{packed} is missing: run `make figures`, or `npm ci` first")
        face = TTFont(packed)
        face.flavor = None
        unpacked = Path(folder.name, f"{weight}.ttf")
        face.save(unpacked)
        font_manager.fontManager.addfont(unpacked)
    return folder  # kept by the cache: matplotlib opens the files only when it draws


def _settings(ink: Ink) -> dict[Any, object]:
    """Return the style of every figure, as matplotlib's own settings."""
    return {
        "svg.hashsalt": "posenc",
        "svg.fonttype": "path",
        "font.family": PLAIN,
        "font.size": 11.25,  # points: 15 px
        "mathtext.fontset": "cm",
        "figure.facecolor": "none",
        "axes.facecolor": "none",
        "savefig.facecolor": "none",
        "text.color": ink.ink,
        "axes.titlesize": 11.25,
        "axes.titlelocation": "left",
        "axes.titlepad": 9,
        "axes.labelsize": 11.25,
        "axes.labelcolor": ink.ink_2,
        "axes.edgecolor": ink.edge,
        "axes.linewidth": 0.75,
        "axes.spines.top": False,
        "axes.spines.right": False,
        "xtick.labelsize": 10.5,
        "ytick.labelsize": 10.5,
        "xtick.color": ink.edge,
        "ytick.color": ink.edge,
        "xtick.labelcolor": ink.ink_2,
        "ytick.labelcolor": ink.ink_2,
        "xtick.major.width": 0.75,
        "ytick.major.width": 0.75,
        "axes.prop_cycle": cycler(color=ink.categorical),
        "lines.linewidth": 1.3,
        "lines.markersize": 3.2,
        "path.snap": False,  # to pixels of matplotlib's, which are not those of the page
        "path.simplify": False,
        "image.interpolation": "none",  # an SVG then holds the very cells, one pixel each
        "image.aspect": "auto",
    }
