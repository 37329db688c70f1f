"""A trial: a copy of somebody's model, run on tokens drawn at random.

Nothing here knows a positional scheme by name or a model by its class.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, TypeAlias

import torch
from torch import Tensor, nn
from torch.utils._pytree import tree_leaves

from posenc._tensor_arguments import INTEGERS
from posenc.diagnose.answers import CannotTellError, ForwardError, short
from posenc.diagnose.isolation import evaluation_copy, tensors_of, uncompiled_of, uncompiled_run
from posenc.diagnose.operations import TableReads, registered_hooks, suppressed
from posenc.diagnose.outputs import comparable, differ, real_tensors, sequence_rows, spread

Example: TypeAlias = Tensor | Mapping[str, Any] | None

# Lengths to try if the caller gives no example. They are odd and seldom the width of anything, so
# that an axis of this size counts positions. One or two tokens show little and are tried last.
LENGTHS = (13, 11, 7, 5, 3)
SHORTEST = (2, 1)
IDS = 1024  # how many ids of a large vocabulary are drawn from
NUDGES = 2  # how often every weight is changed in its last digit to measure rounding
SURE = 10  # a change that is more than so many times the rounding is real: see `Trial.noise`


class Trial:
    """A copy of a model that can be run on random tokens. The model itself is not touched.

    Args:
        model: any module that maps token ids (batch, length), or an example, to a tensor.
        example: what the model is called with; see `posenc.nn.diagnose`.
        exact: whether the copy computes in float64, if the model allows it.
        cpu: whether the copy runs on the CPU, where an index out of range raises an error. On a
            GPU it would leave the device unusable.
        axis: which axis of the input counts tokens; None for axis 1, if nothing speaks against it.

    Raises:
        CannotTellError: the model cannot be copied or run, or its output is not reproducible.
    """

    def __init__(
        self,
        model: nn.Module,
        example: Example,
        *,
        exact: bool = True,
        cpu: bool = False,
        axis: int | None = None,
    ) -> None:
        self.keyword, self.example, self._others = _split_example(example)
        # Of positions on several axes: the keyword, and those of one sequence, (axes, 1, length).
        self.axes, self.positions = _positions_on_axes(self._others, self.example)
        _check_axes(self.example)
        self._axis = axis or 1
        if self.example is not None:  # here always (batch, length, …), whatever the model reads
            self.example = self.example.movedim(self._axis, 1)
        self._generator = torch.Generator().manual_seed(0)
        self._original, self._cpu = model, cpu
        self.model = evaluation_copy(model, cpu=cpu)
        tensors = [*tensors_of(self.model)]
        self.device = tensors[0].device if tensors else torch.device("cpu")
        self.sizes = {size for x in tensors for size in x.shape}
        self.token_table = 0  # the address of the table that is read with the token ids
        self.pool = self._pool()
        self.dtypes: set[torch.dtype] = set()  # of all that its parts return
        self.length = 0
        self._opened: tuple[Tensor, Any]  # two sequences of this length, and the output for them
        failed = self._open()  # in the model's own dtype
        if not self.length:
            raise CannotTellError(self._failure_reason(failed))
        if axis is None:
            self._check_axis()
        if exact:
            self.widen()
        self._check_reproducible()

    # Tokens

    def tokens(self, batch: int, length: int) -> Tensor:
        """Return random tokens: ids (batch, length), or reals (batch, length, width)."""
        if self.pool is None:
            assert self.example is not None
            shape = (batch, length, *self.example.shape[2:])
            drawn = torch.randn(shape, generator=self._generator, dtype=torch.float64)
            mean, deviation = self.example.double().mean(), self.example.double().std()
            return drawn * deviation.cpu().clamp(min=1e-3) + mean.cpu()
        scores = torch.rand(batch, max(length, len(self.pool)), generator=self._generator)
        return self.pool[scores.argsort(dim=1)[:, :length] % len(self.pool)]

    def other(self, tokens: Tensor) -> Tensor:
        """Return as many tokens, each of them another one."""
        if self.pool is None:
            return self.tokens(*tokens.shape[:2])
        place = torch.searchsorted(self.pool, tokens.contiguous())
        return self.pool[(place + 1) % len(self.pool)]

    def repeated(self, length: int) -> Tensor:
        """Return a sequence of one token repeated, drawn at random: (1, length)."""
        return self.tokens(1, 1).repeat_interleave(length, dim=1)

    def _pool(self) -> Tensor | None:
        """Return the token ids to draw from, or None if tokens are reals."""
        if self.example is not None:
            return None if self.example.is_floating_point() else torch.unique(self.example.cpu())
        rows, padding = self._vocabulary()
        ids = torch.arange(rows)
        if rows > 3 * LENGTHS[0]:  # special tokens mostly have low ids
            ids = ids[LENGTHS[0] :]
        ids = ids[ids != padding] if len(ids) > 2 and padding is not None else ids
        return ids[spread(len(ids), IDS)]

    def _vocabulary(self) -> tuple[int, int | None]:
        """Return how many rows the table of tokens has, and the id of padding."""
        for length in self._lengths():
            ids = (torch.arange(length) % 3 == 0).long()[None]  # 1 0 0 1 0 0 1 …
            with TableReads(ids) as reads, suppressed():
                self.call(ids)
            if reads.rows:
                self.token_table = reads.first
                return reads.rows[0], reads.padding
        return 2, None

    # Running

    def call(self, tokens: Tensor, **more: Any) -> Any:
        """Return whatever the model returns for these tokens, and for `more` arguments by keyword.

        Raises:
            ForwardError: its forward fails.
            CannotTellError: it changes settings of PyTorch.
        """
        given = tokens.to(self.device).movedim(1, self._axis)
        if given.is_floating_point():
            weights = (x.dtype for x in tensors_of(self.model) if x.is_floating_point())
            given = given.to(next(weights, torch.float32))
        others = {name: self._batched(value, given) for name, value in self._others.items()}
        if self.positions is not None:
            others[self.axes] = self.positions.expand(-1, len(tokens), -1).to(self.device)
        args, named = ((given,), {}) if self.keyword is None else ((), {self.keyword: given})
        try:
            with uncompiled_run():
                return self.model(*args, **(named | others | more))
        except CannotTellError:
            raise
        except (Exception, SystemExit) as error:
            raise ForwardError(f"its forward fails: {short(error)}") from error

    def run(self, tokens: Tensor) -> Tensor:
        """Return the model's output for these tokens as `comparable` has it: (batch, …)."""
        return comparable(tokens, self.call(tokens))

    def places(self, start: int, stop: int) -> dict[str, Tensor]:
        """Return positions on several axes of some tokens, as arguments; none if none are given."""
        if self.positions is None:
            return {}
        return {self.axes: self.positions[..., start:stop].to(self.device)}

    def shape(self, length: int) -> tuple[int, ...]:
        """Return the shape of the output for a sequence of this length, without the batch axis."""
        tokens = self.tokens(2, length)
        opened = length == self.length  # the output for such sequences is known already
        rows = sequence_rows(*(self._opened if opened else (tokens, self.call(tokens))))
        return tuple(rows.shape[1:])

    def bound(self) -> str:
        """Return the names of all further arguments that are as long as the example, or ""."""
        if self.example is None:
            return ""
        length = self.example.shape[1]
        tensors = ((name, x) for name, x in self._others.items() if isinstance(x, Tensor))
        return ", ".join(name for name, x in tensors if length in x.shape)

    def demand_three_tokens(self) -> None:
        """Raise `CannotTellError` if it reads fewer: too small a size to stand for the length."""
        if self.length < 3:
            raise CannotTellError(
                f"it reads {tokens_in_words(self.length)} at most, too few to compare"
            )

    def _batched(self, value: Any, tokens: Tensor) -> Any:
        """Return a further argument for these tokens.

        A tensor with a row for each sequence of the example gives its first row to all.
        """
        assert self.example is not None
        if not isinstance(value, Tensor) or not value.ndim:
            return value
        batch, length = self.example.shape[:2]
        if len(value) != batch or (value.ndim == 1 and len(value) == length):
            return value.to(tokens.device)
        return value[:1].expand(len(tokens), *value.shape[1:]).to(tokens.device)

    # Rounding

    def epsilon(self) -> float:
        """Return the machine epsilon of the narrowest dtype in the model, at least float32's."""
        return max(torch.finfo(dtype).eps for dtype in self.dtypes | {torch.float32})

    def noise(self, tokens: Tensor, output: Tensor) -> Tensor:
        """Return how much of each entry of an output is rounding, at most: (1, …).

        This is measured. Every weight is changed in its last digit, up or down at random, and no
        digit of the output that moves with it means anything. The last digit is that of the
        narrowest dtype in the model, see `epsilon`. No entry is surer than its own last digit.

        Raises:
            CannotTellError: the output of a sequence depends on its place in the batch.
        """
        moved = [self._perturbed_output(tokens) - output for _ in range(NUDGES)]
        epsilon = self.epsilon()
        noise = torch.stack([*moved, epsilon * output]).abs().amax(dim=(0, 1))[None]
        # Behind a ReLU an entry may be 0 for all sequences. Its rounding does not show here.
        spread = float((output - output[:1]).abs().max())
        noise = noise.clamp(min=max(epsilon**2 * spread, torch.finfo(noise.dtype).tiny))
        flipped = self.run(tokens.flip(0)).flip(0) - output
        if float((flipped.abs() / noise).max()) > SURE:
            raise CannotTellError(
                "a sequence gives a different output when others in its batch are swapped: it does"
                " not read (batch, length)"
            )
        return noise

    def widen(self) -> bool:
        """Compute in float64 from now on. Return whether the device and the model allow it."""
        dtypes = self.dtypes
        try:
            self.model.double()
            failed = self._open(self.length)
        except (RuntimeError, TypeError) as error:  # not every device has float64
            failed = error
        if failed is not None:
            self.model, self.dtypes = evaluation_copy(self._original, cpu=self._cpu), dtypes
        return failed is None

    def _perturbed_output(self, tokens: Tensor) -> Tensor:
        """Return the output under weights that are changed in their last digit, for this run."""
        epsilon = self.epsilon()
        for p in _float_parameters(self.model):
            up = torch.randint(0, 2, p.shape, generator=self._generator, dtype=torch.int8)
            p.addcmul_(p, up.to(p.device).to(p.dtype).mul_(2 * epsilon).sub_(epsilon))
        result = self.run(tokens)
        # Restored from the original model, which saves a second copy.
        original = _float_parameters(uncompiled_of(self._original))
        for p, was in zip(_float_parameters(self.model), original, strict=True):
            p.copy_(was)
        return result

    # The first runs

    def _open(self, *lengths: int) -> BaseException | None:
        """Set the length to the first of these that the model reads, or return why it reads none.

        Without lengths, all those of `_lengths` are tried.
        """
        failed: BaseException | None = None
        for length in lengths or self._lengths():
            try:
                tokens = self.tokens(2, length)
                self.dtypes, output = self._dtypes(tokens)
            except ForwardError as error:
                failed = failed or error.__cause__
                continue
            self.length, self._opened = length, (tokens, output)
            return None
        return failed

    def _lengths(self) -> list[int]:
        """Return the lengths to try, first those that are the size of no weight."""
        longest = LENGTHS[0] if self.example is None else self.example.shape[1]
        tried = sorted((n for n in LENGTHS if n <= longest), key=lambda n: n in self.sizes)
        return list(dict.fromkeys([*tried, longest, *(n for n in SHORTEST if n < longest)]))

    def _dtypes(self, tokens: Tensor) -> tuple[set[torch.dtype], Any]:
        """Return the floating dtypes of all that the parts of the model return, and its output."""
        seen: set[torch.dtype] = set()

        def keep(part: nn.Module, given: Any, output: Any) -> None:
            tensors = (x for x in tree_leaves(output) if isinstance(x, Tensor))
            seen.update(x.dtype for x in tensors if x.is_floating_point())

        with registered_hooks(part.register_forward_hook(keep) for part in self.model.modules()):
            output = self.call(tokens)
        return seen, output

    def _failure_reason(self, failed: BaseException | None) -> str:
        """Return why the model could not be run at all."""
        with suppressed():
            for sequence in self.tokens(2, self._lengths()[0]):
                self.call(sequence[None])
            return f"it reads one sequence at a time, not a batch: {short(failed)}"
        given = "token ids (batch, length)"
        if self.example is not None:
            shape = tuple(self.example.shape)
            given = f"an input of {self.example.dtype} like the example, {shape}"
        return (
            f"its forward fails on {given}: {short(failed)}; an example of its input,"
            " passed along with the model, may help"
        )

    def _check_axis(self) -> None:
        """Raise if the example has two axes that may count tokens, and nothing tells which does."""
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
            f" not be the axis of tokens: say axis=1, or axis=2, which is"
            f" {self.example.shape[2]} long"
        )

    def _check_reproducible(self) -> None:
        """Raise if the same sequence has another output in a second run."""
        tokens, output = self._opened
        first = real_tensors(output)  # copied now, since a second run may write into the output
        if differ(first, real_tensors(self.call(tokens)), SURE * self.epsilon()):
            raise CannotTellError(
                "the same sequence gives a different output when it is run again: the model is"
                " random even in evaluation mode, or keeps something from call to call"
            )


def tokens_in_words(tokens: int) -> str:
    """Return a number of tokens in words."""
    return f"{tokens} token{'s' if tokens != 1 else ''}"


def _split_example(example: Example) -> tuple[str | None, Tensor | None, dict[str, Any]]:
    """Return the keyword of the tokens, the tokens, and all other arguments, by keyword."""
    if not isinstance(example, Mapping):
        return None, example, {}
    keyword = next(iter(example))
    others = {name: value for name, value in example.items() if name != keyword}
    return keyword, example[keyword], others


def _positions_on_axes(
    others: Mapping[str, Any], tokens: Tensor | None
) -> tuple[str, Tensor | None]:
    """Return the keyword of positions, (axes, batch, length), and those of the first sequence."""
    batch_and_length = () if tokens is None else tokens.shape[:2]
    for name, value in others.items():
        counts = isinstance(value, Tensor) and value.dtype in INTEGERS
        if counts and len(value) > 1 and value.ndim == 3 and value.shape[1:] == batch_and_length:
            return name, value[:, :1]
    return "", None


def _check_axes(example: Tensor | None) -> None:
    """Raise if an example has so many axes that nothing tells which of them is the length."""
    if example is None:
        return
    allowed = "(batch, length, width)" if example.is_floating_point() else "(batch, length)"
    if example.ndim > allowed.count(",") + 1:
        raise CannotTellError(
            f"an example of {example.dtype} must be {allowed}; in one of shape"
            f" {tuple(example.shape)} it is not known which axis is the length"
        )


def _float_parameters(model: nn.Module) -> Iterator[Tensor]:
    return (p for p in model.parameters() if p.is_floating_point())
