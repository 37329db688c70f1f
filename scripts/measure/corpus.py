"""The texts that models are trained on, as bytes; the end of each is held out from training.

The first results were trained on the topics of Python's `help()`, which differ from one patch
release to the next. What is measured from now on is trained on the book: the prose of its pages on
26 November 2026, in a file that never changes.
"""

from __future__ import annotations

import gzip
import hashlib
import platform
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pydoc_data.topics import topics

import torch
from torch import Tensor

from scripts import DATA

FILE = DATA / "measure" / "book.txt.gz"
BOOK, TOPICS = "book", "pydoc_data.topics"  # the names of the texts
HELD_OUT = 0.1  # fraction at the end that is never trained on
BYTES = 256


class AnotherTextError(Exception):
    """A result was trained on a text that this Python does not have."""


@dataclass(frozen=True)
class Corpus:
    """A text as bytes, split in two, with its name and a digest to identify it."""

    training: Tensor  # (n,) int64, as is `held_out`
    held_out: Tensor
    digest: str
    name: str

    def facts(self) -> dict[str, object]:
        """Return the description of the text for a result file."""
        python = {"python": platform.python_version()} if self.name == TOPICS else {}
        return {
            "text": self.name,
            **python,
            "sha256": self.digest,
            "bytes": len(self.training) + len(self.held_out),
            "held_out_bytes": len(self.held_out),
        }


@cache
def corpus(name: str = BOOK) -> Corpus:
    """Return a text: the book, or the topics of this Python."""
    if name == BOOK:
        return split(gzip.decompress(FILE.read_bytes()))
    if name != TOPICS:
        raise ValueError(f"name must be {BOOK!r} or {TOPICS!r}; got {name!r}")
    return split("\n\n".join(topics[topic] for topic in sorted(topics)).encode(), TOPICS)


def recorded_text(facts: Mapping[str, str]) -> Corpus:
    """Return the text of a result, given its description.

    Raises:
        AnotherTextError: This Python has another text of that name.
    """
    text = corpus(facts["text"])
    if text.digest == facts["sha256"]:
        return text
    if text.name == BOOK:
        raise AnotherTextError(f"the text is the book, but not that of {FILE}")
    raise AnotherTextError(
        f"the text is {text.name} of Python {facts['python']}, and Python"
        f" {platform.python_version()} has another; use Python {facts['python']}"
    )


def split(text: bytes, name: str = BOOK) -> Corpus:
    """Return a text split into its training and held-out parts."""
    numbers = torch.frombuffer(bytearray(text), dtype=torch.uint8).long()
    seen = int(len(text) * (1 - HELD_OUT))
    return Corpus(numbers[:seen], numbers[seen:], hashlib.sha256(text).hexdigest(), name)
