"""Files of proofs are cut by name, and what is torn or leaves a gap is found without a checker."""

from __future__ import annotations

from pathlib import Path

import pytest

from scripts.proofs import run, source
from scripts.proofs.source import ProofsError
from tests.proofs.conftest import SMALL, Write


def test_a_theorem_is_cut_whole_with_or_without_its_proof(folder: Write) -> None:
    item = source.theorem("more_is_more", folder())
    assert item.statement == "Theorem more_is_more : forall x : nat, x < more x."
    assert item.text.startswith(item.statement)
    assert item.text.endswith('"full stop." *)\n  intros x. unfold more. lia.\nQed.')
    assert item.comment == "One more is more."
    assert (item.line, item.last_line) == (10, 14)


def test_a_statement_comes_with_the_variables_and_hypotheses_of_its_section(folder: Write) -> None:
    item = source.theorem("one_less_is_less", folder())
    assert item.assumed == ("Variable a : nat.", "Hypothesis positive : 0 < a.")


def test_definitions_that_a_statement_uses_are_found_through_others(folder: Write) -> None:
    others = "Definition twice (x : nat) : nat := more (more x).\n\nDefinition x := 3.\n\n"
    small = SMALL.replace("x < more x.", "x < twice x.").replace(
        "(** One more is", f"{others}(** 1"
    )
    found = source.library(folder(small))
    used = source.used_definitions(found["more_is_more"], found)
    assert [item.name for item in used] == ["more", "twice"]  # and not x, which forall binds


def test_fields_of_a_record_count_as_uses_of_the_record(folder: Write) -> None:
    record = "Record box := { width : nat; height : nat }.\n"
    stated = "Theorem of_box : forall b, width b = width b.\nProof. auto. Qed.\n"
    found = source.library(folder(SMALL + record + stated))
    assert [item.name for item in source.used_definitions(found["of_box"], found)] == ["box"]


def test_what_let_binds_is_no_use(folder: Write) -> None:
    stated = "Theorem by_let : let more := 1 in more = 1.\nProof. auto. Qed.\n"
    found = source.library(folder(SMALL + stated))
    assert source.used_definitions(found["by_let"], found) == []


def test_two_homes_of_a_name_are_reported(folder: Write) -> None:
    """A statement's link to a definition could otherwise lead to the wrong one."""
    record = "Record box := { more : nat }.\n"
    (problem,) = run.readable(folder(SMALL, other=record))
    message = "more is also defined in docs/proofs/other.v, line 1"
    assert problem == f"docs/proofs/small.v, line 7: {message}"


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('stop." *)', 'stop."', "small.v, line 12: the comment that begins here never ends"),
        (
            "lia.\nQed.\n\nSec",
            "lia.\n\nSec",
            "line 10: the proof of more_is_more has no Qed before",
        ),
        ("End There.\n", "", "the section There never ends"),
        ("End There.", "End Their.", "line 22: there is no section Their to end here"),
        ("End There.", "End There", "line 22: the sentence that begins here has no full stop"),
        ("Section There.", "Open Scope nat_scope.", "line 17: Variable outside of a section"),
        ("(** One more is more. *)", '"', "line 12: the string that begins here never ends"),
        (
            "one_less_is_less",
            "more",
            "line 20: more is also defined in docs/proofs/small.v, line 7",
        ),
    ],
)
def test_a_torn_file_is_reported_with_its_line(
    folder: Write, old: str, new: str, message: str
) -> None:
    assert SMALL.count(old) == 1
    (problem,) = run.readable(folder(SMALL.replace(old, new)))
    assert problem.startswith("docs/proofs/small.v")
    assert message in problem


def test_a_file_that_ends_in_a_proof_is_reported(folder: Write) -> None:
    torn = SMALL[: SMALL.index("unfold more")] + "unfold more."
    (problem,) = run.readable(folder(torn))
    assert problem == "docs/proofs/small.v, line 10: the proof of more_is_more has no Qed"


GAPS = [
    ("lia.\nQed.", "lia.\nAdmitted.", "line 14, in more_is_more: Admitted"),
    ("lia.\nQed.", "admit.\nQed.", "line 13, in more_is_more: admit"),
    ("Open Scope", "Axiom easy : False.\nOpen Scope", "line 4: Axiom"),
    ("Open Scope", "Parameter x : nat.\nOpen Scope", "line 4: Parameter"),
    ("Open Scope", "Conjecture c : False.\nOpen Scope", "line 4: Conjecture"),
    ("Open Scope", "Unset Guard Checking.\nOpen Scope", "line 4: Unset Guard Checking"),
    ("lia.\nQed.", "lia.\nAbort.", "line 14, in more_is_more: Abort"),
    ("Open Scope", 'Notation "a < b" := (b < a).\nOpen Scope', "line 4: Notation"),
    ("Open Scope", 'Local Infix "<" := le : there.\nOpen Scope', "line 4: Infix"),
    ("Open Scope", "Declare Scope there.\nOpen Scope", "line 4: Declare Scope"),
    ("Open Scope", "Coercion pred : nat >-> nat.\nOpen Scope", "line 4: Coercion"),
    ("Open Scope", "Time Axiom easy : False.\nOpen Scope", "line 4: Time"),
    ("Open Scope", "Timeout 9 Axiom easy : False.\nOpen Scope", "line 4: Timeout"),
    ("lia.\nQed.", "lia.\nTime Admitted.\nQed.", "line 14, in more_is_more: Time"),
    ("Open Scope", "Module PrimFloat.\nEnd PrimFloat.\nOpen Scope", "line 4: Module"),
    ("Open Scope", "Admit Obligations.\nOpen Scope", "line 4: Admit Obligations"),
]


@pytest.mark.parametrize(("old", "new", "message"), GAPS, ids=[gap[2] for gap in GAPS])
def test_a_planted_gap_is_found(folder: Write, old: str, new: str, message: str) -> None:
    problems = run.readable(folder(SMALL.replace(old, new, 1)))
    assert f"docs/proofs/small.v, {message} is not allowed in a proof" in problems


def test_words_in_comments_and_strings_are_no_gaps(folder: Write) -> None:
    there = folder(SMALL.replace("One more.", "Admitted, an Axiom (* and Parameter *) of ours."))
    assert source.faults(there / "small.v") == []


def test_an_unknown_theorem_is_an_error(folder: Write) -> None:
    with pytest.raises(ProofsError, match="docs/proofs/ has no theorem more"):
        source.theorem("more", folder())  # a definition


def test_a_bullet_and_a_proof_by_a_term_are_read(folder: Write) -> None:
    more = "Theorem one : 1 = 1.\nProof eq_refl.\n\nTheorem two : 2 = 2.\nProof. split. Qed.\n"
    assert {"one", "two"} <= set(source.library(folder(SMALL + more)))


def test_every_file_of_the_book_can_be_read_and_has_no_gap() -> None:
    assert run.readable() == []


def test_names_are_looked_up_anew_when_a_file_changes(folder: Write, tmp_path: Path) -> None:
    there = folder()
    assert source.theorem("more_is_more", there)
    folder(SMALL.replace("more_is_more", "more_or_less"))
    with pytest.raises(ProofsError, match="more_is_more"):
        source.theorem("more_is_more", there)
