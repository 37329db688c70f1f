"""Claims of source S3 that no other test settles. Where the text is wrong, its test asserts that.

docs/data/claims/003.yml cites these tests, and for most claims those of the theorems in
tests/book/test_prove_it.py.
"""

from __future__ import annotations

import re

import numpy as np
import pytest

from posenc import sinusoidal_encoding, wavelengths
from scripts.book.citations import references
from scripts.measure.summary import measurement


@pytest.mark.claim("imprecise", "C3-11")
def test_c3_11_both_dimensions_of_a_pair_share_its_wavelength() -> None:
    rows = sinusoidal_encoding([1.0, 1.0 + wavelengths(512)[0]], 512)
    np.testing.assert_allclose(rows[1, :2], rows[0, :2], atol=1e-14)
    misread = 2 * np.pi * 10000 ** (2 * 1 / 512)  # for dimension 1
    assert misread == pytest.approx(6.5134, abs=5e-5)
    missed = sinusoidal_encoding([1.0, 1.0 + misread], 512)[:, 1]
    assert abs(missed[1] - missed[0]) > 0.1


def transformer(width: int, layers: int) -> int:
    """Return the number of parameters of layers: 12 squares of weights, biases and norms."""
    return layers * (12 * width**2 + 13 * width)


@pytest.mark.claim("true", "C3-14")
def test_c3_14_tables_of_positions_are_less_than_a_hundredth_of_bert_and_gpt2() -> None:
    gpt2 = (50_257 + 1024) * 768 + transformer(768, 12) + 2 * 768
    bert = (30_522 + 512 + 2) * 768 + 2 * 768 + transformer(768, 12) + 768**2 + 768
    assert (gpt2, bert) == (124_439_808, 109_482_240)
    assert 1024 * 768 == 786_432
    assert 512 * 768 == 393_216
    assert round(100 * 786_432 / gpt2, 2) == 0.63
    assert round(100 * 393_216 / bert, 2) == 0.36


@pytest.mark.claim("imprecise", "C0-55", "C3-30", "C3-31")
def test_c3_30_untrained_rows_are_not_always_worse_than_sinusoidal_ones() -> None:
    """Whether *poor* or *moderate* is worse depends on the length, with every seed."""

    def at(length: int) -> tuple[list[float], list[float]]:
        found = measurement()
        return found.perplexities("learned", length), found.perplexities("sinusoidal", length)

    (learned, sinusoidal), (learned_later, sinusoidal_later) = at(128), at(512)
    assert min(learned) > max(sinusoidal)
    assert max(learned_later) < min(sinusoidal_later)


@pytest.mark.claim("false", "C3-37")
def test_c3_37_the_two_papers_are_one() -> None:
    numbers = [
        found[0]
        for entry in references().values()
        if (found := re.findall(r"arXiv (\d{4}\.\d{5})", entry["where"]))
    ]
    assert numbers.count("2108.12409") == 1
    assert "Train Short, Test Long" in references()["press2022"]["title"]
    assert len(numbers) == len(set(numbers))
