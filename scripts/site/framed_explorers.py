"""Each explorer as a page of its own, `embed/<name>/`, to stand in a frame of another page.

The pages load the scripts of the book and one small style sheet, joined from the book's. Without
scripts they show the figure that the book shows. Their colours are those of the reader's system.
"""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

from scripts import DOCS, ROOT
from scripts.setup.node import node

FOLDER = "embed"
LARGEST = 60_000  # bytes of a page and all that it loads, not compressed
SHEET = "assets/embed.css"
SHEETS = ("built/palette.css", *(f"css/{name}.css" for name in ("tokens", "explore", "embed")))
MINIFY = """\
import { readFileSync, writeFileSync } from "node:fs";
import { transformSync } from "esbuild";
const { code } = transformSync(readFileSync(0, "utf8"), { loader: "css", minify: true });
writeFileSync(1, code);
"""

DEFINED = re.compile(r'^explorer\("(?P<name>\w+)"', re.M)
HEAD = re.compile(r'<meta property="og:(?P<name>title|site_name)" content="(?P<value>[^"]*)">')
CANONICAL = re.compile(r'<link rel="canonical" href="[^"]*">')
FACE = re.compile(r"@font-face\{[^}]*\}")
DARK = '@media screen {\n  [data-md-color-scheme="slate"]'

# The figure is in <noscript>, because a browser would load it while it waits for the script.
PAGE = """\
<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="robots" content="noindex">
<title>{title}</title>
{canonical}
<link rel="icon" href="../../assets/built/icon.svg">
<link rel="stylesheet" href="../../{sheet}">
<link rel="modulepreload" href="../../assets/js/positions.js">
<link rel="modulepreload" href="../../assets/js/explore/base.js">
<script type="module" src="../../assets/js/explore/{family}.js"></script>
</head>
<body>
<main class="md-typeset">
<h1>{title}</h1>
<explore-{name} class="explorer"><noscript>{figure}</noscript></explore-{name}>
<p class="credit">From <cite><a href="../../explore/{name}/" target="_blank" rel="noopener">\
{book}</a></cite></p>
</main>
</body>
</html>
"""


def write(site: Path) -> None:
    """Write a page for each explorer of a built site, and their style sheet."""
    for name, family in families().items():
        book = site / "explore" / name / "index.html"
        if book.is_file():
            file = site / FOLDER / name / "index.html"
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(page(book.read_text(encoding="utf-8"), name, family), encoding="utf-8")
    if (site / FOLDER).is_dir():
        (site / SHEET).write_text(sheet(site / "assets"), encoding="utf-8")


def families() -> dict[str, str]:
    """Return the names of the explorers, each with the stem of the script that defines it."""
    files = sorted((DOCS / "assets" / "js" / "explore").glob("*.js"))
    texts = {file.stem: file.read_text(encoding="utf-8") for file in files}
    return {found["name"]: stem for stem, text in texts.items() for found in DEFINED.finditer(text)}


def page(book: str, name: str, family: str) -> str:
    """Return the page of an explorer, made from its page in the book."""
    head = {found["name"]: found["value"] for found in HEAD.finditer(book)}
    canonical = CANONICAL.search(book)
    _, _, rest = book.partition(f'<explore-{name} class="explorer">')
    figure, end, _ = rest.partition(f"</explore-{name}>")
    if not end:
        raise SystemExit(f"explore/{name}/index.html has no <explore-{name}> to embed")
    return PAGE.format(
        title=head["title"],
        book=head["site_name"],
        canonical=canonical[0] if canonical else "",
        sheet=SHEET,
        family=family,
        name=name,
        figure=figure,
    )


def sheet(assets: Path) -> str:
    """Return the style sheet of the pages, minified."""
    faces = FACE.findall((assets / "built" / "fonts.css").read_text(encoding="utf-8"))
    parts = [face.replace("url(", "url(built/") for face in faces if is_needed_rule(face)]
    parts += [(assets / name).read_text(encoding="utf-8") for name in SHEETS]
    command = node("--input-type=module", "--eval", MINIFY)
    style = by_system("\n".join(parts))
    done = subprocess.run(
        command, cwd=ROOT, input=style, capture_output=True, text=True, check=False
    )
    if done.returncode:
        raise SystemExit(
            f"The style sheet of the embedded explorers cannot be made:\n{done.stderr}"
        )
    return done.stdout


def is_needed_rule(face: str) -> bool:
    """Return whether a rule is for the upright sans-serif: its small file, or a fallback."""
    return '"Book Sans' in face and ("local(" in face or "book-sans-wght-normal" in face)


def by_system(sheet: str) -> str:
    """Return a style sheet whose dark colours follow the system, not the book's switch.

    Examples:
        >>> print(by_system(DARK + " {\\n    --ink: #fff;\\n  }\\n}"))
        @media screen and (prefers-color-scheme: dark) {
          :root {
            --ink: #fff;
          }
        }
    """
    return sheet.replace(DARK, "@media screen and (prefers-color-scheme: dark) {\n  :root")
