"""Which parts of a model are run on their own, and what that shows."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from posenc import nn
from posenc.diagnose.parts import may_mix
from tests.diagnose.models import VOCAB, Model, Reader


def test_modules_that_work_row_by_row_are_not_tried() -> None:
    """PyTorch's own, as they come: what could mix tokens in any way is left to be tried."""

    class Mixing(torch.nn.Linear):
        def forward(self, x: Tensor) -> Tensor:
            return super().forward(x).cumsum(dim=1)

    def own(x: Tensor) -> Tensor:
        return x.cumsum(dim=1)

    linear, norm = torch.nn.Linear(8, 8), torch.nn.LayerNorm(8)
    tried = {
        "hooked": torch.nn.Linear(8, 8),
        "replaced": torch.nn.Linear(8, 8),
        "derived": Mixing(8, 8),
        "over all": torch.nn.LayerNorm((13, 8)),
        "over all but the mean": torch.nn.RMSNorm((13, 8)),
        "along": torch.nn.Conv1d(8, 8, 3),
        "one of two": torch.nn.Sequential(torch.nn.GELU(), Mixing(8, 8)),
    }
    tried["hooked"].register_forward_hook(lambda part, given, out: own(out))
    tried["replaced"].forward = own
    alone = {"linear": linear, "norm": norm, "both": torch.nn.Sequential(linear, torch.nn.ReLU())}
    assert may_mix(torch.nn.ModuleDict(tried | alone)) == ["", *list(tried), "one of two.1"]


def test_part_that_cannot_run_alone_shows_nothing() -> None:
    class Bound(Reader):
        def forward(self, ids: Tensor) -> Tensor:
            for layer in self.layers:
                layer.awake = True  # type: ignore[assignment]
            out = super().forward(ids)
            for layer in self.layers:
                layer.awake = False  # type: ignore[assignment]
            return out

    def awake(layer: Model, given: Any) -> None:
        if not layer.awake:
            raise RuntimeError("asleep")

    model = Bound(causal=True)
    for layer in model.layers:
        layer.register_forward_pre_hook(awake)
    assert "No part shows" in nn.sees_order(model).why


def test_causal_model_in_a_single_part_does_not_show_what_tells_it_order() -> None:
    class Whole(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.table = torch.nn.Embedding(VOCAB, 8)

        def forward(self, ids: Tensor) -> Tensor:
            x: Tensor = self.table(ids)
            mask = torch.ones(ids.shape[1], ids.shape[1]).tril() > 0
            for _ in range(2):
                x = x + torch.softmax((x @ x.mT / 8).masked_fill(~mask, -torch.inf), dim=-1) @ x
            return x

    found = nn.sees_order(Whole())
    assert found.verdict == "it sees order"
    assert "No part shows" in found.why


def test_model_that_shortens_a_repeated_token_is_diagnosed() -> None:
    """It spares itself rows that are all alike, so that its parts then have another length."""

    class Sparing(Reader):
        def forward(self, ids: Tensor) -> Tensor:
            alike = bool((ids == ids[:, :1]).all())
            out = super().forward(ids[:, :1] if alike else ids)
            return out.expand(-1, ids.shape[1], -1)

    found = nn.sees_order(Sparing(causal=True, layers=2))
    assert found.verdict == "only through the causal mask"
