"""Suites swin and shaw: indices of relative positions into a table."""

from __future__ import annotations

from typing import Any

from scripts.vectors.cases import Answer, Suite

Inputs = dict[str, Any]


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


SWIN: dict[str, tuple[str, Answer]] = {
    "key minus query": (
        "The index numbers the relative positions in reverse.",
        lambda inputs: window(inputs, order=-1),
    ),
    "columns first": ("Rows and columns are exchanged.", _columns_first),
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
        "The index of each pair of patches in a window into a table of relative positions, in the"
        " order of the authors of Swin: query − key, rows first.",
        "A row for each query, a column for each key; integers.",
        window,
        SWIN,
    )
    for side in range(1, 6):
        suite.add("window", {"window": side}, "window")
    for wrong in (0, -1, 2.5):
        suite.refuse({"window": wrong}, "window")
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
    "from one": (
        "The index begins at 1.",
        lambda inputs: shaw(inputs, shift=inputs["max_distance"] + 1),
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
