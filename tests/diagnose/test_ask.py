"""Which examples and axes a question takes."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor

from posenc import nn
from posenc.diagnose.answers import HEALTHY, UNDETERMINED
from tests.diagnose.models import Reader, reason_undetermined, sines


def test_example_may_be_ids_or_keywords() -> None:
    ids = torch.tensor([[3, 1, 4, 1, 5, 9, 2, 6]])
    assert nn.sees_order(Reader(sines(16)), ids).status == HEALTHY

    class Named(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.inner = Reader(sines(16))

        def forward(self, *, words: Tensor, scale: Tensor, name: str) -> Tensor:
            assert name == "a name"
            out: Tensor = self.inner(words) * scale
            return out

    example = {"words": ids, "scale": torch.ones(1, 1, 16), "name": "a name"}
    report = nn.diagnose(Named(), example)
    assert report.status == HEALTHY
    assert nn.sees_order(Named()).status == UNDETERMINED


def test_model_without_token_ids_needs_an_example() -> None:
    encoder = torch.nn.TransformerEncoder(
        torch.nn.TransformerEncoderLayer(8, 2, 16, batch_first=True), 1
    )
    why = reason_undetermined(nn.diagnose(encoder))
    assert "its forward fails on token ids (batch, length)" in why
    assert "example" in why
    found = nn.sees_order(encoder, torch.randn(1, 6, 8))
    assert found.verdict == "it does not see order"


@pytest.mark.parametrize(("axis", "axes"), [(2, 2), (3, 3)])
def test_axis_beyond_the_example_is_refused(axis: int, axes: int) -> None:
    example = None if axes == 2 else torch.randn(2, 8, 20)
    with pytest.raises(ValueError, match=rf"axis must be below {axes}, .* got {axis}"):
        nn.sees_order(Reader(), example, axis=axis)
