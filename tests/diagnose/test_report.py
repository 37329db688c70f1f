"""All answers about a model."""

from __future__ import annotations

from typing import Any

import pytest
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
    assert text.endswith("\n\n1 ill, 0 undetermined, of 6 questions.")
    assert max(map(len, text.splitlines())) <= 68


def test_model_without_weights_is_diagnosed() -> None:
    class Bare(torch.nn.Module):
        def forward(self, ids: Tensor) -> Tensor:
            return torch.nn.functional.one_hot(ids, 5) * 1.0

    report = nn.diagnose(Bare())
    assert "no token's output depends on another token" in report.diagnoses[0].why
    assert report.subject == "Bare: 0 weights, in training mode"


def test_a_report_says_that_the_trained_length_was_not_asked_about() -> None:
    """A rotary model that fails beyond its training gets no all-clear about longer texts."""
    model = nn.GPTModel(VOCAB, 40, 16, heads=2, layers=1, pos_type="rope")
    report = nn.diagnose(model, length=80)
    assert report.status == "healthy"
    assert [one.question for one in report.unasked] == ["Were all positions met in training?"]
    text = str(report)
    assert "[  - ] Were all positions met in training?\n       Not asked. Say how many" in text
    assert "trained= or --trained), and how many" in " ".join(text.split())
    assert text.endswith("\n\n0 ill, 0 undetermined, of 6 questions.")


def test_the_trained_length_is_a_seventh_question() -> None:
    model = nn.GPTModel(VOCAB, 40, 16, heads=2, layers=1, pos_type="rope")
    report = nn.diagnose(model, length=80, trained=40, base=10000)
    assert report.ill
    assert report.unasked == ()
    alone = nn.unseen_positions(model, trained=40, length=80, base=10000)
    assert report.diagnoses[6] == alone
    assert str(report).endswith("\n\n1 ill, 0 undetermined, of 7 questions.")


@pytest.mark.parametrize(
    ("options", "missing"),
    [({"trained": 40}, "length"), ({"base": 10000, "length": 80}, "trained")],
    ids=["length", "trained"],
)
def test_what_the_last_question_needs_must_be_given(options: dict[str, Any], missing: str) -> None:
    model = nn.GPTModel(VOCAB, 40, 16, heads=2, layers=1, pos_type="rope")
    with pytest.raises(ValueError, match=f"{missing} must be given where"):
        nn.diagnose(model, **options)
