"""A site without what its reader does not need: one style sheet for all pages, and short scripts.

The builder links each style sheet by itself, which suits whoever edits one. But a browser shows
nothing until it has them all, and tries every rule of a page's sheets on every element, thousands
in a chapter. minify.mjs runs the tools that help: esbuild joins and minifies, PurgeCSS drops the
rules that no page uses.
"""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

from scripts.setup.node import node

SCRIPT = Path(__file__).with_suffix(".mjs")
FOLDER = "assets/"
LINK = re.compile(r'[ \t]*<link rel="stylesheet" href="(?P<address>[^"$]+)">\n?')
# Names, operators, punctuation and space of a listing have the colour of the text around them, so
# they need no element of their own: four in ten of all that a page of the reference has.
UNCOLOURED = re.compile(r'<span class="[nopw]">(?P<code>[^<]*)</span>')
ONE_LINK = '<link rel="stylesheet" href="{address}">\n'


def minify(site: Path) -> None:
    """Minify the book's own scripts in a built site, and let each page link one style sheet."""
    pages = {page: page.read_text(encoding="utf-8") for page in sorted(site.rglob("*.html"))}
    sheets = dict.fromkeys(name for text in pages.values() for name in linked_sheets(text))
    command = node(str(SCRIPT), *sheets)
    done = subprocess.run(command, cwd=site, capture_output=True, text=True, check=False)
    if done.returncode:
        raise SystemExit(f"The style sheets cannot be joined:\n{done.stderr}")
    for page, text in pages.items():
        page.write_text(with_one_sheet(text, done.stdout.strip()), encoding="utf-8")


def linked_sheets(page: str) -> list[str]:
    """Return the paths in the site of the style sheets that a page links, in their order."""
    return [FOLDER + link["address"].partition(FOLDER)[2] for link in LINK.finditer(page)]


def with_one_sheet(page: str, sheet: str) -> str:
    """Return a page with a link to one sheet in place of all others, and only coloured spans.

    Examples:
        >>> page = '<link rel="stylesheet" href="../assets/a.css"><code><span class="n">x</span>'
        >>> print(with_one_sheet(page, "assets/book.css"))
        <link rel="stylesheet" href="../assets/book.css">
        <code>x
    """
    top = next(LINK.finditer(page))["address"].partition(FOLDER)[0]
    links = iter([ONE_LINK.format(address=top + sheet)])
    return UNCOLOURED.sub(r"\g<code>", LINK.sub(lambda _: next(links, ""), page))
