"""Pages that are made from data pass the checks of written pages, and are in no file."""

from __future__ import annotations

import os
from importlib import import_module
from pathlib import Path

import pytest
from mkdocs.config import load_config
from mkdocs.structure.files import Files

from scripts import DOCS, ROOT
from scripts.book import glossary_page, pages
from scripts.book.check import problems
from scripts.book.data import SCHEMAS, validator
from scripts.site import generated_pages
from scripts.site.rebuild import outdate

CONFIG = load_config(str(ROOT / "mkdocs.yml"), hooks=[], plugins=[])


@pytest.mark.parametrize("path", pages.MADE)
def test_a_made_page_has_no_problem(path: str) -> None:
    assert problems(pages.text(path), None, path) == []


@pytest.mark.parametrize("schema", sorted(SCHEMAS))
def test_a_schema_of_data_is_valid(schema: str) -> None:
    kind = type(validator(schema))
    kind.check_schema(validator(schema).schema)


def test_no_made_page_is_in_a_file() -> None:
    assert [page for page in pages.MADE if (DOCS / page).exists()] == []
    assert set(pages.paths()) == {*pages.written_pages(), *pages.MADE}


@pytest.mark.parametrize("path", pages.MADE)
def test_the_data_of_a_made_page_exist(path: str) -> None:
    assert all((ROOT / place).exists() for place in pages.MADE[path].data)


@pytest.mark.parametrize("path", pages.MADE)
def test_a_made_page_reads_only_the_pages_that_it_names(
    path: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """While the book is served, a change of another page does not make it again.

    A page that reads all pages also reads the titles of made pages.
    """
    read: set[str] = set()
    text = pages.text

    def recorded(page: str) -> str:
        read.add(page)
        return text(page)

    monkeypatch.setattr(pages, "text", recorded)
    import_module(f"scripts.{pages.MADE[path].module}").page(path)
    named = {file.relative_to(DOCS).as_posix() for file in DOCS.glob(pages.MADE[path].reads or "-")}
    assert read <= named | ({*pages.MADE} if pages.MADE[path].reads == pages.ALL else set())


def test_a_made_page_is_made_again_after_a_change_of_a_page_that_it_reads(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pages, "DOCS", tmp_path)
    monkeypatch.setattr(
        pages, "MADE", {"all.md": pages.Made("book.glossary_page", (), reads="a*.md")}
    )
    monkeypatch.setattr(glossary_page, "page", lambda path: pages.text("a.md").upper())
    (tmp_path / "a.md").write_text("one")
    assert pages.text("all.md") == "ONE"
    (tmp_path / "a.md").write_text("two")
    os.utime(tmp_path / "a.md", (1, 1))
    assert pages.text("all.md") == "TWO"


def test_the_site_has_every_made_page() -> None:
    files = generated_pages.on_files(Files([]), config=CONFIG)
    assert {file.src_uri: file.content_string for file in files} == {
        page: pages.text(page) for page in pages.MADE
    }


def test_a_made_page_is_built_again_once_it_is_outdated(tmp_path: Path) -> None:
    config = load_config(str(ROOT / "mkdocs.yml"), hooks=[], plugins=[], site_dir=str(tmp_path))
    page = next(iter(generated_pages.generated_pages(config)))
    assert page.is_modified()
    built = Path(page.abs_dest_path)
    built.parent.mkdir(parents=True)
    built.touch()
    assert not page.is_modified()
    outdate(built)
    assert page.is_modified()
