"""Claims of source S1, one by one. Where the text is wrong, its test also asserts that.

docs/data/claims/001.yml cites these tests. Code of the text is rewritten here in a few lines, not
copied.
"""

from __future__ import annotations

import importlib
from math import gamma, pi, sqrt
from typing import Any

import numpy as np
import pytest
import torch
from numpy.typing import NDArray
from torch import Tensor

from posenc import (
    add,
    attention,
    causal_mask,
    concatenate,
    counting_encoding,
    frequencies,
    nn,
    relative_positions,
    shaw_index,
    shift_matrix,
    similarity,
    sinusoidal_encoding,
    wavelengths,
)
from scripts.book.citations import fact
from scripts.measure.summary import measurement

Array = NDArray[np.floating]

WORDS = ("the", "cat", "sat", "on", "mat")
TOY = np.vstack((np.eye(4), [1.0, 1.0, 0.0, 0.0]))  # the text's five words in four dimensions
IN_ORDER = [*WORDS]
SCRAMBLED = ["cat", "the", "mat", "sat", "on"]


def normal(*shape: int, seed: int = 0) -> NDArray[np.float64]:
    """Return standard normals, the same at each call."""
    return np.random.default_rng(seed).standard_normal(shape)


def toy(sentence: list[str]) -> Array:
    """Return the text's own vectors of a sentence, one row per word."""
    return np.stack([TOY[WORDS.index(word)] for word in sentence])


def read(tokens: Array, *, causal: bool = False) -> Array:
    """Return the output of attention with the tokens as queries, keys and values."""
    mask = causal_mask(len(tokens)) if causal else None
    return attention(tokens, tokens, tokens, mask=mask)[0]


def cosine(a: Array, b: Array) -> float:
    """Return the cosine of two vectors of any shape."""
    a, b = np.ravel(a), np.ravel(b)
    return float(a @ b / np.linalg.norm(a) / np.linalg.norm(b))


def mean_normal_length(d: int) -> float:
    """Return the mean length of a vector of d standard normals: the mean of chi."""
    return sqrt(2) * gamma((d + 1) / 2) / gamma(d / 2)


# The position problem


@pytest.mark.claim("C1-01", "imprecise")
@pytest.mark.claim("C1-59", "imprecise")
@pytest.mark.claim("C1-73", "true-if")
@pytest.mark.parametrize("sentence", ["cat sat on mat", "the cat sat"])
def test_c1_01_reversed_words_give_reversed_outputs_not_equal_ones(sentence: str) -> None:
    """So a mean over words cannot tell them apart; a causal mask can, with no positions at all."""
    words = normal(len(sentence.split()), 8)
    forward, backward = read(words), read(words[::-1])
    np.testing.assert_allclose(backward, forward[::-1], rtol=0, atol=1e-12)
    assert np.abs(backward - forward).max() > 0.1  # row for row, they are not the same
    np.testing.assert_allclose(backward.mean(axis=0), forward.mean(axis=0), rtol=0, atol=1e-12)
    behind_mask = read(words[::-1], causal=True) - read(words, causal=True)[::-1]
    assert np.abs(behind_mask).max() > 0.1


@pytest.mark.claim("C1-02", "imprecise")
def test_c1_02_mat_equals_the_plus_cat_so_two_bags_of_words_coincide() -> None:
    np.testing.assert_array_equal(toy(["mat"]).sum(axis=0), toy(["the", "cat"]).sum(axis=0))
    assert np.linalg.matrix_rank(TOY) == 4 < len(WORDS) == np.linalg.matrix_rank(np.eye(5))


@pytest.mark.claim("C1-03", "true")
def test_c1_03_both_orders_have_one_bag_of_words() -> None:
    np.testing.assert_array_equal(toy(IN_ORDER).sum(axis=0), [2, 2, 1, 1])
    np.testing.assert_array_equal(toy(SCRAMBLED).sum(axis=0), [2, 2, 1, 1])


@pytest.mark.claim("C1-04", "true-if")
@pytest.mark.claim("C1-73", "true-if")
def test_c1_04_two_causal_layers_tell_order_without_positions_and_one_does_not() -> None:
    words = np.eye(3)
    swapped = words[[1, 0, 2]]
    one = np.abs(read(words, causal=True) - read(swapped, causal=True))[-1]
    two = np.abs(
        read(read(words, causal=True), causal=True) - read(read(swapped, causal=True), causal=True)
    )[-1]
    assert one.max() < 1e-15
    assert two.max() > 0.2


# Counting


@pytest.mark.claim("C1-07", "imprecise")
def test_c1_07_counting_keeps_distance_and_loses_it_in_products_and_cosines() -> None:
    five, six, thousand = counting_encoding([5, 6, 1000], 4)
    near, far = np.linalg.norm(five - six), np.linalg.norm(five - thousand)
    assert far / near == pytest.approx(995)  # so as numbers, neighbours are near
    assert five @ thousand > 100 * (five @ six)  # but the product prefers what is large
    assert cosine(five, six) == pytest.approx(1) == cosine(five, thousand)


# Sines and cosines


@pytest.mark.claim("C1-09", "true")
@pytest.mark.claim("C1-70", "true-if")
def test_c1_09_no_value_leaves_minus_one_to_one() -> None:
    rows = sinusoidal_encoding(np.r_[0:5000, 10**6, 10**9], 64)
    assert np.abs(rows).max() <= 1


@pytest.mark.claim("C1-10", "imprecise")
def test_c1_10_no_column_repeats_at_whole_positions() -> None:
    """No whole number is a multiple of a period 2π·10000^(2i/d); 710 is near 113 of the first."""
    rows = sinusoidal_encoding(5000, 8)
    assert all(len(np.unique(np.round(rows[:, [i, i + 1]], 9), axis=0)) == 5000 for i in (0, 2))
    assert np.linalg.norm(rows[1:, :2] - rows[0, :2], axis=1).argmin() == 710 - 1
    assert 1e-5 < abs(710 - 113 * 2 * pi) < 1e-4
    assert not np.isclose(rows[710, 0], rows[0, 0], rtol=0, atol=1e-5)


@pytest.mark.claim("C1-11", "true")
def test_c1_11_the_first_pair_separates_neighbours_and_the_last_the_ends() -> None:
    rows = sinusoidal_encoding(50, 8)
    step, whole = np.abs(rows[2] - rows[1]), np.abs(rows[49] - rows[0])
    assert step[:2].max() > 50 * step[6:].max()
    assert np.all(np.diff(rows[:, 6]) > 0)  # from beginning to end in one direction
    assert not np.all(np.diff(rows[:, 0]) > 0)
    assert whole[6] == pytest.approx(np.sin(0.049))


@pytest.mark.claim("C1-12", "true-if")
@pytest.mark.claim("C1-70", "true-if")
def test_c1_12_rows_are_unique_until_positions_are_rounded() -> None:
    rows = sinusoidal_encoding(10_000, 8, dtype=np.float32)
    assert len(np.unique(rows, axis=0)) == 10_000
    positions = torch.arange(512).bfloat16()
    assert positions[256] == positions[257]
    assert len(set(positions.tolist())) < 512


@pytest.mark.claim("C1-13", "imprecise")
def test_c1_13_the_index_counts_pairs_and_read_as_a_dimension_gives_other_values() -> None:
    d, row = 8, sinusoidal_encoding(2, 8)[1]
    as_pairs = [np.sin(1 / 10000 ** (2 * i / d)) for i in range(4)]
    as_dimensions = [np.sin(1 / 10000 ** (2 * i / d)) for i in range(0, 8, 2)]
    np.testing.assert_allclose(row[0::2], as_pairs, rtol=1e-12)
    assert np.abs(row[0::2] - as_dimensions).max() > 0.08


@pytest.mark.claim("C1-14", "false")
@pytest.mark.parametrize(("length", "d", "above"), [(20, 8, 3), (50, 8, 3), (512, 128, 31)])
def test_c1_14_sine_and_cosine_columns_are_not_orthogonal(length: int, d: int, above: int) -> None:
    rows = sinusoidal_encoding(length, d)
    cosines = [abs(cosine(rows[:, i], rows[:, i + 1])) for i in range(0, d, 2)]
    assert cosines[0] < 0.01  # many periods: nearly so
    assert 0.85 < max(cosines) < 0.87  # less than one: far from it
    assert sum(c > 0.1 for c in cosines) == above


@pytest.mark.claim("C1-14", "false")
def test_c1_14_over_whole_periods_they_are_orthogonal() -> None:
    turns = 2 * pi * np.arange(100) / 100
    assert abs(np.sin(turns) @ np.cos(turns)) < 1e-12


@pytest.mark.claim("C1-15", "true")
@pytest.mark.claim("C1-26", "true")
def test_c1_15_frequencies_of_width_eight_fall_tenfold_from_one() -> None:
    np.testing.assert_allclose(frequencies(8), [1, 0.1, 0.01, 0.001], rtol=1e-15)


@pytest.mark.claim("C1-16", "false")
def test_c1_16_dimension_0_is_fast_and_dimension_6_slow() -> None:
    fast, *_, slow = wavelengths(8)
    assert fast == pytest.approx(2 * pi)
    assert slow / fast == pytest.approx(1000)
    rows = sinusoidal_encoding(30, 8)
    crossings = (np.diff(np.sign(rows[1:, [0, 6]]), axis=0) != 0).sum(axis=0)
    np.testing.assert_array_equal(crossings, [9, 0])


@pytest.mark.claim("C1-17", "true")
def test_c1_17_the_five_rows_drawn_differ() -> None:
    rows = sinusoidal_encoding(10, 8)[::2]
    assert min(np.abs(a - b).max() for i, a in enumerate(rows) for b in rows[:i]) > 0.5


@pytest.mark.claim("C1-18", "false")
def test_c1_18_similarity_does_not_fall_with_every_step() -> None:
    curve = np.asarray(similarity(np.arange(20), 8))
    assert curve[6] > curve[1:6].max()  # six away is more alike than one away
    np.testing.assert_array_equal(np.flatnonzero(np.diff(curve) > 0), [3, 4, 5, 10, 11, 16, 17, 18])


@pytest.mark.claim("C1-19", "true")
def test_c1_19_an_odd_width_is_refused() -> None:
    with pytest.raises(ValueError, match="even"):
        sinusoidal_encoding(50, 7)


@pytest.mark.claim("C1-20", "true")
def test_c1_20_frequencies_are_listed_from_fast_to_slow() -> None:
    assert np.all(np.diff(frequencies(8)) < 0)
    narrow = frequencies(8).astype(np.float32).tolist()  # why a list of them prints so long
    assert [str(omega) for omega in narrow][1:] == [
        "0.10000000149011612",
        "0.009999999776482582",
        "0.0010000000474974513",
    ]


@pytest.mark.claim("C1-21", "false")
def test_c1_21_width_four_has_two_sines_and_two_cosines() -> None:
    assert [*range(0, 4, 2)] == [0, 2]  # not 0, 2, 4, …, 2
    assert [*range(1, 4, 2)] == [1, 3]  # not 1, 3, 5, …, 3
    rows, angles = sinusoidal_encoding(3, 4), np.outer(np.arange(3), frequencies(4))
    np.testing.assert_allclose(rows[:, [0, 2]], np.sin(angles), rtol=0, atol=1e-15)
    np.testing.assert_allclose(rows[:, [1, 3]], np.cos(angles), rtol=0, atol=1e-15)


@pytest.mark.claim("C1-22", "true")
def test_c1_22_fifty_rows_of_width_eight_reach_from_minus_one_to_one() -> None:
    rows = sinusoidal_encoding(50, 8)
    assert (f"{rows.min():.3f}", f"{rows.max():.3f}") == ("-1.000", "1.000")


# The pictures


def tint(name: str, value: float) -> Any:
    """Return the colour of a value in a colour map from -1 to 1."""
    import matplotlib

    return np.array(matplotlib.colormaps[name]((1 + value) / 2)[:3])


@pytest.mark.claim("C1-23", "true")
def test_c1_23_below_zero_is_blue_and_above_is_red() -> None:
    for value in (0.1, 0.5, 1.0):
        assert np.argmax(tint("RdBu_r", -value)) == 2
        assert np.argmax(tint("RdBu_r", value)) == 0


@pytest.mark.claim("C1-24", "imprecise")
def test_c1_24_no_cell_of_the_similarity_matrix_is_blue() -> None:
    cells = similarity(relative_positions(20, 20), 8)
    assert cells.min() == pytest.approx(0.2501, abs=5e-5)
    assert abs(int(np.subtract(*divmod(int(cells.argmin()), 20)))) == 16
    assert all(red > blue for red, _, blue in (tint("coolwarm", cell) for cell in cells.flat))
    red, _, blue = tint("coolwarm", -0.25)
    assert blue > red


@pytest.mark.claim("C1-25", "false")
def test_c1_25_pairs_lie_on_an_arc_and_show_no_orthogonality() -> None:
    points = sinusoidal_encoding(20, 8).reshape(80, 2)
    np.testing.assert_allclose(np.hypot(*points.T), 1, rtol=0, atol=1e-15)
    assert (points[:, 1] > 0.9).sum() == 49  # of 80: crowded at one place of the circle
    assert cosine(*sinusoidal_encoding(20, 8)[:, 6:].T) > 0.85  # and this pair is in it as well


# Learned rows, and the length of a table


@pytest.mark.claim("C1-28", "true")
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


@pytest.mark.claim("C1-29", "false")
@pytest.mark.claim("C1-62", "false")
def test_c1_29_a_stored_table_of_sines_ends_like_any_other() -> None:
    """A buffer of 20 rows has no 21st; the formula has, but using it must be learned."""
    buffer, tokens = torch.tensor(sinusoidal_encoding(20, 8)), torch.zeros(1, 21, 8)
    with pytest.raises(RuntimeError, match="21"):
        tokens + buffer[:21]
    with pytest.raises(ValueError, match="20"):
        nn.SinusoidalPositionalEncoding(8, max_len=20)(tokens)
    assert nn.SinusoidalPositionalEncoding(8)(tokens).shape == (1, 21, 8)


@pytest.mark.claim("C1-30", "true")
def test_c1_30_the_sinusoid_has_no_parameters() -> None:
    assert list(nn.SinusoidalPositionalEncoding(8).parameters()) == []


# Addition and concatenation


@pytest.mark.claim("C1-32", "true-if")
def test_c1_32_a_concatenation_is_as_wide_as_both_together() -> None:
    tokens = normal(5, 4)
    for d in (1, 2, 4):
        assert concatenate(tokens, normal(5, d, seed=1)).shape == (5, 4 + d)


@pytest.mark.claim("C1-33", "false")
@pytest.mark.claim("C1-64", "false")
@pytest.mark.claim("C1-67", "false")
def test_c1_33_the_first_projection_mixes_both_parts_and_contains_the_sum() -> None:
    tokens, rows = normal(2, 5, 4)
    weight = normal(4, 3, seed=1)
    both = concatenate(tokens, rows) @ np.vstack((weight, weight))
    np.testing.assert_allclose(both, add(tokens, rows) @ weight, rtol=0, atol=1e-14)
    free = normal(8, 3, seed=2)  # any other weight mixes them too
    moved = concatenate(tokens, rows + 1) @ free - concatenate(tokens, rows) @ free
    assert np.abs(moved).min() > 0


@pytest.mark.claim("C1-34", "true-if")
def test_c1_34_projections_of_a_concatenation_cost_twice_or_four_times_as_much() -> None:
    def cost(into: int, out: int) -> int:
        layers = [torch.nn.Linear(into, out, bias=False, device="meta") for _ in "qkv"]
        return sum(p.numel() for layer in layers for p in layer.parameters())

    assert cost(512, 512) == 786_432
    assert cost(1024, 512) == 2 * 786_432
    assert cost(1024, 1024) == 4 * 786_432
    assert cost(512 + 32, 512) < 1.07 * 786_432  # a narrow position part costs little


@pytest.mark.claim("C1-35", "true")
@pytest.mark.claim("C1-70", "true-if")
def test_c1_35_the_printed_sum_and_pair_are_right() -> None:
    word, place = np.array([[1.0, 0.5, -0.3, 0.8]]), np.array([[0.1, -0.2, 0.4, -0.1]])
    np.testing.assert_allclose(add(word, place), [[1.1, 0.3, 0.1, 0.7]], rtol=0, atol=1e-15)
    np.testing.assert_array_equal(concatenate(word, place), np.hstack((word, place)))


@pytest.mark.claim("C1-36", "imprecise")
def test_c1_36_the_vector_for_position_2_is_no_row_of_the_encoding() -> None:
    """In a row each pair has length 1; the pair 0.1, −0.2 has not."""
    np.testing.assert_allclose(
        sinusoidal_encoding(3, 4)[2], [0.9093, -0.4161, 0.0200, 0.9998], rtol=0, atol=5e-5
    )
    assert np.hypot(0.1, -0.2) ** 2 == pytest.approx(0.05)


def scores(tokens: Array, rows: Array) -> tuple[Array, Array]:
    """Return the products of every pair of sums, and of every pair of concatenations."""
    summed, paired = add(tokens, rows), concatenate(tokens, rows)
    return np.asarray(summed @ summed.T), np.asarray(paired @ paired.T)


@pytest.mark.claim("C1-37", "false")
def test_c1_37_the_score_of_a_concatenation_is_not_seven_tenths_of_a_sums() -> None:
    summed, paired = scores(TOY, sinusoidal_encoding(5, 4))
    cat, on = 1, 3
    assert f"{summed[cat, on]:.6f}" == "0.593611"
    assert f"{paired[cat, on]:.6f}" == "0.583653"  # and not 0.415527
    assert f"{0.7 * summed[cat, on]:.6f}" == "0.415527"
    others = ~np.eye(5, dtype=bool)
    ratio = (paired / summed)[others]
    assert (f"{ratio.min():.4f}", f"{ratio.max():.3f}") == ("0.0083", "1.358")
    assert (ratio > 1).sum() == 2
    assert np.abs(ratio - 0.7).min() > 0.005  # it is seven tenths for no pair


@pytest.mark.claim("C1-37", "false")
def test_c1_37_over_the_root_of_the_width_the_sum_scores_higher_still() -> None:
    summed, paired = scores(TOY, sinusoidal_encoding(5, 4))
    assert f"{summed[1, 3] / sqrt(4):.6f}" == "0.296805"
    assert f"{paired[1, 3] / sqrt(8):.6f}" == "0.206353"


@pytest.mark.claim("C1-38", "not-checkable")
def test_c1_38_both_have_cross_terms_once_they_are_projected() -> None:
    """The score of a token's part with a position's part, everything else zero."""

    def cross(join: Any, width: int) -> float:
        weight = normal(2, width, 4, seed=1)
        x, p = normal(2, 1, 4, seed=2)
        nothing = np.zeros((1, 4))
        query, key = (join(x, nothing) @ weight[0]), (join(nothing, p) @ weight[1])
        return float(query[0] @ key[0])

    assert abs(cross(add, 4)) > 0.1
    assert abs(cross(concatenate, 8)) > 0.1
    tokens, rows = TOY, sinusoidal_encoding(5, 4)
    summed, paired = scores(tokens, rows)
    np.testing.assert_allclose(
        summed - paired, tokens @ rows.T + rows @ tokens.T, rtol=0, atol=1e-15
    )


# The solution that fails


@pytest.mark.claim("C1-39", "false")
def test_c1_39_a_sum_over_positions_cannot_show_order() -> None:
    rows = sinusoidal_encoding(5, 4)
    first, second = (add(toy(words), rows) for words in (IN_ORDER, SCRAMBLED))
    np.testing.assert_allclose(first.sum(axis=0), second.sum(axis=0), rtol=0, atol=1e-14)
    np.testing.assert_allclose(
        first.sum(axis=0), [3.135086, 1.480519, 1.099983, 5.998500], rtol=0, atol=5e-7
    )
    # Summed after attention has read them, they differ.
    assert np.abs(read(first).sum(axis=0) - read(second).sum(axis=0)).max() > 0.1


@pytest.mark.claim("C1-40", "imprecise")
def test_c1_40_the_sentences_share_no_word_at_any_position() -> None:
    """So the column says no five times, with positions and without."""
    assert not any(a == b for a, b in zip(IN_ORDER, SCRAMBLED, strict=True))
    rows = sinusoidal_encoding(5, 4)
    for places in (rows, np.zeros_like(rows)):
        first, second = add(toy(IN_ORDER), places), add(toy(SCRAMBLED), places)
        assert not any(np.allclose(a, b) for a, b in zip(first, second, strict=True))


# Relative positions


@pytest.mark.claim("C1-42", "true")
def test_c1_42_the_entry_is_key_less_query() -> None:
    matrix = relative_positions(6, 6)
    assert all(matrix[i, j] == j - i for i in range(6) for j in range(6))


@pytest.mark.claim("C1-43", "false")
def test_c1_43_a_whole_number_format_refuses_floats() -> None:
    cell = torch.zeros(6, 6).numpy()[0, 0]
    with pytest.raises(ValueError, match="Unknown format code 'd'"):
        format(cell, "d")
    assert format(cell, ".0f") == "0"
    assert format(relative_positions(6, 6)[1, 0], "d") == "-1"


@pytest.mark.claim("C1-44", "true-if")
def test_c1_44_a_table_of_eleven_has_no_row_for_distance_six_unless_it_clips() -> None:
    table = np.arange(11) - 5  # a row for each distance, which it names
    with pytest.raises(IndexError):
        table[6 + 5]
    assert table[-6 + 5] == 5  # and before the first row Python silently returns the last
    np.testing.assert_array_equal(table[shaw_index([-6, 6], max_distance=5)], [-5, 5])


# The complete layer


@pytest.mark.claim("C1-48", "true")
def test_c1_48_a_buffer_is_saved_and_not_learned() -> None:
    layer = torch.nn.Module()
    layer.register_buffer("rows", torch.tensor(sinusoidal_encoding(20, 8)))
    assert layer.state_dict()["rows"].shape == (20, 8)
    assert list(layer.parameters()) == []


@pytest.mark.claim("C1-49", "true-if")
@torch.no_grad()
def test_c1_49_both_layers_have_one_shape_and_the_sinusoid_drowns_its_tokens() -> None:
    torch.manual_seed(0)
    ids = torch.randint(0, 1000, (50, 20))
    lengths = {}
    for scheme in ("learned", "sinusoidal"):
        layer = nn.PositionalEmbedding(1000, 20, 8, pos_type=scheme, dropout=0.0)
        assert layer(ids).shape == (50, 20, 8)
        lengths[scheme] = float(layer(ids).norm(dim=-1).mean())
        assert float(layer.token_embedding(ids).norm(dim=-1).mean()) == pytest.approx(
            0.02 * mean_normal_length(8), rel=0.05
        )
        with pytest.raises(ValueError, match="20"):
            layer(torch.zeros(1, 21, dtype=torch.long))
    assert lengths["sinusoidal"] == pytest.approx(2, rel=0.01)
    assert lengths["learned"] < 0.1


@pytest.mark.claim("C1-50", "imprecise")
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


@pytest.mark.claim("C1-51", "false")
@pytest.mark.parametrize("other", PRACTICE[1:], ids=["exchanged", "scrambled"])
def test_c1_51_the_difference_from_the_first_sentence_is_the_same_without_positions(
    other: str,
) -> None:
    """Whatever is added to both cancels in their difference."""

    tokens = tiny("none").embedding.token_embedding.state_dict()

    def difference(scheme: str) -> float:
        layer = nn.PositionalEmbedding(300, 32, 16, pos_type=scheme, dropout=0.0)
        layer.token_embedding.load_state_dict(tokens)
        with torch.no_grad():
            return float((layer(ids_of(other)) - layer(ids_of(PRACTICE[0]))).norm())

    without = difference("none")
    assert without > 0.1
    for scheme in ("sinusoidal", "learned", "counting"):
        assert difference(scheme) == pytest.approx(without, abs=1e-5)


@pytest.mark.claim("C1-52", "true-if")
def test_c1_52_the_word_the_has_two_rows_in_one_sentence_with_positions_and_one_without() -> None:
    ids = ids_of(PRACTICE[0])
    assert ids[0, 0] == ids[0, 4]
    for scheme, same in {"sinusoidal": False, "learned": False, "none": True}.items():
        rows = tiny(scheme).embedding(ids)[0]
        assert torch.equal(rows[0], rows[4]) == same


@pytest.mark.claim("C1-53", "true-if")
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


@pytest.mark.claim("C1-54", "true")
def test_c1_54_rows_doubled_at_width_four_have_length_two_root_two() -> None:
    lengths = np.linalg.norm(2 * sinusoidal_encoding(5, 4), axis=1)
    np.testing.assert_allclose(lengths, 2 * sqrt(2), rtol=1e-15)
    words = 0.1 * normal(20_000, 4)
    assert np.linalg.norm(words, axis=1).mean() == pytest.approx(0.188, abs=0.002)
    assert 0.1 * mean_normal_length(4) == pytest.approx(0.188, abs=5e-5)


@pytest.mark.claim("C1-55", "imprecise")
def test_c1_55_positions_are_too_loud_without_the_factor_two() -> None:
    assert sqrt(2) / (0.1 * mean_normal_length(4)) == pytest.approx(7.52, abs=0.005)
    for d in (8, 128, 512):  # root mean square of both, the same at any width
        rows = sinusoidal_encoding(5, d)
        ratio = np.linalg.norm(rows, axis=1) / (0.02 * sqrt(d))
        np.testing.assert_allclose(ratio, 1 / (0.02 * sqrt(2)), rtol=1e-12)


@pytest.mark.claim("C1-56", "true-if")
def test_c1_56_a_tenth_of_the_rows_still_drowns_usual_tokens_and_the_papers_factor_does_not() -> (
    None
):
    ratio = np.linalg.norm(sinusoidal_encoding(5, 512), axis=1) / (0.02 * sqrt(512))
    np.testing.assert_allclose(0.1 * ratio, 3.54, rtol=0, atol=0.005)
    np.testing.assert_allclose(ratio / sqrt(512), 1.5625, rtol=1e-12)


@pytest.mark.claim("C1-57", "true-if")
def test_c1_57_rows_that_no_text_reached_learn_nothing() -> None:
    torch.manual_seed(0)
    table = nn.LearnedPositionalEmbedding(20, 8)
    table(12).square().sum().backward()
    gradient = table.embedding.weight.grad
    assert gradient is not None
    assert torch.equal(gradient.abs().sum(dim=1) > 0, torch.arange(20) < 12)
    resized = table.resized(40).embedding.weight  # interpolated instead
    assert torch.equal(resized[[0, -1]], table.embedding.weight[[0, -1]])


@pytest.mark.claim("C1-60", "imprecise")
@pytest.mark.claim("C1-64", "false")
def test_c1_60_rotary_bucketed_and_linear_positions_are_not_in_the_embedding() -> None:
    ids = ids_of(PRACTICE[0])
    plain = tiny("none")
    for scheme in ("rope", "t5", "alibi"):
        model = tiny(scheme)
        model.embedding.load_state_dict(plain.embedding.state_dict())
        assert torch.equal(model.embedding(ids), plain.embedding(ids))
        assert nn.sees_order(model).verdict == "it sees order"


@pytest.mark.claim("C1-61", "false")
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


@pytest.mark.claim("C1-65", "true-if")
def test_c1_65_scrambling_reveals_whether_order_is_read() -> None:
    words, order = normal(5, 8), [1, 0, 4, 2, 3]
    rows = sinusoidal_encoding(5, 8)
    for places, told in ((rows, True), (np.zeros_like(rows), False)):
        plain, mixed = read(words + places), read(words[order] + places)
        assert (np.abs(plain[order] - mixed).max() > 0.01) == told
    for scheme, verdict in {"sinusoidal": False, "none": True}.items():
        assert nn.sees_order(tiny(scheme)).ill == verdict


@pytest.mark.claim("C1-58", "true-if")
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


@pytest.mark.claim("C1-31", "imprecise")
@pytest.mark.claim("C1-63", "imprecise")
@pytest.mark.claim("C1-68", "true")
@pytest.mark.claim("C2-20", "true-if")
def test_c1_31_learned_rows_are_level_in_print_and_ahead_in_the_model_measured_here() -> None:
    bleu = fact("base-bleu-learned") / fact("base-bleu-sinusoidal")  # more is better
    assert 0.99 < bleu < 1
    _, learned, sinusoidal, _ = fact("haviv-pile")  # perplexities: less is better
    assert 1 < learned / sinusoidal < 1.01
    ours, theirs = (measurement().perplexities(name, 64) for name in ("learned", "sinusoidal"))
    assert max(ours) < min(theirs)  # every seed
    assert np.median(theirs) - np.median(ours) > 2 * max(np.ptp(ours), np.ptp(theirs))


@pytest.mark.claim("C1-66", "true-if")
def test_c1_66_rows_of_noise_show_order_as_well() -> None:
    words, order, noise = normal(5, 8), [1, 0, 4, 2, 3], normal(5, 8, seed=1)
    sines, none = sinusoidal_encoding(5, 8), np.zeros((5, 8))
    for rows, shown in ((none, False), (sines, True), (noise, True)):
        plain, mixed = read(words + rows), read(words[order] + rows)
        assert (np.abs(plain[order] - mixed).max() > 0.01) == shown


@pytest.mark.claim("C1-66", "true-if")
def test_c1_66_one_matrix_shifts_every_row_but_none_shifts_noise() -> None:
    rows = sinusoidal_encoding(103, 8)
    assert len(np.unique(rows, axis=0)) == 103
    np.testing.assert_allclose(rows[3:], rows[:-3] @ shift_matrix(3, 8).T, rtol=0, atol=1e-12)
    noise = normal(103, 8)
    _, left, *_ = np.linalg.lstsq(noise[:-3], noise[3:])
    assert left.min() > 10  # the best matrix there is leaves most of it unexplained


@pytest.mark.claim("C1-69", "true-if")
@pytest.mark.parametrize(("d", "near"), [(8, 0.9641), (128, 1.9526), (512, 3.7143)])
def test_c1_69_neighbours_are_near_but_distances_are_not_monotonic(d: int, near: float) -> None:
    rows = sinusoidal_encoding(200, d)
    away = np.linalg.norm(rows - rows[0], axis=1)
    assert away[1] == pytest.approx(near, abs=5e-5)
    assert away[1] < away[2:5].min()
    assert away[1] < 2 * sqrt(d / 2) / 4  # of the largest distance there could be
    assert not np.all(np.diff(away) > 0)


@pytest.mark.claim("C1-71", "false")
def test_c1_71_importing_the_unused_layer_fails() -> None:
    with pytest.raises(ModuleNotFoundError):
        importlib.import_module("src.model.embeddings")
