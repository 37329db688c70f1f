"""When positions are too long beside tokens."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor

from posenc import nn
from posenc.diagnose.answers import ABSENT, HEALTHY, ILL
from tests.diagnose.models import VOCAB, Model, Reader, Table, sines
from tests.diagnose.random_models import Chance, statuses


def level(chance: Chance) -> Model:
    """Return a model whose tokens are about as long as its positions."""
    form = chance.form()
    table = Table(64, form["d_model"])
    return chance.one(
        lambda: chance.gpt("learned"),
        lambda: Reader(table, **form),
        lambda: Reader(sines(form["d_model"]), **form),
        lambda: nn.PositionalEmbedding(VOCAB, 64, form["d_model"]),
    )


def drowned(chance: Chance) -> Model:
    """Return a model whose tokens are not scaled, or whose positions grow without bound."""
    form = chance.form()
    name = chance.choice(["sinusoidal", "counting"])
    return chance.one(
        lambda: chance.gpt("counting"),
        lambda: Reader(sines(form["d_model"]), **form, deviation=0.02),
        lambda: nn.PositionalEmbedding(VOCAB, 64, form["d_model"], name),
    )


def without_rows(chance: Chance) -> Model:
    return chance.gpt("none", "rope", "alibi", "t5", "shaw")


@pytest.mark.slow
def test_rows_as_long_as_tokens_do_not_drown_them() -> None:
    assert statuses(level, nn.drowned_tokens) == {HEALTHY}


@pytest.mark.slow
def test_long_or_unbounded_positions_drown_tokens() -> None:
    assert statuses(drowned, nn.drowned_tokens) == {ILL}


@pytest.mark.slow
def test_models_that_add_no_positions_cannot_drown_tokens() -> None:
    assert statuses(without_rows, nn.drowned_tokens) == {ABSENT}


def test_ratio_is_that_of_the_rows() -> None:
    """Rows of length √(32/2), tokens of deviation 0.02 in 32 dimensions: 4/(0.02·√32)."""
    torch.manual_seed(0)
    layer = nn.PositionalEmbedding(10_000, 64, 32, pos_type="sinusoidal")
    found = nn.drowned_tokens(layer)
    assert found.measured["positions"] == pytest.approx(4, rel=1e-6)
    assert found.measured["ratio"] == pytest.approx(4 / (0.02 * 32**0.5), rel=0.1)
    assert found.measured["scaled"] == pytest.approx(found.measured["ratio"] / 32**0.5)
    assert "√d_model = 5.66" in found.remedy
    assert nn.drowned_tokens(layer, limit=50).status == HEALTHY


def test_worst_of_several_sums_is_judged() -> None:
    class Branches(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.level, self.drowned = Reader(Table(64, 16)), Reader(sines(16), deviation=0.02)

        def forward(self, ids: Tensor) -> Tensor:
            out: Tensor = self.level(ids) + self.drowned(ids) + self.level(ids)
            return out

    found = nn.drowned_tokens(Branches())
    assert found.ill
    assert found.measured["ratio"] > 30


@pytest.mark.parametrize("scheme", ["alibi", "t5"])
def test_bias_of_scores_is_not_taken_for_rows(scheme: str) -> None:
    model = nn.GPTModel(VOCAB, 64, 16, heads=2, layers=1, pos_type=scheme)
    assert nn.drowned_tokens(model).status == ABSENT


def test_insufficient_remedy_is_not_offered() -> None:
    model = nn.GPTModel(VOCAB, 64, 16, heads=2, layers=1, pos_type="counting")
    found = nn.drowned_tokens(model)
    assert found.measured["scaled"] > 10
    assert "make the rows of positions shorter" in found.remedy
    assert "are not enough" in found.remedy
    scaled = nn.drowned_tokens(nn.PositionalEmbedding(VOCAB, 64, 16, "sinusoidal"))
    assert "not enough" not in scaled.remedy
