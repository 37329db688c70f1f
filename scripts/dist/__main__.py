"""`make dist`: build a release into dist/, and check it as a user would have it."""

from __future__ import annotations

import shutil

from scripts import ROOT
from scripts.dist.build import archive, npm_package, python_packages, version
from scripts.dist.check import check_archive, check_npm_package, check_python_packages

DIST = ROOT / "dist"


def main() -> None:
    """Build and check; the first thing that is wrong ends it."""
    shutil.rmtree(DIST, ignore_errors=True)
    DIST.mkdir()
    print(f"posenc {version()}", flush=True)
    sdist, wheel = python_packages(DIST)
    check_python_packages(sdist, wheel)
    check_archive(archive(DIST))
    check_npm_package(npm_package(DIST))
    for file in sorted(DIST.iterdir()):
        print(f"  dist/{file.name}  {file.stat().st_size / 1e6:.2f} MB")


if __name__ == "__main__":
    main()
