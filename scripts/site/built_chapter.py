"""A chapter as one built page, however many it has: the pages for teachers are cut from it."""

from __future__ import annotations

import re
from pathlib import Path
from urllib.parse import urljoin, urlsplit

from scripts.book.chapters import Chapter, chapters
from scripts.site.html_tree import article
from scripts.site.markdown_copies import Page

HEADING = re.compile(r"<(?P<end>/?)h(?P<level>[1-5])\b")


def address(path: str) -> str:
    """Return the address of a page in the site, from its path under docs/."""
    return Page(path, "", "").copy.removesuffix("index.md")


def chapter_at(home: str) -> Chapter | None:
    """Return the chapter whose first page has an address such as `chapters/at-the-board/`."""
    return next((chapter for chapter in chapters() if address(chapter.first) == home), None)


def built_chapter(site: Path, home: str) -> str:
    """Return a chapter of a built site: its first page, with what its later pages say as sections.

    Args:
        site: The folder of the site.
        home: The address of the first page.
    """
    found = chapter_at(home)
    first, *others = [home] if found is None else map(address, found.pages)
    sections = [section(_read(site, other), other, first) for other in others]
    body, end, rest = _read(site, first).rpartition("</article>")
    return f"{body}{''.join(sections)}{end}{rest}"


def section(page: str, here: str, home: str) -> str:
    """Return what a built page says, as part of another page: addresses lead where they led.

    A heading is one level lower, and has in `data-page` the page that it is from.
    """
    content = article(page)
    away = "../" * home.count("/")
    for element in content.css("[href], [src], [srcset]"):
        for name, value in element.attributes.items():
            if name in ("href", "src", "srcset") and value and not urlsplit(value).scheme:
                whole = urljoin(f"/{here}", value).removeprefix("/")
                inside = whole.startswith(home) and len(whole) > len(home)
                element.attrs[name] = whole.removeprefix(home) if inside else away + whole
    own = here.removeprefix(home)
    return HEADING.sub(
        lambda tag: (
            f"<{tag['end']}h{int(tag['level']) + 1}"
            + (f' data-page="{own}"' if not tag["end"] else "")
        ),
        "".join(part.html or "" for part in content.iter(include_text=True)),
    )


def _read(site: Path, home: str) -> str:
    return (site / home / "index.html").read_text(encoding="utf-8")
