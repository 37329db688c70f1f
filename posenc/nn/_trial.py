"""How a diagnosis runs somebody's model: on a copy, at rest, on tokens drawn for it.

Nothing here knows a scheme by name, or a model by its class.
"""

from __future__ import annotations

import copy
import random
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves
from torch.utils.hooks import RemovableHandle

# Lengths tried where the caller gives none: odd, and seldom the width of anything, so that an axis
# of this size counts positions.
LENGTHS = (13, 11, 7, 5, 3)
NUDGES = 2  # how often the last digit of every weight is changed to see what rounding does


class CannotTellError(Exception):
    """A diagnosis cannot be made; the message is a sentence that says why."""


class ForwardError(CannotTellError):
    """The model's own forward failed; the cause is its error."""


@contextmanager
def undisturbed() -> Iterator[None]:
    """Compute without gradients, and leave every generator of random numbers as it was."""
    python, numpy = random.getstate(), np.random.get_state()
    devices = range(torch.cuda.device_count()) if torch.cuda.is_initialized() else ()  # type: ignore[no-untyped-call]
    with torch.random.fork_rng(list(devices)), torch.no_grad():
        try:
            yield
        finally:
            random.setstate(python)
            np.random.set_state(numpy)


class Trial:
    """A copy of a model that can be run on tokens drawn for it; the model itself is not touched.

    Args:
        model: any module that maps token ids (batch, length), or an example, to a tensor.
        example: what the model is to be called with; see `posenc.nn.diagnose`.
        exact: whether the copy computes in float64, where the model lets it.
        cpu: whether the copy runs on the CPU, where an index out of range is an error that can be
            caught; a graphics card stops for good.
    """

    def __init__(
        self,
        model: nn.Module,
        example: Tensor | Mapping[str, Any] | None,
        *,
        exact: bool = True,
        cpu: bool = False,
    ) -> None:
        self.key, self.example, self.others = _parted(example)
        self._draw = torch.Generator().manual_seed(0)
        self.dtypes: set[torch.dtype] = set()
        self.length = 0
        self.model = _copied(model, cpu=cpu)
        tensors = [*_tensors(self.model)]
        self.device = tensors[0].device if tensors else torch.device("cpu")
        self.sizes = {size for x in tensors for size in x.shape}
        self.pool = self._pool()
        failed = self._open()  # in its own type
        if exact and self.length:
            self._widen()
        if not self.length:
            raise CannotTellError(
                f"its forward fails on {self._input()}: {short(failed)}; an example of its input,"
                " given along, may help"
            )

    def tokens(self, batch: int, length: int) -> Tensor:
        """Return tokens drawn at random, (batch, length), or (batch, length, width) if real."""
        if self.pool is None:
            assert self.example is not None
            shape = (batch, length, *self.example.shape[2:])
            drawn = torch.randn(shape, generator=self._draw, dtype=torch.float64)
            mean, deviation = self.example.double().mean(), self.example.double().std()
            return drawn * deviation.cpu().clamp(min=1e-3) + mean.cpu()
        scores = torch.rand(batch, max(length, len(self.pool)), generator=self._draw)
        return self.pool[scores.argsort(dim=1)[:, :length] % len(self.pool)]

    def run(self, tokens: Tensor) -> Tensor:
        """Return the model's first floating output for these tokens, (batch, …), on the CPU."""
        result = first_floats(self.call(tokens))
        if result is None or not result.ndim:
            raise CannotTellError("its output holds no tensor of floating numbers")
        if result.is_meta:
            raise CannotTellError("it computes on the meta device, where tensors have no values")
        if not result.isfinite().all():
            raise CannotTellError("its outputs are not all finite numbers")
        return result.cpu().double()  # not every device has float64

    def call(self, tokens: Tensor) -> Any:
        """Return whatever the model makes of these tokens."""
        given = tokens.to(self.device)
        if given.is_floating_point():
            weights = (x.dtype for x in _tensors(self.model) if x.is_floating_point())
            given = given.to(next(weights, torch.float32))
        others = {name: _batched(value, given) for name, value in self.others.items()}
        args, key = ((given,), {}) if self.key is None else ((), {self.key: given})
        try:
            return self.model(*args, **key, **others)
        except Exception as error:
            raise ForwardError(f"its forward fails: {short(error)}") from error

    def noise(self, tokens: Tensor, output: Tensor) -> float:
        """Return how much of the output is rounding, measured.

        The batch is run again, and the other way round; then the last digit of every weight is
        changed, up or down at random: no digit of the output that moves with it means anything.
        That digit is one of the narrowest floating type which leaves any part of the model,
        float32 or narrower.
        """
        again = float((self.run(tokens) - output).abs().max())
        turned = float((self.run(tokens.flip(0)).flip(0) - output).abs().max())
        moved = [float((self._nudged(tokens) - output).abs().max()) for _ in range(NUDGES)]
        digit = self.digit() * float(output.abs().max())
        if again > 10 * digit:
            raise CannotTellError(
                "the same tokens give another output when run again: it is random even in"
                " evaluation mode, or keeps something from call to call"
            )
        if turned > 10 * max(*moved, digit):
            raise CannotTellError(
                "a text gives another output when others of its batch change places: it does not"
                " read (batch, length)"
            )
        return max(again, turned, *moved, digit)

    def other(self, tokens: Tensor) -> Tensor:
        """Return another token in place of each."""
        if self.pool is None:
            return self.tokens(*tokens.shape[:2])
        place = torch.searchsorted(self.pool, tokens.contiguous())
        return self.pool[(place + 1) % len(self.pool)]

    def digit(self) -> float:
        """Return the last digit, relative, of the narrowest type in the model."""
        return max(torch.finfo(dtype).eps for dtype in self.dtypes | {torch.float32})

    def _nudged(self, tokens: Tensor) -> Tensor:
        weights = [p for p in self.model.parameters() if p.is_floating_point()]
        kept, digit = [p.clone() for p in weights], self.digit()
        for p in weights:
            up = torch.randint(0, 2, p.shape, generator=self._draw).to(p.device)
            p.mul_(1 + digit * (2 * up - 1))
        result = self.run(tokens)
        for p, was in zip(weights, kept, strict=True):
            p.copy_(was)
        return result

    def _widen(self) -> None:
        """Compute in float64 from now on, if the device and the model let it."""
        own, dtypes = self.model, self.dtypes
        try:
            self.model = copy.deepcopy(own).double()
            failed = self._open(self.length)
        except (RuntimeError, TypeError) as error:  # not every device has float64
            failed = error
        if failed:
            self.model, self.dtypes = own, dtypes

    def _open(self, *lengths: int) -> BaseException | None:
        """Set the first of these lengths that the model reads, or return why it reads none."""
        failed: BaseException | None = None
        for length in lengths or self._lengths():
            try:
                self.dtypes = _dtypes(self, self.tokens(2, length))
            except ForwardError as error:
                failed = failed or error.__cause__
                continue
            self.length = length
            return None
        return failed

    def _lengths(self) -> list[int]:
        """Return the lengths to try, those first that are nothing else's size."""
        longest = LENGTHS[0] if self.example is None else self.example.shape[1]
        tried = sorted((n for n in LENGTHS if n <= longest), key=lambda n: n in self.sizes)
        return tried if longest in tried else [*tried, longest]

    def _pool(self) -> Tensor | None:
        """Return the token ids to draw from, or None where the tokens are reals."""
        if self.example is not None:
            return None if self.example.is_floating_point() else torch.unique(self.example.cpu())
        rows, padding = self._vocabulary()
        ids = torch.arange(rows)
        if rows > 3 * LENGTHS[0]:  # what is special to a model has a low id, mostly
            ids = ids[LENGTHS[0] :]
        return ids[ids != padding] if len(ids) > 2 and padding is not None else ids

    def _vocabulary(self) -> tuple[int, int | None]:
        """Return the rows of the table that is read with the token ids, and its padding id."""
        for length in self._lengths():
            ids = (torch.arange(1, length + 1) * 5 % 7 % 2)[None]  # 1 0 1 0 0 …
            with _Reads(ids) as reads, suppressed():
                self.call(ids)
            if reads.rows:
                return reads.rows[0], reads.padding
        return 2, None

    def _input(self) -> str:
        if self.example is None:
            return "token ids (batch, length)"
        return f"an input of {self.example.dtype} like the example, {tuple(self.example.shape)}"


@contextmanager
def suppressed() -> Iterator[None]:
    """Go on after any error of a model's own."""
    try:
        yield
    except Exception:
        return


class _Reads(TorchDispatchMode):  # type: ignore[no-untyped-call]
    """Notes the rows of each table that is read with these very ids."""

    def __init__(self, ids: Tensor) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self.ids = ids
        self.rows: list[int] = []
        self.padding: int | None = None

    def __torch_dispatch__(
        self, func: Any, types: Any, args: tuple[Any, ...] = (), kwargs: Any = None
    ) -> Any:
        name = name_of(func)
        if name in ("embedding", "index", "index_select") and args[0].is_floating_point():
            for index in tree_leaves(args[1:]):
                if isinstance(index, Tensor) and not index.is_meta and self._same(index):
                    self.rows.append(args[0].shape[0])
                    if name == "embedding" and len(args) > 2 and args[2] >= 0:
                        self.padding = args[2]
        return func(*args, **(kwargs or {}))

    def _same(self, index: Tensor) -> bool:
        return index.numel() == self.ids.numel() and torch.equal(
            index.flatten().cpu().long(), self.ids.flatten()
        )


def first_floats(output: Any) -> Tensor | None:
    """Return the first floating tensor in what a model returned."""
    if isinstance(output, Mapping):
        output = list(output.values())
    leaves = (x for x in tree_leaves(output) if isinstance(x, Tensor))
    return next((x for x in leaves if x.is_floating_point()), None)


def _parted(
    example: Tensor | Mapping[str, Any] | None,
) -> tuple[str | None, Tensor | None, dict[str, Any]]:
    """Return the keyword of the tokens, the tokens, and all else that the model is called with."""
    if not isinstance(example, Mapping):
        return None, example, {}
    key = next(iter(example))
    return key, example[key], {name: value for name, value in example.items() if name != key}


def _copied(model: nn.Module, *, cpu: bool) -> nn.Module:
    """Return a copy at rest, that is, in evaluation mode."""
    if any(x.is_meta for x in _tensors(model)):
        raise CannotTellError("its weights are on the meta device, where tensors have no values")
    try:
        twin = copy.deepcopy(getattr(model, "_orig_mod", model))  # what torch.compile has wrapped
    except Exception as error:
        raise CannotTellError(
            f"it cannot be copied ({short(error)}), and a diagnosis runs no model but a copy"
        ) from error
    return twin.cpu().eval() if cpu else twin.eval()


def _tensors(model: nn.Module) -> Iterator[Tensor]:
    yield from model.parameters()
    yield from model.buffers()


def _batched(value: Any, tokens: Tensor) -> Any:
    """Return the first row of a further argument, for each text of the batch."""
    if not isinstance(value, Tensor) or not value.ndim:
        return value
    return value[:1].expand(len(tokens), *value.shape[1:]).to(tokens.device)


def _dtypes(trial: Trial, tokens: Tensor) -> set[torch.dtype]:
    """Return the type of every floating tensor that leaves a part of the model."""
    seen: set[torch.dtype] = set()

    def keep(part: nn.Module, given: Any, output: Any) -> None:
        tensors = (x for x in tree_leaves(output) if isinstance(x, Tensor))
        seen.update(x.dtype for x in tensors if x.is_floating_point())

    with hooked(part.register_forward_hook(keep) for part in trial.model.modules()):
        trial.call(tokens)
    return seen


def name_of(func: Any) -> str:
    """Return the name of an operation: add for aten.add_.Tensor."""
    return str(func.overloadpacket.__name__).rstrip("_")


def short(error: BaseException | None) -> str:
    """Return an error in one line."""
    said = " ".join(f"{type(error).__name__}: {error}".split())
    return said if len(said) <= 160 else f"{said[:157]}..."


@contextmanager
def hooked(handles: Iterable[RemovableHandle]) -> Iterator[None]:
    """Take hooks off again."""
    kept = [*handles]
    try:
        yield
    finally:
        for handle in kept:
            handle.remove()
