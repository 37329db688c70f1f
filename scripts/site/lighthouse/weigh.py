"""Weighs pages: counts the compressed bytes that a static host sends for each."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING

from scripts.setup import browser
from scripts.site.host import Host, serve_folder

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

# The phone that Lighthouse emulates.
PHONE = {"viewport": {"width": 412, "height": 823}, "device_scale_factor": 1.75, "is_mobile": True}

KINDS = ("HTML", "style", "scripts", "typefaces", "pictures", "other")
KIND_OF = {".css": "style", ".js": "scripts", ".mjs": "scripts", ".woff2": "typefaces"}
KIND_OF |= {".svg": "pictures", ".png": "pictures", ".html": "HTML", "": "HTML"}

TO_THE_END = """async () => {
    for (let at = 0; at < document.body.scrollHeight; at += innerHeight) {
        scrollTo({top: at, behavior: "instant"});
        await new Promise(done => setTimeout(done, 20));
    }
}"""


@dataclass(frozen=True)
class Weight:
    """The bytes sent for a page: by kind after opening it, and in total after scrolling it."""

    path: str
    opened: dict[str, int]
    read: int

    @property
    def total(self) -> int:
        """Return the bytes of the opened page."""
        return sum(self.opened.values())


def weigh(folder: Path, paths: list[str], within: Browser | None = None) -> Iterator[Weight]:
    """Yield the weights of pages of a built site, each opened with an empty cache."""
    with serve_folder(folder) as host:
        for path in paths:
            with opened(host, path, within) as page:
                yield page_weight(host, path, page)


def page_weight(host: Host, path: str, page: Page) -> Weight:
    """Return the weight of an opened page, after scrolling it to its end."""
    first = by_kind(host.sent)
    page.evaluate(TO_THE_END)
    page.wait_for_load_state("networkidle")
    return Weight(path, first, sum(size for _, size in host.sent))


@contextmanager
def opened(host: Host, path: str, within: Browser | None = None) -> Iterator[Page]:
    """Open a page on an emulated phone, and wait until it has no pending requests."""
    own = nullcontext(within) if within else browser.launched()
    with own as chromium, chromium.new_page(**PHONE) as page:  # type: ignore[arg-type]
        host.sent.clear()
        page.goto(host.url + path, wait_until="networkidle")
        yield page


def by_kind(sent: list[tuple[str, int]]) -> dict[str, int]:
    """Return the number of bytes sent, by kind."""
    found = dict.fromkeys(KINDS, 0)
    for path, size in sent:
        found[KIND_OF.get(PurePosixPath(path).suffix, "other")] += size
    return found
