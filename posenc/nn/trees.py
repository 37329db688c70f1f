"""Positions in a tree as a module: stacks of one-hot choices that decay at learned rates.

Shiv and Quirk, "Novel positional encodings to enable tree-based transformers" (2019).
The rows are those of `posenc.tree_encoding`.
"""

from __future__ import annotations

import torch
from torch import Tensor, nn

from posenc._arguments import as_integer
from posenc._tensor_arguments import as_ids, on_device


class TreeEncoding(nn.Module):
    """The path from the root to each node as a row, in several copies that decay with the level.

    Each copy has a learned decay p, the hyperbolic tangent of a parameter, so that it stays between
    −1 and 1.

    Args:
        branches: how many children a node can have; an integer, 1 or more.
        depth: how many choices are kept, the newest; an integer, 1 or more.
        features: how many copies; an integer, 1 or more.

    Attributes:
        branches: as given.
        depth: as given.
        features: as given.
        d_model: width of a row, depth·branches·features.
        rate: the parameter of each copy, `(features,)`.

    Raises:
        TypeError: an argument is not an integer.
        ValueError: an argument is below 1.

    Source:
        Shiv and Quirk (2019), and their code for the hyperbolic tangent and the factor.
        Here the parameters are drawn evenly from 0.5 to 2, decays from 0.46 to 0.96.

    Examples:
        >>> import torch
        >>> from posenc import tree_choices
        >>> choices = torch.from_numpy(tree_choices([[], [1], [1, 0]], branches=2, depth=4))
        >>> TreeEncoding(branches=2, depth=4, features=8)(choices).shape
        torch.Size([3, 64])
    """

    def __init__(self, branches: int, depth: int, features: int) -> None:
        super().__init__()
        self.branches = as_integer("branches", branches, least=1)
        self.depth = as_integer("depth", depth, least=1)
        self.features = as_integer("features", features, least=1)
        self.d_model = self.depth * self.branches * self.features
        self.rate = nn.Parameter(torch.empty(self.features))
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Draw the parameters again, from 0.5 to 2."""
        nn.init.uniform_(self.rate, 0.5, 2)

    def forward(self, choices: Tensor) -> Tensor:
        """Return the row of each node.

        Args:
            choices: for each node the last choices on its way from the root, the newest first and
                −1 where there is none, shape `(..., depth)`, an integer tensor on the device of the
                parameters; see `posenc.tree_choices`.

        Returns:
            Shape `(..., d_model)`, in the dtype of the parameters; a new tensor. It is computed in
            float64 and cast at the end.

        Raises:
            TypeError: `choices` is not an integer tensor.
            ValueError: `choices` has the wrong width or is on another device; in eager mode also: a
                choice is below −1 or not below `branches`.

        Examples:
            >>> import torch
            >>> root = torch.full((3,), -1)
            >>> bool((TreeEncoding(2, 3, 4)(root) == 0).all())
            True
        """
        taken = as_ids("choices", choices, below=self.branches, least=-1, shape=(..., self.depth))
        taken = on_device("choices", taken, self.rate.device)
        stack = taken.unsqueeze(-1) == torch.arange(self.branches, device=taken.device)
        p = self.rate.double().tanh()
        levels = torch.arange(self.depth, device=taken.device)[:, None, None]
        weights = ((1 - p**2) * (self.d_model / 2)).sqrt() * p**levels
        return (stack.unsqueeze(-1) * weights).flatten(-3).to(self.rate.dtype)

    def extra_repr(self) -> str:
        """Return the text that `print` shows for the module."""
        return f"{self.branches}, depth={self.depth}, features={self.features}"
