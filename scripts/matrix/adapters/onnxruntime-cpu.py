"""onnxruntime: the operator RotaryEmbedding of ONNX and of com.microsoft, and Resize, on a CPU."""

from __future__ import annotations

import numpy as np
import onnxruntime
from lines import Unsupported, answer_lines, library
from onnx import TensorProto, helper

LAYOUTS = {"half": 0, "interleaved": 1}
LONGEST = 2**18  # rows of a table
VERSIONS = {"": 23, "com.microsoft": 1}  # of the operators


def computed(operator, feeds, domain="", **attributes):
    """Return what a model of one operator computes; an input that is None is left out."""
    given = {name: value for name, value in feeds.items() if value is not None}
    with library():
        inputs = [
            helper.make_tensor_value_info(
                name, helper.np_dtype_to_tensor_dtype(value.dtype), list(value.shape)
            )
            for name, value in given.items()
        ]
        output = helper.make_tensor_value_info("y", TensorProto.FLOAT, None)
        node = helper.make_node(
            operator, [name.strip() for name in feeds], ["y"], domain=domain, **attributes
        )
        graph = helper.make_graph([node], "one", inputs, [output])
        versions = [helper.make_opsetid(*pair) for pair in VERSIONS.items()]
        model = helper.make_model(graph, opset_imports=versions, ir_version=10)
        session = onnxruntime.InferenceSession(
            model.SerializeToString(), providers=["CPUExecutionProvider"]
        )
        return session.run(None, given)[0]


def tables(positions, width, base, frequencies):
    """Return cosines and sines for positions: the operators are given them, computed in float64."""
    if frequencies is None:
        if base <= 0:
            raise Unsupported("a base: tables are given")
        frequencies = float(base) ** -(np.arange(0, width, 2) / width)
    angles = np.array(positions, float)[..., None] * np.array(frequencies, float)
    return np.cos(angles).astype(np.float32), np.sin(angles).astype(np.float32)


def given(x, positions, layout, base, rotary_d, frequencies):
    """Return the vectors and positions as operators take them, and attributes."""
    if layout not in LAYOUTS:
        raise Unsupported("layouts have no names, interleaved is 0 or 1")
    vectors, places = np.array(x, np.float32), np.array(positions)
    length, width = vectors.shape[-2:]
    rows = vectors.reshape(len(vectors) if vectors.ndim > 2 else 1, -1, length, width)
    places = np.broadcast_to(places, (len(rows), places.shape[-1]))
    attributes = {"interleaved": LAYOUTS[layout]}
    if rotary_d is not None:
        attributes["rotary_embedding_dim"] = rotary_d
    return rows, places, attributes


def of_onnx(x, positions, layout, base=None, rotary_d=None, frequencies=None):
    """Return rotated vectors: by rows of a table, or by a row for each if positions are none."""
    rows, places, attributes = given(x, positions, layout, base, rotary_d, frequencies)
    width, feeds = rotary_d or rows.shape[-1], {"x": rows}
    if places.dtype.kind == "i" and places.max() < LONGEST:
        every = np.arange(max(places.max(), rows.shape[2]) + 1)
        feeds["cosines"], feeds["sines"] = tables(every, width, base, frequencies)
        feeds["positions"] = places.astype(np.int64)
    else:
        feeds["cosines"], feeds["sines"] = tables(places, width, base, frequencies)
    return computed("RotaryEmbedding", feeds, **attributes).reshape(np.shape(x))


def of_microsoft(x, positions, layout, base=None, rotary_d=None, frequencies=None):
    """Return rotated vectors: by rows of a table."""
    rows, places, attributes = given(x, positions, layout, base, rotary_d, frequencies)
    if places.dtype.kind != "i" or places.max() >= LONGEST:
        raise Unsupported("positions that are no rows of a table")
    if rotary_d is not None:  # heads cannot be seen from the shape then
        attributes["num_heads"] = rows.shape[1]
    every = np.arange(max(places.max(), rows.shape[2]) + 1)
    cosines, sines = tables(every, rotary_d or rows.shape[-1], base, frequencies)
    feeds = {"x": rows, "positions": places.astype(np.int64), "cosines": cosines, "sines": sines}
    return computed("RotaryEmbedding", feeds, "com.microsoft", **attributes).reshape(np.shape(x))


def scores(rotation):
    """Return the function that answers suite scores by a rotation."""

    def dots(query, key, query_positions, key_positions, layout, base):
        if np.shape(query)[-1] != np.shape(key)[-1]:
            raise Unsupported("queries and keys are rotated apart")
        return (
            rotation(query, query_positions, layout, base)
            @ rotation(key, key_positions, layout, base).T
        )

    return dots


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
        ways={
            "ai.onnx": {
                "rotation": of_onnx,
                "scores": scores(of_onnx),
                "resize": resize,
                "resize_grid": resize_grid,
            },
            "com.microsoft": {"rotation": of_microsoft, "scores": scores(of_microsoft)},
        }
    )
