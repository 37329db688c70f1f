"""Graphormer's positions as modules: a learned bias by distance, and a learned row by degree.

Ying et al., "Do Transformers Really Perform Badly for Graph Representation?" (2021).
The rows of the tables are those of `posenc.graphs.graphormer`.
"""

from __future__ import annotations

import torch
from torch import Tensor, nn

from posenc._arguments import LARGEST, as_integer
from posenc._tensor_arguments import as_ids, as_relative, check_range, on_device


class GraphormerBias(nn.Module):
    """A bias for every head and every distance in a graph: Graphormer's spatial encoding.

    Share one module among all layers, as Graphormer does.

    Args:
        heads: number of heads; an integer, 1 or more.
        max_distance: the largest distance with a row of its own, which larger ones share; an
            integer, 0 or more.

    Attributes:
        heads: number of heads.
        max_distance: as given.
        table: the learned numbers, `(max_distance + 2, heads)`; the last row is for pairs without
            a path.

    Raises:
        TypeError: `heads` or `max_distance` is not an integer.
        ValueError: `heads` is below 1, or `max_distance` below 0.

    Source:
        Ying et al. (2021), "Spatial Encoding". The table is drawn from a normal distribution of
        standard deviation 0.02; the authors' code also divides that by the root of the number of
        layers.

    Examples:
        >>> import torch
        >>> from posenc import graph_distances
        >>> distances = torch.from_numpy(graph_distances([[0, 1, 0], [1, 0, 1], [0, 1, 0]]))
        >>> GraphormerBias(heads=8, max_distance=20)(distances).shape
        torch.Size([8, 3, 3])
    """

    def __init__(self, heads: int, max_distance: int) -> None:
        super().__init__()
        self.heads = as_integer("heads", heads, least=1)
        self.max_distance = as_integer("max_distance", max_distance, least=0)
        self.table = nn.Parameter(torch.empty(self.max_distance + 2, self.heads))
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Initialize the table again, from a normal distribution of standard deviation 0.02."""
        nn.init.normal_(self.table, std=0.02)

    def forward(self, distances: Tensor) -> Tensor:
        """Return the bias of each head for each pair of nodes.

        Args:
            distances: edges on the shortest path, −1 where there is none, `(query, key)` or
                `(batch, query, key)`, an integer tensor on the table's device; see
                `posenc.graph_distances`.

        Returns:
            Shape `(heads, query, key)`, or `(batch, heads, query, key)`, in the dtype of the
            table; a new tensor. It hides no pair: padding needs a mask.

        Raises:
            TypeError: `distances` is not an integer tensor.
            ValueError: `distances` has the wrong shape or is on another device; in eager mode also:
                one is below −1 or reaches 2⁵³.

        Examples:
            >>> import torch
            >>> row = GraphormerBias(8, max_distance=2)(torch.tensor([[2, 3, 99, -1]]))[:, 0]
            >>> bool((row[:, :3] == row[:, :1]).all()), bool((row[:, 3] == row[:, 0]).any())
            (True, False)
        """
        apart = on_device("distances", as_relative("distances", distances), self.table.device)
        check_range("distances", apart, -2, LARGEST, "0 or more, or -1 without a path")
        index = torch.where(apart < 0, self.max_distance + 1, apart.clamp(max=self.max_distance))
        return self.table.T[:, index].movedim(0, -3)

    def extra_repr(self) -> str:
        """Return the text that `print` shows for the module."""
        return f"{self.heads}, max_distance={self.max_distance}"


class CentralityEmbedding(nn.Module):
    """A learned row for each degree, added to a node's input: Graphormer's centrality encoding.

    For edges with directions make two, one for the edges in and one for the edges out, and add
    both.

    Args:
        d_model: width of a row; an integer, 1 or more.
        max_degree: the largest degree with a row of its own, which larger ones share; an integer,
            0 or more.

    Attributes:
        d_model: width of a row.
        max_degree: as given.
        table: the rows, a parameter of shape `(max_degree + 1, d_model)`.

    Raises:
        TypeError: `d_model` or `max_degree` is not an integer.
        ValueError: `d_model` is below 1, or `max_degree` below 0.

    Source:
        Ying et al. (2021), "Centrality Encoding"; initialized as in `GraphormerBias`.

    Examples:
        >>> import torch
        >>> CentralityEmbedding(16, max_degree=8)(torch.tensor([1, 2, 1])).shape
        torch.Size([3, 16])
    """

    def __init__(self, d_model: int, max_degree: int) -> None:
        super().__init__()
        self.d_model = as_integer("d_model", d_model, least=1)
        self.max_degree = as_integer("max_degree", max_degree, least=0)
        self.table = nn.Parameter(torch.empty(self.max_degree + 1, self.d_model))
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Initialize the table again, from a normal distribution of standard deviation 0.02."""
        nn.init.normal_(self.table, std=0.02)

    def forward(self, degrees: Tensor) -> Tensor:
        """Return the row of each node's degree.

        Args:
            degrees: the number of each node's edges, 0 or more, an integer tensor of any shape on
                the table's device.

        Returns:
            Shape `(*degrees.shape, d_model)`, in the dtype of the table; a new tensor.

        Raises:
            TypeError: `degrees` is not an integer tensor.
            ValueError: `degrees` is on another device; in eager mode also: one is below 0 or
                reaches 2⁵³.

        Examples:
            >>> import torch
            >>> rows = CentralityEmbedding(16, max_degree=2)(torch.tensor([2, 7]))
            >>> bool((rows[0] == rows[1]).all())
            True
        """
        edges = as_ids("degrees", degrees, below=LARGEST)
        edges = on_device("degrees", edges, self.table.device)
        return self.table[edges.clamp(max=self.max_degree)]

    def extra_repr(self) -> str:
        """Return the text that `print` shows for the module."""
        return f"{self.d_model}, max_degree={self.max_degree}"
