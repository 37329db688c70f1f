"""Pages that are made from data pass the checks of written pages, and are in no file."""

from __future__ import annotations

from pathlib import Path

import pytest
from mkdocs.config import load_config
from mkdocs.structure.files import Files

from scripts import DOCS, ROOT
from scripts.book import pages
from scripts.book.check import problems
from scripts.book.data import SCHEMAS, validator
from scripts.site import made_pages
from scripts.site.rebuild import outdate

CONFIG = load_config(str(ROOT / "mkdocs.yml"), hooks=[], plugins=[])


@pytest.mark.parametrize("path", pages.MADE)
def test_a_made_page_has_no_problem(path: str) -> None:
    assert problems(pages.text(path), None, path) == []


@pytest.mark.parametrize("schema", sorted(path.stem for path in SCHEMAS.glob("*.json")))
def test_a_schema_of_data_is_valid(schema: str) -> None:
    kind = type(validator(schema))
    kind.check_schema(validator(schema).schema)


def test_no_made_page_is_in_a_file() -> None:
    assert [page for page in pages.MADE if (DOCS / page).exists()] == []
    assert set(pages.paths()) == {*pages.written(), *pages.MADE}


@pytest.mark.parametrize("path", pages.MADE)
def test_the_data_of_a_made_page_exist(path: str) -> None:
    assert all((ROOT / place).exists() for place in pages.MADE[path].data)


def test_the_site_has_every_made_page() -> None:
    files = made_pages.on_files(Files([]), config=CONFIG)
    assert {file.src_uri: file.content_string for file in files} == {
        page: pages.text(page) for page in pages.MADE
    }


def test_a_made_page_is_built_again_once_it_is_outdated(tmp_path: Path) -> None:
    config = load_config(str(ROOT / "mkdocs.yml"), hooks=[], plugins=[], site_dir=str(tmp_path))
    page = next(iter(made_pages.made_pages(config)))
    assert page.is_modified()
    built = Path(page.abs_dest_path)
    built.parent.mkdir(parents=True)
    built.touch()
    assert not page.is_modified()
    outdate(built)
    assert page.is_modified()
