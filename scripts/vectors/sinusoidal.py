"""Suite sinusoidal: sines and cosines, in the orders and with the exponents that are in use."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from scripts.vectors.cases import Answer, Suite, Tolerance, angle_tolerance
from scripts.vectors.exact import (
    Number,
    Row,
    bfloat16,
    exact,
    float16,
    float32,
    largest,
    leaves,
    mp,
)
from scripts.vectors.rotation import beyond, map_nested, tables_ended

Inputs = dict[str, Any]


def powers(inputs: Inputs) -> Row:
    """Return the frequency of each pair."""
    half = inputs["d_model"] // 2
    return [exact(inputs["base"]) ** (exact(-i) / (half - inputs["shift"])) for i in range(half)]


def table(inputs: Inputs, **other: Any) -> Any:
    """Return a row for each position, parts of which may be computed otherwise."""
    inputs = {**inputs, **other}
    frequencies = inputs.get("frequencies") or powers(inputs)
    angle = inputs.get("angle", lambda p, omega: exact(p) * omega)
    first, second = (mp.sin, mp.cos) if inputs["first"] == "sine" else (mp.cos, mp.sin)
    rows = []
    for p in inputs["positions"]:
        angles = [angle(p, omega) for omega in frequencies]
        one, two = [first(a) for a in angles], [second(a) for a in angles]
        if inputs["order"] == "halves":
            rows.append(one + two)
        else:
            rows.append([value for pair in zip(one, two, strict=True) for value in pair])
    return rows


def _flipped_option(key: str, one: Any, other: Any) -> Answer:
    return lambda inputs: table(inputs, **{key: other if inputs[key] == one else one})


def _positions(change: Callable[[Number], Number]) -> Answer:
    return lambda inputs: table(inputs, positions=map_nested(change, inputs["positions"]))


def _other_shift(inputs: Inputs) -> Any:
    return table(inputs, shift=1 - inputs["shift"]) if inputs["d_model"] > 2 else None


def _each_dimension(inputs: Inputs) -> Any:
    """Give each dimension an exponent of its own, j/d instead of 2i/d."""
    if inputs["order"] != "interleaved" or inputs["shift"]:
        return None
    d, rows = inputs["d_model"], []
    waves = (mp.sin, mp.cos) if inputs["first"] == "sine" else (mp.cos, mp.sin)
    for p in inputs["positions"]:
        angles = [exact(p) * exact(inputs["base"]) ** (exact(-2 * j) / d) for j in range(d)]
        rows.append([waves[j % 2](angle) for j, angle in enumerate(angles)])
    return rows


def _powers_from_one(inputs: Inputs) -> Row:
    half = inputs["d_model"] // 2
    steps = half - inputs["shift"]
    return [exact(inputs["base"]) ** (exact(-i) / steps) for i in range(1, half + 1)]


def _late_shift(inputs: Inputs) -> Row:
    half = inputs["d_model"] // 2
    step = mp.log(exact(inputs["base"])) / half - inputs["shift"]
    return [mp.exp(-i * step) for i in range(half)]


def _one_wave(inputs: Inputs, wave: Callable[[Number], Number]) -> Any:
    rows = []
    for p in inputs["positions"]:
        one = [wave(exact(p) * w) for w in powers(inputs)]
        halves = inputs["order"] == "halves"
        rows.append(one + one if halves else [value for value in one for _ in range(2)])
    return rows


def _far(inputs: Inputs) -> bool:
    return largest(leaves(inputs["positions"])) > 256


def _rounded(rounded: Callable[[Number], Number]) -> Answer:
    return lambda inputs: map_nested(rounded, table(inputs))


def _table_of(rows: int, change: Callable[[Number], Number]) -> Answer:
    def wrong(inputs: Inputs) -> Any:
        places = beyond(inputs["positions"], change, rows)
        return None if places is None else table(inputs, positions=places)

    return wrong


BUGS: dict[str, tuple[str, Answer]] = {
    "tables rounded to bfloat16": ("Rows are rounded to bfloat16.", _rounded(bfloat16)),
    "tables rounded to float16": ("Rows are rounded to float16.", _rounded(float16)),
    "angles in degrees": (
        "Angles are taken for degrees.",
        lambda inputs: table(inputs, angle=lambda p, w: exact(p) * w * mp.pi / 180),
    ),
    "positions one too low": ("Every position is one too low.", _positions(lambda p: p - 1)),
    "positions doubled": ("Every position is doubled.", _positions(lambda p: 2 * p)),
    "positions negated": ("The sign of the sines is wrong.", _positions(lambda p: -p)),
    "sines alone": (
        "Cosines are sines, too.",
        lambda inputs: _one_wave(inputs, mp.sin),
    ),
    "cosines alone": (
        "Sines are cosines, too.",
        lambda inputs: _one_wave(inputs, mp.cos),
    ),
    **tables_ended(_table_of),
    "the other order": (
        "Sines and cosines are interleaved instead of in two halves, or the other way round.",
        _flipped_option("order", "interleaved", "halves"),
    ),
    "sine and cosine exchanged": (
        "Cosines stand where sines belong.",
        _flipped_option("first", "sine", "cosine"),
    ),
    "the other shift": (
        "The exponent is divided by half the width instead of half − 1, or the other way round.",
        _other_shift,
    ),
    "exponent of each dimension": (
        "Sine and cosine of a pair have different exponents: 2j/d for dimension j.",
        _each_dimension,
    ),
    "exponent i over d": (
        "The exponent is i/d instead of 2i/d.",
        lambda inputs: (
            None
            if inputs["shift"]
            else table(
                inputs,
                frequencies=[
                    exact(inputs["base"]) ** (exact(-i) / inputs["d_model"])
                    for i in range(inputs["d_model"] // 2)
                ],
            )
        ),
    ),
    "positions from one": ("The first position counts as 1.", _positions(lambda p: p + 1)),
    "rows for positions": (
        "Rows 0, 1, 2, … are returned, whatever the positions.",
        lambda inputs: table(inputs, positions=list(range(len(inputs["positions"])))),
    ),
    "base ignored": ("The base is 10000, whatever was given.", lambda g: table(g, base=10000)),
    "frequencies reversed": (
        "The slowest pair comes first.",
        lambda inputs: table(inputs, frequencies=powers(inputs)[::-1]),
    ),
    "sign of the position lost": (
        "A negative position gives the row of the positive one.",
        _positions(abs),
    ),
    "fractions of positions lost": ("Positions are cast to integers.", _positions(int)),
    "positions rounded to bfloat16": (
        "Positions are rounded to bfloat16, so that those above 256 coincide.",
        lambda inputs: _positions(bfloat16)(inputs) if _far(inputs) else None,
    ),
    "frequencies rounded to bfloat16": (
        "Frequencies are rounded to bfloat16 before angles are computed.",
        lambda inputs: table(inputs, frequencies=[bfloat16(w) for w in powers(inputs)]),
    ),
    "float32 angles": (
        "Angles are products in float32, off by radians far from the start.",
        lambda inputs: (
            table(
                inputs,
                frequencies=[float32(w) for w in powers(inputs)],
                angle=lambda p, w: float32(float32(p) * w),
            )
            if _far(inputs)
            else None
        ),
    ),
    "scaled by the root of d": (
        "Rows are divided by √d, or tokens were meant to be multiplied by it.",
        lambda inputs: map_nested(lambda v: v / mp.sqrt(inputs["d_model"]), table(inputs)),
    ),
    "positions times 1000": (
        "Positions are multiplied by 1000, as times between 0 and 1 are.",
        _positions(lambda p: 1000 * exact(p)),
    ),
    "shift after the division": (
        "The exponent is i · (ln(base) / (d/2) − shift), since the shift is not in the brackets.",
        lambda inputs: table(inputs, frequencies=_late_shift(inputs)),
    ),
    "angles in turns": (
        "Frequencies are taken for turns, so that angles are 2π times too large.",
        lambda inputs: table(inputs, angle=lambda p, w: 2 * mp.pi * exact(p) * w),
    ),
    "exponent from one": (
        "Pairs are counted from 1.",
        lambda inputs: table(inputs, frequencies=_powers_from_one(inputs)),
    ),
    "half of the shift": (
        "The shift is taken from d_model instead of its half.",
        lambda g: table(g, shift=exact(g["shift"]) / 2) if g["shift"] else None,
    ),
    "decimal logarithm": (
        "The logarithm of the base is that to base 10, in a natural exponential.",
        lambda g: table(g, base=mp.exp(mp.log10(exact(g["base"])))),
    ),
    "positions as fractions": (
        "Positions are divided by the largest of them.",
        lambda g: _positions(lambda p: exact(p) / max(largest(g["positions"]), 1))(g),
    ),
    "exponent 4i over d": (
        "The exponent is twice as large: 4i/d instead of 2i/d.",
        lambda inputs: table(inputs, frequencies=[w * w for w in powers(inputs)]),
    ),
    "row of 0 empty": (
        "The row of position 0 is 0, as that of padding.",
        lambda inputs: [
            row if p else [exact(0)] * len(row)
            for p, row in zip(inputs["positions"], table(inputs), strict=True)
        ],
    ),
    "positions rounded to integers": (
        "Positions are rounded to the nearest integer.",
        _positions(mp.nint),
    ),
}


PADDED = "zero appended"
CONVENTIONS: dict[str, tuple[str, Answer]] = {
    PADDED: (
        "A table of odd width is that of the even width below, with a zero at the end of each row.",
        lambda inputs: [[*row, 0] for row in table(inputs | {"d_model": inputs["d_model"] - 1})],
    )
}


def _tolerance(inputs: Inputs, answer: Any) -> Tolerance:
    return angle_tolerance(1.0, largest(leaves(inputs["positions"])))


def sinusoidal_suite() -> Suite:
    """Return suite sinusoidal."""
    suite = Suite(
        "sinusoidal",
        "The sinusoidal encoding of positions. order says whether sine and cosine of a pair are"
        " neighbours or in two halves, first which of them is first, and shift what is subtracted"
        " in the exponent i / (d_model/2 − shift). Timesteps of diffusion models are asked with"
        " order halves.",
        "A row for each position, d_model numbers.",
        table,
        BUGS,
        CONVENTIONS,
        tolerance=_tolerance,
    )
    for order in ("interleaved", "halves"):
        for first in ("sine", "cosine"):
            for shift in (0, 1):
                names = {"order": order, "first": first, "shift": shift}
                flag = "timestep" if order == "halves" and first == "cosine" else "table"
                for d in (4, 8, 16):
                    for places in ([0, 1, 2], [7, 100], [511, 4095]):
                        inputs: Inputs = {"positions": places, "d_model": d, "base": 10000} | names
                        suite.add("near", inputs, flag)
                for places in ([65537, 131071], [999_999], [1_000_003]):
                    inputs = {"positions": places, "d_model": 8, "base": 10000} | names
                    suite.add("far", inputs, flag, "far")
                for base in (100, 500000):
                    for places in ([1, 3], [2000]):
                        inputs = {"positions": places, "d_model": 6, "base": base} | names
                        suite.add("base", inputs, flag, "base")
                for reals in ([0.5, 999.25], [0.001, 0.125], [-1, -50.5]):
                    inputs = {"positions": reals, "d_model": 8, "base": 10000} | names
                    flags = ("negative",) if min(reals) < 0 else ("real positions",)
                    suite.add("real", inputs, flag, *flags)
    plain = {"positions": [0, 1], "order": "halves", "first": "sine", "shift": 0, "base": 10000}
    suite.refuse(plain | {"d_model": 0}, "width")
    suite.refuse(plain | {"d_model": 3}, "width", acceptable=[PADDED])
    suite.refuse(plain | {"d_model": -4}, "width")
    for base in (0, -10000):
        suite.refuse(plain | {"d_model": 4, "base": base}, "base")
    suite.refuse(plain | {"d_model": 4, "order": "mixed"}, "unknown order")
    suite.refuse(plain | {"d_model": 4, "first": "tangent"}, "unknown order")
    suite.refuse(plain | {"d_model": 2, "shift": 1}, "shift")
    return suite
