"""Exercises are solved in the page: answers are checked, faults are told, progress is kept."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import pytest
from playwright.sync_api import Browser, Locator, Page, expect

from scripts.practise.read import exercises
from tests.site.served import Site
from tests.site.visits import PHONE, TOO_WIDE, UNFOLD, fresh_page, violations

SINES = "practise/sines/"
ROW = next(one for one in exercises() if one.name == "one-row")
SWAPPED = next(code for message, code in ROW.wrong if message.startswith("Sine and cosine"))
LOOP = "print('begun')\nwhile True:\n    pass\n"
DENIED = """Object.defineProperty(window, "localStorage", {
    get() { throw new DOMException("denied", "SecurityError") },
})"""


@pytest.fixture(scope="module")
def urls() -> list[str]:
    """Return the addresses that the shared page has requested so far."""
    return []


@pytest.fixture(scope="module")
def reader(
    browser: Browser, browser_context_args: dict[str, Any], urls: list[str]
) -> Iterator[Page]:
    """Open the first group, with a clock that tests can set forward."""
    with fresh_page(browser, browser_context_args) as page:
        page.clock.install()
        page.on("request", lambda request: urls.append(request.url))
        page.goto(SINES)
        expect(button(page, "Check")).to_be_visible()
        yield page


def exercise(page: Page, name: str = "one-row") -> Locator:
    return page.locator(f".answer[data-exercise={name}]")


def button(page: Page, words: str) -> Locator:
    return exercise(page).get_by_role("button", name=words)


def status(page: Page) -> Locator:
    return exercise(page).locator(".run [role=status]")


def check_answer(page: Page, answer: str, says: str) -> list[str]:
    """Check an answer, wait for the verdict, and return the sentences about it."""
    exercise(page).locator("textarea").fill(answer)
    button(page, "Check").click()
    expect(status(page)).to_have_text(says)
    return exercise(page).locator(".result li").all_text_contents()


def test_answer_is_checked_told_why_it_is_wrong_and_kept(
    reader: Page, site: Site, urls: list[str]
) -> None:
    """Nothing is fetched for it before it is checked."""
    late = [f"{site.url}assets/practise/", f"{site.url}assets/built/python/"]
    assert not [url for url in urls if url.startswith(tuple(late))]
    sentences = check_answer(reader, SWAPPED, "Not yet.")
    assert sentences[0].startswith("Wrong: Position 0 has angles of zero")
    assert "Sine and cosine are swapped" in sentences[0]
    assert len(sentences) == len(ROW.checks)
    sentences = check_answer(reader, f"print('here')\n{ROW.solution}", "Solved.")
    assert sentences == [f"Right: {says}" for says, _ in ROW.checks]
    expect(exercise(reader).locator(".result pre")).to_have_text("here\n")
    assert [url for url in urls if url.startswith(late[0])]
    assert all(url.startswith((site.url, "data:", "blob:")) for url in urls)


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        ("def row(position, d_model):\n    return (1", "Line 2, return (1, is not Python"),
        ("import torch", "there is no torch here, only numpy"),
        ("import posenc", "posenc is not available here"),
        ("import numpy as np\nnp.zeros((10**6, 10**6))", "not enough memory for an array"),
        ("raise SystemExit", "SystemExit"),
    ],
)
def test_answer_that_cannot_run_gets_one_sentence(reader: Page, answer: str, words: str) -> None:
    (sentences,) = check_answer(reader, answer, "Not yet.")
    assert words in sentences


def test_axe_finds_nothing_in_a_checked_exercise_and_it_fits_a_phone(reader: Page) -> None:
    check_answer(reader, f"print('long' * 99)\n{SWAPPED}", "Not yet.")
    before = reader.viewport_size
    assert before
    reader.evaluate(UNFOLD)
    assert violations(reader) == []
    reader.set_viewport_size(PHONE)
    assert reader.evaluate(TOO_WIDE) == []
    reader.set_viewport_size(before)


def test_endless_loop_is_stopped_by_hand_or_by_the_clock(reader: Page) -> None:
    exercise(reader).locator("textarea").fill(LOOP)
    button(reader, "Check").click()
    expect(status(reader)).to_have_text("Checking, for at most 20 seconds.")
    button(reader, "Stop").click()
    expect(status(reader)).to_have_text("Stopped.")
    expect(button(reader, "Check")).to_be_focused()
    button(reader, "Check").click()
    expect(status(reader)).to_have_text("Checking, for at most 20 seconds.")
    reader.clock.fast_forward(20_000)
    expect(status(reader)).to_contain_text("Stopped after 20 seconds")
    assert len(check_answer(reader, ROW.solution, "Solved.")) == len(ROW.checks)


def test_progress_and_answers_survive_a_reload_and_can_be_forgotten(reader: Page) -> None:
    reader.reload()
    expect(status(reader)).to_have_text("Solved.")
    expect(exercise(reader).locator("textarea")).to_have_value(ROW.solution)
    expect(reader.locator(".cells .done")).to_have_count(1)
    reader.goto("practise/")
    expect(reader.locator(".solved")).to_contain_text(f"1 of {len(exercises())} solved.")
    expect(reader.get_by_role("listitem").filter(has_text=ROW.title)).to_contain_text(", solved")
    reader.get_by_role("button", name="Forget my answers").click()
    expect(reader.locator(".cells .done")).to_have_count(0)
    reader.get_by_role("button", name="Undo").click()
    expect(reader.locator(".cells .done")).to_have_count(1)
    reader.get_by_role("button", name="Forget my answers").click()
    reader.goto(SINES)
    expect(exercise(reader).locator("textarea")).to_have_value(ROW.starter.strip())


def test_page_keeps_what_another_has_stored_since(page: Page) -> None:
    page.goto(SINES)
    other = page.context.new_page()
    other.goto(SINES)
    exercise(other).locator("textarea").fill("row = 1")
    exercise(page, "buffer").get_by_role("button", name="I have solved it").click()
    other.reload()
    expect(exercise(other).locator("textarea")).to_have_value("row = 1")
    expect(other.locator(".cells .done")).to_have_count(1)


def test_editor_indents_and_lets_the_keyboard_leave(page: Page) -> None:
    page.goto(SINES)
    area = exercise(page).locator("textarea")
    area.fill("")
    area.focus()
    page.keyboard.type("def row():\nif 1:\nreturn 2")
    expect(area).to_have_value("def row():\n    if 1:\n        return 2")
    page.keyboard.press("Shift+Tab")
    page.keyboard.press("Home")
    page.keyboard.press("Tab")
    expect(area).to_have_value(re.compile(r"\n {8}return 2$"))
    page.keyboard.press("Control+A")
    page.keyboard.press("Tab")
    expect(area).to_have_value("    def row():\n        if 1:\n            return 2")
    page.keyboard.press("Escape")
    page.keyboard.press("Tab")
    expect(button(page, "Check")).to_be_focused()
    button(page, "Reset").click()
    expect(area).to_have_value(ROW.starter.strip())


def test_page_works_where_storage_is_denied(page: Page) -> None:
    errors: list[str] = []
    page.on("pageerror", lambda error: errors.append(str(error.stack)))
    page.add_init_script(DENIED)
    page.goto(SINES)
    exercise(page).locator("textarea").fill("row = 1")
    exercise(page, "buffer").get_by_role("button", name="I have solved it").click()
    sentences = exercise(page, "buffer").get_by_role("status")
    expect(sentences).to_have_text(re.compile("^Solved. This browser lets the page keep nothing"))
    expect(page.locator(".cells .done")).to_have_count(1)
    assert [stack for stack in errors if "practise" in stack] == []  # the theme's are its own


def test_without_scripts_everything_can_be_read(page_without_scripts: Page) -> None:
    page_without_scripts.goto(SINES)
    expect(exercise(page_without_scripts).locator("pre")).to_be_visible()
    page_without_scripts.get_by_text("Solution").first.click()
    shown = page_without_scripts.locator("details.solution pre").first
    expect(shown).to_be_visible()
    expect(shown).to_have_text(re.compile(re.escape(ROW.solution.splitlines()[-2].strip())))
    expect(page_without_scripts.locator("textarea")).to_have_count(0)
