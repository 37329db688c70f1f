"""The pages whose sources have changed and are not shared yet, which `make quick` checks.

    python -m scripts.book.changed     prints them, one per line

A page's sources are its text, its settings, the figures and the data that it names, the modules of
the package that it documents or embeds, and the rooms of `scripts/` that it names. The sources of a
page that is made from data are the data, and its test is printed. A change of anything else that
pages rest on is reported on standard error: `make test` checks them all.
"""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Collection, Iterator
from pathlib import Path

from scripts import DATA, DOCS, ROOT
from scripts.book import pages
from scripts.book.settings import FOLDER as SETTINGS

# What a page documents, and what it embeds.
SHOWN = re.compile(r"^ *(?::::|--src--) ([\w.]+)", re.M)

# How a page names what stands in docs/data/.
NAMED = {
    "bench.json": "scripts.bench",
    "facts.yml": "fact(",
    "lighthouse.json": "scripts.site.lighthouse",
    "measure": "measurement(",
}
TEST = "tests/book/test_made_pages.py::test_a_made_page_has_no_problem"

# What may change pages that do not name it.
SHARED = ("posenc", "docs/data", "scripts/book", "scripts/__init__.py", "mkdocs.yml")


def changed(root: Path = ROOT) -> set[Path]:
    """Return the files, relative to the root, that differ from the last commit that is shared.

    That is where the branch left its upstream or `origin/main`, or else the last commit.

    Raises:
        subprocess.CalledProcessError: The root is not in a git repository, or nothing is committed.
    """
    forks = (_git(root, "merge-base", "HEAD", other) for other in ("@{upstream}", "origin/main"))
    base = next((fork.stdout.strip() for fork in forks if not fork.returncode), "HEAD")
    edited = _git(root, "diff", "--name-only", "--no-renames", "--relative", "-z", base)
    edited.check_returncode()
    new = _git(root, "ls-files", "--others", "--exclude-standard", "-z")
    return {Path(name) for name in (edited.stdout + new.stdout).split("\0") if name}


def _git(root: Path, *words: str) -> subprocess.CompletedProcess[str]:
    """Run a git command and return what it prints."""
    command = ["git", *words]
    return subprocess.run(command, cwd=root, capture_output=True, encoding="utf-8", check=False)


def outdated_pages(files: Collection[Path]) -> Iterator[str]:
    """Yield what pytest calls the pages of which one of these files is a source."""
    for name in ("README.md", *(f"docs/{page}" for page in pages.written_pages())):
        text = (ROOT / name).read_text(encoding="utf-8")
        if any(is_source(file, name, text) for file in files):
            yield name
    for page, entry in pages.MADE.items():
        if any(entry.rests_on(file) for file in files):
            yield f"{TEST}[{page}]"


def is_source(file: Path, page: str, text: str) -> bool:
    """Return whether a file is a source of a written page; both are relative to the checkout."""
    path = ROOT / file
    if file.as_posix() == page:
        return True
    if path.is_relative_to(SETTINGS):
        return page == f"docs/{path.relative_to(SETTINGS).with_suffix('.md').as_posix()}"
    if path.is_relative_to(DATA):
        kind = path.relative_to(DATA).parts[0]
        return kind in NAMED and NAMED[kind] in text
    if file.parts[0] == "scripts":
        return len(file.parts) > 2 and f"scripts.{file.parts[1]}" in text
    if path.is_relative_to(DOCS):
        return path.suffix != ".md" and path.name in text
    return bool(module(file)) and page_shows(text, module(file))


def module(path: Path) -> str:
    """Return the dotted name of a module of the package, or nothing for any other file."""
    inside = path.parts[0] == "posenc" and path.suffix == ".py"
    return ".".join(path.with_suffix("").parts).removesuffix(".__init__") if inside else ""


def page_shows(text: str, name: str) -> bool:
    """Return whether a page documents or embeds a module, or something in it."""
    return any(f"{symbol}.".startswith(f"{name}.") for symbol in SHOWN.findall(text))


def is_shared(file: Path) -> bool:
    """Return whether pages that do not name a file, relative to the checkout, may rest on it."""
    if (ROOT / file).is_relative_to(SETTINGS):
        return False
    return any(file.is_relative_to(place) for place in SHARED)


def main() -> None:
    """Print the pages, and which changes may show on others too."""
    try:
        files = sorted(changed())
    except (OSError, subprocess.CalledProcessError):
        print("No page is checked: git does not say what has changed.", file=sys.stderr)
        return
    for page in outdated_pages(files):
        print(page)
    shared = [file.as_posix() for file in files if is_shared(file)]
    if shared:
        advice = "Other pages may rest on these changes; `make test` checks them:"
        print(advice, *shared, sep="\n  ", file=sys.stderr)


if __name__ == "__main__":
    main()
