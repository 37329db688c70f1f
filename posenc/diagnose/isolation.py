"""What keeps a diagnosis from leaving a trace: the model is copied, and whatever it changes
outside of itself is put back: generators of random numbers, settings of PyTorch, and the stance of
the compiler.
"""

from __future__ import annotations

import copy
import random
import sys
from collections import OrderedDict
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager, nullcontext
from functools import cache
from threading import Lock, local
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn.parameter import is_lazy
from torch.utils._python_dispatch import TorchDispatchMode

from posenc.diagnose.answers import CannotTellError, short
from posenc.diagnose.operations import Watcher


def evaluation_copy(model: nn.Module, *, cpu: bool) -> nn.Module:
    """Return a copy of a model in evaluation mode, on the CPU if asked for.

    Raises:
        CannotTellError: it cannot be copied, or its weights have no values.
    """
    for name, part in model.named_modules():
        if isinstance(part, torch.jit.ScriptModule):
            which = f"its part {name} is" if name else "it is"
            raise CannotTellError(
                f"{which} a ScriptModule, whose operations cannot be watched: diagnose the model"
                " that was scripted or traced"
            )
    if any(is_lazy(x) for x in tensors_of(model)):
        raise CannotTellError("some of its weights have no shape before its first run; run it once")
    if any(x.is_meta for x in tensors_of(model)):
        raise CannotTellError("its weights are on the meta device, where tensors have no values")
    try:
        twin = copy.deepcopy(uncompiled_of(model), _empty_containers(model))
    except Exception as error:
        raise CannotTellError(
            f"it cannot be copied ({short(error)}), and a diagnosis runs only a copy of a model"
        ) from error
    if cpu:
        twin.cpu()
    twin.eval()  # not chained: somebody's own `eval` may return nothing
    return twin


def tensors_of(model: nn.Module) -> Iterator[Tensor]:
    """Yield the parameters and buffers of a model."""
    yield from model.parameters()
    yield from model.buffers()


def uncompiled_of(model: nn.Module) -> nn.Module:
    """Return the model that torch.compile has wrapped, or the model itself."""
    inner: nn.Module = getattr(model, "_orig_mod", model)
    return inner


def _empty_containers(model: nn.Module) -> dict[int, Any]:
    """Return copies of all empty containers in a model, in the form of `copy.deepcopy`'s memo.

    Each module has a dozen of them, for hooks, and `deepcopy` spends more time on these than on
    all weights.
    """
    held = (x for part in model.modules() for x in vars(part).values())
    return {id(x): type(x)() for x in held if type(x) in (OrderedDict, set) and not x}


@contextmanager
def undisturbed() -> Iterator[None]:
    """Compute without gradients, and restore settings and generators of random numbers at the end.

    All threads share the generators of PyTorch, NumPy and Python. If no other thread runs, all
    three are restored. If some do, restoring a generator also takes back what they have drawn
    from it. Then PyTorch's are restored only if an operation of the model drew from one, and
    those of NumPy and Python are left alone, since nothing tells which thread drew from them.
    """
    alone = len(sys._current_frames()) == 1
    python, numpy, cpu = random.getstate(), np.random.get_state(), torch.get_rng_state()
    cuda = torch.cuda.get_rng_state_all() if torch.cuda.is_initialized() else []  # type: ignore[no-untyped-call]
    draws, outer = RandomDraws(), _thread.draws
    _thread.draws = nullcontext() if alone else draws
    try:
        with restored_settings(), torch.no_grad():
            yield
    finally:
        _thread.draws = outer
        if alone:
            random.setstate(python)
            np.random.set_state(numpy)
        if alone or draws.found:
            torch.set_rng_state(cpu)
            torch.cuda.set_rng_state_all(cuda)


@contextmanager
def uncompiled_run() -> Iterator[None]:
    """Run a model, or a part of one, uncompiled, and notice if it draws random numbers.

    Raises:
        CannotTellError: it has changed a setting of PyTorch, which is put back.
    """
    with uncompiled, _thread.draws, restored_settings():
        yield


# Settings of PyTorch that hold for all models, and how to read and to set each. `settled` puts back
# inference mode, too, which only a context can.
SETTINGS: dict[str, tuple[Callable[[], Any], Callable[[Any], Any]]] = {
    "default dtype": (torch.get_default_dtype, torch.set_default_dtype),
    "default device": (
        torch.get_default_device,
        # A default that is set slows down every call, so the CPU's is better none.
        lambda device: torch.set_default_device(device if device.type != "cpu" else None),
    ),
    "gradients": (torch.is_grad_enabled, torch.set_grad_enabled),
    "autocast": (
        lambda: torch.is_autocast_enabled("cpu"),
        lambda on: torch.set_autocast_enabled("cpu", on),
    ),
    "autocast on CUDA": (
        lambda: torch.is_autocast_enabled("cuda"),
        lambda on: torch.set_autocast_enabled("cuda", on),
    ),
    "number of threads": (torch.get_num_threads, torch.set_num_threads),
    "deterministic algorithms": (
        torch.get_deterministic_debug_mode,
        torch.set_deterministic_debug_mode,
    ),
    "precision of float32": (
        torch.get_float32_matmul_precision,
        torch.set_float32_matmul_precision,
    ),
    "detection of anomalies": (torch.is_anomaly_enabled, torch.autograd.set_detect_anomaly),
    "inference mode": (torch.is_inference_mode_enabled, lambda on: None),
}


@contextmanager
def restored_settings() -> Iterator[None]:
    """Put back the settings of PyTorch, and refuse a model that has changed one.

    Raises:
        CannotTellError: a setting was changed.
    """
    before = {name: read() for name, (read, _) in SETTINGS.items()}
    changed: dict[str, Any] = {}
    with torch.inference_mode(before["inference mode"]):
        torch.set_grad_enabled(before["gradients"])
        try:
            yield
        finally:
            for name, (read, put) in SETTINGS.items():
                if (now := read()) != before[name]:
                    changed[name] = now
                    put(before[name])
    if changed:
        told = [f"{name} {before[name]} → {now}" for name, now in changed.items()]
        raise CannotTellError(
            f"its forward changes PyTorch's settings: {', '.join(told)}".replace("torch.", "")
        )


class RandomDraws(Watcher, TorchDispatchMode):  # type: ignore[no-untyped-call]
    """Notes whether an operation of this thread draws from a generator that all threads share."""

    def __init__(self) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self.found = False

    def see(self, func: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Note whether the operation draws, and run it."""
        if _may_draw(func):
            names = {x.name: x.default_value for x in func._schema.arguments}
            self.found |= _draws(names | dict(zip(names, args, strict=False)) | kwargs)
        return func(*args, **kwargs)


@cache
def _may_draw(func: Any) -> bool:
    """Say whether PyTorch marks an operation as one that draws random numbers."""
    return torch.Tag.nondeterministic_seeded in func.tags


def _draws(given: dict[str, Any]) -> bool:
    """Say whether an operation, with these arguments, draws from a shared generator."""
    if any(given.get(name) == 0 for name in ("dropout", "dropout_p", "train", "training")):
        return False
    generator: Any = given.get("generator")
    shared: tuple[Any, ...] = (torch.default_generator, *torch.cuda.default_generators)
    # An operation gets a new Python object each time, so the generators underneath are compared.
    return generator is None or generator._cdata in [one._cdata for one in shared]


class _Thread(local):
    """What notes the draws of the models that this thread runs."""

    draws: AbstractContextManager[Any] = nullcontext()


_thread = _Thread()


class _Uncompiled:
    """Context in which nothing is compiled: neither parts of a model nor those that watch it.

    PyTorch has one stance for all threads, so the first thread to enter sets it, and the last one
    to leave restores it.
    """

    def __init__(self) -> None:
        self._lock, self._inside, self._stance = Lock(), 0, ExitStack()

    def __enter__(self) -> None:
        with self._lock:
            self._inside += 1
            # Until the compiler has been imported nothing is compiled, and to set a stance would
            # import it.
            if self._inside == 1 and "torch._dynamo" in sys.modules:
                self._stance.enter_context(torch.compiler.set_stance("force_eager"))

    def __exit__(self, *error: object) -> None:
        with self._lock:
            self._inside -= 1
            if not self._inside:
                self._stance.close()


uncompiled = _Uncompiled()
