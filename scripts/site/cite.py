"""Writes how to cite the book, from CITATION.cff, and where it is; mkdocs calls this.

Where a page says `<!-- cite -->`, a section with a BibTeX entry follows. The entry is a listing,
so it has the button *Copy*. Templates have the public address of the site as `extra.address`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

import yaml
from mkdocs.config.defaults import MkDocsConfig

from scripts import ROOT
from scripts.site.markdown_copies import public_address

MARK = "<!-- cite -->"
CITATION = ROOT / "CITATION.cff"
CHANGELOG = ROOT / "CHANGELOG.md"
KEY = "posenc"
SECTION = """\
## Cite this {{ #cite }}

Words, figures and code are under the {} License. The entry for BibTeX:

```bibtex
{}
```"""


def on_config(config: MkDocsConfig) -> None:
    """Let templates say where the book is, if it is published."""
    config.extra["address"] = public_address(config.site_url)


def on_page_markdown(markdown: str, *, config: MkDocsConfig, **about: object) -> str:
    """Return a page with the entry where it asks for it."""
    if MARK not in markdown:
        return markdown
    citation = yaml.safe_load(CITATION.read_text(encoding="utf-8"))
    entry = bibtex(citation, config.extra["address"])
    return markdown.replace(MARK, SECTION.format(citation["license"], entry))


def bibtex(citation: Mapping[str, Any], address: str) -> str:
    """Return a citation file as a BibTeX entry; with the address of the site, if it has one.

    The year is that of the release; before it, that of the newest release in CHANGELOG.md.

    Examples:
        >>> citation = {"title": "A", "authors": [{"name": "The B"}], "version": "1.0"}
        >>> citation |= {"date-released": "2026-11-24"}
        >>> print(bibtex(citation, "https://example.org/"))
        @misc{posenc,
          author = {{The B}},
          title = {A},
          note = {Version 1.0},
          year = {2026},
          url = {https://example.org/}
        }
    """
    fields = {
        "author": " and ".join(map(author, citation["authors"])),
        "title": citation["title"],
        "note": f"Version {citation['version']}",
        "year": str(citation.get("date-released") or newest_release())[:4],
    }
    if address:
        fields["url"] = address
    lines = ",\n".join(f"  {name} = {{{value}}}" for name, value in fields.items())
    return f"@misc{{{KEY},\n{lines}\n}}"


def newest_release() -> str:
    """Return the date of the newest release in CHANGELOG.md."""
    (date, *_) = re.findall(r"^## .*(\d{4}-\d\d-\d\d)$", CHANGELOG.read_text("utf-8"), re.M)
    return str(date)


def author(entry: Mapping[str, str]) -> str:
    """Return an author of a citation file; the name of a group in braces, so that it stays whole.

    Examples:
        >>> author({"family-names": "Curie", "given-names": "Marie"})
        'Curie, Marie'
    """
    if "name" in entry:
        return f"{{{entry['name']}}}"
    return f"{entry['family-names']}, {entry['given-names']}"
