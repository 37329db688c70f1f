"""`apply_rope`, and `turn` for one decoding step in "half", against plain slicing.

python -m scripts.bench.slices           prints the results; no page shows them

Plain slicing is the short code that one would write without a library: it checks nothing, and
multiplies half-precision numbers in half precision. Ratios are measured as in `scripts.bench`;
memory is numpy's peak.
"""

from __future__ import annotations

import tracemalloc
from collections.abc import Callable, Iterator
from functools import partial

import numpy as np
import torch
from numpy.typing import NDArray

from posenc import apply_rope, frequencies
from posenc.nn import RotaryEmbedding
from scripts.bench.__main__ import use_one_thread
from scripts.bench.measure import Case, Pair, Work, ratio_to_floor

Array = NDArray[np.floating]
FIRST = 1000  # position of the first vector
SIZES = ((2, 8, 16, 64), (1, 8, 512, 64), (1, 32, 2048, 128), (512, 8, 1, 64))
STEPS = ((1, 32, 1, 128), (1, 8, 1, 64), (32, 32, 1, 128))


def main() -> None:
    """Measure all cases and print the results."""
    use_one_thread()
    print("| what | ratio | from | to | error | memory |\n|---|--:|--:|--:|--:|--:|")
    for case in cases():
        found = ratio_to_floor("slices", case)
        held = memory(case.make()) if case.name.startswith("numpy") else "-"
        numbers = f"{found.ratio:.2f} | {found.low:.2f} | {found.high:.2f} | {found.error:.1e}"
        print(f"| {case.what} | {numbers} | {held} |", flush=True)


def memory(pair: Pair) -> str:
    """Return the peak memory as a multiple of the floor's."""
    return f"{peak(pair.subject) / peak(pair.floor):.2f}"


def peak(work: Work) -> int:
    """Return the peak memory in bytes."""
    tracemalloc.start()
    try:
        work()
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def cases(
    sizes: tuple[tuple[int, ...], ...] = SIZES, steps: tuple[tuple[int, ...], ...] = STEPS
) -> Iterator[Case]:
    """Yield `apply_rope` in both layouts and types, and one decoding step in both types."""
    for shape in sizes:
        for dtype in (np.dtype(np.float32), np.dtype(np.float64)):
            for layout in ("interleaved", "half"):
                what = f"`apply_rope`, {layout}, {dtype}, {shape}"
                make = partial(numpy_pair, shape, dtype, layout)
                yield Case(f"numpy, {what}", what, "slices", make)
    for shape in steps:
        for kind in (torch.float32, torch.bfloat16):
            what = f"`turn`, half, {str(kind).removeprefix('torch.')}, {shape}"
            yield Case(f"torch, {what}", what, "slices", partial(torch_pair, shape, kind))


def numpy_pair(shape: tuple[int, ...], dtype: np.dtype[np.floating], layout: str) -> Pair:
    """Return `apply_rope`, and plain slicing in the type of the vectors."""
    x = np.random.default_rng(0).standard_normal(shape).astype(dtype)
    places, d = FIRST + np.arange(shape[-2]), shape[-1]
    halves = slice(0, d // 2), slice(d // 2, d)
    first, second = (slice(0, d, 2), slice(1, d, 2)) if layout == "interleaved" else halves

    def slices(x: Array) -> Array:
        angles = places[:, None] * frequencies(d)
        cos, sin = np.cos(angles).astype(x.dtype), np.sin(angles).astype(x.dtype)
        a, b = x[..., first], x[..., second]
        turned = np.empty_like(x)
        turned[..., first] = a * cos - b * sin
        turned[..., second] = a * sin + b * cos
        return turned

    exact = slices(x.astype(np.float64))
    ours: Work = partial(apply_rope, x, places, layout=layout)
    return Pair(ours, partial(slices, x), lambda found: float(np.abs(found - exact).max()))


def torch_pair(shape: tuple[int, ...], dtype: torch.dtype) -> Pair:
    """Return `turn`, and the two lines that most models use, with cosines and sines precomputed."""
    rotary = RotaryEmbedding(shape[-1], layout="half")
    x = torch.randn(shape, generator=torch.Generator().manual_seed(0)).to(dtype)
    factors, half = rotary.factors(x, offset=FIRST), shape[-1] // 2
    cos, sin = (torch.cat([part, part], dim=-1).to(dtype) for part in (factors.real, factors.imag))
    exact = rotary(x.double(), offset=FIRST)

    def lines() -> torch.Tensor:
        partner = torch.cat([-x[..., half:], x[..., :half]], dim=-1)
        return x * cos + partner * sin

    def without_gradients(work: Callable[[], torch.Tensor]) -> Work:
        return torch.no_grad()(work)

    return Pair(
        without_gradients(lambda: rotary.turn(x, factors)),
        without_gradients(lines),
        lambda found: float((found.double() - exact).abs().max()),
    )


if __name__ == "__main__":
    main()
