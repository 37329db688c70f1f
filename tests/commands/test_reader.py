"""What a reader runs needs the extra `docs` and nothing more.

The site that all other tests open is built in the same environment (tests/site/served.py), and
`scripts/setup/reader.py` runs the commands themselves in a fresh clone.
"""

from __future__ import annotations

import inspect
import subprocess
import time
from pathlib import Path

import pytest

from scripts import ROOT
from scripts.figures import scripts
from scripts.setup import reader
from scripts.site import serve
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


def serving(said: str, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Run `make serve` where it only says something, after which each page answers once."""
    (folder / "Makefile").write_text(f"serve:\n\t@echo '{said}'; exec sleep 60\n")
    log, answered = folder / "log", set[str]()

    def answers(address: str) -> bool:
        while said not in reader.read(log):
            time.sleep(0.01)
        assert address not in answered
        answered.add(address)
        return said == reader.UP_TO_DATE

    monkeypatch.setattr(reader, "answers", answers)
    reader.serve("serve", 8000, folder, log)


def test_reader_waits_until_the_book_is_up_to_date(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    serving(reader.UP_TO_DATE, tmp_path, monkeypatch)
    said = capsys.readouterr().out
    assert said.index("serve: http") < said.index("serve: up to date")


def test_reader_fails_when_the_book_cannot_be_built(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(SystemExit, match="serve: FAILED"):
        serving(reader.NOT_BUILT, tmp_path, monkeypatch)


def test_reader_knows_what_the_server_says() -> None:
    code = inspect.getsource(serve.Server)
    assert f'"{reader.UP_TO_DATE}"' in code
    assert f'"{reader.NOT_BUILT} ' in code


def test_reader_restores_the_module_that_it_changes(tmp_path: Path) -> None:
    module = tmp_path / "module.py"
    module.write_bytes(b"one = 1\r\n")
    with pytest.raises(SystemExit), reader.changed(module):
        assert module.read_bytes() == b"one = 1\r\n# changed\n"
        raise SystemExit
    assert module.read_bytes() == b"one = 1\r\n"


@pytest.mark.parametrize("path", ["", None])
def test_reader_says_in_a_sentence_that_there_is_no_clone(
    path: str | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if path is not None:  # on which there is no git
        monkeypatch.setenv("PATH", path)
    monkeypatch.setattr(reader, "ROOT", tmp_path)  # which is no checkout
    with pytest.raises(SystemExit, match=r"git cannot clone .*; `--here`"):
        reader.clone(tmp_path / "clone")
