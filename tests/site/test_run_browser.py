"""Examples run in the page: every one prints what the page records, and errors are handled."""

from __future__ import annotations

import doctest
import gzip
import re
from collections.abc import Iterable, Iterator
from importlib import import_module
from typing import Any

import pytest
from playwright.sync_api import Browser, Locator, Page, Route, expect

from scripts.book import pages
from scripts.book.run import runnable_sessions
from scripts.book.sessions import sessions
from scripts.book.text import spans
from scripts.site.host import serve_folder
from tests.site.served import Site, paths
from tests.site.visits import DESK, PHONE, TOO_WIDE, UNFOLD, fresh_page, requested, violations

CHAPTER = "chapters/by-hand/four-positions/"
ELSEWHERE = "reference/baselines/"
Example = tuple[str, str]  # what is typed, and what is printed

LISTINGS = """all => all.map(listing => ({
    group: listing.dataset.group ?? "",
    module: listing.dataset.module ?? "",
    recorded: listing.querySelector(".printout code").textContent,
    typed: listing.querySelector("textarea").value,
    printed: listing.querySelector(".printout + .printout code").textContent,
    said: listing.querySelector("[role=status]").textContent,
}))"""
LISTEN = """() => {
    window.said = [];
    new MutationObserver(() => {
        for (const line of document.querySelectorAll("[role=status]")) said.push(line.textContent);
    }).observe(document.body, {subtree: true, childList: true});
}"""
RUN_ALL = """all => all.forEach(listing => listing.querySelector(".run button").click())"""
FROM_SOURCE = """import sys
x = sinusoidal_encoding(np.random.default_rng(0).integers(9, size=4), 8)
specs = [getattr(module, "__spec__", None) for module in sys.modules.values()]
found = {one.name for one in specs if one and (one.origin or "").endswith(".py")}
sorted(name for name in found if not name.startswith("posenc"))
"""
# The smallest modules of WebAssembly that compile and cannot be linked: each imports one function
# that does not exist, from a namespace that does or does not exist.
BEGUN = b"\0asm\1\0\0\0" + b"\1\4\1\x60\0\0"
OTHERS = {"function": b"\2\x0b\1\3env\3new\0\0", "library": b"\2\x0b\1\3new\3new\0\0"}


def source(path: str) -> str:
    index = f"{path}index.md"
    return pages.text(index if pages.exists(index) else f"{path.rstrip('/')}.md")


def page_examples(path: str) -> Example:
    """Return the runnable examples of a page's own sessions."""
    text = source(path)
    ends = {span.start: span.end for span in spans(text)}
    return example(
        (typed.source, typed.printed)
        for found in runnable_sessions(text)
        for typed in sessions(text[found.start : ends[found.start]])
    )


def docstring_examples(name: str, module: str) -> Example:
    """Return the examples of a docstring, found by doctest."""
    tests = doctest.DocTestFinder().find(import_module(module))
    (found,) = [test for test in tests if test.name == name]
    return example((one.source, one.want) for one in found.examples)


def example(statements: Iterable[Example]) -> Example:
    """Return statements and their output as the page shows them: without empty lines."""
    typed, printed = zip(("", ""), *statements, strict=True)
    return lines("\n".join(typed)), lines("\n".join(printed))


def lines(text: str) -> str:
    return "\n".join(line for line in text.split("\n") if line.strip())


def without_frames(printed: str) -> str:
    """Return output without the frames of tracebacks, which pages omit."""
    return re.sub(r"^(Traceback .*\n)(?: .*\n)+", r"\1", lines(printed), flags=re.M)


def has_examples(path: str) -> bool:
    """Return whether a page has a runnable example, its own or from a numpy module."""
    documents = re.search(r"^::: posenc\.(?!nn|vectors|diagnose)", source(path), re.M)
    return any(page_examples(path)) or documents is not None


RUNNABLE = [path for path in paths() if has_examples(path)]


@pytest.fixture(scope="module")
def reader(browser: Browser, browser_context_args: dict[str, Any]) -> Iterator[Page]:
    """Return a page that the tests share, so that Python is fetched once."""
    with fresh_page(browser, browser_context_args) as page:
        yield page


@pytest.fixture
def chapter(reader: Page, site: Site) -> Page:
    """Return the chapter with its examples reset; Python may know names from other tests."""
    if reader.url != site.url + CHAPTER:
        go(reader, CHAPTER)
    reset = reader.get_by_role("button", name="Reset")
    while reset.count():
        reset.first.click()
    return reader


def go(page: Page, path: str) -> None:
    """Open a page of the site that has examples."""
    page.goto(path)
    page.wait_for_function("document.querySelector('.runs .run')")


def listing(page: Page, number: int) -> Locator:
    return page.locator(".runs").nth(number)


def button(page: Page, number: int, name: str) -> Locator:
    return listing(page, number).get_by_role("button", name=name)


def status(page: Page, number: int) -> Locator:
    return listing(page, number).get_by_role("status")


def printed(page: Page, number: int) -> str:
    return listing(page, number).locator(".printout code").last.text_content() or ""


def run(page: Page, number: int, source: str | None = None) -> str:
    """Run an example, changed or not, and return what it prints."""
    if source is not None:
        if not listing(page, number).locator("textarea").count():
            run(page, number)
        listing(page, number).locator("textarea").fill(source)
    button(page, number, "Run").click()
    expect(status(page, number)).to_have_text(re.compile("^Done"))
    return printed(page, number)


@pytest.mark.parametrize("path", RUNNABLE, ids=lambda path: path or "home")
def test_every_example_prints_what_the_page_records(path: str, reader: Page) -> None:
    go(reader, path)
    examples = reader.locator(".runs")
    examples.evaluate_all(RUN_ALL)
    expect(reader.locator(".run [role=status]")).to_have_text(
        [re.compile("^Done")] * examples.count()
    )
    shown = examples.evaluate_all(LISTINGS)
    for group, module in {one["group"]: one["module"] for one in shown}.items():
        own = [one for one in shown if one["group"] == group]
        recorded = example((one["typed"], one["recorded"]) for one in own)
        printed = example((one["typed"], one["printed"]) for one in own)
        assert recorded == (docstring_examples(group, module) if group else page_examples(path))
        assert without_frames(printed[1]) == without_frames(recorded[1])
    assert {one["said"] for one in shown} == {"Done: the output is as recorded."}
    assert "" in {one["group"] for one in shown} or not any(page_examples(path))


def test_a_changed_example_prints_the_changed_result(chapter: Page) -> None:
    assert run(chapter, 3, "sinusoidal_encoding(2, 2).round(3)") == (
        "array([[0.   , 1.   ],\n       [0.841, 0.54 ]])\n"
    )
    expect(status(chapter, 3)).to_have_text("Done, with your changes.")


def test_run_sees_the_names_of_the_examples_above(chapter: Page) -> None:
    """Examples above that have not run are run first, unchanged; a changed one counts once run."""
    go(chapter, CHAPTER)
    assert run(chapter, 3, "np.__name__, hasattr(np, 'told')") == "('numpy', False)\n"
    run(chapter, 0, "import numpy as np\nnp.told = 7")
    assert run(chapter, 3, "np.told") == "7\n"


def test_an_error_is_shown_as_python_shows_it(chapter: Page) -> None:
    said = run(chapter, 2, "def half(x):\n    return x / 0\nhalf(1)\n'on'")
    assert said.startswith(
        'Traceback (most recent call last):\n  File "<example 3>", line 3, in <module>\n'
        '    half(1)\n  File "<example 3>", line 2, in half\n    return x / 0\n'
    )
    assert said.endswith("ZeroDivisionError: division by zero\n'on'\n")
    expect(status(chapter, 2)).to_have_text("Done, with your changes and an error.")
    assert "SyntaxError" in run(chapter, 2, "half(")
    expect(status(chapter, 2)).to_have_text("Done, with your changes and an error.")


def test_reset_puts_the_example_back(chapter: Page) -> None:
    before = listing(chapter, 2).inner_text()
    run(chapter, 2, "1 + 1")
    button(chapter, 2, "Reset").click()
    assert listing(chapter, 2).inner_text() == before
    expect(button(chapter, 2, "Run")).to_be_focused()
    run(chapter, 2)
    expect(status(chapter, 2)).to_have_text("Done: the output is as recorded.")


def test_long_output_is_truncated(chapter: Page) -> None:
    said = run(chapter, 2, "for n in range(1000):\n    print(n, 'and so on ' * 15)")
    assert 100_000 < len(said) < 100_100
    assert said.endswith("… and more output that is not shown.\n")


def test_axe_finds_nothing_in_an_open_example_and_it_fits_a_phone(reader: Page) -> None:
    go(reader, ELSEWHERE)
    run(reader, 0, "counting_encoding(2, 64)\nlong = 'line' * 99; long\n" + "1\n" * 20)
    reader.evaluate(UNFOLD)
    assert violations(reader) == []
    reader.set_viewport_size(PHONE)
    try:
        assert reader.evaluate(TOO_WIDE) == []
        assert violations(reader) == []
    finally:
        reader.set_viewport_size(DESK)


def test_example_is_edited_and_run_by_keyboard_alone(chapter: Page) -> None:
    button(chapter, 2, "Run").focus()
    chapter.keyboard.press("Enter")
    expect(status(chapter, 2)).to_have_text("Done: the output is as recorded.")
    expect(button(chapter, 2, "Run")).to_be_focused()
    chapter.keyboard.press("Shift+Tab")
    expect(listing(chapter, 2).locator("textarea")).to_be_focused()
    chapter.keyboard.press("Control+A")
    chapter.keyboard.type("6 * 7")
    chapter.keyboard.press("Control+Enter")
    expect(status(chapter, 2)).to_have_text("Done, with your changes.")
    assert printed(chapter, 2) == "42\n"


def test_modules_loaded_at_the_start_are_not_compiled_again(chapter: Page) -> None:
    """All but one module come as bytecode: compiling took over a third of a start."""
    run(chapter, 0)
    assert run(chapter, 3, FROM_SOURCE) == "['session']\n"


def begin_a_loop(page: Page, number: int) -> None:
    """Run an endless loop, and wait until it has begun."""
    run(page, number, "1")
    listing(page, number).locator("textarea").fill("print('begun')\nwhile True:\n    pass")
    button(page, number, "Run").click()
    expect(listing(page, number).locator(".printout code").last).to_have_text("begun\n")


def test_a_loop_is_stopped_and_the_page_stays_usable(chapter: Page) -> None:
    """An example that waits for the loop is stopped without it."""
    begin_a_loop(chapter, 2)
    expect(button(chapter, 2, "Run")).to_have_attribute("aria-disabled", "true")
    button(chapter, 3, "Run").click()
    expect(status(chapter, 3)).to_have_text("Waiting for the running example.")
    button(chapter, 3, "Stop").click()
    expect(status(chapter, 3)).to_have_text("Stopped before running.")
    expect(status(chapter, 2)).to_have_text("Running.")
    button(chapter, 2, "Stop").click()
    expect(status(chapter, 2)).to_have_text(re.compile("^Stopped. Python's variables are lost"))
    expect(button(chapter, 2, "Run")).to_be_focused()
    run(chapter, 1)
    expect(status(chapter, 1)).to_have_text("Done: the output is as recorded.")
    expect(status(chapter, 3)).to_have_text("Stopped before running.")


def test_nothing_is_fetched_before_it_is_asked_for(page: Page, site: Site) -> None:
    urls = requested(page)
    page.goto(ELSEWHERE, wait_until="networkidle")
    expect(page.locator(".run").first).to_be_visible()
    assert not [url for url in urls if "/built/python/" in url or "js/python_worker.js" in url]


def test_python_is_fetched_from_this_host_alone_with_progress(page: Page, site: Site) -> None:
    urls = requested(page)
    go(page, CHAPTER)
    page.evaluate(LISTEN)
    begin_a_loop(page, 2)
    button(page, 2, "Stop").click()
    run(page, 1)
    assert all(url.startswith((site.url, "data:", "blob:")) for url in urls)
    assert len([url for url in urls if url.endswith(".whl")]) >= 2
    # When Python is restarted after a stop, the interpreter is not fetched again.
    assert len([url for url in urls if url.endswith(".wasm.gzip")]) == 1
    said = page.evaluate("said")
    assert said.index("Fetching Python, once: 9 of 9 MB.") < said.index("Starting Python.")


def test_a_second_page_starts_python_from_the_cache_of_the_browser(
    site: Site, browser: Browser, browser_context_args: dict[str, Any]
) -> None:
    """It starts before it is asked for, so that the reader does not wait again."""
    with (
        serve_folder(site.folder) as host,
        fresh_page(browser, browser_context_args | {"base_url": host.url}) as page,
    ):
        go(page, CHAPTER)
        run(page, 0)
        fetched = [path for path, _ in host.sent if "/built/python/" in path]
        assert len(fetched) > 5
        with page.expect_worker(lambda worker: worker.url.endswith("/python_worker.js")):
            go(page, ELSEWHERE)
        run(page, 0)
        assert [path for path, _ in host.sent if "/built/python/" in path] == fetched


def test_page_says_that_python_could_not_be_fetched(page: Page) -> None:
    urls: list[str] = []

    def refuse(route: Route) -> None:
        urls.append(route.request.url)
        route.abort()

    page.route("**/*.whl", refuse)
    page.goto(ELSEWHERE)
    for times in (1, 2):
        button(page, 0, "Run").click()
        expect(status(page, 0)).to_contain_text("could not be fetched")
        expect(button(page, 0, "Run")).to_have_attribute("aria-disabled", "false")
        assert len(urls) >= times


@pytest.mark.parametrize("lacking", OTHERS)
def test_page_says_that_the_interpreter_does_not_match(lacking: str, page: Page) -> None:
    """As happens while a new version of the site is uploaded."""
    urls: list[str] = []

    def another(route: Route) -> None:
        urls.append(route.request.url)
        route.fulfill(body=gzip.compress(BEGUN + OTHERS[lacking]))

    page.route("**/*.wasm.gzip", another)
    page.goto(ELSEWHERE)
    button(page, 0, "Run").click()
    expect(status(page, 0)).to_contain_text("could not be fetched")
    assert urls


def test_page_says_that_the_browser_cannot_run_python(page: Page) -> None:
    page.add_init_script("delete window.WebAssembly")
    page.goto(ELSEWHERE)
    button(page, 0, "Run").click()
    expect(status(page, 0)).to_contain_text("This browser cannot run Python in a page.")


def test_without_scripts_there_is_no_button_and_no_room_for_one(page_without_scripts: Page) -> None:
    page_without_scripts.goto(CHAPTER)
    expect(page_without_scripts.locator(".runs").first).to_be_visible()
    expect(page_without_scripts.locator(".run")).to_have_count(0)
    after = "listing => getComputedStyle(listing, '::after').content"
    assert page_without_scripts.locator(".runs").first.evaluate(after) == "none"
