"""Diagnoses: right on a hundred models of every kind, and honest where nothing can be told.

Each kind is ill in exactly one way or not at all, and is told by what it does: the models are
written here and in `patients.py` in as many ways as people write them. A hundred of a kind are
drawn with a hundred seeds, of random widths, heads, layers and forms.
"""

from __future__ import annotations

import copy
import random
import sys
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import torch
from patients import VOCAB, Attending, Reader, Rotary, Table, TorchEncoder, sines
from torch import Tensor

from posenc import nn
from posenc.diagnose.answers import ABSENT, HEALTHY, ILL, UNDETERMINED, Diagnosis
from posenc.diagnose.collisions import Sizes
from posenc.diagnose.isolation import uncompiled
from posenc.diagnose.operations import TableReads, Watcher
from posenc.diagnose.parts import may_mix
from posenc.diagnose.recording import Recorder
from posenc.diagnose.trial import Trial

Model = torch.nn.Module
HUNDRED = range(100)
NARROW = (torch.float32, torch.bfloat16, torch.float16)


Maker = Callable[[], Model]


@pytest.fixture(scope="module", autouse=True)
def one_thread() -> Iterator[None]:
    """Keep small tensors on one thread: on several they wait for one another, and thousands do."""
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(threads)


@pytest.fixture(autouse=True)
def same_weights() -> None:
    """Draw the same weights at every run, in whatever order the tests are."""
    torch.manual_seed(0)


class Chance(random.Random):
    """Draws a model's form; its weights come from torch's own generator, with the same seed."""

    def __init__(self, seed: int) -> None:
        super().__init__(seed)
        torch.default_generator.manual_seed(seed)  # and not those of GPUs, which takes longer

    def one(self, *makers: Maker) -> Model:
        return self.choice(makers)()

    def form(self, *layers: int) -> dict[str, Any]:
        sizes = {"d_model": self.choice([8, 16, 32]), "heads": self.choice([1, 2])}
        return sizes | {"layers": self.choice(layers or (1, 2))}

    def gpt(self, *schemes: str, layers: tuple[int, ...] = (1, 2), rows: int = 64) -> Model:
        return nn.GPTModel(VOCAB, rows, **self.form(*layers), pos_type=self.choice(schemes))

    def rotary(self, layout: str | None = None, rotary_d: int | None = None) -> Model:
        form = self.form()
        d = form["d_model"] // form["heads"]
        layout = layout or self.choice(["half", "interleaved"])
        return Reader(
            **form, rotary=lambda: nn.RotaryEmbedding(d, layout=layout, rotary_d=rotary_d)
        )


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


def level(chance: Chance) -> Model:
    """Return a model whose tokens are about as long as its positions."""
    form = chance.form()
    table = Table(64, form["d_model"])
    return chance.one(
        lambda: chance.gpt("learned"),
        lambda: Reader(table, **form),
        lambda: Reader(sines(form["d_model"]), **form),
        lambda: nn.PositionalEmbedding(VOCAB, 64, form["d_model"]),
    )


def drowned(chance: Chance) -> Model:
    """Return a model whose tokens are not scaled, or whose positions grow without bound."""
    form = chance.form()
    name = chance.choice(["sinusoidal", "counting"])
    return chance.one(
        lambda: chance.gpt("counting"),
        lambda: Reader(sines(form["d_model"]), **form, deviation=0.02),
        lambda: nn.PositionalEmbedding(VOCAB, 64, form["d_model"], name),
    )


def without_rows(chance: Chance) -> Model:
    return chance.gpt("none", "rope", "alibi", "t5", "shaw")


def apart(chance: Chance) -> Model:
    """Return a model that counts in a wide type, whatever its own."""
    form, dtype = chance.form(), chance.choice(NARROW)
    d = form["d_model"] // form["heads"]
    table, layout = Table(400, form["d_model"]), chance.choice(["half", "interleaved"])
    return chance.one(
        lambda: chance.gpt("sinusoidal", "learned", "rope", "alibi", "t5", "shaw", rows=400),
        lambda: Reader(table, **form),
        lambda: Reader(sines(32), **form | {"d_model": 32}),
        lambda: Reader(**form, rotary=lambda: Rotary(d, torch.float32, layout)),
    ).to(dtype)


def colliding(chance: Chance) -> Model:
    """Return a model that counts in bfloat16, where 256 and 257 are one, or a table that wraps."""
    form, rows = chance.form(), chance.choice([50, 100])
    d = form["d_model"] // form["heads"]
    table, layout = Table(rows, form["d_model"], True), chance.choice(["half", "interleaved"])
    rotary = Reader(**form, rotary=lambda: Rotary(d, torch.bfloat16, layout))
    return chance.one(
        lambda: chance.gpt("counting").bfloat16(),
        lambda: Reader(table, **form),
        lambda: Reader(sines(form["d_model"], torch.bfloat16), **form),
        lambda: rotary.to(chance.choice([torch.bfloat16, torch.float32])),
    )


def ending(chance: Chance, least: int, most: int) -> Model:
    """Return a model with a table of so many rows."""
    form, rows = chance.form(), chance.randrange(least, most)
    return chance.one(
        lambda: Reader(Table(rows, form["d_model"]), **form),
        lambda: nn.GPTModel(VOCAB, rows, **form),
        lambda: nn.PositionalEmbedding(VOCAB, rows, form["d_model"]),
    )


def turning(chance: Chance, layout: str) -> Model:
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


def unturned(chance: Chance) -> Model:
    return chance.gpt("none", "counting", "sinusoidal", "learned", "alibi", "t5", "shaw")


def verdicts(make: Callable[[Chance], Model], ask: Callable[[Model], Diagnosis]) -> set[str]:
    """Return the verdicts on a hundred models of a kind."""
    return {ask(make(Chance(seed))).verdict for seed in HUNDRED}


def statuses(make: Callable[[Chance], Model], ask: Callable[[Model], Diagnosis]) -> set[str]:
    return {ask(make(Chance(seed))).status for seed in HUNDRED}


# A hundred of each kind; the lines that they run are those of one of each


@pytest.mark.no_cover
def test_a_hundred_models_with_positions_are_said_to_see_order() -> None:
    assert verdicts(seeing, nn.sees_order) == {"it sees order"}


@pytest.mark.no_cover
def test_a_hundred_models_without_positions_are_said_not_to_see_order() -> None:
    assert verdicts(blind, nn.sees_order) == {"it does not see order"}


@pytest.mark.no_cover
def test_a_hundred_deep_causal_models_see_order_through_their_mask_alone() -> None:
    assert verdicts(masked, nn.sees_order) == {"only through the causal mask"}


@pytest.mark.no_cover
def test_a_hundred_models_of_level_rows_do_not_drown_their_tokens() -> None:
    assert statuses(level, nn.drowned_tokens) == {HEALTHY}


@pytest.mark.no_cover
def test_a_hundred_models_drown_their_tokens() -> None:
    assert statuses(drowned, nn.drowned_tokens) == {ILL}


@pytest.mark.no_cover
def test_a_hundred_models_add_no_positions_to_drown_in() -> None:
    assert statuses(without_rows, nn.drowned_tokens) == {ABSENT}


@pytest.mark.no_cover
def test_a_hundred_models_that_count_in_wide_types_have_no_collision() -> None:
    assert statuses(apart, lambda model: nn.colliding_positions(model, length=260)) == {HEALTHY}


@pytest.mark.no_cover
def test_a_hundred_models_that_count_in_bfloat16_or_wrap_collide() -> None:
    assert statuses(colliding, lambda model: nn.colliding_positions(model, length=260)) == {ILL}


@pytest.mark.no_cover
def test_a_hundred_tables_are_too_short() -> None:
    def short(chance: Chance) -> Model:
        return ending(chance, 3, 40)

    assert statuses(short, lambda model: nn.longest_input(model, length=40)) == {ILL}


@pytest.mark.no_cover
def test_a_hundred_tables_are_long_enough() -> None:
    def long(chance: Chance) -> Model:
        return ending(chance, 40, 90)

    assert statuses(long, lambda model: nn.longest_input(model, length=40)) == {HEALTHY}


@pytest.mark.parametrize("layout", ["interleaved", "half"])
@pytest.mark.no_cover
def test_a_hundred_rotary_models_turn_as_they_are_said_to(layout: str) -> None:
    assert verdicts(lambda chance: turning(chance, layout), nn.rope_layout) == {layout}


@pytest.mark.no_cover
def test_a_hundred_models_without_rotation_turn_nothing() -> None:
    assert statuses(unturned, nn.rope_layout) == {ABSENT}


@pytest.mark.no_cover
def test_a_hundred_untrained_projections_cannot_tell_their_layout() -> None:
    def layout(seed: int) -> str:
        torch.default_generator.manual_seed(seed)
        heads, d = [(1, 8), (2, 32), (8, 64)][seed % 3]
        return nn.trained_layout(torch.randn(heads * d, 16), heads=heads).verdict

    assert {layout(seed) for seed in HUNDRED} == {"cannot tell"}


# What weights say after training


def trained(layout: str) -> nn.GPTModel:
    """Return a small GPT that has begun to learn to repeat what it read three tokens before."""
    torch.manual_seed(0)
    model = nn.GPTModel(32, 64, 64, heads=2, layers=2, pos_type="rope")
    turned_by(model, layout)
    optimizer = torch.optim.AdamW(model.parameters(), lr=2e-3, weight_decay=0.1, fused=True)
    for _ in range(60):
        ids = torch.randint(0, 32, (16, 24))
        logits = model(ids)[:, 3:].flatten(0, 1)
        loss = torch.nn.functional.cross_entropy(logits, ids[:, :-3].flatten())
        optimizer.zero_grad()
        loss.backward()  # type: ignore[no-untyped-call]
        optimizer.step()
    return model


def turned_by(model: nn.GPTModel, layout: str) -> nn.GPTModel:
    """Return the same weights under code of this layout."""
    for block in model.blocks:
        block.attention.rope = nn.RotaryEmbedding(32, layout=layout)  # type: ignore[union-attr]
    return model


@pytest.mark.parametrize(
    ("layout", "other"),
    [
        pytest.param("interleaved", "half", id="even"),
        # The first runs all the lines that this does.
        pytest.param("half", "interleaved", id="half", marks=pytest.mark.no_cover),
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
    mixed = nn.rope_layout(turned_by(model, other))
    assert mixed.ill
    assert mixed.verdict == f"the code turns {other}, the weights were trained with {layout}"


def test_weights_that_speak_for_both_layouts_tell_neither() -> None:
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


# What is left as it was


class Remembering(torch.nn.Module):
    """A model in training mode with dropout, a buffer that counts, and a cache that grows."""

    def __init__(self) -> None:
        super().__init__()
        self.inner = nn.GPTModel(VOCAB, 40, 16, heads=2, layers=2, dropout=0.5)
        self.inner.blocks[1].eval()
        self.calls: Tensor
        self.register_buffer("calls", torch.zeros(()))
        self.cache: dict[int, Tensor] = {}

    def forward(self, ids: Tensor) -> Tensor:
        self.calls += 1
        self.cache[len(self.cache)] = ids
        logits = self.inner(ids)
        assert isinstance(logits, Tensor)
        return logits + 0 * float(random.random() + np.random.rand() + torch.rand(()))


def states() -> tuple[str, str, Tensor]:
    """Return the states of Python's generator, NumPy's and PyTorch's."""
    return str(random.getstate()), str(np.random.get_state()), torch.get_rng_state()


def test_a_diagnosis_leaves_everything_as_it_was(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "_current_frames", lambda: {1: None})  # but for threads of the tests
    model = Remembering()
    before = copy.deepcopy(model.state_dict())
    modes = [part.training for part in model.modules()]
    drawn = states()
    report = nn.diagnose(model, length=50)
    assert [diagnosis.ill for diagnosis in report.diagnoses] == [False, False, False, True, False]
    assert states()[:2] == drawn[:2]
    assert torch.equal(states()[2], drawn[2])
    assert [part.training for part in model.modules()] == modes
    assert model.cache == {}
    assert all(p.grad is None and p.requires_grad for p in model.parameters())
    assert not any(part._forward_hooks or part._forward_pre_hooks for part in model.modules())
    for name, value in model.state_dict().items():
        assert torch.equal(value, before[name]), name


def draw() -> tuple[float, float, float]:
    return random.random(), float(np.random.rand()), float(torch.rand(()))


class Resting(torch.nn.Module):
    """Calls what may draw, but does not: attention and a part for training, both at rest."""

    def __init__(self) -> None:
        super().__init__()
        self.table = torch.nn.Embedding(VOCAB, 8)
        self.drops = torch.nn.Sequential(torch.nn.RReLU(), torch.nn.Dropout(0.5))
        self.own = torch.Generator()

    def forward(self, ids: Tensor) -> Tensor:
        x: Tensor = self.drops(self.table(ids))[:, None]
        nothing = 0 * torch.rand((), generator=self.own)
        result: Tensor = torch.nn.functional.scaled_dot_product_attention(x, x, x)[:, 0] + nothing
        return result


@pytest.mark.parametrize("make", [Resting, lambda: nn.GPTModel(VOCAB, 40, 16, 2, 2, dropout=0.5)])
def test_what_another_thread_draws_meanwhile_is_drawn_once(make: Maker) -> None:
    """Each time the diagnosed model is run, a thread that is no part of it draws."""
    with ThreadPoolExecutor(1) as other:
        other.submit(int).result()
        model, drawn = make(), []
        model.register_forward_pre_hook(lambda *_: drawn.append(other.submit(draw).result()))
        random.seed(0), np.random.seed(0), torch.manual_seed(0)
        nn.diagnose(model)
        drawn += [other.submit(draw).result() for _ in range(20)]
    random.seed(0), np.random.seed(0), torch.manual_seed(0)
    assert len(drawn) > 50
    assert drawn == [draw() for _ in drawn]


@pytest.mark.parametrize("generator", [None, torch.default_generator])
def test_what_a_model_draws_beside_other_threads_is_put_back(
    generator: torch.Generator | None,
) -> None:
    class Drawing(Resting):
        def forward(self, ids: Tensor) -> Tensor:
            return super().forward(ids) + 0 * torch.rand((), generator=generator)

    with ThreadPoolExecutor(1) as other:
        other.submit(int).result()
        model, drawn = Drawing(), states()
        nn.diagnose(model)
    assert torch.equal(states()[2], drawn[2])


def test_a_table_that_renews_its_rows_when_read_is_not_touched() -> None:
    class Renormed(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.table = torch.nn.Embedding(VOCAB, 8, max_norm=0.1)

        def forward(self, ids: Tensor) -> Tensor:
            rows: Tensor = self.table(ids)
            return rows

    model = Renormed()
    before = model.table.weight.detach().clone()
    assert nn.sees_order(model).status == UNDETERMINED  # nothing is mixed
    assert torch.equal(model.table.weight, before)


# What cannot be told, and why


def only(report: Any) -> set[str]:
    """Return why nothing was told, the same for each question."""
    assert report.status == UNDETERMINED
    assert not report.ill
    assert {diagnosis.status for diagnosis in report.diagnoses} == {UNDETERMINED}
    return {diagnosis.why for diagnosis in report.diagnoses}


def test_a_model_that_takes_no_token_ids_is_undetermined_without_an_example() -> None:
    encoder = torch.nn.TransformerEncoder(
        torch.nn.TransformerEncoderLayer(8, 2, 16, batch_first=True), 1
    )
    (why,) = only(nn.diagnose(encoder))
    assert "its forward fails on token ids (batch, length)" in why
    assert "example" in why
    found = nn.sees_order(encoder, torch.randn(1, 6, 8))
    assert found.verdict == "it does not see order"


def test_a_model_that_fails_on_its_own_forward_is_undetermined() -> None:
    class Failing(torch.nn.Module):
        def forward(self, ids: Tensor) -> Tensor:
            raise KeyError("nothing\nworks")

    (why,) = only(nn.diagnose(Failing()))
    assert "KeyError: 'nothing\\nworks'" in why
    (why,) = only(nn.diagnose(Failing(), torch.ones(2, 3)))
    assert "an input of torch.float32 like the example, (2, 3)" in why


def test_a_model_on_the_meta_device_is_undetermined() -> None:
    with torch.device("meta"):
        model = nn.GPTModel(VOCAB, 40, 16, heads=2, layers=1)
    (why,) = only(nn.diagnose(model))
    assert "meta device" in why


def test_a_model_that_makes_tensors_of_no_value_is_undetermined() -> None:
    class Elsewhere(torch.nn.Module):
        def forward(self, ids: Tensor) -> Tensor:
            return torch.zeros(*ids.shape, 4, device="meta")

    assert "meta device" in nn.sees_order(Elsewhere()).why


@pytest.mark.parametrize(
    ("output", "why"),
    [
        (lambda ids: ids, "no tensor of floating numbers"),
        (lambda ids: {"loss": ids.sum() * 1.0}, "no tensor of floating numbers"),
        (lambda ids: ids / 0.0, "not all finite"),
        (lambda ids: ids + torch.rand(ids.shape), "random even in evaluation mode"),
        (lambda ids: (ids * 1.0).cumsum(dim=0), "does not read (batch, length)"),
    ],
    ids=["integers", "scalar", "infinite", "random", "length first"],
)
def test_an_output_that_says_nothing_is_undetermined(
    output: Callable[[Tensor], Any], why: str
) -> None:
    class Says(torch.nn.Module):
        def forward(self, ids: Tensor) -> Any:
            return output(ids)

    found = nn.sees_order(Says())
    assert found.status == UNDETERMINED
    assert why in found.why


def test_a_model_that_cannot_be_copied_is_undetermined() -> None:
    model = nn.GPTModel(VOCAB, 40, 16, heads=2, layers=1)
    model.lock = (line for line in "a generator")  # type: ignore[assignment]
    (why,) = only(nn.diagnose(model))
    assert "cannot be copied" in why


def test_a_vocabulary_of_one_is_undetermined() -> None:
    found = nn.sees_order(nn.GPTModel(1, 40, 16, heads=2, layers=1))
    assert found.status == UNDETERMINED
    model = nn.GPTModel(VOCAB, 40, 16, heads=2, layers=1)
    assert "the same one" in nn.sees_order(model, torch.full((1, 9), 7)).why


def test_rotation_under_added_positions_is_undetermined() -> None:
    """Several kinds at once: a query changes from place to place before it is turned."""
    d = 16
    model = Reader(Table(64, d), d_model=d, heads=1, rotary=lambda: nn.RotaryEmbedding(d))
    report = nn.diagnose(model)
    assert [diagnosis.status for diagnosis in report.diagnoses] == [*[HEALTHY] * 4, UNDETERMINED]
    assert report.status == UNDETERMINED
    assert "added to the tokens as well" in report.diagnoses[-1].why
    assert "rows added to tokens, as factors of queries" in report.diagnoses[2].why


@pytest.mark.parametrize("at_once", [False, True], ids=["after", "at once"])
def test_heads_that_turn_and_fade_are_said_to_turn_or_not_told(at_once: bool) -> None:
    class Fading(torch.nn.Module):
        def forward(self, x: Tensor) -> Tensor:
            places = torch.arange(x.shape[2])[:, None].to(x.dtype)
            fade = 0.9**places
            angles = (places / 10.0 ** torch.arange(4)).repeat(1, 2)
            cos, sin = angles.cos(), angles.sin()
            if at_once:
                cos, sin = cos * fade, sin * fade
            first, second = x.chunk(2, dim=-1)
            turned = x * cos + torch.cat([-second, first], dim=-1) * sin
            return turned if at_once else turned * fade

    found = nn.rope_layout(Reader(rotary=Fading))
    assert found.status == (UNDETERMINED if at_once else HEALTHY)


def test_layouts_that_differ_from_layer_to_layer_are_undetermined() -> None:
    layouts = iter(["half", "interleaved"])
    model = Reader(rotary=lambda: nn.RotaryEmbedding(8, layout=next(layouts)))
    assert "in the other" in nn.rope_layout(model).why


def test_one_pair_is_the_same_in_either_layout() -> None:
    model = Reader(rotary=lambda: nn.RotaryEmbedding(8, layout="half", rotary_d=2))
    assert nn.rope_layout(model).verdict == "one pair, the same in either layout"


def test_heads_that_are_normalised_before_they_turn_hide_their_projections() -> None:
    class Normed(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.turn = nn.RotaryEmbedding(8)

        def forward(self, x: Tensor) -> Tensor:
            turned: Tensor = self.turn(x / x.norm(dim=-1, keepdim=True))
            return turned

    found = nn.rope_layout(torch.nn.Sequential(Reader(rotary=Normed), torch.nn.Linear(16, 2)))
    assert found.verdict == "interleaved"
    assert "No projection" in found.why


def test_a_causal_model_all_in_one_part_does_not_show_what_told_it_order() -> None:
    class Whole(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.table = torch.nn.Embedding(VOCAB, 8)

        def forward(self, ids: Tensor) -> Tensor:
            x: Tensor = self.table(ids)
            mask = torch.ones(ids.shape[1], ids.shape[1]).tril() > 0
            for _ in range(2):
                x = x + torch.softmax((x @ x.mT / 8).masked_fill(~mask, -torch.inf), dim=-1) @ x
            return x

    found = nn.sees_order(Whole())
    assert found.verdict == "it sees order"
    assert "no part shows" in found.why


def test_a_part_that_cannot_be_run_alone_shows_nothing() -> None:
    class Bound(Reader):
        def forward(self, ids: Tensor) -> Tensor:
            for layer in self.layers:
                layer.awake = True  # type: ignore[assignment]
            out = super().forward(ids)
            for layer in self.layers:
                layer.awake = False  # type: ignore[assignment]
            return out

    def awake(layer: Model, given: Any) -> None:
        if not layer.awake:
            raise RuntimeError("asleep")

    model = Bound(causal=True)
    for layer in model.layers:
        layer.register_forward_pre_hook(awake)
    assert "no part shows" in nn.sees_order(model).why


def test_memory_that_ends_is_no_table_that_ends() -> None:
    class Vast(torch.nn.Module):
        def forward(self, ids: Tensor) -> Tensor:
            if ids.shape[1] > 20:
                raise torch.OutOfMemoryError
            return ids * 1.0

    found = nn.longest_input(Vast())
    assert found.status == UNDETERMINED
    assert "more memory than there is" in found.why


# What it takes as input


def test_an_example_may_be_ids_reals_or_keywords() -> None:
    ids = torch.tensor([[3, 1, 4, 1, 5, 9, 2, 6]])
    assert nn.sees_order(Reader(sines(16)), ids).status == HEALTHY

    class Named(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.inner = Reader(sines(16))

        def forward(self, *, words: Tensor, scale: Tensor, name: str) -> Tensor:
            assert name == "a name"
            out: Tensor = self.inner(words) * scale
            return out

    example = {"words": ids, "scale": torch.ones(1, 1, 16), "name": "a name"}
    report = nn.diagnose(Named(), example)
    assert report.status == HEALTHY
    assert nn.sees_order(Named()).status == UNDETERMINED


def test_padding_is_not_taken_for_a_token() -> None:
    """Its row is zeros: a text of it would be no text, and is what some models refuse."""

    class Padded(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.table, self.out = torch.nn.Embedding(20, 16, padding_idx=17), Reader(sines(16))

        def forward(self, ids: Tensor) -> Tensor:
            if bool((ids == 17).any()):
                raise ValueError("padding")
            out: Tensor = self.table(ids) + self.out(ids)
            return out

    assert nn.sees_order(Padded()).status == HEALTHY


def test_a_model_of_one_length_is_diagnosed_at_that_length() -> None:
    class Fixed(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.inner, self.out = Reader(sines(16)), torch.nn.Linear(9 * 16, 9)

        def forward(self, ids: Tensor) -> Tensor:
            out: Tensor = self.out(self.inner(ids).flatten(1))
            return out

    ids = torch.arange(9)[None]
    assert nn.sees_order(Fixed(), ids).verdict == "it sees order"
    assert nn.longest_input(Fixed(), ids, length=4).ill
    assert nn.longest_input(Fixed(), ids).measured["longest"] == 9


def test_a_model_that_will_not_compute_in_float64_is_run_in_its_own_type() -> None:
    class Single(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.inner = Reader(causal=True, layers=1)

        def forward(self, ids: Tensor) -> Tensor:
            out: Tensor = self.inner(ids)
            if out.dtype != torch.float32:
                raise TypeError("float32 alone")
            return out

    found = nn.sees_order(Single())
    assert found.ill
    assert found.measured["change"] < 10 * found.measured["noise"] < 1e-4


def test_a_device_without_float64_is_no_obstacle(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(self: Model) -> Model:
        raise TypeError("Cannot convert a tensor to float64")

    monkeypatch.setattr(torch.nn.Module, "double", refuse)
    assert nn.sees_order(Reader(sines(16))).status == HEALTHY
    assert nn.sees_order(Reader()).ill


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16, torch.float64])
def test_order_is_seen_or_not_in_every_dtype(dtype: torch.dtype) -> None:
    assert nn.sees_order(Reader(sines(16)).to(dtype)).verdict == "it sees order"
    assert nn.sees_order(Reader().to(dtype)).verdict == "it does not see order"


@pytest.mark.no_cover  # to count lines would slow the compiler as well
def test_a_compiled_model_is_diagnosed_as_what_was_compiled() -> None:
    model = torch.compile(Reader(sines(16)), backend="eager")
    assert isinstance(model, torch.nn.Module)
    assert [d.status for d in nn.diagnose(model).diagnoses] == [*[HEALTHY] * 4, ABSENT]


@pytest.mark.no_cover  # to count lines would slow the compiler as well
def test_a_part_that_is_compiled_is_run_uncompiled() -> None:
    compiled = []

    def backend(graph: torch.fx.GraphModule, inputs: list[Tensor]) -> Callable[..., Any]:
        compiled.append(graph)
        return graph

    inner = torch.compile(Reader(sines(16)), backend=backend)
    assert isinstance(inner, torch.nn.Module)
    model = torch.nn.Sequential(inner)
    report = nn.diagnose(model, torch.arange(9)[None])
    assert [d.status for d in report.diagnoses] == [*[HEALTHY] * 4, ABSENT]
    assert not compiled
    model(torch.arange(9)[None])
    assert compiled  # afterwards as before


def test_two_diagnoses_at_once_leave_the_compiler_as_it_was() -> None:
    """As of two threads, the first of which ends first."""
    compiled = []

    def backend(graph: torch.fx.GraphModule, inputs: list[Tensor]) -> Callable[..., Any]:
        compiled.append(graph)
        return graph

    twice = torch.compile(lambda x: 2 * x, backend=backend)
    twice(torch.ones(1))
    with ExitStack() as first, ExitStack() as second:
        first.enter_context(uncompiled)
        second.enter_context(uncompiled)
        first.close()
        twice(torch.ones(2, 2))
        assert len(compiled) == 1
    twice(torch.ones(3, 3, 3))
    assert len(compiled) == 2


def test_a_model_that_reads_one_token_of_a_text_of_one_token_is_diagnosed() -> None:
    """It spares itself rows that are all alike, so that its parts then have another length."""

    class Sparing(Reader):
        def forward(self, ids: Tensor) -> Tensor:
            alike = bool((ids == ids[:, :1]).all())
            out = super().forward(ids[:, :1] if alike else ids)
            return out.expand(-1, ids.shape[1], -1)

    found = nn.sees_order(Sparing(causal=True, layers=2))
    assert found.verdict == "only through the causal mask"


def test_chance_is_seen_in_an_output_that_is_written_over() -> None:
    class Written(Reader):
        out = torch.empty(0, 0)

        def forward(self, ids: Tensor) -> Tensor:
            if self.out.shape[:2] != ids.shape:
                self.out = super().forward(ids)
            return self.out.copy_(torch.rand_like(self.out))

    assert "again" in nn.sees_order(Written()).why


def test_what_a_forward_sets_it_can_take_back() -> None:
    """No run is ended before its time, not even where what was looked for has been found."""

    class Busy(Reader):
        busy = False

        def forward(self, ids: Tensor) -> Tensor:
            if self.busy:
                raise RuntimeError("busy")
            self.busy = True
            out = super().forward(ids)
            self.busy = False
            return out

    model = Busy(sines(16))
    report = nn.diagnose(model)
    assert [d.status for d in report.diagnoses] == [*[HEALTHY] * 4, ABSENT], str(report)
    assert not model.busy


def test_of_the_parts_of_a_model_those_that_work_row_by_row_need_not_be_tried() -> None:
    """PyTorch's own, as they come: what could mix tokens in any way is left to be tried."""

    class Mixing(torch.nn.Linear):
        def forward(self, x: Tensor) -> Tensor:
            return super().forward(x).cumsum(dim=1)

    def own(x: Tensor) -> Tensor:
        return x.cumsum(dim=1)

    linear, norm = torch.nn.Linear(8, 8), torch.nn.LayerNorm(8)
    tried = {
        "hooked": torch.nn.Linear(8, 8),
        "replaced": torch.nn.Linear(8, 8),
        "derived": Mixing(8, 8),
        "over all": torch.nn.LayerNorm((13, 8)),
        "over all but the mean": torch.nn.RMSNorm((13, 8)),
        "along": torch.nn.Conv1d(8, 8, 3),
        "one of two": torch.nn.Sequential(torch.nn.GELU(), Mixing(8, 8)),
    }
    tried["hooked"].register_forward_hook(lambda part, given, out: own(out))
    tried["replaced"].forward = own
    alone = {"linear": linear, "norm": norm, "both": torch.nn.Sequential(linear, torch.nn.ReLU())}
    assert may_mix(torch.nn.ModuleDict(tried | alone)) == ["", *list(tried), "one of two.1"]


@pytest.mark.parametrize("mode", [TableReads, Recorder, Sizes])
def test_what_watches_a_model_does_not_load_the_compiler(mode: type[Watcher]) -> None:
    """PyTorch does, for a class of modes that has the method itself."""
    assert "__torch_dispatch__" not in vars(mode)
    assert vars(Watcher)["__torch_dispatch__"] is mode.__torch_dispatch__


def test_a_model_without_weights_is_diagnosed() -> None:
    class Bare(torch.nn.Module):
        def forward(self, ids: Tensor) -> Tensor:
            return torch.nn.functional.one_hot(ids, 5) * 1.0

    report = nn.diagnose(Bare())
    assert "no token's output depends on another token" in report.diagnoses[0].why
    assert report.subject == "Bare: 0 weights, in training mode"


def test_concatenated_positions_collide_or_do_not() -> None:
    class Beside(torch.nn.Module):
        def __init__(self, dtype: torch.dtype) -> None:
            super().__init__()
            self.table, self.dtype = torch.nn.Embedding(VOCAB, 8), dtype

        def forward(self, ids: Tensor) -> Tensor:
            places = sines(8, self.dtype)(torch.arange(ids.shape[1])).expand(len(ids), -1, -1)
            return torch.cat([self.table(ids), places.to(self.table.weight.dtype)], dim=-1)

    assert nn.colliding_positions(Beside(torch.float32)).status == HEALTHY
    found = nn.colliding_positions(Beside(torch.bfloat16))
    assert found.ill
    assert (found.measured["first"], found.measured["second"]) == (256, 257)
    assert "beside tokens" in found.why


# What hides order, and what must not


class Said(torch.nn.Module):
    """A model and what is made of its output."""

    def __init__(self, inner: Model, say: Callable[[Tensor], Any]) -> None:
        super().__init__()
        self.inner, self.say = inner, say

    def forward(self, ids: Tensor) -> Any:
        return self.say(self.inner(ids))


def beside(constant: float) -> Callable[[Tensor], Tensor]:
    """Return what adds a column that never changes."""
    return lambda x: torch.cat([x, torch.full_like(x[..., :1], constant)], dim=-1)


@pytest.mark.parametrize("constant", [1e6, torch.finfo(torch.float32).min], ids=["large", "masked"])
def test_a_column_that_never_changes_hides_nothing(constant: float) -> None:
    say = beside(constant)
    assert nn.sees_order(Said(Reader(Table(64, 16)), say)).verdict == "it sees order"
    assert nn.sees_order(Said(Reader(), say)).verdict == "it does not see order"
    deep = Said(Reader(causal=True), say)
    assert nn.sees_order(deep).verdict == "only through the causal mask"


def test_where_no_token_minds_another_order_is_undetermined() -> None:
    model = nn.GPTModel(VOCAB, 64, 16, heads=2, layers=2, pos_type="rope")
    for block in model.blocks:
        torch.nn.init.zeros_(block.attention.out.weight)  # type: ignore[arg-type, union-attr]
    for one in (model, nn.PositionalEmbedding(VOCAB, 64, 16)):
        found = nn.sees_order(one)
        assert found.status == UNDETERMINED
        assert "no token's output depends on another token" in found.why


@pytest.mark.parametrize(
    "model",
    [
        Said(Reader(Table(64, 16)), lambda x: x * 0),
        Said(Reader(Table(64, 16)), torch.ones_like),
        Reader(sines(16), deviation=0),
    ],
    ids=["times 0", "constant", "rows of 0"],
)
def test_an_output_that_no_token_changes_is_undetermined(model: Model) -> None:
    found = nn.sees_order(model)
    assert found.status == UNDETERMINED
    assert "does not depend on the tokens" in found.why


class Narrow(torch.nn.Module):
    """A model that computes in bfloat16, and in nothing else."""

    def __init__(self, inner: Model) -> None:
        super().__init__()
        self.inner = inner.bfloat16()

    def forward(self, ids: Tensor) -> Tensor:
        out: Tensor = self.inner(ids)
        if out.dtype != torch.bfloat16:
            raise TypeError("bfloat16 alone")
        return out


@pytest.mark.parametrize(
    "scheme",
    # The first two run all the lines that the others do.
    ["sinusoidal", "t5"]
    + [pytest.param(name, marks=pytest.mark.no_cover) for name in ("learned", "rope", "alibi")],
)
def test_what_rounding_hides_is_not_called_ill(scheme: str) -> None:
    for seed in range(5):
        torch.manual_seed(seed)
        model = Narrow(nn.GPTModel(VOCAB, 64, 32, heads=2, layers=2, pos_type=scheme))
        for found in (nn.sees_order(model), nn.colliding_positions(model)):
            assert not found.ill, found
    assert scheme != "t5" or "does not compute in float64" in found.why
    assert scheme != "sinusoidal" or "hides what their order does" in nn.sees_order(model).why


def test_a_change_of_a_few_digits_is_rounding() -> None:
    """Four of float32's: more than the noise, and less than ten times as much."""

    class Slight(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.table = torch.nn.Embedding(VOCAB, 8)

        def forward(self, ids: Tensor) -> Tensor:
            rising = (ids[:, 1] < ids[:, 2]).to(self.table.weight.dtype)[:, None]
            mean: Tensor = self.table(ids).mean(dim=1) * (1 + 5e-7 * rising)
            return mean

    found = nn.sees_order(Slight())
    assert found.verdict == "it does not see order"
    assert found.measured["change"] > 1.5 * found.measured["noise"]


def test_positions_that_look_alike_from_both_ends_are_seen() -> None:
    """A text read backwards has the same positions: other orders have to be tried as well."""
    rows = torch.randn(64, 16)

    def mirrored(positions: Tensor) -> Tensor:
        return rows[(2 * positions - positions.max()).abs()]

    assert nn.sees_order(Reader(mirrored)).verdict == "it sees order"


@pytest.mark.parametrize(
    "say",
    [lambda x: x.mT, lambda x: x @ x.mT, lambda x: x.flatten(0, 1)],
    ids=["width first", "arcs", "all texts in one"],
)
def test_order_is_looked_for_along_every_axis_that_counts_tokens(
    say: Callable[[Tensor], Tensor],
) -> None:
    assert nn.sees_order(Said(Reader(), say)).verdict == "it does not see order"
    assert nn.sees_order(Said(Reader(Table(64, 16)), say)).verdict == "it sees order"
    masked = Said(Reader(causal=True), say)
    assert nn.sees_order(masked).verdict == "only through the causal mask"


@pytest.mark.parametrize(
    ("say", "why"),
    [
        (lambda x: torch.cat([x[:, :1], x], dim=1), "no row for each token"),
        (lambda x: x.flatten(1), "no row for each token"),
        (lambda x: x[0] if x.shape[1] % 2 else x, "has no row for each of 2 texts"),
        (lambda x: x if x.shape[1] % 2 else x[..., 0], "no fixed number of axes"),
    ],
    ids=["one more", "in one row", "one text", "sometimes"],
)
def test_an_output_of_another_shape_is_undetermined(
    say: Callable[[Tensor], Tensor], why: str
) -> None:
    found = nn.sees_order(Said(Reader(), say))
    assert found.status == UNDETERMINED
    assert why in found.why


def test_of_a_causal_model_with_one_output_the_mask_is_told_from_positions() -> None:
    found = nn.sees_order(Reader(causal=True, pool="last"))
    assert found.verdict == "only through the causal mask"
    assert "the same output at every length" in found.why
    for model in (
        Reader(Table(64, 16), causal=True, pool="last"),
        Reader(causal=True, pool="last", rotary=lambda: nn.RotaryEmbedding(8)),
    ):
        found = nn.sees_order(model)
        assert (found.verdict, "no part shows" in found.why) == ("it sees order", False)


@pytest.mark.parametrize("layer", [0, 1])
def test_one_layer_that_knows_positions_is_enough(layer: int) -> None:
    turns: list[Model] = [torch.nn.Identity(), torch.nn.Identity()]
    turns[layer] = nn.RotaryEmbedding(8)
    found = nn.sees_order(Reader(causal=True, rotary=iter(turns).__next__))
    assert (found.verdict, "no part shows" in found.why) == ("it sees order", False)


@pytest.mark.parametrize("causal", [False, True], ids=["both ways", "causal"])
def test_order_that_the_head_alone_knows_is_no_mask(causal: bool) -> None:
    weights = torch.rand(64)

    def weighted(x: Tensor) -> Tensor:
        return (x * weights[: x.shape[1], None].to(x.dtype)).sum(dim=1)

    def nine(x: Tensor) -> Tensor:
        if x.shape[1] != 9:
            raise ValueError("nine tokens")
        return weighted(x)

    def averaged(x: Tensor) -> Tensor:
        return weighted(x) / weights[: x.shape[1]].sum()

    for say in (weighted, nine) if causal else (weighted, nine, averaged):
        found = nn.sees_order(Said(Reader(causal=causal), say), torch.arange(9)[None])
        assert found.verdict == "it sees order"
        assert ("no part shows" in found.why) == causal  # without a mask it was no mask
        assert found.status == (UNDETERMINED if causal else HEALTHY)


def test_order_that_one_layer_of_two_may_tell_by_its_mask_is_undetermined() -> None:
    model = Reader(causal=True, pool="last")
    layer = model.layers[1]
    assert isinstance(layer, Attending)
    layer.causal = False
    found = nn.sees_order(model)
    assert (found.verdict, found.status) == ("it sees order", UNDETERMINED)


# What runs only once, or not on its own


def test_a_model_that_is_random_or_remembers_is_undetermined_in_all() -> None:
    class Dropping(Reader):
        def forward(self, ids: Tensor) -> Tensor:
            return torch.nn.functional.dropout(super().forward(ids), 0.1, training=True)

    class Going(Reader):
        start = 0

        def forward(self, ids: Tensor) -> Tensor:
            self.start += ids.shape[1]
            return super().forward(ids) + sines(16)(self.start + torch.arange(ids.shape[1]))

    class Growing(Reader):
        def forward(self, ids: Tensor) -> Any:
            self.kept = [*getattr(self, "kept", []), super().forward(ids)]
            return tuple(self.kept)

    class Widening(Growing):
        def forward(self, ids: Tensor) -> Any:
            return torch.cat([super().forward(ids)[-1]] * len(self.kept), dim=-1)

    for model in (Dropping(), Going(), Growing(), Widening()):
        (why,) = only(nn.diagnose(model))
        assert "the same text gives another output when it is run again" in why


def test_weights_are_as_they_were_after_their_last_digit_was_changed() -> None:
    model = Reader(Table(64, 16))
    trial = Trial(model, None)
    tokens = trial.tokens(4, 13)
    with torch.no_grad():
        assert float(trial.noise(tokens, trial.run(tokens)).max()) > 0
    for p, was in zip(trial.model.parameters(), model.parameters(), strict=True):
        assert p.dtype == torch.float64
        assert torch.equal(p, was.double())


def test_an_entry_that_is_0_in_every_text_is_not_taken_for_exact() -> None:
    """Behind a ReLU no changed digit is seen; one of its sums in another order may be."""
    trial = Trial(Said(Reader(), beside(0)), None)
    tokens = trial.tokens(4, 13)
    with torch.no_grad():
        noise = trial.noise(tokens, trial.run(tokens))[..., -1]
    assert 1e-15 < float(noise.min()) == float(noise.max()) < 1e-12


def test_ids_are_drawn_from_the_common_ones_and_some_hundred() -> None:
    """Low ids are special in many models: padding, and the end of a text."""
    pool = Trial(nn.PositionalEmbedding(100, 64, 16), None).pool
    assert pool is not None
    assert pool.tolist() == [*range(13, 100)]
    trial = Trial(nn.GPTModel(5000, 64, 16, heads=2, layers=1), None)
    assert trial.pool is not None
    assert (len(trial.pool), int(trial.pool[0]), int(trial.pool[-1])) == (1024, 13, 4999)
    assert trial.run(trial.tokens(2, 13)).shape == (2, 13, 512)


def test_a_model_whose_train_returns_nothing_is_diagnosed() -> None:
    class Silent(Reader):
        def train(self, mode: bool = True) -> None:  # type: ignore[override]
            super().train(mode)

    assert nn.diagnose(Silent(Table(64, 16))).status == HEALTHY


def test_a_model_whose_weights_have_no_shape_yet_is_undetermined() -> None:
    report = nn.diagnose(torch.nn.Sequential(torch.nn.Embedding(9, 4), torch.nn.LazyLinear(4)))
    (why,) = only(report)
    assert "run it once" in why
    assert report.subject.startswith("Sequential: 36 weights")


@dataclass
class Output:
    loss: Tensor
    logits: Tensor


@pytest.mark.parametrize(
    "say",
    [
        lambda x: (x.mean(), x),
        lambda x: {"loss": x.mean(), "logits": x},
        lambda x: Output(x.mean(), x),
        lambda x: SimpleNamespace(loss=x.mean(), logits=x),
        lambda x: [torch.zeros(0), x, torch.zeros(2, dtype=torch.complex64)],
    ],
    ids=["tuple", "mapping", "dataclass", "object", "list"],
)
def test_the_output_is_found_behind_a_loss_and_in_any_wrapping(say: Callable[..., Any]) -> None:
    assert nn.sees_order(Said(Reader(Table(64, 16)), say)).verdict == "it sees order"
    assert nn.sees_order(Said(Reader(), say)).verdict == "it does not see order"


@pytest.mark.parametrize("rows", [1, 2, 3])
def test_a_model_of_very_short_texts_says_so(rows: int) -> None:
    report = nn.diagnose(nn.GPTModel(VOCAB, rows, 16, heads=2, layers=1), length=9)
    tokens = "1 token" if rows == 1 else f"{rows} tokens"
    assert report.diagnoses[3].verdict == f"it ends at {tokens}, and 9 are asked for"
    for found in report.diagnoses if rows < 3 else ():
        assert found.ill or f"it reads {tokens} at most" in found.why
    found = nn.sees_order(Reader(Table(rows, 16), pool="mean"))
    assert found.status == UNDETERMINED
    assert "too few" in found.why


def test_a_model_that_reads_one_text_at_a_time_says_so() -> None:
    (why,) = only(nn.diagnose(Said(torch.nn.Embedding(VOCAB, 4), lambda x: x.view(1, 13, 4))))
    assert "it reads one text at a time, and not a batch of them" in why


def test_an_example_with_more_axes_than_texts_have_is_undetermined() -> None:
    image = torch.nn.Sequential(torch.nn.Conv2d(3, 4, 4, 4), torch.nn.Flatten(2))
    (why,) = only(nn.diagnose(image, torch.randn(2, 3, 8, 8)))
    assert "no axis is known to be the length" in why
    (why,) = only(nn.diagnose(Reader(), torch.ones(1, 3, 4, dtype=torch.long)))
    assert "(batch, length), and of one of shape (1, 3, 4)" in why


# How long texts may be


class Told(torch.nn.Module):
    """A model whose caller counts the positions, and masks."""

    def __init__(self) -> None:
        super().__init__()
        self.inner = Reader()
        self.rows = torch.nn.Embedding(64, 16)

    def forward(self, ids: Tensor, positions: Tensor, mask: Tensor | None = None) -> Tensor:
        x: Tensor = self.inner.tokens(ids) + self.rows(positions)
        if mask is not None:
            x = x * mask[..., None]
        for layer, norm in zip(self.inner.layers, self.inner.norms, strict=True):
            x = x + layer(norm(x))
        return x


@pytest.mark.parametrize("texts", [None, 1, 2], ids=["a row for all", "one text", "two texts"])
def test_what_is_as_long_as_the_example_is_no_table(texts: int | None) -> None:
    positions = torch.arange(10) if texts is None else torch.arange(10).expand(texts, 10)
    ids = torch.arange(10).expand(texts or 1, 10)
    example = {"ids": ids, "positions": positions, "mask": torch.ones(1, 10)}
    report = nn.diagnose(Told(), example, length=40)
    assert [d.status for d in report.diagnoses] == [*[HEALTHY] * 3, UNDETERMINED, ABSENT]
    assert "positions, mask has 10 columns" in report.diagnoses[3].why
    assert "give an example of 40" in report.diagnoses[3].why
    assert nn.longest_input(Told(), example, length=10).verdict == "it reads 10 tokens"
    assert nn.longest_input(Told(), example, length=4).status == UNDETERMINED


def test_a_length_that_has_to_be_a_multiple_is_no_table() -> None:
    def by_eights(x: Tensor) -> Tensor:
        return x.view(len(x), -1, 8, 16).flatten(1, 2)

    ids = torch.arange(16)[None]
    found = nn.longest_input(Said(Reader(Table(64, 16)), by_eights), ids, length=50)
    assert found.status == UNDETERMINED
    assert "not any length, whatever its tables" in found.why


def test_the_table_whose_reading_fails_is_named_or_none_that_holds_the_tokens() -> None:
    model = nn.GPTModel(37, 37, 16, heads=2, layers=1)
    assert "pos_embedding.embedding.weight has 37 rows" in nn.longest_input(model, length=38).why

    class Decoys(Reader):
        def __init__(self, rows: Any) -> None:
            super().__init__(rows)
            self.register_buffer("decoy", torch.zeros(20, 16))

    found = nn.longest_input(Decoys(Table(20, 16)), length=30)
    assert "rows.table has 20 rows" in found.why
    loose = torch.randn(20, 16)
    found = nn.longest_input(Decoys(lambda positions: loose[positions]), length=30)
    assert "A table has 20 rows" in found.why
    assert "decoy" not in found.why


# Which positions collide


class Toeplitz(torch.nn.Module):
    """A layer whose scores have a bias of the relative position, key minus query."""

    def __init__(self, bias: Callable[[Tensor], Tensor]) -> None:
        super().__init__()
        self.inner, self.bias = Reader(layers=1), bias

    def forward(self, ids: Tensor) -> Tensor:
        places = torch.arange(ids.shape[1])
        x = self.inner.tokens(ids)
        out: Tensor = self.inner.layers[0](x, self.bias(places - places[:, None]).to(x.dtype))
        return out


BIASES = torch.randn(2000, generator=torch.Generator().manual_seed(0))


@pytest.mark.parametrize(
    "bias",
    [
        lambda d: BIASES[d % 50],
        lambda d: BIASES[d.abs() // 2],
        lambda d: BIASES[(d.abs() - 1).clamp(min=0)],
        lambda d: BIASES[d.abs().clamp(max=8) % 8],
    ],
    ids=["wraps", "by twos", "the nearest", "the first and the farthest"],
)
def test_biases_that_are_shared_as_no_bucket_shares_collide(
    bias: Callable[[Tensor], Tensor],
) -> None:
    assert nn.colliding_positions(Toeplitz(bias)).verdict == "positions collide"


@pytest.mark.parametrize(
    ("bias", "verdict"),
    [
        (lambda d: BIASES[d.clamp(-8, 8) + 8], "far positions share a bias, in float64 too"),
        (lambda d: -d.abs() / 8, "all positions differ"),
        (lambda d: (-d.abs() / 8).masked_fill(d.abs() > 40, -torch.inf), "all positions differ"),
        (lambda d: torch.zeros(d.shape).masked_fill(d.abs() > 40, -1e9), ABSENT),
        (lambda d: torch.zeros(d.shape).masked_fill(d > 0, -torch.inf), ABSENT),
    ],
    ids=["clipped", "both ways", "in a window", "a soft window", "a mask"],
)
def test_biases_that_differ_or_are_clipped_do_not_collide(
    bias: Callable[[Tensor], Tensor], verdict: str
) -> None:
    found = nn.colliding_positions(Toeplitz(bias), length=200)
    assert verdict in (found.verdict, found.status), found


@pytest.mark.parametrize("scheme", ["alibi", "t5"])
@pytest.mark.parametrize("causal", [False, True], ids=["both ways", "causal"])
def test_a_bias_that_is_never_written_out_is_read_from_the_last_query(
    scheme: str, causal: bool
) -> None:
    """It is seen through a view whose queries run backwards: its last row is the first query."""

    class Fast(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.table, self.qkv = torch.nn.Embedding(VOCAB, 16), torch.nn.Linear(16, 48)
            self.bias = (
                nn.ALiBi(2, causal=causal)
                if scheme == "alibi"
                else nn.T5RelativeBias(2, bidirectional=not causal)
            )

        def forward(self, ids: Tensor) -> Tensor:
            x, n = self.table(ids), ids.shape[1]
            q, k, v = self.qkv(x).view(len(ids), n, 3, 2, 8).permute(2, 0, 3, 1, 4)
            rows = self.bias(nn.relative_row(n, n))[:, 0].to(q.dtype)
            return nn.relative_attention(q, k, v, rows).transpose(1, 2).flatten(2)

    found = nn.colliding_positions(Fast(), length=200)
    assert found.status == HEALTHY, found
    assert (found.measured["colliding"] == 0) == (scheme == "alibi")


def test_far_positions_that_rounding_puts_together_collide() -> None:
    """A bias that comes to an end: as in a bucket, but in float64 later than in float32."""

    class Ending(Biased):
        def forward(self, ids: Tensor) -> Tensor:
            x, places = self.table(ids), torch.arange(ids.shape[1])
            far = (places - places[:, None]).abs().to(x.dtype)
            out: Tensor = self.layer(x, torch.tanh(far / 4))
            return out

    found = nn.colliding_positions(Ending(None, relative=True), length=200)
    assert found.ill


def test_the_last_row_of_a_table_is_compared() -> None:
    table = Table(64, 16)
    assert nn.colliding_positions(Reader(table)).measured == {"length": 64, "colliding": 0}
    table.table.data[63] = table.table.data[0]
    found = nn.colliding_positions(Reader(table)).measured
    assert (found["first"], found["second"]) == (0, 63)


def test_rows_that_are_lost_in_the_sum_collide_though_they_differ() -> None:
    """Of 256, bfloat16 keeps 8 bits: what is added to it has to be 1 to be seen."""

    def small(positions: Tensor) -> Tensor:
        return positions[:, None].expand(-1, 16) / 64

    model = Reader(small, deviation=0).bfloat16()
    with torch.no_grad():
        model.tokens.weight += 256 + torch.arange(VOCAB)[:, None]
    found = nn.colliding_positions(model, length=40)
    assert found.ill
    assert found.measured["second"] == 1


# The numbers, and what is printed


def test_the_ratio_is_that_of_the_rows() -> None:
    """Rows of length √(32/2), tokens of deviation 0.02 in 32 dimensions: 4/(0.02·√32)."""
    torch.manual_seed(0)
    layer = nn.PositionalEmbedding(10_000, 64, 32, pos_type="sinusoidal")
    found = nn.drowned_tokens(layer)
    assert found.measured["positions"] == pytest.approx(4, rel=1e-6)
    assert found.measured["ratio"] == pytest.approx(4 / (0.02 * 32**0.5), rel=0.1)
    assert found.measured["scaled"] == pytest.approx(found.measured["ratio"] / 32**0.5)
    assert "√d_model = 5.66" in found.remedy
    assert nn.drowned_tokens(layer, limit=50).status == HEALTHY


def test_of_several_sums_the_worst_is_judged() -> None:
    class Branches(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.level, self.loud = Reader(Table(64, 16)), Reader(sines(16), deviation=0.02)

        def forward(self, ids: Tensor) -> Tensor:
            out: Tensor = self.level(ids) + self.loud(ids) + self.level(ids)
            return out

    found = nn.drowned_tokens(Branches())
    assert found.ill
    assert found.measured["ratio"] > 30


@pytest.mark.parametrize("scheme", ["alibi", "t5"])
def test_a_bias_of_scores_is_not_taken_for_rows(scheme: str) -> None:
    model = nn.GPTModel(VOCAB, 64, 16, heads=2, layers=1, pos_type=scheme)
    assert nn.drowned_tokens(model).status == ABSENT


def test_a_remedy_that_is_not_enough_is_not_offered_as_one() -> None:
    model = nn.GPTModel(VOCAB, 64, 16, heads=2, layers=1, pos_type="counting")
    found = nn.drowned_tokens(model)
    assert found.measured["scaled"] > 10
    assert "make the rows of positions shorter" in found.remedy
    assert "are not enough" in found.remedy
    scaled = nn.drowned_tokens(nn.PositionalEmbedding(VOCAB, 64, 16, "sinusoidal"))
    assert "not enough" not in scaled.remedy


def test_the_longest_input_names_its_table() -> None:
    model = nn.GPTModel(VOCAB, 37, 16, heads=2, layers=1)
    found = nn.longest_input(model, length=38)
    assert found.measured == {"longest": 37, "length": 38}
    assert "embedding.pos_embedding.embedding.weight has 37 rows" in found.why
    assert nn.longest_input(model).verdict == "it ends at 37 tokens"
    assert nn.longest_input(model, length=1).verdict == "it reads 1 token"


class Biased(torch.nn.Module):
    """A layer that adds a bias to the scores, counted in a type, or in that of its table."""

    def __init__(self, dtype: torch.dtype | None, *, relative: bool) -> None:
        super().__init__()
        self.layer, self.dtype, self.relative = Reader(layers=1).layers[0], dtype, relative
        self.table = torch.nn.Embedding(VOCAB, 16)

    def forward(self, ids: Tensor) -> Tensor:
        x = self.table(ids)
        places = torch.arange(ids.shape[1])
        counts = places - places[:, None] if self.relative else places
        out: Tensor = self.layer(x, counts.to(self.dtype or x.dtype).to(x.dtype) / 8)
        return out


@pytest.mark.parametrize("relative", [False, True], ids=["keys", "relative"])
def test_biases_that_are_counted_in_bfloat16_collide(relative: bool) -> None:
    assert nn.colliding_positions(Biased(torch.float32, relative=relative)).status == HEALTHY
    found = nn.colliding_positions(Biased(None, relative=relative).bfloat16())
    assert found.ill
    assert found.measured["second"] - found.measured["first"] == 1


@pytest.mark.parametrize("relative", [False, True], ids=["keys", "relative"])
def test_biases_in_bfloat16_collide_whatever_the_type_of_the_model(relative: bool) -> None:
    """Rounding puts one, three, one, three distances together; buckets grow, and shrink never."""
    found = nn.colliding_positions(Biased(torch.bfloat16, relative=relative))
    assert found.ill
    assert found.measured["second"] - found.measured["first"] == 1


def test_buckets_that_are_shared_on_purpose_are_no_collision() -> None:
    found = nn.colliding_positions(nn.GPTModel(VOCAB, 40, 16, 2, 1, pos_type="t5"), length=200)
    assert found.verdict == "far positions share a bias, in float64 too"
    assert found.measured["colliding"] > 100


def test_a_report_reads_from_the_subject_to_the_sum() -> None:
    torch.manual_seed(0)
    text = str(nn.diagnose(nn.GPTModel(VOCAB, 40, 16, heads=2, layers=1, pos_type="none")))
    assert text.startswith("GPTModel: 3,952 weights, float32 on cpu, in training mode\n\n[ ILL] ")
    assert "[ ILL] Does it see order?\n       It does not see order. With " in text
    assert "\n       What helps: give it positions" in text
    assert text.endswith("\n\n1 ill, 0 undetermined, of 5 questions.")
    assert max(map(len, text.splitlines())) <= 68


# What is often done instead


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


@pytest.mark.no_cover  # many runs of lines that others count
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


# What moves a little, or is put in another order, or is mingled


@pytest.mark.parametrize("deviation", [1e-5, 1e-3, 1.0])
def test_positions_of_any_size_are_no_rotation(deviation: float) -> None:
    """Heads that move by 1e-5 keep their length but for 1e-5: so does nothing that turns as far."""
    for heads in (1, 2, 4):
        table = Table(64, 16)
        table.table.data *= deviation
        found = nn.rope_layout(Reader(table, heads=heads))
        assert found.verdict == "nothing is turned", found


class Reordering(torch.nn.Module):
    """Heads of one layout that are put in the order of the other, and turned so."""

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
        turned: Tensor = self.turn(x)
        return turned


@pytest.mark.parametrize(("turned", "weights"), [("half", "interleaved"), ("interleaved", "half")])
def test_heads_that_are_reordered_before_they_turn_have_both_layouts(
    turned: str, weights: str
) -> None:
    found = nn.rope_layout(Reader(rotary=lambda: Reordering(turned)))
    assert found.verdict == f"{weights} weights, reordered to turn {turned}"
    assert f"the rows of the weights are {weights}" in found.why


class Mingled(torch.nn.Module):
    """Attention whose queries meet a table of relative positions, as in XLNet and DeBERTa."""

    def __init__(self, kinds: Callable[[Tensor], Tensor]) -> None:
        super().__init__()
        self.table, self.kinds = torch.nn.Embedding(VOCAB, 16), kinds
        self.relative = torch.nn.Parameter(torch.randn(16, 1200))

    def forward(self, ids: Tensor) -> Tensor:
        x, n = self.table(ids), ids.shape[1]
        places = torch.arange(n)
        kinds = self.kinds(places[:, None] - places).expand(len(ids), n, n)
        scores = x @ x.mT + (x @ self.relative).gather(-1, kinds)
        out: Tensor = x + torch.softmax(scores, dim=-1) @ x
        return out


@pytest.mark.parametrize(
    ("kinds", "verdict"),
    [
        (lambda d: d + 600, "all positions differ"),
        (lambda d: d.clamp(-8, 8) + 8, "far positions share a bias, in float64 too"),
        (lambda d: d % 5, "cannot tell"),
    ],
    ids=["each its own", "clipped", "wraps"],
)
def test_positions_that_are_mingled_with_tokens_in_scores_are_found(
    kinds: Callable[[Tensor], Tensor], verdict: str
) -> None:
    found = nn.colliding_positions(Mingled(kinds), length=40)
    assert found.verdict == verdict, found


def test_what_is_compared_but_for_its_last_digits_is_not_said_to_be_equal_to_the_last_bit() -> None:
    found = nn.colliding_positions(Mingled(lambda d: d.clamp(-8, 8) + 8), length=40)
    assert "equal an earlier one but for its last digits" in found.why
    rows = nn.PositionalEmbedding(VOCAB, 512, 16, pos_type="counting").bfloat16()
    assert "equal an earlier one to the last bit" in nn.colliding_positions(rows).why


class Hiding(Mingled):
    """Mingled positions that the first token does not see, as in Funnel, and others pooled or not.

    Of the pairs of tokens that are pooled one is left, so that no output belongs to a token.
    """

    def __init__(self, pooled: bool) -> None:
        super().__init__(lambda d: d + 600)
        self.pooled = pooled

    def forward(self, ids: Tensor) -> Tensor:
        x, n = self.table(ids), ids.shape[1]
        places = torch.arange(n)
        kinds = self.kinds(places[:, None] - places).expand(len(ids), n, n)
        shown = ((places[:, None] > 0) & (places > 0)).to(x.dtype)
        scores = x @ x.mT + (x @ self.relative).gather(-1, kinds) * shown
        out: Tensor = x + torch.softmax(scores, dim=-1) @ x
        return out[:, ::2] if self.pooled else out


def test_a_mask_of_zeros_and_ones_is_not_taken_for_positions() -> None:
    assert nn.colliding_positions(Hiding(pooled=False), length=40).verdict == "all positions differ"


def test_mingled_positions_of_a_model_whose_order_cannot_be_told_are_undetermined() -> None:
    found = nn.colliding_positions(Hiding(pooled=True), length=40)
    assert (found.status, "mingled with tokens" in found.why) == (UNDETERMINED, True)


def test_mingled_positions_that_share_in_a_narrow_type_alone_are_undetermined() -> None:
    class Late(Mingled):
        def forward(self, ids: Tensor) -> Tensor:
            x = self.table(ids)
            if x.dtype == torch.float64:
                self.kinds = lambda d: d + 600
            return super().forward(ids)

    found = nn.colliding_positions(Late(lambda d: d.clamp(-8, 8) + 600), length=40)
    assert found.status == UNDETERMINED


class Stepping(torch.nn.Module):
    """A model that decodes inside its forward, token by token, and may lose its offset."""

    def __init__(self, *, lost: bool, added: bool) -> None:
        super().__init__()
        self.table, self.lost, self.added = torch.nn.Embedding(VOCAB, 16), lost, added
        self.rows = torch.nn.Embedding(64, 16)
        self.turn = nn.RotaryEmbedding(16)

    def forward(self, ids: Tensor) -> Tensor:
        x = self.table(ids)
        for _ in range(2):
            seen: list[Tensor] = []
            out = []
            for step in range(ids.shape[1]):
                place, token = 0 if self.lost else step, x[:, step : step + 1]
                row = self.rows.weight[place]
                token = token + row if self.added else self.turned(token, place)
                seen.append(token)
                past = torch.cat(seen, dim=1)
                out.append(token + torch.softmax(token @ past.mT / 4, dim=-1) @ past)
            x = torch.cat(out, dim=1)
        read: Tensor = x
        return read

    def turned(self, x: Tensor, place: int) -> Tensor:
        angles = place / 10.0 ** torch.arange(8, dtype=torch.float64)
        cos, sin = angles.cos().to(x.dtype), angles.sin().to(x.dtype)
        first, second = x.chunk(2, dim=-1)
        return torch.cat([first * cos - second * sin, first * sin + second * cos], dim=-1)


@pytest.mark.parametrize("added", [False, True], ids=["turned", "added"])
def test_a_cache_offset_that_is_lost_token_by_token_is_not_healthy(added: bool) -> None:
    found = nn.sees_order(Stepping(lost=True, added=added))
    assert (found.status, "no part shows" in found.why) == (UNDETERMINED, True)
    assert str(found).startswith("[  ? ]")


@pytest.mark.parametrize("added", [False, True], ids=["turned", "added"])
def test_positions_that_come_token_by_token_are_not_said_to_be_absent(added: bool) -> None:
    found = nn.colliding_positions(Stepping(lost=False, added=added), length=20)
    assert found.status == UNDETERMINED
    assert "order reaches the model" in found.why


@pytest.mark.parametrize("lowest", [-torch.inf, None], ids=["added", "filled"])
def test_order_that_a_window_tells_is_no_position(lowest: float | None) -> None:
    class Windowed(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.table = torch.nn.Embedding(VOCAB, 16)

        def forward(self, ids: Tensor) -> Tensor:
            x, places = self.table(ids), torch.arange(ids.shape[1])
            far = (places - places[:, None]).abs() > 2
            scores = x @ x.mT
            if lowest is None:
                scores = scores.masked_fill(far, -torch.inf)
            else:
                scores = scores + torch.zeros(far.shape, dtype=x.dtype).masked_fill(far, lowest)
            out: Tensor = x + torch.softmax(scores, dim=-1) @ x
            return out

    assert nn.sees_order(Windowed()).verdict == "it sees order"
    assert nn.colliding_positions(Windowed(), length=40).status == ABSENT


def test_order_that_a_recurrence_tells_is_no_position() -> None:
    class Recurrent(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.table, self.cell = torch.nn.Embedding(VOCAB, 16), torch.nn.RNNCell(16, 16)

        def forward(self, ids: Tensor) -> Tensor:
            x, state, out = self.table(ids), None, []
            for step in range(ids.shape[1]):
                state = self.cell(x[:, step], state)
                out.append(state)
            read: Tensor = x + torch.stack(out, dim=1)
            return read

    found = nn.colliding_positions(Recurrent(), length=20)
    assert found.verdict == "no positions reach the model"


# Which axis counts tokens


def test_of_an_example_with_channels_first_the_axis_has_to_be_said() -> None:
    model = torch.nn.Conv1d(8, 8, 3, padding=1)
    sound = torch.randn(2, 8, 20)
    (why,) = only(nn.diagnose(model, sound))
    assert "reads 8 along axis 1 of the example and no other size" in why
    assert "axis=1, or axis=2, which is 20 long" in why
    assert nn.sees_order(model, sound, axis=2).verdict == "it sees order"
    assert nn.longest_input(model, sound, axis=2).verdict == "it reads 1024 tokens"
    assert nn.sees_order(model, {"input": sound}, axis=1).status == HEALTHY


def test_an_axis_that_reads_other_sizes_or_that_a_mask_shares_needs_no_saying() -> None:
    encoder = torch.nn.TransformerEncoderLayer(8, 2, 16, batch_first=True)
    assert nn.sees_order(encoder, torch.randn(1, 17, 8)).verdict == "it does not see order"
    example = {"src": torch.randn(1, 17, 8), "src_key_padding_mask": torch.zeros(1, 17) > 0}
    assert nn.sees_order(encoder, example).verdict == "it does not see order"

    class Exactly(torch.nn.Module):
        def forward(self, x: Tensor) -> Tensor:
            if x.shape[1] not in (9, 10):
                raise ValueError("9 or 10 rows")
            return x.cumsum(dim=1).cumsum(dim=1)

    assert nn.sees_order(Exactly(), torch.randn(1, 9, 8)).verdict == "it sees order"


@pytest.mark.parametrize(("axis", "axes"), [(2, 2), (3, 3)])
def test_an_axis_that_the_example_lacks_is_refused(axis: int, axes: int) -> None:
    example = None if axes == 2 else torch.randn(2, 8, 20)
    with pytest.raises(ValueError, match=rf"axis must be below {axes}, .* got {axis}"):
        nn.sees_order(Reader(), example, axis=axis)
