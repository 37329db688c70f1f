"""The scripts of the page compute what the package computes."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import quickjs

from posenc import frequencies, sinusoidal_encoding, wavelengths

MODULE = Path(__file__).parent.parent / "docs" / "assets" / "js" / "encoding.js"
WIDTHS = [2, 4, 8, 128, 512]

Call = Callable[..., Any]


@pytest.fixture(scope="module")
def call() -> Call:
    """Call a function of the module by name; what it returns comes back through JSON."""
    context = quickjs.Context()
    context.eval(re.sub(r"^export ", "", MODULE.read_text(encoding="utf-8"), flags=re.M))

    def run(name: str, *arguments: float) -> Any:
        given = ", ".join(map(repr, arguments))
        return json.loads(context.eval(f"JSON.stringify({name}({given}))"))

    return run


@pytest.mark.parametrize("base", [2.0, 10000.0, 500000.0])
@pytest.mark.parametrize("d", WIDTHS)
def test_frequencies_and_wavelengths_are_the_package_s(call: Call, d: int, base: float) -> None:
    pairs = range(d // 2)
    mine = [call("frequency", pair, d, base) for pair in pairs]
    np.testing.assert_allclose(mine, frequencies(d, base=base), rtol=1e-12)
    mine = [call("wavelength", pair, d, base) for pair in pairs]
    np.testing.assert_allclose(mine, wavelengths(d, base=base), rtol=1e-12)


@pytest.mark.parametrize("d", WIDTHS)
def test_entries_are_the_package_s(call: Call, d: int) -> None:
    positions = [0, 1, 2, 3, 37, 199, -5, 0.5]
    rows = sinusoidal_encoding(positions, d)
    for position, row in zip(positions, rows, strict=True):
        cells = [call("entries", position, pair, d) for pair in range(d // 2)]
        mine = [cell[hand] for cell in cells for hand in ("sine", "cosine")]
        np.testing.assert_allclose(mine, row, rtol=0, atol=1e-12)


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
    call: Call, value: float, decimals: int, text: str
) -> None:
    assert call("printed", value, decimals) == text


def test_a_reading_names_the_cell_and_its_values(call: Call) -> None:
    sine, cosine = sinusoidal_encoding(np.array(37), 128)[24:26]
    turn = wavelengths(128)[12]
    assert call("reading", 37, 12, 128) == (
        f"Position 37, pair 12: sin = {sine:.3f}, cos = {cosine:.3f}."
        f" One turn takes {turn:.1f} positions."
    )


def test_a_long_turn_is_read_without_decimals(call: Call) -> None:
    assert call("reading", 0, 63, 128).endswith(f"{wavelengths(128)[63]:.0f} positions.")
