"""Keeps the addresses of pages that have been split or joined; mkdocs calls this.

A chapter that was one long page is a folder of pages now. At the end of its first page, which has
the old address, stands a list of its pages, sections, tables and figures. Each link of the list has
the anchor that the place had on the long page, and leads to the place. `docs/data/moved.yml` has
the anchors. With scripts, `moved.js` leads on from an old address at once.

Of a page that is now a part of another, a short one stays, with links from each old anchor. A
folder of pages without a page of its own leads to the first of them.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from html import escape
from pathlib import PurePosixPath

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page

from scripts import DATA
from scripts.book import pages
from scripts.book.chapters import chapters
from scripts.book.data import front_matter, load
from scripts.book.settings import HEADING
from scripts.book.sourcemap_page import CAPTION, TITLED, sections_of

FILE = DATA / "moved.yml"
EXPLORER = re.compile(r"^/// html \| explore-(\w+)", re.M)
MARKUP = re.compile(r"^\d+\. |[`*]")
NUMBERED = re.compile(r"(?<=\bTable) |(?<=\bFigure) ")
NOTES = '<div class="footnote">'
LIST = """\
<div class="places">
<h2 id="pages-of-the-chapter">The pages of this chapter</h2>
<ol>
{items}
</ol>
</div>
"""
# What stays of a page that is now a part of another, and the page of a folder that has none.
LEFT = """\
<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="robots" content="noindex">
<title>{title}</title>
<link rel="canonical" href="{canonical}">
<link rel="icon" href="{up}assets/built/icon.svg">
<link rel="stylesheet" href="{up}assets/css/tokens.css">
{leads_on}
</head>
<body dir="ltr" data-md-color-scheme="default">
<main class="md-typeset left">
<h1>{heading}</h1>
{said}
</main>
</body>
</html>
"""
# With scripts the anchor of an address tells which of the places it leads to.
BY_ANCHOR = '<script type="module" src="{up}assets/js/moved.js"></script>'
AT_ONCE = '<meta http-equiv="refresh" content="0; url={address}">'
PLACES = """\
<p class="places">It is now a part of {whole}.</p>
<ul class="places">
{items}
</ul>"""


@dataclass
class Place:
    """A link of the list: its words, its anchor, and the anchors of paragraphs in its section."""

    words: str
    anchor: str
    inside: list[str] = field(default_factory=list)


def moved() -> dict[str, dict[str, list[str]]]:
    """Return the anchors of each page that has been split, by the pages that have them now."""
    return {first: found for first, found in _listed().items() if pages.exists(first)}


def left() -> dict[str, tuple[str, dict[str, str]]]:
    """Return, for each page that is no more, the page it is a part of and its anchors there."""
    return {
        old: (path, {before: after or before for before, _, after in map(_parts, anchors)})
        for old, found in _listed().items()
        for path, anchors in found.items()
        if not pages.exists(old)
    }


def _parts(anchor: str) -> tuple[str, str, str]:
    return anchor.partition("=")


def _listed() -> dict[str, dict[str, list[str]]]:
    return {
        first: {
            posixpath.normpath(PurePosixPath(first).parent / name): (anchors or "").split()
            for name, anchors in found.items()
        }
        for first, found in load(FILE).items()
    }


def on_files(files: Files, *, config: MkDocsConfig) -> Files:
    """Add what stays of each page that is no more, if the book has the page that it leads to."""
    for old, (path, anchors) in left().items():
        if files.get_file_from_path(path):
            content = left_page(old, path, anchors, config.site_url or "")
            name = f"{old.removesuffix('.md')}/index.html"
            files.append(File.generated(config, name, content=content))
    for folder, first in folders(file.src_uri for file in files.documentation_pages()).items():
        content = folder_page(folder, first, config.site_url or "")
        files.append(File.generated(config, f"{folder}/index.html", content=content))
    return files


def folders(paths: Iterable[str]) -> dict[str, str]:
    """Return each folder without a page of its own, and its first page in the navigation.

    Examples:
        >>> folders(["how-to/how-fast.md", "how-to/choose-a-scheme.md", "schemes/index.md"])
        {'how-to': 'how-to/choose-a-scheme.md'}
    """
    known = set(paths)
    order = [page for chapter in chapters() for page in chapter.pages if page in known]
    parents = {folder.as_posix() for path in order for folder in PurePosixPath(path).parents[:-1]}
    return {
        folder: next(path for path in order if path.startswith(f"{folder}/"))
        for folder in sorted(parents)
        if f"{folder}/index.md" not in known
    }


def folder_page(folder: str, first: str, site: str) -> str:
    """Return the page of a folder that has none, as HTML: it leads to a page of the folder."""
    whole = first.removesuffix(".md").removesuffix("/index")
    address = posixpath.relpath(whole, folder) + "/"
    return LEFT.format(
        title=f"{folder}/",
        canonical=f"{site}{whole}/",
        up="../" * (folder.count("/") + 1),
        leads_on=AT_ONCE.format(address=address),
        heading="This folder has no page of its own",
        said=f"<p>Its first page: {link(address, Place(pages.title(first), ''))}</p>",
    )


def left_page(old: str, path: str, anchors: dict[str, str], site: str) -> str:
    """Return what stays of a page that is no more, as HTML: links to the places of what it said."""
    address = posixpath.relpath(path.removesuffix(".md"), old.removesuffix(".md")) + "/"
    names = sections_of(pages.text(path))
    by_place: dict[str, list[str]] = {}
    for before, after in anchors.items():
        by_place.setdefault(after, []).append(before)
    whole = by_place.pop(anchors[""])
    places = [
        Place(names.get(after, after), before, rest) for after, (before, *rest) in by_place.items()
    ]
    up = "../" * (old.count("/") + 1)
    said = PLACES.format(
        whole=link(f"{address}#{anchors['']}", Place(pages.title(path), "", whole[1:])),
        items="\n".join(
            f"<li>{link(f'{address}#{after}', place)}</li>"
            for after, place in zip(by_place, places, strict=True)
        ),
    )
    return LEFT.format(
        title=f"{old.removesuffix('.md')} has moved",
        canonical=f"{site}{path.removesuffix('.md')}/",
        up=up,
        leads_on=BY_ANCHOR.format(up=up),
        heading="This page has moved",
        said=said,
    )


def on_page_content(html: str, *, page: Page, **about: object) -> str:
    """Put the list of pages and places at the end of the first page of a chapter."""
    found = moved().get(page.file.src_uri)
    if not found:
        return html
    body, notes, ending = html.partition(NOTES)
    return f"{body}{chapter_list(page.file.src_uri, found)}{notes}{ending}"


def chapter_list(first: str, found: dict[str, list[str]]) -> str:
    """Return the list of a chapter's pages and their places, as HTML for its first page."""
    others = [(path, anchors) for path, anchors in found.items() if path != first]
    items = (item(path, address_from(first, path), anchors) for path, anchors in others)
    return LIST.format(items="\n".join(items))


def address_from(first: str, path: str) -> str:
    """Return the address of a page as the first page of a chapter links to it.

    Examples:
        >>> address_from("how-to/diagnose/index.md", "how-to/diagnose/order.md")
        'order/'
        >>> address_from("how-to/diagnose/index.md", "reference/diagnose.md")
        '../../reference/diagnose/'
    """
    return posixpath.relpath(path.removesuffix(".md"), PurePosixPath(first).parent) + "/"


def item(path: str, address: str, anchors: list[str]) -> str:
    """Return the entry of a page in the list."""
    text = pages.text(path)
    whole, *parts = places(text, anchors)
    shown = link(address, whole, " ".join(EXPLORER.findall(text)))
    inside = ", ".join(link(f"{address}#{part.anchor}", part) for part in parts)
    return f"<li>{shown}<br>{inside}</li>" if inside else f"<li>{shown}</li>"


def places(text: str, anchors: list[str]) -> list[Place]:
    """Return the places of a page that the list names, the page itself first."""
    names = sections_of(text)
    headings = {heading["id"] for heading in HEADING.finditer(text)}
    named = headings | {caption["anchor"] for caption in CAPTION.finditer(text)} | titled(text)
    title = pages.title_id(text)
    found = [Place(str(front_matter(text)["title"]), title if title in anchors else "")]
    section = found[0]
    for anchor in anchors:
        if anchor == title:
            continue
        if anchor not in named:
            section.inside.append(anchor)
            continue
        found.append(Place(names[anchor], anchor))
        section = found[-1] if anchor in headings else section
    return found


def titled(text: str) -> set[str]:
    """Return the anchors that boxes have from their titles, such as `question-1`."""
    return {box["name"].lower().replace(" ", "-") for box in TITLED.finditer(text)}


def link(address: str, place: Place, views: str = "") -> str:
    """Return the link to a place, with its former anchor and those of paragraphs in its section."""
    inside = "".join(f'<span id="{anchor}"></span>' for anchor in place.inside)
    words = NUMBERED.sub("\u00a0", MARKUP.sub("", place.words)).replace("'", "’")
    shows = f' data-views="{views}"' if views else ""
    named = f' id="{place.anchor}"' if place.anchor else ""
    return f'<a{named} href="{address}"{shows}>{inside}{escape(words, quote=False)}</a>'


def former_places() -> Iterator[tuple[str, str, str]]:
    """Yield each anchor of a page that has been split: its first page, its page now, the anchor."""
    for first, found in moved().items():
        for path, anchors in found.items():
            yield from ((first, path, anchor) for anchor in anchors)
