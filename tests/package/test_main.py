"""`python -m posenc` prints the worked example and the three similarities, and nothing else.

`python -m posenc diagnose` prints a report about a model, and its exit status is the verdict.
"""

from __future__ import annotations

import contextlib
import io
import os
import re
import runpy
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from posenc import similarity, sinusoidal_encoding
from posenc.__main__ import main

pytestmark = pytest.mark.filterwarnings("error")

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(autouse=True)
def afresh(monkeypatch: pytest.MonkeyPatch) -> None:
    """Forget the module if it was imported, since runpy would warn, and clear sys.argv."""
    monkeypatch.delitem(sys.modules, "posenc.__main__", raising=False)
    monkeypatch.setattr(sys, "argv", ["posenc"])


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


def test_the_demonstration_shows_similarities_of_positions(printed: str) -> None:
    shown = dict(re.findall(r"^(\d+) apart: (-?\d+\.\d{3})$", printed, re.MULTILINE))
    assert shown == {"1": "0.970", "5": "0.737", "9": "0.689"}
    assert shown == {lag: f"{similarity(int(lag), 128):.3f}" for lag in shown}


def test_the_command_exits_with_0_and_an_empty_stderr(printed: str) -> None:
    command = [sys.executable, "-W", "error", "-m", "posenc"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == printed


def test_importing_the_demonstration_prints_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    runpy.run_module("posenc.__main__", run_name="imported")
    assert capsys.readouterr().out == ""


# The diagnosis

MODELS = """
import torch
from posenc import nn

CONFIG = dict(vocab_size=50, max_len=40, d_model=16, heads=2, layers=1)

def healthy():
    return nn.GPTModel(**CONFIG)

def rotary():
    return nn.GPTModel(**CONFIG, pos_type="rope")

def forgetful():
    return nn.GPTModel(**CONFIG, pos_type="none")

def encoder():
    layer = torch.nn.TransformerEncoderLayer(8, 2, 16, batch_first=True)
    return torch.nn.TransformerEncoder(layer, 1)

def with_example():
    return encoder(), torch.randn(1, 9, 8)

def channels_first():
    attend = torch.nn.Conv1d(8, 8, 3, padding=1)
    return torch.nn.Sequential(attend, torch.nn.GELU(), attend), torch.randn(1, 8, 20)

def failing():
    raise RuntimeError("no such\\n\\ncheckpoint")

def leaving():
    raise SystemExit("no such checkpoint")

def of(path):
    return healthy()

def loud():
    return nn.PositionalEmbedding(1000, 64, 32, "sinusoidal")

def layer():
    return nn.PositionalEmbedding(50, 40, 16)

instance = healthy()

class Zoo:
    small = staticmethod(healthy)
"""


@pytest.fixture
def diagnosed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Callable[..., tuple[int, str, str]]:
    """Return a function that runs the command in a folder with models.

    It returns status, stdout and stderr.
    """
    (tmp_path / "zoo_of_tests.py").write_text(MODELS, encoding="utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delitem(sys.modules, "zoo_of_tests", raising=False)

    def run(*arguments: str) -> tuple[int, str, str]:
        status = main(["diagnose", *arguments])
        return status, *capsys.readouterr()

    return run


Diagnosed = Callable[..., tuple[int, str, str]]


def test_a_healthy_model_gives_status_0_and_a_report(diagnosed: Diagnosed) -> None:
    status, said, wrong = diagnosed("zoo_of_tests:healthy")
    assert (status, wrong) == (0, "")
    assert said.startswith("GPTModel: ")
    assert said.endswith("0 ill, 0 undetermined, of 5 questions.\n")
    assert diagnosed("zoo_of_tests:Zoo.small")[0] == 0
    assert diagnosed("zoo_of_tests:instance")[0] == 0


def test_an_undetermined_answer_gives_status_2(diagnosed: Diagnosed) -> None:
    status, said, wrong = diagnosed("zoo_of_tests:layer")
    assert (status, wrong) == (2, "")
    assert said.endswith("0 ill, 1 undetermined, of 5 questions.\n"), said


def test_an_ill_model_gives_status_1_and_a_remedy(diagnosed: Diagnosed) -> None:
    status, said, wrong = diagnosed("zoo_of_tests:forgetful")
    assert (status, wrong) == (1, "")
    assert "[ ILL] Does it see order?\n       It does not see order. " in said
    assert "What helps: give it positions" in said
    assert diagnosed("zoo_of_tests:healthy", "--length", "41")[0] == 1


def test_a_text_longer_than_training_is_asked_about_where_its_length_is_given(
    diagnosed: Diagnosed,
) -> None:
    status, said, _ = diagnosed("zoo_of_tests:rotary", "--length", "80")
    assert (status, "Not asked. Say how many tokens" in said) == (0, True)
    asked = ("zoo_of_tests:rotary", "--length", "80", "--trained")
    status, said, _ = diagnosed(*asked, "40")
    assert status == 1
    assert "3 of 4 pairs meet angles that they were never trained on." in " ".join(said.split())
    assert said.endswith("1 ill, 0 undetermined, of 6 questions.\n")
    assert "base 10,000" in said
    assert "base 100," in diagnosed(*asked, "40", "--base", "100")[1]
    assert diagnosed(*asked, "80")[0] == 0
    status, _, wrong = diagnosed("zoo_of_tests:rotary", "--trained", "40")
    assert (status, "length must be given where trained is" in wrong) == (2, True)


def test_the_sequence_axis_can_be_given(diagnosed: Diagnosed) -> None:
    status, said, _ = diagnosed("zoo_of_tests:channels_first")
    assert (status, " ".join(said.split()).count("say axis=1, or axis=2")) == (2, 5)
    said = diagnosed("zoo_of_tests:channels_first", "--axis", "2")[1]
    assert ("It sees order" in said, "axis=1" in said) == (True, False)
    status, _, wrong = diagnosed("zoo_of_tests:channels_first", "--axis", "3")
    assert (status, "ValueError: axis must be below 3" in wrong) == (2, True)


def test_a_model_that_fails_gives_status_2_and_the_reason(diagnosed: Diagnosed) -> None:
    status, said, _ = diagnosed("zoo_of_tests:encoder")
    assert status == 2
    assert "an example of its input" in " ".join(said.split())
    assert diagnosed("zoo_of_tests:with_example")[0] == 1


@pytest.mark.parametrize(
    ("place", "why"),
    [
        ("zoo_of_tests", "must be given as module:callable; got 'zoo_of_tests'"),
        (":healthy", "must be given as module:callable"),
        ("no_such_zoo:healthy", "No module named 'no_such_zoo'"),
        ("zoo_of_tests:tiger", "no attribute 'tiger'"),
        ("zoo_of_tests:CONFIG", "CONFIG must be a function that returns a model; a dict is not"),
        ("zoo_of_tests:nn.GPTModel", "missing 5 required"),
        ("zoo_of_tests:of", "missing 1 required positional argument: 'path'"),
        ("zoo_of_tests:failing", "RuntimeError: no such checkpoint"),
        ("zoo_of_tests:leaving", "SystemExit: no such checkpoint"),
        ("builtins:dict", "model must be a torch.nn.Module; got {}"),
    ],
)
def test_a_bad_model_argument_gives_status_2_and_one_line(
    diagnosed: Diagnosed, place: str, why: str
) -> None:
    status, said, wrong = diagnosed(place)
    assert (status, said, wrong.count("\n")) == (2, "", 1)
    assert why in wrong


def test_without_torch_diagnose_says_what_is_missing(
    diagnosed: Diagnosed, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "torch", None)
    status, said, wrong = diagnosed("zoo_of_tests:healthy")
    assert (status, said) == (2, "")
    assert wrong == "posenc diagnose needs PyTorch, which is not installed: pip install torch\n"


def test_help_explains_the_exit_status(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["diagnose", "--help"])
    assert ended.value.code == 0
    said = " ".join(capsys.readouterr().out.split())
    assert (
        "0 if nothing is ill or undetermined, 1 if something is ill, 2 if nothing is ill but"
        in said
    )


@pytest.mark.slow
def test_the_exit_status_does_not_depend_on_the_consoles_encoding(
    tmp_path: Path,
) -> None:
    """A console that cannot show √ shows the rest."""
    (tmp_path / "zoo.py").write_text(MODELS, encoding="utf-8")
    command = [sys.executable, "-W", "error", "-m", "posenc", "diagnose", "zoo:loud"]
    path = {"PYTHONPATH": str(ROOT), **os.environ, "PYTHONIOENCODING": "cp1252"}
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, timeout=60, env=path)
    assert (done.returncode, done.stderr) == (1, b"")
    assert b"rows ?d_model = " in done.stdout


def test_the_report_may_be_printed_elsewhere(diagnosed: Diagnosed) -> None:
    elsewhere = io.StringIO()
    with contextlib.redirect_stdout(elsewhere):
        assert diagnosed("zoo_of_tests:healthy") == (0, "", "")
    assert elsewhere.getvalue().startswith("GPTModel: ")


def test_a_status_that_is_not_0_leaves_the_module(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "argv", ["posenc", "diagnose", "nowhere"])
    with pytest.raises(SystemExit) as ended:
        runpy.run_module("posenc", run_name="__main__")
    assert ended.value.code == 2
