"""The proofs, checked once for all workers, and small files of proofs to break."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from filelock import FileLock

from scripts.proofs import checker
from tests.selection import give_up

SMALL = """\
(** * A small file *)

From Coq Require Import Lia.
Open Scope nat_scope.

(** One more. *)
Definition more (x : nat) : nat := x + 1.

(** One more is more. *)
Theorem more_is_more : forall x : nat, x < more x.
Proof.
  (* a comment. With a "full stop." *)
  intros x. unfold more. lia.
Qed.

Section There.
Variable a : nat.
Hypothesis positive : 0 < a.

Theorem one_less_is_less : a - 1 < a.
Proof. lia. Qed.
End There.
"""

MUTATIONS = """\
[[mutation]]
theorem = "more_is_more"
old = "x < more x"
new = "more x < x"

[[mutation]]
theorem = "one_less_is_less"
old = "a - 1"
new = "a + 1"
"""

THEOREMS = """\
[[theorem]]
number = "4.1"
proved = ["more_is_more"]

[[theorem]]
number = "4.2"
reason = "It is about words."

[[number]]
claim = "one less is less"
where = "chapters/by-hand/alternatives.md#rope"
proved = ["one_less_is_less"]
"""

Write = Callable[..., Path]


@pytest.fixture
def folder(tmp_path: Path) -> Write:
    """Return what writes a small folder of proofs, with changes."""

    def write(
        small: str = SMALL, mutations: str = MUTATIONS, theorems: str = THEOREMS, **more: str
    ) -> Path:
        there = tmp_path / "proofs"
        there.mkdir(exist_ok=True)
        files = {"small": small, **more}
        for name, text in files.items():
            (there / f"{name}.v").write_text(text, encoding="utf-8")
        listed = " ".join(f"{name}.v" for name in files)
        (there / "_CoqProject").write_text(f"-R . Small\n{listed}\n", encoding="utf-8")
        (there / "mutations.toml").write_text(mutations, encoding="utf-8")
        (there / "theorems.toml").write_text(theorems, encoding="utf-8")
        return there

    return write


@pytest.fixture(scope="session")
def checker_installed() -> None:
    """Give up where no proof checker is installed."""
    if missing := checker.missing():
        give_up(missing)


@pytest.fixture(scope="session")
def built(checker_installed: None, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with the checked proofs of the book, one for all workers."""
    shared = tmp_path_factory.getbasetemp()
    shared = shared.parent if "popen" in shared.name else shared  # each worker has a folder there
    to, done = shared / "checked-proofs", shared / "checked-proofs.done"
    with FileLock(shared / "checked-proofs.lock"):
        if not done.exists():
            checker.compile_folder(to=to)
            done.touch()
    return to
