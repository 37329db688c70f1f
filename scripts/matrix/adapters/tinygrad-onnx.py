"""tinygrad: the operators RotaryEmbedding and Resize of ONNX in its `OnnxRunner`.

They run on its device PYTHON, which interprets kernels and needs no compiler.
"""

from __future__ import annotations

import os

os.environ["DEV"] = "PYTHON"

import numpy as np
import onnx
from lines import Unsupported, answer_lines, library
from onnx import helper
from tinygrad import Tensor
from tinygrad.nn.onnx import OnnxRunner

LAYOUTS = {"half": 0, "interleaved": 1}
LONGEST = 1024  # rows of a table, of which an interpreter takes long to choose
VERSION = 23  # of the operators


def computed(operator, feeds, **attributes):
    """Return what a model of one operator computes; an input that is None is left out."""
    given = {name: value for name, value in feeds.items() if value is not None}
    with library():
        inputs = [
            helper.make_tensor_value_info(
                name, helper.np_dtype_to_tensor_dtype(value.dtype), list(value.shape)
            )
            for name, value in given.items()
        ]
        output = helper.make_tensor_value_info("y", onnx.TensorProto.FLOAT, None)
        node = helper.make_node(operator, [name.strip() for name in feeds], ["y"], **attributes)
        graph = helper.make_graph([node], "one", inputs, [output])
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", VERSION)])
        runner = OnnxRunner(Tensor(model.SerializeToString()))
        return runner({name: Tensor(value) for name, value in given.items()})["y"].numpy()


def tables(positions, width, base, frequencies):
    """Return cosines and sines for positions: the operators are given them, computed in float64."""
    if frequencies is None:
        if base <= 0:
            raise Unsupported("a base: tables are given")
        frequencies = float(base) ** -(np.arange(0, width, 2) / width)
    angles = np.array(positions, float)[..., None] * np.array(frequencies, float)
    return np.cos(angles).astype(np.float32), np.sin(angles).astype(np.float32)


def rotation(x, positions, layout, base=None, rotary_d=None, frequencies=None):
    """Return rotated vectors: by rows of tables, or by a row for each if there is none.

    Whole positions are rows of a table that begins at 0. Others are far off, or no integers.
    """
    if layout not in LAYOUTS:
        raise Unsupported("layouts have no names, interleaved is 0 or 1")
    vectors, places = np.array(x, np.float32), np.array(positions)
    length, width = vectors.shape[-2:]
    rows = vectors.reshape(len(vectors) if vectors.ndim > 2 else 1, -1, length, width)
    places = np.broadcast_to(places, (len(rows), places.shape[-1]))
    rotary = rotary_d or width
    feeds = {"x": rows}
    if places.dtype.kind == "i" and places.max() < LONGEST:
        table = np.arange(max(places.max(), length) + 1)
        feeds["cosines"], feeds["sines"] = tables(table, rotary, base, frequencies)
        feeds["positions"] = places.astype(np.int64)
    else:
        feeds["cosines"], feeds["sines"] = tables(places, rotary, base, frequencies)
    partly = {} if rotary_d is None else {"rotary_embedding_dim": rotary_d}
    found = computed("RotaryEmbedding", feeds, interleaved=LAYOUTS[layout], **partly)
    return found.reshape(*vectors.shape[:-1], -1)  # an odd width comes back as another


def scores(query, key, query_positions, key_positions, layout, base):
    """Return the dot products of rotated queries and keys."""
    if np.shape(query)[-1] != np.shape(key)[-1]:
        raise Unsupported("queries and keys are rotated apart")
    return (
        rotation(query, query_positions, layout, base)
        @ rotation(key, key_positions, layout, base).T
    )


def resize(table, rows):
    """Return a table interpolated along its rows, the corners aligned."""
    if not table or len({len(row) for row in table}) > 1:
        raise Unsupported("a table that is no tensor")
    feeds = {
        "x": np.array(table, np.float32).T[None],  # a text, its channels, their places
        "": None,  # neither a region
        " ": None,  # nor scales
        "sizes": np.array([1, len(table[0]), rows], np.int64),
    }
    how = {"mode": "linear", "coordinate_transformation_mode": "align_corners"}
    return computed("Resize", feeds, **how)[0].T


def resize_grid(grid, sizes, kernel, corners, antialias):
    """Return a grid interpolated along its rows and columns."""
    before = np.array(grid, np.float32)
    feeds = {
        "x": before.transpose(2, 0, 1)[None],  # a picture, its channels, rows and columns
        "": None,  # neither a region
        " ": None,  # nor scales
        "sizes": np.array([1, before.shape[2], *sizes], np.int64),
    }
    how = {
        "mode": kernel,
        "coordinate_transformation_mode": "align_corners" if corners else "half_pixel",
        "antialias": int(antialias),
        "exclude_outside": int(antialias),
        "cubic_coeff_a": -0.5 if antialias else -0.75,  # as torch has it
    }
    return computed("Resize", feeds, **how)[0].transpose(1, 2, 0)


if __name__ == "__main__":
    answer_lines(
        {"rotation": rotation, "scores": scores, "resize": resize, "resize_grid": resize_grid}
    )
