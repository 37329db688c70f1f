"""What the how-to says about cached keys that are moved holds, for the right way and the wrong."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from posenc import alibi_slopes, apply_rope, yarn_frequencies, yarn_temperature
from posenc.nn import RotaryEmbedding
from scripts.measure.shifted_cache import (
    REUSES,
    SHIFTS,
    TRAINED,
    drift,
    moved,
    perplexity,
    reuse,
    shift,
    without,
)

ROUNDING, SEEN = 1e-13, 0.05
UNMOVED = "nothing moved"  # right without kept tokens, and nearly so with few


@pytest.mark.parametrize("dtype", [torch.float64, torch.float32, torch.float16, torch.bfloat16])
def test_a_moved_key_is_the_key_of_its_new_position_in_every_dtype(dtype: torch.dtype) -> None:
    key = torch.randn(1, 2, 5, 64, generator=torch.Generator().manual_seed(3)).to(dtype)
    rope, at = RotaryEmbedding(64), torch.arange(1000, 1005)
    found, right = moved(rope(key, positions=at), -300), rope(key, positions=at - 300)
    assert found.dtype == dtype
    allowed = max(1e-12, 8 * torch.finfo(dtype).eps)  # an angle of 1000 is rounded to 1e-13
    torch.testing.assert_close(found, right, rtol=0, atol=allowed)


def test_shifted_keys_are_exact_in_one_layer_and_each_mistake_shows() -> None:
    assert shift(1, "rotated") < ROUNDING
    for way in SHIFTS[1:]:
        assert shift(1, way) > SEEN, way
    for layers in (2, 4):
        assert shift(layers, "rotated") > SEEN


def test_without_kept_tokens_a_shift_changes_no_score() -> None:
    for layers in (1, 2, 4):
        rotated, unmoved = shift(layers, "rotated", keep=0), shift(layers, UNMOVED, keep=0)
        assert rotated == pytest.approx(unmoved, abs=ROUNDING)
    assert shift(1, "rotated") < ROUNDING < SEEN < shift(1, UNMOVED)


def test_a_shift_of_a_partly_rotated_head_leaves_the_other_dimensions() -> None:
    key = np.random.default_rng(0).normal(size=64)
    cached, right = (apply_rope(key, at, rotary_d=16) for at in (1000, 700))
    np.testing.assert_allclose(apply_rope(cached, -300, rotary_d=16), right, atol=1e-12)
    whole = apply_rope(cached, -300)
    assert np.abs(whole - right)[:16].max() > 0.5  # other frequencies, so these are wrong as well
    assert np.abs(whole - right)[16:].max() > 0.5


def test_an_attention_factor_must_not_be_applied_again_by_a_shift() -> None:
    omega, factor = yarn_frequencies(64, 4, trained_length=512), yarn_temperature(4)
    scaled = RotaryEmbedding(64, frequencies=omega, attention_factor=factor)
    plain = RotaryEmbedding(64, frequencies=omega)
    key = torch.randn(1, 1, 1, 64, generator=torch.Generator().manual_seed(3)).double()
    cached, right = (scaled(key, positions=torch.tensor([at])) for at in (1000, 700))
    torch.testing.assert_close(plain(cached, positions=torch.tensor([-300])), right)
    again = scaled(cached, positions=torch.tensor([-300]))
    torch.testing.assert_close(again, factor * right)
    assert factor > 1.1


def test_a_trained_model_reads_on_with_moved_keys_as_with_keys_read_again() -> None:
    again, shifted, unrotated, beyond = map(perplexity, TRAINED)
    assert shifted == pytest.approx(again, rel=0.01)
    assert 2 * again < beyond < unrotated


def test_many_small_shifts_in_low_precision_leave_slow_pairs_behind() -> None:
    key = torch.full((1, 1, 1, 128), 0.75, dtype=torch.bfloat16)
    stored = key
    for _ in range(100):
        stored = moved(stored, -1)
    assert torch.equal(stored[..., -2:], key[..., -2:])  # the slowest pair
    assert not torch.equal(moved(key, -100)[..., -2:], key[..., -2:])
    assert drift(torch.bfloat16, 100) > 10 * drift(torch.bfloat16, 100, 100)
    assert drift(torch.float32, 100) < 1e-5


def test_relative_schemes_are_exact_in_one_layer_and_added_rows_are_not() -> None:
    for scheme in ("rope", "alibi", "t5", "shaw", "none"):
        assert without(scheme, 1) < ROUNDING
        assert without(scheme, 2) > SEEN
    for scheme in ("sinusoidal", "learned"):
        assert without(scheme, 1) > SEEN


def test_a_moved_chunk_is_exact_in_one_layer_or_if_it_never_sees_the_prefix() -> None:
    for layers in (1, 2, 4):
        assert reuse(layers, "not moved") > SEEN
        assert max(reuse(layers, way) for way in ("all anew", "prefix not seen")) < ROUNDING
    for way in ("moved", "first anew"):
        assert reuse(1, way) < ROUNDING
        assert min(reuse(2, way), reuse(4, way)) > SEEN


def test_slopes_of_a_shard_are_not_those_of_fewer_heads() -> None:
    for ranks in (2, 4, 8):
        shards, fewer = alibi_slopes(16).reshape(ranks, -1), alibi_slopes(16 // ranks)
        assert all(np.abs(shard / fewer - 1).max() > 0.1 for shard in shards)


def test_a_misspelt_way_is_refused_rather_than_taken_for_the_right_one() -> None:
    for case, ways in ((shift, SHIFTS), (reuse, REUSES)):
        with pytest.raises(ValueError, match=f"way must be one of '{ways[0]}'.*; got 'edgy'"):
            case(1, "edgy")
    with pytest.raises(ValueError, match=r"way must be one of 'read again'.*; got 'edgy'"):
        perplexity("edgy")
