"""Suites swin and shaw: indices of relative positions into a table."""

from __future__ import annotations

from typing import Any

from scripts.vectors.cases import Answer, Suite

Inputs = dict[str, Any]


def rectangle(inputs: Inputs, **other: Any) -> Any:
    """Return the index of each pair of patches in a window that may not be square."""
    inputs = inputs | other
    height, width = inputs["height"], inputs["width"]
    wide = inputs.get("wide", 2 * width - 1)
    patches = [divmod(n, width) for n in range(height * width)]
    order = inputs.get("order", 1)
    return [
        [
            (order * (row - other_row) + height - 1) * wide
            + order * (column - other_column)
            + width
            - 1
            for other_row, other_column in patches
        ]
        for row, column in patches
    ]


def _sides_exchanged(inputs: Inputs) -> Any:
    return rectangle(inputs, height=inputs["width"], width=inputs["height"])


def _renumbered(found: Any, inputs: Inputs) -> Any:
    """Return the pairs of patches that are numbered column by column, in that order."""
    height, width = inputs["height"], inputs["width"]
    order = [row * width + column for column in range(width) for row in range(height)]
    return [[found[q][k] for k in order] for q in order]


def _moved(inputs: Inputs, by: int) -> Any:
    return [[n + by for n in row] for row in rectangle(inputs)]


RECTANGLES: dict[str, tuple[str, Answer]] = {
    "height and width exchanged": ("The sides are exchanged.", _sides_exchanged),
    "factor of the height": (
        "Rows of the table are numbered 2 · height − 1 apart instead of 2 · width − 1.",
        lambda g: rectangle(g, wide=2 * g["height"] - 1),
    ),
    "key minus query": (
        "The index numbers the relative positions in reverse.",
        lambda g: rectangle(g, order=-1),
    ),
    "not shifted": (
        "The index is not shifted to begin at 0.",
        lambda g: _moved(g, (1 - g["height"]) * (2 * g["width"] - 1) + 1 - g["width"]),
    ),
    "columns moved by the height": (
        "Columns are moved by height − 1 instead of width − 1.",
        lambda g: _moved(g, g["height"] - g["width"]),
    ),
    "from one": ("The index begins at 1.", lambda g: _moved(g, 1)),
    "factor of the width": (
        "Rows of the table are numbered as far apart as the window is wide.",
        lambda g: rectangle(g, wide=g["width"]),
    ),
    "factor of the height alone": (
        "Rows of the table are numbered as far apart as the window is high.",
        lambda g: rectangle(g, wide=g["height"]),
    ),
    "factor of 2 · width": (
        "Rows of the table are numbered 2 · width apart instead of 2 · width − 1.",
        lambda g: rectangle(g, wide=2 * g["width"]),
    ),
    "columns first": (
        "Columns are multiplied by 2 · height − 1, and rows are added.",
        lambda g: _renumbered(_sides_exchanged(g), {"height": g["width"], "width": g["height"]}),
    ),
    "patches numbered by columns": (
        "Patches are numbered column by column.",
        lambda g: _renumbered(rectangle(g), g),
    ),
    "square of the height": (
        "The window is taken for a square of its height.",
        lambda g: rectangle(g, width=g["height"]),
    ),
    "square of the width": (
        "The window is taken for a square of its width.",
        lambda g: rectangle(g, height=g["width"]),
    ),
}


def window(inputs: Inputs, *, order: int = 1, wide: int = -1, moved: bool = True) -> Any:
    """Return the index of each pair of patches; order −1 takes key − query."""
    side = inputs["window"]
    patches = [divmod(n, side) for n in range(side**2)]
    shift = side - 1 if moved else 0
    factor = 2 * side + wide
    return [
        [
            (order * (row - other_row) + shift) * factor + order * (column - other_column) + shift
            for other_row, other_column in patches
        ]
        for row, column in patches
    ]


def _columns_first(inputs: Inputs) -> Any:
    """Exchange rows and columns."""
    side = inputs["window"]
    patches = [divmod(n, side) for n in range(side**2)]
    return [
        [(c - oc + side - 1) * (2 * side - 1) + r - o + side - 1 for o, oc in patches]
        for r, c in patches
    ]


def _absolute(inputs: Inputs) -> Any:
    side = inputs["window"]
    patches = [divmod(n, side) for n in range(side**2)]
    return [
        [(abs(r - o) + side - 1) * (2 * side - 1) + abs(c - oc) + side - 1 for o, oc in patches]
        for r, c in patches
    ]


SWIN: dict[str, tuple[str, Answer]] = {
    "key minus query": (
        "The index numbers the relative positions in reverse.",
        lambda inputs: window(inputs, order=-1),
    ),
    "columns first": ("Rows and columns are exchanged.", _columns_first),
    "rows one too far": (
        "Rows are shifted by M instead of M − 1.",
        lambda inputs: [[n + 2 * inputs["window"] - 1 for n in row] for row in window(inputs)],
    ),
    "distances without their sign": (
        "Patches before and after share the rows of the table.",
        lambda inputs: _absolute(inputs),
    ),
    "both one too far": (
        "Rows and columns are shifted by M instead of M − 1.",
        lambda inputs: [[n + 2 * inputs["window"] for n in row] for row in window(inputs)],
    ),
    "factor of 2M": (
        "Rows of the table are numbered 2M apart instead of 2M − 1.",
        lambda inputs: window(inputs, wide=0),
    ),
    "not shifted": (
        "The index is not shifted to begin at 0.",
        lambda inputs: window(inputs, moved=False),
    ),
    "factor of M": (
        "Rows of the table are numbered M apart.",
        lambda inputs: window(inputs, wide=-inputs["window"]),
    ),
    "from one": (
        "The index begins at 1.",
        lambda inputs: [[n + 1 for n in row] for row in window(inputs)],
    ),
}


def swin_suite() -> Suite:
    """Return suite swin."""
    suite = Suite(
        "swin",
        "For each pair of patches in a window, the index into a table of relative positions, in"
        " the order of the authors of Swin: query − key, rows first.",
        "A row for each query, a column for each key; integers.",
        window,
        SWIN,
    )
    for side in range(1, 6):
        suite.add("window", {"window": side}, "window")
    for wrong in (0, -1, 2.5):
        suite.refuse({"window": wrong}, "window")
    return suite


def swin_rectangle_suite() -> Suite:
    """Return suite swin_rectangle."""
    suite = Suite(
        "swin_rectangle",
        "The index of each pair of patches as in suite swin, in windows that are not square: a"
        " table of (2 · height − 1) · (2 · width − 1) rows, and patches numbered row by row.",
        "A row for each query, a column for each key; integers.",
        rectangle,
        RECTANGLES,
    )
    for height, width in ((1, 2), (2, 1), (2, 3), (3, 2), (4, 2)):
        suite.add("window", {"height": height, "width": width}, "rectangle")
    return suite


def shaw(
    inputs: Inputs, *, order: int = 1, shift: int | None = None, furthest: int | None = None
) -> Any:
    """Return the clipped relative position of each pair, shifted to begin at 0."""
    limit = inputs["max_distance"] if furthest is None else furthest
    shift = inputs["max_distance"] if shift is None else shift

    def index(query: int, key: int) -> int:
        return min(max(order * (key - query), -limit), limit) + shift

    return [
        [index(q, k) for k in range(inputs["key_length"])] for q in range(inputs["query_length"])
    ]


SHAW: dict[str, tuple[str, Answer]] = {
    "query minus key": ("The sign is wrong.", lambda inputs: shaw(inputs, order=-1)),
    "not shifted": (
        "The index is not shifted to begin at 0.",
        lambda inputs: shaw(inputs, shift=0),
    ),
    "not clipped": ("Far positions are not clipped.", lambda inputs: shaw(inputs, furthest=10**6)),
    "clipped one too early": (
        "Positions are clipped at max_distance − 1.",
        lambda inputs: shaw(inputs, furthest=max(inputs["max_distance"] - 1, 0)),
    ),
    "clipped one too late": (
        "Positions are clipped at max_distance + 1, and the table is two rows longer.",
        lambda inputs: shaw(inputs | {"max_distance": inputs["max_distance"] + 1}),
    ),
    "from one": (
        "The index begins at 1.",
        lambda inputs: shaw(inputs, shift=inputs["max_distance"] + 1),
    ),
    "shifted one too little": (
        "The index is shifted by max_distance − 1.",
        lambda inputs: shaw(inputs, shift=inputs["max_distance"] - 1),
    ),
    "last row missing": (
        "Keys ahead are clipped at max_distance − 1.",
        lambda g: [[min(n, 2 * g["max_distance"] - 1) for n in row] for row in shaw(g)],
    ),
    "distance without its sign": (
        "Keys behind share the rows of those ahead.",
        lambda g: [
            [2 * g["max_distance"] - n if n < g["max_distance"] else n for n in row]
            for row in shaw(g)
        ],
    ),
    "queries at the end": (
        "Queries are taken for the last of the keys, though both begin at 0.",
        lambda inputs: [
            [
                min(
                    max(
                        k - q - inputs["key_length"] + inputs["query_length"],
                        -inputs["max_distance"],
                    ),
                    inputs["max_distance"],
                )
                + inputs["max_distance"]
                for k in range(inputs["key_length"])
            ]
            for q in range(inputs["query_length"])
        ],
    ),
}


def shaw_suite() -> Suite:
    """Return suite shaw."""
    suite = Suite(
        "shaw",
        "The index of each relative position, key − query, clipped at max_distance, into a table of"
        " 2 · max_distance + 1 rows. Queries and keys both begin at 0.",
        "A row for each query, a column for each key; integers.",
        shaw,
        SHAW,
    )
    for queries, keys in ((1, 1), (2, 2), (3, 3), (4, 4), (6, 6), (1, 5), (5, 1), (2, 6), (6, 3)):
        for furthest in (0, 1, 2, 3, 8):
            inputs = {"query_length": queries, "key_length": keys, "max_distance": furthest}
            suite.add("clip", inputs, "square" if queries == keys else "rectangular")
    plain = {"query_length": 2, "key_length": 2, "max_distance": 1}
    suite.refuse(plain | {"max_distance": -1}, "max_distance")
    suite.refuse(plain | {"query_length": -1}, "length")
    suite.refuse(plain | {"max_distance": 1.5}, "max_distance")
    return suite
