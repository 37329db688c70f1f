"""`make pdf` prints the book and packs it as an e-book, and notices what would spoil either."""

from __future__ import annotations

import zipfile
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pikepdf
import pypdfium2
import pytest
from playwright.sync_api import Browser

from scripts.site import downloads
from scripts.site.downloads import EPUB, PDF
from scripts.site.paper import check
from scripts.site.paper.__main__ import make, parts
from tests.site.served import Site, paths

pytestmark = pytest.mark.slow

SOME = [
    ("The book", [("chapters/formula-sheet/", "One sheet of formulas")]),
    ("Explore", [("explore/", "All explorers"), ("explore/rope/", "RoPE")]),
]
TITLES = ["One sheet of formulas", "All explorers", "RoPE: both rotate, the score stays"]


@pytest.fixture(scope="module")
def paper(
    site: Site, browser: Browser, tmp_path_factory: pytest.TempPathFactory
) -> tuple[Path, list[str]]:
    """Return the folder of a PDF and an EPUB of three pages, and what is wrong with them."""
    folder = tmp_path_factory.mktemp("paper")
    return folder, make(site.folder, SOME, folder, browser)


def test_both_are_sound(paper: tuple[Path, list[str]]) -> None:
    assert paper[1] == []


def test_the_whole_book_has_every_page() -> None:
    assert sorted(path for _, pages in parts() for path, _ in pages) == sorted(paths())


def test_outline_has_the_headings_below_each_title(paper: tuple[Path, list[str]]) -> None:
    with pikepdf.open(paper[0] / PDF) as document, document.open_outline() as outline:
        assert [entry.title for entry in outline.root] == TITLES
        assert [entry.title for entry in outline.root[0].children][:1] == ["Conventions"]


def page_texts(folder: Path) -> list[str]:
    with pypdfium2.PdfDocument(folder / PDF) as document:
        return [page.get_textpage().get_text_bounded() for page in document]


def test_pages_are_numbered_and_mathematics_is_text(paper: tuple[Path, list[str]]) -> None:
    pages = page_texts(paper[0])
    assert [text.split()[-1] for text in pages] == [str(n + 1) for n in range(len(pages))]
    assert {"ω", "λ", "θ"} <= set(pages[0])


def test_figures_are_drawn_with_lines(paper: tuple[Path, list[str]]) -> None:
    with pypdfium2.PdfDocument(paper[0] / PDF) as document:
        pages = [[one.type for one in page.get_objects(max_depth=8)] for page in document]
    assert max(kinds.count(pypdfium2.raw.FPDF_PAGEOBJ_PATH) for kinds in pages) > 30
    assert not any(pypdfium2.raw.FPDF_PAGEOBJ_IMAGE in kinds for kinds in pages)


def test_a_link_between_pages_leads_to_its_place(paper: tuple[Path, list[str]]) -> None:
    with pikepdf.open(paper[0] / PDF) as document:
        notes = [note for page in document.pages for note in page.get("/Annots", [])]
        targets = [str(note.get("/Dest", "")) for note in notes]
    assert "/explore.rope" in targets


def test_an_e_book_has_mathml_and_pictures(paper: tuple[Path, list[str]]) -> None:
    with zipfile.ZipFile(paper[0] / EPUB) as archive:
        sheet = archive.read("book/chapters.formula-sheet.xhtml").decode()
        names = archive.namelist()
    assert sheet.count("<math") > 20
    assert "katex-html" not in sheet
    assert any(name.startswith("book/pictures/") for name in names)


def strip_a_font(document: pikepdf.Pdf) -> None:
    """Take the file out of every font."""
    for one in check.objects(document, "/FontDescriptor"):
        for name in set(check.FILES) & set(one.keys()):
            del one[name]


def add_a_blank_page(document: pikepdf.Pdf) -> None:
    document.add_blank_page()


def forget_a_place(document: pikepdf.Pdf) -> None:
    """Remove the places that links lead to."""
    root: Any = document.Root
    root.Dests = pikepdf.Dictionary()


def rename_a_title(document: pikepdf.Pdf) -> None:
    with document.open_outline() as outline:
        outline.root[0].title = "Another"


@pytest.mark.parametrize(
    ("spoil", "said"),
    [
        (strip_a_font, "is not embedded"),
        (add_a_blank_page, "is blank"),
        (forget_a_place, "a link leads to /explore.rope, which is not there"),
        (rename_a_title, "the outline must have"),
    ],
)
def test_a_spoilt_pdf_is_noticed(
    spoil: Callable[[pikepdf.Pdf], None],
    said: str,
    paper: tuple[Path, list[str]],
    tmp_path: Path,
) -> None:
    with pikepdf.open(paper[0] / PDF) as document:
        spoil(document)
        document.save(tmp_path / PDF)
    assert said in "\n".join(check.pdf_problems(tmp_path / PDF, TITLES))


def test_a_spoilt_e_book_is_noticed(paper: tuple[Path, list[str]], tmp_path: Path) -> None:
    with zipfile.ZipFile(paper[0] / EPUB) as whole, zipfile.ZipFile(tmp_path / EPUB, "w") as other:
        for name in whole.namelist():
            other.writestr(name, whole.read(name).replace(b"explore.rope.xhtml", b"gone.xhtml"))
    assert any("gone.xhtml" in found for found in check.epub_problems(tmp_path / EPUB))


def test_the_site_offers_what_has_been_made(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(downloads, "FOLDER", tmp_path)

    def built(markdown: str, path: str = "index.md") -> str:
        page: Any = SimpleNamespace(file=SimpleNamespace(src_uri=path))
        return downloads.on_page_markdown(markdown, page=page)

    assert built(f"a\n\n{downloads.MARK}\n") == "a\n\n\n"
    assert built(f"- a\n{downloads.ITEMS}\nb\n") == "- a\n\nb\n"
    (tmp_path / PDF).write_bytes(bytes(8_500_000))
    assert built(downloads.MARK) == f"Take the whole book along: [PDF]({PDF}) (8.5 MB)."
    item = f"- [PDF](../{PDF}) *the book, 8.5 MB*\n"
    assert built(f"- a\n{downloads.ITEMS}", "teach/index.md") == f"- a\n{item}"
    (tmp_path / EPUB).write_bytes(bytes(1_200_000))
    assert built(downloads.MARK) == (
        f"Take the whole book along: [PDF]({PDF}) (8.5 MB) or [EPUB]({EPUB}) (1.2 MB)."
    )
