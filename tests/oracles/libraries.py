"""How the oracles import other libraries, only when a test needs them, and compare arrays."""

from __future__ import annotations

import importlib
import inspect
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch
from numpy.typing import NDArray
from torch import Tensor

Array = NDArray[Any]


def library(module: str, name: str) -> Any:
    """Return a function or class of another library."""
    return getattr(importlib.import_module(module), name)


def in_transformers(model: str, name: str) -> Any:
    """Return a function or class of the code of a model."""
    return library(f"transformers.models.{model}.modeling_{model}", name)


def config_class(model_type: str) -> Any:
    """Return the configuration of a model type."""
    return library("transformers.models.auto.configuration_auto", "CONFIG_MAPPING")[model_type]


def run_with_rotations(model: Any, wrapped: Callable[[Any], Any]) -> None:
    """Run a model of transformers on eight tokens, with each function that rotates replaced."""
    source = importlib.import_module(type(model).__module__)
    with pytest.MonkeyPatch.context() as patch, torch.no_grad():
        for name, one in vars(source).copy().items():
            if inspect.isfunction(one) and name.startswith("apply_rotary"):
                patch.setattr(source, name, wrapped(one))
        model(input_ids=torch.zeros(1, 8, dtype=torch.long))


def assert_same(found: Array, expected: Array | Tensor, atol: float = 2e-6) -> None:
    """By default up to angles that are products in float32: an error of 2**-24 of the largest."""
    np.testing.assert_allclose(found, np.asarray(expected), rtol=0, atol=atol)


def assert_other(found: Array, expected: Array | Tensor) -> None:
    """Check that two arrays differ clearly."""
    assert np.abs(found - np.asarray(expected)).max() > 0.5
