"""Suites alibi, alibi_bias and t5: what is added to scores."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

from scripts.vectors.cases import Answer, Suite, power_tolerance
from scripts.vectors.exact import HIDDEN, Number, Row, bfloat16, exact, float16, mp

Inputs = dict[str, Any]


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


def _uneven(inputs: Inputs, found: Row) -> Row | None:
    return found if inputs["heads"] != power_below(inputs["heads"]) else None


SLOPES: dict[str, tuple[str, Answer]] = {
    "exponent of 4": (
        "The exponent is 4(h+1)/n instead of 8(h+1)/n.",
        lambda inputs: [mp.sqrt(slope) for slope in slopes(inputs["heads"])],
    ),
    "exponent two too high": (
        "The exponent is 8(h+2)/n, as if heads were counted from 1 twice.",
        lambda inputs: [
            exact(2) ** (exact(-8 * (h + 2)) / inputs["heads"]) for h in range(inputs["heads"])
        ],
    ),
    "plain geometric": (
        "2^(−8(h+1)/heads) for every count of heads, not only for powers of two.",
        lambda inputs: geometric(inputs["heads"]),
    ),
    "exponent from zero": (
        "The exponent is 8h/n instead of 8(h+1)/n, so that the first slope is 1.",
        lambda inputs: [
            exact(2) ** (exact(-8 * h) / inputs["heads"]) for h in range(inputs["heads"])
        ],
    ),
    "slopes reversed": ("The gentlest head comes first.", lambda g: slopes(g["heads"])[::-1]),
    "slopes in another order": (
        "All slopes are sorted, so that heads beyond the power of two are not last.",
        lambda inputs: sorted(slopes(inputs["heads"]), reverse=True),
    ),
    "first of the next power": (
        "The first slopes of the next power of two are taken.",
        lambda inputs: _uneven(inputs, next_power_slopes(inputs["heads"])[: inputs["heads"]]),
    ),
    "every slope of twice as many": (
        "Heads beyond the power of two take all slopes of twice as many, not every other.",
        lambda inputs: _uneven(
            inputs,
            geometric(power_below(inputs["heads"]))
            + geometric(2 * power_below(inputs["heads"]))[
                : inputs["heads"] - power_below(inputs["heads"])
            ],
        ),
    ),
    "odd slopes of twice as many": (
        "Heads beyond the power of two take the second, fourth, … slope of twice as many.",
        lambda inputs: (
            geometric(power_below(inputs["heads"]))
            + geometric(2 * power_below(inputs["heads"]))[1::2][
                : inputs["heads"] - power_below(inputs["heads"])
            ]
        ),
    ),
    "slopes of the power below": (
        "2^(−8(h+1)/n) for every head, n being the power of two below.",
        lambda inputs: [
            exact(2) ** (exact(-8 * (h + 1)) / power_below(inputs["heads"]))
            for h in range(inputs["heads"])
        ],
    ),
    "slopes rounded to float16": (
        "Slopes are rounded to float16.",
        lambda inputs: [float16(slope) for slope in slopes(inputs["heads"])],
    ),
    "further slopes first": (
        "Heads beyond the power of two come first.",
        lambda inputs: (
            slopes(inputs["heads"])[power_below(inputs["heads"]) :]
            + geometric(power_below(inputs["heads"]))
        ),
    ),
    "slopes rounded to bfloat16": (
        "Slopes are rounded to bfloat16.",
        lambda inputs: [bfloat16(slope) for slope in slopes(inputs["heads"])],
    ),
    "halving": (
        "2^(−(h+1)), as for 8 heads, whatever their number.",
        lambda inputs: [exact(2) ** -(h + 1) for h in range(inputs["heads"])],
    ),
    "negative": (
        "The sign of the bias is in the slopes.",
        lambda g: [-s for s in slopes(g["heads"])],
    ),
}


def shard(inputs: Inputs, **other: Any) -> Row:
    """Return the slopes of a shard of the heads, or of all."""
    inputs = inputs | other
    own = inputs["heads"] // inputs.get("ranks", 1)
    first = own * inputs.get("rank", 0)
    return slopes(inputs["heads"])[first : first + own]


def _of_shards(change: Any) -> Answer:
    """Return a bug of shards of heads."""
    return lambda inputs: change(inputs) if "ranks" in inputs else None


def _of_whole(bug: tuple[str, Answer]) -> tuple[str, Answer]:
    """Return a bug of the slopes of all heads, of which a shard gets its part."""
    said, wrong = bug

    def part(inputs: Inputs) -> Row | None:
        found = wrong(inputs)
        own = inputs["heads"] // inputs.get("ranks", 1)
        first = own * inputs.get("rank", 0)
        return None if found is None else found[first : first + own]

    return said, part


SHARDS: dict[str, tuple[str, Answer]] = {
    "slopes of the shard alone": (
        "Each rank computes the slopes for as many heads as it has, counted from 0.",
        _of_shards(lambda g: slopes(g["heads"] // g["ranks"])),
    ),
    "slopes of the first shard": (
        "Each rank takes the first slopes of all heads.",
        _of_shards(lambda g: shard(g, rank=0)),
    ),
    "shards taken in turns": (
        "Heads are dealt to the ranks in turns instead of in blocks.",
        _of_shards(lambda g: slopes(g["heads"])[g["rank"] :: g["ranks"]]),
    ),
    "slopes of all heads": (
        "Each rank gets the slopes of all heads.",
        _of_shards(lambda g: slopes(g["heads"])),
    ),
    "shards reversed": (
        "The first rank gets the last heads.",
        _of_shards(lambda g: shard(g, rank=g["ranks"] - 1 - g["rank"])),
    ),
}


def alibi_suite() -> Suite:
    """Return suite alibi."""
    suite = Suite(
        "alibi",
        "The slope of each head of ALiBi; with ranks, of the heads that one rank of several has,"
        " in blocks of equal size.",
        "A positive number for each head.",
        shard,
        {name: _of_whole(bug) for name, bug in SLOPES.items()} | SHARDS,
        tolerance=lambda inputs, expected: power_tolerance(),
    )
    for heads in (*range(1, 33), 40, 48, 52, 64, 71, 96):
        even = heads == power_below(heads)
        flags = ("power of two",) if even else ("not a power of two",)
        suite.add("slopes", {"heads": heads}, *flags)
    for heads, ranks in ((8, 2), (16, 4), (12, 2), (12, 3), (6, 2), (40, 8)):
        for rank in range(ranks):
            suite.add("shard", {"heads": heads, "rank": rank, "ranks": ranks}, "shard")
    for heads in (0, -1):
        suite.refuse({"heads": heads}, "heads")
    suite.refuse({"heads": 2.5}, "heads")
    suite.refuse({"heads": 6, "rank": 0, "ranks": 4}, "shard")
    suite.refuse({"heads": 8, "rank": 2, "ranks": 2}, "shard")
    return suite


def bias(inputs: Inputs, **other: Any) -> Any:
    """Return the bias of each head, query and key, parts of which may be computed otherwise."""
    inputs = {"query_offset": 0, "causal": True} | inputs | other
    distance = inputs.get("distance", lambda query, key: -abs(key - query))
    steep = inputs.get("slopes") or slopes(inputs["heads"])
    ahead = inputs.get("ahead", 0)

    def entry(slope: Number, query: int, key: int) -> Any:
        hidden = inputs["causal"] and key > query + ahead
        return HIDDEN if hidden else slope * distance(query, key)

    first = inputs["query_offset"]
    queries = range(first, first + inputs["query_length"])
    keys = range(inputs["key_length"])
    return [[[entry(slope, q, k) for k in keys] for q in queries] for slope in steep]


def _own_hidden(inputs: Inputs) -> Any:
    """Hide the own position, too."""
    if not inputs.get("causal", True):
        return None
    first = inputs.get("query_offset", 0)
    return [
        [
            [HIDDEN if key == first + query else value for key, value in enumerate(row)]
            for query, row in enumerate(rows)
        ]
        for rows in bias(inputs)
    ]


def _with_slopes(wrong: Answer) -> Answer:
    """Return a bug of the slopes as one of the bias."""

    def answered(inputs: Inputs) -> Any:
        found = wrong(inputs)
        return None if found is None else bias(inputs, slopes=found)

    return answered


def _last_query(inputs: Inputs) -> int:
    last: int = inputs.get("query_offset", 0) + inputs["query_length"] - 1
    return last


KEYS_ALONE = "bias by the key alone"
BY_NUMBER = "hidden by a large number"

BIASES: dict[str, tuple[str, Answer]] = {
    "sign of the bias": (
        "Far keys are favoured instead of near ones.",
        lambda inputs: bias(inputs, distance=lambda q, k: abs(k - q)),
    ),
    "one too far": (
        "The distance is one too large, so that the own position is lowered, too.",
        lambda inputs: bias(inputs, distance=lambda q, k: -abs(k - q) - 1),
    ),
    "offset forgotten": (
        "Queries are counted from 0, though keys stand before them.",
        lambda inputs: bias(inputs, query_offset=0) if inputs.get("query_offset") else None,
    ),
    "queries at the end": (
        "Queries are taken for the last of the keys, though others follow them.",
        lambda inputs: bias(inputs, query_offset=inputs["key_length"] - inputs["query_length"]),
    ),
    "plain geometric": (
        "The slopes are 2^(−8(h+1)/heads) for every count of heads.",
        lambda inputs: bias(inputs, slopes=geometric(inputs["heads"])),
    ),
    "exponent from zero": (
        "The exponent of the slopes is 8h/n, so that the first slope is 1.",
        lambda inputs: bias(
            inputs,
            slopes=[exact(2) ** (exact(-8 * h) / inputs["heads"]) for h in range(inputs["heads"])],
        ),
    ),
    "slopes reversed": (
        "The gentlest head comes first.",
        lambda inputs: bias(inputs, slopes=slopes(inputs["heads"])[::-1]),
    ),
    "not hidden": (
        "Later keys are not hidden, though the bias is causal.",
        lambda inputs: bias(inputs, causal=False),
    ),
    "hidden": (
        "Later keys are hidden, though the bias is not causal.",
        lambda g: bias(g, causal=True),
    ),
    "later keys favoured": (
        "The bias is slope · (key − query) without the absolute value.",
        lambda inputs: bias(inputs, distance=lambda q, k: k - q),
    ),
    "own position hidden": (
        "A query may not see its own key, either.",
        lambda inputs: _own_hidden(inputs),
    ),
    "bias missing": (
        "Everything that is not hidden is 0.",
        lambda g: bias(g, distance=lambda q, k: 0),
    ),
    "distances in bfloat16": (
        "Distances are rounded to bfloat16, which has no odd numbers above 256.",
        lambda inputs: bias(inputs, distance=lambda q, k: -bfloat16(abs(k - q))),
    ),
    "distance as a fraction": (
        "The distance is divided by the number of keys.",
        lambda inputs: bias(
            inputs, distance=lambda q, k: -abs(exact(k) - q) / max(inputs["key_length"], 1)
        ),
    ),
    "distance squared": (
        "The distance is squared.",
        lambda inputs: bias(inputs, distance=lambda q, k: -((k - q) ** 2)),
    ),
    "one slope for all": (
        "All heads have the first slope.",
        lambda inputs: bias(inputs, slopes=[slopes(inputs["heads"])[0]] * inputs["heads"]),
    ),
    "built over the queries": (
        "The bias is built over the queries, so that a single one has 0 for all keys.",
        lambda inputs: (
            bias(inputs, distance=lambda q, k: 0) if inputs["query_length"] == 1 else None
        ),
    ),
    **{
        name: (SLOPES[name][0], _with_slopes(SLOPES[name][1]))
        for name in (
            "exponent of 4",
            "exponent two too high",
            "first of the next power",
            "every slope of twice as many",
            "odd slopes of twice as many",
            "slopes in another order",
            "slopes of the power below",
            "further slopes first",
            "halving",
        )
    },
    "bias of the last query for all": (
        "All queries have the distances of the last.",
        lambda inputs: bias(inputs, distance=lambda q, k: -abs(k - _last_query(inputs))),
    ),
    "hidden keys as 0": (
        "Later keys have the bias 0 instead of being hidden.",
        lambda inputs: _map_nested(lambda v: 0 if v == HIDDEN else v, bias(inputs)),
    ),
    "keys by queries": (
        "Rows are keys and columns queries.",
        lambda inputs: [[list(c) for c in zip(*rows, strict=True)] for rows in bias(inputs)],
    ),
    "next key visible": (
        "A query sees the key after its own.",
        lambda inputs: bias(inputs, ahead=1),
    ),
    "mask without the offset": (
        "The offset of the queries is in the bias, but not in the mask.",
        lambda inputs: bias(inputs, ahead=-inputs.get("query_offset", 0)),
    ),
}


def alibi_bias_suite() -> Suite:
    """Return suite alibi_bias."""
    suite = Suite(
        "alibi_bias",
        "The bias of ALiBi. Keys stand at 0, 1, 2, …, queries from query_offset on, which is 0 if"
        " not given. causal is true if not given: later keys are hidden.",
        'A number for each head, query and key; "-Infinity" where a key is hidden, or a number of'
        " at most -10000.",
        bias,
        BIASES,
        {
            KEYS_ALONE: (
                "slope · key instead of slope · (key − query), as in BLOOM. Under a causal mask the"
                " weights are the same; in few bits they are not.",
                lambda inputs: bias(inputs, distance=lambda q, k: k),
            ),
            BY_NUMBER: (
                "A key is hidden by a finite number of at most −10,000: enough for a softmax whose"
                " scores are far smaller. Where all keys are hidden, weights are not 0.",
                bias,
            ),
        },
        tolerance=lambda inputs, expected: power_tolerance(),
    )
    for heads in (1, 2, 3, 4, 6, 8, 12):
        for queries, keys, offset in ((1, 1, 0), (3, 3, 0), (1, 4, 3), (2, 5, 3), (2, 4, 1)):
            inputs = {"heads": heads, "query_length": queries, "key_length": keys}
            inputs |= {"query_offset": offset}
            flags = ("offset", "cache") if offset else ("square",)
            causal = inputs | {"causal": True}
            suite.add("causal", causal, *flags, acceptable=[KEYS_ALONE])
            if heads < 8:
                suite.add("symmetric", inputs | {"causal": False}, *flags)
    for offset in (301, 1001, 4095):
        inputs = {"heads": 4, "query_length": 2, "key_length": 2, "query_offset": offset}
        suite.add("far", inputs | {"causal": False}, "offset", "far")
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


def starts(inputs: Inputs) -> list[int]:
    """Return the distance at which each bucket of one side begins."""
    side = inputs["buckets"] // (2 if inputs["bidirectional"] else 1)
    return list(_starts(side, inputs["max_distance"]))


@lru_cache
def _starts(side: int, end: int) -> tuple[int, ...]:
    small = side // 2
    growing = range(side - small)
    return (*range(small), *(start(s, small, end, side - small) for s in growing))


def bucket(relative: int, inputs: Inputs, begins: list[int], strict: bool = False) -> int:
    """Return the bucket of a relative position; strict, a bucket begins after its start."""
    both = inputs["bidirectional"]
    distance = abs(relative) if both else max(-relative, 0)
    small = len(begins) // 2
    inside = [
        n
        for n, s in enumerate(begins)
        if s < distance or (s == distance and (not strict or n <= small))
    ]
    return max(inside) + (len(begins) if both and relative > 0 else 0)


def buckets(inputs: Inputs, **other: Any) -> Any:
    """Return the bucket of each relative position, parts of which may be computed otherwise."""
    inputs = {**inputs, **other}
    begins = inputs.get("begins") or starts(inputs)
    strict = inputs.get("strict", False)
    return _map_nested(lambda r: bucket(r, inputs, begins, strict), inputs["relative"])


def _map_nested(change: Any, value: Any) -> Any:
    return (
        [_map_nested(change, inner) for inner in value]
        if isinstance(value, list)
        else change(value)
    )


def _sides(inputs: Inputs) -> Any:
    if not inputs["bidirectional"]:
        return None
    return buckets(inputs, relative=_map_nested(lambda r: -r, inputs["relative"]))


def _direction(inputs: Inputs) -> Any:
    """Look ahead instead of back, without the other side."""
    if inputs["bidirectional"]:
        return None
    return buckets(inputs, relative=_map_nested(lambda r: -r, inputs["relative"]))


def _other_direction(inputs: Inputs) -> Any:
    """Take the rule of the other kind of attention."""
    if inputs["buckets"] % 2 or inputs["buckets"] < 4:
        return None
    return buckets(inputs, bidirectional=not inputs["bidirectional"])


def _not_halved(inputs: Inputs) -> Any:
    """Use all buckets on both sides."""
    if not inputs["bidirectional"]:
        return None
    begins = starts(inputs | {"bidirectional": False})
    return _map_nested(
        lambda r: (
            bucket(-abs(r), inputs | {"bidirectional": False}, begins)
            + (inputs["buckets"] // 2 if r > 0 else 0)
        ),
        inputs["relative"],
    )


def _query_from_zero(inputs: Inputs) -> Any:
    """Count the query of a step, whose own key is the last, from 0."""
    places = inputs["relative"]
    if isinstance(places[0], list) or places != list(range(1 - len(places), 1)):
        return None
    return buckets(inputs, relative=[r - places[0] for r in places])


BELOW, ODD = "logarithms rounded down", "odd bucket unused"


def _up(value: Number) -> Number:
    """Return a number rounded up, in whose last digits a whole one may be off."""
    return mp.ceil(value - exact("1e-30"))


def _rounded_logarithm(inputs: Inputs, rounded: Any = mp.nint) -> Any:
    """Round the logarithm to the nearest bucket, or otherwise, instead of down."""
    side = inputs["buckets"] // (2 if inputs["bidirectional"] else 1)
    small, end = side // 2, inputs["max_distance"]

    def one(relative: int) -> int:
        both = inputs["bidirectional"]
        distance = abs(relative) if both else max(-relative, 0)
        found = distance
        if distance >= small:
            ratio = mp.log(exact(distance) / small) / mp.log(exact(end) / small)
            found = min(small + int(rounded(ratio * (side - small))), side - 1)
        return found + (side if both and relative > 0 else 0)

    return _map_nested(one, inputs["relative"])


def _logarithmic(
    inputs: Inputs,
    end: bool = True,
    all_of_side: bool = False,
    divided: bool = True,
    part: int = 2,
) -> Any:
    """Return buckets by the logarithm, one part of which is wrong."""
    both = inputs["bidirectional"]
    side = inputs["buckets"] // (2 if both else 1)
    small, far = max(side // part, 1), inputs["max_distance"]

    def one(relative: int) -> int:
        distance = abs(relative) if both else max(-relative, 0)
        found = distance
        if distance >= small:
            ratio = mp.log(exact(distance) / small)
            ratio /= mp.log(exact(far) / small if divided else exact(far))
            steps = side if all_of_side else side - small
            found = small + int(mp.floor(ratio * steps + exact("1e-30")))
            found = min(found, side - 1) if end else found
        return found + (side if both and relative > 0 else 0)

    return _map_nested(one, inputs["relative"])


def _own_ahead(inputs: Inputs) -> Any:
    """Count the own position among those ahead."""
    if not inputs["bidirectional"]:
        return None
    own = inputs["buckets"] // 2
    return _map_nested(
        lambda r: own if r == 0 else buckets(inputs | {"relative": [r]})[0], inputs["relative"]
    )


def _not_halved_range(inputs: Inputs) -> Any:
    """Let each bucket of a side hold one distance, and the last of them all others."""
    return (
        buckets(inputs, begins=list(range(len(starts(inputs)))))
        if inputs["bidirectional"]
        else None
    )


def _halved_twice(inputs: Inputs) -> Any:
    side = inputs["buckets"] // 2
    if not inputs["bidirectional"] or side < 4:
        return None
    one = inputs | {"bidirectional": False, "buckets": side // 2}
    begins = starts(one)
    return _map_nested(
        lambda r: bucket(-abs(r), one, begins) + (side if r > 0 else 0), inputs["relative"]
    )


def _both_sides(inputs: Inputs) -> Any:
    """Take the distance without its sign in a decoder."""
    if inputs["bidirectional"]:
        return None
    return buckets(inputs, relative=_map_nested(lambda r: -abs(r), inputs["relative"]))


T5: dict[str, tuple[str, Answer]] = {
    "logarithm rounded to nearest": (
        "The logarithm is rounded to the nearest bucket instead of down.",
        _rounded_logarithm,
    ),
    "max_distance one too low": (
        "The last bucket begins as for a max_distance that is one lower.",
        lambda g: (
            buckets(g, max_distance=g["max_distance"] - 1)
            if g["max_distance"] > 1 + g["buckets"] // (4 if g["bidirectional"] else 2)
            else None
        ),
    ),
    "logarithm rounded up": (
        "The logarithm is rounded up instead of down.",
        lambda inputs: _rounded_logarithm(inputs, _up),
    ),
    "own position ahead": ("The own position gets a bucket of those ahead.", _own_ahead),
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
        lambda inputs: buckets(
            inputs,
            begins=[s + (n > len(starts(inputs)) // 2) for n, s in enumerate(starts(inputs))],
        ),
    ),
    "max_distance ignored": (
        "The last bucket begins as for a max_distance of 128.",
        lambda inputs: (
            buckets(inputs, max_distance=128)
            if inputs["buckets"] // (4 if inputs["bidirectional"] else 2) < 128
            else None
        ),
    ),
    "linear range one short": (
        "The last bucket that holds one distance belongs to the growing range.",
        lambda inputs: buckets(
            inputs,
            begins=[s - (n >= len(starts(inputs)) // 2 > 1) for n, s in enumerate(starts(inputs))],
        ),
    ),
    "never the last bucket": (
        "Far distances get the last bucket but one.",
        lambda inputs: buckets(inputs, begins=[*starts(inputs)[:-1], 10**9]),
    ),
    "query counted from 0": (
        "The one query of a step is counted from 0, so that all keys seem to stand ahead.",
        lambda inputs: _query_from_zero(inputs),
    ),
    "buckets without an end": (
        "Distances beyond max_distance go on into further buckets.",
        lambda g: _logarithmic(g, end=False),
    ),
    "growing range over all buckets": (
        "The logarithm is multiplied by all buckets of a side instead of those that grow.",
        lambda g: _logarithmic(g, all_of_side=True),
    ),
    "max_distance not divided": (
        "The logarithm is divided by that of max_distance, not of max_distance / exact.",
        lambda g: _logarithmic(g, divided=False),
    ),
    "linear range halved twice": (
        "A quarter of the buckets of a side hold one distance instead of half.",
        lambda g: _logarithmic(g, part=4),
    ),
    "buckets halved twice": (
        "Each side uses a quarter of all buckets.",
        lambda g: _halved_twice(g),
    ),
    "linear range not halved": (
        "All buckets of a side but the last hold one distance, not the first half of them.",
        _not_halved_range,
    ),
    "distance without its sign": (
        "In a decoder, later keys get the buckets of earlier ones instead of the first.",
        _both_sides,
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
                lambda inputs: buckets(inputs, strict=True),
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
            inputs = {"bidirectional": both, "buckets": count, "max_distance": end}
            begins = starts(inputs)
            small, edges = len(begins) // 2, []
            for step in range(1, len(begins) - small):
                at = begins[small + step]
                if at ** (len(begins) - small) == end**step * small ** (len(begins) - small - step):
                    edges.append(at)
            near = list(range(-small - 1, small + 2))[:40]
            suite.add("near", inputs | {"relative": near}, "near")
            inner = [b for b in begins[small + 1 :] if b not in edges][:6]
            for at in inner:
                around = [-at - 1, -at, 1 - at, at - 1, at, at + 1]
                around = [r for r in around if abs(r) not in edges]
                suite.add("boundary", inputs | {"relative": around}, "boundary")
            for at in edges[:3]:
                for sign in (-1, 1):
                    one = inputs | {"relative": [sign * at]}
                    suite.add("whole", one, "boundary", "whole logarithm", acceptable=[BELOW])
            far = [-end - 1, -end, -10 * end, end + 1, 10**6, -(10**6)]
            suite.add("far", inputs | {"relative": far}, "far")
    square = [[k - q for k in range(5)] for q in range(5)]
    for both in (True, False):
        inputs = {"bidirectional": both, "buckets": 8, "max_distance": 16}
        suite.add("matrix", {"relative": square} | inputs, "shape")
    for both in (True, False):
        for count, end in kinds[:4]:
            for length in (2, 7, 40):
                last: Inputs = {"relative": list(range(1 - length, 1)), "bidirectional": both}
                suite.add("step", last | {"buckets": count, "max_distance": end}, "cache")
    plain = {"relative": [0, 1], "bidirectional": True, "buckets": 32, "max_distance": 128}
    suite.refuse(plain | {"buckets": 31}, "odd", acceptable=[ODD])
    suite.refuse(plain | {"buckets": 2}, "too few")
    suite.refuse(plain | {"buckets": 0, "bidirectional": False}, "too few")
    suite.refuse(plain | {"max_distance": 8}, "max_distance")
    suite.refuse(plain | {"max_distance": 0}, "max_distance")
    suite.refuse(plain | {"relative": [0.5]}, "not an integer")
    return suite


def log_bucket(relative: int, inputs: Inputs, rounded: Any = mp.ceil, capped: bool = True) -> int:
    """Return the signed bucket of a relative position, by DeBERTa's rule."""
    middle, end = inputs["buckets"] // 2, inputs["max_distance"]
    distance = abs(relative)
    found = distance
    if distance > middle:
        steps = _steps(distance, middle, end) if rounded is mp.ceil and capped else None
        if steps is None:
            ratio = mp.log(exact(distance) / middle) / mp.log(exact(end - 1) / middle)
            steps = int(rounded(ratio * (middle - 1)))
        found = middle + (min(steps, middle) if capped else steps)
    return found if relative >= 0 else -found


def _steps(distance: int, middle: int, end: int) -> int:
    """Return (middle − 1) · log(distance/middle) / log((end − 1)/middle), rounded up, exactly."""
    power = distance ** (middle - 1)
    return next(
        (n for n in range(middle) if power <= (end - 1) ** n * middle ** (middle - 1 - n)), middle
    )


def deberta(inputs: Inputs, **other: Any) -> Any:
    """Return the row of each relative position, or its bucket, parts computed otherwise."""
    inputs = inputs | other
    if "buckets" in inputs:
        how = {key: inputs[key] for key in ("rounded", "capped") if key in inputs}
        return _map_nested(lambda r: log_bucket(r, inputs, **how), inputs["relative"])
    far, shift = inputs["max_distance"], inputs.get("shift", inputs["max_distance"])
    last = inputs.get("last", 2 * far - 1)
    return _map_nested(lambda r: min(max(shift - r, 0), last), inputs["relative"])


def _backwards(inputs: Inputs) -> Any:
    return deberta(inputs, relative=_map_nested(lambda r: -r, inputs["relative"]))


DEBERTA: dict[str, tuple[str, Answer]] = {
    "query and key exchanged": ("The relative position has the other sign.", _backwards),
    "rounded down": (
        "The logarithm is rounded down instead of up.",
        lambda g: deberta(g, rounded=mp.floor) if "buckets" in g else None,
    ),
    "rounded to nearest": (
        "The logarithm is rounded to the nearest bucket instead of up.",
        lambda g: deberta(g, rounded=mp.nint) if "buckets" in g else None,
    ),
    "buckets without an end": (
        "Distances beyond max_distance go on into further buckets.",
        lambda g: deberta(g, capped=False) if "buckets" in g else None,
    ),
    "sign lost beyond the middle": (
        "Far keys behind get the buckets of those ahead.",
        lambda g: (
            _map_nested(
                lambda r: r if abs(r) <= g["buckets"] // 2 else log_bucket(abs(r), g), g["relative"]
            )
            if "buckets" in g
            else None
        ),
    ),
    "logarithm of max_distance": (
        "The logarithm is divided by that of max_distance / m, not of (max_distance − 1) / m.",
        lambda g: deberta(g, max_distance=g["max_distance"] + 1) if "buckets" in g else None,
    ),
    "a row more": (
        "The last row is 2 · max_distance instead of one less.",
        lambda g: None if "buckets" in g else deberta(g, last=2 * g["max_distance"]),
    ),
    "not shifted": (
        "Rows are not shifted to begin at 0.",
        lambda g: (
            None
            if "buckets" in g
            else _map_nested(
                lambda r: min(max(-r, -g["max_distance"]), g["max_distance"] - 1), g["relative"]
            )
        ),
    ),
    "sign lost": (
        "Keys behind get the buckets of those ahead.",
        lambda g: _map_nested(abs, deberta(g)) if "buckets" in g else None,
    ),
    "clipped instead of bucketed": (
        "Distances are clipped at the count of buckets.",
        lambda g: (
            _map_nested(lambda r: min(max(r, -g["buckets"]), g["buckets"]), g["relative"])
            if "buckets" in g
            else None
        ),
    ),
}


def deberta_suite() -> Suite:
    """Return suite deberta."""
    suite = Suite(
        "deberta",
        "DeBERTa's relative positions, key − query. Without buckets: the row δ = query − key +"
        " max_distance, clipped, of a table of 2 · max_distance rows. With buckets: the bucket of"
        " version 2, with the sign of key − query; a distance up to m = buckets/2 is its own, and"
        " one beyond falls into m + ⌈(m − 1) · log(distance/m) / log((max_distance − 1)/m)⌉, or"
        " into 2m if that is less.",
        "An integer for each relative position, in its shape.",
        deberta,
        DEBERTA,
    )
    for end in (1, 2, 4, 16):
        suite.add("rows", {"relative": list(range(-end - 2, end + 3)), "max_distance": end}, "near")
    square = [[k - q for k in range(5)] for q in range(5)]
    suite.add("rows", {"relative": square, "max_distance": 3}, "shape")
    for count, end in ((256, 512), (8, 32), (32, 128), (16, 40), (4, 9)):
        rule: Inputs = {"buckets": count, "max_distance": end}
        middle = count // 2
        near = [0, 1, -1, middle, -middle, middle + 1, -middle - 1]
        suite.add("buckets", {"relative": near} | rule, "near")
        far = [end - 2, 1 - end, end, -end, 10 * end, -10 * end]
        suite.add("buckets", {"relative": far} | rule, "far")
        step = max((end - middle) // 12, 1)
        suite.add("buckets", {"relative": list(range(middle, end, step))} | rule, "growing")
        suite.add("buckets", {"relative": [-r for r in range(middle, end, step)]} | rule, "growing")
    suite.refuse({"relative": [0, 1], "max_distance": 0}, "max_distance")
    suite.refuse({"relative": [0, 1], "max_distance": 64, "buckets": 7}, "odd")
    suite.refuse({"relative": [0, 1], "max_distance": 3, "buckets": 8}, "max_distance")
    return suite
