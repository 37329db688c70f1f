"""What a diagnosis leaves as it was."""

from __future__ import annotations

import copy
import random
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, ExitStack
from importlib import import_module
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor

from posenc import nn
from posenc.diagnose.answers import ABSENT, HEALTHY, UNDETERMINED
from posenc.diagnose.isolation import SETTINGS, uncompiled
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


class Sum(torch.nn.Module):
    """Sees in each token the sum of those up to it."""

    def __init__(self) -> None:
        super().__init__()
        self.table = torch.nn.Embedding(9, 4)

    def forward(self, ids: Tensor) -> Tensor:
        summed: Tensor = self.table(ids).cumsum(dim=1)
        return summed


KEPT: list[object] = []  # contexts that models have entered, which are in force while they live


class Setting(Sum):
    """Changes a setting of PyTorch whenever it runs."""

    def __init__(self, change: Callable[[], object], **how: bool) -> None:
        super().__init__()
        self.change, self.how = change, how

    def forward(self, ids: Tensor) -> Tensor:
        KEPT.append(self.change())
        if self.how.get("fails"):
            raise ValueError("no luck")
        return super().forward(ids)


def entered(context: AbstractContextManager[Any]) -> object:
    """Return a context that has been entered."""
    context.__enter__()
    return context


CHANGES: dict[str, Callable[[], object]] = {
    "default dtype float32 → float64": lambda: torch.set_default_dtype(torch.float64),
    "default device cpu → meta": lambda: torch.set_default_device("meta"),
    "gradients False → True": lambda: torch.set_grad_enabled(True),
    "inference mode False → True": lambda: entered(torch.inference_mode()),
    "autocast False → True": lambda: entered(torch.autocast("cpu", torch.bfloat16)),
    "number of threads": lambda: torch.set_num_threads(torch.get_num_threads() + 1),
    "deterministic algorithms 0 → 2": lambda: torch.use_deterministic_algorithms(True),
    "precision of float32": lambda: torch.set_float32_matmul_precision("medium"),
    "detection of anomalies": lambda: torch.autograd.set_detect_anomaly(True),
}


@pytest.mark.filterwarnings("ignore")  # some settings warn of what they cost
@pytest.mark.parametrize("fails", [False, True])
@pytest.mark.parametrize("told", CHANGES)
def test_a_model_that_changes_settings_is_named_and_they_are_put_back(
    told: str, fails: bool
) -> None:
    before = {name: read() for name, (read, _) in SETTINGS.items()}
    report = nn.diagnose(Setting(CHANGES[told], fails=fails))
    assert {name: read() for name, (read, _) in SETTINGS.items()} == before
    (why,) = only(report)
    assert ("no luck" if fails else f"its forward changes PyTorch's settings: {told}") in why


def test_a_model_that_puts_its_settings_back_is_diagnosed() -> None:
    def change() -> None:
        torch.set_default_dtype(torch.float64)
        torch.set_default_dtype(torch.float32)

    found, plain = nn.diagnose(Setting(change)), nn.diagnose(Sum())
    assert [one.verdict for one in found.diagnoses] == [one.verdict for one in plain.diagnoses]


def scripted() -> torch.nn.Module:
    part = torch.jit.script(torch.nn.Linear(4, 4))
    return torch.nn.Sequential(torch.nn.Embedding(9, 4), part)


def traced() -> torch.nn.Module:
    trace: Any = torch.jit.trace  # has no types
    model: torch.nn.Module = trace(Sum(), torch.zeros(1, 13).long())
    return model


@pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::FutureWarning")
@pytest.mark.parametrize(("make", "told"), [(scripted, "its part 1 is"), (traced, "it is")])
def test_script_module_is_undetermined(make: Callable[[], torch.nn.Module], told: str) -> None:
    (why,) = only(nn.diagnose(make()))
    assert f"because {told} a ScriptModule, whose operations cannot be watched" in why


def test_model_that_exits_is_undetermined() -> None:
    (why,) = only(nn.diagnose(Setting(lambda: sys.exit("done"))))
    assert "its forward fails on token ids (batch, length): SystemExit: done" in why


def test_model_in_data_parallel_is_diagnosed_like_the_original(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    # On a machine with a GPU the model would have to be there.
    module = import_module("torch.nn.parallel.data_parallel")
    monkeypatch.setattr(module, "_get_available_device_type", lambda: None)
    wrapped, plain = nn.diagnose(torch.nn.DataParallel(Sum())), nn.diagnose(Sum())
    assert [one.verdict for one in wrapped.diagnoses] == [one.verdict for one in plain.diagnoses]
