"""What `scores.deberta` promises, against the paper entry by entry and exact logarithms."""

from __future__ import annotations

import math

import mpmath
import numpy as np
import pytest

from posenc import deberta_buckets, deberta_index, disentangled_scores, relative_positions

RANDOM = np.random.default_rng(0)


@pytest.mark.parametrize("k", [1, 2, 3, 512])
def test_the_row_of_a_pair_is_the_papers_delta(k: int) -> None:
    for i in range(0, 1400, 7):
        for j in (0, 3, 511, 699, 1399):
            delta = 0 if i - j <= -k else 2 * k - 1 if i - j >= k else i - j + k
            assert deberta_index(j - i, max_distance=k) == delta


def exact_bucket(distance: int, buckets: int, end: int) -> int:
    """Return the bucket of a distance by the authors' rule, in 50 digits."""
    middle = buckets // 2
    if distance <= middle:
        return distance
    with mpmath.workdps(50):
        steps = mpmath.log(mpmath.mpf(distance) / middle) / mpmath.log(mpmath.mpf(end - 1) / middle)
        steps *= middle - 1
        whole = mpmath.nint(steps)
        up = whole if abs(steps - whole) < mpmath.mpf(10) ** -40 else mpmath.ceil(steps)
    return min(middle + int(up), 2 * middle)


@pytest.mark.parametrize(("buckets", "end"), [(256, 512), (4, 4), (8, 33), (32, 128), (10, 10**6)])
def test_buckets_are_the_authors_in_exact_arithmetic(buckets: int, end: int) -> None:
    distances = [*range(min(end + 5, 700)), end - 1, end, end + 1, 10 * end]
    found = np.asarray(deberta_buckets(distances, buckets=buckets, max_distance=end))
    assert found.tolist() == [exact_bucket(distance, buckets, end) for distance in distances]
    mirrored = np.asarray(
        deberta_buckets(np.negative(distances), buckets=buckets, max_distance=end)
    )
    np.testing.assert_array_equal(mirrored, -found)


def scores_by_loops(
    q: np.ndarray[tuple[int, ...], np.dtype[np.float64]],
    k: np.ndarray[tuple[int, ...], np.dtype[np.float64]],
    rows_q: np.ndarray[tuple[int, ...], np.dtype[np.float64]],
    rows_k: np.ndarray[tuple[int, ...], np.dtype[np.float64]],
    *,
    released: bool = False,
) -> np.ndarray[tuple[int, ...], np.dtype[np.float64]]:
    """Return equation 4 of the paper, entry by entry."""
    half, scores = len(rows_k) // 2, np.empty((len(q), len(k)))
    for i, j in np.ndindex(*scores.shape):
        forth, back = (
            int(np.clip(x + half, 0, 2 * half - 1)) for x in (i - j, i - j if released else j - i)
        )
        terms = math.fsum(q[i] * k[j]) + math.fsum(q[i] * rows_k[forth])
        scores[i, j] = (terms + math.fsum(k[j] * rows_q[back])) / math.sqrt(3 * q.shape[1])
    return scores


@pytest.mark.parametrize("half", [1, 3, 20])
def test_scores_are_the_three_terms_of_the_paper(half: int) -> None:
    q, k = RANDOM.normal(size=(2, 9, 5))
    rows_q, rows_k = RANDOM.normal(size=(2, 2 * half, 5))
    found = disentangled_scores(
        q, k, relative_positions(9, 9), position_q=rows_q, position_k=rows_k
    )
    assert found.dtype == np.float64
    np.testing.assert_allclose(found, scores_by_loops(q, k, rows_q, rows_k), atol=1e-14)


def test_the_released_code_looks_up_the_third_term_where_it_looks_up_the_second() -> None:
    """Within max_distance, its table is the paper's in reverse; at the ends a row is left over."""
    q, k = RANDOM.normal(size=(2, 9, 5))
    rows_q, rows_k = RANDOM.normal(size=(2, 24, 5))
    tables = {"position_q": rows_q, "position_k": rows_k}
    relative = relative_positions(9, 9)
    found = disentangled_scores(q, k, relative, released=True, **tables)
    by_loops = scores_by_loops(q, k, rows_q, rows_k, released=True)
    np.testing.assert_allclose(found, by_loops, atol=1e-14)
    reverse = {**tables, "position_q": np.roll(rows_q[::-1], 1, axis=0)}
    np.testing.assert_allclose(disentangled_scores(q, k, relative, **reverse), found, atol=1e-14)
    plain = disentangled_scores(q, k, relative, **tables)  # equal at distance 0 alone
    np.testing.assert_array_equal(np.isclose(plain, found, atol=1e-12), np.eye(9, dtype=bool))


def test_heads_and_batches_broadcast() -> None:
    q, k = RANDOM.normal(size=(2, 2, 3, 4, 5))
    tables = RANDOM.normal(size=(2, 3, 6, 5))
    relative = relative_positions(4, 4)
    whole = disentangled_scores(q, k, relative, position_q=tables[0], position_k=tables[1])
    assert whole.shape == (2, 3, 4, 4)
    for batch, head in np.ndindex(2, 3):
        one = disentangled_scores(
            q[batch, head], k[batch, head], relative,
            position_q=tables[0, head], position_k=tables[1, head],
        )  # fmt: skip
        np.testing.assert_allclose(whole[batch, head], one, atol=1e-14)


def test_disentangled_scores_follow_the_tokens_when_they_are_reordered() -> None:
    """Tokens that keep their relative positions keep their scores, which need the content."""
    q, k = RANDOM.normal(size=(2, 6, 4))
    tables = dict(zip(("position_q", "position_k"), RANDOM.normal(size=(2, 6, 4)), strict=True))
    relative = relative_positions(6, 6)
    places = RANDOM.permutation(6)
    order = np.ix_(places, places)
    whole = disentangled_scores(q, k, relative, **tables)
    moved = disentangled_scores(q[places], k[places], relative[order], **tables)
    np.testing.assert_allclose(moved, whole[order], atol=1e-14)
    assert not np.allclose(np.diff(whole - q @ k.T / 12**0.5, axis=1)[0], 0)
    zeros = np.zeros((6, 4))
    np.testing.assert_array_equal(disentangled_scores(zeros, zeros, relative, **tables), 0)


@pytest.mark.parametrize("d", [4, 64])
def test_three_terms_over_the_root_of_3d_have_the_variance_of_one(d: int) -> None:
    """With independent entries of variance 1, each term has the variance d."""
    random = np.random.default_rng(5)
    found = [
        disentangled_scores(
            random.normal(size=(40, d)), random.normal(size=(40, d)), relative_positions(40, 40),
            position_q=random.normal(size=(80, d)), position_k=random.normal(size=(80, d)),
        )
        for _ in range(40)
    ]  # fmt: skip
    assert np.var(found) == pytest.approx(1, abs=0.04)
