"""Completes the lines to copy with addresses on the site: of the wheel, the source, an explorer.

Pages and notebooks are written with `pip install "posenc @ posenc.whl"`; the built ones have the
wheel's full address on the site. So nobody installs a package of the same name from an index.

A link to `posenc.tar.gz` leads to the archive of the source that the site serves. If whoever
publishes the site sets SOURCE_URL, as `source` in mkdocs.yml, a link to that address follows.

An `iframe` of a page `embed/…` (framed_explorers.py) gets the page's full address.
"""

from __future__ import annotations

from urllib.parse import urljoin

from mkdocs.config.defaults import MkDocsConfig

import posenc
from scripts.site.source_archive import ARCHIVE

WHEEL = f"assets/built/wheel/posenc-{posenc.__version__}-py3-none-any.whl"


def on_page_markdown(markdown: str, *, config: MkDocsConfig, **about: object) -> str:
    """Return a page with the addresses on the site that is being built or served."""
    return add_addresses(markdown, config)


def add_addresses(text: str, config: MkDocsConfig) -> str:
    """Return a text with the addresses of the wheel, the source and the explorers on a site."""
    text = with_embed_address(with_wheel_address(text, config.site_url), config.site_url)
    return with_source_address(text, config.site_url, config.extra.get("source", ""))


def with_wheel_address(text: str, site: str | None) -> str:
    """Return a text whose install lines have the wheel's address on a site.

    Examples:
        >>> line = with_wheel_address('pip install "posenc[nn] @ posenc.whl"', "https://example.org/book/")
        >>> line.removesuffix(f'{WHEEL}"')
        'pip install "posenc[nn] @ https://example.org/book/'
    """
    return text.replace(" @ posenc.whl", f" @ {urljoin(site or '', WHEEL)}")


def with_embed_address(text: str, site: str | None) -> str:
    """Return a text whose frames have the full addresses of the explorers on a site.

    Examples:
        >>> with_embed_address('<iframe src="embed/t5/">', "https://example.org/book/")
        '<iframe src="https://example.org/book/embed/t5/">'
    """
    return text.replace('<iframe src="embed/', f'<iframe src="{urljoin(site or "", "embed/")}')


def with_source_address(text: str, site: str | None, repository: str = "") -> str:
    """Return a text that links the archive of the source, and the repository if there is one.

    Examples:
        >>> text = with_source_address("[an archive](posenc.tar.gz)", "https://example.org/book/")
        >>> text.removesuffix(f"{ARCHIVE})")
        '[an archive](https://example.org/book/'
        >>> text = with_source_address("[an archive](posenc.tar.gz)", "", "https://example.org/git")
        >>> text.partition(ARCHIVE)[2]
        ') or [a repository](https://example.org/git)'
    """
    kept = f" or [a repository]({repository})" if repository else ""
    return text.replace("(posenc.tar.gz)", f"({urljoin(site or '', ARCHIVE)}){kept}")
