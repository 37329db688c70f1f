"""The pages whose sources have changed and are not shared yet, which `make quick` checks.

    python -m scripts.book.changed     prints them, one per line

A page's sources are its text, its settings, the figures and the data that it names, the modules of
the package that it documents or embeds, and the rooms of `scripts/` that it names. A change of
anything else that pages rest on is reported on standard error: `make test` checks them all.
"""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

from scripts import DATA, DOCS, ROOT
from scripts.book.ledger import PAGE as LEDGER
from scripts.book.settings import FOLDER as SETTINGS
from scripts.book.sourcemap import PAGE as SOURCEMAP

# What a page documents, and what it embeds.
SHOWN = re.compile(r"^ *(?::::|--src--) ([\w.]+)", re.M)

# How a page names what stands in docs/data/; two pages are made from data altogether.
NAMED = {
    "bench.json": "scripts.bench",
    "facts.yml": "fact(",
    "lighthouse.json": "scripts.lighthouse",
    "measure": "measurement(",
}
MADE = {"claims": LEDGER, "sources": SOURCEMAP}

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


def is_source(file: Path, page: Path, text: str) -> bool:
    """Return whether a file, relative to the checkout, is a source of a page with this text."""
    path = ROOT / file
    if path == page:
        return True
    if path.is_relative_to(SETTINGS):
        return page.is_relative_to(DOCS) and path == settings_of(page)
    if path.is_relative_to(DATA):
        kind = path.relative_to(DATA).parts[0]
        return MADE.get(kind) == page or (kind in NAMED and NAMED[kind] in text)
    if file.parts[0] == "scripts":
        return len(file.parts) > 2 and f"scripts.{file.parts[1]}" in text
    if path.is_relative_to(DOCS):
        return path.suffix != ".md" and path.name in text
    return bool(module(file)) and shows(text, module(file))


def settings_of(page: Path) -> Path:
    """Return the file of a page's settings."""
    return SETTINGS / page.relative_to(DOCS).with_suffix(".tsv")


def module(path: Path) -> str:
    """Return the dotted name of a module of the package, or nothing for any other file."""
    inside = path.parts[0] == "posenc" and path.suffix == ".py"
    return ".".join(path.with_suffix("").parts).removesuffix(".__init__") if inside else ""


def shows(text: str, name: str) -> bool:
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
    for page in [ROOT / "README.md", *sorted(DOCS.rglob("*.md"))]:
        text = page.read_text(encoding="utf-8")
        if any(is_source(file, page, text) for file in files):
            print(page.relative_to(ROOT))
    shared = [file.as_posix() for file in files if is_shared(file)]
    if shared:
        said = "Other pages may rest on these changes; `make test` checks them:"
        print(said, *shared, sep="\n  ", file=sys.stderr)


if __name__ == "__main__":
    main()
