"""Which parts of a model are run on their own, and what that shows."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from posenc import nn
from posenc.diagnose.parts import may_mix
from tests.diagnose.models import Model, Reader, from_tokens


def test_modules_that_work_row_by_row_are_not_tried() -> None:
    """PyTorch's own, as they come: what could mix tokens in any way is left to be tried."""

    class Mixing(torch.nn.Linear):
        def forward(self, x: Tensor) -> Tensor:
            return super().forward(x).cumsum(dim=1)

    def running_sum(x: Tensor) -> Tensor:
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
    tried["hooked"].register_forward_hook(lambda part, arguments, out: running_sum(out))
    tried["replaced"].forward = running_sum
    alone = {"linear": linear, "norm": norm, "both": torch.nn.Sequential(linear, torch.nn.ReLU())}
    assert may_mix(torch.nn.ModuleDict(tried | alone)) == ["", *list(tried), "one of two.1"]


def test_part_that_cannot_run_alone_shows_nothing() -> None:
    class Enclosing(Reader):
        running = False

        def forward(self, ids: Tensor) -> Tensor:
            Enclosing.running = True
            out = super().forward(ids)
            Enclosing.running = False
            return out

    def refuse_alone(layer: Model, arguments: Any) -> None:
        if not Enclosing.running:
            raise RuntimeError("the model is not running")

    model = Enclosing(causal=True)
    for layer in model.layers:
        layer.register_forward_pre_hook(refuse_alone)
    assert "No part shows" in nn.sees_order(model).why


def test_causal_model_in_a_single_part_does_not_show_what_tells_it_order() -> None:
    def two_causal_layers(x: Tensor) -> Tensor:
        mask = torch.ones(x.shape[1], x.shape[1]).tril() > 0
        for _ in range(2):
            scores = (x @ x.mT / 8).masked_fill(~mask, -torch.inf)
            x = x + torch.softmax(scores, dim=-1) @ x
        return x

    found = nn.sees_order(from_tokens(two_causal_layers, 8))
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
