"""The demonstrations of one of the source texts, done so that they show what they should.

docs/data/names.yml lists these tests. Where the text's own version shows nothing, or the opposite,
the test says so and uses a version that can fail.
"""

from __future__ import annotations

import numpy as np
import pytest
import torch
from torch import Tensor

from posenc import (
    add,
    attention,
    concatenate,
    counting_encoding,
    nn,
    no_encoding,
    relative_positions,
    shaw_index,
    similarity,
    sinusoidal_encoding,
    wavelengths,
)
from tests.arrays import cosine

WORDS = ["the", "cat", "sat", "on", "mat"]
ONE_HOT = np.eye(len(WORDS))  # no word is the sum of others
SCRAMBLE = [1, 0, 4, 2, 3]  # cat the mat sat on
SENTENCES = ("The cat sat on the mat", "The mat sat on the cat", "Cat the sat mat on the")


class Encoder(torch.nn.Module):
    """Tokens, positions of a kind, and one layer of attention without a mask."""

    def __init__(self, scheme: str, d_model: int = 16) -> None:
        super().__init__()
        torch.manual_seed(0)
        self.embedding = nn.PositionalEmbedding(300, 50, d_model, pos_type=scheme, dropout=0.0)
        self.project = torch.nn.ModuleList(torch.nn.Linear(d_model, d_model) for _ in "qkv")

    def forward(self, ids: Tensor) -> Tensor:
        x = self.embedding(ids)
        return nn.attention(*(project(x) for project in self.project))[0]


def gpt(scheme: str, layers: int = 1) -> nn.GPTModel:
    """Return a small causal model, in evaluation mode."""
    torch.manual_seed(0)
    return nn.GPTModel(300, 50, 16, heads=2, layers=layers, pos_type=scheme).eval()


def ids_of(sentence: str) -> Tensor:
    """Return the ids of one of the three sentences, (1, length)."""
    return torch.tensor([nn.create_tokenizer("simple", texts=[*SENTENCES]).encode(sentence)])


# Demonstrations


@pytest.mark.claim("false", "C1-18")
def test_demonstration_of_the_intuition_behind_sines() -> None:
    """Bounded, where a count is not; one row each; the first pair fast, the last slow."""
    rows = sinusoidal_encoding(1001, 8)
    assert np.abs(rows).max() <= 1 < counting_encoding(1001, 8).max()
    assert len(np.unique(rows, axis=0)) == 1001
    turns = (np.diff(np.sign(rows[1:, ::2]), axis=0) != 0).sum(axis=0)
    np.testing.assert_array_equal(turns, 1000 // (wavelengths(8) / 2))
    assert turns[0] > turns[3] == 0
    near = np.asarray(similarity(np.arange(20), 8))
    assert near[1] > near[2] > near[3]  # neighbours are alike
    assert near[6] > near[1]  # and so is one farther off


@pytest.mark.claim("false", "C1-33", "C1-64", "C1-67")
def test_demonstration_of_addition_against_concatenation() -> None:
    """A sum keeps the width; a concatenation widens, and a matrix behind it contains the sum."""
    tokens, rows = ONE_HOT[:, :4], sinusoidal_encoding(5, 4)
    added, concatenated = add(tokens, rows), concatenate(tokens, rows)
    assert (added.shape, concatenated.shape) == ((5, 4), (5, 8))
    weight = np.random.default_rng(0).standard_normal((4, 3))
    twice = np.vstack((weight, weight))
    np.testing.assert_allclose(concatenated @ twice, added @ weight, rtol=0, atol=1e-14)
    other = np.vstack((weight, -weight))  # what no matrix makes of the sum
    best = np.linalg.lstsq(added, concatenated @ other)[0]
    assert np.abs(added @ best - concatenated @ other).max() > 0.1


@pytest.mark.claim("true", "C1-42")
def test_demonstration_of_relative_positions() -> None:
    """Six positions: key less query, and one vector for each of eleven distances."""
    relative = relative_positions(6, 6)
    np.testing.assert_array_equal(relative, np.subtract.outer(np.arange(6), np.arange(6)).T)
    layer = nn.RelativePositionEmbedding(4, max_distance=5)
    assert layer.table.shape == (11, 4)
    vectors = layer(torch.from_numpy(relative))
    assert torch.equal(vectors[0, 2], vectors[3, 5])  # two ahead, wherever
    assert not torch.equal(vectors[0, 2], vectors[2, 0])  # ahead is not behind
    assert shaw_index(9, max_distance=5) == shaw_index(5, max_distance=5) == 10  # clipped


@pytest.mark.claim("true-if", "C1-52")
@torch.no_grad()
def test_demonstration_of_positions_in_a_gpt() -> None:
    """One word at two positions, and the last word's output when two words before it are swapped.

    The distance between the embeddings of two sentences shows neither: positions cancel in it.
    """
    ids = [ids_of(sentence) for sentence in SENTENCES]
    assert len({tuple(sorted(row[0].tolist())) for row in ids}) == 1  # the same words
    swapped = ids[0][:, [1, 0, 2, 3, 4, 5]]
    for scheme, shown in {"none": False, "sinusoidal": True, "learned": True}.items():
        model = gpt(scheme)
        logits, weights = model(ids[0], return_attention=True)
        assert (logits.shape, weights.shape) == ((1, 6, 300), (1, 1, 2, 6, 6))
        rows = model.embedding(ids[0])[0]
        assert torch.equal(rows[0], rows[4]) != shown  # “the”, twice
        change = (logits - model(swapped))[0, -1].abs().max()
        assert (float(change) > 1e-5) == shown
        assert float(change) > 1e-5 or float(change) < 1e-6


# Pitfalls


def test_demonstration_of_positions_that_drown_the_words() -> None:
    """Rows of length √(d/2) beside tokens of deviation 0.02; the remedy is to scale the tokens."""
    torch.manual_seed(0)
    plain, scaled = (
        nn.PositionalEmbedding(1000, 64, 64, pos_type="sinusoidal", scale_tokens=scale)
        for scale in (False, True)
    )
    found = nn.drowned_tokens(plain)
    assert found.verdict == "positions drown the tokens"
    assert found.measured["positions"] == pytest.approx(32**0.5)
    assert found.measured["ratio"] == pytest.approx(1 / (0.02 * 2**0.5), rel=0.05)
    assert nn.drowned_tokens(scaled).verdict == "positions do not drown the tokens"
    np.testing.assert_allclose(  # the text's own rows: width 4, doubled
        np.linalg.norm(2 * sinusoidal_encoding(5, 4), axis=1), 8**0.5, rtol=1e-15
    )


def test_demonstration_of_a_text_that_is_too_long() -> None:
    """Trained for fifty positions, given seventy-five tokens: what each remedy does."""
    table, ids = nn.LearnedPositionalEmbedding(50, 16), torch.zeros(1, 75, dtype=torch.long)
    with pytest.raises(ValueError, match=r"75.*50|50.*75"):
        table(75)
    assert table.resized(100)(75).shape == (75, 16)  # rows between those there are
    found = nn.longest_input(gpt("learned"), length=75)
    assert found.verdict == "it ends at 50 tokens, and 75 are asked for"
    for scheme in ("sinusoidal", "alibi", "t5", "rope"):  # defined there; learned is another matter
        assert gpt(scheme)(ids).shape == (1, 75, 300)
    near = np.abs(relative_positions(75, 75)) < 25  # a window sees no distance that is new to it
    tokens = np.random.default_rng(0).standard_normal((75, 8))
    weights = attention(tokens, tokens, tokens, mask=near)[1]
    assert np.array_equal(weights > 0, near)


def test_demonstration_of_missing_positions() -> None:
    """Then an encoder does not see order; a causal model of two layers does, by its mask."""
    assert nn.sees_order(Encoder("none")).verdict == "it does not see order"
    assert nn.sees_order(gpt("none", layers=1)).verdict == "it does not see order"
    assert nn.sees_order(gpt("none", layers=2)).verdict == "only through the causal mask"
    for model in (Encoder("sinusoidal"), gpt("sinusoidal"), gpt("rope"), gpt("alibi")):
        assert nn.sees_order(model).verdict == "it sees order"


@pytest.mark.claim("true-if", "C1-65")
@pytest.mark.parametrize("scheme", ["none", "sinusoidal", "learned"])
@torch.no_grad()
def test_demonstration_of_a_quick_test_that_can_fail(scheme: str) -> None:
    """Permute the words, put the outputs back in order, and compare. No threshold to guess.

    A cosine of the two readings above 0.9 is no sign: it is above 0.9 with sines and without any.
    """
    model, ids = Encoder(scheme), torch.tensor([[3, 1, 4, 1, 5, 9, 2, 6]])
    order = torch.randperm(8, generator=torch.Generator().manual_seed(1))
    plain, permuted = model(ids)[0], model(ids[:, order])[0]
    change = float((permuted - plain[order]).abs().max())
    assert (change > 1e-5) == (scheme != "none")
    assert cosine(*(x.mean(dim=0).double().numpy() for x in (plain, permuted))) > 0.9


# The cosine of two vectors


def test_cosine_with_a_zero_vector_is_nan_with_a_warning() -> None:
    """No row of the sinusoid is zero. PyTorch's function answers 0, as if at right angles."""
    zero, row = no_encoding(1, 8)[0], sinusoidal_encoding(1, 8)[0]
    with pytest.warns(RuntimeWarning, match="invalid value"):
        assert np.isnan(cosine(zero, row))
    both = torch.zeros(8), torch.ones(8)
    assert float(torch.nn.functional.cosine_similarity(*both, dim=0)) == 0
