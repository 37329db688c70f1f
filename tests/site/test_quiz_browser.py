"""The quiz in a browser: by keyboard alone, with its score, over instant navigation, on paper."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.book.test_quiz import QUESTIONS, questions
from tests.site.served import Site
from tests.site.visits import (
    DESK,
    LEAVE_ALONE,
    OF_AN_ARTICLE,
    PHONE,
    TOO_WIDE,
    Visit,
    forget,
    violations,
)

PATH = "chapters/check-yourself/"
# The rest of the page, and all of it before it is answered, is looked at with all other pages.
ANSWERED = ".question:has(:checked)"
# A reader's Tab comes to what is chosen, or to the first answer.
FOCUS = """question => {
    const start = question.querySelector("input:checked") ?? question.querySelector("input");
    start.focus();
    return start.value;
}"""
START_AGAIN = """() => {
    document.querySelector(".score button").click();
    for (const part of document.querySelectorAll("article details")) part.open = false;
    document.activeElement.blur();
}"""


@pytest.fixture(scope="module")
def opened(tab: Page) -> Iterator[Page]:
    """Open the quiz."""
    tab.goto(PATH)
    yield tab
    tab.context.set_offline(False)
    tab.emulate_media(media="null")
    tab.set_viewport_size(DESK)
    forget(tab)


@pytest.fixture
def quiz(opened: Page) -> Page:
    """Return the quiz at a desk; of the last reader's answers there are none."""
    opened.context.set_offline(False)
    opened.emulate_media(media="null")
    opened.set_viewport_size(DESK)
    opened.evaluate(START_AGAIN)
    expect(opened.locator(".score")).to_contain_text("None of 24")
    return opened


def question(page: Page, number: int) -> Locator:
    return page.locator(f"#question-{number}")


def verdict(page: Page, number: int) -> Locator:
    return question(page, number).get_by_role("status")


def right(number: int) -> str:
    return questions()[number].letter


def wrong(number: int) -> str:
    return "A" if right(number) != "A" else "B"


def answer(page: Page, number: int, letter: str) -> None:
    """Walk to a letter with the arrows, from what is chosen or the first, and press Enter."""
    start = question(page, number).evaluate(FOCUS)
    page.keyboard.press("Space")
    for _ in range((ord(letter) - ord(start)) % 4):
        page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")


def test_tab_leads_through_a_question_and_on_to_the_next(quiz: Page) -> None:
    question(quiz, 1).get_by_role("radio").first.focus()
    quiz.keyboard.press("Space")
    for stop in ("Check", "Answer and reasons"):
        quiz.keyboard.press("Tab")
        assert quiz.evaluate("document.activeElement.textContent") == stop
    while not quiz.evaluate("document.activeElement.matches('#question-2 input')"):
        quiz.keyboard.press("Tab")
        assert quiz.evaluate("document.activeElement.closest('article') !== null")


def test_the_whole_quiz_is_answered_by_keyboard(quiz: Page) -> None:
    for done, number in enumerate(QUESTIONS, start=1):
        answer(quiz, number, right(number))
        said = f"{right(number)} is right\\..*So far: {done} of {done} right"
        expect(verdict(quiz, number)).to_have_text(re.compile(said, re.S))
    expect(quiz.locator(".score")).to_contain_text("24 of 24 right at the first try.")


def test_a_wrong_answer_says_why_and_counts_though_it_is_mended(quiz: Page) -> None:
    answer(quiz, 3, wrong(3))
    expect(verdict(quiz, 3)).to_contain_text(f"{wrong(3)} is wrong.")
    expect(verdict(quiz, 3)).to_contain_text("0 of 1 right at the first try")
    answer(quiz, 3, right(3))
    expect(verdict(quiz, 3)).to_contain_text(f"{right(3)} is right.")
    answer(quiz, 4, right(4))
    expect(quiz.locator(".score")).to_contain_text("1 of 2 right at the first try, 22 to go.")


def test_a_verdict_goes_when_another_answer_is_chosen(quiz: Page) -> None:
    answer(quiz, 3, wrong(3))
    expect(verdict(quiz, 3)).not_to_be_empty()
    quiz.keyboard.press("ArrowDown")
    expect(verdict(quiz, 3)).to_be_empty()
    expect(quiz.locator(".score")).to_contain_text("0 of 1 right")  # what was checked still counts


def test_every_option_has_a_verdict_of_its_own(quiz: Page) -> None:
    for letter in "ABCD":
        answer(quiz, 17, letter)
        kind = "right" if letter == right(17) else "wrong"
        expect(verdict(quiz, 17).locator(f".{kind}")).to_contain_text(f"{letter} is {kind}.")
    shown = (
        question(quiz, 17)
        .locator("details [data-letter]")
        .evaluate_all("all => new Set(all.map(part => part.textContent)).size")
    )
    assert shown == 4


def test_check_without_a_choice_asks_for_one(quiz: Page) -> None:
    question(quiz, 2).get_by_role("button", name="Check").click()
    expect(verdict(quiz, 2)).to_have_text("Choose an answer first.")
    expect(quiz.locator(".score")).to_contain_text("None of 24")


def test_a_question_is_a_group_with_its_title_and_what_it_asks(quiz: Page) -> None:
    group = quiz.get_by_role("group", name="Question 1: Why positions?")
    expect(group).to_have_accessible_description(re.compile("Why does an encoder"))
    expect(group.get_by_role("radio")).to_have_count(4)
    expect(group.get_by_role("radio", name=re.compile("^B For speed"))).to_have_count(1)


def test_start_again_forgets_all_and_leads_to_the_first_question(quiz: Page) -> None:
    answer(quiz, 1, right(1))
    answer(quiz, 24, wrong(24))
    quiz.get_by_role("button", name="Start again").press("Enter")
    expect(quiz.locator(".question input:checked")).to_have_count(0)
    expect(verdict(quiz, 1)).to_be_empty()
    expect(quiz.locator(".score")).to_contain_text("None of 24 questions answered yet.")
    expect(question(quiz, 1).get_by_role("radio").first).to_be_focused()
    quiz.reload()
    expect(quiz.locator(".question input:checked")).to_have_count(0)


def test_answers_outlast_another_page_and_a_reload(quiz: Page) -> None:
    """What is said from then on is read aloud."""
    quiz.evaluate("window.here = true")
    answer(quiz, 5, wrong(5))
    answer(quiz, 6, right(6))
    quiz.locator(".md-header .md-logo").click()
    expect(quiz.locator(".question")).to_have_count(0)
    quiz.go_back()
    expect(verdict(quiz, 5)).to_contain_text(f"{wrong(5)} is wrong.")
    assert quiz.evaluate("window.here"), "the theme changed pages without loading them anew"
    expect(quiz.locator(".score")).to_contain_text("1 of 2 right")
    answer(quiz, 7, right(7))
    expect(quiz.locator(".score")).to_contain_text("2 of 3 right")
    quiz.reload()
    expect(verdict(quiz, 5)).to_contain_text(f"{wrong(5)} is wrong.")
    expect(verdict(quiz, 6)).to_contain_text(f"{right(6)} is right.")
    expect(quiz.locator(".score")).to_contain_text("2 of 3 right")
    for number in (5, 6):
        expect(verdict(quiz, number)).to_have_attribute("aria-live", "polite")


def test_no_address_is_given_twice_by_a_verdict(quiz: Page) -> None:
    answer(quiz, 10, right(10))  # it cites works, whose notes lead back to it
    twice = quiz.evaluate(
        "[...document.querySelectorAll('[id]')].map(part => part.id)"
        ".filter((id, n, all) => all.indexOf(id) !== n)"
    )
    assert twice == []


def test_rows_are_high_enough_for_a_finger(quiz: Page) -> None:
    quiz.set_viewport_size(PHONE)
    heights = quiz.locator(".question label").evaluate_all(
        "all => all.map(label => label.getBoundingClientRect().height)"
    )
    assert min(heights) >= 44


def test_without_scripts_the_answers_unfold(still: Page) -> None:
    still.goto(PATH)
    asked = question(still, 8)
    expect(asked.get_by_role("radio")).to_have_count(4)
    expect(still.get_by_role("button", name="Check")).to_have_count(0)
    expect(still.locator(".score")).to_be_hidden()
    expect(asked.locator(".reasons .right")).to_be_hidden()
    asked.locator("summary").click()
    expect(asked.locator(".reasons .right")).to_contain_text(f"{right(8)} is right.")
    expect(asked.locator(".reasons .wrong:visible")).to_have_count(3)


def test_paper_shows_questions_and_reasons_and_no_buttons(quiz: Page) -> None:
    answer(quiz, 1, right(1))
    quiz.emulate_media(media="print")
    quiz.evaluate("dispatchEvent(new Event('beforeprint'))")
    expect(quiz.locator(".reasons .right:visible")).to_have_count(24)
    expect(quiz.locator(".question button:visible, .score:visible")).to_have_count(0)
    expect(quiz.locator(".reply:visible")).to_have_count(0)


def test_the_quiz_works_without_a_network(quiz: Page) -> None:
    quiz.context.set_offline(True)
    answer(quiz, 2, wrong(2))
    expect(verdict(quiz, 2)).to_contain_text(f"{wrong(2)} is wrong.")
    expect(quiz.locator(".score")).to_contain_text("0 of 1 right at the first try")


def test_an_answered_quiz_is_accessible_and_fits(quiz: Page, site: Site) -> None:
    """The last of all: it takes the page apart."""
    visit = Visit(quiz, site)
    for number in (1, 2, 10, 13):
        answer(quiz, number, wrong(number))
        question(quiz, number).locator("summary").click()
    quiz.evaluate(LEAVE_ALONE, ANSWERED)
    for scheme, size in (("light", DESK), ("dark", PHONE)):
        visit.resize(size)
        visit.turn(scheme)
        assert quiz.evaluate(TOO_WIDE) == []
        assert violations(quiz, OF_AN_ARTICLE, ANSWERED) == []
