"""`posenc.vectors` reads vectors, tests functions and programs against them, and reports."""

from __future__ import annotations

import contextlib
import hashlib
import io
import json
import math
import re
import runpy
import shutil
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pytest

from posenc import (
    alibi_slopes,
    apply_rope,
    frequencies,
    ntk_frequencies,
    swin_index,
    vectors,
)
from posenc.__main__ import main
from posenc._console import REPORT
from posenc.vectors import Case, Report, UnsupportedError, check, load, run, suites
from posenc.vectors import runner as running
from posenc.vectors import suite as files
from posenc.vectors.compare import judge_answer, misfit
from posenc.vectors.report import joined_report
from posenc.vectors.runner import STRAY, Program

Config = dict[str, Any]

ROOT = Path(__file__).resolve().parents[2]
FOLDER = ROOT / "docs" / "vectors"
ADAPTER = FOLDER / "adapters" / "numpy_posenc.py"
ANSWERS: dict[str, Callable[..., Any]] = runpy.run_path(str(ADAPTER))["ANSWERS"]
OBJECT: Callable[..., Any] = runpy.run_path(str(ADAPTER))["Rotary"]

CASE = Case(
    "swin/window-001",
    "swin",
    {"window": 1},
    [1.0, 2.0, -4.0],
    {
        "float64": {"absolute": 1e-12, "relative": 0.0},
        "float32 angle": {"absolute": 1e-4, "relative": 0.0},
        "bfloat16 result": {"absolute": 1e-2, "relative": 0.0},
    },
    "acceptable",
    (),
    {"reversed": [-4.0, 2.0, 1.0]},
    {"doubled": [2.0, 4.0, -8.0], "negative": [-1.0, -2.0, 4.0]},
)


@pytest.mark.parametrize("suite", suites())
def test_posenc_passes_every_case(suite: str) -> None:
    function = OBJECT if suite == "sequences" else ANSWERS[suite]
    report = check(function, suite, contract="float64")
    assert [f"{one.case.id}: {one.said}" for one in report.outcomes if one.status != "passed"] == []
    assert len(report.passed) == len(load(suite).cases)


def test_there_are_enough_cases() -> None:
    found = list(vectors.cases())
    assert len(found) >= 1500
    assert len({case.id for case in found}) == len(found)
    assert {case.result for case in found} == {"valid", "acceptable", "invalid"}


def test_every_bug_and_convention_of_a_case_is_described() -> None:
    for name in suites():
        suite = load(name)
        for case in suite.cases:
            assert set(case.bugs) <= set(suite.bugs)
            assert set(case.acceptable) <= set(suite.conventions)
            assert case.result == "acceptable" or not case.acceptable


def zeros(answer: Any) -> Any:
    """Return an answer with 0 for each number."""
    if isinstance(answer, dict):
        return {key: zeros(inner) for key, inner in answer.items()}
    if isinstance(answer, list):
        return [zeros(inner) for inner in answer]
    return answer if answer is None or isinstance(answer, str) else 0.0


@pytest.mark.slow
def test_zeros_pass_where_the_answer_is_zeros_alone() -> None:
    for case in vectors.cases():
        answer = zeros(case.expected)
        for contract in vectors.CONTRACTS:
            if judge_answer(case, answer, contract).status == "passed":
                assert misfit(case.expected, answer, {"absolute": 0.0, "relative": 0.0}).error == 0


def test_a_case_that_a_contract_cannot_test_is_left_out() -> None:
    case = next(case for case in vectors.cases("scores") if len(case.tolerance) == 1)
    verdict = judge_answer(case, case.expected, "bfloat16 result")
    assert (verdict.status, verdict.said) == (
        "unsupported",
        "bfloat16 result is too loose to test this case",
    )
    assert judge_answer(case, zeros(case.expected), "float64").status == "failed"


def test_a_suite_and_a_case_are_shown_by_their_names() -> None:
    suite = load("swin")
    assert repr(suite) == f"Suite('swin', {len(suite.cases)} cases)"
    assert repr(suite.cases[0]) == "Case('swin/window-001')"
    assert suite.counts == {"valid": 5, "acceptable": 0, "invalid": 3}


@pytest.fixture
def copied(tmp_path: Path) -> Path:
    """Return a copy of the files."""
    for file in FOLDER.glob("*.json"):
        shutil.copy(file, tmp_path)
    return tmp_path


def test_a_changed_digit_is_noticed(copied: Path) -> None:
    file = copied / "swin_v1.json"
    file.write_text(file.read_text("utf-8").replace("[4,3,1,0]", "[4,3,1,1]"), "utf-8")
    with pytest.raises(ValueError, match=r"swin_v1.json must have the digest that index.json has"):
        load("swin", folder=copied)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("{", "index.json must be JSON; it is malformed"),
        ("[]", "index.json must be of version 1; got None"),
        ('{"version": 2}', "index.json must be of version 1; got 2"),
        ('{"version": 1}', "index.json must have suites"),
        ('{"version": 1, "suites": []}', "index.json has malformed suites"),
        ('{"version": 1, "suites": {"swin": {}}}', "index.json must have file"),
        ('{"version": 1, "suites": {"swin": 5}}', "must have an object with file; got 5"),
    ],
)
def test_a_wrong_index_is_refused(copied: Path, text: str, message: str) -> None:
    (copied / "index.json").write_text(text, "utf-8")
    with pytest.raises(ValueError, match=message):
        load("swin", folder=copied)


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('"about":', '"abut":', "swin_v1.json must have about"),
        ('"expected":[[0]]', '"expcted":[[0]]', "must have expected in swin/window-001"),
        ('"expected":[[0]]', '"expected":[[0]],"x":1', "must not have x in swin/window-001"),
        ('"flags":["window"]', '"flags":3', "swin_v1.json has malformed flags in swin/window-001"),
    ],
)
def test_a_field_that_is_missing_or_unknown_is_named(
    old: str, new: str, message: str, copied: Path
) -> None:
    file, index = copied / "swin_v1.json", copied / "index.json"
    before = file.read_bytes()
    after = before.replace(old.encode(), new.encode())
    assert after != before
    file.write_bytes(after)
    old_digest, new_digest = (hashlib.sha256(text).hexdigest() for text in (before, after))
    index.write_text(index.read_text("utf-8").replace(old_digest, new_digest), "utf-8")
    with pytest.raises(ValueError, match=message):
        load("swin", folder=copied)


def test_missing_files_are_said_to_be_missing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(files, "FOLDERS", (tmp_path,))
    with pytest.raises(FileNotFoundError, match="the vector files are not here"):
        suites()


# What an answer is.


@pytest.mark.parametrize(
    ("answer", "status", "like"),
    [
        ([1.0, 2.0, -4.0], "passed", ()),
        (np.array([1.0, 2.00005, -4.0]), "passed", ()),
        ((1, 2, -4), "passed", ()),
        ([-4.0, 2.0, 1.0], "acceptable", ("reversed",)),
        ([2.0, 4.0, -8.0], "failed", ("doubled",)),
        ([-1.0, -2.0, 4.00001], "failed", ("negative",)),
        ([1.0, 2.0, -3.0], "failed", ()),
    ],
)
def test_an_answer_is_judged(answer: Any, status: str, like: tuple[str, ...]) -> None:
    verdict = judge_answer(CASE, answer, "float32 angle")
    assert (verdict.status, verdict.like) == (status, like)


def test_the_contract_says_how_exact() -> None:
    answer = [1.0, 2.0, -4.001]
    found = [judge_answer(CASE, answer, contract).status for contract in vectors.CONTRACTS]
    assert found == ["failed", "failed", "passed"]


@pytest.mark.parametrize(
    ("answer", "place", "message"),
    [
        ([1.0, 2.5, -4.0], "[1]", "must be 2; got 2.5"),
        ([1.0, 2.0], "", "must have 3 entries; got 2 entries"),
        (7, "", "must have 3 entries; got 7"),
        ({"a": 1}, "", "must have 3 entries; got an object with a"),
        ({}, "", "must have 3 entries; got an object with nothing"),
        ([1.0, math.nan, -4.0], "[1]", "must be a number; got nan"),
        ([1.0, "NaN", -4.0], "[1]", "must be a number; got nan"),
        ([1.0, None, -4.0], "[1]", "must be a number; got None"),
        ([1.0, True, -4.0], "[1]", "must be a number; got True"),
        ([1.0, "x" * 50, -4.0], "[1]", f"must be a number; got '{'x' * 36}..."),
        ([1.0, "Infinity", -4.0], "[1]", "must be 2; got inf"),
    ],
)
def test_the_worst_place_is_named(answer: Any, place: str, message: str) -> None:
    verdict = judge_answer(CASE, answer, "float32 angle")
    assert (verdict.status, verdict.place, verdict.said) == ("failed", place, message)


def test_numbers_that_are_nearly_equal_are_printed_in_full() -> None:
    verdict = judge_answer(CASE, [1.0, 2.0, -4.0000001], "float64")
    assert verdict.said == "must be -4.0; got -4.0000001"


def test_a_hidden_key_may_be_hidden_by_any_large_number() -> None:
    allowed = {"absolute": 0.0, "relative": 0.0}
    for answer in ("-Infinity", -math.inf, -1e4, -3.4e38):
        assert misfit(["-Infinity"], [answer], allowed).over == 0
    assert misfit(["-Infinity"], [-2.0], allowed).said == "must be hidden; got -2"


def test_an_object_must_have_all_that_is_expected() -> None:
    expected = {"frequencies": [1.0, None], "attention_factor": 1.0}
    allowed = {"absolute": 0.0, "relative": 1e-3}
    right = {"frequencies": [1.0005, "any"], "attention_factor": 1, "more": 2}
    assert misfit(expected, right, allowed).over < 1
    assert misfit(expected, {"frequencies": [1, 1]}, allowed).said == (
        "must have frequencies and attention_factor; got an object with frequencies"
    )
    wrong = misfit(expected, {"frequencies": [2, 1], "attention_factor": 1}, allowed)
    assert (wrong.place, wrong.error) == ("frequencies[0]", 1.0)


# Functions.


def test_another_convention_is_acceptable_and_named() -> None:
    def centred(table: Any, rows: int) -> Any:
        old = np.array(table, float)
        if rows < 1 or old.ndim != 2:
            raise ValueError("rows")
        places = (np.arange(rows) + 0.5) * len(old) / rows - 0.5
        return np.transpose([np.interp(places, np.arange(len(old)), column) for column in old.T])

    report = check(centred, "resize")
    assert report.status == 0
    assert {one.like for one in report.acceptable} == {("centres aligned",)}
    assert f"acceptable: {len(report.acceptable)} by centres aligned" in str(report)


def test_a_bug_is_named_with_its_largest_error() -> None:
    def halves(x: Any, positions: Any, **how: Any) -> Any:
        return apply_rope(x, positions, **how | {"layout": "half"})

    report = check(halves, "rotation", layout="interleaved")
    assert report.status == 1
    assert next(iter(report.bugs)) == "half for interleaved"
    assert "looks like: half for interleaved" in str(report)
    assert "more" in str(report)
    assert all(one.error > 0 and one.place for one in report.failed)
    worst = max(report.failed, key=lambda one: one.error)
    place = f"{worst.case.id} at {worst.place}"
    assert f"largest error: {worst.error:.3g} in {place}" in str(report)


def test_the_bug_that_spoils_fewer_others_is_likelier() -> None:
    def late(rule: str, **given: Any) -> Any:
        if rule == "longrope" and given["length"] == given["trained_length"]:
            given["length"] += 1
        return ANSWERS["frequencies"](rule, **given)

    report = check(late, "frequencies", rule="longrope")
    assert next(iter(report.bugs)) == "switched one too early"


def kept_by_ntk(rule: str, **given: Any) -> Any:
    """Return YaRN's answer, whose kept pairs rotate by NTK's base."""
    found = ANSWERS["frequencies"](rule, **given)
    if rule != "yarn" or given["d"] < 4:
        return found
    d, base, factor = given["d"], given.get("base", 10000), given["factor"]
    plain, larger = frequencies(d, base=base), ntk_frequencies(d, factor, base=base)
    kept = (found["frequencies"] - plain / factor) / (plain - plain / factor)
    return found | {"frequencies": kept * larger + (1 - kept) * plain / factor}


def without_zeros(rule: str, **given: Any) -> Any:
    found = ANSWERS["frequencies"](rule, **given)
    return found | {"frequencies": [w for w in found["frequencies"] if w]}


def inside_the_part(x: Any, positions: Any, **how: Any) -> Any:
    """Rotate without the frequencies that are 0, and so with halves of fewer dimensions."""
    turning = [w for w in how.get("frequencies", [1]) if w]
    if len(turning) == len(how.get("frequencies", [1])):
        return ANSWERS["rotation"](x, positions, **how)
    part = np.array(x)[..., : 2 * len(turning)]
    rotated = ANSWERS["rotation"](part, positions, **how | {"frequencies": turning})
    return np.concatenate([rotated, np.array(x)[..., 2 * len(turning) :]], axis=-1)


def base_inside(config: Config, length: Any = None) -> Any:
    rule = config.get("rope_parameters") or config.get("rope_scaling") or {}
    return ANSWERS["config"](config | {"rope_theta": rule.get("rope_theta", 10000)}, length)


def without_rope_type(config: Config, length: Any = None) -> Any:
    """Find the rule under its old name alone."""
    for name in ("rope_parameters", "rope_scaling"):
        rule = config.get(name) or {}
        if "rope_type" in rule and "type" not in rule:
            base = {key: rule[key] for key in ("rope_theta",) if key in rule}
            config = {key: value for key, value in config.items() if key != name} | base
    return ANSWERS["config"](config, length)


@pytest.mark.parametrize(
    ("suite", "function", "name", "how"),
    [
        ("frequencies", kept_by_ntk, "kept pairs by NTK's base", {"rule": "yarn"}),
        ("frequencies", without_zeros, "pairs inside the rotating part", {"rule": "proportional"}),
        ("rotation", inside_the_part, "pairs inside the rotating part", {"layout": "half"}),
        ("config", base_inside, "rope_theta sought inside", {}),
        ("config", without_rope_type, "new spelling of the type", {}),
    ],
)
def test_a_bug_of_real_projects_is_named_before_one_that_looks_like_it(
    suite: str, function: Callable[..., Any], name: str, how: dict[str, Any]
) -> None:
    report = check(function, suite, **how)
    assert report.status == 1
    assert next(iter(report.bugs)) == name, report.bugs


def test_whatever_a_function_raises_the_run_goes_on() -> None:
    def function(window: float) -> Any:
        if window == 1:
            raise UnsupportedError("one patch")
        if window == 2:
            raise NotImplementedError
        if window == 3:
            raise ValueError("three\nis odd")
        if window == 4:
            raise ZeroDivisionError("no")
        return swin_index(5)

    report = check(function, "swin")
    assert [one.said for one in report.unsupported] == ["one patch", "NotImplementedError"]
    assert [one.said for one in report.refused] == ["three is odd"]
    assert [one.said for one in report.crashed] == ["ZeroDivisionError: no"]
    assert [one.said for one in report.unrefused] == ["answered what must be refused"] * 3
    assert len(report.outcomes) == len(load("swin").cases)
    assert report.status == 1


@pytest.mark.parametrize(
    ("answer", "status", "message"),
    [
        ([[0, 1, 0], [math.sin(1), math.cos(1), 0]], "acceptable", "zero appended"),
        (
            [[0, 0, 1], [math.sin(1), 0, math.cos(1)]],
            "unrefused",
            "must be refused, or answered according to",
        ),
        (None, "passed", "odd"),
    ],
)
def test_an_odd_width_may_be_refused_or_padded(answer: Any, status: str, message: str) -> None:
    def table(positions: list[float], **how: Any) -> Any:
        if answer is None:
            raise ValueError("d_model is odd")
        return answer

    report = check(table, "sinusoidal", d_model=3)
    (outcome,) = report.outcomes
    assert outcome.status == status
    assert message in str(report) + outcome.said


def test_a_case_without_an_expected_answer_names_a_convention_or_is_invalid() -> None:
    open_ended = [case for case in vectors.cases() if case.expected is None]
    assert {case.result for case in open_ended} == {"invalid", "acceptable"}
    for case in open_ended:
        assert bool(case.acceptable) == (case.result == "acceptable")


def test_a_function_cannot_change_a_case() -> None:
    def spoil(relative: list[int], **rule: Any) -> Any:
        relative.clear()
        return []

    assert check(spoil, "t5").failed
    assert load("t5").cases[0].input["relative"]


def test_cases_are_chosen_by_their_inputs() -> None:
    report = check(ANSWERS["t5"], "t5", bidirectional=False, buckets=32)
    assert 0 < len(report.passed) < len(load("t5").cases)
    with pytest.raises(ValueError, match=r"suite t5 must have cases with \{'heads': 3\}"):
        check(ANSWERS["t5"], "t5", heads=3)


def test_an_object_without_a_method_does_not_offer_it() -> None:
    class Partial:
        def __init__(self, **settings: Any) -> None:
            self.inner = OBJECT(**settings)

        def rotate(self, x: Any, positions: Any) -> Any:
            return self.inner.rotate(x, positions)

    report = check(Partial, "sequences")
    assert report.status == 0
    assert {one.said for one in report.unsupported} >= {"extend is not offered"}


# Reports.


def test_a_report_is_json_with_all_that_did_not_pass() -> None:
    report = check(lambda window: [[math.nan]], "swin")
    data = json.loads(report.as_json())
    assert data["counts"]["failed"] == len(report.failed) == 5
    assert len(data["cases"]) == 5 + len(report.unrefused)
    assert data["cases"][0]["error"] is None
    assert data["status"] == 1
    off = check(lambda window: swin_index(window) + 1, "swin")
    assert json.loads(off.as_json())["cases"][0]["error"] == 1.0


def test_a_report_is_junit_with_every_case() -> None:
    def function(window: float) -> Any:
        if window == 2:
            raise UnsupportedError("two")
        if window == 3:
            raise KeyError("three\0")
        if window == 4:
            raise ValueError("four")
        return swin_index(window) + 1  # type: ignore[arg-type]

    (suite,) = ElementTree.fromstring(check(function, "swin").as_junit())
    wanted = {"name": "swin", "tests": "8", "failures": "3", "errors": "1", "skipped": "1"}
    assert suite.attrib == wanted
    kinds = {case.get("name"): [child.tag for child in case] for case in suite}
    assert kinds["swin/window-003"] == ["error"]
    assert kinds["swin/refuse-001"] == []
    message = suite[0][0].get("message", "")
    assert message.startswith("failed at [0][0] must be 0; got 1; looks like: ")


def test_what_a_program_says_cannot_move_the_cursor() -> None:
    report = program(
        "answer = {'id': name, ['refused', 'unsupported'][window > 1]: 'a\\n\\x1b[2J'}"
    )
    assert "refused swin/window-001 a\\n\\x1b[2J" in str(report)
    assert "unsupported: 5, a\\n\\x1b[2J" in str(report)
    assert all(line.isprintable() for line in str(report).splitlines())


def test_a_bug_is_described_as_in_the_suite_where_it_was_seen() -> None:
    wrong = check(lambda heads: [2 ** (-8 * (n + 1) / heads) for n in range(heads)], "alibi")
    right = check(ANSWERS["alibi_bias"], "alibi_bias")
    message = load("alibi").bugs["plain geometric"]
    assert message != load("alibi_bias").bugs["plain geometric"]
    for order in ([wrong, right], [right, wrong]):
        assert joined_report(order).described["plain geometric"] == message


# Programs.

PYTHON = [sys.executable, "-I", "-S", "-c"]  # without site-packages it starts sooner
PROGRAM = """\
import json, sys, time
for line in sys.stdin:
    asked = json.loads(line)
    if "request" in asked:
        print(json.dumps({"suites": ["swin"]}), flush=True)
        continue
    name, window = asked["id"], asked["input"]["window"]
    answer = {"id": name, "ok": [[0]]}
    %s
    print(json.dumps(answer), flush=True)
"""


def program(behaviour: str = "pass", **how: Any) -> Report:
    """Return how a program answers suite swin that behaves in some way."""
    return run([*PYTHON, PROGRAM % behaviour], suite="swin", **how)


@pytest.mark.slow
def test_an_adapter_passes() -> None:
    report = run([sys.executable, str(ADAPTER)], suite="shaw", seconds=60)
    assert report.status == 0
    assert len(report.passed) == len(load("shaw").cases)
    assert report.contract == "float64"


# Nested too deep for a recursive function, and not for a reader of JSON.
DEPTH = 600 if sys.version_info < (3, 12) else 1200
NESTED = f"""if window == 2:
        print('{{"id": "' + name + '", "ok": ' + '[' * {DEPTH} + ']' * {DEPTH} + '}}', flush=True)
        continue"""
NOT_JSON = """if window == 2:
        print('{"id": "' + name + '", "ok": [[nan]]}', flush=True)
        continue"""
ERRORS = "if window == 2: sys.stderr.write('x' * 10**6 + %r), sys.exit(1)"


@pytest.fixture
def usual_recursion() -> Iterator[None]:
    """Allow as many nested calls as Python does at first; PyTorch and others raise the limit."""
    before = sys.getrecursionlimit()
    sys.setrecursionlimit(1000)
    yield
    sys.setrecursionlimit(before)


@pytest.mark.usefixtures("usual_recursion")
@pytest.mark.parametrize(
    ("behaviour", "message"),
    [
        ("if window == 2: raise SystemExit(3)", "ended with status 3"),
        ("if window == 2: raise SystemExit('too hard')", "ended with status 1: too hard"),
        pytest.param(
            "if window == 2: import os; os.abort()",
            "was terminated by signal 6, Abort",
            marks=pytest.mark.skipif(sys.platform == "win32", reason="Windows has no signals"),
        ),
        ("if window == 2: time.sleep(60)", "no answer within 1 s"),
        ("if window == 2: import os; os.close(1); time.sleep(60)", "closed its output"),
        ("if window == 2: answer['id'] = 'swin/window-001'", "answered a different question"),
        ("if window == 2: answer = {}", "answered a different question: {}"),
        ("if window == 2: answer = {'id': name}", "got none: {"),
        ("if window == 2: answer |= {'refused': 'x', 'unsupported': ''}", "got ok and refused and"),
        ("if window != 3: answer |= {'refused': None, 'unsupported': None}", "must have 4 entries"),
        ("if window == 2: [print('x') for _ in range(999)]", f"printed {STRAY} lines"),
        ("if window == 2: print('[' * 10**5)", "must have 4 entries; got 1 entries"),
        ("if window == 2: answer['ok'] = [[float('nan')] * 4] * 4", "must be a number; got nan"),
        ("if window == 2: answer['ok'] = [[10**400] * 4] * 4", "its answer cannot be read: int"),
        (NESTED, "its answer cannot be read: maximum recursion depth"),
        (NOT_JSON, 'its answer is not JSON: {"id": "swin/window-002", "ok": [[nan]]}'),
        ("if window == 2: answer['ok'] = [1.0] * 10**6", "its answer is longer than 1 MB: {"),
        (ERRORS % "", f"ended with status 1: {'x' * running.TAIL}"),
        (ERRORS % "\nlast", "ended with status 1: last"),
        ("if window == 2: answer = {'id': name, 'refused': 'even'}", "even"),
        ("if window == 2: answer = {'id': name, 'unsupported': 'even'}", "even"),
    ],
)
def test_a_hostile_program_is_named_and_the_run_goes_on(behaviour: str, message: str) -> None:
    report = program(behaviour, seconds=1)
    assert len(report.outcomes) == len(load("swin").cases)
    assert report.outcomes[0].status == "passed"
    assert message in report.outcomes[1].said
    assert report.outcomes[2].said == "must have 9 entries; got 1 entries"


def test_the_contract_is_the_callers_or_the_default() -> None:
    assert program(contract="float64").contract == "float64"
    assert program().contract == "float32 angle"  # the program names none


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: load("rope"), "suite must be one of frequencies, .*; got 'rope'"),
        (lambda: check(alibi_slopes, "alibi", contract="float16"), "contract must be one of"),
        (lambda: program(contract="float16"), "contract must be one of"),
    ],
    ids=["suite", "contract of check", "contract of run"],
)
def test_unknown_names_are_refused(call: Callable[[], object], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        call()


def test_what_a_program_prints_beside_its_answers_is_reported() -> None:
    report = program("print('loading', flush=True)")
    assert report.remarks == ("8 × printed something that is not an answer: 'loading'",)
    assert "Also printed:\n  8 × printed something that is not an answer: 'loading'" in str(report)
    assert report.outcomes[0].status == "passed"


def test_a_program_that_always_dies_is_not_started_for_ever(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(running, "RESTARTS", 2)
    report = program("raise SystemExit")
    assert [one.status for one in report.outcomes] == ["crashed"] * len(load("swin").cases)
    assert [one.said for one in report.outcomes[:3]] == ["ended with status 0"] * 3
    assert {one.said for one in report.outcomes[3:]} == {running.UNTRIED}


@pytest.mark.skipif(sys.platform != "linux", reason="limits of memory work on Linux")
def test_a_program_that_takes_too_much_memory_is_stopped() -> None:
    report = program("if window == 2: hoard = bytearray(10**9)", megabytes=200)
    assert "MemoryError" in report.outcomes[1].said


@pytest.mark.parametrize("line", ["'x' * 2**20", "'x' * (2**20 - 1) + chr(10)", "'{}' + chr(10)"])
def test_a_program_that_writes_for_ever_is_ended_in_time(line: str) -> None:
    code = f"import sys\nwhile True: sys.stdout.write({line})"
    process = Program([*PYTHON, code], 1.0, None)
    with pytest.raises(
        running.ProgramError, match=r"no answer within|not answers$|different question"
    ):
        process.ask({"request": "capabilities"}, lambda answer: "suites" in answer)
    assert process.lines.qsize() <= running.HELD
    assert all(len(remark) <= 100 for remark in process.remarks)


def test_a_line_is_looked_at_within_the_time_alone() -> None:
    """Lines that wait already are no reason to go on."""
    process = Program([], 0.0, None)
    process.lines.put("noise\n")
    with pytest.raises(running.ProgramError, match="no answer within 0 s"):
        process._line(time.monotonic())


LEAVING = """\
import os, subprocess, sys, time
sleeping = [sys.executable, "-I", "-S", "-c", "import time; time.sleep(600)"]
if %s:
    sleeping = [sys.executable, "-I", "-S", "-c",
        f"import subprocess; print(subprocess.Popen({sleeping!r}, start_new_session=True).pid)"]
child = subprocess.Popen(sleeping, start_new_session=True)
if not %s:
    print(child.pid, flush=True)
time.sleep(600)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="found by /proc, which is Linux's")
@pytest.mark.parametrize("orphaned", [False, True])
def test_a_process_that_left_the_session_is_ended_too(orphaned: bool) -> None:
    process = Program([*PYTHON, LEAVING % (orphaned, orphaned)], 60.0, None)
    process._start()
    try:
        child = Path("/proc", str(int(process.lines.get(timeout=60) or "")), "cmdline")
        end = time.monotonic() + 60
        while b"sleep(600)" not in child.read_bytes():  # it does not have its command yet
            assert time.monotonic() < end
            time.sleep(0.01)
    finally:
        process.stop()
    end = time.monotonic() + 60
    while child.exists() and child.read_bytes():  # a process that has ended has no command
        assert time.monotonic() < end
        time.sleep(0.01)


DETACHED = """\
import subprocess, sys, time
sleeping = [sys.executable, "-I", "-S", "-c", "import time; time.sleep(5)"]
subprocess.Popen(sleeping, start_new_session=True)
time.sleep(60)
"""


@pytest.mark.parametrize(
    "code",
    [
        "import time; time.sleep(60)",
        pytest.param(
            DETACHED,
            marks=pytest.mark.skipif(sys.platform == "win32", reason="Windows has no sessions"),
        ),
    ],
    ids=["itself", "a child that holds the pipe"],
)
def test_a_program_that_does_not_read_does_not_block(code: str) -> None:
    process, began = Program([*PYTHON, code], 0.3, None), time.monotonic()
    with pytest.raises(Exception, match=r"no answer within 0\.3 s"):
        process.ask({"x": "y" * 10**6}, lambda answer: True)
    assert time.monotonic() - began < 3
    process.stop()


@pytest.mark.parametrize("offered", [[], 1, ["alibi"]])
def test_suites_that_a_program_does_not_offer_are_listed(offered: Any) -> None:
    answer = f"print('{json.dumps({'suites': offered})}')"
    report = run([*PYTHON, answer], suite="swin")
    assert "Not offered: swin" in str(report)
    assert len(report.unsupported) == len(load("swin").cases)
    assert report.status == 2


def test_a_torn_file_does_not_stop_the_other_suites(copied: Path) -> None:
    file = copied / "t5_v1.json"
    file.write_bytes(file.read_bytes()[:1000])
    report = run([*PYTHON, PROGRAM % "pass"], folder=copied)
    assert report.status == 1
    assert {one.case.suite for one in report.outcomes} == set(suites()) - {"t5"}
    assert "Not run:\n  t5: t5_v1.json must be JSON; it is malformed" in str(report)
    assert json.loads(report.as_json())["torn"] == list(report.torn)
    last = ElementTree.fromstring(report.as_junit())[-1]
    assert [case.get("name") for case in last] == ["t5"]
    assert last[0][0].tag == "error"


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        ('{"suites": [], "contract": "float16"}', "contract must be one of"),
        ('{"contract": "float64"}', "answered a different question"),
        ("hello", "capabilities: ended with status 0; it printed something .*: 'hello'"),
        ('{"suites": "", nan}', "its answer is not JSON"),
    ],
)
def test_a_program_must_answer_with_its_capabilities(answer: str, message: str) -> None:
    with pytest.raises((OSError, ValueError), match=message):
        run([*PYTHON, f"print('''{answer}''')"], suite="swin")


def test_a_program_that_is_not_there_is_named() -> None:
    with pytest.raises(OSError, match="no-such-program"):
        run(["no-such-program"], megabytes=None)


def interrupt(*_: Any) -> Any:
    raise KeyboardInterrupt


def test_an_interrupted_run_reports_what_there_is(monkeypatch: pytest.MonkeyPatch) -> None:
    answered = Program.ask

    def ask(self: Program, question: dict[str, Any], fits: Callable[..., bool]) -> Any:
        return (interrupt if question.get("id") == "swin/window-003" else answered)(
            self, question, fits
        )

    monkeypatch.setattr(Program, "ask", ask)
    report = program()
    assert [one.status for one in report.outcomes[:3]] == ["passed", "failed", "crashed"]
    assert {one.said for one in report.outcomes[2:]} == {"not asked: interrupted"}
    assert len(report.outcomes) == len(load("swin").cases)
    assert report.status == 1


def test_a_run_interrupted_before_its_first_case_has_no_traceback(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(Program, "ask", interrupt)
    assert main(["vectors", "run", "x"]) == 2
    assert capsys.readouterr().err == "posenc vectors run: interrupted\n"


# The command.


def test_the_suites_are_listed(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["vectors", "list"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert [line.split()[0] for line in lines[:-1]] == list(suites())
    assert len({len(re.split(r"(?<=\d)  (?=\S)", line)[0]) for line in lines}) == 1
    assert int(lines[-1]) == len(list(vectors.cases()))


def test_a_case_and_a_suite_are_shown(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["vectors", "show", "t5/near-001"]) == 0
    assert json.loads(capsys.readouterr().out)["input"]["buckets"] == 32
    assert main(["vectors", "show", "t5"]) == 0
    assert "boundary off by one: " in capsys.readouterr().out


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["show", "t5/near-999"], "ID must be the id of a case in suite t5; got 't5/near-999'"),
        (["show", "rope"], "suite must be one of"),
        (["list", "--folder", "nowhere"], "nowhere"),
        (["run", "--suite", "swin", "--", sys.executable, "-c", ""], "ended with status 0"),
        (["run", "--seconds", "inf", "x"], "seconds must be above 0 and at most 86400; got inf"),
        (["run", "--seconds", "nan", "x"], "seconds must be above 0 and at most 86400; got nan"),
        (["run", "--seconds=-1", "x"], "seconds must be above 0 and at most 86400; got -1"),
        (["run", "--seconds", "1e300", "x"], "seconds must be above 0"),
        (["run", "--megabytes=-1", "x"], "megabytes must be from 1 to 1073741824; got -1"),
        (["run", "--megabytes", "0", "x"], "megabytes must be from 1 to 1073741824; got 0"),
    ],
)
def test_what_cannot_be_done_is_status_2(
    arguments: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["vectors", *arguments]) == 2
    output, error = capsys.readouterr()
    assert output == ""
    assert message in error


@pytest.mark.parametrize("kind", ["text", "json", "junit"])
def test_a_run_is_printed(kind: str, capsys: pytest.CaptureFixture[str]) -> None:
    options = ["--suite", "swin", "--format", kind]
    assert main(["vectors", "run", *options, "--", *PYTHON, PROGRAM % "pass"]) == 1
    output = capsys.readouterr().out
    assert output.startswith({"text": "swin: ", "json": "{", "junit": "<"}[kind])
    where = {"text": f"\n\n{REPORT}\n", "json": f'"report": {json.dumps(REPORT)}\n}}\n'}
    assert output.endswith(where.get(kind, "</testsuites>\n\n"))


def test_the_command_prints_wherever_output_goes() -> None:
    ascii_only = io.TextIOWrapper(io.BytesIO(), encoding="ascii")
    for console in (ascii_only, io.StringIO()):
        with contextlib.redirect_stdout(console):
            assert main(["vectors", "show", "scores"]) == 0
