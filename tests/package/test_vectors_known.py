"""Vectors in continuous integration: known differences, answered nonsense, old functions."""

from __future__ import annotations

import hashlib
import json
import runpy
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

from posenc import swin_index, vectors
from posenc.__main__ import main
from posenc.vectors import check, load, run, suites
from posenc.vectors import check as checking_function
from posenc.vectors import runner as running
from posenc.vectors import suite as files

FOLDER = Path(__file__).resolve().parents[2] / "docs" / "vectors"
ADAPTER: dict[str, Any] = runpy.run_path(str(FOLDER / "adapters" / "numpy_posenc.py"))
Rotary: Callable[..., Any] = ADAPTER["Rotary"]
ANSWERS: dict[str, Callable[..., Any]] = ADAPTER["ANSWERS"]
NONSENSE = ("swin/refuse-001", "swin/refuse-002", "swin/refuse-003")

# A program that answers suite swin rightly, but for windows of 2 and 3, and refuses nothing.
WRONG = """\
import json, sys
def index(side):
    if side in (2, 3): return [[7]]
    if side != int(side): raise SystemExit(9)
    if side < 1: return []
    patches = [divmod(n, side) for n in range(side**2)]
    return [[(r - q + side - 1) * (2 * side - 1) + c - d + side - 1 for q, d in patches]
            for r, c in patches]
for line in sys.stdin:
    asked = json.loads(line)
    if "request" in asked: print('{"suites": ["swin"]}', flush=True)
    elif asked["input"]["window"] == -1:
        print('{"id": "%s", "ok": nan}' % asked["id"], flush=True)
    else: print(json.dumps({"id": asked["id"], "ok": index(asked["input"]["window"])}), flush=True)
"""
COMMAND = [sys.executable, "-I", "-S", "-c", WRONG]
KNOWN = {"swin/window-002": "by design", "swin/window-003": "kept for old weights"}


def off_for_two(window: Any) -> Any:
    return [[7]] if window == 2 else swin_index(window)


def statuses(report: vectors.Report) -> dict[str, int]:
    counts: dict[str, int] = json.loads(report.as_json())["counts"]
    return {status: count for status, count in counts.items() if count}


# Known differences.


def test_a_known_failure_is_no_failure() -> None:
    report = check(off_for_two, "swin", known={"swin/window-002": "by design"})
    assert report.status == 0
    assert statuses(report) == {"passed": 7, "known": 1}
    assert [one.reason for one in report.known] == ["by design"]
    assert "  known: 1, by design\n" in str(report)


def test_known_failures_do_not_name_bugs() -> None:
    def transposed(window: Any) -> Any:
        return swin_index(window).T

    assert check(transposed, "swin").bugs
    report = check(transposed, "swin", known={"swin/window-*": "reversed"})
    assert report.bugs == {}


def test_another_failure_is_a_failure() -> None:
    report = check(lambda window: [[7]], "swin", known={"swin/window-002": "by design"})
    assert report.status == 1
    assert "swin/window-002" not in {one.case.id for one in report.wrong}


def test_a_known_difference_that_passes_is_reported() -> None:
    report = check(swin_index, "swin", known={"swin/window-00[23]": "by design"})
    assert report.status == 1
    assert [one.case.id for one in report.fixed] == ["swin/window-002", "swin/window-003"]
    message = "  fixed swin/window-002 passes and is known to fail: by design\n"
    assert message in str(report)


def test_a_known_difference_that_is_not_offered_is_unsupported() -> None:
    def none(window: Any) -> Any:
        raise vectors.UnsupportedError("windows")

    assert check(none, "swin", known={"swin/*": "none"}).status == 2


@pytest.mark.parametrize("suite", ["swin", "t5", "rotation"])
def test_nothing_is_tested_where_only_nonsense_is_refused(suite: str) -> None:
    nonsense = [case.input for case in load(suite).cases if case.expected is None]

    def refuses(**given: Any) -> Any:
        raise ValueError(given) if given in nonsense else vectors.UnsupportedError("all")

    assert check(refuses, suite).status == 2


def test_nonsense_that_is_asked_alone_is_tested() -> None:
    assert check(swin_index, load("swin").cases[-1]).status == 0


def test_a_line_that_matches_no_case_is_reported() -> None:
    known = {"swin/window-002": "by design", "swin/windows-*": "misspelt", "t5/far-001": "other"}
    report = check(off_for_two, "swin", known=known, skip=["swan/*"])
    assert report.status == 0
    assert report.unmatched == ("swin/windows-*", "swan/*")
    assert (
        "Patterns that match no case (known or to be skipped):\n  swin/windows-*\n  swan/*\n"
        in str(report)
    )
    assert json.loads(report.as_json())["unmatched"] == ["swin/windows-*", "swan/*"]


def test_a_torn_suite_does_not_hide_the_lines_of_others(tmp_path: Path) -> None:
    for file in FOLDER.glob("*.json"):
        (tmp_path / file.name).write_bytes(file.read_bytes())
    (tmp_path / "t5_v1.json").write_text("{", "utf-8")
    report = check(off_for_two, "swin", folder=tmp_path, known=KNOWN | {"swan/*": "misspelt"})
    assert report.unmatched == ("swan/*",)


def test_a_file_has_an_id_or_a_pattern_and_a_reason(tmp_path: Path) -> None:
    file = tmp_path / "known.txt"
    file.write_text("# ours\n\nswin/window-002  # by # design\nt5/*#all of it\n", "utf-8")
    assert vectors.read_known(file) == {"swin/window-002": "by # design", "t5/*": "all of it"}
    assert check(off_for_two, "swin", known=file).status == 0


@pytest.mark.parametrize("line", ["swin/window-002", "swin/window-002 #  ", "t5/*"])
def test_a_line_without_a_reason_is_an_error_with_its_number(line: str, tmp_path: Path) -> None:
    file = tmp_path / "known.txt"
    file.write_text(f"# ours\n{line}\n", "utf-8")
    with pytest.raises(ValueError, match=r"known.txt:2: must give a reason after #; got "):
        check(swin_index, "swin", known=file)


def test_a_reason_in_a_mapping_must_not_be_empty() -> None:
    with pytest.raises(ValueError, match=r"must give a reason for each id; 'swin/.*' has ' '"):
        check(swin_index, "swin", known={"swin/window-002": " "})


def test_a_file_may_begin_with_a_byte_order_mark_and_must_be_utf_8(tmp_path: Path) -> None:
    file = tmp_path / "known.txt"
    file.write_text("swin/window-002 # by design\r\n", "utf-8-sig")
    assert vectors.read_known(file) == {"swin/window-002": "by design"}
    file.write_text("swin/window-002 # caf\u00e9", "latin-1")
    with pytest.raises(ValueError, match=r"known.txt must be UTF-8; "):
        vectors.read_known(file)


def test_a_text_is_one_pattern_to_skip() -> None:
    report = check(swin_index, "swin", skip="swin/refuse-*")
    assert statuses(report) == {"passed": 5, "skipped": 3} and not report.unmatched


def test_what_is_skipped_is_not_asked() -> None:
    asked = []

    def listen(window: Any) -> Any:
        asked.append(window)
        return swin_index(window)

    report = check(listen, "swin", skip=["swin/refuse-*", "swin/window-005"])
    assert asked == [1, 2, 3, 4]
    assert statuses(report) == {"passed": 4, "skipped": 4}
    assert check(listen, "swin", skip=["*"]).status == 2


def test_a_program_is_judged_like_a_function() -> None:
    report = run(COMMAND, suite="swin", known=KNOWN, skip=["swin/window-001"])
    assert report.status == 0
    assert statuses(report) == {"passed": 2, "known": 2, "unrefused": 3, "skipped": 1}
    assert run(COMMAND, suite="swin", known={"swin/window-002": "by design"}).status == 1
    assert run(COMMAND, suite="swin", known={**KNOWN, "swin/window-004": "x"}).status == 1
    assert run(COMMAND, suite="swin", known=KNOWN, strict=True).status == 1


# Nonsense.


def careless(suite: str, otherwise: Callable[[], Any]) -> Callable[..., Any]:
    """Return a right implementation that does something else with nonsense than refuse it."""
    if suite == "sequences":
        return Rotary

    def answer(**given: Any) -> Any:
        try:
            return ANSWERS[suite](**given)
        except (TypeError, ValueError):
            return otherwise()

    return answer


def divide_by_zero() -> Any:
    raise ZeroDivisionError("nonsense")


@pytest.mark.parametrize("otherwise", [lambda: [0.0], divide_by_zero], ids=["answers", "crashes"])
@pytest.mark.parametrize("suite", suites())
def test_a_right_implementation_that_checks_nothing_is_green(
    suite: str, otherwise: Callable[[], Any]
) -> None:
    function = careless(suite, otherwise)
    report = check(function, suite, contract="float64")
    assert report.status == 0
    assert report.wrong == ()
    nonsense = [case.id for case in load(suite).cases if case.expected is None]
    assert [one.case.id for one in report.unrefused] == nonsense
    strict = check(function, suite, contract="float64", strict=True)
    assert [one.case.id for one in strict.wrong] == nonsense
    assert strict.status == (1 if nonsense else 0)


def test_each_input_that_must_be_refused_has_a_reason() -> None:
    for case in vectors.cases():
        assert bool(case.why) == (case.expected is None), case


def test_an_unrefused_case_is_shown_with_its_input_and_why_it_is_nonsense() -> None:
    report = run(COMMAND, suite="swin", known=KNOWN)
    text = str(report)
    why = "A window must have a whole number of patches on a side, at least one."
    assert f'  unrefused swin/refuse-001: {why}\n    {{"window": 0}}\n' in text
    assert "its answer is not JSON" in [one.said for one in report.unrefused][1]
    assert '    {"window": 2.5}\n    crashed: ended with status 9' in text
    assert "Unrefused cases fail with --strict only." in text
    (first, *_) = [one for one in json.loads(report.as_json())["cases"] if "why" in one]
    assert (first["id"], first["input"], first["why"]) == ("swin/refuse-001", {"window": 0}, why)


@pytest.mark.parametrize("strict", [False, True])
def test_junit_has_a_failure_for_nonsense_only_if_strict(strict: bool) -> None:
    report = check(lambda window: [[0]], "swin", known={"swin/window-*": "new"}, strict=strict)
    (suite,) = ElementTree.fromstring(report.as_junit())
    tags = {case.get("name"): [child.tag for child in case] for case in suite}
    assert tags["swin/refuse-001"] == ["failure" if strict else "skipped"]
    assert tags["swin/window-001"] == ["failure"]  # it passes
    assert tags["swin/window-002"] == ["skipped"]


def test_crashes_at_nonsense_do_not_end_the_run(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(running, "RESTARTS", 1)
    fragile = WRONG.replace("return []", "raise SystemExit(8)")
    report = run([*COMMAND[:-1], fragile], suite="swin", known=KNOWN)
    assert [one.case.id for one in report.unrefused] == list(NONSENSE)
    assert [one.crashed for one in report.unrefused] == [True, False, True]


# A single case, old functions, withdrawn cases.


def test_a_single_case_is_checked_alone() -> None:
    case = load("swin").cases[1]
    assert check(swin_index, case).passed[0].case is case
    report = check(lambda window: swin_index(window).T, case)
    assert report.status == 1
    assert "It looks like:\n      1 key minus query\n" in str(report)
    assert f"One case: posenc vectors show {case.id}" in str(report)


def test_all_failures_are_shown_where_they_are_asked_for() -> None:
    report = check(lambda heads: [], "alibi")
    assert "  and 33 more\n" in str(report)
    assert all(one.case.id in report.as_text(None) for one in report.wrong)
    assert "more" not in report.as_text(None)


@pytest.mark.parametrize(
    ("function", "message"),
    [
        (lambda x, positions, layout: x, "got an unexpected keyword argument 'base'"),
        (lambda x, positions, layout, base, scale: x, "missing a required argument: 'scale'"),
    ],
    ids=["too few", "too many"],
)
def test_a_function_that_does_not_take_the_inputs_is_unsupported(
    function: Callable[..., Any], message: str
) -> None:
    report = check(function, load("rotation").cases[0])
    assert [one.said for one in report.unsupported] == [message]


def test_a_type_error_inside_a_function_is_not_taken_for_its_signature() -> None:
    def inner(window: Any) -> Any:
        return (lambda side: side)(size=window)  # type: ignore[call-arg]

    report = check(inner, "swin")
    assert len(report.refused) == 5
    assert report.status == 1


def test_a_function_that_tells_no_signature_is_called() -> None:
    report = check(dict, "swin")
    assert {one.said for one in report.failed} >= {"must have 1 entries; got an object with window"}


def test_an_object_or_a_method_that_lacks_an_argument_is_unsupported() -> None:
    class Old:
        def __init__(self, d: int, base: float, layout: str = "half") -> None:
            self.inner = Rotary(d, base, layout)

        def rotate(self, x: Any) -> Any:
            return x

        def extend(self, x: Any) -> Any:
            return self.inner.extend(x)

        def restart(self) -> None:
            self.inner.restart()

    report = check(Old, "sequences")
    said = {one.said for one in report.unsupported}
    assert "got an unexpected keyword argument 'positions'" in said
    assert "got an unexpected keyword argument 'rule'" in said
    assert report.status == 0


def test_a_withdrawn_case_is_counted_and_not_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    whole = load("swin")
    cases = [replace(whole.cases[1], flags=("window", files.WITHDRAWN)), *whole.cases[2:]]
    shorter = replace(whole, cases=tuple(cases))
    module = sys.modules[checking_function.__module__]
    monkeypatch.setattr(module, "load", lambda *_, **__: shorter)
    monkeypatch.setattr(running, "load", lambda *_, **__: shorter)
    for report in (check(off_for_two, "swin"), run(COMMAND, suite="swin", known=KNOWN)):
        assert report.status == 0
        assert statuses(report)["withdrawn"] == 1
    assert cases[0].id not in {case.id for case in vectors.cases("swin")}


def test_files_of_the_first_version_are_read(tmp_path: Path) -> None:
    """They have no inputs and no refusals."""
    for file in FOLDER.glob("*.json"):
        (tmp_path / file.name).write_bytes(file.read_bytes())
    found = json.loads((tmp_path / "swin_v1.json").read_text("utf-8"))
    text = json.dumps({key: found[key] for key in found if key not in files.LATER})
    (tmp_path / "swin_v1.json").write_text(text, "utf-8")
    index = json.loads((tmp_path / "index.json").read_text("utf-8"))
    index["suites"]["swin"]["sha256"] = hashlib.sha256(text.encode()).hexdigest()
    (tmp_path / "index.json").write_text(json.dumps(index), "utf-8")
    report = check(lambda window: swin_index(abs(int(window)) or 1), "swin", folder=tmp_path)
    assert len(report.unrefused) == 3
    assert load("swin", folder=tmp_path).inputs == {}
    assert "unrefused swin/refuse-001" in str(report)


# The command.


def vectors_run(*options: str) -> int:
    return main(["vectors", "run", "--suite", "swin", *options, "--", *COMMAND])


def test_known_differences_are_written_to_be_explained_and_read_again(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "known.txt"
    file.write_text("swin/window-00[24] # by design\n", "utf-8")
    assert vectors_run("--known", str(file), "--write-known", str(file)) == 1
    assert file.read_text("utf-8").splitlines()[1:] == [
        "swin/window-002  # by design",
        "swin/window-003  # TODO: say why (must have 9 entries; got 1 entries)",
    ]
    assert vectors_run("--known", str(file)) == 0
    assert vectors_run("--known", str(file), "--strict", "--write-known", str(file)) == 1
    assert vectors_run("--known", str(file), "--strict") == 0
    assert set(vectors.read_known(file)) == {"swin/window-002", "swin/window-003", *NONSENSE}
    capsys.readouterr()


def test_a_known_file_that_cannot_be_read_is_status_2(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "known.txt"
    assert vectors_run("--known", str(file)) == 2
    file.write_text("swin/window-002\n", "utf-8")
    assert vectors_run("--known", str(file)) == 2
    assert f"{file}:1: must give a reason after #" in capsys.readouterr().err


def test_the_command_skips_and_shows_all(capsys: pytest.CaptureFixture[str]) -> None:
    assert vectors_run("--skip", "swin/window-002", "--skip", "*-003", "--all") == 0
    assert "swin: 3 passed, 2 unrefused, 3 skipped" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("options", "message", "colour"),
    [
        ([], "3 passed, 2 wrong", "red"),
        (["--skip", "swin/window-00[23]"], "3 passed", "brightgreen"),
        (["--skip", "*"], "not run", "lightgrey"),
    ],
)
def test_a_badge_has_the_form_of_an_endpoint(
    options: list[str],
    message: str,
    colour: str,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    file, junit = tmp_path / "badge.json", tmp_path / "junit.xml"
    vectors_run("--badge", str(file), "--junit", str(junit), *options)
    assert ElementTree.parse(junit).getroot().tag == "testsuites"
    assert capsys.readouterr().out.startswith("swin: ")
    assert json.loads(file.read_text("utf-8")) == {
        "schemaVersion": 1,
        "label": "posenc vectors",
        "message": message,
        "color": colour,
    }


def test_a_badge_counts_known_differences() -> None:
    report = check(off_for_two, "swin", known={"swin/window-002": "by design"})
    assert json.loads(report.as_badge())["message"] == "7 passed, 1 known"


@pytest.mark.parametrize("suite", suites())
def test_a_suite_is_shown_with_its_inputs(suite: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["vectors", "show", suite]) == 0
    table = capsys.readouterr().out.partition("\nInputs\n")[2].partition("\n\n")[0].splitlines()
    inputs = load(suite).inputs
    assert [line.split()[0] for line in table] == list(inputs)
    optional = [line.split()[0] for line in table if ", optional  " in line]
    assert optional == [name for name, one in inputs.items() if one["optional"]]


def test_a_case_gives_the_inputs_that_its_suite_describes() -> None:
    for name in suites():
        suite = load(name)
        needed = {key for key, one in suite.inputs.items() if not one["optional"]}
        for case in suite.cases:
            assert needed <= set(case.input) <= set(suite.inputs), case
