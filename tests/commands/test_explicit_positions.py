"""The decoder with explicit positions: right ones change nothing, and each wrong way shows."""

from __future__ import annotations

import copy

import pytest
import torch

from posenc.nn import Cache, GPTModel
from scripts.examples.explicit_positions import (
    SCHEMES,
    TEXT,
    WAYS,
    drafts,
    packing,
    padding,
    steps,
    unbatched_logits,
)

SEEN = 1e-3
ROUNDING = 1e-13
RELATIVE = ("rope", "alibi", "t5")

RIGHT = [
    (padding, "counted"),
    (packing, "restart"),
    (steps, "on"),
    (drafts, "rolled back"),
    (drafts, "rejected hidden"),
]
# Positions that are wrong, and alike for all tokens of a sequence.
SHIFTED = [(padding, "edge"), (packing, "run on")]
WRONG = [
    (padding, "counted, then slot"),
    (padding, "edge, then counted"),
    (padding, "padding seen"),
    (packing, "documents seen"),
    (steps, "from 0"),
    (steps, "one too high"),
    (steps, "slots"),
    (steps, "empty slots seen"),
    (drafts, "cache kept"),
    (drafts, "position kept"),
    (drafts, "both kept"),
    (drafts, "draft one too high"),
]


@pytest.mark.parametrize("scheme", SCHEMES)
def test_right_positions_and_masks_give_the_sequence_alone(scheme: str) -> None:
    assert max(case(scheme, way) for case, way in RIGHT) < ROUNDING


@pytest.mark.parametrize("scheme", SCHEMES)
def test_each_wrong_way_changes_the_logits_of_every_scheme(scheme: str) -> None:
    assert min(case(scheme, way) for case, way in WRONG) > SEEN


def test_a_shift_of_a_whole_sequence_shows_with_a_learned_table_alone() -> None:
    assert min(case("learned", way) for case, way in SHIFTED) > 0.5
    assert max(case(s, way) for s in RELATIVE for case, way in SHIFTED) < ROUNDING


def test_a_way_that_is_not_known_is_refused_rather_than_taken_for_the_right_one() -> None:
    for case in (padding, packing, steps, drafts):
        with pytest.raises(ValueError, match=r"way must be one of .*; got 'edgy'"):
            case("rope", "edgy")
    tried = {(case.__name__, way) for case, way in RIGHT + SHIFTED + WRONG}
    assert tried == {(case, way) for case, ways in WAYS.items() for way in ways}


@pytest.mark.parametrize("scheme", SCHEMES)
def test_the_sequence_alone_does_not_depend_on_later_tokens(scheme: str) -> None:
    whole, start = unbatched_logits(scheme), unbatched_logits(scheme, TEXT[:, :3])
    torch.testing.assert_close(whole[:, :3], start, atol=1e-12, rtol=0)


@pytest.mark.parametrize("scheme", ["sinusoidal", "learned", "rope", "alibi", "t5", "shaw"])
def test_a_cache_that_is_cut_back_continues_as_if_the_rest_had_not_been_read(scheme: str) -> None:
    with torch.random.fork_rng():
        torch.manual_seed(0)
        model = GPTModel(50, 64, 32, 2, 2, scheme).double().eval()
    cache, text = Cache(), TEXT
    with torch.no_grad():
        model(text[:, :5], cache=cache)
        kept = copy.copy(cache)
        model(torch.tensor([[1, 48, 3]]), cache=cache)  # a draft that is rejected
        cache.layers = [(k[:, :, :5], v[:, :, :5]) for k, v in cache.layers]
        found = model(text[:, 5:], cache=cache)
        assert torch.equal(found, model(text[:, 5:], cache=kept))
        torch.testing.assert_close(found, model(text)[:, 5:], atol=1e-12, rtol=0)
