"""What the texts alone say of the measurement: how often bytes occur, what PoSE shows of distances.

    python -m scripts.measure.texts     writes docs/data/measured_texts.json

The first results were trained on a text that another Python does not have, so this is recorded. For
the book, which every Python has, a test computes it again.
"""

from __future__ import annotations

import json
from typing import Any

import numpy as np

from scripts import DATA
from scripts.measure import language, schemes
from scripts.measure.__main__ import SEEDS, TASKS
from scripts.measure.corpus import BOOK, BYTES, TOPICS, Corpus, corpus

FILE = DATA / "measured_texts.json"


def text_statistics(text: Corpus) -> dict[str, Any]:
    """Return the perplexity of byte counts, and PoSE's distances for each seed."""
    return {
        "sha256": text.digest,
        "byte_counts": round(byte_counts(text), 3),
        "pose": [distances(text, seed) for seed in SEEDS],
    }


def byte_counts(text: Corpus) -> float:
    """Return the perplexity of the held-out text for a model that knows how often bytes occur."""
    counts = np.bincount(text.training.numpy(), minlength=BYTES) + 1
    surprise = -np.log(counts / counts.sum())[text.held_out.numpy()].mean()
    return float(np.exp(surprise))


def distances(text: Corpus, seed: int) -> dict[str, int]:
    """Return in how many batches of a training PoSE shows the rarest and the longest distance."""
    settings, lengths = TASKS["language"]
    model = schemes.untrained_model("rope_pose", BYTES, 8, 1, 1, settings.length, max(lengths))
    assert isinstance(model, schemes.RandomPositions)
    seen = np.zeros(max(lengths), int)
    for step in range(settings.steps):
        ids = language.batch(text.training, settings, seed, step)[:, :-1]
        places = model.draw(settings.length, schemes.seed_of(ids))
        apart = places - places[0]  # each run begins with consecutive positions
        gap = int(np.diff(places).argmax()) + 1
        first, second = apart[:gap], apart[gap:]
        far = second[:, np.newaxis] - first
        seen[np.unique(np.concatenate([far.ravel(), np.arange(max(gap, len(second)))]))] += 1
    return {"rarest": int(seen.min()), "longest": int(seen[-1])}


def read() -> dict[str, Any]:
    """Return what is recorded of each text."""
    found: dict[str, Any] = json.loads(FILE.read_text(encoding="utf-8"))
    return found


if __name__ == "__main__":
    FILE.write_text(
        json.dumps({name: text_statistics(corpus(name)) for name in (BOOK, TOPICS)}, indent=1)
        + "\n",
        encoding="utf-8",
    )
