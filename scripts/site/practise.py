"""What the exercises are checked with: a file that their pages fetch, and the notebook.

    assets/practise/exercises.json   the code of judge.py, and the exercises solved in the page
    assets/built/practise.ipynb      all exercises, each with a cell that checks it

mkdocs calls `on_files` before it builds.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from nbformat import NotebookNode, v4, writes

from scripts.book.practise_pages import ABOUT, exercises_in
from scripts.practise import judge
from scripts.practise.read import GROUPS, Exercise, exercises
from scripts.site.install_lines import with_wheel_address
from scripts.site.plain_markdown import plain, prose

DATA = "assets/practise/exercises.json"
NOTEBOOK = "assets/built/practise.ipynb"
JUDGE = Path(judge.__file__)
LINK = re.compile(r"(?<!!)\[(?P<words>[^\[\]]+)\]\((?!https?:)[^)]*\)")

FIRST = """\
# Practise

The exercises of the book that comes with `posenc`: write what each asks for into its cell, run it,
and run the cell below, which checks it and says what is wrong and why. It needs Python 3.11 or
newer, numpy, and PyTorch for the exercises that import it:

```sh
python -m pip install "posenc[nn] @ posenc.whl"
```

Run the next cell first. It holds what the checks need to know, with the solutions, so do not read
it before you are done."""

SETUP = """\
import json

practise = {{}}
exec({judge!r}, practise)
known = json.loads({known!r})


def check(name):
    \"\"\"Say of each check of an exercise whether it holds, and stop unless all do.\"\"\"
    report = practise["Report"](practise["judge_answer"](known[name], globals()))
    assert report.is_solved, f"not yet\\n{{report}}"
    print(report)
"""


def on_files(files: Files, *, config: MkDocsConfig) -> Files:
    """Add the file of the pages and the notebook to the site."""
    made = with_wheel_address(writes(notebook()), config.site_url)
    for name, content in {DATA: data(), NOTEBOOK: made}.items():
        files.append(File.generated(config, name, content=content))
    return files


def data() -> str:
    """Return what the pages fetch, as JSON."""
    known = {one.name: one.data for one in exercises() if not one.torch}
    return json.dumps({"judge": JUDGE.read_text(encoding="utf-8"), "exercises": known})


def notebook() -> NotebookNode:
    """Return the notebook."""
    known = json.dumps({one.name: one.data for one in exercises()})
    setup = SETUP.format(judge=JUDGE.read_text(encoding="utf-8"), known=known)
    hidden = {"jupyter": {"source_hidden": True}}
    cells = [v4.new_markdown_cell(FIRST), v4.new_code_cell(setup, metadata=hidden)]
    for group in GROUPS:
        about = ABOUT[group]
        cells.append(v4.new_markdown_cell(f"# {about.title}\n\n{about.lead}"))
        for one in exercises_in(group):
            cells.extend(_cells(one))
    for number, cell in enumerate(cells):
        cell["id"] = f"cell-{number}"  # random by default
    kernel = {"name": "python3", "display_name": "Python 3", "language": "python"}
    made: NotebookNode = v4.new_notebook(cells=cells, metadata={"kernelspec": kernel})
    return made


def _cells(one: Exercise) -> Iterator[NotebookNode]:
    """Yield the cells of an exercise: statement, helpers, starter, check, hints and solution."""
    yield v4.new_markdown_cell(f"## {one.title}\n\n{_plain_text(one.statement)}")
    if one.given:
        yield v4.new_code_cell(one.given.rstrip("\n"))
    yield v4.new_code_cell(one.starter.rstrip("\n"), metadata={"exercise": one.name})
    yield v4.new_code_cell(f'check("{one.name}")')
    folds = [(f"Hint {n}", _plain_text(hint)) for n, hint in enumerate(one.hints, 1)]
    folds.append(("Solution", f"```python\n{one.solution}```"))
    yield v4.new_markdown_cell("\n\n".join(map(_fold, *zip(*folds, strict=True))))


def _plain_text(text: str) -> str:
    """Return Markdown without the page language and without links to other pages."""
    return LINK.sub(r"\g<words>", prose(plain(text))).strip()


def _fold(words: str, inside: str) -> str:
    return f"<details><summary>{words}</summary>\n\n{inside}\n\n</details>"
