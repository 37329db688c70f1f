"""Suites rotation_2d and mrope: positions with more than one axis."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from scripts.vectors.cases import Answer, Suite, Tolerance, angle_tolerance
from scripts.vectors.exact import Number, Row, exact, largest, leaves, vectors
from scripts.vectors.rotation import head, omegas, rotated, wrong_powers

Inputs = dict[str, Any]
OTHER = {"row": "column", "column": "row", "interleaved": "half", "half": "interleaved"}


def plane(inputs: Inputs, **other: Any) -> Any:
    """Return vectors whose first half is rotated by one axis and whose second by the other."""
    inputs = {**inputs, **other}
    half = head(inputs["x"]) // 2
    frequencies = inputs.get("frequencies") or omegas(half, inputs["base"])
    order = (0, 1) if inputs["first"] == "row" else (1, 0)
    found = []
    for x, place in zip(inputs["x"], inputs["positions"], strict=True):
        parts = []
        for part, axis in zip((x[:half], x[half:]), order, strict=True):
            angles = [exact(place[axis]) * omega for omega in frequencies]
            parts += rotated(part, angles, inputs["layout"])
        found.append(parts)
    return found


def _rotate_by_row_only(inputs: Inputs) -> Any:
    """Rotate the whole head by the row alone."""
    d = head(inputs["x"])
    angles = omegas(d, inputs["base"])
    return [
        rotated(x, [exact(place[0]) * w for w in angles], inputs["layout"])
        for x, place in zip(inputs["x"], inputs["positions"], strict=True)
    ]


def _whole_head(inputs: Inputs) -> Any:
    """Lay the pairs of both axes over the whole head."""
    d = head(inputs["x"])
    frequencies = omegas(d // 2, inputs["base"])
    order = (0, 1) if inputs["first"] == "row" else (1, 0)
    found = []
    for x, place in zip(inputs["x"], inputs["positions"], strict=True):
        angles = [exact(place[axis]) * w for axis in order for w in frequencies]
        found.append(rotated(x, angles, "half"))
    return found if inputs["layout"] == "half" else None


def _add_axes(row: int, column: int, by: Number = 0) -> Answer:
    """Multiply each axis, and add to both."""
    return lambda inputs: plane(
        inputs, positions=[[p[0] * row + by, p[1] * column + by] for p in inputs["positions"]]
    )


def _sums(inputs: Inputs) -> Any:
    return plane(inputs, positions=[[sum(p), sum(p)] for p in inputs["positions"]])


PLANE: dict[str, tuple[str, Answer]] = {
    "axes added": ("Both axes rotate by row + column.", _sums),
    "middles of patches": (
        "Positions are those of the middles of patches, half a patch further on each axis.",
        _add_axes(1, 1, exact(1) / 2),
    ),
    "not rotated": ("Nothing is rotated.", _add_axes(0, 0)),
    "rotated twice or positions doubled": (
        "The rotation is applied twice, or every position is doubled.",
        _add_axes(2, 2),
    ),
    "row for both": (
        "Both axes rotate by the row.",
        lambda inputs: plane(inputs, positions=[[p[0], p[0]] for p in inputs["positions"]]),
    ),
    "column for both": (
        "Both axes rotate by the column.",
        lambda inputs: plane(inputs, positions=[[p[1], p[1]] for p in inputs["positions"]]),
    ),
    "frequencies reversed": (
        "The slowest pair of each axis comes first.",
        lambda g: plane(g, frequencies=omegas(head(g["x"]) // 2, g["base"])[::-1]),
    ),
    "fractions of positions lost": (
        "Positions are cast to integers.",
        lambda g: plane(g, positions=[[int(v) for v in p] for p in g["positions"]]),
    ),
    "axes exchanged": (
        "The half of the rows is rotated by the column, and the other by the row.",
        lambda inputs: plane(inputs, first=OTHER[inputs["first"]]),
    ),
    "row lost": ("The row counts as 0.", _add_axes(0, 1)),
    "column lost": ("The column counts as 0.", _add_axes(1, 0)),
    "one axis for the whole head": ("The whole head is rotated by the row.", _rotate_by_row_only),
    "frequencies of the whole head": (
        "The exponents are those of the whole width, not of the half that an axis has.",
        lambda inputs: plane(
            inputs, frequencies=omegas(head(inputs["x"]), inputs["base"])[: head(inputs["x"]) // 4]
        ),
    ),
    "frequencies continued": (
        "The second half goes on with the frequencies where the first half ends.",
        lambda inputs: _continued(inputs),
    ),
    "the other layout": (
        "Neighbours are paired instead of halves, or the other way round.",
        lambda inputs: plane(inputs, layout=OTHER[inputs["layout"]]),
    ),
    "halves of the whole head": (
        "Dimension i is paired with i + d/2 of the whole head, across both axes.",
        _whole_head,
    ),
    "rotates the wrong way": ("The sign of the sines is wrong.", _add_axes(-1, -1)),
    "positions from one": ("Rows and columns count from 1.", _add_axes(1, 1, 1)),
    "base ignored": ("The base is 10000, whatever was given.", lambda g: plane(g, base=10000)),
    "half of the table": (
        "Only the first half of the cosines and sines is read, which belongs to one axis.",
        lambda inputs: _half_of_table(inputs),
    ),
    "every second frequency": (
        "The axes have alternate frequencies of the whole head, as in Pixtral.",
        lambda inputs: _own_frequencies(inputs, lambda w: (w[::2], w[1::2])),
    ),
    **wrong_powers(
        lambda g, own: plane(g, frequencies=own(head(g["x"]) // 2, g["base"])),
        "half minus one",
        "exponent from one",
    ),
    "second axis the wrong way": (
        "The sines of the second half of the head have the wrong sign.",
        lambda g: _add_axes(1, -1)(g) if g["first"] == "row" else _add_axes(-1, 1)(g),
    ),
    "axes pair by pair": (
        "Pairs belong to the axes in turns instead of in halves of the head.",
        lambda inputs: _pair_by_pair(inputs),
    ),
}


def _half_of_table(inputs: Inputs) -> Any:
    """Rotate the whole head by the first axis, whose frequencies are repeated."""
    if inputs["layout"] != "half":
        return None
    axis = 0 if inputs["first"] == "row" else 1
    frequencies = 2 * omegas(head(inputs["x"]) // 2, inputs["base"])
    return [
        rotated(x, [exact(place[axis]) * w for w in frequencies], "half")
        for x, place in zip(inputs["x"], inputs["positions"], strict=True)
    ]


def _continued(inputs: Inputs) -> Any:
    quarter = head(inputs["x"]) // 4
    return _own_frequencies(inputs, lambda w: (w[:quarter], w[quarter:]))


def _own_frequencies(inputs: Inputs, split: Callable[[Row], tuple[Row, Row]]) -> Any:
    """Split the frequencies of the whole head between the axes."""
    first, second = split(omegas(head(inputs["x"]), inputs["base"]))
    half = head(inputs["x"]) // 2
    one, two = plane(inputs, frequencies=first), plane(inputs, frequencies=second)
    return [a[:half] + b[half:] for a, b in zip(one, two, strict=True)]


def _pair_by_pair(inputs: Inputs) -> Any:
    d = head(inputs["x"])
    order = (0, 1) if inputs["first"] == "row" else (1, 0)
    frequencies = omegas(d // 2, inputs["base"])
    return [
        rotated(
            x, [exact(place[axis]) * w for w in frequencies for axis in order], inputs["layout"]
        )
        for x, place in zip(inputs["x"], inputs["positions"], strict=True)
    ]


def _tolerance(inputs: Inputs, answer: Any) -> Tolerance:
    return angle_tolerance(1.5 * largest(leaves(inputs["x"])), largest(leaves(inputs["positions"])))


def rotation_2d_suite() -> Suite:
    """Return suite rotation_2d."""
    suite = Suite(
        "rotation_2d",
        "Vectors of patches rotated by row and column, [row, column] for each. The first half of a"
        " vector belongs to the axis that first names, the second to the other. Each half is"
        " rotated like a head half as wide, in the layout given.",
        "The rotated vectors, in the shape of x.",
        plane,
        PLANE,
        tolerance=_tolerance,
    )
    seed = 4000
    for layout in ("interleaved", "half"):
        for first in ("row", "column"):
            for d in (4, 8, 16):
                for base in (10000, 100):
                    for places in ([[0, 0], [0, 1], [1, 0]], [[2, 5], [13, 7]]):
                        seed += 1
                        inputs = {"x": vectors(seed, len(places), d), "positions": places}
                        inputs |= {"first": first, "layout": layout, "base": base}
                        suite.add("grid", inputs, "base" if base != 10000 else "grid")
            seed += 1
            inputs = {"x": vectors(seed, 2, 8), "positions": [[0.5, 1.25], [63, 31]]}
            inputs |= {"first": first, "layout": layout, "base": 10000}
            suite.add("real", inputs, "real positions")
    plain = {"x": vectors(1, 1, 8), "positions": [[0, 1]], "first": "row"}
    plain |= {"layout": "half", "base": 10000}
    suite.refuse(plain | {"x": vectors(1, 1, 6)}, "width")
    suite.refuse(plain | {"positions": [[0, 1, 2]]}, "axes")
    suite.refuse(plain | {"positions": [[0, 1], [1, 1]]}, "shape")
    suite.refuse(plain | {"layout": "neighbours"}, "unknown layout")
    suite.refuse(plain | {"first": "depth"}, "unknown axis")
    return suite


def blocks(sections: list[int]) -> list[int]:
    """Return the axis of each pair, a block for each axis."""
    return [axis for axis, pairs in enumerate(sections) for _ in range(pairs)]


def turns(sections: list[int]) -> list[int]:
    """Return the axis of each pair, where axes take turns and the first has what is left."""
    axes = [0] * sum(sections)
    for axis in range(1, len(sections)):
        for pair in range(axis, min(len(axes), 3 * sections[axis]), 3):
            axes[pair] = axis
    return axes


def mrope(inputs: Inputs, **other: Any) -> Any:
    """Return vectors each of whose pairs is rotated by one of several positions."""
    inputs = {**inputs, **other}
    d = head(inputs["x"])
    owners = turns if inputs["interleaved_sections"] else blocks
    axes = inputs.get("axes") or owners(inputs["sections"])
    frequencies = inputs.get("frequencies") or omegas(d, inputs["base"])
    found = []
    for n, x in enumerate(inputs["x"]):
        places = [inputs["positions"][axis][n] for axis in axes]
        angles: Row = [exact(p) * w for p, w in zip(places, frequencies, strict=True)]
        found.append(rotated(x, angles, inputs["layout"]))
    return found


def _restarting(inputs: Inputs) -> Any:
    """Begin with the fastest frequency in each section."""
    if inputs["interleaved_sections"]:
        return None
    base, d = inputs["base"], head(inputs["x"])
    fresh = [w for pairs in inputs["sections"] for w in omegas(d, base)[:pairs]]
    return mrope(inputs, frequencies=fresh)


def _own_widths(inputs: Inputs) -> Any:
    """Give each section the frequencies of a head as wide as the section."""
    if inputs["interleaved_sections"]:
        return None
    own = [w for pairs in inputs["sections"] for w in omegas(2 * pairs, inputs["base"])]
    return mrope(inputs, frequencies=own)


def _axes(order: tuple[int, ...]) -> Answer:
    return lambda inputs: mrope(inputs, positions=[inputs["positions"][axis] for axis in order])


def _times(change: Any) -> Answer:
    """Change every position of an axis, given by its number."""
    return lambda inputs: mrope(
        inputs,
        positions=[[change(axis, p) for p in row] for axis, row in enumerate(inputs["positions"])],
    )


MROPE: dict[str, tuple[str, Answer]] = {
    "width lost": ("The pairs of the width rotate by the height.", _axes((0, 1, 1))),
    "width as 0": ("The width counts as 0.", _times(lambda axis, p: p * (axis != 2))),
    "time as 0": ("The time counts as 0.", _times(lambda axis, p: p * (axis != 0))),
    "time and height exchanged": ("The first two axes are exchanged.", _axes((1, 0, 2))),
    "axes one further": ("The axes are taken as height, width and time.", _axes((1, 2, 0))),
    "axes one back": ("The axes are taken as width, time and height.", _axes((2, 0, 1))),
    "rotated twice or positions doubled": (
        "The rotation is applied twice, or every position is doubled.",
        _times(lambda axis, p: 2 * p),
    ),
    "not rotated": ("Nothing is rotated.", _times(lambda axis, p: 0)),
    "positions from one": ("Positions count from 1 on every axis.", _times(lambda axis, p: p + 1)),
    "sections for turns": (
        "Each axis has a block of pairs, where axes take turns, or the other way round.",
        lambda inputs: mrope(inputs, interleaved_sections=not inputs["interleaved_sections"]),
    ),
    "the first axis for all": ("All pairs are rotated by the first axis.", _axes((0, 0, 0))),
    "height and width exchanged": ("The last two axes are exchanged.", _axes((0, 2, 1))),
    "axes reversed": ("The axes come in reverse.", _axes((2, 1, 0))),
    "sections reversed": (
        "The last section comes first.",
        lambda g: None if g["interleaved_sections"] else mrope(g, sections=g["sections"][::-1]),
    ),
    "sections restart": ("Each section begins with the fastest frequency.", _restarting),
    **wrong_powers(
        lambda g, own: mrope(g, frequencies=own(head(g["x"]), g["base"])),
        "exponent i over d",
        "half minus one",
        "exponent from one",
    ),
    "sections in dimensions": (
        "Each axis has twice as many pairs, as long as there are any.",
        lambda g: (
            None
            if g["interleaved_sections"]
            else mrope(g, axes=blocks([2 * s for s in g["sections"]])[: sum(g["sections"])])
        ),
    ),
    "sections of their own width": (
        "Each section has the frequencies of a head that is as wide as the section.",
        _own_widths,
    ),
    "plain turns": (
        "Pair i belongs to axis i mod 3, whatever the sections.",
        lambda inputs: mrope(inputs, axes=[i % 3 for i in range(sum(inputs["sections"]))]),
    ),
    "the other layout": (
        "Neighbours are paired instead of halves, or the other way round.",
        lambda inputs: mrope(inputs, layout=OTHER[inputs["layout"]]),
    ),
    "rotates the wrong way": (
        "The sign of the sines is wrong.",
        lambda inputs: mrope(inputs, positions=[[-p for p in row] for row in inputs["positions"]]),
    ),
    "base ignored": ("The base is 10000, whatever was given.", lambda g: mrope(g, base=10000)),
    "frequencies reversed": (
        "The slowest pair comes first.",
        lambda inputs: mrope(inputs, frequencies=omegas(head(inputs["x"]), inputs["base"])[::-1]),
    ),
    "height lost": (
        "The height counts as 0.",
        lambda inputs: mrope(
            inputs,
            positions=[
                row if axis != 1 else [0] * len(row) for axis, row in enumerate(inputs["positions"])
            ],
        ),
    ),
}


def mrope_suite() -> Suite:
    """Return suite mrope."""
    suite = Suite(
        "mrope",
        "M-RoPE: vectors with a position on each of three axes, time, height and width; positions"
        " has a row for each axis. sections says how many pairs each axis rotates: in blocks, or"
        " interleaved with interleaved_sections, where pair i belongs to axis i mod 3 as long as"
        " that axis has pairs left, and otherwise to time.",
        "The rotated vectors, in the shape of x.",
        mrope,
        MROPE,
        tolerance=_tolerance,
    )
    seed = 5000
    places = [
        [[0, 1, 2], [0, 1, 2], [0, 1, 2]],
        [[3, 3, 3], [0, 0, 1], [0, 1, 0]],
        [[40, 40], [40, 47], [41, 52]],
    ]
    for layout in ("half", "interleaved"):
        for sections in ([2, 1, 1], [2, 3, 3], [4, 2, 2], [1, 2, 1]):
            for base in (10000, 1e6):
                for place in places:
                    seed += 1
                    inputs = {"x": vectors(seed, len(place[0]), 2 * sum(sections))}
                    inputs |= {"positions": place, "sections": sections, "layout": layout}
                    for turn in (False, True):
                        if turn and (sections[0] < max(sections) or layout != "half"):
                            continue
                        flag = "turns" if turn else "blocks"
                        one = inputs | {"interleaved_sections": turn, "base": base}
                        suite.add(flag, one, flag, "image" if place is not places[0] else "text")
    plain = {"x": vectors(1, 1, 8), "positions": [[0], [1], [2]], "sections": [2, 1, 1]}
    plain |= {"layout": "half", "interleaved_sections": False, "base": 10000}
    suite.refuse(plain | {"sections": [2, 1]}, "sections")
    suite.refuse(plain | {"sections": [2, 2, 2]}, "sections")
    suite.refuse(plain | {"positions": [[0], [1]]}, "axes")
    suite.refuse(plain | {"positions": [[0, 1], [1, 2], [2, 3]]}, "shape")
    suite.refuse(plain | {"layout": "neighbours"}, "unknown layout")
    return suite
