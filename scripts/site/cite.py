"""Writes how to cite the book, from CITATION.cff; mkdocs calls this.

Where a page says `<!-- cite -->`, a section with a BibTeX entry follows. The entry is a listing,
so it has the button *Copy*.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from urllib.parse import urlsplit

import yaml
from mkdocs.config.defaults import MkDocsConfig

from scripts import ROOT
from scripts.site.markdown_copies import LOOPBACK

MARK = "<!-- cite -->"
CITATION = ROOT / "CITATION.cff"
KEY = "posenc"
SECTION = """\
## Cite this {{ #cite }}

Words, figures and code are under the {} License. The entry for BibTeX:

```bibtex
{}
```"""


def on_page_markdown(markdown: str, *, config: MkDocsConfig, **about: object) -> str:
    """Return a page with the entry where it asks for it."""
    if MARK not in markdown:
        return markdown
    citation = yaml.safe_load(CITATION.read_text(encoding="utf-8"))
    entry = bibtex(citation, config.site_url or "")
    return markdown.replace(MARK, SECTION.format(citation["license"], entry))


def bibtex(citation: Mapping[str, Any], site: str) -> str:
    """Return a citation file as a BibTeX entry; with the address of a site that is published.

    Examples:
        >>> citation = {"title": "A", "authors": [{"name": "The B"}], "version": "1.0"}
        >>> print(bibtex(citation, "https://example.org/"))
        @misc{posenc,
          author = {{The B}},
          title = {A},
          note = {Version 1.0},
          url = {https://example.org/}
        }
    """
    fields = {
        "author": " and ".join(map(author, citation["authors"])),
        "title": citation["title"],
        "note": f"Version {citation['version']}",
    }
    if "date-released" in citation:
        fields["year"] = str(citation["date-released"])[:4]
    if urlsplit(site).hostname not in (None, *LOOPBACK):
        fields["url"] = site
    lines = ",\n".join(f"  {name} = {{{value}}}" for name, value in fields.items())
    return f"@misc{{{KEY},\n{lines}\n}}"


def author(entry: Mapping[str, str]) -> str:
    """Return an author of a citation file; the name of a group in braces, so that it stays whole.

    Examples:
        >>> author({"family-names": "Curie", "given-names": "Marie"})
        'Curie, Marie'
    """
    if "name" in entry:
        return f"{{{entry['name']}}}"
    return f"{entry['family-names']}, {entry['given-names']}"
