"""Build docs/assets/built/python/: Python with numpy and posenc, for the examples in the page.

pyodide.mjs, pyodide.asm.js   what starts Python in a browser, as npm brings it
pyodide.asm.wasm.gzip         the interpreter, packed here because not every server packs
python_stdlib.zip             the standard library, what a page cannot use left out
numpy-….whl                   numpy, from its conda package and without its tests and headers
posenc-….whl                  the package, built from this checkout
session.py                    scripts/pyodide/session.py, which runs what a reader types
contents.json                 which wheels these are, and how many bytes there are to fetch: in all,
                              and of the interpreter, which a second start need not fetch
licences/                     what each of them is given under

The modules of the standard library and of numpy that every start loads are stored as bytecode, in
place of their sources: compiling them took over a third of a start. compile.mjs does that, in node.
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
from collections.abc import Iterator
from pathlib import Path

from scripts import ROOT
from scripts.setup.node import node

ROOM = Path(__file__).parent
MODULES = ROOT / "node_modules"
SESSION = ROOM / "session.py"
COMPILE = ROOM / "compile.mjs"
PROJECT = ("pyproject.toml", "README.md", "LICENSE", "posenc")  # what the wheel is made of
SOURCES = (
    "package-lock.json",
    "scripts/pyodide/compile.mjs",
    "scripts/pyodide/bytecode.py",
    "scripts/pyodide/runtime.py",
    "scripts/pyodide/session.py",
    *PROJECT,
)

SITE_PACKAGES = "lib/python3.12/site-packages/"
TAG = "cp312-cp312-emscripten_3_1_58_wasm32"
# What nobody needs who calls numpy: tests and their helpers, headers, sources, f2py, C libraries.
LEFT_OUT = re.compile(
    r"/(?:tests|f2py|include|distutils)/|/lib/pkgconfig/|conftest\.py$"
    r"|\.(?:pyi|pxd|pyx|a|h|c|in|pyc)$|_(?:(?:flag|rational|ufunc|umath)_tests|simd)\.cpython"
    r"|\.dist-info/RECORD$"
)
# What no page can use, where Python has no other process and no network, and the encodings of text
# from before Unicode, but for those that a start loads.
UNUSED = re.compile(
    r"^(?:multiprocessing|wsgiref|xmlrpc)/|^(?:ftp|imap|nntp|pop|smtp|telnet)lib\.py$"
    r"|^encodings/(?:big5|cp|euc|gb[2k]|hz|iso|johab|koi8|kz|mac|palm|ptcp|shift|tis).*\.py$"
)
PLACES = {"python_stdlib.zip": "python312.zip", "numpy-*.whl": "python3.12/site-packages"}
PACKED = (".gzip", ".zip", ".whl")  # what no server packs again
LOCK = "pyodide-lock.json"
INTERPRETER = "pyodide.asm.wasm.gzip"

BUILD_WHEEL = "import sys; from setuptools import build_meta; build_meta.build_wheel(sys.argv[1])"

NOTICE = """\
The files above are served as their authors made them, but for what is said here. Of Pyodide, of
Python and of NumPy, what each start loads stands here as bytecode, compiled from its source without
a change.

Pyodide {pyodide} (pyodide.mjs, pyodide.asm.js, pyodide.asm.wasm.gzip, packed here with gzip;
pyodide-lock.json, emptied here): Copyright (C) 2019-2025 Pyodide contributors and Mozilla, under
the Mozilla Public License 2.0, in MPL-2.0.txt. Its source:
https://github.com/pyodide/pyodide/tree/{pyodide}

Python {python} (inside pyodide.asm.wasm.gzip, and python_stdlib.zip, packed here without what a
page cannot use): Copyright (c) 2001 Python Software Foundation; All Rights Reserved, under the PSF
License Agreement:
https://docs.python.org/{minor}/license.html

NumPy {numpy} (numpy-{numpy}-*.whl, packed here without its tests, headers and RECORD): under the
licence in numpy.txt. Its build: https://github.com/emscripten-forge/recipes
"""


def build(folder: Path) -> None:
    """Build the folder, unless what it is built from has not changed."""
    if is_built(folder):
        return
    wanted = fingerprint()
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    shutil.copy(SESSION, folder)
    pyodide(folder)
    wheels = [numpy(folder), posenc(folder)]
    licences(folder)
    compile_start(folder)
    to_fetch = {"bytes": sum(map(size, packed(folder))), "interpreter": size(folder / INTERPRETER)}
    (folder / "contents.json").write_text(json.dumps({"wheels": wheels} | to_fetch))
    (folder / "stamp").write_text(wanted)


def is_built(folder: Path) -> bool:
    """Return whether the folder has been built, from what lies here now."""
    stamp = folder / "stamp"
    return stamp.is_file() and stamp.read_text() == fingerprint()


def fingerprint() -> str:
    """Return a digest of every file that the built ones depend on."""
    digest = hashlib.sha256()
    for path in sources():
        digest.update(f"{path.relative_to(ROOT)}\n".encode() + path.read_bytes())
    return digest.hexdigest()


def sources() -> Iterator[Path]:
    """Yield the files that the built ones depend on."""
    for name in SOURCES:
        path = ROOT / name
        yield from sorted(path.rglob("*.py")) if path.is_dir() else [path]


def pyodide(folder: Path) -> None:
    """Copy Pyodide, its interpreter packed and its list of packages emptied."""
    source = MODULES / "pyodide"
    for name in ("pyodide.mjs", "pyodide.asm.js", "python_stdlib.zip"):
        shutil.copyfile(source / name, folder / name)
    interpreter = (source / "pyodide.asm.wasm").read_bytes()
    (folder / INTERPRETER).write_bytes(gzip.compress(interpreter, mtime=0))
    lock = json.loads((source / LOCK).read_text(encoding="utf-8"))
    (folder / LOCK).write_text(json.dumps({"info": lock["info"], "packages": {}}))


def numpy(folder: Path) -> str:
    """Make a wheel of the conda package, and return its name."""
    (package,) = (MODULES / "@emscripten-forge" / "numpy" / "pkg").glob("numpy-*.tar.gz")
    version = package.name.split("-")[1]
    name = f"numpy-{version}-{TAG}.whl"
    with (
        tarfile.open(package) as given,
        zipfile.ZipFile(folder / name, "w") as wheel,
    ):
        for member in given:
            inside = member.name.removeprefix(SITE_PACKAGES)
            if member.isfile() and inside != member.name and not LEFT_OUT.search(f"/{inside}"):
                file = given.extractfile(member)
                assert file is not None
                wheel.writestr(zipfile.ZipInfo(inside), file.read())
    return name


def compile_start(folder: Path) -> None:
    """Start Python as a page does, and put what it has compiled where it has found the sources."""
    (wheel,) = folder.glob("numpy-*.whl")
    with tempfile.TemporaryDirectory() as made:
        command = node(str(COMPILE), str(wheel), made)
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode:
            raise SystemExit(f"what a page's Python loads cannot be compiled:\n{done.stderr}")
        for archive, place in PLACES.items():
            repack(next(folder.glob(archive)), Path(made, "lib", place))


def repack(archive: Path, compiled: Path) -> None:
    """Pack an archive again without what no page uses, and what is compiled without its source.

    Names and lines of the source are in its bytecode, so a traceback has them still.
    """
    given = io.BytesIO(archive.read_bytes())
    with zipfile.ZipFile(given) as before, zipfile.ZipFile(archive, "w") as after:
        for name in before.namelist():
            code = compiled / name
            if code.is_file():
                pack(after, f"{name}c", code.read_bytes())
            elif not UNUSED.search(name):
                pack(after, name, before.read(name))


def pack(archive: zipfile.ZipFile, name: str, content: bytes) -> None:
    """Put a file into an archive, dated alike each time, as small as it gets."""
    archive.writestr(zipfile.ZipInfo(name), content, zipfile.ZIP_DEFLATED, compresslevel=9)


def posenc(folder: Path) -> str:
    """Build the package's wheel from a copy, and return its name.

    In the tree setuptools would also put into it what an earlier build has left in `build/`.
    """
    with tempfile.TemporaryDirectory() as copy:
        for name in PROJECT:
            path = ROOT / name
            (shutil.copytree if path.is_dir() else shutil.copyfile)(path, Path(copy, name))
        build = [sys.executable, "-c", BUILD_WHEEL, str(folder)]
        done = subprocess.run(build, cwd=copy, capture_output=True, text=True, check=False)
    if done.returncode:
        raise SystemExit(f"the wheel of posenc cannot be built:\n{done.stderr}")
    return next(folder.glob("posenc-*.whl")).name


def licences(folder: Path) -> None:
    """Put beside the files what each of them is given under.

    Pyodide's npm package leaves the words of its licence out; another under the same has them.
    """
    (folder / "licences").mkdir()
    shutil.copyfile(MODULES / "axe-core" / "LICENSE", folder / "licences" / "MPL-2.0.txt")
    with zipfile.ZipFile(next(folder.glob("numpy-*.whl"))) as wheel:
        words = wheel.read(next(name for name in wheel.namelist() if name.endswith("/LICENSE.txt")))
    (folder / "licences" / "numpy.txt").write_bytes(words)
    (folder / "licences" / "NOTICE.txt").write_text(notice(folder), encoding="utf-8")


def notice(folder: Path) -> str:
    """Return who made what, under which licence, and where its source is."""
    package = json.loads((MODULES / "pyodide" / "package.json").read_text(encoding="utf-8"))
    python = json.loads((folder / LOCK).read_text(encoding="utf-8"))["info"]["python"]
    numpy = next(folder.glob("numpy-*.whl")).name.split("-")[1]
    minor = python.rpartition(".")[0]
    return NOTICE.format(pyodide=package["version"], python=python, minor=minor, numpy=numpy)


def packed(folder: Path) -> list[Path]:
    """Return the large files, of which a page says how much has arrived."""
    return [path for path in sorted(folder.iterdir()) if path.suffix in PACKED]


def size(path: Path) -> int:
    """Return the bytes of a file over the wire, from a server that packs what is text."""
    given = path.read_bytes()
    return len(given) if path.suffix in PACKED else len(gzip.compress(given, mtime=0))


def sizes(folder: Path) -> dict[str, int]:
    """Return the bytes over the wire of all that the first run fetches, the largest first."""
    fetched = [path for path in folder.iterdir() if path.is_file() and path.name != "stamp"]
    return {path.name: size(path) for path in sorted(fetched, key=size, reverse=True)}
