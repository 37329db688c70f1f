"""Installs timm and torchvision into a folder that only the tests against them see.

`python -m scripts.setup.vision` does this once, and again if the versions in constraints.txt
change. torchvision is built for one build of PyTorch. Beside another it cannot be imported, and
neither can parts of transformers, which imports torchvision wherever it is installed. With
`CI=true` it is an error if they cannot be installed; otherwise a message says so and the tests are
skipped.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys

from scripts import ROOT

FOLDER = ROOT / ".venv" / "vision"
PACKAGES = ("timm", "torchvision")


def main() -> int:
    """Install what is missing; return the exit status."""
    mark, pinned = FOLDER / "pins", "\n".join(pins())
    if mark.exists() and mark.read_text("utf-8") == pinned:
        return 0
    pip = [sys.executable, "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    options = ["--no-deps", "--upgrade", "--target", str(FOLDER)]
    if subprocess.run([*pip, *options, *pins()], check=False).returncode:
        print("timm and torchvision were not installed; their tests are skipped", file=sys.stderr)
        return int(os.environ.get("CI") == "true")
    mark.write_text(pinned, "utf-8")
    return 0


def pins() -> list[str]:
    """Return the packages with their versions, as constraints.txt has them."""
    lines = (ROOT / "constraints.txt").read_text("utf-8").splitlines()
    return [line for line in lines if line.partition("==")[0] in PACKAGES]


if __name__ == "__main__":
    signal.signal(signal.SIGINT, signal.SIG_DFL)  # Control-C ends it without a traceback
    sys.exit(main())
