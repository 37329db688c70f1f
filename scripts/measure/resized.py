"""The trained table of *Watch it break*, made longer in several ways, and how well it reads then.

The text is the one that the page shows first. It is short, so the numbers are rough; what they
show are differences of several times.
"""

from __future__ import annotations

import copy
import math
from functools import cache

import numpy as np
import torch
from numpy.typing import NDArray

from posenc import resize_table
from posenc.nn import GPTModel, LearnedPositionalEmbedding
from scripts.measure.language import surprise
from scripts.measure.weights import TEXT, WEIGHTS, model_from_file

LONGEST, APART = 256, 32
WAYS = ("resized", "copied", "last row repeated", "new rows")


def lengthened_table(table: NDArray[np.float32], rows: int, way: str) -> NDArray[np.floating]:
    """Return a table with more rows, made from a trained one."""
    if way == "resized":
        return resize_table(table, rows)
    more = rows - len(table)
    if way == "copied":
        return np.resize(table, (rows, table.shape[1]))  # over and over again, cut where it ends
    if way == "last row repeated":
        return np.concatenate((table, np.repeat(table[-1:], more, axis=0)))
    new = np.random.default_rng(0).normal(0, table.std(), (more, table.shape[1]))
    return np.concatenate((table, new))


@cache
def trained_model() -> tuple[GPTModel, int]:
    """Return the model with a learned table, and the length that it was trained on."""
    model, about = model_from_file((WEIGHTS / "learned.bin").read_bytes())
    return model, about["trained"]


@cache
def perplexity(length: int, rows: int, way: str = "resized") -> float:
    """Return the perplexity of the last bytes of texts of a length, with a table of these rows."""
    model, known = trained_model()
    assert model.embedding.pos_embedding is not None
    table = model.embedding.pos_embedding.embedding.weight.detach().numpy()[:known]
    other = copy.deepcopy(model)
    other.embedding.pos_embedding = LearnedPositionalEmbedding(rows, table.shape[1])
    new = lengthened_table(table, rows, way)
    other.embedding.pos_embedding.embedding.weight.data = torch.tensor(new, dtype=torch.float32)
    text = torch.frombuffer(bytearray(TEXT.read_bytes()), dtype=torch.uint8).long()
    ends = torch.arange(LONGEST + 1, len(text) + 1, APART)
    read = text[ends[:, None] - torch.arange(length, -1, -1) - 1]
    return math.exp(surprise(other, read)[-known:].mean().item())
