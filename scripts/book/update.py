"""`make update`: write into the pages what the package says now.

Outputs, tables and bound numbers are rewritten in place, and the pages of docs/trust/ that are made
from data are made again; the figures are drawn again by `python -m scripts.figures`. What changed
is printed, and is a diff to read before it is kept.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

from scripts import DOCS, ROOT
from scripts.book import ledger, sourcemap
from scripts.book.check import corrections
from scripts.book.text import corrected

MADE = {ledger.PAGE: ledger, sourcemap.PAGE: sourcemap}  # pages, and what makes them from data


def update(path: Path) -> list[str]:
    """Rewrite a page in place, in its own line endings, and return what was changed."""
    if maker := MADE.get(path.resolve()):
        return make(path, maker.page())
    with path.open(encoding="utf-8", newline="") as page:
        ending = "\r\n" if "\r\n" in page.read() else "\n"
    text = path.read_text(encoding="utf-8")
    found = corrections(text)
    changes = [correction.message(text) for correction in found]
    if found:
        path.write_text(corrected(text, found), encoding="utf-8", newline=ending)
    return changes


def make(path: Path, text: str) -> list[str]:
    """Write a page that is made from data, if it is not there as it should be."""
    if path.is_file() and path.read_text(encoding="utf-8") == text:
        return []
    path.write_text(text, encoding="utf-8")
    return ["made again from docs/data"]


def main() -> None:
    """Update the pages named on the command line, or all; and first what they are made from."""
    for change in ledger.mend():
        print(f"docs/data/claims/{change}")
    named = [Path(name) for name in sys.argv[1:]]
    for path in named or sorted({ROOT / "README.md", *DOCS.rglob("*.md"), *MADE}):
        name = os.path.relpath(path)
        try:
            changes = update(path)
        except Exception as error:
            sys.exit(f"{name}: {error}")
        for change in changes:
            print(f"{name}, {change}")


if __name__ == "__main__":
    main()
