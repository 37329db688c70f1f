"""What is found in an output, and what is not."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any

import pytest
import torch
from torch import Tensor

from posenc import nn
from posenc.diagnose.answers import UNDETERMINED
from tests.diagnose.models import Composed, Reader, Table, from_ids


@dataclass
class Output:
    loss: Tensor
    logits: Tensor


@pytest.mark.parametrize(
    "output",
    [
        lambda x: (x.mean(), x),
        lambda x: {"loss": x.mean(), "logits": x},
        lambda x: Output(x.mean(), x),
        lambda x: SimpleNamespace(loss=x.mean(), logits=x),
        lambda x: [torch.zeros(0), x, torch.zeros(2, dtype=torch.complex64)],
    ],
    ids=["tuple", "mapping", "dataclass", "object", "list"],
)
def test_output_is_found_behind_a_loss_and_in_any_container(output: Callable[..., Any]) -> None:
    assert nn.sees_order(Composed(Reader(Table(64, 16)), output)).verdict == "it sees order"
    assert nn.sees_order(Composed(Reader(), output)).verdict == "it does not see order"


@pytest.mark.parametrize(
    ("output", "why"),
    [
        (lambda ids: ids, "no floating-point tensor"),
        (lambda ids: {"loss": ids.sum() * 1.0}, "no floating-point tensor"),
        (lambda ids: ids / 0.0, "not all finite"),
        (lambda ids: ids + torch.rand(ids.shape), "random even in evaluation mode"),
        (lambda ids: (ids * 1.0).cumsum(dim=0), "does not read (batch, length)"),
    ],
    ids=["integers", "scalar", "infinite", "random", "length first"],
)
def test_uninformative_output_is_undetermined(output: Callable[[Tensor], Any], why: str) -> None:
    found = nn.sees_order(from_ids(output))
    assert found.status == UNDETERMINED
    assert why in found.why


def test_output_on_the_meta_device_is_undetermined() -> None:
    model = from_ids(lambda ids: torch.zeros(*ids.shape, 4, device="meta"))
    assert "meta device" in nn.sees_order(model).why
