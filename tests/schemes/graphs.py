"""The entries of posenc/graphs/: nodes of graphs and trees."""

from __future__ import annotations

import numpy as np
import torch
from torch import Tensor

import posenc
from posenc import nn
from tests.schemes.arrays import (
    COUNTS,
    NOT_REALS,
    REALS,
    RELATIVE,
    at_least,
    rows,
    shapes,
    tables,
    without_none,
)
from tests.schemes.inputs import HEADS, D, array, relative, tokens
from tests.schemes.table import NORMAL, Initial, Scheme, Variant, call
from tests.schemes.tensors import IDS, META, RELATIVES, integers

DIRECTED = [
    *shapes("of shape (nodes, nodes)", (2, 3), (), (4,), (0, 0), (2, 2, 2)),
    *rows(ValueError, "from 0 to 1e300", {"-1": -np.eye(2), "2e+300": [[0, 2e300], [2e300, 0]]}),
    *rows(ValueError, REALS, {"nan": [[np.nan, 0], [0, 0]], "inf": [[0, np.inf], [np.inf, 0]]}),
    *rows(TypeError, REALS, NOT_REALS),
]
GRAPHS = [
    *DIRECTED,
    *rows(ValueError, "symmetric", {"2 from node 0 to 1 and 1 back": [[0, 2], [1, 0]]}),
    *rows(ValueError, "symmetric", {"1 from node 0 to 1 and 0 back": np.eye(3, k=1)}),
]
LINE = [[0, 1, 0], [1, 0, 1], [0, 1, 0]]
WEAK = np.array([[0, 1, 0, 0], [1, 0, 1e-14, 0], [0, 1e-14, 0, 1], [0, 0, 1, 0]])
EDGES = [[0.0, 1.0, 0.0, 3.0], [1.0, 0.0, 2.0, 0.0], [0.0, 2.0, 0.0, 1.0], [3.0, 0.0, 1.0, 0.0]]
WEIGHTED = {"adjacency": EDGES}
DISTANCES = [*RELATIVE, *rows(ValueError, "0 or more, or -1", {"-2": [[0, -2]], "-9": [[-9]]})]
PATHS = [
    *rows(ValueError, "from 0 to 1", {"2 (int)": [[0, 2]], "9": [[], [9]]}),
    *rows(ValueError, "an integer, 0 or more", {"-1": [[0, -1]]}),
    *rows(TypeError, "an integer, 0 or more", {"1.0 (float)": [[1.0]], "None": [[0, None]]}),
    *rows(TypeError, "an integer, 0 or more", {"True (bool)": [[True]], "'0'": [["0"]]}),
    *rows(TypeError, "sequences of integers", {"0 (int)": [0, 1], "'01' (str)": ["01"]}),
    *rows(TypeError, "a sequence of paths", None, 3, "01"),
]
HOPS = relative(0, 3).abs()
CHOICES = torch.tensor([[-1, -1, -1], [0, -1, -1], [1, 0, -1]])


def distances(start: int, stop: int) -> Tensor:
    """Return distances of nodes, some of which no path joins."""
    hops = relative(start, stop).abs()
    return torch.where(hops % 7 == 5, -1, hops)


def paths(start: int, stop: int) -> list[list[int]]:
    """Return the paths of nodes: the digits of their numbers to the base 3."""
    return [[node // 3**place % 3 for place in range(node % 6)] for node in range(start, stop)]


def tree(module: nn.TreeEncoding, start: int, stop: int) -> Tensor:
    choices = posenc.tree_choices(paths(start, stop), branches=3, depth=4)
    rows: Tensor = module(torch.from_numpy(choices).to(tokens(0, 1).device))
    return rows


LAPLACIAN = Scheme(
    call(posenc.graph_laplacian, adjacency=LINE).refuses(adjacency=GRAPHS).with_reals(**WEIGHTED),
    call(posenc.laplacian_eigenvectors, adjacency=LINE, k=2)
    .refuses(
        adjacency=[*GRAPHS, *rows(ValueError, "hang together", {"eigenvalue": WEAK})],
        k=[
            *at_least(1),
            *rows(ValueError, "at most 2", {"3 for 3 nodes in 1": 3, "9": np.int8(9)}),
        ],
    )
    .with_reals(**WEIGHTED),
)

RANDOM_WALK = Scheme(
    call(posenc.random_walk_encoding, adjacency=LINE, steps=3)
    .refuses(adjacency=DIRECTED)
    .with_reals(**WEIGHTED)
)

GRAPHORMER = Scheme(
    call(posenc.graph_distances, adjacency=LINE).refuses(adjacency=DIRECTED).with_reals(**WEIGHTED),
    call(posenc.graphormer_index, distances=[0, 2, -1], max_distance=2).refuses(
        distances=DISTANCES
    ),
    call(posenc.graphormer_bias, table=np.ones((4, 2)), distances=[[0, 2, -1]]).refuses(
        table=[*tables(), *shapes("2 rows", (1, 2))],
        distances=[
            *DISTANCES,
            *rows(ValueError, "of shape (query, key)", {"(2,)": [0, 1], "()": 1}),
        ],
    ),
    call(posenc.centrality_rows, table=np.ones((4, 2)), degrees=[0, 7]).refuses(
        degrees=[*RELATIVE, *rows(ValueError, "0 or more", {"-1": [3, -1]})]
    ),
    call(nn.CentralityEmbedding, d_model=8, max_degree=4).refuses(max_degree=COUNTS),
    call(nn.CentralityEmbedding, "forward", degrees=IDS).refuses(
        degrees=integers(IDS, IDS - 2, IDS + 2**53, IDS.to(META))
    ),
    call(nn.GraphormerBias, heads=2, max_distance=4),
    call(nn.GraphormerBias, "forward", distances=HOPS).refuses(
        distances=[*RELATIVES, HOPS - 9, HOPS - 2, HOPS.to(META)]
    ),
    variants={
        "distances": Variant(
            lambda: nn.GraphormerBias(HEADS, 8),
            lambda m, start, stop: m(distances(start, stop)),
            lambda m, start, stop: posenc.graphormer_bias(array(m.table), distances(start, stop)),
            "GraphormerBias(3, max_distance=8)",
            narrow=None,
        ),
        "degrees": Variant(
            lambda: nn.CentralityEmbedding(D, 6),
            lambda m, start, stop: m(torch.arange(start, stop)),
            lambda m, start, stop: posenc.centrality_rows(array(m.table), np.arange(start, stop)),
            "CentralityEmbedding(8, max_degree=6)",
            narrow=None,
        ),
    },
    initial=[
        Initial(lambda: nn.GraphormerBias(90, 98), {"table": NORMAL}),
        Initial(lambda: nn.CentralityEmbedding(90, 99), {"table": NORMAL}),
    ],
)

TREES = Scheme(
    call(posenc.tree_choices, paths=[[], [0, 1]], branches=2, depth=3).refuses(paths=PATHS),
    call(posenc.tree_encoding, paths=[[], [0, 1]], branches=2, depth=3)
    .refuses(
        paths=PATHS,
        decays=[
            *rows(ValueError, "between -1 and 1", {"1": [0.5, 1.0], "2": [-2]}),
            *shapes("of shape (features,)", (), (0,), (1, 2)),
            *rows(ValueError, REALS, {"nan": [np.nan]}),
            *without_none(rows(TypeError, REALS, NOT_REALS)),
        ],
    )
    .with_reals(decays=[0.5, 3.0]),
    call(nn.TreeEncoding, branches=2, depth=3, features=4),
    call(nn.TreeEncoding, "forward", choices=CHOICES).refuses(
        choices=integers(
            CHOICES, *(CHOICES + 1, CHOICES - 1, CHOICES[:, :2], CHOICES.to(META), torch.tensor(0))
        )
    ),
    variants={
        "": Variant(
            lambda: nn.TreeEncoding(3, 4, 2),
            tree,
            lambda m, start, stop: posenc.tree_encoding(
                paths(start, stop), branches=3, depth=4, decays=np.tanh(array(m.rate))
            ),
            "TreeEncoding(3, depth=4, features=2)",
        )
    },
    initial=[Initial(lambda: nn.TreeEncoding(1, 1, 9000), {"rate": (0.5, 2.0)})],
)
