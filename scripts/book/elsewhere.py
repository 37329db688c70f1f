"""What papers, libraries and configurations call things: `docs/data/names_elsewhere.yml`.

The page of words lists these names with the places that explain them. The search finds a place by
its names, and by the forms and other names of the terms of `docs/data/glossary.yml` that it
explains.
"""

from __future__ import annotations

import re
from collections import defaultdict

from scripts import DATA
from scripts.book.data import load
from scripts.book.glossary import terms

FILE = DATA / "names_elsewhere.yml"


def places_by_name() -> dict[str, str]:
    """Return the place of each name, sorted by name: a page's source, and perhaps an anchor."""
    found = {
        name: place for place, names in load(FILE, "names_elsewhere").items() for name in names
    }
    return dict(sorted(found.items(), key=lambda item: item[0].strip("`").casefold()))


def names_by_place() -> dict[str, list[str]]:
    """Return the names and terms that each place explains, by its address in the site."""
    found = defaultdict(list)
    for name, place in places_by_name().items():
        found[address(place)].append(name.replace("`", ""))
    for term in terms():
        found[address(term.at)] += [*term.words, *term.also]
    return dict(found)


def address(place: str) -> str:
    """Return the address in the site of a place in the book.

    Examples:
        >>> address("axes/index.md#nodes"), address("index.md"), address("axes/rope.md")
        ('axes/#nodes', '', 'axes/rope/')
    """
    page, hash_, anchor = place.partition("#")
    return re.sub(r"(^|/)index/$", r"\1", f"{page.removesuffix('.md')}/") + hash_ + anchor
