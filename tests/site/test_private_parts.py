"""ARCHITECTURE.md lists what the site takes from the theme that the theme does not promise."""

from __future__ import annotations

import re

from scripts import DOCS, ROOT

SOURCES = {
    DOCS / "assets": {".css", ".js"},
    ROOT / "scripts" / "site": {".css", ".html", ".js", ".mjs", ".py"},
}
# Its classes and attributes. Variables of its style sheets, `--md-…`, may be set by any site.
PART = re.compile(r"(?<![\w-])(?:data-)?md-[a-z][a-z_-]*[a-z]")


def taken() -> set[str]:
    """Return the classes and attributes of the theme that the site's sources name."""
    files = {
        path
        for folder, kinds in SOURCES.items()
        for path in folder.rglob("*")
        if path.suffix in kinds and DOCS / "assets" / "built" not in path.parents
    }
    return {part for path in files for part in PART.findall(path.read_text("utf-8"))}


def test_classes_and_attributes_of_the_theme_are_listed() -> None:
    listed = PART.findall((ROOT / "ARCHITECTURE.md").read_text("utf-8"))
    assert len(set(listed)) == len(listed)
    assert set(listed) == taken()
