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
from tests.diagnose.models import (
    VOCAB,
    Composed,
    Maker,
    Model,
    Reader,
    Table,
    from_ids,
    from_tokens,
    reason_undetermined,
    sines,
)


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


def random_states() -> tuple[str, str, list[int]]:
    """Return the states of Python's generator, NumPy's and PyTorch's."""
    states = str(random.getstate()), str(np.random.get_state())
    return *states, torch.get_rng_state().tolist()


def draw() -> tuple[float, float, float]:
    return random.random(), float(np.random.rand()), float(torch.rand(()))


def seed_all() -> None:
    random.seed(0), np.random.seed(0), torch.manual_seed(0)


def test_diagnosis_leaves_everything_as_it_was(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "_current_frames", lambda: {1: None})  # as if in a single thread
    model = Remembering()
    before = copy.deepcopy(model.state_dict())
    modes = [part.training for part in model.modules()]
    states = random_states()
    report = nn.diagnose(model, length=50)
    assert [one.ill for one in report.diagnoses] == [False, False, False, True, False, False]
    assert random_states() == states
    assert [part.training for part in model.modules()] == modes
    assert model.cache == {}
    assert all(p.grad is None and p.requires_grad for p in model.parameters())
    assert not any(part._forward_hooks or part._forward_pre_hooks for part in model.modules())
    for name, value in model.state_dict().items():
        assert torch.equal(value, before[name]), name


class DrawsNothing(torch.nn.Module):
    """Calls attention, and layers that draw in training mode; its generator is its own."""

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


@pytest.mark.parametrize(
    "create", [DrawsNothing, lambda: nn.GPTModel(VOCAB, 40, 16, 2, 2, dropout=0.5)]
)
def test_random_numbers_of_another_thread_are_not_drawn_twice(create: Maker) -> None:
    """Each time the diagnosed model is run, a thread that is no part of it draws."""
    with ThreadPoolExecutor(1) as other:
        other.submit(int).result()
        model, drawn = create(), []
        model.register_forward_pre_hook(lambda *_: drawn.append(other.submit(draw).result()))
        seed_all()
        nn.diagnose(model)
        drawn += [other.submit(draw).result() for _ in range(20)]
    seed_all()
    assert len(drawn) > 50
    assert drawn == [draw() for _ in drawn]


@pytest.mark.parametrize("generator", [None, torch.default_generator])
def test_generators_are_restored_while_other_threads_run(
    generator: torch.Generator | None,
) -> None:
    model = Composed(DrawsNothing(), lambda x: x + 0 * torch.rand((), generator=generator))
    with ThreadPoolExecutor(1) as other:
        other.submit(int).result()
        before = torch.get_rng_state()
        nn.diagnose(model)
    assert torch.equal(torch.get_rng_state(), before)


def test_embedding_with_max_norm_is_not_renormalised() -> None:
    table = torch.nn.Embedding(VOCAB, 8, max_norm=0.1)
    before = table.weight.detach().clone()
    assert nn.sees_order(table).status == UNDETERMINED  # nothing is mixed
    assert torch.equal(table.weight, before)


HEALTHY_WITHOUT_SCORES = [*[HEALTHY] * 4, ABSENT, ABSENT]


def test_every_forward_runs_to_its_end() -> None:
    """No run is aborted, not even when the answer is already known."""

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
    assert [d.status for d in report.diagnoses] == HEALTHY_WITHOUT_SCORES, str(report)
    assert not model.busy


def uncopyable() -> Model:
    model = nn.GPTModel(VOCAB, 40, 16, heads=2, layers=1)
    model.lock = (line for line in "a generator")  # type: ignore[assignment]
    return model


def on_meta() -> Model:
    with torch.device("meta"):
        return nn.GPTModel(VOCAB, 40, 16, heads=2, layers=1)


def scripted_part() -> Model:
    part = torch.jit.script(torch.nn.Linear(4, 4))
    return torch.nn.Sequential(torch.nn.Embedding(9, 4), part)


def traced() -> Model:
    trace: Any = torch.jit.trace  # has no types
    model: Model = trace(running_sum(), torch.zeros(1, 13).long())
    return model


SCRIPT = "a ScriptModule, whose operations cannot be watched"


@pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::FutureWarning")
@pytest.mark.parametrize(
    ("create", "why"),
    [
        (on_meta, "meta device"),
        (uncopyable, "cannot be copied"),
        (scripted_part, f"because its part 1 is {SCRIPT}"),
        (traced, f"because it is {SCRIPT}"),
        (
            lambda: from_ids(lambda ids: sys.exit("done")),
            "its forward fails on token ids (batch, length): SystemExit: done",
        ),
        (
            lambda: torch.nn.Sequential(torch.nn.Embedding(9, 4), torch.nn.LazyLinear(4)),
            "run it once",
        ),
    ],
)
def test_a_model_that_cannot_be_copied_watched_or_run_is_undetermined(
    create: Maker, why: str
) -> None:
    report = nn.diagnose(create())
    assert why in reason_undetermined(report)
    assert why != "run it once" or report.subject.startswith("Sequential: 36 weights")


def test_model_whose_train_returns_nothing_is_diagnosed() -> None:
    class ReturnsNothing(Reader):
        def train(self, mode: bool = True) -> None:  # type: ignore[override]
            super().train(mode)

    assert nn.diagnose(ReturnsNothing(Table(64, 16))).status == HEALTHY


class CountingBackend:
    """A compiler that compiles nothing, and keeps its graphs."""

    def __init__(self) -> None:
        self.graphs: list[torch.fx.GraphModule] = []

    def __call__(self, graph: torch.fx.GraphModule, inputs: list[Tensor]) -> Callable[..., Any]:
        self.graphs.append(graph)
        return graph


@pytest.mark.slow
@pytest.mark.no_cover  # coverage would trace the compiler too
@pytest.mark.parametrize("whole", [True, False], ids=["the model", "a part"])
def test_a_compiled_model_runs_uncompiled(whole: bool) -> None:
    backend = CountingBackend()
    compiled: Any = torch.compile(Reader(sines(16)), backend=backend)
    model = compiled if whole else torch.nn.Sequential(compiled)
    report = nn.diagnose(model, torch.arange(9)[None])
    assert [d.status for d in report.diagnoses] == HEALTHY_WITHOUT_SCORES
    assert not backend.graphs
    model(torch.arange(9)[None])
    assert backend.graphs  # afterwards as before


def test_compiler_is_restored_after_the_last_of_two_diagnoses() -> None:
    """The first of two threads may end first."""
    backend = CountingBackend()
    twice = torch.compile(lambda x: 2 * x, backend=backend)
    twice(torch.ones(1))
    with ExitStack() as first, ExitStack() as second:
        first.enter_context(uncompiled)
        second.enter_context(uncompiled)
        first.close()
        twice(torch.ones(2, 2))
        assert len(backend.graphs) == 1
    twice(torch.ones(3, 3, 3))
    assert len(backend.graphs) == 2


def running_sum() -> Model:
    """Return a model that returns for each token the sum of the rows up to it."""
    return from_tokens(lambda x: x.cumsum(dim=1), 4)


ENTERED: list[object] = []  # contexts that stay in force while they live


def changing(change: Callable[[], object], *, fails: bool = False) -> Model:
    """Return a model that changes a setting of PyTorch whenever it runs."""

    def forward(x: Tensor) -> Tensor:
        ENTERED.append(change())
        if fails:
            raise ValueError("no luck")
        return x.cumsum(dim=1)

    return from_tokens(forward, 4)


def entered(context: AbstractContextManager[Any]) -> object:
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
@pytest.mark.parametrize("setting", CHANGES)
def test_changed_settings_are_reported_and_restored(setting: str, fails: bool) -> None:
    before = {name: read() for name, (read, _) in SETTINGS.items()}
    why = reason_undetermined(nn.diagnose(changing(CHANGES[setting], fails=fails)))
    assert {name: read() for name, (read, _) in SETTINGS.items()} == before
    assert ("no luck" if fails else f"its forward changes PyTorch's settings: {setting}") in why


def verdicts(model: Model) -> list[str]:
    return [diagnosis.verdict for diagnosis in nn.diagnose(model).diagnoses]


def test_a_model_that_puts_its_settings_back_is_diagnosed() -> None:
    def change() -> None:
        torch.set_default_dtype(torch.float64)
        torch.set_default_dtype(torch.float32)

    assert verdicts(changing(change)) == verdicts(running_sum())


def test_model_in_data_parallel_is_diagnosed_like_the_original(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    # On a machine with a GPU the model would have to be there.
    module = import_module("torch.nn.parallel.data_parallel")
    monkeypatch.setattr(module, "_get_available_device_type", lambda: None)
    assert verdicts(torch.nn.DataParallel(running_sum())) == verdicts(running_sum())
