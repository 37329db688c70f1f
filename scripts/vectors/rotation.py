"""Suites rotation and scores: every pair of a vector is rotated by its position."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from scripts.vectors.cases import Answer, Suite, Tolerance, angle_tolerance
from scripts.vectors.exact import (
    HIDDEN,
    Number,
    Row,
    bfloat16,
    exact,
    float16,
    float32,
    largest,
    leaves,
    mp,
    vectors,
)

Inputs = dict[str, Any]


def omegas(d: int, base: Number = 10000) -> Row:
    """Return base^(−2i/d) for each pair."""
    return [exact(base) ** (exact(-2 * i) / d) for i in range(d // 2)]


def pairs(d: int, layout: str) -> list[tuple[int, int]]:
    """Return the two dimensions of each pair."""
    if layout == "interleaved":
        return [(2 * i, 2 * i + 1) for i in range(d // 2)]
    return [(i, i + d // 2) for i in range(d // 2)]


def turned(a: Number, b: Number, cos: Number, sin: Number) -> tuple[Number, Number]:
    """Return a pair, rotated."""
    return a * cos - b * sin, a * sin + b * cos


def same(value: Number) -> Number:
    """Return a number as it is."""
    return value


def rotated(
    x: Row,
    angles: Row,
    layout: str,
    *,
    members: list[tuple[int, int]] | None = None,
    turn: Callable[..., tuple[Number, Number]] = turned,
    kept: Callable[[Number], Number] = same,
) -> Row:
    """Return a vector with each pair rotated by its angle; further dimensions stay.

    Args:
        x: the vector.
        angles: of each pair.
        layout: which dimensions make a pair.
        members: the dimensions of each pair, in place of the layout.
        turn: rotates a pair.
        kept: changes each cosine and sine, as a table in few bits does.
    """
    found = [exact(value) for value in x]
    for angle, (a, b) in zip(angles, members or pairs(2 * len(angles), layout), strict=True):
        found[a], found[b] = turn(x[a], x[b], kept(mp.cos(angle)), kept(mp.sin(angle)))
    return found


def frequencies_of(inputs: Inputs) -> Row:
    """Return the frequencies that an input gives, or those of its base."""
    if "frequencies" in inputs:
        return [exact(omega) for omega in inputs["frequencies"]]
    return omegas(width(inputs), inputs.get("base", 10000))


def width(inputs: Inputs) -> int:
    """Return how many dimensions are rotated."""
    return inputs.get("rotary_d") or head(inputs["x"])


def head(x: Any) -> int:
    """Return the width of the last axis."""
    return head(x[0]) if isinstance(x[0], list) else len(x)


def map_vectors(x: Any, positions: Any, rotate: Callable[[Row, Number], Row]) -> Any:
    """Return nested vectors rotated one by one; positions lack leading axes that they share."""
    if not isinstance(x[0], list):
        return rotate(x, positions)
    if depth(positions) < depth(x) - 1:
        return [map_vectors(inner, positions, rotate) for inner in x]
    places = positions * len(x) if len(positions) == 1 else positions
    return [map_vectors(inner, place, rotate) for inner, place in zip(x, places, strict=True)]


def depth(value: Any) -> int:
    """Return how deeply lists are nested."""
    return 1 + depth(value[0]) if isinstance(value, list) else 0


def map_nested(change: Callable[[Number], Number], value: Any) -> Any:
    """Return nested numbers, each changed."""
    return (
        [map_nested(change, inner) for inner in value] if isinstance(value, list) else change(value)
    )


def rotation(inputs: Inputs, **other: Any) -> Any:
    """Return the answer to an input, parts of which may be replaced."""
    inputs = {**inputs, **other}
    frequencies = frequencies_of(inputs)
    layout = inputs.get("layout", "interleaved")
    angle = inputs.get("angle", lambda p, omega: exact(p) * omega)
    how = {key: inputs[key] for key in ("members", "turn", "kept") if key in inputs}
    sign = -1 if inputs.get("inverse") else 1
    if "members" not in how and {"part", "pairs"} & inputs.keys():
        how["members"] = members(head(inputs["x"]), 2 * len(frequencies), inputs)
    return map_vectors(
        inputs["x"],
        inputs["positions"],
        lambda x, p: rotated(x, [sign * angle(p, omega) for omega in frequencies], layout, **how),
    )


def members(d: int, part: int, inputs: Inputs) -> list[tuple[int, int]]:
    """Return the dimensions of the pairs of a part, which lies in front or at the end."""
    if inputs.get("pairs") == "head" and inputs["layout"] == "half":
        return [(i, i + d // 2) for i in range(part // 2)]
    first = d - part if inputs.get("part") == "last" else 0
    return [(first + a, first + b) for a, b in pairs(part, inputs["layout"])]


def _layout(inputs: Inputs, swapped: str) -> str | None:
    """Return the other layout, if the input has this one."""
    other = {"interleaved": "half", "half": "interleaved"}[swapped]
    return other if inputs.get("layout", "interleaved") == swapped else None


def _other_layout_bug(layout: str) -> Answer:
    def wrong(inputs: Inputs) -> Any:
        other = _layout(inputs, layout)
        return rotation(inputs, layout=other) if other else None

    return wrong


POWERS: dict[str, tuple[str, Callable[[int, int], Number]]] = {
    "exponent i over d": ("The exponent is i/d instead of 2i/d.", lambda i, d: exact(-i) / d),
    "exponent 4i over d": ("The exponent is 4i/d instead of 2i/d.", lambda i, d: exact(-4 * i) / d),
    "half minus one": (
        "The exponent is i/(d/2 − 1) instead of 2i/d.",
        lambda i, d: exact(-i) / max(d // 2 - 1, 1),
    ),
    "exponent from one": ("Pairs are counted from 1.", lambda i, d: exact(-2 * (i + 1)) / d),
    "wavelengths": (
        "The sign of the exponent is wrong: base^(+2i/d), the wavelength divided by 2π.",
        lambda i, d: exact(2 * i) / d,
    ),
}


def wrong_powers(
    answered: Callable[[Inputs, Callable[[int, Number], Row]], Any], *names: str
) -> dict[str, tuple[str, Answer]]:
    """Return the bugs of the exponent, answered with frequencies of a width and a base."""

    def bug(power: Callable[[int, int], Number]) -> Answer:
        def own(d: int, base: Number) -> Row:
            return [exact(base) ** power(i, d) for i in range(d // 2)]

        return lambda inputs: answered(inputs, own)

    return {name: (POWERS[name][0], bug(POWERS[name][1])) for name in names}


def _of_given_base(inputs: Inputs, own: Callable[[int, Number], Row]) -> Any:
    if "frequencies" in inputs:
        return None
    return rotation(inputs, frequencies=own(width(inputs), inputs.get("base", 10000)))


def _positions(change: Callable[[Number], Number]) -> Answer:
    return lambda inputs: rotation(inputs, positions=map_nested(change, inputs["positions"]))


def _reversed(positions: Any) -> Any:
    """Return the positions of each sequence in reverse."""
    if positions and isinstance(positions[0], list):
        return [_reversed(row) for row in positions]
    return positions[::-1]


def _count_from_zero(inputs: Inputs) -> Any:
    """Count every sequence from 0, wherever it starts."""

    def count(places: Any) -> Any:
        if places and isinstance(places[0], list):
            return [count(inner) for inner in places]
        return list(range(len(places)))

    if not isinstance(inputs["positions"], list) or depth(inputs["x"]) == 1:
        return None
    return rotation(inputs, positions=count(inputs["positions"]))


def _first_for_all(inputs: Inputs) -> Any:
    """Give every sequence the positions of the first."""
    places = inputs["positions"]
    if depth(places) < 2 or len(places) < 2:
        return None
    return rotation(inputs, positions=[places[0]] * len(places))


def _whole_head(inputs: Inputs) -> Any:
    """Rotate the whole head."""
    d = head(inputs["x"])
    if inputs.get("rotary_d", d) == d or "frequencies" in inputs:
        return None
    return rotation(inputs, rotary_d=d)


def _frequencies_of_head(inputs: Inputs) -> Any:
    """Give the rotated part the first frequencies of the whole head."""
    d, part = head(inputs["x"]), width(inputs)
    if part == d or "frequencies" in inputs:
        return None
    return rotation(inputs, frequencies=omegas(d, inputs.get("base", 10000))[: part // 2])


def _last_dimensions(inputs: Inputs) -> Any:
    """Rotate the last dimensions."""
    d, part = head(inputs["x"]), width(inputs)
    if part == d:
        return None
    moved = rotation(inputs | {"x": _vectors(lambda x: x[d - part :] + x[: d - part], inputs["x"])})
    return _vectors(lambda x: x[part:] + x[:part], moved)


def _vectors(change: Callable[[Row], Row], x: Any) -> Any:
    """Return nested vectors, each changed."""
    if isinstance(x[0], list):
        return [_vectors(change, inner) for inner in x]
    return change(x)


def _base_ignored(inputs: Inputs) -> Any:
    if "frequencies" in inputs:
        return rotation({key: value for key, value in inputs.items() if key != "frequencies"})
    return rotation(inputs, base=10000)


def _not_put_back(inputs: Inputs) -> Any:
    """Leave the result of an interleaved rotation in the order of the other layout."""
    if inputs.get("layout", "interleaved") != "interleaved":
        return None
    part = width(inputs)
    return _vectors(lambda x: x[0:part:2] + x[1:part:2] + x[part:], rotation(inputs))


def _without_still_pairs(inputs: Inputs) -> Any:
    """Leave out frequencies of 0, so that halves lie within the dimensions that rotate."""
    turning = [w for w in inputs.get("frequencies", []) if w]
    if len(turning) == len(inputs.get("frequencies", [])):
        return None
    part = 2 * len(turning)

    def rotate(x: Row, p: Number) -> Row:
        one = inputs | {"x": [x[:part]], "positions": [p], "frequencies": turning}
        return [*rotation(one)[0], *map(exact, x[part:])]

    return map_vectors(inputs["x"], inputs["positions"], rotate)


def _cosines_halved(inputs: Inputs) -> Any:
    """Repeat cosines and sines in the half layout, and pair neighbours."""
    if inputs.get("layout", "interleaved") != "interleaved":
        return None
    frequencies = frequencies_of(inputs)
    count = len(frequencies)

    def rotate(x: Row, p: Number) -> Row:
        found = [exact(value) for value in x]
        for dim in range(2 * count):
            angle = exact(p) * frequencies[dim % count]
            other = -x[dim + 1] if dim % 2 == 0 else x[dim - 1]
            found[dim] = x[dim] * mp.cos(angle) + other * mp.sin(angle)
        return found

    return map_vectors(inputs["x"], inputs["positions"], rotate)


def _cosines_of_neighbours(inputs: Inputs) -> Any:
    """Repeat cosines and sines for neighbours, and pair halves."""
    if inputs.get("layout", "interleaved") != "half" or {"part", "pairs"} & inputs.keys():
        return None
    frequencies, sign = frequencies_of(inputs), -1 if inputs.get("inverse") else 1
    half = len(frequencies)

    def rotate(x: Row, p: Number) -> Row:
        found = [exact(value) for value in x]
        for dim in range(2 * half):
            angle = sign * exact(p) * frequencies[dim // 2]
            other = -x[dim + half] if dim < half else x[dim - half]
            found[dim] = x[dim] * mp.cos(angle) + other * mp.sin(angle)
        return found

    return map_vectors(inputs["x"], inputs["positions"], rotate)


def _first_position(inputs: Inputs) -> Any:
    """Give all vectors of a sequence the position of its first."""

    def same_places(places: Any) -> Any:
        if isinstance(places[0], list):
            return [same_places(inner) for inner in places]
        return [places[0]] * len(places)

    return rotation(inputs, positions=same_places(inputs["positions"]))


def _half_precision(p: Number) -> Number:
    return float16(min(p, 65504))


def _far(inputs: Inputs) -> bool:
    return largest(leaves(inputs["positions"])) > 256


def _rounded_angles(rounded: Callable[[Number], Number]) -> Answer:
    """Return a bug that rounds frequencies, positions and their products."""

    def angle(p: Number, omega: Number) -> Number:
        return rounded(rounded(exact(p)) * rounded(omega))

    def wrong(inputs: Inputs) -> Any:
        try:
            return rotation(inputs, angle=angle)
        except OverflowError:
            return None

    return wrong


def _second_from_first(a: Number, b: Number, cos: Number, sin: Number) -> tuple[Number, Number]:
    """Rotate in place, so that the second member is computed from the new first."""
    first = a * cos - b * sin
    return first, first * sin + b * cos


def _minus_lost(a: Number, b: Number, cos: Number, sin: Number) -> tuple[Number, Number]:
    return a * cos + b * sin, a * sin + b * cos


def _minus_twice(a: Number, b: Number, cos: Number, sin: Number) -> tuple[Number, Number]:
    return a * cos - b * sin, b * cos - a * sin


def _members_exchanged(a: Number, b: Number, cos: Number, sin: Number) -> tuple[Number, Number]:
    return a * sin + b * cos, a * cos - b * sin


def _turn(turn: Callable[..., tuple[Number, Number]]) -> Answer:
    return lambda inputs: rotation(inputs, turn=turn)


def _kept(rounded: Callable[[Number], Number]) -> Answer:
    return lambda inputs: rotation(inputs, kept=rounded)


def _pairs_of_head(inputs: Inputs) -> Any:
    """Pair dimension i of a part with i + d/2 of the whole head."""
    d, part = head(inputs["x"]), 2 * len(frequencies_of(inputs))
    if part == d or inputs["layout"] != "half" or inputs.get("part") == "last":
        return None
    return rotation(inputs, members=[(i, i + d // 2) for i in range(part // 2)])


def _infinite_base(inputs: Inputs) -> Any:
    if "frequencies" in inputs or inputs.get("base", 10000) <= 65504:
        return None
    return rotation(inputs, frequencies=[1] + [0] * (width(inputs) // 2 - 1))


def beyond(places: Any, change: Callable[[Number], Number], rows: int) -> Any:
    """Return nested positions, those beyond a table of so many rows changed; None if none is."""
    if largest(leaves(places)) < rows:
        return None
    return map_nested(lambda p: change(p) if p >= rows else p, places)


def _table_of(rows: int, change: Callable[[Number], Number]) -> Answer:
    def wrong(inputs: Inputs) -> Any:
        places = beyond(inputs["positions"], change, rows)
        return None if places is None else rotation(inputs, positions=places)

    return wrong


def tables_ended(answer: Callable[[int, Callable[[Number], Number]], Answer]) -> dict[str, Any]:
    """Return the bugs of positions beyond tables of usual sizes."""
    found: dict[str, tuple[str, Answer]] = {}
    for rows in TABLES:
        found[f"positions wrapped at {rows}"] = (
            f"Positions begin again at 0 after {rows}.",
            answer(rows, _wrapped(rows)),
        )
        found[f"positions clamped at {rows}"] = (
            f"Positions beyond a table of {rows} rows get its last.",
            answer(rows, _clamped(rows)),
        )
    return found


def _wrapped(rows: int) -> Callable[[Number], Number]:
    return lambda position: position % rows


def _clamped(rows: int) -> Callable[[Number], Number]:
    return lambda position: rows - 1


def _rest_lost(inputs: Inputs) -> Any:
    """Leave zeros where nothing rotates."""
    d, part = head(inputs["x"]), 2 * len(frequencies_of(inputs))
    if part == d:
        return None
    found = members(d, part, {"layout": "half"} | inputs)
    own = {dim for pair in found for dim in pair}
    return _vectors(
        lambda x: [v if n in own else exact(0) for n, v in enumerate(x)], rotation(inputs)
    )


def _along_heads(inputs: Inputs) -> Any:
    """Take the position of the head instead of that of the token."""
    if depth(inputs["x"]) != 4:
        return None
    turn = [_transposed(heads) for heads in inputs["x"]]
    return [_transposed(tokens) for tokens in rotation(inputs, x=turn)]


def _along_batch(inputs: Inputs) -> Any:
    """Take the position of the sequence instead of that of the token."""
    if depth(inputs["x"]) != 4:
        return None
    return [
        [rotation(inputs, x=tokens, positions=[p] * len(tokens)) for tokens in heads]
        for heads, p in zip(inputs["x"], inputs["positions"], strict=True)
    ]


def _transposed(rows: Any) -> Any:
    return [list(column) for column in zip(*rows, strict=True)]


def _rough_circle(p: Number, omega: Number) -> Number:
    """Reduce an angle by whole turns of a rough 2π."""
    return mp.fmod(exact(p) * omega, 2 * exact("3.14159"))


TABLES = (256, 512, 1024, 2048, 4096, 8192, 32768, 65536)

ROTATION_BUGS: dict[str, tuple[str, Answer]] = {
    "second member from the new first": (
        "A pair is changed in place, so that its second member is computed from the new first.",
        _turn(_second_from_first),
    ),
    "a minus lost": ("Both members are sums: a cos + b sin and a sin + b cos.", _turn(_minus_lost)),
    "a minus too many": (
        "Both members are differences: a cos − b sin and b cos − a sin.",
        _turn(_minus_twice),
    ),
    "members exchanged": ("The two members of a pair change places.", _turn(_members_exchanged)),
    "tables rounded to bfloat16": (
        "Cosines and sines are rounded to bfloat16.",
        _kept(bfloat16),
    ),
    "tables rounded to float16": ("Cosines and sines are rounded to float16.", _kept(float16)),
    "first dimensions rotated": (
        "A partial rotation rotates the first dimensions instead of the last.",
        lambda g: rotation(g, part="first") if g.get("part") == "last" else None,
    ),
    "pairs within the part": (
        "A partial rotation pairs dimension i with the half of the part, not of the whole head.",
        lambda g: rotation(g, pairs="part") if g.get("pairs") == "head" else None,
    ),
    "rotated again": (
        "Vectors that are to be rotated back are rotated once more.",
        lambda g: rotation(g, inverse=False) if g.get("inverse") else None,
    ),
    "not rotated back": (
        "Vectors that are to be rotated back stay as they are.",
        lambda g: (
            rotation(g, positions=map_nested(lambda p: 0, g["positions"]))
            if g.get("inverse")
            else None
        ),
    ),
    "pairs of the whole head": (
        "A partial rotation pairs dimension i with i + d/2 of the whole head.",
        _pairs_of_head,
    ),
    "base infinite in float16": (
        "The base is kept in float16, where 500000 is infinite, so that all pairs but one stand"
        " still.",
        _infinite_base,
    ),
    "angles in degrees": (
        "Angles are taken for degrees.",
        lambda inputs: rotation(inputs, angle=lambda p, omega: exact(p) * omega * mp.pi / 180),
    ),
    "angles in turns": (
        "Frequencies are taken for turns, so that angles are 2π times too large.",
        lambda inputs: rotation(inputs, angle=lambda p, omega: exact(p) * omega * 2 * mp.pi),
    ),
    "sines lost": (
        "Sines are 0, so that both members are multiplied by the cosine.",
        _turn(lambda a, b, cos, sin: (a * cos, b * cos)),
    ),
    "result rounded to float16": (
        "The rotated vectors are rounded to float16.",
        lambda inputs: map_nested(float16, rotation(inputs)),
    ),
    "positions reversed": (
        "The first token has the last position.",
        lambda inputs: rotation(inputs, positions=_reversed(inputs["positions"])),
    ),
    "result rounded to bfloat16": (
        "The rotated vectors are rounded to bfloat16.",
        lambda inputs: map_nested(bfloat16, rotation(inputs)),
    ),
    "positions rounded to float16": (
        "Positions are rounded to float16, so that those above 2048 coincide.",
        lambda inputs: _positions(_half_precision)(inputs) if _far(inputs) else None,
    ),
    "one position for all": (
        "All vectors get the position of the first.",
        lambda inputs: _first_position(inputs),
    ),
    "cosines as for neighbours": (
        "Halves are paired, but cosines and sines are repeated as for neighbours.",
        lambda inputs: _cosines_of_neighbours(inputs),
    ),
    "not rotated": (
        "Nothing is rotated.",
        lambda inputs: rotation(inputs, angle=lambda p, omega: exact(0)),
    ),
    "positions one too low": (
        "Every position is one too low.",
        _positions(lambda p: p - 1),
    ),
    **tables_ended(_table_of),
    "half for interleaved": (
        "Dimension i is paired with i + d/2, where pairs are neighbours.",
        _other_layout_bug("interleaved"),
    ),
    "interleaved for half": (
        "Neighbours are paired, where dimension i belongs to i + d/2.",
        _other_layout_bug("half"),
    ),
    "rotates the wrong way": (
        "The sign of the sines is wrong, so that positions count backwards.",
        lambda inputs: rotation(inputs, angle=lambda p, omega: -exact(p) * omega),
    ),
    "positions from one": (
        "The first position counts as 1 instead of 0.",
        _positions(lambda p: p + 1),
    ),
    "offset forgotten": (
        "Every sequence is counted from 0, wherever it starts.",
        _count_from_zero,
    ),
    "positions of the first sequence": (
        "All sequences of a batch get the positions of the first.",
        _first_for_all,
    ),
    "frequencies reversed": (
        "The slowest pair comes first.",
        lambda inputs: rotation(inputs, frequencies=frequencies_of(inputs)[::-1]),
    ),
    "base ignored": (
        "The base is 10000, or the frequencies those of base 10000, whatever was given.",
        _base_ignored,
    ),
    "whole head rotated": ("rotary_d is ignored.", _whole_head),
    "frequencies of the whole head": (
        "A partial rotation takes its frequencies from the width of the whole head.",
        _frequencies_of_head,
    ),
    "last dimensions rotated": (
        "A partial rotation rotates the last dimensions instead of the first.",
        _last_dimensions,
    ),
    "pairs inside the rotating part": (
        "Pairs that stand still are left out, so that others are paired inside the rotating part.",
        _without_still_pairs,
    ),
    "rotated twice or positions doubled": (
        "The rotation is applied twice, or every position is doubled.",
        lambda inputs: rotation(inputs, angle=lambda p, omega: 2 * exact(p) * omega),
    ),
    "sine and cosine exchanged": (
        "The table of sines is used for cosines, and the other way round.",
        lambda inputs: rotation(inputs, angle=lambda p, omega: mp.pi / 2 - exact(p) * omega),
    ),
    "result not put back": (
        "The result of an interleaved rotation stays in the order of the half layout.",
        _not_put_back,
    ),
    "cosines in the half layout": (
        "Neighbours are paired, but cosines and sines are repeated as for halves.",
        _cosines_halved,
    ),
    "sign of the position lost": (
        "A negative position rotates as the positive one.",
        lambda inputs: rotation(inputs, positions=map_nested(abs, inputs["positions"])),
    ),
    "positions rounded to bfloat16": (
        "Positions are rounded to bfloat16, so that those above 256 coincide.",
        lambda inputs: _positions(bfloat16)(inputs) if _far(inputs) else None,
    ),
    "frequencies rounded to bfloat16": (
        "Frequencies are rounded to bfloat16 before angles are computed.",
        lambda inputs: rotation(inputs, frequencies=[bfloat16(w) for w in frequencies_of(inputs)]),
    ),
    "float32 angles": (
        "Angles are products in float32, off by radians far from the start.",
        lambda inputs: (
            rotation(
                inputs,
                frequencies=[float32(omega) for omega in frequencies_of(inputs)],
                angle=lambda p, omega: float32(float32(p) * omega),
            )
            if _far(inputs)
            else None
        ),
    ),
    "fractions of positions lost": (
        "Positions are cast to integers.",
        lambda inputs: rotation(inputs, positions=map_nested(int, inputs["positions"])),
    ),
    "bfloat16 angles": (
        "Positions, frequencies and their products are rounded to bfloat16.",
        _rounded_angles(bfloat16),
    ),
    "float16 angles": (
        "Positions, frequencies and their products are rounded to float16.",
        _rounded_angles(float16),
    ),
    "rest lost": ("Dimensions that do not rotate are 0 in the answer.", _rest_lost),
    "positions along the heads": (
        "Vectors get the position of the number of their head instead of that of their token.",
        _along_heads,
    ),
    "positions along the batch": (
        "Vectors get the position of the number of their sequence instead of that of their token.",
        _along_batch,
    ),
    "positions rounded to integers": (
        "Positions are rounded to the nearest integer.",
        lambda inputs: rotation(inputs, positions=map_nested(mp.nint, inputs["positions"])),
    ),
    "negative positions as 0": (
        "Negative positions are raised to 0.",
        lambda inputs: rotation(
            inputs, positions=map_nested(lambda p: max(p, 0), inputs["positions"])
        ),
    ),
    **wrong_powers(_of_given_base, *POWERS),
    "given frequencies inverted": (
        "Frequencies that are given are taken for divisors.",
        lambda inputs: (
            rotation(inputs, frequencies=[w and 1 / exact(w) for w in inputs["frequencies"]])
            if "frequencies" in inputs
            else None
        ),
    ),
    "last pair not rotated": (
        "The last pair of those that should rotate stands still.",
        lambda inputs: (
            rotation(inputs, frequencies=[*frequencies_of(inputs)[:-1], exact(0)])
            if len(frequencies_of(inputs)) > 1
            else None
        ),
    ),
    "fractions rounded up": (
        "Positions are rounded up to integers.",
        lambda inputs: rotation(inputs, positions=map_nested(mp.ceil, inputs["positions"])),
    ),
    "2π of six digits": (
        "Whole turns are taken off large angles by a π of 3.14159.",
        lambda inputs: rotation(inputs, angle=_rough_circle),
    ),
}


def tolerance(inputs: Inputs, answer: Any) -> Tolerance:
    """Return the tolerance of rotated vectors: a rotation keeps the length of a pair."""
    fastest = largest(frequencies_of(inputs))
    angle = fastest * largest(leaves(inputs["positions"]))
    return angle_tolerance(1.5 * largest(leaves(inputs["x"])), angle)


def rotation_suite() -> Suite:
    """Return suite rotation."""
    suite = Suite(
        "rotation",
        "Vectors x, (…, length, d), with every pair rotated by its position. positions has a number"
        " for each vector, without leading axes that share them. In the layout interleaved pairs"
        " are neighbours, in the layout half dimension i is paired with i + d/2. The first rotary_d"
        " dimensions are rotated, or all; by given frequencies, or by those of a base. part last:"
        " the last rotary_d dimensions; pairs head: in the layout half, dimension i is paired with"
        " i + d/2 of the whole head; inverse: x is rotated back.",
        "The rotated vectors, in the shape of x.",
        rotation,
        ROTATION_BUGS,
        tolerance=tolerance,
    )
    seed = 0
    for layout in ("interleaved", "half"):
        for d in (2, 4, 6, 8, 16):
            for base in (10000, 500000, 100, 1e6):
                seed += 1
                inputs = {"x": vectors(seed, 3, d), "positions": [0, 1, 2], "layout": layout}
                suite.add("near", inputs | {"base": base}, "base" if base != 10000 else "default")
        for d in (4, 8):
            for start in (1, 5, 100, 511, 2048, 4095):
                seed += 1
                inputs = {"x": vectors(seed, 3, d), "positions": [start, start + 1, start + 2]}
                suite.add("offset", inputs | {"layout": layout, "base": 10000}, "offset")
        for start in (8191, 32768, 65537, 131071, 999_999, 2_000_003):
            for base in (10000, 500000):
                seed += 1
                inputs = {"x": vectors(seed, 2, 8), "positions": [start, start + 1]}
                suite.add("far", inputs | {"layout": layout, "base": base}, "far", "offset")
        for d, part in ((8, 4), (8, 2), (8, 6), (16, 4), (16, 8), (12, 6)):
            for start in (0, 1000):
                seed += 1
                inputs = {"x": vectors(seed, 2, d), "positions": [start + 1, start + 3]}
                inputs |= {"layout": layout, "base": 10000, "rotary_d": part}
                suite.add("partial", inputs, "partial")
        for rows in ([[0, 1], [7, 8]], [[3, 4], [0, 1]], [[0, 0], [0, 5]], [[100, 101], [2, 3]]):
            for d in (4, 8):
                seed += 1
                inputs = {"x": vectors(seed, 2, 2, d), "positions": rows, "layout": layout}
                suite.add("batch", inputs | {"base": 10000}, "per sequence")
        for d in (4, 8):
            seed += 1
            inputs = {"x": vectors(seed, 2, 2, 2, d), "positions": [6, 9], "layout": layout}
            suite.add("heads", inputs | {"base": 10000}, "heads")
        for d in (4, 8, 16):
            for factor in (2, 8):
                seed += 1
                scaled = [10000.0 ** (-2 * i / d) / factor for i in range(d // 2)]
                inputs = {"x": vectors(seed, 2, d), "positions": [3, 700], "layout": layout}
                suite.add("given", inputs | {"frequencies": scaled}, "frequencies")
        seed += 1
        inputs = {"x": vectors(seed, 2, 8), "positions": [3, 9], "layout": layout}
        suite.add("still", inputs | {"frequencies": [1.0, 0.1, 0, 0]}, "frequencies", "zero")
        for places in ([-1, -2], [-5, 3], [-1000, -1]):
            seed += 1
            inputs = {"x": vectors(seed, 2, 4), "positions": places, "layout": layout}
            suite.add("negative", inputs | {"base": 10000}, "negative")
        for reals in ([0.5, 1.5], [0.25, 100.75], [2.125, 3.5]):
            seed += 1
            inputs = {"x": vectors(seed, 2, 4), "positions": reals, "layout": layout}
            suite.add("real", inputs | {"base": 10000}, "real positions")
        seed += 1
        inputs = {"x": vectors(seed, 1, 4), "positions": [0], "layout": layout, "base": 10000}
        suite.add("start", inputs, "default")
    _add_parts(suite)
    x = vectors(seed, 2, 4)
    plain = {"x": x, "positions": [0, 1], "layout": "half", "base": 10000}
    suite.refuse(plain | {"x": vectors(1, 2, 3)}, "odd width")
    suite.refuse(plain | {"x": vectors(1, 2, 5)}, "odd width")
    suite.refuse(plain | {"rotary_d": 6}, "partial")
    suite.refuse(plain | {"rotary_d": 3}, "partial")
    suite.refuse(plain | {"layout": "neighbours"}, "unknown layout")
    suite.refuse(plain | {"positions": [0, 1, 2]}, "shape")
    suite.refuse(plain | {"base": 0}, "base")
    suite.refuse(plain | {"base": -10000}, "base")
    inputs = {"x": x, "positions": [0, 1], "layout": "half"}
    suite.refuse(inputs | {"frequencies": [1, 0.1, 0.01]}, "shape")
    suite.refuse(inputs | {"frequencies": [1]}, "shape")
    return suite


def _add_parts(suite: Suite) -> None:
    """Add trailing parts, pairs across the head, and vectors that are rotated back."""
    seed = 600
    for layout in ("interleaved", "half"):
        for d, part in ((6, 2), (8, 4), (12, 4), (16, 8)):
            for start in (1, 700):
                seed += 1
                inputs = {"x": vectors(seed, 2, d), "positions": [start, start + 6]}
                inputs |= {"layout": layout, "base": 10000, "rotary_d": part}
                suite.add("trailing", inputs | {"part": "last"}, "partial", "trailing")
                suite.add("back", inputs | {"inverse": True}, "partial", "inverse")
                if layout == "half":
                    suite.add("across", inputs | {"pairs": "head"}, "partial", "across")
                    suite.add("within", inputs | {"pairs": "part"}, "partial", "within")


def scores(inputs: Inputs, **other: Any) -> Any:
    """Return the scores of rotated queries and keys, parts of which may be replaced."""
    inputs = {**inputs, **other}
    common = {key: inputs[key] for key in ("layout", "base") if key in inputs}

    def rotated_side(side: str) -> Any:
        changes = inputs.get(side, {})
        places = inputs[f"{side}_positions"]
        return rotation(common | {"x": inputs[f"{side}_"], "positions": places} | changes)

    inputs = {"query_": inputs["query"], "key_": inputs["key"]} | {
        key: value for key, value in inputs.items() if key not in ("query", "key")
    }
    inputs |= {side: other.get(f"{side}_change", {}) for side in ("query", "key")}
    queries, keys = rotated_side("query"), rotated_side("key")
    return [[sum(a * b for a, b in zip(q, k, strict=True)) for k in keys] for q in queries]


def _change_both(**change: Any) -> Answer:
    return lambda inputs: scores(inputs, query_change=change, key_change=change)


def _keys_in_other_layout(inputs: Inputs) -> Any:
    """Rotate the keys in the other layout."""
    other = "half" if inputs["layout"] == "interleaved" else "interleaved"
    return scores(inputs, key_change={"layout": other})


def _shifted_scores(change: Callable[[Number], Number]) -> Answer:
    return lambda inputs: scores(
        inputs,
        query_positions=map_nested(change, inputs["query_positions"]),
        key_positions=map_nested(change, inputs["key_positions"]),
    )


def _in_a_row(positions: list[int]) -> list[int]:
    return list(range(positions[0], positions[0] + len(positions)))


def _causal(inputs: Inputs) -> Any:
    places = inputs["key_positions"]
    return [
        [HIDDEN if k > q else score for k, score in zip(places, row, strict=True)]
        for q, row in zip(inputs["query_positions"], scores(inputs), strict=True)
    ]


def _backwards(p: Number, omega: Number) -> Number:
    return -exact(p) * omega


SCORES_BUGS: dict[str, tuple[str, Answer]] = {
    "keys alone rotated": (
        "Queries are not rotated.",
        lambda inputs: scores(inputs, query_positions=[0] * len(inputs["query"])),
    ),
    "queries alone rotated": (
        "Keys are not rotated.",
        lambda inputs: scores(inputs, key_positions=[0] * len(inputs["key"])),
    ),
    "keys rotated the wrong way": (
        "Keys rotate against the queries, so that scores depend on the sum of positions.",
        lambda inputs: scores(inputs, key_change={"angle": _backwards}),
    ),
    "layouts mixed": ("Queries and keys are rotated in different layouts.", _keys_in_other_layout),
    "rotated twice or positions doubled": (
        "Queries and keys are rotated twice, or every position is doubled.",
        _shifted_scores(lambda p: 2 * p),
    ),
    "queries in a row": (
        "Of the positions of queries, the first alone is read; the others are taken to follow it.",
        lambda inputs: scores(inputs, query_positions=_in_a_row(inputs["query_positions"])),
    ),
    "base of keys ignored": (
        "The base is not handed on to the keys, which rotate with 10000.",
        lambda inputs: scores(inputs, key_change={"base": 10000}),
    ),
    "query offset forgotten": (
        "The queries are counted from 0, though keys stand before them.",
        lambda inputs: scores(inputs, query_positions=list(range(len(inputs["query"])))),
    ),
    "key offset forgotten": (
        "The keys are counted from 0, though they begin later.",
        lambda inputs: scores(inputs, key_positions=list(range(len(inputs["key"])))),
    ),
    "query one too high": (
        "The position of each query is one too high.",
        lambda inputs: scores(inputs, query_positions=[p + 1 for p in inputs["query_positions"]]),
    ),
    "not rotated": ("Nothing is rotated.", _shifted_scores(lambda p: 0)),
    "divided by the root of d": (
        "Scores are divided by √d, which is asked for nowhere.",
        lambda inputs: map_nested(lambda s: s / mp.sqrt(head(inputs["query"])), scores(inputs)),
    ),
    "base ignored": (
        "The base is 10000, whatever was given.",
        lambda inputs: scores(inputs, base=10000),
    ),
    "half for interleaved": (
        "Dimension i is paired with i + d/2, where pairs are neighbours.",
        lambda inputs: scores(inputs, layout="half") if inputs["layout"] == "interleaved" else None,
    ),
    "interleaved for half": (
        "Neighbours are paired, where dimension i belongs to i + d/2.",
        lambda inputs: scores(inputs, layout="interleaved") if inputs["layout"] == "half" else None,
    ),
    "rotates the wrong way": (
        "The sign of the sines is wrong, so that positions count backwards.",
        _change_both(angle=_backwards),
    ),
    "positions rounded to bfloat16": (
        "Positions are rounded to bfloat16, so that those above 256 coincide.",
        _shifted_scores(bfloat16),
    ),
    "key one too high": (
        "The position of each key is one too high.",
        lambda inputs: scores(inputs, key_positions=[p + 1 for p in inputs["key_positions"]]),
    ),
    "keys at the position of the query": (
        "All keys are rotated by the position of the last query.",
        lambda inputs: scores(
            inputs, key_positions=inputs["query_positions"][-1:] * len(inputs["key"])
        ),
    ),
    **wrong_powers(
        lambda g, own: _change_both(frequencies=own(head(g["query"]), g["base"]))(g),
        "exponent i over d",
        "half minus one",
        "exponent from one",
    ),
    "divided by d": (
        "Scores are divided by d, which is asked for nowhere.",
        lambda inputs: map_nested(lambda s: s / head(inputs["query"]), scores(inputs)),
    ),
    "later keys hidden": ("Keys after a query are hidden.", lambda inputs: _causal(inputs)),
    "keys in reverse": (
        "The positions of the keys are counted from the last.",
        lambda inputs: scores(inputs, key_positions=inputs["key_positions"][::-1]),
    ),
    "transposed": (
        "Rows are keys and columns queries.",
        lambda inputs: [list(row) for row in zip(*scores(inputs), strict=True)],
    ),
}


def _score_tolerance(inputs: Inputs, answer: Any) -> Tolerance:
    lengths = [
        max(sum(x * x for x in row) ** 0.5 for row in inputs[side]) for side in ("query", "key")
    ]
    places = [*inputs["query_positions"], *inputs["key_positions"]]
    return angle_tolerance(2 * lengths[0] * lengths[1], largest(places))


def scores_suite() -> Suite:
    """Return suite scores."""
    suite = Suite(
        "scores",
        "Scores of rotated queries and keys: their dot products, not divided by √d. They depend on"
        " key − query alone; cases in a row shift both.",
        "A row for each query, a column for each key.",
        scores,
        SCORES_BUGS,
        tolerance=_score_tolerance,
    )
    seed = 1000
    for layout in ("interleaved", "half"):
        for d in (2, 4, 8, 16):
            for queries, keys in (([0, 1], [0, 1, 2]), ([5], [3, 4, 5]), ([2], [9])):
                seed += 1
                for shift in (0, 1, 37, 4000):
                    inputs = {
                        "query": vectors(seed, len(queries), d),
                        "key": vectors(seed + 500, len(keys), d),
                        "query_positions": [p + shift for p in queries],
                        "key_positions": [p + shift for p in keys],
                        "layout": layout,
                        "base": 500000 if seed % 3 == 0 else 10000,
                    }
                    suite.add("shift", inputs, "relative", *(["offset"] if shift else []))
        for start in (1, 10, 300):
            for d in (4, 8):
                seed += 1
                inputs = {
                    "query": vectors(seed, 1, d),
                    "key": vectors(seed + 500, 3, d),
                    "query_positions": [start + 2],
                    "key_positions": [start, start + 1, start + 2],
                    "layout": layout,
                    "base": 10000,
                }
                suite.add("cached", inputs, "offset", "cache")
        for start in (0, 300):
            inputs = {
                "query": vectors(2000 + start, 3, 8),
                "key": vectors(2500 + start, 3, 8),
                "query_positions": [start + p for p in (3, 7, 8)],
                "key_positions": [start + p for p in (5, 0, 2)],
                "layout": layout,
                "base": 10000,
            }
            suite.add("apart", inputs, "relative")
        for start in (100_000, 1_000_000):
            seed += 1
            inputs = {
                "query": vectors(seed, 1, 8),
                "key": vectors(seed + 500, 2, 8),
                "query_positions": [start + 64],
                "key_positions": [start, start + 63],
                "layout": layout,
                "base": 10000,
            }
            suite.add("far", inputs, "far")
    plain = {
        "query": vectors(1, 1, 4),
        "key": vectors(2, 1, 4),
        "query_positions": [0],
        "key_positions": [1],
        "layout": "half",
        "base": 10000,
    }
    suite.refuse(plain | {"key": vectors(2, 1, 6)}, "shape")
    suite.refuse(plain | {"query": vectors(2, 1, 3), "key": vectors(3, 1, 3)}, "odd width")
    suite.refuse(plain | {"layout": "neighbours"}, "unknown layout")
    suite.refuse(plain | {"key_positions": [1, 2]}, "shape")
    return suite
