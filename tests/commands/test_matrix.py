"""`make matrix` asks libraries that are made here, keeps what holds, and names what goes wrong."""

from __future__ import annotations

import json
import sys
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from posenc.vectors import Report, load, run
from scripts.matrix import trial
from scripts.matrix.__main__ import main
from scripts.matrix.adapters import lines
from scripts.matrix.counts import counts, grouped, ranges
from scripts.matrix.environments import anonymous, reason
from scripts.matrix.record import ADAPTERS, libraries

SOUND = """\
from lines import Unsupported, answer_lines, library
import {package}

def swin(window):
    with library():
        return {package}.index(window)

if __name__ == "__main__":
    answer_lines({{"swin": swin}})
"""
INDEX = """\
def index(window):
    if type(window) is not int or window < 1:
        raise ValueError("window must be an integer, 1 or more")
    cells = [(row, column) for row in range(window) for column in range(window)]
    return [
        [(a - c + window - 1) * (2 * window - 1) + b - d + window - 1 for c, d in cells]
        for a, b in cells
    ]
"""
MISTAKE = "first: no result, since its adapter has a mistake"
PROGRAM = "import {package}\nprint({package}.index(1))\n"


class Bench:
    """A folder of libraries of our own, which pip finds without a network."""

    def __init__(self, place: Path) -> None:
        self.place = place
        self.folder, self.adapters = place / "matrix", place / "adapters"
        for name in ("libraries", "programs", "results"):
            (self.folder / name).mkdir(parents=True)
        self.adapters.mkdir()
        (place / "wheels").mkdir()

    def add(self, name: str, *, adapter: str = SOUND, source: str = INDEX) -> None:
        """Add a library with its wheel, its description, its adapter and a program."""
        wheel(self.place / "wheels", name, source)
        self.describe(name)
        (self.adapters / f"{name}.py").write_text(adapter.format(package=name), "utf-8")
        (self.folder / "programs" / f"{name}.py").write_text(PROGRAM.format(package=name), "utf-8")

    def describe(self, name: str, pin: str = "==1.0") -> None:
        """Write the description of a library."""
        text = (
            f"title: {name}\nhome: https://example.org\ngroup: other\nfree: true\n"
            f"install: ['{name}{pin}']\nasked: {{swin: index}}\n"
            "differences:\n"
            f"  - {{suite: swin, kind: fault, what: nothing, program: {name}.py}}\n"
        )
        (self.folder / "libraries" / f"{name}.yml").write_text(text, "utf-8")

    def run(self, *names: str, seconds: str = "20") -> int:
        places = ["--folder", self.folder, "--adapters", self.adapters]
        places += ["--environments", self.place / "environments", "--seconds", seconds]
        return main([*names, *map(str, places)])

    def path(self, name: str) -> Path:
        return self.folder / "results" / f"{name}.json"

    def result(self, name: str) -> Any:
        return json.loads(self.path(name).read_text("utf-8"))

    def swin(self, name: str) -> Any:
        """Return the counts of the suite that is asked."""
        return self.result(name)["ways"][""]["suites"]["swin"]


def wheel(place: Path, name: str, source: str) -> None:
    about = f"{name}-1.0.dist-info"
    files = {
        f"{name}.py": source,
        f"{about}/METADATA": f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n",
        f"{about}/WHEEL": "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
        f"{about}/RECORD": f"{name}.py,,\n{about}/METADATA,,\n{about}/WHEEL,,\n{about}/RECORD,,\n",
    }
    with zipfile.ZipFile(place / f"{name}-1.0-py3-none-any.whl", "w") as archive:
        for path, text in files.items():
            archive.writestr(path, text)


@pytest.fixture
def bench(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Bench:
    made = Bench(tmp_path)
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(tmp_path / "wheels"))
    return made


@pytest.mark.slow
def test_a_library_is_installed_asked_and_removed(bench: Bench) -> None:
    bench.add("first")
    assert bench.run() == 0
    found = bench.result("first")
    assert found["versions"] == {"first": "1.0"}
    cases = [case for case in load("swin").cases if case.expected is not None]
    assert bench.swin("first") == {
        "asked": len(cases),
        "passed": len(cases),
        "nonsense": {"refused": len(load("swin").cases) - len(cases)},
    }
    assert found["programs"]["first.py"]["output"] == "[[0]]"
    assert [*(bench.place / "environments").iterdir()] == []
    assert str(bench.place) not in bench.path("first").read_text("utf-8")


@pytest.mark.slow
def test_results_that_hold_are_kept_and_a_deleted_one_is_remade_alone(
    bench: Bench, capsys: pytest.CaptureFixture[str]
) -> None:
    bench.add("first")
    bench.add("second")
    assert bench.run() == 0
    kept = bench.path("first").stat().st_mtime_ns
    bench.path("second").unlink()
    assert bench.run() == 0
    assert "1 of 2 results hold" in capsys.readouterr().err
    assert bench.path("first").stat().st_mtime_ns == kept
    assert bench.path("second").is_file()
    assert bench.run() == 0
    assert "2 of 2 results hold" in capsys.readouterr().err


@pytest.mark.slow
@pytest.mark.parametrize("changed", ["adapter", "program", "pin"])
def test_a_result_of_other_files_is_made_again(bench: Bench, changed: str) -> None:
    bench.add("first")
    assert bench.run() == 0
    before = bench.result("first")["digests"]
    if changed == "pin":
        bench.describe("first", "==1.0.0")
    else:
        folder = bench.adapters if changed == "adapter" else bench.folder / "programs"
        path = folder / "first.py"
        path.write_text(path.read_text("utf-8") + "\n# changed\n", "utf-8")
    assert bench.run("first") == 0
    after = bench.result("first")["digests"]
    named = {"adapter": "adapter", "program": "programs", "pin": "install"}[changed]
    assert {key for key in before if before[key] != after[key]} == {named}


@pytest.mark.slow
def test_only_suites_with_other_cases_are_asked_again(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    bench.add("first")
    assert bench.run() == 0
    made = bench.result("first")
    (suite,) = made["digests"]["vectors"]
    made["digests"]["vectors"][suite] = "of other cases"
    kept = made["ways"][""]["suites"]["another"] = made["ways"][""]["suites"][suite]
    bench.path("first").write_text(json.dumps(made), "utf-8")
    asked: list[str | None] = []

    def listen(command: list[str], *, suite: str | None = None, **limits: Any) -> Report:
        asked.append(suite)
        return run(command, suite=suite, **limits)

    monkeypatch.setattr(trial, "ask", listen)
    assert bench.run() == 0
    again = bench.result("first")
    assert asked == [suite]
    assert again["digests"]["vectors"][suite] != "of other cases"
    assert again["ways"][""]["suites"]["another"] == kept


@pytest.mark.slow
@pytest.mark.parametrize(
    ("pin", "source", "step", "reason"),
    [
        ("==9.9", INDEX, "install", "first==9.9"),
        ("==1.0", "import nothing_of_this_name", "start", "nothing_of_this_name"),
    ],
)
def test_a_library_that_cannot_be_installed_or_imported_is_named_and_the_run_goes_on(
    bench: Bench, capsys: pytest.CaptureFixture[str], pin: str, source: str, step: str, reason: str
) -> None:
    bench.add("first", source=source)
    bench.add("second")
    bench.describe("first", pin)
    assert bench.run() == 0
    failed = bench.result("first")["failed"]
    assert failed["step"] == step
    assert reason in failed["said"]
    assert str(bench.place) not in failed["said"]
    output = capsys.readouterr().out
    assert ("first: could not be installed" in output) == (step == "install")
    assert bench.swin("second")["passed"] > 0


@pytest.mark.slow
def test_answers_are_not_lost_to_a_failed_installation(bench: Bench) -> None:
    bench.add("first")
    assert bench.run() == 0
    before = bench.result("first")
    bench.describe("first", "==9.9")
    assert bench.run() == 1
    assert bench.result("first") == before


@pytest.mark.slow
@pytest.mark.parametrize(
    ("fault", "said"),
    [
        ("import os; os._exit(3)", "ended with status 3"),
        ("import time; time.sleep(60)", "no answer within 2 s"),
    ],
)
def test_an_adapter_that_dies_or_hangs_loses_its_case_alone(
    bench: Bench, fault: str, said: str
) -> None:
    bench.add(
        "first", adapter=SOUND.replace("        return", f"        {fault}\n        return", 1)
    )
    body = (bench.adapters / "first.py").read_text("utf-8")
    body = body.replace(f"        {fault}\n", f"        if window == 2:\n            {fault}\n")
    (bench.adapters / "first.py").write_text(body, "utf-8")
    assert bench.run(seconds="2") == 0
    found = bench.swin("first")
    assert found["crashed"]["count"] == 1
    assert said in next(iter(found["crashed"]["reasons"]))
    assert found["passed"] == found["asked"] - 1


@pytest.mark.slow
@pytest.mark.parametrize(
    ("file", "old", "new", "complaint"),
    [
        ("adapter", "    with library():\n", "    {}['nothing']\n    with library():\n", MISTAKE),
        # Not a refusal, though raised in the call.
        ("adapter", ".index(window)", ".index(window, 1)", MISTAKE),
        ("program", "print(", "raise SystemExit(4)\nprint(", "first.py ended with status 4"),
    ],
)
def test_a_mistake_of_an_adapter_or_a_program_is_no_result(
    bench: Bench,
    capsys: pytest.CaptureFixture[str],
    file: str,
    old: str,
    new: str,
    complaint: str,
) -> None:
    bench.add("first")
    bench.add("second")
    folder = bench.adapters if file == "adapter" else bench.folder / "programs"
    text = (folder / "first.py").read_text("utf-8")
    assert old in text
    (folder / "first.py").write_text(text.replace(old, new), "utf-8")
    assert bench.run() == 1
    assert not bench.path("first").exists()
    assert complaint in capsys.readouterr().out
    assert bench.path("second").is_file()


@pytest.mark.slow
def test_a_torn_result_is_named_and_made_again(
    bench: Bench, capsys: pytest.CaptureFixture[str]
) -> None:
    bench.add("first")
    bench.path("first").write_text('{"digests":', "utf-8")
    assert bench.run() == 0
    assert "first.json is torn" in capsys.readouterr().err
    assert bench.swin("first")["passed"] > 0


def test_an_unknown_library_is_refused(bench: Bench) -> None:
    bench.add("first")
    with pytest.raises(SystemExit, match="no library 'other'; there are first"):
        bench.run("other")


@pytest.mark.parametrize(
    ("says", "instead", "complaint"),
    [
        ("==1.0", ">=1.0", "install/0: .* does not match"),
        ("swin: index", "swan: index", "asked names 'swan'"),
        ("suite: swin", "suite: t5", "a difference names 't5'"),
        ("kind: fault", "kind: crime", "differences/0/kind: 'crime' is not one of"),
        ("program: first.py", "program: other.py", "other.py does not exist"),
        ("https://", "ftp://", "home: .* does not match"),
        ("group: other", "group: none", "group: 'none' is not one of"),
        ("free: true", "free: true\nfast: true", "'fast' was unexpected"),
    ],
)
def test_a_wrong_description_is_refused(
    bench: Bench, says: str, instead: str, complaint: str
) -> None:
    bench.add("first")
    path = bench.folder / "libraries" / "first.yml"
    path.write_text(path.read_text("utf-8").replace(says, instead, 1), "utf-8")
    with pytest.raises(ValueError, match=complaint):
        libraries(bench.folder, bench.adapters)


def raising(error: Exception) -> Callable[[], None]:
    def call() -> None:
        with lines.library():
            raise error

    return call


def test_errors_of_a_library_are_refusals(monkeypatch: pytest.MonkeyPatch) -> None:
    # Of the processes that run tests side by side, the main module has no file.
    monkeypatch.setattr(sys.modules["__main__"], "__file__", "adapter.py", raising=False)
    with pytest.raises(lines.Refused, match="ValueError: odd"):
        raising(ValueError("odd"))()
    with pytest.raises(lines.Unsupported, match="no such rule"):
        raising(NotImplementedError("no such rule"))()
    with pytest.raises(lines.Unsupported, match=r"^why$"):
        raising(lines.Unsupported("why"))()


def test_answers_are_written_as_json_can_say_them() -> None:
    odd = {"a": (float("-inf"), float("nan")), "b": [float("inf"), 1.5]}
    assert lines.plain(odd) == {"a": ["-Infinity", "NaN"], "b": ["Infinity", 1.5]}


def test_sequences_go_to_the_object_that_they_name() -> None:
    class Counter:
        def __init__(self, d: int) -> None:
            self.d = d

        def rotate(self, x: int) -> int:
            return self.d * x

    calls = [{"object": n, "do": "rotate", "x": x} for n, x in ((0, 1), (1, 1), (0, 2))]
    assert lines.objects(Counter)([{"d": 10}, {"d": 7}], calls) == [10, 7, 20]
    with pytest.raises(lines.Unsupported, match="cast is not offered"):
        lines.objects(Counter)([{"d": 1}], [{"object": 0, "do": "cast"}])


def test_an_input_that_an_adapter_has_no_parameter_for_is_not_offered() -> None:
    def swin(window: int) -> list[list[int]]:
        return [[window]]

    asked = {"suite": "swin", "input": {"window": 1}}
    assert lines.answer({"swin": swin}, "any", asked) == {"ok": [[1]]}
    asked["input"] = {"window": 1, "shift": 1}
    told = lines.answer({"swin": swin}, "any", asked)
    assert told == {"unsupported": "got an unexpected keyword argument 'shift'"}


def test_a_mistake_inside_of_an_adapter_is_not_taken_for_a_missing_parameter() -> None:
    def swin(window: int) -> list[list[int]]:
        return sorted(window)  # type: ignore[call-overload, no-any-return]

    with pytest.raises(TypeError, match="not iterable"):
        lines.answer({"swin": swin}, "any", {"suite": "swin", "input": {"window": 1}})


class Places(lines.CountedByCaller):
    """Answers with the positions that it is told."""

    def __init__(self, d: int) -> None:
        self.d = d

    def rotate(self, x: list[Any], positions: list[int]) -> list[int]:
        return positions


def test_a_setting_or_an_input_that_an_object_does_not_take_is_not_offered() -> None:
    with pytest.raises(lines.Unsupported, match="argument 'rule'"):
        lines.objects(Places)([{"d": 4, "rule": "yarn"}], [{"object": 0, "do": "restart"}])
    call = {"object": 0, "do": "extend", "x": [0], "length": 3}
    with pytest.raises(lines.Unsupported, match="argument 'length'"):
        lines.objects(Places)([{"d": 4}], [call])


def test_tokens_are_counted_for_libraries_whose_callers_count() -> None:
    extend = [
        {"object": n, "do": "extend", "x": [0] * size} for n, size in ((0, 3), (1, 1), (0, 2))
    ]
    restart = [{"object": 0, "do": "restart"}, {"object": 0, "do": "extend", "x": [0]}]
    answers = lines.objects(Places)([{"d": 4}, {"d": 4}], [*extend, *restart])
    assert answers == [[0, 1, 2], [0], [3, 4], None, [0]]


def test_cases_are_named_in_few_words() -> None:
    assert ranges([1, 2, 3, 7]) == "1-3, 7"
    assert grouped(["t5/near-001", "t5/far-002"]) == {"near": "1", "far": "2"}
    assert counts([]) == {"asked": 0}


def test_reasons_have_no_addresses_and_places() -> None:
    said = "Looking\nERROR: no x at https://host.example/simple/x from /home/me/wheels/x.whl\n"
    assert reason(said) == "ERROR: no x at … from …/x.whl"
    assert anonymous("a" * 900).endswith("…")
    assert anonymous("2/3 of a/b") == "2/3 of a/b"


def test_adapters_import_nothing_of_the_repository() -> None:
    for path in ADAPTERS.glob("*.py"):
        text = path.read_text("utf-8")
        assert "from scripts" not in text, path.name
        assert "posenc" not in text.replace("positional", ""), path.name
    assert sys.version_info >= (3, 11)  # -P keeps adapters from being imported as libraries
