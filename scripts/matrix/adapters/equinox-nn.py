"""Equinox: `nn.RotaryPositionalEmbedding`, which rotates a sequence that begins at position 0.

Vectors are put into such a sequence, each where it belongs, with zeros elsewhere. Its tables are
kept for the whole process; they are cleared before each case, as a new process would, and kept
between the calls of a case of suite sequences.
"""

from __future__ import annotations

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from lines import Unsupported, answer_lines, library, objects

LONGEST = 2**17  # a sequence needs memory for all positions before


def forget():
    """Clear the tables, and the memory of what was compiled."""
    eqx.clear_caches()
    jax.clear_caches()


def turned(module, x, positions):
    """Return rotated vectors."""
    vectors, places = np.array(x, np.float32), np.array(positions)
    if places.dtype.kind != "i" or places.min() < 0:
        raise Unsupported("positions other than 0, 1, 2, …")
    if places.shape != vectors.shape[-1 - places.ndim : -1]:
        raise Unsupported("a list of positions: a sequence begins at 0")
    if places.max() >= LONGEST:
        raise Unsupported(f"positions from {LONGEST} on, asked as a sequence as long as that")
    length, width = vectors.shape[-2:]
    rows = vectors.reshape(-1, length, width)
    places = np.broadcast_to(places, vectors.shape[:-1]).reshape(len(rows), length)
    return np.stack(
        [sequence(module, row, at) for row, at in zip(rows, places, strict=True)]
    ).reshape(vectors.shape)


def sequence(module, row, places):
    """Return the vectors of one sequence, rotated; those that share a place, one by one."""
    if len(set(places.tolist())) < len(places):
        each = [sequence(module, row[[n]], places[[n]]) for n in range(len(places))]
        return np.concatenate(each)
    whole = np.zeros((places.max() + 1, row.shape[-1]), np.float32)
    whole[places] = row
    with library():
        return np.array(module(jnp.asarray(whole)))[places]


def rotation(x, positions, layout, base=None, rotary_d=None, frequencies=None):
    """Return rotated vectors."""
    if layout != "half":
        raise Unsupported(f"layout {layout}")
    if rotary_d is not None:
        raise Unsupported("a partial rotation")
    if frequencies is not None:
        raise Unsupported("given frequencies")
    forget()
    with library():
        module = eqx.nn.RotaryPositionalEmbedding(np.shape(x)[-1], theta=base)
    return turned(module, x, positions)


def scores(query, key, query_positions, key_positions, layout, base):
    """Return the dot products of rotated queries and keys."""
    if np.shape(query)[-1] != np.shape(key)[-1]:
        raise Unsupported("queries and keys are rotated apart")
    return (
        rotation(query, query_positions, layout, base)
        @ rotation(key, key_positions, layout, base).T
    )


def frequencies(rule, d=0, base=10000.0, **_):
    """Return the angles by which unit vectors turn from position 0 to 1."""
    if rule != "default":
        raise Unsupported(f"rule {rule}")
    forget()
    with library():
        module = eqx.nn.RotaryPositionalEmbedding(d, theta=base)
    unit = np.zeros((2, max(d, 0)), np.float32)
    unit[:, : d // 2] = 1
    with library():
        row = np.array(module(jnp.asarray(unit)), np.float64)[1]
    cosines, sines = row[: d // 2], row[d // 2 :]
    return {
        "frequencies": np.arctan2(sines, cosines),
        "attention_factor": float(np.hypot(sines, cosines).mean()) if d else 1.0,
    }


class Rotary:
    """A module, for suite sequences."""

    def __init__(self, d, base=10000.0, layout="half", rule="default", **_):
        if rule != "default":
            raise Unsupported(f"rule {rule}")
        if layout != "half":
            raise Unsupported(f"layout {layout}")
        self.module = eqx.nn.RotaryPositionalEmbedding(d, theta=base)

    def rotate(self, x, positions):
        """Return rotated vectors."""
        return turned(self.module, x, positions)

    def extend(self, x):
        """Say that there is no offset."""
        raise Unsupported("a sequence that begins after position 0")

    def cast(self, dtype):
        """Cast the arrays of the module, as JAX does it."""
        with library():
            self.module = jax.tree_util.tree_map(
                lambda leaf: leaf.astype(dtype) if eqx.is_array(leaf) else leaf, self.module
            )


def sequences(**given):
    """Return the answers to calls in order, with tables kept between them."""
    forget()
    return objects(Rotary)(**given)


if __name__ == "__main__":
    answer_lines(
        {
            "frequencies": frequencies,
            "rotation": rotation,
            "scores": scores,
            "sequences": sequences,
        }
    )
