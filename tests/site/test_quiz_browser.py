"""The quiz in a browser: keyboard, verdicts, score, navigation, print."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Locator, Page, Route, expect

from tests.book.test_quiz import QUESTIONS, questions
from tests.site.served import Site
from tests.site.visits import DESK, PHONE, TOO_WIDE, Visit, violations

CHAPTER = "chapters/check-yourself/"
# The pages of the quiz, and the numbers of their questions.
PAGES = {"quiz/": range(1, 7), "quiz-7-to-12/": range(7, 13), "quiz-13-to-24/": range(13, 25)}
# Focus what Tab reaches: the chosen answer, or the first.
FOCUS = """question => {
    const start = question.querySelector("input:checked") ?? question.querySelector("input");
    start.focus();
    return start.value;
}"""


@pytest.fixture
def quiz(page: Page) -> Page:
    """Return the first page of the quiz, with no question answered."""
    return opened(page, 1)


def opened(page: Page, number: int) -> Page:
    """Return the page of the quiz that has a question; none of its questions is answered.

    The score comes from the script: once it is shown, the script listens.
    """
    path, numbers = next(found for found in PAGES.items() if number in found[1])
    page.goto(CHAPTER + path)
    expect(page.locator(".score")).to_contain_text(f"None of {len(numbers)}")
    return page


def question(page: Page, number: int) -> Locator:
    return page.locator(f"#question-{number}")


def verdict(page: Page, number: int) -> Locator:
    return question(page, number).get_by_role("status")


def right_letter(number: int) -> str:
    return questions()[number].letter


def wrong_letter(number: int) -> str:
    return "A" if right_letter(number) != "A" else "B"


def answer(page: Page, number: int, letter: str) -> None:
    """Choose an option with the arrow keys, from the chosen or the first one, and press Enter."""
    start = question(page, number).evaluate(FOCUS)
    page.keyboard.press("Space")
    for _ in range((ord(letter) - ord(start)) % 4):
        page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")


def test_tab_goes_through_a_question_to_the_next(quiz: Page) -> None:
    question(quiz, 1).get_by_role("radio").first.focus()
    quiz.keyboard.press("Space")
    for stop in ("Check", "Answer and reasons"):
        quiz.keyboard.press("Tab")
        assert quiz.evaluate("document.activeElement.textContent") == stop
    while not quiz.evaluate("document.activeElement.matches('#question-2 input')"):
        quiz.keyboard.press("Tab")
        assert quiz.evaluate("document.activeElement.closest('article') !== null")


def test_the_whole_quiz_is_answered_by_keyboard(page: Page) -> None:
    assert [number for numbers in PAGES.values() for number in numbers] == list(QUESTIONS)
    for numbers in PAGES.values():
        opened(page, numbers[0])
        for number in numbers:
            answer(page, number, right_letter(number))
            said = f"{right_letter(number)} is right\\..*So far: {number} of {number} right"
            expect(verdict(page, number)).to_have_text(re.compile(said, re.S))
        score = f"{len(numbers)} of {len(numbers)} right at the first try."
        expect(page.locator(".score")).to_contain_text(score)
    expect(page.locator(".score")).to_contain_text("all pages of the quiz: 24 of 24 right")


def test_each_page_shows_its_own_score_and_that_of_all_pages(quiz: Page) -> None:
    answer(quiz, 1, wrong_letter(1))
    expect(quiz.locator(".score")).not_to_contain_text("all pages")
    opened(quiz, 7)
    expect(quiz.locator(".score")).to_contain_text("all pages of the quiz: 0 of 1 right")
    answer(quiz, 7, right_letter(7))
    expect(quiz.locator(".score")).to_contain_text("1 of 1 right at the first try, 5 to go.")
    expect(quiz.locator(".score")).to_contain_text("all pages of the quiz: 1 of 2 right")


def test_start_again_keeps_the_answers_of_other_pages(quiz: Page) -> None:
    answer(quiz, 1, right_letter(1))
    opened(quiz, 7)
    answer(quiz, 7, wrong_letter(7))
    quiz.get_by_role("button", name="Start again").press("Enter")
    expect(quiz.locator(".score")).to_contain_text("None of 6 questions answered yet.")
    expect(quiz.locator(".score")).to_contain_text("all pages of the quiz: 1 of 1 right")


def test_reply_leaves_out_the_marks_of_the_ledger(page: Page) -> None:
    quiz = opened(page, 10)
    marked = question(quiz, 10).locator("[data-letter]:has(.ledger)")
    letter = marked.get_attribute("data-letter")
    assert letter is not None
    answer(quiz, 10, letter)
    expect(verdict(quiz, 10)).to_contain_text(f"{letter} is ")
    expect(verdict(quiz, 10)).not_to_contain_text("Ledger")
    expect(verdict(quiz, 10).locator(".ledger")).to_have_count(0)


def test_wrong_answer_is_explained_and_counts_after_correction(quiz: Page) -> None:
    answer(quiz, 3, wrong_letter(3))
    expect(verdict(quiz, 3)).to_contain_text(f"{wrong_letter(3)} is wrong.")
    expect(verdict(quiz, 3)).to_contain_text("0 of 1 right at the first try")
    answer(quiz, 3, right_letter(3))
    expect(verdict(quiz, 3)).to_contain_text(f"{right_letter(3)} is right.")
    answer(quiz, 4, right_letter(4))
    expect(quiz.locator(".score")).to_contain_text("1 of 2 right at the first try, 4 to go.")


def test_verdict_disappears_when_another_answer_is_chosen(quiz: Page) -> None:
    answer(quiz, 3, wrong_letter(3))
    expect(verdict(quiz, 3)).not_to_be_empty()
    quiz.keyboard.press("ArrowDown")
    expect(verdict(quiz, 3)).to_be_empty()
    expect(quiz.locator(".score")).to_contain_text("0 of 1 right")  # the wrong answer still counts


def test_every_option_has_its_own_verdict(page: Page) -> None:
    quiz = opened(page, 17)
    for letter in "ABCD":
        answer(quiz, 17, letter)
        kind = "right" if letter == right_letter(17) else "wrong"
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
    expect(quiz.locator(".score")).to_contain_text("None of 6")


def test_choice_made_before_the_script_has_loaded_stays(page: Page) -> None:
    waiting: list[Route] = []
    page.route("**/quiz.js", lambda route: waiting.append(route))
    with page.expect_request("**/quiz.js"):
        page.goto(f"{CHAPTER}quiz/", wait_until="commit")
    question(page, 1).get_by_role("radio").first.check()
    expect(page.locator(".score span")).to_be_empty()
    waiting[0].continue_()
    expect(page.locator(".score")).to_contain_text("None of 6")
    question(page, 1).get_by_role("button", name="Check").click()
    expect(verdict(page, 1)).to_contain_text("A is ")


def test_question_is_a_group_named_by_its_title(quiz: Page) -> None:
    group = quiz.get_by_role("group", name="Question 1: Why positions?")
    expect(group).to_have_accessible_description(re.compile("Why does an encoder"))
    expect(group.get_by_role("radio")).to_have_count(4)
    expect(group.get_by_role("radio", name=re.compile("^B For speed"))).to_have_count(1)


def test_start_again_clears_all_and_focuses_the_first_question(quiz: Page) -> None:
    answer(quiz, 1, right_letter(1))
    answer(quiz, 6, wrong_letter(6))
    quiz.get_by_role("button", name="Start again").press("Enter")
    expect(quiz.locator(".question input:checked")).to_have_count(0)
    expect(verdict(quiz, 1)).to_be_empty()
    expect(quiz.locator(".score")).to_contain_text("None of 6 questions answered yet.")
    expect(question(quiz, 1).get_by_role("radio").first).to_be_focused()
    quiz.reload()
    expect(quiz.locator(".question input:checked")).to_have_count(0)


def test_answers_survive_navigation_and_a_reload(quiz: Page) -> None:
    """Restored verdicts are live regions too, so screen readers announce changes."""
    answer(quiz, 5, wrong_letter(5))
    answer(quiz, 6, right_letter(6))
    quiz.locator(".md-header .md-logo").click()
    expect(quiz.locator(".question")).to_have_count(0)
    quiz.go_back()
    expect(verdict(quiz, 5)).to_contain_text(f"{wrong_letter(5)} is wrong.")
    expect(quiz.locator(".score")).to_contain_text("1 of 2 right")
    answer(quiz, 4, right_letter(4))
    expect(quiz.locator(".score")).to_contain_text("2 of 3 right")
    quiz.reload()
    expect(verdict(quiz, 5)).to_contain_text(f"{wrong_letter(5)} is wrong.")
    expect(verdict(quiz, 6)).to_contain_text(f"{right_letter(6)} is right.")
    expect(quiz.locator(".score")).to_contain_text("2 of 3 right")
    for number in (5, 6):
        expect(verdict(quiz, number)).to_have_attribute("aria-live", "polite")


def test_verdict_duplicates_no_id(page: Page) -> None:
    quiz = opened(page, 10)
    answer(quiz, 10, right_letter(10))  # it has citations, whose notes link back to it
    twice = quiz.evaluate(
        "[...document.querySelectorAll('[id]')].map(part => part.id)"
        ".filter((id, n, all) => all.indexOf(id) !== n)"
    )
    assert twice == []


def test_answers_are_tall_enough_for_a_finger(quiz: Page) -> None:
    quiz.set_viewport_size(PHONE)
    heights = quiz.locator(".question label").evaluate_all(
        "all => all.map(label => label.getBoundingClientRect().height)"
    )
    assert min(heights) >= 44


def test_answers_unfold_without_scripts(page_without_scripts: Page) -> None:
    page_without_scripts.goto(f"{CHAPTER}quiz-7-to-12/")
    asked = question(page_without_scripts, 8)
    expect(asked.get_by_role("radio")).to_have_count(4)
    expect(page_without_scripts.get_by_role("button", name="Check")).to_have_count(0)
    expect(page_without_scripts.locator(".score")).to_be_hidden()
    expect(asked.locator(".reasons .right")).to_be_hidden()
    asked.get_by_text("Answer and reasons").click()
    expect(asked.locator(".reasons .right")).to_contain_text(f"{right_letter(8)} is right.")
    expect(asked.locator(".reasons .wrong:visible")).to_have_count(3)


def test_print_shows_questions_and_reasons_and_no_buttons(quiz: Page) -> None:
    answer(quiz, 1, right_letter(1))
    quiz.emulate_media(media="print")
    quiz.evaluate("dispatchEvent(new Event('beforeprint'))")
    expect(quiz.locator(".reasons .right:visible")).to_have_count(6)
    expect(quiz.locator(".question button:visible, .score:visible")).to_have_count(0)
    expect(quiz.locator(".reply:visible")).to_have_count(0)


def test_the_quiz_works_without_a_network(quiz: Page) -> None:
    quiz.context.set_offline(True)
    answer(quiz, 2, wrong_letter(2))
    expect(verdict(quiz, 2)).to_contain_text(f"{wrong_letter(2)} is wrong.")
    expect(quiz.locator(".score")).to_contain_text("0 of 1 right at the first try")


@pytest.mark.parametrize("numbers", [(1, 2), (10,), (13,)])
def test_axe_finds_nothing_in_an_answered_quiz_and_it_fits(
    numbers: tuple[int, ...], page: Page, site: Site
) -> None:
    quiz = opened(page, numbers[0])
    visit = Visit(quiz, site)
    for number in numbers:
        answer(quiz, number, wrong_letter(number))
    visit.unfold()
    for scheme, size in (("light", DESK), ("dark", PHONE)):
        visit.resize(size)
        visit.switch_to(scheme)
        assert quiz.evaluate(TOO_WIDE) == []
        assert violations(quiz) == []
