"""Tables of pages, which tests compare with what classes of transformers do."""

from __future__ import annotations

from scripts import DOCS


def rows(page: str, section: str) -> list[list[str]]:
    """Return the cells of the first table of a section, which its id names, without its heading."""
    text = (DOCS / page).read_text("utf-8")
    lines = text[text.index(f"{{ #{section} }}") :].splitlines()
    first = next(number for number, line in enumerate(lines) if line.startswith("|"))
    table = lines[first : lines.index("", first)]
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in table[2:]]
