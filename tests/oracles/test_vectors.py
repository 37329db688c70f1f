"""Faults, each one changed line of a plain implementation, are found and named."""

from __future__ import annotations

import math
import tomllib
from pathlib import Path
from typing import Any

import pytest

from posenc.vectors import Report, check, load

PLAIN = Path(__file__).with_name("plain.py")
PLAIN_FAULTS = Path(__file__).with_name("plain_faults.toml")
SOURCE = PLAIN.read_text("utf-8")
SUITES = (
    *("frequencies", "rotation", "rotation_2d", "mrope", "scores", "sinusoidal", "alibi"),
    *("alibi_bias", "t5", "swin", "shaw", "resize", "positions", "sequences"),
)

# Suite, the code, what it becomes, and the name of the bug.
FAULTS = [
    (suite, old, new, bug)
    for suite, pieces in tomllib.loads(PLAIN_FAULTS.read_text("utf-8")).items()
    for old, bugs in pieces.items()
    for bug, new in bugs.items()
]


def run_suite(suite: str, source: str = SOURCE, contract: str = "float64") -> Report:
    """Return the outcomes of a source in the cases with an answer: it refuses nothing."""
    names: dict[str, Any] = {}
    exec(compile(source, str(PLAIN), "exec"), names)
    report = check(names[suite], suite, contract=contract)
    outcomes = [one for one in report.outcomes if one.case.expected is not None]
    return Report(tuple(outcomes), report.contract)


@pytest.mark.parametrize("suite", SUITES)
def test_the_plain_implementation_is_right(suite: str) -> None:
    report = run_suite(suite)
    assert [f"{one.case.id} {one.said}" for one in report.failed] == []
    assert report.crashed == report.refused == report.acceptable == ()


def test_there_are_forty_faults_each_of_its_own() -> None:
    assert len(FAULTS) >= 40
    assert len({fault[:3] for fault in FAULTS}) == len(FAULTS)
    bugs = {suite: load(suite).bugs for suite in {fault[0] for fault in FAULTS}}
    for suite, old, new, name in FAULTS:
        assert SOURCE.count(old) == 1, old
        assert old != new
        assert name in bugs[suite]


@pytest.mark.slow
@pytest.mark.parametrize(("suite", "old", "new", "name"), FAULTS)
def test_a_planted_fault_fails_and_is_named(suite: str, old: str, new: str, name: str) -> None:
    report = run_suite(suite, SOURCE.replace(old, new))
    assert report.failed or report.crashed
    assert next(iter(report.bugs), None) == name


POWER = "base ** (-2 * i / d)"
SINUSOIDAL = "base ** (-i / (half - shift))"
# Ways in which correct libraries compute frequencies in float32.
IN_FLOAT32 = {
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


def in_float32(power_form: str) -> str:
    """Return the plain implementation with float32 frequencies and angles."""
    power, other = IN_FLOAT32[power_form]
    source = SOURCE.replace(POWER, power).replace(SINUSOIDAL, other)
    source = source.replace(*ANGLES).replace(*AXES)
    source = source.replace("sin(p * w) for", "sin(float32(p) * w) for")
    source = source.replace("cos(p * w) for", "cos(float32(p) * w) for")
    return f"import numpy\nfrom numpy import float32\n{source}"


@pytest.mark.parametrize("way", IN_FLOAT32)
@pytest.mark.parametrize("suite", SUITES)
def test_float32_angles_keep_their_contract(suite: str, way: str) -> None:
    report = run_suite(suite, in_float32(way), "float32 angle")
    assert [f"{one.case.id} {one.said}" for one in report.failed + report.crashed] == []


def test_float32_angles_do_not_keep_the_contract_of_float64() -> None:
    report = run_suite("rotation", in_float32("power"))
    assert any("float32 angles" in one.like for one in report.failed)


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
    exec(compile(in_float32("power"), str(PLAIN), "exec"), names)
    report = check(
        lambda **given: rounded(names[suite](**given)), suite, contract="bfloat16 result"
    )
    wrong = [one for one in report.failed if one.case.expected is not None]
    assert [f"{one.case.id} {one.said}" for one in wrong] == []
