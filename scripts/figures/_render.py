"""Runs a figure's script and renders its drawings, with the same bytes in every run."""

from __future__ import annotations

import atexit
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
from scripts.figures.style import LIGHT, Ink

PIXELS_AN_INCH = 96  # of a page; matplotlib counts points, 72 to the inch

FACE = ROOT / "node_modules" / "@fontsource" / "source-sans-3"
WEIGHTS = (400, 600)
PLAIN, STRONG = "Source Sans 3", "Source Sans 3 SemiBold"  # the names inside the font files


class Script(Protocol):
    """The interface of a figure's script."""

    SIZE: tuple[int, int]
    PHONE: tuple[int, int]

    def draw(self, figure: Figure, ink: Ink, narrow: bool) -> None:
        """Draw into an empty figure of `SIZE`, or of `PHONE` if it is narrow."""


def load(path: Path) -> Script:
    """Return a figure's script as a module, from any path."""
    spec = spec_from_file_location(f"scripts.figures.{path.stem}", path)
    assert spec is not None and spec.loader is not None, path
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return cast(Script, module)


@contextmanager
def drawn_variant(script: Script, variant: str) -> Iterator[Figure]:
    """Draw one variant, and keep its style in effect while the block runs."""
    narrow = variant.startswith("phone")
    width, height = script.PHONE if narrow else script.SIZE
    with mpl.rc_context():
        mpl.rcdefaults()  # ignore the user's matplotlibrc
        mpl.rcParams.update(_settings(LIGHT))
        figure = Figure(figsize=(width / PIXELS_AN_INCH, height / PIXELS_AN_INCH))
        script.draw(figure, LIGHT, narrow)
        yield figure


def svg(figure: Figure) -> bytes:
    """Return a drawing as SVG without date, program name or fonts."""
    _register_faces()
    page = BytesIO()
    nothing = dict.fromkeys(("Date", "Creator", "Format", "Type"))
    figure.savefig(page, format="svg", metadata=nothing)
    return page.getvalue()


def png(figure: Figure, ink: Ink) -> bytes:
    """Return a drawing as PNG with its background, for notebook viewers without SVG."""
    _register_faces()
    page = BytesIO()
    figure.savefig(page, format="png", dpi=1.5 * PIXELS_AN_INCH, facecolor=ink.paper)
    return page.getvalue()


@cache
def _register_faces() -> None:
    """Give matplotlib the sans-serif of the pages, converted from npm's .woff to .ttf."""
    folder = tempfile.TemporaryDirectory(prefix="posenc-faces-")
    atexit.register(folder.cleanup)  # matplotlib opens the files only when it draws
    for weight in WEIGHTS:
        packed = FACE / "files" / f"source-sans-3-latin-{weight}-normal.woff"
        if not packed.exists():
            raise FileNotFoundError(f"{packed} is missing: run `make figures`, or `npm ci` first")
        face = TTFont(packed)
        face.flavor = None
        unpacked = Path(folder.name, f"{weight}.ttf")
        face.save(unpacked)
        font_manager.fontManager.addfont(unpacked)


def _settings(ink: Ink) -> dict[Any, object]:
    """Return the style of all figures, as matplotlib settings."""
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
        "path.snap": False,  # matplotlib's pixels are not those of the page
        "path.simplify": False,
        "image.interpolation": "none",  # so that an SVG contains one pixel per cell
        "image.aspect": "auto",
    }
