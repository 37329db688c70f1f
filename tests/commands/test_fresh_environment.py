"""With nothing but the package and pytest installed, its tests run or name what is missing."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest

from scripts import ROOT
from tests.linked_environment import linked_environment


@pytest.fixture(scope="module")
def python(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the Python of an environment with the package and pytest."""
    return linked_environment(tmp_path_factory.mktemp("fresh") / "bare", "posenc", "pytest")


def pytest_in(python: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    command = [str(python), "-m", "pytest", "-p", "no:cacheprovider", *arguments]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)


@pytest.mark.slow
def test_numpy_examples_pass_and_torch_is_named_as_missing(python: Path) -> None:
    done = pytest_in(python, "--doctest-modules", "posenc")
    folders = ("diagnose", "nn")
    modules = [path for folder in folders for path in (ROOT / "posenc" / folder).glob("*.py")]
    modules.append(ROOT / "posenc" / "_tensor_arguments.py")
    assert done.returncode == 0, done.stdout + done.stderr
    assert f"SKIPPED [{len(modules)}]" in done.stdout
    assert "posenc.nn needs torch: pip install '.[nn]'" in done.stdout
    assert int(re.search(r"(\d+) passed", done.stdout)[1]) > 30  # type: ignore[index]


@pytest.mark.slow
def test_checking_a_page_names_the_missing_packages(python: Path) -> None:
    done = pytest_in(python, "README.md")
    assert "pages need sybil: pip install -c constraints.txt -e '.[docs,test]'" in done.stdout
