"""Ranks that share a sequence compute what one process does, if they know their positions."""

from __future__ import annotations

import math
import multiprocessing
from itertools import product

import numpy as np
import pytest
import torch

from posenc.nn import attention
from scripts.examples.parallel.processes import ORDERS, TOLD, errors, positions_per_rank, run_ranks
from scripts.examples.parallel.ring import SCHEMES, combined_attention
from scripts.examples.parallel.shards import ORDERS as ALL_ORDERS
from scripts.examples.parallel.shards import keys_seen, shards, slowest_over_mean

RANKS = (2, 4)
ROUNDING = 1e-13
BIASES = ("alibi", "t5")


def worst(ranks: int, way: str, schemes: tuple[str, ...] = SCHEMES) -> list[float]:
    """Return the error of each scheme and order when ranks are told positions in this way."""
    column = list(TOLD).index(way)
    return [float(errors(ranks)[s][row, column]) for s, row in product(schemes, range(len(ORDERS)))]


# --- Shards ---------------------------------------------------------------------------------


@pytest.mark.parametrize(("order", "ranks"), [*product(ALL_ORDERS, RANKS)])
def test_every_token_is_on_one_rank(order: str, ranks: int) -> None:
    assert sorted(shards(order, 16, ranks).flatten()) == list(range(16))


def test_zigzag_pairs_a_chunk_from_the_front_with_one_from_the_back() -> None:
    assert shards("zigzag", 8, 2).tolist() == [[0, 1, 6, 7], [2, 3, 4, 5]]


@pytest.mark.parametrize(("order", "ranks"), [*product(ALL_ORDERS, RANKS)])
def test_pairs_are_counted_as_in_the_mask(order: str, ranks: int) -> None:
    held = shards(order, 16, ranks)
    assert keys_seen(held).tolist() == np.tri(16)[held].sum(axis=(1, 2)).tolist()


@pytest.mark.parametrize("ranks", [2, 4, 8, 32])
def test_zigzag_gives_every_rank_the_same_work(ranks: int) -> None:
    assert slowest_over_mean("zigzag", 128 * ranks, ranks) == 1.0
    assert 1.0 < slowest_over_mean("striped", 128 * ranks, ranks) < 1.01
    assert math.isclose(
        slowest_over_mean("contiguous", 128 * ranks, ranks), 2 - 1 / ranks, rel_tol=0.01
    )


def test_bad_orders_and_lengths_are_refused() -> None:
    with pytest.raises(ValueError, match="length must be a multiple of 8, 2·ranks; got 12"):
        shards("zigzag", 12, 4)
    with pytest.raises(ValueError, match="ranks must be an integer, 1 or more; got 0"):
        shards("zigzag", 12, 0)
    with pytest.raises(ValueError, match="length must be a multiple of 8, 2·ranks; got 0"):
        shards("zigzag", 0, 4)
    with pytest.raises(ValueError, match=r"way must be one of 'right', .*; got 'wrong'"):
        positions_per_rank("wrong", "zigzag", 16, 4)
    with pytest.raises(ValueError, match=r"order must be one of contiguous, .* got 'random'"):
        shards("random", 16, 4)


# --- Attention ------------------------------------------------------------------------------


def test_parts_combine_in_any_order_even_if_a_query_sees_no_key_of_one() -> None:
    generator = torch.Generator().manual_seed(0)
    scores = 30 * torch.randn(2, 5, 9, generator=generator, dtype=torch.float64)
    scores[:, 0, 3:] = -math.inf
    v = torch.randn(2, 9, 3, generator=generator, dtype=torch.float64)
    for order in ([0, 1, 2], [0, 2, 1]):
        parts = [(scores[..., 3 * n : 3 * n + 3], v[:, 3 * n : 3 * n + 3]) for n in order]
        torch.testing.assert_close(combined_attention(parts), scores.softmax(-1) @ v)


# --- Real processes -------------------------------------------------------------------------


@pytest.mark.slow
def test_ranks_that_know_their_positions_compute_what_one_process_computes() -> None:
    for ranks in RANKS:
        assert max(worst(ranks, "right")) < ROUNDING


@pytest.mark.slow
@pytest.mark.parametrize("way", ["local", "other"])
def test_positions_of_other_tokens_change_the_output_of_every_scheme(way: str) -> None:
    for ranks in RANKS:
        assert min(worst(ranks, way)) > 0.2


def test_only_relative_schemes_allow_a_shift_that_all_ranks_share() -> None:
    for ranks in RANKS:
        assert max(worst(ranks, "shifted", ("rope", *BIASES))) < ROUNDING
        assert min(worst(ranks, "shifted", ("sinusoidal",))) > 0.2


def test_a_bias_must_know_where_the_keys_of_others_stand() -> None:
    for ranks in RANKS:
        assert min(worst(ranks, "local bias", BIASES)) > 0.2
        assert max(worst(ranks, "local bias", ("sinusoidal", "rope"))) < ROUNDING


def test_one_part_alone_is_the_attention_of_the_package() -> None:
    q = torch.randn(2, 4, 8, dtype=torch.float64, generator=torch.Generator().manual_seed(0))
    output, _ = attention(q, q, q)
    torch.testing.assert_close(combined_attention([(q @ q.mT / math.sqrt(8), q)]), output)


def test_ranks_that_take_too_long_are_ended(tmp_path: object) -> None:
    with pytest.raises(TimeoutError, match="2 ranks were not done in time"):
        run_ranks(2, (2, 16, str(tmp_path)), 0.0)
    assert multiprocessing.active_children() == []


def test_a_rank_that_fails_ends_the_others(tmp_path: object) -> None:
    with pytest.raises(Exception, match="length must be a multiple of 4, 2·ranks; got 3"):
        run_ranks(2, (2, 3, str(tmp_path)), 60.0)
    assert multiprocessing.active_children() == []
