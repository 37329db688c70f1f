"""The nine boards as slides, `teach/slides/`, made from the built chapter *At the board*.

Each board is a section: what goes up on the board, in the order of the chapter, and what is said,
as notes for the speaker. On the board are the drawing, which strokes.py prepares, a formula or a
listing that the chapter has written, the question and its answer. Without scripts all boards stand
one under another; printed, they are a handout of a page for each. In a figure's script,
`step(axes, 1)` lets what has been drawn since the last step wait for another key.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import takewhile
from pathlib import Path

from selectolax.lexbor import LexborHTMLParser, LexborNode

from scripts.site.html_tree import article, classes, fit, origin, remove, remove_notes, words
from scripts.site.minify import LINK
from scripts.site.strokes import drawings

CHAPTER = "chapters/at-the-board/"
HERE = "teach/slides/"
PAGE = Path(__file__).with_suffix(".html")
TITLE = "Nine boards"
LINES = 24  # to write on, of which the paper shows as many as fit

BOARD = re.compile(r"Board (?P<number>\d+): (?P<title>.+)")
FIGURE = re.compile(r"figures/(?P<stem>board_\w+)-light\.svg")
# What a page has around a board: its chapter, its notes, the link to the next board.
AROUND = ".chapter-label, .footnote, .stop"
UNWANTED = f".headerlink, .checked, .score, {AROUND}"
SAID, WRITTEN, ASKED, EXPECTED = "Say.", "Write.", "Ask.", "A wrong answer to expect:"


@dataclass
class Board:
    """A board: what goes up on it, and what its speaker needs to know."""

    number: int
    title: str
    place: str  # its address in the chapter
    minutes: int = 0
    up: list[str] = field(default_factory=list)
    asked: list[str] = field(default_factory=list)  # the question and its answer
    notes: list[str] = field(default_factory=list)


def page(chapter: str) -> str:
    """Return the page of slides, made from the chapter's built page."""
    content = article(chapter)
    sections = list(chapter_sections(content))
    drawn = drawings(dict.fromkeys(FIGURE.findall(chapter)))
    boards = [
        read_board(heading, parts, drawn)
        for heading, parts in sections
        if BOARD.match(words(heading))
    ]
    last = next(parts for heading, parts in sections if heading.id == "takeaways")
    return PAGE.read_text(encoding="utf-8").format(
        title=TITLE,
        head="\n".join(link[0].strip() for link in LINK.finditer(chapter)),
        origin=origin(chapter),
        up="../" * HERE.count("/"),
        chapter=CHAPTER,
        boards="\n".join(board_section(board, boards) for board in boards),
        takeaways="\n".join(takeaways(last)),
        hour="\n".join(map(segment, boards)),
        minutes=sum(board.minutes for board in boards),
        count=len(boards),
    )


def chapter_sections(content: LexborNode) -> Iterator[tuple[LexborNode, list[LexborNode]]]:
    """Yield the sections of a chapter: each heading, and the elements below it."""
    remove(content, UNWANTED)
    parts = list(content.iter())
    places = [place for place, part in enumerate(parts) if part.tag == "h2"]
    for begin, end in zip(places, [*places[1:], len(parts)], strict=True):
        yield parts[begin], parts[begin + 1 : end]


def read_board(heading: LexborNode, parts: Iterable[LexborNode], drawn: Mapping[str, str]) -> Board:
    """Return a board, from its section of the chapter and the drawings by name."""
    found = BOARD.fullmatch(words(heading))
    if found is None:
        raise SystemExit(f"{words(heading)!r} is not the heading of a board")
    title = found["title"]
    # Only the first letter changes: "RoPE" stays.
    board = Board(int(found["number"]), title[0].upper() + title[1:], address(heading))
    is_written = False
    for part in parts:
        if "minutes" in classes(part):
            board.minutes = int(words(part).split()[0])
        elif part.tag == "figure":
            _add_figure(board, part, drawn)
        elif part.tag == "details" and "solution" in classes(part):
            _add_answer(board, part)
        elif begins_with_label(part, ASKED):
            board.asked.append(f'<div class="item ask">{without_note_numbers(part)}</div>')
        elif "arithmatex" in classes(part) or (is_written and "highlight" in classes(part)):
            written = slide_html(part)
            board.up.append(f'<div class="item">{written}</div>')
            board.notes.append(written)
            is_written = False
        else:
            is_written = begins_with_label(part, WRITTEN) or (is_written and part.tag != "p")
            board.notes.append(slide_html(part))
    if not (board.minutes and board.up and len(board.asked) == 2 and board.notes):
        raise SystemExit(f"board {board.number} lacks its minutes, drawing, question or notes")
    return board


def address(heading: LexborNode) -> str:
    """Return the address of a heading, from that of the chapter's first page."""
    return f"{heading.attrs.sget('data-page')}#{heading.id or ''}"


def begins_with_label(part: LexborNode, label: str) -> bool:
    """Return whether a paragraph begins with a label, such as *Say*."""
    return part.tag == "p" and words(part).startswith(label)


def _add_figure(board: Board, figure: LexborNode, drawn: Mapping[str, str]) -> None:
    """Put the drawing of a figure on the board, and its caption into the notes."""
    image = figure.css("img")[0].attrs
    found = FIGURE.search(image.sget("src"))
    if found is None:
        raise SystemExit(f"board {board.number} has a figure that is no drawing of a board")
    drawing = LexborHTMLParser(drawn[found["stem"]]).css("svg")[0]
    drawing.attrs["role"] = "img"
    drawing.attrs["aria-label"] = image.sget("alt")
    narrow = "".join(map(slide_html, figure.css("picture")))
    board.up.append(
        f'<div class="item figure">{drawing.html}<div class="narrow">{narrow}</div></div>'
    )
    board.notes.extend(map(slide_html, figure.css("figcaption")))


def _add_answer(board: Board, solution: LexborNode) -> None:
    """Put the answer on the board, up to what introduces a listing, and the rest into the notes."""
    parts = [part for part in solution.iter() if part.tag != "summary"]
    later = [is_listing_or_wrong_answer(part) for part in parts].index(True)
    answer = "".join(map(without_note_numbers, parts[:later]))
    board.asked.append(f'<details class="item given"><summary>Answer</summary>\n{answer}</details>')
    for part in parts[later:]:
        expected = ' class="expected"' if begins_with_label(part, EXPECTED) else ""
        board.notes.append(f"<div{expected}>{slide_html(part)}</div>")


def is_listing_or_wrong_answer(part: LexborNode) -> bool:
    """Return whether a part of an answer is a listing, its introduction, or a wrong answer."""
    return part.tag != "p" or begins_with_label(part, EXPECTED) or words(part).endswith(":")


def slide_html(part: LexborNode) -> str:
    """Return a part of the chapter as HTML for the slides."""
    for listing in part.css(".runs"):
        listing.attrs["class"] = "highlight"
    fit(part, CHAPTER, HERE)
    return part.html or ""


def without_note_numbers(part: LexborNode) -> str:
    """Return a part for the board, without the numbers of notes."""
    remove_notes(part)
    return slide_html(part)


def takeaways(parts: Iterable[LexborNode]) -> Iterator[str]:
    """Yield the sentences to take away, as far as they are a list, up to the exercises."""
    sentences = takewhile(lambda part: part.tag != "h3", parts)
    return (without_note_numbers(part) for part in sentences if part.tag in ("p", "ol"))


def board_section(board: Board, boards: list[Board]) -> str:
    """Return the section of a board."""
    until = sum(other.minutes for other in boards if other.number <= board.number)
    return SECTION.format(
        board=board,
        count=len(boards),
        until=until,
        up="\n".join(board.up),
        asked="\n".join(board.asked),
        notes="\n".join(board.notes),
        chapter="../" * HERE.count("/") + CHAPTER,
        room="<i></i>" * LINES,
    )


def segment(board: Board) -> str:
    """Return a board's share of the hour, a link as wide as its minutes."""
    return (
        f'<li style="flex-grow:{board.minutes}"><a href="#board-{board.number}">'
        f"<span>{board.number}</span></a></li>"
    )


SECTION = """\
<section class="board" id="board-{board.number}" \
data-minutes="{board.minutes}" data-until="{until}">
<header><h2><span class="number">Board {board.number}<span class="of"> of {count}</span></span> \
{board.title}</h2>
<p class="minutes">{board.minutes} minutes, until minute {until}</p></header>
<div class="up">
<div class="drawn">
{up}
</div>
<div class="asked">
{asked}
</div>
</div>
<details class="notes"><summary>For the speaker</summary>
<div class="said">
<p class="plan"><b>{board.minutes} minutes</b>, until minute {until}. \
<a href="{chapter}{board.place}">This board in the chapter</a></p>
{notes}
</div>
</details>
<div class="room" aria-hidden="true">{room}</div>
</section>"""
