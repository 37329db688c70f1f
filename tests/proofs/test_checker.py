"""The checker runs over all proofs, and its refusals name the file, the line and the theorem."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from scripts.proofs import checker, install, listed, record
from scripts.proofs.checker import CheckError
from scripts.proofs.source import FOLDER, ProofsError
from tests.proofs.conftest import SMALL, Write

needs_checker = pytest.mark.usefixtures("checker_installed")
NAMES = ["more_is_more", "one_less_is_less"]


@pytest.fixture
def checker_looked_for_anew() -> Iterator[None]:
    """Look for the checker anew, before and after."""
    install.forget()
    yield
    install.forget()


@pytest.mark.slow
def test_all_proofs_hold_and_assume_what_is_recorded(built: Path) -> None:
    assert record.group_differences(to=built) == []


def test_the_record_is_of_the_files_that_there_are() -> None:
    assert record.changed_files() == []
    assert set(record.load()["theorems"]) == set(listed.formal_theorems_of())


@needs_checker
def test_a_good_file_is_accepted(folder: Write, tmp_path: Path) -> None:
    there, to = folder(), tmp_path / "out"
    assert set(checker.compile_folder(there, to)) == {"small.v"}
    assert {path.suffix for path in there.iterdir()} == {".v", ".toml", ""}  # nothing beside them
    assumed = checker.assumptions(NAMES, there, to)
    assert assumed == {"more_is_more": {}, "one_less_is_less": {}}


@needs_checker
@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("x < more x", "more x < x", "line 13, in more_is_more: Tactic failure"),
        ("x < more x", "x < mroe x", "line 10, in more_is_more: The reference mroe was not found"),
        (
            "unfold more. lia.\n",
            "unfold more.\n",
            "line 14, in more_is_more: (in proof more_is_more",
        ),
        ("Import Lia", "Import Lai", "line 3: Cannot find a physical path"),
    ],
)
def test_a_refusal_names_file_line_and_theorem(
    folder: Write, tmp_path: Path, old: str, new: str, message: str
) -> None:
    there = folder(SMALL.replace(old, new, 1))
    with pytest.raises(CheckError) as refused:
        checker.compile_folder(there, tmp_path / "out")
    assert str(refused.value).startswith(f"docs/proofs/small.v, {message}")


@needs_checker
def test_files_are_checked_after_those_that_they_require(folder: Write, tmp_path: Path) -> None:
    first = "From Small Require Import small.\nTheorem again : 1 = 1.\nProof. split. Qed.\n"
    seconds = checker.compile_folder(folder(afore=first), tmp_path / "out")
    assert set(seconds) == {"small.v", "afore.v"}


@needs_checker
@pytest.mark.parametrize(
    "planted",
    [
        "Axiom easy : forall x y : nat, x < y.\n",
        "Lemma easy : forall x y : nat, x < y. Proof. Admitted.\n",
    ],
)
def test_an_axiom_of_our_own_is_found(folder: Write, tmp_path: Path, planted: str) -> None:
    """It is found by what the checker prints, even if the reading of the files misses it."""
    small = SMALL.replace("(** One more. *)", planted).replace("unfold more. lia", "apply easy")
    there, to = folder(small), tmp_path / "out"
    checker.compile_folder(there, to)
    assumed = checker.assumptions(["more_is_more"], there, to)
    (problem,) = record.differences(assumed, write_record(tmp_path, assumed), there)
    assert problem.startswith("docs/proofs/small.v, line 11: more_is_more rests on small.easy")


@needs_checker
def test_other_assumptions_are_noticed(folder: Write, tmp_path: Path) -> None:
    there, to = folder(), tmp_path / "out"
    checker.compile_folder(there, to)
    assumed = checker.assumptions(NAMES, there, to)
    path = write_record(tmp_path, assumed)
    assert (
        record.differences(assumed, path, there) == record.group_differences(path, there, to) == []
    )

    classic = "From Coq Require Import Classical.\n"
    used = "destruct (classic (x = 0)); unfold more; lia"
    there = folder(SMALL.replace("Open Scope", f"{classic}Open Scope", 1).replace("lia", used, 1))
    checker.compile_folder(there, to)
    (problem,) = record.differences(checker.assumptions(NAMES, there, to), path, there)
    assert record.group_differences(path, there, to) == [problem]
    assert problem.startswith("docs/proofs/small.v, line 11: more_is_more assumes")
    assert "Classical_Prop.classic" in problem.partition("the record says")[0]
    assert "Classical_Prop.classic" not in problem.partition("the record says")[2]


def test_a_theorem_without_a_record_and_a_record_without_a_theorem_are_noticed(
    tmp_path: Path,
) -> None:
    path = write_record(tmp_path, {"one_less_is_less": {}})
    unknown, left_over = record.record_differences(["more_is_more"], path)
    assert "docs/data/proofs.json does not list more_is_more" in unknown
    assert "lists one_less_is_less, which proves nothing" in left_over


def test_a_changed_file_is_noticed_without_a_checker(folder: Write, tmp_path: Path) -> None:
    there = folder()
    path = tmp_path / "record.json"
    record.write({"files": {"small.v": record.digest(there / "small.v"), "gone.v": "0"}}, path)
    folder(f"{SMALL}\n")
    gone, changed = record.changed_files(path, there)
    assert "docs/proofs/gone.v is recorded and does not exist" in gone
    assert "docs/proofs/small.v is not the file that was checked last" in changed


def write_record(folder: Path, assumed: dict[str, dict[str, str]]) -> Path:
    """Return a record of theorems and what they assume."""
    entries = {name: {"assumes": sorted(axioms), "refused": 2} for name, axioms in assumed.items()}
    record.write({"theorems": entries}, folder / "record.json")
    return folder / "record.json"


def test_printed_assumptions_are_read() -> None:
    printed = "Axioms:\na.b : nat\nc.d\n  : forall x,\n    x = x\nodd warning\n"
    assert checker.axioms(printed) == {"a.b": "nat", "c.d": "forall x, x = x", "odd warning": ""}
    assert checker.axioms(f"{checker.CLOSED}\n") == {}
    assert not checker.is_allowed("odd warning")
    assert checker.is_allowed("PrimInt63.add")
    assert checker.is_allowed("PArray.get")
    assert not checker.is_allowed("ours.add")


@pytest.mark.usefixtures("checker_looked_for_anew")
def test_without_a_checker_the_reason_is_given(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "/nowhere")
    assert checker.missing() == "neither coqc nor rocq is on the PATH"


@pytest.mark.usefixtures("checker_looked_for_anew")
def test_a_checker_without_its_libraries_is_reported(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    stub(tmp_path, "rocq", f"echo {tmp_path}")
    (tmp_path / "user-contrib" / "Flocq").mkdir(parents=True)
    monkeypatch.setenv("PATH", str(tmp_path))
    assert checker.missing() == "rocq lacks the libraries Coquelicot, Interval"
    assert checker.compiler() == ("rocq", "c")
    assert checker.toplevel() == ("rocq", "repl")


def stub(folder: Path, name: str, script: str) -> None:
    """Write a command that does something else."""
    (folder / name).write_text(f"#!/bin/sh\n{script}\n", encoding="utf-8")
    (folder / name).chmod(0o755)


@pytest.mark.usefixtures("checker_looked_for_anew")
@pytest.mark.parametrize(
    ("root", "apt", "platform", "advice"),
    [
        (False, True, "linux", "Install it, as root: apt-get install coq libcoq-coquelicot"),
        (False, False, "linux", "Install it with opam: opam repo add"),
        (False, False, "darwin", "Install it with opam: brew install opam && opam init && opam"),
    ],
)
def test_what_cannot_be_installed_is_told(
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
    root: bool,
    apt: bool,
    platform: str,
    advice: str,
) -> None:
    if apt:
        stub(tmp_path, "apt-get", "exit 1")
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr("os.geteuid", lambda: 0 if root else 1000)
    monkeypatch.setattr("sys.platform", platform)
    assert install.ensure().startswith(f"neither coqc nor rocq is on the PATH. {advice}")


@pytest.mark.usefixtures("checker_looked_for_anew")
def test_root_on_debian_installs_what_is_missing(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    stub(tmp_path, "apt-get", f'echo "$@" >> {tmp_path}/asked; echo no network >&2; exit 1')
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr("os.geteuid", lambda: 0)
    assert "apt-get install coq" in install.ensure()
    asked = (tmp_path / "asked").read_text().splitlines()
    assert asked == ["update", " ".join(install.BY_APT[1:])]
    assert "failed:\nno network" in capsys.readouterr().out


@needs_checker
def test_a_project_without_a_name_is_an_error(folder: Write) -> None:
    there = folder()
    (there / "_CoqProject").write_text("small.v\n")
    with pytest.raises(ProofsError, match=r"must say `-R \. Book`"):
        checker.project(there)


def test_no_product_of_the_checker_lies_beside_the_sources() -> None:
    beside = {path.suffix for path in FOLDER.iterdir() if path.is_file()}
    assert beside == {".v", ".toml", ""}


@pytest.mark.parametrize("name", ["PrimFloat", "Classical_Prop"])
def test_a_file_with_the_name_of_a_library_of_axioms_is_reported(folder: Write, name: str) -> None:
    """Its own axioms would look like those of the library."""
    with pytest.raises(ProofsError, match=f"{name}.v has the name of a library"):
        checker.project(folder(**{name: "Axiom classic : False.\n"}))
