"""Learned positions: a table with one row per position, trained like any other weight.

Only training relates neighbouring rows, and a position past the end of the table has no row.
`resize_table` makes a longer or shorter table from a trained one.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from posenc._arguments import as_floats, as_ids, as_integer, as_table, check_entries
from posenc.embeddings.combine import add


class LearnedPositionalEmbedding:
    """A table of learned rows, added to tokens by position.

    Args:
        max_seq_len: how many positions have a row; an integer, 1 or more.
        d_model: width of a row; an integer, 1 or more.
        seed: an integer, 0 or more, or a `numpy.random.Generator`, for the initial rows, which
            are drawn from a normal distribution of standard deviation 0.02; None draws
            different rows each time.

    Attributes:
        position_embeddings: the table, `(max_seq_len, d_model)`, the only thing to train: change
            it in place or assign another table.
        max_seq_len: how many positions have a row.
        d_model: width of a row.

    Raises:
        TypeError: a size or `seed` is not an integer.
        ValueError: a size is below 1, or `seed` below 0.

    Source:
        Gehring et al., "Convolutional Sequence to Sequence Learning" (2017), section 3.1;
        Devlin et al., "BERT" (2019), section 3.

    Examples:
        >>> layer = LearnedPositionalEmbedding(512, 16, seed=0)
        >>> layer.forward(np.zeros((2, 10, 16))).shape
        (2, 10, 16)
    """

    def __init__(
        self,
        max_seq_len: int,
        d_model: int,
        *,
        seed: int | np.random.Generator | None = None,
    ) -> None:
        rows = as_integer("max_seq_len", max_seq_len, least=1)
        width = as_integer("d_model", d_model, least=1)
        check_entries(rows * width, max_seq_len=rows, d_model=width)
        table = 0.02 * _generator(seed).standard_normal((rows, width))
        self.position_embeddings: NDArray[np.floating] = table

    @property
    def max_seq_len(self) -> int:
        """How many positions have a row."""
        return len(self._table())

    @property
    def d_model(self) -> int:
        """Width of a row."""
        return len(self._table()[0])

    def get_embeddings(self, seq_len: int) -> NDArray[np.float64]:
        """Return a copy of the rows of positions 0 … seq_len−1.

        Args:
            seq_len: how many rows; an integer from 0 to `max_seq_len`.

        Returns:
            Shape `(seq_len, d_model)`, float64.

        Raises:
            TypeError: `seq_len` is not an integer.
            ValueError: `seq_len` is negative or the table has fewer rows; the table holds NaN.

        Examples:
            >>> LearnedPositionalEmbedding(4, 8).get_embeddings(5)
            Traceback (most recent call last):
                ...
            ValueError: seq_len must be at most 4, the rows of this table; got 5
        """
        length, table = as_integer("seq_len", seq_len, least=0), self._table()
        if length > len(table):
            raise ValueError(
                f"seq_len must be at most {len(table)}, the rows of this table; got {length}"
            )
        return table[:length]

    def forward(
        self, token_embeddings: ArrayLike, positions: ArrayLike | None = None
    ) -> NDArray[np.floating]:
        """Return the tokens plus the rows of their positions.

        Args:
            token_embeddings: `(..., length, d_model)`, as `(batch, length, d_model)`.
            positions: the position of each token, integers from 0 to `max_seq_len` − 1,
                `(length,)`, or `(..., length)` like the tokens; None for 0 … length−1.

        Returns:
            Shape and dtype of the tokens; a new array.

        Raises:
            TypeError: tokens are not real numbers, or positions are not integers.
            ValueError: a shape does not fit; a position is negative or has no row; the tokens
                or the table hold NaN.

        Examples:
            >>> layer = LearnedPositionalEmbedding(4, 8)
            >>> layer.forward(np.zeros((1, 2, 8)), [0, -1])
            Traceback (most recent call last):
                ...
            ValueError: positions must be integers from 0 to 3; got -1
        """
        tokens = as_floats("token_embeddings", token_embeddings)
        if tokens.ndim < 2 or tokens.shape[-1] != self.d_model:
            raise ValueError(
                f"token_embeddings must be of shape (..., length, {self.d_model}); "
                f"got {tokens.shape}"
            )
        if positions is None:
            return add(tokens, self.get_embeddings(tokens.shape[-2]))
        ids = as_ids("positions", positions, below=self.max_seq_len)
        if ids.shape not in (tokens.shape[-2:-1], tokens.shape[:-1]):
            raise ValueError(
                f"positions must be of shape {tokens.shape[-2:-1]} or {tokens.shape[:-1]}, "
                f"to match the tokens; got {ids.shape}"
            )
        return add(tokens, self._table()[ids])

    def _table(self) -> NDArray[np.float64]:
        """Return the current table, checked, since training can fill it with NaN."""
        return as_table("position_embeddings", self.position_embeddings).astype(np.float64)


def resize_table(table: ArrayLike, rows: int) -> NDArray[np.floating]:
    """Return a table of the given number of rows, interpolated linearly from another.

    The first and the last row stay, so new row r lies at r·(n−1)/(rows−1) between two neighbours
    of the n old rows. At the same size the table is unchanged, and rows on a straight line stay
    on it.

    The argument is a size and not a factor, because the model needs a size and a factor can miss
    it: 49 rows to 1 is the factor 1/49, and int(49 · (1/49)) is 0.

    Args:
        table: `(n, d_model)`, real numbers, at least one row.
        rows: how many rows to return; an integer, 1 or more. 1 returns the first row.

    Returns:
        Shape `(rows, d_model)`, dtype of the table, float64 for integers; a new array.

    Raises:
        TypeError: `table` does not hold real numbers, or `rows` is not an integer.
        ValueError: `table` does not have two axes, is empty or holds NaN; `rows` is below 1.

    Source:
        Dosovitskiy et al., "An Image Is Worth 16×16 Words" (2021), section 3.2, interpolates
        learned positions in two dimensions; this is the one-dimensional case.

    Examples:
        >>> resize_table([[0.0, 10.0], [1.0, 20.0]], 3)
        array([[ 0. , 10. ],
               [ 0.5, 15. ],
               [ 1. , 20. ]])
    """
    old = as_table("table", table)
    rows = as_integer("rows", rows, least=1)
    last = len(old) - 1
    place = np.arange(rows) * last / max(rows - 1, 1)  # one division, so both ends are exact
    lower = place.astype(np.int64)
    upper = np.minimum(lower + 1, last)
    weight = (place - lower)[:, np.newaxis]
    exact = old.astype(np.float64)
    return ((1 - weight) * exact[lower] + weight * exact[upper]).astype(old.dtype)


def _generator(seed: object) -> np.random.Generator:
    """Return a random generator made from a seed, or the generator given."""
    if isinstance(seed, np.random.Generator):
        return seed
    return np.random.default_rng(None if seed is None else as_integer("seed", seed, least=0))
