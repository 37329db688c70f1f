"""What a diagnosis leaves as it was."""

from __future__ import annotations

import copy
import random
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor

from posenc import nn
from posenc.diagnose.answers import ABSENT, HEALTHY, UNDETERMINED
from posenc.diagnose.isolation import uncompiled
from tests.diagnose.models import VOCAB, Maker, Reader, Table, only, sines


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


def test_diagnosis_leaves_everything_as_it_was(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "_current_frames", lambda: {1: None})  # but for threads of the tests
    model = Remembering()
    before = copy.deepcopy(model.state_dict())
    modes = [part.training for part in model.modules()]
    drawn = states()
    report = nn.diagnose(model, length=50)
    assert [one.ill for one in report.diagnoses] == [False, False, False, True, False, False]
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
def test_random_numbers_of_another_thread_are_not_drawn_twice(make: Maker) -> None:
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
def test_generators_are_restored_while_other_threads_run(
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


def test_embedding_with_max_norm_is_not_renormalised() -> None:
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


def test_every_forward_runs_to_its_end() -> None:
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
    assert [d.status for d in report.diagnoses] == [*[HEALTHY] * 4, ABSENT, ABSENT], str(report)
    assert not model.busy


def test_model_on_the_meta_device_is_undetermined() -> None:
    with torch.device("meta"):
        model = nn.GPTModel(VOCAB, 40, 16, heads=2, layers=1)
    (why,) = only(nn.diagnose(model))
    assert "meta device" in why


def test_lazy_weights_are_undetermined() -> None:
    report = nn.diagnose(torch.nn.Sequential(torch.nn.Embedding(9, 4), torch.nn.LazyLinear(4)))
    (why,) = only(report)
    assert "run it once" in why
    assert report.subject.startswith("Sequential: 36 weights")


def test_model_that_cannot_be_copied_is_undetermined() -> None:
    model = nn.GPTModel(VOCAB, 40, 16, heads=2, layers=1)
    model.lock = (line for line in "a generator")  # type: ignore[assignment]
    (why,) = only(nn.diagnose(model))
    assert "cannot be copied" in why


def test_model_whose_train_returns_nothing_is_diagnosed() -> None:
    class Silent(Reader):
        def train(self, mode: bool = True) -> None:  # type: ignore[override]
            super().train(mode)

    assert nn.diagnose(Silent(Table(64, 16))).status == HEALTHY


@pytest.mark.slow
@pytest.mark.no_cover  # coverage would trace the compiler too
def test_compiled_model_is_diagnosed_like_the_original() -> None:
    model = torch.compile(Reader(sines(16)), backend="eager")
    assert isinstance(model, torch.nn.Module)
    assert [d.status for d in nn.diagnose(model).diagnoses] == [*[HEALTHY] * 4, ABSENT, ABSENT]


@pytest.mark.slow
@pytest.mark.no_cover  # coverage would trace the compiler too
def test_compiled_part_runs_uncompiled() -> None:
    compiled = []

    def backend(graph: torch.fx.GraphModule, inputs: list[Tensor]) -> Callable[..., Any]:
        compiled.append(graph)
        return graph

    inner = torch.compile(Reader(sines(16)), backend=backend)
    assert isinstance(inner, torch.nn.Module)
    model = torch.nn.Sequential(inner)
    report = nn.diagnose(model, torch.arange(9)[None])
    assert [d.status for d in report.diagnoses] == [*[HEALTHY] * 4, ABSENT, ABSENT]
    assert not compiled
    model(torch.arange(9)[None])
    assert compiled  # afterwards as before


def test_compiler_is_restored_after_the_last_of_two_diagnoses() -> None:
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
