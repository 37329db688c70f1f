"""Slides, lesson plans and the quiz on paper: made from the chapters, and usable by keyboard."""

from __future__ import annotations

import re
from collections.abc import Iterator
from io import BytesIO
from itertools import accumulate, pairwise
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, ViewportSize, expect

from scripts import DOCS
from scripts.figures._dark import dark_colour
from scripts.site import quiz_sheet, slides, strokes
from scripts.site.built_chapter import built_chapter
from scripts.site.host import Host
from scripts.site.html_tree import article, remove, remove_notes, words
from tests.book.test_at_the_board import BOARD
from tests.book.test_at_the_board import PAGE as CHAPTER
from tests.site.served import Site
from tests.site.visits import LAPTOP, PHONE, TOO_WIDE, fresh_page, violations

PLAN = (DOCS / "teach" / "index.md").read_text("utf-8")
ROW = re.compile(r"^\| (.*?) \| (\d+) \| (\d+) \|", re.M)
SHORT = re.compile(r"^\| (.*?) \| ([\d–]+) \| [\d–]+ \| (\d+) \|", re.M)
BOARD_SHOWN = re.compile(r"\[Board (\d)\]\(slides/index\.html#board-(\d)\)")
SUM = re.compile(r"\{\{ (\d+) = ([\d +]+) \}\}")

NINE = range(1, 10)
STEPS = {1: 2, 2: 4, 3: 3, 4: 2 + 4, 5: 1, 6: 2, 7: 3, 8: 4, 9: 2}  # of the drawings
WRITTEN = {3, 5, 8, 9}  # boards with a formula or a listing below the drawing
PROJECTOR = ViewportSize(width=1280, height=720)

SHOWN = """() => {
    const slide = document.querySelector("main > section:not([hidden])");
    const strokes = [...slide.querySelectorAll(".item:not([hidden]) .stroke")];
    return [slide.id, slide.querySelectorAll(".item:not([hidden])").length,
        strokes.filter(stroke => getComputedStyle(stroke).visibility === "visible").length];
}"""
AGREED = "location.hash === `#${document.querySelector('main > section:not([hidden])').id}`"
MOVING = "document.getAnimations().filter(one => one.animationName !== 'late').length"
HIDDEN_BELOW = """() => [...document.querySelectorAll(
        "section:not([hidden]) :is(.drawn, .asked)")]
    .filter(part => part.scrollHeight > part.clientHeight + 1 && part.checkVisibility())
    .map(part => `${part.className}: ${part.scrollHeight} of ${part.clientHeight}`)"""
# Whether what the last step revealed is in view, or fills the view.
IN_VIEW = """() => {
    const slide = document.querySelector("main > section:not([hidden])");
    const up = slide.querySelector(".up").getBoundingClientRect();
    const {top, bottom} = [...slide.querySelectorAll(".item:not([hidden])")].at(-1)
        .getBoundingClientRect();
    const [isBegun, isEnded] = [top >= up.top - 1, bottom <= up.bottom + 1];
    return isBegun && isEnded || isBegun && top < up.bottom - up.height / 2;
}"""
# What scrolls on a slide, sideways left out.
SCROLLERS = """() => [...document.querySelectorAll("section:not([hidden]) *")]
    .filter(part => part.scrollHeight > part.clientHeight + 1 && part.checkVisibility()
        && /auto|scroll/.test(getComputedStyle(part).overflowY))
    .map(part => part.className)"""
SWIPE = """([from, to]) => {
    const main = document.querySelector("main");
    const touch = x => new Touch({identifier: 1, target: main, clientX: x, clientY: 300});
    for (const [type, x] of [["touchstart", from], ["touchend", to]]) {
        main.dispatchEvent(new TouchEvent(type, {changedTouches: [touch(x)], bubbles: true}));
    }
}"""


@pytest.fixture(scope="module")
def chapter(site: Site) -> str:
    return built_chapter(site.folder, slides.CHAPTER)


@pytest.fixture(scope="module")
def deck(site: Site) -> str:
    return (site.folder / slides.HERE / "index.html").read_text("utf-8")


@pytest.fixture
def tab(browser: Browser, browser_context_args: dict[str, Any]) -> Iterator[Page]:
    """Return a page as wide as a projector's, in which nothing may go wrong."""
    messages: list[str] = []
    with fresh_page(browser, browser_context_args | {"viewport": PROJECTOR}) as page:
        page.on("console", lambda message: messages.append(message.text))
        page.on("pageerror", lambda error: messages.append(str(error)))
        yield page
    assert messages == []


@pytest.fixture
def projected(tab: Page, book: Host) -> Page:
    """Open the slides, under the site's policy."""
    tab.goto(f"{book.url}{slides.HERE}")
    return tab


def at(page: Page) -> int | str:
    """Return the board that is shown, as the address and the page have it."""
    page.wait_for_function(AGREED)  # a followed link is in the address before it is shown
    shown = str(page.evaluate(SHOWN)[0])
    name, _, number = shown.partition("-")
    return int(number) if number else name


def press(page: Page, *keys: str) -> Page:
    for key in keys:
        page.keyboard.press(key)
    return page


# --- One source with the chapter ---


def sections(page: str) -> dict[str, set[str]]:
    """Return the text of each paragraph, item, cell and listing of each section of the chapter."""
    content = article(page)
    remove_notes(content)
    return {
        heading.id or "": {
            words(one) for part in parts for one in part.css("p, li, td, pre, figcaption")
        }
        - {""}
        for heading, parts in slides.chapter_sections(content)
    }


def slide_texts(page: str) -> dict[str, str]:
    """Return the text of each section of the slides."""
    _, _, main = page.partition("<main")
    content = article(f"<article{main.replace('</main>', '</article>')}")
    remove_notes(content)
    return {part.id or "": words(part) for part in content.css("article > section")}


def missing_sentences(chapter: str, deck: str) -> list[str]:
    """Return what the boards of the chapter say and the slides do not."""
    boards = {place: int(n) for n, _, place, _ in BOARD.findall(CHAPTER)}
    chapter_texts, said = sections(chapter), slide_texts(deck)
    return [
        text
        for place, number in boards.items()
        for text in chapter_texts[place]
        if text not in said[f"board-{number}"]
    ]


def test_a_slide_has_all_that_its_board_says(chapter: str, deck: str) -> None:
    assert sum(map(len, sections(chapter).values())) > 150
    assert missing_sentences(chapter, deck) == []


def test_a_sentence_that_a_slide_lacks_is_found(chapter: str, deck: str) -> None:
    assert len(missing_sentences(chapter, deck.replace("Only a whole turn", ""))) == 1


@pytest.mark.parametrize(
    ("old", "new", "place"),
    [
        ("Only a whole turn shows every direction.", "A planted reason.", "board-4"),
        ("None. Nothing is learned", "Planted. Nothing is learned", "board-8"),
        ("fast ones first", "planted ones first", "takeaways"),
    ],
)
def test_a_changed_board_changes_its_slide(old: str, new: str, place: str, chapter: str) -> None:
    assert chapter.count(old) == 1
    said = slide_texts(slides.page(chapter.replace(old, new)))
    assert new in said[place]
    assert old not in said[place]


def test_boards_have_the_titles_and_minutes_of_the_chapter(chapter: str, deck: str) -> None:
    assert slides.page(chapter).count("<section") == deck.count("<section") == 10
    for number, title, place, minutes in BOARD.findall(CHAPTER):
        said = slide_texts(deck)[f"board-{number}"]
        assert title[1:] in said
        assert f"{minutes} minutes, until minute" in said
        assert re.search(rf'href="../../{slides.CHAPTER}\w+/#{place}"', deck)
    assert "of 60 min" in deck


def test_a_board_without_minutes_stops_the_build(chapter: str) -> None:
    with pytest.raises(SystemExit, match="board 3 lacks its minutes"):
        slides.page(chapter.replace('<p class="minutes">7 minutes', "<p>7 minutes", 1))


def test_a_wrong_answer_is_for_the_speaker_alone(deck: str) -> None:
    for board in re.split("<section ", deck)[1:10]:
        up, _, notes = board.partition('<details class="notes">')
        assert "A wrong answer to expect" not in up
        assert notes.count('class="expected"') == 1


def test_the_notes_keep_the_formulas_and_listings_that_are_written(deck: str) -> None:
    for number, board in enumerate(re.split("<section ", deck)[1:10], 1):
        up, _, notes = board.partition('<details class="notes">')
        items = article(f"<article>{up}</article>").css(".drawn .item:not(.figure)")
        assert bool(items) == (number in WRITTEN)
        assert all(words(item) in words(article(f"<article>{notes}</article>")) for item in items)


def test_each_drawing_is_described_and_drawn_in_steps(chapter: str, deck: str) -> None:
    drawn = re.findall(r'<svg class="drawing"[^>]*aria-label="([^"]*)"', deck)
    pictured = re.findall(r'<picture class="only-light">.*?<img alt="([^"]*)"', chapter)
    assert [text for text in pictured if text in drawn] == drawn
    assert len(drawn) == 10
    steps = [{*re.findall(r'data-step="(\d)"', svg)} for svg in deck.split("<svg")[1:]]
    assert sum(len(found) for found in steps) == sum(STEPS.values())
    assert all(found == {str(n) for n in range(len(found))} for found in steps)


def test_drawings_have_the_colours_of_the_figures_in_both_schemes(site: Site) -> None:
    sheet = (site.folder / "assets" / "built" / "palette.css").read_text("utf-8")
    assert len(strokes.CHALK) == 8
    for light, name in strokes.CHALK.items():
        assert re.findall(rf"{name}: ?(#\w+)", sheet) == [light, dark_colour(light)], name


def test_no_stroke_has_a_colour_of_its_own(deck: str) -> None:
    for drawing in re.findall(r"<svg .*?</svg>", deck, re.S):
        assert not strokes.COLOUR.search(re.sub(r'href="data:[^"]*"', "", drawing))


# --- By keyboard ---


def test_every_key_that_goes_on_draws_the_next_step(projected: Page) -> None:
    """Board 2 draws four steps, then comes the question, then its answer, then board 3."""
    press(projected, "2")
    seen = [projected.evaluate(SHOWN)]
    for key in ("ArrowRight", "Space", "PageDown", "Enter", "ArrowRight", "Space"):
        seen.append(press(projected, key).evaluate(SHOWN))
    assert [name for name, *_ in seen] == ["board-2"] * 6 + ["board-3"]
    assert [items for _, items, _ in seen[:6]] == [1, 1, 1, 1, 2, 3]
    drawn = [count for *_, count in seen[:6]]
    assert drawn[:4] == sorted({*drawn})
    assert projected.locator("#board-2 .stroke").count() == drawn[3]


def test_every_key_that_goes_back_undoes_a_step(projected: Page) -> None:
    press(projected, "3")
    whole = press(projected, "ArrowLeft").evaluate(SHOWN)
    assert whole[:2] == ["board-2", 3]
    seen = [press(projected, key).evaluate(SHOWN) for key in ("PageUp", "Shift+Space", "Backspace")]
    assert [items for _, items, _ in seen] == [2, 1, 1]
    assert whole[2] == seen[1][2] > seen[2][2]


@pytest.mark.parametrize("number", NINE)
def test_a_digit_opens_a_board_and_it_ends_with_its_answer(number: int, projected: Page) -> None:
    assert at(press(projected, str(number))) == number
    presses = STEPS[number] + (number in WRITTEN) + 1
    press(projected, *["ArrowRight"] * presses)
    assert at(projected) == number
    expect(projected.locator("section:not([hidden]) .given p").first).to_be_visible()
    assert projected.evaluate(HIDDEN_BELOW) == []
    press(projected, "ArrowRight")
    assert at(projected) == (number + 1 if number < 9 else "takeaways")


def test_home_and_end_and_both_ends_hold(projected: Page) -> None:
    assert at(projected) == 1
    assert at(press(projected, "ArrowLeft")) == 1
    assert at(press(projected, "End", "ArrowRight")) == "takeaways"
    expect(projected.locator(".place")).to_have_text("To take away")
    assert projected.evaluate(HIDDEN_BELOW) == []
    assert at(press(projected, "Home")) == 1


def test_the_address_keeps_the_slide(projected: Page, book: Host) -> None:
    press(projected, "7")
    projected.reload()
    assert at(projected) == 7
    projected.evaluate("location.hash = 'board-5'")
    expect(projected.locator("#board-5")).to_be_visible()
    projected.goto(f"{book.url}teach/")
    projected.goto(f"{book.url}{slides.HERE}#no-such-board")
    assert at(projected) == 1


def test_the_bar_says_which_board_and_how_many_minutes(projected: Page) -> None:
    press(projected, "3")
    expect(projected.locator(".place")).to_have_text("Board 3 of 9: 7 minutes, until 20")
    expect(projected.locator(".hour [aria-current=step]")).to_have_text("3")


def test_the_clock_begins_with_the_first_turn_and_survives_a_reload(tab: Page, book: Host) -> None:
    tab.clock.install()
    tab.goto(f"{book.url}{slides.HERE}")
    clock = tab.locator(".clock")
    tab.clock.fast_forward("05:00")
    expect(clock).to_have_text("0:00 of 60 min")
    press(tab, "ArrowRight")
    tab.clock.fast_forward("12:34")
    expect(clock).to_have_text("12:34 of 60 min")
    tab.reload()
    expect(clock).to_have_text("12:34 of 60 min")
    press(tab, "c")
    expect(clock).to_have_text("0:00 of 60 min")


def test_n_opens_the_notes_with_the_wrong_answer_to_expect(projected: Page) -> None:
    notes = projected.locator("#board-1 .notes")
    expect(notes).to_be_hidden()
    press(projected, "n")
    expect(
        notes.get_by_text("nothing in the comparison says which word comes first")
    ).to_be_visible()
    expect(notes.locator(".expected")).to_contain_text("None of them, because order is lost")
    press(projected, "2")
    expect(projected.locator("#board-2 .expected")).to_be_visible()
    press(projected, "N")
    expect(projected.locator("#board-2 .notes")).to_be_hidden()


def test_question_mark_shows_the_keys_and_escape_closes_them(projected: Page) -> None:
    keys = projected.get_by_role("dialog", name="Keys")
    press(projected, "?")
    expect(keys).to_be_visible()
    assert at(press(projected, "ArrowRight", "5")) == 1
    press(projected, "Escape")
    expect(keys).to_be_hidden()
    assert at(press(projected, "5")) == 5


def test_escape_closes_the_notes_and_then_leaves(projected: Page, book: Host) -> None:
    press(projected, "n", "Escape")
    expect(projected.locator("#board-1 .notes")).to_be_hidden()
    assert at(projected) == 1
    press(projected, "Escape")
    projected.wait_for_url(f"{book.url}teach/")


def test_leave_looks_like_the_buttons_beside_it(projected: Page) -> None:
    look = """element => {
        const {height, borderTopWidth, color, fontSize} = getComputedStyle(element);
        return [height, borderTopWidth, color, fontSize];
    }"""
    leave = projected.get_by_role("link", name="Leave")
    beside = projected.get_by_role("button", name="Keys")
    assert leave.evaluate(look) == beside.evaluate(look)


def test_a_slide_without_notes_does_not_offer_them(projected: Page) -> None:
    button = projected.get_by_role("button", name="Notes")
    expect(button).to_be_enabled()
    press(projected, "End")
    expect(button).to_be_disabled()
    press(projected, "n")
    expect(button).to_have_attribute("aria-pressed", "false")
    press(projected, "1")
    expect(button).to_be_enabled()


def test_a_focused_button_keeps_space_and_enter(projected: Page) -> None:
    projected.get_by_role("button", name="Notes").focus()
    press(projected, "Space")
    expect(projected.locator("#board-1 .notes")).to_be_visible()
    before = projected.evaluate(SHOWN)
    assert press(projected, "Control+ArrowRight").evaluate(SHOWN) == before


def test_colours_are_those_of_the_system_until_d_is_pressed(tab: Page, book: Host) -> None:
    tab.emulate_media(color_scheme="dark")
    tab.goto(f"{book.url}{slides.HERE}")
    paper = "getComputedStyle(document.body).backgroundColor"
    assert tab.evaluate(paper) == "rgb(20, 24, 26)"
    assert press(tab, "d").evaluate(paper) == "rgb(252, 252, 250)"


def test_colours_chosen_in_the_book_are_kept(tab: Page, book: Host) -> None:
    tab.goto(f"{book.url}teach/")
    tab.locator("label[for^=__palette]:visible").first.click()
    tab.goto(f"{book.url}{slides.HERE}")
    assert tab.evaluate("document.body.dataset.mdColorScheme") == "slate"


# --- By pointer, by touch, in two windows ---


def test_a_click_turns_and_on_the_left_goes_back(projected: Page) -> None:
    before = projected.evaluate(SHOWN)
    projected.mouse.click(900, 300)
    assert projected.evaluate(SHOWN) != before
    projected.mouse.click(100, 300)
    assert projected.evaluate(SHOWN) == before
    projected.get_by_role("button", name="On").click()
    projected.get_by_role("link", name="8").click()
    assert at(projected) == 8


def test_a_swipe_turns_and_a_short_one_does_not(projected: Page) -> None:
    before = projected.evaluate(SHOWN)
    projected.evaluate(SWIPE, [300, 270])
    assert projected.evaluate(SHOWN) == before
    projected.evaluate(SWIPE, [300, 100])
    after = projected.evaluate(SHOWN)
    assert after != before
    projected.evaluate(SWIPE, [100, 300])
    assert projected.evaluate(SHOWN) == before


@pytest.mark.parametrize("size", [(390, 844), (844, 390)], ids=["upright", "lying"])
def test_on_a_phone_each_step_is_in_view_and_one_box_scrolls(
    size: tuple[int, int], projected: Page
) -> None:
    width, height = size
    projected.set_viewport_size({"width": width, "height": height})
    for number in NINE:
        press(projected, str(number))
        while at(projected) == number:
            assert projected.evaluate(IN_VIEW), projected.evaluate(SHOWN)
            assert {*projected.evaluate(SCROLLERS)} <= {"up"}
            press(projected, "ArrowRight")


def test_two_windows_turn_together_and_notes_stay_in_one(projected: Page, book: Host) -> None:
    shows = f"shown => JSON.stringify(({SHOWN})()) === JSON.stringify(shown)"
    press(projected, "3", "ArrowRight")
    other = projected.context.new_page()
    other.goto(f"{book.url}{slides.HERE}")
    expect(other.locator("#board-3")).to_be_visible()
    assert at(projected) == 3
    other.wait_for_function(shows, arg=projected.evaluate(SHOWN))
    press(other, "n", "4", "ArrowRight")
    expect(projected.locator("#board-4")).to_be_visible()
    projected.wait_for_function(shows, arg=other.evaluate(SHOWN))
    expect(projected.locator("#board-4 .notes")).to_be_hidden()
    other.get_by_role("link", name="8").click()
    expect(projected.locator("#board-8")).to_be_visible()


def test_slides_need_no_network_once_they_are_open(projected: Page) -> None:
    projected.wait_for_load_state("networkidle")
    projected.context.set_offline(True)
    for number in NINE:
        press(projected, str(number), *["ArrowRight"] * 3)
    assert at(press(projected, "End")) == "takeaways"


# --- Drawing, paper, no scripts ---


def test_strokes_draw_themselves_unless_motion_is_to_be_reduced(tab: Page, book: Host) -> None:
    tab.goto(f"{book.url}{slides.HERE}#board-1")
    assert tab.evaluate(MOVING) == 0
    whole = tab.evaluate(SHOWN)
    tab.emulate_media(reduced_motion="no-preference")
    tab.reload()
    assert tab.evaluate(MOVING) > 15
    assert tab.evaluate(SHOWN) == whole
    tab.evaluate("Promise.all(document.getAnimations().map(one => one.finished))")
    assert press(tab, "ArrowRight").evaluate(MOVING) > 15


def printed_sheets(page: Page) -> list[str]:
    """Print a page, and return the text of each sheet; all must be A4."""
    import pypdfium2  # which only `make test-all` installs

    page.evaluate("document.fonts.ready")
    with pypdfium2.PdfDocument(BytesIO(page.pdf(prefer_css_page_size=True))) as document:
        assert {tuple(map(round, sheet.get_size())) for sheet in document} == {(595, 842)}
        return [sheet.get_textpage().get_text_bounded() for sheet in document]


def make_boards_too_high(page: Page) -> None:
    """Make the boards higher than a sheet."""
    page.evaluate("""() => {
        for (const board of document.querySelectorAll(".board")) board.style.minHeight = "300mm";
    }""")


@pytest.mark.parametrize("before", ["", "9nd"], ids=["at once", "with notes, in the dark"])
@pytest.mark.slow
def test_handout_is_a_page_for_each_board(before: str, projected: Page) -> None:
    press(projected, *before)
    sheets = printed_sheets(projected)
    assert len(sheets) == len(NINE)
    for number, sheet in zip(NINE, sheets, strict=True):
        assert sheet.startswith(f"Board {number} of 9")
        assert "Ask." in sheet
        assert "wrong answer" not in sheet
        assert "Say." not in sheet
    assert "sin" in sheets[2]
    assert "np.stack" in sheets[7]
    make_boards_too_high(projected)
    assert len(printed_sheets(projected)) > len(NINE)


def test_all_strokes_are_on_the_paper(projected: Page) -> None:
    projected.emulate_media(media="print")
    seen = projected.evaluate("""() => [...document.querySelectorAll(".stroke")].filter(stroke =>
        getComputedStyle(stroke).visibility !== "visible" || !stroke.getBoundingClientRect().width
        && !stroke.getBoundingClientRect().height).length""")
    assert seen == 0
    expect(projected.locator(".drawing:visible")).to_have_count(10)


@pytest.mark.slow
def test_without_scripts_all_boards_stand_one_under_another(
    page_without_scripts: Page, book: Host
) -> None:
    page = page_without_scripts
    page.goto(f"{book.url}{slides.HERE}")
    expect(page.locator(".board:visible")).to_have_count(9)
    expect(page.locator(".drawing:visible")).to_have_count(10)
    expect(page.locator(".bar")).to_be_hidden()
    page.locator("#board-2 .notes > summary").click()
    expect(page.locator("#board-2 .expected")).to_be_visible()
    tops = [page.locator(f"#board-{n}").bounding_box() for n in NINE]
    assert [box["y"] for box in tops if box] == sorted(box["y"] for box in tops if box)
    page.set_viewport_size(PHONE)
    assert page.evaluate(TOO_WIDE) == []
    assert len(printed_sheets(page)) == len(NINE)


# --- The quiz on paper ---


@pytest.fixture
def sheet(tab: Page, book: Host) -> Page:
    tab.goto(f"{book.url}{quiz_sheet.HERE}")
    return tab


@pytest.mark.slow
def test_the_keys_begin_on_another_sheet(sheet: Page) -> None:
    """The questions take the two sides of one sheet."""
    pages = printed_sheets(sheet)
    keys = [text.startswith("Answers") for text in pages]
    assert keys == [False, False, True]
    keyed = [len(re.findall(r"[A-D] is right\.", text)) for text in pages]
    assert keyed[:2] == [0, 0]
    assert sum(keyed) == len(quiz_sheet.QUESTIONS)
    assert [text.count("Because") for text in pages[:2]] == [4, 4]
    sheet.locator("section[aria-labelledby=q17]").evaluate("one => one.hidden = true")
    assert printed_sheets(sheet)[2].startswith("Answers")
    sheet.evaluate("document.querySelector('.paper-keys').style.breakBefore = 'auto'")
    assert "Answers" in printed_sheets(sheet)[1]


def quiz_texts(page: str) -> dict[int, list[str]]:
    """Return what the quiz of a built chapter says, by the number of the question."""
    content = article(page)
    remove_notes(content)
    remove(content, ".headerlink, .checked, .reply")
    return {
        int((box.id or "").rpartition("-")[2]): [
            text for part in box.css("p, span") if (text := words(part))
        ]
        for box in content.css("div.question")
    }


def test_the_sheet_says_what_the_quiz_says(site: Site, sheet: Page) -> None:
    page = built_chapter(site.folder, quiz_sheet.CHAPTER)
    quiz = quiz_texts(page)
    assert len(quiz) == 24
    made = (site.folder / quiz_sheet.HERE / "index.html").read_text("utf-8")
    _, _, main = made.partition("<main")
    said = words(article(f"<article{main.replace('</main>', '</article>')}"))
    for number in quiz_sheet.QUESTIONS:
        assert [text for text in quiz[number] if text not in said] == []
    changed = page.replace("outputs, shuffled in the same way", "a planted option")
    assert "a planted option" in quiz_sheet.page(changed)


def test_the_key_of_each_question_is_the_letter_that_the_chapter_calls_right(sheet: Page) -> None:
    for number in quiz_sheet.QUESTIONS:
        key = sheet.locator(f"section[aria-labelledby=k{number}]")
        letter = key.locator(".letter").inner_text()
        expect(key.locator("p").first).to_contain_text(f"{letter} is right.")
        assert sheet.locator(f"section[aria-labelledby=q{number}] .letter").count() == 4


def test_a_question_that_is_gone_stops_the_build(site: Site) -> None:
    page = built_chapter(site.folder, quiz_sheet.CHAPTER)
    with pytest.raises(SystemExit, match="the quiz has no question-25"):
        quiz_sheet.page(page, [1, 25])


# --- Both pages ---


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("size", [PHONE, LAPTOP], ids=["phone", "laptop"])
@pytest.mark.parametrize(
    ("path", "keys"),
    [
        (slides.HERE, ""),
        (slides.HERE, "5 ArrowLeft n"),
        (slides.HERE, "?"),
        (slides.HERE, "End"),
        (quiz_sheet.HERE, ""),
    ],
    ids=["slides", "notes", "keys", "end", "quiz"],
)
def test_axe_finds_nothing(
    path: str, keys: str, size: ViewportSize, scheme: Any, tab: Page, book: Host
) -> None:
    tab.set_viewport_size(size)
    tab.emulate_media(color_scheme=scheme)
    tab.goto(book.url + path)
    press(tab, *keys.split())
    assert violations(tab) == []
    assert tab.evaluate(TOO_WIDE) == []


def test_nothing_of_the_slides_loads_elsewhere_and_they_are_in_no_list(site: Site) -> None:
    """Their scripts and styles are small, too."""
    made = {slides.HERE, quiz_sheet.HERE}
    for path in site.folder.rglob("*.html"):
        here = f"{path.parent.relative_to(site.folder).as_posix()}/"
        loads = re.search(r"assets/(js/slides\.js|css/(slides|quiz-sheet)\.css)", path.read_text())
        assert bool(loads) == (here in made), here
    for file in ("sitemap.xml", "search/index.json"):
        assert not any(f'{path}"' in (site.folder / file).read_text("utf-8") for path in made)
    (joined,) = (site.folder / "assets").glob("book.*.css")
    assert ".takeaways" not in joined.read_text("utf-8")
    assert (site.folder / "assets/js/slides.js").stat().st_size < 6_000
    assert (site.folder / "assets/css/slides.css").stat().st_size < 12_000


# --- The plans ---


def plans() -> dict[str, list[tuple[int, int, str]]]:
    """Return the rows of each plan: minutes, the minute it ends at, and what is shown."""
    parts = re.split(r"^## .*\{ #([\w-]+) \}$", PLAN, flags=re.M)
    tables = {
        place: [(int(minutes), int(until), shown) for shown, minutes, until in ROW.findall(text)]
        for place, text in zip(parts[1::2], parts[2::2], strict=True)
    }
    return {place: rows for place, rows in tables.items() if rows}


def test_minutes_add_up_and_are_those_of_the_boards() -> None:
    stated = {int(number): int(minutes) for number, *_, minutes in BOARD.findall(CHAPTER)}
    totals = {"one-hour": 60, "three-hours": 180}
    assert set(plans()) == set(totals)
    for place, rows in plans().items():
        minutes = [row[0] for row in rows]
        assert [row[1] for row in rows] == [*accumulate(minutes)]
        assert rows[-1][1] == totals[place]
        assert (str(totals[place]), " + ".join(map(str, minutes))) in SUM.findall(PLAN)
        for spent, _, shown in rows:
            if found := BOARD_SHOWN.fullmatch(shown):
                assert found[1] == found[2]
                assert spent == stated[int(found[1])]


def test_the_plan_for_45_minutes_adds_up_and_takes_the_minutes_of_the_hour() -> None:
    rows = SHORT.findall(PLAN)
    ends = [int(until) for *_, until in rows]
    minutes = [after - before for before, after in pairwise([0, *ends])]
    assert ends[-1] == 45
    assert ("45", " + ".join(map(str, minutes))) in SUM.findall(PLAN)
    for (_, in_an_hour, _), spent in zip(rows, minutes, strict=True):
        assert in_an_hour in (str(spent), "–")
    assert f"with {minutes[-1]} minutes for the seven sentences" in PLAN


def test_boards_keep_their_order_and_the_long_plan_has_all() -> None:
    shown = {
        place: [int(found[1]) for *_, what in rows if (found := BOARD_SHOWN.fullmatch(what))]
        for place, rows in plans().items()
    }
    assert shown["three-hours"] == [*NINE]
    assert shown["one-hour"] == [number for number in NINE if number not in (5, 8)]


def test_the_plan_names_the_questions_of_the_sheet() -> None:
    (said,) = re.findall(r"questions ([\d, ]+ and \d+) of", PLAN)
    assert tuple(map(int, re.findall(r"\d+", said))) == quiz_sheet.QUESTIONS


def test_every_part_to_leave_out_saves_the_minutes_that_the_plan_says() -> None:
    rows = {shown: minutes for minutes, _, shown in plans()["one-hour"]}
    late = PLAN.partition("**If you are running late.** ")[2]
    quiz, board = re.findall(r"saves (\d+) minutes.*another (\d+)", late, re.S)[0]
    assert int(quiz) == rows["[the quiz on paper](quiz-sheet/index.html)"]
    assert int(board) == rows["[Board 7](slides/index.html#board-7)"]


def test_every_state_of_an_explorer_opens_as_the_plan_says(page: Page) -> None:
    """The addresses of *Watch it break* and of the explorers are understood by their pages."""
    page.goto("teach/")
    links = page.locator("article a[href*='?']:not([href$='?print'])")
    addresses = {links.nth(n).get_attribute("href") or "" for n in range(links.count())}
    assert len(addresses) >= 8
    for address in addresses:
        page.goto("teach/")
        page.goto(page.evaluate("address => new URL(address, location).href", address))
        wanted = dict(re.findall(r"[?&]([\w.]+)=([^&]+)", address))
        expect(page.locator("article [role=status]").first).to_be_attached()
        assert wanted.items() <= dict(re.findall(r"[?&]([\w.]+)=([^&]+)", page.url)).items()
        for name, value in wanted.items():
            field = page.locator(f"input[type=number][name='{name}'], [name='{name}']")
            if field.count():
                expect(field.first).to_have_value(value)


def test_the_link_to_the_handout_opens_the_dialogue_for_printing(page: Page) -> None:
    page.add_init_script("window.print = () => { window.isPrinted = true; }")
    page.goto("teach/")
    page.get_by_role("link", name="Handout").click()
    page.wait_for_function("window.isPrinted")
    page.goto("teach/slides/")
    expect(page.locator(".bar [role=status]")).not_to_be_empty()
    assert page.evaluate("window.isPrinted") is None
