"""The book's figures: one script a figure, drawn light and dark, for a page and for a phone.

style.py       the palette, as plain values
typefaces.py   the faces that pages and the card are set in
card.py        the picture that links to the book show
_press.py      runs a script and prints its four drawings as SVG, the same bytes every time
_plotted.py    reads back what a drawing plots, as plain data
_check.py      compares what a script draws now with what is committed
_parts.py      what several figures draw: a panel placed in pixels, a clock, a table as colours

Every other file is a figure: `waves.py` becomes `docs/figures/waves-light.svg` and its siblings,
and `docs/figures/data/waves.json`. It defines `SIZE` and `PHONE`, in pixels of the page, and
`draw(figure, ink, narrow)`, which takes every number from `posenc`. All four drawings plot the
same data, so that one caption is true of each.

`python -m scripts.figures` draws them all; `--check` compares instead.

Imports: posenc, measure.
"""

from pathlib import Path

from scripts import DOCS

SCRIPTS = Path(__file__).parent
FIGURES = DOCS / "figures"

NO_FIGURES = {"card", "style", "typefaces"}
VARIANTS = ("light", "dark", "phone-light", "phone-dark")


def scripts() -> list[Path]:
    """Return the script of every figure, by name."""
    return sorted(path for path in SCRIPTS.glob("[a-z]*.py") if path.stem not in NO_FIGURES)


def data_file(stem: str, folder: Path = FIGURES) -> Path:
    """Return where a figure's plotted data stands."""
    return folder / "data" / f"{stem}.json"


def picture_file(stem: str, variant: str, folder: Path = FIGURES) -> Path:
    """Return where one of a figure's four drawings stands."""
    return folder / f"{stem}-{variant}.svg"
