"""What a reader runs needs the extra `docs` and nothing more.

The site that all other tests open is built in the same environment (tests/site/served.py), and
`scripts/setup/reader.py` runs the commands themselves in a fresh clone.
"""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from scripts import ROOT
from scripts.figures import scripts
from tests.linked_environment import linked_environment

# mkdocs.yml names the hooks, the plugins and the extensions; loading it imports them.
SITE = "from mkdocs.config import load_config; load_config('mkdocs.yml')"
ROOMS = ("scripts.site", "scripts.figures", "scripts.pyodide")


@pytest.fixture(scope="module")
def python(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the Python of an environment with the extra `docs` alone."""
    return linked_environment(tmp_path_factory.mktemp("reader") / "docs", "posenc[docs]")


def run(python: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    command = [str(python), *arguments]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)


def modules(room: str) -> list[str]:
    """Return the modules of a room."""
    files = sorted((ROOT / room.replace(".", "/")).glob("*.py"))
    return [f"{room}.{path.stem}" for path in files if path.stem != "__init__"]


@pytest.mark.slow
def test_everything_that_builds_serves_and_draws_is_imported_with_the_docs_extra_alone(
    python: Path,
) -> None:
    named = [name for room in ROOMS for name in modules(room)]
    assert {f"scripts.figures.{path.stem}" for path in scripts()} < {*named}
    done = run(python, "-c", "\n".join([SITE, *(f"import {name}" for name in named)]))
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("name", ["sybil", "pytest", "torch", "playwright"])
def test_the_packages_of_the_tests_are_not_there(python: Path, name: str) -> None:
    done = run(python, "-c", f"import {name}")
    assert f"No module named '{name}'" in done.stderr


@pytest.mark.slow
def test_updating_pages_names_what_it_needs(python: Path) -> None:
    done = run(python, "-m", "scripts.book.update", "README.md")
    said = "Pages need torch: pip install -c constraints.txt -e '.[docs,test]'"
    assert (done.returncode, done.stderr.strip()) == (1, said)
