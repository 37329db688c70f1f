"""Every page links one sheet that renders like the originals, and scripts work when minified."""

from __future__ import annotations

import gzip
import json
import re
from collections.abc import Callable
from pathlib import Path

import pytest
import quickjs
from mkdocs.config import load_config
from playwright.sync_api import Browser, Page

from scripts import ROOT
from scripts.site import framed_explorers
from scripts.site.minify import ONE_LINK, minify
from tests.site.served import Site
from tests.site.visits import SCHEME, SETTLE, TOGGLE, UNFOLD

LINK = re.compile(r'<link[^>]+rel="stylesheet"[^>]*href="([^"$]+)"')


# The built site


def test_all_pages_link_the_same_single_sheet(site: Site) -> None:
    named = set()
    alone = site.folder / framed_explorers.FOLDER  # these have a smaller one
    for page in (page for page in site.folder.rglob("*.html") if alone not in page.parents):
        (address,) = LINK.findall(page.read_text(encoding="utf-8"))
        named.add(address.rpartition("/")[2])
    (name,) = named
    assert (site.folder / "assets" / name).is_file()


def test_every_file_named_in_the_sheet_exists(site: Site) -> None:
    (sheet,) = (site.folder / "assets").glob("book.*.css")
    named = re.findall(r"""url\(["']?(?!data:|#)([^"')]+)""", sheet.read_text(encoding="utf-8"))
    assert len(named) > 20
    assert [name for name in named if not (sheet.parent / name).is_file()] == []


def test_explorers_are_small(site: Site) -> None:
    """All of them as they are served, and the mathematics, which the home page uses too."""
    scripts = site.folder / "assets" / "js"
    files = [scripts / "positions.js", *scripts.glob("explore/*.js")]
    sizes = {file.stem: len(gzip.compress(file.read_bytes(), 9)) for file in files}
    assert len(sizes) > 4
    assert sum(sizes.values()) < 12_000, sizes


def test_every_table_has_a_class(site: Site) -> None:
    """The sheet has no rules for tables without a class."""
    pages = [page.read_text(encoding="utf-8") for page in site.folder.rglob("*.html")]
    tables = [table for page in pages for table in re.findall(r"<table[^>]*>", page)]
    assert len(tables) > 50
    assert [table for table in tables if " class=" not in table] == []


def test_the_sheet_applies_without_scripts(page_without_scripts: Page) -> None:
    page_without_scripts.goto("chapters/formula-sheet/")
    rules = "document.querySelector('link[rel=stylesheet]').sheet.cssRules.length"
    assert page_without_scripts.evaluate(rules) > 100


# The one sheet against the originals

# Link the original sheets, and return the elements that render differently without the one sheet.
# All computed properties are compared, also of ::before and ::after; variables, whose spelling may
# differ, only where they are used. Of elements with the same names and parents, two are compared.
LOOKS_OTHERWISE = """async sheets => {
    const one = document.querySelector("link[rel=stylesheet][href*='assets/book.']");
    const link = name => new Promise((done, failed) => {
        const href = new URL(`../${name}`, one.href);
        const made = Object.assign(document.createElement("link"), {rel: "stylesheet", href});
        made.onload = () => done(made);
        made.onerror = () => failed(new Error(name));
        one.before(made);
    });
    const kind = (element, depth = 4) => !element || !depth ? "" :
        `${kind(element.parentElement, depth - 1)} ${element.localName}.${element.classList}`;
    const kinds = Map.groupBy(document.querySelectorAll("html, body, body *"), one => kind(one));
    const parts = [...kinds.values()].flatMap(alike => alike.slice(0, 2)).flatMap(element =>
        [[element, ""], [element, "::before"], [element, "::after"]]);
    const names = [...getComputedStyle(document.body)].filter(name => !name.startsWith("--"));
    const looks = () => parts.map(([element, part]) => {
        const style = getComputedStyle(element, part);
        if (part && style.content === "none") return "";
        return names.map(name => style.getPropertyValue(name)).join();
    });
    const settled = () => document.fonts.ready.then(() => SETTLE);
    await settled();
    const before = looks();
    const many = await Promise.all(sheets.map(link));
    one.sheet.disabled = true;
    await settled();
    const after = looks();
    one.sheet.disabled = false;
    for (const made of many) made.remove();
    return parts.filter((_, i) => before[i] !== after[i]).map(
        ([element, part]) => element.cloneNode().outerHTML.slice(0, 200) + part);
}""".replace("SETTLE", SETTLE)


@pytest.fixture(scope="module")
def original_sheets(site: Site) -> list[str]:
    """Return the sheets that the builder links, in order."""
    theme = [next(site.folder.glob(f"assets/stylesheets/{name}.*.css")) for name in THEME]
    names = [sheet.relative_to(site.folder).as_posix() for sheet in theme]
    config = load_config(str(ROOT / "mkdocs.yml"), hooks=[], plugins=[])
    return [*names, "assets/_mkdocstrings.css", *config["extra_css"]]


THEME = ("main", "palette")


def looks_otherwise(page: Page, original_sheets: list[str]) -> list[str]:
    """Return the elements that render differently without the one sheet, once settled."""
    first: list[str] = page.evaluate(LOOKS_OTHERWISE, original_sheets)
    return first and page.evaluate(LOOKS_OTHERWISE, original_sheets)


def answer(page: Page) -> None:
    page.locator(".question input").first.check()
    page.locator(".question .check").first.click()


def search(page: Page) -> None:
    page.locator(".search-field").fill("rotary")
    page.locator(".search-found mark").last.wait_for()


@pytest.mark.parametrize(
    ("path", "act"),
    [
        ("", search),
        ("chapters/check-yourself/quiz/", answer),
        ("explore/rope/", None),
        ("reference/baselines/", None),
    ],
    ids=["search", "quiz", "explorer", "reference"],
)
def test_one_sheet_renders_like_the_many(
    path: str, act: Callable[[Page], None] | None, original_sheets: list[str], page: Page
) -> None:
    page.goto(path)
    page.evaluate(UNFOLD)
    if act:
        act(page)
    assert looks_otherwise(page, original_sheets) == []
    page.evaluate(f"{SCHEME} = 'slate'")  # with results shown, there is no switch
    assert looks_otherwise(page, original_sheets) == []
    page.emulate_media(media="print")
    assert looks_otherwise(page, original_sheets) == []


def test_a_rule_missing_from_the_one_sheet_is_detected(
    original_sheets: list[str], page: Page
) -> None:
    page.goto("")
    search(page)
    page.evaluate("""() => {
        const {sheet} = document.querySelector("link[rel=stylesheet]");
        const rules = [...sheet.cssRules].map(rule => rule.selectorText);
        sheet.deleteRule(rules.indexOf(".search-title"));
    }""")
    found = looks_otherwise(page, original_sheets)
    assert found
    assert any("search-title" in part for part in found)


# Style computations


def styled(browser: Browser, page: Page, act: Callable[[], object]) -> float:
    """Return how often an action styles the page: 1 if it styles every element once."""
    page.evaluate(SETTLE)  # else what came before would be counted
    browser.start_tracing(page=page, categories=["devtools.timeline"])
    act()
    page.evaluate(SETTLE)
    events = json.loads(browser.stop_tracing())["traceEvents"]
    passes = [event for event in events if event["name"] == "UpdateLayoutTree"]
    elements = sum(event["args"].get("elementCount", 0) for event in passes)
    there: int = page.evaluate("document.querySelectorAll('body *').length")
    return float(elements / there)


LIGHT_OR_DARK = """() => {
    const root = document.documentElement;
    root.style.color = "CanvasText";
    const [red] = getComputedStyle(root).color.match(/\\d+/);
    root.style.color = "";
    return red < 128 ? "light" : "dark";
}"""
REDRAW = "document.querySelector('article p').append(document.createElement('b'))"


def test_styles_are_computed_once_for_each_load_and_change(browser: Browser, page: Page) -> None:
    """The root has the page's colour scheme, and one more class or element costs almost nothing."""
    page.goto("about:blank")
    assert styled(browser, page, lambda: page.goto("reference/baselines/")) < 2
    page.evaluate(UNFOLD)
    assert page.evaluate(LIGHT_OR_DARK) == "light"
    assert styled(browser, page, page.locator(TOGGLE).click) < 2
    assert page.evaluate(LIGHT_OR_DARK) == "dark"
    page.reload()
    assert page.evaluate(LIGHT_OR_DARK) == "dark"
    one_more = "document.documentElement.classList.toggle('one-more')"
    assert styled(browser, page, lambda: page.evaluate(one_more)) < 0.2
    page.emulate_media(media="print")
    page.evaluate(SETTLE)
    assert styled(browser, page, lambda: page.evaluate(REDRAW)) < 0.2


# A small site

THEIRS = """@charset "UTF-8";
table:not([class]) td { top: 0 }
.used, .unused { top: 0 }
.given { top: 1px }
.unused .used { top: 2px }
.used:is(:hover, :focus-visible, .unused) { top: 3px }
[id^="note:"] { top: 4px }
[data-md-color-switching] * { transition: none }
@media print { .unused { top: 5px } }
@font-face { font-family: A; src: url("fonts/a.woff2") }
/*# sourceMappingURL=theme.css.map */"""
OURS = """/* Why. */
p[aria-disabled="true"] { top: 6px; background: url(../images/a.png) }
.wished-for { content: "α" }"""
ONE = (
    '@charset "UTF-8";.used{top:0}.given{top:1px}.used:is(:hover,:focus-visible){top:3px}'
    '[id^="note:"]{top:4px}@font-face{font-family:A;src:url(./built/fonts/a.woff2)}'
    "p[aria-disabled=true]{top:6px;background:url(./images/a.png)}"
    '.wished-for{content:"α"}\n'
)
PAGE = """<head>
  <link rel="stylesheet" href="../assets/built/theme.css">
  <title>Here</title>
  <p class="used" id="note:1">
  <code><span class="gp">&gt;</span><span class="n">a</span><span class="o">&lt;</span></code>
      <link rel="stylesheet" href="../assets/css/ours.css">
</head>"""
CODE = '<code><span class="gp">&gt;</span>a&lt;</code>'
SAYS = """
// Why.
/** What * this is,
    and more. */
const lines = [`// ${[1, 2].map((n) => `${n} /* kept */`)}  too
    and indented`]; // how
globalThis.says = () => lines.concat("α").join(); element?.classList.add("given");
"""


def write(site: Path, ours: str = OURS) -> None:
    """Write a site of two pages, as built."""
    for name, content in {
        "one/index.html": PAGE,
        "404.html": PAGE.replace("../", "/book/"),
        "assets/built/theme.css": THEIRS,
        "assets/css/ours.css": ours,
        "assets/js/explore/says.js": SAYS,
    }.items():
        (site / name).parent.mkdir(parents=True, exist_ok=True)
        (site / name).write_text(content, encoding="utf-8")


def sheet(site: Path) -> Path:
    (found,) = (site / "assets").glob("book.*.css")
    return found


def test_sheets_are_joined_in_order_without_unused_rules(tmp_path: Path) -> None:
    write(tmp_path)
    minify(tmp_path)
    assert sheet(tmp_path).read_text(encoding="utf-8") == ONE
    pages = [tmp_path / "one" / "index.html", tmp_path / "404.html"]
    made = [page.read_text(encoding="utf-8") for page in pages]
    link = ONE_LINK.format(address=f"../assets/{sheet(tmp_path).name}")
    words = '  <title>Here</title>\n  <p class="used" id="note:1">\n'
    assert made[0] == f"<head>\n{link}{words}  {CODE}\n</head>"
    assert made[1] == made[0].replace("../", "/book/")


def test_the_name_of_the_sheet_changes_with_its_content(tmp_path: Path) -> None:
    names = []
    for ours in (OURS, OURS, OURS.replace("6px", "7px")):
        write(tmp_path, ours)
        minify(tmp_path)
        names.append(sheet(tmp_path).name)
        sheet(tmp_path).unlink()
    assert names[0] == names[1] != names[2]


def test_a_missing_sheet_stops_the_build(tmp_path: Path) -> None:
    write(tmp_path)
    (tmp_path / "assets" / "css" / "ours.css").unlink()
    with pytest.raises(SystemExit, match=r"ours\.css"):
        minify(tmp_path)


def script_output(code: str) -> str:
    """Return the output of the script."""
    context = quickjs.Context()
    context.eval(f"const element = null; {code}")
    says: str = context.eval("says()")
    return says


def test_minified_scripts_have_no_comments_and_behave_the_same(tmp_path: Path) -> None:
    write(tmp_path)
    script = tmp_path / "assets" / "js" / "explore" / "says.js"
    minify(tmp_path)
    code = script.read_text(encoding="utf-8")
    assert script_output(code) == script_output(SAYS)
    assert "Why" not in code and "how" not in code
    assert len(code) < len(SAYS)
