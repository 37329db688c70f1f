"""Where positions meet tokens, and what is no meeting."""

from __future__ import annotations

import torch
from torch import Tensor

from posenc import nn
from posenc.diagnose.answers import HEALTHY, UNDETERMINED
from tests.diagnose.models import VOCAB, Model, Reader, RelativeKeys, from_tokens, sines


class Hiding(RelativeKeys):
    """Relative keys that the first token does not see, as in Funnel, with or without pooling.

    Of the pairs of tokens that are pooled one is left, so that no output belongs to a token.
    """

    def __init__(self, pooled: bool) -> None:
        super().__init__(lambda d: d + 600)
        self.pooled = pooled

    def forward(self, ids: Tensor) -> Tensor:
        x, n = self.table(ids), ids.shape[1]
        places = torch.arange(n)
        kinds = self.kinds(places[:, None] - places).expand(len(ids), n, n)
        shown = ((places[:, None] > 0) & (places > 0)).to(x.dtype)
        scores = x @ x.mT + (x @ self.relative).gather(-1, kinds) * shown
        out: Tensor = x + torch.softmax(scores, dim=-1) @ x
        return out[:, ::2] if self.pooled else out


def test_concatenated_positions_collide_in_bfloat16_alone() -> None:
    def concatenating(dtype: torch.dtype) -> Model:
        def concatenate(x: Tensor) -> Tensor:
            rows = sines(8, dtype)(torch.arange(x.shape[1])).expand(len(x), -1, -1)
            return torch.cat([x, rows.to(x.dtype)], dim=-1)

        return from_tokens(concatenate, 8)

    assert nn.colliding_positions(concatenating(torch.float32)).status == HEALTHY
    found = nn.colliding_positions(concatenating(torch.bfloat16))
    assert found.ill
    assert (found.measured["first"], found.measured["second"]) == (256, 257)
    assert "beside tokens" in found.why


def test_rows_lost_in_the_sum_collide() -> None:
    """Of 256, bfloat16 keeps 8 bits: what is added to it has to be 1 to be seen."""

    def small(positions: Tensor) -> Tensor:
        return positions[:, None].expand(-1, 16) / 64

    model = Reader(small, deviation=0).bfloat16()
    with torch.no_grad():
        model.tokens.weight += 256 + torch.arange(VOCAB)[:, None]
    found = nn.colliding_positions(model, length=40)
    assert found.ill
    assert found.measured["second"] == 1


def test_mask_of_zeros_and_ones_is_not_taken_for_positions() -> None:
    assert nn.colliding_positions(Hiding(pooled=False), length=40).verdict == "all positions differ"


def test_relative_keys_are_undetermined_if_order_is() -> None:
    found = nn.colliding_positions(Hiding(pooled=True), length=40)
    assert (found.status, "mingled with tokens" in found.why) == (UNDETERMINED, True)
