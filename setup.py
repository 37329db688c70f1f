"""Puts the test vectors into the wheel; all else is in pyproject.toml.

The files are those of docs/vectors/, which a checkout reads where they are.
"""

import shutil
from pathlib import Path

from setuptools import setup
from setuptools.command.build_py import build_py

SOURCE = Path(__file__).parent / "docs" / "vectors"


class WithVectors(build_py):
    """Builds the package with a copy of the files in posenc/vectors/files/."""

    def run(self) -> None:
        """Build, and copy the files unless the checkout itself is installed."""
        super().run()
        if not self.editable_mode:
            target = Path(self.build_lib, "posenc", "vectors", "files")
            target.mkdir(parents=True, exist_ok=True)
            for file in sorted(SOURCE.glob("*.json")):
                shutil.copyfile(file, target / file.name)

    def get_source_files(self) -> list[str]:
        """Return what the sdist must have, the vectors included."""
        vectors = [
            str(file.relative_to(SOURCE.parents[1])) for file in sorted(SOURCE.glob("*.json"))
        ]
        return [*super().get_source_files(), *vectors]


setup(cmdclass={"build_py": WithVectors})
