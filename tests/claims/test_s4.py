"""Claims of source S4, one by one. Where the text is wrong, its test also asserts that.

docs/data/claims/004.yml cites these tests; those of the quiz are in tests/book/test_quiz.py.
"""

from __future__ import annotations

import math
from itertools import permutations
from typing import Any

import numpy as np
import pytest
import torch
from numpy.typing import NDArray

from posenc import (
    LearnedPositionalEmbedding,
    attention,
    causal_mask,
    concatenate,
    frequencies,
    no_encoding,
    similarity,
    sinusoidal_encoding,
    wavelengths,
)
from scripts.book.citations import fact
from tests.arrays import Array, normal, self_attention

WIDTH = 512  # of the text
EXACT = 1e-12


def loop(length: int, d: int, factor: int) -> NDArray[np.float64]:
    """Return a table from a loop over even dimensions j, whose exponent is factor·j/d."""
    table = np.empty((length, d))
    for p in range(length):
        for j in range(0, d, 2):
            angle = p / 10000 ** (factor * j / d)
            table[p, j], table[p, j + 1] = math.sin(angle), math.cos(angle)
    return table


def orders() -> list[tuple[str, ...]]:
    """Return every order of a sentence of six words, two of them the same."""
    return sorted(set(permutations(["the", "cat", "sat", "on", "the", "mat"])))


def texts() -> NDArray[np.float64]:
    """Return the sentence in every order, a vector a word."""
    words = ["the", "cat", "sat", "on", "mat"]
    vectors = dict(zip(words, normal(5, 8), strict=True))
    return np.array([[vectors[word] for word in order] for order in orders()])


def kinds(values: Array) -> int:
    """Return how many different rows there are, to nine decimals."""
    return len(np.unique(values.round(9), axis=0))


def bags(outputs: Array) -> int:
    """Return how many different bags of vectors there are, ignoring order."""
    return len({tuple(sorted(map(tuple, text.round(9)))) for text in outputs})


# Why positions


@pytest.mark.claim("true-if", "C4-01")
def test_c4_01_only_without_a_mask_are_all_positions_alike() -> None:
    x = texts()
    masked = self_attention(x, mask=causal_mask(6))
    assert len(x) == bags(masked) == 360
    assert bags(self_attention(x)) == 1
    assert kinds(masked[:, -1]) == 5  # the last word's: which word it is, nothing of the order


@pytest.mark.claim("imprecise", "C4-03")
def test_c4_03_the_bag_is_identical_and_the_list_is_not() -> None:
    mat, nouns_swapped = normal(6, 8), [0, 5, 2, 3, 4, 1]
    before, after = self_attention(mat), self_attention(mat[nouns_swapped])
    np.testing.assert_allclose(after, before[nouns_swapped], rtol=0, atol=EXACT)
    assert np.abs(after - before).max() > 0.1
    placed = texts() + sinusoidal_encoding(6, 8)
    assert bags(self_attention(placed)) == 360


@pytest.mark.claim("true", "C1-30", "C4-04")
def test_c4_04_a_formula_is_deterministic_and_has_no_parameters() -> None:
    from posenc.nn import SinusoidalPositionalEncoding

    first, second = (SinusoidalPositionalEncoding(8) for _ in range(2))
    tokens = torch.zeros(1, 6, 8)
    assert torch.equal(first(tokens), second(tokens))
    np.testing.assert_array_equal(sinusoidal_encoding(6, 8), sinusoidal_encoding(6, 8))
    assert list(first.parameters()) == []
    rows = [LearnedPositionalEmbedding(6, 8).position_embeddings for _ in range(2)]
    assert (rows[0] != rows[1]).any()


@pytest.mark.claim("false", "C2-14", "C4-05", "C4-18", "C4-36")
@pytest.mark.claim("imprecise", "C4-32")
def test_c4_05_beyond_512_half_of_the_pairs_reach_new_angles() -> None:
    """A row exists at any position; in 512, 133 of 256 pairs do not complete a period."""
    assert np.isfinite(sinusoidal_encoding(np.array(10**6), WIDTH)).all()
    slow = wavelengths(WIDTH) > 512
    assert slow.sum() == 133
    # Just beyond the training length each slow hand stands at an angle that no row before had.
    angles = np.outer(np.arange(513), frequencies(WIDTH)[slow])
    assert (angles[512] > angles[:512].max(axis=0)).all()
    assert angles[512].max() < 2 * math.pi


@pytest.mark.claim("false", "C4-07")
def test_c4_07_a_convolution_is_parallel_and_sees_order() -> None:
    text, kernel = np.array([1.0, 4.0, 9.0]), np.array([1.0, 2.0, 3.0])
    there, back = np.convolve(text, kernel, "same"), np.convolve(text[::-1], kernel, "same")
    assert sorted(there) != sorted(back)  # not the same outputs in another sequence
    # In parallel: each output is a sum over the input alone, so they can be computed in any order.
    padded, sequence = np.pad(text, 1), [2, 0, 1]
    sums = [padded[i : i + 3] @ kernel[::-1] for i in sequence]
    np.testing.assert_array_equal(sums, there[sequence])
    there, back = self_attention(text[:, np.newaxis]), self_attention(text[::-1, np.newaxis])
    np.testing.assert_allclose(there, back[::-1], rtol=1e-14)


# The sum


@pytest.mark.claim("true-if", "C4-08")
def test_c4_08_the_sums_are_right_and_the_row_is_no_sinusoid() -> None:
    word, position = np.array([0.2, -0.5, 0.8]), np.array([0.1, 0.3, -0.2])
    np.testing.assert_allclose(word + position, [0.3, -0.2, 0.6], rtol=0, atol=EXACT)
    assert position[0] ** 2 + position[1] ** 2 == pytest.approx(0.1)  # a sine and a cosine: 1
    pairs = sinusoidal_encoding(np.linspace(-1e4, 1e4, 501), WIDTH).reshape(501, -1, 2)
    np.testing.assert_allclose((pairs**2).sum(axis=-1), 1, rtol=0, atol=EXACT)


@pytest.mark.claim("true-if", "C1-32", "C3-33", "C4-10")
@pytest.mark.parametrize(("width", "extra"), [(WIDTH, WIDTH), (WIDTH, 16), (8, 4), (4, 1)])
def test_c4_10_a_concatenation_doubles_the_width_only_with_rows_as_wide(
    width: int, extra: int
) -> None:
    joined = concatenate(normal(3, width), normal(3, extra, seed=1))
    assert joined.shape == (3, width + extra)
    assert (joined.shape[-1] == 2 * width) == (extra == width)


def nearest(vectors: Array, candidates: Array) -> NDArray[np.intp]:
    """Return which candidate each vector lies nearest to."""
    closeness = vectors @ candidates.T - (candidates**2).sum(axis=1) / 2
    found: NDArray[np.intp] = closeness.argmax(axis=1)
    return found


@pytest.mark.claim("true-if", "C4-12", "C4-52")
@pytest.mark.parametrize(
    ("deviation", "rows", "words"), [(0.02, 1, 0.01), (0.1, 1, 0.46), (1, 0.94, 1), (3, 0.45, 1)]
)
def test_c4_12_word_and_position_can_both_be_read_off_their_sum(
    deviation: float, rows: float, words: float
) -> None:
    """The larger one can be read directly; once it is subtracted, the other can, always."""
    vocabulary = np.random.default_rng(1).normal(scale=deviation, size=(1000, WIDTH))
    table, places = sinusoidal_encoding(512, WIDTH), np.arange(512)
    text = np.random.default_rng(0).integers(1000, size=512)
    sums = vocabulary[text] + table
    row, word = nearest(sums, table), nearest(sums, vocabulary)
    assert np.mean(row == places) == pytest.approx(rows, abs=0.005)
    assert np.mean(word == text) == pytest.approx(words, abs=0.005)
    if rows == 1:
        assert (nearest(sums - table[row], vocabulary) == text).all()
    if words == 1:
        assert (nearest(sums - vocabulary[word], table) == places).all()


@pytest.mark.claim("true-if", "C4-12", "C4-52")
def test_c4_52_one_matrix_finds_every_quiet_word_and_not_every_quiet_row() -> None:
    """Words are found in directions that rows hardly use; words of a large norm leave rows none."""
    table, text = sinusoidal_encoding(512, WIDTH), np.random.default_rng(0).integers(1000, size=512)
    rest = np.linalg.svd(table)[2][130:].T  # all directions but the 130 that rows use most
    for deviation in (0.02, 0.1, 1, 3):
        words = np.random.default_rng(1).normal(scale=deviation, size=(1000, WIDTH))
        sums = words[text] + table
        assert (nearest(sums @ rest, words @ rest) == text).all()
    # The best matrix for rows in noise like these last words: it whitens the noise.
    whitened = np.linalg.inv(np.linalg.cholesky(np.cov(words.T, bias=True))).T
    found = nearest((sums - words.mean(axis=0)) @ whitened, table @ whitened)
    assert np.mean(found == np.arange(512)) == pytest.approx(0.63, abs=0.005)


@pytest.mark.claim("false", "C4-15")
@pytest.mark.parametrize(("deviation", "times"), [(0.02, 35.37), (0.1, 7.14), (1, 1.22)])
def test_c4_15_the_squared_length_of_a_sum_is_the_sum_of_squared_lengths(
    deviation: float, times: float
) -> None:
    tokens, table = deviation * normal(512, WIDTH), sinusoidal_encoding(512, WIDTH)
    word, total = ((x**2).sum(axis=1).mean() for x in (tokens, tokens + table))
    assert total == pytest.approx(word + WIDTH / 2, rel=0.003)
    assert math.sqrt(total / word) == pytest.approx(times, rel=0.01)
    assert total / word > 1.4  # no length is kept


@pytest.mark.claim("imprecise", "C4-09")
def test_c4_09_a_sum_keeps_the_width_but_not_the_angles() -> None:
    """Two orthogonal words at neighbouring positions: their sums are not orthogonal."""
    one, other = 0.02 * math.sqrt(WIDTH) * np.eye(2, WIDTH)
    rows = sinusoidal_encoding(2, WIDTH)
    total = one + rows[0], other + rows[1]
    assert one @ other == 0
    angle = total[0] @ total[1] / np.linalg.norm(total[0]) / np.linalg.norm(total[1])
    assert angle == pytest.approx(0.97, abs=0.02)


# Absolute and relative


# The mathematics


@pytest.mark.claim("true", "C4-17")
def test_c4_17_the_row_of_a_sum_is_the_product_pair_by_pair() -> None:
    def numbers(p: int) -> NDArray[np.complexfloating[Any, Any]]:
        row = sinusoidal_encoding(np.array(p), WIDTH)
        return row[1::2] + 1j * row[0::2]

    for p, k in ((37, 91), (0, 5), (1000, 1)):
        np.testing.assert_allclose(numbers(p) * numbers(k), numbers(p + k), rtol=0, atol=EXACT)


@pytest.mark.claim("true", "C4-53")
def test_c4_53_sine_and_cosine_complete_each_other() -> None:
    """A sine has the same value at two angles of a period; with its cosine the angle is unique."""
    angles = np.linspace(0, 2 * math.pi, 1000, endpoint=False)
    pair = sinusoidal_encoding(angles, 2)
    np.testing.assert_allclose(pair[100, 0], np.sin(math.pi - angles[100]), rtol=0, atol=EXACT)
    found = np.arctan2(pair[:, 0], pair[:, 1]) % (2 * math.pi)
    np.testing.assert_allclose(found, angles, rtol=0, atol=EXACT)
    assert (np.diff(frequencies(WIDTH)) < 0).all()  # and each pair is slower than the last


# The worked example


@pytest.mark.claim("false", "C4-20", "C4-21")
def test_c4_20_the_first_angles_of_positions_1_and_2_are_1_and_2() -> None:
    rows = sinusoidal_encoding(3, WIDTH)
    angles = np.arctan2(rows[:, 0::2], rows[:, 1::2])
    np.testing.assert_allclose(angles[1, :2], [1, 0.964662], rtol=0, atol=5e-7)
    np.testing.assert_allclose(angles[2, :2], [2, 1.929323], rtol=0, atol=5e-7)
    printed = [
        [0.8415, 0.5403, 0.8219, 0.5697, 0.8020, 0.5974],
        [0.9093, -0.4161, 0.9364, -0.3509, 0.9581, -0.2863],
    ]
    np.testing.assert_array_equal(rows[1:, :6].round(4), printed)
    assert abs(rows[1, 0] - math.sin(0.001)) > 0.8
    assert angles[1, -1] == pytest.approx(0.0001, abs=5e-6)  # there, and nowhere before


# The listing


@pytest.mark.claim("imprecise", "C4-16", "C4-39")
@pytest.mark.claim("false", "C4-22")
def test_c4_22_the_doubled_exponent_is_base_ten_to_the_eighth() -> None:
    right, doubled = loop(10, WIDTH, 1), loop(10, WIDTH, 2)
    np.testing.assert_allclose(right, sinusoidal_encoding(10, WIDTH), rtol=0, atol=EXACT)
    squared = sinusoidal_encoding(10, WIDTH, base=1e8)
    np.testing.assert_allclose(doubled, squared, rtol=0, atol=EXACT)
    assert np.abs(right - doubled).max() == pytest.approx(1.79989, abs=5e-6)


@pytest.mark.claim("false", "C4-22")
def test_c4_22_the_doubled_exponent_makes_half_the_pairs_slower_than_any() -> None:
    right, doubled = frequencies(WIDTH), frequencies(WIDTH, base=1e8)
    assert np.flatnonzero(right == doubled).tolist() == [0]
    np.testing.assert_allclose(doubled[:128], right[0::2], rtol=1e-14)
    assert doubled[128:].max() < right.min() * (1 + 1e-14)
    assert 2 * math.pi / doubled[-1] == pytest.approx(584_695_657, abs=0.5)
    assert 1 / right[-1] == pytest.approx(9646.616, abs=5e-4)
    turned = [int(np.sum(wavelengths(WIDTH, base=base) <= 512)) for base in (1e4, 1e8)]
    assert turned == [123, 62]
    assert [int(np.sum(9 * omega < 0.001)) for omega in (right, doubled)] == [2, 129]
    assert similarity(1, WIDTH) == pytest.approx(0.973055, abs=5e-7)
    assert similarity(1, WIDTH, base=1e8) == pytest.approx(0.986064, abs=5e-7)


@pytest.mark.claim("false", "C4-22")
@pytest.mark.claim("true", "C4-49")
def test_c4_22_tests_of_shape_range_length_and_rows_pass_the_doubled_table() -> None:
    table = loop(100, WIDTH, 2)
    assert table.shape == (100, WIDTH)
    assert np.abs(table).max() <= 1
    np.testing.assert_allclose(np.linalg.norm(table, axis=1), 16, rtol=0, atol=EXACT)
    assert kinds(table) == 100
    assert abs(table[1, 2] - math.sin(10000 ** (-2 / WIDTH))) > 0.01  # one value does not


@pytest.mark.claim("false", "C4-23", "C4-24")
def test_c4_23_the_commented_rows_are_printed_by_neither_loop() -> None:
    """Dimension 2 of row 1 is 0.002 at no even width up to 8192, by the doubled loop at 6 alone."""
    widths = range(4, 8193, 2)
    assert not [d for d in widths if round(math.sin(10000 ** (-2 / d)), 3) == 0.002]
    assert [d for d in widths if round(math.sin(10000 ** (-4 / d)), 3) == 0.002] == [6]
    for factor, second in ((1, [0.822, 0.570, 0.936, -0.351]), (2, [0.802, 0.597, 0.958, -0.286])):
        rows = loop(3, WIDTH, factor)[1:, :4].round(3)
        np.testing.assert_array_equal(rows[:, :2], [[0.841, 0.540], [0.909, -0.416]])
        np.testing.assert_array_equal(rows[:, 2:].ravel(), second)


# Learned rows


@pytest.mark.claim("imprecise", "C4-26")
def test_c4_26_a_table_does_not_learn_by_itself_and_a_plain_normal_is_not_truncated() -> None:
    layer = LearnedPositionalEmbedding(512, 768, seed=0)
    before = layer.position_embeddings.copy()
    layer.forward(normal(2, 10, 768))
    np.testing.assert_array_equal(layer.position_embeddings, before)
    beyond = np.mean(np.abs(before) > 2 * fact("bert-init-std"))
    assert beyond == pytest.approx(0.0455, abs=0.002)  # where BERT's truncated normal has none


@pytest.mark.claim("imprecise", "C0-55")
@pytest.mark.claim("true", "C0-45", "C4-27")
@pytest.mark.claim("true-if", "C4-35")
def test_c4_27_plain_indexing_lets_minus_one_through_and_the_package_does_not() -> None:
    layer = LearnedPositionalEmbedding(16, 8, seed=0)
    with pytest.raises(ValueError, match="at most 16"):
        layer.get_embeddings(17)
    plain = layer.position_embeddings
    np.testing.assert_array_equal(plain[[-1]], plain[[15]])
    with pytest.raises(IndexError):
        plain[[16]]
    with pytest.raises(ValueError, match="16"):
        layer.forward(normal(1, 17, 8))
    for position in (-1, 16):
        with pytest.raises(ValueError, match=f"from 0 to 15; got {position}"):
            layer.forward(normal(1, 1, 8), [position])


@pytest.mark.claim("true", "C4-28")
def test_c4_28_two_texts_of_ten_tokens_keep_their_shape() -> None:
    layer, tokens = LearnedPositionalEmbedding(512, 768, seed=0), normal(2, 10, 768)
    out = layer.forward(tokens)
    assert out.shape == (2, 10, 768)
    np.testing.assert_array_equal(out, tokens + layer.position_embeddings[:10])


# Models


@pytest.mark.claim("true-if", "C2-24", "C2-25")
@pytest.mark.claim("false", "C4-29")
def test_c4_29_a_decoder_without_positions_learns_its_text() -> None:
    """Two layers and a causal mask: whether 2 or 3 follows depends on the order before it."""
    from posenc.nn import GPTModel

    torch.manual_seed(0)
    model = GPTModel(5, 8, 16, 2, 2, pos_type="none")
    assert not [name for name, _ in model.named_parameters() if "position" in name]
    text = torch.tensor([[0, 1, 4, 2], [1, 0, 4, 3]])
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
    for _ in range(60):
        loss = torch.nn.functional.cross_entropy(model(text[:, :-1])[:, -1], text[:, -1])
        optimizer.zero_grad()
        loss.backward()  # type: ignore[no-untyped-call]
        optimizer.step()
    assert model.eval()(text[:, :-1])[:, -1].argmax(dim=-1).tolist() == [2, 3]


@pytest.mark.claim("false", "C4-33")
def test_c4_33_t5_has_one_number_for_bucket_and_head_and_no_rows() -> None:
    import transformers  # slow

    heads = fact("t5-heads")
    config = transformers.T5Config(
        vocab_size=8, d_model=8, d_kv=2, d_ff=8, num_layers=2, num_heads=heads
    )
    state = transformers.T5Model(config).state_dict()
    positions = {name: tensor for name, tensor in state.items() if "relative" in name}
    assert {tuple(tensor.shape) for tensor in positions.values()} == {(fact("t5-buckets"), heads)}
    assert sum(tensor.numel() for tensor in positions.values()) == 768
    assert config.relative_attention_max_distance == fact("t5-max-distance")
    assert not [name for name in state if "position" in name]


@pytest.mark.claim("imprecise", "C4-34")
@pytest.mark.parametrize("length", [1, 7, 1000])
def test_c4_34_attention_takes_any_length_without_positions(length: int) -> None:
    x = normal(length, 8)
    np.testing.assert_array_equal(no_encoding(length, 8), np.zeros((length, 8)))
    assert attention(x, x, x)[0].shape == (length, 8)
