"""Which query a bias is read from."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor

from posenc import nn
from posenc.diagnose.answers import HEALTHY
from tests.diagnose.models import VOCAB


@pytest.mark.parametrize("scheme", ["alibi", "t5"])
@pytest.mark.parametrize("causal", [False, True], ids=["both ways", "causal"])
def test_bias_in_a_reversed_view_is_read_from_the_last_query(scheme: str, causal: bool) -> None:
    """It is seen through a view whose queries run backwards: its last row is the first query."""

    class Fast(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.table, self.qkv = torch.nn.Embedding(VOCAB, 16), torch.nn.Linear(16, 48)
            self.bias = (
                nn.ALiBi(2, causal=causal)
                if scheme == "alibi"
                else nn.T5RelativeBias(2, bidirectional=not causal)
            )

        def forward(self, ids: Tensor) -> Tensor:
            x, n = self.table(ids), ids.shape[1]
            q, k, v = self.qkv(x).view(len(ids), n, 3, 2, 8).permute(2, 0, 3, 1, 4)
            rows = self.bias(nn.relative_row(n, n))[:, 0].to(q.dtype)
            return nn.relative_attention(q, k, v, rows).transpose(1, 2).flatten(2)

    found = nn.colliding_positions(Fast(), length=200)
    assert found.status == HEALTHY, found
    assert (found.measured["colliding"] == 0) == (scheme == "alibi")
