"""`python -m posenc` prints the worked example and the three similarities, and nothing else."""

from __future__ import annotations

import re
import runpy
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from posenc import similarity, sinusoidal_encoding

pytestmark = pytest.mark.filterwarnings("error")

ROOT = Path(__file__).resolve().parents[1]


@pytest.fixture(autouse=True)
def afresh(monkeypatch: pytest.MonkeyPatch) -> None:
    """Forget the module, should anybody have imported it: runpy warns where it was."""
    monkeypatch.delitem(sys.modules, "posenc.__main__", raising=False)


@pytest.fixture
def printed(capsys: pytest.CaptureFixture[str]) -> str:
    """Return what the demonstration prints."""
    runpy.run_module("posenc", run_name="__main__")
    return capsys.readouterr().out


def numbers(text: str) -> list[float]:
    """Return every decimal number in a text, in order."""
    return [float(found) for found in re.findall(r"-?\d+\.\d+", text)]


def test_the_demonstration_shows_four_positions_in_eight_dimensions(printed: str) -> None:
    table = np.array(numbers(printed)[:32]).reshape(4, 8)
    np.testing.assert_array_equal(table, sinusoidal_encoding(4, 8).round(3))
    assert table[1, :3].tolist() == [0.841, 0.540, 0.100]


def test_the_demonstration_shows_the_range_and_the_length_of_the_rows(printed: str) -> None:
    assert "between -0.990 and 1.000" in printed
    assert "length 2.000" in printed


def test_the_demonstration_shows_how_alike_positions_are(printed: str) -> None:
    shown = dict(re.findall(r"^(\d+) apart: (-?\d+\.\d{3})$", printed, re.MULTILINE))
    assert shown == {"1": "0.970", "5": "0.737", "9": "0.689"}
    assert shown == {lag: f"{similarity(int(lag), 128):.3f}" for lag in shown}


def test_the_command_ends_well_and_says_nothing_on_stderr(printed: str) -> None:
    command = [sys.executable, "-W", "error", "-m", "posenc"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == printed


def test_importing_the_demonstration_prints_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    runpy.run_module("posenc.__main__", run_name="imported")
    assert capsys.readouterr().out == ""
