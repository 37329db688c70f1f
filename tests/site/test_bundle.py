"""Every page of the built site links one style sheet, which has all that the many had."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from scripts import DOCS
from scripts.site.bundle import WHOLE_ADDRESS, bundle, moved
from tests.site.served import Site

SHEET = re.compile(r'<link[^>]+rel="stylesheet"[^>]*href="([^"$]+)"')


def test_every_page_links_one_sheet_and_all_the_same(site: Site) -> None:
    named = set()
    for page in site.folder.rglob("*.html"):
        (address,) = SHEET.findall(page.read_text(encoding="utf-8"))
        named.add(address.rpartition("/")[2])
    (name,) = named
    assert (site.folder / "assets" / name).is_file()


def test_every_file_that_the_sheet_names_is_there(site: Site) -> None:
    (sheet,) = (site.folder / "assets").glob("book.*.css")
    named = re.findall(r"""url\(["']?(?!data:|#)([^"')]+)""", sheet.read_text(encoding="utf-8"))
    assert len(named) > 20
    assert [name for name in named if not (sheet.parent / name).is_file()] == []


SHEETS = """() => [...document.querySelectorAll("link[rel=stylesheet]")].map(
    link => [link.getAttribute("href"), link.sheet.cssRules.length > 100])"""


def test_the_sheet_has_its_whole_address_from_the_first(site: Site, page: Page) -> None:
    """What the theme renamed would be read again. It stays when the page is changed."""
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    page.goto("chapters/formula-sheet/")
    (name,) = (path.name for path in (site.folder / "assets").glob("book.*.css"))
    assert page.evaluate(SHEETS) == [[f"{site.url}assets/{name}", True]]
    page.evaluate("document.querySelector('link[rel=stylesheet]').here = true")
    page.locator("nav a[href$='prove-it/']").first.evaluate("link => link.click()")
    expect(page.locator("h1")).to_contain_text("Prove it")
    assert page.evaluate(SHEETS) == [[f"{site.url}assets/{name}", True]]
    assert page.evaluate("document.querySelector('link[rel=stylesheet]').here")
    assert [url.rpartition("/")[2] for url in asked].count(name) == 1


def test_without_scripts_the_sheet_is_there(page_without_scripts: Page) -> None:
    page_without_scripts.goto("chapters/formula-sheet/")
    ((address, is_read),) = page_without_scripts.evaluate(SHEETS)
    assert address.startswith("../../assets/book.")
    assert is_read


PAGE = """<head>
  <link rel="stylesheet" href="../assets/css/a.css">
  <title>Here</title>
  <code><span class="gp">&gt;</span><span class="n">a</span><span class="o">&lt;</span></code>
      <link rel="stylesheet" href="../assets/b.css">
</head>"""

CODE = '<code><span class="gp">&gt;</span>a&lt;</code>'


def test_sheets_become_one_in_their_order(tmp_path: Path) -> None:
    for name, content in {"css/a.css": "p{color:red}", "b.css": "p{color:blue}"}.items():
        (tmp_path / "assets" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "assets" / name).write_text(content, encoding="utf-8")
    pages = [tmp_path / "one" / "index.html", tmp_path / "404.html"]
    pages[0].parent.mkdir()
    pages[0].write_text(PAGE, encoding="utf-8")
    pages[1].write_text(PAGE.replace("../", "/book/"), encoding="utf-8")
    bundle(tmp_path)
    made = [page.read_text(encoding="utf-8") for page in pages]
    (sheet,) = (tmp_path / "assets").glob("book.*.css")
    assert sheet.read_text(encoding="utf-8") == "p{color:red}p{color:blue}"
    link = WHOLE_ADDRESS.format(address=f"../assets/{sheet.name}")
    assert made[0] == f"<head>\n{link}  <title>Here</title>\n  {CODE}\n</head>"
    assert made[1] == made[0].replace("../", "/book/")
    bundle(tmp_path)
    assert [page.read_text(encoding="utf-8") for page in pages] == made


@pytest.mark.parametrize(
    ("css", "there"),
    [
        ('a{src:url("fonts/x.woff2")}', 'a{src:url("built/fonts/x.woff2")}'),
        ("a{b:url(../images/x.png)}", "a{b:url(images/x.png)}"),
        ("a{b:url(data:image/png;base64,AA)}", "a{b:url(data:image/png;base64,AA)}"),
        ("a{b:url('#mark')}", "a{b:url('#mark')}"),
        ('@charset "UTF-8";a{}/*# sourceMappingURL=a.css.map */', "a{}"),
        ("[data-md-color-switching] *,[x] :after{transition:none}p{}", "p{}"),
    ],
)
def test_addresses_follow_the_sheet_to_its_new_place(css: str, there: str) -> None:
    assert moved(css, "assets/built/fonts.css") == there


def test_scripts_lose_their_comments_and_say_the_same(tmp_path: Path) -> None:
    script = tmp_path / "assets" / "js" / "explore" / "one.js"
    script.parent.mkdir(parents=True)
    code = ["export const one =", "`// ${two(`${1} /* kept */`)}  too`; // how", "* 2;"]
    lines = ["// Why.", "", code[0], "  /** What * this is,", "      and more. */", f"  {code[1]}"]
    script.write_text("\n".join([*lines, f"    {code[2]}", ""]), encoding="utf-8")
    bundle(tmp_path)
    assert script.read_text(encoding="utf-8").splitlines() == code


def test_scripts_have_no_text_of_several_lines() -> None:
    """It would lose its indentation, and lines that look like comments."""
    for script in (DOCS / "assets" / "js").rglob("*.js"):
        for line in script.read_text(encoding="utf-8").splitlines():
            assert line.lstrip().startswith(("//", "/**")) or line.count("`") % 2 == 0, script
