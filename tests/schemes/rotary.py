"""The entries of posenc/rotary/: what rotates queries and keys."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch

import posenc
from posenc import nn
from tests.schemes.arrays import (
    NOT_REALS,
    OFFSETS,
    ROTATED,
    SEVERAL,
    SIZES,
    WIDTHS,
    at_least,
    choices,
    number,
    reals,
    rows,
    shapes,
    without_none,
)
from tests.schemes.inputs import HEADS, D, Floats, array, keys, vectors
from tests.schemes.table import Initial, Scheme, Variant, call
from tests.schemes.tensors import META, NAN, NO_TENSOR, QUERIES, activations

PLACES, OMEGA = [0.5, 1.5, 20.5], [1.0, 0.5, 0.25, 0.125]
ROTATION = {"x": np.ones((2, 3, 8)), "positions": [0, 1, 2]}
CONVERSION = {"heads": 2, "source": "half", "target": "interleaved"}
FACTORS_OF_HEADS = torch.ones(3, 4) + 1j

TURNS = number("", -1)
DIVISORS = [
    *shapes("(4,), one a pair", (3,), (), (4, 1)),
    *rows(ValueError, "1e-100 to 1e100", {"-1": [1.0, 1.0, 1.0, -1.0], "0": np.zeros(4)}),
    *rows(ValueError, "", {"1e+101": [1e101, 1, 1, 1], "nan": [1.0, 1.0, 1.0, np.nan]}),
    *rows(TypeError, "", NOT_REALS),
]


def rope(rotary_d: int, layout: str) -> Variant:
    """Return RoPE in one of its layouts, of all dimensions or of the first ones."""
    return Variant(
        lambda: nn.RotaryEmbedding(D, layout=layout, rotary_d=rotary_d),
        lambda m, start, stop: m(vectors(start, stop), offset=start),
        lambda m, start, stop: np.concatenate(
            [
                posenc.apply_rope(
                    array(vectors(start, stop)[..., :rotary_d]),
                    np.arange(start, stop),
                    layout=layout,
                ),
                array(vectors(start, stop)[..., rotary_d:]),
            ],
            axis=-1,
        ),
        f'RotaryEmbedding(8, base=10000.0, layout="{layout}", rotary_d={rotary_d})',
        narrow=2,
    )


def xpos(role: str, layout: str) -> Variant:
    """Return xPos for queries or for keys."""

    def definition(module: Any, start: int, stop: int) -> Floats:
        """Return vectors rotated by the position, and scaled by the position − 5."""
        places = np.arange(start, stop)
        x = array(vectors(start, stop))
        scaled = posenc.apply_xpos(x, places - 5, role=role, layout=layout)
        return np.asarray(posenc.apply_rope(scaled, np.full(places.shape, 5), layout=layout))

    return Variant(
        lambda: nn.XPos(D, layout=layout, center=5),
        lambda m, start, stop: m(vectors(start, stop), role=role, offset=start),
        definition,
        f"XPos(\n  8, base=10000, layout='{layout}', scale_base=512, gamma=0.4, center=5\n"
        f'  (rotary): RotaryEmbedding(8, base=10000.0, layout="{layout}", rotary_d=8)\n)',
    )


def pope_with_phases() -> nn.PoPE:
    """Return PoPE with phases within the range to which they are clipped, and beyond it."""
    pope = nn.PoPE(HEADS, D)
    torch.nn.init.uniform_(pope.phase, -9, 3)
    return pope


def pope_keys(module: Any, start: int, stop: int) -> Floats:
    """Return keys by the definition of PoPE."""
    x, phase = array(vectors(start, stop)), array(module.phase)
    return np.asarray(posenc.apply_pope(x, np.arange(start, stop), phase=phase))


def pope_scores(module: Any, start: int, stop: int) -> Any:
    """Return PoPE's scores of queries with all keys up to them."""
    k = module(keys(stop), role="key")
    q = module(vectors(start, stop), role="query", offset=start)
    return (q.double() @ k.double().mT).to(q.dtype)


def pope_scores_in_numpy(module: Any, start: int, stop: int) -> Floats:
    """Return the same by the definition."""
    q = posenc.apply_pope(array(vectors(start, stop)), np.arange(start, stop))
    k = posenc.apply_pope(array(keys(stop)), np.arange(stop), phase=array(module.phase))
    return np.asarray(q @ k.swapaxes(-1, -2))


POPE_SHOWN = (
    "PoPE(\n  3, 8, base=10000\n"
    '  (rotary): RotaryEmbedding(16, base=10000.0, layout="half", rotary_d=16)\n)'
)

ROPE = Scheme(
    *(
        call(rotate, **ROTATION)
        .refuses(positions=ROTATED)
        .with_reals(positions=PLACES, frequencies=OMEGA)
        for rotate in (posenc.apply_rope, posenc.apply_rope_complex)
    ),
    call(posenc.rope_matrix, position=3, d=8)
    .refuses(position=OFFSETS)
    .with_reals(frequencies=OMEGA),
    call(posenc.rotary_frequencies, d=8).with_reals(frequencies=OMEGA),
    call(posenc.convert_layout, x=np.ones((2, 3, 8)), source="half", target="interleaved"),
    call(posenc.convert_projection, weight=np.ones((16, 3)), **CONVERSION),
    call(posenc.convert_qkv, weight=np.ones((48, 3)), **CONVERSION).refuses(
        key_heads=[*without_none(SIZES), *rows(ValueError, "divide the 2 heads", 3)],
        arrangement=choices('"blocks", "groups"'),
    ),
    call(nn.RotaryEmbedding, d=8).refuses(
        d=WIDTHS, frequencies=["fast", [1.0], [1.0, 1.0, 1.0, NAN], [1.0, 1.0, 1.0, -1.0], 1.0]
    ),
    call(nn.RotaryEmbedding, "forward", x=QUERIES).refuses(x=activations(QUERIES)),
    call(nn.RotaryEmbedding, "factors", x=QUERIES).refuses(x=activations(QUERIES)),
    call(
        nn.RotaryEmbedding, "turn", x=QUERIES, factors=FACTORS_OF_HEADS.to(torch.complex64)
    ).refuses(
        x=activations(QUERIES),
        factors=[
            *(None, *NO_TENSOR, FACTORS_OF_HEADS.real, FACTORS_OF_HEADS[:, :3]),
            *(FACTORS_OF_HEADS[None], FACTORS_OF_HEADS.to(META)),
        ],
        out=[
            *(*NO_TENSOR, QUERIES.double(), QUERIES[0], QUERIES.to(META), QUERIES.to_sparse()),
            *(QUERIES[:1].expand(2, 4, 3, 8), QUERIES.clone().requires_grad_()),
        ],
    ),
    variants={
        "interleaved": rope(8, "interleaved"),
        "half": rope(8, "half"),
        "partial": rope(4, "interleaved"),
    },
)

SCALING = Scheme(
    call(posenc.interpolated_frequencies, d=8, factor=4),
    call(posenc.ntk_frequencies, d=8, factor=4).refuses(d=SEVERAL),
    call(posenc.yarn_frequencies, d=8, factor=4, trained_length=256, ramp="pairs").refuses(
        fast=TURNS, slow=TURNS, ramp=choices('"turns", "pairs"')
    ),
    call(posenc.yarn_temperature, factor=4).refuses(mscale=TURNS),
    call(posenc.dynamic_frequencies, d=8, length=300, factor=4, trained_length=256).refuses(
        d=SEVERAL
    ),
    call(posenc.llama3_frequencies, d=8, factor=4, trained_length=256).refuses(
        low=TURNS, high=TURNS
    ),
    call(
        posenc.longrope_frequencies,
        d=8,
        length=300,
        short=np.ones(4),
        long=np.ones(4),
        trained_length=256,
    ).refuses(short=DIVISORS, long=DIVISORS),
    call(posenc.longrope_temperature, factor=4, trained_length=256).refuses(
        trained_length=at_least(2)
    ),
    call(posenc.proportional_frequencies, d=8, rotary_d=4).refuses(
        rotary_d=[*WIDTHS, *rows(ValueError, "at most 8, the width", 10)]
    ),
    call(posenc.riflex_frequencies, d=8, length=300, repeats=48).refuses(
        repeats=number("a number above 0, at most 1e+100", 0, -2, 1e101),
        share=number("a number above 0, at most 1", 0, -0.5, 1.5),
    ),
)

BASE = Scheme(
    call(posenc.smallest_base, d=8, length=8).refuses(
        d=SEVERAL, length=[*SIZES, *rows(ValueError, "1 to 2**22", 2**22 + 1)]
    ),
    call(posenc.critical_dimension, d=8, trained_length=256),
    call(posenc.extended_base, d=8, length=300, trained_length=256).refuses(
        length=at_least(256),
        trained_length=[*SIZES, *rows(ValueError, "a pair completes a turn", 6)],
    ),
)

POPE = Scheme(
    call(posenc.apply_pope, **ROTATION)
    .refuses(
        x=reals((), (3, 0)),
        positions=ROTATED,
        phase=[
            *rows(ValueError, "finite", {"nan": [np.nan] * 8, "-inf": -np.inf}),
            *shapes("broadcasts to (2, 3, 8)", (3,), (8, 1), (4, 2, 3, 8)),
            *without_none(rows(TypeError, "", NOT_REALS)),
        ],
    )
    .with_reals(positions=PLACES, phase=[-1.5] * 8),
    call(nn.PoPE, heads=4, d=8),
    call(nn.PoPE, "forward", x=QUERIES, role="key").refuses(
        x=activations(QUERIES, QUERIES[:, 1:], QUERIES.to(META))
    ),
    variants={
        "keys": Variant(
            pope_with_phases,
            lambda m, start, stop: m(vectors(start, stop), role="key", offset=start),
            pope_keys,
            POPE_SHOWN,
            narrow=2,
        ),
        "scores": Variant(pope_with_phases, pope_scores, pope_scores_in_numpy, POPE_SHOWN),
    },
    initial=[Initial(lambda: nn.PoPE(HEADS, 64), {"phase": 0.0})],
)

XPOS = Scheme(
    call(posenc.xpos_decay, d=8),
    call(posenc.apply_xpos, **ROTATION, role="query")
    .refuses(
        positions=[*ROTATED, *rows(ValueError, "from 1e-100 to 1e100", {"2e+06": [0, 2e6, 0]})]
    )
    .with_reals(positions=PLACES),
    call(nn.XPos, d=8).refuses(d=WIDTHS),
    call(nn.XPos, "forward", x=QUERIES, role="key").refuses(x=activations(QUERIES)),
    variants={"queries": xpos("query", "interleaved"), "keys": xpos("key", "half")},
)
