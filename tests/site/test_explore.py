"""The explorers compute what the package computes, in two engines, and parse any address."""

from __future__ import annotations

import json
import re
import subprocess
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from functools import cache
from typing import Any

import numpy as np
import pytest
import quickjs
from numpy.typing import ArrayLike

from posenc import (
    alibi_bias,
    alibi_slopes,
    apply_rope,
    convert_layout,
    frequencies,
    interpolated_frequencies,
    ntk_frequencies,
    shift_matrix,
    similarity,
    sinusoidal_encoding,
    t5_bucket_starts,
    t5_buckets,
    wavelengths,
    yarn_frequencies,
    yarn_temperature,
)
from scripts import DOCS
from scripts.setup.node import node

SCRIPTS = DOCS / "assets" / "js"
MATHEMATICS = SCRIPTS / "positions.js"
BASE = SCRIPTS / "explore" / "base.js"
EXPLORERS = sorted(SCRIPTS.glob("explore/*.js"))
LOADED = [MATHEMATICS, SCRIPTS / "reading.js", BASE]

WIDTHS = [2, 4, 6, 10, 64, 100, 128, 1024]
BASES = [1.5, 2.0, 10000.0, 500_000.0, 1e6]
POSITIONS = [0, 1, 2, 37, -5, 0.5, 1023, 1_000_000, 999_983.25]
LAYOUTS = ["interleaved", "half"]
ULP = 2.0**-52

# Call a function with each list of arguments. JSON has no infinity, so -Infinity becomes "x".
EACH = """globalThis.each = (call, calls) => JSON.stringify(calls.map((given) => call(...given)),
    (_, it) => it === -Infinity ? "x" : it)"""
IN_NODE = """import {{ createInterface }} from "node:readline";
    {each};
    const all = {{ {modules} }};
    for await (const line of createInterface({{ input: process.stdin }})) {{
        const [name, calls] = JSON.parse(line);
        console.log(each(all[name], calls));
    }}"""

Calls = Sequence[Sequence[Any]]
Run = Callable[[str, Calls], Any]


def parsed(text: str) -> Any:
    """Parse the JSON of a script, with -Infinity restored."""
    return json.loads(text.replace('"x"', "-Infinity"))


@cache
def all_modules() -> quickjs.Context:
    """Return a QuickJS context in which all modules have been run as one script."""
    context = quickjs.Context()
    context.eval(EACH)
    for file in LOADED:
        text = re.sub(r"^import .*$", "", file.read_text("utf-8"), flags=re.M)
        context.eval(re.sub(r"^export ", "", text, flags=re.M))
    return context


def in_quickjs(name: str, calls: Calls) -> Any:
    return parsed(all_modules().eval(f"each({name}, {json.dumps(calls)})"))


@contextmanager
def v8() -> Iterator[Run]:
    """Run functions in V8, the engine of Chrome, with the modules imported as in a page."""
    modules = ", ".join(f'...(await import("{file.as_uri()}"))' for file in LOADED)
    code = IN_NODE.format(modules=modules, each=EACH)
    with subprocess.Popen(
        node("--no-warnings", "--input-type=module", "-e", code),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as running:
        assert running.stdin is not None and running.stdout is not None
        answers = running.stdout

        def run(name: str, calls: Calls) -> Any:
            print(json.dumps([name, calls]), file=running.stdin, flush=True)
            return parsed(answers.readline())

        yield run


@pytest.fixture(scope="module", params=["quickjs", "v8"])
def run(request: pytest.FixtureRequest) -> Iterator[Run]:
    """Return what runs a function in one of the two engines."""
    with v8() if request.param == "v8" else nullcontext(in_quickjs) as run:
        yield run


def assert_equal(mine: ArrayLike, package: ArrayLike) -> None:
    np.testing.assert_allclose(np.asarray(mine), np.asarray(package), rtol=1e-12, atol=0)


def assert_as_turned(mine: ArrayLike, package: ArrayLike, angles: ArrayLike = 0.0) -> None:
    """Compare sines and cosines of angles: to 1e-12 of their amplitude, which is 1.

    Engines may round a frequency to neighbouring numbers, and such a step of 2**-52 of it becomes
    one of the angle: 2e-10 at a million radians. So far the angles that are given allow for.
    """
    apart = np.abs(np.subtract(mine, package))
    allowed = 1e-12 + 2 * ULP * np.abs(angles)
    assert (apart <= allowed).all(), f"{(apart / allowed).max():.3g} times what is allowed"


@pytest.mark.parametrize("base", BASES)
def test_frequencies_and_wavelengths_equal_the_package(run: Run, base: float) -> None:
    mine = run("frequencies", [(d, base) for d in WIDTHS])
    pairs = run("wavelength", [(pair, d, base) for d in WIDTHS for pair in range(d // 2)])
    assert_equal(np.concatenate(mine), np.concatenate([frequencies(d, base=base) for d in WIDTHS]))
    assert_equal(pairs, np.concatenate([wavelengths(d, base=base) for d in WIDTHS]))


@pytest.mark.parametrize("base", BASES)
def test_rows_of_the_encoding_equal_the_package(run: Run, base: float) -> None:
    rows = run("encodingRow", [(position, d, base) for d in WIDTHS for position in POSITIONS])
    for n, d in enumerate(WIDTHS):
        mine = rows[n * len(POSITIONS) :][: len(POSITIONS)]
        angles = np.outer(POSITIONS, np.repeat(frequencies(d, base=base), 2))
        assert_as_turned(mine, sinusoidal_encoding(POSITIONS, d, base=base), angles)


@pytest.mark.parametrize("base", BASES)
def test_similarity_equals_the_package(run: Run, base: float) -> None:
    mine = run("similarity", [(lag, d, base) for d in WIDTHS for lag in POSITIONS])
    theirs = np.concatenate([similarity(POSITIONS, d, base=base) for d in WIDTHS])
    assert_as_turned(mine, theirs, np.tile(POSITIONS, len(WIDTHS)))


@pytest.mark.parametrize("d", [2, 6, 8, 64])
def test_shift_matrix_equals_the_package_and_moves_rows(run: Run, d: int) -> None:
    offsets = [0, 1, -3, 0.25, 4096]
    mine = run("shiftMatrix", [(offset, d, 10000) for offset in offsets])
    for matrix, offset in zip(mine, offsets, strict=True):
        assert_as_turned(matrix, shift_matrix(offset, d), offset)
    start = sinusoidal_encoding(np.array(7), d).tolist()
    moved = run("score", [(line, start) for matrix in mine for line in matrix])
    assert_as_turned(moved, sinusoidal_encoding(np.array(offsets) + 7, d).ravel(), 5000)


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("d", [2, 4, 6, 64, 128])
def test_rotated_vectors_and_their_scores_equal_the_package(run: Run, d: int, layout: str) -> None:
    """Both sides get the same frequencies, so that 1e-12 holds at any position."""
    q, k = np.random.default_rng(d).uniform(-1, 1, (2, d))
    for omega in (frequencies(d), interpolated_frequencies(d, 3), yarn_frequencies(d, 8, 4096)):
        given = [(q.tolist(), p, omega.tolist(), layout) for p in POSITIONS]
        package = apply_rope(
            np.tile(q, (len(POSITIONS), 1)), POSITIONS, frequencies=omega, layout=layout
        )
        assert_as_turned(run("rope", given), package)
        scores = run("score", [(row, k.tolist()) for row in package.tolist()])
        np.testing.assert_allclose(scores, package @ k, rtol=0, atol=1e-12)


@pytest.mark.parametrize("source", LAYOUTS)
@pytest.mark.parametrize("target", LAYOUTS)
def test_layout_conversion_equals_the_package(run: Run, source: str, target: str) -> None:
    for d in WIDTHS:
        [mine] = run("convertLayout", [(list(range(d)), source, target)])
        assert mine == convert_layout(range(d), source=source, target=target).tolist()


def test_alibi_slopes_equal_the_package_for_any_number_of_heads(run: Run) -> None:
    heads = [*range(1, 70), 96, 127, 128, 129, 1000]
    for mine, n in zip(run("slopes", [(n,) for n in heads]), heads, strict=True):
        assert_equal(mine, alibi_slopes(n))


@pytest.mark.parametrize("causal", [True, False])
def test_alibi_biases_equal_the_package(run: Run, causal: bool) -> None:
    slopes, places = alibi_slopes(6), [0, 1, 5, 17, 63]
    given = [(m, q, k, causal) for m in slopes.tolist() for q in places for k in places]
    package = alibi_bias(6, 64, 64, causal=causal)[:, places][:, :, places]
    assert_equal(run("linearBias", given), package.ravel())


@pytest.mark.parametrize("bidirectional", [True, False])
def test_t5_buckets_equal_the_package(run: Run, bidirectional: bool) -> None:
    relative = [*range(-300, 301), 10**6, -(10**6)]
    sizes = [(32, 128), (4, 3), (6, 100), (8, 5), (64, 1000), (34, 129), (12, 10**6)]
    for buckets, furthest in sizes:
        [starts] = run("bucketStarts", [(bidirectional, buckets, furthest)])
        mine = run("bucket", [(r, starts, bidirectional) for r in relative])
        own: Any = {"bidirectional": bidirectional, "buckets": buckets, "max_distance": furthest}
        assert starts == t5_bucket_starts(**own).tolist()
        assert mine == t5_buckets(relative, **own).tolist()


@pytest.mark.parametrize("base", BASES)
@pytest.mark.parametrize("length", [1, 4096, 1_000_000])
def test_turns_within_a_context_length_equal_the_package(
    run: Run, length: int, base: float
) -> None:
    mine = run("turns", [(frequencies(d, base=base).tolist(), length) for d in WIDTHS])
    theirs = [length / wavelengths(d, base=base) for d in WIDTHS]
    assert_equal(np.concatenate(mine), np.concatenate(theirs))


@pytest.mark.parametrize("factor", [1, 1.5, 2, 8, 100])
@pytest.mark.parametrize("base", [2.0, 10000.0, 500_000.0])
def test_scaled_frequencies_equal_the_package(run: Run, base: float, factor: float) -> None:
    widths = WIDTHS[1:]
    mine = run("interpolated", [(d, factor, base) for d in widths])
    theirs = [interpolated_frequencies(d, factor, base=base) for d in widths]
    mine += run("ntk", [(d, factor, base) for d in widths])
    theirs += [ntk_frequencies(d, factor, base=base) for d in widths]
    for length in (1, 512, 4096):
        mine += run("yarn", [(d, factor, length, base) for d in widths])
        theirs += [yarn_frequencies(d, factor, length, base=base) for d in widths]
    mine += run("yarn", [(64, factor, 2048, base, 5, 0)])
    theirs += [yarn_frequencies(64, factor, 2048, base=base, fast=5, slow=0)]
    assert_equal(np.concatenate(mine), np.concatenate(theirs))
    assert_equal(run("temperature", [(factor,)]), yarn_temperature(factor))


def test_default_arguments_are_those_of_the_package(run: Run) -> None:
    """Each function is called with its required arguments alone."""
    pairs: dict[str, Any] = {
        "frequency": [frequencies(8)[3]],
        "wavelength": [wavelengths(8)[3]],
        "similarity": [similarity(3, 8)],
        "encodingRow": sinusoidal_encoding(np.array(3), 8),
        "shiftMatrix": shift_matrix(3, 8),
    }
    for name, theirs in pairs.items():
        assert_as_turned(np.ravel(run(name, [(3, 8)])), np.ravel(theirs), wavelengths(8)[3])
    assert_equal(run("frequencies", [(8,)])[0], frequencies(8))
    assert_equal(run("interpolated", [(8, 2)])[0], interpolated_frequencies(8, 2))
    assert_equal(run("ntk", [(8, 2)])[0], ntk_frequencies(8, 2))
    assert_equal(run("yarn", [(8, 2, 512)])[0], yarn_frequencies(8, 2, 512))
    x = np.linspace(-1, 1, 8)
    assert_as_turned(run("rope", [(x.tolist(), 3, frequencies(8).tolist())])[0], apply_rope(x, 3))
    assert run("linearBias", [(0.5, 1, 2)]) == [-np.inf]
    assert run("bucketStarts", [()])[0] == t5_bucket_starts().tolist()
    assert run("bucket", [(5, t5_bucket_starts().tolist())]) == [t5_buckets(5)]


@pytest.mark.parametrize(
    ("value", "decimals", "text"),
    [
        (0.2915, 3, "0.291"),
        (-0.9899, 3, "−0.990"),
        (-0.0001, 3, "0.000"),
        (-0.0, 1, "0.0"),
        (54410.1, 0, "54410"),
        (-1, 3, "−1.000"),
    ],
)
def test_numbers_are_printed_as_in_the_book(
    run: Run, value: float, decimals: int, text: str
) -> None:
    assert run("printed", [(value, decimals)]) == [text]


def test_a_reading_names_the_cell_and_its_values(run: Run) -> None:
    sine, cosine = sinusoidal_encoding(np.array(37), 128)[24:26]
    turn = wavelengths(128)[12]
    assert run("sentence", [(37, 12, 128)]) == [
        f"Position 37, pair 12: sin = {sine:.3f}, cos = {cosine:.3f}."
        f" One turn takes {turn:.1f} positions."
    ]


def test_a_long_wavelength_is_read_without_decimals(run: Run) -> None:
    [said] = run("sentence", [(0, 63, 128)])
    assert said.endswith(f"{wavelengths(128)[63]:.0f} positions.")


# The values a control accepts

WIDTH = {"label": "width", "value": 64, "min": 2, "max": 512, "step": 2}
LAYOUT = {"label": "layout", "value": "half", "options": LAYOUTS}
FACTOR = {"label": "factor", "value": 2, "min": 1, "max": 8, "step": 0}


@pytest.mark.parametrize("text", ["2", "64", "512", "6e1"])
def test_possible_width_is_accepted(text: str) -> None:
    assert in_quickjs("complaint", [(WIDTH, text, {})]) == [""]


@pytest.mark.parametrize(
    "text",
    ["7", "0", "-2", "514", "1e999", "2.5", "8 ", "0x10", "eight", "NaN", "Infinity", "1.2.3", "."],
)
def test_an_impossible_width_is_refused_with_the_reason(text: str) -> None:
    reason = f"width must be an even number from 2 to 512; got {text}."
    assert in_quickjs("complaint", [(WIDTH, text, {})]) == [reason]


def test_every_kind_of_control_names_the_values_it_accepts() -> None:
    assert in_quickjs(
        "complaint", [(WIDTH, "", {}), (LAYOUT, "Half", {}), (FACTOR, "0.5", {})]
    ) == [
        "width must be an even number from 2 to 512; got nothing.",
        "layout must be one of interleaved, half; got Half.",
        "factor must be a number from 1 to 8; got 0.5.",
    ]
    assert in_quickjs("complaint", [(LAYOUT, "half", {}), (FACTOR, "2.5", {})]) == ["", ""]


CONTROLS = """{
    width: { label: "width", value: 64, min: 2, max: 512, step: 2 },
    row: { label: "row", value: 40, min: 0, max: ({ width }) => width - 1 },
    layout: { label: "layout", value: "half", options: ["interleaved", "half"] },
}"""


def parsed_address(**address: str) -> tuple[dict[str, Any], str]:
    """Return the state that an address sets, and the complaint about the address."""
    name = f"((said) => asked({CONTROLS}, (key) => said[key] ?? null))"
    [answer] = in_quickjs(name, [(address,)])
    return answer["state"], answer["trouble"]


def test_an_address_sets_the_state() -> None:
    start = {"width": 64, "row": 40, "layout": "half"}
    assert parsed_address() == (start, "")
    assert parsed_address(width="128", row="127") == (start | {"width": 128, "row": 127}, "")
    assert parsed_address(layout="interleaved") == (start | {"layout": "interleaved"}, "")


def test_value_is_limited_by_the_value_it_depends_on() -> None:
    assert parsed_address(width="8") == ({"width": 8, "row": 7, "layout": "half"}, "")


def test_a_malformed_address_falls_back_and_says_so() -> None:
    state, trouble = parsed_address(width="7", row="64", layout="both")
    assert state == {"width": 64, "row": 40, "layout": "half"}
    assert trouble == (
        "In the address, width must be an even number from 2 to 512; got 7. Showing 64."
        " In the address, row must be a whole number from 0 to 63; got 64. Showing 40."
        " In the address, layout must be one of interleaved, half; got both. Showing half. "
    )


# What the pages load.
