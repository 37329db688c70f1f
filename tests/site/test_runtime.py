"""Python for the browser: the served files are complete and small, with their licences."""

from __future__ import annotations

import gzip
import json
import re
import zipfile
from email import message_from_bytes
from pathlib import Path

import pytest

import posenc
from scripts import ROOT
from scripts.pyodide import runtime
from scripts.site.assets import BUILT

MAGIC = (3531).to_bytes(2, "little") + b"\r\n"  # of Python 3.12
UNCHECKED = (1).to_bytes(4, "little")  # bytecode that is not checked against its source


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the served files, built anew if their sources have changed."""
    served = BUILT / "python"
    if runtime.is_built(served):
        return served
    folder = tmp_path_factory.mktemp("runtime") / "python"
    runtime.build(folder)
    return folder


def wheel(built: Path, name: str) -> zipfile.ZipFile:
    (found,) = [
        it for it in json.loads((built / "contents.json").read_text())["wheels"] if name in it
    ]
    return zipfile.ZipFile(built / found)


def test_every_file_the_worker_requests_exists(built: Path) -> None:
    script = (ROOT / "docs" / "assets" / "js" / "python_worker.js").read_text(encoding="utf-8")
    asked = ["pyodide.mjs", "contents.json", "session.py", "pyodide.asm.wasm"]
    assert all(name in script for name in asked)
    own = ["pyodide.asm.js", "python_stdlib.zip", "pyodide-lock.json", "pyodide.asm.wasm.gzip"]
    assert all((built / name).is_file() for name in [*asked[:3], *own])


def test_interpreter_is_that_of_the_npm_package(built: Path) -> None:
    packed = gzip.decompress((built / "pyodide.asm.wasm.gzip").read_bytes())
    assert packed == (runtime.MODULES / "pyodide" / "pyodide.asm.wasm").read_bytes()


def test_the_wheel_contains_the_current_package(built: Path) -> None:
    with wheel(built, "posenc") as made:
        about = message_from_bytes(made.read(f"posenc-{posenc.__version__}.dist-info/METADATA"))
        names = [name for name in made.namelist() if name.endswith(".py")]
        files = (ROOT / "posenc").rglob("*.py")
        assert sorted(names) == sorted(str(path.relative_to(ROOT)) for path in files)
        assert all(made.read(name) == (ROOT / name).read_bytes() for name in names)
    assert about["Version"] == posenc.__version__


def test_numpy_is_served_without_its_tests_and_headers(built: Path) -> None:
    with wheel(built, "numpy") as made:
        names = made.namelist()
    assert any(name.startswith("numpy/_core/_multiarray_umath.") for name in names)
    assert any(name.endswith("dist-info/METADATA") for name in names)
    assert not [name for name in names if "/tests/" in name or name.endswith((".h", ".pyi", ".a"))]


def modules(archive: Path) -> dict[str, bytes]:
    """Return the modules of an archive, checking that it has each once, as source or bytecode."""
    with zipfile.ZipFile(archive) as opened:
        found = {name: opened.read(name) for name in opened.namelist()}
    made = {name: found[name] for name in found if name.endswith((".py", ".pyc"))}
    assert len({name.removesuffix("c") for name in made}) == len(made)
    return made


@pytest.mark.parametrize(
    ("archive", "some"),
    [
        ("python_stdlib.zip", {"asyncio/__init__.pyc", "encodings/cp437.pyc", "random.pyc"}),
        ("numpy-*.whl", {"numpy/__init__.pyc", "numpy/linalg/_linalg.pyc"}),
    ],
)
def test_modules_loaded_at_the_start_are_bytecode_of_that_python(
    built: Path, archive: str, some: set[str]
) -> None:
    found = modules(next(built.glob(archive)))
    code = {name: content for name, content in found.items() if name.endswith(".pyc")}
    assert some < code.keys()
    assert {content[:8] for content in code.values()} == {MAGIC + UNCHECKED}
    assert len({content[16:] for content in code.values()}) > 70


def test_the_standard_library_lacks_only_what_a_page_cannot_use(built: Path) -> None:
    brought = modules(runtime.MODULES / "pyodide" / "python_stdlib.zip")
    served = modules(built / "python_stdlib.zip")
    sources = {name.removesuffix("c") for name in served}
    lacking = [name for name in brought if name not in sources]
    assert sources <= brought.keys()
    assert {re.split(r"[/_.\d]", name)[0] for name in lacking} == {
        *("encodings", "multiprocessing", "wsgiref", "xmlrpc"),
        *("ftplib", "imaplib", "nntplib", "poplib", "smtplib", "telnetlib"),
    }
    kept = (
        "ascii",
        "cp437",
        "gb18030",
        "idna",
        "latin_1",
        "unicode_escape",
        "utf_16",
        "utf_8",
        "utf_8_sig",
    )
    assert all(f"encodings/{name}.py" in sources for name in kept)
    assert all(served[name] == brought[name] for name in served.keys() & brought.keys())


def test_compile_error_is_reported_in_a_few_lines(tmp_path: Path) -> None:
    """The failing line of Pyodide, over a million characters long, is not shown."""
    (tmp_path / "numpy-2.whl").write_bytes(b"no wheel")
    with pytest.raises(SystemExit, match=r"for the browser failed:(.|\n)*not a zip file") as told:
        runtime.compile_start(tmp_path)
    assert len(str(told.value)) < 4000


def test_stated_sizes_are_those_of_the_compressed_files(built: Path) -> None:
    """They exclude scripts and lists, which are less than a twentieth."""
    contents = json.loads((built / "contents.json").read_text())
    packed = [*built.glob("*.gzip"), *built.glob("*.zip"), *built.glob("*.whl")]
    assert contents["bytes"] == sum(path.stat().st_size for path in packed)
    assert contents["interpreter"] == (built / runtime.INTERPRETER).stat().st_size
    everything = sum(runtime.sizes(built).values())
    assert contents["bytes"] < everything < contents["bytes"] * 20 / 19
    assert everything < 10e6


def test_every_licence_is_beside_its_file(built: Path) -> None:
    licences = {path.name: path.read_text(encoding="utf-8") for path in built.glob("licences/*")}
    assert licences["MPL-2.0.txt"].startswith("Mozilla Public License, version 2.0")
    assert "NumPy Developers" in licences["numpy.txt"]
    assert "{" not in licences["NOTICE.txt"]
    assert "as bytecode" in licences["NOTICE.txt"]
    assert all(name in licences["NOTICE.txt"] for name in ("Pyodide 0", "Python 3", "NumPy 2"))


def test_second_build_does_nothing(built: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(runtime, "pyodide", lambda folder: pytest.fail("built again"))
    runtime.build(built)


@pytest.mark.parametrize(
    "name",
    [
        *("posenc/rotary/rope.py", "posenc/nn/gpt.py"),
        *(
            "scripts/pyodide/session.py",
            "scripts/pyodide/compile.mjs",
            "scripts/pyodide/precompile.py",
        ),
    ],
)
def test_the_served_files_depend_on_each_source(name: str) -> None:
    assert ROOT / name in runtime.sources()
