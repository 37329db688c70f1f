"""How a copy is run: on which tokens, at which length, in which dtype."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor

from posenc import nn
from posenc.diagnose.answers import HEALTHY
from posenc.diagnose.trial import Trial
from tests.diagnose.models import (
    Composed,
    Model,
    Reader,
    Table,
    from_ids,
    from_tokens,
    reason_undetermined,
    sines,
    with_constant_column,
)


def test_ids_are_drawn_beyond_special_tokens_and_at_most_1024() -> None:
    """Low ids are special in many models: padding, and the end of a text."""
    pool = Trial(nn.PositionalEmbedding(100, 64, 16), None).pool
    assert pool is not None
    assert pool.tolist() == [*range(13, 100)]
    trial = Trial(nn.GPTModel(5000, 64, 16, heads=2, layers=1), None)
    assert trial.pool is not None
    assert (len(trial.pool), int(trial.pool[0]), int(trial.pool[-1])) == (1024, 13, 4999)
    assert trial.run(trial.tokens(2, 13)).shape == (2, 13, 512)


def test_model_of_one_length_is_diagnosed_at_that_length() -> None:
    model = torch.nn.Sequential(Reader(sines(16)), torch.nn.Flatten(1), torch.nn.Linear(9 * 16, 9))
    ids = torch.arange(9)[None]
    assert nn.sees_order(model, ids).verdict == "it sees order"
    assert nn.longest_input(model, ids, length=4).ill
    assert nn.longest_input(model, ids).measured["longest"] == 9


def test_model_that_refuses_float64_runs_in_its_own_dtype() -> None:
    def float32_alone(x: Tensor) -> Tensor:
        if x.dtype != torch.float32:
            raise TypeError("float32 alone")
        return x

    found = nn.sees_order(Composed(Reader(causal=True, layers=1), float32_alone))
    assert found.ill
    assert found.measured["change"] < 10 * found.measured["noise"] < 1e-4


def test_device_without_float64_still_gets_an_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(self: Model) -> Model:
        raise TypeError("Cannot convert a tensor to float64")

    monkeypatch.setattr(torch.nn.Module, "double", refuse)
    assert nn.sees_order(Reader(sines(16))).status == HEALTHY
    assert nn.sees_order(Reader()).ill


def test_weights_are_restored_after_noise_is_measured() -> None:
    model = Reader(Table(64, 16))
    trial = Trial(model, None)
    tokens = trial.tokens(4, 13)
    with torch.no_grad():
        assert float(trial.noise(tokens, trial.run(tokens)).max()) > 0
    for copied, original in zip(trial.model.parameters(), model.parameters(), strict=True):
        assert copied.dtype == torch.float64
        assert torch.equal(copied, original.double())


def test_entry_that_is_always_zero_has_noise() -> None:
    """Behind a ReLU no changed digit is seen; one of its sums in another order may be."""
    trial = Trial(Composed(Reader(), with_constant_column(0)), None)
    tokens = trial.tokens(4, 13)
    with torch.no_grad():
        noise = trial.noise(tokens, trial.run(tokens))[..., -1]
    assert 1e-15 < float(noise.min()) == float(noise.max()) < 1e-12


def test_failing_forward_is_undetermined() -> None:
    def fail(ids: Tensor) -> Tensor:
        raise KeyError("nothing\nworks")

    why = reason_undetermined(nn.diagnose(from_ids(fail)))
    assert "KeyError: 'nothing\\nworks'" in why
    why = reason_undetermined(nn.diagnose(from_ids(fail), torch.ones(2, 3)))
    assert "an input of torch.float32 like the example, (2, 3)" in why


def test_model_without_batches_is_undetermined() -> None:
    model = from_tokens(lambda x: x.view(1, 13, 16))
    why = reason_undetermined(nn.diagnose(model))
    assert "it reads one sequence at a time, not a batch" in why


def test_random_or_stateful_model_is_undetermined() -> None:
    outputs: list[Tensor] = []

    def dropout(x: Tensor) -> Tensor:
        return torch.nn.functional.dropout(x, 0.1, training=True)

    def later_positions(x: Tensor) -> Tensor:
        outputs.append(x)
        return x + sines(16)(20 * len(outputs) + torch.arange(x.shape[1])).to(x.dtype)

    def more_outputs(x: Tensor) -> tuple[Tensor, ...]:
        outputs.append(x)
        return tuple(outputs)

    def wider_output(x: Tensor) -> Tensor:
        outputs.append(x)
        return torch.cat([x] * len(outputs), dim=-1)

    for function in (dropout, later_positions, more_outputs, wider_output):
        outputs.clear()
        why = reason_undetermined(nn.diagnose(Composed(Reader(), function)))
        assert "the same sequence gives a different output when it is run again" in why


def test_random_output_written_in_place_is_noticed() -> None:
    buffers: dict[torch.Size, Tensor] = {}

    def write_in_place(x: Tensor) -> Tensor:
        return buffers.setdefault(x.shape, x).copy_(torch.rand_like(x))

    assert "again" in nn.sees_order(Composed(Reader(), write_in_place)).why


def test_channels_first_example_needs_an_axis() -> None:
    model = torch.nn.Conv1d(8, 8, 3, padding=1)
    sound = torch.randn(2, 8, 20)
    why = reason_undetermined(nn.diagnose(model, sound))
    assert "reads 8 along axis 1 of the example and no other size" in why
    assert "axis=1, or axis=2, which is 20 long" in why
    assert nn.sees_order(model, sound, axis=2).verdict == "it sees order"
    assert nn.longest_input(model, sound, axis=2).verdict == "it reads 1024 tokens"
    assert nn.sees_order(model, {"input": sound}, axis=1).status == HEALTHY


def test_axis_is_not_demanded_if_the_length_is_clear() -> None:
    encoder = torch.nn.TransformerEncoderLayer(8, 2, 16, batch_first=True)
    assert nn.sees_order(encoder, torch.randn(1, 17, 8)).verdict == "it does not see order"
    example = {"src": torch.randn(1, 17, 8), "src_key_padding_mask": torch.zeros(1, 17) > 0}
    assert nn.sees_order(encoder, example).verdict == "it does not see order"

    def nine_or_ten_rows(x: Tensor) -> Tensor:
        if x.shape[1] not in (9, 10):
            raise ValueError("9 or 10 rows")
        return x.cumsum(dim=1).cumsum(dim=1)

    found = nn.sees_order(from_ids(nine_or_ten_rows), torch.randn(1, 9, 8))
    assert found.verdict == "it sees order"


def test_example_with_too_many_axes_is_undetermined() -> None:
    image = torch.nn.Sequential(torch.nn.Conv2d(3, 4, 4, 4), torch.nn.Flatten(2))
    why = reason_undetermined(nn.diagnose(image, torch.randn(2, 3, 8, 8)))
    assert "it is not known which axis is the length" in why
    why = reason_undetermined(nn.diagnose(Reader(), torch.ones(1, 3, 4, dtype=torch.long)))
    assert "must be (batch, length); in one of shape (1, 3, 4)" in why
