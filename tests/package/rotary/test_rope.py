"""What `posenc.rotary` promises, against equation 34 of the paper worked out in 50 digits.

The expected vectors come from `paper_rotation`, which goes through the pairs one by one with mpmath
and shares no line with the package.
"""

from __future__ import annotations

import math
import re
import tracemalloc
from itertools import product
from typing import Any, NamedTuple

import mpmath
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from posenc import frequencies, shift_matrix
from posenc.rotary import rope as rotary_file
from posenc.rotary.rope import (
    apply_rope,
    apply_rope_complex,
    convert_layout,
    convert_projection,
    convert_qkv,
    rope_matrix,
    rotary_frequencies,
)

Array = NDArray[np.floating]

LAYOUTS = ("interleaved", "half")
POSITIONS = (0.0, 1.0, 2.0, 17.0, 4095.0, 999_999.5, -1e6, -710.0, 0.25, -12_345.678)

# Sums and dot products of a few hundred numbers of about 1: some rounding errors of 2**-53 each.
SUMMED = 1e-12

both_layouts = pytest.mark.parametrize("layout", LAYOUTS)
steps = st.floats(-10_000, 10_000)
even_widths = st.integers(1, 16).map(lambda half: 2 * half)
bases = st.floats(1, 6).map(lambda exponent: 10.0**exponent)
layouts = st.sampled_from(LAYOUTS)
seeds = st.integers(0, 2**32 - 1)
quick = settings(database=None, deadline=None, derandomize=True, max_examples=40)


def random(*shape: int, seed: int = 0) -> Array:
    """Return numbers of about 1."""
    return np.random.default_rng(seed).standard_normal(shape)


def pair_of(i: int, d: int, layout: str) -> tuple[int, int]:
    """Return the two dimensions of pair i, by the definition of the layout."""
    return (2 * i, 2 * i + 1) if layout == "interleaved" else (i, i + d // 2)


def paper_rotation(
    x: Array,
    position: float,
    *,
    base: float = 10000.0,
    layout: str = "interleaved",
    rotary_d: int | None = None,
) -> Array:
    """Return one vector, rotated pair by pair in 50 digits and rounded at the end."""
    rotated: Array = x.astype(np.float64)
    d = rotary_d or len(x)
    with mpmath.workdps(50):
        for i in range(d // 2):
            a, b = pair_of(i, d, layout)
            angle = position * mpmath.power(base, -mpmath.mpf(2 * i) / d)
            cos, sin = mpmath.cos(angle), mpmath.sin(angle)
            rotated[a] = float(float(x[a]) * cos - float(x[b]) * sin)
            rotated[b] = float(float(x[a]) * sin + float(x[b]) * cos)
    return rotated


def paper_rotations(x: Array, positions: Any, **keywords: Any) -> Array:
    """Return the vectors of a (length, d) array, each rotated by its position."""
    each = np.broadcast_to(np.asarray(positions, float), len(x)).tolist()
    return np.array([paper_rotation(row, p, **keywords) for row, p in zip(x, each, strict=True)])


def promised_error(x: Array, positions: Any) -> Array:
    """Return the error bound of each vector: each float64 angle is off by 4e-16 of itself."""
    sizes = 1 + np.abs(np.asarray(positions, float)).reshape(-1, 1)
    error: Array = 4e-16 * sizes * 2 * np.abs(x).max()
    return error


def scores(q: Array, k: Array) -> Array:
    """Return the dot product of every query with every key."""
    return q @ np.swapaxes(k, -1, -2)


# The definition


@both_layouts
@pytest.mark.parametrize("base", [10000.0, 500000.0, 1.5])
@pytest.mark.parametrize("d", [2, 4, 6, 64, 128])
def test_every_vector_is_equation_34_of_the_paper(d: int, base: float, layout: str) -> None:
    x = random(len(POSITIONS), d)
    rotated = apply_rope(x, POSITIONS, base=base, layout=layout)
    error = np.abs(rotated - paper_rotations(x, POSITIONS, base=base, layout=layout))
    assert (error <= promised_error(x, POSITIONS)).all()


@both_layouts
@pytest.mark.parametrize("rotary_d", [2, 4, 6, 8])
def test_partial_rotation_rotates_only_the_first_dimensions(rotary_d: int, layout: str) -> None:
    x = random(len(POSITIONS), 8)
    rotated = apply_rope(x, POSITIONS, layout=layout, rotary_d=rotary_d)
    expected = paper_rotations(x, POSITIONS, layout=layout, rotary_d=rotary_d)
    assert (np.abs(rotated - expected) <= promised_error(x, POSITIONS)).all()
    np.testing.assert_array_equal(rotated[:, rotary_d:], x[:, rotary_d:])
    first = apply_rope(x[:, :rotary_d], POSITIONS, layout=layout)
    np.testing.assert_array_equal(rotated[:, :rotary_d], first)


def rotated_at_once(
    x: Array, positions: Any, layout: str = "interleaved", rotary_d: int | None = None
) -> Array:
    """Return all vectors rotated in one operation per dimension, without pieces."""
    width = rotary_d or x.shape[-1]
    angles = np.multiply.outer(np.asarray(positions, np.float64), frequencies(width))
    pairs = np.array([pair_of(i, width, layout) for i in range(width // 2)])
    a, b = x[..., pairs[:, 0]].astype(np.float64), x[..., pairs[:, 1]].astype(np.float64)
    rotated = x.copy()
    rotated[..., pairs[:, 0]] = a * np.cos(angles) - b * np.sin(angles)
    rotated[..., pairs[:, 1]] = a * np.sin(angles) + b * np.cos(angles)
    return rotated


@both_layouts
@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
@pytest.mark.parametrize("rotary_d", [None, 6])
def test_rotation_in_pieces_equals_rotation_at_once(
    monkeypatch: pytest.MonkeyPatch, rotary_d: int | None, dtype: Any, layout: str
) -> None:
    """For any number of vectors per piece, and however the positions broadcast."""
    x = random(3, 5, 7, 8).astype(dtype)
    shared: list[Any] = [range(7), 1_000_003]
    broadcast = [*shared, np.arange(21).reshape(3, 1, 7), random(3, 5, 7) * 1e5]
    for room, positions in product((1, 8, 30, 56, 120, 281, 9999), broadcast):
        monkeypatch.setattr(rotary_file, "PIECE", room)
        for vectors in (x, np.asfortranarray(x)):
            rotated = apply_rope(vectors, positions, layout=layout, rotary_d=rotary_d)
            np.testing.assert_array_equal(rotated, rotated_at_once(x, positions, layout, rotary_d))
            assert rotated.dtype == dtype
            assert not np.shares_memory(rotated, vectors)


def test_pieces_cover_each_vector_once_and_stay_below_the_limit(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for shape, room in product([(3, 5, 7, 8), (8,), (4, 8), (2, 0, 8)], [1, 8, 20, 56, 100, 9999]):
        monkeypatch.setattr(rotary_file, "PIECE", room)
        counted = np.zeros(shape)
        for piece in rotary_file._pieces(shape):
            assert 0 < counted[piece].size <= max(room, 8)
            counted[piece] += 1
        assert (counted == 1).all()


@both_layouts
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_rotating_large_arrays_needs_little_extra_memory(dtype: Any, layout: str) -> None:
    """Rotating everything at once would take two and a half times the size of the result."""
    x = np.ones((1, 16, 1024, 64), dtype)
    tracemalloc.start()
    try:
        apply_rope(x, range(1024), layout=layout)
        most = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert x.nbytes <= most < 2.5 * x.nbytes


# Three forms of one thing


@both_layouts
@pytest.mark.parametrize(("d", "rotary_d"), [(2, None), (8, None), (8, 2), (8, 6)])
def test_matrix_form_equals_elementwise_form(d: int, rotary_d: int | None, layout: str) -> None:
    x = random(len(POSITIONS), d)
    for row, position in zip(x, POSITIONS, strict=True):
        matrix = rope_matrix(position, d, base=500.0, layout=layout, rotary_d=rotary_d)
        rotated = apply_rope(row, position, base=500.0, layout=layout, rotary_d=rotary_d)
        np.testing.assert_allclose(matrix @ row, rotated, rtol=0, atol=1e-14)
        assert matrix.dtype == np.float64


@both_layouts
@pytest.mark.parametrize("rotary_d", [None, 2, 6])
def test_complex_form_equals_elementwise_form(rotary_d: int | None, layout: str) -> None:
    x = random(2, len(POSITIONS), 8)
    keywords: dict[str, Any] = {"base": 500.0, "layout": layout, "rotary_d": rotary_d}
    rotated = apply_rope_complex(x, POSITIONS, **keywords)
    np.testing.assert_allclose(rotated, apply_rope(x, POSITIONS, **keywords), rtol=0, atol=1e-14)
    assert rotated.dtype == np.float64


@both_layouts
def test_matrix_is_the_papers_block_rotation(layout: str) -> None:
    expected = np.zeros((8, 8))
    for i in range(4):
        a, b = pair_of(i, 8, layout)
        angle = 3 * 10000 ** (-2 * i / 8)
        expected[a, a] = expected[b, b] = math.cos(angle)
        expected[b, a], expected[a, b] = math.sin(angle), -math.sin(angle)
    matrix = rope_matrix(3, 8, layout=layout)
    np.testing.assert_allclose(matrix, expected, rtol=0, atol=4e-16 * 4)
    assert np.count_nonzero(matrix) == 16


def test_matrix_at_position_zero_is_the_identity_without_a_minus_zero() -> None:
    matrix = rope_matrix(0, 8)
    np.testing.assert_array_equal(matrix, np.eye(8))
    assert not np.signbit(matrix).any()


def test_matrix_is_the_shift_matrix_transposed() -> None:
    """The sinusoidal rows hold (sin, cos), a point as (y, x), so their shift rotates backwards."""
    for position in (1, 3, -2, 0.5):
        matrix = rope_matrix(position, 64)
        np.testing.assert_array_equal(matrix, shift_matrix(position, 64).T)
        np.testing.assert_array_equal(matrix, shift_matrix(-position, 64))


# What follows from the definition


@quick
@given(seed=seeds, position=st.floats(-1e6, 1e6), d=even_widths, base=bases, layout=layouts)
def test_no_vector_changes_its_length(
    seed: int, position: float, d: int, base: float, layout: str
) -> None:
    x = random(d, seed=seed)
    rotated = apply_rope(x, position, base=base, layout=layout)
    assert np.linalg.norm(rotated) == pytest.approx(np.linalg.norm(x), rel=1e-14)


@quick
@given(seed=seeds, m=steps, n=steps, shift=steps, d=even_widths, base=bases, layout=layouts)
def test_score_stays_when_query_and_key_move_together(
    seed: int, m: float, n: float, shift: float, d: int, base: float, layout: str
) -> None:
    q, k = random(2, d, seed=seed)
    here = apply_rope(q, m, base=base, layout=layout) @ apply_rope(k, n, base=base, layout=layout)
    there = apply_rope(q, m + shift, base=base, layout=layout) @ apply_rope(
        k, n + shift, base=base, layout=layout
    )
    # Angles up to 20 000 carry 4e-16 of it each, on products of up to |q|·|k|.
    size = float(np.linalg.norm(q) * np.linalg.norm(k))
    assert here == pytest.approx(there, abs=5e-11 * (1 + size))


@quick
@given(seed=seeds, m=steps, n=steps, d=even_widths, base=bases, layout=layouts)
def test_score_is_the_query_with_the_key_rotated_by_key_minus_query(
    seed: int, m: float, n: float, d: int, base: float, layout: str
) -> None:
    q, k = random(2, d, seed=seed)
    rotated = apply_rope(q, m, base=base, layout=layout) @ apply_rope(
        k, n, base=base, layout=layout
    )
    size = float(np.linalg.norm(q) * np.linalg.norm(k))
    relative = q @ apply_rope(k, n - m, base=base, layout=layout)
    assert rotated == pytest.approx(relative, abs=5e-11 * (1 + size))


def test_score_depends_on_the_sign_of_the_offset() -> None:
    q, k = random(2, 64)
    ahead, behind = apply_rope(q, 10) @ apply_rope(k, 13), apply_rope(q, 10) @ apply_rope(k, 7)
    assert abs(ahead - behind) > 0.1
    # Only with equal vectors is the score the same on both sides.
    assert q @ apply_rope(q, 3) == pytest.approx(q @ apply_rope(q, -3), abs=SUMMED)


# Shapes, types, positions


@pytest.mark.parametrize(
    "seven",
    [7, 7.0, np.int8(7), np.array(7), [7], *(np.full(3, 7, kind) for kind in ("u1", ">f4"))],
)
def test_position_may_be_a_number_of_any_type_and_is_not_a_count(seven: Any) -> None:
    x = random(3, 8)
    expected = np.array([apply_rope(row, 7) for row in x])
    np.testing.assert_array_equal(apply_rope(x, seven), expected)


def test_no_vectors_give_no_vectors() -> None:
    assert apply_rope(np.zeros((0, 8)), []).shape == (0, 8)
    assert apply_rope(np.zeros((2, 0, 8)), 7).shape == (2, 0, 8)
    assert apply_rope_complex(np.zeros((0, 8)), []).shape == (0, 8)
    assert convert_layout(np.zeros((0, 8)), source="half", target="half").shape == (0, 8)


def test_overflow_gives_infinity_and_a_warning() -> None:
    largest = np.full(2, 65504, np.float16)
    with pytest.warns(RuntimeWarning, match="overflow"):
        assert np.isinf(apply_rope(largest, 0.5)).any()


# Own frequencies


@both_layouts
def test_given_frequencies_replace_the_base(layout: str) -> None:
    x = random(len(POSITIONS), 8)
    own = frequencies(8, base=500_000.0)
    for form in (apply_rope, apply_rope_complex):
        np.testing.assert_array_equal(
            form(x, POSITIONS, frequencies=own, layout=layout),
            form(x, POSITIONS, base=500_000.0, layout=layout),
        )
    np.testing.assert_array_equal(
        rope_matrix(3, 8, frequencies=list(own), layout=layout),
        rope_matrix(3, 8, base=500_000.0, layout=layout),
    )


def test_rotary_frequencies_are_those_of_the_rotated_width() -> None:
    np.testing.assert_array_equal(rotary_frequencies(64), frequencies(64))
    np.testing.assert_array_equal(
        rotary_frequencies(64, rotary_d=16, base=7.0), frequencies(16, base=7.0)
    )
    np.testing.assert_array_equal(
        rotary_frequencies(8, rotary_d=4, frequencies=[2, 3], base=10000), [2.0, 3.0]
    )


# Layouts


@pytest.mark.parametrize("rotary_d", [None, 2, 4, 6, 8])
@pytest.mark.parametrize("source", LAYOUTS)
@pytest.mark.parametrize("target", LAYOUTS)
def test_converting_commutes_with_rotating(source: str, target: str, rotary_d: int | None) -> None:
    x, positions = random(2, 5, 8), [0, 3, 1, 70, -2]

    def converted(values: Array) -> Array:
        return convert_layout(values, source=source, target=target, rotary_d=rotary_d)

    there = apply_rope(converted(x), positions, layout=target, rotary_d=rotary_d)
    here = apply_rope(x, positions, layout=source, rotary_d=rotary_d)
    np.testing.assert_array_equal(there, converted(here))


@quick
@given(seed=seeds, d=even_widths, layout=layouts, other=layouts, data=st.data())
def test_conversion_there_and_back_is_the_identity(
    seed: int, d: int, layout: str, other: str, data: st.DataObject
) -> None:
    x = random(3, d, seed=seed)
    rotary_d = data.draw(st.sampled_from([None, *range(2, d + 1, 2)]))
    there = convert_layout(x, source=layout, target=other, rotary_d=rotary_d)
    back = convert_layout(there, source=other, target=layout, rotary_d=rotary_d)
    np.testing.assert_array_equal(back, x)
    if layout == other:
        np.testing.assert_array_equal(there, x)


def test_partial_conversion_leaves_the_rest_where_it_is() -> None:
    found = convert_layout(np.arange(8), source="interleaved", target="half", rotary_d=4)
    np.testing.assert_array_equal(found, [0, 2, 1, 3, 4, 5, 6, 7])


def test_scores_are_the_same_in_either_layout() -> None:
    q, k = random(2, 6, 64)
    interleaved = scores(apply_rope(q, range(6)), apply_rope(k, range(6)))
    q, k = (convert_layout(x, source="interleaved", target="half") for x in (q, k))
    half = scores(*(apply_rope(x, range(6), layout="half") for x in (q, k)))
    np.testing.assert_allclose(half, interleaved, rtol=0, atol=SUMMED)


def test_mixed_layouts_give_wrong_scores() -> None:
    """The planted fault: weights trained in one layout, rotated in the other. Nothing crashes."""
    q, k = random(2, 6, 64)
    right = scores(apply_rope(q, range(6)), apply_rope(k, range(6)))
    both_wrong = scores(*(apply_rope(x, range(6), layout="half") for x in (q, k)))
    one_wrong = scores(apply_rope(q, range(6), layout="half"), apply_rope(k, range(6)))
    assert np.abs(both_wrong - right).max() > 1
    assert np.abs(one_wrong - right).max() > 1
    # At equal positions the wrong layout gives the right score, since both rotate alike.
    np.testing.assert_allclose(np.diag(both_wrong), np.diag(right), rtol=0, atol=SUMMED)
    assert np.abs(np.diag(one_wrong) - np.diag(right)).max() > 1


# Projections

HEADS, KEY_HEADS, D, D_MODEL, LENGTH = 6, 2, 8, 12, 5


class Projection(NamedTuple):
    """A linear layer that feeds some heads."""

    weight: Array
    bias: Array
    heads: int

    def __call__(self, tokens: Array) -> Array:
        """Return (heads, length, d)."""
        out = tokens @ self.weight.T + self.bias
        return out.reshape(len(tokens), self.heads, -1).swapaxes(0, 1)

    def converted(self, **keywords: Any) -> Projection:
        """Return the layer in another layout."""
        weight = convert_projection(self.weight, heads=self.heads, **keywords)
        bias = convert_projection(self.bias, heads=self.heads, **keywords)
        return Projection(weight, bias, self.heads)


def projection(heads: int, seed: int) -> Projection:
    """Return a layer of random numbers."""
    return Projection(random(heads * D, D_MODEL, seed=seed), random(heads * D, seed=-~seed), heads)


def grouped_scores(query: Projection, key: Projection, tokens: Array, **keywords: Any) -> Array:
    """Return (heads, length, length), each group of query heads sharing a key head."""
    q = apply_rope(query(tokens), range(len(tokens)), **keywords)
    k = apply_rope(key(tokens), range(len(tokens)), **keywords)
    return scores(q, k.repeat(query.heads // key.heads, axis=0))


def from_to(source: str, rotary_d: int | None = None) -> dict[str, Any]:
    """Return the keywords of a conversion out of `source`."""
    target = "half" if source == "interleaved" else "interleaved"
    return {"source": source, "target": target, "rotary_d": rotary_d}


@pytest.mark.parametrize("heads", [HEADS, KEY_HEADS, 1])
@pytest.mark.parametrize("rotary_d", [None, 4])
@pytest.mark.parametrize("source", LAYOUTS)
def test_converted_projection_gives_converted_vectors(
    source: str, rotary_d: int | None, heads: int
) -> None:
    tokens, layer = random(LENGTH, D_MODEL), projection(heads, 1)
    found = layer.converted(**from_to(source, rotary_d))(tokens)
    np.testing.assert_array_equal(found, convert_layout(layer(tokens), **from_to(source, rotary_d)))


@pytest.mark.parametrize("key_heads", [HEADS, KEY_HEADS, 1])
@pytest.mark.parametrize("rotary_d", [None, 4])
@pytest.mark.parametrize("source", LAYOUTS)
def test_scores_do_not_change_when_both_projections_are_converted(
    source: str, rotary_d: int | None, key_heads: int
) -> None:
    tokens, query, key = random(LENGTH, D_MODEL), projection(HEADS, 1), projection(key_heads, 3)
    change = from_to(source, rotary_d)
    before = grouped_scores(query, key, tokens, layout=source, rotary_d=rotary_d)
    after = grouped_scores(
        query.converted(**change),
        key.converted(**change),
        tokens,
        layout=change["target"],
        rotary_d=rotary_d,
    )
    # Dot products of 8 numbers of about 10.
    np.testing.assert_allclose(after, before, rtol=0, atol=1e-11)


def test_converting_projections_there_and_back_is_the_identity() -> None:
    layer = projection(HEADS, 1)
    back = layer.converted(**from_to("half", 4)).converted(**from_to("interleaved", 4))
    np.testing.assert_array_equal(back.weight, layer.weight)
    np.testing.assert_array_equal(back.bias, layer.bias)


def test_incomplete_conversions_give_wrong_scores() -> None:
    """Planted: the key, a bias, the grouped heads or the unrotated part is forgotten."""
    tokens, query, key = random(LENGTH, D_MODEL), projection(HEADS, 1), projection(KEY_HEADS, 3)
    change = from_to("interleaved")
    right = grouped_scores(query, key, tokens)
    q, k = query.converted(**change), key.converted(**change)
    as_many_heads = convert_projection(key.weight, heads=4, **change)
    for wrong_q, wrong_k in (
        (q, key),
        (q._replace(bias=query.bias), k),
        (q, k._replace(weight=as_many_heads)),
        (query.converted(**from_to("interleaved", 4)), key.converted(**from_to("interleaved", 4))),
    ):
        found = grouped_scores(wrong_q, wrong_k, tokens, layout="half")
        assert np.abs(found - right).max() > 1


def fused(parts: tuple[Array, ...] | list[Array], key_heads: int, arrangement: str) -> Array:
    """Return queries, keys and values, one array each by head, as the rows of one matrix."""
    if arrangement == "groups":
        groups = [np.split(part, key_heads) for part in parts]
        parts = [part[group] for group in range(key_heads) for part in groups]
    return np.concatenate([part.reshape(-1, *part.shape[2:]) for part in parts])


@pytest.mark.parametrize("shape", [(D_MODEL,), ()], ids=["weight", "bias"])
@pytest.mark.parametrize("key_heads", [HEADS, KEY_HEADS, 1])
@pytest.mark.parametrize("rotary_d", [None, 4])
@pytest.mark.parametrize("arrangement", ["blocks", "groups"])
def test_a_fused_projection_is_converted_like_its_parts(
    arrangement: str, rotary_d: int | None, key_heads: int, shape: tuple[int, ...]
) -> None:
    change = from_to("interleaved", rotary_d)
    q, k, v = (random(n, D, *shape, seed=n) for n in (HEADS, key_heads, key_heads))
    together = fused((q, k, v), key_heads, arrangement)
    q, k = (
        convert_projection(x.reshape(-1, *shape), heads=len(x), **change).reshape(x.shape)
        for x in (q, k)
    )
    keywords: dict[str, Any] = {"key_heads": key_heads, "arrangement": arrangement, **change}
    before = together.copy()
    for matrix in (together, np.asfortranarray(together)):
        found = convert_qkv(matrix, heads=HEADS, **keywords)
        np.testing.assert_array_equal(found, fused((q, k, v), key_heads, arrangement))
        np.testing.assert_array_equal(matrix, before)
    back = convert_qkv(found, heads=HEADS, **(keywords | from_to("half", rotary_d)))
    np.testing.assert_array_equal(back, together)


def test_a_fused_projection_has_as_many_key_heads_as_heads_unless_told() -> None:
    rows, change = random(3 * HEADS * D), from_to("half")
    told = convert_qkv(rows, heads=HEADS, key_heads=HEADS, arrangement="blocks", **change)
    np.testing.assert_array_equal(convert_qkv(rows, heads=HEADS, **change), told)


def test_the_arrangement_of_a_fused_projection_matters() -> None:
    """Planted: a matrix in groups is converted as if it were in blocks, and no shape is wrong."""
    rows, change = random(3 * HEADS * D), from_to("half")
    found = [convert_qkv(rows, heads=HEADS, arrangement=a, **change) for a in ("blocks", "groups")]
    assert (found[0] != found[1]).any()


# Bad input: `tests/package/test_arguments.py` has the values that each argument refuses alone


@pytest.mark.parametrize("form", [apply_rope, apply_rope_complex, rope_matrix, rotary_frequencies])
def test_base_and_frequencies_cannot_both_be_given(form: Any) -> None:
    arguments = {
        apply_rope: (np.ones(8), 1),
        apply_rope_complex: (np.ones(8), 1),
        rope_matrix: (1, 8),
        rotary_frequencies: (8,),
    }
    with pytest.raises(ValueError, match=r"^base must be left out when frequencies are given; got"):
        form(*arguments[form], frequencies=np.ones(4), base=500.0)
    with pytest.raises(TypeError, match=r"^base must be a number"):
        form(*arguments[form], frequencies=np.ones(4), base="500")


@pytest.mark.parametrize(
    ("rows", "heads"), [((), 2), ((0, 4), 2), ((3,), 2), ((6, 4), 2), ((8, 4, 1), 2), ((8,), 8)]
)
def test_projection_has_an_even_number_of_rows_for_each_head(
    rows: tuple[int, ...], heads: int
) -> None:
    message = f"with d even, 2 or more, and {heads} heads; got {rows}"
    with pytest.raises(ValueError, match=f"^weight must be .*{re.escape(message)}$"):
        convert_projection(np.ones(rows), heads=heads, source="half", target="interleaved")


@pytest.mark.parametrize("rows", [(), (0, 4), (8,), (24, 4), (12, 4), (16, 4, 1)])
def test_fused_projection_has_an_even_number_of_rows_for_each_head(rows: tuple[int, ...]) -> None:
    message = f"with d even, 2 or more, 4 heads and 2 key_heads; got {rows}"
    change = from_to("half")
    with pytest.raises(ValueError, match=f"^weight must be .*{re.escape(message)}$"):
        convert_qkv(np.ones(rows), heads=4, key_heads=2, **change)
