"""Positions in a tree: the path from the root, written as a stack of choices.

    row of a node  =  [its own place among its parent's children, its parent's, its grandparent's …]

each as a one-hot vector. A step to a child pushes a choice onto the stack, and a step to the parent
pops one, so each move is one fixed matrix and one fixed vector, wherever in the tree it begins.

Shiv and Quirk, "Novel positional encodings to enable tree-based transformers" (2019).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from posenc._arguments import _shown, as_integer, as_list, as_reals


def tree_choices(paths: object, *, branches: int, depth: int) -> NDArray[np.int64]:
    """Return the last choices on the way to each node, the newest first, −1 where there is none.

    Args:
        paths: for each node the children to take from the root, integers from 0 to branches − 1;
            the root's path is empty.
        branches: how many children a node can have; an integer, 1 or more.
        depth: how many choices are kept; an integer, 1 or more.

    Returns:
        Shape `(nodes, depth)`, int64, a new array. Of a longer path the oldest choices, those
        nearest to the root, are dropped.

    Raises:
        TypeError: `paths` is not a sequence of sequences of integers, or another argument not an
            integer.
        ValueError: a choice is not from 0 to branches − 1, or `branches` or `depth` below 1.

    Source:
        Shiv and Quirk (2019).

    Examples:
        >>> tree_choices([[], [1], [1, 0]], branches=2, depth=3)
        array([[-1, -1, -1],
               [ 1, -1, -1],
               [ 0,  1, -1]])
    """
    width = as_integer("branches", branches, least=1)
    levels = as_integer("depth", depth, least=1)
    nodes = as_list("paths", paths, "a sequence of paths, each a sequence of integers")
    choices = np.full((len(nodes), levels), -1)
    for row, path in zip(choices, nodes, strict=True):
        steps = [_choice(step, width) for step in as_list("paths", path, "sequences of integers")]
        newest = steps[::-1][:levels]
        row[: len(newest)] = newest
    return choices


def tree_encoding(
    paths: object, *, branches: int, depth: int, decays: ArrayLike | None = None
) -> NDArray[np.float64]:
    """Return the stack of one-hot choices of each node, or several that decay with the level.

    Args:
        paths: see `tree_choices`.
        branches: how many children a node can have; an integer, 1 or more.
        depth: how many choices are kept; an integer, 1 or more.
        decays: numbers p between −1 and 1, shape `(features,)`. An entry at level l, 0 for the
            newest choice, is then repeated for each p as √((1 − p²)·width/2)·p^l. None keeps ones
            and zeros.

    Returns:
        Shape `(nodes, width)`, float64, a new array; width is depth·branches·features, the level
        changing slowest, the feature fastest. The root's row is 0.

    Raises:
        TypeError: `decays` holds anything but real numbers; otherwise as `tree_choices`.
        ValueError: `decays` is not of shape (features,), or a decay not between −1 and 1;
            otherwise as `tree_choices`.

    Source:
        Shiv and Quirk (2019), and for the factor their code, which has the model's width
        in place of the row's.

    Examples:
        >>> tree_encoding([[], [1], [1, 0]], branches=2, depth=3)
        array([[0., 0., 0., 0., 0., 0.],
               [0., 1., 0., 0., 0., 0.],
               [1., 0., 0., 1., 0., 0.]])
        >>> tree_encoding([[1, 0]], branches=2, depth=3, decays=[0.5]).round(3)
        array([[1.5 , 0.  , 0.  , 0.75, 0.  , 0.  ]])
    """
    choices = tree_choices(paths, branches=branches, depth=depth)
    width = as_integer("branches", branches, least=1)
    stack = (choices[..., np.newaxis] == np.arange(width)).astype(np.float64)
    if decays is None:
        return np.asarray(stack.reshape(len(stack), -1))
    p = as_reals("decays", decays)
    if p.ndim != 1 or not p.size:
        raise ValueError(f"decays must be of shape (features,), 1 or more; got {p.shape}")
    if (largest := np.abs(p).max()) >= 1:
        raise ValueError(f"decays must be between -1 and 1; got one of size {largest:g}")
    levels = np.arange(choices.shape[1])[:, np.newaxis, np.newaxis]
    factor = np.sqrt((1 - p**2) * levels.size * width * p.size / 2)
    weights = factor * p**levels  # (depth, 1, features)
    return np.asarray((stack[..., np.newaxis] * weights).reshape(len(stack), -1))


def _choice(step: object, branches: int) -> int:
    """Return one step of a path, a child's number."""
    number = as_integer("paths", step, least=0)
    if number >= branches:
        raise ValueError(f"paths must be of children from 0 to {branches - 1}; got {_shown(step)}")
    return number
