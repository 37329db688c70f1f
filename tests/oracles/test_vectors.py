"""Forty faults, each one changed line of a plain implementation, are found and named."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import pytest

from posenc.vectors import Report, check, load

PLAIN = Path(__file__).with_name("plain.py")
SOURCE = PLAIN.read_text("utf-8")
SUITES = (
    *("frequencies", "rotation", "rotation_2d", "mrope", "scores", "sinusoidal", "alibi"),
    *("alibi_bias", "t5", "swin", "shaw", "resize", "positions", "sequences"),
)

# Suite, the code, what it becomes, and the name of the bug.
TURN = 'a, b = (2 * i, 2 * i + 1) if layout == "interleaved" else (i, i + half)'
FAULTS = [
    ("rotation", TURN, "a, b = (i, i + half)", "half for interleaved"),
    ("rotation", TURN, "a, b = (2 * i, 2 * i + 1)", "interleaved for half"),
    (
        "rotation",
        "for i, angle in enumerate(angles):",
        "for i, angle in enumerate([-angle for angle in angles]):",
        "rotates the wrong way",
    ),
    (
        "rotation",
        "angles = [[p * w for w in omega] for p in positions]",
        "angles = [[(p + 1) * w for w in omega] for p in positions]",
        "positions from one",
    ),
    (
        "rotation",
        "angles = [[p * w for w in omega] for p in positions]",
        "angles = [[n * w for w in omega] for n, _ in enumerate(positions)]",
        "offset forgotten",
    ),
    (
        "rotation",
        "angles = [[p * w for w in omega] for p in positions]",
        "angles = [[ldexp(round(ldexp(frexp(p)[0], 8)), frexp(p)[1] - 8) * w for w in omega]"
        " for p in positions]",
        "positions rounded to bfloat16",
    ),
    (
        "rotation",
        "angles = [[p * w for w in omega] for p in positions]",
        "angles = [[int(p) * w for w in omega] for p in positions]",
        "fractions of positions lost",
    ),
    (
        "rotation",
        "angles = [[p * w for w in omega] for p in positions]",
        "angles = [[abs(p) * w for w in omega] for p in positions]",
        "sign of the position lost",
    ),
    (
        "rotation",
        "omega = frequencies or omegas(part, base)",
        "omega = frequencies or omegas(part)",
        "base ignored",
    ),
    (
        "rotation",
        "part = rotary_d or len(x[0])",
        "part = len(x[0])",
        "whole head rotated",
    ),
    (
        "rotation",
        "omega = frequencies or omegas(part, base)",
        "omega = frequencies or omegas(len(x[0]), base)[: part // 2]",
        "frequencies of the whole head",
    ),
    (
        "rotation",
        "places = positions if isinstance(positions[0], list) else [positions] * len(x)",
        "places = [positions[0] if isinstance(positions[0], list) else positions] * len(x)",
        "positions of the first sequence",
    ),
    (
        "frequencies",
        "return [base ** (-2 * i / d) for i in range(d // 2)]",
        "return [base ** (-i / d) for i in range(d // 2)]",
        "exponent i over d",
    ),
    (
        "frequencies",
        "return [base ** (-2 * i / d) for i in range(d // 2)]",
        "return [base ** (-i / max(d // 2 - 1, 1)) for i in range(d // 2)]",
        "half minus one",
    ),
    (
        "frequencies",
        "return omegas(d, base * factor ** (d / (d - 2))), 1.0",
        "return omegas(d, base * factor), 1.0",
        "base times factor",
    ),
    (
        "frequencies",
        "kept = [between((last - i) / (last - first)) for i in range(d // 2)]",
        "kept = [between((i - first) / (last - first)) for i in range(d // 2)]",
        "ramp reversed",
    ),
    (
        "frequencies",
        "    if truncate:\n",
        "    if True:\n",
        "truncate ignored",
    ),
    (
        "frequencies",
        "        return attention_factor\n",
        "        return attention_factor * temperature(factor)\n",
        "attention_factor as multiplier",
    ),
    (
        "frequencies",
        "        return attention_factor\n",
        "        return temperature(attention_factor)\n",
        "attention_factor through the formula",
    ),
    (
        "frequencies",
        "    if attention_factor is not None:\n",
        "    if False:\n",
        "attention_factor ignored",
    ),
    (
        "frequencies",
        "    if mscale and mscale_all_dim:\n",
        "    if False:\n",
        "mscale ignored",
    ),
    (
        "frequencies",
        "divisors = long if length > trained_length else short",
        "divisors = long",
        "short factors never used",
    ),
    (
        "frequencies",
        "divisors = long if length > trained_length else short",
        "divisors = long if length >= trained_length else short",
        "switched one too early",
    ),
    (
        "frequencies",
        "longest = max(length, trained_length)",
        "longest = trained_length + trained_length * (factor - 1) / factor",
        "one table for all lengths",
    ),
    (
        "frequencies",
        "    return ntk(d, factor * longest / trained_length - (factor - 1), base)",
        "    return ntk(d, longest / trained_length, base)",
        "ratio of lengths alone",
    ),
    (
        "frequencies",
        "kept = [between((r - low) / (high - low)) if high > low else float(r >= low) for r in"
        " turns]",
        "kept = [float(r >= high) for r in turns]",
        "no blend",
    ),
    (
        "scores",
        "queries = rotation(query, query_positions, layout, base)",
        "queries = query",
        "keys alone rotated",
    ),
    (
        "scores",
        "keys = rotation(key, key_positions, layout, base)",
        "keys = rotation(key, [-p for p in key_positions], layout, base)",
        "keys rotated the wrong way",
    ),
    (
        "scores",
        "queries = rotation(query, query_positions, layout, base)",
        "queries = rotation(query, list(range(len(query))), layout, base)",
        "query offset forgotten",
    ),
    (
        "sinusoidal",
        "omega = [base ** (-i / (half - shift)) for i in range(half)]",
        "omega = [base ** (-i / (half - 1 + shift)) for i in range(half)]",
        "the other shift",
    ),
    (
        "sinusoidal",
        '        if first == "cosine":\n',
        '        if first == "sine":\n',
        "sine and cosine exchanged",
    ),
    (
        "alibi",
        "below = 2 ** floor(log(heads, 2) + 1e-9)",
        "below = heads",
        "plain geometric",
    ),
    (
        "alibi",
        "return [2 ** (-8 * (h + 1) / below) for h in range(below)] + more",
        "return sorted([2 ** (-8 * (h + 1) / below) for h in range(below)] + more, reverse=True)",
        "slopes in another order",
    ),
    (
        "alibi_bias",
        "queries = range(query_offset, query_offset + query_length)",
        "queries = range(query_length)",
        "offset forgotten",
    ),
    (
        "alibi_bias",
        "-slope * abs(k - q)",
        "slope * abs(k - q)",
        "sign of the bias",
    ),
    (
        "t5",
        "own = side if bidirectional and relative > 0 else 0",
        "own = side if bidirectional and relative < 0 else 0",
        "sides exchanged",
    ),
    (
        "t5",
        "grown = log(distance / exact)",
        "grown = log(max(distance - (distance > exact), 1) / exact)",
        "boundary off by one",
    ),
    (
        "swin",
        "(r - s + shift) * wide + c - e + shift",
        "(s - r + shift) * wide + e - c + shift",
        "key minus query",
    ),
    (
        "shaw",
        "max(k - q, -far)",
        "max(q - k, -far)",
        "query minus key",
    ),
    (
        "rotation_2d",
        '(row, column) if first == "row" else (column, row)',
        '(column, row) if first == "row" else (row, column)',
        "axes exchanged",
    ),
    (
        "mrope",
        "    if interleaved_sections:\n",
        "    if not interleaved_sections:\n",
        "sections for turns",
    ),
    (
        "positions",
        "rows = [[max(sum(row[: n + 1]) - 1, 0) for n in range(len(row))] for row in mask]",
        "rows = [list(range(len(row))) for row in mask]",
        "padding counted",
    ),
    (
        "positions",
        "return [place for length in lengths for place in range(length)]",
        "return list(range(sum(lengths)))",
        "no restart",
    ),
    (
        "resize",
        "place = row * (len(table) - 1) / max(rows - 1, 1)",
        "place = round(row * (len(table) - 1) / max(rows - 1, 1))",
        "nearest row",
    ),
    (
        "sequences",
        "omega = TABLES.setdefault((self.d, self.base), self.omega)",
        "omega = TABLES.setdefault(self.d, self.omega)",
        "cache without base",
    ),
    (
        "sequences",
        "        start = self.seen\n",
        "        start = 0\n",
        "offset lost between calls",
    ),
    (
        "sequences",
        "    def restart(self):\n        self.seen = 0\n",
        "    def restart(self):\n        self.seen = self.seen\n",
        "restart forgotten",
    ),
    (
        "sequences",
        "self.longest = length\n",
        "self.longest = max(length, self.longest)\n",
        "the longest so far",
    ),
]


def answered(suite: str, source: str = SOURCE, contract: str = "float64") -> Report:
    """Return how a source answers what has an answer: it refuses nothing."""
    names: dict[str, Any] = {}
    exec(compile(source, str(PLAIN), "exec"), names)
    report = check(names[suite], suite, contract=contract)
    kept = [one for one in report.outcomes if one.case.expected is not None]
    return Report(tuple(kept), report.contract)


@pytest.mark.parametrize("suite", SUITES)
def test_the_plain_implementation_is_right(suite: str) -> None:
    report = answered(suite)
    assert [f"{one.case.id} {one.said}" for one in report.failed] == []
    assert report.crashed == report.refused == report.acceptable == ()


def test_there_are_forty_faults_each_of_its_own() -> None:
    assert len(FAULTS) >= 40
    assert len({fault[:3] for fault in FAULTS}) == len(FAULTS)
    for suite, old, new, name in FAULTS:
        assert SOURCE.count(old) == 1, old
        assert old != new
        assert name in load(suite).bugs


@pytest.mark.slow
@pytest.mark.parametrize(("suite", "old", "new", "name"), FAULTS)
def test_a_planted_fault_fails_and_is_named(suite: str, old: str, new: str, name: str) -> None:
    report = answered(suite, SOURCE.replace(old, new))
    assert report.failed or report.crashed
    assert next(iter(report.bugs), None) == name


POWER = "base ** (-2 * i / d)"
SINUSOIDAL = "base ** (-i / (half - shift))"
# Ways in which correct libraries compute frequencies in float32.
SINGLE = {
    "power": (
        "float32(base) ** float32(-2 * i / d)",
        "float32(base) ** float32(-i / (half - shift))",
    ),
    "exponential": (
        "numpy.exp(float32(-2 * i / d) * numpy.log(float32(base)))",
        "numpy.exp(float32(-i / (half - shift)) * numpy.log(float32(base)))",
    ),
}
ANGLES = ("p * w for w in omega", "float32(p) * float32(w) for w in omega")
AXES = ("positions[axis][n] * w", "float32(positions[axis][n]) * float32(w)")


def single(way: str) -> str:
    """Return the plain implementation with float32 frequencies and angles."""
    power, other = SINGLE[way]
    source = SOURCE.replace(POWER, power).replace(SINUSOIDAL, other)
    source = source.replace(*ANGLES).replace(*AXES)
    source = source.replace("sin(p * w) for", "sin(float32(p) * w) for")
    source = source.replace("cos(p * w) for", "cos(float32(p) * w) for")
    return f"import numpy\nfrom numpy import float32\n{source}"


@pytest.mark.parametrize("way", SINGLE)
@pytest.mark.parametrize("suite", SUITES)
def test_float32_angles_keep_their_contract(suite: str, way: str) -> None:
    report = answered(suite, single(way), "float32 angle")
    assert [f"{one.case.id} {one.said}" for one in report.failed + report.crashed] == []


def test_float32_angles_do_not_keep_the_contract_of_float64() -> None:
    report = answered("rotation", single("power"))
    assert "float32 angles" in report.bugs


def rounded(value: Any) -> Any:
    """Return numbers rounded to bfloat16."""
    if isinstance(value, dict):
        return {key: rounded(inner) for key, inner in value.items()}
    if isinstance(value, list):
        return [rounded(inner) for inner in value]
    if isinstance(value, str | int) or value is None:
        return value
    fraction, exponent = math.frexp(value)
    return math.ldexp(round(math.ldexp(fraction, 8)), exponent - 8)


@pytest.mark.parametrize("suite", [suite for suite in SUITES if suite != "sequences"])
def test_results_in_bfloat16_keep_their_contract(suite: str) -> None:
    names: dict[str, Any] = {}
    exec(compile(single("power"), str(PLAIN), "exec"), names)
    report = check(
        lambda **given: rounded(names[suite](**given)), suite, contract="bfloat16 result"
    )
    wrong = [one for one in report.failed if one.case.expected is not None]
    assert [f"{one.case.id} {one.said}" for one in wrong] == []
