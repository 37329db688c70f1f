"""The book's figures: one script per figure, drawn for wide pages and for phones.

style.py       the palette of the book, as plain values
typefaces.py   the typefaces of the pages and the card
card.py        the picture for link previews
_render.py     runs a script and renders its two drawings as SVG, reproducible to the byte
_plotted.py    extracts the plotted data from a drawing
_check.py      compares the drawings of a script with the committed ones
_dark.py       derives the dark drawings, which the site needs, from the light ones
_parts.py      shared parts: a panel placed in pixels, a clock, a table as colours
_slowed.py     shared parts of the rules for long texts: pairs against how much each is slowed
_unseen.py     which pairs of a head meet new angles, unless they are slowed enough

Every other file is a figure: `waves.py` becomes `docs/figures/waves-light.svg`,
`waves-phone-light.svg` and `data/waves.json`. It defines `SIZE` and `PHONE`, in pixels of the page,
and `draw(figure, ink, narrow)`, which takes every number from `posenc`. Both drawings plot the same
data, so that one caption fits them.

`python -m scripts.figures` draws all figures; with `--check` it compares them instead.

Imports: posenc, book, measure, examples.
"""

from pathlib import Path

from scripts import DOCS

SCRIPTS = Path(__file__).parent
FIGURES = DOCS / "figures"

NO_FIGURES = {"card", "style", "typefaces"}
VARIANTS = ("light", "phone-light")
IN_README = "plate"  # README shows it in dark too, without a site, so its dark drawing is committed


def scripts() -> list[Path]:
    """Return the scripts of all figures, sorted by name."""
    return sorted(path for path in SCRIPTS.glob("[a-z]*.py") if path.stem not in NO_FIGURES)


def data_file(stem: str, folder: Path = FIGURES) -> Path:
    """Return the path of a figure's plotted data."""
    return folder / "data" / f"{stem}.json"


def picture_file(stem: str, variant: str, folder: Path = FIGURES) -> Path:
    """Return the path of one of a figure's drawings."""
    return folder / f"{stem}-{variant}.svg"
