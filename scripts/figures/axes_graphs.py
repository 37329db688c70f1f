"""One graph, four answers: two eigenvectors, the chances to be back, and the distances."""

from __future__ import annotations

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Circle
from numpy.typing import NDArray

from posenc import graph_distances, laplacian_eigenvectors, random_walk_encoding
from scripts.figures._parts import panel
from scripts.figures.style import Ink, ramp

SIZE = (930, 420)
PHONE = (340, 720)

RING, TAIL, STEPS = 5, 3, 4
RADIUS = 0.44


def draw(figure: Figure, ink: Ink, narrow: bool) -> None:
    """Draw the graph once for each answer."""
    weights = graph()
    vectors = laplacian_eigenvectors(weights, 2)[1]
    answers = {
        "first eigenvector": vectors[:, 0],
        "second eigenvector": vectors[:, 1],
        f"chance to be back after {STEPS} steps": random_walk_encoding(weights, STEPS)[:, -1],
        "edges from the end of the tail": graph_distances(weights)[-1].astype(float),
    }
    for number, (title, values) in enumerate(answers.items()):
        down, across = (number, 0) if narrow else divmod(number, 2)
        width, height = (300, 140) if narrow else (420, 165)
        axes = panel(figure, 20 + 470 * across, 34 + (178 if narrow else 200) * down, width, height)
        _draw(axes, ink, values)
        axes.set(title=title)


def graph() -> NDArray[np.float64]:
    """Return a ring and a tail that begins at its first node."""
    size = RING + TAIL
    edges = [(node, (node + 1) % RING) for node in range(RING)]
    edges += [(0 if node == RING else node - 1, node) for node in range(RING, size)]
    weights = np.zeros((size, size))
    for one, other in edges:
        weights[one, other] = weights[other, one] = 1
    return weights


def _places() -> NDArray[np.float64]:
    """Return where the nodes are drawn."""
    turns = 2 * np.pi * np.arange(RING) / RING
    ring = 1.1 * np.stack([np.cos(turns), np.sin(turns)], axis=1)
    tail = np.stack([1.1 + 1.2 * np.arange(1, TAIL + 1), np.zeros(TAIL)], axis=1)
    return np.concatenate([ring, tail])


def _draw(axes: Axes, ink: Ink, values: NDArray[np.float64]) -> None:
    """Draw the graph with a number in each node, and a colour for its share of the largest.

    Only the pale half of the ramp is used, on which ink can be read in light and in dark.
    """
    weights, places = graph(), _places()
    for one, other in np.argwhere(np.triu(weights)):
        axes.plot(*places[[one, other]].T, color=ink.edge, linewidth=1, zorder=1)
    shares = values / np.abs(values).max()
    words = [f"{value:.0f}" if (values % 1 == 0).all() else f"{value:.2f}" for value in values]
    for place, share, word in zip(places, shares, words, strict=True):
        color = ramp(np.asarray(share / 2), ink) / 255
        axes.add_patch(Circle((place[0], place[1]), RADIUS, fc=color, ec=ink.edge, zorder=2))
        says = word.replace("-", "−")
        axes.text(place[0], place[1], says, ha="center", va="center", fontsize="small")
    axes.set(xlim=(-1.5, 5.3), ylim=(-1.6, 1.6), aspect="equal")
    axes.set_axis_off()
