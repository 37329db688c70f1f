"""What the how-to says about tables that are made longer holds for the committed weights."""

from __future__ import annotations

import numpy as np
import pytest

from scripts.measure.resized import WAYS, lengthened_table, perplexity

TRAINED = 64


@pytest.mark.parametrize("way", WAYS)
def test_a_lengthened_table_has_the_rows_that_were_asked_for(way: str) -> None:
    table = np.arange(12, dtype=np.float32).reshape(4, 3)
    new = lengthened_table(table, 10, way)
    assert new.shape == (10, 3)
    kept = new[[0, -1]] if way == "resized" else new[:4]
    np.testing.assert_array_equal(kept, table[[0, -1]] if way == "resized" else table)


def test_a_resized_table_reads_longer_texts_better_than_any_other_without_training() -> None:
    for length in (128, 256):
        resized, *others = (perplexity(length, length, way) for way in WAYS)
        assert 3 * resized < min(others)


def test_a_table_stretched_for_long_texts_reads_short_ones_worse() -> None:
    found = [perplexity(TRAINED, rows) for rows in (64, 128, 256)]
    assert found[0] < 4
    assert 1.3 * found[0] < found[1]
    assert 1.5 * found[1] < found[2]
