"""The text: the topics of Python's own `help()`, as bytes, with an end that is never trained on."""

from __future__ import annotations

import hashlib
import platform
from dataclasses import dataclass
from pydoc_data.topics import topics

import torch
from torch import Tensor

HELD_OUT = 0.1  # how much of the text, at its end, no training sees
BYTES = 256


@dataclass(frozen=True)
class Corpus:
    """A text as bytes in two parts, and what is needed to know that it is the same one again."""

    training: Tensor  # (n,) int64, and so is the other part
    held_out: Tensor
    digest: str
    python: str

    def facts(self) -> dict[str, object]:
        """Return what a result says of its text."""
        return {
            "text": "pydoc_data.topics",
            "python": self.python,
            "sha256": self.digest,
            "bytes": len(self.training) + len(self.held_out),
            "held_out_bytes": len(self.held_out),
        }


def corpus() -> Corpus:
    """Return the text of this Python."""
    return split("\n\n".join(topics[name] for name in sorted(topics)).encode())


def split(text: bytes) -> Corpus:
    """Return a text in its two parts."""
    numbers = torch.frombuffer(bytearray(text), dtype=torch.uint8).long()
    seen = int(len(text) * (1 - HELD_OUT))
    digest = hashlib.sha256(text).hexdigest()
    return Corpus(numbers[:seen], numbers[seen:], digest, platform.python_version())
