"""Every public name says what it promises, and importing the package costs numpy only."""

from __future__ import annotations

import ast
import doctest
import importlib
import inspect
import json
import subprocess
import sys
import tomllib
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType

import pytest

import posenc

ROOT = Path(__file__).resolve().parents[2]
WINGS = ("embeddings", "rotary", "axes", "graphs", "scores")
SECTIONS = ("Args:", "Raises:", "Source:", "Examples:")


def public_callables() -> Iterator[tuple[str, Callable[..., object]]]:
    """Yield every public function, class and method, under the name a reader would write."""
    for name in posenc.__all__:
        thing = getattr(posenc, name)
        yield name, thing
        if inspect.isclass(thing):
            for method, body in inspect.getmembers(thing, inspect.isfunction):
                if not method.startswith("_"):
                    yield f"{name}.{method}", body


def imports(package: ModuleType) -> list[ast.ImportFrom]:
    """Return the imports of names in the file of a package."""
    tree = ast.parse(Path(package.__file__ or "").read_text("utf-8"))
    return [node for node in tree.body if isinstance(node, ast.ImportFrom)]


def imported_from(package: ModuleType) -> set[str]:
    """Return the modules that a package imports names from."""
    return {node.module or "" for node in imports(package)}


PUBLIC = dict(public_callables())
MODULES = sorted({thing.__module__ for thing in PUBLIC.values()})


@pytest.mark.parametrize("name", PUBLIC)
def test_every_public_name_says_what_it_promises(name: str) -> None:
    text = inspect.getdoc(PUBLIC[name]) or ""
    promises = "Attributes:" if inspect.isclass(PUBLIC[name]) else "Returns:"
    # A method stands under its class, which names the source.
    wanted = [s for s in (*SECTIONS, promises) if s != "Source:" or "." not in name]
    assert [section for section in wanted if f"\n{section}\n" not in text] == []
    assert text.splitlines()[0].endswith(".")
    assert ">>> " in text


@pytest.mark.parametrize("name", PUBLIC)
def test_every_argument_is_documented_and_annotated(name: str) -> None:
    thing = PUBLIC[name]
    signature = inspect.signature(thing.__init__ if inspect.isclass(thing) else thing)
    assert signature.return_annotation is not signature.empty
    for argument in signature.parameters.values():
        if argument.name != "self":
            assert argument.annotation is not argument.empty, argument
            assert f"\n    {argument.name}: " in (inspect.getdoc(thing) or ""), argument


@pytest.mark.parametrize("name", PUBLIC)
def test_at_most_four_arguments_go_by_place(name: str) -> None:
    by_place = inspect.Parameter.POSITIONAL_OR_KEYWORD
    parameters = inspect.signature(PUBLIC[name]).parameters.values()
    assert sum(p.kind is by_place and p.name != "self" for p in parameters) <= 4


@pytest.mark.parametrize("module", MODULES)
def test_every_docstring_example_prints_what_it_says(module: str) -> None:
    # Not `import posenc.frequency`, which is the function of that name.
    outcome = doctest.testmod(importlib.import_module(module))
    assert outcome.attempted > 0
    assert outcome.failed == 0


def test_every_file_of_a_wing_is_on_the_map() -> None:
    wings = [path for path in (ROOT / "posenc").iterdir() if path.name in WINGS]
    files = {
        f"posenc.{file.parent.name}.{file.stem}" for wing in wings for file in wing.glob("*.py")
    }
    missing = {file for file in files if not file.endswith("__")} - imported_from(posenc)
    assert not missing, f"import the public names of {missing} in posenc/__init__.py"


@pytest.mark.parametrize("package", ["posenc", "posenc.nn"])
def test_every_imported_name_is_public_for_type_checkers(package: str) -> None:
    module = importlib.import_module(package)
    plain = {
        name.name
        for node in imports(module)
        for name in node.names
        if node.module != package and name.asname != name.name
    }
    assert not plain, f"in {package}, write `import name as name` for {plain}"
    assert {name.name for node in imports(module) for name in node.names} == {*module.__all__}
    assert module.__all__ == sorted(module.__all__)


def test_importing_posenc_brings_in_numpy_and_nothing_else() -> None:
    script = (
        "import json, sys\n"
        "before = set(sys.modules)\n"
        "import posenc\n"
        "new = {name.partition('.')[0] for name in set(sys.modules) - before}\n"
        "print(json.dumps(sorted(new - set(sys.stdlib_module_names))))\n"
    )
    command = [sys.executable, "-W", "error", "-c", script]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stderr) == (0, "")
    assert json.loads(done.stdout) == ["numpy", "posenc"]


def test_the_package_is_marked_as_typed() -> None:
    assert (Path(posenc.__file__).parent / "py.typed").is_file()


def test_the_version_is_the_one_that_is_published() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert posenc.__version__ == project["version"]
