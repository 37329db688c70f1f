"""Attention with M-RoPE: right positions change nothing, and each wrong way shows."""

from __future__ import annotations

import numpy as np
import pytest

from posenc import mrope_positions
from scripts.examples.explicit_mrope import FIRST, SECOND, WAYS, drafts, packing, second_positions

SEEN = 0.05
ROUNDING = 1e-14
RIGHT = [(packing, "restart"), (drafts, "delta")]
# Positions that differ from those of the document alone by one number on each axis.
SHIFTED = [(packing, "run on"), (packing, "one axis restarts")]
WRONG = [
    (packing, "tokens counted"),
    (packing, "time counted"),
    (packing, "image forgotten"),
    (packing, "first grid"),
    (packing, "documents seen"),
    (drafts, "length"),
    (drafts, "time alone"),
    (drafts, "slot from position"),
    (drafts, "position kept"),
]


def test_right_positions_with_three_axes_give_the_document_alone() -> None:
    assert max(case(way) for case, way in RIGHT) < ROUNDING


def test_a_shift_of_each_axis_changes_no_score_within_a_document() -> None:
    alone = mrope_positions(SECOND)
    for case, way in SHIFTED:
        shift = np.unique(second_positions(way) - alone, axis=0)
        assert len(shift) == 1
        assert shift.any()
        assert case(way) < ROUNDING


def test_a_document_that_runs_on_begins_after_the_largest_position_of_the_first() -> None:
    assert second_positions("run on")[0].tolist() == [mrope_positions(FIRST).max() + 1] * 3


def test_each_wrong_way_with_three_axes_changes_the_output() -> None:
    assert min(case(way) for case, way in WRONG) > SEEN


def test_a_way_with_three_axes_that_is_not_known_is_refused() -> None:
    for case in (packing, drafts):
        with pytest.raises(ValueError, match=r"way must be one of .*; got 'edgy'"):
            case("edgy")
    tried = {(case.__name__, way) for case, way in RIGHT + SHIFTED + WRONG}
    assert tried == {(case, way) for case, ways in WAYS.items() for way in ways}
