"""The entries of posenc/scores/: what is added to attention scores."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import torch
from torch import Tensor

import posenc
from posenc import nn
from tests.schemes.arrays import (
    BAD,
    COUNTS,
    FLOAT,
    NOT_REALS,
    SIZES,
    WIDTHS,
    at_least,
    reals,
    rows,
    shapes,
    tables,
    vector,
    without_none,
)
from tests.schemes.inputs import (
    HEADS,
    VECTORS,
    D,
    Floats,
    array,
    arrays,
    by_positions,
    by_relative,
    by_relative_in_dtype,
    content_scores,
    dtype,
    keys,
    relative,
    tokens,
    vectors,
    with_large_parameters,
)
from tests.schemes.table import NORMAL, Initial, Scheme, Variant, call
from tests.schemes.tensors import (
    ANY_POSITIONS,
    FAR_POSITIONS,
    IDS,
    INFINITE,
    KEY_MINUS_QUERY,
    META,
    NAN,
    NO_TENSOR,
    QUERIES,
    RELATIVES,
    ROWS,
    SCORES,
    X,
    activations,
    no_activations,
)

OFFSETS_OF_KEYS = [[-3, 0, 3]]
EVEN_ABOUT_ZERO = (-1 / 300**0.5, 1 / 300**0.5)
NETWORK = ("first_weight", "first_bias", "second_weight", "second_bias")
TWO = np.eye(2)
ONE_ROW = {"query_length": SIZES, "key_length": COUNTS}
RELATIVE_ELSEWHERE = [*RELATIVES, KEY_MINUS_QUERY.to(META)]

MASKS = [
    *rows(TypeError, "booleans", 1, [0, 1], "yes", {"array([1., 0.])": TWO[0]}),
    *rows(TypeError, "booleans", [[True], [True, False]]),
    *rows(ValueError, "broadcast to the scores", {"(3, 2)": np.ones((3, 2), bool)}),
]
BIASES = [
    *rows(ValueError, "finite numbers or -inf", {"nan": [[np.nan]], "inf": [[0.0, np.inf]]}),
    *shapes("broadcast to the scores", (3, 2)),
    *rows(TypeError, "finite numbers or -inf", NOT_REALS),
]
T5_ENDS = [*SIZES, *rows(ValueError, "above 8, where the exact range ends", 8, 1)]
T5_TABLES = tables(also={"3": np.ones((3, 2)), "2": np.ones((2, 2))})
DIAGONALS = [
    *rows(ValueError, "finite numbers or -inf", {"nan": [[0.0, np.nan]], "inf": [np.inf, -np.inf]}),
    *rows(ValueError, "", {"": [[10**400]]}),
    *rows(ValueError, "of shape (..., q + k - 1) with q = 3", {"()": 1.0, "(1,)": [1.0]}),
    *rows(TypeError, "", NOT_REALS),
    *rows(TypeError, FLOAT, {"": np.ones(4, np.longdouble)}),
]


def shaw(module: Any, start: int, stop: int) -> Floats:
    index = posenc.shaw_index(relative(start, stop).numpy(), max_distance=5)
    return np.moveaxis(array(module.table)[index], -1, 0)


def t5(*, bidirectional: bool) -> Variant:
    """Return T5's bias, of its encoder or its decoder."""
    how: dict[str, Any] = {"bidirectional": bidirectional, "max_distance": 20}
    return Variant(
        lambda: with_large_parameters(nn.T5RelativeBias(HEADS, buckets=8, **how)),
        by_relative,
        lambda m, start, stop: posenc.t5_bias(array(m.table), relative(start, stop).numpy(), **how),
        f"T5RelativeBias(3, bidirectional={bidirectional}, buckets=8, max_distance=20)",
        narrow=None,
    )


def swin_v2(module: Any, start: int, stop: int) -> Floats:
    offsets = posenc.swin_log_offsets(module.window, trained_window=module.trained_window)
    units = np.maximum(0, offsets @ array(module.first_weight).T + array(module.first_bias))
    table = units @ array(module.second_weight).T
    bias = 16 / (1 + np.exp(-posenc.swin_bias(table, module.window)))
    return np.asarray(bias[:, start:stop, :stop])


def alibi(*, causal: bool) -> Variant:
    """Return ALiBi, with or without its mask."""
    return Variant(
        lambda: nn.ALiBi(HEADS, causal=causal),
        by_relative_in_dtype,
        lambda m, start, stop: posenc.alibi_bias(
            HEADS, stop - start, stop, query_offset=start, causal=causal
        ),
        f"ALiBi(3, causal={causal})",
        narrow=None,
    )


def kerple(kernel: str, function: Callable[..., Floats]) -> Variant:
    """Return one of the two kernels of KERPLE."""
    return Variant(
        lambda: nn.KerpleBias(HEADS, kernel=kernel),
        by_relative,
        lambda m, start, stop: function(
            array(m.scale), array(m.shape), relative(start, stop).numpy()
        ),
        f"KerpleBias(3, kernel='{kernel}')",
    )


def fire(module: Any, start: int, stop: int) -> Floats:
    shares = posenc.fire_shares(
        stop - start,
        rate=module.rate.item(),
        threshold=module.threshold * module.factor.item(),
        query_offset=start,
    )
    return posenc.fire_bias(shares, **arrays(module, *NETWORK))


def cope(module: Any, start: int, stop: int) -> Floats:
    """Return all scores without the content's."""
    q = array(vectors(start, stop))
    scores = q @ array(vectors(0, stop)).swapaxes(-1, -2)
    whole = posenc.cope_scores(q, scores, array(module.table))
    return np.where(np.isneginf(whole), 0, whole - scores)


def forgetting(module: Any, start: int, stop: int) -> Floats:
    gates = array(tokens(0, stop)) @ array(module.weight).T + array(module.shift)
    logs = -np.logaddexp(0, -gates).swapaxes(-1, -2)
    return np.asarray(posenc.forgetting_bias(logs, stop - start))


def path(module: Any, start: int, stop: int) -> Floats:
    """Return all scores without the content's."""
    x, q, k = array(tokens(0, stop)), array(vectors(0, stop)), array(keys(stop))
    projected = x @ array(module.first_weight).T @ array(module.second_weight).T
    kernel, mixed = array(module.kernel), np.zeros_like(projected)
    for ago in range(3):  # the token itself, the one before it, the one before that
        mixed[:, ago:] += kernel[:, 2 - ago] * projected[:, : stop - ago]
    silu = mixed / (1 + np.exp(-mixed))
    direction = silu.reshape(*silu.shape[:2], HEADS, D).swapaxes(1, 2)
    strength = x @ array(module.strength_weight).T + array(module.strength_bias)
    strength = (2 / (1 + np.exp(-strength))).swapaxes(1, 2)
    scores = posenc.path_scores(q, k, direction=direction, strength=strength)
    return np.asarray(scores - q @ k.swapaxes(-1, -2) / np.sqrt(D))[:, :, start:]


def dape_inputs(start: int, stop: int) -> tuple[Tensor, Tensor]:
    """Return content scores, and a linear bias, twice as steep for the second sequence."""
    slopes = torch.tensor([0.5, 0.25, 0.125], device=VECTORS["queries"].device)
    bias = -slopes[:, None, None].to(dtype()) * relative(start, stop).abs()
    return vectors(start, stop) @ keys(stop).mT / 4, torch.stack([bias, 2 * bias])


def dape(module: Any, start: int, stop: int) -> Floats:
    pairs = zip(*map(array, dape_inputs(start, stop)), strict=True)
    network = arrays(module, *NETWORK)
    return np.stack([posenc.dape_bias(scores, bias, **network) for scores, bias in pairs])


def deberta(module: Any, start: int, stop: int) -> Floats:
    """Return all scores without the content's."""
    distances: Any = relative(start, stop).numpy()
    if module.longest is not None:
        distances = posenc.deberta_buckets(
            distances, buckets=module.max_distance, max_distance=module.longest
        )
    scores = posenc.disentangled_scores(
        array(vectors(start, stop)),
        array(vectors(0, stop)),
        distances,
        **arrays(module, "position_q", "position_k"),
        released=module.released,
    )
    return np.asarray(scores - content_scores(start, stop, terms=3))


def disentangled(longest: int | None, *, released: bool) -> Variant:
    """Return DeBERTa's terms, with or without buckets."""
    return Variant(
        lambda: with_large_parameters(
            nn.DisentangledBias(HEADS, D, 8, longest=longest, released=released)
        ),
        lambda m, start, stop: m(vectors(start, stop), vectors(0, stop), relative(start, stop)),
        deberta,
        f"DisentangledBias(3, 8, max_distance=8, longest={longest}, released={released})",
    )


def transformer_xl(module: Any, start: int, stop: int) -> Floats:
    """Return all scores without the content's."""
    rows = posenc.transformer_xl_rows(stop - start, stop, module.d_model, query_offset=start)
    position_k = (rows @ array(module.weight)).reshape(len(rows), HEADS, D).swapaxes(0, 1)
    scores = posenc.transformer_xl_scores(
        array(vectors(start, stop)),
        array(vectors(0, stop)),
        position_k,
        content_bias=array(module.content_bias)[:, None],
        position_bias=array(module.position_bias)[:, None],
    )
    return np.asarray(scores - content_scores(start, stop))


def tupe(module: Any, start: int, stop: int) -> Floats:
    whole = posenc.tupe_bias(
        array(module.table[:stop]), **arrays(module, "query_weight", "key_weight"), heads=HEADS
    )
    whole = posenc.untied_bias(whole, **arrays(module, "from_first", "to_first"))
    return np.asarray(whole[:, start:])


DOT_PRODUCT = Scheme(
    call(posenc.attention, q=TWO, k=TWO, v=TWO)
    .refuses(v=reals((2,), (3, 2)), bias=without_none(BIASES), mask=without_none(MASKS))
    .with_reals(bias=[[0.5, -2.0], [0.0, 1.5]]),
    call(posenc.causal_mask, query_length=3),
    call(nn.attention, q=QUERIES, k=QUERIES, v=QUERIES).refuses(
        q=no_activations(QUERIES, QUERIES[0, 0, 0], QUERIES.to_sparse()),
        v=no_activations(QUERIES, QUERIES[..., :-1, :], QUERIES[0, 0, 0]),
        bias=[*("bias", 1.0, torch.ones(3, 3).int(), torch.ones(3, 2)), torch.full((3, 3), NAN)],
        mask=[*("mask", True, torch.ones(3, 3), torch.ones(3, 2) > 0), torch.zeros(3, 3) > 0],
    ),
)

RELATIVE = Scheme(
    call(posenc.shaw_index, relative=[-3, 0, 3], max_distance=2),
    call(posenc.relative_shift, scores=np.ones((2, 4))).refuses(scores=reals((3,), (4, 2), (0, 5))),
    call(posenc.relative_row, query_length=3, key_length=4).refuses(**ONE_ROW),
    call(posenc.relative_view, rows=np.ones((2, 6)), query_length=3).refuses(
        rows=DIAGONALS, query_length=SIZES
    ),
    call(nn.RelativePositionEmbedding, d=8, max_distance=2),
    call(nn.RelativePositionEmbedding, "forward", relative=KEY_MINUS_QUERY).refuses(
        relative=RELATIVE_ELSEWHERE
    ),
    call(nn.RelativePositionEmbedding, "scores", q=QUERIES, relative=KEY_MINUS_QUERY).refuses(
        q=activations(QUERIES, QUERIES.to(META)),
        relative=[*(*RELATIVE_ELSEWHERE, KEY_MINUS_QUERY[:2], KEY_MINUS_QUERY.expand(3, 3, 3))],
    ),
    call(nn.RelativePositionEmbedding, "shifted_scores", q=QUERIES, key_length=3).refuses(
        q=activations(QUERIES, QUERIES.to(META)), key_length=COUNTS
    ),
    call(nn.relative_attention, q=QUERIES, k=QUERIES, v=QUERIES, rows=ROWS).refuses(
        q=no_activations(QUERIES, QUERIES[0, 0, 0], QUERIES.to_sparse()),
        k=activations(QUERIES, QUERIES.double()),
        v=no_activations(QUERIES, QUERIES[..., :-1, :], QUERIES.double()),
        rows=[
            *(None, *NO_TENSOR, ROWS.int(), ROWS[:3], ROWS[:, :4], ROWS.to(META)),
            *(ROWS * NAN, ROWS * INFINITE, ROWS * -INFINITE),
        ],
    ),
    call(nn.relative_row, query_length=3, key_length=3).refuses(**ONE_ROW),
    call(nn.relative_score_mod, rows=ROWS[:, :3], query_length=3).refuses(
        rows=[None, *NO_TENSOR, ROWS.int(), ROWS > 0, ROWS[0], ROWS[:, :2]],
        query_length=[*SIZES, 7],
    ),
    call(nn.reversed_view, rows=ROWS, query_length=3).refuses(
        rows=[*(None, *NO_TENSOR, ROWS.int(), ROWS > 0, ROWS + 0j, ROWS[:, :1], ROWS[0, 0])],
        query_length=[*SIZES, 8],
    ),
    call(nn.relative_positions, query_positions=IDS).refuses(
        query_positions=[
            *(None, 8.0, NAN, INFINITE, "8", True, [8], 8j, -1, torch.ones(3)),
            *(torch.ones(1, 1, 3).long(), FAR_POSITIONS),
        ],
        key_positions=[
            *(8.0, "8", True, -1, torch.ones(3), torch.ones(1, 1, 3).long()),
            *(FAR_POSITIONS, FAR_POSITIONS.to(META), torch.zeros(4, 3).long()),
        ],
    ),
    variants={
        "": Variant(
            lambda: with_large_parameters(nn.RelativePositionEmbedding(D, 5)),
            lambda m, start, stop: m(relative(start, stop)).movedim(-1, 0),
            shaw,
            "RelativePositionEmbedding(8, max_distance=5)",
            narrow=None,
        )
    },
)

T5 = Scheme(
    call(posenc.t5_bucket_starts).refuses(max_distance=T5_ENDS),
    call(posenc.t5_buckets, relative=[-3, 0, 3]).refuses(max_distance=T5_ENDS),
    call(posenc.t5_bias, table=np.ones((32, 2)), relative=OFFSETS_OF_KEYS).refuses(
        table=T5_TABLES, max_distance=T5_ENDS
    ),
    call(posenc.t5_rows, table=np.ones((32, 2)), query_length=3, key_length=3).refuses(
        table=T5_TABLES, max_distance=T5_ENDS, **ONE_ROW
    ),
    call(nn.T5RelativeBias, heads=2).refuses(max_distance=T5_ENDS),
    call(nn.T5RelativeBias, "forward", relative=KEY_MINUS_QUERY).refuses(
        relative=RELATIVE_ELSEWHERE
    ),
    variants={"encoder": t5(bidirectional=True), "decoder": t5(bidirectional=False)},
    initial=[Initial(lambda: nn.T5RelativeBias(90, buckets=100), {"table": NORMAL})],
)

SWIN = Scheme(
    call(posenc.swin_index, window=2),
    call(posenc.swin_bias, table=np.ones((9, 2)), window=2).refuses(table=tables((8, 2))),
    call(posenc.swin_log_offsets, window=2),
    call(nn.SwinRelativeBias, heads=2, window=2),
    call(nn.SwinContinuousBias, heads=2, window=2),
    variants={
        "v1": Variant(
            lambda: nn.SwinRelativeBias(HEADS, 6),
            lambda m, start, stop: m()[:, start:stop, :stop],
            lambda m, start, stop: posenc.swin_bias(array(m.table), 6)[:, start:stop, :stop],
            "SwinRelativeBias(3, window=6)",
            narrow=None,
        ),
        "v2": Variant(
            lambda: with_large_parameters(
                nn.SwinContinuousBias(HEADS, 6, trained_window=4, hidden=16)
            ),
            lambda m, start, stop: m()[:, start:stop, :stop],
            swin_v2,
            "SwinContinuousBias(3, window=6, trained_window=4, hidden=16)",
        ),
    },
    initial=[
        Initial(lambda: nn.SwinRelativeBias(90, 6), {"table": NORMAL}),
        Initial(
            lambda: nn.SwinContinuousBias(9, 2, hidden=4500),
            {"first_weight": NORMAL, "first_bias": 0.0, "second_weight": NORMAL},
        ),
    ],
)

ALIBI = Scheme(
    call(posenc.alibi_slopes, heads=6),
    call(posenc.alibi_bias, heads=6, query_length=3),
    call(posenc.alibi_rows, heads=6, query_length=3, key_length=3).refuses(**ONE_ROW),
    call(posenc.alibi_key_bias, heads=6, key_length=3),
    call(nn.ALiBi, heads=4),
    call(nn.ALiBi, "forward", relative=KEY_MINUS_QUERY),
    variants={"causal": alibi(causal=True), "symmetric": alibi(causal=False)},
)

KERPLE = Scheme(
    call(
        posenc.kerple_log_bias, scale=[1.0, 2.0], rate=[1.0, 0.5], relative=OFFSETS_OF_KEYS
    ).refuses(rate=vector(2)),
    call(
        posenc.kerple_power_bias, scale=[1.0, 2.0], exponent=[2.0, 0.5], relative=OFFSETS_OF_KEYS
    ).refuses(exponent=[*vector(2), *rows(ValueError, "up to 2", {"2.5": [1.0, 2.5]})]),
    call(nn.KerpleBias, heads=2),
    call(nn.KerpleBias, "forward", relative=KEY_MINUS_QUERY).refuses(relative=RELATIVE_ELSEWHERE),
    variants={
        "log": kerple("log", posenc.kerple_log_bias),
        "power": kerple("power", posenc.kerple_power_bias),
    },
    initial=[
        Initial(lambda: nn.KerpleBias(9000), {"scale": (0.01, 2.0), "shape": (0.01, 1.0)}),
        Initial(
            lambda: nn.KerpleBias(9000, kernel="power"),
            {"scale": (0.01, 2.0), "shape": (0.01, 2.0)},
        ),
    ],
)

SANDWICH = Scheme(
    call(posenc.sandwich_bias, heads=2, relative=OFFSETS_OF_KEYS),
    call(nn.SandwichBias, heads=2),
    call(nn.SandwichBias, "forward", relative=KEY_MINUS_QUERY),
    variants={
        "": Variant(
            lambda: nn.SandwichBias(HEADS, width=16),
            by_relative_in_dtype,
            lambda m, start, stop: posenc.sandwich_bias(
                HEADS, relative(start, stop).numpy(), width=16
            ),
            "SandwichBias(3, width=16, base=10000)",
            narrow=None,
        )
    },
)

FIRE = Scheme(
    call(posenc.fire_shares, query_length=3),
    call(
        posenc.fire_bias,
        shares=[[0.0, 0.5, 1.0]],
        first_weight=[1.0, 2.0],
        first_bias=[0.0, 0.5],
        second_weight=[[1.0, -1.0]],
        second_bias=[0.0],
    ).refuses(
        shares=reals((3,), (1, 1, 3)),
        first_weight=vector(2, above=False),
        first_bias=vector(2, above=False),
        second_weight=tables(),
        second_bias=vector(1, above=False),
    ),
    call(nn.FIREBias, heads=2),
    call(nn.FIREBias, "forward", query_positions=torch.arange(3)),
    variants={
        "": Variant(
            lambda: nn.FIREBias(HEADS, threshold=6.0),
            by_positions,
            fire,
            "FIREBias(3, hidden=32, threshold=6)",
        )
    },
    initial=[
        Initial(
            lambda: nn.FIREBias(9000, hidden=300),
            {
                "rate": 0.1,
                "factor": 1.0,
                "second_weight": EVEN_ABOUT_ZERO,
                "second_bias": EVEN_ABOUT_ZERO,
            },
        ),
        Initial(
            lambda: nn.FIREBias(1, hidden=9000),
            {"first_weight": (-1.0, 1.0), "first_bias": (-1.0, 1.0)},
        ),
    ],
)

COPE = Scheme(
    call(posenc.cope_positions, scores=np.zeros((2, 3))).refuses(scores=reals((3,), (3, 2))),
    call(
        posenc.cope_scores, q=np.zeros((2, 2)), scores=np.zeros((2, 3)), table=np.zeros((4, 2))
    ).refuses(scores=reals((3,), (3, 2)), table=tables((3, 5))),
    call(nn.CoPE, d=8, rows=4),
    call(nn.CoPE, "forward", q=QUERIES, scores=SCORES).refuses(
        q=activations(QUERIES, QUERIES.to(META)),
        scores=no_activations(SCORES, SCORES[..., :2], SCORES.to(META), SCORES.to_sparse()),
    ),
    variants={
        "": Variant(
            lambda: with_large_parameters(nn.CoPE(D, 5)),
            lambda m, start, stop: m(
                vectors(start, stop), vectors(start, stop) @ vectors(0, stop).mT
            ),
            cope,
            "CoPE(8, 5)",
        )
    },
    initial=[Initial(lambda: nn.CoPE(90, 100), {"table": 0.0})],
)

FORGETTING = Scheme(
    call(posenc.forgetting_bias, log_gates=[-1.0, 0.0, -2.0]).refuses(
        log_gates=reals(also={"one number": -1.0, "0.5": [-1, 0.5]}),
        query_length=without_none(COUNTS),
    ),
    call(nn.ForgettingBias, d_model=8, heads=2),
    call(nn.ForgettingBias, "forward", x=X).refuses(
        x=activations(X, X.to(META)), query_length=[*without_none(COUNTS), 4]
    ),
    variants={
        "": Variant(
            lambda: with_large_parameters(nn.ForgettingBias(D, HEADS)),
            lambda m, start, stop: m(tokens(0, stop), query_length=stop - start),
            forgetting,
            "ForgettingBias(8, 3)",
        )
    },
    initial=[
        Initial(
            lambda: nn.ForgettingBias(300, 9000),
            {"weight": EVEN_ABOUT_ZERO, "shift": EVEN_ABOUT_ZERO},
        )
    ],
)

PATH = Scheme(
    call(posenc.path_scores, q=TWO, k=TWO, direction=TWO, strength=[0, 2])
    .refuses(
        q=reals((2,), (2, 3)),
        direction=reals((2, 3), also={"one": [[1, 0], [0, 0]]}),
        strength=reals((3,), also={"2.5": [0, 2.5], "-1": [-1, 2.5]}),
    )
    .with_reals(strength=[0.5, 2.0]),
    call(nn.PaTH, heads=4, d=8, d_model=8),
    call(nn.PaTH, "forward", q=QUERIES, k=QUERIES, x=X).refuses(
        q=activations(QUERIES, QUERIES.to(META)),
        k=activations(QUERIES, QUERIES.to(META), QUERIES[:, :, :2], QUERIES[:, :2]),
        x=activations(X, X.to(META), X[:, :2], X[:1]),
    ),
    variants={
        "": Variant(
            lambda: with_large_parameters(nn.PaTH(HEADS, D, D, rank=5)),
            lambda m, start, stop: m(vectors(start, stop), keys(stop), tokens(0, stop)),
            path,
            "PaTH(3, 8, 8, rank=5)",
        )
    },
)

DAPE = Scheme(
    call(
        posenc.dape_bias,
        scores=np.zeros((1, 2, 3)),
        bias=np.zeros((1, 2, 3)),
        first_weight=[[1.0, 2.0]],
        first_bias=[0.0],
        second_weight=[[1.0]],
        second_bias=[0.0],
    ).refuses(
        scores=reals((2, 3), (1, 3, 3)),
        bias=reals((2, 3), (2, 2, 3)),
        first_weight=tables((1, 3)),
        first_bias=vector(1, above=False),
        second_weight=tables((1, 3), (2, 1)),
        second_bias=vector(1, above=False),
    ),
    call(nn.DAPEBias, heads=4),
    call(nn.DAPEBias, "forward", scores=SCORES, bias=SCORES[0]).refuses(
        scores=activations(SCORES[:, :2], SCORES.to(META)),
        bias=activations(
            SCORES[0],
            *(SCORES[0].to(META), SCORES[0, :2], SCORES[:1]),
            *(SCORES[0] * NAN, SCORES * -INFINITE),
        ),
    ),
    variants={
        "": Variant(
            lambda: with_large_parameters(nn.DAPEBias(HEADS, hidden=5)),
            lambda m, start, stop: m(*dape_inputs(start, stop)),
            dape,
            "DAPEBias(3, hidden=5)",
        )
    },
)

LATENT = Scheme(
    call(
        posenc.latent_scores,
        q=np.ones((2, 3, 4)),
        latent=np.ones((5, 6)),
        up=np.ones((2, 4, 6)),
        rotated_q=np.ones((2, 3, 2)),
        rotated_k=np.ones((5, 2)),
    ).refuses(
        q=reals((), (3, 4), (2, 3, 5), (3, 3, 4), (1, 2, 3, 4), (2, 3, 0)),
        latent=reals((), (6,), (5, 7), (4, 6), (1, 5, 6), (5, 0)),
        up=reals((), (4, 6), (2, 4, 5), (3, 4, 6), (1, 2, 4, 6), (2, 0, 6)),
        rotated_q=reals((), (2, 3, 3), (2, 2, 2), (3, 2)),
        rotated_k=reals((), (2,), (5, 3), (4, 2), (1, 5, 2)),
    )
)

DEBERTA = Scheme(
    call(posenc.deberta_index, relative=[-3, 0, 3], max_distance=2).refuses(max_distance=SIZES),
    call(posenc.deberta_buckets, relative=[-300, 0, 300]).refuses(max_distance=at_least(130)),
    call(
        posenc.disentangled_scores,
        q=TWO,
        k=TWO,
        relative=[[0, 1], [-1, 0]],
        position_q=np.ones((4, 2)),
        position_k=np.ones((4, 2)),
    ).refuses(
        relative=[*BAD["relative"], *rows(ValueError, "(2, 2)", {"(1, 3)": [[1, 2, 3]]})],
        position_q=reals((3, 2), (2,), (6, 2)),
        position_k=reals((3, 3), (2,), (7, 2)),
    ),
    call(nn.DisentangledBias, heads=4, d=8, max_distance=16).refuses(
        max_distance=SIZES, longest=without_none(at_least(10))
    ),
    call(nn.DisentangledBias, "forward", q=QUERIES, k=QUERIES, relative=KEY_MINUS_QUERY).refuses(
        q=activations(QUERIES, QUERIES.to(META)),
        k=activations(QUERIES, QUERIES[:1]),
        relative=[*RELATIVES, KEY_MINUS_QUERY[:, :2], KEY_MINUS_QUERY.expand(3, 3, 3)],
    ),
    variants={
        "each distance": disentangled(None, released=True),
        "buckets": disentangled(20, released=False),
    },
    initial=[
        Initial(
            lambda: nn.DisentangledBias(90, 50, 9), {"position_q": NORMAL, "position_k": NORMAL}
        )
    ],
)

TUPE = Scheme(
    call(
        posenc.tupe_bias,
        rows=np.ones((3, 4)),
        query_weight=np.eye(4),
        key_weight=np.eye(4),
        heads=2,
    ).refuses(
        rows=tables((3, 5)),
        query_weight=tables((5, 4), (4, 6)),
        key_weight=tables((5, 4), (4, 6)),
        heads=[*SIZES, *rows(ValueError, "fit", 3)],
    ),
    call(posenc.untied_bias, bias=np.zeros((1, 3, 3)), from_first=[1.0], to_first=[2.0]).refuses(
        bias=reals((3, 3), (0, 3, 3)),
        from_first=vector(1, above=False),
        to_first=vector(1, above=False),
    ),
    call(nn.TUPEBias, heads=4, d_model=8, max_len=9).refuses(heads=[*SIZES, 3]),
    call(nn.TUPEBias, "forward", query_positions=torch.arange(3)).refuses(
        query_positions=[None, *ANY_POSITIONS, torch.tensor([0, 9]), torch.ones(3)],
        key_positions=[*ANY_POSITIONS, torch.tensor([-1, 0]), torch.ones(3)],
    ),
    variants={
        "": Variant(
            lambda: with_large_parameters(nn.TUPEBias(HEADS, HEADS * D, 300)),
            by_positions,
            tupe,
            "TUPEBias(3, 24, max_len=300)",
        )
    },
    initial=[
        Initial(
            lambda: nn.TUPEBias(9, 90, 100),
            {
                **dict.fromkeys(("table", "query_weight", "key_weight"), NORMAL),
                **dict.fromkeys(("from_first", "to_first"), 0.0),
            },
        )
    ],
)

TRANSFORMER_XL = Scheme(
    call(posenc.transformer_xl_rows, query_length=2, key_length=3, d_model=8).refuses(**ONE_ROW),
    call(
        posenc.transformer_xl_scores,
        q=TWO,
        k=TWO,
        position_k=np.ones((3, 2)),
        content_bias=[0.0, 1.0],
        position_bias=[[1.0, 0.0]],
    ).refuses(
        position_k=reals((3, 3), (2,), (7, 2)),
        content_bias=reals((3,), (), (2, 2)),
        position_bias=reals((3,), (), (2, 2)),
    ),
    call(nn.TransformerXLBias, heads=4, d=8, d_model=32).refuses(d_model=WIDTHS),
    call(nn.TransformerXLBias, "forward", q=QUERIES, k=QUERIES),
    variants={
        "": Variant(
            lambda: with_large_parameters(nn.TransformerXLBias(HEADS, D, 16)),
            lambda m, start, stop: m(vectors(start, stop), vectors(0, stop), query_offset=start),
            transformer_xl,
            "TransformerXLBias(3, 8, 16)",
        )
    },
    initial=[
        Initial(
            lambda: nn.TransformerXLBias(90, 100, 8),
            dict.fromkeys(("content_bias", "position_bias", "weight"), NORMAL),
        )
    ],
)
