"""The models built for the measurement compute the scores of their schemes' definitions in numpy.

The definitions are tested against the papers elsewhere. Here it is the way into the model that is
tested: what each scheme is given, in each layer, by what content is divided, and that the mask
stays.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch
from numpy.typing import NDArray
from torch import Tensor

import posenc
from posenc.nn import GPTModel, PaTH
from posenc.nn.gpt import SelfAttention
from scripts.measure import language, order, retrieval
from scripts.measure.renumbered import READINGS, SINKS, RenumberedLayer
from scripts.measure.schemes import FURTHER, RENUMBERED, ROTATED
from scripts.measure.training import Settings, generator

SETTINGS = Settings(width=16, heads=2, layers=2, length=16)
HEADS, D = SETTINGS.heads, SETTINGS.width // SETTINGS.heads
LONGEST = 48  # of any text
LENGTH = 40  # of the text here, more than twice those of training
PLACES = np.arange(LENGTH)
RELATIVE = posenc.relative_positions(LENGTH, LENGTH)

Array = NDArray[Any]
# From the parameters of a layer or of all, its tokens, queries and keys, the scores of each head.
Definition = Callable[[dict[str, Array], SelfAttention, Tensor, Array, Array], Array]


def dot(q: Array, k: Array) -> Array:
    """Return the scores of content, divided by √d."""
    scores: Array = q @ k.swapaxes(-1, -2) / np.sqrt(D)
    return scores


def network(p: dict[str, Array], owner: str) -> dict[str, Array]:
    """Return the parameters of a network of two linear functions."""
    names = ("first_weight", "first_bias", "second_weight", "second_bias")
    return {name: p[f"{owner}.{name}"] for name in names}


def by_kerple(kernel: str) -> Definition:
    """Return the definition for one of KERPLE's kernels."""
    bias = posenc.kerple_log_bias if kernel == "log" else posenc.kerple_power_bias
    largest = np.inf if kernel == "log" else 2
    return lambda p, _, x, q, k: (
        dot(q, k)
        + bias(
            p["bias.scale"].clip(0.01),
            p["bias.shape"].clip(0.01, largest),
            RELATIVE,
        )
    )


def by_fire(p: dict[str, Array], _: SelfAttention, x: Tensor, q: Array, k: Array) -> Array:
    threshold = 512 * float(p["bias.factor"])
    shares = posenc.fire_shares(LENGTH, rate=float(p["bias.rate"]), threshold=threshold)
    return dot(q, k) + posenc.fire_bias(shares, **network(p, "bias"))


def by_tupe(p: dict[str, Array], _: SelfAttention, x: Tensor, q: Array, k: Array) -> Array:
    """Return TUPE's scores: content is divided by √(2d), as places are."""
    weights = {"query_weight": p["bias.query_weight"], "key_weight": p["bias.key_weight"]}
    bias = posenc.tupe_bias(p["bias.table"][:LENGTH], heads=HEADS, **weights)
    first = {"from_first": p["bias.from_first"], "to_first": p["bias.to_first"]}
    return dot(q, k) / math.sqrt(2) + posenc.untied_bias(bias, **first)


def by_xpos(p: dict[str, Array], _: SelfAttention, x: Tensor, q: Array, k: Array) -> Array:
    return dot(posenc.apply_xpos(q, PLACES, role="query"), posenc.apply_xpos(k, PLACES, role="key"))


def by_transformer_xl(
    p: dict[str, Array], _: SelfAttention, x: Tensor, q: Array, k: Array
) -> Array:
    rows = posenc.transformer_xl_rows(LENGTH, LENGTH, SETTINGS.width) @ p["bias.weight"]
    return posenc.transformer_xl_scores(
        q,
        k,
        rows.reshape(-1, HEADS, D).swapaxes(0, 1),
        content_bias=p["bias.content_bias"][:, None],
        position_bias=p["bias.position_bias"][:, None],
    )


def by_deberta(p: dict[str, Array], _: SelfAttention, x: Tensor, q: Array, k: Array) -> Array:
    """Return DeBERTa's scores, with 2·16 rows a table."""
    rows = p["bias.position_q"], p["bias.position_k"]
    assert rows[0].shape == rows[1].shape == (HEADS, 32, D)
    return posenc.disentangled_scores(q, k, RELATIVE, position_q=rows[0], position_k=rows[1])


def by_forgetting(p: dict[str, Array], _: SelfAttention, x: Tensor, q: Array, k: Array) -> Array:
    gates = x.numpy()[0] @ p["gate.weight"].T + p["gate.shift"]
    return dot(q, k) + posenc.forgetting_bias(-np.log1p(np.exp(-gates)).T)


def by_cope(p: dict[str, Array], _: SelfAttention, x: Tensor, q: Array, k: Array) -> Array:
    """Return CoPE's scores, with a row for each token of a training text."""
    assert len(p["cope.table"]) == SETTINGS.length
    return posenc.cope_scores(q, dot(q, k), p["cope.table"])


def by_path(p: dict[str, Array], layer: SelfAttention, x: Tensor, q: Array, k: Array) -> Array:
    """Return PaTH's scores, with the directions and strengths of the layer's tokens."""
    path = layer.get_submodule("path")
    assert isinstance(path, PaTH)
    direction, strength = path._directions(x)[0], path._strengths(x)[0, ..., 0]
    return posenc.path_scores(q, k, direction=direction.numpy(), strength=strength.numpy())


def by_dape(p: dict[str, Array], _: SelfAttention, x: Tensor, q: Array, k: Array) -> Array:
    """Return the scores with KERPLE's logarithm, adjusted by DAPE."""
    scale, rate = p["kerple.scale"].clip(0.01), p["kerple.shape"].clip(0.01)
    bias = posenc.kerple_log_bias(scale, rate, RELATIVE)
    return dot(q, k) + posenc.dape_bias(dot(q, k), bias, **network(p, "dape"))


DEFINITIONS: dict[str, Definition] = {
    "alibi": lambda p, _, x, q, k: dot(q, k) + posenc.alibi_bias(HEADS, LENGTH),
    "kerple": by_kerple("log"),
    "kerple_power": by_kerple("power"),
    "fire": by_fire,
    "sandwich": lambda p, _, x, q, k: dot(q, k) + posenc.sandwich_bias(HEADS, RELATIVE),
    "tupe": by_tupe,
    "xpos": by_xpos,
    "transformer_xl": by_transformer_xl,
    "deberta": by_deberta,
    "forgetting": by_forgetting,
    "cope": by_cope,
    "path": by_path,
    "dape": by_dape,
}


def test_every_scheme_has_a_definition_here_but_those_of_other_positions() -> None:
    """Which positions the others rotate by is tested in `test_measure`."""
    assert set(FURTHER) - set(DEFINITIONS) == set(ROTATED)


def with_shifted_parameters(method: str) -> GPTModel:
    """Return a model in float64 whose parameters are all away from their initial values."""
    model = language.model(SETTINGS, method, LONGEST, 0).double().eval()
    with torch.no_grad():
        for seed, weights in enumerate(model.parameters()):
            noise = torch.randn(weights.shape, generator=generator(0, seed), dtype=weights.dtype)
            weights.add_(0.3 * noise)
    return model


@pytest.mark.parametrize("method", DEFINITIONS)
def test_each_layer_weighs_keys_by_the_definition_of_its_scheme(method: str) -> None:
    model, read = with_shifted_parameters(method), []
    layers = [part for part in model.modules() if isinstance(part, SelfAttention)]
    assert len(layers) == 2
    for layer in layers:
        layer.register_forward_pre_hook(lambda _, given: read.append(given[0]))
    shared = {n: w.numpy() for n, w in model.state_dict().items() if n.startswith("bias.")}
    with torch.no_grad():
        _, weights = model(torch.arange(60, 60 + LENGTH)[None], return_attention=True)
        for layer, x, found in zip(layers, read, weights, strict=True):
            split = layer.query_key_value(x).view(LENGTH, 3, HEADS, D).permute(1, 2, 0, 3).numpy()
            own = {name: w.numpy() for name, w in layer.state_dict().items()}
            scores = DEFINITIONS[method](shared | own, layer, x, split[0], split[1])
            powers = np.exp(scores - scores.max(axis=-1, keepdims=True)) * (RELATIVE <= 0)
            expected = powers / powers.sum(axis=-1, keepdims=True)
            np.testing.assert_allclose(found[0].numpy(), expected, rtol=1e-5, atol=1e-9)


@pytest.mark.parametrize("task", [order, retrieval])
def test_no_training_text_of_a_question_is_longer_than_stated(task: Any) -> None:
    lengths = {task.batch(SETTINGS, 0, step)[0].shape[1] - 1 for step in range(200)}
    assert lengths == set(range(4, SETTINGS.length + 1))


@pytest.mark.parametrize("task", [order, retrieval])
def test_a_question_mark_has_a_place_in_tables_too(task: Any) -> None:
    rows = {
        method: len(dict(task.model(SETTINGS, method, LONGEST, 0).named_parameters())[name])
        for method, name in {
            "cope": "blocks.0.attention.cope.table",
            "tupe": "bias.table",
            "learned": "embedding.pos_embedding.embedding.weight",
        }.items()
    }
    assert rows == {"cope": SETTINGS.length + 1, "tupe": LONGEST + 1, "learned": LONGEST + 1}
    for method in RENUMBERED:
        assert task.model(SETTINGS, method, LONGEST, 0).max_len == LONGEST + 1


# The distances at which the model with RoPE reads 40 tokens after training on 16, keys nearer than
# 8 as they are. Groups of six positions are enough: the farthest distance is 13.
FAR = {"query_length": LENGTH, "key_length": LENGTH, "window": 8}
CACHED = np.where(
    (PLACES < SINKS) & (RELATIVE <= SINKS - 16),
    PLACES - np.minimum(PLACES, 15)[:, np.newaxis],  # the sinks come before the window
    RELATIVE,
)
DISTANCES = {
    "rope, self-extend": posenc.self_extend_relative(**FAR, group=6),
    "rope, ReRoPE": posenc.rerope_relative(**FAR),
    "rope, leaky ReRoPE": posenc.rerope_relative(**FAR, step=1 / 6),
    "rope, log n": RELATIVE,
    "rope, ReRoPE and log n": posenc.rerope_relative(**FAR),
    "rope, sinks": CACHED,
}


@pytest.mark.parametrize("name", READINGS)
def test_a_renumbered_model_rotates_by_the_distances_of_the_definition(name: str) -> None:
    """By definition each pair is rotated by its own distance; the model rotates twice instead."""
    model, read = READINGS[name](with_shifted_parameters("rope"), SETTINGS.length, LENGTH), []
    layers = [part for part in model.modules() if isinstance(part, SelfAttention)]
    for layer in layers:
        layer.register_forward_pre_hook(lambda _, given: read.append(given[0]))
    mask = RELATIVE <= 0
    if name == "rope, sinks":
        mask = posenc.sink_mask(LENGTH, window=SETTINGS.length - SINKS, sinks=SINKS)
    scale = posenc.log_scale(PLACES, SETTINGS.length)[:, np.newaxis] if "log n" in name else 1.0
    relative = DISTANCES[name]
    assert relative.min() < -16 if name == "rope, log n" else relative[mask].min() > -16
    with torch.no_grad():
        _, weights = model(torch.arange(60, 60 + LENGTH)[None], return_attention=True)
        for layer, x, found in zip(layers, read, weights, strict=True):
            split = layer.query_key_value(x).view(LENGTH, 3, HEADS, D).permute(1, 2, 0, 3).numpy()
            q, k = scale * split[0], split[1]
            pairs = np.broadcast_to(q[:, :, np.newaxis], (HEADS, LENGTH, LENGTH, D))
            scores = np.einsum("hijd,hjd->hij", posenc.apply_rope(pairs, -relative), k)
            powers = np.exp(scores / np.sqrt(D)) * mask
            expected = powers / powers.sum(axis=-1, keepdims=True)
            np.testing.assert_allclose(found[0].numpy(), expected, rtol=1e-5, atol=1e-9)


@pytest.mark.parametrize("length", [128, 256, 512])
@pytest.mark.parametrize("name", READINGS)
def test_no_reading_but_log_n_alone_has_a_longer_distance_than_training(
    name: str, length: int
) -> None:
    made, at = READINGS[name](with_shifted_parameters("rope"), 64, length), torch.arange(length)
    layer = next(part for part in made.modules() if isinstance(part, RenumberedLayer))
    apart = (at[:, None] - at).double()
    if layer.far is not None:
        far = layer.far.queries(at).double()[:, None] - layer.far.keys(at)
        apart = torch.where(apart >= layer.far.window, far, apart)
    longest = apart.max().item()
    whole = torch.equal(apart[apart >= 0].round(), apart[apart >= 0])
    assert whole == (name != "rope, leaky ReRoPE")
    if name == "rope, log n":
        assert longest == length - 1
    elif name in ("rope, ReRoPE", "rope, ReRoPE and log n"):
        assert longest == 32
    elif name == "rope, sinks":
        assert SINKS == 4
        assert longest == 63
    else:
        assert 55 <= longest <= 63
