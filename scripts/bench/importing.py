"""`import posenc`, against `import numpy`, each timed in a new process."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator

from scripts import ROOT
from scripts.bench.measure import Case, Pair

SCRIPT = "import time; t = time.perf_counter(); import {}; print(time.perf_counter() - t)"


def cases() -> Iterator[Case]:
    """Yield the only case."""

    def import_seconds(name: str) -> float:
        command = [sys.executable, "-c", SCRIPT.format(name)]
        done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
        return float(done.stdout)

    def make() -> Pair:
        return Pair(lambda: import_seconds("posenc"), lambda: import_seconds("numpy"))

    yield Case("posenc", "`import posenc`", "`import numpy`", make, 1.3)
