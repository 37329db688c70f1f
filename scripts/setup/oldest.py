"""Runs the package's tests with the oldest numpy that pyproject.toml allows.

`python -m scripts.setup.oldest` installs that numpy into a folder of its own, once, and puts the
folder before the numpy of the environment. Where it cannot be installed a message says so; with
`CI=true` that is an error, unless this Python is younger than all wheels of that numpy.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tomllib

from scripts import ROOT

FOLDER = ROOT / ".venv" / "oldest"
NO_WHEELS = (3, 13)  # and younger Pythons
TESTS = ("tests/package", "posenc", "--ignore=posenc/nn", "--ignore=posenc/diagnose")


def main() -> int:
    """Install numpy if it is missing, run the tests and return the exit status."""
    if not is_installed() and install():
        print(f"{pin()} was not installed; no test was run with it", file=sys.stderr)
        return int(os.environ.get("CI") == "true" and sys.version_info < NO_WHEELS)
    print(f"with {pin()}", file=sys.stderr)
    command = [sys.executable, "-m", "pytest", *TESTS]
    environment = os.environ | {"PYTHONPATH": str(FOLDER)}
    return subprocess.run(command, cwd=ROOT, env=environment, check=False).returncode


def pin() -> str:
    """Return the oldest numpy, as pip takes it."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    (floor,) = project["dependencies"]
    return f"{floor.replace('>=', '==')}.0"


def is_installed() -> bool:
    """Return whether the folder has this numpy."""
    return (FOLDER / f"{pin().replace('==', '-')}.dist-info").exists()


def install() -> int:
    """Install this numpy into the folder; return pip's exit status."""
    pip = [sys.executable, "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    options = ["--no-deps", "--only-binary=:all:", "--upgrade", "--target", str(FOLDER)]
    return subprocess.run([*pip, *options, pin()], check=False).returncode


if __name__ == "__main__":
    sys.exit(main())
