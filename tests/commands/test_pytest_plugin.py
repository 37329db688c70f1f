"""`pytest --posenc-vectors`: a test for each test vector, in a project of its own."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from posenc.vectors import load
from scripts import DOCS, ROOT

FUNCTIONS = """\
from posenc import swin_index
from posenc.vectors import UnsupportedError

def index(window):
    if window == 2:
        return [[7]]
    if window == 5:
        raise UnsupportedError("too large")
    return swin_index(max(int(window), 1))

functions = {"swin": index}
"""


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """Return a folder with a test of its own, and functions of which one is wrong for one case."""
    (tmp_path / "ours.py").write_text(FUNCTIONS, "utf-8")
    (tmp_path / "test_ours.py").write_text("def test_ours():\n    pass\n", "utf-8")
    (tmp_path / "pytest.ini").write_text("[pytest]\n", "utf-8")
    return tmp_path


def pytest_in(project: Path, *options: str) -> tuple[int, str]:
    """Return the status and the output of pytest in a folder, with this plugin alone."""
    environment = {key: os.environ[key] for key in ("PATH", "HOME") if key in os.environ}
    environment |= {"PYTHONPATH": str(ROOT), "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
    command = [sys.executable, "-m", "pytest", "-p", "posenc_pytest", "-rA", *options]
    done = subprocess.run(command, cwd=project, env=environment, capture_output=True, text=True)
    return done.returncode, done.stdout + done.stderr


def counted(output: str) -> dict[str, int]:
    """Return how many tests had each result."""
    last = output.strip().splitlines()[-1]
    return {kind: int(count) for count, kind in re.findall(r"(\d+) (\w+)", last) if kind != "in"}


def test_each_case_is_a_test_and_fails_alone(project: Path) -> None:
    status, output = pytest_in(project, "--posenc-vectors", "ours:functions")
    assert status == 1
    assert counted(output) == {"failed": 1, "passed": 4, "skipped": 4}
    assert "FAILED posenc-vectors::swin/window-002" in output
    assert "failed swin/window-002 must have 4 entries; got 1 entries" in output
    assert "One case: posenc vectors show swin/window-002" in output
    assert "unsupported: too large" in output
    assert "not refused: A window must have a whole number of patches" in output
    assert "Traceback" not in output


def test_a_known_difference_is_an_xfail_that_must_fail(project: Path) -> None:
    (project / "known.txt").write_text("swin/window-00[23]  # by design\n", "utf-8")
    options = ("--posenc-vectors", "ours:functions", "--posenc-known", "known.txt")
    status, output = pytest_in(project, *options)
    assert status == 1
    assert "XFAIL posenc-vectors::swin/window-002 - by design" in output
    assert "[XPASS(strict)] by design" in output
    (project / "known.txt").write_text("swin/window-002  # by design\n", "utf-8")
    status, output = pytest_in(project, *options)
    assert (status, counted(output)) == (0, {"passed": 4, "skipped": 4, "xfailed": 1})


def test_strict_fails_nonsense_that_is_answered(project: Path) -> None:
    options = ("--posenc-vectors", "ours:functions", "--posenc-strict", "-k", "refuse")
    status, output = pytest_in(project, *options)
    assert (status, counted(output)) == (1, {"failed": 3, "deselected": 6})


def test_a_run_in_which_no_case_is_answered_fails(project: Path) -> None:
    (project / "ours.py").write_text("functions = {'swin': lambda size: size}\n", "utf-8")
    status, output = pytest_in(project, "--posenc-vectors", "ours:functions", "-k", "window")
    assert (status, counted(output)) == (5, {"skipped": 5, "deselected": 4})
    assert "no test vector was answered" in output


def test_the_contract_is_chosen(project: Path) -> None:
    options = ("--posenc-vectors", "ours:functions", "--posenc-contract", "float16")
    assert "contract must be one of" in pytest_in(project, *options, "-k", "window-001")[1]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["ours"], "--posenc-vectors must be MODULE:NAME; got 'ours'"),
        (["nobodys:functions"], "--posenc-vectors nobodys:functions: No module named 'nobodys'"),
        (["ours:none"], "--posenc-vectors ours:none: module 'ours' has no attribute 'none'"),
        (["ours:index"], "must name a mapping from suites to functions; ours:index is a function"),
        (["ours:functions", "--posenc-known", "none.txt"], "No such file or directory"),
        (["ours:functions", "--posenc-known", "bad.txt"], "bad.txt:1: must give a reason after #"),
        (["ours:functions", "--posenc-known", "old.txt"], "that match no case: swan/x"),
    ],
)
def test_what_cannot_be_run_is_a_usage_error(
    options: list[str], message: str, project: Path
) -> None:
    (project / "bad.txt").write_text("swin/window-002\n", "utf-8")
    (project / "old.txt").write_text("swan/x # misspelt\n", "utf-8")
    status, output = pytest_in(project, "--posenc-vectors", *options)
    assert status == pytest.ExitCode.USAGE_ERROR
    assert message in output


@pytest.mark.parametrize("page", ["vectors/ci.md", "reference/vectors.md"])
@pytest.mark.parametrize(("right", "status"), [(True, 0), (False, 1)])
def test_the_example_for_pytest_passes_for_right_code(
    page: str, right: bool, status: int, project: Path
) -> None:
    text = (DOCS / page).read_text("utf-8")
    (code,) = re.findall(r"```python\n(import pytest\n.*?)```", text, re.S)
    own = "from posenc import alibi_slopes as my_slopes, t5_buckets as right\n\n"
    own += "def my_buckets(**given):\n    return right(**given)" + " + 1" * (not right)
    (project / "test_ours.py").write_text(f"{own}\n\n{code}", "utf-8")
    found, output = pytest_in(project)
    assert found == status, output
    assert counted(output)["passed"] >= (len(load("t5").cases) if right else 1)


def test_nothing_of_posenc_is_imported_without_the_option(project: Path) -> None:
    script = (
        "import sys\ndef test_modules():\n    assert not {'posenc', 'numpy'} & set(sys.modules)\n"
    )
    (project / "test_ours.py").write_text(script, "utf-8")
    assert pytest_in(project)[0] == 0


def test_the_plugin_is_found_by_pytest() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
    assert project["project"]["entry-points"]["pytest11"] == {"posenc_pytest": "posenc_pytest"}
    assert project["tool"]["setuptools"]["py-modules"] == ["posenc_pytest"]
    assert len(load("swin").cases) == 8  # as counted above
