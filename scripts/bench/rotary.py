"""Rotary positions: rotating queries and keys, against copying them into allocated memory.

All cases share this floor, so those that allocate their result show the cost of it; cloning is a
case as well. Angles are computed beforehand, in our code and in other libraries, unless the case
says otherwise: a model computes them once for all its layers.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import torch
from torch import Tensor

from posenc.nn import RotaryEmbedding
from scripts.bench.measure import Case, Pair, Work

FIRST = 1000  # position of the first vector

Turn = Callable[[Tensor, Tensor | None], Tensor]
Tensors = Sequence[Tensor]
Off = Callable[[Tensors], float]
Shape = tuple[int, int, int, int]


@dataclass(frozen=True)
class Vectors:
    """Queries and keys to rotate, and memory for the results."""

    queries: Tensor
    keys: Tensor
    there: tuple[Tensor, Tensor]

    @classmethod
    def random_vectors(cls, shape: Shape, dtype: torch.dtype, device: str) -> Vectors:
        """Return random vectors."""
        generator = torch.Generator().manual_seed(0)
        q, k = (torch.randn(shape, generator=generator).to(device, dtype) for _ in range(2))
        return cls(q, k, (torch.empty_like(q), torch.empty_like(k)))

    def turned(self, turn: Turn, form: str) -> Work:
        """Return a function that rotates both: as `new` tensors, `into` memory, or `in place`."""
        q, k, there = self.queries, self.keys, self.there
        into = {"new": (None, None), "into": there, "in place": (q, k)}[form]
        return synchronized(lambda: (turn(q, into[0]), turn(k, into[1])), q)

    def copied(self) -> Work:
        """Return a function that copies both into allocated memory: the floor."""
        q, k, there = self.queries, self.keys, self.there
        return synchronized(lambda: (there[0].copy_(q), there[1].copy_(k)), q)

    def off(self, layout: str = "interleaved") -> Off:
        """Return a function that returns the largest error of the rotated vectors, in float64.

        The exact result is computed at once, since rotating in place overwrites the vectors.
        """
        rotary = RotaryEmbedding(self.queries.shape[-1], layout=layout)
        exact = [rotary(x.double().cpu(), offset=FIRST) for x in (self.queries, self.keys)]
        return lambda found: furthest(found, exact)

    def pair(self, turn: Turn, form: str, layout: str = "interleaved") -> Pair:
        """Return the rotation of both, its floor, and the function that returns its error."""
        return Pair(self.turned(turn, form), self.copied(), self.off(layout))


def furthest(found: Tensors, exact: Tensors) -> float:
    """Return the largest error."""
    errors = [(x.cpu().double() - y).abs().max() for x, y in zip(found, exact, strict=True)]
    return float(torch.stack(errors).max())


def synchronized(work: Work, x: Tensor) -> Work:
    """Return a function that also waits until an asynchronous device has finished."""
    if x.device.type == "cpu":
        return work

    def done() -> object:
        result = work()
        torch.cuda.synchronize()
        return result

    return done


def ours(
    shape: Shape,
    dtype: torch.dtype,
    form: str,
    *,
    device: str,
    layout: str = "interleaved",
    recompute: bool = False,
) -> Pair:
    """Return `RotaryEmbedding.turn`, the fast path; `recompute` computes the angles each time."""
    rotary = RotaryEmbedding(shape[-1], layout=layout)
    vectors = Vectors.random_vectors(shape, dtype, device)
    factors = rotary.factors(vectors.queries, offset=FIRST)

    def turn(x: Tensor, out: Tensor | None) -> Tensor:
        return rotary.turn(x, rotary.factors(x, offset=FIRST) if recompute else factors, out=out)

    return vectors.pair(turn, form, layout)


def definition(shape: Shape, dtype: torch.dtype, *, device: str) -> Pair:
    """Return `RotaryEmbedding` itself, the definition."""
    rotary = RotaryEmbedding(shape[-1])
    return Vectors.random_vectors(shape, dtype, device).pair(
        lambda x, _: rotary(x, offset=FIRST), "new"
    )


def llama(shape: Shape, dtype: torch.dtype, *, device: str) -> Pair:
    """Return Llama's rotation in transformers, which rotates both in one call."""
    from transformers import LlamaConfig
    from transformers.models.llama import modeling_llama as peer

    vectors = Vectors.random_vectors(shape, dtype, device)
    q, k = vectors.queries, vectors.keys
    config = LlamaConfig(hidden_size=2 * shape[-1], num_attention_heads=2)
    places = torch.arange(FIRST, FIRST + shape[2], device=device)[None]
    cos, sin = peer.LlamaRotaryEmbedding(config).to(device)(q, places)
    both = synchronized(lambda: peer.apply_rotary_pos_emb(q, k, cos, sin), q)
    return Pair(both, vectors.copied(), vectors.off("half"))


def x_transformers(shape: Shape, dtype: torch.dtype, *, device: str) -> Pair:
    """Return the rotation of x-transformers, which computes sines and cosines each time."""
    from x_transformers import x_transformers as peer

    places = torch.arange(FIRST, FIRST + shape[2], device=device)
    angles = peer.RotaryEmbedding(shape[-1]).to(device)(places)[0].reshape(1, shape[2], -1)

    def turn(x: Tensor, _: Tensor | None) -> Tensor:
        turned: Tensor = peer.apply_rotary_pos_emb(x, angles)
        return turned

    return Vectors.random_vectors(shape, dtype, device).pair(turn, "new")


def cloned(shape: Shape, dtype: torch.dtype, *, device: str) -> Pair:
    """Return cloning, which allocates memory and copies."""
    vectors = Vectors.random_vectors(shape, dtype, device)
    both = vectors.queries, vectors.keys
    exact = [x.cpu().double() for x in both]
    work = synchronized(lambda: (both[0].clone(), both[1].clone()), both[0])
    return Pair(work, vectors.copied(), lambda found: furthest(found, exact))


def cases(
    heads: int = 32, length: int = 4096, d: int = 128, *, batch: int = 32, device: str = "cpu"
) -> Iterator[Case]:
    """Yield our fast path in every form, cloning, the definition, and other libraries."""
    long: Shape = (1, heads, length, d)
    step: Shape = (batch, heads, 1, d)
    f32, bf16 = torch.float32, torch.bfloat16

    def our(name: str, what: str, *how: Any, target: float | None = None, **more: Any) -> Case:
        make = partial(ours, *how, device=device, **more)
        return Case(name, f"`turn`, {what}", "a copy", make, target)

    yield our("into", "float32, into `out`", long, f32, "into", target=1.3)
    yield our("in place", "float32, in place", long, f32, "in place", target=1.0)
    yield our("new", "float32, new", long, f32, "new")
    yield our("anew", "float32, into `out`, with `factors`", long, f32, "into", recompute=True)
    yield our("bf16 new", "bfloat16, new", long, bf16, "new", target=6.0)
    yield our("bf16 into", "bfloat16, into `out`", long, bf16, "into", target=6.0)
    yield our("step", "one step, float32, new", step, f32, "new", target=1.6)
    yield our("bf16 step", "one step, bfloat16, new", step, bf16, "new")
    yield our("half into", "half, float32, into `out`", long, f32, "into", layout="half")
    yield our("half bf16 into", "half, bfloat16, into `out`", long, bf16, "into", layout="half")
    yield our("half step", "half, one step, float32, new", step, f32, "new", layout="half")
    works: dict[str, Callable[..., Pair]] = {"a clone": cloned, "the definition": definition}
    works |= {"transformers, Llama": llama, "x-transformers": x_transformers}
    for name, work in works.items():
        for which, shape, dtype in (
            ("float32", long, f32),
            ("bfloat16", long, bf16),
            ("one step, float32", step, f32),
        ):
            what = f"{name}, {which}" if work is cloned else f"{name}, {which}, new"
            make = partial(work, shape, dtype, device=device)
            yield Case(f"{name}, {which}", what, "a copy", make)
