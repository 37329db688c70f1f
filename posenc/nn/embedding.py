"""The first layer of a transformer: token embeddings plus positions."""

from __future__ import annotations

import math

import torch
from torch import Tensor, nn

from posenc._arguments import as_choice, as_flag, as_integer
from posenc._tensor_arguments import as_ids, as_probability, offset_or_positions, on_device
from posenc.frequency import frequencies
from posenc.nn.learned import LearnedPositionalEmbedding
from posenc.nn.sinusoidal import sinusoidal_rows

POSITION_TYPES = ("none", "counting", "sinusoidal", "learned")


class PositionalEmbedding(nn.Module):
    """Look up each token, add the row of its position, and apply dropout.

    A token's row is a parameter, initialized with standard deviation 0.02. A sinusoidal row, of
    length √(d_model/2), is long in comparison: `scale_tokens` multiplies the token's row by
    √d_model, as the paper does.

    Args:
        vocab_size: how many tokens there are; an integer, 1 or more.
        max_len: the context length; longer inputs are refused. An integer, 1 or more; or None for
            no limit, unless `pos_type` is "learned".
        d_model: width of a token; an integer, 1 or more, even where `pos_type` is "sinusoidal".
        pos_type: "learned", "sinusoidal", "counting" (the position itself in every dimension),
            or "none".
        dropout: probability, from 0 to below 1, of dropping an entry of the sum in training.
        scale_tokens: whether the token's row is multiplied by √d_model.

    Attributes:
        vocab_size: as given.
        max_len: as given; if `pos_type` is "learned", the number of rows of its table.
        d_model: as given.
        pos_type: as given.
        scale_tokens: as given.
        frequencies: ω_i of each pair if `pos_type` is "sinusoidal", otherwise empty.
        token_embedding: the `torch.nn.Embedding` of tokens.
        pos_embedding: the `LearnedPositionalEmbedding`; None for every other `pos_type`.
        dropout: the `torch.nn.Dropout` applied last.

    Raises:
        TypeError: a size is not an integer, or `max_len` is None with a learned table; `pos_type`
            is not a string, `dropout` not a number, `scale_tokens` not True or False.
        ValueError: a size is below 1, or `d_model` is odd with "sinusoidal"; `pos_type` is
            unknown; `dropout` is outside [0, 1).

    Source:
        Vaswani et al., "Attention Is All You Need" (2017), sections 3.4, 3.5 and 5.4.

    Examples:
        >>> import torch
        >>> layer = PositionalEmbedding(100, 20, 8, pos_type="learned")
        >>> layer(torch.tensor([[1, 2, 3]])).shape
        torch.Size([1, 3, 8])
        >>> sum(parameter.numel() for parameter in layer.parameters())  # 100·8 + 20·8
        960
    """

    def __init__(
        self,
        vocab_size: int,
        max_len: int | None,
        d_model: int,
        pos_type: str = "learned",
        dropout: float = 0.1,
        *,
        scale_tokens: bool = False,
    ) -> None:
        super().__init__()
        self.pos_type = as_choice("pos_type", pos_type, POSITION_TYPES)
        even = self.pos_type == "sinusoidal"
        self.vocab_size = as_integer("vocab_size", vocab_size, least=1)
        unlimited = max_len is None and self.pos_type != "learned"
        self._limit = None if unlimited else as_integer("max_len", max_len, least=1)
        self.d_model = as_integer("d_model", d_model, least=2 if even else 1, even=even)
        self.scale_tokens = as_flag("scale_tokens", scale_tokens)
        self.frequencies = tuple(frequencies(self.d_model).tolist()) if even else ()
        self.token_embedding = nn.Embedding(self.vocab_size, self.d_model)
        self.pos_embedding = (
            LearnedPositionalEmbedding(self._limit, self.d_model)
            if self._limit is not None and self.pos_type == "learned"
            else None
        )
        self.dropout = nn.Dropout(as_probability("dropout", dropout))
        self.reset_parameters()

    @property
    def max_len(self) -> int | None:
        """How many positions there are, or None for no limit."""
        return self._limit if self.pos_embedding is None else self.pos_embedding.max_len

    def reset_parameters(self) -> None:
        """Initialize all tables again, for example after `to_empty` from the meta device.

        Returns:
            Nothing; the tables are changed in place.

        Examples:
            >>> with torch.device("meta"):
            ...     layer = PositionalEmbedding(100, 20, 8)
            >>> layer.to_empty(device="cpu").reset_parameters()
        """
        nn.init.normal_(self.token_embedding.weight, std=0.02)
        if self.pos_embedding is not None:
            self.pos_embedding.reset_parameters()

    def forward(
        self, token_ids: Tensor, *, offset: int = 0, positions: Tensor | None = None
    ) -> Tensor:
        """Return the row of each token plus the row of its position.

        Args:
            token_ids: integers from 0 to `vocab_size` − 1, `(batch, length)`, on the tables'
                device. The values of ids and positions are checked in eager mode only.
            offset: position of the first token, an integer, 0 or more: with a cache, how many
                tokens it holds.
            positions: instead of `offset`, the position of each token, below `max_len`,
                `(length,)` or `(batch, length)`, on the device of the ids: integers from 0 if
                `pos_type` is "learned", otherwise integers or reals.

        Returns:
            Shape `(batch, length, d_model)`, dtype and device of the token table.

        Raises:
            TypeError: `token_ids` is not an integer tensor, `offset` not an integer, or
                `positions` not a tensor of a dtype that the scheme takes.
            ValueError: an id is outside the vocabulary, a position outside `max_len`; a shape
                or device does not fit; both `offset` and `positions` are given.

        Examples:
            >>> layer = PositionalEmbedding(100, 20, 8, pos_type="sinusoidal")
            >>> layer(torch.zeros(1, 3, dtype=torch.long), offset=18)
            Traceback (most recent call last):
                ...
            ValueError: offset + length must be at most max_len, 20; got 18 + 3
        """
        ids = as_ids("token_ids", token_ids, below=self.vocab_size, shape=("batch", "length"))
        on_device("token_ids", ids, self.token_embedding.weight.device)
        where = offset_or_positions(
            offset,
            positions,
            length=ids.shape[1],
            batch=ids.shape[0],
            device=ids.device,
            integer=self.pos_type == "learned",
            max_len=self.max_len,
        )
        tokens = self.token_embedding(ids)
        if self.scale_tokens:
            tokens = tokens * math.sqrt(self.d_model)
        result: Tensor = self.dropout(tokens + self._rows(where).to(tokens.dtype))
        return result

    def _rows(self, positions: Tensor) -> Tensor:
        """Return the rows of these positions, `(*positions.shape, d_model)`."""
        if self.pos_embedding is not None:
            rows: Tensor = self.pos_embedding(positions)
            return rows
        if self.pos_type == "sinusoidal":
            return sinusoidal_rows(positions, self.frequencies)
        row = torch.ones if self.pos_type == "counting" else torch.zeros
        return positions[..., None] * row(self.d_model, device=positions.device)

    def extra_repr(self) -> str:
        """Return the text that `print` shows for the layer."""
        return f"max_len={self.max_len}, pos_type={self.pos_type!r}"
