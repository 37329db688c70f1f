"""Fills the templates of the pages that are made from data, the `templates/` of each room.

A template is Jinja with other marks, since the page language has braces: `<< value >>`,
`<% for one in all %>` and `<# a comment #>`.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from functools import cache
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined

from scripts import ROOT

FOLDERS = sorted(ROOT.glob("scripts/*/templates"))


def filled(name: str, **values: Any) -> str:
    """Return a template with these values, without empty lines at the end.

    Raises:
        jinja2.UndefinedError: The template uses a value that is missing.
    """
    return f"{environment().get_template(f'{name}.md.jinja').render(values).rstrip()}\n"


@cache
def environment() -> Environment:
    """Return what reads templates, with the filters that all can use."""
    found = Environment(
        loader=FileSystemLoader(FOLDERS),
        undefined=StrictUndefined,
        variable_start_string="<<",
        variable_end_string=">>",
        block_start_string="<%",
        block_end_string="%>",
        comment_start_string="<#",
        comment_end_string="#>",
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    found.filters |= {"codes": codes, "one_line": one_line}
    found.globals["table"] = table
    return found


def code(words: str) -> str:
    """Return words as code, in one line."""
    return f"`{' '.join(words.split())}`"


def codes(names: Iterable[str]) -> str:
    """Return the names of tests or proofs, formatted for a line of evidence."""
    return ", ".join(map(code, names))


def one_line(words: str) -> str:
    """Return words for a cell of a table."""
    return " ".join(words.split()).replace("|", "&#124;")


def table(rows: Sequence[Mapping[str, object]], numbers: Collection[str] = ()) -> str:
    """Return a table with the keys of its rows as headings; columns of numbers align right.

    Examples:
        >>> print(table([{"model": "GPT", "year": 2018}], numbers=["year"]))
        | model | year |
        | --- | --: |
        | GPT | 2018 |
    """
    align = ["--:" if name in numbers else "---" for name in rows[0]]
    lines = [rows[0], align, *(row.values() for row in rows)]
    return "\n".join(f"| {' | '.join(map(str, cells))} |" for cells in lines)
