"""`make update`: write into the pages what the package says now.

Outputs, tables and bound numbers are rewritten in place; the figures are drawn again by
`python -m scripts.figures`. What changed is printed, and is a diff to read before it is kept.
"""

from __future__ import annotations

import sys
from pathlib import Path

from scripts.book import DOCS, ROOT
from scripts.book.check import corrections
from scripts.book.text import corrected


def update(path: Path) -> list[str]:
    """Rewrite a page in place and return a line for each change."""
    text = path.read_text(encoding="utf-8")
    found = corrections(text)
    if found:
        path.write_text(corrected(text, found), encoding="utf-8")
    return [correction.message(text) for correction in found]


def main() -> None:
    """Update the pages named on the command line, or all."""
    named = [Path(name).resolve() for name in sys.argv[1:]]
    for path in named or [ROOT / "README.md", *sorted(DOCS.rglob("*.md"))]:
        try:
            changes = update(path)
        except Exception as error:
            sys.exit(f"{path.relative_to(ROOT)}: {type(error).__name__}: {error}")
        for change in changes:
            print(f"{path.relative_to(ROOT)}, {change}")


if __name__ == "__main__":
    main()
