"""All five answers about a model."""

from __future__ import annotations

import torch
from torch import Tensor

from posenc import nn
from tests.diagnose.models import VOCAB


def test_report_begins_with_the_model_and_ends_with_the_counts() -> None:
    torch.manual_seed(0)
    text = str(nn.diagnose(nn.GPTModel(VOCAB, 40, 16, heads=2, layers=1, pos_type="none")))
    assert text.startswith("GPTModel: 3,952 weights, float32 on cpu, in training mode\n\n[ ILL] ")
    assert "[ ILL] Does it see order?\n       It does not see order. With " in text
    assert "\n       What helps: give it positions" in text
    assert text.endswith("\n\n1 ill, 0 undetermined, of 5 questions.")
    assert max(map(len, text.splitlines())) <= 68


def test_model_without_weights_is_diagnosed() -> None:
    class Bare(torch.nn.Module):
        def forward(self, ids: Tensor) -> Tensor:
            return torch.nn.functional.one_hot(ids, 5) * 1.0

    report = nn.diagnose(Bare())
    assert "no token's output depends on another token" in report.diagnoses[0].why
    assert report.subject == "Bare: 0 weights, in training mode"
