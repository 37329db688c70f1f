"""An implementation of rotary positions with a mistake, as a program that answers test vectors.

python -m posenc vectors run -- python -m scripts.examples.wrong_rope
"""

import json
import sys
from typing import Any

import numpy as np


def rotate(
    x: Any,
    positions: Any,
    base: float = 10000,
    layout: str = "interleaved",
    frequencies: Any = None,
    rotary_d: int | None = None,
    **more: Any,
) -> Any:
    """Return the vectors rotated, or raise ValueError or NotImplementedError."""
    if rotary_d is not None or more:
        raise NotImplementedError("a partial rotation")
    x, positions = np.array(x), np.array(positions)
    d = x.shape[-1]
    if d % 2 or positions.shape != x.shape[-1 - positions.ndim : -1] or base <= 0:
        raise ValueError("d must be even, and positions one for each vector")
    if frequencies is None:
        frequencies = base ** (-np.arange(0, d, 2) / d)
    if len(frequencies) != d // 2 or layout not in ("interleaved", "half"):
        raise ValueError("frequencies must be one for each pair, and the layout known")
    angles = positions[..., np.newaxis] * np.tile(frequencies, 2)
    turned = np.concatenate([-x[..., d // 2 :], x[..., : d // 2]], axis=-1)
    return x * np.cos(angles) + turned * np.sin(angles)  # the layout is not looked at


def answer(question: dict[str, Any]) -> dict[str, Any]:
    """Return the answer to a question."""
    if "request" in question:
        return {"suites": ["rotation"], "contract": "float32 angle"}
    try:
        found: dict[str, Any] = {"ok": rotate(**question["input"]).tolist()}
    except NotImplementedError as error:
        found = {"unsupported": str(error)}
    except ValueError as error:
        found = {"refused": str(error)}
    return {"id": question["id"]} | found


if __name__ == "__main__":
    for line in sys.stdin:
        print(json.dumps(answer(json.loads(line))), flush=True)
