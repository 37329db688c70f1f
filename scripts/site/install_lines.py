"""Completes the `pip install` lines of pages with the address of the wheel that the site serves.

Pages and notebooks are written with `pip install "posenc @ posenc.whl"`; the built ones have the
wheel's full address on the site. So nobody installs a package of the same name from an index.
"""

from __future__ import annotations

from urllib.parse import urljoin

from mkdocs.config.defaults import MkDocsConfig

import posenc

WHEEL = f"assets/built/python/posenc-{posenc.__version__}-py3-none-any.whl"


def on_page_markdown(markdown: str, *, config: MkDocsConfig, **about: object) -> str:
    """Return a page with the wheel's address on the site that is being built or served."""
    return with_wheel_address(markdown, config.site_url)


def with_wheel_address(text: str, site: str | None) -> str:
    """Return a text whose install lines have the wheel's address on a site.

    Examples:
        >>> line = with_wheel_address('pip install "posenc[nn] @ posenc.whl"', "https://example.org/book/")
        >>> line.removesuffix(f'{WHEEL}"')
        'pip install "posenc[nn] @ https://example.org/book/'
    """
    return text.replace(" @ posenc.whl", f" @ {urljoin(site or '', WHEEL)}")
