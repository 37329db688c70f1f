"""`make quick` checks pages whose sources have changed, and lists shared files that have."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from scripts import ROOT
from scripts.book import changed, pages


def git(root: Path, *words: str) -> str:
    who = ["-c", "user.name=A", "-c", "user.email=a@example.org", "-c", "commit.gpgsign=false"]
    command = ["git", *who, *words]
    done = subprocess.run(command, cwd=root, check=True, capture_output=True, text=True)
    return done.stdout.strip()


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """Return a repository with one commit of three files."""
    root = tmp_path / "checkout"
    root.mkdir()
    git(root, "init", "--quiet", "--initial-branch=main")
    for name in ("kept.md", "edited.md", "removed.md"):
        (root / name).write_text(name)
    (root / ".gitignore").write_text("ignored.md\n")
    git(root, "add", ".")
    git(root, "commit", "--quiet", "--message=first")
    return root


def test_edited_removed_and_new_files_are_changed_and_ignored_ones_are_not(checkout: Path) -> None:
    assert changed.changed(checkout) == set()
    (checkout / "edited.md").write_text("edited")
    (checkout / "removed.md").unlink()
    (checkout / "née.md").touch()
    (checkout / "ignored.md").touch()
    expected = {Path("edited.md"), Path("removed.md"), Path("née.md")}
    assert changed.changed(checkout) == expected
    git(checkout, "add", ".")
    assert changed.changed(checkout) == expected


@pytest.mark.parametrize("ours", ["main", "topic"])
def test_commits_count_until_they_are_upstream(checkout: Path, ours: str) -> None:
    origin = checkout.parent / "origin"
    git(checkout, "clone", "--quiet", "--bare", ".", str(origin))
    git(checkout, "remote", "add", "origin", str(origin))
    git(checkout, "fetch", "--quiet", "origin")
    git(checkout, "checkout", "--quiet", "-B", ours)
    (checkout / "edited.md").write_text("edited")
    git(checkout, "commit", "--quiet", "--all", "--message=second")
    assert changed.changed(checkout) == {Path("edited.md")}
    git(checkout, "push", "--quiet", "origin", f"{ours}:main")
    assert changed.changed(checkout) == set()


def test_without_a_remote_commits_are_not_changes(checkout: Path) -> None:
    (checkout / "edited.md").write_text("edited")
    git(checkout, "commit", "--quiet", "--all", "--message=second")
    assert changed.changed(checkout) == set()


def pages_of(*files: str) -> set[str]:
    """Return the pages of the book of which one of these files is a source."""
    return {*changed.outdated_pages([Path(file) for file in files])}


def check_of_made_page(page: str) -> str:
    """Return what checks a page that is made from data."""
    return f"tests/book/test_made_pages.py::test_a_made_page_has_no_problem[{page}]"


@pytest.mark.parametrize(
    ("file", "pages"),
    [
        ("README.md", {"README.md"}),
        ("docs/index.md", {"docs/index.md"}),
        ("docs/data/settings/index.tsv", {"docs/index.md"}),
        ("docs/data/settings/chapters/by-hand/why.tsv", {"docs/chapters/by-hand/why.md"}),
        ("docs/data/claims/001.yml", {check_of_made_page("trust/claims.md")}),
        ("docs/data/sources/001.yml", {check_of_made_page("trust/sources.md")}),
        (
            "docs/proofs/rotary.v",
            {
                "docs/trust/what-a-machine-proves.md",
                check_of_made_page("trust/formal-statements.md"),
            },
        ),
        ("docs/data/bench.json", {"docs/how-to/how-fast.md"}),
        ("docs/data/lighthouse.json", {"docs/trust/how-built.md"}),
        (
            "scripts/measure/training.py",
            {
                "docs/beyond/which-extrapolates/again.md",
                "docs/beyond/which-extrapolates/further-training.md",
                "docs/beyond/which-extrapolates/method.md",
                "docs/beyond/which-extrapolates/retrieval.md",
                "docs/explore/watch.md",
                "docs/how-to/choose-a-scheme.md",
                "docs/how-to/resize-a-table.md",
                "docs/how-to/shift-a-cache.md",
                "docs/long-context/how-long.md",
            },
        ),
        ("posenc/nn/t5.py", {"docs/reference/t5.md"}),
        ("posenc/frequency.py", {"docs/reference/frequencies.md", "docs/chapters/by-hand/code.md"}),
        ("scripts/book/numbers.py", {"docs/long-context/longrope.md"}),
        ("tests/book/test_changed.py", set()),
        ("mkdocs.yml", set()),
    ],
)
def test_a_file_is_a_source_of_the_pages_that_show_or_name_it(file: str, pages: set[str]) -> None:
    assert pages_of(file) == pages


def test_data_are_a_source_of_the_pages_that_compute_with_them() -> None:
    measured, facts = pages_of("docs/data/measure/a-run.json"), pages_of("docs/data/facts.yml")
    assert "docs/beyond/which-extrapolates/index.md" in measured & facts
    assert "docs/reference/alibi.md" not in measured | facts


def test_a_figure_is_a_source_of_the_pages_that_show_it() -> None:
    written = {page: pages.text(page) for page in pages.written_pages()}
    showing = {f"docs/{page}" for page, text in written.items() if "pendulums-light.svg" in text}
    assert pages_of("docs/figures/pendulums-light.svg") == showing != set()


@pytest.mark.parametrize(
    ("file", "shared"),
    [
        ("posenc/rotary/rope.py", True),
        ("scripts/book/numbers.py", True),
        ("docs/data/references.yml", True),
        ("mkdocs.yml", True),
        ("docs/data/settings/index.tsv", False),
        ("docs/index.md", False),
        ("scripts/site/build.py", False),
        ("tests/book/test_changed.py", False),
    ],
)
def test_files_that_every_page_depends_on_are_shared(file: str, shared: bool) -> None:
    assert (ROOT / file).is_file()
    assert changed.is_shared(Path(file)) == shared


def test_changed_pages_are_printed_and_shared_files_reported(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    files = {Path("docs/index.md"), Path("README.md"), Path("docs/gone.md"), Path("mkdocs.yml")}
    monkeypatch.setattr(changed, "changed", lambda: files)
    changed.main()
    printed = capsys.readouterr()
    assert printed.out.splitlines() == ["README.md", "docs/index.md"]
    assert printed.err.splitlines()[1:] == ["  mkdocs.yml"]
    assert "make test" in printed.err


def test_outside_git_no_page_is_printed_and_stderr_says_why(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(tmp_path))
    (tmp_path / "unpacked").mkdir()
    files_in = changed.changed

    def fail() -> set[Path]:
        return files_in(tmp_path / "unpacked")

    monkeypatch.setattr(changed, "changed", fail)
    changed.main()
    printed = capsys.readouterr()
    assert printed.out == ""
    assert "git does not say" in printed.err
