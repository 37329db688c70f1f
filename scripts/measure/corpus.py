"""The text: the topics of Python's `help()`, as bytes; the end is held out from training."""

from __future__ import annotations

import hashlib
import platform
from dataclasses import dataclass
from pydoc_data.topics import topics

import torch
from torch import Tensor

HELD_OUT = 0.1  # fraction at the end that is never trained on
BYTES = 256


@dataclass(frozen=True)
class Corpus:
    """A text as bytes, split in two, with a digest and Python's version to identify it."""

    training: Tensor  # (n,) int64, as is `held_out`
    held_out: Tensor
    digest: str
    python: str

    def facts(self) -> dict[str, object]:
        """Return the description of the text for a result file."""
        return {
            "text": "pydoc_data.topics",
            "python": self.python,
            "sha256": self.digest,
            "bytes": len(self.training) + len(self.held_out),
            "held_out_bytes": len(self.held_out),
        }


def corpus() -> Corpus:
    """Return the text that comes with this Python."""
    return split("\n\n".join(topics[name] for name in sorted(topics)).encode())


def split(text: bytes) -> Corpus:
    """Return a text split into its training and held-out parts."""
    numbers = torch.frombuffer(bytearray(text), dtype=torch.uint8).long()
    seen = int(len(text) * (1 - HELD_OUT))
    digest = hashlib.sha256(text).hexdigest()
    return Corpus(numbers[:seen], numbers[seen:], digest, platform.python_version())
