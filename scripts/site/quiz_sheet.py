"""A quiz on paper, `teach/quiz-sheet/`, made from the questions of *Check yourself*, as built.

It has the questions that fit the hour at the board, with room to say why, and behind them the keys
with their reasons, which begin on a sheet of their own.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from selectolax.lexbor import LexborNode

from scripts.site.html_tree import article, classes, fit, origin, remove, remove_notes, words
from scripts.site.minify import LINK

CHAPTER = "chapters/check-yourself/"
HERE = "teach/quiz-sheet/"
PAGE = Path(__file__).with_suffix(".html")
TITLE = "Positions: a quiz on paper"
QUESTIONS = (1, 2, 3, 4, 7, 9, 11, 17)  # what the boards answer


def page(chapter: str, numbers: Iterable[int] = QUESTIONS) -> str:
    """Return the quiz on paper, made from the chapter's built page."""
    content = article(chapter)
    remove(content, ".headerlink, .checked")
    remove_notes(content)
    there = {part.id: part for part in content.css("div.question")}
    wanted = {number: f"question-{number}" for number in numbers}
    if missing := [name for name in wanted.values() if name not in there]:
        raise SystemExit(f"the quiz has no {', '.join(missing)}")
    questions = {number: there[name] for number, name in wanted.items()}
    return PAGE.read_text(encoding="utf-8").format(
        title=TITLE,
        head="\n".join(link[0].strip() for link in LINK.finditer(chapter)),
        origin=origin(chapter),
        up="../" * HERE.count("/"),
        chapter=CHAPTER,
        count=len(questions),
        questions="\n".join(question_html(number, part) for number, part in questions.items()),
        keys="\n".join(key_html(number, part) for number, part in questions.items()),
    )


def question_html(number: int, question: LexborNode) -> str:
    """Return a question with its options, and lines for a reason."""
    body = "".join(map(sheet_html, question.css("fieldset > div > *")))
    options = "\n".join(map(option, question.css("fieldset label")))
    return QUESTION.format(number=number, title=title(question), body=body, options=options)


def option(label: LexborNode) -> str:
    """Return an option of a question: its letter and its text."""
    _, letter, text = label.iter()
    return f'<li><span class="letter">{words(letter)}</span><span>{sheet_html(text)}</span></li>'


def key_html(number: int, question: LexborNode) -> str:
    """Return the key of a question: the letter, and a reason for each option."""
    reasons = question.css("div[data-letter]")
    right = next(part.attrs["data-letter"] for part in reasons if "right" in classes(part))
    body = "\n".join("".join(map(sheet_html, part.iter())) for part in reasons)
    return KEY.format(number=number, right=right, title=title(question), body=body)


def title(question: LexborNode) -> str:
    """Return the subject of a question."""
    return words(question.css("legend")[0]).partition(": ")[2]


def sheet_html(part: LexborNode) -> str:
    """Return a part of the chapter as HTML for the sheet."""
    fit(part, CHAPTER, HERE)
    return part.html or ""


QUESTION = """\
<section aria-labelledby="q{number}">
<h2 id="q{number}"><span class="place">{number}</span> {title}</h2>
{body}
<ol class="options">
{options}
</ol>
<p class="why">Because<i></i><i></i></p>
</section>"""

KEY = """\
<section class="paper-key" aria-labelledby="k{number}">
<h3 id="k{number}"><span class="place">{number}</span> <b class="letter">{right}</b> {title}</h3>
{body}
</section>"""
