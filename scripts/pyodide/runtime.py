"""Build docs/assets/built/python/: Python with numpy and posenc, for the examples in the page.

pyodide.mjs, pyodide.asm.js   start Python in a browser; unchanged from npm
pyodide.asm.wasm.gzip         the interpreter, compressed here because not every server does
python_stdlib.zip             the standard library, without modules that a page cannot use
numpy-….whl                   numpy, from its conda package, without tests and headers
posenc-….whl                  the package, built from this checkout
session.py                    scripts/pyodide/session.py, which runs the reader's code
contents.json                 the names of the wheels, and the bytes to fetch: in total, and for the
                              interpreter, which a second start need not fetch again
licences/                     the licence of each

Modules of the standard library and numpy that every start loads are stored as bytecode instead of
source: compiling them took over a third of the starting time. compile.mjs compiles them, in node.
"""

from __future__ import annotations

import gzip
import hashlib
import io
import json
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
import zipfile
from collections.abc import Iterable, Iterator
from pathlib import Path

from scripts import ROOT
from scripts.setup.node import node

ROOM = Path(__file__).parent
MODULES = ROOT / "node_modules"
SESSION = ROOM / "session.py"
COMPILE = ROOM / "compile.mjs"
PROJECT = ("pyproject.toml", "README.md", "LICENSE", "posenc")  # the sources of the wheel
SOURCES = (
    "package-lock.json",
    "scripts/pyodide/compile.mjs",
    "scripts/pyodide/precompile.py",
    "scripts/pyodide/runtime.py",
    "scripts/pyodide/session.py",
    *PROJECT,
)

SITE_PACKAGES = "lib/python3.12/site-packages/"
TAG = "cp312-cp312-emscripten_3_1_58_wasm32"
# Files of numpy that its users do not need: tests, headers, sources, f2py, C libraries.
LEFT_OUT = re.compile(
    r"/(?:tests|f2py|include|distutils)/|/lib/pkgconfig/|conftest\.py$"
    r"|\.(?:pyi|pxd|pyx|a|h|c|in|pyc)$|_(?:(?:flag|rational|ufunc|umath)_tests|simd)\.cpython"
    r"|\.dist-info/RECORD$"
)
# Modules for processes and networking, which a page cannot use, and the text encodings from before
# Unicode, except those loaded at the start.
UNUSED = re.compile(
    r"^(?:multiprocessing|wsgiref|xmlrpc)/|^(?:ftp|imap|nntp|pop|smtp|telnet)lib\.py$"
    r"|^encodings/(?:big5|cp|euc|gb[2k]|hz|iso|johab|koi8|kz|mac|palm|ptcp|shift|tis).*\.py$"
)
PLACES = {"python_stdlib.zip": "python312.zip", "numpy-*.whl": "python3.12/site-packages"}
PACKED = (".gzip", ".zip", ".whl")  # compressed already, so servers send them as they are
LOCK = "pyodide-lock.json"
INTERPRETER = "pyodide.asm.wasm.gzip"

BUILD_WHEEL = "import sys; from setuptools import build_meta; build_meta.build_wheel(sys.argv[1])"

NOTICE = """\
The files above are unmodified except as stated here. The modules of Pyodide, Python and NumPy that
are loaded at every start are included as bytecode, compiled from their unmodified sources.

Pyodide {pyodide} (pyodide.mjs, pyodide.asm.js, pyodide.asm.wasm.gzip, compressed here with gzip;
pyodide-lock.json, with its list of packages removed): Copyright (C) 2019-2025 Pyodide contributors
and Mozilla, under the Mozilla Public License 2.0, in MPL-2.0.txt. Source:
https://github.com/pyodide/pyodide/tree/{pyodide}

Python {python} (in pyodide.asm.wasm.gzip and python_stdlib.zip, repacked here without modules that
a page cannot use): Copyright (c) 2001 Python Software Foundation; All Rights Reserved, under the
PSF License Agreement:
https://docs.python.org/{minor}/license.html

NumPy {numpy} (numpy-{numpy}-*.whl, repacked here without its tests, headers and RECORD): under the
licence in numpy.txt. Built by: https://github.com/emscripten-forge/recipes
"""


def build(folder: Path) -> None:
    """Build the folder, unless it is up to date."""
    if is_built(folder):
        return
    stamp = fingerprint(sources())
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    shutil.copy(SESSION, folder)
    pyodide(folder)
    wheels = [numpy(folder), posenc(folder)]
    licences(folder)
    compile_start(folder)
    to_fetch = {
        "bytes": sum(map(size, large_files(folder))),
        "interpreter": size(folder / INTERPRETER),
    }
    (folder / "contents.json").write_text(json.dumps({"wheels": wheels} | to_fetch))
    (folder / "stamp").write_text(stamp)


def is_built(folder: Path) -> bool:
    """Return whether the folder was built from the present sources."""
    stamp = folder / "stamp"
    return stamp.is_file() and stamp.read_text() == fingerprint(sources())


def fingerprint(paths: Iterable[Path]) -> str:
    """Return a digest of files of the project and their names."""
    digest = hashlib.sha256()
    for path in paths:
        digest.update(f"{path.relative_to(ROOT)}\n".encode() + path.read_bytes())
    return digest.hexdigest()


def sources() -> Iterator[Path]:
    """Yield the files from which the folder is built."""
    for name in SOURCES:
        path = ROOT / name
        yield from sorted(path.rglob("*.py")) if path.is_dir() else [path]


def pyodide(folder: Path) -> None:
    """Copy Pyodide, with its interpreter compressed and its list of packages removed."""
    source = MODULES / "pyodide"
    for name in ("pyodide.mjs", "pyodide.asm.js", "python_stdlib.zip"):
        shutil.copyfile(source / name, folder / name)
    interpreter = (source / "pyodide.asm.wasm").read_bytes()
    (folder / INTERPRETER).write_bytes(gzip.compress(interpreter, mtime=0))
    lock = json.loads((source / LOCK).read_text(encoding="utf-8"))
    (folder / LOCK).write_text(json.dumps({"info": lock["info"], "packages": {}}))


def numpy(folder: Path) -> str:
    """Make a wheel from numpy's conda package, and return its name."""
    (package,) = (MODULES / "@emscripten-forge" / "numpy" / "pkg").glob("numpy-*.tar.gz")
    version = package.name.split("-")[1]
    name = f"numpy-{version}-{TAG}.whl"
    with (
        tarfile.open(package) as archive,
        zipfile.ZipFile(folder / name, "w") as wheel,
    ):
        for member in archive:
            inside = member.name.removeprefix(SITE_PACKAGES)
            if member.isfile() and inside != member.name and not LEFT_OUT.search(f"/{inside}"):
                file = archive.extractfile(member)
                assert file is not None
                wheel.writestr(zipfile.ZipInfo(inside), file.read())
    return name


def compile_start(folder: Path) -> None:
    """Start Python as a page does, and replace the sources it loads by their bytecode."""
    (wheel,) = folder.glob("numpy-*.whl")
    with tempfile.TemporaryDirectory() as temporary:
        command = node(str(COMPILE), str(wheel), temporary)
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode:
            raise SystemExit(f"compiling the modules for the browser failed:\n{done.stderr}")
        for archive, place in PLACES.items():
            repack(next(folder.glob(archive)), Path(temporary, "lib", place))


def repack(archive: Path, compiled: Path) -> None:
    """Rewrite an archive without unused modules, and with bytecode instead of compiled sources.

    Bytecode contains the names and line numbers of its source, so tracebacks still show them.
    """
    original = io.BytesIO(archive.read_bytes())
    with zipfile.ZipFile(original) as before, zipfile.ZipFile(archive, "w") as after:
        for name in before.namelist():
            code = compiled / name
            if code.is_file():
                pack(after, f"{name}c", code.read_bytes())
            elif not UNUSED.search(name):
                pack(after, name, before.read(name))


def pack(archive: zipfile.ZipFile, name: str, content: bytes) -> None:
    """Add a file to an archive with a fixed date and maximum compression."""
    archive.writestr(zipfile.ZipInfo(name), content, zipfile.ZIP_DEFLATED, compresslevel=9)


def posenc(folder: Path, sources: Iterable[str] = PROJECT) -> str:
    """Build the package's wheel from these files and folders, and return its name.

    Without setup.py it has no test vectors, which a page does not need. It is built from a copy,
    because setuptools would include leftovers in the checkout's `build/`.
    """
    with tempfile.TemporaryDirectory() as copy:
        for name in sources:
            path, copied = ROOT / name, Path(copy, name)
            copied.parent.mkdir(parents=True, exist_ok=True)
            (shutil.copytree if path.is_dir() else shutil.copyfile)(path, copied)
        build = [sys.executable, "-c", BUILD_WHEEL, str(folder)]
        done = subprocess.run(build, cwd=copy, capture_output=True, text=True, check=False)
    if done.returncode:
        raise SystemExit(f"building the wheel of posenc failed:\n{done.stderr}")
    return next(folder.glob("posenc-*.whl")).name


def licences(folder: Path) -> None:
    """Add the licence of each part.

    Pyodide's npm package lacks the text of its licence; axe-core has the same licence and its text.
    """
    (folder / "licences").mkdir()
    shutil.copyfile(MODULES / "axe-core" / "LICENSE", folder / "licences" / "MPL-2.0.txt")
    with zipfile.ZipFile(next(folder.glob("numpy-*.whl"))) as wheel:
        words = wheel.read(next(name for name in wheel.namelist() if name.endswith("/LICENSE.txt")))
    (folder / "licences" / "numpy.txt").write_bytes(words)
    (folder / "licences" / "NOTICE.txt").write_text(notice(folder), encoding="utf-8")


def notice(folder: Path) -> str:
    """Return the copyright notice: authors, licences and where the sources are."""
    package = json.loads((MODULES / "pyodide" / "package.json").read_text(encoding="utf-8"))
    python = json.loads((folder / LOCK).read_text(encoding="utf-8"))["info"]["python"]
    numpy = next(folder.glob("numpy-*.whl")).name.split("-")[1]
    minor = python.rpartition(".")[0]
    return NOTICE.format(pyodide=package["version"], python=python, minor=minor, numpy=numpy)


def large_files(folder: Path) -> list[Path]:
    """Return the large files, whose progress the page shows while it fetches them."""
    return [path for path in sorted(folder.iterdir()) if path.suffix in PACKED]


def size(path: Path) -> int:
    """Return the bytes of a file over the wire, from a server that compresses text."""
    content = path.read_bytes()
    return len(content) if path.suffix in PACKED else len(gzip.compress(content, mtime=0))


def sizes(folder: Path) -> dict[str, int]:
    """Return the bytes over the wire of each file that the first run fetches, largest first."""
    fetched = [path for path in folder.iterdir() if path.is_file() and path.name != "stamp"]
    return {path.name: size(path) for path in sorted(fetched, key=size, reverse=True)}
