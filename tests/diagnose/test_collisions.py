"""Which positions are equal in the dtype of a model, and which share a bias on purpose."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch
from torch import Tensor

from posenc import nn
from posenc.diagnose.answers import ABSENT, HEALTHY, ILL, UNDETERMINED
from tests.diagnose.models import VOCAB, Model, Reader, RelativeKeys, Rotary, Table, sines
from tests.diagnose.random_models import Chance, statuses

NARROW = (torch.float32, torch.bfloat16, torch.float16)


def apart(chance: Chance) -> Model:
    """Return a model that counts in a wide type, whatever its own."""
    form, dtype = chance.form(), chance.choice(NARROW)
    d = form["d_model"] // form["heads"]
    table, layout = Table(400, form["d_model"]), chance.choice(["half", "interleaved"])
    return chance.one(
        lambda: chance.gpt("sinusoidal", "learned", "rope", "alibi", "t5", "shaw", rows=400),
        lambda: Reader(table, **form),
        lambda: Reader(sines(32), **form | {"d_model": 32}),
        lambda: Reader(**form, rotary=lambda: Rotary(d, torch.float32, layout)),
    ).to(dtype)


def colliding(chance: Chance) -> Model:
    """Return a model that counts in bfloat16, where 256 and 257 are one, or a table that wraps."""
    form, rows = chance.form(), chance.choice([50, 100])
    d = form["d_model"] // form["heads"]
    table, layout = Table(rows, form["d_model"], True), chance.choice(["half", "interleaved"])
    rotary = Reader(**form, rotary=lambda: Rotary(d, torch.bfloat16, layout))
    return chance.one(
        lambda: chance.gpt("counting").bfloat16(),
        lambda: Reader(table, **form),
        lambda: Reader(sines(form["d_model"], torch.bfloat16), **form),
        lambda: rotary.to(chance.choice([torch.bfloat16, torch.float32])),
    )


class Toeplitz(torch.nn.Module):
    """A layer whose scores have a bias of the relative position, key minus query."""

    def __init__(self, bias: Callable[[Tensor], Tensor]) -> None:
        super().__init__()
        self.inner, self.bias = Reader(layers=1), bias

    def forward(self, ids: Tensor) -> Tensor:
        places = torch.arange(ids.shape[1])
        x = self.inner.tokens(ids)
        out: Tensor = self.inner.layers[0](x, self.bias(places - places[:, None]).to(x.dtype))
        return out


BIASES = torch.randn(2000, generator=torch.Generator().manual_seed(0))


class Biased(torch.nn.Module):
    """A layer that adds a bias to the scores, counted in a type, or in that of its table."""

    def __init__(self, dtype: torch.dtype | None, *, relative: bool) -> None:
        super().__init__()
        self.layer, self.dtype, self.relative = Reader(layers=1).layers[0], dtype, relative
        self.table = torch.nn.Embedding(VOCAB, 16)

    def forward(self, ids: Tensor) -> Tensor:
        x = self.table(ids)
        places = torch.arange(ids.shape[1])
        counts = places - places[:, None] if self.relative else places
        out: Tensor = self.layer(x, counts.to(self.dtype or x.dtype).to(x.dtype) / 8)
        return out


@pytest.mark.slow
def test_positions_counted_in_wide_dtypes_do_not_collide() -> None:
    assert statuses(apart, lambda model: nn.colliding_positions(model, length=260)) == {HEALTHY}


@pytest.mark.slow
def test_positions_counted_in_bfloat16_or_wrapped_collide() -> None:
    assert statuses(colliding, lambda model: nn.colliding_positions(model, length=260)) == {ILL}


def test_last_row_of_a_table_is_compared() -> None:
    table = Table(64, 16)
    assert nn.colliding_positions(Reader(table)).measured == {"length": 64, "colliding": 0}
    table.table.data[63] = table.table.data[0]
    found = nn.colliding_positions(Reader(table)).measured
    assert (found["first"], found["second"]) == (0, 63)


@pytest.mark.parametrize("relative", [False, True], ids=["keys", "relative"])
def test_biases_counted_in_bfloat16_collide(relative: bool) -> None:
    assert nn.colliding_positions(Biased(torch.float32, relative=relative)).status == HEALTHY
    found = nn.colliding_positions(Biased(None, relative=relative).bfloat16())
    assert found.ill
    assert found.measured["second"] - found.measured["first"] == 1


@pytest.mark.parametrize("relative", [False, True], ids=["keys", "relative"])
def test_biases_counted_in_bfloat16_collide_in_a_float32_model(relative: bool) -> None:
    """Rounding puts one, three, one, three distances together; buckets grow, and shrink never."""
    found = nn.colliding_positions(Biased(torch.bfloat16, relative=relative))
    assert found.ill
    assert found.measured["second"] - found.measured["first"] == 1


def test_far_positions_that_rounding_makes_equal_collide() -> None:
    """A bias that comes to an end: as in a bucket, but in float64 later than in float32."""

    class Ending(Biased):
        def forward(self, ids: Tensor) -> Tensor:
            x, places = self.table(ids), torch.arange(ids.shape[1])
            far = (places - places[:, None]).abs().to(x.dtype)
            out: Tensor = self.layer(x, torch.tanh(far / 4))
            return out

    found = nn.colliding_positions(Ending(None, relative=True), length=200)
    assert found.ill


@pytest.mark.parametrize(
    "bias",
    [
        lambda d: BIASES[d % 50],
        lambda d: BIASES[d.abs() // 2],
        lambda d: BIASES[(d.abs() - 1).clamp(min=0)],
        lambda d: BIASES[d.abs().clamp(max=8) % 8],
    ],
    ids=["wraps", "by twos", "the nearest", "the first and the farthest"],
)
def test_biases_shared_unlike_buckets_collide(
    bias: Callable[[Tensor], Tensor],
) -> None:
    assert nn.colliding_positions(Toeplitz(bias)).verdict == "positions collide"


@pytest.mark.parametrize(
    ("bias", "verdict"),
    [
        (lambda d: BIASES[d.clamp(-8, 8) + 8], "far positions share a bias, in float64 too"),
        (lambda d: -d.abs() / 8, "all positions differ"),
        (lambda d: (-d.abs() / 8).masked_fill(d.abs() > 40, -torch.inf), "all positions differ"),
        (lambda d: torch.zeros(d.shape).masked_fill(d.abs() > 40, -1e9), ABSENT),
        (lambda d: torch.zeros(d.shape).masked_fill(d > 0, -torch.inf), ABSENT),
    ],
    ids=["clipped", "both ways", "in a window", "a soft window", "a mask"],
)
def test_biases_that_differ_or_are_clipped_do_not_collide(
    bias: Callable[[Tensor], Tensor], verdict: str
) -> None:
    found = nn.colliding_positions(Toeplitz(bias), length=200)
    assert verdict in (found.verdict, found.status), found


def test_a_shared_bias_is_undetermined_if_the_model_does_not_compute_in_float64() -> None:
    """Only float64 would tell rounding from purpose."""

    class Single(Toeplitz):
        def forward(self, ids: Tensor) -> Tensor:
            if self.inner.tokens.weight.dtype == torch.float64:
                raise RuntimeError("this device has no float64")
            return super().forward(ids)

    found = nn.colliding_positions(Single(lambda d: BIASES[d.clamp(-8, 8) + 8]), length=200)
    assert found.status == UNDETERMINED
    assert "does not compute in float64" in found.why


def test_buckets_shared_on_purpose_do_not_collide() -> None:
    found = nn.colliding_positions(nn.GPTModel(VOCAB, 40, 16, 2, 1, pos_type="t5"), length=200)
    assert found.verdict == "far positions share a bias, in float64 too"
    assert found.measured["colliding"] > 100


def test_answer_says_whether_last_digits_were_compared() -> None:
    found = nn.colliding_positions(RelativeKeys(lambda d: d.clamp(-8, 8) + 8), length=40)
    assert "equal an earlier one but for its last digits" in found.why
    rows = nn.PositionalEmbedding(VOCAB, 512, 16, pos_type="counting").bfloat16()
    assert "equal an earlier one to the last bit" in nn.colliding_positions(rows).why


class Padded(torch.nn.Module):
    """Rows of a table that keeps one for padding, as in RoBERTa, read from `first` on."""

    def __init__(self, first: int) -> None:
        super().__init__()
        self.tokens = torch.nn.Embedding(VOCAB, 16, padding_idx=1)
        self.table, self.first = torch.nn.Embedding(66, 16, padding_idx=1), first

    def forward(self, ids: Tensor) -> Tensor:
        places = self.first + torch.arange(ids.shape[1])
        rows: Tensor = self.tokens(ids) + self.table(places)
        return rows


def test_a_row_of_padding_that_tokens_read_is_told() -> None:
    """Sequences counted from 0 read rows that belong to other positions, one of them to none."""
    for first, place in ((0, 1), (1, 0)):
        found = nn.colliding_positions(Padded(first))
        assert (found.verdict, found.status) == ("a token reads the padding row", ILL)
        assert f"Token {place} reads row 1 of table.weight, which its padding_idx" in found.why
        assert "count positions from 2" in found.remedy
        assert found.measured["padding"] == 1
    assert nn.colliding_positions(Padded(2)).verdict == "all positions differ"


def test_positions_of_a_model_without_direction_are_still_compared() -> None:
    found = nn.colliding_positions(RelativeKeys(lambda distance: distance.abs()), length=40)
    assert found.verdict == "all positions differ", str(found)
