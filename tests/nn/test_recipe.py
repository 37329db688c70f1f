"""The recipe of the page *Fix it*, for tests of a model of one's own."""

from __future__ import annotations

import copy

import pytest
import torch

from posenc import nn


@pytest.fixture(scope="module")
def model() -> torch.nn.Module:
    """Return the model that is trained elsewhere."""
    torch.manual_seed(0)
    return nn.GPTModel(**nn.create_model_config("tiny"), pos_type="rope")


def test_the_diagnosis_finds_nothing(model: torch.nn.Module) -> None:
    assert not (report := nn.diagnose(model, trained=256, length=256)).ill, report


def test_the_model_sees_order(model: torch.nn.Module) -> None:
    found = nn.sees_order(model)
    assert found.verdict == "it sees order", found


def test_the_model_accepts_inputs_of_the_planned_length(model: torch.nn.Module) -> None:
    found = nn.longest_input(model, length=256)
    assert found.status == "healthy", found


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
def test_positions_stay_distinct_in_every_dtype(model: torch.nn.Module, dtype: torch.dtype) -> None:
    found = nn.colliding_positions(copy.deepcopy(model).to(dtype), length=300)
    assert found.verdict == "all positions differ", found
