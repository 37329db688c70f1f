"""Claims of the chapter *Build it* that a session on its page cannot show by itself."""

from __future__ import annotations

from itertools import permutations

import numpy as np
import pytest
import torch
from torch import Tensor

from posenc import (
    add,
    apply_rope,
    attention,
    causal_mask,
    concatenate,
    nn,
    shaw_index,
    similarity,
    sinusoidal_encoding,
)
from scripts.figures.board_order import WORDS
from tests.arrays import Array, normal, self_attention


def last_logits(model: nn.GPTModel, ids: list[int]) -> Tensor:
    with torch.no_grad():
        logits: Tensor = model.double().eval()(torch.tensor([ids]))
    return logits[0, -1]


@pytest.mark.parametrize("seed", range(5))
def test_two_causal_layers_without_positions_know_the_order(seed: int) -> None:
    def change(layers: int) -> float:
        torch.manual_seed(seed)
        model = nn.GPTModel(
            vocab_size=20, max_len=8, d_model=16, heads=2, layers=layers, pos_type="none"
        )
        moved = last_logits(model, [2, 1, 0, 3]) - last_logits(model, [0, 1, 2, 3])
        return moved.abs().max().item()

    assert change(1) < 1e-12  # sums of a few products in float64
    assert change(2) > 1e-6


@pytest.mark.parametrize("scale", [0.0, 1.0])
@pytest.mark.parametrize("order", list(permutations(range(4)))[1:])
def test_attention_is_equivariant_only_without_positions(
    order: tuple[int, ...], scale: float
) -> None:
    words, rows = normal(4, 6), scale * sinusoidal_encoding(4, 6)
    shuffled = self_attention(words[list(order)] + rows)
    along = self_attention(words + rows)[list(order)]
    assert np.allclose(shuffled, along) == (scale == 0)


@pytest.mark.parametrize("order", list(permutations(range(4)))[1:])
def test_no_model_with_a_causal_mask_is_equivariant(order: tuple[int, ...]) -> None:
    """Not even one without positions, so under a mask this says nothing about positions."""
    words, mask = normal(4, 6), causal_mask(4)

    def attend_back(x: Array) -> Array:
        return attention(x, x, x, mask=mask)[0]

    assert not np.allclose(attend_back(words[list(order)]), attend_back(words)[list(order)])


@pytest.mark.claim("imprecise", "C1-10")
def test_no_entry_of_a_column_occurs_twice_at_width_8() -> None:
    """Proved, as π is irrational; here checked on the first 5000 positions, in floats."""
    table = sinusoidal_encoding(5000, 8)
    for column in table.T:
        assert len(np.unique(column)) == 5000


def test_the_nearest_rows_at_width_8_are_63_apart() -> None:
    rows = sinusoidal_encoding(1000, 8)
    apart = np.linalg.norm(rows[:, np.newaxis] - rows, axis=-1) + 10 * np.eye(1000)
    first, second = divmod(int(apart.argmin()), 1000)
    assert abs(first - second) == 63
    assert 1 + similarity(np.arange(1, 1000), 8).argmax() == 63
    alike = np.isclose(apart, apart.min(), rtol=0, atol=1e-12)
    assert alike.sum() == 2 * 937  # a tie of all rows 63 apart, and of no others
    assert np.diagonal(alike, offset=63).all()


@pytest.mark.claim("false", "C1-14")
@pytest.mark.parametrize(
    ("length", "expected"),
    [(20, [0.0081, 0.4357, 0.8525, 0.8548]), (50, [0.0059, 0.1889, 0.8465, 0.8615])],
)
def test_a_sine_and_its_cosine_are_not_orthogonal_over_few_positions(
    length: int, expected: list[float]
) -> None:
    rows = sinusoidal_encoding(length, 8)
    sines, cosines = rows[:, 0::2], rows[:, 1::2]
    products = (sines * cosines).sum(axis=0)
    found = products / np.linalg.norm(sines, axis=0) / np.linalg.norm(cosines, axis=0)
    np.testing.assert_allclose(found, expected, rtol=0, atol=5e-5)  # printed to four decimals


@pytest.mark.claim("false", "C1-14")
def test_sine_and_cosine_are_orthogonal_over_whole_periods() -> None:
    """Positions at equal steps through one period of the slowest pair of width 4."""
    turn = np.arange(1000) * (2 * np.pi * 100 / 1000)
    rows = sinusoidal_encoding(turn, 4)
    assert abs(rows[:, 2] @ rows[:, 3]) < 1e-9


@pytest.mark.claim("false", "C1-25")
def test_the_points_of_all_pairs_lie_on_the_unit_circle() -> None:
    rows = sinusoidal_encoding(20, 8)
    radii = np.hypot(rows[:, 0::2], rows[:, 1::2])
    np.testing.assert_allclose(radii, 1, rtol=0, atol=1e-15)
    assert (rows[:, 1::2] > 0.9).mean() > 0.6  # crowded at the top, not well distributed


@pytest.mark.claim("imprecise", "C1-36")
def test_the_made_up_row_is_not_sinusoidal() -> None:
    made_up = np.array([0.1, -0.2, 0.4, -0.1])
    assert (made_up.reshape(2, 2) ** 2).sum(axis=1) == pytest.approx([0.05, 0.17])
    rows = sinusoidal_encoding(1000, 4)
    np.testing.assert_allclose((rows.reshape(-1, 2, 2) ** 2).sum(axis=-1), 1)


@pytest.mark.claim("false", "C1-37")
def test_no_factor_relates_the_two_scores() -> None:
    """With a widely copied toy: unit vectors, and mat as the sum of the and cat."""
    words = np.vstack([np.eye(4), [1, 1, 0, 0]])
    rows = sinusoidal_encoding(5, 4)
    added, beside = add(words, rows), concatenate(words, rows)
    pairs = ~np.eye(5, dtype=bool)
    ratio = (beside @ beside.T) / (added @ added.T)
    assert np.abs(ratio[pairs] - 0.7).min() > 0.005  # seven tenths for no pair
    assert ratio[1, 3] == pytest.approx(0.98323, abs=1e-5)  # cat to on, printed as 0.7
    assert ratio[pairs].min() == pytest.approx(0.0083, abs=5e-5)
    assert ratio[pairs].max() == pytest.approx(1.3581, abs=5e-5)
    assert (ratio[pairs] > 1).sum() == 2


@pytest.mark.claim("false", "C1-39")
def test_a_sum_over_positions_forgets_the_order() -> None:
    words, rows = normal(5, 4), sinusoidal_encoding(5, 4)
    for order in permutations(range(5)):
        shuffled = words[list(order)]
        np.testing.assert_allclose((shuffled + rows).sum(axis=0), (words + rows).sum(axis=0))


def test_a_nonlinear_step_makes_a_sum_depend_on_order() -> None:
    words, rows = normal(5, 4), sinusoidal_encoding(5, 4)

    def change(order: tuple[int, ...], added: Array) -> float:
        shuffled, along = (np.maximum(x + added, 0).sum(axis=0) for x in (words[[*order]], words))
        return float(np.abs(shuffled - along).max())

    for order in list(permutations(range(5)))[1:]:
        assert change(order, rows) > 1e-3
        assert change(order, np.zeros_like(rows)) < 1e-12


@pytest.mark.claim("true-if", "C1-44")
def test_six_back_takes_the_row_of_five_ahead_without_clipping() -> None:
    by_distance = normal(11, 4)
    np.testing.assert_array_equal(by_distance[-6 + 5], by_distance[5 + 5])
    assert shaw_index([-6, 6], max_distance=5).tolist() == [0, 10]
    with pytest.raises(IndexError):
        by_distance[6 + 5]


@pytest.mark.claim("false", "C1-51")
@pytest.mark.parametrize("pos_type", ["counting", "sinusoidal", "learned"])
def test_adding_positions_leaves_differences_as_they_are(pos_type: str) -> None:
    layer = nn.PositionalEmbedding(20, 8, 16, pos_type=pos_type).double().eval()
    texts = torch.tensor([[3, 1, 4, 1, 5], [4, 1, 3, 5, 1]])
    with torch.no_grad():
        with_positions, without = layer(texts), layer.token_embedding(texts)
    difference = with_positions[1] - with_positions[0]
    torch.testing.assert_close(difference, without[1] - without[0], rtol=0, atol=1e-6)
    assert not torch.allclose(with_positions, without)


@pytest.mark.claim("true-if", "C0-04", "C1-56")
@pytest.mark.claim("imprecise", "C1-55")
@pytest.mark.parametrize("d_model", [8, 64, 512])
def test_unscaled_rows_are_35_times_as_long_as_words(d_model: int) -> None:
    words = 0.02 * normal(4000, d_model)
    word = np.sqrt((words**2).sum(axis=1).mean())
    row = np.linalg.norm(sinusoidal_encoding(100, d_model), axis=1).mean()
    assert row / word == pytest.approx(np.sqrt(1 / 2) / 0.02, rel=0.02)  # 35.4, and 3.5 of a tenth


def test_score_of_concatenations_depends_only_on_words_and_distance() -> None:
    words = normal(5, 4)
    here, later = sinusoidal_encoding(5, 4), sinusoidal_encoding(12, 4)[7:]
    beside, added = concatenate(words, here), add(words, here)
    beside_later, added_later = concatenate(words, later), add(words, later)
    np.testing.assert_allclose(beside @ beside.T, beside_later @ beside_later.T)
    assert not np.allclose(added @ added.T, added_later @ added_later.T)


def trained_accuracy(answers: Tensor, letters: Tensor, *, attends: bool) -> float:
    """Return the accuracy of one trained layer with learned rows, the best of two seeds."""

    def share(seed: int) -> float:
        torch.manual_seed(seed)
        size = letters.shape[1]
        embed = nn.PositionalEmbedding(size, size, 16, "learned", dropout=0.0)
        parts = torch.nn.ModuleList([embed, torch.nn.Linear(16, 48), torch.nn.Linear(16, 1)])
        adam = torch.optim.Adam(parts.double().parameters(), lr=0.02)
        for _ in range(80):
            x = embed(letters)
            q, k, v = parts[1](x).chunk(3, dim=-1)
            x = torch.relu(x + nn.attention(q, k, v)[0] if attends else x)
            score = parts[2](x).mean(dim=1)[:, 0]
            adam.zero_grad()
            loss = torch.nn.functional.binary_cross_entropy_with_logits(score, answers)
            loss.backward()  # type: ignore[no-untyped-call]
            adam.step()
        return float(((score > 0) == (answers > 0)).double().mean())

    return max(share(seed) for seed in range(2))


def test_adjacency_needs_attention_and_precedence_does_not() -> None:
    letters = torch.tensor(list(permutations(range(4))))
    a, b = letters.argsort(dim=1)[:, :2].T
    first, neighbours = (a < b).double(), ((a - b).abs() == 1).double()
    assert first.mean() == neighbours.mean() == 0.5
    assert trained_accuracy(first, letters, attends=False) == 1
    assert trained_accuracy(neighbours, letters, attends=True) == 1
    assert trained_accuracy(neighbours, letters, attends=False) < 1


def scores_of_dog(first: int, offset: int) -> Array:
    """Return the scores of dog for man, bites and itself: man and bites at `first`, then dog."""
    x = torch.tensor([WORDS[word] for word in ("man", "bites", "dog")], dtype=torch.float64)
    rotary = nn.RotaryEmbedding(8)
    cached = rotary(x[None, None, :2], offset=first)
    query = key = rotary(x[None, None, 2:], offset=offset)
    return np.asarray((query @ torch.cat([cached, key], dim=2).mT)[0, 0, 0])


def test_a_forgotten_offset_scores_man_bites_dog_as_the_other_sentence() -> None:
    right, forgotten, later = scores_of_dog(0, 2), scores_of_dog(0, 0), scores_of_dog(100, 102)
    man, bites, dog = (np.array(WORDS[word]) for word in ("man", "bites", "dog"))
    ahead = apply_rope(dog, 0) @ apply_rope(bites, 1)  # as in "dog bites man"
    assert np.allclose(forgotten, [dog @ man, ahead, dog @ dog], rtol=0, atol=1e-12)
    assert (np.abs(forgotten - right) > 0.1).tolist() == [True, True, False]
    assert np.allclose(later, right, rtol=0, atol=1e-12)
