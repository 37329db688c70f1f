"""With nothing but the package and pytest installed, its tests run or name what is missing."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from scripts import DOCS, ROOT
from scripts.setup.environment import UNREACHABLE

CHECKOUT = ("LICENSE", "README.md", "conftest.py", "posenc", "pyproject.toml", "scripts")
# As a URL: pip would split a path at its spaces.
PINNED = os.environ | {"PIP_CONSTRAINT": (ROOT / "constraints.txt").as_uri()}


@pytest.fixture(scope="module")
def checkout(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a copy of the checkout with `.venv`, into which `. pytest` has been installed."""
    copy = tmp_path_factory.mktemp("fresh") / "checkout"
    copy.mkdir()
    for name in CHECKOUT:
        path = ROOT / name
        (shutil.copytree if path.is_dir() else shutil.copy)(path, copy / name)
    shutil.copytree(DOCS / "vectors", copy / "docs" / "vectors")
    run(copy, sys.executable, "-m", "venv", ".venv")
    installed = run(copy, ".venv/bin/pip", "install", "--retries", "1", ".", "pytest")
    if installed.returncode and UNREACHABLE.search(installed.stderr):
        pytest.skip("no package index could be reached to fill a fresh environment")
    assert installed.returncode == 0, installed.stderr
    return copy


def run(folder: Path, *command: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        command, cwd=folder, env=PINNED, capture_output=True, text=True, check=False
    )


@pytest.mark.slow
def test_numpy_examples_pass_and_torch_is_named_as_missing(checkout: Path) -> None:
    done = run(checkout, ".venv/bin/pytest", "--doctest-modules", "posenc")
    modules = [
        *(
            path
            for folder in ("diagnose", "nn")
            for path in (checkout / "posenc" / folder).glob("*.py")
        ),
        checkout / "posenc" / "_tensor_arguments.py",
    ]
    assert done.returncode == 0, done.stdout + done.stderr
    assert f"SKIPPED [{len(modules)}]" in done.stdout
    assert "posenc.nn needs torch: pip install '.[nn]'" in done.stdout
    assert int(re.search(r"(\d+) passed", done.stdout)[1]) > 30  # type: ignore[index]


def test_checking_a_page_names_the_missing_packages(checkout: Path) -> None:
    done = run(checkout, ".venv/bin/pytest", "README.md")
    assert "pages need sybil: pip install -c constraints.txt -e '.[docs,test]'" in done.stdout
