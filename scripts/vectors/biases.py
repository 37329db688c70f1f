"""Suites alibi, alibi_bias and t5: what is added to scores."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

from scripts.vectors.cases import Answer, Suite, power_tolerance
from scripts.vectors.exact import HIDDEN, Number, Row, bfloat16, exact

Given = dict[str, Any]


def geometric(heads: int) -> Row:
    """Return 2^(−8(h+1)/heads) for each head."""
    return [exact(2) ** (exact(-8 * (h + 1)) / heads) for h in range(heads)]


def power_below(heads: int) -> int:
    """Return the largest power of two that is not above a number."""
    return 1 << (heads.bit_length() - 1)


def slopes(heads: int) -> Row:
    """Return the slopes by the authors' code: those of the power of two below, then every other
    slope of twice as many heads.
    """
    below = power_below(heads)
    return geometric(below) + geometric(2 * below)[0::2][: heads - below]


def next_power_slopes(heads: int) -> Row:
    """Return the slopes for the next power of two."""
    return geometric(heads if heads == power_below(heads) else 2 * power_below(heads))


def _uneven(given: Given, found: Row) -> Row | None:
    return found if given["heads"] != power_below(given["heads"]) else None


SLOPES: dict[str, tuple[str, Answer]] = {
    "plain geometric": (
        "2^(−8(h+1)/heads) for every count of heads, not only for powers of two.",
        lambda given: geometric(given["heads"]),
    ),
    "exponent from zero": (
        "The exponent is 8h/n instead of 8(h+1)/n, so that the first slope is 1.",
        lambda given: [exact(2) ** (exact(-8 * h) / given["heads"]) for h in range(given["heads"])],
    ),
    "slopes reversed": ("The gentlest head comes first.", lambda g: slopes(g["heads"])[::-1]),
    "slopes in another order": (
        "All slopes are sorted, so that heads beyond the power of two are not last.",
        lambda given: sorted(slopes(given["heads"]), reverse=True),
    ),
    "first of the next power": (
        "The first slopes of the next power of two are taken.",
        lambda given: _uneven(given, next_power_slopes(given["heads"])[: given["heads"]]),
    ),
    "every slope of twice as many": (
        "Heads beyond the power of two take all slopes of twice as many, not every other.",
        lambda given: _uneven(
            given,
            geometric(power_below(given["heads"]))
            + geometric(2 * power_below(given["heads"]))[
                : given["heads"] - power_below(given["heads"])
            ],
        ),
    ),
    "slopes rounded to bfloat16": (
        "Slopes are rounded to bfloat16.",
        lambda given: [bfloat16(slope) for slope in slopes(given["heads"])],
    ),
    "halving": (
        "2^(−(h+1)), as for 8 heads, whatever their number.",
        lambda given: [exact(2) ** -(h + 1) for h in range(given["heads"])],
    ),
    "negative": (
        "The sign of the bias is in the slopes.",
        lambda g: [-s for s in slopes(g["heads"])],
    ),
}


def alibi_suite() -> Suite:
    """Return suite alibi."""
    suite = Suite(
        "alibi",
        "The slope of each head of ALiBi.",
        "A positive number for each head.",
        lambda given: slopes(given["heads"]),
        SLOPES,
        tolerance=lambda given, expected: power_tolerance(),
    )
    for heads in (*range(1, 33), 40, 48, 52, 64, 71, 96):
        even = heads == power_below(heads)
        flags = ("power of two",) if even else ("not a power of two",)
        suite.add("slopes", {"heads": heads}, *flags)
    for heads in (0, -1):
        suite.refuse({"heads": heads}, "heads")
    suite.refuse({"heads": 2.5}, "heads")
    return suite


def bias(given: Given, **other: Any) -> Any:
    """Return the bias of each head, query and key, parts of which may be computed otherwise."""
    given = {"query_offset": 0, "causal": True} | given | other
    distance = given.get("distance", lambda query, key: -abs(key - query))
    steep = given.get("slopes") or slopes(given["heads"])

    def entry(slope: Number, query: int, key: int) -> Any:
        hidden = given["causal"] and key > query
        return HIDDEN if hidden else slope * distance(query, key)

    first = given["query_offset"]
    queries = range(first, first + given["query_length"])
    keys = range(given["key_length"])
    return [[[entry(slope, q, k) for k in keys] for q in queries] for slope in steep]


KEYS_ALONE = "bias by the key alone"

BIASES: dict[str, tuple[str, Answer]] = {
    "sign of the bias": (
        "Far keys are favoured instead of near ones.",
        lambda given: bias(given, distance=lambda q, k: abs(k - q)),
    ),
    "one too far": (
        "The distance is one too large, so that the own position is lowered, too.",
        lambda given: bias(given, distance=lambda q, k: -abs(k - q) - 1),
    ),
    "offset forgotten": (
        "Queries are counted from 0, though keys stand before them.",
        lambda given: bias(given, query_offset=0) if given.get("query_offset") else None,
    ),
    "queries at the end": (
        "Queries are taken for the last of the keys, though others follow them.",
        lambda given: bias(given, query_offset=given["key_length"] - given["query_length"]),
    ),
    "plain geometric": (
        "The slopes are 2^(−8(h+1)/heads) for every count of heads.",
        lambda given: bias(given, slopes=geometric(given["heads"])),
    ),
    "exponent from zero": (
        "The exponent of the slopes is 8h/n, so that the first slope is 1.",
        lambda given: bias(
            given,
            slopes=[exact(2) ** (exact(-8 * h) / given["heads"]) for h in range(given["heads"])],
        ),
    ),
    "slopes reversed": (
        "The gentlest head comes first.",
        lambda given: bias(given, slopes=slopes(given["heads"])[::-1]),
    ),
    "not hidden": (
        "Later keys are not hidden, though the bias is causal.",
        lambda given: bias(given, causal=False),
    ),
    "hidden": (
        "Later keys are hidden, though the bias is not causal.",
        lambda g: bias(g, causal=True),
    ),
    "later keys favoured": (
        "The bias is slope · (key − query) without the absolute value.",
        lambda given: bias(given, distance=lambda q, k: k - q),
    ),
    "one slope for all": (
        "All heads have the first slope.",
        lambda given: bias(given, slopes=[slopes(given["heads"])[0]] * given["heads"]),
    ),
    "built over the queries": (
        "The bias is built over the queries, so that a single one has 0 for all keys.",
        lambda given: bias(given, distance=lambda q, k: 0) if given["query_length"] == 1 else None,
    ),
}


def alibi_bias_suite() -> Suite:
    """Return suite alibi_bias."""
    suite = Suite(
        "alibi_bias",
        "The bias of ALiBi. Keys stand at 0, 1, 2, …, queries from query_offset on, which is 0 if"
        " not given. causal is true if not given: later keys are hidden.",
        'A number for each head, query and key; "-Infinity" where a key is hidden.',
        bias,
        BIASES,
        {
            KEYS_ALONE: (
                "slope · key instead of slope · (key − query), as in BLOOM. Under a causal mask the"
                " weights are the same; in few bits they are not.",
                lambda given: bias(given, distance=lambda q, k: k),
            )
        },
        tolerance=lambda given, expected: power_tolerance(),
    )
    for heads in (1, 2, 3, 4, 6, 8, 12):
        for queries, keys, offset in ((1, 1, 0), (3, 3, 0), (1, 4, 3), (2, 5, 3), (2, 4, 1)):
            given = {"heads": heads, "query_length": queries, "key_length": keys}
            given |= {"query_offset": offset}
            flags = ("offset", "cache") if offset else ("square",)
            causal = given | {"causal": True}
            suite.add("causal", causal, *flags, acceptable=[KEYS_ALONE])
            if heads < 8:
                suite.add("symmetric", given | {"causal": False}, *flags)
    plain = {"heads": 2, "query_length": 2, "key_length": 2, "causal": True}
    suite.refuse(plain | {"heads": 0}, "heads")
    suite.refuse(plain | {"query_length": -1}, "length")
    suite.refuse(plain | {"key_length": -2}, "length")
    suite.refuse(plain | {"query_offset": -1}, "offset")
    return suite


def start(step: int, first: int, end: int, steps: int) -> int:
    """Return the first distance that is at least first · (end/first)^(step/steps), in integers."""
    bound = end**step * first ** (steps - step)
    near = int(exact(first) * (exact(end) / first) ** (exact(step) / steps))
    return next(n for n in range(max(near - 1, first), end + 1) if n**steps >= bound)


def starts(given: Given) -> list[int]:
    """Return the distance at which each bucket of one side begins."""
    side = given["buckets"] // (2 if given["bidirectional"] else 1)
    return list(_starts(side, given["max_distance"]))


@lru_cache
def _starts(side: int, end: int) -> tuple[int, ...]:
    small = side // 2
    growing = range(side - small)
    return (*range(small), *(start(s, small, end, side - small) for s in growing))


def bucket(relative: int, given: Given, begins: list[int], strict: bool = False) -> int:
    """Return the bucket of a relative position; strict, a bucket begins after its start."""
    both = given["bidirectional"]
    distance = abs(relative) if both else max(-relative, 0)
    small = len(begins) // 2
    inside = [
        n
        for n, s in enumerate(begins)
        if s < distance or (s == distance and (not strict or n <= small))
    ]
    return max(inside) + (len(begins) if both and relative > 0 else 0)


def buckets(given: Given, **other: Any) -> Any:
    """Return the bucket of each relative position, parts of which may be computed otherwise."""
    given = {**given, **other}
    begins = given.get("begins") or starts(given)
    strict = given.get("strict", False)
    return _map_nested(lambda r: bucket(r, given, begins, strict), given["relative"])


def _map_nested(change: Any, value: Any) -> Any:
    return (
        [_map_nested(change, inner) for inner in value]
        if isinstance(value, list)
        else change(value)
    )


def _sides(given: Given) -> Any:
    if not given["bidirectional"]:
        return None
    return buckets(given, relative=_map_nested(lambda r: -r, given["relative"]))


def _direction(given: Given) -> Any:
    """Look ahead instead of back, without the other side."""
    if given["bidirectional"]:
        return None
    return buckets(given, relative=_map_nested(lambda r: -r, given["relative"]))


def _other_direction(given: Given) -> Any:
    """Take the rule of the other kind of attention."""
    if given["buckets"] % 2 or given["buckets"] < 4:
        return None
    return buckets(given, bidirectional=not given["bidirectional"])


def _not_halved(given: Given) -> Any:
    """Use all buckets on both sides."""
    if not given["bidirectional"]:
        return None
    begins = starts(given | {"bidirectional": False})
    return _map_nested(
        lambda r: (
            bucket(-abs(r), given | {"bidirectional": False}, begins)
            + (given["buckets"] // 2 if r > 0 else 0)
        ),
        given["relative"],
    )


def _query_from_zero(given: Given) -> Any:
    """Count the query of a step, whose own key is the last, from 0."""
    places = given["relative"]
    if isinstance(places[0], list) or places != list(range(1 - len(places), 1)):
        return None
    return buckets(given, relative=[r - places[0] for r in places])


BELOW, ODD = "logarithms rounded down", "odd bucket unused"

T5: dict[str, tuple[str, Answer]] = {
    "sides exchanged": (
        "Keys ahead get the buckets of those behind: query − key instead of key − query.",
        _sides,
    ),
    "looks ahead": ("A decoder buckets the keys ahead instead of those behind.", _direction),
    "the other kind of attention": (
        "bidirectional is taken for false where it is true, or the other way round.",
        _other_direction,
    ),
    "buckets not halved": ("Both sides use all buckets.", _not_halved),
    "boundary off by one": (
        "Every bucket of the growing range begins one distance too late.",
        lambda given: buckets(
            given, begins=[s + (n > len(starts(given)) // 2) for n, s in enumerate(starts(given))]
        ),
    ),
    "max_distance ignored": (
        "The last bucket begins as for a max_distance of 128.",
        lambda given: (
            buckets(given, max_distance=128)
            if given["buckets"] // (4 if given["bidirectional"] else 2) < 128
            else None
        ),
    ),
    "linear range one short": (
        "The last bucket that holds one distance belongs to the growing range.",
        lambda given: buckets(
            given,
            begins=[s - (n >= len(starts(given)) // 2 > 1) for n, s in enumerate(starts(given))],
        ),
    ),
    "never the last bucket": (
        "Far distances get the last bucket but one.",
        lambda given: buckets(given, begins=[*starts(given)[:-1], 10**9]),
    ),
    "query counted from 0": (
        "The one query of a step is counted from 0, so that all keys seem to stand ahead.",
        lambda given: _query_from_zero(given),
    ),
}


def t5_suite() -> Suite:
    """Return suite t5."""
    suite = Suite(
        "t5",
        "The bucket of each relative position, key − query, by the rule of T5.",
        "An integer for each relative position, in its shape.",
        buckets,
        T5,
        {
            BELOW: (
                "Where a logarithm should be a whole number, rounding leaves it below, and the"
                " distance gets the bucket before, as float arithmetic may, where the quotient"
                " comes out just below.",
                lambda given: buckets(given, strict=True),
            ),
            ODD: (
                "Of an odd number of buckets for both directions, the last is never used.",
                buckets,
            ),
        },
    )
    kinds = [(32, 128), (16, 64), (64, 256), (32, 500), (8, 20), (320, 800), (12, 50), (4, 16)]
    for both in (True, False):
        for count, end in kinds:
            given = {"bidirectional": both, "buckets": count, "max_distance": end}
            begins = starts(given)
            small, edges = len(begins) // 2, []
            for step in range(1, len(begins) - small):
                at = begins[small + step]
                if at ** (len(begins) - small) == end**step * small ** (len(begins) - small - step):
                    edges.append(at)
            near = list(range(-small - 1, small + 2))[:40]
            suite.add("near", given | {"relative": near}, "near")
            inner = [b for b in begins[small + 1 :] if b not in edges][:6]
            for at in inner:
                around = [-at - 1, -at, 1 - at, at - 1, at, at + 1]
                around = [r for r in around if abs(r) not in edges]
                suite.add("boundary", given | {"relative": around}, "boundary")
            for at in edges[:3]:
                for sign in (-1, 1):
                    one = given | {"relative": [sign * at]}
                    suite.add("whole", one, "boundary", "whole logarithm", acceptable=[BELOW])
            far = [-end - 1, -end, -10 * end, end + 1, 10**6, -(10**6)]
            suite.add("far", given | {"relative": far}, "far")
    square = [[k - q for k in range(5)] for q in range(5)]
    for both in (True, False):
        given = {"bidirectional": both, "buckets": 8, "max_distance": 16}
        suite.add("matrix", {"relative": square} | given, "shape")
    for both in (True, False):
        for count, end in kinds[:4]:
            for length in (2, 7, 40):
                last: Given = {"relative": list(range(1 - length, 1)), "bidirectional": both}
                suite.add("step", last | {"buckets": count, "max_distance": end}, "cache")
    plain = {"relative": [0, 1], "bidirectional": True, "buckets": 32, "max_distance": 128}
    suite.refuse(plain | {"buckets": 31}, "odd", acceptable=[ODD])
    suite.refuse(plain | {"buckets": 2}, "too few")
    suite.refuse(plain | {"buckets": 0, "bidirectional": False}, "too few")
    suite.refuse(plain | {"max_distance": 8}, "max_distance")
    suite.refuse(plain | {"max_distance": 0}, "max_distance")
    suite.refuse(plain | {"relative": [0.5]}, "not an integer")
    return suite
