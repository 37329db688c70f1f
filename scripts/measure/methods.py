"""The schemes that are trained, and the extensions of two of them after training."""

from __future__ import annotations

import copy
import math
from collections.abc import Callable, Mapping, Sequence
from typing import TypeAlias

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from posenc import (
    dynamic_frequencies,
    frequencies,
    interpolated_frequencies,
    llama3_frequencies,
    log_scale,
    longrope_frequencies,
    longrope_temperature,
    ntk_frequencies,
    resize_table,
    yarn_frequencies,
    yarn_temperature,
)
from posenc.nn import GPTModel, RotaryEmbedding
from posenc.nn.gpt import Places, SelfAttention
from posenc.rotary.scaling import FAST, SLOW
from scripts.measure.schemes import FITTED, FURTHER, Inside, Layer, WindowedAttention

# Takes a trained model, its trained length and the length of a text; returns a model for that text.
Variant: TypeAlias = Callable[[GPTModel, int, int], GPTModel]

LARGER_BASE = 500_000.0  # of Code Llama's and Llama 3's order
TRAINED = ("none", "sinusoidal", "learned", "rope", "alibi", "t5", "shaw")


def as_trained(model: GPTModel, trained: int, length: int) -> GPTModel:
    """Return the model itself."""
    return model


def learned_interpolated(model: GPTModel, trained: int, length: int) -> GPTModel:
    """Return a copy whose trained rows are interpolated over the whole text."""
    model = copy.deepcopy(model)
    assert model.embedding.pos_embedding is not None
    table = model.embedding.pos_embedding.embedding.weight
    rows = resize_table(table[:trained].detach().cpu().numpy(), length)
    with torch.no_grad():
        table[:length] = torch.from_numpy(rows)
    return model


def rope_interpolated(model: GPTModel, trained: int, length: int) -> GPTModel:
    """Return a copy with position interpolation."""
    return _with_frequencies(model, interpolated_frequencies(_width(model), length / trained))


def rope_ntk(model: GPTModel, trained: int, length: int) -> GPTModel:
    """Return a copy with NTK-aware frequencies."""
    return _with_frequencies(model, ntk_frequencies(_width(model), length / trained))


def rope_larger_base(model: GPTModel, trained: int, length: int) -> GPTModel:
    """Return a copy with a base fifty times as large, whatever the length."""
    return _with_frequencies(model, frequencies(_width(model), base=LARGER_BASE))


def without_rope(model: GPTModel, trained: int, length: int) -> GPTModel:
    """Return a copy that rotates nothing, as DroPE's does after training."""
    model = copy.deepcopy(model)
    for attention in _attention(model):
        attention.rope = None
    return model


def rope_dynamic(model: GPTModel, trained: int, length: int) -> GPTModel:
    """Return a copy with dynamic NTK, set for this length as transformers would be."""
    omega = dynamic_frequencies(
        _width(model), length, factor=length / trained, trained_length=trained
    )
    return _with_frequencies(model, omega)


def rope_llama3(model: GPTModel, trained: int, length: int, high: float = 4.0) -> GPTModel:
    """Return a copy with Llama 3's rule."""
    omega = llama3_frequencies(
        _width(model), factor=length / trained, trained_length=trained, high=high
    )
    return _with_frequencies(model, omega)


def rope_llama3_fitted(model: GPTModel, trained: int, length: int) -> GPTModel:
    """Return Llama 3's rule with YaRN's fitted limits: YaRN without its temperature."""
    return rope_llama3(model, trained, length, high=_most_turns(trained))


def rope_yarn(
    model: GPTModel,
    trained: int,
    length: int,
    slow: float = SLOW,
    fast: float = FAST,
    ramp: str = "turns",
    truncate: bool = True,
    mscale: float = 1.0,
) -> GPTModel:
    """Return a copy with YaRN's frequencies and temperature; an `mscale` of 0 leaves that at 1."""
    factor = length / trained
    omega = yarn_frequencies(
        _width(model), factor, trained, slow=slow, fast=fast, ramp=ramp, truncate=truncate
    )
    return _with_frequencies(model, omega, yarn_temperature(factor, mscale=mscale))


def rope_yarn_fitted(model: GPTModel, trained: int, length: int) -> GPTModel:
    """Return YaRN with `fast` set so that only the fastest pair keeps its frequency."""
    return rope_yarn(model, trained, length, fast=_most_turns(trained))


def rope_yarn_released(model: GPTModel, trained: int, length: int) -> GPTModel:
    """Return YaRN with Llama's limits and the ramp of the released code."""
    return rope_yarn(model, trained, length, ramp="pairs")


def rope_yarn_untruncated(model: GPTModel, trained: int, length: int) -> GPTModel:
    """Return the released YaRN with a ramp that need not begin and end at whole pairs."""
    return rope_yarn(model, trained, length, ramp="pairs", truncate=False)


def rope_longrope(
    model: GPTModel, trained: int, length: int, divisors: Mapping[int, Sequence[float]]
) -> GPTModel:
    """Return a copy with LongRoPE's temperature and, beyond the trained length, its divisors."""
    short = np.ones(_width(model) // 2)
    omega = longrope_frequencies(
        *(_width(model), length),
        short=short,
        long=divisors.get(length, short),
        trained_length=trained,
    )
    return _with_frequencies(model, omega, longrope_temperature(length / trained, trained))


class LogScaledLayer(Layer):
    """A layer without positions whose queries are multiplied by log n beyond the trained length."""

    trained: int

    def inside(self, x: Tensor, q: Tensor, k: Tensor, places: Places) -> Inside:
        """Return scaled queries."""
        scale = log_scale(places.positions.cpu().numpy(), self.trained)
        return q * torch.from_numpy(scale).to(q)[:, None], k, None


def with_log_scaled_open_layers(model: GPTModel, trained: int, length: int) -> GPTModel:
    """Return a copy in which the layers that see every key scale their queries by log n."""
    model = copy.deepcopy(model)
    for attention in _attention(model):
        attention.__class__ = LogScaledLayer  # which has the same parameters
        assert isinstance(attention, LogScaledLayer)
        attention.trained = trained
    return model


# The variants evaluated for each trained scheme, by the names that tables and figures show.
VARIANTS: dict[str, dict[str, Variant]] = {
    **{name: {name: as_trained} for name in (*TRAINED, *FURTHER, *FITTED)},
    "learned": {"learned": as_trained, "learned, interpolated": learned_interpolated},
    "rope": {
        "rope": as_trained,
        "rope, interpolated": rope_interpolated,
        "rope, NTK-aware": rope_ntk,
        "rope, dynamic NTK": rope_dynamic,
        "rope, Llama 3's rule": rope_llama3,
        "rope, Llama 3's rule with fitted limits": rope_llama3_fitted,
        "rope, YaRN with fitted limits": rope_yarn_fitted,
        "rope, YaRN with Llama's limits": rope_yarn,
        "rope, YaRN as released": rope_yarn_released,
        "rope, YaRN without truncation": rope_yarn_untruncated,
    },
    "windows_rope": {
        "windows_rope": as_trained,
        "windows_rope, Llama 3's rule": rope_llama3,
        "windows_rope, YaRN as released": rope_yarn_released,
    },
    "windows_none": {
        "windows_none": as_trained,
        "windows_none, log n": with_log_scaled_open_layers,
    },
}
LONGROPE = "rope, LongRoPE"  # one more for "rope", whose divisors are searched for first


def _width(model: GPTModel) -> int:
    """Return the width of one head."""
    return model.d_model // model.heads


def _attention(model: GPTModel) -> list[SelfAttention]:
    """Return the attention modules of a model that see every key before them."""
    return [
        part
        for part in model.modules()
        if isinstance(part, SelfAttention) and not isinstance(part, WindowedAttention)
    ]


def _most_turns(trained: int) -> float:
    """Return how many turns the fastest pair makes in training; its frequency is 1."""
    return trained / (2 * math.pi)


def _with_frequencies(
    model: GPTModel, frequencies: NDArray[np.float64], temperature: float = 1.0
) -> GPTModel:
    """Return a copy whose heads rotate by these frequencies, and scale queries and keys.

    Layers with a window stay as they are: they meet no new distance.
    """
    model = copy.deepcopy(model)
    for attention in _attention(model):
        attention.rope = RotaryEmbedding(_width(model), frequencies=frequencies)
        projection = attention.query_key_value
        with torch.no_grad():  # the rows for queries and keys come first
            projection.weight[: 2 * model.d_model] *= temperature
            projection.bias[: 2 * model.d_model] *= temperature
    return model
