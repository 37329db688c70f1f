"""What is seen of the operations that a model runs."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor

from posenc import nn
from posenc.diagnose.answers import HEALTHY
from posenc.diagnose.collisions import Sizes
from posenc.diagnose.operations import TableReads, Watcher
from posenc.diagnose.recording import Recorder
from tests.diagnose.models import Reader, sines


@pytest.mark.parametrize("mode", [TableReads, Recorder, Sizes])
def test_watchers_do_not_import_the_compiler(mode: type[Watcher]) -> None:
    """PyTorch does, for a class of modes that has the method itself."""
    assert "__torch_dispatch__" not in vars(mode)
    assert vars(Watcher)["__torch_dispatch__"] is mode.__torch_dispatch__


def test_padding_is_never_drawn() -> None:
    """Its row is zeros: a text of it would be no text, and is what some models refuse."""

    class Padded(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.table, self.out = torch.nn.Embedding(20, 16, padding_idx=17), Reader(sines(16))

        def forward(self, ids: Tensor) -> Tensor:
            if bool((ids == 17).any()):
                raise ValueError("padding")
            out: Tensor = self.table(ids) + self.out(ids)
            return out

    assert nn.sees_order(Padded()).status == HEALTHY
