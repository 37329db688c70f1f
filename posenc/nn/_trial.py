"""How a diagnosis runs somebody's model: on a copy, at rest, on tokens drawn for it.

Nothing here knows a scheme by name, or a model by its class.
"""

from __future__ import annotations

import copy
import random
import sys
from collections import OrderedDict
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import AbstractContextManager, ExitStack, contextmanager, nullcontext
from functools import cache
from threading import Lock, local
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn.parameter import is_lazy
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves
from torch.utils.hooks import RemovableHandle

# Lengths tried where the caller gives none: odd, and seldom the width of anything, so that an axis
# of this size counts positions. Two tokens or one show little, and are tried last.
LENGTHS = (13, 11, 7, 5, 3)
SHORTEST = (2, 1)
NUDGES = 2  # how often the last digit of every weight is changed to see what rounding does
SURE = 10  # a change counts as real from so many times what rounding does: see `Trial.noise`
IDS, COLUMNS = 1024, 512  # of a large vocabulary: ids to draw from, and logits that are compared
LOOKUPS = ("embedding", "index", "index_select", "gather")


class CannotTellError(Exception):
    """A diagnosis cannot be made; the message is a sentence that says why."""


class ForwardError(CannotTellError):
    """The model's own forward failed; the cause is its error."""


@contextmanager
def undisturbed() -> Iterator[None]:
    """Compute without gradients, and put the generators of random numbers back that a model moved.

    All threads share those of PyTorch, NumPy and Python. Where no other thread runs, all are put
    back. Where some do, to put one back takes back what they have drawn from it as well. So there
    PyTorch's are put back only if an operation of the model drew from one; and those of NumPy and
    Python are left, as nothing tells which thread drew.
    """
    alone = len(sys._current_frames()) == 1
    python, numpy, cpu = random.getstate(), np.random.get_state(), torch.get_rng_state()
    cuda = torch.cuda.get_rng_state_all() if torch.cuda.is_initialized() else []  # type: ignore[no-untyped-call]
    draws, outer = Draws(), watched.by
    watched.by = nullcontext() if alone else draws
    try:
        with torch.no_grad():
            yield
    finally:
        watched.by = outer
        if alone:
            random.setstate(python)
            np.random.set_state(numpy)
        if alone or draws.found:
            torch.set_rng_state(cpu)
            torch.cuda.set_rng_state_all(cuda)


class _Watched(local):
    """What watches the models that this thread runs."""

    by: AbstractContextManager[Any] = nullcontext()


watched = _Watched()


class Trial:
    """A copy of a model that can be run on tokens drawn for it; the model itself is not touched.

    Args:
        model: any module that maps token ids (batch, length), or an example, to a tensor.
        example: what the model is to be called with; see `posenc.nn.diagnose`.
        exact: whether the copy computes in float64, where the model lets it.
        cpu: whether the copy runs on the CPU, where an index out of range is an error that can be
            caught; a graphics card stops for good.
        axis: which axis of what the model reads counts tokens; None for 1, if that may be it.
    """

    def __init__(
        self,
        model: nn.Module,
        example: Tensor | Mapping[str, Any] | None,
        *,
        exact: bool = True,
        cpu: bool = False,
        axis: int | None = None,
    ) -> None:
        self.key, self.example, self.others = _parted(example)
        _check_axes(self.example)
        self.axis = axis or 1
        if self.example is not None:  # here (batch, length, …), whatever the model reads
            self.example = self.example.movedim(self.axis, 1)
        self._draw = torch.Generator().manual_seed(0)
        self.dtypes: set[torch.dtype] = set()
        self.length = 0
        self._opened: tuple[Tensor, Any]  # two texts of this length, and what it makes of them
        self.words = 0  # where the table lies that is read with the token ids
        self._own, self._cpu = model, cpu
        self.model = _copied(model, cpu=cpu)
        tensors = [*_tensors(self.model)]
        self.device = tensors[0].device if tensors else torch.device("cpu")
        self.sizes = {size for x in tensors for size in x.shape}
        self.pool = self._pool()
        failed = self._open()  # in its own type
        if not self.length:
            raise CannotTellError(self._refused(failed))
        if axis is None:
            self._check_length()
        if exact:
            self.widen()
        self._compare_with_itself()

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
        """Return the model's first floating output for these tokens, (batch, …), on the CPU.

        Of a last axis as long as a large vocabulary some hundred columns stand for all.
        """
        return self.read(tokens, self.call(tokens))

    def read(self, tokens: Tensor, output: Any) -> Tensor:
        """Return the same of what the model has made of these tokens."""
        result = self._rows(tokens, output)
        if result.shape[-1] > COLUMNS and result.shape[-1] != tokens.shape[1]:
            result = result[..., _spread(result.shape[-1], COLUMNS).to(result.device)]
        if not result.isfinite().all():
            raise CannotTellError("its outputs are not all finite numbers")
        return result.cpu().double()  # not every device has float64

    def shape(self, length: int) -> tuple[int, ...]:
        """Return the shape of its output for two texts of this length, without the batch's axis."""
        tokens = self.tokens(2, length)
        opened = length == self.length  # and has been run on such already
        result = self._rows(*(self._opened if opened else (tokens, self.call(tokens))))
        return tuple(result.shape[1:])

    @staticmethod
    def _rows(tokens: Tensor, output: Any) -> Tensor:
        """Return the first floating tensor of what the model makes of these texts, a row each."""
        result = first_floats(output)
        if result is None:
            raise CannotTellError("its output holds no tensor of floating numbers for each text")
        if result.is_meta:
            raise CannotTellError("it computes on the meta device, where tensors have no values")
        if len(result) == tokens.shape[0] * tokens.shape[1]:  # tokens of all texts in one row
            result = result.reshape(*tokens.shape[:2], *result.shape[1:])
        if len(result) != len(tokens):
            raise CannotTellError(
                f"its output, of shape {tuple(result.shape)}, has no row for each of"
                f" {len(tokens)} texts"
            )
        return result

    def call(self, tokens: Tensor) -> Any:
        """Return whatever the model makes of these tokens."""
        given = tokens.to(self.device).movedim(1, self.axis)
        if given.is_floating_point():
            weights = (x.dtype for x in _tensors(self.model) if x.is_floating_point())
            given = given.to(next(weights, torch.float32))
        others = {name: self._batched(value, given) for name, value in self.others.items()}
        args, key = ((given,), {}) if self.key is None else ((), {self.key: given})
        try:
            with uncompiled, watched.by:
                return self.model(*args, **key, **others)
        except Exception as error:
            raise ForwardError(f"its forward fails: {short(error)}") from error

    def noise(self, tokens: Tensor, output: Tensor) -> Tensor:
        """Return how much of each entry of the output, in any text, is rounding: (1, …), measured.

        The last digit of every weight is changed, up or down at random: no digit of the output
        that moves with it means anything. That digit is one of the narrowest floating type which
        leaves any part of the model, float32 or narrower; and an entry is never more certain than
        its own last digit.
        """
        moved = [self._nudged(tokens) - output for _ in range(NUDGES)]
        digit = self.digit()
        noise = torch.stack([*moved, digit * output]).abs().amax(dim=(0, 1))[None]
        # An entry that is 0 in every text, behind a ReLU, has digits too small to be seen here.
        spread = float((output - output[:1]).abs().max())
        noise = noise.clamp(min=max(digit**2 * spread, torch.finfo(noise.dtype).tiny))
        turned = self.run(tokens.flip(0)).flip(0) - output
        if float((turned.abs() / noise).max()) > SURE:
            raise CannotTellError(
                "a text gives another output when others of its batch change places: it does not"
                " read (batch, length)"
            )
        return noise

    def other(self, tokens: Tensor) -> Tensor:
        """Return another token in place of each."""
        if self.pool is None:
            return self.tokens(*tokens.shape[:2])
        place = torch.searchsorted(self.pool, tokens.contiguous())
        return self.pool[(place + 1) % len(self.pool)]

    def digit(self) -> float:
        """Return the last digit, relative, of the narrowest type in the model."""
        return max(torch.finfo(dtype).eps for dtype in self.dtypes | {torch.float32})

    def bound(self) -> str:
        """Return the names of further arguments that are as long as the example, or nothing."""
        if self.example is None:
            return ""
        length = self.example.shape[1]
        tensors = ((name, x) for name, x in self.others.items() if isinstance(x, Tensor))
        return ", ".join(name for name, x in tensors if length in x.shape)

    def widen(self) -> bool:
        """Compute in float64 from now on; say whether the device and the model let it."""
        dtypes = self.dtypes
        try:
            self.model.double()
            failed = self._open(self.length)
        except (RuntimeError, TypeError) as error:  # not every device has float64
            failed = error
        if failed is not None:
            self.model, self.dtypes = _copied(self._own, cpu=self._cpu), dtypes
        return failed is None

    def _nudged(self, tokens: Tensor) -> Tensor:
        """Return the output under weights whose last digit is changed, which are then put back."""
        digit = self.digit()
        for p in self._weights(self.model):
            up = torch.randint(0, 2, p.shape, generator=self._draw, dtype=torch.int8).to(p.device)
            p.addcmul_(p, up.to(p.dtype).mul_(2 * digit).sub_(digit))
        result = self.run(tokens)
        own = self._weights(_unwrapped(self._own))
        for p, was in zip(self._weights(self.model), own, strict=True):
            p.copy_(was)  # from the model itself, so that no second copy is kept
        return result

    @staticmethod
    def _weights(model: nn.Module) -> Iterator[Tensor]:
        return (p for p in model.parameters() if p.is_floating_point())

    def _compare_with_itself(self) -> None:
        """Raise if the same text gives another output when it is run again."""
        tokens, opened = self._opened
        first, second = _numbers(opened), _numbers(self.call(tokens))
        if len(first) != len(second) or any(
            _differ(x, y, SURE * self.digit()) for x, y in zip(first, second, strict=True)
        ):
            raise CannotTellError(
                "the same text gives another output when it is run again: it is random even in"
                " evaluation mode, or keeps something from call to call"
            )

    def _check_length(self) -> None:
        """Raise if of two axes of an example neither shows that it counts tokens."""
        if self.example is None or self.example.ndim < 3 or self.bound():
            return
        size = self.example.shape[1]
        if self.length != size:
            return
        for other in (size - 1, size + 1, 2 * size):
            with suppressed():
                self.call(self.tokens(2, other))
                return
        raise CannotTellError(
            f"it reads {size} along axis 1 of the example and no other size, so that axis 1 may"
            f" not be the one that counts tokens: say axis=1, or axis=2, which is"
            f" {self.example.shape[2]} long"
        )

    def _open(self, *lengths: int) -> BaseException | None:
        """Set the first of these lengths that the model reads, or return why it reads none."""
        failed: BaseException | None = None
        for length in lengths or self._lengths():
            try:
                tokens = self.tokens(2, length)
                self.dtypes, output = _dtypes(self, tokens)
            except ForwardError as error:
                failed = failed or error.__cause__
                continue
            self.length, self._opened = length, (tokens, output)
            return None
        return failed

    def _lengths(self) -> list[int]:
        """Return the lengths to try, those first that are nothing else's size."""
        longest = LENGTHS[0] if self.example is None else self.example.shape[1]
        tried = sorted((n for n in LENGTHS if n <= longest), key=lambda n: n in self.sizes)
        return list(dict.fromkeys([*tried, longest, *(n for n in SHORTEST if n < longest)]))

    def _refused(self, failed: BaseException | None) -> str:
        """Return why the model could not be run at all."""
        with suppressed():
            for text in self.tokens(2, self._lengths()[0]):
                self.call(text[None])
            return f"it reads one text at a time, and not a batch of them: {short(failed)}"
        return (
            f"its forward fails on {self._input()}: {short(failed)}; an example of its input,"
            " given along, may help"
        )

    def _pool(self) -> Tensor | None:
        """Return the token ids to draw from, or None where the tokens are reals."""
        if self.example is not None:
            return None if self.example.is_floating_point() else torch.unique(self.example.cpu())
        rows, padding = self._vocabulary()
        ids = torch.arange(rows)
        if rows > 3 * LENGTHS[0]:  # what is special to a model has a low id, mostly
            ids = ids[LENGTHS[0] :]
        ids = ids[ids != padding] if len(ids) > 2 and padding is not None else ids
        return ids[_spread(len(ids), IDS)]

    def _vocabulary(self) -> tuple[int, int | None]:
        """Return the rows of the table that is read with the token ids, and its padding id."""
        for length in self._lengths():
            ids = (torch.arange(length) % 3 == 0).long()[None]  # 1 0 0 1 0 0 1 …
            with Reads(ids) as reads, suppressed():
                self.call(ids)
            if reads.rows:
                self.words = reads.words
                return reads.rows[0], reads.padding
        return 2, None

    def _batched(self, value: Any, tokens: Tensor) -> Any:
        """Return a further argument for these tokens: of a row for each text, the first for all."""
        assert self.example is not None
        if not isinstance(value, Tensor) or not value.ndim:
            return value
        texts, length = self.example.shape[:2]
        if len(value) != texts or (value.ndim == 1 and len(value) == length):
            return value.to(tokens.device)
        return value[:1].expand(len(tokens), *value.shape[1:]).to(tokens.device)

    def _input(self) -> str:
        if self.example is None:
            return "token ids (batch, length)"
        return f"an input of {self.example.dtype} like the example, {tuple(self.example.shape)}"


def leaves(given: Iterable[Any]) -> list[Any]:
    """Return what an operation is given, its lists one by one: those of PyTorch have no more."""
    found: list[Any] = []
    for x in given:
        if isinstance(x, list | tuple):
            found += leaves(x)
        else:
            found.append(x)
    return found


@contextmanager
def suppressed() -> Iterator[None]:
    """Go on after any error of a model's own."""
    try:
        yield
    except Exception:
        return


class Watch:
    """The method by which a mode is told of every operation.

    It stands apart because PyTorch wraps one that a class of modes has itself, to keep its compiler
    out of it, and loads the compiler to that end: which takes longer than a diagnosis.
    """

    see: Callable[[Any, tuple[Any, ...], dict[str, Any]], Any]  # a method of each mode

    def __torch_dispatch__(
        self, func: Any, types: Any, args: tuple[Any, ...] = (), kwargs: Any = None
    ) -> Any:
        return self.see(func, args, kwargs or {})


class _Uncompiled:
    """Runs parts that are compiled as they were before, and what watches a run uncompiled, too.

    PyTorch has one stance for all threads: the first to enter takes it, and the last to leave gives
    it back.
    """

    def __init__(self) -> None:
        self._lock, self._inside, self._stance = Lock(), 0, ExitStack()

    def __enter__(self) -> None:
        with self._lock:
            self._inside += 1
            if self._inside == 1 and "torch._dynamo" in sys.modules:  # or else nothing is compiled
                self._stance.enter_context(torch.compiler.set_stance("force_eager"))

    def __exit__(self, *error: object) -> None:
        with self._lock:
            self._inside -= 1
            if not self._inside:
                self._stance.close()


uncompiled = _Uncompiled()


class Draws(Watch, TorchDispatchMode):  # type: ignore[no-untyped-call]
    """Notes whether an operation of this thread draws from a generator that all threads share."""

    def __init__(self) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self.found = False

    def see(self, func: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Note whether it draws; do the operation."""
        if _may_draw(func):
            names = {x.name: x.default_value for x in func._schema.arguments}
            self.found |= _draws(names | dict(zip(names, args, strict=False)) | kwargs)
        return func(*args, **kwargs)


@cache
def _may_draw(func: Any) -> bool:
    """Say whether an operation is marked as one that draws."""
    return torch.Tag.nondeterministic_seeded in func.tags


def _draws(given: dict[str, Any]) -> bool:
    """Say whether an operation that may draw does, from a generator that all threads share."""
    if any(given.get(name) == 0 for name in ("dropout", "dropout_p", "train", "training")):
        return False
    generator: Any = given.get("generator")
    shared: tuple[Any, ...] = (torch.default_generator, *torch.cuda.default_generators)
    # An operation is given another object for the same generator.
    return generator is None or generator._cdata in [one._cdata for one in shared]


class Reads(Watch, TorchDispatchMode):  # type: ignore[no-untyped-call]
    """Notes each table that is read with these very ids, and one whose reading fails."""

    def __init__(self, ids: Tensor) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self.ids = ids
        self.rows: list[int] = []
        self.words = 0
        self.padding: int | None = None
        self.failed: Tensor | None = None

    def see(self, func: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Note the table, if one is read, and read it."""
        name = name_of(func)
        if name not in LOOKUPS or not args[0].is_floating_point():
            return func(*args, **kwargs)
        for index in leaves(args[1:]):
            if isinstance(index, Tensor) and not index.is_meta and self._same(index):
                self.rows.append(args[0].shape[0])
                self.words = self.words or args[0].data_ptr()
                if name == "embedding" and len(args) > 2 and args[2] >= 0:
                    self.padding = args[2]
        try:
            return func(*args, **kwargs)
        except Exception:
            self.failed = args[0]
            raise

    def _same(self, index: Tensor) -> bool:
        return index.numel() == self.ids.numel() and torch.equal(
            index.flatten().cpu().long(), self.ids.flatten()
        )


def tensors_of(output: Any) -> list[Tensor]:
    """Return every tensor in what a model returned: a dataclass, too, or a plain object."""
    if isinstance(output, Mapping):
        output = list(output.values())
    elif hasattr(output, "__dict__") and not isinstance(output, Tensor):
        output = list(vars(output).values())
    return [x for x in tree_leaves(output) if isinstance(x, Tensor)]


def first_floats(output: Any) -> Tensor | None:
    """Return the first floating tensor in what a model returned that is no single number."""
    found = (x for x in tensors_of(output) if x.is_floating_point() and x.ndim and x.numel())
    return next(found, None)


def _numbers(output: Any) -> list[Tensor]:
    """Return copies of all tensors of numbers in what a model returned."""
    found = (x for x in tensors_of(output) if not x.is_meta and not x.is_complex())
    return [x.cpu().double().nan_to_num() for x in found]


def _spread(count: int, most: int) -> Tensor:
    """Return as many places of `count` as there are, or `most` of them, evenly."""
    return torch.linspace(0, count - 1, min(count, most)).round().long()


def _differ(x: Tensor, y: Tensor, slack: float) -> bool:
    """Say whether two tensors differ by more than this, beside what of them differs at all."""
    if x.shape != y.shape:
        return True
    moved = x != y
    gaps, sizes = (x - y)[moved].abs(), x[moved].abs()
    return bool(moved.any()) and float(gaps.max()) > slack * float(sizes.max())


def _check_axes(example: Tensor | None) -> None:
    """Raise if an example has more axes than texts have: which is the length, none says."""
    if example is None:
        return
    allowed = "(batch, length, width)" if example.is_floating_point() else "(batch, length)"
    if example.ndim > allowed.count(",") + 1:
        raise CannotTellError(
            f"an example of {example.dtype} is {allowed}, and of one of shape"
            f" {tuple(example.shape)} no axis is known to be the length"
        )


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
    if any(is_lazy(x) for x in _tensors(model)):
        raise CannotTellError("some of its weights have no shape before its first run; run it once")
    if any(x.is_meta for x in _tensors(model)):
        raise CannotTellError("its weights are on the meta device, where tensors have no values")
    try:
        twin = copy.deepcopy(_unwrapped(model), _nothings(model))
    except Exception as error:
        raise CannotTellError(
            f"it cannot be copied ({short(error)}), and a diagnosis runs no model but a copy"
        ) from error
    if cpu:
        twin.cpu()
    twin.eval()  # which need not return it
    return twin


def _nothings(model: nn.Module) -> dict[int, Any]:
    """Return a copy of everything empty that parts are made of, as `copy.deepcopy` remembers it.

    Each part has a dozen places for hooks, and to copy these takes longer than all weights.
    """
    held = (x for part in model.modules() for x in vars(part).values())
    return {id(x): type(x)() for x in held if type(x) in (OrderedDict, set) and not x}


def _unwrapped(model: nn.Module) -> nn.Module:
    """Return what torch.compile has wrapped, or the model itself."""
    inner: nn.Module = getattr(model, "_orig_mod", model)
    return inner


def _tensors(model: nn.Module) -> Iterator[Tensor]:
    yield from model.parameters()
    yield from model.buffers()


def _dtypes(trial: Trial, tokens: Tensor) -> tuple[set[torch.dtype], Any]:
    """Return the type of every floating tensor that leaves a part of the model; and its output."""
    seen: set[torch.dtype] = set()

    def keep(part: nn.Module, given: Any, output: Any) -> None:
        tensors = (x for x in tree_leaves(output) if isinstance(x, Tensor))
        seen.update(x.dtype for x in tensors if x.is_floating_point())

    with hooked(part.register_forward_hook(keep) for part in trial.model.modules()):
        output = trial.call(tokens)
    return seen, output


@cache
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
