"""Quiz questions: a box `!!! question "Question 3: Why add?"` that ends in a list of options.

    !!! question "Question 3: Why add?"

        What does the sum keep?

        - [x] The width.

            Both are d wide, and so is their sum.

        - [ ] The length.

            Lengths do not add.

Each option is one paragraph, followed by the reason why it is right or wrong. The page shuffles the
options by the question's number, so that the right one has no typical position, and folds the
reasons below them, together with any evidence after the list. All of it works without scripts; with
them, answers are checked on the spot and the page keeps the score.
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
    """A question is malformed."""


@dataclass(frozen=True)
class Option:
    """An answer to choose, with the reason why it is right or wrong."""

    right: bool
    words: Element
    reasons: list[Element]


def order(name: str, options: int) -> list[int]:
    """Return the order in which a question's options are shown, the same in every build.

    Examples:
        >>> order("question-2", 4), order("question-3", 4)
        ([3, 1, 2, 0], [0, 2, 1, 3])
    """

    def digest(option: int) -> str:
        return hashlib.sha256(f"{name}, option {option}".encode()).hexdigest()

    return sorted(range(options), key=digest)


class _Quiz(Treeprocessor):
    """Turns the boxes of a page into questions, and adds a line for the score after the last."""

    def run(self, root: Element) -> None:
        names: list[str] = []
        last: tuple[Element, Element] | None = None
        for parent in list(root.iter()):
            for box in [child for child in parent if child.get("class") == "admonition question"]:
                names.append(_make_question(box))
                last = parent, box
        if len(names) != len(set(names)):
            raise QuizError(f"two questions on this page have the same number: {', '.join(names)}")
        if last is not None:
            parent, box = last
            parent.insert(list(parent).index(box) + 1, _score(len(names)))


def _make_question(box: Element) -> str:
    """Turn a box into a question, and return its id."""
    title, *content = list(box)
    heading = "".join(title.itertext())
    found = TITLE.match(heading)
    if found is None:
        raise QuizError(f"{heading!r} needs a number and a subject, as in Question 3: Why add?")
    lists = [part for part in content if part.tag == "ul"]
    if not lists:
        raise QuizError(f"{heading}: no list of options, `- [x] …`")
    place = content.index(lists[-1])
    name = f"question-{found['number']}"
    options = _options(lists[-1], heading)
    shown = [options[n] for n in order(name, len(options))]
    box.clear()
    box.attrib.update({"class": "question", "id": name})
    box.append(_fieldset(name, title, content[:place], shown))
    SubElement(box, "div", {"class": "reply", "role": "status"})
    box.append(_reasons(shown, content[place + 1 :]))
    return name


def _options(items: Element, heading: str) -> list[Option]:
    """Return the options of a question in the order in which they are written."""
    options = [_option(item, heading) for item in items]
    if not 2 <= len(options) <= len(LETTERS):
        raise QuizError(f"{heading}: needs 2 to {len(LETTERS)} options; got {len(options)}")
    if [option.right for option in options].count(True) != 1:
        raise QuizError(f"{heading}: exactly one option must be marked as right, `- [x]`")
    return options


def _option(item: Element, heading: str) -> Option:
    words, *reasons = list(item) or [item]
    found = BOX.match(words.text or "")
    if words.tag != "p" or not reasons or reasons[0].tag != "p" or found is None:
        near = " ".join("".join(item.itertext()).split())[:60]
        raise QuizError(
            f"{heading}: an option is `- [ ] text`, an empty line and a reason; got {near!r}"
        )
    words.text = (words.text or "")[found.end() :]
    return Option(found["mark"] == "x", words, reasons)


def _fieldset(name: str, title: Element, question: list[Element], shown: list[Option]) -> Element:
    """Return the question and the options to choose from."""
    fields = Element("fieldset", {"aria-describedby": f"{name}-asks"} if question else {})
    fields.append(_element_with_tag(title, "legend"))
    if question:
        SubElement(fields, "div", {"id": f"{name}-asks"}).extend(question)
    for letter, option in zip(LETTERS, shown, strict=False):
        label = SubElement(fields, "label")
        # A browser that restores a choice would not restore the verdict on it.
        chosen = {"name": name, "value": letter, "autocomplete": "off"}
        SubElement(label, "input", {"type": "radio", **chosen})
        mark = SubElement(label, "b")
        mark.text, mark.tail = letter, " "
        label.append(_element_with_tag(option.words, "span"))
    SubElement(fields, "button", {"type": "button", "class": "check"}).text = "Check"
    return fields


def _reasons(shown: list[Option], evidence: Iterable[Element]) -> Element:
    """Return the folded part: why the right answer is right, then why the others are wrong."""
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
    SubElement(line, "span")  # the text comes from the script, which alone knows the answers
    SubElement(line, "button", {"type": "button"}).text = "Start again"
    return line


def _element_with_tag(element: Element, tag: str) -> Element:
    """Return an element with the same content, another tag and no attributes."""
    other = Element(tag)
    other.text = element.text
    other.extend(element)
    return other


class QuizExtension(Extension):
    """Renders questions, with their options shuffled and their answers folded."""

    def extendMarkdown(self, md: Markdown) -> None:
        """Run after evidence is checked and before headings get their ids."""
        md.treeprocessors.register(_Quiz(md), "book-quiz", 5.5)


makeExtension = QuizExtension  # the name that Python-Markdown looks for
