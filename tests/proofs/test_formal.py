"""Pages show what was proved, cut from the proofs by name."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from scripts import DOCS
from scripts.book import evidence, formal, formal_page, pages
from scripts.book.chapters import chapter_of, whole_text
from scripts.book.check import problems
from scripts.book.render import render
from scripts.book.source_listings import SymbolNotFoundError, source
from scripts.proofs import checker, listed, mutations, record
from scripts.proofs.listed import Mutation
from scripts.proofs.source import FOLDER, ProofsError, theorem, without_comments_and_strings

PAGE = DOCS / "trust" / "what-a-machine-proves.md"
LINE = "Proved by machine: `rope_relative`\n{ .checked }\n"


def test_a_proved_theorem_is_named_and_linked() -> None:
    html = render(LINE).replace("<wbr />", "")
    assert "<summary>Proved by machine: <code>rope_relative</code></summary>" in html
    assert 'href="#rope_relative"' in html


def test_the_fold_links_to_the_page_of_statements() -> None:
    text = pages.text("chapters/prove-it/rope.md")
    assert 'href="../../trust/formal-statements.md#rope_relative"' in render(
        f"{re.search(r'^# .*$', text, re.M)[0]}\n\n{LINE}"  # type: ignore[index]
    )


def test_an_opened_fold_shows_the_statement_and_what_it_assumes(page: Page) -> None:
    page.goto("chapters/prove-it/rope/")
    page.get_by_role("button", name="Show the evidence").click()
    fold = page.locator("details.formal", has_text="rope_relative").first
    fold.locator("summary").click()
    listing = fold.locator("pre", has_text="Theorem rope_relative :")
    expect(listing).to_have_text(f"{theorem('rope_relative').statement}\n")
    axiom = fold.locator(".uses", has_text="Assumes").first.locator("a").first
    expect(axiom).to_have_text("sig_forall_dec")
    expect(axiom).to_have_attribute("href", re.compile("/trust/formal-statements/#sig_forall_dec$"))


def test_a_fold_keeps_its_links_where_the_statements_cannot_be_fetched(page: Page) -> None:
    page.goto("chapters/prove-it/")
    page.get_by_role("button", name="Show the evidence").click()
    page.route("**/trust/formal-statements/", lambda route: route.abort())
    fold = page.locator("details.formal").first
    fold.locator("summary").click()
    expect(fold.locator("a").first).to_be_visible()
    expect(fold.locator("pre")).to_have_count(0)


def test_several_theorems_are_counted() -> None:
    names = list(listed.formal_theorems_of())[:3]
    line = f"Proved by machine: {', '.join(f'`{name}`' for name in names)}\n{{ .checked }}\n"
    html = render(line)
    assert "<summary>Proved by machine: 3 theorems</summary>" in html
    assert all(f'href="#{name}"' in html for name in names)


@pytest.mark.parametrize("name", ["rope_absolute", "rope", "turn_dot"])
def test_an_unknown_name_stops_the_build(name: str) -> None:
    """Neither a definition nor a lemma that nobody listed counts as a theorem of the book."""
    line = LINE.replace("rope_relative", name)
    with pytest.raises(ProofsError, match=name):
        render(line)
    assert any(name in problem for problem in problems(line))


def test_a_part_is_said_to_be_one() -> None:
    html = render(f"Proved by machine, in part{LINE.removeprefix('Proved by machine')}")
    html = html.replace("<wbr />", "")
    assert "<summary>Proved by machine, in part: <code>rope_relative</code></summary>" in html


@pytest.mark.parametrize(
    "line",
    [
        "Proved by machine in part: `rope_relative`\n{ .checked }\n",
        "Proved by machine: `rope_relative` and by hand\n{ .checked }\n",
        "Proved by machine\n{ .checked }\n",
        "Proved by machine: `rope_relative`\n",
    ],
)
def test_a_malformed_line_stops_the_build(line: str) -> None:
    with pytest.raises(ValueError, match="Proved by machine"):
        render(line)


def test_a_listing_is_the_theorem_with_or_without_its_proof() -> None:
    path, short = source("docs.proofs.rotary.rope_relative", short=True)
    assert path == Path("docs/proofs/rotary.v")
    assert short == theorem("rope_relative").statement
    assert source("docs.proofs.rotary.rope_relative")[1].endswith("Qed.")
    html = render("--src-- docs.proofs.rotary.rope_relative noproof\n")
    assert '<span class="filename">docs/proofs/rotary.v</span>' in html
    assert 'class="language-coq highlight"' in html
    with pytest.raises(SymbolNotFoundError, match="rope_absolute"):
        source("docs.proofs.rotary.rope_absolute")


def test_every_theorem_of_chapter_4_names_its_proofs() -> None:
    text = whole_text(chapter_of("chapters/prove-it/index.md"))
    boxes = re.split(r"^!!! theorem \"Theorem ", text, flags=re.M)[1:]
    for one in listed.numbered_theorems():
        (box,) = (box for box in boxes if box.startswith(f"{one.number} "))
        box = re.split(r"^(?=\S)", box.partition("\n")[2], maxsplit=1, flags=re.M)[0]
        line = re.search(rf"({formal.PROVED_BY}[^:]*): ([^{{]*)", box)
        assert tuple(re.findall(r"`(\w+)`", line[2] if line else "")) == one.proved, one.number
        if line:
            said = formal.IN_PART if one.part else formal.PROVED_BY
            assert line[1] == said, f"{one.number} must say {said!r}"


def test_every_axiom_is_explained() -> None:
    short = {
        name.rpartition(".")[2] for name in record.load()["axioms"] if not checker.is_machine(name)
    }
    assert short <= set(formal_page.WORDS)


def test_comments_become_prose() -> None:
    assert (
        formal_page.prose("Pair [x i], or x_2i, in [0, 1].") == "Pair `x i`, or x\\_2i, in `0, 1`."
    )


def test_tests_and_proofs_are_told_apart() -> None:
    with pytest.raises(ValueError, match="and name a test, or do neither"):
        render("Checked by `rope_relative`\n{ .checked }\n")
    assert not {*listed.formal_theorems_of()} & {*evidence.tests()}


@pytest.mark.slow
def test_the_page_shows_what_the_checker_prints(built: Path) -> None:
    """The steps of the page are the proof, and below each is the goal that it leaves."""
    text = PAGE.read_text("utf-8")
    section = text[text.index("{ #line-by-line }") : text.index("{ #one-letter }")]
    shown = re.findall(r"^`([^`\n]+\.)` .*?\n\n(?:```text\n(.*?)\n```)?", section, re.M | re.S)
    item = theorem("rope_relative")
    proof = " ".join(without_comments_and_strings(item.text[len(item.statement) :]).split())
    assert proof == f"Proof. {' '.join(step for step, _ in shown)} Qed."
    assert [goal for _, goal in shown] == goals(item.statement, [step for step, _ in shown], built)


def goals(statement: str, steps: list[str], built: Path) -> list[str]:
    """Return the goal that each step of a proof leaves, as the checker prints it."""
    text = (FOLDER / "rotary.v").read_text("utf-8")
    name = statement.split()[1]
    before = text[: theorem(name).start]
    marked = "".join(f"{step}\nFail Check posenc_step_{n}.\n" for n, step in enumerate(steps))
    said = subprocess.run(
        [*checker.toplevel(), "-q", "-emacs", "-R", ".", checker.project().root],
        cwd=built,
        input=f"{before}\nSet Printing Width 78.\n{statement}\nProof.\n{marked}Quit.\n",
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    ).stdout
    ends = [said.index(f"posenc_step_{n} was not found") for n in range(len(steps))]
    parts = [said[a:b] for a, b in zip([0, *ends], ends, strict=False)]
    found = [
        re.search(r"={20,}\n(.*?)\n\n", part[part.rfind("===") - 60 :], re.S) for part in parts
    ]
    return ["\n".join(g.removeprefix("  ") for g in m[1].split("\n")) if m else "" for m in found]


@pytest.mark.slow
def test_the_page_shows_how_one_letter_is_refused(built: Path) -> None:
    text = PAGE.read_text("utf-8")
    shown = re.search(r"```text\n(.*?)\n```", text[text.index("{ #one-letter }") :], re.S)
    (tried,) = mutations.try_mutations([Mutation("rope_relative", "n' - m", "m - n'")], to=built)
    assert shown
    assert tried.refused == shown[1]
