"""Answers as newcomers wrote them, none copied from an exercise, are told what is wrong."""

from __future__ import annotations

import textwrap

import pytest

from scripts.practise.judge import report
from scripts.practise.read import exercises

EXERCISES = {one.name: one for one in exercises()}
ATTEMPTS = [
    (
        "one-row",
        """
        import math
        def row(position, d_model):
            out = []
            for i in range(d_model):
                a = position / 10000 ** (2 * i / d_model)
                out.append(math.sin(a) if i % 2 == 0 else math.cos(a))
            return out
        """,
        "The two dimensions of a pair have different angles",
    ),
    (
        "one-row",
        """
        import numpy as np
        def row(position, d_model):
            encoding = np.zeros(d_model)
            for i in range(d_model // 2):
                angle = position / 10000 ** (2 * i / d_model)
                encoding[2 * i], encoding[2 * i + 1] = np.sin(angle), np.cos(angle)
                return encoding
        """,
        "From [2] on all numbers are 0: does a loop end early",
    ),
    (
        "speeds",
        """
        import numpy as np
        def frequencies(d, base=10000.0):
            if d % 2 == 1:
                return "d must be even"
            return 1 / base ** (2 * np.arange(d / 2) / d)
        """,
        "`raise ValueError(…)` stops it",
    ),
    (
        "whole-table",
        """
        import numpy as np
        def table(positions, d_model):
            return np.sin(positions * 10000.0 ** (-np.arange(0, d_model, 2) / d_model))
        """,
        "give one of them a new axis",
    ),
    (
        "rotate-a-pair",
        """
        import numpy as np
        def rotate_pair(pair, angle):
            r = [[np.cos(angle), np.sin(angle)], [-np.sin(angle), np.cos(angle)]]
            return np.array(r) @ pair
        """,
        "It rotates clockwise",
    ),
    (
        "rope",
        """
        import numpy as np
        def rotate(x, positions):
            length, d = x.shape
            out = np.zeros_like(x)
            for t in range(length):
                for i in range(d // 2):
                    a = positions[t] / 10000 ** (i / d)
                    p, q = x[t, 2 * i], x[t, 2 * i + 1]
                    out[t, 2 * i] = p * np.cos(a) - q * np.sin(a)
                    out[t, 2 * i + 1] = p * np.sin(a) + q * np.cos(a)
            return out
        """,
        "The exponent is only half as large",
    ),
    (
        "convert",
        """
        def to_half(weight, heads):
            pairs = weight.reshape(heads, -1, 2, weight.shape[1])
            return pairs.transpose(2, 0, 1, 3).reshape(weight.shape)
        """,
        "All rows are reordered as if they were one head",
    ),
    (
        "score",
        """
        import numpy as np
        def score(q, k, relative):
            s = 0
            for i in range(0, len(q), 2):
                a = relative / 10000 ** (i / len(q))
                s += (q[i] * k[i] + q[i + 1] * k[i + 1]) * np.cos(a)
                s += (q[i] * k[i + 1] - q[i + 1] * k[i]) * np.sin(a)
            return s
        """,
        "The sign of the relative position is the other way round",
    ),
    (
        "alibi",
        """
        import numpy as np
        def bias(slopes, length):
            relative = np.arange(length) - np.arange(length)[:, None]
            relative[relative > 0] = -np.inf
            return np.asarray(slopes)[:, None, None] * relative
        """,
        "An array of integers cannot hold infinity",
    ),
    (
        "llama3",
        """
        import numpy as np
        def scaled(omega, factor, trained_length):
            r = trained_length * omega / (2 * np.pi)
            if r >= 4:
                return omega
            return omega / factor
        """,
        "this is an array: try `np.where`",
    ),
    (
        "causal",
        """
        import numpy as np
        def mask(query_length, key_length):
            return np.tri(query_length, key_length, key_length - query_length)
        """,
        "It gives 0 and 1, where True and False are right",
    ),
    (
        "attend",
        """
        import numpy as np
        def softmax(x):
            return np.exp(x) / np.exp(x).sum()
        def attend(q, k, v, mask):
            s = q @ k.T / q.shape[1] ** 0.5
            return softmax(np.where(mask, s, -1e9)) @ v
        """,
        "The softmax runs over all scores at once",
    ),
    (
        "padded",
        """
        import numpy as np
        def positions(mask):
            return [[n for n in range(sum(row))] for row in mask]
        """,
        "It gives 3 parts of different shapes",
    ),
]


@pytest.mark.parametrize(
    ("name", "attempt", "words"), ATTEMPTS, ids=[f"{a[0]}-{n}" for n, a in enumerate(ATTEMPTS)]
)
def test_an_attempt_is_told_what_is_wrong(name: str, attempt: str, words: str) -> None:
    found = report(EXERCISES[name].data, textwrap.dedent(attempt))
    assert any(words in says for holds, says in found.lines if not holds), found


def test_another_right_way_to_find_the_nearest_row_passes() -> None:
    one = EXERCISES["which-position"]
    loop = """\
    best, where = np.inf, None
    for p in range(length):
        distance = np.abs(table(p, len(row)) - row).sum()
        if distance < best:
            best, where = distance, p
    return where
"""
    assert report(one.data, one.starter.replace("    return 0\n", loop)).is_solved
