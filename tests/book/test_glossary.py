"""The book's terms are explained, and each chapter marks a term where it first uses it."""

import re
from functools import cache
from html.parser import HTMLParser
from pathlib import Path

import pytest

from scripts import DOCS
from scripts.book import glossary, glossary_page, pages
from scripts.book.chapters import Chapter, chapters
from scripts.book.glossary import Term, by_form, pattern, terms
from scripts.book.links_and_anchors import Tags
from scripts.book.render import render
from scripts.site import markdown_copies

TERMS = {term.name: term for term in terms()}
FORMS = by_form(terms())
CHAPTERS = [
    path
    for path in sorted((DOCS / "chapters").rglob("*.md"))
    if path.relative_to(DOCS).as_posix() not in glossary.UNMARKED
]
MARK = re.compile(r'<a [^<>]*class="term"[^<>]*>([^<]*)</a>')
ON_A_PAGE = "# Title {{ #from-three-words }}\n\n{}\n"  # the title of chapters/attention.md


@cache
def rendered(page: str) -> str:
    return render(pages.text(page))


def marked_terms(html: str) -> list[str]:
    return MARK.findall(html)


class Prose(HTMLParser):
    """The prose of a page in pieces, each with whether it is linked, emphasised or a heading's."""

    PROSE = ("p", "li", "dd")
    ASIDE = ("pre", "code", "sup", "math", "table", "figure", "details", "fieldset")
    CLASSES = ("arithmatex", "footnote", "question", "wrong", "checked", "way")
    EXPLAINED = ("a", "em", "strong")
    VOID = ("br", "wbr", "img", "input", "source", "hr", "path")

    def __init__(self, html: str) -> None:
        super().__init__()
        self.open: list[tuple[str, bool]] = []
        self.pieces: list[tuple[str, bool]] = []
        self.feed(html)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag not in self.VOID:
            classes = set((dict(attrs).get("class") or "").split())
            aside = tag in self.ASIDE or bool(classes & {*self.CLASSES, "admonition-title"})
            self.open.append((tag, aside))

    def handle_endtag(self, tag: str) -> None:
        if tag not in self.VOID:
            self.open.pop()

    def handle_data(self, data: str) -> None:
        tags = {tag for tag, _ in self.open}
        aside = any(aside for _, aside in self.open)
        if not aside and tags & {*self.PROSE} and not re.search(r"h\d", " ".join(tags)):
            self.pieces.append((data, bool(tags & {*self.EXPLAINED})))


def unexplained_terms(html: str) -> list[str]:
    """Return the terms whose first use in a page is no link, no definition and not marked."""
    seen: set[str] = set()
    found = []
    for text, is_explained in Prose(html).pieces:
        for match in pattern(frozenset(FORMS)).finditer(text):
            term = FORMS[" ".join(match[0].split())]
            if term is not None and term.name not in seen:
                seen.add(term.name)
                found += [] if is_explained else [term.name]
    return found


def test_terms_are_sorted_and_share_no_form() -> None:
    assert list(TERMS) == sorted(TERMS, key=str.casefold)
    assert 60 <= len(TERMS) <= 75
    assert len({term.anchor for term in terms()}) == len(TERMS)
    forms = [form for term in terms() for form in (*term.words, *term.unless)]
    assert len(forms) == len(set(forms))


@pytest.mark.parametrize("name", TERMS)
def test_a_term_has_two_sentences_without_markup_and_digits(name: str) -> None:
    says = TERMS[name].says
    assert len(re.findall(r"[.?](?= [A-Z]|$)", says)) == 2
    assert says[0].isupper()
    assert not re.search(r"[*_`$\[\]<>\"]|\b\d", says)
    assert len(says) < 200


@pytest.mark.parametrize("name", TERMS)
def test_the_place_that_explains_a_term_says_it(name: str) -> None:
    page, _, anchor = TERMS[name].at.partition("#")
    html = rendered(page)
    assert anchor in Tags(html).anchors
    after = html[html.index(f'id="{anchor}"') :]
    there = " ".join(re.sub(r"<[^<>]+>", "", re.split(r"<h[1-4]\b", after)[0]).split())
    explains = pattern(frozenset({name, *TERMS[name].words}))
    before = html[: html.index(f'id="{anchor}"')].rpartition("<p")[2]  # of a paragraph's own id
    assert explains.search(f"{before} {there}".lower()) or explains.search(f"{before} {there}")


@pytest.mark.parametrize("name", TERMS)
def test_a_term_is_used(name: str) -> None:
    used = pattern(frozenset(by_form([TERMS[name]])))
    others = (page for page in pages.paths() if page != glossary.PAGE)
    assert any(used.search(pages.text(page)) for page in others)


@pytest.mark.parametrize("path", CHAPTERS, ids=lambda path: path.relative_to(DOCS).as_posix())
def test_first_use_of_a_term_in_a_chapter_is_explained_or_marked(path: Path) -> None:
    html = rendered(path.relative_to(DOCS).as_posix())
    assert unexplained_terms(html) == []
    assert len(marked_terms(html)) == len({word.casefold() for word in marked_terms(html)})


@pytest.mark.parametrize("chapter", chapters(), ids=lambda chapter: chapter.title)
def test_every_chapter_marks_terms(chapter: Chapter) -> None:
    """A page of nothing but questions marks none, since a mark could give an answer away."""
    if chapter.first.startswith("chapters/") and chapter.first not in glossary.UNMARKED:
        assert any(marked_terms(rendered(page)) for page in chapter.pages)


def test_an_unmarked_term_is_found() -> None:
    html = rendered("chapters/by-hand/index.md")
    third = FORMS[marked_terms(html)[2]]
    assert third is not None
    assert unexplained_terms(MARK.sub(r"\1", html, count=3))[2:] == [third.name]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("A softmax, and another softmax.", ["softmax"]),
        ("Heads and queries, masked.", ["Heads", "queries", "masked"]),
        ("The *softmax* is explained, and softmax is used.", []),
        ("The **Softmax.** And softmax.", []),
        ("[Softmax](build-it/index.md) is linked, and softmax is used.", []),
        ("[About softmax](build-it/index.md) is a link, and softmax a word.", ["softmax"]),
        ("## Softmax\n\n`softmax` and $softmax$", []),
        ("| softmax |\n|---|\n| softmax |", []),
        ("“softmax”\n{ .wrong }", []),
        ("??? solution\n\n    A softmax.", []),
        ("A cosine\nsimilarity.", ["cosine\nsimilarity"]),
        ("A multi-head thing and a header.", []),
        ("The causal mask.", ["causal mask"]),
        ("All pairs of words, and a pair of words.", []),
        ("All pairs, then each pair.", ["pair"]),
        ("- a softmax", ["softmax"]),
        ("A softmax with a mask and softmax and a query.", ["softmax", "mask", "query"]),
    ],
)
def test_only_the_first_use_in_prose_is_marked(text: str, words: list[str]) -> None:
    html = render(ON_A_PAGE.format(text))
    assert marked_terms(html) == words


def marked_keys(page: str) -> list[str]:
    """Return the places of a page that lead to the key of attention."""
    return re.findall(r'<a [^<>]*class="term"[^<>]*>([Kk]eys?</a>[^<>]*)', rendered(page))


@pytest.mark.parametrize(
    "page",
    [
        *("teach/index.md", "practise/bugs.md", "reference/config.md", "vectors/promise.md"),
        *(f"beyond/which-extrapolates/{name}.md" for name in ("further-training", "open-layers")),
        "beyond/which-extrapolates/retrieval.md",
    ],
)
def test_keys_of_keyboards_files_and_tasks_are_not_those_of_attention(page: str) -> None:
    assert marked_keys(page) == []


@pytest.mark.parametrize(
    ("page", "words"),
    [
        ("how-to/extended-and-worse.md", "Keys</a> in a "),
        ("museum/caches.md", "Keys</a> in a cache"),
        ("vectors/index.md", "key</a>, a large negative number"),
        ("vectors/libraries/other.md", "key</a>, and is 0 for the last key"),
    ],
)
def test_a_key_of_attention_is_marked_after_another_kind(page: str, words: str) -> None:
    (marked,) = marked_keys(page)
    assert marked.startswith(words)


def test_a_mark_leads_to_the_entry_and_adds_no_text() -> None:
    html = render(ON_A_PAGE.format("Before softmax, and after it a mask."))
    for name in ("softmax", "mask"):
        assert f'aria-description="{TERMS[name].says}"' in html
        assert f'href="../{glossary.PAGE}#{TERMS[name].anchor}"' in html
    assert "<p>Before softmax, and after it a mask.</p>" in MARK.sub(r"\1", html)


def test_the_home_page_reaches_the_entries_too() -> None:
    [link, *_] = re.findall(r'<a [^<>]*class="term"[^<>]*>', rendered("index.md"))
    assert f'href="{glossary.PAGE}#' in link


@pytest.mark.parametrize("page", [*glossary.UNMARKED, ""])
def test_ledger_map_sheet_and_glossary_have_no_marks(page: str) -> None:
    title = pages.address(page) if page else "no-page-has-this"
    assert marked_terms(render(f"# Title {{ #{title} }}\n\nA softmax.\n")) == []


def test_copies_of_a_page_have_no_marks() -> None:
    page = "chapters/by-hand/index.md"
    assert marked_terms(rendered(page))
    assert glossary.PAGE.removesuffix(".md") not in markdown_copies.copy(page)


def test_the_page_is_made_from_the_data() -> None:
    entry = re.compile(r"^(\S.*?) \{ #[\w-]+ \}\n:   ", re.M)
    assert entry.findall(glossary_page.page()) == list(TERMS)


@pytest.mark.parametrize(
    ("says", "instead", "complaint"),
    [
        ("at: b", "", "one: 'at' is a required property"),
        ("at: b", "at: b\n  see: c", "one: .*'see' was unexpected"),
        ("one:", "one: {}\none:", "'one' more than once"),
    ],
)
def test_a_planted_fault_is_refused(
    says: str, instead: str, complaint: str, tmp_path: Path
) -> None:
    file, text = tmp_path / "glossary.yml", "one:\n  words: [a]\n  says: It's one.\n  at: b\n"
    file.write_text(text, "utf-8")
    assert terms(file) == (Term("one", ("a",), "It’s one.", "b"),)
    file.write_text(text.replace(says, instead), "utf-8")
    with pytest.raises(ValueError, match=complaint):
        terms(file)
