"""Claims of source S0 that no other test settles. Each test asserts what is right.

Where a claim is false, the test also asserts that its statement fails. The claims are in
docs/data/claims/000.yml.
"""

from __future__ import annotations

import ast
import importlib.util
import math

import mpmath
import numpy as np
import pytest
import torch
from numpy.typing import NDArray

import posenc.nn
from posenc import (
    PositionalEncoding,
    alibi_bias,
    apply_rope,
    attention,
    frequencies,
    similarity,
    sinusoidal_encoding,
    wavelengths,
)
from scripts.book.citations import fact
from scripts.measure.summary import measurement
from tests.arrays import Array, normal

DOG, BITES, MAN = np.array(
    [
        [0.5, 0.3, 0.8, 0.1, 0.4, 0.6, 0.2, 0.9],
        [0.2, 0.7, 0.4, 0.9, 0.1, 0.3, 0.8, 0.5],
        [0.9, 0.1, 0.6, 0.3, 0.7, 0.5, 0.4, 0.2],
    ]
)


@pytest.mark.claim("true-if", "C0-02")
def test_c0_02_the_sentences_hold_the_same_words_once_case_is_folded() -> None:
    one, other = "Dog bites man", "Man bites dog"
    assert sorted(one.split()) != sorted(other.split())
    assert sorted(one.lower().split()) == sorted(other.lower().split())


@pytest.mark.claim("true", "C0-03")
def test_c0_03_a_recurrence_knows_the_order_of_what_it_read() -> None:
    def last_state(words: list[Array]) -> Array:
        state = np.zeros(8)
        for word in words:
            state = np.tanh(normal(8, 8) @ state + word)
        return state

    assert np.abs(last_state([DOG, BITES, MAN]) - last_state([MAN, BITES, DOG])).max() > 0.1


@pytest.mark.claim("imprecise", "C0-05")
def test_c0_05_two_hands_of_a_wall_clock_repeat_and_two_pairs_do_not() -> None:
    minutes = np.arange(2 * 12 * 60)
    hands = np.stack([minutes % 60, minutes % 720])
    assert np.array_equal(hands[:, : 12 * 60], hands[:, 12 * 60 :])
    assert len(np.unique(sinusoidal_encoding(2 * 12 * 60, 4).round(9), axis=0)) == 2 * 12 * 60


@pytest.mark.claim("imprecise", "C0-07", "C1-13", "C3-05")
def test_c0_07_the_index_counts_pairs_and_read_as_a_dimension_doubles_the_exponent() -> None:
    pairs, dimensions = np.arange(4), np.arange(0, 8, 2)
    row = sinusoidal_encoding(np.array(1), 8)
    np.testing.assert_allclose(row[0::2], np.sin(10000.0 ** (-2 * pairs / 8)), atol=1e-15)
    np.testing.assert_allclose(row[1::2], np.cos(10000.0 ** (-2 * pairs / 8)), atol=1e-15)
    misread = 10000.0 ** (-2 * dimensions / 8)
    np.testing.assert_allclose(misread, frequencies(8) ** 2)
    assert (np.sin(misread)[1:] < row[0::2][1:] / 9).all()  # every later pair too slow


@pytest.mark.claim("true", "C0-10", "C1-15", "C1-26")
def test_c0_10_the_sixteen_angles() -> None:
    printed = [
        [0.0, 0.0, 0.0, 0.0],
        [1.0, 0.1, 0.01, 0.001],
        [2.0, 0.2, 0.02, 0.002],
        [3.0, 0.3, 0.03, 0.003],
    ]
    np.testing.assert_allclose(np.outer(range(4), frequencies(8)), printed, rtol=1e-15)


@pytest.mark.claim("imprecise", "C0-12")
def test_c0_12_rows_written_as_comments_are_an_empty_list() -> None:
    rows = "\n".join(
        f"  # pos {p}: {row.tolist()}" for p, row in enumerate(sinusoidal_encoding(4, 8))
    )
    assert ast.literal_eval(f"[\n{rows}\n]") == []


@pytest.mark.claim("true", "C0-13")
def test_c0_13_the_twelve_sums() -> None:
    sums = np.array([DOG, BITES, MAN]) + sinusoidal_encoding(3, 8)
    printed = [[0.5, 1.3, 0.8, 1.1], [1.041, 1.24, 0.5, 1.895], [1.809, -0.316, 0.799, 1.28]]
    np.testing.assert_array_equal(sums[:, :4].round(3), printed)


@pytest.mark.claim("false", "C0-15")
def test_c0_15_the_fourth_entry_of_position_one_rounds_to_one() -> None:
    printed = np.array(
        [
            [0.00, 1.00, 0.00, 1.00, 0.00, 1.00],
            [0.84, 0.54, 0.10, 0.99, 0.01, 1.00],
            [0.91, -0.42, 0.20, 0.98, 0.02, 1.00],
        ]
    )
    right = sinusoidal_encoding(3, 8)[:, :6].round(2)
    assert right[1, 3] == 1.00
    assert np.argwhere(right != printed).tolist() == [[1, 3]]
    assert math.floor(100 * math.cos(0.1)) / 100 == printed[1, 3]  # cut off, not rounded


@pytest.mark.claim("imprecise", "C0-19")
def test_c0_19_the_identity_without_frequencies_is_pair_zeros_alone() -> None:
    """A step of k rotates pair i by ω_i·k; only pair 0 rotates by k, as in the printed identity."""
    start, step = 4, 3
    here, there = sinusoidal_encoding([start, start + step], 8).reshape(2, 4, 2)
    sine, cosine = here.T
    turned = sine * math.cos(step) + cosine * math.sin(step)
    assert turned[0] == pytest.approx(there[0, 0])
    assert (np.abs(turned - there[:, 0])[1:] > 0.03).all()


@pytest.mark.claim("true-if", "C0-20")
def test_c0_20_learned_projections_need_not_keep_the_relative_part() -> None:
    rows = sinusoidal_encoding(400, 64)
    query, key = normal(2, 64, 64) / 8
    plain = np.einsum("pd,pd->p", rows[:-5], rows[5:])
    projected = np.einsum("pd,pd->p", rows[:-5] @ query, rows[5:] @ key)
    assert plain.std() < 1e-12
    assert projected.std() > 1


@pytest.mark.claim("imprecise", "C0-21")
def test_c0_21_learned_entries_start_small_and_counters_grow() -> None:
    table = posenc.LearnedPositionalEmbedding(512, 64, seed=0).position_embeddings
    assert np.abs(table).max() < 0.12  # six deviations of 0.02
    assert np.abs(sinusoidal_encoding(512, 64)).max() <= 1 < np.arange(512).max()


@pytest.mark.claim("false", "C0-23")
def test_c0_23_a_fixed_table_lets_the_gradient_through_as_any_constant_would() -> None:
    """The word gets the gradient of the sum, with the table, with noise and with nothing."""
    upstream = torch.tensor(normal(5, 8))
    for constant in (sinusoidal_encoding(5, 8), normal(5, 8, seed=1), np.zeros((5, 8))):
        word = torch.zeros(5, 8, dtype=torch.float64, requires_grad=True)
        (word + torch.tensor(constant)).backward(upstream)  # type: ignore[no-untyped-call]
        assert word.grad is not None
        assert torch.equal(word.grad, upstream)
    assert not [*posenc.nn.SinusoidalPositionalEncoding(8).parameters()]


@pytest.mark.claim("false", "C0-27", "C0-28")
def test_c0_27_the_array_holds_even_dimensions_and_then_frequencies() -> None:
    width = 8
    even = np.arange(0, width, 2)
    assert even.tolist() == [0, 2, 4, 6] != list(range(width // 2))
    multiplied = np.exp(even * (-np.log(10000.0) / width))
    np.testing.assert_allclose(multiplied, frequencies(width), rtol=1e-14)
    assert (multiplied[1:] < 1).all()  # divisors would be above 1


def worst(values: NDArray[np.floating], width: int) -> float:
    """Return the largest relative error of frequencies, against 50 digits."""
    with mpmath.workdps(50):
        exact = [mpmath.power(10000, -mpmath.mpf(2 * i) / width) for i in range(width // 2)]
        pairs = zip(values.tolist(), exact, strict=True)
        return max(float(abs(mpmath.mpf(value) / right - 1)) for value, right in pairs)


@pytest.mark.claim("false", "C0-29")
def test_c0_29_the_detour_over_the_logarithm_costs_a_digit_and_saves_nothing() -> None:
    """At 512: ten times the error and more in float64, and three times and more in float32.

    14 times where numpy computes the exponential with AVX-512, and 16 times elsewhere.
    """
    even = np.arange(0, 512, 2)
    detour = np.exp(even * (-np.log(10000.0) / 512))
    assert 10 < worst(detour, 512) / worst(frequencies(512), 512) < 20
    single = np.float32(10000.0)
    detour32 = np.exp(even.astype(np.float32) * (-np.log(single) / np.float32(512)))
    direct32 = np.power(single, -even.astype(np.float32) / np.float32(512))
    assert detour32.dtype == direct32.dtype == np.float32
    assert worst(detour32, 512) > 3 * worst(direct32, 512)
    for found in (direct32, detour32):  # between 1 and 1/10000 there is nothing to overflow
        assert 0.9e-4 < found.min() < found.max() <= 1


@pytest.mark.claim("true", "C1-19")
@pytest.mark.claim("true-if", "C0-30")
def test_c0_30_an_odd_width_has_a_cosine_too_many() -> None:
    table, angles = np.zeros((10, 7)), np.zeros((10, 4))
    with pytest.raises(ValueError, match="broadcast"):
        table[:, 1::2] = np.cos(angles)
    for refuses in (PositionalEncoding, sinusoidal_encoding):
        with pytest.raises(ValueError, match="even"):
            refuses(10, 7)
    assert PositionalEncoding(10, 8).get_encoding(10).shape == (10, 8)


@pytest.mark.claim("imprecise", "C0-25")
@pytest.mark.claim("true", "C0-31")
def test_c0_31_lengths_beyond_the_table_or_below_zero_are_rejected() -> None:
    table = PositionalEncoding(512, 8)
    for length in (513, 1001, -1):
        with pytest.raises(ValueError, match=f"got {length}"):
            table.get_encoding(length)
    with pytest.raises(IndexError):
        _ = table.encoding_table[1000]
    assert sinusoidal_encoding(np.array(1000), 8).shape == (8,)
    rows = np.zeros((512, 8))
    assert len(rows[:-1]) == 511  # what an unchecked slice returns
    assert np.shares_memory(rows[:3], rows)  # and it is the table itself
    assert not np.shares_memory(table.get_encoding(3), table.encoding_table)


@pytest.mark.claim("true", "C0-32")
def test_c0_32_the_shapes_of_the_usage_example() -> None:
    ids = np.array([[42, 156, 89]])
    tokens = (normal(1000, 128) * 0.02)[ids]
    rows = PositionalEncoding(512, 128).get_encoding(3)
    assert ids.shape == (1, 3)
    assert tokens.shape == (tokens + rows).shape == (1, 3, 128)
    assert rows.shape == (3, 128)


@pytest.mark.claim("false", "C0-33")
def test_c0_33_dimension_zero_starts_at_zero_and_has_not_completed_a_period_at_five() -> None:
    first = sinusoidal_encoding(np.linspace(0, 5, 501), 128)[:, 0]
    assert first[0] == 0
    assert first.argmax() == 157  # near 1.57, a quarter turn
    assert 5 / wavelengths(128)[0] == pytest.approx(0.796, abs=5e-4)


@pytest.mark.claim("true", "C0-40", "C0-41")
@pytest.mark.claim("false", "C0-34", "C4-14")
@pytest.mark.parametrize(
    ("width", "dimension", "wavelength"),
    [
        (128, 126, 54_410.143),  # and not 20,000π
        (512, 0, 6.283),
        (512, 254, 606.115),  # 254 and 255 are the slowest only at half the width
        (512, 510, 60_611.477),
        (256, 254, 58_469.566),
    ],
)
def test_c0_34_wavelengths_of_the_named_dimensions(
    width: int, dimension: int, wavelength: float
) -> None:
    assert wavelengths(width)[dimension // 2] == pytest.approx(wavelength, abs=5e-4)


PRINTED = np.array(fact("printed-similarity"))


@pytest.mark.claim("false", "C0-42")
def test_c0_42_even_bases_below_one_do_not_reproduce_the_printed_row() -> None:
    def misses(width: int, base: float) -> float:
        return float(np.abs(similarity(range(8), width, base=base) - PRINTED).max())

    assert min(misses(width, 10000.0) for width in range(4, 513, 2)) > 1.4
    assert misses(6, 5.728e-4) == pytest.approx(0.367, abs=5e-4)
    assert 0.1 < misses(10, 2.65e-6) < 0.14  # so the base above is no minimum


@pytest.mark.claim("imprecise", "C0-43")
def test_c0_43_the_share_of_pairs_of_distances_in_the_wrong_order() -> None:
    near, far = np.triu_indices(511, k=1)
    for width, share in {8: 0.393, 128: 0.164, 512: 0.064}.items():
        found = np.asarray(similarity(np.arange(1, 512), width))
        assert (found[near] < found[far]).mean() == pytest.approx(share, abs=5e-4)


def halves_swapped(x: Array) -> Array:
    """Return (−x₂, x₁) of the halves x₁, x₂."""
    one, two = np.split(x, 2, axis=-1)
    return np.concatenate([-two, one], axis=-1)


def neighbours_swapped(x: Array) -> Array:
    """Return (−x₁, x₀, −x₃, x₂, …)."""
    return np.stack([-x[..., 1::2], x[..., 0::2]], axis=-1).reshape(x.shape)


@pytest.mark.claim("true-if", "C0-47")
def test_c0_47_cosines_must_be_laid_out_as_the_rotation_pairs() -> None:
    x, position = normal(64), 100
    angles = position * frequencies(64)
    neighbours, halves = np.repeat(angles, 2), np.tile(angles, 2)
    for layout, swapped, right, wrong in (
        ("interleaved", neighbours_swapped, neighbours, halves),
        ("half", halves_swapped, halves, neighbours),
    ):
        turned = apply_rope(x, position, layout=layout)
        np.testing.assert_allclose(x * np.cos(right) + swapped(x) * np.sin(right), turned)
        mixed = x * np.cos(wrong) + swapped(x) * np.sin(wrong)
        assert np.linalg.norm(turned) == pytest.approx(np.linalg.norm(x))
        assert abs(np.linalg.norm(mixed) / np.linalg.norm(x) - 1) > 0.01


def perplexities(scheme: str) -> Array:
    """Return the perplexities at 1, 2, 4 and 8 times the training length, a column per seed."""
    return np.array([measurement().perplexities(scheme, length) for length in (64, 128, 256, 512)])


@pytest.mark.claim("false", "C0-24", "C0-54", "C4-05", "C4-18", "C4-36")
def test_c0_24_at_twice_its_length_a_sinusoidal_model_is_lost() -> None:
    found = perplexities("sinusoidal")
    assert (found[0] < perplexities("none")[0]).all()  # it had learned to use its rows
    assert (found[1:] > 5 * found[0]).all()


@pytest.mark.claim("false", "C0-48", "C0-56")
def test_c0_48_beyond_its_length_a_rotary_model_gets_worse_and_worse() -> None:
    found = perplexities("rope")
    assert (np.diff(found, axis=0) > 0.3 * found[:-1]).all()
    assert np.count_nonzero(wavelengths(128) > 4096) == 18  # of 64 pairs have not turned once


@pytest.mark.claim("true-if", "C0-52", "C0-57")
def test_c0_52_alibi_keeps_its_perplexity_but_not_its_sense_of_order() -> None:
    found = perplexities("alibi")
    assert (found[1:] < found[0]).all()
    # All gain is in the first 16 bytes of a window: 256 more bytes of context do not help the rest.
    at, stretch = np.median(measurement().by_position("alibi"), axis=0), 16
    assert np.mean(at[1 + 256 // stretch :] / at[1 : -256 // stretch]) > 1
    assert all(share == 1 for share in measurement().accuracies("alibi", 16))
    assert measurement().accuracy("alibi", 128) < 0.55


@pytest.mark.claim("true-if", "C0-51")
def test_c0_51_the_printed_penalty_is_not_python_and_the_papers_is_causal() -> None:
    with pytest.raises(SyntaxError):
        ast.parse("bias = -m * |p - q|")
    causal, both = alibi_bias(8, 5), alibi_bias(8, 5, causal=False)
    back = np.tri(5, dtype=bool)
    np.testing.assert_array_equal(causal[:, back], both[:, back])
    assert np.isneginf(causal[:, ~back]).all()
    assert np.isfinite(both).all()
    np.testing.assert_allclose(both[0, 4], -0.5 * np.abs(4 - np.arange(5)))


@pytest.mark.claim("false", "C0-59", "C1-71")
def test_c0_59_the_named_module_is_missing_and_posenc_runs() -> None:
    assert importlib.util.find_spec("src") is None
    assert importlib.util.find_spec("posenc.__main__") is not None


@pytest.mark.claim("true-if", "C0-60")
def test_c0_60_the_three_printed_similarities_fall_and_others_rise() -> None:
    printed = similarity([1, 5, 9], 128)
    np.testing.assert_array_equal(printed.round(3), [0.970, 0.737, 0.689])
    assert (np.diff(printed) < 0).all()
    assert similarity(12, 128) > similarity(11, 128)


@pytest.mark.claim("true", "C0-65", "C2-21")
def test_c0_65_a_table_learns_what_its_task_asks_of_it() -> None:
    """Rows of 8 positions, read by one fixed vector, trained to separate two halves of them."""
    for halves in (torch.arange(8) % 2, torch.arange(8) // 4):
        torch.manual_seed(0)
        table = posenc.nn.LearnedPositionalEmbedding(max_len=8, d_model=4)
        trainer = torch.optim.SGD(table.parameters(), lr=0.1)
        for _ in range(50):
            trainer.zero_grad()
            (table(8).sum(dim=-1) - (2 * halves - 1)).square().sum().backward()
            trainer.step()
        assert torch.equal(table(8).sum(dim=-1) > 0, halves.bool())
    assert not list(posenc.nn.SinusoidalPositionalEncoding(4).parameters())  # nothing to train


@pytest.mark.claim("true-if", "C0-66")
def test_c0_66_reading_at_once_is_reading_word_by_word() -> None:
    x = normal(6, 8)
    at_once = attention(x, x, x, mask=np.tri(6, dtype=bool))[0]
    one_by_one = [attention(x[p : p + 1], x[: p + 1], x[: p + 1])[0][0] for p in range(6)]
    np.testing.assert_allclose(at_once, one_by_one)
