"""Notebooks have the text, code and outputs of their pages, and run in a fresh folder."""

from __future__ import annotations

import base64
import io
import re
from collections.abc import Callable, Iterator
from copy import deepcopy
from functools import cache
from itertools import zip_longest
from pathlib import Path
from typing import Any

import nbformat
import pytest
from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionError
from nbformat import NotebookNode
from PIL import Image
from selectolax.lexbor import LexborHTMLParser

from scripts import ROOT
from scripts.book.chapters import Chapter, whole_text
from scripts.book.figures import size
from scripts.book.sessions import TRACEBACK, sessions
from scripts.book.unrendered import LEFT
from scripts.figures import picture_file
from scripts.figures._sentence import VECTORS, WORDS
from scripts.site.install_lines import with_wheel_address
from scripts.site.notebook import colab_address, notebook, numbered_chapters, offer
from scripts.site.notebook_pictures import cache_file, pictures, write_cache
from tests.site.served import Site, address

WHOLE = numbered_chapters()
BY_NAME: Any = {"ids": lambda chapter: chapter.name}
SMALL = """\
---
title: Small
---
# Small { #small }

One, {{ 0.841 = np.sin(1) }}, and [another](by-hand.md#there).[^su2021] { .lead }

```pycon
>>> import numpy as np
>>> def half(x):
...     return x / 2
...
>>> half(3)
1.5
>>> print(f"{half(1)}, printed")
0.5, printed
>>> half("one")
Traceback (most recent call last):
    ...
TypeError: unsupported operand type(s) for /: 'str' and 'int'
```

!!! correction "Often printed otherwise"

    “It is not.”
    { .wrong }

    It is so.
    { .right }

??? solution

    ```pycon
    >>> np.arange(3)
    array([0, 1, 2])
    ```
"""
WRONG = """
```pycon
>>> helf(3)
1.5
```
"""


cached_notebook = cache(notebook)  # slow for a whole page, and never modified


@pytest.fixture(autouse=True)
def _own_jupyter(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Keep Jupyter away from the settings and history of this machine."""
    for name in ("IPYTHONDIR", "JUPYTER_CONFIG_DIR", "JUPYTER_DATA_DIR", "JUPYTER_RUNTIME_DIR"):
        (tmp_path / name).mkdir()
        monkeypatch.setenv(name, str(tmp_path / name))
    monkeypatch.setenv("JUPYTER_PLATFORM_DIRS", "1")


@pytest.mark.slow
@pytest.mark.parametrize("chapter", WHOLE, **BY_NAME)
def test_the_notebook_runs_top_to_bottom_and_prints_what_the_page_prints(chapter: Chapter) -> None:
    made = cached_notebook(whole_text(chapter))
    nbformat.validate(made)
    kernel = client(made)
    kernel.execute()
    assert list(differences(made, kernel.nb)) == []


def test_changed_output_and_failing_cell_are_noticed() -> None:
    made = notebook(SMALL + WRONG)
    tagged = [cell for cell in made.cells if "raises-exception" in cell.metadata.get("tags", ())]
    assert [cell.source for cell in tagged] == ['half("one")']
    kernel = client(made)
    with pytest.raises(CellExecutionError, match="NameError"):
        kernel.execute()
    changed = SMALL.replace("\n1.5\n", "\n1.6\n").replace("0.5, p", "0.6, p")
    said = list(differences(notebook(changed + WRONG), kernel.nb))
    assert said == [
        "cell 1: the page says '1.6', the kernel '1.5'",
        "cell 2: the page says '0.6, printed', the kernel '0.5, printed'",
        "cell 5: the page says '1.5', the kernel \"NameError: name 'helf' is not defined\"",
    ]
    changed = SMALL.replace("'str' and", "'float' and").replace("[0, 1, 2]", "[0, 1, 3]")
    assert len(list(differences(notebook(changed), notebook(SMALL)))) == 2


@pytest.mark.parametrize("chapter", WHOLE, **BY_NAME)
def test_notebook_code_is_that_of_the_sessions(chapter: Chapter) -> None:
    text = whole_text(chapter)
    cells = code(cached_notebook(text))
    typed = "\n".join(session.source for session in sessions(text))
    assert lines("\n".join(cell.source for cell in cells)) == lines(typed)
    said = "\n".join(session.printed for session in sessions(text))
    assert words("\n".join(map(output, cells))) == words(said.replace(f"{TRACEBACK}    ...\n", ""))


@pytest.mark.parametrize("chapter", WHOLE, **BY_NAME)
def test_notebook_contains_no_page_language_and_no_relative_link(chapter: Chapter) -> None:
    made = cached_notebook(whole_text(chapter))
    for cell in made.cells:
        if cell.cell_type == "markdown":
            prose = re.sub(r"(?s)```.*?```|`[^`]*`|\$\$.*?\$\$|\$[^$]*\$", "", cell.source)
            assert not LEFT.search(prose), cell.source
            assert not re.search(r"\]\((?!https?:|attachment:)|\]\[", prose), cell.source


@pytest.mark.parametrize("chapter", WHOLE, **BY_NAME)
def test_no_notebook_says_that_answers_are_collapsed(chapter: Chapter) -> None:
    cells = cached_notebook(whole_text(chapter)).cells
    assert not [cell.source for cell in cells if "collapsed" in cell.source]


@pytest.mark.parametrize("chapter", WHOLE, **BY_NAME)
def test_every_figure_of_the_page_is_in_the_notebook(chapter: Chapter) -> None:
    text = whole_text(chapter)
    attached = {
        name: bundle["image/png"]
        for cell in cached_notebook(text).cells
        for name, bundle in cell.get("attachments", {}).items()
    }
    stems = re.findall(r"\.\./figures/([\w-]+)-light\.svg", text)
    assert list(attached) == [f"{stem}.png" for stem in stems]
    for stem in stems:
        picture = Image.open(io.BytesIO(base64.b64decode(attached[f"{stem}.png"])))
        assert picture.format == "PNG"
        on_page = size(picture_file(stem, "light"))
        assert picture.size == tuple(int(1.5 * int(side)) for side in on_page), stem


@pytest.mark.slow
def test_kept_picture_equals_a_new_drawing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    there = pictures(["barcode"])
    monkeypatch.setattr("scripts.site.notebook_pictures.CACHE", tmp_path / "kept")
    (tmp_path / "kept").mkdir()
    (tmp_path / "kept" / "barcode-0123.png").touch()  # of a figure that no longer exists
    assert pictures(["barcode"]) == there
    assert list((tmp_path / "kept").iterdir()) == [cache_file("barcode")]
    monkeypatch.setattr(
        "scripts.site.notebook_pictures.CACHE", cache_file("barcode")
    )  # a file, so no folder can be made
    write_cache(cache_file("barcode"), b"")


@pytest.mark.parametrize(
    ("changed", "of"),
    [
        ("docs/figures/barcode-light.svg", ["barcode"]),
        ("scripts/figures/barcode.py", ["barcode"]),
        ("scripts/figures/_render.py", ["barcode", "waves"]),
        ("scripts/figures/style.py", ["barcode", "waves"]),
        ("scripts/site/notebook_pictures.py", ["barcode", "waves"]),
    ],
)
def test_picture_is_redrawn_when_its_sources_change(
    changed: str, of: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    before, read = [cache_file("barcode"), cache_file("waves")], Path.read_bytes

    def edited(path: Path) -> bytes:
        return read(path) + b"#" * (path == ROOT / changed)

    monkeypatch.setattr(Path, "read_bytes", edited)
    after = [cache_file("barcode"), cache_file("waves")]
    assert [new.name.partition("-")[0] for new in after if new not in before] == of


def test_the_figures_draw_the_sentence_of_the_page() -> None:
    (chapter,) = (each for each in WHOLE if each.name == "build-it")
    text = whole_text(chapter)
    assert f'"{" ".join(WORDS)}"' in text
    for word, vector in VECTORS.items():
        assert f'"{word}": {list(vector)},' in text


def test_a_small_page_reads_as_a_notebook() -> None:
    first, words, *_ = notebook(SMALL).cells
    assert 'pip install "posenc[nn] @ posenc.whl"' in first.source
    assert words.source == (
        "# Small\n\nOne, 0.841, and another. ([Su et al. 2021](https://arxiv.org/abs/2104.09864))"
    )
    (box,) = (cell.source for cell in notebook(SMALL).cells if "**Right.**" in cell.source)
    assert box == (
        "> **Often printed otherwise**\n>\n> **Wrong.** “It is not.”\n>\n"
        "> **Right.** It is so.\n\n**Solution**"
    )


def test_notebook_is_deterministic() -> None:
    assert notebook(SMALL) == notebook(SMALL)


@pytest.mark.parametrize("chapter", WHOLE, **BY_NAME)
def test_the_page_offers_the_notebook_for_download(site: Site, chapter: Chapter) -> None:
    page = site.folder / address(chapter.first) / "index.html"
    link = LexborHTMLParser(page.read_text(encoding="utf-8")).css("a[download]")[0].attrs
    assert link["download"] == f"{chapter.name}.ipynb"
    made = nbformat.read(page.parent / link.sget("href"), as_version=4)
    first, *others = cached_notebook(whole_text(chapter)).cells
    assert made.cells[1:] == others
    assert made.cells[0].source == with_wheel_address(first.source, site.url)


def test_each_chapter_with_sessions_has_a_notebook() -> None:
    names = ["attention", "by-hand", "build-it", "at-the-board", "prove-it", "check-yourself"]
    assert [chapter.name for chapter in WHOLE] == names


def test_notebooks_open_in_colab_only_where_a_repository_has_them() -> None:
    assert "colab" not in offer("").lower()
    folder = "https://colab.research.google.com/github/a/b/blob/notebooks/"
    for chapter in WHOLE:
        assert colab_address(chapter, "") == ""
        assert f"({folder}{chapter.name}.ipynb)" in offer(folder)
        assert f"assets/built/{chapter.name}.ipynb" in offer(folder)


def client(made: NotebookNode) -> NotebookClient:
    """Return a client that runs a notebook in a fresh kernel and stops at an unexpected error."""
    folder = {"metadata": {"path": str(ROOT)}}
    # A kernel that has loaded torch takes seconds to shut down by itself.
    return NotebookClient(deepcopy(made), timeout=60, resources=folder, shutdown_kernel="immediate")


def differences(there: NotebookNode, here: NotebookNode) -> Iterator[str]:
    """Yield where the outputs of two notebooks differ, apart from line breaks."""
    for number, pair in enumerate(zip_longest(code(there), code(here)), 1):
        says, said = (" ".join(words(output(cell))) for cell in pair)
        if says != said:
            yield f"cell {number}: the page says {says!r}, the kernel {said!r}"


def code(made: NotebookNode) -> list[NotebookNode]:
    return [cell for cell in made.cells if cell.cell_type == "code"]


def output(cell: NotebookNode) -> str:
    """Return all the output of a cell: what it prints, its value, its error."""
    said: dict[str, Callable[[NotebookNode], str]] = {
        "stream": lambda output: output.text,
        "execute_result": lambda output: f"{output.data['text/plain']}\n",
        "error": lambda output: f"{output.ename}: {output.evalue}\n",
    }
    return "".join(said[one.output_type](one) for one in cell.outputs)


def words(text: str) -> list[str]:
    """Return a text without its line breaks: IPython breaks a long value where Python does not."""
    return text.split()


def lines(typed: str) -> list[str]:
    """Return the non-empty lines of code, with commands written as in a cell."""
    cell = re.sub(r"^python ", "%run ", typed, flags=re.M)
    return [line for line in cell.splitlines() if line.strip()]
