"""Every claim of the sources has its verdict, and what proves it; the ledger and the book agree."""

from __future__ import annotations

import ast
import re
from collections import Counter
from dataclasses import replace
from functools import cache
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from scripts import DATA, ROOT
from scripts.book import claims as book_claims
from scripts.book import evidence, ledger_page, pages
from scripts.book.check import problems
from scripts.book.claims import LEDGER, VERDICTS, Claim, claims
from scripts.book.data import load
from scripts.book.render import render
from scripts.book.settings import Setting, strays
from scripts.book.text import apply_corrections
from tests.site.served import Site, address

CLAIMS = {"S0": 67, "S1": 73, "S2": 27, "S3": 38, "S4": 54}
CLAIM = re.compile(r"\bC\d-\d+\b")
WORDS = 12  # of a source that a quotation may have
PLACE = re.compile(r"(chapters|reference|how-to|trust|beyond|explore)/[\w/-]+\.md#[\w-]+")
# What is said to be alike: "As in C1-01:", "C1-04 and C4-01 are judged alike".
ALIKE = re.compile(r"\bAs (?:for |in )?(C\d-\d\d)|[^.]*\bjudged alike\b")
# Words with which an entry without a test states that there is nothing to compute.
SAYS_SO = re.compile(
    r"\[\^\w+\]|[Nn]othing to compute|[Nn]o test|cannot be checked|[Nn]obody can|[Nn]o unit"
)


def claims_of(source: str) -> list[Claim]:
    """Return the claims of a source, or fail if its file is missing."""
    found = [claim for claim in claims() if claim.source == source]
    assert found, f"docs/data/claims/ has no file for {source}"
    return found


def words(quotation: str) -> int:
    """Return how many words a quotation has, a formula being one."""
    return len(re.sub(r"\$[^$]+\$", "formula", quotation).split())


def faults(claim: Claim) -> list[str]:
    """Return what is wrong with an entry by itself."""
    wrong = {
        "no such lines": not re.fullmatch(r"\d+(-\d+)?(, ?\d+(-\d+)?)*", claim.lines),
        "too long a quotation": not 1 <= words(claim.quote) <= WORDS,
        "no evidence": not claim.evidence.strip(),
        "does not say what is right": not claim.right.strip(),
        "right as stated is what is true, and nothing else": (claim.verdict == "true")
        != claim.right.startswith(ledger_page.AS_STATED.rstrip(".")),
        "no place": not PLACE.fullmatch(claim.at),
        "neither a test nor a reason": not claim.tests and not SAYS_SO.search(claim.evidence),
        "a test that is not there, once": any(count_of_tests()[test] != 1 for test in claim.tests),
        "a test that may be skipped": any(test in skipped_tests() for test in claim.tests),
        "a claim that is not there": not set(CLAIM.findall(claim.evidence + claim.right))
        <= {other.id for other in claims()},
        f"unbound numbers, {unbound_numbers(claim)}": bool(unbound_numbers(claim)),
        "calls claims alike that it does not name as like": not claims_called_alike(claim)
        <= set(claim.like),
        f"another verdict than {claims_with_other_verdict(claim)}": bool(
            claims_with_other_verdict(claim)
        ),
    }
    return [f"{claim.id}: {what}" for what, is_so in wrong.items() if is_so]


def claims_called_alike(claim: Claim) -> set[str]:
    """Return the claims that an entry's words call alike."""
    sentences = [found[0] for found in ALIKE.finditer(claim.evidence)]
    return set(CLAIM.findall(" ".join(sentences)))


def claims_with_other_verdict(claim: Claim) -> list[str]:
    """Return the claims named as alike that are missing or have another verdict."""
    verdicts = {other.id: other.verdict for other in claims()} | {claim.id: "itself"}
    return [other for other in claim.like if verdicts.get(other) != claim.verdict]


def unbound_numbers(claim: Claim) -> list[str]:
    """Return what is wrong with an entry's unbound numbers, as if it were a page."""
    page = f"{claim.evidence}\n\n{claim.right}\n"
    listed = [Setting("top", number) for number in claim.settings.split()]
    return [stray.message(page) for stray in strays(page, listed)]


@cache
def count_of_tests() -> Counter[str]:
    """Return how many times there is a test of each name."""
    return Counter(evidence.tests())


@cache
def marks() -> dict[str, list[str]]:
    """Return the decorators of all tests, as they are written, by test."""
    return {
        test.name: [ast.unparse(mark) for mark in test.decorator_list]
        for path in sorted((ROOT / "tests").rglob("test_*.py"))
        for test in ast.walk(ast.parse(path.read_text("utf-8")))
        if isinstance(test, ast.FunctionDef) and test.name.startswith("test_")
    }


@cache
def skipped_tests() -> set[str]:
    """Return the tests that are marked to be skipped or to fail, always or at times."""
    return {
        test
        for test, written in marks().items()
        if any(re.match(r"pytest\.mark\.(skip|xfail)", mark) for mark in written)
    }


Verdict = tuple[str, str, str]  # a test, a claim, and the verdict of the one on the other


@cache
def marked_verdicts() -> set[Verdict]:
    """Return the verdicts that tests are marked to prove: `claim(verdict, id, …)`."""
    found = [
        (test, *ast.literal_eval(mark.removeprefix("pytest.mark.claim")))
        for test, written in marks().items()
        for mark in written
        if mark.startswith("pytest.mark.claim")
    ]
    return {(test, claim, verdict) for test, verdict, *ids in found for claim in ids}


def cited(found: list[Claim]) -> set[Verdict]:
    """Return the verdicts for which claims cite marked tests."""
    marked = {test for test, *_ in marked_verdicts()}
    return {(test, c.id, c.verdict) for c in found for test in c.tests if test in marked}


@pytest.mark.parametrize("source", CLAIMS)
def test_no_claim_is_missing(source: str) -> None:
    found = [claim.id for claim in claims_of(source)]
    assert found == [f"C{source[1]}-{n:02d}" for n in range(1, CLAIMS[source] + 1)]


@pytest.mark.parametrize("source", CLAIMS)
def test_every_entry_is_complete(source: str) -> None:
    assert [fault for claim in claims_of(source) for fault in faults(claim)] == []


def test_a_test_named_after_a_claim_is_cited_by_it() -> None:
    tests = {claim.id: claim.tests for claim in claims()}
    for test in evidence.tests():
        if named := re.match(r"test_c(\d)_(\d\d)_", test):
            assert any(test in found for found in tests.values()), test
            assert f"C{named[1]}-{named[2]}" in tests, test


def test_claim_tests_are_marked_with_the_verdict_they_prove() -> None:
    """Changing a verdict means changing its tests, so somebody reviews what they assert."""
    assert marked_verdicts() == cited(claims())
    files = (ROOT / "tests" / "claims").glob("test_*.py")
    own = [test for file in files for test in evidence.DEFINED.findall(file.read_text("utf-8"))]
    assert {*own} <= {test for test, *_ in marked_verdicts()}
    first, *others = claims_of("S0")[1:]
    planted = replace(first, verdict="false")
    assert cited([planted, *others]) - marked_verdicts() == {(first.tests[0], "C0-02", "false")}


def test_claims_said_to_be_alike_share_a_verdict() -> None:
    """That those in the book do, test_every_entry_is_complete checks."""
    assert sum(len(claim.like) for claim in claims()) > 40
    essential = next(claim for claim in claims() if claim.id == "C2-24")
    assert essential.like == ["C1-04", "C2-05"]
    assert claims_with_other_verdict(replace(essential, verdict="false")) == ["C1-04", "C2-05"]
    unknown = ["C2-24", "C9-99"]
    assert claims_with_other_verdict(replace(essential, like=unknown)) == unknown
    alike = replace(essential, evidence="As C1-33: so. C1-04 is judged alike.")
    assert claims_called_alike(alike) == {"C1-33", "C1-04"}


def test_a_planted_fault_is_noticed() -> None:
    entry = claims_of("S0")[7].__dict__
    assert faults(Claim(**entry)) == []
    for planted in (
        {"lines": "ninety"},
        {"verdict": "true"},
        {"quote": "word " * 13},
        {"evidence": " ", "settings": "2 2 10000 1 2"},
        {"right": "As stated.", "settings": "8 512"},
        {"at": "by-hand"},
        {"tests": ["test_nobody_wrote"]},
        {"tests": ["test_rotation_into_out_maps_no_new_pages"]},
        {"tests": [], "evidence": "Because.", "settings": "2 2 10000 1 2"},
        {"evidence": entry["evidence"].replace("width 512", "width 513")},
        {"right": entry["right"].replace("10000", "1000")},
        {"right": "As C1-99 has it.", "settings": "8 512 99"},
        {"like": ["C0-01"]},
        {"evidence": "As for C0-34: it does not.", "settings": "34 2 2 10000 1 2"},
        {"settings": entry["settings"] + " 3"},
    ):
        assert len(faults(Claim(**entry | planted))) == 1, planted


ENTRY = """
C0-01:
  lines: "1"
  quote: "so it is"
  verdict: "true"
  evidence: "It is."
  right: "As stated."
  tests: []
  at: chapters/by-hand/index.md#by-hand
"""


@pytest.mark.parametrize(
    ("says", "instead", "complaint"),
    [
        ('  right: "As stated."\n', "", "000.yml: C0-01: .*'right' is a required property"),
        ("  right:", "  wrong:", "000.yml: C0-01: .*'right' is a required property"),
        ("  tests:", "  mood: good\n  tests:", "C0-01: .*'mood' was unexpected"),
        ('"true"', '"mostly"', "000.yml: C0-01/verdict: 'mostly' is not one of"),
        ('"true"', "true", "000.yml: C0-01/verdict: True is not one of"),
        ("tests: []", "tests: test_one", "C0-01/tests: 'test_one' is not of type 'array'"),
        ("  tests:", "  like: C0-02\n  tests:", "C0-01/like: 'C0-02' is not of type 'array'"),
        ("  tests:", '  verdict: "false"\n  tests:', "000.yml: .* line 3 .* 'verdict' more than"),
        ("C0-01:", "C0-01: {}\nC0-01:", "000.yml: .* line 2 .* 'C0-01' more than once"),
    ],
)
def test_missing_unknown_and_duplicate_fields_are_rejected(
    says: str, instead: str, complaint: str, tmp_path: Path
) -> None:
    file = tmp_path / "000.yml"
    file.write_text(ENTRY, "utf-8")
    assert [claim.verdict for claim in claims(tmp_path)] == ["true"]
    file.write_text(ENTRY.replace(says, instead), "utf-8")
    with pytest.raises(ValueError, match=complaint):
        claims(tmp_path)


@pytest.mark.parametrize("name", ["claims/000", "sources/000", "facts", "references", "names"])
def test_duplicate_entries_in_data_are_rejected(name: str, tmp_path: Path) -> None:
    text = (DATA / f"{name}.yml").read_text("utf-8")
    load(DATA / f"{name}.yml")
    twice = tmp_path / "twice.yml"
    entry = re.findall(r"^[\w-]+:.*\n(?:[ -].*\n)*", text, re.M)[0]
    twice.write_text(f"{text}\n{entry}", "utf-8")
    with pytest.raises(ValueError, match=f"{entry.partition(':')[0]!r} more than once"):
        load(twice)


# The page


def test_counts_match_the_entries() -> None:
    tally = Counter((claim.source, claim.verdict) for claim in claims())
    *rows, every = ledger_page.counts(claims())
    for (source, number), row in zip(CLAIMS.items(), rows, strict=True):
        assert [*row.values()][1:] == [*(tally[source, v] for v in VERDICTS), number]
    assert every["claims"] == sum(CLAIMS.values())


def test_an_entry_shows_every_field() -> None:
    claim, as_stated = claims_of("S0")[7:9]
    html = render(ledger_page.entry(claim))
    fields = (
        '<article class="claim" data-source="s0" data-verdict="false">',
        '<h3 id="c0-08">',
        '<span class="verdict false">false</span>',
        "creates wavelengths",
        "line 99",
        "chapters/by-hand/clocks.md#table-1-1",
        '<p class="checked">Checked by',
        'class="right"',
    )
    assert [field for field in fields if field not in html] == []
    assert "judged like" not in html
    assert 'class="right"' not in render(ledger_page.entry(as_stated))
    alike = render(ledger_page.entry(replace(claim, like=["C0-34", "C1-62"])))
    assert '; judged like <a href="#c0-34">C0-34</a>, <a href="#c1-62">C1-62</a>' in alike


def test_a_wrong_number_of_a_claim_is_a_problem_and_update_mends_it() -> None:
    text, claim = (DATA / "claims" / "000.yml").read_text("utf-8"), claims_of("S0")[7]
    assert ledger_page.corrections(text) == []
    assert problems(ledger_page.entry(claim), None) == []
    right, wrong = "{{ 6,283.2 =", "{{ 6,283.3 ="
    assert right in claim.evidence
    broken = text.replace(right, wrong)
    assert apply_corrections(broken, ledger_page.corrections(broken)) == text
    entry = ledger_page.entry(replace(claim, evidence=claim.evidence.replace(right, wrong)))
    [problem] = problems(entry, None)
    assert "the page says '6,283.3'\n  the package says '6,283.2'" in problem


@cache
def built_html(site: Site, page: str) -> str:
    return (site.folder / address(page) / "index.html").read_text("utf-8")


@pytest.mark.parametrize("source", CLAIMS)
def test_the_ledger_and_the_book_link_to_each_other(source: str, site: Site) -> None:
    """From the entry to its place, and from a fold near the place to the entry."""
    for claim in claims_of(source):
        shown = built_html(site, LEDGER).split(f'<h3 id="{claim.id.lower()}"')[1]
        entry = shown.split("</article>")[0]
        assert f'href="../../{address(claim.page)}#{claim.anchor}"' in entry, claim.id
        for test in claim.tests:
            assert "Checked by" in entry
            assert test in entry.replace("<wbr />", "").replace("<wbr>", ""), test
        page = built_html(site, claim.page)
        assert page.count(f'id="{claim.anchor}"') == 1, claim.at
        up = "../" * address(claim.page).count("/")
        verdict, link = VERDICTS[claim.verdict], f'href="{up}trust/claims/#{claim.id.lower()}"'
        fold = f'id="ledger-{claim.id.lower()}"><a {link}>{claim.id}</a>'
        between, found, after = page.split(f'id="{claim.anchor}"')[1].partition(fold)
        assert found, f"{claim.page} does not lead to {claim.id}"
        assert not re.search("<h[123]", between), f"{claim.id} is far from {claim.at}"
        told = after.partition("</p>")[0].replace("<wbr />", "").replace("<wbr>", "")
        assert f">{verdict}</span>: " in told, claim.id
        assert [name for name in claim.tests + claim.proofs if name not in told] == []


def test_no_fold_separates_a_sentence_from_its_formula(site: Site) -> None:
    folded = re.compile(
        r"([^<>]*)</(?:p|li)>\s*<details class=\"checked ledger\">(?:(?!</details>).)*</details>"
        r"\s*(?:</li>\s*)?(?:</[ou]l>\s*)?<div class=\"arithmatex",
        re.S,
    )
    for page in {claim.page for claim in claims()}:
        for sentence in folded.findall(built_html(site, page)):
            assert re.search(r"[.?”]\W*$", sentence), (page, sentence)
    fold = '<details class="checked ledger"><summary>L</summary></details>'
    assert folded.findall(f'<p>It is</p>\n{fold}\n<div class="arithmatex') == ["It is"]


def test_search_and_markdown_copies_omit_the_folds(site: Site) -> None:
    page = "chapters/by-hand/clocks"
    assert "From the ledger" in built_html(site, f"{page}.md")
    copies = [*site.folder.rglob("*.md"), *(site.folder / "search").rglob("*.json")]
    assert len(copies) > len(CLAIMS)
    for path in copies:
        assert "From the ledger" not in path.read_text("utf-8"), path


BOX = '!!! correction "Wrong"\n\n    Not so.\n    { .wrong }\n\n    So.\n    { .right }'
FOLD = (
    '<details class="checked ledger"><summary>From the ledger: C0-08 false</summary>'
    '<p class="names" id="ledger-c0-08"><a href="../../trust/claims.md#c0-08">C0-08</a>'
)


@pytest.mark.parametrize(
    ("text", "before", "after"),
    [
        ("Said.\n{ #here }\n\nMore.", '<p id="here">Said.</p>', "<p>More.</p>"),
        ("Said.\n{ #here }\n\n`f`\n{ .checked }", "Said.</p>", '<p class="checked">'),
        ("## A { #here }\n\nB.\n\nC.\n\n## D", "<p>B.</p>", "<p>C.</p>"),
        (f"Said.\n{{ #here }}\n\n{BOX}\n\nC.", '<p class="right">So.</p>', "</div>\n<p>C.</p>"),
        ('!!! aside "A"\n\n    Said.\n    { #here }\n\nMore.', "Said.</p>", "</div>\n<p>More"),
        (f"## A {{ #here }}\n\nB.\n\n## C\n\n{BOX}", "<p>B.</p>", '<h2 id="c">'),
        ("So:\n{ #here }\n\n- B.\n- C.\n\nMore.", "<li>C.", "</li>\n</ul>\n<p>More.</p>"),
        ("So it is\n{ #here }\n\n$$x$$\n\nof this.", "<p>of this.</p>", ""),
        ("So.\n{ #here }\n\n$$x$$\n\nof this.", '<p id="here">So.</p>', '<div class="arithmatex'),
        ("So:\n{ #here }\n\n    f()\n\nMore.", "<p>More.</p>", ""),
        ("So:\n{ #here }\n\n## B", '<p id="here">So:</p>', '<h2 id="b">'),
    ],
    ids=[
        *("paragraph", "evidence", "section", "correction", "note", "next section", "list"),
        *("formula", "finished sentence", "listing", "introduces nothing"),
    ],
)
def test_a_fold_follows_a_sentence_of_its_place(
    text: str, before: str, after: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(book_claims, "claims_on_page", lambda title: {"here": [claims_of("S0")[7]]})
    html = render(f"# A title\n\n{text}\n")
    assert html.count(FOLD) == 1
    above, _, below = html.partition(FOLD)
    assert above.rstrip().endswith(before)
    assert below.partition("</details>")[2].lstrip().startswith(after)


def test_a_fold_says_the_claim_its_verdict_its_tests_and_its_theorems(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    claim = replace(
        claims_of("S0")[7],
        quote="turns $x$ by *one*",
        tests=["test_page_titles_are_unique", "test_no_claim_is_missing"],
        proofs=["rope_relative"],
    )
    monkeypatch.setattr(book_claims, "claims_on_page", lambda title: {"here": [claim]})
    html = render("# A title\n\nSaid.\n{ #here }\n").replace("<wbr />", "")
    assert '<span class="verdict false">false</span>: ' in html
    assert "<em>one</em>”" in html
    assert "katex" in html
    tests = "Checked by <code>test_page_titles_are_unique</code>, <code>test_no_claim_is_missing"
    assert tests in html
    theorem = "../../trust/formal-statements.md#rope_relative"
    assert f'Proved by machine <a href="{theorem}"><code>rope_relative</code></a>' in html


def test_places_with_one_end_share_a_fold_that_counts_many(monkeypatch: pytest.MonkeyPatch) -> None:
    first, second, third, *_ = claims_of("S0")
    places = {"one": [first], "two": [second], "three": [third]}
    text = "A is\n{ #one }\n\n$$x$$\n\nand:\n{ #two }\n\n- B.\n\n## C\n\nE.\n{ #three }"
    monkeypatch.setattr(book_claims, "claims_on_page", lambda title: places)
    one, other = re.findall("<summary>(.*)</summary>", render(f"# A title\n\n{text}\n"))
    verdicts = [f"{c.id} {VERDICTS[c.verdict]}" for c in (first, second)]
    assert one == f"From the ledger: {', '.join(verdicts)}"
    assert third.id in other
    places = {"one": [first, third], "two": [second]}
    monkeypatch.setattr(book_claims, "claims_on_page", lambda title: places)
    assert "<summary>From the ledger: 3 claims</summary>" in render(f"# A title\n\n{text}\n")


def test_page_titles_are_unique() -> None:
    """The links to the ledger identify a page by its title's id and words."""
    titles = [(pages.address(page), pages.title_words(page)) for page in pages.paths()]
    shared = [title for title, times in Counter(titles).items() if title[0] and times > 1]
    assert not shared


# The filter


def visible_claims(page: Page) -> int:
    return page.locator("article.claim:visible").count()


def test_the_filter_shows_the_chosen_claims_and_keeps_the_choice_in_the_address(
    page: Page, site: Site
) -> None:
    page.goto("trust/claims/")
    every = len(claims())
    expect(page.locator("output")).to_have_text(f"{every} of {every} claims")
    page.get_by_label("S0", exact=True).check()
    page.get_by_label("false", exact=True).check()
    false = sum(claim.verdict == "false" for claim in claims_of("S0"))
    expect(page.locator("output")).to_have_text(f"{false} of {every} claims")
    assert visible_claims(page) == false
    assert page.url == f"{site.url}trust/claims/?source=s0&verdict=false"
    page.reload()
    expect(page.locator("output")).to_have_text(f"{false} of {every} claims")
    assert page.get_by_label("S0", exact=True).is_checked()
    page.get_by_role("button", name="Show all").click()
    expect(page.locator("output")).to_have_text(f"{every} of {every} claims")
    assert page.url == f"{site.url}trust/claims/"


def test_the_filter_works_by_keyboard_and_hides_sources_without_claims(page: Page) -> None:
    page.goto("trust/claims/")
    page.locator("[name=source]").first.focus()
    page.keyboard.press("Space")
    output = page.locator("output")
    expect(output).to_have_text(f"{len(claims_of('S0'))} of {len(claims())} claims")
    assert output.get_attribute("aria-live") == "polite"
    expect(page.locator("#s0")).to_be_visible()
    expect(page.locator("#s1")).to_be_hidden()


def test_without_scripts_every_claim_is_shown_and_the_filter_is_hidden(
    browser: Browser, site: Site
) -> None:
    with browser.new_context(java_script_enabled=False) as window, window.new_page() as page:
        page.goto(f"{site.url}trust/claims/?source=s0")
        expect(page.locator("#ledger-filter")).to_be_hidden()
        assert visible_claims(page) == len(claims())
