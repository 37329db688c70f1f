"""How many tokens a model reads, and which table ends there."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from torch import Tensor

from posenc import nn
from posenc.diagnose.answers import ABSENT, HEALTHY, ILL, UNDETERMINED
from tests.diagnose.models import VOCAB, Composed, Model, Reader, Table
from tests.diagnose.random_models import Chance, statuses


def ending(chance: Chance, least: int, most: int) -> Model:
    """Return a model with a table of so many rows."""
    form, rows = chance.form(), chance.randrange(least, most)
    return chance.one(
        lambda: Reader(Table(rows, form["d_model"]), **form),
        lambda: nn.GPTModel(VOCAB, rows, **form),
        lambda: nn.PositionalEmbedding(VOCAB, rows, form["d_model"]),
    )


class WithPositions(torch.nn.Module):
    """A model whose caller counts the positions, and masks."""

    def __init__(self) -> None:
        super().__init__()
        self.inner = Reader()
        self.rows = torch.nn.Embedding(64, 16)

    def forward(self, ids: Tensor, positions: Tensor, mask: Tensor | None = None) -> Tensor:
        x: Tensor = self.inner.tokens(ids) + self.rows(positions)
        if mask is not None:
            x = x * mask[..., None]
        for layer, norm in zip(self.inner.layers, self.inner.norms, strict=True):
            x = x + layer(norm(x))
        return x


@pytest.mark.slow
def test_tables_with_too_few_rows_are_ill() -> None:
    def short(chance: Chance) -> Model:
        return ending(chance, 3, 40)

    assert statuses(short, lambda model: nn.longest_input(model, length=40)) == {ILL}


@pytest.mark.slow
def test_tables_with_enough_rows_are_healthy() -> None:
    def long(chance: Chance) -> Model:
        return ending(chance, 40, 90)

    assert statuses(long, lambda model: nn.longest_input(model, length=40)) == {HEALTHY}


def test_longest_input_names_its_table() -> None:
    model = nn.GPTModel(VOCAB, 37, 16, heads=2, layers=1)
    found = nn.longest_input(model, length=38)
    assert found.measured == {"longest": 37, "length": 38}
    assert "embedding.pos_embedding.embedding.weight has 37 rows" in found.why
    assert nn.longest_input(model).verdict == "it ends at 37 tokens"
    assert nn.longest_input(model, length=1).verdict == "it reads 1 token"


def test_table_whose_reading_fails_is_named() -> None:
    model = nn.GPTModel(37, 37, 16, heads=2, layers=1)
    assert "pos_embedding.embedding.weight has 37 rows" in nn.longest_input(model, length=38).why

    class Decoys(Reader):
        def __init__(self, rows: Any) -> None:
            super().__init__(rows)
            self.register_buffer("decoy", torch.zeros(20, 16))

    found = nn.longest_input(Decoys(Table(20, 16)), length=30)
    assert "rows.table has 20 rows" in found.why
    loose = torch.randn(20, 16)
    found = nn.longest_input(Decoys(lambda positions: loose[positions]), length=30)
    assert "A table has 20 rows" in found.why
    assert "decoy" not in found.why


@pytest.mark.parametrize("rows", [1, 2, 3])
def test_model_of_very_short_sequences_reports_its_limit(rows: int) -> None:
    report = nn.diagnose(nn.GPTModel(VOCAB, rows, 16, heads=2, layers=1), length=9)
    tokens = "1 token" if rows == 1 else f"{rows} tokens"
    assert report.diagnoses[3].verdict == f"it ends at {tokens}, and 9 are asked for"
    for found in report.diagnoses if rows < 3 else ():
        assert found.ill or f"it reads {tokens} at most" in found.why
    found = nn.sees_order(Reader(Table(rows, 16), pool="mean"))
    assert found.status == UNDETERMINED
    assert "too few" in found.why


@pytest.mark.parametrize("texts", [None, 1, 2], ids=["a row for all", "one text", "two texts"])
def test_argument_as_long_as_the_example_is_not_a_table(texts: int | None) -> None:
    positions = torch.arange(10) if texts is None else torch.arange(10).expand(texts, 10)
    ids = torch.arange(10).expand(texts or 1, 10)
    example = {"ids": ids, "positions": positions, "mask": torch.ones(1, 10)}
    report = nn.diagnose(WithPositions(), example, length=40)
    assert [d.status for d in report.diagnoses] == [*[HEALTHY] * 3, UNDETERMINED, ABSENT, ABSENT]
    assert "positions, mask has 10 columns" in report.diagnoses[3].why
    assert "give an example of length 40" in report.diagnoses[3].why
    assert nn.longest_input(WithPositions(), example, length=10).verdict == "it reads 10 tokens"
    assert nn.longest_input(WithPositions(), example, length=4).status == UNDETERMINED


def test_length_that_must_be_a_multiple_is_not_a_table() -> None:
    def by_eights(x: Tensor) -> Tensor:
        return x.view(len(x), -1, 8, 16).flatten(1, 2)

    ids = torch.arange(16)[None]
    found = nn.longest_input(Composed(Reader(Table(64, 16)), by_eights), ids, length=50)
    assert found.status == UNDETERMINED
    assert "so not every length, whatever its tables" in found.why


def test_running_out_of_memory_is_not_a_short_table() -> None:
    class Vast(torch.nn.Module):
        def forward(self, ids: Tensor) -> Tensor:
            if ids.shape[1] > 20:
                raise torch.OutOfMemoryError
            return ids * 1.0

    found = nn.longest_input(Vast())
    assert found.status == UNDETERMINED
    assert "more memory than there is" in found.why
