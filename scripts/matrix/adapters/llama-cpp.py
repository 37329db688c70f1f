"""llama.cpp: functions of its libraries ggml and llama, called by ctypes.

The libraries are those of the npm package @node-llama-cpp/linux-x64, in the folder node_modules of
the environment; of the builds for processors the plainest is taken. A wrong argument ends the
process with a message, so each question is answered in a fork, and such an end is a refusal.
"""

from __future__ import annotations

import ctypes
import os
import pickle
import re
import sys
import tempfile
from pathlib import Path

import numpy as np
from lines import CountedByCaller, Refused, Unsupported, answer_lines, objects

BUILDS = "node_modules/@node-llama-cpp/linux-x64/bins/linux-x64"
FOLDER = Path(sys.prefix) / BUILDS
FLOATS, INTEGERS = 0, 26  # types of tensors
MODES = {"interleaved": 0, "half": 2}
BLOCKS, TURNS = 8, 40  # modes of M-RoPE
BILINEAR, CORNERS = 1, 256  # modes of interpolation

Pointer, Whole, Long, Real = ctypes.c_void_p, ctypes.c_int, ctypes.c_int64, ctypes.c_float


class Memory(ctypes.Structure):
    """What ggml_init is told."""

    _fields_ = [("size", ctypes.c_size_t), ("place", Pointer), ("none", ctypes.c_bool)]


def loaded(name):
    """Return a library."""
    return ctypes.CDLL(str(next(FOLDER.glob(name))), mode=ctypes.RTLD_GLOBAL)


BASE, CPU = loaded("libggml-base.so"), loaded("libggml-cpu-x64.so")
LLAMA = [loaded(name) for name in ("libggml.v*.so", "libllama.v*.so")][1]


def function(library, name, returns, *takes):
    """Return a function of a library."""
    found = getattr(library, name)
    found.restype, found.argtypes = returns, takes
    return found


init = function(BASE, "ggml_init", Pointer, Memory)
new_tensor = function(BASE, "ggml_new_tensor_4d", Pointer, Pointer, Whole, *[Long] * 4)
data = function(BASE, "ggml_get_data", Pointer, Pointer)
elements = function(BASE, "ggml_nelements", Long, Pointer)
new_graph = function(BASE, "ggml_new_graph", Pointer, Pointer)
expand = function(BASE, "ggml_build_forward_expand", None, Pointer, Pointer)
compute = function(CPU, "ggml_graph_compute_with_ctx", Whole, Pointer, Pointer, Whole)
rope_ext = function(
    BASE, "ggml_rope_ext", Pointer, *[Pointer] * 4, Whole, Whole, Whole, *[Real] * 6
)
rope_multi = function(
    BASE,
    "ggml_rope_multi",
    Pointer,
    *[Pointer] * 4,
    Whole,
    ctypes.POINTER(Whole),
    Whole,
    Whole,
    *[Real] * 6,
)
soft_max_ext = function(BASE, "ggml_soft_max_ext", Pointer, *[Pointer] * 3, Real, Real)
timestep = function(BASE, "ggml_timestep_embedding", Pointer, Pointer, Pointer, Whole, Whole)
interpolate = function(
    BASE, "ggml_interpolate", Pointer, Pointer, Pointer, *[Long] * 4, ctypes.c_uint32
)
bucket = function(
    LLAMA,
    "_Z30llama_relative_position_bucketiimb",
    ctypes.c_int32,
    ctypes.c_int32,
    ctypes.c_int32,
    ctypes.c_uint64,
    ctypes.c_bool,
)
function(CPU, "ggml_cpu_init", None)()


def forked(call):
    """Return what a call returns in a process of its own; that it aborts is a refusal."""
    with tempfile.TemporaryFile() as said, tempfile.TemporaryFile() as kept:
        child = os.fork()
        if not child:
            os.dup2(said.fileno(), 2)
            try:
                kept.write(pickle.dumps(call()))
                kept.flush()
            except BaseException as error:
                os.write(2, repr(error).encode())
                os._exit(1)
            os._exit(0)
        status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        for file in (said, kept):
            file.seek(0)
        told = said.read().decode(errors="replace")
        if status > 0:
            raise RuntimeError(told)  # the adapter's own
        if status:
            asserted = re.search(r"GGML_ASSERT\(.*\) failed", told)
            raise Refused(f"aborted: {asserted[0] if asserted else 'no message'}")
        return pickle.loads(kept.read())


class Graph:
    """Memory for tensors, and one computation."""

    def __init__(self, bytes_=2**24):
        self.context = init(Memory(bytes_, None, False))

    def tensor(self, values, kind=FLOATS):
        """Return a tensor with values, whose axes ggml numbers from the last."""
        given = np.ascontiguousarray(values, np.float32 if kind == FLOATS else np.int32)
        sizes = (*reversed(given.shape), 1, 1, 1)[:4]
        made = new_tensor(self.context, kind, *sizes)
        ctypes.memmove(data(made), given.ctypes.data, given.nbytes)
        return made

    def values(self, result, shape):
        """Return what a tensor is computed to be."""
        graph = new_graph(self.context)
        expand(graph, result)
        if compute(self.context, graph, 1) or elements(result) != np.prod(shape):
            raise RuntimeError("ggml_graph_compute failed, or another shape is expected")
        found = np.empty(shape, np.float32)
        ctypes.memmove(found.ctypes.data, data(result), found.nbytes)
        return found


def rotated(
    rows, places, mode, width, base, *, factors=None, sections=None, trained=0, scale=1.0,
    ramp=0.0, fast=32.0, slow=1.0,
):  # fmt: skip
    """Return vectors rotated by ggml_rope_ext, or by ggml_rope_multi if there are sections."""
    rows = np.array(rows, np.float32)

    def call():
        graph = Graph()
        vectors = graph.tensor(rows[:, None])  # vectors, heads, dimensions
        positions = graph.tensor(np.ravel(places), INTEGERS)
        divisors = None if factors is None else graph.tensor(factors)
        numbers = (base, scale, ramp, 1.0, fast, slow)
        if sections is None:
            result = rope_ext(
                graph.context, vectors, positions, divisors, width, mode, trained, *numbers
            )
        else:
            four = (Whole * 4)(*sections)
            result = rope_multi(
                graph.context, vectors, positions, divisors, width, four, mode, trained, *numbers
            )
        return graph.values(result, rows.shape)

    return forked(call)


def rotation(x, positions, layout, base=None, rotary_d=None, frequencies=None):
    """Return rotated vectors."""
    if layout not in MODES:
        raise Unsupported("layouts have no names, but numbers")
    vectors, places = np.array(x, np.float32), np.array(positions)
    if places.dtype.kind != "i":
        raise Unsupported("positions that are not integers")
    factors = None
    if frequencies is not None:  # divisors of the angles of base 1, which are the positions
        if len(frequencies) != vectors.shape[-1] // 2:
            raise Unsupported("frequencies: divisors of angles are given, in a file")
        with np.errstate(divide="ignore"):
            base, factors = 1.0, 1 / np.array(frequencies, np.float32)
    if places.shape == vectors.shape[-1 - places.ndim : -1]:
        places = np.broadcast_to(places, vectors.shape[:-1])
    width = vectors.shape[-1]
    found = rotated(
        vectors.reshape(-1, width), places, MODES[layout], rotary_d or width, base, factors=factors
    )
    return found.reshape(vectors.shape)


def scores(query, key, query_positions, key_positions, layout, base):
    """Return the dot products of rotated queries and keys."""
    if np.shape(query)[-1] != np.shape(key)[-1]:
        raise Unsupported("queries and keys are rotated apart")
    return (
        rotation(query, query_positions, layout, base)
        @ rotation(key, key_positions, layout, base).T
    )


def frequencies(rule, d=0, base=10000.0, factor=1.0, **given):
    """Return the angles by which unit vectors turn from position 0 to 1: there is no table."""
    if rule not in ("default", "linear", "yarn"):
        raise Unsupported(f"rule {rule}: divisors of angles are read from a file")
    if {"attention_factor", "mscale", "mscale_all_dim"} & set(given):
        raise Unsupported("an attention factor: it multiplies YaRN's own")
    if given.get("truncate", True) is not True or given.get("ramp", "pairs") != "pairs":
        raise Unsupported("a ramp that is not rounded to whole pairs")
    if factor < 1:
        raise Unsupported("a factor: positions are multiplied by a scale, which may be any number")
    if d < 1:
        raise Unsupported("a width: it is the shape of a tensor")
    unit = np.zeros((1, d), np.float32)
    unit[:, : d // 2] = 1
    row = rotated(
        unit,
        [1],
        MODES["half"],
        d,
        base,
        trained=given.get("trained_length", 0),
        scale=1 / factor,
        ramp=1.0 if rule == "yarn" else 0.0,
        fast=given.get("fast", 32.0),
        slow=given.get("slow", 1.0),
    )[0].astype(float)
    cosines, sines = row[: d // 2], row[d // 2 :]
    return {
        "frequencies": np.arctan2(sines, cosines),
        "attention_factor": float(np.hypot(sines, cosines).mean()),
    }


def mrope(x, positions, sections, layout, interleaved_sections, base):
    """Return vectors rotated by three positions; a fourth axis is not used."""
    if layout != "half":
        raise Unsupported(f"layout {layout}")
    if len(sections) != 3 or len(positions) != 3:
        raise Unsupported("other counts of axes: ggml has four, of which the last is not used")
    mode = TURNS if interleaved_sections else BLOCKS
    places = [*positions, [0] * len(positions[0])]
    return rotated(x, places, mode, np.shape(x)[-1], base, sections=[*sections, 0])


def sinusoidal(positions, d_model, base, order, first, shift):
    """Return the embedding of timesteps."""
    if order != "halves" or first != "cosine" or shift:
        raise Unsupported(f"order {order}, {first} first, shift {shift}")
    if base != int(base):
        raise Unsupported("a base that is no integer")

    def call():
        graph = Graph()
        steps = graph.tensor(positions)
        return graph.values(
            timestep(graph.context, steps, d_model, int(base)), (len(positions), d_model)
        )

    return forked(call)


def alibi(heads):
    """Return the slopes by which a softmax multiplies its mask.

    They are the logarithms of two probabilities' ratio, for keys so far apart that it is exact.
    """
    if heads < 1 or heads != int(heads):
        raise Unsupported("heads: they are the shape of a tensor")
    distances = 2.0 ** np.arange(3, 12)

    def call():
        found = []
        for distance in distances:
            graph = Graph()
            nothing = graph.tensor(np.zeros((heads, 1, 2)))
            mask = graph.tensor([[[0, -distance]]])
            result = soft_max_ext(graph.context, nothing, mask, 1.0, 8.0)
            near, far = graph.values(result, (heads, 1, 2)).astype(float)[:, 0].T
            with np.errstate(divide="ignore"):
                found.append(np.log(near / far) / distance)
        return np.array(found)

    slopes = forked(call)
    # The farthest whose difference is below 16: its probability is neither near 1/2 nor near 0.
    far = (np.abs(slopes * distances[:, None]) < 16).cumsum(0).argmax(0)
    return slopes[far, np.arange(heads)]


def t5(relative, bidirectional, buckets, max_distance):
    """Return buckets; the greatest distance is fixed."""
    if max_distance != 128:
        raise Unsupported(f"a max_distance of {max_distance}: it is 128")
    places = np.array(relative)
    if buckets < 0 or places.dtype.kind != "i" or (np.abs(places) > 2**30).any():
        raise Unsupported("numbers that its integers do not hold")
    found = [bucket(int(place), 0, buckets, bidirectional) for place in places.ravel()]
    return np.reshape(found, places.shape)


def resize(table, rows):
    """Return a table interpolated along its rows, the corners aligned."""
    if not table or len({len(row) for row in table}) > 1:
        raise Unsupported("a table that is no tensor")
    before = np.array(table, np.float32)

    def call():
        graph = Graph()
        picture = graph.tensor(before.T[:, None])  # dimensions, one line, rows
        width = before.shape[1]
        mode = BILINEAR | CORNERS
        result = interpolate(graph.context, picture, rows, 1, width, 1, mode)
        return graph.values(result, (width, 1, rows))[:, 0].T

    return forked(call)


class Rotary(CountedByCaller):
    """A call to ggml_rope_ext, for suite sequences."""

    def __init__(self, d, base=10000.0, layout="half", rule="default", **_):
        if rule != "default":
            raise Unsupported(f"rule {rule}")
        self.how = {"base": base, "layout": layout}

    def rotate(self, x, positions):
        """Return rotated vectors."""
        return rotation(x, positions, **self.how)

    def shift(self, x, by, first=0):
        """Return rotated vectors, from the first on moved as llama.cpp moves keys of its cache."""
        moved = np.array(x, np.float32)
        moved[first:] = self.rotate(moved[first:], [by] * len(moved[first:]))
        return moved


if __name__ == "__main__":
    answer_lines(
        {
            "frequencies": frequencies,
            "rotation": rotation,
            "mrope": mrope,
            "scores": scores,
            "sinusoidal": sinusoidal,
            "alibi": alibi,
            "t5": t5,
            "resize": resize,
            "sequences": objects(Rotary),
        }
    )
