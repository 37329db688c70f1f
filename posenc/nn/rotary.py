"""Rotary positions (RoPE) as a module without parameters; `posenc.rotary` explains the idea.

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

from posenc._arguments import _shown, as_base, as_choice, as_integer, as_number
from posenc._tensor_arguments import (
    as_activations,
    as_out,
    is_differentiated,
    is_same,
    offset_or_positions,
    on_device,
    values_are_known,
)
from posenc.rotary.rope import LAYOUTS, rotary_frequencies

# How many numbers are rotated at a time: few enough for the cache of one CPU core.
TILE = 2**19
# Inputs of at most this many numbers, as in a decoding step, are rotated in as few operations as
# possible, because launching an operation takes longer than running it.
STEP = 2**15
# Above this many bytes numpy requests huge pages from Linux and torch does not. Most of the cost of
# a large allocation is that the system maps it page by page.
LARGE = 2**22


class RotaryEmbedding(nn.Module):
    """Rotate every pair of queries or keys by its position, like `posenc.apply_rope` in torch.

    It has no parameters and no buffers. Its frequencies are Python floats and its angles are
    computed in float64 on each call, so `.to(torch.bfloat16)`, state dicts and the meta device do
    not affect them.

    Call it with the queries and with the keys, at their positions, before computing scores. In
    generation, rotated keys can be cached: `offset` is then the number of tokens in the cache.

    A call follows the definition. `factors` and `turn` are a faster way to the same result: call
    `factors` once for all layers of a model, which share their angles, and `turn` in each layer.

    Frequencies that depend on the length of the sequence, as those of dynamic NTK and LongRoPE do,
    are given as a function of it. Nothing is kept from one call to the next, so a sequence is
    rotated by the same angles whatever came before. In generation, give `length`, that of prompt
    and answer together: otherwise cached keys keep the frequencies of a shorter sequence. A
    compiler may not trace the function; call `factors` outside of what is compiled.

    Args:
        d: width of one head; an even integer, 2 or more.
        base: see `posenc.frequencies`.
        layout: "interleaved", where pair i is dimensions 2i and 2i+1, as in the paper, or "half",
            where it is dimensions i and i + d/2.
        frequencies: shape `(d/2,)`, in place of a base, see `posenc.apply_rope`; or a function that
            returns them, given the number of positions of a sequence.
        rotary_d: how many of the first dimensions to rotate; the rest pass through. An even
            integer from 2 to d, or None for all.
        attention_factor: by how much rotated dimensions are also scaled, such as
            `posenc.yarn_temperature`; above 0.

    Attributes:
        d: width of one head.
        base: as given; None if `frequencies` are given.
        layout: which dimensions form a pair.
        frequencies: the frequency of each rotated pair, in radians per position, as a tuple; those
            for length 1 if they depend on the length.
        by_length: the function that returns them, given a length, or None if they do not depend.
        rotary_d: how many of the first dimensions are rotated.
        attention_factor: by how much they are scaled.

    Raises:
        TypeError: `d` or `rotary_d` is not an integer, `base` or `attention_factor` not a number,
            `layout` not a string, or `frequencies` holds anything but real numbers.
        ValueError: `d` is odd or below 2; `rotary_d` is odd, below 2 or above d; `layout` is
            unknown; `frequencies` has the wrong shape or a negative entry, or is given together
            with a base other than 10000; `base` is below 1e-300, above 1e300, or 1;
            `attention_factor` is 0 or below.

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

        A function of the length, and a sequence of 3 positions that will have 512:

        >>> from functools import partial
        >>> from posenc import dynamic_frequencies
        >>> scaled = partial(dynamic_frequencies, 64, factor=2, trained_length=256)
        >>> rotary = RotaryEmbedding(64, frequencies=scaled)
        >>> rotary(torch.randn(1, 4, 3, 64), length=512).shape
        torch.Size([1, 4, 3, 64])
    """

    def __init__(
        self,
        d: int,
        *,
        base: float = 10000.0,
        layout: str = "interleaved",
        frequencies: ArrayLike | Callable[[int], ArrayLike] | None = None,
        rotary_d: int | None = None,
        attention_factor: float = 1.0,
    ) -> None:
        super().__init__()
        self.d = as_integer("d", d, least=2, even=True)
        self.layout = as_choice("layout", layout, LAYOUTS)
        given = frequencies(1) if callable(frequencies) else frequencies
        omega = rotary_frequencies(self.d, base=base, frequencies=given, rotary_d=rotary_d)
        self.frequencies: tuple[float, ...] = tuple(omega.tolist())
        self.by_length = frequencies if callable(frequencies) else None
        self.rotary_d = 2 * omega.size
        self.base = as_base(base) if frequencies is None else None
        self.attention_factor = float(as_number("attention_factor", attention_factor))
        if self.attention_factor <= 0:
            raise ValueError(f"attention_factor must be above 0; got {self.attention_factor}")

    def forward(
        self,
        x: Tensor,
        *,
        offset: int = 0,
        positions: Tensor | None = None,
        length: int | None = None,
    ) -> Tensor:
        """Return `x` with every pair rotated by its position.

        Args:
            x: shape `(batch, heads, length, d)`; float64, float32, bfloat16 or float16.
            offset: position of the first vector; an integer, 0 or more.
            positions: instead of `offset`, the position of each vector, integers or reals (float32
                or float64), shape `(length,)` or `(batch, length)`, on the device of `x`.
            length: how many positions the whole sequence has, or will have, where frequencies are a
                function of it; an integer, 1 or more. None for `offset` and the length of `x`
                together; with `positions` it must be given. Without effect on other frequencies.

        Returns:
            A new tensor of the shape and dtype of `x`. Angles, cosines and sines are computed in
            float64. Cosines and sines are rounded to the dtype of `x`, or to float32 if that is
            narrower; the products are computed in that dtype, and the result is cast.

        Raises:
            TypeError: `x` is not a floating tensor, `offset` or `length` not an integer, or
                `positions` not a tensor of integers or reals.
            ValueError: a shape or a device does not fit; `offset` is negative, or given together
                with `positions`; `length` is below 1, or missing where frequencies are a function
                of it and `positions` are given; in eager mode, a position, or its angle at the
                highest frequency, is not finite or too large for its dtype to represent every
                integer.

        Examples:
            >>> import torch
            >>> rotary, x = RotaryEmbedding(8), torch.randn(2, 4, 3, 8)
            >>> positions = torch.tensor([[5, 6, 7], [0, 1, 2]])  # one row per sequence
            >>> torch.equal(rotary(x, positions=positions)[0], rotary(x, offset=5)[0])
            True
        """
        x = as_activations("x", x, ("batch", "heads", "length", self.d))
        cos, sin = self._tables(x, offset, positions, length)
        exact = x.to(torch.promote_types(x.dtype, torch.float32))
        rotating, passing = exact.tensor_split([self.rotary_d], dim=-1)
        rotated = _rotate_pairs(
            rotating, _broadcast_over_heads(cos), _broadcast_over_heads(sin), self.layout
        )
        return torch.cat([rotated, passing], dim=-1).to(x.dtype)

    def factors(
        self,
        x: Tensor,
        *,
        offset: int = 0,
        positions: Tensor | None = None,
        length: int | None = None,
    ) -> Tensor:
        """Return the complex factor e^(i·pω) for every position and pair, to pass to `turn`.

        Args:
            x: queries or keys, `(batch, heads, length, d)`; only length, dtype and device are
                used, so the factors of one layer serve all layers.
            offset: position of the first vector; an integer, 0 or more.
            positions: instead of `offset`, the position of each vector, as for a call of the
                module.
            length: how many positions the whole sequence has, as for a call of the module.

        Returns:
            Shape `(length, pairs)`, or `(batch, 1, length, pairs)` if positions have a batch;
            complex64, or complex128 for a float64 `x`; a new tensor. Computed in float64.

        Raises:
            TypeError: see a call of the module.
            ValueError: see a call of the module.

        Examples:
            >>> import torch
            >>> RotaryEmbedding(8).factors(torch.empty(2, 4, 3, 8), offset=7)[0, 0]
            tensor(0.7539+0.6570j)
        """
        x = as_activations("x", x, ("batch", "heads", "length", self.d))
        factors = torch.complex(*self._tables(x, offset, positions, length))
        return factors if factors.ndim == 2 else factors.unsqueeze(1)

    def turn(self, x: Tensor, factors: Tensor, *, out: Tensor | None = None) -> Tensor:
        """Return `x` with every pair rotated, about as fast as copying memory.

        A faster equivalent of calling the module. A pair (x, y) stored side by side already is the
        complex number x + iy, so rotating every pair is one product with `factors`, without copies
        before or after. The layout "half" and the dtypes bfloat16 and float16 do not allow that;
        they are rotated in tiles that fit into the CPU cache.

        Args:
            x: shape `(batch, heads, length, d)`, with any strides; float64, float32, bfloat16 or
                float16.
            factors: the result of `factors` for vectors of this length, dtype and device.
            out: a tensor to write into, of the shape, dtype and device of `x`: `x` itself, to
                rotate it in place, or one that shares no memory with it. None for a new one.

        Returns:
            `out`, or a new tensor; the shape and dtype of `x`. As in a call of the module,
            products are computed in float32 or float64 and then cast. If `out` is None, gradients
            and forward-mode tangents flow through `x` and `factors`; if they are recorded for
            `factors`, this is no faster than a call.

        Raises:
            TypeError: `x` is not a floating tensor, `factors` is not complex64, or complex128 for
                a float64 `x`, or `out` does not have the dtype of `x`.
            ValueError: a shape or a device does not fit; `out` shares memory with a part of `x`,
                with `factors` or with itself; `out` is given while gradients or forward-mode
                tangents are recorded.

        Source:
            Su et al. (2021), section 3.2.1, equation 12: the rotation as a complex product.

        Examples:
            >>> import torch
            >>> rotary, q = RotaryEmbedding(64), torch.randn(2, 4, 10, 64)
            >>> factors = rotary.factors(q)
            >>> rotated = rotary.turn(q, factors)
            >>> torch.equal(rotated, rotary.turn(q, factors, out=q))  # rotates q in place
            True
        """
        x = as_activations("x", x, ("batch", "heads", "length", self.d))
        self._check_factors(factors, x)
        if out is None:
            return _rotate(x, factors, self.layout)
        as_out("out", out, x, apart={"factors": factors})
        if not (values_are_known(x) and values_are_known(factors)):
            return out.copy_(_rotate_by_definition(x, factors, self.layout))
        return _rotate_eagerly(x, factors, self.layout, out)

    def extra_repr(self) -> str:
        """Return the text that `print` shows for the module."""
        omega = [str(frequency) for frequency in self.frequencies]
        few = omega if len(omega) < 4 else [omega[0], "...", omega[-1]]
        said = "a function of the length" if self.by_length else f"({', '.join(few)})"
        given = f"base={self.base}" if self.base else f"frequencies={said}"
        scaled = self.attention_factor
        factor = "" if scaled == 1 else f", attention_factor={scaled}"
        return f'{self.d}, {given}, layout="{self.layout}", rotary_d={self.rotary_d}{factor}'

    def _tables(
        self, x: Tensor, offset: int, positions: Tensor | None, length: int | None
    ) -> tuple[Tensor, Tensor]:
        """Return cos pω and sin pω, scaled, `(length, pairs)` or `(batch, length, pairs)`."""
        frequencies = self._frequencies(x, offset, positions, length)
        places = offset_or_positions(
            offset,
            positions,
            length=x.shape[2],
            batch=x.shape[0],
            device=x.device,
            fastest=max(frequencies),
        )
        angles = places[..., None] * torch.tensor(frequencies, dtype=torch.float64, device=x.device)
        cos, sin = angles.cos(), angles.sin()
        if self.attention_factor != 1:
            cos, sin = cos * self.attention_factor, sin * self.attention_factor
        exact = torch.promote_types(x.dtype, torch.float32)
        return cos.to(exact), sin.to(exact)

    def _frequencies(
        self, x: Tensor, offset: int, positions: Tensor | None, length: int | None
    ) -> tuple[float, ...]:
        """Return the frequencies of a sequence of this length."""
        if length is not None:
            length = as_integer("length", length, least=1)
        if self.by_length is None:
            return self.frequencies
        if length is None and positions is not None:
            raise ValueError(
                "length must be given where positions are, since the frequencies depend on it"
            )
        if length is None:
            length = max(as_integer("offset", offset, least=0) + x.shape[2], 1)
        given = self.by_length(length)
        omega = rotary_frequencies(self.d, frequencies=given, rotary_d=self.rotary_d)
        return tuple(omega.tolist())

    def _check_factors(self, factors: Tensor, x: Tensor) -> None:
        """Raise unless `factors` match these vectors in dtype, shape and device."""
        shape, wanted = (x.shape[2], self.rotary_d // 2), _complex_dtype(x.dtype)
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


def _broadcast_over_heads(table: Tensor) -> Tensor:
    """Return a table as `(1 or batch, 1, length, pairs)`, the same for all heads."""
    return table.unsqueeze(-3)


class _Rotation(torch.autograd.Function):
    """Rotation into a new tensor, differentiable in `x` but not in `factors`.

    A rotation is linear, so a tangent is rotated like the vectors. It is orthogonal but for its
    scale, so a gradient is rotated back, by the conjugates.
    """

    @staticmethod
    def forward(x: Tensor, factors: Tensor, layout: str) -> Tensor:
        return _rotate_eagerly(x, factors, layout, None)

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Tensor, Tensor, str], output: Tensor) -> None:
        _, factors, ctx.layout = inputs
        ctx.save_for_backward(factors)
        ctx.save_for_forward(factors)

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> tuple[Tensor, None, None]:
        (factors,) = ctx.saved_tensors
        return _rotate(gradients[0], factors.conj().resolve_conj(), ctx.layout), None, None

    @staticmethod
    def jvp(ctx: Any, *tangents: Tensor) -> Tensor:
        (factors,) = ctx.saved_tensors
        return _rotate(tangents[0], factors, ctx.layout)


def _rotate(x: Tensor, factors: Tensor, layout: str) -> Tensor:
    """Return `x` rotated into a new tensor, on the fast path if possible, and differentiable.

    The definition is used under a compiler, which fuses it into one loop, under `vmap`, where there
    is no memory to write into, and for the rare gradients of `factors`.
    """
    known = values_are_known(x) and values_are_known(factors)
    if known and not is_differentiated(x, factors):
        return _rotate_eagerly(x, factors, layout)
    if known and not is_differentiated(factors):
        rotated: Tensor = _Rotation.apply(x, factors, layout)  # type: ignore[no-untyped-call]
        return rotated
    return _rotate_by_definition(x, factors, layout)


def _rotate_by_definition(x: Tensor, factors: Tensor, layout: str) -> Tensor:
    """Return `x` rotated by `factors`, computed as in a call of the module."""
    exact = x.to(torch.promote_types(x.dtype, torch.float32))
    rotating, passing = exact.tensor_split([2 * factors.shape[-1]], dim=-1)
    rotated = _rotate_pairs(rotating, factors.real, factors.imag, layout)
    return torch.cat([rotated, passing], dim=-1).to(x.dtype)


def _rotate_pairs(x: Tensor, cos: Tensor, sin: Tensor, layout: str) -> Tensor:
    """Return `x` with each pair rotated by the angle with this cosine and sine."""
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


def _complex_dtype(dtype: torch.dtype) -> torch.dtype:
    """Return the complex dtype of the factors that rotate vectors of a real dtype."""
    return torch.complex128 if dtype is torch.float64 else torch.complex64


def _rotate_eagerly(x: Tensor, factors: Tensor, layout: str, out: Tensor | None = None) -> Tensor:
    """Return `x` rotated into `out`, or into a new tensor."""
    rotating = 2 * factors.shape[-1]
    in_pairs = layout == "interleaved" and x.dtype in (torch.float32, torch.float64)
    small = x.numel() * x.element_size() < LARGE
    if in_pairs and rotating == x.shape[-1] and out is None and small:  # as in a decoding step
        numbers = _as_complex(x, factors.dtype)
        if numbers is not None:
            return (numbers * factors).view(x.dtype)
    if layout == "half" and out is None and x.numel() <= STEP:
        return _rotate_halves_at_once(x, factors)
    out = _empty_like(x) if out is None else out
    if rotating < x.shape[-1] and not is_same(x, out):
        out[..., rotating:] = x[..., rotating:]
    x, result = x[..., :rotating], out[..., :rotating]
    if in_pairs:
        numbers, rotated = _as_complex(x, factors.dtype), _as_complex(result, factors.dtype)
        if numbers is not None and rotated is not None:
            torch.mul(numbers, factors, out=rotated)
            return out
    _rotate_by_tiles(x, factors, layout, result)
    return out


def _rotate_halves_at_once(x: Tensor, factors: Tensor) -> Tensor:
    """Return `x` in the layout "half", rotated in as few operations as possible."""
    rotating = 2 * factors.shape[-1]
    passing = (x[..., rotating:],) if rotating < x.shape[-1] else ()
    exact = x[..., :rotating] if passing else x
    narrow = x.dtype in (torch.bfloat16, torch.float16)
    first, second = (exact.float() if narrow else exact).chunk(2, dim=-1)
    numbers = torch.complex(first, second) * factors
    rotated = torch.cat((numbers.real, numbers.imag, *passing), dim=-1)
    return rotated.to(x.dtype) if narrow else rotated


def _empty_like(x: Tensor) -> Tensor:
    """Return an empty tensor with the strides of `x`, in huge pages if it is large."""
    if x.device.type != "cpu" or x.numel() * x.element_size() < LARGE:
        return torch.empty_like(x)
    strides = torch.empty_like(x, device="meta").stride()
    memory = torch.from_numpy(np.empty(x.numel() * x.element_size(), np.uint8))
    return memory.view(x.dtype).as_strided(x.shape, strides)


def _as_complex(x: Tensor, dtype: torch.dtype) -> Tensor | None:
    """Return a complex view of the pairs of `x`, or None if its strides do not allow one."""
    try:
        return x.view(dtype)
    except RuntimeError:  # there are gaps, or pairs start at odd offsets
        return None


def _rotate_by_tiles(x: Tensor, factors: Tensor, layout: str, out: Tensor) -> None:
    """Write `x` rotated into `out`, one tile at a time."""
    rotate: Callable[..., None]
    if layout == "interleaved":
        rotate, parts = _rotate_complex_tile, [factors]
    else:
        cos, sin = factors.real, factors.imag.contiguous()
        rotate, parts = _rotate_halves_tile, [torch.cat([cos, cos], dim=-1), sin]
    parts = [part.expand(x.shape[0], 1, *part.shape[-2:]) for part in parts]
    for sequences, heads, rows in _tiles(x):
        tile = sequences, heads, rows
        rotate(x[tile], out[tile], *(part[sequences, :, rows] for part in parts))


def _tiles(x: Tensor) -> Iterator[tuple[slice, ...]]:
    """Yield the slices of batch, heads and length of each tile of `x`; on a GPU, a single tile."""
    batch, heads, length, d = x.shape
    room = TILE if x.device.type == "cpu" else x.numel()
    rows = max(1, min(length, room // d))
    several = max(1, min(heads, room // (d * rows)))
    sequences = max(1, min(batch, room // (d * rows * several)))
    steps = (sequences, several, rows)
    starts = (range(0, size, step) for size, step in zip(x.shape, steps, strict=False))
    for corner in product(*starts):
        yield tuple(slice(start, start + step) for start, step in zip(corner, steps, strict=True))


def _rotate_complex_tile(x: Tensor, out: Tensor, factors: Tensor) -> None:
    """Write a tile of `x` rotated into `out`, through a copy that can be viewed as complex."""
    exact = torch.empty(x.shape, dtype=factors.dtype.to_real(), device=x.device).copy_(x)
    exact.view(factors.dtype).mul_(factors)
    out.copy_(exact)


def _rotate_halves_tile(x: Tensor, out: Tensor, cos: Tensor, sin: Tensor) -> None:
    """Write a tile of `x` in the layout "half" rotated into `out`."""
    exact = x.to(cos.dtype)
    apart = out.dtype is cos.dtype and not is_same(x, out)
    rotated = torch.mul(exact, cos, out=out if apart else None)
    (first, second), (above, below) = exact.chunk(2, dim=-1), rotated.chunk(2, dim=-1)
    above.addcmul_(second, sin, value=-1)
    below.addcmul_(first, sin)
    if not apart:
        out.copy_(rotated)
