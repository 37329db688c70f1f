"""A report names the bug behind failures, if it explains most of them: a cause, not an effect."""

from __future__ import annotations

import copy
import json
import math
import runpy
from collections.abc import Callable
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pytest

from posenc import alibi_slopes, frequencies, mrope_positions
from posenc.vectors import Case, Outcome, Report, check, load, suites
from posenc.vectors.compare import judge_answer

Answer = Callable[..., Any]
ADAPTER = Path(__file__).resolve().parents[2] / "docs" / "vectors" / "adapters" / "numpy_posenc.py"
FOUND = runpy.run_path(str(ADAPTER))
RIGHT: dict[str, Answer] = FOUND["ANSWERS"]
OBJECT: Any = FOUND["Rotary"]
SINGLE = "float32 angle"


def bfloat16(values: Any) -> Any:
    """Return numbers rounded to bfloat16, ties to even."""
    bits = np.asarray(values, np.float32).view(np.uint32)
    bits = bits + 0x7FFF + ((bits >> 16) & 1)
    return (bits & 0xFFFF0000).astype(np.uint32).view(np.float32).astype(float)


# Every bug that a suite knows.


def outcomes_of(cases: tuple[Case, ...], bug: str) -> tuple[Outcome, ...]:
    """Return what comes of a dozen of the cases where a bug shows, answered by it."""
    shown = [case for case in cases if bug in case.bugs]
    shown = shown[:: len(shown) // 12 + 1]
    contract = "float64" if bug == "float32 angles" else SINGLE
    return tuple(
        Outcome(case, **vars(judge_answer(case, case.bugs[bug], contract))) for case in shown
    )


@pytest.mark.slow  # a minute or two where coverage is measured
@pytest.mark.parametrize("suite", suites())
def test_whoever_answers_like_a_bug_is_failed_and_told_its_name(suite: str) -> None:
    found = load(suite)
    for bug in found.bugs:
        report = Report(outcomes_of(found.cases, bug), SINGLE, dict(found.bugs))
        assert report.outcomes, f"no case shows {bug}"
        assert bug in report.bugs, (bug, report.bugs)
        assert report.explained == len(report.failed)


# When a bug is named.

TOLERANCE = {SINGLE: {"absolute": 0.0, "relative": 0.0}}


def failed(*like: str, suite: str = "swin") -> Outcome:
    """Return a failure that looks like bugs."""
    failed.count += 1  # type: ignore[attr-defined]
    name = f"{suite}/window-{failed.count:03}"  # type: ignore[attr-defined]
    bugs: dict[str, Any] = {name: [2] for name in ("cause", "effect", "twin", "rare")}
    case = Case(name, suite, {}, [1], TOLERANCE, "valid", (), {}, bugs)
    return Outcome(case, "failed", "must be 1; got 2", 1.0, "[0]", like)


failed.count = 0  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    ("failures", "named", "explained"),
    [
        ([("cause",), ("cause",), ()], {"cause": 2}, 2),
        ([("cause",), ()], {}, 0),
        ([("rare",), (), ()], {}, 0),
        ([("cause", "effect"), ("cause", "effect"), ("cause",)], {"cause": 3}, 3),
        ([("twin", "cause"), ("twin", "cause"), ()], {"cause": 2, "twin": 2}, 2),
        ([("cause", "twin"), ("twin",), ("cause",)], {"cause": 2, "twin": 2}, 3),
    ],
    ids=["most", "half", "few", "an effect", "twins", "two that overlap"],
)
def test_a_bug_is_named_if_it_explains_most_failures(
    failures: list[tuple[str, ...]], named: dict[str, int], explained: int
) -> None:
    described = dict.fromkeys(("cause", "effect", "twin", "rare"), "Said.")
    report = Report(tuple(failed(*like) for like in failures), SINGLE, described)
    assert report.bugs == named
    assert list(report.bugs) == list(named)
    assert report.explained == explained
    share = f"explains {explained} of {len(failures)} failures"
    assert (share in str(report)) == bool(named)
    assert ("It looks like no known bug" in str(report)) == (not named)
    assert json.loads(report.as_json())["explained"] == explained


def test_of_bugs_that_explain_the_same_passed_cases_rule_one_out() -> None:
    case = Case("swin/window-000", "swin", {}, [1], TOLERANCE, "valid", (), {}, {"twin": [2]})
    alike = failed("twin", "cause")
    assert Report((alike,), SINGLE).bugs == {"twin": 1, "cause": 1}
    assert Report((alike, Outcome(case, "passed")), SINGLE).bugs == {"cause": 1}


def test_most_is_counted_in_each_suite() -> None:
    own = [failed("cause"), failed("cause"), *(failed(suite="shaw") for _ in range(9))]
    report = Report(tuple(own), SINGLE)
    assert report.bugs == {"cause": 2}
    assert "explains 2 of 11 failures" in str(report)


def test_a_case_looks_like_what_is_named_alone() -> None:
    report = Report((failed("cause"), failed("cause", "rare"), failed("cause")), SINGLE)
    assert "rare" not in str(report)
    assert "rare" not in report.as_json()
    junit = ElementTree.fromstring(report.as_junit())
    assert {one.get("message") for one in junit.iter("failure")} == {
        "failed at [0] must be 1; got 2; looks like: cause"
    }


# Mistakes as they are made.


def rotated_by(turn: Answer, angle: Answer = np.multiply) -> Answer:
    """Return a rotation whose pairs are turned otherwise."""

    def rotate(x: Any, positions: Any, layout: str, **how: Any) -> Any:
        right = RIGHT["rotation"](x, positions, layout=layout, **how)  # refuses what is nonsense
        if {"part", "pairs", "inverse"} & how.keys():
            return right
        vectors, places = np.array(x, float), np.array(positions, float)[..., None]
        part = how.get("rotary_d") or vectors.shape[-1]
        omega = how.get("frequencies")
        omega = frequencies(part, base=how["base"]) if omega is None else np.array(omega, float)
        pair = np.arange(part // 2)
        one, two = (pair, pair + part // 2) if layout == "half" else (2 * pair, 2 * pair + 1)
        theta = angle(places, omega)
        a, b = vectors[..., one], vectors[..., two]
        vectors[..., one], vectors[..., two] = turn(a, b, np.cos(theta), np.sin(theta))
        return vectors

    return rotate


def plainly(a: Any, b: Any, cos: Any, sin: Any) -> Any:
    return a * cos - b * sin, a * sin + b * cos


def in_place(a: Any, b: Any, cos: Any, sin: Any) -> Any:
    first = a * cos - b * sin
    return first, first * sin + b * cos


def with_inputs(suite: str, change: Callable[[dict[str, Any]], Any]) -> Answer:
    """Return the right answer to inputs that are changed."""

    def answer(**given: Any) -> Any:
        given = copy.deepcopy(given)
        return RIGHT[suite](**given | (change(given) or {}))

    return answer


def moved(change: Answer) -> Callable[[dict[str, Any]], Any]:
    return lambda given: {"positions": change(np.array(given["positions"], float)).tolist()}


def of_rule(rule: str, change: Callable[[dict[str, Any], Any], Any]) -> Answer:
    """Return the answers of suite frequencies, those to a rule changed."""

    def answer(**given: Any) -> Any:
        found = RIGHT["frequencies"](**copy.deepcopy(given))
        return found | change(given, found) if given["rule"] == rule else found

    return answer


def without_two_pi(given: dict[str, Any], found: Any) -> Any:
    omega = frequencies(given["d"], base=given["base"])
    low, high = given["low"], given["high"]
    turns = given["trained_length"] * omega
    kept = np.clip((turns - low) / (high - low), 0, 1) if high > low else 1.0 * (turns > low)
    return {"frequencies": kept * omega + (1 - kept) * omega / given["factor"]}


def longrope_temperature(given: dict[str, Any], found: Any) -> Any:
    if {"attention_factor", "mscale", "mscale_all_dim"} & given.keys():
        return {}
    ratio = math.log(given["factor"]) / math.log(given["trained_length"])
    return {"attention_factor": math.sqrt(1 + ratio)}


def own_hidden(**given: Any) -> Any:
    found = np.array(RIGHT["alibi_bias"](**given), float)
    rows = np.arange(found.shape[1])
    if given["causal"]:
        found[:, rows, rows + given.get("query_offset", 0)] = -np.inf
    return found


def rounded_buckets(relative: Any, bidirectional: bool, buckets: int, max_distance: int) -> Any:
    RIGHT["t5"](relative, bidirectional=bidirectional, buckets=buckets, max_distance=max_distance)
    key = np.array(relative)
    side = buckets // 2 if bidirectional else buckets
    ahead = (key > 0) * side if bidirectional else 0
    far = abs(key) if bidirectional else np.maximum(-key, 0)
    small = side // 2
    ratio = np.log(np.maximum(far, 1) / small) / math.log(max_distance / small)
    large = np.minimum(small + np.rint(ratio * (side - small)), side - 1)
    return (ahead + np.where(far < small, far, large)).astype(int)


def row_before(table: Any, rows: int) -> Any:
    RIGHT["resize"](table, rows)
    places = np.floor(np.linspace(0, len(table) - 1, rows)).astype(int)
    return np.array(table, float)[places]


def whole_pairs(x: Any, positions: Any, layout: str, **how: Any) -> Any:
    """Pair dimension i of a part with i + d/2 of the head."""
    part = how.get("rotary_d")
    across = {"pairs": "head"} if part and layout == "half" and "part" not in how else {}
    return RIGHT["rotation"](x, positions, layout=layout, **how | across)


def one_table(config: Any, length: Any = None) -> Any:
    """Return what the layers that attend to all do, for every layer."""
    found = RIGHT["config"](copy.deepcopy(config), length)
    if "layers" not in found:
        return found
    types = config.get("layer_types", ["full_attention"] * len(found["layers"]))
    return found["layers"][types.index("full_attention")]


def without_temperature(config: Any, length: Any = None) -> Any:
    found = RIGHT["config"](config, length)
    return found | {"attention_factor": 1.0} if "layers" not in found else found


def packed_from_zero(first_row: int = 0, **given: Any) -> Any:
    return RIGHT["positions"](**given, first_row=min(first_row, 0))


def counted_in_tokens(parts: Any, intervals: float = 1, after: str = "largest") -> Any:
    """Go on after an image with the count of tokens."""
    mrope_positions(parts, intervals=intervals, after=after)  # refuses what is nonsense
    found: list[list[int]] = []
    for part in parts:
        own = mrope_positions([part], intervals=intervals, after=after) + len(found)
        found += own.tolist()
    return found


class Cast(OBJECT):  # type: ignore[misc]
    """An object whose tables a cast to bfloat16 spoils."""

    rounded = False
    turn = staticmethod(lambda a, b, cos, sin: plainly(a, b, bfloat16(cos), bfloat16(sin)))

    def cast(self, dtype: str) -> None:
        self.rounded |= dtype == "bfloat16"

    def rotate(self, x: Any, positions: Any) -> Any:
        turn = self.turn if self.rounded else plainly
        return rotated_by(turn)(x, positions, layout=self.layout, base=self.base)


class CastToReal(Cast):
    turn = staticmethod(lambda a, b, cos, sin: (a * bfloat16(cos), b * bfloat16(cos)))


class KeysCounted(OBJECT):  # type: ignore[misc]
    seen = 0

    def extend(self, x: Any) -> Any:
        found = super().extend(x)
        self.seen = min(self.seen, 32)
        return found


class PromptTwice(OBJECT):  # type: ignore[misc]
    seen = 0

    def extend(self, x: Any) -> Any:
        prompt = self.seen == 0
        found = super().extend(x)
        self.seen += len(x) * prompt
        return found


class SinksMoved(OBJECT):  # type: ignore[misc]
    def shift(self, x: Any, by: int, first: int = 0) -> Any:
        return super().shift(x, by)


class CastPositions(Cast):
    def rotate(self, x: Any, positions: Any) -> Any:
        places = bfloat16(positions) if self.rounded else positions
        return OBJECT.rotate(self, x, places)


class ShiftedWithBase(OBJECT):  # type: ignore[misc]
    def shift(self, x: Any, by: int, first: int = 0) -> Any:
        return OBJECT(self.d, 10000, self.layout).shift(x, by, first)


class Grown(OBJECT):  # type: ignore[misc]
    """An object whose table gets new rows that begin at position 0 again."""

    def rotate(self, x: Any, positions: Any) -> Any:
        rows: list[int] = self.__dict__.setdefault("rows", [])
        rows += range(max(positions) + 1 - len(rows))
        return super().rotate(x, [rows[p] for p in positions])

    def shift(self, x: Any, by: int, first: int = 0) -> Any:
        return OBJECT(self.d, self.base, self.layout).shift(x, by, first)


def along(axis: int) -> Answer:
    """Return a rotation that takes positions along another axis, where there are heads."""

    def rotate(x: Any, positions: Any, **how: Any) -> Any:
        if np.ndim(x) < 4:
            return RIGHT["rotation"](x, positions, **how)
        moved = np.moveaxis(np.array(x, float), axis - 1, 2)
        return np.moveaxis(RIGHT["rotation"](moved, positions, **how), 2, axis - 1)

    return rotate


def powers_of_two(given: dict[str, Any], found: Any) -> Any:
    """Stretch as the first Qwen does."""
    length, trained, d = (given[key] for key in ("length", "trained_length", "d"))
    if length <= trained:
        return {}
    stretch = 2 ** math.ceil(math.log2(length / trained) + 1) - 1
    return {"frequencies": frequencies(d, base=given["base"] * stretch ** (d / (d - 2)))}


def configured(change: Callable[[dict[str, Any]], dict[str, Any]]) -> Answer:
    """Return the right answer to a configuration that is changed."""

    def answer(config: Any, length: Any = None) -> Any:
        RIGHT["config"](copy.deepcopy(config), length)  # refuses what is nonsense
        return RIGHT["config"](change(config), length)

    return answer


def local_base(config: dict[str, Any]) -> dict[str, Any]:
    given = "rope_local_base_freq" in config
    return config | {"rope_local_base_freq": 10000} if given else config


def outer_share(config: dict[str, Any]) -> dict[str, Any]:
    inner = dict(config.get("rope_parameters") or {})
    return config | {"rope_parameters": inner} if inner.pop("partial_rotary_factor", 0) else config


def whole_width(config: dict[str, Any]) -> dict[str, Any]:
    still = config.get("qk_nope_head_dim")
    return config | {"qk_rope_head_dim": config["qk_rope_head_dim"] + still} if still else config


def factor_of_lengths(config: dict[str, Any]) -> dict[str, Any]:
    key = "rope_parameters" if config.get("rope_parameters") else "rope_scaling"
    rule = config.get(key) or {}
    trained = rule.get("original_max_position_embeddings")
    if not trained or "factor" not in rule:
        return config
    return config | {key: rule | {"factor": config["max_position_embeddings"] / trained}}


def layers_moved(config: Any, length: Any = None) -> Any:
    found = RIGHT["config"](copy.deepcopy(config), length)
    if "layers" in found:
        found["layers"] = found["layers"][-1:] + found["layers"][:-1]
    return found


def sides_from_zero(parts: Any, intervals: float = 1, after: str = "largest") -> Any:
    """Count the height and the width of each image from 0."""
    mrope_positions(parts, intervals=intervals, after=after)  # refuses what is nonsense
    found: list[Any] = []
    start = 0
    for part in parts:
        own = np.array(mrope_positions([part], intervals=intervals, after=after))
        own += start if isinstance(part, int) else [start, 0, 0]
        found += own.tolist()
        sides = isinstance(part, list) and after == "sides"
        start = start + max(part[1:]) if sides else int(own.max()) + 1
    return found


def numbered(height: int, width: int, apart: int) -> Any:
    """Return the index of a window whose table has rows so far apart."""
    row, column = np.divmod(RIGHT["swin_rectangle"](height, width), 2 * width - 1)
    return row * apart + column


def a_tenth_more(grid: Any, sizes: Any, **how: Any) -> Any:
    """Read each place as if the new sizes were 0.1 larger."""
    right = RIGHT["resize_grid"](grid, sizes, **how)
    if how["corners"] or how["antialias"] or how["kernel"] == "cubic":
        return right
    found = np.array(grid, float)
    for axis, size in enumerate(sizes):
        old = found.shape[axis]
        places = ((np.arange(size) + 0.5) * old / (size + 0.1) - 0.5).clip(0, old - 1)
        low = np.floor(places).astype(int)
        share = (places - low).reshape([-1 if n == axis else 1 for n in range(3)])
        high = np.minimum(low + 1, old - 1)
        found = found.take(low, axis) * (1 - share) + found.take(high, axis) * share
    return found


SHARD = "slopes of the shard alone"
MISTAKES: list[tuple[str, str, Answer]] = [
    (
        "tables rounded to bfloat16",
        "rotation",
        rotated_by(lambda a, b, cos, sin: plainly(a, b, bfloat16(cos), bfloat16(sin))),
    ),
    ("second member from the new first", "rotation", rotated_by(in_place)),
    (
        "a minus lost",
        "rotation",
        rotated_by(lambda a, b, cos, sin: (a * cos + b * sin, a * sin + b * cos)),
    ),
    (
        "angles in degrees",
        "rotation",
        rotated_by(plainly, lambda p, omega: np.deg2rad(p * omega)),
    ),
    (
        "positions wrapped at 4096",
        "rotation",
        with_inputs("rotation", moved(lambda p: np.where(p < 0, p, p % 4096))),
    ),
    (
        "positions clamped at 2048",
        "rotation",
        with_inputs("rotation", moved(lambda p: np.minimum(p, 2047))),
    ),
    (
        "rotated twice or positions doubled",
        "rotation",
        with_inputs("rotation", moved(lambda p: 2 * p)),
    ),
    ("pairs of the whole head", "rotation", whole_pairs),
    (
        "base infinite in float16",
        "rotation",
        with_inputs(
            "rotation",
            lambda given: {"base": 1e300} if given.get("base", 0) > 65504 else None,
        ),
    ),
    ("first dimensions rotated", "rotation", with_inputs("rotation", lambda _: {"part": "first"})),
    ("pairs within the part", "rotation", with_inputs("rotation", lambda _: {"pairs": "part"})),
    ("rotated again", "rotation", with_inputs("rotation", lambda _: {"inverse": False})),
    (
        "limits ignored for 1 and 2",
        "frequencies",
        with_inputs(
            "frequencies",
            lambda g: (
                {"low": 1, "high": 2} if g["rule"] == "llama3" and g["low"] <= g["high"] else None
            ),
        ),
    ),
    (
        "limits exchanged",
        "config",
        lambda config, length=None: exchanged(config, length),
    ),
    ("temperature of LongRoPE", "frequencies", of_rule("yarn", longrope_temperature)),
    (
        "one token too many",
        "frequencies",
        with_inputs(
            "frequencies",
            lambda g: (
                {"length": g["length"] + 1} if g["rule"] == "dynamic" and g["length"] else None
            ),
        ),
    ),
    ("turns without 2π", "frequencies", of_rule("llama3", without_two_pi)),
    (
        "factor as an integer",
        "frequencies",
        with_inputs(
            "frequencies",
            lambda g: {"factor": int(g["factor"])} if g.get("factor", 0) >= 1 else None,
        ),
    ),
    ("one rule for all layers", "config", one_table),
    ("temperature forgotten", "config", without_temperature),
    ("own position hidden", "alibi_bias", own_hidden),
    (SHARD, "alibi", lambda heads, rank=0, ranks=1: alibi_slopes(heads // ranks)),
    ("logarithm rounded to nearest", "t5", rounded_buckets),
    (
        "tables rounded to bfloat16",
        "sinusoidal",
        lambda **given: bfloat16(RIGHT["sinusoidal"](**given)),
    ),
    (
        "width lost",
        "mrope",
        with_inputs("mrope", lambda g: {"positions": [*g["positions"][:2], *g["positions"][1:2]]}),
    ),
    (
        "axes added",
        "rotation_2d",
        with_inputs(
            "rotation_2d", lambda g: {"positions": [[sum(p)] * len(p) for p in g["positions"]]}
        ),
    ),
    ("row before taken", "resize", row_before),
    (
        "corners exchanged",
        "resize_grid",
        with_inputs("resize_grid", lambda g: {"corners": not g["corners"] and not g["antialias"]}),
    ),
    ("first row ignored", "positions", packed_from_zero),
    ("text after counted in tokens", "mrope_positions", counted_in_tokens),
    (
        "height and width exchanged",
        "swin_rectangle",
        lambda height, width: RIGHT["swin_rectangle"](width, height),
    ),
    (
        "query and key exchanged",
        "deberta",
        with_inputs("deberta", lambda g: {"relative": (-np.array(g["relative"])).tolist()}),
    ),
    ("tables rounded by the cast", "sequences", Cast),
    ("sines lost by the cast", "sequences", CastToReal),
    ("keys kept counted instead of tokens, at most 32", "sequences", KeysCounted),
    ("prompt counted twice", "sequences", PromptTwice),
    ("all keys shifted", "sequences", SinksMoved),
    ("grown rows from zero", "sequences", Grown),
    ("positions rounded by the cast", "sequences", CastPositions),
    ("keys shifted with base 10000", "sequences", ShiftedWithBase),
    ("positions along the heads", "rotation", along(2)),
    ("positions along the batch", "rotation", along(1)),
    ("powers of two", "frequencies", of_rule("dynamic", powers_of_two)),
    ("base of the window ignored", "config", configured(local_base)),
    ("partial_rotary_factor sought outside", "config", configured(outer_share)),
    ("width with the part that stands still", "config", configured(whole_width)),
    ("factor of the lengths", "config", configured(factor_of_lengths)),
    ("layers one further", "config", layers_moved),
    ("sides from zero", "mrope_positions", sides_from_zero),
    (
        "interval as an integer",
        "mrope_positions",
        with_inputs("mrope_positions", lambda g: {"intervals": int(g.get("intervals", 1))}),
    ),
    ("a tenth added to the sizes", "resize_grid", a_tenth_more),
    (
        "factor of the height",
        "swin_rectangle",
        lambda height, width: numbered(height, width, 2 * height - 1),
    ),
    (
        "factor of 2 · width",
        "swin_rectangle",
        lambda height, width: numbered(height, width, 2 * width),
    ),
    (
        "logarithm of max_distance",
        "deberta",
        with_inputs(
            "deberta",
            lambda g: {"max_distance": g["max_distance"] + 1} if "buckets" in g else None,
        ),
    ),
]


def exchanged(config: Any, length: Any) -> Any:
    """Read each limit of llama3 under the name of the other, without a check."""
    rule = config.get("rope_parameters") or config.get("rope_scaling") or {}
    if "low_freq_factor" not in rule:
        return RIGHT["config"](config, length)
    low, high = rule["high_freq_factor"], rule["low_freq_factor"]
    omega = frequencies(
        config["head_dim"], base=rule.get("rope_theta", config.get("rope_theta", 10000))
    )
    turns = rule["original_max_position_embeddings"] * omega / (2 * np.pi)
    blend = (turns - low) / (high - low)
    kept = np.where(turns > high, 1, np.where(turns >= low, blend, 0))
    return {
        "frequencies": kept * omega + (1 - kept) * omega / rule["factor"],
        "attention_factor": 1.0,
    }


@pytest.mark.parametrize(
    ("name", "suite", "function"), MISTAKES, ids=[f"{suite}: {name}" for name, suite, _ in MISTAKES]
)
def test_a_mistake_is_failed_and_named(name: str, suite: str, function: Answer) -> None:
    report = check(function, suite)
    assert report.failed
    assert name in report.bugs, report.bugs
    assert report.bugs[name] == max(report.bugs.values())


def test_a_number_that_hides_is_a_convention() -> None:
    def smallest(**given: Any) -> Any:
        return np.maximum(RIGHT["alibi_bias"](**given), np.finfo(np.float32).min)

    report = check(smallest, "alibi_bias")
    assert report.status == 0
    assert {one.like for one in report.acceptable} == {("hidden by a large number",)}
    assert "hidden by a large number" in load("alibi_bias").conventions


def test_whoever_does_not_take_a_new_input_is_not_failed() -> None:
    report = check(alibi_slopes, "alibi")
    assert report.status == 0
    assert {one.case.id.partition("-")[0] for one in report.unsupported} == {
        "alibi/shard",
        "alibi/refuse",
    }
