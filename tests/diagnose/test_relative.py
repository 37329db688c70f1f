"""Whether scores depend on key − query alone."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from types import SimpleNamespace
from typing import Any, TypeAlias, cast

import pytest
import torch
from torch import Tensor
from torch.nn import functional

from posenc import alibi_slopes, nn
from posenc.diagnose import relative
from posenc.diagnose.answers import ABSENT, HEALTHY, ILL, UNDETERMINED
from posenc.diagnose.scores import ScoreRun
from tests.diagnose.models import (
    VOCAB,
    Composed,
    Model,
    Reader,
    StepByStep,
    Table,
    TorchEncoder,
    from_tokens,
    sines,
)
from tests.diagnose.random_models import HUNDRED, Chance, verdicts

RELATIVE = "scores depend on key − query alone"
LOST = "the offset of cached tokens is lost"
OURS = {"cache": nn.Cache}
SLOPES = torch.tensor([0.5, 0.1])[:, None, None]

Counts: TypeAlias = Callable[[int, int], Tensor]

# How often queries are rotated by their positions, and keys by theirs: the verdict.
TIMES = {
    (1, 1): RELATIVE,
    (0, 1): "keys alone are rotated",
    (1, 0): "queries alone are rotated",
    (1, -1): "queries and keys are rotated in opposite ways",
    (-1, 1): "queries and keys are rotated in opposite ways",
    (2, 1): "queries are rotated twice",
    (1, 2): "keys are rotated twice",
    (2, 2): "queries and keys are rotated twice",
}


def rotated(x: Tensor, places: Tensor, times: int, layout: str = "half") -> Tensor:
    """Return heads, (…, length, d), rotated `times` times by their positions."""
    omega = 10000 ** -(torch.arange(0, x.shape[-1], 2) / x.shape[-1])
    angles = places[:, None] * math.copysign(1, times) * omega
    for _ in range(abs(times)):
        cos, sin = angles.cos().to(x.dtype), angles.sin().to(x.dtype)
        if layout == "half":
            first, second = x.chunk(2, dim=-1)
            x = torch.cat([first * cos - second * sin, first * sin + second * cos], dim=-1)
        else:
            first, second = x[..., ::2], x[..., 1::2]
            pairs = [first * cos - second * sin, first * sin + second * cos]
            x = torch.stack(pairs, dim=-1).flatten(-2)
    return x


class Decoder(torch.nn.Module):
    """A causal decoder that returns its keys and values, and takes them with the next tokens.

    Args:
        times: how often queries are rotated by their positions, and keys by theirs.
        layout: which dimensions are rotated together.
        heads: how many heads there are.
        layers: how many layers.
        fused: whether PyTorch's fused attention computes the scores.
        counts: returns the positions of new tokens from the numbers of cached and of new tokens.
        rows: whether rows of positions are added to tokens.
        bias: returns the bias of scores, (heads, queries, keys), from positions of both.
        scales: for each layer, instead of a rotation, a function from positions of queries to
            factors of queries.
        window: how many keys a query sees.
        keeps: how many keys the cache keeps.
        forgets: whether a cache that has dropped keys no longer counts them.
    """

    def __init__(
        self,
        times: tuple[int, int] = (1, 1),
        *,
        layout: str = "half",
        heads: int = 2,
        layers: int = 2,
        fused: bool = False,
        counts: Counts = lambda past, new: torch.arange(past, past + new),
        rows: bool = False,
        bias: Callable[[Tensor, Tensor], Tensor] | None = None,
        scales: Sequence[Callable[[Tensor], Tensor] | None] = (None, None),
        window: int = 1000,
        keeps: int = 1000,
        forgets: bool = False,
    ) -> None:
        super().__init__()
        self.times, self.layout, self.heads, self.fused = times, layout, heads, fused
        self.keeps, self.forgets = keeps, forgets
        self.counts, self.bias, self.scales, self.window = counts, bias, scales, window
        self.tokens = torch.nn.Embedding(VOCAB, 16)
        self.rows = torch.nn.Embedding(64, 16) if rows else None
        self.layers = torch.nn.ModuleList(torch.nn.Linear(16, 48) for _ in range(layers))

    def forward(self, ids: Tensor, past: Any = None) -> dict[str, Any]:
        layers, cached = past or ((), 0)
        x, places = self.tokens(ids), self.counts(cached, ids.shape[1])
        if self.rows is not None:
            x = x + self.rows(places)
        present = []
        for number, layer in enumerate(self.layers):
            heads = (*x.shape[:2], self.heads, -1)
            q, k, v = (part.view(heads).transpose(1, 2) for part in layer(x).chunk(3, dim=-1))
            scale = self.scales[number]
            if scale is None:
                q = rotated(q, places, self.times[0], self.layout)
                k = rotated(k, places, self.times[1], self.layout)
            else:
                q = q * scale(places)[:, None].to(q.dtype)
            if past:
                k, v = (torch.cat(pair, dim=2) for pair in zip(layers[number], (k, v), strict=True))
            present.append((k[:, :, -self.keeps :], v[:, :, -self.keeps :]))
            x = x + self.attention(q, k, v, places).transpose(1, 2).flatten(2)
        count = present[0][0].shape[2] if self.forgets else cached + ids.shape[1]
        return {"out": x, "past": (present, count)}

    def attention(self, q: Tensor, k: Tensor, v: Tensor, places: Tensor) -> Tensor:
        dropped = 0 if self.forgets else int(places[-1]) + 1 - k.shape[2]
        keys = torch.arange(k.shape[2]) + max(dropped, 0) * (k.shape[2] > self.keeps)
        queries = keys[k.shape[2] - q.shape[2] :, None]
        mask = (keys <= queries) & (keys > queries - self.window)
        bias = torch.zeros(mask.shape) if self.bias is None else self.bias(places[:, None], keys)
        bias = bias.masked_fill(~mask, -torch.inf).to(q.dtype)
        if self.fused:
            return functional.scaled_dot_product_attention(q, k, v, attn_mask=bias)
        scores = q @ k.mT / math.sqrt(q.shape[-1]) + bias
        return torch.softmax(scores, dim=-1) @ v


@pytest.mark.parametrize(
    "form",
    [{}, {"fused": True}, {"layout": "interleaved", "heads": 1}],
    ids=["softmax", "fused", "interleaved, one head"],
)
@pytest.mark.parametrize("times", TIMES, ids=str)
def test_what_is_rotated_is_told_from_the_scores(
    times: tuple[int, int], form: dict[str, Any]
) -> None:
    found = nn.relative_scores(Decoder(times, **form))
    assert found.verdict == TIMES[times], str(found)
    assert found.status == (HEALTHY if times == (1, 1) else ILL)
    assert found.ill == bool(found.remedy)
    assert found.measured["cached"] == (times[1] != 0)  # all cached keys are alike otherwise


class Uneven(nn.RotaryEmbedding):
    """A rotation that is called with queries, then with keys, and rotates them unevenly."""

    def __init__(self, times: tuple[int, int]) -> None:
        super().__init__(8)
        self.times, self.calls = times, 0

    def forward(self, x: Tensor, **where: Any) -> Tensor:
        times = self.times[self.calls % 2]
        self.calls += 1
        for _ in range(abs(times)):
            sign = 1 if times > 0 else -1
            x = super().forward(x, positions=sign * where["positions"])
        return x


@pytest.mark.parametrize("times", TIMES, ids=str)
def test_a_fault_in_the_rotations_of_our_gpt_is_named(times: tuple[int, int]) -> None:
    model = nn.GPTModel(VOCAB, 40, 16, heads=2, layers=2, pos_type="rope")
    for block in model.blocks:
        block.attention.rope = Uneven(times)  # type: ignore[union-attr]
    assert nn.relative_scores(model).verdict == TIMES[times]


SCHEMES = {
    "none": "its scores tell no positions apart",
    "counting": "its positions are absolute",
    "sinusoidal": "its positions are absolute",
    "learned": "its positions are absolute",
    "rope": RELATIVE,
    "alibi": RELATIVE,
    "t5": RELATIVE,
    "shaw": RELATIVE,
}


@pytest.mark.parametrize("scheme", SCHEMES)
def test_every_scheme_of_the_package_is_healthy_or_absolute(scheme: str) -> None:
    model = nn.GPTModel(VOCAB, 40, 16, heads=2, layers=2, pos_type=scheme)
    found = nn.relative_scores(model, cache=OURS)
    assert found.verdict == SCHEMES[scheme], str(found)
    assert found.status == (HEALTHY if found.verdict == RELATIVE else ABSENT)
    if found.verdict == RELATIVE:
        assert (found.measured["heads"], found.measured["cached"]) == (4, 1)
        assert found.measured["apart"] < 1e-6
    assert ("near" in found.measured) == (scheme == "alibi")


@pytest.mark.slow
def test_a_hundred_relative_models_are_healthy() -> None:
    def relative(chance: Chance) -> Model:
        return chance.one(chance.rotary, lambda: chance.gpt("rope", "alibi", "t5", "shaw"))

    assert verdicts(relative, nn.relative_scores) == {RELATIVE}


@pytest.mark.slow
def test_of_a_hundred_models_with_a_fault_each_is_named() -> None:
    for seed in HUNDRED:
        chance = Chance(seed)
        times = chance.choice([*TIMES][1:])
        layout, heads = chance.choice(["half", "interleaved"]), chance.choice([1, 2, 4])
        found = nn.relative_scores(Decoder(times, layout=layout, heads=heads))
        assert found.verdict == TIMES[times], seed


def test_layers_may_rotate_in_different_layouts_and_beside_no_positions() -> None:
    rotaries: list[Model] = [
        nn.RotaryEmbedding(8, layout="half"),
        nn.RotaryEmbedding(8),
        torch.nn.Identity(),
    ]
    found = nn.relative_scores(Reader(rotary=iter(rotaries).__next__, layers=3))
    assert (found.status, found.measured["heads"]) == (HEALTHY, 4)


# Rotated twice


def test_rotation_by_twice_the_frequencies_that_the_model_holds_is_told() -> None:
    class Rotation(torch.nn.Module):
        def __init__(self, factor: int) -> None:
            super().__init__()
            self.factor, self.inv_freq = factor, torch.nn.Buffer(10.0 ** -torch.arange(4))

        def forward(self, x: Tensor) -> Tensor:
            omega = self.factor * self.inv_freq
            angles = (torch.arange(x.shape[2])[:, None] * omega).repeat(1, 2)
            first, second = x.chunk(2, dim=-1)
            return x * angles.cos() + torch.cat([-second, first], dim=-1) * angles.sin()

    found = nn.relative_scores(Reader(rotary=lambda: Rotation(2)))
    assert found.verdict == "queries and keys are rotated twice, or their positions doubled"
    assert "do not multiply them." in found.remedy
    assert "by twice the frequencies in layers.0.rotary.inv_freq." in found.why
    assert nn.relative_scores(Reader(rotary=lambda: Rotation(1))).status == HEALTHY


# Biases

Biases = Callable[[Tensor, Tensor], Tensor]


def alibi(query: Tensor, key: Tensor) -> Tensor:
    return -SLOPES * (query - key).abs()


def far(query: Tensor, key: Tensor) -> Tensor:
    return -alibi(query, key)


def by_key(query: Tensor, key: Tensor) -> Tensor:
    """As BLOOM computes ALiBi: all biases of a query differ from those above by one number."""
    return SLOPES * (key + 0 * query)


@pytest.mark.parametrize("fused", [False, True], ids=["softmax", "fused"])
@pytest.mark.parametrize("bias", [alibi, by_key])
def test_biases_that_fall_with_the_distance_favour_near_keys(bias: Biases, fused: bool) -> None:
    found = nn.relative_scores(Decoder((0, 0), bias=bias, fused=fused))
    assert (found.status, found.measured["near"]) == (HEALTHY, 4), str(found)
    assert "near keys are favoured" in found.why


@pytest.mark.parametrize("ranks", [1, 2])
def test_slopes_that_each_rank_counts_from_0_are_told(ranks: int) -> None:
    slopes = torch.tensor(alibi_slopes(8 // ranks)).repeat(ranks)[:, None, None]
    model = Decoder((0, 0), heads=8, bias=lambda query, key: -slopes * (query - key).abs())
    found = nn.relative_scores(model)
    if ranks == 1:
        assert (found.status, found.measured["near"]) == (HEALTHY, 16), str(found)
    else:
        assert (found.verdict, found.status) == ("slopes repeat from head to head", ILL)
        assert "The slopes of 4 heads are repeated in other heads of their layer" in found.why
        assert "alibi_slopes(heads)[rank * local" in found.remedy


def with_slopes(slopes: Sequence[float], layers: int = 2) -> Decoder:
    """Return a decoder whose biases fall by these slopes, one for each head."""
    falling = torch.tensor(slopes)[:, None, None]
    return Decoder(
        (0, 0),
        heads=len(slopes),
        layers=layers,
        bias=lambda query, key: -falling * (query - key).abs(),
    )


@pytest.mark.parametrize(
    ("slopes", "named"),
    [
        (alibi_slopes(16)[8:], ""),
        (alibi_slopes(16)[:8], "heads 0 to 7 of 16"),
        (alibi_slopes(8), "heads 0 to 7 of 8"),
    ],
)
def test_slopes_of_a_rank_are_compared_where_its_heads_are_told(
    slopes: Sequence[float], named: str
) -> None:
    model = with_slopes(slopes)
    assert nn.relative_scores(model).status == HEALTHY
    found = nn.relative_scores(model, heads=16, rank=1)
    assert found.verdict == ("its slopes are those of other heads" if named else RELATIVE)
    assert f"The slopes are those of {named or 'heads 8 to 15 of 16'}." in found.why
    assert (found.status, "alibi_slopes(heads)" in found.remedy) == (
        (ILL, True) if named else (HEALTHY, False)
    )


@pytest.mark.parametrize(
    ("slopes", "part", "why"),
    [
        ([0.3, 0.2], {"heads": 6, "rank": 1}, "those of no rank in alibi_slopes(6)"),
        (alibi_slopes(4), {"heads": 6, "rank": 0}, "layers of 6 heads is not 4 of them"),
        (alibi_slopes(4), {"heads": 8, "rank": 2}, "rank 2 of layers of 8 heads"),
    ],
)
def test_slopes_of_no_rank_are_undetermined(
    slopes: Sequence[float], part: dict[str, Any], why: str
) -> None:
    found = nn.relative_scores(with_slopes(slopes, layers=1), **part)
    assert (found.status, why in found.why) == (UNDETERMINED, True), str(found)


@pytest.mark.parametrize(("given", "missing"), [("heads", "rank"), ("rank", "heads")])
def test_heads_and_rank_are_given_together(given: str, missing: str) -> None:
    asks: tuple[Callable[..., Any], ...] = (nn.relative_scores, nn.diagnose)
    for ask in asks:
        with pytest.raises(ValueError, match=f"{missing} must be given where {given} is; got None"):
            ask(Decoder(), **{given: 1})


def test_equal_slopes_in_all_heads_may_be_meant() -> None:
    found = nn.relative_scores(Decoder((0, 0), heads=4, bias=lambda q, k: -0.1 * (q - k).abs()))
    assert found.status == HEALTHY, str(found)


@pytest.mark.parametrize("bias", [far, lambda query, key: -by_key(query, key)])
def test_biases_of_the_wrong_sign_favour_far_keys(bias: Biases) -> None:
    found = nn.relative_scores(Decoder((0, 0), bias=bias))
    assert (found.verdict, found.status) == ("far keys are favoured", ILL)
    assert (found.measured["near"], found.measured["heads"]) == (0, 4)


def encoder(bias: Biases) -> Model:
    """Return a model of one layer that looks both ways, with a bias of its scores."""

    def attention(x: Tensor) -> Tensor:
        x, places = x[:, None], torch.arange(x.shape[1])
        scores = x @ x.mT / 4 + bias(places[:, None], places).to(x.dtype)
        return (torch.softmax(scores, dim=-1) @ x).mean(dim=1)

    return from_tokens(attention)


def test_a_distance_without_its_absolute_value_favours_far_keys_on_one_side() -> None:
    assert nn.relative_scores(encoder(alibi)).measured["near"] == 2
    found = nn.relative_scores(encoder(lambda query, key: SLOPES * (key - query)))
    assert found.verdict == "far keys are favoured"


def test_heads_that_disagree_about_near_keys_are_undetermined() -> None:
    signs = torch.tensor([1, -1])[:, None, None]
    found = nn.relative_scores(Decoder((0, 0), bias=lambda *places: signs * alibi(*places)))
    assert found.status == UNDETERMINED
    assert "2 of 4 heads favour near keys, the others far ones" in found.why


def test_of_biases_that_are_learned_nothing_is_said_about_near_keys() -> None:
    learned = torch.randn(2, 100)
    found = nn.relative_scores(encoder(lambda query, key: learned[:, key - query + 50]))
    assert (found.status, "near" in found.measured) == (HEALTHY, False)
    assert "which keys they favour is learned" in found.why


def test_a_bias_for_each_pair_of_positions_is_undetermined() -> None:
    learned = torch.randn(2, 64, 64)
    found = nn.relative_scores(encoder(lambda query, key: learned[:, query, key]))
    assert found.status == UNDETERMINED
    assert "not as by any mistake that is known here" in found.why


# With a cache


@pytest.mark.parametrize(
    "form",
    [
        {},
        {"fused": True},
        {"times": (0, 0), "bias": alibi},
        {"times": (0, 0), "rows": True},
    ],
    ids=["rotary", "rotary, fused", "biases", "rows"],
)
def test_an_offset_that_is_lost_between_cached_tokens_is_told(form: dict[str, Any]) -> None:
    found = nn.relative_scores(Decoder(counts=lambda past, new: torch.arange(new), **form))
    assert (found.verdict, found.status) == (LOST, ILL), str(found)
    assert "offset=cache.length" in found.remedy
    assert not nn.relative_scores(Decoder(**form)).ill


@pytest.mark.parametrize("scheme", ["rope", "alibi"])
def test_a_cache_of_another_class_can_be_given(scheme: str) -> None:
    class FromZero(nn.RotaryEmbedding):
        def forward(self, x: Tensor, **positions: Any) -> Tensor:
            return super().forward(x)

    model = nn.GPTModel(VOCAB, 40, 16, heads=2, layers=1, pos_type=scheme)
    if scheme == "rope":
        model.blocks[0].attention.rope = FromZero(8)  # type: ignore[union-attr]
    assert nn.relative_scores(model, cache=OURS).ill == (scheme == "rope")
    found = nn.relative_scores(model)
    assert (found.status, found.measured["cached"]) == (HEALTHY, 0)
    assert "No cache was tried; cache= or --cache NAME=MODULE:CLASS tries one." in found.why
    assert nn.diagnose(model, cache=OURS).ill == (scheme == "rope")


def from_zero_unless_alone(past: int, new: int) -> Tensor:
    start = past if new == 1 else 0
    return torch.arange(start, start + new)


@pytest.mark.parametrize(
    "form",
    [
        {},
        {"fused": True},
        {"times": (0, 0), "bias": alibi},
        {"times": (0, 0), "rows": True},
        {"window": 8, "keeps": 8},
    ],
    ids=["rotary", "rotary, fused", "biases", "rows", "evicting"],
)
def test_a_second_turn_that_begins_at_0_again_is_told(form: dict[str, Any]) -> None:
    found = nn.relative_scores(Decoder(counts=from_zero_unless_alone, **form))
    assert (found.verdict, found.status) == ("a second call of several tokens goes wrong", ILL)
    token = found.measured["token"]
    assert token == (5 if "window" in form else 10)  # three before the end of what all tokens see
    assert f"token {token}, counted from 0, is the first to differ" in found.why
    assert found.measured["change"] > 1e-4
    found = nn.relative_scores(Decoder(**form))
    assert not found.ill
    assert "A second call of several tokens has the outputs of a single call." in found.why


def test_a_second_turn_under_a_mask_of_the_first_keys_goes_wrong() -> None:
    class HidesTheCache(Decoder):
        def attention(self, q: Tensor, k: Tensor, v: Tensor, places: Tensor) -> Tensor:
            return functional.scaled_dot_product_attention(q, k, v, is_causal=q.shape[2] > 1)

    assert nn.relative_scores(HidesTheCache()).verdict.startswith("a second call")


def test_a_second_turn_that_is_refused_is_said_to_be() -> None:
    class RefusesTurns(Decoder):
        def forward(self, ids: Tensor, past: Any = None) -> dict[str, Any]:
            assert past is None or ids.shape[1] == 1
            return super().forward(ids, past)

    found = nn.relative_scores(RefusesTurns())
    assert (found.status, found.measured["cached"]) == (HEALTHY, 1)
    assert "The model refuses a second call of several tokens." in found.why


def test_a_second_turn_that_rounding_may_explain_is_not_judged() -> None:
    class Rounds(Decoder):
        def forward(self, ids: Tensor, past: Any = None) -> dict[str, Any]:
            found = super().forward(ids, past)
            turn = past is not None and ids.shape[1] > 1
            return {**found, "out": found["out"] * (1 + 5e-6 * turn)}

    found = nn.relative_scores(Rounds())
    assert found.status == HEALTHY
    assert "A second call of several tokens was not compared." in found.why


class Beside(Decoder):
    """Returns (out, cache), as nanoGPT does, and fills no cache that it is given."""

    def forward(self, ids: Tensor, past: Any = None) -> Any:
        return tuple(super().forward(ids, past or None).values())


def test_a_cache_beside_the_logits_is_given_back() -> None:
    found = nn.relative_scores(Beside(), cache={"past": list})
    assert (found.status, found.measured["cached"]) == (HEALTHY, 1), str(found)
    forms: list[dict[str, Any]] = [{}, {"times": (0, 0), "rows": True}]
    for form in forms:
        lost = Beside(counts=lambda past, new: torch.arange(new), **form)
        assert nn.relative_scores(lost, cache={"past": list}).verdict == LOST
    found = nn.relative_scores(lost)  # without a cache nothing tells
    assert (found.verdict, found.status) == ("its positions are absolute", ABSENT)
    assert "No cache was tried; cache= or --cache" in found.why


def test_a_cache_that_stays_empty_is_undetermined() -> None:
    class FillsNone(Beside):
        def forward(self, ids: Tensor, past: Any = None) -> Any:
            return super().forward(ids, past)[0]

    found = nn.relative_scores(FillsNone(), cache={"past": list})
    assert found.status == UNDETERMINED
    assert "the cache that was given stayed empty: the model does not fill what past" in found.why


@pytest.mark.parametrize("form", [{}, {"rows": True}], ids=["rotary", "rows"])
def test_steps_that_stand_one_position_too_far_are_told(form: dict[str, Any]) -> None:
    def one_later(past: int, new: int) -> Tensor:
        return torch.arange(past, past + new) + (past > 0)

    found = nn.relative_scores(Decoder(counts=one_later, **form))
    assert (found.verdict, found.status) == ("steps stand one position too far", ILL)
    assert "a single call has at p + 1" in found.why
    assert "not counting its own" in found.remedy


def test_positions_that_are_wrong_in_another_way_with_a_cache_are_undetermined() -> None:
    def two_later(past: int, new: int) -> Tensor:
        return torch.arange(past, past + new) + 2 * (past > 0)

    found = nn.relative_scores(Decoder(counts=two_later))
    assert found.status == UNDETERMINED
    assert "read one by one with a cache have different scores" in found.why


def test_rows_that_are_those_of_no_position_with_a_cache_show_nothing() -> None:
    wrapping = Decoder(rows=True, counts=lambda past, new: torch.arange(past, past + new) % 11)
    assert not nn.relative_scores(wrapping).ill  # the last tokens are at the first positions


EVICTING: dict[str, dict[str, Any]] = {
    "window of 8": {"window": 8, "keeps": 8},
    "window of 32": {"window": 32, "keeps": 32},
    "window of 32, fused": {"window": 32, "keeps": 32, "fused": True},
    "cache of 31 and the new key": {"keeps": 31},
}


@pytest.mark.parametrize("name", EVICTING)
def test_positions_that_restart_where_a_cache_drops_keys_are_told(name: str) -> None:
    """The offset is the number of keys that are left, so that it stays at the window's size."""
    size = EVICTING[name].get("window", 32)
    found = nn.relative_scores(Decoder(**EVICTING[name], forgets=True))
    assert found.verdict == "positions restart where the cache drops keys", str(found)
    assert (found.status, found.measured["window"]) == (ILL, size)
    assert f"With a window of {size} keys they have the scores of a single call until" in found.why
    assert "count the tokens that were read" in found.remedy
    found = nn.relative_scores(Decoder(**EVICTING[name]))
    assert (found.status, found.measured["window"]) == (HEALTHY, size), str(found)
    assert f"the same scores, also beyond its window of {size} keys." in found.why


class SharedKeys(Decoder):
    """All heads share the keys of the first; with one query, PyTorch takes heads for queries."""

    def attention(self, q: Tensor, k: Tensor, v: Tensor, places: Tensor) -> Tensor:
        cached = k.shape[2] - q.shape[2]
        behind = torch.arange(q.shape[2])[:, None] + cached - torch.arange(k.shape[2])
        bias = torch.zeros(behind.shape).masked_fill((behind < 0) | (behind > 7), -torch.inf)
        k, v, bias = k[:, :1].contiguous(), v[:, :1].contiguous(), bias.to(q.dtype)
        return functional.scaled_dot_product_attention(q, k, v, attn_mask=bias, enable_gqa=True)


def test_keys_that_heads_share_are_read_past_their_window() -> None:
    for forgets in (True, False):
        found = nn.relative_scores(SharedKeys(keeps=8, forgets=forgets))
        assert (found.ill, found.measured["window"]) == (forgets, 8), str(found)


def test_no_window_is_claimed_where_the_scores_of_a_step_are_not_seen() -> None:
    class Folded(Decoder):
        """Has one axis for heads and queries where there is one query."""

        def attention(self, q: Tensor, k: Tensor, v: Tensor, places: Tensor) -> Tensor:
            if q.shape[2] > 1 or len(q) > 1:
                return super().attention(q, k, v, places)
            scores = (q[0] @ k[0].mT)[:, 0] / math.sqrt(q.shape[-1])
            return torch.softmax(scores, dim=-1)[None, :, None] @ v

    found = nn.relative_scores(Folded())
    assert (found.status, found.measured["cached"]) == (HEALTHY, 0), str(found)
    assert found.why.endswith(
        "With a cache scores show nothing. A second call of several tokens has the outputs of a"
        " single call."
    )


def test_a_window_whose_cache_drops_no_key_is_healthy() -> None:
    for window in (4, 8):
        found = nn.relative_scores(Decoder(window=window))
        assert (found.status, found.measured["cached"]) == (HEALTHY, 1), str(found)
        assert found.measured["window"] == window


def test_a_ring_of_cached_keys_is_healthy() -> None:
    class Ring(Decoder):
        """Writes each new key over the oldest, and computes its scores with them in that order."""

        def attention(self, q: Tensor, k: Tensor, v: Tensor, places: Tensor) -> Tensor:
            if q.shape[2] == 1 and k.shape[2] > 8:
                k, v = (x[:, :, -8:].roll(int(places[0]) + 1, dims=2) for x in (k, v))
            return super().attention(q, k, v, places)

    found = nn.relative_scores(Ring(window=8, keeps=8, fused=True))
    assert (found.status, found.measured["window"]) == (HEALTHY, 8), str(found)


def test_a_window_as_large_as_the_length_asked_for_is_read_past() -> None:
    large: dict[str, Any] = {"layers": 1, "heads": 1, "window": 600, "keeps": 600, "fused": True}
    for forgets in (True, False):
        model = Decoder(**large, forgets=forgets)
        found = nn.relative_scores(model)
        assert found.status == HEALTHY
        assert "No window of more than 506 keys was tried; length= or --length" in found.why
        found = nn.relative_scores(model, length=600)
        assert (found.ill, found.measured["window"]) == (forgets, 600), str(found)
    assert found.why.endswith("also beyond its window of 600 keys.")


def test_a_report_says_how_many_tokens_were_read_with_the_cache() -> None:
    assert "the same scores; in 512 tokens no key drops out." in nn.relative_scores(Decoder()).why
    assert "no key drops out." in nn.relative_scores(Decoder(), length=506).why[-17:]
    short = nn.GPTModel(VOCAB, 40, 16, heads=2, layers=1, pos_type="rope")
    short.register_forward_pre_hook(at_most_40)
    assert "; in 32 tokens no key" in nn.relative_scores(short, cache=OURS).why
    found = nn.relative_scores(short, cache=OURS, length=40)
    assert found.why.endswith(
        "in 40 tokens no key drops out. No window of more than 34 keys was tried."
    )


def at_most_40(part: torch.nn.Module, args: Any) -> None:
    if args[0].shape[1] > 40:
        raise ValueError("more than 40 tokens")


def test_a_cache_that_shows_nothing_is_said_to_have_been_tried() -> None:
    found = nn.relative_scores(IgnoresCache())
    assert (found.status, found.measured["cached"]) == (HEALTHY, 0)
    assert "A cache was tried, and shows nothing." in found.why


def test_a_cache_that_the_model_does_not_take_is_undetermined() -> None:
    found = nn.relative_scores(Decoder(), cache={"memory": list})
    assert found.status == UNDETERMINED
    assert "unexpected keyword argument 'memory'" in found.why


class RefusesCache(Decoder):
    def forward(self, ids: Tensor, past: Any = None) -> dict[str, Any]:
        if past is not None:
            raise NotImplementedError("a cache")
        return super().forward(ids)


class IgnoresCache(Decoder):
    def forward(self, ids: Tensor, past: Any = None) -> dict[str, Any]:
        return super().forward(ids)


@pytest.mark.parametrize(
    "create",
    [
        RefusesCache,
        IgnoresCache,
        lambda: Reader(Table(3, 16)),
        lambda: Reader(Table(64, 16)),
    ],
    ids=["fails", "not used", "three tokens", "none"],
)
def test_a_cache_that_shows_nothing_is_not_counted(create: Callable[[], Model]) -> None:
    found = nn.relative_scores(create())
    assert not found.ill
    assert found.measured.get("cached", 0) == 0


# Where it cannot tell


def logarithm(places: Tensor) -> Tensor:
    return (places + 2.0).log()


def nan_from_six(places: Tensor) -> Tensor:
    return torch.where(places < 6, 1.0, torch.nan)


CANNOT: dict[str, tuple[Callable[[], Model], str]] = {
    "rotated, and scaled": (
        lambda: Decoder(scales=(None, logarithm)),
        "not as by any mistake that is known here",
    ),
    "nan from some position on": (
        lambda: Decoder(scales=(nan_from_six, None)),
        "some of its scores are not finite",
    ),
    "scaled": (lambda: Decoder(scales=(logarithm, logarithm)), "no rotation is seen"),
    "rotated and added": (lambda: Decoder(rows=True), "before there are scores"),
    "hidden": (lambda: TorchEncoder(positions=False), "or its attention hides them"),
    "no attention": (lambda: torch.nn.Embedding(VOCAB, 8), "it has no attention"),
    "one by one": (lambda: StepByStep(lost=True, added=False), "it has no attention"),
    "hardly": (
        lambda: Decoder((0, 0), bias=lambda *places: 1e-6 * alibi(*places)),
        "hardly more than rounding",
    ),
    "one head, scaled": (lambda: Decoder((1, 0), heads=1, layers=1), ""),
    "rotated and added, by a Reader": (
        lambda: Reader(sines(16), rotary=lambda: nn.RotaryEmbedding(8)),
        "",
    ),
}


@pytest.mark.parametrize("kind", CANNOT)
def test_what_cannot_be_told_is_never_healthy(kind: str) -> None:
    create, why = CANNOT[kind]
    found = nn.relative_scores(create())
    assert found.status == UNDETERMINED, str(found)
    assert why in found.why


def test_added_rows_alone_are_absolute() -> None:
    assert nn.relative_scores(Reader(sines(16))).verdict == "its positions are absolute"


def with_counts(x: Tensor) -> Tensor:
    """Return rows to each of which its position was added."""
    return (x + torch.arange(x.shape[1])[:, None].to(x.dtype)).clone()


@pytest.mark.parametrize(
    ("second", "why"),
    [
        (torch.nn.TransformerEncoderLayer(16, 2, 32, batch_first=True), "hides its scores"),
        (Composed(torch.nn.Identity(), with_counts), "after the first scores"),
    ],
)
def test_one_layer_alone_is_not_healthy_but_may_be_ill(second: Model, why: str) -> None:
    def with_second(*times: int) -> Model:
        first = Composed(Decoder((times[0], times[1]), layers=1), lambda outputs: outputs["out"])
        return torch.nn.Sequential(first, second)

    found = nn.relative_scores(with_second(1, 1))
    assert found.status == UNDETERMINED
    assert why in found.why
    assert nn.relative_scores(with_second(0, 1)).verdict == "keys alone are rotated"


# The scores


CAUSAL = torch.ones(5, 5).tril() > 0


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"is_causal": True},
        {"attn_mask": CAUSAL},
        {"attn_mask": SLOPES[0] * torch.arange(25).view(5, 5).double()},
        {"scale": 0.3},
        {"enable_gqa": True},
    ],
    ids=["plain", "causal", "mask", "bias", "scaled", "shared"],
)
def test_scores_of_fused_attention_are_those_of_its_definition(options: dict[str, Any]) -> None:
    q, k = torch.randn(1, 2, 5, 8).double(), torch.randn(1, 2, 5, 8).double()
    k = k[:, :1] if "enable_gqa" in options else k
    with ScoreRun(5, 5, ()) as run:
        functional.scaled_dot_product_attention(q, k, k, **options)
    expected = (q @ k.mT)[0] * options.get("scale", 8**-0.5)
    mask = options.get("attn_mask", CAUSAL if "is_causal" in options else None)
    visible = torch.ones(5, 5).bool() if mask is None or mask.is_floating_point() else mask
    if mask is not None and mask.is_floating_point():
        expected = expected + mask
    (found,) = run.found
    assert torch.equal(found.seen, visible.expand(2, 5, 5))
    assert torch.allclose(found.values[found.seen], expected[found.seen])


@pytest.mark.parametrize("hidden", [-torch.inf, -1e9, -1e4])
def test_keys_without_weight_are_not_seen_however_they_are_hidden(hidden: float) -> None:
    x = torch.zeros(1, 5, 5).masked_fill(torch.ones(5, 5).triu(1) > 0, hidden)
    with ScoreRun(5, 5, ()) as run:
        torch.softmax(x.mT, dim=1)  # keys first
        torch.softmax(x[..., :4], dim=-1)  # these are no scores of five keys
    (found,) = run.found
    assert torch.equal(found.seen[0], CAUSAL)


# In words


def test_heads_are_counted_by_layers() -> None:
    assert "are equal, in 2 layers with 2 heads each." in nn.relative_scores(Decoder()).why
    assert "are equal, in 2 heads." in nn.relative_scores(Decoder(layers=1)).why
    assert "in 2 layers with 1 head each." in nn.relative_scores(Decoder(heads=1)).why


def test_heads_of_unequal_layers_are_counted_together() -> None:
    heads = cast(Any, SimpleNamespace(spread=torch.ones(3), layers=[1, 0, 2]))
    assert relative._heads_in_words(heads) == "3 heads of 2 layers"


def test_slopes_of_what_may_be_one_rank_are_answered_with_how_to_compare_them() -> None:
    model = nn.GPTModel(VOCAB, 40, 16, heads=2, layers=1, pos_type="alibi")
    assert "heads= and rank= (--heads, --rank) compare its slopes" in nn.relative_scores(model).why
    told = nn.relative_scores(model, heads=2, rank=0)
    assert (told.status, "--rank" in told.why) == (HEALTHY, False)
