"""Which models see order, and which only through their mask."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch
from torch import Tensor

from posenc import nn
from posenc.diagnose.answers import HEALTHY, ILL, UNDETERMINED
from tests.diagnose.models import (
    VOCAB,
    AttentionLayer,
    Composed,
    Model,
    Reader,
    StepByStep,
    Table,
    TorchEncoder,
    from_tokens,
    sines,
    with_constant_column,
)
from tests.diagnose.random_models import HUNDRED, Chance, verdicts


def seeing(chance: Chance) -> Model:
    """Return a model with positions, of any kind, causal or not, with an output a token or not."""
    form, causal = chance.form(), chance.random() < 0.5
    pool = None if causal else chance.choice([None, "mean", "first"])
    table, waves = Table(64, form["d_model"]), sines(form["d_model"])
    return chance.one(
        lambda: chance.gpt("sinusoidal", "learned", "rope", "alibi", "t5", "shaw"),
        lambda: TorchEncoder(True, causal=causal, layers=form["layers"]),
        lambda: Reader(table, **form, causal=causal, pool=pool),
        lambda: Reader(waves, **form, causal=causal, pool=pool),
        chance.rotary,
    )


def blind(chance: Chance) -> Model:
    """Return an encoder without positions, or one causal layer without them."""
    pool = chance.choice([None, "mean", "first", "last"])
    return chance.one(
        lambda: chance.gpt("none", "counting", layers=(1,)),
        lambda: TorchEncoder(False, layers=chance.choice([1, 2, 3])),
        lambda: Reader(**chance.form(1, 2, 3), pool=pool),
        lambda: Reader(**chance.form(1), causal=True),
    )


def masked(chance: Chance) -> Model:
    """Return a causal model of two layers or three without positions."""
    return chance.one(
        lambda: chance.gpt("none", "counting", layers=(2, 3)),
        lambda: TorchEncoder(False, causal=True, layers=chance.choice([2, 3])),
        lambda: Reader(**chance.form(2, 3), causal=True),
    )


@pytest.mark.slow
def test_models_with_positions_see_order() -> None:
    assert verdicts(seeing, nn.sees_order) == {"it sees order"}


@pytest.mark.slow
def test_models_without_positions_do_not_see_order() -> None:
    assert verdicts(blind, nn.sees_order) == {"it does not see order"}


@pytest.mark.slow
def test_deep_causal_models_without_positions_see_order_through_the_mask_alone() -> None:
    assert verdicts(masked, nn.sees_order) == {"only through the causal mask"}


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16, torch.float64])
def test_order_is_judged_in_every_dtype(dtype: torch.dtype) -> None:
    assert nn.sees_order(Reader(sines(16)).to(dtype)).verdict == "it sees order"
    assert nn.sees_order(Reader().to(dtype)).verdict == "it does not see order"


def test_vocabulary_of_one_token_is_undetermined() -> None:
    found = nn.sees_order(nn.GPTModel(1, 40, 16, heads=2, layers=1))
    assert found.status == UNDETERMINED
    model = nn.GPTModel(VOCAB, 40, 16, heads=2, layers=1)
    assert "the same one" in nn.sees_order(model, torch.full((1, 9), 7)).why


def check_verdicts(output: Callable[[Tensor], Tensor]) -> None:
    """Diagnose models with positions, without, and without but for a mask, behind a function."""
    for model, verdict in (
        (Reader(Table(64, 16)), "it sees order"),
        (Reader(), "it does not see order"),
        (Reader(causal=True), "only through the causal mask"),
    ):
        assert nn.sees_order(Composed(model, output)).verdict == verdict


@pytest.mark.parametrize("constant", [1e6, torch.finfo(torch.float32).min], ids=["large", "masked"])
def test_constant_column_hides_nothing(constant: float) -> None:
    check_verdicts(with_constant_column(constant))


def test_order_is_undetermined_if_no_token_sees_another() -> None:
    model = nn.GPTModel(VOCAB, 64, 16, heads=2, layers=2, pos_type="rope")
    for block in model.blocks:
        torch.nn.init.zeros_(block.attention.out.weight)  # type: ignore[arg-type, union-attr]
    for unmixed in (model, nn.PositionalEmbedding(VOCAB, 64, 16)):
        found = nn.sees_order(unmixed)
        assert found.status == UNDETERMINED
        assert "no token's output depends on another token" in found.why


@pytest.mark.parametrize(
    "model",
    [
        Composed(Reader(Table(64, 16)), lambda x: x * 0),
        Composed(Reader(Table(64, 16)), torch.ones_like),
        Reader(sines(16), deviation=0),
    ],
    ids=["times 0", "constant", "rows of 0"],
)
def test_output_that_ignores_tokens_is_undetermined(model: Model) -> None:
    found = nn.sees_order(model)
    assert found.status == UNDETERMINED
    assert "does not depend on the tokens" in found.why


def bfloat16_alone(x: Tensor) -> Tensor:
    if x.dtype != torch.bfloat16:
        raise TypeError("bfloat16 alone")
    return x


@pytest.mark.parametrize(
    "scheme",
    # The first two run all the lines that the others do.
    ["sinusoidal", "t5", "learned", "rope", "alibi"],
)
@pytest.mark.slow
def test_nothing_hidden_by_rounding_is_called_ill(scheme: str) -> None:
    for seed in range(5):
        torch.manual_seed(seed)
        gpt = nn.GPTModel(VOCAB, 64, 32, heads=2, layers=2, pos_type=scheme).bfloat16()
        model = Composed(gpt, bfloat16_alone)
        for found in (nn.sees_order(model), nn.colliding_positions(model)):
            assert not found.ill, found
    assert scheme != "t5" or "does not compute in float64" in found.why
    assert scheme != "sinusoidal" or "hides the effect of their order" in nn.sees_order(model).why


def test_change_of_a_few_digits_is_rounding() -> None:
    """Four of float32's: more than the noise, and less than ten times as much."""

    def slightly_longer_mean(x: Tensor) -> Tensor:
        rising = (x[:, 1, :1] < x[:, 2, :1]).to(x.dtype)
        return x.mean(dim=1) * (1 + 5e-7 * rising)

    found = nn.sees_order(from_tokens(slightly_longer_mean, 8))
    assert found.verdict == "it does not see order"
    assert found.measured["change"] > 1.5 * found.measured["noise"]


def test_positions_symmetric_from_both_ends_are_seen() -> None:
    """A text read backwards has the same positions: other orders have to be tried as well."""
    rows = torch.randn(64, 16)

    def mirrored(positions: Tensor) -> Tensor:
        return rows[(2 * positions - positions.max()).abs()]

    assert nn.sees_order(Reader(mirrored)).verdict == "it does not tell before from after"


@pytest.mark.parametrize(
    "output",
    [lambda x: x.mT, lambda x: x @ x.mT, lambda x: x.flatten(0, 1)],
    ids=["width first", "arcs", "all texts in one"],
)
def test_order_is_judged_along_every_axis_that_counts_tokens(
    output: Callable[[Tensor], Tensor],
) -> None:
    check_verdicts(output)


@pytest.mark.parametrize(
    ("output", "why"),
    [
        (lambda x: torch.cat([x[:, :1], x], dim=1), "no row for each token"),
        (lambda x: x.flatten(1), "no row for each token"),
        (lambda x: x[0] if x.shape[1] % 2 else x, "has no row for each of 2 sequences"),
        (lambda x: x if x.shape[1] % 2 else x[..., 0], "no fixed number of axes"),
    ],
    ids=["one more", "in one row", "one text", "sometimes"],
)
def test_output_without_a_row_for_each_token_is_undetermined(
    output: Callable[[Tensor], Tensor], why: str
) -> None:
    found = nn.sees_order(Composed(Reader(), output))
    assert found.status == UNDETERMINED
    assert why in found.why


def test_mask_is_told_from_positions_in_a_causal_model_with_one_output() -> None:
    found = nn.sees_order(Reader(causal=True, pool="last"))
    assert found.verdict == "only through the causal mask"
    assert "the same output at every length" in found.why
    for model in (
        Reader(Table(64, 16), causal=True, pool="last"),
        Reader(causal=True, pool="last", rotary=lambda: nn.RotaryEmbedding(8)),
    ):
        found = nn.sees_order(model)
        assert (found.verdict, "No part shows" in found.why) == ("it sees order", False)


@pytest.mark.parametrize("layer", [0, 1])
def test_one_layer_with_positions_is_enough(layer: int) -> None:
    rotations: list[Model] = [torch.nn.Identity(), torch.nn.Identity()]
    rotations[layer] = nn.RotaryEmbedding(8)
    found = nn.sees_order(Reader(causal=True, rotary=iter(rotations).__next__))
    assert (found.verdict, "No part shows" in found.why) == ("it sees order", False)


@pytest.mark.parametrize("causal", [False, True], ids=["both ways", "causal"])
def test_order_known_to_the_head_alone_is_not_called_the_mask(causal: bool) -> None:
    weights = torch.rand(64)

    def weighted(x: Tensor) -> Tensor:
        return (x * weights[: x.shape[1], None].to(x.dtype)).sum(dim=1)

    def weighted_nine(x: Tensor) -> Tensor:
        if x.shape[1] != 9:
            raise ValueError("nine tokens")
        return weighted(x)

    def average(x: Tensor) -> Tensor:
        return weighted(x) / weights[: x.shape[1]].sum()

    for head in (weighted, weighted_nine) if causal else (weighted, weighted_nine, average):
        found = nn.sees_order(Composed(Reader(causal=causal), head), torch.arange(9)[None])
        assert found.verdict == "it sees order"
        assert ("No part shows" in found.why) == causal  # without a mask it was no mask
        assert found.status == (UNDETERMINED if causal else HEALTHY)


def test_order_from_one_causal_layer_of_two_is_undetermined() -> None:
    model = Reader(causal=True, pool="last")
    layer = model.layers[1]
    assert isinstance(layer, AttentionLayer)
    layer.causal = False
    found = nn.sees_order(model)
    assert (found.verdict, found.status) == ("it sees order", UNDETERMINED)


@pytest.mark.parametrize("added", [False, True], ids=["rotated", "added"])
def test_lost_cache_offset_is_not_healthy(added: bool) -> None:
    found = nn.sees_order(StepByStep(lost=True, added=added))
    assert (found.status, "No part shows" in found.why) == (UNDETERMINED, True)
    assert str(found).startswith("[  ? ]")


def cosine(x: Tensor, y: Tensor) -> float:
    return float(torch.nn.functional.cosine_similarity(x.flatten(), y.flatten(), dim=0))


def test_a_threshold_of_the_cosine_gives_wrong_verdicts() -> None:
    """The rule: two orders of three words more alike than 0.9 mean that positions are missing."""
    generator = torch.Generator().manual_seed(0)
    tokens = 0.02 * torch.randn(3, 64, generator=generator, dtype=torch.float64)
    rows = sines(64)(torch.arange(3))
    without, with_positions = (tokens, tokens.flip(0)), (tokens + rows, tokens.flip(0) + rows)
    # Of means, it finds positions missing where they are; of rows in a line, the wrong way round.
    assert cosine(*(x.mean(dim=0) for x in with_positions)) == pytest.approx(1)
    assert cosine(*with_positions) > 0.99
    assert cosine(*without) < 0.5


@pytest.mark.slow
def test_the_cosine_of_whole_models_does_not_tell_those_with_positions() -> None:
    def alike(scheme: str, seed: int) -> bool:
        torch.default_generator.manual_seed(seed)
        model = nn.GPTModel(50, 20, 32, heads=2, layers=2, pos_type=scheme)
        with torch.no_grad():
            logits = model(torch.tensor([[7, 8, 9], [9, 8, 7]]))
        assert isinstance(logits, Tensor)
        return cosine(*logits.mean(dim=1)) > 0.9

    assert all(alike("sinusoidal", seed) for seed in HUNDRED)  # "missing"
    assert sum(alike("none", seed) for seed in HUNDRED) < 20  # "working"


# Direction


class Distances(torch.nn.Module):
    """Scores by the sines of distances, as in Transformer-XL, with their sign or without it."""

    def __init__(self, *, signed: bool, pooled: bool) -> None:
        super().__init__()
        self.tokens, self.rows = torch.nn.Embedding(VOCAB, 16), torch.nn.Linear(16, 16)
        self.signed, self.pooled = signed, pooled

    def forward(self, ids: Tensor) -> Tensor:
        x, places = self.tokens(ids), torch.arange(ids.shape[1])
        far = places[:, None] - places
        rows = self.rows(sines(16)(far if self.signed else far.abs()).to(x.dtype))
        scores = x @ x.mT + torch.einsum("bid,ijd->bij", x, rows)
        out: Tensor = torch.softmax(scores / 4, dim=-1) @ x
        return out.tanh().mean(dim=1) if self.pooled else out


@pytest.mark.parametrize("pooled", [False, True], ids=["rows", "pooled"])
def test_distances_without_their_sign_do_not_tell_before_from_after(pooled: bool) -> None:
    found = nn.sees_order(Distances(signed=False, pooled=pooled))
    assert (found.verdict, found.status) == ("it does not tell before from after", ILL)
    same = "the same output." if pooled else "the same outputs in reverse."
    assert f"But the tokens in reverse have {same}" in found.why
    assert "the sign of the distance is lost" in found.remedy
    healthy = nn.sees_order(Distances(signed=True, pooled=pooled))
    assert (healthy.verdict, healthy.ill) == ("it sees order", False), str(healthy)


# Quantised


class Quantised(torch.nn.Module):
    """A part whose input is rounded to eight bits, by one scale for all tokens."""

    def __init__(self, part: Model) -> None:
        super().__init__()
        self.part = part

    def forward(self, x: Tensor) -> Tensor:
        scale = x.abs().amax() / 127
        result: Tensor = self.part((x / scale).round() * scale)
        return result


@pytest.mark.parametrize("scheme", ["learned", "none"])
def test_a_scale_that_tokens_share_does_not_make_them_see_order(scheme: str) -> None:
    """Each token is read by itself, but another one may be the largest, which sets the scale."""
    rows = nn.PositionalEmbedding(1000, 64, 16, pos_type=scheme)
    found = nn.sees_order(torch.nn.Sequential(rows, Quantised(torch.nn.Linear(16, 300))))
    assert found.status == UNDETERMINED, str(found)
    assert "only through a scale that they share" in found.why


def test_a_quantised_model_that_mixes_tokens_still_sees_order() -> None:
    model = Reader(Table(64, 16), d_model=16)
    for layer in model.layers:
        layer.v_proj = Quantised(layer.get_submodule("v_proj"))
    assert nn.sees_order(model).verdict == "it sees order"
    blind = Reader(d_model=16)
    blind.layers[0].v_proj = Quantised(blind.layers[0].get_submodule("v_proj"))
    assert nn.sees_order(blind).verdict == "it does not see order"
