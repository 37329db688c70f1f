"""Suites positions and resize: which row of a table each token gets, and tables of other sizes."""

from __future__ import annotations

from typing import Any

from scripts.vectors.cases import Answer, Suite, Tolerance, angle_tolerance
from scripts.vectors.exact import exact, largest, leaves, mp, vectors

Inputs = dict[str, Any]


def positions(inputs: Inputs) -> Any:
    """Return the position of each token; None for padding, where any will do."""
    if inputs.get("first_row"):
        plain = positions({key: value for key, value in inputs.items() if key != "first_row"})
        return map_places(lambda p: p + inputs["first_row"], plain)
    if "lengths" in inputs:
        return [place for length in inputs["lengths"] for place in range(length)]
    if "segments" in inputs:
        return [_requested_positions(_segment_positions(row), inputs) for row in inputs["segments"]]
    return [_requested_positions(_token_positions(row), inputs) for row in inputs["mask"]]


def map_places(change: Any, places: Any) -> Any:
    """Return nested places, each changed but None."""
    if isinstance(places, list):
        return [map_places(change, inner) for inner in places]
    return None if places is None else change(places)


def _segment_positions(row: list[int]) -> list[int | None]:
    """Return the position of each token in a packed row, within its sequence."""
    return [row[:n].count(one) if one else None for n, one in enumerate(row)]


def _token_positions(row: list[int]) -> list[int | None]:
    """Return the position of each token in a row of a mask."""
    seen, places = 0, []
    for kept in row:
        places.append(seen if kept else None)
        seen += kept
    return places


def _requested_positions(places: list[Any], inputs: Inputs) -> list[Any]:
    """Return the last places, if only those are asked for."""
    return places[-inputs["queries"] :] if "queries" in inputs else places


def _positions_of_mask(inputs: Inputs, places: Any) -> Any:
    """Return places per row of a mask, as positions() asks for them."""
    return (
        [_requested_positions(places(row), inputs) for row in inputs["mask"]]
        if "mask" in inputs
        else None
    )


def _shifted(inputs: Inputs, by: int) -> Any:
    return map_places(lambda p: p + by, positions(inputs))


def _first_row(by: int) -> Answer:
    """Return a bug of the first row, which is off."""

    def wrong(inputs: Inputs) -> Any:
        return _shifted(inputs, by) if "first_row" in inputs else None

    return wrong


def _first_row_ignored(inputs: Inputs) -> Any:
    if not inputs.get("first_row"):
        return None
    return positions({key: value for key, value in inputs.items() if key != "first_row"})


def _first_row_of_the_first(inputs: Inputs) -> Any:
    """Add the first row to the first sequence alone."""
    if "lengths" not in inputs or not inputs.get("first_row"):
        return None
    plain = _first_row_ignored(inputs)
    first = inputs["lengths"][0]
    return [p + inputs["first_row"] * (n < first) for n, p in enumerate(plain)]


def _segments_without_restart(inputs: Inputs) -> Any:
    """Go on counting within a row."""
    if "segments" not in inputs:
        return None
    mask = [[int(one > 0) for one in row] for row in inputs["segments"]]
    return positions({"mask": mask, "first_row": inputs.get("first_row", 0)})


def _segments_padding_counted(inputs: Inputs) -> Any:
    return [list(range(len(row))) for row in inputs["segments"]] if "segments" in inputs else None


def _segments_of_first(inputs: Inputs) -> Any:
    """Give all rows the positions of the first."""
    if "segments" not in inputs or len(inputs["segments"]) < 2:
        return None
    first = [0 if p is None else p for p in positions(inputs)[0]]
    return [first] * len(inputs["segments"])


def _no_restart(inputs: Inputs) -> Any:
    first = inputs.get("first_row", 0)
    return list(range(first, first + sum(inputs["lengths"]))) if "lengths" in inputs else None


def _padded_starts(inputs: Inputs) -> Any:
    """Subtract the start that each sequence would have if all were padded to the longest."""
    if "lengths" not in inputs:
        return None
    first, longest = inputs.get("first_row", 0), max(inputs["lengths"], default=0)
    owners = [n for n, length in enumerate(inputs["lengths"]) for _ in range(length)]
    return [first + place - longest * owner for place, owner in enumerate(owners)]


def _last_length(inputs: Inputs) -> Any:
    """Restart one token late."""
    if "lengths" not in inputs:
        return None
    found: list[int] = []
    for length in inputs["lengths"]:
        found.extend([found[-1] + 1 if found else 0, *range(length - 1)] if length else [])
    return found


def _first_padding_for_all(inputs: Inputs) -> Any:
    """Take the first row's padding for all rows."""
    if "mask" not in inputs or len(inputs["mask"]) < 2:
        return None
    first = _requested_positions(_token_positions(inputs["mask"][0]), inputs)
    return [[0 if p is None else p for p in first]] * len(inputs["mask"])


def _step(inputs: Inputs) -> Any:
    """Count the tokens of a step from 0."""
    if "queries" not in inputs:
        return None
    return [list(range(inputs["queries"]))] * len(inputs["mask"])


def _inverted(inputs: Inputs) -> Any:
    """Count the tokens that the mask hides, from 0, and take 0 for the others."""
    if "mask" not in inputs:
        return None
    first, found = inputs.get("first_row", 0), []
    for row in inputs["mask"]:
        places = [first + (p or 0) for p in _token_positions([1 - kept for kept in row])]
        found.append(_requested_positions(places, inputs))
    return found


def _restart_early(inputs: Inputs) -> Any:
    if "segments" not in inputs and "lengths" not in inputs:
        return None
    rows = inputs.get("segments") or [
        [n for n, length in enumerate(inputs["lengths"]) for _ in range(length)]
    ]
    first, found = inputs.get("first_row", 0), []
    for row in rows:
        places: list[int] = []
        for n, one in enumerate(row):
            fresh = n == 0 or (n + 1 < len(row) and row[n + 1] != one)
            places.append(first if fresh else places[-1] + 1)
        found.append(places)
    return found if "segments" in inputs else found[0]


def _over_batch(inputs: Inputs) -> Any:
    """Count the tokens of all rows together."""
    if "mask" not in inputs:
        return None
    seen, found = inputs.get("first_row", 0), []
    for row in inputs["mask"]:
        places = map_places(lambda p, seen=seen: p + seen, _token_positions(row))
        found.append(_requested_positions(places, inputs))
        seen += sum(row)
    return found


def _starts_late(inputs: Inputs) -> Any:
    """Subtract the end of each sequence instead of its start."""
    if "lengths" not in inputs:
        return None
    first = inputs.get("first_row", 0)
    return [place - length + first for length in inputs["lengths"] for place in range(length)]


def _first_queries(inputs: Inputs) -> Any:
    """Return the first places instead of the last."""
    if "queries" not in inputs:
        return None
    return [_token_positions(row)[: inputs["queries"]] for row in inputs["mask"]]


POSITIONS: dict[str, tuple[str, Answer]] = {
    "first row ignored": ("The first token is at 0, whatever the first row.", _first_row_ignored),
    "first row one too low": (
        "The first token is at the row of padding, one before the first row.",
        _first_row(-1),
    ),
    "first row for the first sequence alone": (
        "Packed sequences after the first are counted from 0.",
        _first_row_of_the_first,
    ),
    "no restart in a row": (
        "A sequence packed into a row goes on where the one before it ends.",
        _segments_without_restart,
    ),
    "place in the row": (
        "Tokens of packed rows get their place in the row, padding included.",
        _segments_padding_counted,
    ),
    "segments of the first row": (
        "All packed rows get the positions of the first.",
        _segments_of_first,
    ),
    "padding counted": (
        "Padding before a sequence counts, so that its first token is not at 0.",
        lambda inputs: _positions_of_mask(inputs, lambda row: list(range(len(row)))),
    ),
    "positions from one": ("The first token is at 1.", lambda inputs: _shifted(inputs, 1)),
    "offset of two": (
        "The first token is at 2, as in the tables of OPT and BART.",
        lambda inputs: _shifted(inputs, 2),
    ),
    "padding of the first row": (
        "All rows get the positions of the first.",
        _first_padding_for_all,
    ),
    "no restart": ("A packed sequence goes on where the one before it ends.", _no_restart),
    "restart one late": ("Positions restart one token after a sequence begins.", _last_length),
    "cached tokens forgotten": (
        "The tokens of a step are counted from 0, though others are cached.",
        _step,
    ),
    "place in the cache": (
        "The last tokens get their place in the cache, padding included, one too high.",
        lambda inputs: (
            _positions_of_mask(inputs, lambda row: [n + 1 for n in range(len(row))])
            if "queries" in inputs
            else None
        ),
    ),
    "mask inverted": (
        "1 is taken for padding, and 0 for a token.",
        lambda inputs: _inverted(inputs),
    ),
    "restart one early": (
        "Positions restart one token before a sequence begins.",
        lambda inputs: _restart_early(inputs),
    ),
    "step one too high": (
        "The tokens of a step are counted from 1, the others from 0.",
        lambda inputs: _shifted(inputs, 1) if "queries" in inputs else None,
    ),
    "counted over the batch": (
        "The tokens of a row are counted from those of the rows before it.",
        _over_batch,
    ),
    "starts as if padded": (
        "Each packed sequence is taken to begin at a multiple of the longest length.",
        _padded_starts,
    ),
    "starts one sequence late": (
        "The end of each packed sequence is subtracted instead of its start.",
        _starts_late,
    ),
    "first tokens for the last": (
        "The positions of a step are those of the first tokens.",
        _first_queries,
    ),
}


def positions_suite() -> Suite:
    """Return suite positions."""
    suite = Suite(
        "positions",
        "The position of each token: in a batch, from its mask, which has 1 for tokens and 0 for"
        " padding; in sequences packed into one row, from their lengths; in several packed rows,"
        " from segments, the number of each token's sequence. With queries, only the last tokens"
        " are asked for, as in a step with a cache. first_row is the position of the first token"
        " of each sequence, as 2 in RoBERTa, and 0 if not given.",
        "An integer for each token, in the shape of the mask; null for padding, where any number"
        " passes.",
        positions,
        POSITIONS,
    )
    rows = [
        [[1, 1, 1]],
        [[0, 1, 1]],
        [[0, 0, 1, 1]],
        [[1, 1, 0, 0]],
        [[0, 0, 0, 0, 1]],
        [[1, 1, 1, 1], [0, 1, 1, 1]],
        [[0, 0, 1, 1], [1, 1, 1, 1]],
        [[0, 0, 0, 1, 1, 1], [0, 1, 1, 1, 1, 1], [1, 1, 1, 1, 1, 1]],
        [[1, 1, 1, 0], [1, 0, 0, 0]],
        [[0, 1, 1, 0], [0, 0, 1, 1]],
        [[0, 0, 1, 1, 1, 1, 1, 1], [1, 1, 1, 1, 1, 1, 1, 1]],
        [[0] * 13 + [1] * 3, [0] * 5 + [1] * 11],
    ]
    for mask in rows:
        side = "left padding" if any(row[0] == 0 for row in mask) else "right padding"
        flag = side if any(0 in row for row in mask) else "no padding"
        suite.add("mask", {"mask": mask}, flag)
        if all(row[-1] for row in mask):
            for queries in (1, 2):
                suite.add("step", {"mask": mask, "queries": queries}, flag, "cache")
    for lengths in (
        [1],
        [5],
        [2, 3],
        [3, 1, 2],
        [1, 1, 1],
        [4, 4],
        [7, 2, 5, 1],
        [10, 3],
        [1, 9],
        [2, 2, 2, 2, 2],
        [16, 16],
        [1, 2, 3, 4, 5, 6],
    ):
        suite.add("packed", {"lengths": lengths}, "packing")
    suite.add("packed", {"lengths": [2, 0, 3]}, "packing", "empty sequence")
    for first in (1, 2):
        for one in ([2, 3], [5], [1, 4, 2]):
            suite.add("first-row", {"lengths": one, "first_row": first}, "packing", "first row")
        for mask in ([[1, 1, 1]], [[0, 1, 1], [1, 1, 1]], [[1, 1, 0], [1, 0, 0]]):
            suite.add("first-row", {"mask": mask, "first_row": first}, "first row")
    for segments in (
        [[1, 1, 2, 2, 2]],
        [[1, 1, 2, 0]],
        [[1, 2, 2, 3, 3, 3], [1, 1, 1, 1, 2, 0]],
        [[1, 1, 1, 1], [1, 1, 2, 2]],
        [[0, 1, 1, 2], [1, 2, 2, 2]],
    ):
        suite.add("rows", {"segments": segments}, "packing", "rows")
        suite.add("rows", {"segments": segments, "first_row": 2}, "packing", "rows", "first row")
    suite.refuse({"lengths": [2, -1]}, "length")
    suite.refuse({"lengths": [1.5]}, "length")
    suite.refuse({"mask": [[0, 2, 1]]}, "mask")
    suite.refuse({"mask": [[1, 1], [1]]}, "shape")
    suite.refuse({"mask": [[1, 1]], "queries": 3}, "queries")
    suite.refuse({"lengths": [2, 3], "first_row": -1}, "first_row")
    return suite


def interpolated_rows(inputs: Inputs, place: Any = None) -> Any:
    """Return rows interpolated at real places, which keep the first and the last by default."""
    table, rows = inputs["table"], inputs["rows"]
    last = len(table) - 1
    found = []
    for row in range(rows):
        at = exact(row) * last / max(rows - 1, 1) if place is None else place(row)
        at = min(max(at, exact(0)), exact(last))
        lower = int(mp.floor(at))
        upper, weight = min(lower + 1, last), at - lower
        found.append(
            [(1 - weight) * a + weight * b for a, b in zip(table[lower], table[upper], strict=True)]
        )
    return found


def _centres(inputs: Inputs) -> Any:
    """Align the centres of cells instead of the ends of the table."""
    scale = exact(len(inputs["table"])) / inputs["rows"]
    return interpolated_rows(inputs, lambda row: (row + exact("0.5")) * scale - exact("0.5"))


def _nearest(inputs: Inputs) -> Any:
    last, rows = len(inputs["table"]) - 1, inputs["rows"]
    half = exact("0.5")
    return interpolated_rows(
        inputs, lambda row: mp.floor(exact(row) * last / max(rows - 1, 1) + half)
    )


def _repeat_last_row(inputs: Inputs) -> Any:
    """Keep the old rows and repeat the last."""
    return interpolated_rows(inputs, lambda row: exact(row))


def _zeros(inputs: Inputs) -> Any:
    """Keep the old rows and add zeros."""
    table, width = inputs["table"], len(inputs["table"][0])
    return [table[row] if row < len(table) else [0] * width for row in range(inputs["rows"])]


def _scale_by_row_counts(inputs: Inputs) -> Any:
    """Scale by the counts of rows, so that the last row is not reached."""
    return interpolated_rows(inputs, lambda row: exact(row) * len(inputs["table"]) / inputs["rows"])


CENTRES = "centres aligned"


def _row_before(inputs: Inputs) -> Any:
    last, rows = len(inputs["table"]) - 1, inputs["rows"]
    return interpolated_rows(inputs, lambda row: mp.floor(exact(row) * last / max(rows - 1, 1)))


def _row_after(inputs: Inputs) -> Any:
    last, rows = len(inputs["table"]) - 1, inputs["rows"]
    return interpolated_rows(inputs, lambda row: mp.ceil(exact(row) * last / max(rows - 1, 1)))


def _weights_exchanged(inputs: Inputs) -> Any:
    """Give each of two neighbours the weight of the other."""
    last, rows = len(inputs["table"]) - 1, inputs["rows"]

    def place(row: int) -> Any:
        at = exact(row) * last / max(rows - 1, 1)
        lower = mp.floor(at)
        return at if at == lower else 2 * lower + 1 - at

    return interpolated_rows(inputs, place)


RESIZE: dict[str, tuple[str, Answer]] = {
    "row before taken": ("The old row before a place is taken, not a mixture.", _row_before),
    "row after taken": ("The old row after a place is taken, not a mixture.", _row_after),
    "weights exchanged": (
        "Of two neighbours, each has the weight of the other.",
        _weights_exchanged,
    ),
    "rows begin again": (
        "Old rows stay, and further ones begin again at the first.",
        lambda g: interpolated_rows(g, lambda row: exact(row % len(g["table"]))),
    ),
    "nearest row": ("The nearest old row is taken, not a mixture.", _nearest),
    "last row repeated": ("Old rows stay, and the last is repeated.", _repeat_last_row),
    "filled with zeros": ("Old rows stay, and further ones are 0.", _zeros),
    "ends missed": (
        "Places are scaled by the counts of rows, and the last is missed.",
        _scale_by_row_counts,
    ),
    "rows reversed": (
        "The rows come out in reverse.",
        lambda inputs: interpolated_rows(inputs)[::-1],
    ),
}


def _tolerance(inputs: Inputs, answer: Any) -> Tolerance:
    return angle_tolerance(largest(leaves(inputs["table"])), 0)


def resize_suite() -> Suite:
    """Return suite resize."""
    suite = Suite(
        "resize",
        "A table of learned positions, interpolated linearly to a different number of rows. The"
        " first and the last row keep their values.",
        "The new rows.",
        interpolated_rows,
        RESIZE,
        {
            CENTRES: (
                "Rows are taken for cells, whose centres are aligned (align_corners=False), so that"
                " the ends move.",
                _centres,
            )
        },
        tolerance=_tolerance,
    )
    seed = 3000
    for old in (1, 2, 3, 5, 7):
        for rows in (1, 2, 3, 4, 6, 9, 13):
            seed += 1
            inputs = {"table": vectors(seed, old, 2), "rows": rows}
            kind = "longer" if rows > old else "shorter" if rows < old else "same"
            suite.add(kind, inputs, kind, acceptable=[CENTRES])
    for old, rows in ((4, 8), (8, 4), (3, 12), (6, 5)):
        seed += 1
        line = [[float(n), 10.0 - n / 4] for n in range(old)]
        suite.add("line", {"table": line, "rows": rows}, "line", acceptable=[CENTRES])
    suite.refuse({"table": vectors(1, 2, 2), "rows": 0}, "rows")
    suite.refuse({"table": vectors(1, 2, 2), "rows": -1}, "rows")
    suite.refuse({"table": [], "rows": 2}, "empty")
    suite.refuse({"table": [[1, 2], [3]], "rows": 2}, "shape")
    return suite
