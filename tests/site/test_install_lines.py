"""Every installation command in the site works as written, in a fresh environment."""

from __future__ import annotations

import html
import json
import os
import re
import shlex
import shutil
import subprocess
import sysconfig
import venv
from collections.abc import Iterator
from pathlib import Path

import pytest

from scripts import ROOT
from scripts.site.source_archive import ARCHIVE, NAME
from tests.site.served import Site

LINE = re.compile(r"""\bpip install (?P<what>"[^"\n]+"|'[^'\n]+'|[^\s`<\\]+)""")
HERE = [".", '".[nn]"']  # in the source of the book
WHAT_IT_BRINGS = "import posenc; print(posenc.__file__); print(posenc.similarity(0, 4))"
WITH_TORCH = "import posenc.nn"


def lines(text: str) -> set[str]:
    """Return what the installation commands of a text install."""
    return {found["what"] for found in LINE.finditer(text)}


def installation_targets(site: Site) -> set[str]:
    """Return what the pages, their copies, the notebooks and the README say to install."""
    pages = [html.unescape(re.sub(r"<[^<>]+>", "", text)) for text in texts(site, "*.html")]
    cells = [
        cell["source"] for text in texts(site, "*.ipynb") for cell in json.loads(text)["cells"]
    ]
    sources = ["".join(source) for source in cells]
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    return set().union(*map(lines, [*pages, *texts(site, "*.md"), *sources, readme]))


def texts(site: Site, kind: str) -> list[str]:
    """Return the texts of the files of one kind in a site."""
    return [path.read_text(encoding="utf-8") for path in site.folder.rglob(kind)]


def wheels(site: Site) -> list[str]:
    """Return the commands that install the package from the site."""
    (wheel,) = (site.folder / "assets" / "built" / "wheel").glob("posenc-*.whl")
    address = site.url + wheel.relative_to(site.folder).as_posix()
    return [f'"posenc @ {address}"', f'"posenc[nn] @ {address}"']


def test_no_line_asks_an_index_for_the_package(site: Site) -> None:
    assert installation_targets(site) == {*HERE, *wheels(site)}
    assert lines("`pip install posenc` or\npip install 'posenc[nn]'") == {"posenc", "'posenc[nn]'"}


@pytest.fixture(scope="module")
def other_packages(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with all packages installed here except posenc."""
    folder = tmp_path_factory.mktemp("others")
    for path in Path(sysconfig.get_path("purelib")).iterdir():
        if not re.match(r"__editable__|posenc|pip\b|.*\.pth$", path.name):
            (folder / path.name).symlink_to(path)
    return folder


@pytest.fixture(scope="module")
def variables(other_packages: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """Make an environment that has numpy and PyTorch, as if from an index, and not the package.

    No index can be asked from it: what is not there already has to come from the line itself.
    Return the environment variables that activate it.
    """
    folder = tmp_path_factory.mktemp("environment") / "fresh"
    venv.create(folder, with_pip=True)
    (packages,) = folder.glob("lib/python*/site-packages")
    for old in packages.glob("setuptools*"):  # Python 3.11 brings one that an index would replace
        shutil.rmtree(old)
    (packages / "others.pth").write_text(f"{other_packages}\n", encoding="utf-8")
    clean = {name: v for name, v in os.environ.items() if not name.startswith(("PIP_", "PYTHON"))}
    path = f"{folder / 'bin'}{os.pathsep}{os.environ['PATH']}"
    settings = {"PIP_NO_INDEX": "1", "PIP_CONFIG_FILE": os.devnull, "NO_PROXY": "127.0.0.1"}
    # Nothing may be downloaded to build the package either: setuptools is there.
    return (
        clean
        | settings
        | {
            "PATH": path,
            "VIRTUAL_ENV": str(folder),
            "PIP_NO_BUILD_ISOLATION": "0",
        }
    )


@pytest.fixture
def environment(variables: dict[str, str], tmp_path: Path) -> Iterator[dict[str, str]]:
    """Return the variables, and uninstall the package afterwards: the next test needs it absent."""
    yield variables
    run("pip uninstall --yes posenc", tmp_path, variables)


@pytest.mark.slow
@pytest.mark.parametrize("place", range(4), ids=["here", "here, nn", "wheel", "wheel, nn"])
def test_line_installs_the_package_in_a_fresh_environment(
    place: int, site: Site, environment: dict[str, str], tmp_path: Path
) -> None:
    line = [*HERE, *wheels(site)][place]
    run(f"tar -xzf {shlex.quote(str(site.folder / ARCHIVE))}", tmp_path, environment)
    run(f"pip install {line}", tmp_path / NAME, environment)
    brings = f"{WHAT_IT_BRINGS}; {WITH_TORCH}" if "[nn]" in line else WHAT_IT_BRINGS
    said = run(f"cd / && python -c '{brings}'", tmp_path, environment)
    assert Path(said.splitlines()[0]).is_relative_to(
        run("printf $VIRTUAL_ENV", tmp_path, environment)
    )


@pytest.mark.slow
def test_fresh_environment_lacks_the_package_and_cannot_ask_an_index(
    environment: dict[str, str], tmp_path: Path
) -> None:
    with pytest.raises(AssertionError, match="No module named 'posenc'"):
        run("cd / && python -c 'import numpy, torch, posenc'", tmp_path, environment)
    with pytest.raises(AssertionError, match="No matching distribution found for posenc"):
        run('pip install "posenc[nn]"', tmp_path, environment)


def run(command: str, folder: Path, environment: dict[str, str]) -> str:
    """Run a command as a reader types it, and return its output."""
    done = subprocess.run(
        ["sh", "-c", command],
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout
