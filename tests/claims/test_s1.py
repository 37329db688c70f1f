"""Claims of source S1, one by one. Where the text is wrong, its test also asserts that.

docs/data/claims/001.yml cites these tests. Code of the text is rewritten here in a few lines, not
copied.
"""

from __future__ import annotations

from math import sqrt
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor

from posenc import (
    add,
    concatenate,
    counting_encoding,
    nn,
    relative_positions,
    shift_matrix,
    similarity,
    sinusoidal_encoding,
)
from scripts.book.citations import fact
from scripts.measure.summary import measurement
from tests.arrays import Array, cosine, normal

WORDS = ("the", "cat", "sat", "on", "mat")
TOY = np.vstack((np.eye(4), [1.0, 1.0, 0.0, 0.0]))  # the text's five words in four dimensions
IN_ORDER = [*WORDS]
SCRAMBLED = ["cat", "the", "mat", "sat", "on"]


def toy(sentence: list[str]) -> Array:
    """Return the text's own vectors of a sentence, one row per word."""
    return np.stack([TOY[WORDS.index(word)] for word in sentence])


# The position problem


@pytest.mark.claim("true", "C1-03")
@pytest.mark.claim("imprecise", "C1-02")
def test_c1_02_the_toy_vectors_give_two_bags_of_words_one_sum() -> None:
    np.testing.assert_array_equal(toy(IN_ORDER).sum(axis=0), toy(SCRAMBLED).sum(axis=0))
    np.testing.assert_array_equal(toy(["mat"]).sum(axis=0), toy(["the", "cat"]).sum(axis=0))
    assert np.linalg.matrix_rank(TOY) == 4 < len(WORDS)


# Counting


@pytest.mark.claim("imprecise", "C1-07")
def test_c1_07_counting_keeps_distance_and_loses_it_in_products_and_cosines() -> None:
    five, six, thousand = counting_encoding([5, 6, 1000], 4)
    near, far = np.linalg.norm(five - six), np.linalg.norm(five - thousand)
    assert far / near == pytest.approx(995)  # so as numbers, neighbours are near
    assert five @ thousand > 100 * (five @ six)  # but the product prefers what is large
    assert cosine(five, six) == pytest.approx(1) == cosine(five, thousand)


# Sines and cosines


@pytest.mark.claim("true", "C1-11")
def test_c1_11_the_first_pair_separates_neighbours_and_the_last_the_ends() -> None:
    rows = sinusoidal_encoding(50, 8)
    step, whole = np.abs(rows[2] - rows[1]), np.abs(rows[49] - rows[0])
    assert step[:2].max() > 50 * step[6:].max()
    assert np.all(np.diff(rows[:, 6]) > 0)  # from beginning to end in one direction
    assert not np.all(np.diff(rows[:, 0]) > 0)
    assert whole[6] == pytest.approx(np.sin(0.049))


# The pictures


def tint(name: str, value: float) -> Any:
    """Return the colour of a value in a colour map from -1 to 1."""
    import matplotlib

    return np.array(matplotlib.colormaps[name]((1 + value) / 2)[:3])


@pytest.mark.claim("true", "C1-23")
def test_c1_23_below_zero_is_blue_and_above_is_red() -> None:
    for value in (0.1, 0.5, 1.0):
        assert np.argmax(tint("RdBu_r", -value)) == 2
        assert np.argmax(tint("RdBu_r", value)) == 0


@pytest.mark.claim("imprecise", "C1-24")
def test_c1_24_no_cell_of_the_similarity_matrix_is_blue() -> None:
    cells = similarity(relative_positions(20, 20), 8)
    assert cells.min() == pytest.approx(0.2501, abs=5e-5)
    assert abs(int(np.subtract(*divmod(int(cells.argmin()), 20)))) == 16
    assert all(red > blue for red, _, blue in (tint("coolwarm", cell) for cell in cells.flat))
    red, _, blue = tint("coolwarm", -0.25)
    assert blue > red


# Learned rows, and the length of a table


@pytest.mark.claim("true", "C1-28")
def test_c1_28_the_51st_row_of_fifty_is_refused_and_ids_are_made_where_the_table_is() -> None:
    table = nn.LearnedPositionalEmbedding(50, 8)
    assert sum(p.numel() for p in table.parameters()) == 400
    with pytest.raises(ValueError, match=r"51.*50|50.*51"):
        table(51)
    ids: list[torch.device] = []
    moved = nn.LearnedPositionalEmbedding(50, 8).to("meta")
    moved.embedding.register_forward_pre_hook(lambda _, args: ids.append(args[0].device))
    moved(3)
    assert ids == [torch.device("meta")]


# Addition and concatenation


@pytest.mark.claim("true", "C1-35")
@pytest.mark.claim("true-if", "C1-70")
def test_c1_35_the_printed_sum_and_pair_are_right() -> None:
    word, place = np.array([[1.0, 0.5, -0.3, 0.8]]), np.array([[0.1, -0.2, 0.4, -0.1]])
    np.testing.assert_allclose(add(word, place), [[1.1, 0.3, 0.1, 0.7]], rtol=0, atol=1e-15)
    np.testing.assert_array_equal(concatenate(word, place), np.hstack((word, place)))


# The solution that fails


@pytest.mark.claim("imprecise", "C1-40")
def test_c1_40_the_sentences_share_no_word_at_any_position() -> None:
    """So the column says no five times, with positions and without."""
    assert not any(a == b for a, b in zip(IN_ORDER, SCRAMBLED, strict=True))
    rows = sinusoidal_encoding(5, 4)
    for places in (rows, np.zeros_like(rows)):
        first, second = add(toy(IN_ORDER), places), add(toy(SCRAMBLED), places)
        assert not any(np.allclose(a, b) for a, b in zip(first, second, strict=True))


# Relative positions


@pytest.mark.claim("false", "C1-43")
def test_c1_43_a_whole_number_format_refuses_floats() -> None:
    cell = torch.zeros(6, 6).numpy()[0, 0]
    with pytest.raises(ValueError, match="Unknown format code 'd'"):
        format(cell, "d")
    assert format(cell, ".0f") == "0"
    assert format(relative_positions(6, 6)[1, 0], "d") == "-1"


# The complete layer


@pytest.mark.claim("true", "C1-48")
def test_c1_48_a_buffer_is_saved_and_not_learned() -> None:
    layer = torch.nn.Module()
    layer.register_buffer("rows", torch.tensor(sinusoidal_encoding(20, 8)))
    assert layer.state_dict()["rows"].shape == (20, 8)
    assert list(layer.parameters()) == []


@pytest.mark.claim("true-if", "C1-49")
@torch.no_grad()
def test_c1_49_both_layers_have_one_shape_and_the_sinusoid_drowns_its_tokens() -> None:
    torch.manual_seed(0)
    ids = torch.randint(0, 1000, (50, 20))
    lengths = {}
    for scheme in ("learned", "sinusoidal"):
        layer = nn.PositionalEmbedding(1000, 20, 8, pos_type=scheme, dropout=0.0)
        assert layer(ids).shape == (50, 20, 8)
        lengths[scheme] = float(layer(ids).norm(dim=-1).mean())
        with pytest.raises(ValueError, match="20"):
            layer(torch.zeros(1, 21, dtype=torch.long))
    assert lengths["sinusoidal"] == pytest.approx(2, rel=0.01)
    assert lengths["learned"] < 0.1


@pytest.mark.claim("imprecise", "C1-50")
@torch.no_grad()
def test_c1_50_the_plotted_positions_are_tokens_plus_positions_after_dropout() -> None:
    torch.manual_seed(0)
    layer = nn.PositionalEmbedding(100, 20, 64, pos_type="sinusoidal")
    ids = torch.arange(20)[None]
    drawn, rows = layer.train()(ids), torch.tensor(sinusoidal_encoding(20, 64)).float()
    assert 0.07 < float((drawn == 0).float().mean()) < 0.13
    whole = layer.eval()(ids)[0]
    torch.testing.assert_close(whole, layer.token_embedding(ids)[0] + rows, rtol=0, atol=1e-6)
    assert float((whole - rows).abs().max()) > 0.01


# Position encoding in practice

PRACTICE = ("The cat sat on the mat", "The mat sat on the cat", "Cat the sat mat on the")


def tiny(scheme: str) -> nn.GPTModel:
    """Return a small model, identical except for its positions."""
    torch.manual_seed(0)
    model = nn.GPTModel(300, 32, 16, heads=2, layers=2, pos_type=scheme)
    return model.eval()


def ids_of(sentence: str) -> Tensor:
    return torch.tensor([nn.create_tokenizer("simple", texts=[*PRACTICE]).encode(sentence)])


@pytest.mark.claim("true-if", "C1-53")
@torch.no_grad()
def test_c1_53_only_without_capitals_are_the_three_sentences_the_same_words() -> None:
    bags = [sorted(sentence.split()) for sentence in PRACTICE]
    assert bags[0] == bags[1] != bags[2]  # “Cat” and “the” are two words more
    folded = [sorted(ids_of(sentence)[0].tolist()) for sentence in PRACTICE]
    assert folded[0] == folded[1] == folded[2]
    for scheme in ("sinusoidal", "none"):  # two causal layers tell them apart, positions or none
        first, *others = (tiny(scheme)(ids_of(sentence))[0, -1] for sentence in PRACTICE)
        assert all(float((first - other).abs().max()) > 1e-4 for other in others)


# Pitfalls


@pytest.mark.claim("true", "C1-54")
def test_c1_54_rows_doubled_at_width_four_have_length_two_root_two() -> None:
    lengths = np.linalg.norm(2 * sinusoidal_encoding(5, 4), axis=1)
    np.testing.assert_allclose(lengths, 2 * sqrt(2), rtol=1e-15)
    words = 0.1 * normal(20_000, 4)
    assert 15 * np.linalg.norm(words, axis=1).mean() == pytest.approx(2 * sqrt(2), rel=0.01)


@pytest.mark.claim("false", "C1-61")
def test_c1_61_the_quick_test_confuses_missing_and_working() -> None:
    """The rule: three words and their reverse more similar than 0.9 mean no positions."""
    words = 0.02 * normal(3, 64)
    rows = sinusoidal_encoding(3, 64)
    without, having = (words, words[::-1]), (words + rows, words[::-1] + rows)
    pooled = [cosine(*(x.mean(axis=0) for x in pair)) for pair in (without, having)]
    flat = [cosine(*pair) for pair in (without, having)]
    assert pooled == pytest.approx([1, 1])  # missing, it says, whether it is or not
    assert flat[0] < 0.5  # “working”, where there is none
    assert flat[1] > 0.99  # “missing”, where there is


@pytest.mark.claim("true-if", "C1-58")
def test_c1_58_of_relative_schemes_some_go_on_and_some_do_not() -> None:
    """The ratio of a small model's perplexity at eight times its training length to that at it."""
    times = {
        scheme: measurement().perplexity(scheme, 512) / measurement().perplexity(scheme, 64)
        for scheme in ("sinusoidal", "shaw", "alibi", "t5", "rope")
    }
    assert max(times["shaw"], times["alibi"]) < 1.1
    assert min(times["t5"], times["rope"]) > 4
    assert max(times["t5"], times["rope"]) < times["sinusoidal"] / 2
    none, *others = fact("kazemnejad-ranks")
    assert max(others) < none < 1  # ahead on average, and not first in every task


# Summary


@pytest.mark.claim("imprecise", "C1-31", "C1-63")
@pytest.mark.claim("true", "C1-68")
@pytest.mark.claim("true-if", "C2-20")
def test_c1_31_learned_rows_are_level_in_print_and_ahead_in_the_model_measured_here() -> None:
    bleu = fact("base-bleu-learned") / fact("base-bleu-sinusoidal")  # more is better
    assert 0.99 < bleu < 1
    _, learned, sinusoidal, _ = fact("haviv-pile")  # perplexities: less is better
    assert 1 < learned / sinusoidal < 1.01
    learned_here, sinusoidal_here = (
        measurement().perplexities(name, 64) for name in ("learned", "sinusoidal")
    )
    assert max(learned_here) < min(sinusoidal_here)  # every seed
    assert np.median(sinusoidal_here) - np.median(learned_here) > 2 * max(
        np.ptp(learned_here), np.ptp(sinusoidal_here)
    )


@pytest.mark.claim("true-if", "C1-66")
def test_c1_66_one_matrix_shifts_every_row_but_none_shifts_noise() -> None:
    rows = sinusoidal_encoding(103, 8)
    assert len(np.unique(rows, axis=0)) == 103
    np.testing.assert_allclose(rows[3:], rows[:-3] @ shift_matrix(3, 8).T, rtol=0, atol=1e-12)
    noise = normal(103, 8)
    _, left, *_ = np.linalg.lstsq(noise[:-3], noise[3:])
    assert left.min() > 10  # the best matrix there is leaves most of it unexplained


@pytest.mark.claim("true-if", "C1-69")
@pytest.mark.parametrize(("d", "near"), [(8, 0.9641), (128, 1.9526), (512, 3.7143)])
def test_c1_69_neighbours_are_near_but_distances_are_not_monotonic(d: int, near: float) -> None:
    rows = sinusoidal_encoding(200, d)
    away = np.linalg.norm(rows - rows[0], axis=1)
    assert away[1] == pytest.approx(near, abs=5e-5)
    assert away[1] < away[2:5].min()
    assert away[1] < 2 * sqrt(d / 2) / 4  # of the largest distance there could be
    assert not np.all(np.diff(away) > 0)
