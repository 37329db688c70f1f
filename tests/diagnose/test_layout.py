"""Which layout code and weights have."""

from __future__ import annotations

from functools import partial
from typing import Any

import pytest
import torch
from torch import Tensor

from posenc import nn, proportional_frequencies
from posenc.diagnose.answers import ABSENT, HEALTHY, UNDETERMINED
from tests.diagnose.models import Model, Reader, Rotary, Table
from tests.diagnose.random_models import HUNDRED, Chance, statuses, verdicts


def rotary_model(chance: Chance, layout: str) -> Model:
    """Return a model with rotary heads, whole or in part, of a form that people write."""
    form = chance.form() | {"d_model": chance.choice([16, 32])}
    d, dtype = form["d_model"] // form["heads"], chance.choice([torch.float32, torch.bfloat16])
    rotary_d = chance.choice([4, d // 2, d])
    return chance.one(
        lambda: Reader(**form, rotary=lambda: Rotary(d, torch.float32, layout)).to(dtype),
        lambda: Reader(
            **form, rotary=lambda: nn.RotaryEmbedding(d, layout=layout, rotary_d=rotary_d)
        ),
    )


def without_rotation(chance: Chance) -> Model:
    return chance.gpt("none", "counting", "sinusoidal", "learned", "alibi", "t5", "shaw")


@pytest.mark.parametrize("layout", ["interleaved", "half"])
@pytest.mark.slow
def test_rotary_models_have_the_layout_they_were_given(layout: str) -> None:
    assert verdicts(lambda chance: rotary_model(chance, layout), nn.rope_layout) == {layout}


@pytest.mark.slow
def test_models_without_rotation_have_no_layout() -> None:
    assert statuses(without_rotation, nn.rope_layout) == {ABSENT}


def test_one_pair_is_the_same_in_either_layout() -> None:
    model = Reader(rotary=lambda: nn.RotaryEmbedding(8, layout="half", rotary_d=2))
    assert nn.rope_layout(model).verdict == "one pair, the same in either layout"


KINDS: dict[str, tuple[dict[str, Any], str]] = {
    "whole": ({}, "16 of 16 dimensions of a head rotate, dimensions i and i + d/2 together."),
    "proportional": (
        {"frequencies": proportional_frequencies(16, 8)},
        "8 of 16 dimensions of a head rotate: pairs 0 to 3, dimensions i and i + 8, across the"
        " head; 4 pairs stand still.",
    ),
    "partial": (
        {"rotary_d": 8},
        "8 of 16 dimensions of a head rotate: pairs 0 to 3, dimensions i and i + 4, within the"
        " part that rotates; 4 pairs stand still.",
    ),
    "with gaps": (
        {"frequencies": [1.0, 0, 0.1, 0, 0, 1e-9, 0, 0]},
        "6 of 16 dimensions of a head rotate: pairs 0, 2, 5, dimensions i and i + 8, across the"
        " head; 5 pairs stand still.",
    ),
}


@pytest.mark.parametrize("kind", KINDS)
def test_the_pairs_that_rotate_are_told_from_those_that_stand_still(kind: str) -> None:
    options, said = KINDS[kind]
    rotary = partial(nn.RotaryEmbedding, 16, layout="half", **options)
    found = nn.rope_layout(Reader(rotary=rotary, d_model=32))
    assert found.verdict == "half"
    assert found.why.startswith(said), found.why
    assert "In other layers" not in found.why
    assert found.measured["rotary_d"] == int(said.split()[0])
    assert found.measured["partner"] == (4 if kind == "partial" else 8)


def test_layers_with_heads_of_several_kinds_are_all_named() -> None:
    kinds = iter([nn.RotaryEmbedding(16), nn.RotaryEmbedding(16, rotary_d=4)])
    found = nn.rope_layout(Reader(rotary=kinds.__next__, d_model=32))
    assert found.why.startswith("16 of 16 dimensions of a head rotate, ")
    assert "In other layers 4 of 16 dimensions of a head rotate: pairs 0 to 1, dimen" in found.why


def test_layouts_that_differ_between_layers_are_undetermined() -> None:
    layouts = iter(["half", "interleaved"])
    model = Reader(rotary=lambda: nn.RotaryEmbedding(8, layout=next(layouts)))
    assert "in the other" in nn.rope_layout(model).why


def test_layout_is_undetermined_if_positions_are_added_before_rotation() -> None:
    """Several kinds at once: a query changes from place to place before it is rotated."""
    d = 16
    model = Reader(Table(64, d), d_model=d, heads=1, rotary=lambda: nn.RotaryEmbedding(d))
    report = nn.diagnose(model)
    assert [d.status for d in report.diagnoses] == [*[HEALTHY] * 4, *[UNDETERMINED] * 2]
    assert report.status == UNDETERMINED
    assert "added to the tokens as well" in report.diagnoses[4].why
    assert "rows added to tokens, as factors of queries" in report.diagnoses[2].why


@pytest.mark.parametrize("at_once", [False, True], ids=["after", "at once"])
def test_rotation_is_found_unless_one_factor_also_shortens_the_heads(at_once: bool) -> None:
    class Fading(torch.nn.Module):
        def forward(self, x: Tensor) -> Tensor:
            places = torch.arange(x.shape[2])[:, None].to(x.dtype)
            fade = 0.9**places
            angles = (places / 10.0 ** torch.arange(4)).repeat(1, 2)
            cos, sin = angles.cos(), angles.sin()
            if at_once:
                cos, sin = cos * fade, sin * fade
            first, second = x.chunk(2, dim=-1)
            rotated = x * cos + torch.cat([-second, first], dim=-1) * sin
            return rotated if at_once else rotated * fade

    found = nn.rope_layout(Reader(rotary=Fading))
    assert found.status == (UNDETERMINED if at_once else HEALTHY)


@pytest.mark.parametrize("deviation", [1e-5, 1e-3, 1.0])
def test_added_positions_of_any_size_are_no_rotation(deviation: float) -> None:
    """Heads that move by 1e-5 keep their length but for 1e-5: so does nothing that turns as far."""
    for heads in (1, 2, 4):
        table = Table(64, 16)
        table.table.data *= deviation
        found = nn.rope_layout(Reader(table, heads=heads))
        assert found.verdict == "nothing is rotated", found


class Reordering(torch.nn.Module):
    """Heads of one layout that are put in the order of the other, and rotated so."""

    def __init__(self, layout: str) -> None:
        super().__init__()
        self.source = {"half": "interleaved", "interleaved": "half"}[layout]
        self.turn = nn.RotaryEmbedding(8, layout=layout)

    def forward(self, x: Tensor) -> Tensor:
        first, second = x.chunk(2, -1) if self.source == "half" else (x[..., ::2], x[..., 1::2])
        if self.source == "half":
            x = torch.stack([first, second], dim=-1).flatten(-2)
        else:
            x = torch.cat([first, second], dim=-1)
        rotated: Tensor = self.turn(x)
        return rotated


@pytest.mark.parametrize(("code", "weights"), [("half", "interleaved"), ("interleaved", "half")])
def test_heads_reordered_before_rotation_have_both_layouts(code: str, weights: str) -> None:
    found = nn.rope_layout(Reader(rotary=lambda: Reordering(code)))
    assert found.verdict == f"{weights} weights, reordered to rotate {code}"
    assert f"the rows of the weights are {weights}" in found.why


def test_heads_normalised_before_rotation_hide_their_projections() -> None:
    class Normed(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.turn = nn.RotaryEmbedding(8)

        def forward(self, x: Tensor) -> Tensor:
            rotated: Tensor = self.turn(x / x.norm(dim=-1, keepdim=True))
            return rotated

    found = nn.rope_layout(torch.nn.Sequential(Reader(rotary=Normed), torch.nn.Linear(16, 2)))
    assert found.verdict == "interleaved"
    assert "No projection" in found.why


def test_untrained_projections_do_not_tell_their_layout() -> None:
    def layout(seed: int) -> str:
        torch.default_generator.manual_seed(seed)
        heads, d = [(1, 8), (2, 32), (8, 64)][seed % 3]
        return nn.trained_layout(torch.randn(heads * d, 16), heads=heads).verdict

    assert {layout(seed) for seed in HUNDRED} == {"cannot tell"}


def trained(layout: str) -> nn.GPTModel:
    """Return a small GPT that has begun to learn to repeat what it read three tokens before."""
    torch.manual_seed(0)
    model = nn.GPTModel(32, 64, 64, heads=2, layers=2, pos_type="rope")
    with_layout(model, layout)
    optimizer = torch.optim.AdamW(model.parameters(), lr=2e-3, weight_decay=0.1, fused=True)
    for _ in range(60):
        ids = torch.randint(0, 32, (16, 24))
        logits = model(ids)[:, 3:].flatten(0, 1)
        loss = torch.nn.functional.cross_entropy(logits, ids[:, :-3].flatten())
        optimizer.zero_grad()
        loss.backward()  # type: ignore[no-untyped-call]
        optimizer.step()
    return model


def with_layout(model: nn.GPTModel, layout: str) -> nn.GPTModel:
    """Return the same weights under code of this layout."""
    for block in model.blocks:
        block.attention.rope = nn.RotaryEmbedding(32, layout=layout)  # type: ignore[union-attr]
    return model


@pytest.mark.parametrize(
    ("layout", "other"),
    [
        pytest.param("interleaved", "half", id="even"),
        pytest.param("half", "interleaved", id="half", marks=pytest.mark.slow),
    ],
)
def test_trained_weights_tell_their_layout_whatever_the_code_applies(
    layout: str, other: str
) -> None:
    model = trained(layout)
    for block in model.blocks:
        weight = block.attention.query_key_value.weight  # type: ignore[union-attr]
        found = nn.trained_layout(weight[:128], heads=4)  # type: ignore[index]
        assert found.verdict in (layout, "cannot tell")  # of one layer, four heads may be too few
    agreed = nn.rope_layout(model)
    assert (agreed.verdict, agreed.status) == (layout, HEALTHY)
    assert "weights agree" in agreed.why
    mixed = nn.rope_layout(with_layout(model, other))
    assert mixed.ill
    said = f"the code uses the layout {other}, the weights were trained with {layout}"
    assert mixed.verdict == said


def test_similar_rows_tell_a_layout_only_if_one_pairing_explains_them() -> None:
    """Alike by fours: neighbours are, and halves nearly so, but neither could be the cause."""
    lengths = torch.linspace(0, 3, 8).exp().repeat_interleave(2)  # eight pairs of neighbours
    even = lengths.repeat(4)[:, None].repeat(1, 5)
    assert nn.trained_layout(even, heads=4).verdict == "interleaved"
    half = torch.linspace(0, 3, 8).exp().repeat(2)
    assert nn.trained_layout(half.repeat(4)[:, None].repeat(1, 5), heads=4).verdict == "half"
    # Halves nearly alike, and neighbours a little more, since their frequencies are close.
    near = torch.linspace(0, 4, 16)
    close = torch.cat([near, near + 0.3]).exp()
    found = nn.trained_layout(close.repeat(8)[:, None].repeat(1, 5), heads=8)
    assert (found.verdict, 1 < found.measured["apart"] < 2) == ("half", True)
    same = torch.ones(64, 5)
    assert nn.trained_layout(same, heads=4).verdict == "cannot tell"
