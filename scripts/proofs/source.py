"""Reads files of proofs, docs/proofs/*.v: their statements by name, and the definitions they use.

read(path)              the sentences of a file that state or define something, in order
library(folder)         all of them in a folder, by name
used(name, library)     the definitions that a statement rests on
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from scripts import DOCS

FOLDER = DOCS / "proofs"
STATED = ("Theorem", "Lemma", "Corollary", "Proposition", "Fact", "Remark", "Example")
DEFINED = ("Definition", "Fixpoint", "CoFixpoint", "Inductive", "Record", "Structure", "Let")
ASSUMED = ("Variable", "Variables", "Context", "Hypothesis", "Hypotheses")
ENDS = ("Qed", "Defined", "Save", "Admitted", "Abort")  # the last two are not allowed: `faults`
# What would let a file say more than it proves, or a statement mean other than it seems to: at the
# beginning of a sentence, or anywhere in it. Variables of a section are not among them, since they
# become premises. Modules are, because axioms are known by the names of their modules, and so are
# words such as `Time`, because a command can follow them.
COMMANDS = re.compile(
    r"""\s*(?P<word>
          Admitted | Abort | Axioms? | Parameters? | Conjectures? | Primitive | Load | Redirect
        | Unset\s+(?:Guard|Positivity|Universe)\s+Checking | Set\s+Type\s+In\s+Type
        | Declare\s+ML\s+Module | (?:Separate\s+|Recursive\s+)?Extraction
        | Reset | Back | BackTo | Restart | Undo | Drop
        | Notation | Infix | Reserved\s+(?:Notation|Infix) | Coercion | Canonical | Generalizable
        | (?:Declare|Delimit|Undelimit|Bind)\s+Scope | Set\s+\w+\s+Implicit | Set\s+Implicit
        | Module | Declare\s+Module | Include | Admit\s+Obligations
        | Time | Timeout | Instructions | Profile | Fail | Succeed
        )\b""",
    re.X,
)
TACTICS = re.compile(r"(?<![\w.'])(?P<word>admit|give_up|bypass_check)\b")
NAME = r"[^\W\d][\w']*"
ATTRIBUTES = r"(?:#\[[^\]]*\]\s*)*(?:(?:Local|Global|Program|Polymorphic|Monomorphic)\s+)*"
_ATTRIBUTES = re.compile(ATTRIBUTES)
HEAD = re.compile(rf"{ATTRIBUTES}(?P<word>[A-Z]\w*)\b(?:\s+(?P<name>{NAME}))?")
USED = re.compile(rf"(?<![\w'.]){NAME}")
# What a statement binds itself, and the fields and constructors that a definition introduces.
BOUND = re.compile(r"\b(?:forall|exists|fun)\b(?P<names>[^,]*?)(?:,|=>)", re.S)
LET = re.compile(rf"\blet\s+(?P<name>{NAME})")
TYPED = re.compile(r"[({]\s*(?P<names>[^(){}:,=]+?)\s*:(?!=)")
FIELD = re.compile(rf"[{{;|]\s*(?P<name>{NAME})")


class ProofsError(Exception):
    """A file of proofs, or a name in one, is wrong; the message says where and why."""


@dataclass(frozen=True)
class Item:
    """A part of a file that states, defines or assumes something.

    `statement` and `text` are cut from the file; the second has the proof as well. `assumed` are
    the sentences of the enclosing sections that declare variables and hypotheses.
    """

    file: Path
    word: str
    name: str
    line: int
    last_line: int
    start: int
    stated: int  # the place after the statement
    end: int
    statement: str
    text: str
    section: tuple[str, ...] = ()
    assumed: tuple[str, ...] = ()
    comment: str = ""

    @property
    def is_stated(self) -> bool:
        """Return whether it is a theorem, not a definition or an assumption."""
        return self.word in STATED


@dataclass(frozen=True)
class Sentence:
    """A sentence of a file, without the comments before it."""

    start: int
    end: int
    comment: str  # the last comment before it, if nothing but one line break stands between


def without_comments_and_strings(text: str, where: str = "the text") -> str:
    """Return a text of the same length with comments and strings replaced by spaces.

    Raises:
        ProofsError: A comment or a string never ends.
    """
    out = list(text)
    depth, start, place = 0, 0, 0
    while place < len(text):
        two = text[place : place + 2]
        if two == "(*":
            start = start if depth else place
            depth += 1
            _blank(out, place, place + 2)
            place += 2
        elif two == "*)" and depth:
            depth -= 1
            _blank(out, place, place + 2)
            place += 2
        elif text[place] == '"':
            end = text.find('"', place + 1)
            if end < 0:
                line = text.count("\n", 0, place) + 1
                raise ProofsError(f"{where}, line {line}: the string that begins here never ends")
            _blank(out, place, end + 1)
            place = end + 1
        else:
            if depth:
                _blank(out, place, place + 1)
            place += 1
    if depth:
        line = text.count("\n", 0, start) + 1
        raise ProofsError(f"{where}, line {line}: the comment that begins here never ends")
    return "".join(out)


def _blank(out: list[str], start: int, end: int) -> None:
    out[start:end] = [c if c == "\n" else " " for c in out[start:end]]


def sentences(text: str, where: str = "the text") -> Iterator[Sentence]:
    """Yield the sentences of a text; each ends with a full stop before white space.

    Raises:
        ProofsError: A comment, a string or the last sentence never ends.
    """
    bare = without_comments_and_strings(text, where)
    place = 0
    for stop in re.finditer(r"(?<!\.)\.(?=\s|\Z)|\.\.\.(?=\s|\Z)", bare):
        first = re.compile(r"\S").search(bare, place)
        if first is None or first.start() >= stop.end():  # pragma: no cover
            continue
        yield Sentence(first.start(), stop.end(), _comment(text[place : first.start()]))
        place = stop.end()
    rest = re.compile(r"\S").search(bare, place)
    if rest:
        line = text.count("\n", 0, rest.start()) + 1
        raise ProofsError(f"{where}, line {line}: the sentence that begins here has no full stop")


def _comment(between: str) -> str:
    """Return the words of the comment right above a sentence, or an empty string."""
    if between.rstrip()[-2:] != "*)" or between[len(between.rstrip()) :].count("\n") > 1:
        return ""
    begin = between.rstrip().rfind("(*")
    return " ".join(between.rstrip()[begin + 2 : -2].lstrip("*").split())


def read(path: Path) -> list[Item]:
    """Return what a file states, defines and assumes, in order.

    Raises:
        ProofsError: The file is torn: a comment, sentence, proof or section never ends.
    """
    return list(_read(path, path.stat().st_mtime_ns))


@cache
def _read(path: Path, changed: int) -> tuple[Item, ...]:
    """Return the items of a file; `changed` makes the cache read it again after a change."""
    text, where = path.read_text(encoding="utf-8"), place_of(path)
    return tuple(_items(path, text, where))


def place_of(path: Path) -> str:
    """Return how messages name a file."""
    return f"docs/proofs/{path.name}"


def _items(path: Path, text: str, where: str) -> Iterator[Item]:
    bare = without_comments_and_strings(text, where)
    sections: list[tuple[str, list[str]]] = []
    open_item: tuple[str, str, Sentence] | None = None
    for one in sentences(text, where):
        words = bare[one.start : one.end]
        head = HEAD.match(words)
        word, name = (head["word"], head["name"] or "") if head else ("", "")
        if open_item:
            if word in ENDS or _is_term(words):
                opening = open_item
                yield _item(path, text, opening, one.end, sections)
                open_item = None
            elif word in (*STATED, "Section", "End"):
                line = text.count("\n", 0, open_item[2].start) + 1
                raise ProofsError(
                    f"{where}, line {line}: the proof of {open_item[1]} has no Qed before the"
                    f" {word} at line {text.count(chr(10), 0, one.start) + 1}"
                )
        elif word in ("Section", "Module"):
            sections.append((name, []))
        elif word == "End":
            if not sections or sections[-1][0] != name:
                line = text.count("\n", 0, one.start) + 1
                raise ProofsError(f"{where}, line {line}: there is no section {name} to end here")
            sections.pop()
        elif word in ASSUMED:
            if not sections:
                line = text.count("\n", 0, one.start) + 1
                raise ProofsError(
                    f"{where}, line {line}: {word} outside of a section assumes something for good"
                )
            sections[-1][1].append(text[one.start : one.end])
            yield _item(path, text, (word, name, one), one.end, sections)
        elif word in STATED or (word in DEFINED and ":=" not in words):
            open_item = (word, name, one)
        elif word in DEFINED:
            yield _item(path, text, (word, name, one), one.end, sections)
    if open_item:
        line = text.count("\n", 0, open_item[2].start) + 1
        raise ProofsError(f"{where}, line {line}: the proof of {open_item[1]} has no Qed")
    if sections:
        raise ProofsError(f"{where}: the section {sections[-1][0]} never ends")


def _is_term(words: str) -> bool:
    """Return whether a sentence is a whole proof: `Proof` followed by a term."""
    return bool(re.match(r"Proof\s+(?!using\b|with\b)\S", words))


def _item(
    path: Path,
    text: str,
    opening: tuple[str, str, Sentence],
    end: int,
    sections: list[tuple[str, list[str]]],
) -> Item:
    word, name, first = opening
    return Item(
        file=path,
        word=word,
        name=name,
        line=text.count("\n", 0, first.start) + 1,
        last_line=text.count("\n", 0, end) + 1,
        start=first.start,
        stated=first.end,
        end=end,
        statement=text[first.start : first.end],
        text=text[first.start : end],
        section=tuple(name for name, _ in sections),
        assumed=tuple(words for _, said in sections for words in said),
        comment=first.comment,
    )


def files(folder: Path = FOLDER) -> list[Path]:
    """Return the files of proofs in a folder."""
    return sorted(folder.glob("*.v"))


def library(folder: Path = FOLDER) -> dict[str, Item]:
    """Return all theorems and definitions of a folder by name.

    Raises:
        ProofsError: Two theorems, definitions or fields have the same name, or a file is torn.
    """
    found: dict[str, Item] = {}
    homes: dict[str, Item] = {}
    for path in files(folder):
        for item in read(path):
            if item.word in ASSUMED:
                continue
            for name in (item.name, *_fields_or_constructors(item)):
                if other := homes.get(name):
                    raise ProofsError(
                        f"{place_of(path)}, line {item.line}: {name} is also defined in"
                        f" {place_of(other.file)}, line {other.line}"
                    )
                homes[name] = item
            found[item.name] = item
    return found


def theorem(name: str, folder: Path = FOLDER) -> Item:
    """Return a theorem by its name.

    Raises:
        ProofsError: No file states a theorem of that name.
    """
    item = library(folder).get(name)
    if item is None or not item.is_stated:
        raise ProofsError(f"docs/proofs/ has no theorem {name}")
    return item


def used_definitions(item: Item, within: dict[str, Item]) -> list[Item]:
    """Return the definitions that a statement names, and those that these name, in order."""
    homes = {name: one for one in within.values() for name in _fields_or_constructors(one)} | within
    found: dict[str, Item] = {}
    waiting = [name for words in (item.statement, *item.assumed) for name in _names(words)]
    while waiting:
        one = homes.get(waiting.pop())
        if one and one.name not in found and one.name != item.name and not one.is_stated:
            found[one.name] = one
            waiting += _names(one.statement)
    return [one for one in within.values() if one.name in found]


def _fields_or_constructors(item: Item) -> list[str]:
    """Return the fields of a record, or the constructors of an inductive type."""
    if item.word not in ("Record", "Structure", "Inductive"):
        return []
    return FIELD.findall(without_comments_and_strings(item.statement).partition(":=")[2])


def _names(words: str) -> set[str]:
    """Return the names that some words use and do not bind themselves."""
    bare = without_comments_and_strings(words)
    lists = [match["names"] for form in (BOUND, TYPED) for match in form.finditer(bare)]
    bound = {name for names in lists for name in _binders(names)} | {*LET.findall(bare)}
    return set(USED.findall(bare)) - bound


def _binders(words: str) -> list[str]:
    """Return the names that binders introduce: of `(x y : R) (n : nat)`, these are x, y and n."""
    parts = words.replace("(", ")").split(")") if "(" in words else [words]
    return [name for part in parts for name in USED.findall(part.partition(":")[0])]


def faults(path: Path) -> list[str]:
    """Return a message for each word in a file that would let it say more than it proves."""
    text, where = path.read_text(encoding="utf-8"), place_of(path)
    bare = without_comments_and_strings(text, where)
    messages = []
    for one in sentences(text, where):
        start = one.start + len(_ATTRIBUTES.match(bare[one.start : one.end])[0])  # type: ignore[index]
        head = COMMANDS.match(bare, start, one.end)
        for word in [*([head] if head else []), *TACTICS.finditer(bare, one.start, one.end)]:
            line = text.count("\n", 0, word.start("word")) + 1
            messages.append(
                f"{where}, line {line}{_enclosing_theorem(path, word.start('word'))}:"
                f" {' '.join(word['word'].split())} is not allowed in a proof"
            )
    return messages


def _enclosing_theorem(path: Path, place: int) -> str:
    """Return which theorem a place of a file belongs to, for a message."""
    try:
        found = [item for item in read(path) if item.start <= place <= item.end]
    except ProofsError:  # a torn file, which is reported by itself
        return ""
    return f", in {found[0].name}" if found else ""


def name_at_line(path: Path, line: int) -> str:
    """Return the name of what stands at a line of a file, or an empty string."""
    try:
        return next((i.name for i in read(path) if i.line <= line <= i.last_line), "")
    except ProofsError:
        return ""
