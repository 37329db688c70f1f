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


def say(command: str, folder: Path) -> None:
    """Let `make serve` run a command there and go on."""
    (folder / "Makefile").write_text(f"serve:\n\t@{command}; exec sleep 60\n")


def test_reader_waits_until_the_book_is_up_to_date(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    built, waiting = tmp_path / "built", [*reader.PAGES]

    def answers(address: str) -> bool:
        assert address.endswith(waiting.pop(0))
        if not waiting:
            built.touch()
        return True

    monkeypatch.setattr(reader, "answers", answers)
    say(f"until [ -e built ]; do sleep 0.1; done; echo {reader.UP_TO_DATE}", tmp_path)
    reader.serve("serve", 8000, tmp_path, tmp_path / "log")
    assert reader.UP_TO_DATE in reader.read(tmp_path / "log")
    said = capsys.readouterr().out
    assert said.count("serve: http") == len(reader.PAGES)
    assert said.strip().splitlines()[-1].startswith("serve: up to date after ")


def test_reader_fails_when_the_book_cannot_be_built(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    log, calls = tmp_path / "log", list[str]()

    def answers(address: str) -> bool:
        while reader.NOT_BUILT not in reader.read(log):
            time.sleep(0.01)
        calls.append(address)
        assert len(calls) == 1
        return False

    monkeypatch.setattr(reader, "answers", answers)
    say(f"echo {reader.NOT_BUILT}", tmp_path)
    with pytest.raises(SystemExit, match="serve: FAILED"):
        reader.serve("serve", 8000, tmp_path, log)


def test_reader_knows_what_the_server_says() -> None:
    code = inspect.getsource(serve.report)
    assert f'"{reader.UP_TO_DATE}"' in code
    assert f'"{reader.NOT_BUILT} ' in code


def test_reader_restores_the_module_that_it_changes(tmp_path: Path) -> None:
    module = tmp_path / "module.py"
    module.write_bytes(b"one = 1\r\n")
    with pytest.raises(SystemExit), reader.with_comment(module):
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
