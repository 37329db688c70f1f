"""A changed statement must be refused, and a change that is not is found."""

from __future__ import annotations

from pathlib import Path

import pytest

from scripts.proofs import checker, listed, mutations
from scripts.proofs.checker import CheckError
from scripts.proofs.listed import Mutation
from tests.proofs.conftest import SMALL, Write

needs_checker = pytest.mark.usefixtures("checker_installed")


@pytest.mark.slow
def test_every_changed_statement_is_refused(built: Path) -> None:
    tried = mutations.try_mutations(listed.mutations(), to=built)
    assert [one.message() for one in tried if one.problem] == []
    assert [one.mutation for one in tried if not one.refused] == []
    assert len(tried) == len(listed.mutations())


@pytest.fixture
def small(folder: Write, tmp_path: Path) -> tuple[Path, Path]:
    """Return a small folder of proofs, and where it was checked."""
    there, to = folder(), tmp_path / "out"
    checker.compile_folder(there, to)
    return there, to


@needs_checker
def test_changes_are_refused_also_in_a_section(small: tuple[Path, Path]) -> None:
    there, to = small
    one, other = mutations.try_mutations(listed.mutations(there), there, to)
    assert "Tactic failure" in one.refused
    assert "Tactic failure" in other.refused


@needs_checker
@pytest.mark.parametrize(
    ("new", "problem"),
    [
        ("x <= more x", "the proof still holds"),
        ("more x > x", "the proof still holds"),
        ("x < mroe x", "the changed statement has no meaning: The reference mroe was not found"),
        ("x < more", "the changed statement has no meaning"),
    ],
)
def test_a_change_that_proves_nothing_is_found(
    small: tuple[Path, Path], new: str, problem: str
) -> None:
    there, to = small
    (tried,) = mutations.try_mutations([Mutation("more_is_more", "x < more x", new)], there, to)
    assert tried.problem.startswith(problem)
    assert not tried.refused
    assert "docs/proofs/small.v, line 10, more_is_more with 'x < more x' changed" in tried.message()


@needs_checker
def test_a_proof_that_ignores_its_statement_is_found(folder: Write, tmp_path: Path) -> None:
    """A hypothesis that cannot hold proves anything, and so does a change."""
    small = SMALL.replace("0 < a.", "a < a.").replace("Proof. lia", "Proof. exfalso; lia")
    there, to = folder(small), tmp_path / "out"
    checker.compile_folder(there, to)
    changes = [change for change in listed.mutations(there) if change.theorem == "one_less_is_less"]
    (tried,) = mutations.try_mutations(changes, there, to)
    assert tried.problem == "the proof still holds"


@needs_checker
def test_a_step_without_end_decides_nothing(
    folder: Write, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(mutations, "PATIENCE", 1)
    endless = SMALL.replace("unfold more. lia", "unfold more. first [lia | repeat pose proof I]")
    there, to = folder(endless), tmp_path / "out"
    checker.compile_folder(there, to)
    (tried,) = mutations.try_mutations([Mutation("more_is_more", "x <", "x + 2 <")], there, to)
    assert tried.problem == "undecided after 1 seconds"


@needs_checker
def test_a_toplevel_that_stops_is_reported(
    small: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(checker, "toplevel", lambda: ("echo", "no such option"))
    there, to = small
    with pytest.raises(CheckError, match="the toplevel stopped: no such option"):
        mutations.try_mutations(listed.mutations(there), there, to)
