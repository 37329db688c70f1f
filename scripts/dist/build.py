"""Build the sdist, the wheel, the archive of the vectors and the npm package."""

from __future__ import annotations

import gzip
import hashlib
import io
import json
import shutil
import subprocess
import sys
import tarfile
import tempfile
import tomllib
from pathlib import Path
from typing import Any

from scripts import ROOT
from scripts.dist.declarations import declarations
from scripts.setup.node import npm

VECTORS = ROOT / "docs" / "vectors"
NPM = Path(__file__).parent / "npm"
NAME = "posenc-vectors"
README = """\
# Test vectors for positional encodings

Inputs and answers for rotary, sinusoidal, ALiBi, T5 and other positions, with the known bugs that
give a different answer. `index.json` lists the suites, `schema_v1.json` describes their files, and
`SHA256SUMS` has the digest of each file (`sha256sum --check SHA256SUMS`).

The Python package `posenc` and the npm package `posenc-vectors` have the same files, and code that
compares your answers with them.
"""


def version() -> str:
    """Return the version that pyproject.toml states."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    return str(project["version"])


def python_packages(folder: Path) -> tuple[Path, Path]:
    """Build the sdist and, from the sdist, the wheel; return both."""
    # Only files that git knows go in: a checkout has other files, too.
    with tempfile.TemporaryDirectory() as temporary:
        tree = Path(temporary, "posenc")
        _export_tracked_files(tree)
        command = [sys.executable, "-m", "build", "--outdir", str(folder), str(tree)]
        _run_quietly(command)
    name = f"posenc-{version()}"
    return folder / f"{name}.tar.gz", folder / f"{name}-py3-none-any.whl"


def _run_quietly(command: list[str]) -> None:
    """Run a command; print what it says only if it fails, and raise CalledProcessError then."""
    done = subprocess.run(
        command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False
    )
    if done.returncode:
        print(done.stdout, file=sys.stderr)
    done.check_returncode()


def _export_tracked_files(target: Path) -> None:
    """Copy the files that git tracks, as they are in the checkout."""
    listed = subprocess.run(
        ["git", "-C", ROOT, "ls-files", "-z"], check=True, capture_output=True, text=True
    )
    for name in filter(None, listed.stdout.split("\0")):
        if (ROOT / name).is_file():
            (target / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(ROOT / name, target / name)


def archive(folder: Path) -> Path:
    """Pack the vectors with their digests, and return the archive.

    The same files give the same bytes: no time and no user is recorded.
    """
    top = f"{NAME}-{version()}"
    target = folder / f"{top}.tar.gz"
    contents = archive_contents()
    with (
        target.open("wb") as raw,
        gzip.GzipFile(filename="", mode="wb", fileobj=raw, mtime=0) as packed,
        tarfile.open(mode="w", fileobj=packed) as tar,
    ):
        for name in sorted(contents):
            entry = tarfile.TarInfo(f"{top}/{name}")
            entry.size = len(contents[name])
            tar.addfile(entry, io.BytesIO(contents[name]))
    return target


def archive_contents() -> dict[str, bytes]:
    """Return the files of the archive by name."""
    contents = {path.name: path.read_bytes() for path in VECTORS.glob("*.json")}
    contents["LICENSE"] = (ROOT / "LICENSE").read_bytes()
    contents["README.md"] = README.encode()
    digests = {name: hashlib.sha256(data).hexdigest() for name, data in contents.items()}
    sums = "".join(f"{digests[name]}  {name}\n" for name in sorted(digests))
    return contents | {"SHA256SUMS": sums.encode()}


def npm_package(folder: Path) -> Path:
    """Pack the vectors for npm, with types and a checker in JavaScript; return the package."""
    with tempfile.TemporaryDirectory() as temporary:
        tree = Path(temporary)
        for path in [*VECTORS.glob("*.json"), *NPM.iterdir(), ROOT / "LICENSE"]:
            shutil.copy(path, tree)
        (tree / "package.json").write_text(json.dumps(npm_manifest(), indent=2) + "\n")
        (tree / "index.d.ts").write_text(declarations(), encoding="utf-8")
        pack = npm("pack", "--silent", "--pack-destination", str(folder))
        subprocess.run(pack, cwd=tree, check=True, stdout=subprocess.DEVNULL)
    return folder / f"{NAME}-{version()}.tgz"


def npm_manifest() -> dict[str, Any]:
    """Return the package.json of the npm package, with the version of the Python package."""
    manifest: dict[str, Any] = json.loads((NPM / "package.json").read_text(encoding="utf-8"))
    return manifest | {"version": version()}
