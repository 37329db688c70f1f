"""The measurement: models learn, no data leaks, runs resume, and damaged files are reported."""

from __future__ import annotations

import errno
import importlib
import importlib.util
import json
import math
import os
import re
import sys
import time
from collections.abc import Callable, Iterable
from dataclasses import asdict, replace
from pathlib import Path
from subprocess import PIPE, Popen
from typing import Any
from unittest.mock import MagicMock

import numpy as np
import psutil
import pytest
import torch
from numpy.typing import NDArray

from posenc import (
    dynamic_frequencies,
    frequencies,
    interpolated_frequencies,
    llama3_frequencies,
    ntk_frequencies,
    yarn_frequencies,
)
from posenc.nn import GPTModel, RotaryEmbedding, T5RelativeBias
from posenc.nn.gpt import Places, SelfAttention
from scripts import ROOT
from scripts.measure import __main__ as command
from scripts.measure import (
    far,
    further,
    language,
    longrope,
    order,
    reevaluate,
    renumbered,
    result_files,
    retrieval,
    tasks,
    training,
)
from scripts.measure.corpus import BOOK, TOPICS, corpus
from scripts.measure.methods import (
    LONGROPE,
    TRAINED,
    VARIANTS,
    as_trained,
    rope_longrope,
)
from scripts.measure.schemes import FURTHER, ROTATED, WINDOWED, RandomPositions, WindowedAttention
from scripts.measure.training import Settings, generator, train
from tests.selection import give_up

SMALL = Settings(width=16, heads=2, layers=1, length=16, batch=8, steps=12, warm_up=2, rate=1e-2)
LENGTHS = (16, 32)
TEXT = corpus()


def small_model(method: str, seed: int = 0) -> GPTModel:
    return language.model(SMALL, method, max(LENGTHS), seed).eval()


def attention_of(model: GPTModel) -> SelfAttention:
    return next(part for part in model.modules() if isinstance(part, SelfAttention))


def rope_of(model: GPTModel) -> RotaryEmbedding:
    rope = attention_of(model).rope
    assert isinstance(rope, RotaryEmbedding)
    return rope


def rows_of(model: GPTModel) -> torch.Tensor:
    assert model.embedding.pos_embedding is not None
    return model.embedding.pos_embedding.embedding.weight


def one_result(into: Path, method: str = "rope", task: str = "language") -> dict[str, Any]:
    found = tasks.result(task, method, 0, SMALL, LENGTHS, "cpu", into / "checkpoint.pt")
    return result_files.with_provenance({**found, "seconds": 1.0})


# Data


def test_no_byte_that_is_evaluated_was_trained_on() -> None:
    assert not torch.equal(TEXT.training[: len(TEXT.held_out)], TEXT.held_out)
    whole = torch.cat([TEXT.training, TEXT.held_out])
    assert len(whole) == TEXT.facts()["bytes"]
    # Positions in place of bytes, to see which ones training and evaluation use.
    places = torch.arange(len(whole))
    seen = torch.cat(
        [language.batch(places[: len(TEXT.training)], SMALL, 0, s).flatten() for s in range(500)]
    )
    read = language.windows(places[len(TEXT.training) :], 32, 32)
    assert seen.max() < len(TEXT.training) <= read.min()


def test_every_length_predicts_the_same_bytes() -> None:
    places = torch.arange(5000)
    short, long = (language.windows(places, n, 512) for n in (64, 512))
    assert torch.equal(short, long[:, -65:])
    assert (long.diff(dim=1) == 1).all()
    assert (long[1:, -1] - long[:-1, -1] == language.APART).all()
    assert long[0, 0] == 0


@pytest.mark.parametrize("step", [0, 7])
def test_every_method_reads_the_same_texts_in_the_same_order(step: int) -> None:
    first, again = (language.batch(TEXT.training, SMALL, 3, step) for _ in range(2))
    assert torch.equal(first, again)
    assert not torch.equal(first, language.batch(TEXT.training, SMALL, 4, step))
    assert not torch.equal(first, language.batch(TEXT.training, SMALL, 3, step + 1))


def test_surprise_is_the_mean_over_windows_at_each_place() -> None:
    model, windows = small_model("alibi"), language.windows(TEXT.held_out, 32, 32)[:40]
    logits = model(windows[:, :-1]).detach().double()
    exact = -logits.log_softmax(-1).gather(-1, windows[:, 1:, None])[..., 0]
    found = language.surprise(model, windows)
    torch.testing.assert_close(found, exact.mean(dim=0), rtol=1e-5, atol=0)


def test_a_model_of_zeros_has_the_entropy_of_256_equal_bytes() -> None:
    model = small_model("none")
    with torch.no_grad():
        for weights in model.parameters():
            weights.zero_()
    found = language.evaluate(model, as_trained, TEXT, 16, LENGTHS)
    assert found["by_length"] == pytest.approx(dict.fromkeys(("16", "32"), math.log(256)))


# Variants


VARIANTS_OF = {
    method: VARIANTS[method] | reevaluate.variants(method)
    if method in reevaluate.METHODS
    else VARIANTS[method]
    for method in (*TRAINED, *WINDOWED)
}
VARIANTS_OF["rope"] |= renumbered.READINGS


@pytest.mark.parametrize(
    ("method", "name"), [(method, name) for method in VARIANTS_OF for name in VARIANTS_OF[method]]
)
def test_every_variant_equals_the_model_at_the_training_length(method: str, name: str) -> None:
    model, ids = small_model(method), TEXT.held_out[None, :16]
    changed = VARIANTS_OF[method][name](model, 16, 16)
    torch.testing.assert_close(changed(ids), model(ids), rtol=1e-5, atol=1e-6)


TURNS = 16 / (2 * math.pi)  # of the fastest pair within 16 positions


@pytest.mark.parametrize(
    ("name", "omega", "mscale"),
    [
        ("rope, interpolated", interpolated_frequencies(8, 4), 0),
        ("rope, NTK-aware", ntk_frequencies(8, 4), 0),
        ("rope, dynamic NTK", dynamic_frequencies(8, 64, factor=4, trained_length=16), 0),
        ("rope, Llama 3's rule", llama3_frequencies(8, factor=4, trained_length=16), 0),
        ("rope, Llama 3's rule with fitted limits", yarn_frequencies(8, 4, 16, fast=TURNS), 0),
        ("rope, YaRN with fitted limits", yarn_frequencies(8, 4, 16, fast=TURNS), 1),
        ("rope, YaRN with Llama's limits", yarn_frequencies(8, 4, 16), 1),
        ("rope, YaRN as released", yarn_frequencies(8, 4, 16, ramp="pairs"), 1),
        (
            "rope, YaRN without truncation",
            yarn_frequencies(8, 4, 16, ramp="pairs", truncate=False),
            1,
        ),
        (reevaluate.limited_yarn_name(0.5, 4), yarn_frequencies(8, 4, 16, slow=0.5, fast=4), 1),
        (reevaluate.limited_yarn_name(2, 32), yarn_frequencies(8, 4, 16, slow=2), 1),
        (reevaluate.limited_yarn_name(1, 8, 0), yarn_frequencies(8, 4, 16, fast=8), 0),
        (reevaluate.released_yarn_name(2), yarn_frequencies(8, 4, 16, ramp="pairs"), 2),
    ],
)
def test_each_rule_sets_its_frequencies_and_only_yarn_sharpens_by_its_squared_temperature(
    name: str, omega: NDArray[np.float64], mscale: float
) -> None:
    model, ids = small_model("rope"), TEXT.held_out[None, :64]
    with torch.no_grad():
        attention_of(model).query_key_value.bias.fill_(0.1)
    before = model(ids)
    changed = VARIANTS_OF["rope"][name](model, 16, 64)
    assert not torch.allclose(changed(ids), before, atol=1e-5)
    assert torch.equal(model(ids), before)
    np.testing.assert_allclose(rope_of(changed).frequencies, omega)
    plain, sharp = (attention_of(m).query_key_value for m in (model, changed))
    factor = 0.1 * mscale * math.log(4) + 1
    torch.testing.assert_close(sharp.weight[:32], factor * plain.weight[:32])
    torch.testing.assert_close(sharp.bias[:32], factor * plain.bias[:32])
    assert torch.equal(sharp.weight[32:], plain.weight[32:])


def test_interpolated_rows_are_the_trained_ones_stretched() -> None:
    model = small_model("learned")
    made = VARIANTS["learned"]["learned, interpolated"](model, 16, 31)
    old, new = (rows_of(m) for m in (model, made))
    torch.testing.assert_close(new[:31:2], old[:16], rtol=0, atol=1e-7)
    torch.testing.assert_close(new[1:31:2], (old[:15] + old[1:16]) / 2, rtol=0, atol=1e-7)


# LongRoPE's search


def test_longrope_divides_pair_by_pair_and_sharpens_beyond_the_trained_length() -> None:
    model, ids = small_model("rope"), TEXT.held_out[None, :16]
    divisors = {64: (1.0, 1.5, 2.0, 4.5)}
    short, long = (rope_longrope(model, 16, length, divisors) for length in (16, 64))
    assert torch.equal(short(ids), model(ids))
    np.testing.assert_allclose(rope_of(long).frequencies, 10.0 ** -np.arange(4) / divisors[64])
    plain, sharp = (attention_of(m).query_key_value.weight for m in (model, long))
    factor = math.sqrt(1 + math.log(4) / math.log(16))
    torch.testing.assert_close(sharp[:32], factor * plain[:32])
    assert torch.equal(sharp[32:], plain[32:])


def test_the_search_starts_from_other_rules_and_improves_on_them() -> None:
    asked: list[longrope.Divisors] = []
    target = np.array([1, 1, 1, 3, 5, 7, 7, 7])

    def loss(divisors: longrope.Divisors) -> float:
        asked.append(divisors)
        return float(np.abs(np.log(divisors / target)).sum())

    starts = longrope.starts(16, 8, 64)
    found = longrope.search(loss, starts, 10, np.random.default_rng(0))
    assert asked[:3] == starts
    assert starts[0] == (8,) * 8
    np.testing.assert_allclose(starts[1], 8 ** (np.arange(8) / 7), atol=0.005)
    assert starts[2][0] == 1
    assert len(asked) == 3 + longrope.ROUNDS * longrope.CHILDREN
    losses = [loss(divisors) for divisors in [found, *asked]]
    assert losses[0] == min(losses) < 0.5 * min(losses[1:4])


def test_searched_divisors_never_fall_and_stay_within_their_limits() -> None:
    chance = np.random.default_rng(0)
    starts = longrope.starts(16, 8, 64)
    children = np.array([longrope.child(starts, 10, chance) for _ in range(200)])
    assert (np.diff(children) >= 0).all()
    assert (children.min(), children.max()) == (1, 10)
    np.testing.assert_allclose(100 * children, np.round(100 * children))
    assert len(np.unique(children, axis=0)) > 190


@pytest.mark.slow
def test_the_search_reads_the_training_text_only_and_repeats_with_its_seed() -> None:
    model = small_model("rope")
    backwards = TEXT.held_out.flip(0)
    others = {
        "again": (TEXT, 0),
        "other held-out text": (replace(TEXT, held_out=backwards), 0),
        "other training text": (replace(TEXT, training=TEXT.training.flip(0)), 0),
        "other seed": (TEXT, 1),
    }
    first, *found = (
        language.evaluate_all(model, "rope", text, 16, LENGTHS, seed, rounds=2)[LONGROPE]
        for text, seed in ((TEXT, 0), *others.values())
    )
    same = [some["divisors"] == first["divisors"] for some in found]
    assert dict(zip(others, same, strict=True)) == {
        "again": True,
        "other held-out text": True,
        "other training text": False,
        "other seed": False,
    }
    assert list(first["divisors"]) == ["32"]
    assert found[1]["by_length"] != first["by_length"]


# The task of order


@pytest.mark.parametrize("length", [2, 16, 50])
def test_the_answer_says_whether_a_came_before_b(length: int) -> None:
    ids, answers = order.texts(300, length, generator(0, length))
    for text, answer in zip(ids.tolist(), answers.tolist(), strict=True):
        assert text.count(order.A) == text.count(order.B) == 1
        assert text[-1] == order.QUESTION
        assert min(text[:-1]) >= 0
        assert (text.index(order.A) < text.index(order.B)) == (answer == order.YES)
    assert 100 < (answers == order.YES).sum() < 200


def test_an_encoder_without_positions_answers_every_order_alike() -> None:
    ids, _ = order.texts(20, 12, generator(0, 0))
    shuffled = torch.cat([ids[:, torch.randperm(12, generator=generator(0, 1))], ids[:, -1:]], 1)
    encoder = order.model(SMALL, order.ENCODER, 32, 0).double().eval()
    torch.testing.assert_close(
        encoder(ids)[:, -1], encoder(shuffled)[:, -1], rtol=1e-12, atol=1e-14
    )
    decoder = order.model(replace(SMALL, layers=2), "none", 32, 0).double().eval()
    assert (decoder(ids)[:, -1] - decoder(shuffled)[:, -1]).abs().max() > 1e-4


def test_accuracy_is_the_share_of_right_answers() -> None:
    model = order.model(SMALL, "none", 32, 0)
    with torch.no_grad():
        model.embedding.token_embedding.weight.zero_()
        model.norm.bias.fill_(1.0)
        model.embedding.token_embedding.weight[order.YES] = 1.0  # says Yes to everything
    found = order.evaluate(model.eval(), [8], seed=0)
    _, answers = order.texts(order.TEXTS, 8, generator(0, order.NEVER_TRAINED + 8))
    assert found == {"by_length": {"8": (answers == order.YES).double().mean().item()}}


# The task of retrieval


@pytest.mark.parametrize("distance", [None, 2, 9, 20])
def test_the_answer_is_the_letter_after_the_key(distance: int | None) -> None:
    ids, answers = retrieval.texts(300, 20, generator(0, 0), distance)
    places = []
    for text, answer in zip(ids.tolist(), answers.tolist(), strict=True):
        assert (text.count(retrieval.KEY), text.count(retrieval.QUESTION)) == (1, 1)
        assert text[-1] == retrieval.QUESTION
        places.append(text.index(retrieval.KEY))
        assert text[places[-1] + 1] == answer >= retrieval.FIRST
    assert set(places) == (set(range(19)) if distance is None else {20 - distance})
    assert len(set(answers.tolist())) == retrieval.LETTERS


def test_distances_double_up_to_the_length() -> None:
    assert retrieval.distances(32) == [4, 8, 16, 32]
    assert retrieval.distances(63) == [4, 8, 16, 32]


def test_retrieval_is_the_share_of_right_answers_at_each_distance() -> None:
    model = retrieval.model(SMALL, "none", 32, 0)
    likely = retrieval.FIRST + 3
    with torch.no_grad():
        model.embedding.token_embedding.weight.zero_()
        model.norm.bias.fill_(1.0)
        model.embedding.token_embedding.weight[likely] = 1.0  # answers one letter always
    found = retrieval.evaluate(model.eval(), [8, 16], seed=0)
    chance = generator(0, retrieval.NEVER_TRAINED + 8004)
    _, answers = retrieval.texts(retrieval.TEXTS, 8, chance, 4)
    assert found["by_distance"]["8"]["4"] == (answers == likely).double().mean().item()
    assert list(found["by_distance"]["16"]) == ["4", "8", "16"]
    shares = [*found["by_length"].values(), *found["by_distance"]["16"].values()]
    assert all(0.01 < share < 0.12 for share in shares)  # one in sixteen
    assert len(set(shares)) > 1  # other texts at each


# Schemes that are built for the measurement


def further_model(method: str) -> GPTModel:
    return language.model(SMALL, method, max(LENGTHS), 0).eval()


def rope_then_none() -> tuple[GPTModel, GPTModel]:
    """Return the model of two layers, and the one that rotates in both."""
    ours, theirs = (
        language.model(replace(SMALL, layers=2), method, max(LENGTHS), 0).eval()
        for method in ("rope_then_none", "rope")
    )
    return ours, theirs


# The parameters of a further scheme, where it has any.
ADDED = {
    "kerple": "bias.scale bias.shape",
    "kerple_power": "bias.scale bias.shape",
    "transformer_xl": "bias.content_bias bias.position_bias bias.weight",
    "deberta": "bias.position_q bias.position_k",
    "tupe": "bias.table bias.query_weight bias.key_weight bias.from_first bias.to_first",
    "path": "path.first_weight path.second_weight path.kernel path.strength_weight"
    " path.strength_bias",
    "dape": "kerple.scale kerple.shape dape.first_weight dape.first_bias dape.second_weight"
    " dape.second_bias",
    "fire": "bias.rate bias.factor bias.first_weight bias.first_bias bias.second_weight"
    " bias.second_bias",
    "forgetting": "gate.weight gate.shift",
    "cope": "cope.table",
}


@pytest.mark.parametrize("method", FURTHER)
def test_a_further_scheme_is_a_known_model_and_its_own_parameters(
    method: str,
) -> None:
    model, plain = further_model(method), small_model("rope" if method in ROTATED else "none")
    ours, theirs = model.state_dict(), plain.state_dict()
    assert all(torch.equal(ours[name], theirs[name]) for name in theirs)
    added = {name.partition("attention.")[2] or name for name in ours if name not in theirs}
    assert added == {*ADDED.get(method, "").split()}


def test_random_positions_reach_the_rotation_and_repeat_with_the_text() -> None:
    model, text = further_model("rope_random"), TEXT.held_out[None, :10]
    ours = model(text)
    assert isinstance(model, RandomPositions)
    drawn = model.drawn
    assert (drawn.diff() > 0).all()
    assert 0 <= drawn[0] < drawn[-1] < max(LENGTHS)
    assert not torch.equal(drawn, torch.arange(10))
    plain = small_model("rope")
    plain.load_state_dict(model.state_dict())
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("posenc.nn.gpt.GPTModel._places", places_at(drawn))
        torch.testing.assert_close(plain(text), ours, rtol=0, atol=0)
    assert not torch.allclose(plain(text), ours, atol=1e-5)
    model(TEXT.held_out[None, 10:20])
    assert not torch.equal(model.drawn, drawn)
    assert torch.equal(model(text), ours)


def test_pose_gives_two_runs_in_training_and_consecutive_positions_afterwards() -> None:
    model, text = further_model("rope_pose"), TEXT.held_out[None, :10]
    assert isinstance(model, RandomPositions)
    torch.testing.assert_close(model(text), small_model("rope")(text), rtol=0, atol=0)
    model.train()
    starts, gaps = set(), []
    for start in range(0, 400, 10):
        read = TEXT.held_out[None, start : start + 10]
        found = model(read)
        steps = model.drawn.diff()
        assert model.drawn[0] == 0
        assert model.drawn[-1] < max(LENGTHS)
        assert (steps > 1).sum() <= 1
        starts |= set(torch.nonzero(steps > 1).flatten().tolist())
        gaps.append(int(steps.max()))
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr("posenc.nn.gpt.GPTModel._places", places_at(model.drawn))
            torch.testing.assert_close(small_model("rope")(read), found, rtol=0, atol=0)
    assert starts == set(range(9))
    assert (min(gaps), max(gaps)) == (1, 1 + max(LENGTHS) - 10)


def places_at(positions: torch.Tensor) -> Callable[..., Places]:
    """Return a `_places` that gives these positions."""
    original = GPTModel._places

    def places(model: GPTModel, *given: Any) -> Places:
        return original(model, *given)._replace(positions=positions)

    return places


def test_rope_then_none_rotates_in_all_layers_but_the_last() -> None:
    model, plain = rope_then_none()
    assert all(map(torch.equal, model.state_dict().values(), plain.state_dict().values()))
    layers = [part for part in model.modules() if isinstance(part, SelfAttention)]
    rotates = [layer.rope is not None for layer in layers]
    assert rotates == [True, False]
    text = torch.arange(24)[None]
    weights = [some(text, return_attention=True)[1] for some in (model, plain)]
    torch.testing.assert_close(weights[0][0], weights[1][0], rtol=0, atol=0)
    assert not torch.allclose(weights[0][1], weights[1][1])
    torch.testing.assert_close(model(text)[:, :9], model(text[:, :9]))


def windowed_model(method: str) -> GPTModel:
    """Return a model of three layers, trained on 16 bytes, with windows of 4."""
    return language.model(replace(SMALL, layers=3), method, 40, 0).eval()


@pytest.mark.parametrize(
    ("method", "open_layers", "rotates"),
    [
        ("windows", [], [1, 1, 1]),
        ("windows_rope", [2], [1, 1, 1]),
        ("windows_none", [2], [1, 1, 0]),
    ],
)
def test_all_layers_but_the_open_one_see_a_quarter_of_a_training_text(
    method: str, open_layers: list[int], rotates: list[int]
) -> None:
    model = windowed_model(method)
    _, weights = model(TEXT.held_out[None, :40], return_attention=True)
    distance = torch.arange(40)[:, None] - torch.arange(40)
    for layer, seen in enumerate(weights[:, 0, 0] > 0):
        width = 40 if layer in open_layers else 4
        assert (seen == ((distance >= 0) & (distance < width))).all()
    layers = [part for part in model.modules() if isinstance(part, SelfAttention)]
    assert [layer.rope is not None for layer in layers] == [bool(some) for some in rotates]


def test_stacked_windows_read_no_byte_beyond_the_reach_of_the_theorem() -> None:
    ids = TEXT.held_out[None, :40]
    changed = ids.clone()
    changed[0, : 39 - 3 * 3] += 1  # three layers, each three bytes further back
    for method, is_same in (("windows", True), ("windows_none", False)):
        model = windowed_model(method)
        assert torch.equal(model(changed)[0, -1], model(ids)[0, -1]) is is_same


def test_a_rule_rescales_the_open_layer_alone() -> None:
    changed = VARIANTS["windows_rope"]["windows_rope, YaRN as released"](
        windowed_model("windows_rope"), 16, 64
    )
    layers = [part for part in changed.modules() if isinstance(part, SelfAttention)]
    for layer in layers:
        assert layer.rope is not None
        near = isinstance(layer, WindowedAttention)
        omega = frequencies(8) if near else yarn_frequencies(8, 4, 16, ramp="pairs")
        np.testing.assert_allclose(layer.rope.frequencies, omega)
    assert [isinstance(layer, WindowedAttention) for layer in layers] == [True, True, False]


def test_log_n_scales_the_queries_of_the_open_layer_beyond_the_trained_length() -> None:
    model, ids = windowed_model("windows_none"), TEXT.held_out[None, :40]
    scaled = VARIANTS["windows_none"]["windows_none, log n"](model, 16, 40)
    _, before = model(ids, return_attention=True)
    _, after = scaled(ids, return_attention=True)
    assert torch.equal(after[:2], before[:2])
    torch.testing.assert_close(after[2, ..., :16, :], before[2, ..., :16, :])
    logits = before[2, 0, 0, 39].log() * math.log(40) / math.log(16)
    torch.testing.assert_close(after[2, 0, 0, 39], logits.softmax(dim=-1))


@pytest.mark.parametrize("method", ["rope", "windows_rope", "windows_none"])
def test_a_model_with_windows_is_asked_in_every_way_that_it_is_read(
    method: str, tmp_path: Path
) -> None:
    settings = replace(SMALL, steps=2)
    found = tasks.result("retrieval", method, 0, settings, LENGTHS, "cpu", tmp_path / "run.pt")
    expected = [*VARIANTS[method]] if method in WINDOWED else [method]
    assert list(found["found"]) == expected
    for answers in found["found"].values():
        assert list(answers["by_length"]) == list(answers["by_distance"]) == ["16", "32"]


# Read again


def test_what_is_read_at_other_distances_is_the_same_model() -> None:
    model = small_model("rope")
    found = renumbered.evaluate_all(model, "rope", TEXT, 16, LENGTHS, 0)
    assert found["rope"] == language.evaluate(model, as_trained, TEXT, 16, LENGTHS)
    assert list(found) == ["rope", *renumbered.READINGS]


# Very far keys


@pytest.mark.parametrize("method", far.METHODS)
def test_a_text_read_in_pieces_gets_the_answers_of_the_whole(
    method: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(far, "PIECE", 7)
    made = far.model(replace(SMALL, layers=2), method, 40, 0).eval()
    with torch.no_grad():
        for weights in made.parameters():  # some are near zero at first, and would not show
            weights.mul_(3).add_(0.3 * torch.randn(weights.shape, generator=generator(0, 0)))
    ids, _ = far.texts(2, 40, generator(0, 0))
    others = far.RULES | far.READINGS if method == "rope" else {}
    for variant in (tasks.ASKED_VARIANTS[method] | others).values():
        model = variant(made, 17, 41)
        with torch.inference_mode():
            expected = model(ids)[:, -1]
        torch.testing.assert_close(far.last_logits(model, ids), expected, rtol=1e-4, atol=1e-5)


def test_far_keys_are_asked_at_a_trained_distance_and_at_the_length() -> None:
    assert [far.distances(n) for n in (16, 32, 4096)] == [[16], [32], [32, 4096]]
    model = far.model(SMALL, "none", 32, 0).eval()
    found = far.evaluate(model, [16, 40], seed=0)
    assert list(found["by_length"]) == ["16", "40"]
    assert list(found["by_distance"]["40"]) == ["32", "40"]


def test_training_fills_every_bucket_of_t5_fitted_but_not_of_t5() -> None:
    settings, longest = Settings(width=16, length=32), 4096
    fitted, plain = (far.model(settings, name, longest, 0) for name in ("t5_fitted", "t5"))
    assert isinstance(fitted.bias, T5RelativeBias) and plain.t5 is not None
    assert fitted.bias._starts[-1] < 24 < settings.length < plain.t5._starts[-1]


# Trained further


def language_loss(model: torch.nn.Module, settings: Settings, step: int) -> torch.Tensor:
    return language.loss(model, language.batch(TEXT.training, settings, 0, step))


def test_a_step_of_further_training_reads_as_many_tokens() -> None:
    settings = Settings()
    for length in (128, 512):
        longer = further.further(settings, length)
        assert longer.length == length
        assert longer.batch * length == settings.batch * settings.length
        assert (longer.steps, longer.warm_up, longer.rate) == (160, 10, 5e-4)


def test_a_text_with_more_tokens_than_a_step_is_a_step_of_its_own_and_there_are_fewer() -> None:
    settings = Settings(length=32, batch=64, steps=1000)
    long, longer = (further.further(settings, length) for length in (1024, 4096))
    assert (long.batch, long.steps) == (2, 100)
    assert (longer.batch, longer.steps) == (1, 50)
    assert long.batch * long.length * long.steps == longer.length * longer.steps == 204_800


@pytest.mark.parametrize("name", further.RULES)
def test_further_training_goes_on_with_new_texts_under_its_rule(name: str) -> None:
    model, steps = small_model("rope"), []
    before = {name: weights.clone() for name, weights in model.state_dict().items()}

    def loss(model: torch.nn.Module, settings: Settings, step: int) -> torch.Tensor:
        steps.append((settings.length, step))
        return language_loss(model, settings, step)

    settings = replace(SMALL, steps=20)
    rule = further.RULES[name]
    variant = further.variants(settings, loss)[further.further_name(name)]
    assert steps == []
    changed, expected = variant(model, 16, 32), rule(model, 16, 32)
    assert steps == [(32, 20), (32, 21)]
    assert all(torch.equal(before[name], weights) for name, weights in model.state_dict().items())
    assert not torch.equal(
        changed.embedding.token_embedding.weight, model.embedding.token_embedding.weight
    )
    if name == "rope, dropped":
        assert attention_of(changed).rope is None
    else:
        assert rope_of(changed).frequencies == rope_of(expected).frequencies
    unchanged = variant(model, 16, 16)
    assert len(steps) == 2
    ids = TEXT.held_out[None, :16]
    torch.testing.assert_close(unchanged(ids), rule(model, 16, 16)(ids))


def test_further_training_is_evaluated_before_and_after() -> None:
    model = small_model("rope")
    found = further.evaluate_all(model, "rope", TEXT, 16, LENGTHS, 0, rounds=1)
    assert found["rope"] == language.evaluate(model, as_trained, TEXT, 16, LENGTHS)
    assert list(found) == [*further.RULES, *map(further.further_name, further.RULES)]
    for name in further.RULES:
        before, after = found[name]["by_length"], found[further.further_name(name)]["by_length"]
        assert before["16"] == after["16"] and before["32"] != after["32"]


def test_retrieval_is_asked_under_every_rule_and_reading(tmp_path: Path) -> None:
    settings = replace(SMALL, length=8, batch=4, steps=10)
    found = tasks.result(
        "further_retrieval", "rope", 0, settings, (8, 16), "cpu", tmp_path / "run.pt"
    )
    names = [*further.RULES, *map(further.further_name, further.RULES), *renumbered.READINGS]
    assert list(found["found"]) == names


@pytest.mark.parametrize("method", reevaluate.METHODS)
def test_what_is_read_again_is_the_same_model(method: str) -> None:
    model = small_model(method)
    first = language.evaluate_all(model, method, TEXT, 16, LENGTHS, 0, rounds=0)
    found = reevaluate.evaluate_all(model, method, TEXT, 16, LENGTHS, 0)
    assert found[method] == first[method]
    for name in reevaluate.variants(method):
        assert list(found[name]["by_length"]) == ["16", "32"]


def test_no_layer_attends_beyond_the_window() -> None:
    model = language.model(replace(SMALL, layers=2), "alibi", 40, 0).eval()
    ids = TEXT.held_out[None, :40]
    _, weights = reevaluate.with_trained_window(model, 16, 40)(ids, return_attention=True)
    distance = torch.arange(40)[:, None] - torch.arange(40)
    seen = (distance >= 0) & (distance < 16)
    assert ((weights > 0) == seen).all()
    _, whole = model(ids, return_attention=True)
    assert (whole[..., 39, 0] > 0).all()


def test_sliding_predicts_each_byte_from_a_trained_length_before_it() -> None:
    model = small_model("sinusoidal")
    text = replace(TEXT, held_out=TEXT.held_out[:900])
    found = reevaluate.sliding_loss(model, text, 16, 32)["by_length"]
    losses = []
    for end in range(33, 901, language.APART):  # as every length predicts the same bytes
        for place in range(end - 16, end):
            logits = model(text.held_out[None, place - 16 : place])[0, -1]
            losses.append(-logits.log_softmax(-1)[text.held_out[place]].item())
    assert len(losses) == 16 * 4
    assert found == {"32": pytest.approx(np.mean(losses), abs=2e-5)}


def test_yarn_is_read_with_each_pair_of_limits() -> None:
    names = set(reevaluate.variants("rope"))
    assert {f"rope, YaRN {a} to {b}" for a in ("0.5", "1", "2") for b in (4, 8, 16, 32)} < names
    assert {f"rope, YaRN 1 to {b}, mscale 0" for b in (4, 8, 16, 32)} < names
    assert {f"rope, YaRN as released, mscale {m}" for m in (0, 2)} < names


# Training


@pytest.mark.slow
@pytest.mark.parametrize("method", (*TRAINED, *FURTHER))
def test_the_loss_falls(method: str, tmp_path: Path) -> None:
    model = small_model(method)

    def loss(model: torch.nn.Module, step: int) -> torch.Tensor:
        return language.loss(model, language.batch(TEXT.training, SMALL, 0, step))

    losses = train(model, loss, replace(SMALL, steps=40), tmp_path / "c.pt", "")
    assert sum(losses[-5:]) < 0.8 * sum(losses[:5])


def test_a_resumed_run_equals_an_uninterrupted_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(training, "SAVE_EVERY", 5)
    steps = []

    def loss(model: torch.nn.Module, step: int) -> torch.Tensor:
        steps.append(step)
        if step == 7 and len(steps) == 8:
            raise KeyboardInterrupt
        return language.loss(model, language.batch(TEXT.training, SMALL, 0, step))

    whole, stopped = small_model("rope"), small_model("rope")
    with pytest.raises(KeyboardInterrupt):
        train(stopped, loss, SMALL, tmp_path / "c.pt", "mine")
    gone_on = small_model("rope", seed=1)  # its weights are replaced by the checkpoint
    losses = train(gone_on, loss, SMALL, tmp_path / "c.pt", "mine")
    assert steps == [*range(8), *range(5, 12)]
    assert losses == train(whole, loss, SMALL, tmp_path / "other.pt", "mine")
    for one, other in zip(gone_on.parameters(), whole.parameters(), strict=True):
        assert torch.equal(one, other)


@pytest.mark.parametrize("spoil", ["another stamp", "torn"])
def test_foreign_and_damaged_checkpoints_are_ignored(spoil: str, tmp_path: Path) -> None:
    path, begun = tmp_path / "c.pt", []

    def loss(model: torch.nn.Module, step: int) -> torch.Tensor:
        begun.append(step)
        return language.loss(model, language.batch(TEXT.training, SMALL, 0, step))

    settings = replace(SMALL, steps=training.SAVE_EVERY)
    train(small_model("none"), loss, settings, path, "mine")
    if spoil == "torn":
        path.write_bytes(path.read_bytes()[:100])
    begun.clear()
    train(small_model("none"), loss, replace(settings, steps=3), path, spoil)
    assert begun == [0, 1, 2]


def test_the_learning_rate_warms_up_and_decays() -> None:
    rates = [training.rate(SMALL, step) for step in range(SMALL.steps)]
    assert rates[: SMALL.warm_up] == [SMALL.rate / 2, SMALL.rate]
    assert max(rates) == SMALL.rate
    assert rates[2:] == sorted(rates[2:], reverse=True)
    assert 0 < rates[-1] < 0.1 * SMALL.rate


def test_training_is_as_the_page_says(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Adam's betas and nothing else, and gradients clipped to 1 over all parameters."""
    clipped: list[float] = []
    clip = torch.nn.utils.clip_grad_norm_

    def noted(parameters: Iterable[torch.nn.Parameter], most: float) -> torch.Tensor:
        weights = list(parameters)
        norm = clip(weights, most)
        grown = [weight.grad.square().sum() for weight in weights if weight.grad is not None]
        clipped.append(sum(grown, torch.zeros(())).sqrt().item())
        return norm

    def loss(model: torch.nn.Module, step: int) -> torch.Tensor:
        return 100 * language.loss(model, language.batch(TEXT.training, SMALL, 0, step))

    monkeypatch.setattr(torch.nn.utils, "clip_grad_norm_", noted)
    monkeypatch.setattr(training, "SAVE_EVERY", 3)
    model = small_model("rope")
    assert not [part for part in model.modules() if getattr(part, "p", 0)]  # no dropout
    train(model, loss, replace(SMALL, steps=3), tmp_path / "c.pt", "mine")
    assert clipped == pytest.approx([1, 1, 1], rel=1e-4)
    (group,) = torch.load(tmp_path / "c.pt", weights_only=True)["optimizer"]["param_groups"]
    assert (group["betas"], group["weight_decay"], group["amsgrad"]) == ((0.9, 0.98), 0, False)


# Results


@pytest.mark.slow
def test_a_result_records_how_it_was_made(tmp_path: Path) -> None:
    found = one_result(tmp_path)
    assert set(found) == result_files.KEYS
    assert found["settings"] == asdict(SMALL)
    assert found["corpus"]["sha256"] == TEXT.digest
    assert found["parameters"] == sum(p.numel() for p in small_model("rope").parameters())
    assert list(found["found"]) == [*VARIANTS["rope"], LONGROPE]
    assert list(found["found"][LONGROPE]["divisors"]) == ["32"]
    for read in found["found"].values():
        assert list(read["by_length"]) == ["16", "32"]
        assert len(read["by_position"]) == 32 / language.STRETCH
    result_files.write(tmp_path / "r.json", found)
    assert result_files.read(tmp_path / "r.json") == found


def test_damaged_and_foreign_result_files_are_named(tmp_path: Path) -> None:
    path, whole = tmp_path / "language-rope-0.json", one_result(tmp_path)
    texts = {
        "is damaged": json.dumps(whole)[:-30],
        "has format 0": json.dumps({**whole, "format": 0}),
        "has format None": "[]",
        "lacks code, seed": json.dumps(
            {k: v for k, v in whole.items() if k not in ("code", "seed")}
        ),
    }
    for problem, text in texts.items():
        path.write_text(text, "utf-8")
        with pytest.raises(
            result_files.UnreadableError, match=f"language-rope-0.json {problem}.*delete"
        ):
            result_files.read(path)


def test_a_full_disk_keeps_the_existing_result(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "r.json"
    path.write_text("old", "utf-8")

    def full(*_: object, **__: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(Path, "write_text", full)
    with pytest.raises(OSError, match="No space left"):
        result_files.write(path, {})
    assert path.read_bytes() == b"old"
    assert [*tmp_path.iterdir()] == [path]


def test_runs_whose_code_has_changed_are_named(tmp_path: Path) -> None:
    now = one_result(tmp_path)
    assert result_files.irreproducible_runs([now]) == []
    assert result_files.irreproducible_runs([now, {**now, "seed": 2, "probe": [0.0]}]) == [
        "language-rope-2"
    ]


# The command

OPTIONS = [
    *("--methods", "alibi", "none", "--seeds", "0", "1", "--workers", "1", "--lengths", "16", "32"),
    *("--width", "16", "--heads", "2", "--layers", "1", "--length", "16", "--batch", "8"),
    *("--steps", "4", "--warm-up", "2", "--rate", "0.01"),
]


@pytest.fixture
def results_folder(tmp_path: Path) -> Path:
    return tmp_path / "results"


def test_only_missing_results_are_computed(
    results_folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    measure = [*OPTIONS, "--into", str(results_folder)]
    command.main(measure)
    assert "0 of 14 results exist" in capsys.readouterr().err
    made = {path.name: path.stat().st_mtime_ns for path in results_folder.glob("*.json")}
    assert len(made) == 14
    text = (results_folder / "order-none-1.json").read_text("utf-8")
    (results_folder / "order-none-1.json").unlink()
    command.main(measure)
    assert "13 of 14 results exist" in capsys.readouterr().err
    again = {path.name: path.stat().st_mtime_ns for path in results_folder.glob("*.json")}
    assert {name for name in made if again[name] != made[name]} == {"order-none-1.json"}
    apart = [
        json.loads(t) for t in (text, (results_folder / "order-none-1.json").read_text("utf-8"))
    ]
    assert all({**r, "seconds": 0} == {**apart[0], "seconds": 0} for r in apart)


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--methods", "rotary"], "no method 'rotary'; there are none, sinusoidal"),
        (["--tasks", "again", "--methods", "alibi"], "no method 'alibi' for again; there are rope"),
        (["--tasks", "order", "--methods", "x"], "there are .*windows_none, none, encoder"),
        (["--lengths", "32", "64"], "must be at least the trained length, 64; got 32"),
        (["--steps", "10"], "another folder: --into"),
    ],
)
def test_invalid_options_are_reported(options: list[str], said: str) -> None:
    with pytest.raises(SystemExit, match=said):
        command.main(options)


OTHER_TOPICS = {"text": TOPICS, "python": "3.11.2", "sha256": "another"}


@pytest.mark.parametrize(
    ("changes", "method", "message"),
    [
        ({"format": 0}, "alibi", r"language-shaw-0\.json has format 0, not 1; delete it"),
        ({"settings": {}}, "shaw", "has other settings; delete it, or name another folder"),
        (
            {"corpus": OTHER_TOPICS},
            "alibi",
            r"shaw-0.json: .*topics of Python 3\.11\.2, .*use Python 3\.11\.2, or .*--into",
        ),
        (
            {"corpus": {"text": BOOK, "sha256": "another"}},
            "alibi",
            r"shaw-0.json: the text is the book, but .*--into",
        ),
        (
            {"corpus": corpus(TOPICS).facts()},
            "alibi",
            f"was trained on {TOPICS}, not on book; .*--into",
        ),
    ],
    ids=["damaged", "other settings", "other topics", "another book", "another text"],
)
def test_a_result_that_does_not_fit_stops_the_command_and_is_kept(
    changes: dict[str, Any], method: str, message: str, results_folder: Path, tmp_path: Path
) -> None:
    path = results_folder / "language-shaw-0.json"
    result_files.write(path, one_result(tmp_path, "shaw") | changes)
    before = path.read_bytes()
    options = ["--methods", method, "--text", "book", "--into", str(results_folder)]
    with pytest.raises(SystemExit, match=message):
        command.main([*OPTIONS, *options])
    assert [*results_folder.iterdir()] == [path]
    assert path.read_bytes() == before


def test_results_go_on_with_the_text_of_their_folder(results_folder: Path, tmp_path: Path) -> None:
    facts = corpus(TOPICS).facts()
    result_files.write(
        results_folder / "language-shaw-0.json", one_result(tmp_path, "shaw") | {"corpus": facts}
    )
    assert command.text_of(results_folder, None) == TOPICS
    assert command.text_of(tmp_path / "new", None) == BOOK
    assert command.text_of(tmp_path / "new", TOPICS) == TOPICS


def test_the_text_of_the_book_never_changes() -> None:
    assert TEXT.digest == "96d47898062926dc5ceb55a9b8e259cb4e6765e5bbb4b47ce92728b530d28f45"


def test_a_full_disk_is_reported_and_finished_results_are_kept(
    results_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write = result_files.write
    written: list[Path] = []

    def full_after_one(path: Path, result: dict[str, Any]) -> None:
        if written:
            raise OSError(errno.ENOSPC, "No space left on device", str(path))
        written.append(path)
        write(path, result)

    monkeypatch.setattr(result_files, "write", full_after_one)
    with pytest.raises(SystemExit, match=r"No space left.*finished results are kept"):
        command.main([*OPTIONS, "--into", str(results_folder)])
    assert [*results_folder.iterdir()] == written


def test_two_folders_share_no_checkpoint(results_folder: Path, tmp_path: Path) -> None:
    kept = {
        run.checkpoint
        for into in (results_folder, tmp_path / "other", result_files.RESULTS)
        for run in command.runs(command.parser().parse_args(["--into", str(into)]))
    }
    assert len(kept) == 3 * sum(map(len, command.METHODS.values())) * len(command.SEEDS)
    assert not any(result_files.RESULTS in path.parents for path in kept)


CLUSTERS = {"dask": "distributed", "ray": "ray"}


@pytest.mark.parametrize("scheduler", CLUSTERS)
def test_missing_scheduler_is_named(
    scheduler: str, results_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def absent(name: str) -> None:
        raise ImportError(f"No module named {name!r}")

    monkeypatch.setattr(importlib, "import_module", absent)
    with pytest.raises(SystemExit, match=rf"{scheduler} is not installed: .*\.\[cluster\]"):
        command.main([*OPTIONS, "--into", str(results_folder), "--scheduler", scheduler])


@pytest.fixture
def distributed(monkeypatch: pytest.MonkeyPatch) -> MagicMock:
    """Put a mock in place of Dask's library."""
    distributed = MagicMock()
    monkeypatch.setattr(importlib, "import_module", lambda name: distributed)
    return distributed


def test_an_import_error_in_a_run_is_not_blamed_on_the_scheduler(
    results_folder: Path, distributed: MagicMock
) -> None:
    distributed.Client.return_value.__enter__.return_value.nthreads.return_value = {}
    future = MagicMock()
    future.result.side_effect = ImportError("No module named 'torch'")
    distributed.as_completed.return_value = [future]
    with pytest.raises(ImportError, match="torch"):
        command.main([*OPTIONS, "--into", str(results_folder), "--scheduler", "dask"])


def test_a_dask_worker_with_two_threads_is_rejected(
    results_folder: Path, distributed: MagicMock
) -> None:
    """Two threads would share one generator, which would change the results."""
    client = distributed.Client.return_value.__enter__.return_value
    client.nthreads.return_value = {"tcp://one:1": 1, "tcp://other:1": 2}
    with pytest.raises(SystemExit, match="must have one thread: dask worker --nthreads 1"):
        command.main(
            [*OPTIONS, "--into", str(results_folder), "--scheduler", "dask", "--address", "one:0"]
        )
    client.map.assert_not_called()


TINY = [
    *("--tasks", "order", "--methods", "alibi", "none", "--seeds", "0", "--lengths", "16", "32"),
    *("--width", "16", "--heads", "2", "--layers", "1", "--length", "16", "--batch", "8"),
    *("--steps", "400", "--warm-up", "2", "--rate", "0.01"),
]
# What their processes are called; with setproctitle, Dask renames its own.
WORKERS = {"dask": "spawn_main|^dask", "ray": "ray::perform"}
PATIENCE = 600  # seconds, on a busy machine


def cpu_seconds(process: psutil.Process, name: str) -> float:
    """Return the CPU seconds of a process with this name, or 0 if it has ended."""
    try:
        called = re.search(name, " ".join(process.cmdline()))
        return float(process.cpu_times().user) if called else 0.0
    except psutil.Error:
        return 0.0


def workers(pid: int, scheduler: str) -> list[psutil.Process]:
    """Return the processes of a scheduler that have computed anything, the busiest last."""
    found = {
        child: cpu_seconds(child, WORKERS[scheduler])
        for child in psutil.Process(pid).children(recursive=True)
    }
    return sorted((child for child, seconds in found.items() if seconds), key=found.__getitem__)


@pytest.mark.slow
@pytest.mark.parametrize("scheduler", CLUSTERS)
def test_a_cluster_that_loses_a_worker_gives_the_default_results(
    scheduler: str, results_folder: Path, tmp_path: Path
) -> None:
    if not importlib.util.find_spec(CLUSTERS[scheduler]):
        give_up(f"{scheduler} is not installed; pip install '.[cluster]'")
    default = tmp_path / "default"
    # Long enough that the second worker begins before the first has ended both runs.
    longer = [*TINY, "--steps", "1500"]
    command.main([*longer, "--workers", "1", "--into", str(default)])
    measure = [sys.executable, "-m", "scripts.measure", *longer, "--into", str(results_folder)]
    measure += ["--scheduler", scheduler, "--workers", "2"]
    options: Any = {"cwd": ROOT, "text": True, "env": {**os.environ, "HOME": str(tmp_path)}}

    with Popen(measure, stderr=PIPE, **options) as process:
        begun = time.monotonic()
        while not [*results_folder.glob("unfinished/*.pt")]:  # until a run is under way
            assert process.poll() is None, process.communicate()
            assert time.monotonic() - begun < PATIENCE
            time.sleep(0.01)
        while len(at_work := workers(process.pid, scheduler)) < 2:  # each with a run of its own
            assert process.poll() is None, process.communicate()
            assert time.monotonic() - begun < PATIENCE
            time.sleep(0.01)
        at_work[-1].kill()
        said = process.communicate(timeout=PATIENCE)[1]
    assert process.returncode == 0, said
    assert "100%" in said
    assert "still alive" not in said  # what Dask says of a process that it kills at the end
    (both, theirs) = (result_files.read_all(folder) for folder in (default, results_folder))
    assert len(both) == 2
    assert [{**r, "seconds": 0} for r in theirs] == [{**r, "seconds": 0} for r in both]
