"""What a command prints ends well, whoever reads it."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from posenc.__main__ import main
from posenc._console import FAILED, UNREAD, status_after_flush

# Standard output is replaced in the tests themselves, since pytest captures it anew for each.
posix = pytest.mark.skipif(os.name != "posix", reason="Windows has no such pipes")


def pipe_without_reader() -> int:
    reading, writing = os.pipe()
    os.close(reading)
    return writing


def greet() -> int:
    print("good morning")
    return 0


@posix
def test_a_command_without_a_reader_ends_without_a_word(
    capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    with os.fdopen(pipe_without_reader(), "w", encoding="utf-8") as unread:
        monkeypatch.setattr("sys.stdout", unread)
        assert status_after_flush(greet) == UNREAD
    assert capfd.readouterr() == ("", "")


@posix
def test_a_reader_that_goes_while_vectors_are_listed_is_no_fault_of_theirs(
    capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    with os.fdopen(pipe_without_reader(), "w", buffering=1, encoding="utf-8") as unread:
        monkeypatch.setattr("sys.stdout", unread)
        assert main(["vectors", "list"]) == UNREAD
    assert capfd.readouterr() == ("", "")


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="/dev/full is Linux's")
def test_a_full_disk_is_named(
    capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    with Path("/dev/full").open("w", encoding="utf-8") as full:
        monkeypatch.setattr("sys.stdout", full)
        assert status_after_flush(greet) == FAILED
    assert "No space left on device" in capfd.readouterr().err
