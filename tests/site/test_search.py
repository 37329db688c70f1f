"""Whether readers find what they look for: real questions, typing errors, beginnings of words.

The functions are those of the page (docs/assets/js/search/), run in node on the index of the built
site; tests/site/test_search_browser.py types into the page itself.
"""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from scripts import DOCS
from scripts.book.data import load
from scripts.setup.node import node
from scripts.site.search_index import FOLDER, INDEX
from tests.site.served import Site

QUESTIONS: dict[str, dict[str, list[str]]] = load(Path(__file__).with_name("questions.yml"))
MODULES = (DOCS / "assets" / "js" / "search").as_uri()
# Answer each query of a list: the best pages, the terms, and what was corrected.
ASK = f"""
import {{ readFileSync }} from "node:fs";
import {{ find, unpack }} from "{MODULES}/engine.js";
const [file, queries] = JSON.parse(readFileSync(0, "utf8"));
const index = unpack(JSON.parse(readFileSync(file, "utf8")));
const answers = queries.map((query) => {{
    const {{ pages, terms, corrected }} = find(query, index);
    const places = pages.slice(0, 8).map(({{ path, sections }}) => [path, sections[0].anchor]);
    return {{ places, terms: [...terms], corrected }};
}});
console.log(JSON.stringify(answers));
"""
SENTENCES = f"""
import {{ readFileSync }} from "node:fs";
import {{ excerpt, marked }} from "{MODULES}/excerpt.js";
const [sentences, terms] = JSON.parse(readFileSync(0, "utf8"));
const found = excerpt(sentences, new Map(terms));
console.log(JSON.stringify([found.text, found.fragment, marked(found.text, new Map(terms))]));
"""

Ask = Callable[..., list[dict[str, Any]]]


def in_node(code: str, given: object) -> Any:
    """Run a program of the page's modules, and return what it prints."""
    command = node("--no-warnings", "--input-type=module", "-e", code)
    done = subprocess.run(
        command, input=json.dumps(given), capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@pytest.fixture(scope="module")
def ask(site: Site) -> Ask:
    """Return a function that asks the search some queries."""
    return lambda *queries: in_node(ASK, [str(site.folder / FOLDER / INDEX), queries])


def is_right(path: str, rights: list[str]) -> bool:
    """Return whether a page is one of the right ones: `a/` and all below, or `a/$` alone."""
    return any(
        path == right[:-1] if right.endswith("$") else path.startswith(right) for right in rights
    )


def test_each_kind_of_question_is_asked_twenty_times_or_more() -> None:
    assert {kind: len(asked) >= 20 for kind, asked in QUESTIONS.items()} == dict.fromkeys(
        ("misspelt", "own_words", "names"), True
    )


def test_questions_find_a_right_page_first_or_second(ask: Ask) -> None:
    """One in twenty may fail, so that a page can be reworded without tuning the search."""
    asked = [(text, right) for group in QUESTIONS.values() for text, right in group.items()]
    answers = ask(*[text for text, _ in asked])
    missed = {
        text: answer["places"][:3]
        for (text, right), answer in zip(asked, answers, strict=True)
        if not any(is_right(path, right) for path, _ in answer["places"][:2])
    }
    assert len(missed) <= len(asked) // 20, missed


MISSPELT = {
    "sinusiodal": "sinusoidal",  # exchanged
    "extrapolaton": "extrapolation",  # missing
    "rotarry": "rotary",  # too many
    "positonal": "positional",
    "wavelenght": "wavelength",
    "casual": "causal",
    "cahce": "cache",
    "roap": "rope",  # spelt by ear
    "sloaps": "slopes",
    "bais": "bias",  # the book has "Bai", a name
}


def test_misspelt_words_are_corrected(ask: Ask) -> None:
    answers = ask(*[f"{typed} " for typed in MISSPELT])
    assert [answer["corrected"] for answer in answers] == [[[*pair]] for pair in MISSPELT.items()]
    meant = ask(*[f"{word} " for word in MISSPELT.values()])
    assert [answer["places"] for answer in answers] == [answer["places"] for answer in meant]


def test_right_and_begun_words_are_not_corrected(ask: Ask) -> None:
    right, begun = ask("rotary embeddings", "rotary embeddi")
    assert right["corrected"] == begun["corrected"] == []
    assert begun["terms"][1] == ["embeddi", True]


def test_nothing_is_found_for_what_is_like_no_word(ask: Ask) -> None:
    for answer in ask("xqzzyk", "zzz", "", "   ", "§ †"):
        assert answer["places"] == [] and answer["corrected"] == []


def test_ids_and_exact_names_are_found_first(ask: Ask) -> None:
    places = {
        "C0-08": ["trust/claims/", "c0-08"],
        "S3-12": ["trust/sources/", "s3-12"],
        "apply_rope": ["reference/rotary/", "posenc.rotary.rope.apply_rope"],
        "mscale_all_dim": ["long-context/yarn/", "mscale"],
        "RWSE": ["axes/graphs/", "walks"],
    }
    for place, answer in zip(places.values(), ask(*places), strict=True):
        assert answer["places"][0] == place


def test_words_are_compared_without_case_endings_commas_and_accents(ask: Ask) -> None:
    as_typed = ask("RoPE ", "rotate ", "RotaryEmbedding ", "10,000 ", "naïve ")
    plain = ask("rope ", "rotates ", "rotaryembedding ", "10000 ", "naive ")
    assert [answer["places"] for answer in as_typed] == [answer["places"] for answer in plain]


# Excerpts

LONG = f"The first of many words, {'and so on ' * 40}until the rope comes, {'and on ' * 40}at last."


def test_excerpt_is_the_sentence_with_the_most_words_marked() -> None:
    sentences = ["No word of it.", "A rope.", "Ropes, as rope_theta says, have a base.", "A base."]
    terms = [["rope", False], ["base", True]]
    text, fragment, parts = in_node(SENTENCES, [sentences, terms])
    assert text == sentences[2]
    assert fragment == "Ropes%2C%20as%20rope_theta%20says%2C%20have%20a%20base."
    assert [part for part, is_found in parts if is_found] == ["Ropes", "rope_theta", "base"]
    assert "".join(part for part, _ in parts) == text


def test_long_sentence_is_cut_around_the_word() -> None:
    text, _, parts = in_node(SENTENCES, [[LONG], [["rope", False]]])
    assert text.startswith("… ") and text.endswith(" …") and len(text) < 260
    assert ["rope", True] in parts


def test_section_without_the_words_shows_its_first_sentence() -> None:
    text, fragment, parts = in_node(SENTENCES, [["First.", "Second."], [["rope", False]]])
    assert (text, fragment, parts) == ("First.", "", [["First.", False]])
    assert in_node(SENTENCES, [[], []]) == ["", "", []]


def test_sentence_with_a_formula_is_not_looked_for_in_the_page() -> None:
    _, fragment, _ = in_node(SENTENCES, [["A rope of x\u200b is long."], [["rope", False]]])
    assert fragment == ""
