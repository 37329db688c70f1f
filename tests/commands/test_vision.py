"""timm and torchvision are installed apart, once for each choice of versions."""

from __future__ import annotations

import sys
from pathlib import Path
from subprocess import CompletedProcess

import pytest

from scripts.setup import vision


@pytest.fixture
def commands(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[list[str]]:
    """Use a folder of our own, and return the commands that would have been run."""
    commands: list[list[str]] = []

    def run(command: list[str], *, check: bool) -> CompletedProcess[str]:
        commands.append(command)
        vision.FOLDER.mkdir(exist_ok=True)
        return CompletedProcess(command, returncode=0)

    monkeypatch.setattr(vision, "FOLDER", tmp_path / "vision")
    monkeypatch.setattr("subprocess.run", run)
    return commands


def test_both_are_installed_once_with_the_versions_of_the_constraints(
    commands: list[list[str]],
) -> None:
    assert [pin.partition("==")[0] for pin in vision.pins()] == list(vision.PACKAGES)
    assert vision.main() == vision.main() == 0
    (command,) = commands
    assert command[0] == sys.executable
    assert command[-4:] == ["--target", str(vision.FOLDER), *vision.pins()]
    assert "--no-deps" in command


def test_another_version_is_installed_over_the_old_one(
    commands: list[list[str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    vision.main()
    monkeypatch.setattr(vision, "pins", lambda: ["timm==2", "torchvision==1"])
    vision.main()
    assert [command[-2:] for command in commands][1:] == [["timm==2", "torchvision==1"]]


@pytest.mark.parametrize(("ci", "status"), [("true", 1), ("", 0)])
def test_without_a_network_it_is_an_error_in_ci_only(
    ci: str,
    status: int,
    commands: list[list[str]],
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setenv("CI", ci)
    monkeypatch.setattr("subprocess.run", lambda *given, **_: CompletedProcess(given, returncode=1))
    assert vision.main() == status
    assert "not installed" in capsys.readouterr().err
    assert not vision.FOLDER.exists()
