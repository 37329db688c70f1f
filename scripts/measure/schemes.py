"""Models with the schemes that `GPTModel` does not know by name, built from modules of `posenc.nn`.

    kerple, fire       a bias, the same one in every layer, as ALiBi's is
    xpos               rotates and scales queries and keys
    forgetting, cope   a bias made from the tokens, another in each layer

Everything else is the model without positions. Settings that the papers leave open are the defaults
of the modules, and what has to be as long as the texts is as long as those of training.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass

from torch import Tensor, nn

from posenc.nn import (
    CoPE,
    FIREBias,
    ForgettingBias,
    GPTModel,
    KerpleBias,
    XPos,
    attention,
)
from posenc.nn.gpt import Block, Places, SelfAttention


@dataclass(frozen=True)
class Sizes:
    """What a scheme needs to know of a model and its texts."""

    width: int  # of a token
    heads: int
    trained: int  # the longest text of training
    longest: int  # the longest of all

    @property
    def d(self) -> int:
        """The width of one head."""
        return self.width // self.heads


# What a scheme does in a layer: from the tokens, queries and keys and where they are, it returns
# queries and keys again, and a bias for their scores.
Inside = tuple[Tensor, Tensor, Tensor | None]


class Layer(SelfAttention, ABC):
    """Causal self-attention with a scheme from another module; it takes no cache."""

    def __init__(self, sizes: Sizes) -> None:
        super().__init__(sizes.width, sizes.heads, "none")

    @abstractmethod
    def inside(self, x: Tensor, q: Tensor, k: Tensor, places: Places) -> Inside:
        """Return queries, keys and a bias."""

    def forward(
        self, x: Tensor, places: Places, past: tuple[Tensor, Tensor] | None
    ) -> tuple[Tensor, Tensor, tuple[Tensor, Tensor]]:
        """Return the output, the weights, and all keys and values, as `SelfAttention` does."""
        assert past is None, "these models are measured without a cache"
        batch, length, width = x.shape
        split = self.query_key_value(x).view(batch, length, 3, self.heads, self.d)
        q, k, v = split.permute(2, 0, 3, 1, 4).unbind()  # (batch, heads, length, d) each
        q, k, bias = self.inside(x, q, k, places)
        attended, weights = attention(q, k, v, bias=bias, mask=places.mask)
        return self.out(attended.transpose(1, 2).reshape(batch, length, width)), weights, (k, v)


class XPosLayer(Layer):
    """Rotated and scaled; positions count from the middle of the longest text, for precision."""

    def __init__(self, sizes: Sizes) -> None:
        super().__init__(sizes)
        self.xpos = XPos(sizes.d, center=sizes.longest // 2)

    def inside(self, x: Tensor, q: Tensor, k: Tensor, places: Places) -> Inside:
        """Return queries and keys that fade with their distance."""
        at = places.positions
        return (
            self.xpos(q, role="query", positions=at),
            self.xpos(k, role="key", positions=at),
            None,
        )


class ForgettingLayer(Layer):
    """With a gate for each head and token."""

    def __init__(self, sizes: Sizes) -> None:
        super().__init__(sizes)
        self.gate = ForgettingBias(sizes.width, sizes.heads)

    def inside(self, x: Tensor, q: Tensor, k: Tensor, places: Places) -> Inside:
        """Return the logarithms of the gates, summed between key and query."""
        return q, k, self.gate(x)


class CoPELayer(Layer):
    """With as many rows as a training text has tokens."""

    def __init__(self, sizes: Sizes) -> None:
        super().__init__(sizes)
        self.cope = CoPE(sizes.d, sizes.trained)

    def inside(self, x: Tensor, q: Tensor, k: Tensor, places: Places) -> Inside:
        """Return the bias of positions counted by content."""
        return q, k, self.cope(q, q @ k.mT / math.sqrt(self.d))


class Shared(GPTModel):
    """A model without positions but for a bias that all layers share."""

    bias: nn.Module

    def _places(
        self, past: int, length: int, padding: Tensor | None, documents: Tensor | None
    ) -> Places:
        """Return places with the bias."""
        places = super()._places(past, length, padding, documents)
        given = places.positions if isinstance(self.bias, FIREBias) else places.relative
        return places._replace(bias=self.bias(given))


SHARED: dict[str, Callable[[int], nn.Module]] = {
    "kerple": KerpleBias,
    "fire": FIREBias,
}
INSIDE: dict[str, type[Layer]] = {
    "xpos": XPosLayer,
    "forgetting": ForgettingLayer,
    "cope": CoPELayer,
}


def built(
    method: str, vocab: int, width: int, heads: int, layers: int, trained: int, longest: int
) -> GPTModel:
    """Return an untrained model with a scheme of `GPTModel` or of this module."""
    kind = Shared if method in SHARED else GPTModel
    known = method not in SHARED and method not in INSIDE
    model = kind(vocab, longest, width, heads, layers, method if known else "none")
    if isinstance(model, Shared):
        model.bias = SHARED[method](heads)
    if method in INSIDE:
        for block in model.blocks:
            assert isinstance(block, Block)
            ours = INSIDE[method](Sizes(width, heads, trained, longest))
            ours.load_state_dict(block.attention.state_dict(), strict=False)
            block.attention = ours
    return model
