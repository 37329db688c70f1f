"""The theorems of chapter 4, each tested where it could break: at its limits and one step beyond.

Most theorems rest on properties tested in other files, which the chapter cites beside each; these
tests cover what only the chapter claims. Where a theorem says "and no other", the test counts the
others.
"""

from __future__ import annotations

import itertools
import math

import mpmath
import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from posenc import (
    alibi_bias,
    alibi_slopes,
    apply_rope,
    attention,
    causal_mask,
    frequencies,
    nn,
    shaw_index,
    shift_matrix,
    similarity,
    sinusoidal_encoding,
    t5_bias,
    t5_buckets,
)
from tests.arrays import Array, normal

pytestmark = pytest.mark.filterwarnings("error")


# Sums of a few hundred products of numbers near 1, each rounded to 2**-53.
SUMMED = 1e-12

quick = settings(database=None, deadline=None, derandomize=True, max_examples=40)
offsets = st.integers(-500, 500)
half_widths = st.integers(1, 32)


def encoder(x: Array, *, depth: int = 3, causal: bool = False) -> Array:
    """Return the output of a small pre-norm encoder with random weights and no positions."""
    width = x.shape[-1]
    for layer in range(depth):
        wq, wk, wv, up, down = normal(5, width, width, seed=layer) / math.sqrt(width)
        normed = (x - x.mean(-1, keepdims=True)) / x.std(-1, keepdims=True)
        mask = causal_mask(len(x)) if causal else None
        x = x + attention(normed @ wq, normed @ wk, normed @ wv, mask=mask)[0]
        x = x + np.maximum(x @ up, 0) @ down
    return x


# Attention and order


def test_equal_words_receive_equal_vectors_and_the_sentences_equal_means() -> None:
    words = dict(zip(("the", "cat", "sat", "on", "mat"), normal(5, 8), strict=True))
    first = ["the", "cat", "sat", "on", "the", "mat"]
    second = ["the", "mat", "sat", "on", "the", "cat"]
    one, other = (encoder(np.stack([words[word] for word in s])) for s in (first, second))
    for i, j in itertools.product(range(6), repeat=2):
        assert np.allclose(one[i], other[j]) == (first[i] == second[j])
    np.testing.assert_allclose(one.mean(0), other.mean(0), atol=SUMMED)
    assert not np.allclose(one, other)


@pytest.mark.parametrize("d", [1, 2, 4])
def test_products_of_random_vectors_have_variance_d(d: int) -> None:
    """Exactly, over all vectors of entries +1 and -1, whose mean is 0 and whose variance is 1."""
    vectors = np.array(list(itertools.product((-1, 1), repeat=d)))
    products = (vectors @ vectors.T).ravel()
    assert products.mean() == 0
    assert products.var() == d


def test_undivided_scores_saturate_the_softmax() -> None:
    q, k = normal(500, 64), normal(500, 64, 64, seed=1)
    products = np.einsum("nd,nkd->nk", q, k)
    assert products.std() == pytest.approx(8, rel=0.01)

    def largest(scores: Array) -> float:
        weights = np.exp(scores - scores.max(-1, keepdims=True))
        return float((weights.max(-1) / weights.sum(-1)).mean())

    assert largest(products) == pytest.approx(0.79, abs=0.02)  # most of it, and not nearly all
    assert largest(products / 8) == pytest.approx(0.11, abs=0.02)


def test_a_deep_encoder_without_positions_is_equivariant() -> None:
    x = normal(6, 8)
    order = [3, 5, 0, 1, 4, 2]
    np.testing.assert_allclose(encoder(x)[order], encoder(x[order]), atol=SUMMED)
    assert not np.allclose(encoder(x), encoder(x[order]), atol=0.1)


def test_depth_does_not_separate_equal_tokens_without_positions() -> None:
    x = normal(6, 8)
    x[4] = x[0]
    deep = encoder(x, depth=6)
    np.testing.assert_allclose(deep[0], deep[4], atol=SUMMED)
    looking_back = encoder(x, causal=True)
    assert not np.allclose(looking_back[0], looking_back[4], atol=0.1)


def mean_of_the_past(values: Array) -> Array:
    """Return the output of a masked layer whose scores are all 0."""
    zeros = np.zeros((len(values), 1))
    return attention(zeros, zeros, values, mask=causal_mask(len(values)))[0]


def test_a_masked_layer_notices_every_other_order() -> None:
    """By the layer of the proof: no order but the given one merely permutes the outputs."""
    given_order = mean_of_the_past(np.eye(4))  # column u: the share of u in each place's bag
    for order in itertools.permutations(range(4)):
        moved = mean_of_the_past(np.eye(4)[list(order)])
        same = np.allclose(moved, given_order[list(order)])
        assert same == (order == (0, 1, 2, 3))


def test_one_masked_layer_reads_its_past_as_a_bag_and_two_do_not() -> None:
    x = normal(5, 8)
    for order in ([1, 0, 2, 3, 4], [3, 2, 0, 1, 4]):
        one, other = (encoder(y, depth=1, causal=True)[-1] for y in (x, x[order]))
        np.testing.assert_allclose(one, other, atol=SUMMED)
        one, other = (encoder(y, depth=2, causal=True)[-1] for y in (x, x[order]))
        assert np.abs(one - other).max() > 0.01
    twice = [mean_of_the_past(mean_of_the_past(np.eye(3)[:, [u]])).item(-1) for u in range(2)]
    assert twice == pytest.approx([11 / 18, 5 / 18])


def test_after_two_masked_layers_the_last_token_encodes_every_position() -> None:
    """After one layer, with the same scores of 0, it encodes none."""
    for n in (3, 5, 40):
        expected = [sum(1 / i for i in range(j, n + 1)) / n for j in range(1, n + 1)]
        order = np.random.default_rng(n).permutation(n)
        once = mean_of_the_past(np.eye(n)[order])
        np.testing.assert_allclose(once[-1], 1 / n, rtol=1e-14)
        last = mean_of_the_past(once)[-1]
        np.testing.assert_allclose(last[order], expected, rtol=1e-12)
        np.testing.assert_array_equal(np.argsort(-last), order)


# The sinusoidal rows


@pytest.mark.claim("false", "C3-07")
@pytest.mark.claim("true-if", "C4-52")
@pytest.mark.parametrize("width", [64, 512, 4096])
def test_bounded_positions_still_drown_small_tokens(width: int) -> None:
    """With tokens of deviation 0.02 the sum is the position, rotated by 1.6 degrees."""
    tokens, rows = 0.02 * normal(200, width), sinusoidal_encoding(200, width)
    ratio = np.linalg.norm(rows) / np.linalg.norm(tokens)
    assert ratio == pytest.approx(1 / (0.02 * math.sqrt(2)), rel=0.01)
    sums = tokens + rows
    cosines = (sums * rows).sum(1) / np.linalg.norm(sums, axis=1) / np.linalg.norm(rows, axis=1)
    assert np.degrees(np.arccos(cosines)).mean() == pytest.approx(1.6, abs=0.03)
    assert np.abs((sums * tokens).sum(1) / np.linalg.norm(sums, axis=1)).max() < 0.3


def test_one_pair_alone_tells_a_million_positions_apart() -> None:
    rows = sinusoidal_encoding(1_000_000, 2).view(np.complex128)[:, 0]
    angles = np.sort(np.angle(rows))
    assert np.diff(angles).min() > 1e-9  # and float64 angles are off by 4e-10 at most


@quick
@given(position=offsets, lag=offsets, half=half_widths)
def test_distance_is_a_sum_of_squared_sines(position: int, lag: int, half: int) -> None:
    row, moved = sinusoidal_encoding([position, position + lag], 2 * half)
    distance = np.linalg.norm(moved - row)
    sines = np.sin(lag * frequencies(2 * half) / 2)
    assert distance == pytest.approx(2 * math.sqrt((sines**2).sum()), abs=SUMMED)
    assert distance**2 == pytest.approx(
        2 * half * (1 - similarity(lag, 2 * half)), abs=100 * SUMMED
    )


def lag_distances(farthest: int, width: int) -> Array:
    """Return how far apart two rows are at the lags 1, 2, … farthest."""
    lags = np.arange(1, farthest + 1)
    squares = np.zeros(farthest)
    for omega in frequencies(width):
        squares += np.sin(lags * omega / 2) ** 2
    return 2 * np.sqrt(squares)


def records(distances: Array) -> list[int]:
    """Return the lags whose distance is below that of every smaller lag."""
    least = np.minimum.accumulate(distances)
    return [1, *(2 + np.flatnonzero(distances[1:] < least[:-1])).tolist()]


def convergents(x: mpmath.mpf, largest: int) -> list[int]:
    """Return the numerators of the convergents of x up to a largest one."""
    before, now = 0, 1
    found: list[int] = []
    while True:
        whole = int(mpmath.floor(x))
        before, now = now, whole * now + before
        if now > largest:
            return found
        found.append(now)
        x = 1 / (x - whole)


def test_near_misses_of_one_pair_are_the_convergents_of_two_pi() -> None:
    with mpmath.workdps(40):
        expected = convergents(2 * mpmath.pi, 1_000_000)
    assert expected == [6, 19, 25, 44, 333, 710, 103993, 312689]
    assert records(lag_distances(1_000_000, 2)) == [1, *expected]


def test_the_closest_rows_are_neighbours_only_in_wide_tables() -> None:
    assert records(lag_distances(10_000, 4))[-1] == 1885  # three times 200 pi
    assert records(lag_distances(10_000, 8))[-1] == 6283  # 2000 pi
    assert records(lag_distances(1_000_000, 16)) == [1, 596_274, 615_746]
    assert records(lag_distances(1_000_000, 64)) == [1]
    assert records(lag_distances(20_000, 512)) == [1]


def closer_than_neighbours(width: int, farthest: int) -> list[int]:
    """Return the lags, from 2 to a farthest one, at which rows are closer than neighbours are.

    A lag is dropped as soon as the pairs summed so far exceed the distance of neighbours. Rounding
    256 angles of ten million radians uses a tenth of the margin.
    """
    halves = frequencies(width) / 2
    bound = (np.sin(halves) ** 2).sum() * (1 + 1e-6)
    found: list[int] = []
    for start in range(2, farthest + 1, 2**15):
        lags = np.arange(start, min(start + 2**15, farthest + 1), dtype=np.float64)
        squares = np.zeros_like(lags)
        for n in range(halves.size // 8):
            for half in halves[n :: halves.size // 8]:  # slow and fast ones
                squares += np.sin(lags * half) ** 2
            near = squares < bound
            lags, squares = lags[near], squares[near]
        found += lags.astype(int).tolist()
    return found


def test_at_widths_64_and_512_neighbours_are_the_closest_rows_for_ten_million_lags() -> None:
    distances = lag_distances(1_000_000, 16)
    plain = 2 + np.flatnonzero(distances[1:] < distances[0])
    assert closer_than_neighbours(16, 1_000_000) == plain.tolist()
    assert plain[0] == 596_274
    assert closer_than_neighbours(64, 10_000_000) == []
    assert closer_than_neighbours(512, 10_000_000) == []


@pytest.mark.parametrize(("width", "within"), [(2, 44), (4, 1885), (8, 31416)])
def test_every_table_comes_back_near_its_start(width: int, within: int) -> None:
    distances = lag_distances(within, width)
    assert distances[-1] == distances.min() < 0.08
    assert similarity(within, width) > similarity(1, width)


@pytest.mark.parametrize("width", [2, 4, 8, 16])
def test_rows_span_the_whole_space(width: int) -> None:
    """So no other matrix agrees with the shift on all rows."""
    rows = sinusoidal_encoding(40_000, width)
    smallest = np.linalg.eigvalsh(rows.T @ rows)[0]
    assert smallest > 1  # not a zero that rounding hides
    found = np.linalg.lstsq(rows[:-3], rows[3:], rcond=None)[0].T
    np.testing.assert_allclose(found, shift_matrix(3, width), atol=1e-9)


def doubled_rows(digits: int, omega: Array, off: float = 0.0) -> NDArray[np.complex128]:
    """Return 2**digits rows made from one row by rotations, all off by a factor."""
    pairs = np.full((1, omega.size), 1j)
    for n in range(digits):
        turn = np.exp(-1j * 2**n * omega) * (1 + off)
        pairs = np.concatenate([pairs, pairs * turn])
    return pairs


def test_doubling_builds_a_table_with_one_rotation_for_each_binary_digit() -> None:
    omega, digits = frequencies(64), 16
    exact = sinusoidal_encoding(2**digits, 64).view(np.complex128)
    # Angles up to 2**16 are rounded, and the two parts of each rotation and each product.
    rounded = (2.0**digits + 4 * digits) * 2.0**-53
    assert np.abs(doubled_rows(digits, omega) - exact).max() < 2 * rounded
    # The row that takes every rotation reaches the bound of the theorem.
    error = np.abs(doubled_rows(digits, omega, off=1e-3) - exact).max(1)
    assert error.argmax() == 2**digits - 1
    assert error.max() == pytest.approx((1 + 1e-3) ** digits - 1, rel=1e-6)


@pytest.mark.parametrize("width", [2, 4, 6, 8])
def test_relative_scores_leave_d_of_d_squared_numbers_free(width: int) -> None:
    """Count the solutions of MᵀAM = A: the d singular values that are 0, and no more."""
    shift = shift_matrix(1, width)
    moved = np.kron(shift.T, shift.T) - np.eye(width * width)
    values = np.linalg.svd(moved, compute_uv=False)
    assert np.count_nonzero(values < 1e-10) == width
    assert np.count_nonzero(values > 1e-6) == width * width - width


def position_scores(matrix: Array, length: int = 12) -> Array:
    rows = sinusoidal_encoding(length, len(matrix))
    return rows @ matrix @ rows.T


def test_a_matrix_of_rotated_blocks_scores_by_the_signed_offset() -> None:
    rho, phi, omega = np.abs(normal(4)), normal(4, seed=1), frequencies(8)
    matrix = np.zeros((8, 8))
    for pair in range(4):
        cosine, sine = rho[pair] * np.cos(phi[pair]), rho[pair] * np.sin(phi[pair])
        matrix[2 * pair : 2 * pair + 2, 2 * pair : 2 * pair + 2] = [[cosine, sine], [-sine, cosine]]
    lags = np.subtract.outer(np.arange(12), np.arange(12)).T  # key minus query
    expected = (rho * np.cos(lags[..., np.newaxis] * omega + phi)).sum(-1)
    np.testing.assert_allclose(position_scores(matrix), expected, atol=SUMMED)
    assert abs(expected[0, 7] - expected[7, 0]) > 0.1  # it knows direction
    matrix[2:4, 2:4] = 0  # a pair left out lowers the rank by two
    assert np.linalg.matrix_rank(matrix) == 2 * 3

    def spread(scores: Array) -> float:
        return max(float(np.ptp(scores.diagonal(lag))) for lag in range(-10, 11))

    assert spread(position_scores(matrix)) < SUMMED
    assert spread(position_scores(np.eye(8))) < SUMMED
    assert spread(position_scores(normal(8, 8))) > 1
    np.testing.assert_allclose(position_scores(np.eye(8)), position_scores(np.eye(8)).T)


@pytest.mark.parametrize("width", [2, 8, 64, 512])
@pytest.mark.parametrize("length", [7, 63, 512, 4096, 10**9])
def test_the_number_of_pairs_past_a_full_turn_is_logarithmic(width: int, length: int) -> None:
    bound = width / 2 * math.log(length / (2 * math.pi)) / math.log(10000)
    counted = np.count_nonzero(length * frequencies(width) >= 2 * math.pi)
    assert counted == min(width // 2 - 1, math.floor(bound)) + 1


# Learned rows


def test_a_table_can_hold_any_rows_including_sinusoids() -> None:
    table = nn.LearnedPositionalEmbedding(max_len=20, d_model=8)
    (weight,) = table.parameters()
    for rows in (sinusoidal_encoding(20, 8), normal(20, 8)):
        with torch.no_grad():
            weight.copy_(torch.tensor(rows))
        np.testing.assert_array_equal(table(20).detach().numpy(), rows.astype(np.float32))
    assert weight.numel() == 20 * 8


@pytest.mark.claim("imprecise", "C3-30")
@pytest.mark.claim("true-if", "C1-57")
def test_rows_beyond_the_training_texts_get_no_gradient() -> None:
    table = nn.LearnedPositionalEmbedding(max_len=20, d_model=8)
    (weight,) = table.parameters()
    (table(12) ** 2).sum().backward()
    assert weight.grad is not None
    moved = weight.grad.abs().sum(1) > 0
    assert moved.tolist() == [True] * 12 + [False] * 8


# Rotary positions


def numbers(x: Array) -> NDArray[np.complex128]:
    """Return neighbouring pairs as complex numbers."""
    return x[0::2] + 1j * x[1::2]


@quick
@given(m=offsets, n=offsets, half=half_widths, seed=st.integers(0, 99))
def test_relative_score_is_a_sum_of_cosines_with_the_angle_between_the_pairs(
    m: int, n: int, half: int, seed: int
) -> None:
    q, k = normal(2, 2 * half, seed=seed)
    phi = np.angle(numbers(k)) - np.angle(numbers(q))
    sizes = np.abs(numbers(q)) * np.abs(numbers(k))
    expected = (sizes * np.cos((n - m) * frequencies(2 * half) + phi)).sum()
    assert apply_rope(q, m) @ apply_rope(k, n) == pytest.approx(expected, abs=1e-10)


@pytest.mark.parametrize("width", [2, 4, 8])
def test_a_score_that_is_equal_at_every_offset_is_zero(width: int) -> None:
    """A constant and the terms of a score, d + 1 functions of the offset, are independent."""
    angles = np.multiply.outer(np.arange(40_000), frequencies(width))
    terms = np.hstack([np.ones((len(angles), 1)), np.cos(angles), np.sin(angles)])
    assert np.linalg.eigvalsh(terms.T @ terms)[0] > 1  # not a zero that rounding hides
    # With a pair that never turns they are dependent: it scores alike at every offset.
    still = np.hstack([terms, np.cos(angles[:, :1] * 0)])
    assert np.linalg.eigvalsh(still.T @ still)[0] < 1e-6


def test_only_parallel_pairs_score_alike_on_both_sides() -> None:
    q = normal(8)
    parallel = q * np.repeat([2.0, -0.5, 0.0, 3.0], 2)
    offset = np.arange(1, 50)

    def gap(key: Array) -> float:
        ahead = apply_rope(np.tile(key, (49, 1)), offset) @ q
        behind = apply_rope(np.tile(key, (49, 1)), -offset) @ q
        return float(np.abs(ahead - behind).max())

    assert gap(parallel) < SUMMED
    for pair in range(3):  # rotate one pair a little, and the two sides differ
        turned = parallel.copy()
        turned[2 * pair : 2 * pair + 2] += 0.1 * np.array([-q[2 * pair + 1], q[2 * pair]])
        assert gap(turned) > 1e-3


def test_the_score_at_one_offset_depends_on_the_content() -> None:
    q, k, other = normal(3, 64)
    one, two = (apply_rope(q, 10) @ apply_rope(key, 3) for key in (k, other))
    assert abs(one - two) > 1
    assert one == pytest.approx(apply_rope(q, 110) @ apply_rope(k, 103), abs=1e-10)


# Biases


def test_a_matrix_invariant_to_diagonal_steps_is_toeplitz() -> None:
    queries, keys = 5, 7
    row = normal(queries + keys - 1)
    lags = np.subtract.outer(np.arange(keys), np.arange(queries)).T
    matrix = row[lags + queries - 1]
    np.testing.assert_array_equal(matrix[1:, 1:], matrix[:-1, :-1])
    assert len(np.unique(matrix)) == queries + keys - 1
    # Conversely: count the free numbers of matrices that survive the step.
    steps = np.zeros(((queries - 1) * (keys - 1), queries * keys))
    cells = np.arange(queries * keys).reshape(queries, keys)
    for equation, (here, there) in enumerate(
        zip(cells[1:, 1:].flat, cells[:-1, :-1].flat, strict=True)
    ):
        steps[equation, [here, there]] = 1, -1
    free = queries * keys - np.linalg.matrix_rank(steps)
    assert free == queries + keys - 1


def test_clipped_and_bucketed_biases_exist_at_every_lag_and_a_raw_table_ends() -> None:
    far = np.array([-10_000, -513, 513, 10_000])
    assert shaw_index(far, max_distance=16).tolist() == [0, 0, 32, 32]
    assert t5_buckets(far).tolist() == [15, 15, 31, 31]
    bias = t5_bias(normal(32, 12), far[np.newaxis])
    np.testing.assert_array_equal(bias[..., 0], bias[..., 1])
    raw = np.zeros(2 * 512 - 1)  # lags -511 … 511
    with pytest.raises(IndexError):
        raw[513 + 511]


def test_a_far_key_that_fits_outscores_a_near_one_that_does_not() -> None:
    q, keys = np.array([[1.0, 0.0]]), np.array([[9.0, 0.0], [0.0, 0.0], [0.0, 0.0]])
    bias = alibi_bias(8, 1, 3, query_offset=2)[0]  # the steepest head
    weights = attention(q, keys, np.zeros((3, 1)), bias=bias)[1][0]
    assert weights[0] > weights[2] > weights[1]
    equal = attention(q, 0 * keys, np.zeros((3, 1)), bias=bias)[1][0]
    assert (np.diff(equal) > 0).all()  # at equal content the nearer has more


def test_only_biases_that_differ_by_row_constants_attend_alike() -> None:
    q, k, v = normal(3, 6, 4)
    bias = normal(6, 6, seed=1)
    for change, alike in (
        (normal(6, 1, seed=2), True),
        (normal(1, 6, seed=2), False),
        (1e-3 * np.eye(6), False),
    ):
        one, other = (attention(q, k, v, bias=b)[1] for b in (bias, bias + change))
        assert np.allclose(one, other, rtol=0, atol=1e-14) == alike
        # The weights give the bias back, up to a constant of each row.
        ratios = np.log(other / one)
        np.testing.assert_allclose(np.diff(ratios), np.diff(change + 0 * bias), atol=1e-10)


@pytest.mark.parametrize("head", [0, 3, 7])
def test_an_alibi_head_sees_almost_nothing_beyond_its_window(head: int) -> None:
    slope, spread, length = alibi_slopes(8)[head], 2.0, 3000
    distance = np.arange(length)
    far_keys_fit_best = np.where(distance > 20, spread, 0.0)
    weights = np.exp(far_keys_fit_best - slope * distance)
    weights /= weights.sum()
    for r in (20, 100, 1000):
        assert weights[r + 1 :].sum() <= math.exp(spread - slope * (r + 1)) * (1 + 1e-12)
    # Without the range of the contents the bound would be wrong.
    if head == 7:
        assert weights[101:].sum() > math.exp(-slope * 101)


def test_alibis_flattest_head_gives_far_keys_less_than_one_percent() -> None:
    """The worst case of Theorem 4.19 with a range of 20: all keys from `far` on fit best."""
    slope = min(alibi_slopes(8))
    assert slope == min(alibi_slopes(16)) == min(alibi_slopes(32)) == 1 / 256
    distance = np.arange(100_000)

    def share(far: int) -> float:
        weights = np.exp(np.where(distance >= far, 20.0, 0.0) - slope * distance)
        return float(weights[far:].sum() / weights.sum())

    far = math.ceil((20 + math.log(100)) / slope)
    assert far == 6299
    assert share(far) < 0.01 < share(far - 10)


@pytest.mark.parametrize("head", range(8))
def test_weights_of_equal_contents_fall_geometrically(head: int) -> None:
    slope, length = alibi_slopes(8)[head], 6000
    zeros = np.zeros((length, 1))
    bias = alibi_bias(8, 1, length, query_offset=length - 1)[head]
    weights = attention(zeros[:1], zeros, zeros, bias=bias)[1][0, ::-1]  # the query's own first
    assert weights[0] == pytest.approx(1 - math.exp(-slope), rel=1e-9)
    np.testing.assert_allclose(weights[1:100] / weights[:99], math.exp(-slope), rtol=1e-9)
    held = np.cumsum(weights)
    for share, keys in ((0.5, math.log(2) / slope), (0.99, math.log(100) / slope)):
        assert 1 + np.argmax(held >= share) == math.ceil(keys)


# Costs and places


@pytest.mark.parametrize(
    ("module", "count"),
    [
        (nn.SinusoidalPositionalEncoding(768), 0),
        (nn.LearnedPositionalEmbedding(max_len=512, d_model=768), 512 * 768),
        (nn.RotaryEmbedding(768 // 12), 0),
        (nn.RelativePositionEmbedding(768 // 12, max_distance=16), (2 * 16 + 1) * 768 // 12),
        (nn.T5RelativeBias(12), 32 * 12),
        (nn.SwinRelativeBias(12, window=7), (2 * 7 - 1) ** 2 * 12),
        (nn.ALiBi(12), 0),
    ],
    ids=["sinusoidal", "learned", "rope", "shaw", "t5", "swin", "alibi"],
)
def test_parameter_counts_match_the_formulas(module: torch.nn.Module, count: int) -> None:
    """At width 768 with 12 heads."""
    assert sum(parameter.numel() for parameter in module.parameters()) == count


def test_a_score_of_sums_is_four_scores() -> None:
    matrix, (x, y) = normal(8, 8), normal(2, 8, seed=1)
    p, q = sinusoidal_encoding([3, 5], 8)
    terms = [left @ matrix @ right for left in (x, p) for right in (y, q)]
    assert (x + p) @ matrix @ (y + q) == pytest.approx(sum(terms), abs=SUMMED)
    assert min(map(abs, terms)) > 0.01  # all four are there


@pytest.mark.claim("true-if", "C3-33")
@pytest.mark.claim("not-checkable", "C1-38")
def test_a_score_of_concatenations_has_a_matrix_for_each_term() -> None:
    blocks, (x, y) = normal(2, 2, 8, 8), normal(2, 8, seed=1)
    p, q = sinusoidal_encoding([3, 5], 8)
    terms = [
        left @ block @ right
        for left, row in zip((x, p), blocks, strict=True)
        for block, right in zip(row, (y, q), strict=True)
    ]
    whole = np.block([list(row) for row in blocks])
    score = np.concatenate([x, p]) @ whole @ np.concatenate([y, q])
    assert score == pytest.approx(sum(terms), abs=SUMMED)
    whole[:8, 8:] = whole[8:, :8] = 0
    score = np.concatenate([x, p]) @ whole @ np.concatenate([y, q])
    assert score == pytest.approx(terms[0] + terms[3], abs=SUMMED)


@pytest.mark.parametrize("causal", [False, True])
def test_equal_tokens_stay_equal_if_values_carry_no_position(causal: bool) -> None:
    def deep(x: Array, *, rotated: bool, bias: Array | None) -> Array:
        for layer in range(3):
            wq, wk, wv = normal(3, 8, 8, seed=layer)
            q, k = x @ wq, x @ wk
            if rotated:
                q, k = (apply_rope(y, np.arange(len(x))) for y in (q, k))
            mask = causal_mask(len(x)) if causal else None
            x = np.tanh(x + attention(q, k, x @ wv, bias=bias, mask=mask)[0])
        return x

    lags = np.subtract.outer(np.arange(9), np.arange(9)).T
    token, biases = normal(1, 8, seed=9), (None, alibi_bias(8, 9, causal=False)[2], lags * 0.3)
    for rotated, bias in itertools.product((False, True), biases):
        out = deep(np.tile(token, (9, 1)), rotated=rotated, bias=bias)
        np.testing.assert_allclose(out, out[:1].repeat(9, 0), atol=SUMMED)
        short = deep(token, rotated=False, bias=None)
        np.testing.assert_allclose(out[:1], short, atol=SUMMED)
    placed = deep(token + sinusoidal_encoding(9, 8), rotated=False, bias=None)
    assert np.ptp(placed, axis=0).max() > 0.1
