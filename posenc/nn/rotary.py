"""Rotary positions as a module without parameters: see `posenc.rotary` for the idea.

Su et al., "RoFormer: Enhanced Transformer with Rotary Position Embedding" (2021).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import product
from typing import Any

import numpy as np
import torch
from numpy.typing import ArrayLike
from torch import Tensor, nn

from posenc._arguments import _shown, as_base, as_choice, as_integer
from posenc._tensor_arguments import (
    as_activations,
    as_out,
    is_followed,
    is_same,
    offset_or_positions,
    on_device,
    values_are_known,
)
from posenc.rotary import LAYOUTS, rotary_frequencies

# How many numbers are worked on at a time: what the cache of one processor holds, with room.
TILE = 2**19
# Up to so many a new result is made in as few operations as there are, as in a decoding step: each
# takes longer to start than to finish.
STEP = 2**15
# From so many bytes on numpy asks Linux for large pages, and torch does not: most of what large new
# memory costs is that the system hands it out page by page.
LARGE = 2**22


class RotaryEmbedding(nn.Module):
    """Queries or keys with every pair turned by its position; the torch twin of `apply_rope`.

    It has no parameters and no buffers. Its frequencies are Python's floats and its angles are
    worked out in float64 on each call, so neither `.to(torch.bfloat16)` nor a state dict nor the
    meta device can take anything from them.

    Call it with the queries and with the keys, each at their positions, before the scores. While
    a text is generated, turned keys can be kept: `offset` is then how many have gone before.

    Called, it works by the definition. `factors` and `turn` are its fast neighbours: the first is
    for all layers of a model, which turn by the same angles, the second for each of them.

    Args:
        d: width of one head; an even integer, 2 or more.
        base: see `posenc.frequencies`.
        layout: "interleaved", where pair i is dimensions 2i and 2i+1, as in the paper, or "half",
            where it is dimensions i and i + d/2.
        frequencies: shape `(d/2,)`, in place of a base, see `posenc.apply_rope`.
        rotary_d: how many of the first dimensions turn, the rest passing through; an even
            integer from 2 to d; None for all.

    Attributes:
        d: width of one head.
        base: as given; None where `frequencies` are.
        layout: which dimensions make a pair.
        frequencies: the frequency of each pair that turns, in radians per position, as a tuple.

    Raises:
        TypeError: `d` or `rotary_d` is not an integer, `base` not a number, `layout` not a
            string, or `frequencies` holds anything but real numbers.
        ValueError: `d` is odd or below 2; `rotary_d` is odd, below 2 or above d; `layout` is
            unknown; `frequencies` has another shape or a negative entry, or is given together
            with another base than 10000; `base` is below 1e-300, above 1e300, or 1.

    Source:
        Su et al. (2021), section 3.4.2, equation 34.

    Examples:
        >>> import torch
        >>> rotary = RotaryEmbedding(64)
        >>> q, k = torch.randn(2, 4, 10, 64), torch.randn(2, 4, 10, 64)
        >>> scores = rotary(q) @ rotary(k).mT
        >>> later = rotary(q, offset=500) @ rotary(k, offset=500).mT
        >>> torch.allclose(scores, later, atol=1e-4)
        True
        >>> factors = rotary.factors(q)  # once, for all layers
        >>> torch.allclose(rotary.turn(q, factors) @ rotary.turn(k, factors).mT, scores, atol=1e-4)
        True
    """

    def __init__(
        self,
        d: int,
        *,
        base: float = 10000.0,
        layout: str = "interleaved",
        frequencies: ArrayLike | None = None,
        rotary_d: int | None = None,
    ) -> None:
        super().__init__()
        self.d = as_integer("d", d, least=2, even=True)
        self.layout = as_choice("layout", layout, LAYOUTS)
        omega = rotary_frequencies(self.d, base=base, frequencies=frequencies, rotary_d=rotary_d)
        self.frequencies: tuple[float, ...] = tuple(omega.tolist())
        self.base = as_base(base) if frequencies is None else None

    def forward(self, x: Tensor, *, offset: int = 0, positions: Tensor | None = None) -> Tensor:
        """Return `x` turned.

        Args:
            x: shape `(batch, heads, length, d)`; float64, float32, bfloat16 or float16.
            offset: position of the first vector; an integer, 0 or more.
            positions: the position of each vector instead, integers or reals (float32 or
                float64), shape `(length,)` or `(batch, length)`, on the device of `x`.

        Returns:
            The shape and dtype of `x`, a new tensor. Angles, cosines and sines are worked out in
            float64; these two are rounded to the dtype of `x`, or to float32 where that is
            narrower, the products computed in it, and the result cast.

        Raises:
            TypeError: `x` is not a floating tensor, `offset` not an integer, or `positions` not a
                tensor of integers or reals.
            ValueError: a shape or a device is another one; `offset` is negative, or given
                together with `positions`; in eager mode, a position is not finite or too large
                to be told from its neighbours, or its angle at the highest frequency is.

        Examples:
            >>> import torch
            >>> rotary, x = RotaryEmbedding(8), torch.randn(2, 4, 3, 8)
            >>> places = torch.tensor([[5, 6, 7], [0, 1, 2]])  # each text has its own
            >>> torch.equal(rotary(x, positions=places)[0], rotary(x, offset=5)[0])
            True
        """
        x = as_activations("x", x, ("batch", "heads", "length", self.d))
        places = self._places(x, offset, positions)
        exact = x.to(torch.promote_types(x.dtype, torch.float32))
        turning, passing = exact.tensor_split([2 * len(self.frequencies)], dim=-1)
        return torch.cat([self._turned(turning, places), passing], dim=-1).to(x.dtype)

    def factors(self, x: Tensor, *, offset: int = 0, positions: Tensor | None = None) -> Tensor:
        """Return the number e^(i·pω) of every position and pair, for `turn`.

        Args:
            x: queries or keys, `(batch, heads, length, d)`, of which only length, dtype and
                device matter; those of one layer do for all layers.
            offset: position of the first vector; an integer, 0 or more.
            positions: the position of each vector instead, as for a call of the module.

        Returns:
            Shape `(length, pairs)`, or `(batch, 1, length, pairs)` where positions have a batch;
            complex64, complex128 for a float64 `x`; a new tensor. Worked out in float64.

        Raises:
            TypeError: see a call of the module.
            ValueError: see a call of the module.

        Examples:
            >>> import torch
            >>> RotaryEmbedding(8).factors(torch.empty(2, 4, 3, 8), offset=7)[0, 0]
            tensor(0.7539+0.6570j)
        """
        x = as_activations("x", x, ("batch", "heads", "length", self.d))
        places = self._places(x, offset, positions)
        omega = torch.tensor(self.frequencies, dtype=torch.float64, device=x.device)
        angles = places[..., None] * omega
        exact = torch.promote_types(x.dtype, torch.float32)
        factors = torch.complex(angles.cos().to(exact), angles.sin().to(exact))
        return factors if factors.ndim == 2 else factors.unsqueeze(1)

    def turn(self, x: Tensor, factors: Tensor, *, out: Tensor | None = None) -> Tensor:
        """Return `x` turned, about as fast as memory can be copied.

        The fast neighbour of a call of the module. A pair (x, y) that lies side by side in memory
        is the number x + iy there already, so that to turn every pair is one product with
        `factors`, and nothing is copied before or after. In the layout "half", in bfloat16 and
        in float16 that is not so; there it works through pieces that fit the cache.

        Args:
            x: shape `(batch, heads, length, d)`, in memory in any way; float64, float32, bfloat16
                or float16.
            factors: what `factors` has returned for vectors of this length, dtype and device.
            out: a tensor to write into, of the shape, dtype and device of `x`: `x` itself, to turn
                it in place, or one that shares no memory with it. None for a new one.

        Returns:
            `out`, or a new tensor; the shape and dtype of `x`. Products are computed as in a call
            of the module, in float32 at least, and then cast. Where `out` is None, gradients
            and forward-mode tangents flow through `x` and through `factors`; followed through
            `factors`, a turn goes by the definition and is no faster than a call.

        Raises:
            TypeError: `x` is not a floating tensor, `factors` not a complex one of twice the
                width of `x`, complex64 at least, or `out` not of the dtype of `x`.
            ValueError: a shape or a device is another one; `out` shares memory with a part of
                `x`, with `factors` or with itself; `out` is given where gradients or forward-mode
                tangents are recorded.

        Source:
            Su et al. (2021), section 3.2.1, equation 12: the turn as a product of numbers.

        Examples:
            >>> import torch
            >>> rotary, q = RotaryEmbedding(64), torch.randn(2, 4, 10, 64)
            >>> factors = rotary.factors(q)
            >>> turned = rotary.turn(q, factors)
            >>> torch.equal(turned, rotary.turn(q, factors, out=q))  # and q itself is turned now
            True
        """
        x = as_activations("x", x, ("batch", "heads", "length", self.d))
        self._check_factors(factors, x)
        if out is None:
            return _turned_anew(x, factors, self.layout)
        as_out("out", out, x, apart={"factors": factors})
        if not (values_are_known(x) and values_are_known(factors)):
            return out.copy_(_by_definition(x, factors, self.layout))
        return _turned(x, factors, self.layout, out)

    def extra_repr(self) -> str:
        """Return what `print(module)` shows between the brackets."""
        omega = [str(frequency) for frequency in self.frequencies]
        few = omega if len(omega) < 4 else [omega[0], "...", omega[-1]]
        given = f"base={self.base}" if self.base else f"frequencies=({', '.join(few)})"
        return f'{self.d}, {given}, layout="{self.layout}", rotary_d={2 * len(omega)}'

    def _places(self, x: Tensor, offset: int, positions: Tensor | None) -> Tensor:
        """Return the position of each vector, float64, whose angles float64 can tell apart."""
        return offset_or_positions(
            offset,
            positions,
            length=x.shape[2],
            batch=x.shape[0],
            device=x.device,
            fastest=max(self.frequencies),
        )

    def _turned(self, x: Tensor, places: Tensor) -> Tensor:
        """Return each pair (x, y) as (x·cos − y·sin, x·sin + y·cos)."""
        omega = torch.tensor(self.frequencies, dtype=torch.float64, device=x.device)
        angles = (places[..., None] * omega).unsqueeze(-3)  # (1 or batch, 1 head, length, pairs)
        return _turned_by(x, angles.cos().to(x.dtype), angles.sin().to(x.dtype), self.layout)

    def _check_factors(self, factors: Tensor, x: Tensor) -> None:
        """Raise unless `factors` are for these vectors."""
        shape, wanted = (x.shape[2], len(self.frequencies)), _numbers(x.dtype)
        if not isinstance(factors, Tensor):
            raise TypeError(f"factors must be a {wanted} tensor; got {_shown(factors)}")
        if factors.dtype is not wanted:
            raise TypeError(f"factors must be a {wanted} tensor; got one of {factors.dtype}")
        if factors.shape not in (shape, (x.shape[0], 1, *shape)):
            raise ValueError(
                f"factors must be of shape {shape} or {(x.shape[0], 1, *shape)};"
                f" got {tuple(factors.shape)}"
            )
        on_device("factors", factors, x.device)


class _Turn(torch.autograd.Function):
    """A new turned tensor, of `factors` that nothing follows.

    A turn is linear: a tangent is turned as the vectors are. It is orthogonal: a gradient is turned
    back, by the conjugates.
    """

    @staticmethod
    def forward(x: Tensor, factors: Tensor, layout: str) -> Tensor:
        return _turned(x, factors, layout, None)

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Tensor, Tensor, str], output: Tensor) -> None:
        _, factors, ctx.layout = inputs
        ctx.save_for_backward(factors)
        ctx.save_for_forward(factors)

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> tuple[Tensor, None, None]:
        (factors,) = ctx.saved_tensors
        return _turned_anew(gradients[0], factors.conj().resolve_conj(), ctx.layout), None, None

    @staticmethod
    def jvp(ctx: Any, *tangents: Tensor) -> Tensor:
        (factors,) = ctx.saved_tensors
        return _turned_anew(tangents[0], factors, ctx.layout)


def _turned_anew(x: Tensor, factors: Tensor, layout: str) -> Tensor:
    """Return a new turned tensor, fast where it can be, with derivatives wherever they are wanted.

    A compiler makes one loop of the definition by itself, and under `vmap` there is no memory to
    write into. Gradients to factors are rare, so they go the way of the definition too.
    """
    known = values_are_known(x) and values_are_known(factors)
    if known and not is_followed(x, factors):
        return _turned(x, factors, layout)
    if known and not is_followed(factors):
        turned: Tensor = _Turn.apply(x, factors, layout)  # type: ignore[no-untyped-call]
        return turned
    return _by_definition(x, factors, layout)


def _by_definition(x: Tensor, factors: Tensor, layout: str) -> Tensor:
    """Return `x` turned by factors in the way of a call."""
    exact = x.to(torch.promote_types(x.dtype, torch.float32))
    turning, passing = exact.tensor_split([2 * factors.shape[-1]], dim=-1)
    turned = _turned_by(turning, factors.real, factors.imag, layout)
    return torch.cat([turned, passing], dim=-1).to(x.dtype)


def _turned_by(x: Tensor, cos: Tensor, sin: Tensor, layout: str) -> Tensor:
    """Return each pair turned by an angle of this cosine and sine."""
    first, second = _pairs(x, layout)
    pairs = torch.stack([first * cos - second * sin, first * sin + second * cos], dim=-1)
    ordered = pairs if layout == "interleaved" else pairs.mT
    return ordered.reshape(x.shape)


def _pairs(x: Tensor, layout: str) -> tuple[Tensor, Tensor]:
    """Return the first and the second dimension of every pair."""
    if layout == "interleaved":
        return x[..., 0::2], x[..., 1::2]
    first, second = x.chunk(2, dim=-1)
    return first, second


def _numbers(dtype: torch.dtype) -> torch.dtype:
    """Return the complex type in which numbers of a real one are turned."""
    return torch.complex128 if dtype is torch.float64 else torch.complex64


def _turned(x: Tensor, factors: Tensor, layout: str, out: Tensor | None = None) -> Tensor:
    """Return `x` turned into `out`, or into a new tensor."""
    turning = 2 * factors.shape[-1]
    in_pairs = layout == "interleaved" and x.dtype in (torch.float32, torch.float64)
    small = x.numel() * x.element_size() < LARGE
    if in_pairs and turning == x.shape[-1] and out is None and small:  # as in a decoding step
        numbers = _as_numbers(x, factors.dtype)
        if numbers is not None:
            return (numbers * factors).view(x.dtype)
    if layout == "half" and out is None and x.numel() <= STEP:
        return _turned_at_once(x, factors)
    out = _new_like(x) if out is None else out
    if turning < x.shape[-1] and not is_same(x, out):
        out[..., turning:] = x[..., turning:]
    x, result = x[..., :turning], out[..., :turning]
    if in_pairs:
        numbers, turned = _as_numbers(x, factors.dtype), _as_numbers(result, factors.dtype)
        if numbers is not None and turned is not None:
            torch.mul(numbers, factors, out=turned)
            return out
    _turn_by_tiles(x, factors, layout, result)
    return out


def _turned_at_once(x: Tensor, factors: Tensor) -> Tensor:
    """Return the two halves of `x` turned as numbers, in as few operations as there can be."""
    turning = 2 * factors.shape[-1]
    passing = (x[..., turning:],) if turning < x.shape[-1] else ()
    exact = x[..., :turning] if passing else x
    narrow = x.dtype in (torch.bfloat16, torch.float16)
    first, second = (exact.float() if narrow else exact).chunk(2, dim=-1)
    numbers = torch.complex(first, second) * factors
    turned = torch.cat((numbers.real, numbers.imag, *passing), dim=-1)
    return turned.to(x.dtype) if narrow else turned


def _new_like(x: Tensor) -> Tensor:
    """Return new memory laid out like `x`, in large pages where it is much."""
    if x.device.type != "cpu" or x.numel() * x.element_size() < LARGE:
        return torch.empty_like(x)
    strides = torch.empty_like(x, device="meta").stride()
    memory = torch.from_numpy(np.empty(x.numel() * x.element_size(), np.uint8))
    return memory.view(x.dtype).as_strided(x.shape, strides)


def _as_numbers(x: Tensor, dtype: torch.dtype) -> Tensor | None:
    """Return the pairs of `x` as the complex numbers that they are in memory, where they are."""
    try:
        return x.view(dtype)
    except RuntimeError:  # there are gaps, or pairs do not begin at even places
        return None


def _turn_by_tiles(x: Tensor, factors: Tensor, layout: str, out: Tensor) -> None:
    """Write `x` turned into `out`, a piece at a time."""
    turn: Callable[..., None]
    if layout == "interleaved":
        turn, parts = _turn_numbers, [factors]
    else:
        cos, sin = factors.real, factors.imag.contiguous()
        turn, parts = _turn_halves, [torch.cat([cos, cos], dim=-1), sin]
    parts = [part.expand(x.shape[0], 1, *part.shape[-2:]) for part in parts]
    for texts, heads, rows in _tiles(x):
        tile = texts, heads, rows
        turn(x[tile], out[tile], *(part[texts, :, rows] for part in parts))


def _tiles(x: Tensor) -> Iterator[tuple[slice, ...]]:
    """Yield which texts, heads and rows make up each piece of `x`; one alone on other devices."""
    batch, heads, length, d = x.shape
    room = TILE if x.device.type == "cpu" else x.numel()
    rows = max(1, min(length, room // d))
    several = max(1, min(heads, room // (d * rows)))
    texts = max(1, min(batch, room // (d * rows * several)))
    steps = (texts, several, rows)
    for corner in product(range(0, batch, texts), range(0, heads, several), range(0, length, rows)):
        yield tuple(slice(start, start + step) for start, step in zip(corner, steps, strict=True))


def _turn_numbers(x: Tensor, out: Tensor, factors: Tensor) -> None:
    """Write into `out` the pairs of `x`, gathered where they can be read as numbers, turned."""
    exact = torch.empty(x.shape, dtype=factors.dtype.to_real(), device=x.device).copy_(x)
    exact.view(factors.dtype).mul_(factors)
    out.copy_(exact)


def _turn_halves(x: Tensor, out: Tensor, cos: Tensor, sin: Tensor) -> None:
    """Write into `out` the two halves of `x`, each turned into the other."""
    exact = x.to(cos.dtype)
    apart = out.dtype is cos.dtype and not is_same(x, out)
    turned = torch.mul(exact, cos, out=out if apart else None)
    (first, second), (above, below) = exact.chunk(2, dim=-1), turned.chunk(2, dim=-1)
    above.addcmul_(second, sin, value=-1)
    below.addcmul_(first, sin)
    if not apart:
        out.copy_(turned)
