"""Pages as a browser is done with them soonest: one style sheet, short scripts, no unseen marks.

The builder links each sheet by itself, which suits whoever edits one; but nothing is shown until
all are there. In the finished site they are one file, in their order, and the page links that. And
in listings names, operators, punctuation and space have the colour of ink, so that they need no
element of their own: a sixth of all that a chapter has. Scripts go without their comments, and the
sheet without what no page has (scripts/site/styles.py).
"""

from __future__ import annotations

import hashlib
import posixpath
import re
from collections.abc import Callable
from functools import cache, partial
from pathlib import Path

from scripts.site.styles import lean, used

FOLDER = "assets"
LINK = re.compile(r'[ \t]*<link rel="stylesheet" href="(?P<address>[^"$]+)">\n?')
INK = re.compile(r'<span class="[nopw]">(?P<code>[^<]*)</span>')
# Of a script, the lines that are nothing but a comment, or nothing at all; and the indentation.
UNSAID = re.compile(r"^[ \t]*(?://.*|/\*\*(?:[^*]|\*(?!/))*\*/)?[ \t]*\n|^[ \t]+", re.M)
URL = re.compile(r"""url\((?P<quote>["']?)(?P<address>(?!data:|#|/|https?:)[^"')]+)(?P=quote)\)""")
# The theme gives every relative address of a page its whole length as it starts, and the sheet, so
# renamed, would be read again and everything styled anew. Where scripts run, it has its whole
# address from the first, and what is written for all other readers becomes a comment.
WHOLE_ADDRESS = """\
<script>
  const sheet = new URL("{address}", location);
  document.write(`<link rel="stylesheet" href="${{sheet}}"><!--`);
</script>
<link rel="stylesheet" href="{address}"><!-- -->
"""
# Of no use in the one sheet; a rule on everything, by which the theme would have everything styled
# again at each load to keep colours from fading when they are switched; and one on all of a formula
# that gives borders the colour that they have by themselves.
IDLE = re.compile(
    r"/\*# sourceMappingURL=.*?\*/|@charset [^;]+;|\[data-md-color-switching\] \*[^{}]*\{[^{}]*\}"
    r"|\.katex \*\{[^{}]*border-color:currentColor\}"
)


def bundle(site: Path) -> None:
    """Let every page of a built site link one style sheet, and mark in it only what has a look.

    The book's own scripts lose their comments and their indentation.
    """
    for script in site.glob(f"{FOLDER}/js/**/*.js"):
        script.write_text(UNSAID.sub("", script.read_text(encoding="utf-8")), encoding="utf-8")
    texts = {page: page.read_text(encoding="utf-8") for page in sorted(site.rglob("*.html"))}
    files = [*site.glob(f"{FOLDER}/js/**/*.js"), *site.glob(f"{FOLDER}/javascripts/*.js")]
    scripts = [file.read_text(encoding="utf-8") for file in files]
    make = cache(partial(sheet, site, used(texts.values(), scripts)))
    for page, text in texts.items():
        page.write_text(INK.sub(r"\g<code>", linked(make, text)), encoding="utf-8")


def linked(make: Callable[[tuple[str, ...]], str], text: str) -> str:
    """Return a page with one link in place of all that it has to style sheets."""
    addresses = [link["address"] for link in LINK.finditer(text)]
    if len(addresses) < 2:
        return text
    top = addresses[0].partition(f"{FOLDER}/")[0]
    name = make(tuple(address.removeprefix(top) for address in addresses))
    links = iter([WHOLE_ADDRESS.format(address=top + name)])
    return LINK.sub(lambda _: next(links, ""), text)


def sheet(site: Path, seen: set[str], names: tuple[str, ...]) -> str:
    """Write several style sheets of a site as one, and return its name, which tells its content."""
    many = "\n".join(moved((site / name).read_text(encoding="utf-8"), name) for name in names)
    content = lean(many, seen)
    name = f"{FOLDER}/book.{hashlib.sha256(content.encode()).hexdigest()[:8]}.css"
    (site / name).write_text(content, encoding="utf-8")
    return name


def moved(css: str, name: str) -> str:
    """Return a style sheet as it has to be in the folder of the one that holds it.

    Examples:
        >>> moved("p{background:url(marks/a.png)}", "assets/built/marks.css")
        'p{background:url(built/marks/a.png)}'
    """
    return URL.sub(partial(_address, posixpath.dirname(name)), IDLE.sub("", css))


def _address(folder: str, url: re.Match[str]) -> str:
    place = posixpath.normpath(posixpath.join(folder, url["address"]))
    return f"url({url['quote']}{posixpath.relpath(place, FOLDER)}{url['quote']})"
