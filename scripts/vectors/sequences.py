"""Suite sequences: calls on one object after another, since most bugs that live are of state."""

from __future__ import annotations

from typing import Any

from scripts.vectors.cases import Answer, Suite, Tolerance, angle_tolerance, power_tolerance
from scripts.vectors.exact import Row, bfloat16, exact, largest, leaves, vectors
from scripts.vectors.frequencies import RULES
from scripts.vectors.rotation import omegas, rotated, same, turned

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
        return 10000 if self.fault == "the first base of all cases" else settings["base"]

    def _layout(self, settings: Inputs) -> str:
        if self.fault == "cache without layout":
            return str(self.tables.setdefault("layout", [settings["layout"]])[0])
        return str(settings["layout"])

    def _frequencies(self, one: Inputs, settings: Inputs, length: int) -> Row:
        one["lengths"].append(length)
        if self.fault == "the longest so far":
            length = max(one["lengths"])
        if self.fault == "the length of the call before":
            length = one["lengths"][-2:][0]
        if self.fault == "the first length for all":
            length = one["lengths"][0]
        if self.fault == "scaled base scaled again" and settings["rule"] == "dynamic":
            settings = settings | {"base": one.get("base", settings["base"])}
        found: Row = RULES[settings["rule"]](settings | {"length": length})["frequencies"]
        one["base"] = found[1] ** (exact(-settings["d"]) / 2)
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
        if max(positions) >= one["rows"]:
            one.setdefault("starts", []).append(one["rows"])
        if self.fault != "table of the first call":
            one["rows"] = max(one["rows"], max(positions) + 1)
        if self.fault == "grown rows from zero":
            positions = [self._within_block(one, p) for p in positions]
        if one["rounded"] and self.fault == "positions rounded by the cast":
            positions = [int(bfloat16(p)) for p in positions]
        positions = self._bounded(positions)
        angles = [[exact(p) * omega for omega in frequencies] for p in positions]
        kept = same
        if one["rounded"] and self.fault == "frequencies rounded by the cast":
            angles = [[exact(p) * bfloat16(omega) for omega in frequencies] for p in positions]
        if one["rounded"] and self.fault == "angles rounded by the cast":
            angles = [[bfloat16(angle) for angle in row] for row in angles]
        if one["rounded"] and self.fault == "tables rounded by the cast":
            kept = bfloat16
        turn = turned
        if one["rounded"] and self.fault == "sines lost by the cast":
            turn, kept = _without_sines, bfloat16
        layout = self._layout(settings)
        return [
            rotated(row, own, layout, kept=kept, turn=turn)
            for row, own in zip(x, angles, strict=True)
        ]

    def _within_block(self, one: Inputs, position: int) -> int:
        """Return the place of a position in the rows that were added together with its own."""
        starts = one.get("starts", [])
        return position - max((start for start in starts if start <= position), default=0)

    def _bounded(self, positions: list[int]) -> list[int]:
        """Return positions, with a fault of tables of a size."""
        what, _, size = self.fault.rpartition(" at ")
        if what == "positions wrapped":
            return [p % int(size) for p in positions]
        if what == "positions clamped":
            return [min(p, int(size) - 1) for p in positions]
        return positions

    def _shift(self, one: Inputs, settings: Inputs, x: Any, by: int, first: int = 0) -> Any:
        """Rotate keys that are rotated already, those from the first on."""
        if self.fault == "kept keys not shifted":
            by = 0
        if self.fault == "kept keys shifted the wrong way":
            by = -by
        if self.fault == "all keys shifted":
            first = 0
        if self.fault == "keys shifted one too far":
            by += 1 if by > 0 else -1
        if self.fault == "shift begun one key too late":
            first += 1
        places = [by if n >= first else 0 for n in range(len(x))]
        if self.fault == "kept keys rotated at their new places":
            places = [n + by if n >= first else 0 for n in range(len(x))]
        if self.fault == "keys shifted with base 10000":
            settings = settings | {"base": 10000}
        return self._rotate(one, settings, x, places)

    def _extend(self, one: Inputs, settings: Inputs, x: Any) -> Any:
        if self.fault == "one count for all objects":
            one = self.made[min(self.made)]
        start = one["offset"]
        one["steps"] = one.get("steps", 0) + 1
        if self.fault == "offset lost between calls":
            start = 0
        if self.fault == "offset one too high" and start:
            start += 1
        if self.fault == "offset one too low":
            start = max(start - 1, 0)
        one["offset"] += len(x) * (2 if self.fault == "offset counted twice" else 1)
        if self.fault == "chunks overlap" and len(x) > 1:
            one["offset"] -= 1
        if self.fault == "calls counted instead of tokens":
            one["offset"] = one["offset"] - len(x) + 1
        if self.fault == "prompt counted twice" and one["steps"] == 1:
            one["offset"] += len(x)
        what, _, size = self.fault.rpartition(" at most ")
        if what == "keys kept counted instead of tokens,":
            one["offset"] = min(one["offset"], int(size))
        places = list(range(start, start + len(x)))
        if self.fault == "one position for a chunk" and one["steps"] > 1:
            places = [start] * len(x)
        if self.fault == "chunks from zero" and len(x) > 1:
            places = list(range(len(x)))
        found = self._rotate(one, settings, x, places)
        return None if len(x) > PROMPT else found

    def _restart(self, one: Inputs, settings: Inputs) -> None:
        if self.fault == "one count for all objects":
            one = self.made[min(self.made)]
        if self.fault == "restart of all objects":
            for other in self.made.values():
                other.update(offset=0, steps=0)
        if self.fault != "restart forgotten":
            one.update(offset=int(self.fault == "restart at one"), steps=0)

    def _cast(self, one: Inputs, settings: Inputs, dtype: str) -> None:
        one["rounded"] = one["rounded"] or dtype == "bfloat16"


def _without_sines(a: Any, b: Any, cos: Any, sin: Any) -> tuple[Any, Any]:
    return a * cos, b * cos


def answers(inputs: Inputs, fault: str = "") -> Any:
    """Return the answers to all calls."""
    machine = Machine(inputs["objects"], fault)
    return [machine.answer(call) for call in inputs["calls"]]


def faulty(name: str) -> Answer:
    """Return the answers with a fault."""
    return lambda inputs: answers(inputs, name)


PROMPT = 24  # tokens; the rotation of a longer one is not asked for
BOUNDS = (8, 16, 32, 64, 128, 256, 512, 1024, 2048, 4096)
DESCRIBED = {
    "tables rounded by the cast": (
        "A cast of the model to bfloat16 rounds the cosines and sines for good."
    ),
    "sines lost by the cast": (
        "A cast drops the imaginary parts of a table of complex numbers, so that sines are 0."
    ),
    "angles rounded by the cast": "A cast of the model to bfloat16 rounds the angles for good.",
    "prompt counted twice": "After the first call the count is twice as high as its tokens.",
    "one position for a chunk": "All tokens of a chunk after the prompt get the first's position.",
    "chunks from zero": "A call with several tokens is counted from 0, one with a single is not.",
    "one count for all objects": "All objects count their tokens together.",
    "restart of all objects": "A new sequence of one object restarts the others, too.",
    "kept keys not shifted": "Keys that move stay rotated as they were.",
    "kept keys shifted the wrong way": "Keys that move are rotated the wrong way.",
    "all keys shifted": "Keys that stay in front are rotated like those that move.",
    "kept keys rotated at their new places": (
        "Keys that move are rotated by their new places, on top of the old rotation."
    ),
    **{
        f"keys kept counted instead of tokens, at most {bound}": (
            f"Keys beyond {bound} are dropped, and the next position is the count of those left."
        )
        for bound in BOUNDS[:6]
    },
    **{f"positions wrapped at {n}": f"Positions begin again at 0 after {n}." for n in BOUNDS},
    **{
        f"positions clamped at {n}": f"Positions beyond a table of {n} rows get its last."
        for n in BOUNDS
    },
    "offset lost between calls": "Tokens that follow cached ones are counted from 0.",
    "offset one too high": "Tokens that follow cached ones are counted one too high.",
    "offset one too low": "Tokens that follow cached ones are counted one too low.",
    "keys shifted one too far": "Keys that move do so by one position too many.",
    "shift begun one key too late": "The first of the keys that move stays.",
    "the length of the call before": "Frequencies are those of the length of the call before.",
    "the first base of all cases": (
        "Tables are kept by width alone from case to case, or the base is not read: it is 10000."
    ),
    "scaled base scaled again": "The base of the call before is scaled, not that of the model.",
    "chunks overlap": "A call of several tokens counts as one token less.",
    "restart at one": "A new sequence begins at position 1.",
    "keys shifted with base 10000": "Keys that move are rotated with base 10000.",
    "grown rows from zero": "Rows that are added to a table begin at position 0 again.",
    "positions rounded by the cast": (
        "A cast of the model to bfloat16 rounds the positions, so that those above 256 coincide."
    ),
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


def _bounded_fault(name: str) -> Answer:
    """Return the answers with a bound, where tokens are counted or the bound is a usual one."""
    size = int(name.rpartition(" at ")[2])

    def wrong(inputs: Inputs) -> Any:
        counted = any(call["do"] == "extend" for call in inputs["calls"])
        return answers(inputs, name) if counted or size >= 1024 else None

    return wrong


BUGS: dict[str, tuple[str, Answer]] = {
    name: (
        description,
        (_bounded_fault if " at " in name and name.startswith("positions") else faulty)(name),
    )
    for name, description in DESCRIBED.items()
}


def _tolerance(inputs: Inputs, answer: Any) -> Tolerance:
    if any(call["do"] == "frequencies" for call in inputs["calls"]):
        return power_tolerance()
    longest = sum(len(call["x"]) for call in inputs["calls"] if call["do"] == "extend")
    places = [max(call.get("positions", [max(20, longest)])) for call in inputs["calls"]]
    places += [abs(call["by"]) for call in inputs["calls"] if "by" in call]
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
        " converted back to float32 before the next question. shift: x are keys that are rotated"
        " already, and those from first on, or all, move by so many positions.",
        "A list with the answer to each call; null where any will do: for restart, cast, and extend"
        f" by more than {PROMPT} tokens.",
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
    _add_counting(suite)
    _add_shifts(suite)
    for layout in ("interleaved", "half"):
        plain = {"d": 4, "base": 500000, "layout": layout}
        ask = {"x": vectors(8900, 2, 4), "positions": [5, 701]}
        cast = [(0, "cast", {"dtype": dtype}) for dtype in ("bfloat16", "float32")]
        suite.add("cast", {"objects": [plain], "calls": calls(*cast, (0, "rotate", ask))}, "cast")
    return suite


def _add_counting(suite: Suite) -> None:
    """Add several objects at once, chunks after a prompt, and long texts."""
    for layout in ("interleaved", "half"):
        plain = {"d": 4, "base": 10000, "layout": layout}
        for number, other in enumerate((plain, plain | {"base": 500000}, plain | {"d": 8})):
            pair = [plain, other]

            def step(n: int, size: int, seed: int, pair: list[Inputs] = pair) -> Any:
                return n, "extend", {"x": vectors(seed, size, pair[n]["d"])}

            seed = 8000 + 50 * number + 500 * (layout == "half")
            turns = [step(0, 3, seed), step(1, 2, seed + 1), step(0, 1, seed + 2)]
            turns += [step(1, 1, seed + 3), step(0, 2, seed + 4)]
            suite.add("objects", {"objects": pair, "calls": calls(*turns)}, "cache", "objects")
            again = [*turns[:3], (0, "restart", {}), step(1, 2, seed + 5), step(0, 2, seed + 6)]
            suite.add("objects", {"objects": pair, "calls": calls(*again)}, "restart", "objects")
        for sizes in ((5, 3, 3, 1), (2, 4, 2, 1, 1), (8, 8, 1)):
            chunks = [
                (0, "extend", {"x": vectors(8300 + n + sum(sizes), size, 4)})
                for n, size in enumerate(sizes)
            ]
            suite.add("chunks", {"objects": [plain], "calls": calls(*chunks)}, "cache", "chunks")
        narrow = plain | {"d": 2}
        for prompt in (9, 17, 33, 65, 129, 257, 513):
            steps = [
                (0, "extend", {"x": vectors(8400 + prompt + n, size, 2)})
                for n, size in enumerate((prompt, 2, 1, 1))
            ]
            suite.add("long", {"objects": [narrow], "calls": calls(*steps)}, "cache", "window")


def _add_shifts(suite: Suite) -> None:
    """Add keys that are kept in a cache and move to the places of those that were dropped."""
    for layout in ("interleaved", "half"):
        for d, base in ((4, 10000), (8, 500000)):
            plain = {"d": d, "base": base, "layout": layout}
            for by in (-1, -3, -100, 5):
                x = vectors(8700 + d + abs(by), 4, d)
                whole = calls((0, "shift", {"x": x, "by": by}))
                suite.add("shift", {"objects": [plain], "calls": whole}, "shift")
                part = calls((0, "shift", {"x": x, "by": by, "first": 2}))
                suite.add("shift", {"objects": [plain], "calls": part}, "shift", "partial")
