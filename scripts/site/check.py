"""Checks a built site for dead links, duplicate titles and anchors, and oversized files.

mkdocs checks the relative links in Markdown. This checks the finished pages, including the HTML of
the theme, and links with the site's full address. `scripts.site.build` fails if it finds anything.
"""

from __future__ import annotations

import html
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from urllib.parse import unquote, urldefrag, urljoin, urlsplit

from scripts.book.links_and_anchors import Tags, repeated_anchors

CANONICAL = re.compile(r'<link rel="?canonical"? href="([^"]+)"')
TITLE = re.compile(r"<title>(.*?)</title>", re.S)

# The largest size of a file in bytes, by suffix, for committed and for built files.
COMMITTED = {
    ".bin": 1_000_000,  # the weights of a model, fetched when a reader asks for them
    ".gz": 200_000,  # the text of the measurement
    ".json": 1_600_000,  # the test vectors
    ".md": 120_000,
    ".py": 90_000,
    ".svg": 120_000,
    ".yml": 90_000,
}
BUILT = COMMITTED | {
    ".css": 250_000,
    ".epub": 4_000_000,
    ".gz": 12_000_000,  # the source of the book, with the test vectors and the weights
    ".html": 1_000_000,
    ".ipynb": 1_000_000,
    ".js": 200_000,
    ".map": 1_200_000,
    ".md": 300_000,  # the ledger
    ".pdf": 20_000_000,  # the whole book
    ".whl": 1_600_000,  # the package with the test vectors
    ".woff2": 80_000,
}
OTHERWISE = 50_000
OTHERS = ("assets/built/python/", "assets/javascripts/")  # folders of larger files
OF_OTHERS = 4_000_000
NOWHERE = "http://nowhere.invalid/"  # for a site without a canonical address


def problems(site: Path) -> list[str]:
    """Return a message for each problem of a built site."""
    pages = {
        path.relative_to(site).as_posix(): path.read_text("utf-8")
        for path in sorted(site.rglob("*.html"))
    }
    files = {
        path.relative_to(site).as_posix(): path.stat().st_size
        for path in sorted(site.rglob("*"))
        if path.is_file()
    }
    others = {name: size for name, size in files.items() if name.startswith(OTHERS)}
    ours = {name: size for name, size in files.items() if name not in others}
    tags = {page: Tags(text) for page, text in pages.items()}
    return [
        *dead_links(pages, set(files), tags),
        *shared_titles({page: text for page, text in pages.items() if page != "404.html"}),
        *(
            f"{page}: {twice}"
            for page, found in tags.items()
            for twice in repeated_anchors(found.anchors)
        ),
        *too_large(ours, BUILT),
        *too_large(others, {}, OF_OTHERS),
    ]


def dead_links(
    pages: Mapping[str, str], files: set[str], tags: Mapping[str, Tags]
) -> Iterator[str]:
    """Yield the links within the site whose file or anchor does not exist.

    The address of the site is the canonical one that its pages state.
    """
    own = CANONICAL.search(pages.get("index.html", ""))
    base = html.unescape(own[1]) if own else NOWHERE
    for page, found in tags.items():
        here = base + page.removesuffix("index.html")
        for link in dict.fromkeys(found.links):
            target, anchor = urldefrag(urljoin(here, link))
            if not f"{target}/".startswith(base):
                continue
            file = _file(target.removeprefix(base.removesuffix("/")).removeprefix("/"))
            if file not in files:
                yield f"{page}: {link} leads to {file}, which does not exist"
            elif anchor and file in pages and unquote(anchor) not in tags[file].anchors:
                yield f"{page}: {link} leads to #{anchor}, which {file} does not have"


def _file(address: str) -> str:
    """Return the file that a static host sends for an address, relative to the site's."""
    path = unquote(urlsplit(address).path)
    return f"{path}index.html" if path.endswith("/") or not path else path


def shared_titles(pages: Mapping[str, str]) -> Iterator[str]:
    """Yield a message for each title that more than one page has."""
    by_title = defaultdict(list)
    for page, text in pages.items():
        for title in TITLE.findall(text)[:1]:
            by_title[title.strip()].append(page)
    for title, named in by_title.items():
        if len(named) > 1:
            yield f"{' and '.join(named)} have the same title, {html.unescape(title)!r}"


def too_large(
    files: Mapping[str, int], limits: Mapping[str, int], otherwise: int = OTHERWISE
) -> Iterable[str]:
    """Yield a message for each file above the limit of its kind."""
    for name, size in files.items():
        limit = limits.get(Path(name).suffix, otherwise)
        if size > limit:
            yield f"{name} has {size:,} bytes; the limit for this kind of file is {limit:,}"
