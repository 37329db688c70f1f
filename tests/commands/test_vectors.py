"""`make vectors` writes the same files again, which share no code with the package they test."""

from __future__ import annotations

import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from posenc.vectors import run, suites
from scripts import ROOT
from scripts.setup.node import node
from scripts.vectors import exact, released
from scripts.vectors.__main__ import FOLDER, SUITES, index, json_text, write
from scripts.vectors.cases import LICENSE, angle_tolerance, differs
from scripts.vectors.schema import schema
from tests.selection import give_up, slow_except

ADAPTERS = FOLDER / "adapters"
QUICK = ("swin", "shaw", "positions", "resize", "t5")


def read_json(name: str) -> Any:
    return json.loads((FOLDER / name).read_text("utf-8"))


def test_nothing_in_the_room_uses_the_package() -> None:
    for path in (ROOT / "scripts" / "vectors").rglob("*.py"):
        assert not re.search(r"^\s*(?:import|from) posenc", path.read_text("utf-8"), re.M), path


@pytest.mark.parametrize(
    "suite",
    slow_except(QUICK, SUITES),
)
def test_a_file_is_what_the_generator_writes(suite: str) -> None:
    assert SUITES[suite]().text() == (FOLDER / f"{suite}_v1.json").read_text("utf-8")


def test_the_index_and_the_schema_are_what_the_generator_writes() -> None:
    assert json_text(index(FOLDER)) == (FOLDER / "index.json").read_text("utf-8")
    assert json_text(schema()) == (FOLDER / "schema_v1.json").read_text("utf-8")


def test_one_suite_can_be_written_alone(tmp_path: Path) -> None:
    write(tmp_path, ["swin"])
    files = {"swin_v1.json", "schema_v1.json", "index.json"}
    assert {path.name for path in tmp_path.iterdir()} == files
    found = json.loads((tmp_path / "index.json").read_text("utf-8"))
    assert list(found["suites"]) == ["swin"]
    digest = hashlib.sha256((tmp_path / "swin_v1.json").read_bytes()).hexdigest()
    assert found["suites"]["swin"]["sha256"] == digest


def test_the_files_are_of_sensible_size() -> None:
    sizes = [path.stat().st_size for path in FOLDER.glob("*.json")]
    assert sum(sizes) < 7_200_000


def validator() -> Any:
    kind = jsonschema.validators.validator_for(schema())
    kind.check_schema(schema())
    return kind(schema())


@pytest.mark.parametrize("suite", SUITES)
def test_every_file_is_valid_by_its_schema(suite: str) -> None:
    found = read_json(f"{suite}_v1.json")
    if suite not in QUICK:  # the others have more of the same
        found["cases"] = found["cases"][::9]
    assert list(validator().iter_errors(found)) == []


@pytest.mark.parametrize(
    "place",
    [(), ("cases", 0), ("cases", 0, "input"), ("cases", 0, "tolerance"), ("conventions",)],
)
def test_an_unknown_field_is_not_valid(place: tuple[Any, ...]) -> None:
    found = read_json("t5_v1.json")
    found["cases"] = found["cases"][:1]
    inner = found
    for key in place:
        inner = inner[key]
    inner["surprise"] = {"not": "text"}
    assert list(validator().iter_errors(found)) != []


def test_an_input_of_another_suite_is_not_valid() -> None:
    found = read_json("swin_v1.json")
    found["cases"][0]["input"] = {"heads": 3}
    assert list(validator().iter_errors(found)) != []


@pytest.mark.parametrize(
    ("value", "float32", "bfloat16"),
    [
        (1, 1.0, 1.0),
        (0, 0.0, 0.0),
        (257, 257.0, 256.0),
        (259, 259.0, 260.0),
        (-1001, -1001.0, -1000.0),
        (0.1, 0.10000000149011612, 0.10009765625),
        (16777217, 16777216.0, 16777216.0),
    ],
)
def test_numbers_are_rounded_as_by_hardware(value: float, float32: float, bfloat16: float) -> None:
    assert exact.nearest(exact.float32(value)) == float32
    assert exact.nearest(exact.bfloat16(value)) == bfloat16


def test_numbers_have_fifty_digits_and_are_rounded_once() -> None:
    third = exact.exact(1) / 3
    assert exact.mp.nstr(third, 50) == "0." + "3" * 50
    assert exact.nearest(third) == 1 / 3
    assert exact.rounded_to_float64({"a": [third, 2, None, "-Infinity", True]}) == {
        "a": [1 / 3, 2, None, "-Infinity", True]
    }


def test_a_bug_that_cannot_be_told_from_the_truth_is_left_out() -> None:
    tolerance = angle_tolerance(1.0, 1.0)
    assert not differs([1.0, 2.0], [1.0, 2.0 + 1e-15], tolerance)
    assert not differs([1.0, None], [1.0, 7.0], tolerance)
    assert differs([1.0, 2.0], [1.0, 2.001], tolerance)
    assert differs([1.0, 2.0], [1.0], tolerance)
    assert differs(["-Infinity"], [0.0], tolerance)


# What has been released.


def test_released_cases_stay_as_they_are() -> None:
    assert released.changes(FOLDER) == []


def test_every_case_of_the_last_release_is_kept() -> None:
    found = released.released()
    *_, last = found["releases"].values()
    kept = sum(len(digests.split()) for digests in found["cases"].values())
    assert kept == sum(last.values()) > 1600


@pytest.fixture
def copied(tmp_path: Path) -> Path:
    """Return a copy of the files of suite swin, released as 1.0."""
    write(tmp_path, ["swin"])
    released.release("1.0", tmp_path, tmp_path / "released.json")
    return tmp_path


def change_cases(folder: Path, change: Callable[[list[Any]], object]) -> None:
    file = folder / "swin_v1.json"
    found = json.loads(file.read_text("utf-8"))
    change(found["cases"])
    file.write_text(json.dumps(found), "utf-8")


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda cases: cases[1]["input"].update(window=9), "swin/window-002 has changed"),
        (lambda cases: cases[1].update(expected=[[0]]), "swin/window-002 has changed"),
        (lambda cases: cases.pop(1), "swin/window-002 is missing"),
    ],
    ids=["input", "expected", "id"],
)
def test_a_released_case_that_changes_is_noticed(
    change: Callable[[list[Any]], object], said: str, copied: Path
) -> None:
    change_cases(copied, change)
    assert released.changes(copied, copied / "released.json") == [said]
    with pytest.raises(ValueError, match=f"released cases must stay as they are: {said}"):
        released.release("1.1", copied, copied / "released.json")


def test_a_case_may_be_added_or_withdrawn(copied: Path) -> None:
    change_cases(copied, lambda cases: cases[1]["flags"].append("withdrawn"))
    change_cases(copied, lambda cases: cases.append(cases[1] | {"id": "swin/window-006"}))
    file = copied / "released.json"
    assert released.changes(copied, file) == []
    assert released.counts(copied, file) == [
        {"suite": "swin", "1.0": 8, "since": 1, "withdrawn": 2}
    ]
    released.release("1.1", copied, file)
    assert list(released.released(file)["releases"]) == ["1.0", "1.1"]
    with pytest.raises(ValueError, match=r"version must be new; 1\.1 has been released"):
        released.release("1.1", copied, file)


def test_a_case_is_withdrawn_by_a_flag_alone() -> None:
    suite = SUITES["swin"]()
    before = suite.text()
    suite.withdraw("swin/window-002")
    assert suite.text().replace('"window","withdrawn"', '"window"') == before
    with pytest.raises(ValueError, match="names must be those of cases; got swin/window-999"):
        suite.withdraw("swin/window-999")


def test_a_refusal_says_why() -> None:
    with pytest.raises(ValueError, match=r"flags must have one of REFUSALS in inputs\.py"):
        SUITES["swin"]().refuse({"window": 1.5}, "half a patch")


def test_every_file_tells_its_licence() -> None:
    for path in FOLDER.glob("*.json"):
        found = read_json(path.name)
        assert found.get("license", found.get("$comment")) == LICENSE
    for path in ADAPTERS.glob("*.*"):
        assert "SPDX-License-Identifier: MIT" in path.read_text("utf-8")[:400], path


# Adapters.


# For each language, what compiles a program.
COMPILERS = {
    ".c": ["cc", "-std=c99", "-pedantic", "-Wall", "-Wextra", "-Werror", "-O2"],
    ".cpp": ["c++", "-std=c++17", "-Wall", "-Wextra", "-Werror", "-O2"],
    ".rs": ["rustc", "-O", "-D", "warnings"],
    ".go": ["go", "build"],
    ".swift": ["swiftc", "-O"],
}
OFTEN = ("cc", "c++")  # installed where `make test-all` runs


def command_of(adapter: str, tmp_path: Path) -> list[str]:
    """Return the command that runs an adapter, which is compiled; skip what cannot be."""
    path = str(ADAPTERS / adapter)
    suffix = Path(adapter).suffix
    if suffix not in COMPILERS:
        return [sys.executable, path] if suffix == ".py" else node(path)
    compiler, *options = COMPILERS[suffix]
    if not shutil.which(compiler):
        if compiler in OFTEN:
            give_up(f"{compiler} is not installed")
        pytest.skip(f"{compiler} is not installed")
    build = [compiler, *options, "-o", str(tmp_path / "program"), path]
    build += ["-lm"] * (suffix == ".c")
    environment = os.environ | {"GOCACHE": str(tmp_path / "cache"), "GO111MODULE": "off"}
    subprocess.run(build, check=True, env=environment)
    return [str(tmp_path / "program")]


LEAST = {"numpy_posenc.py": 1500, "book.mjs": 600, "rope.c": 200, "rotation.mjs": 50} | {
    f"rotation{suffix}": 50 for suffix in COMPILERS
}


@pytest.mark.parametrize(
    "adapter", slow_except(("numpy_posenc.py", "book.mjs", "rotation.mjs"), LEAST)
)
def test_an_adapter_passes_all_that_it_offers(adapter: str, tmp_path: Path) -> None:
    least = LEAST[adapter]
    suite = "rotation" if adapter.startswith("rotation") else None
    report = run(command_of(adapter, tmp_path), suite=suite, seconds=60)
    assert [f"{one.case.id}: {one.said}" for one in report.failed + report.crashed] == []
    assert report.status == 0
    assert report.contract == "float64"
    assert len(report.passed) >= least


def test_every_adapter_is_tried() -> None:
    assert {path.name for path in ADAPTERS.iterdir() if path.is_file()} == {*LEAST, "vectors.h"}


@pytest.mark.slow
def test_the_wheel_has_the_files_and_reads_them(tmp_path: Path) -> None:
    source = tmp_path / "source"
    skipped = shutil.ignore_patterns("__pycache__", "files")
    for name in ("posenc", "docs/vectors"):
        shutil.copytree(ROOT / name, source / name, ignore=skipped)
    for name in ("pyproject.toml", "posenc_pytest.py", "setup.py", "README.md", "LICENSE"):
        shutil.copy(ROOT / name, source)
    build = "import sys; from setuptools import build_meta; build_meta.build_wheel(sys.argv[1])"
    command = [sys.executable, "-c", build, str(tmp_path)]
    subprocess.run(command, cwd=source, check=True, capture_output=True)
    (wheel,) = tmp_path.glob("*.whl")
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(tmp_path / "installed")
    asked = "v.__file__, *v.suites(), len(v.load('t5').cases)"
    script = f"import posenc.vectors as v; print({asked}, sep='\\n')"
    done = subprocess.run(
        [sys.executable, "-c", script],
        cwd=tmp_path / "installed",
        capture_output=True,
        text=True,
        check=True,
    )
    place, *names, count = done.stdout.splitlines()
    assert Path(place).is_relative_to(tmp_path)
    assert tuple(names) == suites()
    assert int(count) > 100
