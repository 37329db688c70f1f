"""Each chapter as a notebook: its prose, its sessions as cells, and the outputs on the page.

mkdocs calls `on_files` before it builds, so a notebook, such as `assets/built/build-it.ipynb`,
always matches its page. Nothing is run here: the outputs are those of the page, which its check
compares. `tests/site/test_notebook.py` runs the notebooks and compares them again.

The first page of a chapter links its notebook (theme/partials/content.html), and where a page says
`<!-- notebooks -->`, it links all of them. Colab opens notebooks from a repository on GitHub alone:
whoever publishes them there sets COLAB_URL, as `colab` in mkdocs.yml, to the address at which Colab
opens that folder. Without it the links download the notebooks.
"""

from __future__ import annotations

import ast
import re
from base64 import b64encode
from collections.abc import Iterator

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page
from nbformat import NotebookNode, v4, writes

from scripts.book import pages
from scripts.book.chapters import Chapter, chapters, whole_text
from scripts.book.data import front_matter
from scripts.book.sessions import FENCE, PROMPTS, TRACEBACK, Session, sessions
from scripts.book.text import spans
from scripts.site.install_lines import with_wheel_address
from scripts.site.notebook_pictures import pictures
from scripts.site.plain_markdown import FIGURE, hide_code, plain, prose, restore_code

FOLDER = "assets/built/"
MARK = "<!-- notebooks -->"

FIRST = """\
This notebook is a chapter of the book that comes with `posenc`: the same words and the same code,
with the outputs that the page prints. It needs Python 3.11 or newer, and the package with PyTorch:

```sh
python -m pip install "posenc[nn] @ posenc.whl"
```

or, in the source of the book, which its site has, `python -m pip install ".[nn]"`. Run it from top
to bottom; where a cell ends in an error, the error is what it shows. The book has the other
chapters, and a reference of every function."""

LINK = re.compile(r"(?<!!)\[(?P<words>[^\[\]]+)\](?:\((?!https?:|attachment:)[^)]*\)|\[[^\[\]]*\])")
ATTACHED = re.compile(r"\(attachment:([\w-]+)\.png\)")
HEADING = re.compile(r"^(?=#{1,6} )", re.M)


def on_files(files: Files, *, config: MkDocsConfig) -> Files:
    """Add the notebooks to the files of the site."""
    for chapter in numbered_chapters():
        if files.get_file_from_path(chapter.first):
            text = writes(notebook(whole_text(chapter)))
            made = with_wheel_address(text, config.site_url)
            files.append(File.generated(config, FOLDER + file_name(chapter), content=made))
    return files


def on_page_markdown(markdown: str, *, page: Page, config: MkDocsConfig, **about: object) -> str:
    """Return a page with links to all notebooks where it asks for them.

    Add the notebook of a chapter to the metadata of its first page.
    """
    for chapter in numbered_chapters():
        if page.file.src_uri == chapter.first:
            page.meta["notebook"] = {
                "name": file_name(chapter),
                "colab": colab_address(chapter, config.extra.get("colab", "")),
            }
    return (
        markdown.replace(MARK, offer(config.extra.get("colab", "")))
        if MARK in markdown
        else markdown
    )


def numbered_chapters() -> list[Chapter]:
    """Return the chapters that have a number and sessions, in order."""
    here = (each for each in chapters() if all(map(pages.exists, each.pages)))
    written = (each for each in here if each.first not in pages.MADE)
    numbered = (each for each in written if "chapter" in front_matter(pages.text(each.first)))
    return [each for each in numbered if any(map(has_session, each.pages))]


def has_session(path: str) -> bool:
    """Return whether a page has a session."""
    return next(iter(sessions(pages.text(path))), None) is not None


def file_name(chapter: Chapter) -> str:
    """Return the name of a chapter's notebook."""
    return f"{chapter.name}.ipynb"


def colab_address(chapter: Chapter, folder: str) -> str:
    """Return the address at which Colab opens a chapter; none if it does not know the folder."""
    return f"{folder.rstrip('/')}/{file_name(chapter)}" if folder else ""


def offer(colab: str) -> str:
    """Return a sentence that links the notebooks, and opens them in Colab if it knows them."""
    found = numbered_chapters()
    names = [pages.title(each.first) for each in found]
    files = [
        f'[{name}]({FOLDER}{file_name(each)}){{ download="{file_name(each)}" }}'
        for name, each in zip(names, found, strict=True)
    ]
    sentence = f"Each chapter is also a Jupyter notebook to download: {', '.join(files)}."
    if not colab:
        return sentence
    opened = [
        f"[{name}]({colab_address(each, colab)})" for name, each in zip(names, found, strict=True)
    ]
    return f"{sentence} To run one in Google Colab, open {', '.join(opened)}."


def notebook(text: str) -> NotebookNode:
    """Return a page, or a whole chapter, as a notebook."""
    cells = [v4.new_markdown_cell(FIRST), *_cells(plain(text))]
    _attach(cells)
    for number, cell in enumerate(cells):
        cell["id"] = f"cell-{number}"  # random by default
    counted = (cell for cell in cells if cell.cell_type == "code")
    for count, cell in enumerate(counted, 1):
        cell.execution_count = count
        for output in cell.outputs:
            if output.output_type == "execute_result":
                output.execution_count = count
    kernel = {"name": "python3", "display_name": "Python 3", "language": "python"}
    about = {"kernelspec": kernel, "language_info": {"name": "python"}}
    made: NotebookNode = v4.new_notebook(cells=cells, metadata=about)
    return made


def _cells(text: str) -> Iterator[NotebookNode]:
    """Yield the cells of a plain page: the prose before each session, then the session."""
    place = 0
    for span in spans(text):
        fence = FENCE.match(text, span.start, span.end) if span.kind == "fence" else None
        if fence and fence["language"] in PROMPTS:
            yield from _words(text[place : span.start])
            yield from _code(text[span.start : span.end])
            place = span.end
    yield from _words(text[place:])


def _words(text: str) -> Iterator[NotebookNode]:
    """Yield a cell for each heading with its text, leaving code and mathematics unchanged."""
    marked, pieces = hide_code(text)
    for part in HEADING.split(_prose(marked)):
        words = restore_code(part, pieces).strip()
        if words:
            yield v4.new_markdown_cell(words)


def _prose(text: str) -> str:
    """Return prose with its figures as attachments, and without links to other pages."""
    text = FIGURE.sub(r"![\g<words>](attachment:\g<stem>.png)", text)
    return prose(LINK.sub(r"\g<words>", text))


def _attach(cells: list[NotebookNode]) -> None:
    """Attach to each cell the pictures that it shows."""
    stems = [ATTACHED.findall(cell.source) for cell in cells]
    drawn = pictures(stem for some in stems for stem in some)
    for cell, shown in zip(cells, stems, strict=True):
        if shown:
            encoded = {f"{stem}.png": b64encode(drawn[stem]).decode() for stem in shown}
            cell["attachments"] = {name: {"image/png": code} for name, code in encoded.items()}


def _code(fence: str) -> Iterator[NotebookNode]:
    """Yield a cell for each output of a fence, and one for the statements after the last."""
    typed: list[str] = []
    for session in sessions(fence):
        typed.append(_cell_source(session))
        if outputs := _outputs(session):
            cell = v4.new_code_cell("\n".join(typed).strip(), outputs=outputs)
            if outputs[-1].output_type == "error":  # intended, so execution continues
                cell.metadata["tags"] = ["raises-exception"]
            yield cell
            typed = []
    if typed:
        yield v4.new_code_cell("\n".join(typed).strip())


def _cell_source(session: Session) -> str:
    """Return a statement as a cell has it, with an empty line after a definition."""
    typed = session.source.rstrip("\n")
    if session.language == "console":
        return typed.replace("python ", "%run ", 1)
    return f"{typed}\n" if "\n    " in typed else typed


def _outputs(session: Session) -> list[NotebookNode]:
    """Return what a statement printed, then its value or its error."""
    text, raised, error = session.printed.partition(TRACEBACK)
    if not raised and _is_value(session):
        return [v4.new_output("execute_result", {"text/plain": text.rstrip("\n")})] if text else []
    streams = [v4.new_output("stream", text=text)] if text else []
    if not raised:
        return streams
    name, _, value = error.strip().removeprefix("...").strip().partition(": ")
    trace = [session.printed.rstrip("\n")]
    return [*streams, v4.new_output("error", ename=name, evalue=value, traceback=trace)]


def _is_value(session: Session) -> bool:
    """Return whether the output of a statement is its value, and not printed text."""
    match ast.parse(session.source).body if session.language == "pycon" else []:
        case [ast.Expr(value=ast.Call(func=ast.Name(id="print")))]:
            return False
        case [ast.Expr()]:
            return True
    return False
