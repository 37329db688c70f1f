"""Learned positions of a grid as a layer: a trained row for each place, resized where needed."""

from __future__ import annotations

import math
from collections.abc import Sequence

import torch
from torch import Tensor, nn

from posenc._arguments import as_integer, as_sizes
from posenc._tensor_arguments import check_range
from posenc.axes.resize import resize_weights


class LearnedGridEmbedding(nn.Module):
    """A learned row for each place of a grid, such as the patches of an image.

    The rows are parameters, initialized from a normal distribution of standard deviation 0.02. Add
    them to the tokens of the patches; a class token has no place here.

    Args:
        sizes: how many places each axis has, such as `(height, width)`; integers, 1 or more.
        d_model: width of a row; an integer, 1 or more.

    Attributes:
        sizes: how many places each axis has now, even if the table has been replaced.
        d_model: width of a row.
        table: the rows, a parameter of shape `(*sizes, d_model)`.

    Raises:
        TypeError: `sizes` is not a sequence of integers, or `d_model` not an integer.
        ValueError: `sizes` is empty, or a size is below 1.

    Source:
        Dosovitskiy et al., "An Image Is Worth 16×16 Words" (2021), section 3.1 and appendix D.4.

    Examples:
        >>> import torch
        >>> layer = LearnedGridEmbedding((14, 14), 8)
        >>> layer().shape
        torch.Size([196, 8])
        >>> (torch.zeros(2, 196, 8) + layer()).shape
        torch.Size([2, 196, 8])
    """

    def __init__(self, sizes: Sequence[int], d_model: int) -> None:
        super().__init__()
        width = as_integer("d_model", d_model, least=1)
        self.table = nn.Parameter(torch.empty(*as_sizes(sizes), width))
        self.reset_parameters()

    @property
    def sizes(self) -> tuple[int, ...]:
        """How many places each axis has."""
        return tuple(self.table.shape[:-1])

    @property
    def d_model(self) -> int:
        """Width of a row."""
        width: int = self.table.shape[-1]
        return width

    def reset_parameters(self) -> None:
        """Initialize the table again, for example after `to_empty` from the meta device."""
        nn.init.normal_(self.table, std=0.02)

    def forward(self) -> Tensor:
        """Return the rows of all places, the last axis running fastest.

        Returns:
            Shape `(places, d_model)`, dtype and device of the table.

        Examples:
            >>> layer = LearnedGridEmbedding((2, 3), 8)
            >>> bool((layer()[4] == layer.table[1, 1]).all())
            True
        """
        return self.table.flatten(0, -2).clone()

    def resized(
        self,
        sizes: Sequence[int],
        *,
        kernel: str = "cubic",
        corners: bool = False,
        antialias: bool = False,
    ) -> LearnedGridEmbedding:
        """Return a layer of another resolution, with rows interpolated as by `posenc.resize_grid`.

        Args:
            sizes: the new size of each axis, integers, 1 or more.
            kernel: "cubic" or "linear"; see `posenc.resize_weights` for this and the next two.
            corners: whether the places at the ends stay.
            antialias: whether the kernel widens where an axis becomes shorter.

        Returns:
            A new `LearnedGridEmbedding` with the dtype, device and mode of this one.

        Raises:
            TypeError: `sizes` is not a sequence of integers; otherwise as `posenc.resize_weights`.
            ValueError: `sizes` does not have one for each axis, or one is below 1; the table holds
                NaN or an infinity; otherwise as `posenc.resize_weights`.

        Source:
            Dosovitskiy et al. (2021), section 3.2.

        Examples:
            >>> LearnedGridEmbedding((14, 14), 8).resized((16, 20))().shape
            torch.Size([320, 8])
        """
        with torch.device("meta"):  # draws no random numbers for a table that is replaced
            layer = LearnedGridEmbedding(sizes, self.d_model)
        if len(layer.sizes) != len(self.sizes):
            raise ValueError(
                f"sizes must be {len(self.sizes)} integers, one for each axis; got {layer.sizes}"
            )
        table = self.table.detach()
        check_range("table", table, -math.inf, math.inf, "finite")
        exact = table.double()
        for axis, (old, new) in enumerate(zip(self.sizes, layer.sizes, strict=True)):
            weights = resize_weights(old, new, kernel=kernel, corners=corners, antialias=antialias)
            matrix = torch.from_numpy(weights).to(table.device)
            exact = torch.tensordot(matrix, exact, dims=([1], [axis])).movedim(0, axis)
        layer.table = nn.Parameter(
            exact.to(table.dtype).contiguous(), requires_grad=self.table.requires_grad
        )
        return layer.train(self.training)

    def extra_repr(self) -> str:
        """Return the text that `print` shows for the module."""
        return f"{self.sizes}, d_model={self.d_model}"
