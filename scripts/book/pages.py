"""The pages of the book, by their paths under docs/: those written, and those made from data.

A written page is a file of docs/. A made page is in no file: `MADE` names the module of
`scripts/` whose `page(path)` returns its text, and the data that it is made from. The site, its
copies and the tests ask for the text of either here.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache, lru_cache
from importlib import import_module
from pathlib import Path
from xml.etree.ElementTree import Element

from markdown.extensions.toc import slugify

from scripts import DOCS
from scripts.book.data import front_matter

TITLE = re.compile(r"^# (?P<words>[^{\n]+?) *(?:\{[^}\n]*#(?P<id>[\w-]+)[^}\n]*\})? *$", re.M)


@dataclass(frozen=True)
class Made:
    """How a page is made.

    Attributes:
        module: the module of `scripts/` that makes it.
        data: what it is made from, relative to the checkout.
        reads: a pattern of the written pages whose titles or headings it shows, if any.
    """

    module: str
    data: tuple[str, ...]
    reads: str = ""

    def rests_on(self, file: Path) -> bool:
        """Return whether a file, relative to the checkout, is among its data."""
        return any(file.is_relative_to(place) for place in self.data)


ALL = "**/*.md"
MATRIX = Made("matrix.pages", ("docs/data/matrix",))
PRACTISE = Made("book.practise_pages", ("scripts/practise/exercises",), reads=ALL)

MADE = {
    "long-context/recipes.md": Made(
        "book.recipes",
        ("docs/data/recipes.yml", "docs/data/references.yml", "docs/data/models.yml"),
    ),
    "practise/biases.md": PRACTISE,
    "practise/bugs.md": PRACTISE,
    "practise/index.md": PRACTISE,
    "practise/length.md": PRACTISE,
    "practise/masks.md": PRACTISE,
    "practise/rotation.md": PRACTISE,
    "practise/sines.md": PRACTISE,
    "reference/glossary.md": Made(
        "book.glossary_page",
        ("docs/data/glossary.yml", "docs/data/names_elsewhere.yml"),
        reads=ALL,
    ),
    "reference/models.md": Made(
        "book.models_page",
        ("docs/data/models.yml", "docs/data/configurations.yml", "docs/data/not_read.yml"),
    ),
    "reference/names.md": Made("book.names_page", ("docs/data/names.yml", "docs/data/facts.yml")),
    "trust/claims.md": Made(
        "book.ledger_page",
        ("docs/data/claims", "docs/data/facts.yml", "docs/data/measure"),
        reads=ALL,
    ),
    "trust/formal-statements.md": Made(
        "book.formal_page", ("docs/proofs", "docs/data/proofs.json"), reads="chapters/prove-it/*.md"
    ),
    "trust/sources.md": Made("book.sourcemap_page", ("docs/data/sources",), reads=ALL),
    "vectors/libraries/other.md": MATRIX,
    "vectors/libraries/torch.md": MATRIX,
    "vectors/libraries/training.md": MATRIX,
    "vectors/libraries/vision.md": MATRIX,
    "vectors/who-computes-what.md": MATRIX,
}


def paths() -> list[str]:
    """Return the paths of all pages."""
    return sorted([*written_pages(), *MADE])


def exists(path: str) -> bool:
    """Return whether there is a page."""
    return path in MADE or (DOCS / path).is_file()


def written_pages() -> list[str]:
    """Return the paths of the pages that are written."""
    return sorted(file.relative_to(DOCS).as_posix() for file in DOCS.rglob("*.md"))


def text(path: str) -> str:
    """Return the text of a page."""
    file = DOCS / path
    return made_text(path) if path in MADE else _read(file, file.stat().st_mtime_ns)


@cache
def _read(file: Path, changed: int) -> str:
    return file.read_text(encoding="utf-8")


def made_text(path: str) -> str:
    """Return the text of a made page, made once as long as the pages that it reads stay the same.

    A change of its data takes effect when the caches are cleared, as rebuild.py does.
    """
    reads = MADE[path].reads
    return _cached_text(path, _times(reads) if reads else ())


def _times(pattern: str) -> tuple[int, ...]:
    """Return when each page that matches was last changed."""
    return tuple(file.stat().st_mtime_ns for file in sorted(DOCS.glob(pattern)))


@lru_cache(maxsize=64)
def _cached_text(path: str, changed: tuple[int, ...]) -> str:
    found: str = import_module(f"scripts.{MADE[path].module}").page(path)
    return found


def title(path: str) -> str:
    """Return the title of a page, from its front matter or its heading."""
    found = text(path)
    heading = TITLE.search(found)
    return _title(found) or (heading["words"] if heading else path)


@lru_cache(maxsize=256)
def _title(text: str) -> str:
    return str(front_matter(text).get("title", ""))


def address(path: str) -> str:
    """Return the id of the title of a page."""
    return title_id(text(path))


@lru_cache(maxsize=256)
def title_id(text: str) -> str:
    """Return the id of the title of a page with this text."""
    title = TITLE.search(text)
    return "" if title is None else title["id"] or slugify(title["words"], "-")


def page_of(title: Element | None) -> str:
    """Return the path of the page with this title, which may have no id yet, or "" if none has it.

    Pages of different chapters may give their titles the same id; the words of the titles differ.
    """
    if title is None:  # most texts converted, docstrings, have no title
        return ""
    words = slugify("".join(title.itertext()), "-")
    named = title.get("id") or words
    known = _pages_by_address(_times(ALL)).get(named, [])
    return next((page for page in known if len(known) == 1 or title_words(page) == words), "")


@lru_cache(maxsize=1)
def _pages_by_address(changed: tuple[int, ...]) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for page in [*written_pages(), *MADE]:
        found.setdefault(address(page), []).append(page)
    return found


def title_words(path: str) -> str:
    """Return the words of the heading of a page, as an id made of them would have them."""
    title = TITLE.search(text(path))
    return "" if title is None else slugify(title["words"], "-")
