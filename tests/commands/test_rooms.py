"""Each room of the project imports only what it says it imports, and never upwards."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from scripts import ROOT

# From the ground up: a room imports only rooms listed before it.
FLOORS = (
    "posenc",
    "scripts",  # what all rooms share: the folders
    "scripts.setup",
    "scripts.practise",  # needs nothing, so that pages can be made from it
    "scripts.proofs",  # needs nothing, so that `make prove` needs no packages
    "scripts.book",
    "scripts.measure",
    "scripts.bench",
    "scripts.examples",
    "scripts.figures",
    "scripts.pyodide",
    "scripts.site",
    "scripts.vectors",
    "scripts.matrix",
    "scripts.dist",
)
ROOMS = [floor for floor in FLOORS if floor.startswith("scripts.")]
INNER = [f"{path.parent.relative_to(ROOT)}" for path in ROOT.glob("scripts/*/*/__init__.py")]
PACKAGES = ROOMS + sorted(name.replace("/", ".") for name in INNER)
SHARED = "scripts"
DECLARED = re.compile(r"^Imports: (.+?)\.(?:\s|$)", re.M)


def room_of(module: str) -> str:
    first, *inner = module.split(".")
    return f"{first}.{inner[0]}" if first == "scripts" and inner else first


def imported(path: Path) -> Iterator[str]:
    """Yield the modules that a file imports, anywhere in it."""
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            folder = (ROOT / node.module.replace(".", "/")).is_dir()
            for alias in node.names:
                inside = ROOT / node.module.replace(".", "/") / alias.name
                is_module = folder and (inside.is_dir() or inside.with_suffix(".py").is_file())
                yield f"{node.module}.{alias.name}" if is_module else node.module


def arrows(room: str) -> set[str]:
    """Return the other rooms that the files of a room import."""
    files = (ROOT / room.replace(".", "/")).rglob("*.py")
    named = {room_of(module) for path in files for module in imported(path)}
    return {name for name in named if name.split(".")[0] in ("posenc", "scripts")} - {room}


def test_every_room_has_its_floor() -> None:
    folders = {path.parent.name for path in ROOT.glob("scripts/*/*.py")}
    assert {f"scripts.{name}" for name in folders} == set(ROOMS)


def test_the_package_imports_nothing_of_the_scripts() -> None:
    assert arrows("posenc") == set()


@pytest.mark.parametrize("room", ROOMS)
def test_no_room_imports_one_above_it(room: str) -> None:
    below = set(FLOORS[: FLOORS.index(room)])
    assert arrows(room) - below == set()


@pytest.mark.parametrize("room", ROOMS)
def test_a_room_says_which_rooms_it_imports(room: str) -> None:
    said = (ROOT / room.replace(".", "/") / "__init__.py").read_text("utf-8")
    declared = DECLARED.search(ast.get_docstring(ast.parse(said)) or "")
    found = {name.removeprefix("scripts.") for name in arrows(room) - {SHARED}}
    if not found:
        assert "Imports nothing from the project." in said
    else:
        assert declared
        assert set(declared[1].split(", ")) == found


@pytest.mark.parametrize("room", PACKAGES)
def test_a_room_lists_its_files(room: str) -> None:
    folder = ROOT / room.replace(".", "/")
    said = (folder / "__init__.py").read_text("utf-8")
    files = {path.name for path in folder.glob("[!_]*.py")}
    if room == "scripts.figures":  # one script a figure
        files = {name for name in files if name in ("card.py", "style.py", "typefaces.py")}
    assert {name for name in files if name not in said} == set()


def test_an_import_upwards_is_found(tmp_path: Path) -> None:
    planted = tmp_path / "planted.py"
    planted.write_text("def late():\n    from scripts.site import build\n    import posenc.nn\n")
    assert {room_of(module) for module in imported(planted)} == {"scripts.site", "posenc"}
