"""Exhibits about what is kept between calls, and about padding and packing."""

from typing import Any, ClassVar

import numpy as np

from posenc import apply_rope, dynamic_frequencies, frequencies


class OffsetNotInTheKey:
    """Rotary positions that keep the angles of a text by its length alone."""

    def __init__(self, d: int, base: float, layout: str) -> None:
        self.omega, self.layout = frequencies(d, base=base), layout
        self.tables: dict[int, Any] = {}

    def rotate(self, x: Any, positions: Any) -> Any:
        """Return vectors rotated at positions."""
        key = len(positions)  # should include where they begin
        if key not in self.tables:
            self.tables[key] = positions
        return apply_rope(x, self.tables[key], frequencies=self.omega, layout=self.layout)


class BaseNotInTheKey:
    """Rotary positions that keep the frequencies of a width for all models of the process."""

    tables: ClassVar[dict[int, Any]] = {}

    def __init__(self, d: int, base: float, layout: str) -> None:
        self.key, self.layout = d, layout  # should include the base
        self.tables.setdefault(self.key, frequencies(d, base=base))

    def rotate(self, x: Any, positions: Any) -> Any:
        """Return vectors rotated at positions."""
        omega = self.tables[self.key]
        return apply_rope(x, positions, frequencies=omega, layout=self.layout)


class NeverShrinks:
    """Dynamic NTK whose base grows with the longest text, and stays."""

    def __init__(self, rule: str, d: int, base: float, factor: float, trained_length: int) -> None:
        self.settings: dict[str, Any] = {
            "base": base,
            "factor": factor,
            "trained_length": trained_length,
        }
        self.d, self.longest = d, trained_length

    def frequencies(self, length: int) -> Any:
        """Return the frequencies for a text of this length."""
        self.longest = max(self.longest, length)  # the next text may be short again
        return dynamic_frequencies(self.d, self.longest, **self.settings)


def padding_counted(mask: Any, queries: int | None = None) -> Any:
    """Return positions that count from the left edge, padding or not."""
    places = np.zeros_like(mask) + np.arange(np.shape(mask)[1])
    return places if queries is None else places[:, -queries:]


def never_restarts(lengths: Any) -> Any:
    """Return positions that run on through all texts of a row."""
    documents = [np.ones(length, int) for length in lengths]
    row = np.concatenate(documents)
    return row.cumsum() - 1  # counts in the row, not in each document


class KeysCounted:
    """Rotary positions after a cache that keeps the last eight keys, and counts the keys."""

    def __init__(self, d: int, base: float, layout: str) -> None:
        self.omega, self.layout = frequencies(d, base=base), layout
        self.offset = 0

    def extend(self, x: Any) -> Any:
        """Return vectors rotated that follow those before."""
        places = self.offset + np.arange(len(x))
        self.offset = min(self.offset + len(x), 8)  # counts the keys that are left
        return apply_rope(x, places, frequencies=self.omega, layout=self.layout)


def from_row_zero(lengths: Any, first_row: int = 0) -> Any:
    """Return the rows of packed texts, counted from 0 in every table."""
    texts = [np.arange(length) for length in lengths]
    return np.concatenate(texts)  # should add first_row
