"""Questions to answer: a box `!!! question "Question 3: Why add?"` that ends in a list of options.

    !!! question "Question 3: Why add?"

        What does the sum keep?

        - [x] The width.

            Both are d wide, and so is their sum.

        - [ ] The length.

            Lengths do not add.

Each option is one paragraph; under it stands why it is right, or why it is not. The page shows the
options in an order drawn from the question's number, so that the right one has no favourite place,
and the reasons folded under them. Evidence that follows the list is folded with them. Nothing needs
a script; with one an answer is checked where it is given, and the page keeps the score.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable
from dataclasses import dataclass
from xml.etree.ElementTree import Element, SubElement

from markdown import Markdown
from markdown.extensions import Extension
from markdown.treeprocessors import Treeprocessor

TITLE = re.compile(r"Question (?P<number>\d+): \S")
BOX = re.compile(r"\[(?P<mark>[ x])\] ")
LETTERS = "ABCDEF"


class QuizError(ValueError):
    """A question cannot be asked as it is written."""


@dataclass(frozen=True)
class Option:
    """An answer to choose, and why it is right or wrong."""

    right: bool
    words: Element
    reasons: list[Element]


def order(name: str, options: int) -> list[int]:
    """Return the order in which a question's options are shown, the same wherever it is built.

    Examples:
        >>> order("question-2", 4), order("question-3", 4)
        ([3, 1, 2, 0], [0, 2, 1, 3])
    """

    def lot(option: int) -> str:
        return hashlib.sha256(f"{name}, option {option}".encode()).hexdigest()

    return sorted(range(options), key=lot)


class _Quiz(Treeprocessor):
    """Turn the boxes of a page into questions, and leave a line for the score under the last."""

    def run(self, root: Element) -> None:
        asked: list[str] = []
        last: tuple[Element, Element] | None = None
        for parent in list(root.iter()):
            for box in [child for child in parent if child.get("class") == "admonition question"]:
                asked.append(_ask(box))
                last = parent, box
        if len(asked) != len(set(asked)):
            raise QuizError(f"two questions of this page have one number: {', '.join(asked)}")
        if last is not None:
            parent, box = last
            parent.insert(list(parent).index(box) + 1, _score(len(asked)))


def _ask(box: Element) -> str:
    """Turn a box into a question, and return its address."""
    title, *asked = list(box)
    said = "".join(title.itertext())
    found = TITLE.match(said)
    if found is None:
        raise QuizError(f"{said!r} wants a number and a subject: Question 3: Why add?")
    lists = [part for part in asked if part.tag == "ul"]
    if not lists:
        raise QuizError(f"{said}: no list of options, `- [x] …`")
    place = asked.index(lists[-1])
    name = f"question-{found['number']}"
    options = _options(lists[-1], said)
    shown = [options[n] for n in order(name, len(options))]
    box.clear()
    box.attrib.update({"class": "question", "id": name})
    box.append(_fieldset(name, title, asked[:place], shown))
    SubElement(box, "div", {"class": "reply", "role": "status"})
    box.append(_reasons(shown, asked[place + 1 :]))
    return name


def _options(listed: Element, said: str) -> list[Option]:
    """Return the options of a question in the order in which they are written."""
    options = [_option(item, said) for item in listed]
    if not 2 <= len(options) <= len(LETTERS):
        raise QuizError(f"{said}: from 2 to {len(LETTERS)} options; got {len(options)}")
    if [option.right for option in options].count(True) != 1:
        raise QuizError(f"{said}: one option has to be right, `- [x]`, and one alone")
    return options


def _option(item: Element, said: str) -> Option:
    words, *reasons = list(item) or [item]
    found = BOX.match(words.text or "")
    if words.tag != "p" or not reasons or reasons[0].tag != "p" or found is None:
        near = " ".join("".join(item.itertext()).split())[:60]
        raise QuizError(f"{said}: `- [ ] option`, an empty line, and why it is wrong; got {near!r}")
    words.text = (words.text or "")[found.end() :]
    return Option(found["mark"] == "x", words, reasons)


def _fieldset(name: str, title: Element, asked: list[Element], shown: list[Option]) -> Element:
    """Return what is asked, and the options to choose from."""
    fields = Element("fieldset", {"aria-describedby": f"{name}-asks"} if asked else {})
    fields.append(_renamed(title, "legend"))
    if asked:
        SubElement(fields, "div", {"id": f"{name}-asks"}).extend(asked)
    for letter, option in zip(LETTERS, shown, strict=False):
        label = SubElement(fields, "label")
        # A browser that remembers a choice on its own would know nothing of the verdict on it.
        chosen = {"name": name, "value": letter, "autocomplete": "off"}
        SubElement(label, "input", {"type": "radio", **chosen})
        mark = SubElement(label, "b")
        mark.text, mark.tail = letter, " "
        label.append(_renamed(option.words, "span"))
    SubElement(fields, "button", {"type": "button", "class": "check"}).text = "Check"
    return fields


def _reasons(shown: list[Option], evidence: Iterable[Element]) -> Element:
    """Return the folded part: the right answer first, then what is wrong with the others."""
    folded = Element("details", {"class": "reasons"})
    SubElement(folded, "summary").text = "Answer and reasons"
    lettered = zip(LETTERS, shown, strict=False)
    for letter, option in sorted(lettered, key=lambda pair: not pair[1].right):
        kind = "right" if option.right else "wrong"
        reason = SubElement(folded, "div", {"class": kind, "data-letter": letter})
        reason.extend(option.reasons)
        first = reason[0]
        verdict = Element("b")
        verdict.text = f"{letter} is {kind}."
        verdict.tail = f" {first.text or ''}"
        first.text = None
        first.insert(0, verdict)
    folded.extend(evidence)
    return folded


def _score(questions: int) -> Element:
    line = Element("p", {"class": "score", "data-questions": str(questions)})
    SubElement(line, "span").text = f"None of {questions} questions answered yet."
    SubElement(line, "button", {"type": "button"}).text = "Start again"
    return line


def _renamed(element: Element, tag: str) -> Element:
    """Return an element with all that it holds, under another name and without its class."""
    other = Element(tag)
    other.text = element.text
    other.extend(element)
    return other


class QuizExtension(Extension):
    """Show questions with their options shuffled and their answers folded."""

    def extendMarkdown(self, md: Markdown) -> None:
        """Run when evidence has been looked at, and before headings get their addresses."""
        md.treeprocessors.register(_Quiz(md), "book-quiz", 5.5)


makeExtension = QuizExtension  # the name that Python-Markdown looks for
