"""`make update`: write the package's current results into the pages.

It rewrites outputs, tables and bound numbers in place, in pages that are written and in the data of
the ledger, and accepts the unbound numbers of each page as its settings. Figures are drawn by
`python -m scripts.figures`. Every change is printed: read it, and `git diff`, before you commit.
"""

from __future__ import annotations

import os
import sys
from importlib.util import find_spec
from pathlib import Path

from scripts import DOCS, ROOT
from scripts.book import ledger_page, pages, settings
from scripts.book.evaluate import corrections
from scripts.book.text import apply_corrections


def update(path: Path) -> list[str]:
    """Rewrite a page in place, keeping its line endings, and return a message for each change."""
    with path.open(encoding="utf-8", newline="") as page:
        ending = "\r\n" if "\r\n" in page.read() else "\n"
    text = path.read_text(encoding="utf-8")
    found = corrections(text)
    changes = [correction.message(text) for correction in found]
    if found:
        path.write_text(apply_corrections(text, found), encoding="utf-8", newline=ending)
    return changes


def accept(path: Path) -> list[str]:
    """Accept the unbound numbers of a page as its settings, and return which are new or gone."""
    if not path.resolve().is_relative_to(DOCS):  # the README, which has no settings
        return []
    page = path.resolve().relative_to(DOCS).as_posix()
    return settings.accept(page, path.read_text(encoding="utf-8"))


def main() -> None:
    """Update the data, then the pages named on the command line, or all pages."""
    if find_spec("torch") is None:
        sys.exit("Pages need torch: pip install -c constraints.txt -e '.[docs,test]'")
    for change in ledger_page.update_numbers():
        print(f"docs/data/claims/{change}")
    for file in settings.orphans():
        file.unlink()
        print(f"{os.path.relpath(file)}, removed with its page")
    named = [Path(name) for name in sys.argv[1:]]
    for path in named or [ROOT / "README.md", *(DOCS / page for page in pages.written_pages())]:
        name = os.path.relpath(path)
        try:
            changes = update(path) + accept(path)
        except Exception as error:
            sys.exit(f"{name}: {error}")
        for change in changes:
            print(f"{name}, {change}")


if __name__ == "__main__":
    main()
