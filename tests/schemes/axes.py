"""The entries of posenc/axes/: images, video, space and levels of noise."""

from __future__ import annotations

import numpy as np
import torch

import posenc
from posenc import nn
from tests.schemes.arrays import (
    FAR,
    NOT_REALS,
    NUMBER,
    POINTS,
    REALS,
    SIZES,
    TOO_FAR,
    UNPRINTABLE,
    WIDTHS,
    at_least,
    choices,
    number,
    reals,
    rows,
    shapes,
    without_none,
)
from tests.schemes.inputs import D, array, points, vectors
from tests.schemes.table import Scheme, Variant, call
from tests.schemes.tensors import META, NAN, NO_TENSOR, QUERIES, activations

GRID = [[0.5, 1.5], [2.5, 30.5]]
PLANE = [[1.0, 0.1, 0.0, 0.0], [0.0, 0.0, 1.0, 0.1]]
PLACES = torch.tensor([[0, 0], [0, 1], [1, 0]])

MULTIPLES_OF_FOUR = [
    *(row for row in at_least(4) if row.value is not UNPRINTABLE),
    *rows(ValueError, "a multiple of 4", 6, {"9": np.int16(9)}),
]
NOT_A_SEQUENCE = [3, "23", None, {"array(3) (ndarray)": np.array(3)}]
SIZES_OF_AXES = [
    *rows(ValueError, "an integer, 1 or more", {"0": [0, 2], "-1": (3, -1)}),
    *rows(TypeError, "an integer, 1 or more", {"2.0": [2.0, 3], "None": [2, None]}),
    *rows(TypeError, "an integer, 1 or more", {"True": [True, 2], "[1, 2] (list)": [3, [1, 2]]}),
]
MATRICES = [
    *shapes("of shape (axes, 4)", (2, 3), (4,)),
    *shapes("", (), (0, 4)),
    *rows(ValueError, "", {"nan": np.full((2, 4), np.nan)}),
    *rows(ValueError, "below 2**53 in size", {"1e+300": np.full((2, 4), -1e300)}),
    *rows(TypeError, "", NOT_REALS),
]
SECTIONS = [
    *rows(ValueError, "add up to 4", (2, 1), [2, 2, 2], []),
    *rows(ValueError, "an integer, 0 or more", {"-1": [3, -1, 2]}),
    *rows(TypeError, "an integer", {"1.0 (float)": [2, 1.0, 1], "True": [2, True, 1]}),
    *rows(TypeError, "add up to", None, 4, "211", {"array(4) (ndarray)": np.array(4)}),
]
PARTS = [
    *rows(ValueError, "an integer, 0 or more", {"-1": [2, -1]}),
    *rows(ValueError, "an integer, 1 or more", {"0": [(1, 0, 3)], "-2": [(-2, 1, 3)]}),
    *rows(ValueError, "triples", {"(2, 3) (tuple)": [(2, 3)], "[] (list)": [[]]}),
    *rows(TypeError, "an integer", {"1.5": [1.5], "None": [None], "True": [True], "'a'": ["a"]}),
    *rows(TypeError, "an integer", {"2.0": [(1, 2.0, 3)]}),
    *rows(TypeError, "triples", None, 3, "abc", {"array(3) (ndarray)": np.array(3)}),
]
AXES_OF_PAIRS = [
    *rows(ValueError, "of shape (pairs,)", {"no entry": [], "(2, 1)": [np.ones((2, 1))]}),
    *rows(ValueError, "of shape (pairs,)", {"shape ()": [1.0, 2.0], "(0,)": [[1.0], []]}),
    *rows(ValueError, "", {"nan": [[np.nan]], "inf": [[1.0], [np.inf]]}),
    *rows(TypeError, "of shape (pairs,)", None, 4, {"array(4) (ndarray)": np.array(4)}),
    *rows(TypeError, "finite integers or reals", {"None": [None], "'a'": ["a"], "True": [[True]]}),
]
REAL_ARRAY = [
    *rows(ValueError, REALS, {"nan": np.nan, "inf": [0, np.inf]}),
    *rows(TypeError, REALS, NOT_REALS),
]


def rope_nd(*, learned: bool) -> Variant:
    """Return RoPE in the plane, with fixed or learned frequencies."""
    return Variant(
        lambda: nn.RotaryEmbeddingND(D, PLANE, learned=learned),
        lambda m, start, stop: m(vectors(start, stop), points(start, stop)),
        lambda m, start, stop: posenc.apply_rope_nd(
            array(vectors(start, stop)),
            points(start, stop).numpy(),
            PLANE if m.omega is None else array(m.omega),
        ),
        f'RotaryEmbeddingND(8, axes=2, layout="interleaved", learned={learned})',
    )


SINUSOIDAL_ND = Scheme(
    call(posenc.grid_positions, sizes=(2, 3)).refuses(
        sizes=[
            *SIZES_OF_AXES,
            *rows(ValueError, "one integer for each axis", []),
            *rows(TypeError, "sequence of integers", *NOT_A_SEQUENCE),
            *rows(ValueError, "at most 2**53 places", {"1099511627776": (2**40, 2**40)}),
        ]
    ),
    call(posenc.sinusoidal_encoding_nd, positions=[[0, 1], [2, 3]], d_model=8)
    .refuses(positions=POINTS, d_model=MULTIPLES_OF_FOUR, order=choices(""))
    .with_reals(positions=GRID),
)

ROTARY_ND = Scheme(
    call(
        posenc.apply_rope_nd,
        x=np.ones((3, 8)),
        positions=[[0, 0], [0, 1], [1, 0]],
        frequencies=PLANE,
    )
    .refuses(positions=[*POINTS, *shapes("", (3, 3))], frequencies=MATRICES)
    .with_reals(positions=[*GRID, [5.5, 0.5]]),
    call(posenc.axial_frequencies, d=8).refuses(d=MULTIPLES_OF_FOUR),
    call(posenc.frequencies_by_axis, frequencies=[[1.0, 0.1], [1.0, 0.01]]).refuses(
        frequencies=AXES_OF_PAIRS
    ),
    call(posenc.mixed_frequencies, d=8, angles=0.5)
    .refuses(d=MULTIPLES_OF_FOUR, angles=REAL_ARRAY)
    .with_reals(angles=[0.5, 9.5]),
    call(posenc.rotary_matrix, frequencies=PLANE, d=8).refuses(frequencies=MATRICES),
    call(nn.RotaryEmbeddingND, d=8, frequencies=PLANE).refuses(
        d=WIDTHS,
        frequencies=[
            *("fast", None, 1.0, [1.0] * 4, PLANE[:0], [[NAN] * 4], [[[PLANE]]]),
            [[True] * 4],
        ],
    ),
    call(nn.RotaryEmbeddingND, "forward", x=QUERIES, positions=PLACES).refuses(
        x=activations(QUERIES),
        positions=[
            *(None, *NO_TENSOR, PLACES[:2], PLACES[:, :1], PLACES[None, None]),
            *(PLACES > 0, PLACES + 0j, PLACES.bfloat16(), PLACES * NAN, PLACES + 2**53),
            *(PLACES[None].expand(3, 3, 2), PLACES.to(META), PLACES.float() + 2**24),
        ],
    ),
    variants={"fixed": rope_nd(learned=False), "learned": rope_nd(learned=True)},
)

RESIZE = Scheme(
    call(posenc.resize_weights, source=4, target=3).refuses(
        source=SIZES,
        target=SIZES,
        scale=[
            *without_none(number("above 0", 0, -0.5)),
            *rows(ValueError, "large enough", 1e-30, {"1e-320": 1e-320}),
        ],
    ),
    call(posenc.resize_grid, grid=np.ones((4, 4, 2)), sizes=(3, 5)).refuses(
        grid=reals((), (3,), (0, 2)),
        sizes=[
            *SIZES_OF_AXES,
            *rows(ValueError, "a sequence of 2", [3], (1, 2, 3)),
            *rows(TypeError, "a sequence of 2", *NOT_A_SEQUENCE),
        ],
        scales=[
            *rows(ValueError, "above 0", {"0": [0, 1], "-1": [1, -1]}),
            *rows(ValueError, NUMBER, {"nan": [np.nan, 1]}),
            *rows(TypeError, NUMBER, {"'2' (str)": ["2", 1]}),
            *rows(ValueError, "a sequence of 2", [2]),
            *rows(TypeError, "a sequence of 2", 2, "22"),
        ],
    ),
    call(nn.LearnedGridEmbedding, sizes=(2, 3), d_model=8).refuses(
        sizes=[None, 3, "23", [], [0, 2], [2.0, 3], [True, 2], [2, 2**60], {2, 3}]
    ),
    call(nn.LearnedGridEmbedding, "resized", sizes=(3, 3)).refuses(
        sizes=[None, 3, "23", [], [0, 2], [2.0, 3], [2], [2, 3, 4]]
    ),
    variants={
        "": Variant(
            lambda: nn.LearnedGridEmbedding((20, 20), D),
            lambda m, start, stop: m().reshape(-1, D)[start:stop],
            lambda m, start, stop: array(m.table).reshape(-1, D)[start:stop],
            "LearnedGridEmbedding((20, 20), d_model=8)",
            narrow=None,
        )
    },
)

FEATURES = Scheme(
    call(posenc.fourier_features, points=[[0, 1], [2, 3]], frequencies=np.ones((2, 4)))
    .refuses(
        points=[
            *(one for one in POINTS if one.allowed != FAR),
            *rows(ValueError, "angles are below 2**53", {"2e+300": [[1e300, 0]]}),
        ],
        frequencies=[
            *shapes("of shape (2, features)", (3, 4), ()),
            *shapes("", (2, 0)),
            *rows(ValueError, "", {"nan": np.full((2, 4), np.nan)}),
            *rows(TypeError, "", NOT_REALS),
        ],
    )
    .with_reals(points=GRID),
    call(posenc.gaussian_frequencies, features=4, axes=2, deviation=1.0).refuses(
        deviation=[
            *number("above 0", 0, -0.5),
            *rows(ValueError, "at most 1e300", {"1e+308": 1e308}),
        ]
    ),
    call(posenc.nerf_encoding, points=[[0, 1], [2, 3]], bands=4)
    .refuses(
        bands=[*SIZES, *rows(ValueError, "from 1 to 50", 51)],
        unit=[*number("above 0", 0, -1), *rows(ValueError, "below 2**53", 1e300)],
        grouped=choices('"coordinates", "bands"'),
    )
    .with_reals(points=GRID),
    call(posenc.timestep_embedding, timesteps=[0, 1], d_model=8)
    .refuses(
        timesteps=[*REAL_ARRAY, *rows(ValueError, FAR, TOO_FAR)],
        shift=[
            *number("from 0 to below 4", -1, 4, 7),
            *rows(ValueError, "from 1e-300 to 1e300", 3.999),
        ],
    )
    .with_reals(timesteps=[0.5, 1.5, 20.5]),
)

MROPE = Scheme(
    call(posenc.mrope_frequencies, d=8, sections=(2, 1, 1)).refuses(sections=SECTIONS),
    call(posenc.mrope_positions, parts=[2, (1, 2, 3), 1])
    .refuses(
        parts=PARTS,
        intervals=[
            *rows(ValueError, "0 or more", -1, {"nan": np.nan, "inf": [np.inf]}),
            *rows(ValueError, "0 or more", {"shape (2,)": [1, 1]}),
            *rows(TypeError, "0 or more", NOT_REALS),
        ],
        after=choices('"largest", "sides"'),
    )
    .with_reals(parts=[2, (9, 2, 3), 1], intervals=[12.5]),
)
