"""The source that the site serves is complete, contains nothing else, and is linked."""

from __future__ import annotations

import subprocess
import tarfile
from pathlib import Path

import pytest

from scripts import ROOT
from scripts.site import source_archive
from scripts.site.install_lines import with_source_address
from tests.site.served import Site

REPOSITORY = "https://example.org/book.git"


@pytest.fixture
def source(tmp_path: Path) -> Path:
    """Return a small checkout with an ignored and an untracked file."""
    for name in (".gitignore", "a.md", "b/c.py", "build/d.whl", "untracked"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text("/build/\n")
    (tmp_path / "b" / "c.py").chmod(0o755)
    subprocess.run(["git", "init", "--quiet"], cwd=tmp_path, check=True)
    subprocess.run(["git", "add", ".gitignore", "a.md", "b"], cwd=tmp_path, check=True)
    return tmp_path


def test_archive_of_the_site_has_every_source_file_as_it_is(site: Site) -> None:
    with tarfile.open(site.folder / source_archive.ARCHIVE) as packed:
        names = [f"{source_archive.NAME}/{name}" for name in source_archive.files(ROOT)]
        assert packed.getnames() == names
        read = packed.extractfile(f"{source_archive.NAME}/Makefile")
        assert read and read.read() == (ROOT / "Makefile").read_bytes()


def test_only_tracked_files_that_are_there_are_packed(source: Path) -> None:
    (source / "a.md").unlink()
    assert source_archive.files(source) == [".gitignore", "b/c.py"]


def test_without_git_every_file_is_packed_that_is_not_ignored(source: Path) -> None:
    names = [".gitignore", "a.md", "b/c.py", "untracked"]
    assert sorted(source_archive.unignored(source)) == names
    (source / ".git").rename(source / "build" / "git")
    assert source_archive.files(source) == names


def test_same_files_give_the_same_archive_and_another_byte_another_stamp(source: Path) -> None:
    names = source_archive.files(source)
    first = source_archive.archive(source, names), source_archive.fingerprint(source, names)
    (source / "a.md").touch()
    again = source_archive.archive(source, names), source_archive.fingerprint(source, names)
    assert again == first
    (source / "a.md").write_text("changed")
    assert source_archive.archive(source, names) != first[0]
    assert source_archive.fingerprint(source, names) != first[1]


def test_scripts_stay_executable(source: Path, tmp_path: Path) -> None:
    (tmp_path / "packed").write_bytes(source_archive.archive(source, ["a.md", "b/c.py"]))
    with tarfile.open(tmp_path / "packed") as packed:
        assert [entry.mode for entry in packed] == [0o644, 0o755]


def test_reference_links_the_archive_and_a_repository_only_if_one_is_set(site: Site) -> None:
    page = (site.folder / "reference" / "index.html").read_text("utf-8")
    assert f'<a href="{site.url}{source_archive.ARCHIVE}">an archive</a>.' in page
    written = (ROOT / "docs" / "reference" / "index.md").read_text("utf-8")
    linked = with_source_address(written, site.url, REPOSITORY)
    assert f"{source_archive.ARCHIVE}) or [a repository]({REPOSITORY}). In" in linked
