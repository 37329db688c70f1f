"""The lighter input of the search gives the same index."""

from __future__ import annotations

from importlib import import_module

import pytest

from scripts import DOCS
from scripts.book.render import render
from scripts.site.search_input import thinned

Parser = import_module("material.plugins.search.plugin").Parser  # which has no types
SMALL = """\
# Rows { #rows }

A row has $d_{model} \\ge 2$ numbers, of which {{ 0.841 = np.sin(1) }} is one.

## In **code** { #in-code }

<p>One<span> </span><span>\n</span>two <span>three</span><span>&nbsp;</span>four</p>

```python
def half(x):  # of it

    return x / 2
```

$$
\\sin \\omega \\, t
$$
"""


@pytest.mark.parametrize("source", ["small", "chapters/at-the-board.md"])
def test_lighter_search_input_gives_the_same_index(source: str) -> None:
    whole = render(SMALL if source == "small" else (DOCS / source).read_text(encoding="utf-8"))
    less = thinned(whole)
    assert "<span" in whole and "<math" in whole
    assert "<span" not in less and "<math" not in less
    assert read(less) == read(whole)


def read(content: str) -> list[tuple[str | None, str, str]]:
    """Return what the search indexes of a page: the title and text of each section."""
    parser = Parser()
    parser.feed(content)
    parser.close()
    return [(part.id, "".join(part.title), "".join(part.text)) for part in parser.data]
