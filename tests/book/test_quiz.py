"""The quiz: how questions are shown, and that only the answer marked as right is true.

The test of a question computes which of its options are true: only the one that the page marks.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache, wraps
from itertools import groupby
from xml.etree import ElementTree

import numpy as np
import pytest
import torch
from numpy.typing import NDArray

from posenc import (
    LearnedPositionalEmbedding,
    alibi_bias,
    alibi_key_bias,
    alibi_slopes,
    apply_rope,
    attention,
    causal_mask,
    concatenate,
    convert_projection,
    counting_encoding,
    frequencies,
    relative_positions,
    resize_table,
    shift_matrix,
    similarity,
    sinusoidal_encoding,
    t5_bias,
    t5_bucket_starts,
    t5_buckets,
)
from scripts.book.chapters import chapter_of, whole_text
from scripts.book.citations import fact
from scripts.book.quiz import LETTERS, QuizError, order
from scripts.book.render import render
from tests.arrays import Array, normal, self_attention

CHAPTER = "chapters/check-yourself/index.md"
BOXES = re.compile(r'^!!! question "Question (\d+): [^"]+"\n(.*?)(?=^\S)', re.M | re.S)
OPTION = re.compile(r"^    - \[(?P<mark>[ x])\] (?P<words>.+?)\n\n", re.M | re.S)
BINDING = re.compile(r"\{\{ (\S+)(?: \w+)? = .*?\}\}")
QUESTIONS = range(1, 25)


@dataclass(frozen=True)
class Question:
    """A question of the page, as it is written."""

    options: list[str]
    right: int
    name: str

    @property
    def letter(self) -> str:
        """Return the letter of the right answer as the page shows it."""
        return LETTERS[order(self.name, len(self.options)).index(self.right)]


@cache
def questions() -> dict[int, Question]:
    """Return the questions of the chapter by their numbers."""
    found = {}
    for number, body in BOXES.findall(whole_text(chapter_of(CHAPTER))):
        options = list(OPTION.finditer(body))
        words = [" ".join(BINDING.sub(r"\1", option["words"]).split()) for option in options]
        right = [option["mark"] for option in options].index("x")
        found[int(number)] = Question(words, right, f"question-{number}")
    return found


Truth = dict[str, bool | np.bool_]  # of each option, by its first words


def question(number: int) -> Callable[[Callable[[], Truth]], Callable[[], None]]:
    """Turn a function that computes which options are true into a test of the page's mark."""

    def test_of(compute: Callable[[], Truth]) -> Callable[[], None]:
        @wraps(compute)
        def test() -> None:
            options, truth = questions()[number].options, compute()
            found = [
                [bool(true) for words, true in truth.items() if option.startswith(words)]
                for option in options
            ]
            assert len(truth) == len(options) == sum(map(len, found)), "each option has one value"
            assert found == [[n == questions()[number].right] for n in range(len(options))]

        return test

    return test_of


# How questions are shown.

BOX = """\
!!! question "Question 3: Why add?"

    What does the sum keep?

    - [x] The `width`,
      always.

        Both are $d$ wide.

    - [ ] The length.

        Lengths do not add.

    Checked by `test_a_question_is_a_group_of_radio_buttons`
    { .checked }
"""


def rendered_quiz(text: str) -> ElementTree.Element:
    return ElementTree.fromstring(f"<article>{render(text)}</article>")


def words(element: ElementTree.Element | None) -> str:
    assert element is not None
    return " ".join("".join(element.itertext()).split())


def test_a_question_is_a_group_of_radio_buttons() -> None:
    box = rendered_quiz(BOX).find("div[@id='question-3']/fieldset")
    assert box is not None
    assert words(box.find("legend")) == "Question 3: Why add?"
    assert words(box.find(f"div[@id='{box.get('aria-describedby')}']")) == "What does the sum keep?"
    labels = box.findall("label")
    assert sorted(words(label)[2:] for label in labels) == ["The length.", "The width, always."]
    assert [words(label)[0] for label in labels] == ["A", "B"]
    radios = [(radio.get("name"), radio.get("value")) for radio in box.iterfind("label/input")]
    assert radios == [("question-3", "A"), ("question-3", "B")]


def test_folded_reasons_start_with_the_right_one_and_cite_the_evidence() -> None:
    details = rendered_quiz(BOX).find("div/details")
    assert details is not None
    right, wrong = details.findall("div")
    assert re.match(r"[AB] is right\. Both are", words(right))
    assert re.match(r"[AB] is wrong\. Lengths do not add\.", words(wrong))
    assert {right.get("data-letter"), wrong.get("data-letter")} == {"A", "B"}
    assert words(details.find("p[@class='checked']")).startswith("Checked by")


def test_the_score_follows_only_the_last_question() -> None:
    two = BOX + "\n" + BOX.replace("Question 3", "Question 4") + "\nThe end.\n"
    kinds = [child.get("class") for child in rendered_quiz(two)]
    assert kinds == ["question", "question", "score", None]
    score = rendered_quiz(two).find("p[@class='score']")
    assert score is not None
    assert score.get("data-questions") == "2"
    assert rendered_quiz("No question.\n").find("p[@class='score']") is None


def test_the_order_of_options_depends_only_on_the_question() -> None:
    letters = [order(f"question-{number}", 4) for number in range(1, 5)]
    assert letters == [[3, 1, 2, 0], [3, 1, 2, 0], [0, 2, 1, 3], [1, 2, 3, 0]]


REASON = "        Lengths do not add.\n"


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        (BOX.replace("Question 3: Why add?", "Why add?"), "needs a number and a subject"),
        (BOX.replace("- [x]", "- [ ]"), "exactly one option must be"),
        (BOX.replace("- [ ]", "- [x]"), "exactly one option must be"),
        (BOX.replace("- [ ]", "-"), "option"),
        (BOX.replace(REASON, ""), "option"),
        (BOX.replace(f"    - [ ] The length.\n\n{REASON}", ""), "needs 2 to"),
        ('!!! question "Question 3: Why add?"\n\n    Why?\n', "no list of options"),
        (f"{BOX}\n{BOX}", "the same number"),
    ],
)
def test_a_malformed_question_is_an_error(text: str, complaint: str) -> None:
    with pytest.raises(QuizError, match=complaint):
        render(text)


# What the chapter's questions look like together.


def test_there_are_twenty_four_questions_with_four_options_each() -> None:
    assert list(questions()) == list(QUESTIONS)
    assert all(len(set(entry.options)) == 4 for entry in questions().values())


def test_the_right_answer_has_no_favourite_letter() -> None:
    letters = "".join(entry.letter for entry in questions().values())
    for half in (letters[:12], letters[12:]):
        assert all(2 <= half.count(letter) <= 4 for letter in "ABCD"), half
    assert max(len(list(run)) for _, run in groupby(letters)) <= 2, letters


def test_the_right_answer_is_not_the_longest() -> None:
    """Of the options the right one is the longest about as often as any other."""

    def length(option: str) -> int:
        return len(re.sub(r"\\\w+|[${}]", "", option))  # of a formula, what is seen

    ranks = [
        sorted(entry.options, key=length).index(entry.options[entry.right])
        for entry in questions().values()
    ]
    assert all(3 <= ranks.count(rank) <= 10 for rank in range(4)), ranks


# The questions of the source.


WORDS = normal(3, 16)  # cat, sat, mat
ORDERS = [2, 1, 0]
ROWS = sinusoidal_encoding(3, 16)


def is_close(x: object, y: object) -> bool:
    return bool(np.allclose(x, y, rtol=0, atol=1e-9))  # type: ignore[arg-type]


@question(1)
def test_question_1_shuffled_tokens_give_shuffled_outputs() -> Truth:
    straight, shuffled = self_attention(WORDS), self_attention(WORDS[ORDERS])
    assert is_close(straight.mean(axis=0), shuffled.mean(axis=0))
    one_by_one = [attention(word[None], WORDS, WORDS)[0][0] for word in WORDS]
    _, bare = attention(WORDS, WORDS, WORDS)
    _, placed = attention(WORDS + ROWS, WORDS + ROWS, WORDS)
    text = [4, 7, 4]  # one word first and last
    return {
        "Without positions, shuffled words": is_close(shuffled, straight[ORDERS])
        and not is_close(shuffled, straight),
        "For speed": not is_close(straight, one_by_one),  # read at once it would be another output
        "For memory": placed.size < bare.size,
        "It need not": not is_close(*normal(9, 16)[text][[0, 2]]),
    }


@question(2)
def test_question_2_only_the_formula_is_bounded_repeatable_and_tells_places_apart() -> Truth:
    def is_distinguishable(rows: Array, again: Array) -> bool:
        squares = np.sum(rows**2, axis=-1)
        gaps = squares[:, None] + squares - 2 * rows @ rows.T + 9 * np.eye(len(rows))
        return is_close(rows, again) and np.abs(rows).max() <= 1 and gaps.min() > 0.01

    d, n = 32, 1024
    p, i = np.arange(n)[:, None], np.arange(d // 2)
    formula = np.empty((n, d))
    formula[:, 2 * i] = np.sin(p / 10000 ** (2 * i / d))
    formula[:, 2 * i + 1] = np.cos(p / 10000 ** (2 * i / d))
    assert is_close(formula, sinusoidal_encoding(n, d))
    counted, sine = counting_encoding(n, d), np.sin(p) * np.ones(d)
    draws = np.random.default_rng(0).uniform(-1, 1, size=(2, n, d))
    return {
        r"$\sin(p/10000^{2i/d})$": is_distinguishable(formula, formula),
        "the position itself": is_distinguishable(counted, counted),
        "the sine of the position": is_distinguishable(sine, sine),
        "$d$ random numbers": is_distinguishable(*draws),
    }


@question(3)
def test_question_3_addition_keeps_the_width_and_the_token() -> Truth:
    both = concatenate(WORDS, ROWS)

    def keeps_the_token(bring: Callable[[Array], Array]) -> bool:
        return not np.any(bring(WORDS)[0] == bring(WORDS + 1)[0])

    return {
        "It adds them": (WORDS + ROWS).shape == WORDS.shape and keeps_the_token(lambda x: x + ROWS),
        "It concatenates them": both.shape == WORDS.shape,
        "It multiplies them": keeps_the_token(lambda x: x * ROWS),
        "It hands on the position's row alone": keeps_the_token(lambda x: 0 * x + ROWS),
    }


@question(4)
def test_question_4_the_formula_has_no_parameters_and_no_last_row() -> Truth:
    learned = LearnedPositionalEmbedding(512, 128, seed=0)
    with pytest.raises((IndexError, ValueError), match="512"):
        learned.get_embeddings(513)
    ends = len(learned.get_embeddings(512)) == 512
    no_end = np.isfinite(sinusoidal_encoding([512, 10**6], 128)).all()
    # Perplexities of one comparison, lower is better: "always better" must hold there too.
    sines, trained = (fact(f"base-perplexity-{kind}") for kind in ("sinusoidal", "learned"))
    return {
        "They need no training and never end": ends and no_end,
        "They are always better": sines < trained,
        "Nothing: a learned table is always better": trained < sines,
        "Nothing: a learned table that is trained long enough": not ends,
    }


@question(5)
def test_question_5_without_positions_each_word_gets_one_vector() -> Truth:
    bare, bare_shuffled = self_attention(WORDS), self_attention(WORDS[ORDERS])
    placed, placed_shuffled = self_attention(WORDS + ROWS), self_attention(WORDS[ORDERS] + ROWS)
    told_apart = not is_close(np.sort(bare, axis=0), np.sort(bare_shuffled, axis=0))
    layer = torch.nn.TransformerEncoderLayer(64, 4, 4 * 64)
    weights = sum(part.numel() for part in layer.parameters() if part.dim() == 2)
    assert weights == 12 * 64 * 64  # multiplications for a token, for one addition an entry
    return {
        "for each word the same vector": is_close(bare_shuffled, bare[ORDERS]),
        "the same as with positions": is_close(placed_shuffled, placed[ORDERS]),
        "something better": told_apart,  # which word came first
        "nearly the same as": weights < 10 * 64,
    }


@question(6)
def test_question_6_one_rotation_maps_every_row_to_the_row_k_later() -> Truth:
    step = shift_matrix(10, 64)
    assert is_close(step @ step.T, np.eye(64))
    places = np.array([0, 7, 7000])
    here, there = sinusoidal_encoding(places, 64), sinusoidal_encoding(places + 10, 64)
    products = np.sum(here * there, axis=-1)
    nowhere_else = sinusoidal_encoding(places + 11, 64)
    return {
        "It can learn to look for the distance": is_close(here @ step.T, there),
        "Nothing: what two rows have in common": not is_close(products, products[0])
        or is_close(products, np.sum(here * nowhere_else, axis=-1)),
        "Only the two absolute places": not is_close(here @ step.T, there),
        "Whether it is zero": np.ptp(similarity(np.arange(1, 101), 512)) < 0.1,
    }


@pytest.mark.claim("true-if", "C4-13", "C4-44")
@question(7)
def test_question_7_only_relative_scores_survive_a_shift_of_the_sequence() -> Truth:
    query, key = normal(2, 16, 16, seed=1)

    def added(first: int) -> Array:
        x = WORDS + sinusoidal_encoding(np.arange(first, first + 3), 16)
        return np.asarray((x @ query) @ (x @ key).T)

    def turned(first: int) -> Array:
        p = np.arange(first, first + 3)
        return np.asarray(apply_rope(WORDS @ query, p) @ apply_rope(WORDS @ key, p).T)

    places = relative_positions(13, 13)
    for bias in (alibi_bias(2, 13, causal=False), t5_bias(normal(32, 2), places)):
        assert is_close(bias[:, :3, :3], bias[:, 10:, 10:])
    relative_stays = is_close(turned(0), turned(10))
    absolute_moves = not is_close(added(0), added(10))
    equal, first = WORDS[[0, 0, 0]], [0, 0, 0]
    q = apply_rope(equal, np.arange(3))
    by_scores, by_rows = np.asarray(attention(q, q, equal)[0]), self_attention(equal + ROWS)
    return {
        "Absolute ones belong to a token alone": relative_stays and absolute_moves,
        "Only the name": not absolute_moves,
        # "Always better" includes this: to score a shifted sequence alike, …
        "Absolute ones are always better": is_close(added(0), added(10)),
        # … and this: to tell the positions of equal words apart.
        "Relative ones are always better": not is_close(by_scores, by_scores[first])
        or is_close(by_rows, by_rows[first]),
    }


@question(8)
def test_question_8_angles_once_then_sines_and_cosines_then_the_sum() -> Truth:
    def by_distance(rows: Array) -> bool:
        """Return whether neighbours are equally similar everywhere, and more than far rows."""
        unit = rows / np.maximum(np.linalg.norm(rows, axis=-1, keepdims=True), 1e-9)
        alike = unit @ unit.T
        near, far = np.diagonal(alike, 1), np.diagonal(alike, 40)
        return bool(np.ptp(near) < 1e-9 and near.min() > far.max() + 0.1)

    angles = np.arange(64)[:, None] * frequencies(64)
    table = np.empty((64, 64))
    table[:, 0::2], table[:, 1::2] = np.sin(angles), np.cos(angles)
    torch.manual_seed(0)
    layer = torch.nn.TransformerEncoderLayer(16, 2, 32, dropout=0.0, batch_first=True).double()
    x = torch.tensor(WORDS)[None]
    brings_positions = not is_close(layer(x[:, ORDERS]).detach(), layer(x)[:, ORDERS].detach())
    return {
        "Compute the angle": is_close(table, sinusoidal_encoding(64, 64)) and by_distance(table),
        "Fill a table": by_distance(normal(64, 64)),
        "Write each position's number": by_distance(counting_encoding(64, 64)[1:]),
        "Not at all": brings_positions,
    }


@question(9)
def test_question_9_fast_and_slow_pairs_do_what_neither_does_alone() -> Truth:
    distances = np.arange(1, 512)

    def tells_neighbours_apart(omega: Array) -> bool:
        """Return whether neighbours differ visibly, and no far rows are as similar."""
        alike = np.cos(np.multiply.outer(distances, omega)).mean(axis=-1)
        return bool(alike[0] < 0.999 and alike[1:].max() < alike[0])

    ladder = frequencies(512)
    draws = np.random.default_rng(0).uniform(size=(1000, 256)).min(axis=1)
    median = 2 * np.pi / (1 - 0.5 ** (1 / 256))
    assert np.median(2 * np.pi / draws) == pytest.approx(median, rel=0.1)
    assert median < 2 * np.pi / ladder[-1] / 20  # what steps of equal ratio reach
    return {
        "Fast ones tell neighbours apart": tells_neighbours_apart(ladder)
        and tells_neighbours_apart(ladder[::8]),
        "It need not: as many copies": tells_neighbours_apart(ladder[[0] * 256]),
        "It need not: one is enough": tells_neighbours_apart(ladder[[-1]]),
        "Only so that the clocks differ": np.mean(draws < 2 * ladder[-1]) > 0.5,
    }


@question(11)
def test_question_11_rows_go_on_bounded_and_distinct() -> Truth:
    rows = sinusoidal_encoding(4096, 512)
    alike = np.asarray(similarity(np.arange(1, 4096), 512))
    bounded, distinct = np.abs(rows).max() <= 1, alike.argmax() == 0 and alike[0] < 0.98
    met, new = rows[:512], rows[512:]
    # If all were well, each would be as near to a known row as that row's neighbours are.
    nearest = np.array([np.max(met @ row) / 256 for row in new[512::64]])
    return {
        "Each has a row": bounded and distinct and nearest.max() < alike[0],
        "From position 512 on there is no row": not np.isfinite(new).all(),
        "All is well": nearest.min() > alike[0],
        "From 512 on, the rows repeat": is_close(met, new[:512]) or alike.max() > 0.999,
    }


@pytest.mark.claim("true", "C4-49")
@pytest.mark.claim("true-if", "C1-66")
@question(12)
def test_question_12_a_shuffle_tells_whether_positions_arrive() -> Truth:
    random_rows = normal(3, 16, seed=1)

    def shuffled_along(rows: Array) -> bool:
        return is_close(self_attention(WORDS[ORDERS] + rows), self_attention(WORDS + rows)[ORDERS])

    def loss(rows: Array) -> float:
        """Return the error of the best linear guess of which words there were, after pooling."""
        texts = np.random.default_rng(1).normal(size=(64, 3, 16))
        pooled = np.array([self_attention(text + rows).mean(axis=0) for text in texts])
        wanted = texts.mean(axis=1)
        fitted = pooled @ np.linalg.lstsq(pooled, wanted, rcond=None)[0]
        return float(np.mean((fitted - wanted) ** 2) / np.mean(wanted**2))

    none = np.zeros((3, 16))
    return {
        "Shuffle its tokens": shuffled_along(none) and not shuffled_along(ROWS),
        "Nothing: keep training": loss(none) > 0.9,  # does not fall without positions
        # Wrong rows would not make it worse; but neither do the right ones.
        "Take its positions out": loss(none) > 1.1 * loss(ROWS),
        "Put fixed random rows in their place": shuffled_along(random_rows),
    }


@torch.no_grad()
def test_question_12_with_dropout_on_a_shuffle_tells_nothing() -> None:
    torch.manual_seed(0)
    layer = torch.nn.TransformerEncoderLayer(16, 2, 32, dropout=0.1, batch_first=True)
    x, order = torch.randn(1, 5, 16), [3, 0, 4, 1, 2]

    def shuffled_along() -> bool:
        return torch.allclose(layer(x[:, order]), layer(x)[:, order], atol=1e-5)

    assert not shuffled_along()  # as if positions arrived, and there are none
    layer.eval()
    assert shuffled_along()


# Our own questions.


@question(13)
def test_question_13_the_doubled_exponent_squares_the_base() -> Truth:
    angles = 9 / 1e4 ** (2 * np.arange(0, 512, 2) / 512)
    return {
        "Of one with the base 100,000,000": is_close(angles, 9 * frequencies(512, base=1e8)),
        "Of the usual one, with the base": is_close(angles, 9 * frequencies(512)),
        "Of one with the base 100.": is_close(angles, 9 * frequencies(512, base=100)),
        "Of the first half of a table": is_close(angles, 9 * frequencies(1024)[:256]),
    }


@question(14)
def test_question_14_the_wrong_layout_passes_all_tests_but_the_scores() -> Truth:
    query, key = normal(2, 64)

    def score(p: int, q: int, layout: str) -> float:
        turned = apply_rope(query, p, layout=layout), apply_rope(key, q, layout=layout)
        assert is_close(np.linalg.norm(turned[0]), np.linalg.norm(query))
        return float(turned[0] @ turned[1])

    by_distance = is_close(score(9, 4, "half"), score(109, 104, "half"))
    right = is_close(score(9, 4, "half"), score(9, 4, "interleaved"))
    assert is_close(score(9, 9, "half"), score(9, 9, "interleaved"))
    weight = normal(64, 16)
    other = convert_projection(weight, heads=1, source="interleaved", target="half")
    return {
        "No error": by_distance and not right,
        "Loading fails": other.shape != weight.shape,
        "Nothing": right,
        "Scores that depend on both positions": not by_distance,
    }


@question(15)
def test_question_15_in_bfloat16_position_257_is_256() -> Truth:
    counted = torch.arange(70000).to(torch.bfloat16)
    first = 1 + int(torch.nonzero(counted[1:] == counted[:-1])[0])
    halves = torch.arange(4096).to(torch.float16)
    assert 1 + int(torch.nonzero(halves[1:] == halves[:-1])[0]) == 2049
    numbers = {str(n): first == n for n in (257, 2049)} | {"65,537": first == 65537}
    return {**numbers, "none in any text": first > 65537}


@question(16)
def test_question_16_the_factor_brings_tokens_to_the_length_of_rows() -> Truth:
    d = 512
    tokens = normal(64, d) / math.sqrt(d)
    rows = sinusoidal_encoding(64, d)

    def length(x: Array) -> float:
        return float(np.linalg.norm(x, axis=-1).mean())

    def ratio(x: Array) -> float:
        """Return how much larger positions are in norm than tokens once the sum is normalised."""
        scale = 1 / np.std(x + rows, axis=-1, keepdims=True)
        return length(rows * scale) / length(x * scale)

    bare, scaled = tokens, tokens * math.sqrt(d)
    assert abs(length(scaled) - 22.6) < 0.1
    largest = np.abs(scaled @ scaled.T).max()
    return {
        "Without it, tokens would be too short": round(length(bare)) == 1
        and round(length(rows)) == 16
        and 0.5 < length(rows) / length(scaled) < 2,
        "Without it, scores would be too large": np.abs(bare @ bare.T).max() > largest,
        "Without it, positions would be lost": length(bare) > length(rows),
        "Nothing: the layer normalisation": abs(ratio(bare) / ratio(scaled) - 1) < 0.1,
    }


@question(17)
def test_question_17_a_causal_mask_tells_order_from_the_second_layer_on() -> Truth:
    swapped = [1, 0, 2]

    def sees_order(layers: int, mask: NDArray[np.bool_] | None) -> bool:
        first, second = WORDS, WORDS[swapped]
        for _ in range(layers):
            first, second = self_attention(first, mask=mask), self_attention(second, mask=mask)
        return not is_close(first[2], second[2])

    causal = causal_mask(3, 3)
    return {
        "Not in one layer": not sees_order(1, causal) and sees_order(2, causal),
        "Not in any number of layers": not any(sees_order(n, causal) for n in range(1, 5)),
        "One layer is enough": sees_order(1, causal),
        "Only when the mask is taken away": any(sees_order(n, None) for n in range(1, 5)),
    }


@question(18)
def test_question_18_padding_on_the_left_shifts_absolute_rows_only() -> Truth:
    alone, padded = np.arange(3), np.arange(5)[2:]
    mask = causal_mask(3, 3)

    def changes(scheme: str) -> bool:
        def read(p: NDArray[np.intp]) -> Array:
            x = WORDS + sinusoidal_encoding(p, 16) if scheme == "rows" else WORDS
            q = apply_rope(x, p) if scheme == "rope" else x
            ahead = p - p[:, None]
            biases = {
                "alibi": np.minimum(ahead, 0) * alibi_slopes(1)[0],
                "alibi of keys": alibi_key_bias(1, 5)[0][:, p],
                "t5": t5_bias(np.arange(32.0)[:, None], ahead, bidirectional=False)[0],
            }
            return np.asarray(attention(q, q, x, bias=biases.get(scheme), mask=mask)[0])

        return not is_close(read(alone), read(padded))

    assert not changes("alibi of keys")
    return {
        "those that add rows": changes("rows"),
        "all of them": changes("rope") and changes("t5"),
        "none of them": not changes("rows"),
        "those with ALiBi": changes("alibi"),
    }


@question(19)
def test_question_19_a_query_rotated_as_position_0_sees_its_past_as_future() -> Truth:
    query = normal(16)
    keys = normal(10, 16, seed=1)
    got = apply_rope(keys, np.arange(10)) @ apply_rope(query, 0)

    def fits(relative: NDArray[np.intp]) -> bool:
        return is_close(got, apply_rope(keys, relative) @ query)

    past = np.arange(-10, 0)
    assert not is_close(got, apply_rope(keys, np.arange(10)) @ apply_rope(query, 10))
    return {
        "0 to 9": fits(np.arange(10)),
        "−10 to −1": fits(past),
        "10 to 1": fits(-past),
        "none": got.shape != (10,),
    }


@question(20)
def test_question_20_twelve_heads_take_eight_slopes_and_four_of_sixteen() -> Truth:
    slopes = alibi_slopes(12)
    of_eight, of_sixteen = 2.0 ** -np.arange(1, 9), 2.0 ** (-np.arange(1, 17) / 2)
    k = np.arange(1, 13)
    return {
        r"$2^{-1}, 2^{-2}, \dots, 2^{-8}$": is_close(slopes, [*of_eight, *of_sixteen[:8:2]]),
        "$2^{-8/12}": is_close(np.sort(slopes)[::-1], 2.0 ** (-8 * k / 12)),
        "$2^{-0.5}": is_close(np.sort(slopes)[::-1], of_sixteen[:12]),
        r"$2^{-1}, 2^{-2}, \dots, 2^{-12}$": is_close(np.sort(slopes)[::-1], 2.0**-k),
    }


@question(21)
def test_question_21_the_last_bucket_begins_before_max_distance() -> Truth:
    buckets = t5_buckets(-np.arange(1000), bidirectional=False)
    first = int(np.argmax(buckets == buckets.max()))
    assert t5_bucket_starts()[-1] == 91
    return {str(n): first == n for n in (113, 128, 91, 32)}


@question(22)
def test_question_22_with_the_sign_reversed_all_keys_share_bucket_0() -> Truth:
    relative = relative_positions(200, 200)
    behind = relative < 0
    right = np.asarray(t5_buckets(relative[behind], bidirectional=False))
    reversed_ = np.asarray(t5_buckets(-relative[behind], bidirectional=False))
    return {
        "Nothing about their distance": np.all(reversed_ == 0) and len(set(right)) == 31,
        "All that it knew": np.array_equal(reversed_, right),
        "All of it, reversed": np.array_equal(reversed_, right.max() - right),
        "It does not run": np.any(reversed_ < 0),
    }


@question(23)
def test_question_23_a_stretched_table_brings_all_rows_closer() -> Truth:
    old: Array = sinusoidal_encoding(512, 16)
    new = resize_table(old, 1024)

    def steps(rows: Array) -> float:
        return float(np.linalg.norm(np.diff(rows[:100], axis=0), axis=-1).mean())

    share = 99 * 511 / 1023 - 49
    assert is_close(new[99], (1 - share) * old[49] + share * old[50])
    assert not np.any(np.all(np.isclose(new[1:100, None], old[:100], rtol=0), axis=-1))
    return {
        "Its tokens seem to stand half": abs(steps(new) / steps(old) - 0.5) < 0.01,
        "Nothing": is_close(new[:100], old[:100]),
        "Its tokens seem to stand twice": abs(steps(new) / steps(old) - 2) < 0.01,
        "Its positions grow in norm": np.linalg.norm(new, axis=-1).max()
        > np.linalg.norm(old, axis=-1).max() + 1e-9,
    }


@question(24)
def test_question_24_the_key_projection_is_converted_by_its_own_heads() -> Truth:
    """Heads of 16 dimensions here, 32 and 8 of them as in the question."""
    d = 16
    x = normal(2, 24)
    query, key = normal(32 * d, 24, seed=1), normal(8 * d, 24, seed=2)

    def converted(weight: Array, heads: int) -> Array:
        return convert_projection(weight, heads=heads, source="half", target="interleaved")

    def scores(query: Array, key: Array, layout: str) -> Array:
        q = apply_rope((x[:1] @ query.T).reshape(32, 1, d), [7], layout=layout)
        k = apply_rope((x[1:] @ key.T).reshape(8, 1, d), [3], layout=layout)
        return np.asarray(np.sum(q * np.repeat(k, 4, axis=0), axis=-1))

    wanted = scores(query, key, "half")
    turned = converted(query, 32)

    def fits(heads: int | None) -> bool:
        keys = key if heads is None else converted(key, heads)
        return is_close(scores(turned, keys, "interleaved"), wanted)

    return {"8": fits(8), "32": fits(32), "1": fits(1), "none": fits(None)}
