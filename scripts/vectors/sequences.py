"""Suite sequences: calls on one object after another, since most bugs that live are of state."""

from __future__ import annotations

from typing import Any

from scripts.vectors.cases import Answer, Suite, Tolerance, angle_tolerance, power_tolerance
from scripts.vectors.exact import Row, bfloat16, exact, largest, leaves, vectors
from scripts.vectors.frequencies import RULES
from scripts.vectors.rotation import omegas, rotated

Inputs = dict[str, Any]


class Machine:
    """Objects that answer calls in order, rightly or with one fault of their state."""

    def __init__(self, objects: list[Inputs], fault: str = "") -> None:
        self.objects, self.fault = objects, fault
        self.made: dict[int, Inputs] = {}
        self.tables: dict[Any, Row] = {}  # shared by all objects

    def answer(self, call: Inputs) -> Any:
        """Return the answer to a call; the object is made when it is first called."""
        one = self.made.setdefault(
            call["object"], {"offset": 0, "lengths": [], "rounded": False, "rows": 0, "tables": {}}
        )
        settings = self.objects[call["object"]]
        inputs = {key: value for key, value in call.items() if key not in ("object", "do")}
        return getattr(self, "_" + call["do"])(one, settings, **inputs)

    def _base(self, settings: Inputs) -> Any:
        if self.fault == "cache without base":
            return self.tables.setdefault(settings["d"], [settings["base"]])[0]
        if self.fault == "the newest base for all":
            return self.objects[max(self.made)]["base"]
        return settings["base"]

    def _layout(self, settings: Inputs) -> str:
        if self.fault == "cache without layout":
            return str(self.tables.setdefault("layout", [settings["layout"]])[0])
        return str(settings["layout"])

    def _frequencies(self, one: Inputs, settings: Inputs, length: int) -> Row:
        one["lengths"].append(length)
        if self.fault == "the longest so far":
            length = max(one["lengths"])
        if self.fault == "the first length for all":
            length = one["lengths"][0]
        found: Row = RULES[settings["rule"]](settings | {"length": length})["frequencies"]
        return found

    def _rotate(self, one: Inputs, settings: Inputs, x: Any, positions: list[int]) -> Any:
        if self.fault == "table of the first call":
            one["rows"] = one["rows"] or max(positions) + 1
            positions = [min(p, one["rows"] - 1) for p in positions]
        if self.fault == "cache without positions":
            positions = one["tables"].setdefault(len(positions), positions)
        frequencies = omegas(settings["d"], self._base(settings))
        grown = one["rows"] and max(positions) >= one["rows"]
        if self.fault == "base lost when the table grows" and grown:
            frequencies = omegas(settings["d"])
        if self.fault != "table of the first call":
            one["rows"] = max(one["rows"], max(positions) + 1)
        if one["rounded"]:
            frequencies = [bfloat16(omega) for omega in frequencies]
        return [
            rotated(row, [exact(p) * omega for omega in frequencies], self._layout(settings))
            for row, p in zip(x, positions, strict=True)
        ]

    def _extend(self, one: Inputs, settings: Inputs, x: Any) -> Any:
        start = one["offset"]
        if self.fault == "offset lost between calls":
            start = 0
        if self.fault == "offset one too high" and start:
            start += 1
        one["offset"] += len(x) * (2 if self.fault == "offset counted twice" else 1)
        if self.fault == "calls counted instead of tokens":
            one["offset"] = one["offset"] - len(x) + 1
        return self._rotate(one, settings, x, list(range(start, start + len(x))))

    def _restart(self, one: Inputs, settings: Inputs) -> None:
        if self.fault != "restart forgotten":
            one["offset"] = 0

    def _cast(self, one: Inputs, settings: Inputs, dtype: str) -> None:
        if self.fault == "frequencies rounded by the cast":
            one["rounded"] = one["rounded"] or dtype == "bfloat16"


def answers(inputs: Inputs, fault: str = "") -> Any:
    """Return the answers to all calls."""
    machine = Machine(inputs["objects"], fault)
    return [machine.answer(call) for call in inputs["calls"]]


def faulty(name: str) -> Answer:
    """Return the answers with a fault."""
    return lambda inputs: answers(inputs, name)


DESCRIBED = {
    "offset lost between calls": "Tokens that follow cached ones are counted from 0.",
    "offset one too high": "Tokens that follow cached ones are counted one too high.",
    "offset counted twice": "The count of cached tokens grows twice as fast.",
    "calls counted instead of tokens": "A call counts as one token, however many it has.",
    "restart forgotten": "A new sequence goes on where the last one ended.",
    "cache without base": "Tables are kept by width alone, so that the first base holds for all.",
    "the newest base for all": "Tables are shared, so that the newest base holds for all.",
    "cache without layout": "The first layout holds for all.",
    "the longest so far": "Frequencies are those of the longest sequence so far.",
    "the first length for all": "Frequencies are those of the first sequence.",
    "table of the first call": "Positions beyond the table of the first call get its last row.",
    "base lost when the table grows": "A longer table is made with base 10000.",
    "frequencies rounded by the cast": (
        "A cast of the model to bfloat16 rounds the frequencies, and casting back does not mend it."
    ),
    "cache without positions": (
        "Tables are kept by the number of tokens alone, so that the first positions hold for all."
    ),
}
BUGS: dict[str, tuple[str, Answer]] = {
    name: (description, faulty(name)) for name, description in DESCRIBED.items()
}


def _tolerance(inputs: Inputs, answer: Any) -> Tolerance:
    if any(call["do"] == "frequencies" for call in inputs["calls"]):
        return power_tolerance()
    places = [max(call.get("positions", [20])) for call in inputs["calls"]]
    return angle_tolerance(
        1.5 * largest(leaves([c.get("x", []) for c in inputs["calls"]])), max(places)
    )


def calls(*inputs: tuple[int, str, Inputs]) -> list[Inputs]:
    """Return calls, each to an object."""
    return [{"object": n, "do": do} | arguments for n, do, arguments in inputs]


def sequences_suite() -> Suite:
    """Return suite sequences."""
    suite = Suite(
        "sequences",
        "Calls in order. objects has the settings of each object, which is made when it is first"
        " called. A call names its object and what to do: rotate x at positions; extend: rotate"
        " tokens that follow those before, the first of all at 0; restart: a new sequence begins;"
        " frequencies for a sequence of this length. cast converts the object to a dtype; it is"
        " converted back to float32 before the next question.",
        "A list with the answer to each call; null for restart and cast, where any will do.",
        answers,
        BUGS,
        tolerance=_tolerance,
    )
    seed = 7000
    for layout in ("interleaved", "half"):
        for d in (4, 8):
            for base in (10000, 500000):
                plain = {"d": d, "base": base, "layout": layout}
                for chunks in ((3, 1), (1, 1, 1), (2, 3), (4, 1, 1)):
                    seed += 10
                    steps = [
                        (0, "extend", {"x": vectors(seed + n, size, d)})
                        for n, size in enumerate(chunks)
                    ]
                    suite.add("cache", {"objects": [plain], "calls": calls(*steps)}, "cache")
                    again = [*steps, (0, "restart", {}), *steps[:2]]
                    suite.add("restart", {"objects": [plain], "calls": calls(*again)}, "restart")
                for lengths in ((4, 40, 4), (2, 5000), (5000, 2)):
                    seed += 1
                    requests = [
                        (
                            0,
                            "rotate",
                            {"x": vectors(seed, 2, d), "positions": [length - 2, length - 1]},
                        )
                        for length in lengths
                    ]
                    suite.add("lengths", {"objects": [plain], "calls": calls(*requests)}, "length")
                seed += 1
                ask = {"x": vectors(seed, 2, d), "positions": [3, 700]}
                for dtypes in (
                    ("bfloat16", "float32"),
                    ("float32",),
                    ("float32", "bfloat16", "float32"),
                ):
                    cast = [(0, "cast", {"dtype": dtype}) for dtype in dtypes]
                    sequence = calls((0, "rotate", ask), *cast, (0, "rotate", ask))
                    suite.add("cast", {"objects": [plain], "calls": sequence}, "cast")
                    suite.add("cast", {"objects": [plain], "calls": sequence[1:]}, "cast")
            for bases in ((10000, 500000), (500000, 10000), (100, 1e6)):
                seed += 1
                ask = {"x": vectors(seed, 2, d), "positions": [1, 17]}
                pair = [{"d": d, "base": base, "layout": layout} for base in bases]
                for order in ((0, 1), (0, 1, 0), (1, 0, 1)):
                    sequence = calls(*[(n, "rotate", ask) for n in order])
                    suite.add("bases", {"objects": pair, "calls": sequence}, "base")
        for base in (10000, 500000):
            seed += 1
            ask = {"x": vectors(seed, 2, 4), "positions": [1, 17]}
            other = "half" if layout == "interleaved" else "interleaved"
            pair = [{"d": 4, "base": base, "layout": name} for name in (layout, other)]
            sequence = calls((0, "rotate", ask), (1, "rotate", ask), (0, "rotate", ask))
            suite.add("layouts", {"objects": pair, "calls": sequence}, "layout")
    for d in (4, 8):
        for factor, trained in ((2, 64), (4, 128)):
            one: Inputs = {"rule": "dynamic", "d": d, "base": 10000, "factor": factor}
            one |= {"trained_length": trained}
            short = [1 + i / 8 for i in range(d // 2)]
            two: Inputs = {
                "rule": "longrope",
                "d": d,
                "base": 10000,
                "short": short,
                "factor": factor,
            }
            two |= {"long": [1 + 2 * i for i in range(d // 2)], "trained_length": trained}
            for settings in (one, two):
                for several in (
                    (trained, 4 * trained, trained),
                    (4 * trained, trained + 1),
                    (3 * trained, 5 * trained, 10),
                    (1, trained, trained + 1, trained),
                ):
                    requests = [(0, "frequencies", {"length": length}) for length in several]
                    name = "dynamic" if settings is one else "longrope"
                    suite.add(name, {"objects": [settings], "calls": calls(*requests)}, "length")
    return suite
