"""Tables bound to an array: `<!-- table: np.c_[0:4, sinusoidal_encoding(4, 8)] -->`.

The comment goes above a Markdown table. The array has one row for each row of the table's body. Its
columns are the last columns of the table; any columns before them are labels. Each cell is compared
to its printed digits. `<!-- tinted table: … -->` also tints the cells by their value, which suits
entries between −1 and 1.

An expression may name its columns: it is then a mapping from heading to column, or a list of
mappings, one per row. The headings are compared as well, so that columns cannot be swapped, and
columns of text are compared literally. `pair_columns` and `dim_columns` name the columns of a
table of positions.

Headings `pair 0 / sin | pair 0 / cos` become two rows, with `pair 0` spanning both columns.

The rows of a table with much text, bound or not, become blocks on narrow pages. In a table of many
numbers the name of a row goes above its numbers there, or its rows become blocks as well. A grid of
marks scrolls under its first column.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from xml.etree import ElementTree

import numpy as np
from markdown import Markdown
from markdown.extensions import Extension
from markdown.preprocessors import Preprocessor
from markdown.treeprocessors import Treeprocessor
from markdown.util import AtomicString

from scripts.book.numbers import BINDING, NUMBER, Binding, as_printed, binding, compare, evaluate
from scripts.book.text import Correction, line_of, spans

COMMENT = re.compile(r"<!--\s*(?P<tinted>tinted )?table:\s+(?P<expression>.+?)\s*-->", re.S)
ROW = re.compile(r"^[ ]*\|(?P<cells>.*)\|[ ]*$", re.M)
MARK = "bound-table-"
SHOWN = 72  # characters of an expression; a longer one is folded
WORDY, LONG = 2, 90  # columns of words after the first, characters in a cell: much text
MANY, WIDE = 6, 53  # columns, characters of a row: too wide for a phone
LINES, TIGHT = 2, 45  # of words in a cell, if more; characters of such a row: too wide as well
FITS, SIDE = 50, 25  # characters of a row below its name, of a labelled cell beside another
UNLABELLED = {"names", "source-map"}  # classes of tables
BLOCKS = {"asked"}  # classes of tables whose rows are blocks however short
GRIDS = {"matrix"}  # classes of tables of marks, which stay a grid and scroll
FACTS = {"models"}  # classes of wide tables of which some are alike: all are blocks of facts


@dataclass(frozen=True)
class Cell:
    """A table cell: the position of its text, and the text."""

    start: int
    text: str


@dataclass(frozen=True)
class BoundTable:
    """A table with the comment above it and the expression that it is bound to."""

    start: int
    end: int
    expression: str
    tinted: bool
    head: list[Cell]
    rows: list[list[Cell]]

    def corrections(self, text: str, names: dict[str, Any]) -> list[Correction]:
        """Return the corrections of all cells that differ from the array."""
        headings, values = named_columns(evaluate(self.expression, names))
        rows, columns = len(self.rows), len(self.head)
        if len(values) != rows or len(values[0]) > columns:
            raise ValueError(
                f"line {line_of(text, self.start)}: the table has {rows} rows of {columns} cells,"
                f" {self.expression} has the shape {(len(values), len(values[0]))}"
            )
        labels = columns - len(values[0])
        for label in (cell for cells in self.rows for cell in cells[:labels]):
            if re.fullmatch(NUMBER, label.text):
                raise ValueError(f"{label.text} is a number in a column without an expression")
        head = [
            correction
            for x, (cell, name) in enumerate(zip(self.head[labels:], headings, strict=False))
            for correction in _heading(cell, name, f"{self.expression}, heading {x}", names)
        ]
        return head + [
            correction
            for y, cells in enumerate(self.rows)
            for x, cell in enumerate(cells[labels:])
            for correction in _cell(cell, values[y][x], f"{self.expression}, [{y}, {x}]")
        ]


def named_columns(value: Any) -> tuple[list[str], list[Sequence[Any]]]:
    """Return the headings of a table, none for an array without names, and its rows.

    Examples:
        >>> named_columns({"position": range(2), "row": ["a", "b"]})
        (['position', 'row'], [(0, 'a'), (1, 'b')])
        >>> named_columns([{"position": 0, "row": "a"}, {"position": 1, "row": "b"}])
        (['position', 'row'], [(0, 'a'), (1, 'b')])
    """
    if isinstance(value, Mapping):
        return [*map(str, value)], list(zip(*value.values(), strict=True))
    if isinstance(value, list) and all(isinstance(row, Mapping) for row in value):
        headings = [*map(str, value[0])]
        for row in value:
            if [*map(str, row)] != headings:
                raise ValueError(f"a row has the columns {[*row]}, but the first has {headings}")
        return headings, [tuple(row.values()) for row in value]
    array = np.asarray(value)
    if array.ndim != 2:
        raise ValueError(f"a table needs rows and columns; got the shape {array.shape}")
    return [], list(array)


def pair_columns(rows: Any, *pairs: int) -> dict[str, Any]:
    """Return the columns of a sinusoidal table under `pair 0 / sin`, `pair 0 / cos` and so on."""
    wave = {"sin": 0, "cos": 1}
    return {
        f"pair {pair} / {name}": rows[:, 2 * pair + place]
        for pair in pairs or range(rows.shape[1] // 2)
        for name, place in wave.items()
    }


def dim_columns(rows: Any, *dims: int, group: str = "") -> dict[str, Any]:
    """Return the columns of a table under `dim 0`, `dim 1` and so on, below `group` if given."""
    over = f"{group} / " if group else ""
    return {f"{over}dim {dim}": np.asarray(rows)[:, dim] for dim in dims}


def _heading(cell: Cell, name: str, about: str, names: dict[str, Any]) -> list[Correction]:
    """Return the correction of a heading, after replacing bindings in it by their values."""
    says = BINDING.sub(lambda bound: _computed_text(binding(bound), names), cell.text)
    if says != name and BINDING.search(cell.text):
        raise ValueError(f"the heading is {says!r}, but the column is named {name!r}; {about}")
    return compare(cell.start, says, name, about)


def _computed_text(bound: Binding, names: dict[str, Any]) -> str:
    """Return the correct text of a bound number."""
    return next((c.should for c in bound.corrections("", names)), bound.printed)


def _cell(cell: Cell, value: Any, about: str) -> list[Correction]:
    """Return the correction of a cell; an empty cell is filled with three decimals."""
    if isinstance(value, str):
        return compare(cell.start, cell.text, value, about)
    form = "0.000" if cell.text in {"", "…"} else cell.text
    if not re.fullmatch(NUMBER, form):
        raise ValueError(f"the cell {cell.text!r} is not a number; {about}")
    return compare(cell.start, cell.text, as_printed(value, form), about)


def bound_tables(text: str) -> Iterator[BoundTable]:
    """Yield the bound tables of a page."""
    for span in spans(text):
        match = COMMENT.fullmatch(text, span.start, span.end) if span.kind == "comment" else None
        if match:
            expression = " ".join(match["expression"].split())
            head, rows = _head_and_rows(text, span.end)
            yield BoundTable(span.start, span.end, expression, bool(match["tinted"]), head, rows)


def _head_and_rows(text: str, start: int) -> tuple[list[Cell], list[list[Cell]]]:
    """Return the headings and the cells of the table that follows `start`."""
    place = start + len(text[start:]) - len(text[start:].lstrip())
    place = text.rfind("\n", 0, place) + 1
    found = []
    while match := ROW.match(text, place):
        found.append(_cells(match))
        place = match.end() + 1
    where = f"line {line_of(text, start)}"
    if len(found) < 3:
        raise ValueError(f"{where}: no table follows this comment")
    if len({len(cells) for cells in found}) > 1:
        raise ValueError(f"{where}: the rows of this table have different numbers of cells")
    if text[place:].partition("\n")[0].strip():
        raise ValueError(f"line {line_of(text, place)}: a bound table needs an empty line after it")
    return found[0], found[2:]


def _cells(row: re.Match[str]) -> list[Cell]:
    cells, place = [], row.start("cells")
    for part in re.split(r"(?<!\\)\|", row["cells"]):
        cells.append(Cell(place + len(part) - len(part.lstrip()), part.strip()))
        place += len(part) + 1
    return cells


class _MarkTables(Preprocessor):
    """Replaces each comment by a mark that survives Markdown."""

    def __init__(self, md: Markdown, found: list[BoundTable]) -> None:
        super().__init__(md)
        self.found = found

    def run(self, lines: list[str]) -> list[str]:
        text = "\n".join(lines)
        self.found[:] = bound_tables(text)
        for n, table in reversed(list(enumerate(self.found))):
            text = f"{text[: table.start]}{MARK}{n}\n{text[table.end :]}"
        return text.split("\n")


class _ShowTables(Treeprocessor):
    def __init__(self, md: Markdown, found: list[BoundTable]) -> None:
        super().__init__(md)
        self.found = found

    def run(self, root: ElementTree.Element) -> None:
        for parent in list(root.iter()):
            for mark in [child for child in parent if (child.text or "").startswith(MARK)]:
                following = parent[list(parent).index(mark) + 1]
                bound = self.found[int((mark.text or "").removeprefix(MARK))]
                if following.tag == "table":  # has no caption, and so no figure
                    following = _wrap_in_figure(parent, following)
                _show(following, bound)
                parent.remove(mark)
        _show_unbound(root)


def _show_unbound(root: ElementTree.Element) -> None:
    """Make unbound tables scroll as well; the theme's script ignores tables with a class."""
    for parent in list(root.iter()):
        for table in [t for t in parent.findall("table") if t.get("class") is None]:
            table.set("class", "plain")
            _label_cells(table, parent.get("class", ""))
            if parent.tag == "figure":
                parent.set("class", f"table {parent.get('class', '')}".strip())
            _wrap(parent, table)


def _label_cells(table: ElementTree.Element, around: str) -> None:
    """Mark a table with much text, or of many numbers, by how it is shown on narrow pages.

    Where rows are blocks, the headings are hidden, so its cells get them as labels, unless the
    class around the table is of one whose cells speak for themselves.
    """
    if around in GRIDS:
        return
    headings = table.findall("thead/tr/th")
    words = [heading for heading in headings[1:] if "right" not in heading.get("style", "")]
    rows = table.findall("tbody/tr")
    longest = max((len("".join(cell.itertext())) for row in rows for cell in row), default=0)
    is_wordy = table.get("class") == "plain" and len(words) >= WORDY
    is_short = len(headings) <= WORDY or longest <= LONG
    if not is_wordy and is_short and around not in BLOCKS:
        _mark_wide(table, headings, rows, may_go_over=around not in FACTS)
        return
    table.set("class", f"{table.get('class')} rows")
    if around not in UNLABELLED:
        _label(headings, rows)


def _label(headings: list[ElementTree.Element], rows: list[ElementTree.Element]) -> None:
    """Give each cell after the first of its row the text of its heading as a label."""
    for row in rows:
        for heading, cell in list(zip(headings, row, strict=True))[1:]:
            cell.set("data-label", re.sub(r"\\[()]", "", "".join(heading.itertext())))


def _mark_wide(
    table: ElementTree.Element,
    headings: list[ElementTree.Element],
    rows: list[ElementTree.Element],
    *,
    may_go_over: bool,
) -> None:
    """Mark a table of many numbers that is too wide for a phone.

    If its numbers fit without the names of the rows, these go above them, class `over`; otherwise
    the rows become blocks of facts. A table whose rows share a name is left as it is.
    """
    columns = [["".join(cell.itertext()) for cell in column] for column in zip(*rows, strict=True)]
    names = ["".join(heading.itertext()).rpartition(" / ")[2] for heading in headings]
    if table.get("class") != "worked" or len(columns) < MANY or "" in columns[0]:
        return
    sides = [heading.get("style", "") for heading in headings]
    unbroken = [
        max(map(len, [name, *cells])) if "right" in side else max(map(_longest_word, cells))
        for name, side, cells in zip(names, sides, columns, strict=True)
    ]
    is_tall = any(
        max(map(len, cells)) > LINES * most
        for side, cells, most in zip(sides, columns, unbroken, strict=True)
        if "right" not in side
    )
    if sum(unbroken) + len(columns) < (TIGHT if is_tall else WIDE):
        return
    below = [
        max(_longest_word(text) for text in [n, *c]) for n, c in zip(names, columns, strict=True)
    ]
    if may_go_over and sum(below[1:]) <= FITS:
        table.set("class", f"{table.get('class')} over")
        table.set("style", f"--columns: {len(columns) - 1}")
        for row in rows if all(re.fullmatch(NUMBER, name) for name in columns[0]) else []:
            row[0].set("data-label", names[0])
        return
    table.set("class", f"{table.get('class')} rows facts")
    _label(headings, rows)
    for cells in list(zip(*rows, strict=True))[1:]:
        label = cells[0].get("data-label", "")
        longest = max(len(f"{label}: {''.join(cell.itertext())}") for cell in cells)
        for cell in cells if longest > SIDE else []:
            cell.set("class", "long")


def _longest_word(text: str) -> int:
    return max(map(len, text.split()), default=0)


def _wrap_in_figure(parent: ElementTree.Element, table: ElementTree.Element) -> ElementTree.Element:
    """Wrap a table in a figure, and return the figure."""
    place = list(parent).index(table)
    figure = ElementTree.Element("figure")
    figure.append(table)
    parent[place] = figure
    return figure


def _show(element: ElementTree.Element, bound: BoundTable) -> None:
    """Format a bound table, or the figure that contains it, and add its expression."""
    figure = element if element.tag == "figure" else None
    table = element if figure is None else figure.find("table")
    if table is None or table.tag != "table":
        raise ValueError(f"no table follows the comment with {bound.expression}")
    table.set("class", "worked")
    _label_cells(table, "" if figure is None else figure.get("class", ""))
    _group_head(table)
    _head_rows(table.findall("tbody/tr"))
    for cell in table.iterfind("tbody/tr/td"):
        _show_number(cell, tinted=bound.tinted)
    if figure is not None:
        figure.set("class", f"table {figure.get('class', '')}".strip())
        _wrap(figure, table)
        figure.append(_evidence(bound.expression))


def _wrap(parent: ElementTree.Element, table: ElementTree.Element) -> None:
    """Wrap a table in a box that scrolls if the table is wider than the page."""
    place = list(parent).index(table)
    parent.remove(table)
    box = ElementTree.Element("div", {"class": "scroll"})
    box.append(table)
    parent.insert(place, box)


def _evidence(expression: str) -> ElementTree.Element:
    """Return the line with a table's expression; a long one is folded."""
    folded = len(expression) > SHOWN
    line = ElementTree.Element("details" if folded else "p", {"class": "checked"})
    place = line
    if folded:
        ElementTree.SubElement(line, "summary").text = "Computed to the last printed digit"
        place = ElementTree.SubElement(line, "p", {"class": "names"})
    code = ElementTree.SubElement(place, "code")
    code.text = AtomicString(expression)  # keeps its quotes straight
    code.tail = "" if folded else ", compared to the last printed digit"
    return line


def _head_rows(rows: list[ElementTree.Element]) -> None:
    """Make each row's first cell its heading; a heading spans the empty cells below it."""
    heading = None
    for row in rows:
        first = row[0]
        if heading is not None and not (first.text or "").strip() and not len(first):
            heading.set("rowspan", str(int(heading.get("rowspan", "1")) + 1))
            row.remove(first)
        else:
            heading = first
            heading.tag = "th"
            heading.set("scope", "row")


def _show_number(cell: ElementTree.Element, *, tinted: bool) -> None:
    """Format a cell that contains only a number: true minus sign, and a tint if asked for."""
    text = (cell.text or "").strip()
    if len(cell) or not re.fullmatch(NUMBER, text):
        return
    value = float(text.replace("−", "-").replace(",", ""))
    kinds = [*cell.get("class", "").split(), "num"]
    if tinted and value:
        kinds.append("pos" if value > 0 else "neg")
        cell.set("style", f"--v:{abs(value):g}")
    cell.set("class", " ".join(kinds))
    cell.text = text.replace("-", "−")


def _group_head(table: ElementTree.Element) -> None:
    """Turn headings `group / name` into a row of groups over a row of names."""
    head = table.find("thead")
    cells = [] if head is None else list(head[0])
    if head is None or not any(" / " in (cell.text or "") for cell in cells):
        return
    groups, names = ElementTree.Element("tr"), ElementTree.Element("tr")
    for cell in cells:
        group, _, name = (cell.text or "").rpartition(" / ")
        if not group:
            cell.set("rowspan", "2")
            groups.append(cell)
            continue
        last = groups[-1] if len(groups) else None
        if last is not None and last.get("class") == "group" and last.text == group:
            last.set("colspan", str(int(last.get("colspan", "1")) + 1))
        else:
            over = {"class": "group", "scope": "colgroup", "colspan": "1"}
            ElementTree.SubElement(groups, "th", over).text = group
        ElementTree.SubElement(names, "th", {"scope": "col"}).text = name
    head.clear()
    head.extend([groups, names])
    if "over" in table.get("class", ""):
        _place_headings(groups, names)


def _place_headings(groups: ElementTree.Element, names: ElementTree.Element) -> None:
    """Say in which columns two rows of headings stand in a grid, where the first is not counted."""
    column, below = 0, iter(names)
    for heading in groups:
        width = int(heading.get("colspan", "1"))
        if column:
            style = f"{heading.get('style', '')} grid-column: {column} / span {width}"
            heading.set("style", style.strip())
        for place in range(column, column + width) if heading.get("rowspan") is None else []:
            next(below).set("style", f"grid-column: {place}")
        column += width


class TablesExtension(Extension):
    """Renders bound tables."""

    def extendMarkdown(self, md: Markdown) -> None:
        """Mark tables before comments become raw HTML; format them after their cells are parsed."""
        found: list[BoundTable] = []
        md.preprocessors.register(_MarkTables(md, found), "book-mark-tables", 34)
        md.treeprocessors.register(_ShowTables(md, found), "book-show-tables", 8)


makeExtension = TablesExtension  # the name that Python-Markdown looks for
