"""Every theorem of chapter 4 is proved by one that exists, or has a reason why not."""

from __future__ import annotations

import pytest

from scripts.book import formal_page
from scripts.proofs import listed, run, source
from scripts.proofs.listed import Mutation
from scripts.proofs.source import ProofsError
from tests.proofs.conftest import MUTATIONS, SMALL, THEOREMS, Write

ENOUGH_THEOREMS, ENOUGH_BOUNDS = 16, 3


def test_every_theorem_of_chapter_4_is_listed_and_enough_are_proved() -> None:
    found = listed.numbered_theorems()
    assert [one.number for one in found] == list(formal_page.places())
    assert sum(bool(one.proved) for one in found) >= ENOUGH_THEOREMS
    assert len(listed.bounds()) >= ENOUGH_BOUNDS


@pytest.mark.parametrize(
    ("theorems", "message"),
    [
        ('reason = "It', 'why = "It'),
        ("[[number]]", "[[numbers]]"),
        ('reason = "It is about words."', ""),
        ('number = "4.1"\n', ""),
        ('"more_is_more"]', '"more_is_more"'),
        ('["one_less_is_less"]', '["half_is_more"]'),
    ],
)
def test_a_wrong_list_of_theorems_is_reported(folder: Write, theorems: str, message: str) -> None:
    assert THEOREMS.count(theorems) == 1
    (problem,) = run.readable(folder(theorems=THEOREMS.replace(theorems, message)))[:1]
    assert problem.startswith("theorems.toml")


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('"more_is_more"', '"less_is_more"', "names less_is_more, which no file states"),
        ("x < more x", "x > more x", "is in the statement 0 times"),
        ('old = "x < more x"', 'old = "x"', "is in the statement 3 times"),
        ('new = "more x < x"', 'new = "x <  more x"', "is changed to itself"),
        ('old = "a - 1"\n', "", "has no field 'old'"),
    ],
)
def test_a_wrong_change_is_reported(folder: Write, old: str, new: str, message: str) -> None:
    mutations = MUTATIONS.replace(old, new, 1)
    assert mutations != MUTATIONS
    problems = run.readable(folder(mutations=mutations))
    assert any(p.startswith("mutations.toml") and message in p for p in problems), problems


def test_a_theorem_with_a_single_change_is_reported(folder: Write) -> None:
    problems = run.readable(folder())
    assert "mutations.toml changes more_is_more 1 times; each needs 2 changes" in problems


def test_a_change_is_found_across_lines() -> None:
    change = Mutation("t", "a b", "c")
    assert change.changed("Theorem t : a\n  b = c.") == "Theorem t : c = c."


def test_a_change_leaves_the_name_alone() -> None:
    change = Mutation("of_710", "710", "711")
    assert change.changed("Theorem of_710 : 0 < 710.") == "Theorem of_710 : 0 < 711."


def test_a_file_that_the_project_does_not_list_is_reported(folder: Write) -> None:
    there = folder()
    (there / "other.v").write_text(SMALL, encoding="utf-8")
    assert run.readable(there) == ["_CoqProject does not list other.v"]
    (there / "other.v").unlink()
    (there / "small.v").unlink()
    assert run.readable(there) == ["_CoqProject lists small.v, which does not exist"]


def test_an_unknown_name_in_the_lists_is_reported() -> None:
    with pytest.raises(ProofsError, match="no theorem rope_absolute"):
        source.theorem("rope_absolute")
