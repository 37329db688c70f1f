"""Build docs/assets/built/source/: the source of book and package as an archive to download.

So everything that the pages say about the source works for readers who have only the site. The
archive has the files that git tracks, as they are in the working tree. Without git, as in an
unpacked archive, it has all files that `.gitignore` does not exclude.
"""

from __future__ import annotations

import gzip
import hashlib
import io
import os
import shutil
import subprocess
import tarfile
from collections.abc import Iterable, Iterator
from pathlib import Path

from pathspec import GitIgnoreSpec

import posenc
from scripts import ROOT

NAME = f"posenc-{posenc.__version__}"
ARCHIVE = f"assets/built/source/{NAME}.tar.gz"  # in the site
DATED = 315_532_800  # 1980, so that the same files always give the same archive


def build(folder: Path) -> None:
    """Build the folder, unless it is up to date."""
    stamp, names = folder / "stamp", files(ROOT)
    current = fingerprint(ROOT, names)
    if stamp.is_file() and stamp.read_text() == current:
        return
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    (folder / Path(ARCHIVE).name).write_bytes(archive(ROOT, names))
    stamp.write_text(current)


def files(root: Path) -> list[str]:
    """Return the paths of the source files, relative to the root."""
    names = tracked_files(root) or list(unignored(root))
    return sorted(name for name in names if (root / name).is_file())


def tracked_files(root: Path) -> list[str]:
    """Return the files that git tracks: none if the root is no checkout, or without git."""
    try:
        listed = subprocess.run(
            ["git", "ls-files", "-z"], cwd=root, capture_output=True, check=True
        )
    except (OSError, subprocess.CalledProcessError):
        return []
    return [name for name in listed.stdout.decode().split("\0") if name]


def unignored(root: Path) -> Iterator[str]:
    """Yield the files that `.gitignore` does not exclude."""
    rules = (root / ".gitignore").read_text("utf-8")
    ignored = GitIgnoreSpec.from_lines([".git", *rules.splitlines()])
    for folder, folders, names in os.walk(root):
        here = Path(folder).relative_to(root)
        folders[:] = [
            name for name in folders if not ignored.match_file(f"{(here / name).as_posix()}/")
        ]
        paths = [(here / name).as_posix() for name in names]
        yield from (path for path in paths if not ignored.match_file(path))


def fingerprint(root: Path, names: Iterable[str]) -> str:
    """Return a digest of the files and their names."""
    digest = hashlib.sha256(NAME.encode())
    for name in names:
        digest.update(f"{name}\n".encode() + hashlib.sha256((root / name).read_bytes()).digest())
    return digest.hexdigest()


def archive(root: Path, names: Iterable[str]) -> bytes:
    """Return the files as a compressed archive with one folder."""
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w") as tar:
        for name in names:
            content = (root / name).read_bytes()
            entry = tarfile.TarInfo(f"{NAME}/{name}")
            entry.size, entry.mtime = len(content), DATED
            entry.mode = 0o755 if os.access(root / name, os.X_OK) else 0o644
            tar.addfile(entry, io.BytesIO(content))
    return gzip.compress(packed.getvalue(), compresslevel=6, mtime=0)
