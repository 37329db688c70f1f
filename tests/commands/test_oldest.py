"""The package is tested with the oldest numpy that pyproject.toml allows, installed once."""

from __future__ import annotations

from pathlib import Path
from subprocess import CompletedProcess
from typing import Any

import pytest

from scripts.setup import oldest


@pytest.fixture
def commands(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[tuple[list[str], Any]]:
    """Use a folder of our own; return each command that would have been run, with PYTHONPATH."""
    commands: list[tuple[list[str], Any]] = []

    def run(command: list[str], **given: Any) -> CompletedProcess[str]:
        commands.append((command, given.get("env", {}).get("PYTHONPATH")))
        (oldest.FOLDER / "numpy-2.0.0.dist-info").mkdir(parents=True, exist_ok=True)
        return CompletedProcess(command, returncode=0)

    monkeypatch.setattr(oldest, "FOLDER", tmp_path / "oldest")
    monkeypatch.setattr("subprocess.run", run)
    return commands


def test_the_tests_run_with_the_oldest_numpy_which_is_installed_once(
    commands: list[tuple[list[str], Any]],
) -> None:
    assert oldest.main() == oldest.main() == 0
    (install, _), *tests = commands
    assert install[-3:] == ["--target", str(oldest.FOLDER), "numpy==2.0.0"]
    assert len(tests) == 2
    for command, path in tests:
        assert command[1:4] == ["-m", "pytest", "tests/package"]
        assert path == str(oldest.FOLDER)


@pytest.mark.parametrize(("ci", "status"), [("true", 1), ("", 0)])
def test_without_that_numpy_it_is_an_error_in_ci_only(
    ci: str,
    status: int,
    commands: list[tuple[list[str], Any]],
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setenv("CI", ci)
    monkeypatch.setattr(oldest, "NO_WHEELS", (99,))  # Pythons younger than that numpy are excused
    monkeypatch.setattr("subprocess.run", lambda *given, **_: CompletedProcess(given, returncode=1))
    assert oldest.main() == status
    assert "no test was run" in capsys.readouterr().err


def test_failed_tests_are_the_status(
    commands: list[tuple[list[str], Any]], monkeypatch: pytest.MonkeyPatch
) -> None:
    oldest.main()
    monkeypatch.setattr("subprocess.run", lambda *given, **_: CompletedProcess(given, returncode=1))
    assert oldest.main() == 1
