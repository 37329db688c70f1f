"""Argument checks shared by all modules: the rules of `posenc._arguments`, for tensors.

Each check returns the argument in the form the caller computes with, or raises `TypeError` for a
wrong type and `ValueError` for a wrong value. Types, shapes and devices are always checked. Values
are checked in eager mode only: reading one would break a compiler's graph, the meta device has
none, and transforms of `torch.func`, such as `vmap`, hide them.
"""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext
from types import EllipsisType, SimpleNamespace
from typing import TypeAlias

import numpy as np
import torch
from torch import Tensor
from torch._C._functorch import (  # torch has no public names for these
    is_functorch_wrapped_tensor,
    is_legacy_batchedtensor,
)
from torch.autograd import forward_ad

from posenc._arguments import LARGEST, _shown, as_integer, as_reals

# One entry per axis: an integer is the required size, a name stands for any size, and a leading
# ellipsis for any number of axes.
Shape: TypeAlias = tuple[str | int | EllipsisType, ...]

INTEGERS = (torch.int64, torch.int32, torch.int16, torch.int8, torch.uint8)
ACTIVATIONS = (torch.float64, torch.float32, torch.bfloat16, torch.float16)
# Positions must be float32 at least: in bfloat16, 256 and 257 are the same number.
REALS = (torch.float64, torch.float32)
# How much work to spend on proving that two tensors share no memory before assuming that they do.
SEARCH = 10_000


def as_activations(name: str, x: object, shape: Shape) -> Tensor:
    """Return `x`, a floating tensor of this shape; NaN inside it is allowed."""
    return _as_tensor(name, x, "floating", ACTIVATIONS, shape)


def as_mask(name: str, mask: object, shape: Shape) -> Tensor:
    """Return `mask`, a boolean tensor of this shape."""
    return _as_tensor(name, mask, "boolean", (torch.bool,), shape)


def as_ids(name: str, ids: object, *, below: int, least: int = 0, shape: Shape = (...,)) -> Tensor:
    """Return `ids` as an int64 tensor, every entry from `least` to below − 1."""
    tensor = _as_tensor(name, ids, "integer", INTEGERS, shape)
    check_range(name, tensor, least - 1, below, f"from {least} to {below - 1}")
    return tensor.long()


def as_relative(name: str, relative: object) -> Tensor:
    """Return relative positions as an int64 tensor, (query, key) or (batch, query, key)."""
    batched = isinstance(relative, Tensor) and relative.ndim == 3
    shape: Shape = ("batch", "query", "key") if batched else ("query", "key")
    tensor = _as_tensor(name, relative, "integer", INTEGERS, shape)
    check_range(name, tensor, -LARGEST, LARGEST, "below 2**53 in size")
    return tensor.long()


def as_positions(
    name: str,
    positions: object,
    *,
    length: int | str = "length",
    batch: int | str = "batch",
    integer: bool = False,
) -> Tensor:
    """Return positions (length,) or (batch, length), as float64, or as int64 where `integer`."""
    batched = isinstance(positions, Tensor) and positions.ndim == 2
    shape: Shape = (batch, length) if batched else (length,)
    kind, dtypes = ("integer", INTEGERS) if integer else ("integer or real", INTEGERS + REALS)
    tensor = _as_tensor(name, positions, kind, dtypes, shape)
    # Beyond 2**24 float32 cannot represent every integer, and float64 beyond 2**53.
    bits = 24 if tensor.dtype is torch.float32 else 53
    check_range(name, tensor, -(2**bits), 2**bits, f"finite and below 2**{bits} in size")
    return tensor.to(torch.int64 if integer else torch.float64)


def as_points(
    name: str, points: object, *, axes: int, length: int | str, batch: int | str
) -> Tensor:
    """Return points (length, axes) or (batch, length, axes) as float64."""
    batched = isinstance(points, Tensor) and points.ndim == 3
    shape: Shape = (batch, length, axes) if batched else (length, axes)
    tensor = _as_tensor(name, points, "integer or real", INTEGERS + REALS, shape)
    bits = 24 if tensor.dtype is torch.float32 else 53  # as in `as_positions`
    check_range(name, tensor, -(2**bits), 2**bits, f"finite and below 2**{bits} in size")
    return tensor.double()


def offset_or_positions(
    offset: object,
    positions: object,
    *,
    length: int,
    batch: int | str = "batch",
    device: torch.device,
    integer: bool = False,
    max_len: int | None = None,
    fastest: float = 1.0,
) -> Tensor:
    """Return `positions` if given, otherwise offset … offset + length − 1; all below `max_len`.

    Their angles at the `fastest` frequency must stay below 2⁵³, as in `posenc`.
    """
    first = as_integer("offset", offset, least=0)
    fastest = max(1.0, fastest)
    if positions is None:
        if max_len is not None and first + length > max_len:
            raise ValueError(
                f"offset + length must be at most max_len, {max_len}; got {first} + {length}"
            )
        last = first + length - 1
        if not torch.compiler.is_compiling() and length and last * fastest >= LARGEST:
            raise ValueError(
                "offset must keep positions and their angles below 2**53 in size;"
                f" got {first}, for {length} positions and a frequency of {fastest:.6g}"
            )
        dtype = torch.int64 if integer else torch.float64
        return torch.arange(first, first + length, dtype=dtype, device=device)
    if first != 0:
        raise ValueError(f"offset must be 0 when positions are given; got {first}")
    tensor = as_positions("positions", positions, length=length, batch=batch, integer=integer)
    if max_len is not None:
        allowed = f"below max_len, {max_len}, and above −2**53"
        check_range("positions", tensor, -LARGEST, max_len, allowed)
    if fastest > 1:
        allowed = f"such that angles, at a frequency of {fastest:.6g}, are below 2**53 in size"
        check_range("positions", tensor, -LARGEST / fastest, LARGEST / fastest, allowed)
    return on_device("positions", tensor, device)


def on_device(name: str, tensor: Tensor, device: torch.device) -> Tensor:
    """Return `tensor`, which must be on this device."""
    if tensor.device != device:
        raise ValueError(f"{name} must be on the device {device}; got {tensor.device}")
    return tensor


def as_out(name: str, out: object, x: Tensor, *, apart: dict[str, Tensor]) -> Tensor:
    """Return a tensor like `x` to write a result into: `x` itself, or one that shares no memory.

    It must not share memory with the tensors in `apart` either, since they are still being read.
    """
    if not isinstance(out, Tensor):
        raise TypeError(f"{name} must be a tensor like x, or None; got {_shown(out)}")
    if out.dtype != x.dtype or out.layout is not torch.strided:
        raise TypeError(f"{name} must be of {x.dtype}, like x; got {out.dtype}, {out.layout}")
    if out.shape != x.shape:
        raise ValueError(
            f"{name} must be of shape {_written(tuple(x.shape))}, like x;"
            f" got {_written(tuple(out.shape))}"
        )
    on_device(name, out, x.device)
    tensors = (out, x, *apart.values())
    if is_differentiated(*tensors):
        raise ValueError(f"{name} must be None while gradients are recorded; got a tensor")
    if out.numel() == 0 or not all(map(values_are_known, tensors)):
        return out  # there is no memory to compare
    if _overlaps(out):
        raise ValueError(
            f"{name} must not have entries that share memory; got strides {out.stride()}"
        )
    if not is_same(x, out) and _share_memory(x, out):
        raise ValueError(f"{name} must be x itself or share no memory with it; got an overlap")
    for other, tensor in apart.items():
        if _share_memory(tensor, out):
            raise ValueError(f"{name} must share no memory with {other}; got an overlap")
    return out


def as_probability(name: str, value: object) -> float:
    """Return `value` as a float from 0 to below 1; dropout at 1 would leave nothing."""
    allowed = "a probability, from 0 to below 1"
    number = as_reals(name, value, allowed=allowed)
    if number.ndim:
        raise TypeError(f"{name} must be {allowed}; got {_shown(value)}")
    if not 0 <= number < 1:
        raise ValueError(f"{name} must be {allowed}; got {number}")
    return float(number)


def check_range(name: str, tensor: Tensor, above: float, below: float, allowed: str) -> None:
    """Raise `ValueError` unless every entry lies strictly between the two; NaN never does."""
    if tensor.numel() == 0 or not values_are_known(tensor):
        return
    for value in torch.stack(tensor.aminmax()).tolist():  # wait for the device once, not twice
        if not above < value < below:
            raise ValueError(f"{name} must be {allowed}; got {value}")


def values_are_known(x: Tensor) -> bool:
    """Return whether the values of `x` can be read: in eager mode, outside transforms."""
    return not (
        torch.compiler.is_compiling()
        or x.is_meta
        or is_functorch_wrapped_tensor(x)
        or is_legacy_batchedtensor(x)  # from torch.autograd.grad(is_grads_batched=True)
    )


def is_differentiated(*tensors: Tensor) -> bool:
    """Return whether autograd records any of these tensors, in backward or forward mode."""
    backwards = torch.is_grad_enabled() and any(x.requires_grad for x in tensors)
    if backwards or torch.compiler.is_compiling():  # compiled graphs do not support forward mode
        return backwards
    unpacked = map(forward_ad.unpack_dual, tensors)
    return any(dual.tangent is not None for dual in unpacked)


def without_autocast(device: torch.device) -> AbstractContextManager[None]:
    """Return a context with autocast off, so that products keep the dtype of their factors."""
    kind = device.type
    if torch.amp.is_autocast_available(kind) and torch.is_autocast_enabled(kind):
        return torch.autocast(kind, enabled=False)
    return nullcontext()


def _as_tensor(
    name: str, value: object, kind: str, dtypes: tuple[torch.dtype, ...], shape: Shape
) -> Tensor:
    """Return `value`, a dense tensor of one of these dtypes and of this shape."""
    article = "an" if kind[0] in "aeiou" else "a"
    if not isinstance(value, Tensor):
        raise TypeError(f"{name} must be {article} {kind} tensor; got {_shown(value)}")
    if value.layout is not torch.strided or value.is_nested:
        got = "a nested one" if value.is_nested else f"one of {value.layout}"
        raise TypeError(f"{name} must be a dense tensor; got {got}")
    if value.dtype not in dtypes:
        raise TypeError(f"{name} must be {article} {kind} tensor; got one of {value.dtype}")
    if not _fits(value.shape, shape):
        raise ValueError(
            f"{name} must be of shape {_written(shape)}; got {_written(tuple(value.shape))}"
        )
    return value


def _fits(given: torch.Size, shape: Shape) -> bool:
    """Return whether a tensor's shape matches `shape`."""
    if shape[0] is ...:
        shape = shape[1:]
        given = given[max(len(given) - len(shape), 0) :]
    return len(given) == len(shape) and all(
        isinstance(size, str) or size == here for size, here in zip(shape, given, strict=True)
    )


def _written(shape: Shape) -> str:
    """Return a shape as text, such as (batch, length, 64)."""
    axes = ["..." if size is ... else str(size) for size in shape]
    return f"({axes[0]},)" if len(axes) == 1 else f"({', '.join(axes)})"


def is_same(x: Tensor, y: Tensor) -> bool:
    """Return whether two tensors of equal shape and dtype occupy exactly the same memory."""
    return x.data_ptr() == y.data_ptr() and x.stride() == y.stride()


def _share_memory(x: Tensor, y: Tensor) -> bool:
    """Return whether two tensors share a byte of memory, even through different storages."""
    arrays = _memory(x), _memory(y)
    return np.may_share_memory(*arrays, max_work=SEARCH)  # type: ignore[arg-type]


def _memory(x: Tensor) -> np.ndarray[tuple[int, ...], np.dtype[np.void]]:
    """Return an array with the addresses of `x`, on any device, for numpy to compare.

    Its entries must not be read.
    """
    size = x.element_size()
    interface = {
        "version": 3,
        "data": (x.data_ptr(), False),
        "typestr": f"|V{size}",
        "shape": tuple(x.shape),
        "strides": tuple(size * stride for stride in x.stride()),
    }
    return np.asarray(SimpleNamespace(__array_interface__=interface))


def _overlaps(x: Tensor) -> bool:
    """Return whether entries may share memory: an axis steps within the span of a smaller one."""
    span = 1
    for stride, size in sorted(zip(x.stride(), x.shape, strict=True)):
        if size > 1 and stride < span:
            return True
        span += stride * (size - 1)
    return False
