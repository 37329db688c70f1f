"""The pages of other libraries say what the results say, and the results are of today."""

from __future__ import annotations

import copy
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from posenc.vectors import load
from scripts.matrix import __main__ as matrix
from scripts.matrix import pages, record
from scripts.matrix.record import KINDS, Answers, Difference, Library
from tests.selection import slow_except

LIBRARIES = {found.name: found for found in record.libraries()}
ANSWERED = {
    found.name: found for found in record.answered_libraries() if "ways" in record.result(found)
}
ENOUGH = 18
SPECIMEN = ("x-transformers",)  # of what is the same for every library
CHANGED = "rotation"  # a suite that it is asked, and that has cases since 0.1.0


def test_enough_libraries_have_answers() -> None:
    assert record.answered_count() == len(ANSWERED) >= ENOUGH


@pytest.mark.parametrize("name", LIBRARIES)
def test_every_result_is_of_known_cases(name: str) -> None:
    assert record.is_known(LIBRARIES[name])
    assert record.result(LIBRARIES[name])["library"] == name
    then, now = record.case_counts(LIBRARIES[name])
    assert 0 < then <= now


def with_digests(monkeypatch: pytest.MonkeyPatch, **changed: Any) -> Library:
    """Return a library whose result has other digests."""
    library = LIBRARIES[SPECIMEN[0]]
    found = copy.deepcopy(record.result(library))
    found["digests"] |= changed
    monkeypatch.setattr(record, "result", lambda library: found)
    return library


@pytest.mark.parametrize(
    ("changed", "known", "release"),
    [
        ({}, True, "today"),
        ({CHANGED: record.releases()["0.1.0"][CHANGED][0]}, True, "0.1.0"),
        ({CHANGED: "of no release"}, False, ""),
    ],
)
def test_a_result_is_of_today_or_of_a_release(
    changed: dict[str, str], known: bool, release: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    own = {suite: record.questions(suite) for suite in LIBRARIES[SPECIMEN[0]].asked}
    library = with_digests(monkeypatch, vectors=own | changed)
    assert (record.is_known(library), record.release(library)) == (known, release)


def test_a_result_of_another_adapter_is_not_known(monkeypatch: pytest.MonkeyPatch) -> None:
    assert not record.is_known(with_digests(monkeypatch, adapter="another"))


@pytest.mark.parametrize("name", ANSWERED)
def test_what_was_asked_is_what_is_described(name: str) -> None:
    library, by = LIBRARIES[name], record.answers(LIBRARIES[name])
    assert {suite for _, suite in by} == set(library.asked)
    assert {way for way, _ in by} == set(library.ways)
    for answers in by.values():
        assert answers.called
        assert answers.counts["asked"] == answers.passed + answers.acceptable + len(answers.wrong)
        known = {case.id for case in load(answers.suite).cases}
        assert known.issuperset(answers.wrong)


@pytest.mark.parametrize("name", ANSWERED)
def test_every_difference_is_seen_and_has_a_program(name: str) -> None:
    library = LIBRARIES[name]
    shown = record.result(library)["programs"]
    for number, one in enumerate(library.differences):
        assert record.explained_count(name, number), one.what
        assert one.program or one.kind != "fault", one.what
    for path in library.programs:
        assert shown[path.name]["digest"] == record.digest(path.read_bytes())
        assert shown[path.name]["output"]
        assert path.name.startswith(f"{name}_")


FAULTS = [
    pytest.param(one, id=f"{name}-{number}")
    for name, library in LIBRARIES.items()
    for number, one in enumerate(library.differences)
    if one.kind == "fault"
]


@pytest.mark.parametrize("one", FAULTS)
def test_a_fault_has_a_thread_or_a_report_and_says_what_to_do_meanwhile(one: Difference) -> None:
    assert one.threads or one.report
    assert one.until.endswith(".")
    said = pages.links(one)
    assert one.until in said
    assert all(at in said and role in said for at, role in one.threads)
    assert ("No thread upstream was found." in said) == (not one.threads)


def test_a_report_has_the_program_and_what_it_prints() -> None:
    library = LIBRARIES["equinox-nn"]
    [text] = matrix.reports(library)
    [path] = library.programs
    for part in (path.read_text("utf-8").strip(), library.differences[0].report, "jax "):
        assert part in text
    assert record.result(library)["programs"][path.name]["output"] in text


def test_casts_that_round_a_table_are_the_same_kind_in_every_library() -> None:
    kinds = {
        one.kind
        for name in ("litgpt", "torchtune", "torchtitan")
        for one in LIBRARIES[name].differences
        for case in ("sequences/cast-025", "sequences/cast-043")
        if one.explains("Qwen2", case)
    }
    assert kinds == {"limit"}


def test_no_adapter_program_or_result_is_left_over() -> None:
    adapters = {path.stem for path in record.ADAPTERS.glob("*.py")} - {"lines"}
    assert adapters == set(LIBRARIES)
    assert {path.stem for path in (record.FOLDER / "results").iterdir()} == set(LIBRARIES)
    programs = {path for library in LIBRARIES.values() for path in library.programs}
    assert {*(record.FOLDER / "programs").iterdir()} == programs


def change_result(monkeypatch: pytest.MonkeyPatch, name: str, change: Any) -> None:
    """Change the result of a library as it is read."""
    found = copy.deepcopy(record.result(LIBRARIES[name]))
    change(found["ways"])
    read = record.result
    monkeypatch.setattr(record, "result", lambda of: found if of.name == name else read(of))


@pytest.mark.parametrize("name", slow_except(SPECIMEN, ANSWERED))
def test_a_changed_count_is_noticed(name: str) -> None:
    for answers in record.answers(LIBRARIES[name]).values():
        for change in changes(dict(answers.counts)):
            assert list(record.miscounted(change)), (answers.way, answers.suite, change)


def test_a_miscounted_result_stops_the_build(tmp_path: Path) -> None:
    library = LIBRARIES["x-transformers"]
    torn = replace(library, folder=tmp_path)
    torn.result.parent.mkdir()
    text = library.result.read_text("utf-8")
    torn.result.write_text(text, "utf-8")
    assert record.result(torn) == record.result(library)
    counts = record.answers(library)["", "rotation"].counts
    passed, asked = counts["passed"], counts["asked"]
    wrong = text.replace(f'"passed": {passed}', f'"passed": {passed + 1}', 1)
    torn.result.write_text(wrong, "utf-8")
    with pytest.raises(ValueError, match=f"{asked} were asked, and {asked + 1} are counted"):
        record.result(torn)


def test_a_changed_verdict_changes_the_page(monkeypatch: pytest.MonkeyPatch) -> None:
    def change(ways: Any) -> None:
        del ways[""]["suites"]["sequences"]["failed"]

    before = pages.page(pages.PAGE)
    change_result(monkeypatch, "x-transformers", change)
    assert pages.page(pages.PAGE) != before


@pytest.mark.parametrize("name", slow_except(SPECIMEN, ANSWERED))
def test_every_count_is_in_a_cell(name: str) -> None:
    for answers in record.answers(LIBRARIES[name]).values():
        row = pages.suite_row(answers)
        for change in [*changes(dict(answers.counts)), *further_counts(dict(answers.counts))]:
            other = replace(answers, counts=change)
            assert pages.suite_row(other) != row, (answers.way, answers.suite, change)


def changes(counts: dict[str, Any]) -> list[dict[str, Any]]:
    """Return counts with one number changed, each in turn."""
    found = [counts | {key: counts.get(key, 0) + 1} for key in ("asked", "passed")]
    for kind in record.WRONG:
        if kind in counts:
            found.append(counts | {kind: counts[kind] | {"count": counts[kind]["count"] + 1}})
    for how, number in counts.get("acceptable", {}).items():
        found.append(counts | {"acceptable": counts["acceptable"] | {how: number + 1}})
    if "nonsense" in counts:
        told = counts["nonsense"]
        found.append(counts | {"nonsense": told | {"answered": told.get("answered", 0) + 1}})
    return found


def further_counts(counts: dict[str, Any]) -> list[dict[str, Any]]:
    """Return counts with a number changed that nothing else in them depends on."""
    if not counts.get("failed", {}).get("error"):
        return []
    return [counts | {"failed": counts["failed"] | {"error": 9.87e9}}]


def library_with(*differences: Difference) -> Library:
    """Return a library of nothing with these differences."""
    empty = ("", "", "other", (), (), False, (), "", {"t5": "f", "alibi": "g"}, {"": ""}, "")
    return Library("some", *empty, differences)


def difference(kind: str, cases: str = "*", suite: str = "t5") -> Difference:
    return Difference((suite,), (), (cases,), kind, "what")


FAILED = {"asked": 5, "passed": 3, "failed": {"count": 2, "cases": {"near": "1", "far": "2"}}}


@pytest.mark.parametrize(
    ("counts", "differences", "verdict"),
    [
        ({"asked": 0}, [], "not offered"),
        ({"asked": 5, "passed": 5}, [difference("fault")], "passes"),
        ({"asked": 5, "passed": 5, "unsupported": {"layout half": 3}}, [], "passes in part"),
        ({"asked": 5, "passed": 5, "unsupported": {f"it {record.TOO_LOOSE}": 3}}, [], "passes"),
        ({"asked": 5, "passed": 4, "acceptable": {"how": 1}}, [], "by convention"),
        (FAILED, [], "differs"),
        (FAILED, [difference("convention")], "by convention"),
        (FAILED, [difference("limit")], "limited"),
        (FAILED, [difference("fault")], "differs"),
        (FAILED, [difference("convention", "near-*")], "differs"),
        (FAILED, [difference("convention", "near-*"), difference("limit", "far-*")], "limited"),
        (FAILED, [difference("limit"), difference("fault", "far-002")], "differs"),
        (FAILED, [difference("convention", "*", "alibi")], "differs"),
    ],
)
def test_verdicts_follow_from_counts_and_what_explains_them(
    counts: dict[str, Any], differences: list[Difference], verdict: str
) -> None:
    assert Answers(library_with(*differences), "", "t5", counts).verdict == verdict
    assert all(one.kind in KINDS for one in differences)


def test_a_cell_has_each_verdict_once_and_names_its_ways() -> None:
    library = LIBRARIES["megatron-core"]
    place = "(libraries/training.md#megatron-core"
    passes = (
        f'[passes in part]{place} "rotation: passes in part (apply_rotary_pos_emb)")'
        "{ .verdict .true .part }"
    )
    differs = (
        f'[differs]{place} "rotation: differs (apply_rotary_pos_emb_with_cos_sin)")'
        "{ .verdict .false }"
    )
    assert pages.cell(library, "rotation") == f"{passes} {differs}"
    assert pages.cell(library, "alibi") == ""


def test_the_table_has_the_suites_that_a_library_offers() -> None:
    rows = pages.rows()
    offered = {
        answers.suite
        for library in record.answered_libraries()
        for answers in record.answers(library).values()
        if answers.verdict != "not offered"
    }
    assert {*rows[0]} == {"library", "cases", *offered}
    assert len(rows) == len(record.answered_libraries())


def test_a_library_that_could_not_be_installed_stays_on_the_page(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    failed = {"failed": {"step": "install", "said": "no wheel"}}
    monkeypatch.setattr(record, "result", lambda of: failed)
    library = LIBRARIES["x-transformers"]
    row = pages.row_of(library)
    assert row["library"].endswith("could not be installed")
    assert "could not be installed: `no wheel`" in pages.section(library)


def test_what_is_out_of_date_is_listed(monkeypatch: pytest.MonkeyPatch) -> None:
    own = record.releases()["0.1.0"]
    asked = {suite: own[suite][0] for suite in LIBRARIES[SPECIMEN[0]].asked}
    monkeypatch.setattr(matrix, "newest_version", lambda package: "999.0")
    library = with_digests(monkeypatch, vectors=asked)
    monkeypatch.setattr(matrix, "result", record.result)
    line = matrix.outdated(library)
    assert line.startswith(f"{library.name}: asked with the cases of 0.1.0, ")
    assert line.endswith(" was asked, and 999.0 is there")
