"""`apply_rope` and a step of `turn` in "half", each against the obvious slices of the same work.

python -m scripts.bench.slices           printed and not written: no page shows these numbers

The obvious slices are what one would write without a library, and no more: nothing is checked, and
what is narrow is multiplied in its own type. Ratios are those of `scripts.bench`; memory is the
most that numpy holds at a time.
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
from scripts.bench.__main__ import pin
from scripts.bench.measure import Case, Pair, Work, measured

Array = NDArray[np.floating]
FIRST = 1000  # position of the first vector
SIZES = ((2, 8, 16, 64), (1, 8, 512, 64), (1, 32, 2048, 128), (512, 8, 1, 64))
STEPS = ((1, 32, 1, 128), (1, 8, 1, 64), (32, 32, 1, 128))


def main() -> None:
    """Measure and print."""
    pin()
    print("| what | ratio | from | to | error | memory |\n|---|--:|--:|--:|--:|--:|")
    for case in cases():
        found = measured("slices", case)
        held = memory(case.make()) if case.name.startswith("numpy") else "-"
        numbers = f"{found.ratio:.2f} | {found.low:.2f} | {found.high:.2f} | {found.error:.1e}"
        print(f"| {case.what} | {numbers} | {held} |", flush=True)


def memory(pair: Pair) -> str:
    """Return how many times the memory of its floor a work holds at most."""
    return f"{most(pair.subject) / most(pair.floor):.2f}"


def most(work: Work) -> int:
    """Return the bytes that are held at a time, at most."""
    tracemalloc.start()
    try:
        work()
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def cases(
    sizes: tuple[tuple[int, ...], ...] = SIZES, steps: tuple[tuple[int, ...], ...] = STEPS
) -> Iterator[Case]:
    """Yield `apply_rope` in both layouts and types, and a step in both types."""
    for shape in sizes:
        for dtype in (np.dtype(np.float32), np.dtype(np.float64)):
            for layout in ("interleaved", "half"):
                what = f"`apply_rope`, {layout}, {dtype}, {shape}"
                make = partial(in_numpy, shape, dtype, layout)
                yield Case(f"numpy, {what}", what, "slices", make)
    for shape in steps:
        for kind in (torch.float32, torch.bfloat16):
            what = f"`turn`, half, {str(kind).removeprefix('torch.')}, {shape}"
            yield Case(f"torch, {what}", what, "slices", partial(in_torch, shape, kind))


def in_numpy(shape: tuple[int, ...], dtype: np.dtype[np.floating], layout: str) -> Pair:
    """Return `apply_rope`, and the slices in the type of the vectors."""
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


def in_torch(shape: tuple[int, ...], dtype: torch.dtype) -> Pair:
    """Return `turn`, and the two lines of most models, their cosines and sines made before."""
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
