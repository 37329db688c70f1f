"""Renders a page with the extensions listed in `mkdocs.yml`, without building the site."""

from __future__ import annotations

from functools import cache

from markdown import Markdown
from mkdocs.config import load_config

from scripts import ROOT
from scripts.book.text import without_front_matter


@cache
def _markdown() -> Markdown:
    config = load_config(str(ROOT / "mkdocs.yml"), hooks=[], plugins=[])  # these need a whole site
    return Markdown(extensions=config.markdown_extensions, extension_configs=config.mdx_configs)


def render(text: str) -> str:
    """Return a page as HTML; an unknown symbol, test or reference, or bad TeX, is an error."""
    return _markdown().reset().convert(without_front_matter(text))
