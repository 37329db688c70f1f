"""The entries of posenc/embeddings/: what is added to token embeddings."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import torch
from numpy.lib.stride_tricks import as_strided

import posenc
from posenc import nn
from tests.schemes.arrays import (
    COUNTS,
    DTYPES,
    FLAGS,
    LAGS,
    NOT_INTEGERS,
    SIZES,
    WIDTHS,
    at_least,
    choices,
    number,
    reals,
    rows,
    without_none,
)
from tests.schemes.inputs import D, array, token_ids, tokens
from tests.schemes.table import Scheme, Variant, call
from tests.schemes.tensors import FAR_POSITIONS, IDS, META, NAN, POSITIONS_OF_THREE, X

PLACES = [0.5, 1.5, 20.5]
TOKENS = np.ones((2, 3, 8))
LENGTHS = [*COUNTS, *rows(ValueError, "at most 4, the rows of this table", 5, {"9": np.array(9)})]
ROW_INDICES = [
    *rows(ValueError, "from 0 to 3", {"-1": [0, 1, -1], "4": [0, 1, 4]}),
    *rows(ValueError, "of shape", {"(2,)": [0, 1], "(3, 2)": [[0, 1]] * 3}),
    *rows(TypeError, "integers from 0 to 3", NOT_INTEGERS),
]

NARROW = np.zeros((4, 9), np.float32)
READ_ONLY = np.broadcast_to(np.float32(0), (4, 8))
OUTS = [
    *rows(TypeError, "a writeable float32 array of shape (4, 8)", {"float64": np.zeros((4, 8))}),
    *rows(TypeError, "", [[0.0]], 0.0, {"masked_array": np.ma.zeros((4, 8), np.float32)}),
    *rows(ValueError, "of shape (4, 8)", {"(4, 9)": NARROW, "(32,)": np.zeros(32, np.float32)}),
    *rows(ValueError, "writeable", {"a read-only shape (4, 8)": READ_ONLY}),
    *rows(ValueError, "in one piece", {"strides (4, 16)": np.zeros((8, 4), np.float32).T}),
    *rows(ValueError, "in one piece", {"strides (0, 4)": as_strided(NARROW, (4, 8), (0, 4))}),
]


def embedding(kind: str, row: Callable[[Any, int, int], Any]) -> Variant:
    """Return the sum of a token's row and a position's."""
    table = (
        "  (pos_embedding): LearnedPositionalEmbedding(\n    (embedding): Embedding(1000, 8)\n  )\n"
    )
    return Variant(
        lambda: nn.PositionalEmbedding(10, 1000, D, kind, 0.0),
        lambda m, start, stop: m(token_ids(start, stop), offset=start),
        lambda m, start, stop: (
            array(m.token_embedding.weight)[token_ids(start, stop)] + row(m, start, stop)
        ),
        f"PositionalEmbedding(\n  max_len=1000, pos_type='{kind}'\n"
        f"  (token_embedding): Embedding(10, 8)\n{table * (kind == 'learned')}"
        "  (dropout): Dropout(p=0.0, inplace=False)\n)",
        narrow=1,
    )


def sinusoidal_rows(module: Any, start: int, stop: int) -> Any:
    return posenc.sinusoidal_encoding(np.arange(start, stop), D)


SINUSOIDAL = Scheme(
    call(posenc.sinusoidal_encoding, positions=4, d_model=8).with_reals(positions=PLACES),
    call(posenc.shift_matrix, offset=3, d_model=8),
    call(posenc.similarity, lag=3, d_model=8).refuses(lag=LAGS).with_reals(lag=PLACES),
    call(posenc.PositionalEncoding, max_sequence_length=4, embedding_dimension=8).refuses(
        max_sequence_length=SIZES, embedding_dimension=WIDTHS
    ),
    call(posenc.PositionalEncoding, "get_encoding", sequence_length=2).refuses(
        sequence_length=LENGTHS
    ),
    call(posenc.sinusoidal_table, length=4, d_model=8).refuses(
        length=COUNTS,
        dtype=[
            *(row._replace(allowed="float32 or float64") for row in DTYPES),
            *rows(TypeError, "float32 or float64", {"float16": np.float16}),
        ],
        out=OUTS,
    ),
    call(nn.SinusoidalPositionalEncoding, d_model=8).refuses(
        d_model=WIDTHS, max_len=without_none(SIZES)
    ),
    call(nn.SinusoidalPositionalEncoding, "forward", x=X),
    variants={
        "": Variant(
            lambda: nn.SinusoidalPositionalEncoding(D),
            lambda m, start, stop: m(torch.zeros_like(tokens(start, stop)), offset=start),
            lambda m, start, stop: np.stack([sinusoidal_rows(m, start, stop)] * 2),
            "SinusoidalPositionalEncoding(\n  d_model=8, max_len=None, base=10000.0\n"
            "  (dropout): Dropout(p=0.0, inplace=False)\n)",
            narrow=None,
        )
    },
)

LEARNED = Scheme(
    call(posenc.LearnedPositionalEmbedding, max_seq_len=4, d_model=8, seed=0).refuses(
        max_seq_len=SIZES, d_model=SIZES
    ),
    call(posenc.LearnedPositionalEmbedding, "get_embeddings", seq_len=2).refuses(seq_len=LENGTHS),
    call(posenc.LearnedPositionalEmbedding, "forward", token_embeddings=TOKENS).refuses(
        token_embeddings=reals((2, 7), (8,)), positions=without_none(ROW_INDICES)
    ),
    call(posenc.resize_table, table=np.ones((4, 2)), rows=3),
    call(nn.LearnedPositionalEmbedding, max_len=4, d_model=8),
    call(nn.LearnedPositionalEmbedding, "forward", positions=3).refuses(
        positions=[
            *(5, -1, 2.0, NAN, "3", True, None, torch.tensor([0, 4]), torch.tensor([-1])),
            *(torch.ones(2), torch.tensor([True]), FAR_POSITIONS.to(META)),
        ]
    ),
    call(nn.LearnedPositionalEmbedding, "resized", max_len=5),
    variants={
        "": Variant(
            lambda: nn.LearnedPositionalEmbedding(1000, D),
            lambda m, start, stop: m(torch.arange(start, stop)),
            lambda m, start, stop: array(m.embedding.weight)[start:stop],
            "LearnedPositionalEmbedding(\n  (embedding): Embedding(1000, 8)\n)",
            narrow=None,
        )
    },
)

BASELINES = Scheme(
    *(
        call(encoding, positions=4, d_model=3).refuses(d_model=SIZES).with_reals(positions=PLACES)
        for encoding in (posenc.counting_encoding, posenc.no_encoding)
    )
)

COMBINE = Scheme(
    *(
        call(combine, tokens=TOKENS, positions=TOKENS[0]).refuses(positions=reals((4, 8), wrong))
        for combine, wrong in ((posenc.add, (3, 1)), (posenc.concatenate, (3,)))
    )
)

RENUMBER = Scheme(
    call(posenc.random_positions, length=4, longest=9).refuses(length=COUNTS, longest=at_least(4)),
    call(posenc.pose_positions, length=4, longest=9).refuses(
        length=at_least(2), longest=at_least(4), chunks=SIZES
    ),
    call(posenc.self_extend_relative, query_length=3, key_length=3, window=2, group=2).refuses(
        group=SIZES
    ),
    call(posenc.rerope_relative, query_length=3, key_length=3, window=2).refuses(
        step=number("from 0 to 1", -0.5, 2)
    ),
    call(
        posenc.dual_chunk_relative, query_length=3, key_length=3, chunk_size=3, local_size=1
    ).refuses(
        chunk_size=SIZES,
        local_size=[*COUNTS, *rows(ValueError, "below half of chunk_size, 3", 2)],
    ),
    call(posenc.sink_mask, query_length=3, window=2),
    call(posenc.log_scale, positions=4, trained_length=9)
    .refuses(trained_length=at_least(2))
    .with_reals(positions=[4.5, 90.5]),
)

EMBEDDING = Scheme(
    call(nn.PositionalEmbedding, vocab_size=100, max_len=20, d_model=8).refuses(
        pos_type=[*choices(""), "swin"], scale_tokens=FLAGS
    ),
    call(nn.PositionalEmbedding, "forward", token_ids=IDS).refuses(
        positions=[*POSITIONS_OF_THREE, torch.tensor([0, 1, 20]), torch.ones(3)]
    ),
    variants={
        "none": embedding("none", lambda m, start, stop: 0),
        "counting": embedding("counting", lambda m, start, stop: np.arange(start, stop)[:, None]),
        "sinusoidal": embedding("sinusoidal", sinusoidal_rows),
        "learned": embedding(
            "learned", lambda m, start, stop: array(m.pos_embedding.embedding.weight)[start:stop]
        ),
    },
)
