"""The minutes of the chapter *At the board*: each board states its own, and they make an hour."""

from __future__ import annotations

import re

from scripts.book.chapters import chapter_of, whole_text

CHAPTER = chapter_of("chapters/at-the-board/index.md")
PAGE = whole_text(CHAPTER)
BOARD = re.compile(r"^## Board (\d+): (.+) \{ #([\w-]+) \}\n\n(\d+) minutes\n", re.M)
ROW = re.compile(r"^\| \[(\d+): (.+)\]\(\w+\.md#([\w-]+)\) \| (\d+) \|", re.M)
SUM = re.compile(r"\{\{ (\d+) = ([\d +]+) \}\}")


def test_the_list_of_boards_has_the_minutes_that_each_board_states() -> None:
    boards = BOARD.findall(PAGE)
    assert [int(number) for number, *_ in boards] == list(range(1, 10))
    assert ROW.findall(PAGE) == boards


def test_the_total_adds_up_the_minutes_of_all_boards() -> None:
    total, parts = next(iter(SUM.findall(PAGE)))
    assert [int(part) for part in parts.split("+")] == [int(m) for *_, m in BOARD.findall(PAGE)]
    assert total == "60"


def test_every_board_has_a_figure_a_question_and_a_wrong_answer_to_expect() -> None:
    for board in re.split(r"^## ", PAGE.partition("## Seven sentences")[0], flags=re.M):
        if board.startswith("Board"):
            assert board.count("**Ask.**") == 1
            assert board.count("*A wrong answer to expect:*") == 1
            assert "](../../figures/board_" in board
            assert "**Say.**" in board or "**Write.**" in board
