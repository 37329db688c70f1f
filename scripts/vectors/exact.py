"""Numbers of 50 digits, and how they are rounded."""

from __future__ import annotations

import math
import struct
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import mpmath

mp = mpmath.ctx_mp.MPContext()
mp.dps = 50

Number = Any  # an mpf, an int or a float
Row = list[Any]

HIDDEN = "-Infinity"  # the bias of a key that may not be seen
SIGNIFICANT = 7  # digits of what a known bug returns

exact = mp.mpf


def rounded_to_float64(value: Any) -> Any:
    """Return a structure with every number as the nearest float64; integers stay integers."""
    if isinstance(value, dict):
        return {key: rounded_to_float64(inner) for key, inner in value.items()}
    if isinstance(value, list | tuple):
        return [rounded_to_float64(inner) for inner in value]
    if value is None or isinstance(value, bool | int | str):
        return value
    return nearest(value)


def nearest(value: Number) -> float:
    """Return the float64 nearest to a number, and 0.0 for −0.0."""
    if isinstance(value, float):
        return value + 0.0
    number: float = mpmath.libmp.to_float(value._mpf_, rnd="n")
    return number + 0.0


def shortened(value: Any, decimals: int) -> Any:
    """Return a structure with every number rounded to a few digits, enough to recognise it."""
    if isinstance(value, dict):
        return {key: shortened(inner, decimals) for key, inner in value.items()}
    if isinstance(value, list):
        return [shortened(inner, decimals) for inner in value]
    if not isinstance(value, float):
        return value
    return round(float(f"{value:.{SIGNIFICANT}g}"), decimals) + 0.0


def leaves(value: Any) -> Iterator[Any]:
    """Yield the numbers of a structure, in order."""
    if isinstance(value, dict):
        value = list(value.values())
    if isinstance(value, list | tuple):
        for inner in value:
            yield from leaves(inner)
    else:
        yield value


def distance(one: Any, other: Any) -> float:
    """Return how far two rounded structures are apart: infinitely, if of different shapes."""
    pairs = list(zip(leaves(one), leaves(other), strict=False))
    if shape(one) != shape(other):
        return math.inf
    return max((_number_distance(a, b) for a, b in pairs), default=0.0)


def _number_distance(a: Any, b: Any) -> float:
    if a is None or a == b:  # None stands for anything
        return 0.0
    if isinstance(a, str) or isinstance(b, str) or b is None:
        return math.inf
    return float(abs(a - b))


def shape(value: Any) -> Any:
    """Return the lengths of nested lists, and the keys of mappings."""
    if isinstance(value, dict):
        return tuple((key, shape(inner)) for key, inner in sorted(value.items()))
    return [shape(inner) for inner in value] if isinstance(value, list) else 0


def float32(value: Number) -> Number:
    """Return a number rounded to float32, exactly."""
    return exact(struct.unpack("f", struct.pack("f", nearest(exact(value))))[0])


def bfloat16(value: Number) -> Number:
    """Return a number rounded to bfloat16, which has 8 bits, exactly."""
    return _bits(value, 8)


def float16(value: Number) -> Number:
    """Return a number rounded to float16, exactly; OverflowError if it is too large."""
    return exact(struct.unpack("e", struct.pack("e", nearest(exact(value))))[0])


def _bits(value: Number, bits: int) -> Number:
    value = exact(value)
    if value == 0:
        return value
    exponent = int(mp.floor(mp.log(abs(value), 2)))
    step = exact(2) ** (exponent - bits + 1)
    quotient = mp.nint(value / step)  # ties to even
    return quotient * step


def entries(count: int, seed: int) -> list[float]:
    """Return numbers between −2 and 2, all multiples of 1/8, which every format has exactly."""
    state, found = 12345 + 7919 * seed, []
    for _ in range(count):
        state = (1103515245 * state + 12345) % 2**31
        eighth = (state >> 16) % 31 - 15
        found.append((eighth + (eighth >= 0)) / 8)  # never 0, so that nothing stands still
    return found


def nested_lists(values: Sequence[Any], *lengths: int) -> Any:
    """Return values as nested lists of these lengths."""
    if len(lengths) == 1:
        return list(values)
    size = len(values) // lengths[0]
    return [
        nested_lists(values[n * size : (n + 1) * size], *lengths[1:]) for n in range(lengths[0])
    ]


def vectors(seed: int, *lengths: int) -> Any:
    """Return nested lists of `entries`."""
    return nested_lists(entries(math.prod(lengths), seed), *lengths)


def largest(values: Iterable[Number]) -> float:
    """Return the largest absolute value, as a float; 0 if there is none."""
    return max((abs(nearest(exact(value))) for value in values), default=0.0)
