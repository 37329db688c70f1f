"""What importing the package brings along."""

from __future__ import annotations

import subprocess
import sys

import pytest

CODE = "import sys, posenc.diagnose; sys.exit('posenc.nn' in sys.modules)"


@pytest.mark.slow
def test_package_imports_without_posenc_nn() -> None:
    assert subprocess.run([sys.executable, "-c", CODE], check=False).returncode == 0
