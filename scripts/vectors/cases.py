"""Cases and suites, as the files have them."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from scripts.vectors import inputs as described
from scripts.vectors.exact import distance, leaves, rounded_to_float64, shortened

VERSION = 1
LICENSE = "MIT, Copyright (c) 2026 The posenc authors"
WITHDRAWN = "withdrawn"
CONTRACTS = ("float64", "float32 angle", "bfloat16 result")
ALL_DECIMALS = 300
Tolerance = dict[str, dict[str, float]]
Answer = Callable[[dict[str, Any]], Any]

EXACTLY: Tolerance = {name: {"absolute": 0.0, "relative": 0.0} for name in CONTRACTS}


def angle_tolerance(scale: float, angle: float) -> Tolerance:
    """Return how far numbers may be off that are sines of angles this large, times a scale.

    A float64 angle is off by a few of its last bits, and so is a float32 angle; a rounded result
    by a few of its own.
    """
    single = _rounded_up(scale * (4 * angle + 16) * 2**-24)
    return {
        "float64": {"absolute": _rounded_up(scale * (angle + 2) * 2**-50), "relative": 0.0},
        "float32 angle": {"absolute": single, "relative": 0.0},
        "bfloat16 result": {"absolute": _rounded_up(single + scale * 2**-6), "relative": 0.0},
    }


def power_tolerance() -> Tolerance:
    """Return by which part numbers may be off that are powers, products and quotients."""
    relative = {"float64": 1e-13, "float32 angle": 4e-6, "bfloat16 result": 2**-7}
    return {name: {"absolute": 1e-300, "relative": part} for name, part in relative.items()}


def _rounded_up(value: float) -> float:
    """Return two digits of a number, rounded up."""
    shown = float(f"{value:.1e}")
    return shown if shown >= value else float(f"{value * 1.05:.1e}")


@dataclass(frozen=True)
class Case:
    """A question and its answer."""

    id: str
    input: dict[str, Any]
    expected: Any
    tolerance: Tolerance
    result: str = "valid"
    flags: tuple[str, ...] = ()
    acceptable: Mapping[str, Any] = field(default_factory=dict)
    bugs: Mapping[str, Any] = field(default_factory=dict)

    def written(self) -> dict[str, Any]:
        """Return the case as a JSON object."""
        written = {
            "id": self.id,
            "input": self.input,
            "expected": self.expected,
            "tolerance": self.tolerance,
            "result": self.result,
            "flags": list(self.flags),
        }
        if self.acceptable:
            written["acceptable"] = dict(self.acceptable)
        return written | {"bugs": dict(self.bugs)}


@dataclass
class Suite:
    """Cases about one thing.

    Args:
        name: of the suite.
        about: what is asked, in a sentence.
        answer: what is to be returned, in a sentence.
        right: returns the answer to an input.
        bugs: for each known bug a description, and a function that returns what it answers, or
            None where it has no effect.
        conventions: the same for what differs and is not wrong.
        tolerance: of the answer to an input.
    """

    name: str
    about: str
    answer: str
    right: Answer
    bugs: dict[str, tuple[str, Answer]]
    conventions: dict[str, tuple[str, Answer]] = field(default_factory=dict)
    tolerance: Callable[[dict[str, Any], Any], Tolerance] = lambda inputs, answer: EXACTLY
    cases: list[Case] = field(default_factory=list)

    def withdraw(self, *names: str) -> None:
        """Withdraw cases that were found to be wrong: they keep their ids and are not asked.

        Raises:
            ValueError: there is no such case.
        """
        if unknown := set(names) - {case.id for case in self.cases}:
            raise ValueError(f"names must be those of cases; got {', '.join(sorted(unknown))}")
        self.cases = [
            replace(case, flags=(*case.flags, WITHDRAWN)) if case.id in names else case
            for case in self.cases
        ]

    def add(
        self, kind: str, inputs: dict[str, Any], *flags: str, acceptable: Iterable[str] = ()
    ) -> None:
        """Add a case, with what the bugs return where it differs, and so for conventions."""
        expected = rounded_to_float64(self.right(inputs))
        tolerance = without_blind_contracts(expected, self.tolerance(inputs, expected))
        accepted = {
            name: rounded_to_float64(self.conventions[name][1](inputs)) for name in acceptable
        }
        accepted = {
            name: one for name, one in accepted.items() if differs(expected, one, tolerance)
        }
        wrong = {
            name: rounded_to_float64(answer(inputs)) for name, (_, answer) in self.bugs.items()
        }
        kept = {
            name: shortened(one, decimals_that_tell(expected, one, tolerance))
            for name, one in wrong.items()
            if one is not None
            and differs(expected, one, tolerance)
            and all(differs(other, one, tolerance) for other in accepted.values())
        }
        result = "acceptable" if accepted else "valid"
        self._put(kind, inputs, expected, tolerance, result, flags, accepted, kept)

    def refuse(self, inputs: dict[str, Any], *flags: str, acceptable: Iterable[str] = ()) -> None:
        """Add an input that has no answer, or none but by a convention.

        Raises:
            ValueError: no flag says why, by what REFUSALS of inputs.py has.
        """
        if not set(flags) & set(described.REFUSALS[self.name]):
            raise ValueError(f"flags must have one of REFUSALS in inputs.py; got {flags}")
        accepted = {
            name: rounded_to_float64(self.conventions[name][1](inputs)) for name in acceptable
        }
        tolerance, result = EXACTLY, "invalid"
        if accepted:
            first = next(iter(accepted.values()))
            tolerance, result = (
                without_blind_contracts(first, self.tolerance(inputs, first)),
                "acceptable",
            )
        self._put("refuse", inputs, None, tolerance, result, flags, accepted, {})

    def _put(self, kind: str, inputs: dict[str, Any], *rest: Any) -> None:
        expected, tolerance, result, flags, accepted, kept = rest
        number = 1 + sum(case.id.startswith(f"{self.name}/{kind}-") for case in self.cases)
        name = f"{self.name}/{kind}-{number:03}"
        self.cases.append(Case(name, inputs, expected, tolerance, result, flags, accepted, kept))

    def text(self) -> str:
        """Return the file of the suite: a JSON object with one case on a line."""
        head = {
            "version": VERSION,
            "license": LICENSE,
            "suite": self.name,
            "about": self.about,
            "answer": self.answer,
            "conventions": {
                name: description for name, (description, _) in self.conventions.items()
            },
            "bugs": {name: description for name, (description, _) in self.bugs.items()},
            "inputs": {name: one.written() for name, one in described.INPUTS[self.name].items()},
            "refusals": described.REFUSALS[self.name],
        }
        lines = [
            f"{json.dumps(key)}: {json.dumps(value, ensure_ascii=False)}"
            for key, value in head.items()
        ]
        cases = ",\n".join(compact(case.written()) for case in self.cases)
        return "{\n" + ",\n".join(lines) + ',\n"cases": [\n' + cases + "\n]}\n"


def without_blind_contracts(expected: Any, tolerance: Tolerance) -> Tolerance:
    """Return a tolerance without the contracts under which zeros would pass for this answer."""
    found = [x for x in leaves(expected) if x is not None]  # where any number will do
    sizes = [abs(x) for x in found if isinstance(x, int | float)]
    if not any(sizes) or len(sizes) < len(found):
        return tolerance  # zeros are right, or a hidden key tells them
    return {
        name: allowed
        for name, allowed in tolerance.items()
        if any(size > allowed["absolute"] + allowed["relative"] * size for size in sizes)
    }


def decimals_that_tell(expected: Any, answer: Any, tolerance: Tolerance) -> int:
    """Return how many decimals recognise a wrong answer, whose numbers may be off in float32."""
    allowed = tolerance.get("float32 angle", {"absolute": 0.0})["absolute"]
    unit = min(allowed / 4, distance(expected, answer) / 50)
    return max(0, math.ceil(-math.log10(unit))) if unit > 1e-12 else ALL_DECIMALS


def differs(expected: Any, answer: Any, tolerance: Tolerance) -> bool:
    """Return whether an answer is so far off that it can be told from the right one."""
    sizes = [abs(x) for x in leaves(expected) if isinstance(x, int | float)]
    allowed = tolerance["float64"]
    printed = 1e-6 if allowed["absolute"] or allowed["relative"] else 0.0  # bugs have few digits
    if allowed["relative"]:
        return _relatively(expected, answer) > 4 * allowed["relative"] + 2e-6
    bound = 4 * allowed["absolute"] + printed * max(sizes, default=0.0)
    return distance(expected, answer) > bound


def _relatively(expected: Any, answer: Any) -> float:
    """Return the largest relative error."""
    if distance(expected, answer) == float("inf"):
        return float("inf")
    pairs = zip(leaves(expected), leaves(answer), strict=True)
    numbers = [(a, b) for a, b in pairs if isinstance(a, int | float)]
    return max((abs(a - b) / max(abs(a), 1e-300) for a, b in numbers), default=0.0)


def compact(value: Any) -> str:
    """Return JSON without spaces; whole floats lose their `.0`, which all readers take back."""
    return json.dumps(_short(value), separators=(",", ":"), ensure_ascii=False, allow_nan=False)


def _short(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _short(inner) for key, inner in value.items()}
    if isinstance(value, list | tuple):
        return [_short(inner) for inner in value]
    whole = isinstance(value, float) and value.is_integer() and abs(value) < 2**53
    return int(value) if whole else value
