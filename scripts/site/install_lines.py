"""The wheel that the site serves, which *Run* starts with, in the lines that install the package.

Pages and notebooks are written with `pip install "posenc @ posenc.whl"`; wherever they are read,
the wheel has its whole address on that site. No package index is asked for a name that anybody
could take.
"""

from __future__ import annotations

from urllib.parse import urljoin

from mkdocs.config.defaults import MkDocsConfig

import posenc

WHEEL = f"assets/built/python/posenc-{posenc.__version__}-py3-none-any.whl"


def on_page_markdown(markdown: str, *, config: MkDocsConfig, **about: object) -> str:
    """Return a page with the wheel's address on the site that is being built, or served."""
    return addressed(markdown, config.site_url)


def addressed(text: str, site: str | None) -> str:
    """Return a text whose lines take the wheel from a site.

    Examples:
        >>> line = addressed('pip install "posenc[nn] @ posenc.whl"', "https://example.org/book/")
        >>> line.removesuffix(f'{WHEEL}"')
        'pip install "posenc[nn] @ https://example.org/book/'
    """
    return text.replace(" @ posenc.whl", f" @ {urljoin(site or '', WHEEL)}")
