"""Models with the schemes that `GPTModel` does not know by name, built from modules of `posenc.nn`.

    kerple, kerple_power, fire, sandwich   a bias, the same one in every layer, as ALiBi's is
    tupe                                   likewise, and queries divided by √2
    xpos                                   rotates and scales queries and keys
    rope_random                            rotates by positions drawn from those of a long text
    rope_pose                              likewise, in training only, and in two runs with a gap
    rope_then_none                         rotates in all layers but the last
    windows                                rotates, and sees a quarter of a training text
    windows_rope, windows_none             likewise in all layers but the last, which sees every
                                           key, and rotates or has no positions
    transformer_xl, deberta                a bias from queries, keys and distance, in each layer
    forgetting, cope, path, dape           a bias from the tokens, in each layer

Everything else is the model without positions, or with RoPE for the three named after it. Settings
that the papers leave open are the defaults of the modules, and what has to be as long as the texts
is as long as those of training, but for TUPE's table, which has a row for every position, as a
learned one.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from posenc import pose_positions, random_positions
from posenc.nn import (
    CoPE,
    DAPEBias,
    DisentangledBias,
    FIREBias,
    ForgettingBias,
    GPTModel,
    KerpleBias,
    PaTH,
    SandwichBias,
    T5RelativeBias,
    TransformerXLBias,
    TUPEBias,
    XPos,
    attention,
)
from posenc.nn.gpt import SHAW_DISTANCE, Block, Places, SelfAttention


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
    """Causal self-attention with a scheme from another module."""

    def __init__(self, sizes: Sizes) -> None:
        super().__init__(sizes.width, sizes.heads, "none")

    @abstractmethod
    def inside(self, x: Tensor, q: Tensor, k: Tensor, places: Places) -> Inside:
        """Return queries, keys and a bias."""

    def forward(
        self, x: Tensor, places: Places, past: tuple[Tensor, Tensor] | None
    ) -> tuple[Tensor, Tensor, tuple[Tensor, Tensor]]:
        """Return the output, the weights, and all keys and values, as `SelfAttention` does."""
        batch, length, width = x.shape
        split = self.query_key_value(x).view(batch, length, 3, self.heads, self.d)
        q, k, v = split.permute(2, 0, 3, 1, 4).unbind()  # (batch, heads, length, d) each
        q, k, bias = self.inside(x, q, k, places)
        if past is not None:
            assert bias is None, "a bias from the tokens needs all of them at once"
            k, v = torch.cat((past[0], k), dim=2), torch.cat((past[1], v), dim=2)
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


class TransformerXLLayer(Layer):
    """With vectors u and v and a matrix of its own."""

    def __init__(self, sizes: Sizes) -> None:
        super().__init__(sizes)
        self.bias = TransformerXLBias(sizes.heads, sizes.d, sizes.width)

    def inside(self, x: Tensor, q: Tensor, k: Tensor, places: Places) -> Inside:
        """Return what distances add to the scores."""
        return q, k, self.bias(q, k)


class DeBERTaLayer(Layer):
    """With tables of its own, clipped at the same distance as Shaw's."""

    def __init__(self, sizes: Sizes) -> None:
        super().__init__(sizes)
        self.bias = DisentangledBias(sizes.heads, sizes.d, SHAW_DISTANCE)

    def inside(self, x: Tensor, q: Tensor, k: Tensor, places: Places) -> Inside:
        """Return queries that divide scores by the root of 3d, and both terms of distance."""
        return q / math.sqrt(3), k, self.bias(q, k, places.relative)


class TUPELayer(Layer):
    """With scores of content that leave room for those of positions, which all layers share."""

    def inside(self, x: Tensor, q: Tensor, k: Tensor, places: Places) -> Inside:
        """Return queries that divide scores by the root of 2d, and the shared bias."""
        return q / math.sqrt(2), k, places.bias


class PaTHLayer(Layer):
    """With a matrix from each token between earlier keys and later queries."""

    def __init__(self, sizes: Sizes) -> None:
        super().__init__(sizes)
        self.path = PaTH(sizes.heads, sizes.d, sizes.width)

    def inside(self, x: Tensor, q: Tensor, k: Tensor, places: Places) -> Inside:
        """Return what the tokens between key and query take away from the score."""
        return q, k, self.path(q, k, x)


class DAPELayer(Layer):
    """With KERPLE's logarithm, adjusted to the scores by a network of its own."""

    def __init__(self, sizes: Sizes) -> None:
        super().__init__(sizes)
        self.kerple = KerpleBias(sizes.heads)
        self.dape = DAPEBias(sizes.heads)

    def inside(self, x: Tensor, q: Tensor, k: Tensor, places: Places) -> Inside:
        """Return the adjusted bias."""
        return q, k, self.dape(q @ k.mT / math.sqrt(self.d), self.kerple(places.relative))


class Shared(GPTModel):
    """A model without positions but for a bias that all layers share."""

    bias: nn.Module

    def _places(
        self, past: int, length: int, padding: Tensor | None, documents: Tensor | None
    ) -> Places:
        """Return places with the bias."""
        places = super()._places(past, length, padding, documents)
        if isinstance(self.bias, SandwichBias):
            dtype = self.embedding.token_embedding.weight.dtype
            return places._replace(bias=self.bias(places.relative, dtype=dtype))
        if isinstance(self.bias, FIREBias):
            keys = places.positions[0] + places.relative[0]
            return places._replace(bias=self.bias(places.positions, keys))
        absolute = isinstance(self.bias, TUPEBias)
        return places._replace(bias=self.bias(places.positions if absolute else places.relative))


def seed_of(token_ids: Tensor) -> int:
    """Return a seed made of the tokens, (batch, length)."""
    return int((token_ids.flatten() * torch.arange(1, token_ids.numel() + 1).to(token_ids)).sum())


class RandomPositions(GPTModel):
    """A model whose positions are drawn from those of the longest text, in order, for each batch.

    They are drawn in training and in evaluation, from a seed made of the tokens, so that a run
    that was interrupted draws the same ones.
    """

    drawn: Tensor

    def forward(self, token_ids: Tensor, **given: Any) -> Tensor | tuple[Tensor, Tensor]:
        """Return what the model returns for the tokens at these positions."""
        drawn = self.draw(token_ids.shape[1], seed_of(token_ids))
        self.drawn = torch.from_numpy(drawn).to(token_ids.device)
        return super().forward(token_ids, **given)

    def draw(self, length: int, seed: int) -> NDArray[np.int64]:
        """Return the positions of a batch."""
        return random_positions(length, self.max_len, seed=seed)

    def _places(
        self, past: int, length: int, padding: Tensor | None, documents: Tensor | None
    ) -> Places:
        """Return places with the positions drawn; the mask is that of the order of tokens."""
        return super()._places(past, length, padding, documents)._replace(positions=self.drawn)


class SkippedPositions(RandomPositions):
    """A model whose texts get a gap somewhere in training, and consecutive positions afterwards."""

    def draw(self, length: int, seed: int) -> NDArray[np.int64]:
        """Return the positions of a batch, PoSE's in training."""
        if self.training:
            return pose_positions(length, self.max_len, seed=seed)
        return np.arange(length)


SHARED: dict[str, Callable[[Sizes], nn.Module]] = {
    "kerple": lambda sizes: KerpleBias(sizes.heads),
    "kerple_power": lambda sizes: KerpleBias(sizes.heads, kernel="power"),
    "fire": lambda sizes: FIREBias(sizes.heads),
    "sandwich": lambda sizes: SandwichBias(sizes.heads),
    "tupe": lambda sizes: TUPEBias(sizes.heads, sizes.width, sizes.longest),
}
# Only in the task with far keys. The last bucket, and FIRE's threshold, lie within a training text,
# which trains what is beyond them.
FITTED: dict[str, Callable[[Sizes], nn.Module]] = {
    "t5_fitted": lambda sizes: T5RelativeBias(
        sizes.heads, bidirectional=False, buckets=16, max_distance=3 * sizes.trained // 4
    ),
    "fire_fitted": lambda sizes: FIREBias(sizes.heads, threshold=sizes.trained // 2),
}
INSIDE: dict[str, type[Layer]] = {
    "xpos": XPosLayer,
    "transformer_xl": TransformerXLLayer,
    "deberta": DeBERTaLayer,
    "tupe": TUPELayer,
    "forgetting": ForgettingLayer,
    "cope": CoPELayer,
    "path": PaTHLayer,
    "dape": DAPELayer,
}


class WindowedAttention(SelfAttention):
    """A layer in which a token attends to itself and the `window` - 1 tokens before it."""

    window: int

    def forward(
        self, x: Tensor, places: Places, past: tuple[Tensor, Tensor] | None
    ) -> tuple[Tensor, Tensor, tuple[Tensor, Tensor]]:
        """Return what `SelfAttention` returns if it sees only these tokens."""
        near = places.relative > -self.window
        return super().forward(x, places._replace(mask=places.mask & near), past)


RENUMBERED: dict[str, type[GPTModel]] = {
    "rope_random": RandomPositions,
    "rope_pose": SkippedPositions,
}
WINDOWED = ("windows", "windows_rope", "windows_none")
ROTATED = (*RENUMBERED, "rope_then_none", *WINDOWED)  # from the model with RoPE
FURTHER = tuple(dict.fromkeys((*SHARED, *INSIDE, *ROTATED)))  # every scheme that is built here


def untrained_model(
    method: str, vocab: int, width: int, heads: int, layers: int, trained: int, longest: int
) -> GPTModel:
    """Return an untrained model with a scheme of `GPTModel` or of this module."""
    sizes = Sizes(width, heads, trained, longest)
    biases = SHARED | FITTED
    kind = Shared if method in biases else RENUMBERED.get(method, GPTModel)
    base = "rope" if method in ROTATED else "none" if method in (*FURTHER, *FITTED) else method
    model = kind(vocab, longest, width, heads, layers, base)
    if isinstance(model, Shared):
        model.bias = biases[method](sizes)
    blocks = [block for block in model.blocks if isinstance(block, Block)]
    if method in INSIDE:
        for block in blocks:
            ours = INSIDE[method](sizes)
            ours.load_state_dict(block.attention.state_dict(), strict=False)
            block.attention = ours
    if method in ("rope_then_none", "windows_none"):
        blocks[-1].attention.rope = None
    if method in WINDOWED:
        for block in blocks if method == "windows" else blocks[:-1]:
            block.attention.__class__ = WindowedAttention  # which has the same parameters
            assert isinstance(block.attention, WindowedAttention)
            block.attention.window = trained // 4
    return model
