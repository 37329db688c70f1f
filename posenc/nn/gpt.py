"""A small GPT, whole: read it from top to bottom and see where each scheme puts position.

    none                           nowhere: the causal mask alone tells the first from the last
    counting, sinusoidal, learned  added to the tokens, in the embedding
    rope                           turns queries and keys, in each layer
    shaw                           adds q·a to the scores, a learned for each distance and layer
    alibi, t5                      add a bias to the scores, the same one in every layer

The layers are those of GPT-2 (Radford et al., 2019, section 2.3): normalise, attend, add;
normalise, think, add. Shapes: B texts in a batch, T tokens read now, K keys to look at (the T and
those that a cache holds), H heads of width d, V words.
"""

from __future__ import annotations

import hashlib
import math
from typing import Any, NamedTuple
from weakref import ReferenceType, ref

import torch
from torch import Tensor, nn

from posenc._arguments import LARGEST, _shown, as_choice, as_flag, as_integer, as_reals
from posenc._tensor_arguments import as_ids, as_mask, as_probability, on_device, values_are_known
from posenc.nn.alibi import ALiBi
from posenc.nn.attention import attention
from posenc.nn.embedding import PositionalEmbedding
from posenc.nn.relative import RelativePositionEmbedding, relative_positions
from posenc.nn.rotary import RotaryEmbedding
from posenc.nn.t5 import T5RelativeBias

ADDED = ("none", "counting", "sinusoidal", "learned")
SCHEMES = (*ADDED, "rope", "alibi", "t5", "shaw")
STD = 0.02  # of every table and weight at the start: Radford et al. (2018), section 4.1
# Beyond it all distances share a vector: k of the base model of Shaw et al. (2018), section 4.1.
SHAW_DISTANCE = 16
CONFIGS = {
    "tiny": {"vocab_size": 512, "max_len": 64, "d_model": 64, "heads": 4, "layers": 2},
    "byte": {"vocab_size": 259, "max_len": 128, "d_model": 128, "heads": 4, "layers": 4},
}


class Places(NamedTuple):
    """Where the tokens of one call stand, and what follows from it: the same in every layer."""

    positions: Tensor  # (T,) or (B, T), of the tokens read now
    relative: Tensor  # (T, K) or (B, T, K), key − query
    mask: Tensor  # (T, K) or (B, 1, T, K), True where a token may look
    bias: Tensor | None = None  # (H, T, K) or (B, H, T, K), of ALiBi or T5


class Cache:
    """What a model has read so far, so that the next call need read only what is new.

    Hand the same one to call after call; each adds its tokens. It belongs to the model that has
    filled it and to one batch of texts, and it holds the keys as RoPE has turned them. Once that
    model is trained further, cast or moved, begin another; the first of these goes unnoticed.

    Copy a cache to continue one prefix in several ways; the copy belongs to the same model.
    `pickle` and `torch.save` save the numbers, without gradients and without the model: they keep a
    digest of its scheme, rotary frequencies and parameters, and a loaded cache serves any model
    that has these. `torch.load` takes it with `weights_only=False`, or inside
    `torch.serialization.safe_globals([Cache])`.

    Attributes:
        layers: for each layer the keys and the values, (B, H, K, d) each; empty at first.
        padding: (B, K), True at real tokens; None while there has been no other.
        owner: a weak reference to the model that filled it; None at first; in a loaded cache the
            digest of that model, until a model continues it.

    Source:
        Our own. Under the causal mask of Vaswani et al. (2017), section 3.2.3, what has been read
        stays as it is, whatever follows.

    Examples:
        >>> import torch
        >>> model, cache = GPTModel(vocab_size=10, max_len=8, d_model=8, heads=2, layers=1), Cache()
        >>> first = model(torch.tensor([[1, 2, 3]]), cache=cache)
        >>> model(torch.tensor([[4]]), cache=cache).shape, cache.length
        (torch.Size([1, 1, 10]), 4)
    """

    def __init__(self) -> None:
        self.layers: list[tuple[Tensor, Tensor]] = []
        self.padding: Tensor | None = None
        self.owner: ReferenceType[GPTModel] | str | None = None

    def __copy__(self) -> Cache:
        """Return another cache of the same tensors; a call replaces them and changes none."""
        other = type(self)()
        vars(other).update(vars(self))
        return other

    def __deepcopy__(self, memo: dict[int, Any]) -> Cache:
        """Return another cache of the same numbers, without gradients."""
        other = self.__copy__()
        other.layers = [(k.detach().clone(), v.detach().clone()) for k, v in self.layers]
        other.padding = None if self.padding is None else self.padding.clone()
        return other

    def __getstate__(self) -> dict[str, Any]:
        """Return what is saved: no model, and no gradients."""
        # Values lie in one memory with queries and keys, all of which would be saved with them.
        layers = [(k.detach().clone(), v.detach().clone()) for k, v in self.layers]
        owner = self.owner() if isinstance(self.owner, ReferenceType) else self.owner
        digest = _digest(owner) if isinstance(owner, GPTModel) else owner
        return {**vars(self), "layers": layers, "owner": digest}

    @property
    def length(self) -> int:
        """How many tokens each text has had, padding included."""
        return self.layers[0][0].shape[2] if self.layers else 0


class SelfAttention(nn.Module):
    """Causal attention over one layer's tokens, with what the scheme does inside a layer."""

    def __init__(self, d_model: int, heads: int, pos_type: str) -> None:
        super().__init__()
        self.heads, self.d = heads, d_model // heads
        self.query_key_value = nn.Linear(d_model, 3 * d_model)
        self.out = nn.Linear(d_model, d_model)
        self.rope = RotaryEmbedding(self.d) if pos_type == "rope" else None
        self.shaw = RelativePositionEmbedding(self.d, SHAW_DISTANCE) if pos_type == "shaw" else None

    def forward(
        self, x: Tensor, places: Places, past: tuple[Tensor, Tensor] | None
    ) -> tuple[Tensor, Tensor, tuple[Tensor, Tensor]]:
        """Return what each token takes, (B, T, d_model), its weights, and all keys and values."""
        batch, new, d_model = x.shape
        split = self.query_key_value(x).view(batch, new, 3, self.heads, self.d)
        q, k, v = split.permute(2, 0, 3, 1, 4).unbind()  # (B, H, T, d) each
        bias = places.bias
        if self.rope is not None:  # scores then know positions by their difference alone
            q = self.rope(q, positions=places.positions)
            k = self.rope(k, positions=places.positions)
        if past is not None:
            k, v = _behind(past[0], k), _behind(past[1], v)  # (B, H, K, d)
        if self.shaw is not None:  # q·(k + a)/√d is q·k/√d and this
            bias = self.shaw.scores(q, places.relative) / math.sqrt(self.d)
        taken, weights = attention(q, k, v, bias=bias, mask=places.mask)
        return self.out(taken.transpose(1, 2).reshape(batch, new, d_model)), weights, (k, v)


class Block(nn.Module):
    """One layer: each token looks back at the others, then thinks on its own."""

    def __init__(self, d_model: int, heads: int, pos_type: str, dropout: float) -> None:
        super().__init__()
        self.attention_norm, self.mlp_norm = nn.LayerNorm(d_model), nn.LayerNorm(d_model)
        self.attention = SelfAttention(d_model, heads, pos_type)
        self.mlp = nn.Sequential(
            nn.Linear(d_model, 4 * d_model), nn.GELU(), nn.Linear(4 * d_model, d_model)
        )
        self.dropout = nn.Dropout(dropout)

    def forward(
        self, x: Tensor, places: Places, past: tuple[Tensor, Tensor] | None
    ) -> tuple[Tensor, Tensor, tuple[Tensor, Tensor]]:
        """Return the tokens after this layer, (B, T, d_model), its weights, keys and values."""
        taken, weights, present = self.attention(self.attention_norm(x), places, past)
        x = x + self.dropout(taken)
        return x + self.dropout(self.mlp(self.mlp_norm(x))), weights, present


class GPTModel(nn.Module):
    """A causal language model, small enough to read, with position told by any scheme by name.

    What each scheme takes from its paper: the sinusoids' tokens are scaled by √d_model, or the
    sines would drown them (Vaswani et al., section 3.4); T5's table, of 32 buckets to distance
    128, serves all layers (Raffel et al., section 2.1). Shaw's vectors here are a mixture: clipped
    at distance 16 as in the authors' base model, which has its own for each layer and head
    (section 4.1), but shared by the heads of a layer, which spares memory (section 3.3), and for
    keys alone, since others for the values did not raise their scores (section 4.3). Scores are
    divided by √d with every scheme, T5's too. Counting adds one number to all dimensions of a
    token, which normalisation takes away again: here it is as good as none.

    Words are read off with the table that wrote them in, which so is there once (Press and Wolf,
    "Using the Output Embedding to Improve Language Models", 2017). Dropout acts on the embedding
    and on what each layer adds.

    Args:
        vocab_size: how many token ids there are, V; 1 or more.
        max_len: the rows of a learned table, 1 or more; longer texts are then an error. The
            other schemes are formulas or clip, and read on past it as well as they can.
        d_model: width of a token; a multiple of `heads`, even for sinusoidal, and an even
            multiple for rope.
        heads: how many heads, H; 1 or more.
        layers: how many layers; 1 or more.
        pos_type: none, counting, sinusoidal, learned, rope, alibi, t5 or shaw.
        dropout: from 0 to below 1.

    Attributes:
        vocab_size: as given.
        max_len: as given.
        pos_type: as given.
        heads: as given.
        d_model: as given.
        embedding: the `PositionalEmbedding`; with a scheme of the first four it adds position.
        alibi: the `ALiBi` of all layers, or None.
        t5: the `T5RelativeBias` of all layers, or None.
        blocks: the layers.
        norm: the normalisation behind the last of them.

    Raises:
        TypeError: a size is not an integer, `pos_type` not a string, `dropout` not a number.
        ValueError: a size is below 1, the heads do not divide the width as they must, the scheme
            is unknown, or `dropout` is out of range.

    Source:
        Radford et al., "Language Models are Unsupervised Multitask Learners" (2019), section 2.3.

    Examples:
        >>> import torch
        >>> model = GPTModel(**create_model_config("tiny"), pos_type="rope")
        >>> logits, weights = model(torch.tensor([[3, 1, 4, 1, 5]]), return_attention=True)
        >>> logits.shape, weights.shape
        (torch.Size([1, 5, 512]), torch.Size([2, 1, 4, 5, 5]))
    """

    def __init__(
        self,
        vocab_size: int,
        max_len: int,
        d_model: int,
        heads: int,
        layers: int,
        pos_type: str = "learned",
        dropout: float = 0.0,
    ) -> None:
        super().__init__()
        self.vocab_size = as_integer("vocab_size", vocab_size, least=1)
        self.max_len = as_integer("max_len", max_len, least=1)
        self.pos_type = _as_scheme(pos_type)
        self.heads = as_integer("heads", heads, least=1)
        self.d_model = _as_width(d_model, self.heads, self.pos_type)
        dropout = as_probability("dropout", dropout)

        self.embedding = PositionalEmbedding(
            self.vocab_size,
            self.max_len if pos_type == "learned" else None,  # formulas have all rows
            self.d_model,
            pos_type if pos_type in ADDED else "none",
            dropout,
            scale_tokens=pos_type == "sinusoidal",
        )
        self.alibi = ALiBi(self.heads) if pos_type == "alibi" else None
        self.t5 = T5RelativeBias(self.heads, bidirectional=False) if pos_type == "t5" else None
        self.blocks = nn.ModuleList(
            Block(self.d_model, self.heads, pos_type, dropout)
            for _ in range(as_integer("layers", layers, least=1))
        )
        self.norm = nn.LayerNorm(self.d_model)
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Start afresh: weights and tables normal with deviation 0.02, biases 0, scales 1."""
        for module in self.modules():
            if isinstance(module, nn.LayerNorm | RelativePositionEmbedding | T5RelativeBias):
                module.reset_parameters()
            if isinstance(module, nn.Linear | nn.Embedding):
                nn.init.normal_(module.weight, std=STD)
            if isinstance(module, nn.Linear):
                nn.init.zeros_(module.bias)

    def forward(
        self,
        token_ids: Tensor,
        *,
        padding: Tensor | None = None,
        documents: Tensor | None = None,
        cache: Cache | None = None,
        return_attention: bool = False,
    ) -> Tensor | tuple[Tensor, Tensor]:
        """Return the logits of the word that follows each token, and the attention if asked for.

        Positions count the real tokens of a text, 0, 1, 2, …, wherever its padding stands; they
        start again in each document, and go on where the cache ends.

        Args:
            token_ids: (B, T) integers from 0 to vocab_size − 1, at least one a text.
            padding: (B, T) booleans, True at real tokens; left, right or between. No real token
                looks at padding, and padding itself looks at the real tokens before it and at
                itself, so that its logits are numbers, if meaningless ones.
            documents: (B, T) integers, 0 or more, another wherever a new document begins in a
                packed row. No token looks across.
            cache: what was read before, to be gone on with; this call adds to it.
            return_attention: also return the weights.

        Returns:
            The logits, (B, T, V), in the dtype of the parameters, or in that of `torch.autocast`
            where it is on; with `return_attention` also the weights, (layers, B, H, T, K), K
            counting the cached tokens first.

        Raises:
            TypeError: an argument is not a tensor of its dtype; `cache` is not a `Cache`, or
                holds tensors of another dtype than the model now makes.
            ValueError: a shape or device does not fit; T is 0; `documents` come with a cache; the
                cache is of another model, batch or device, or not as a model leaves it. In eager
                mode also: an id is outside the vocabulary, a text is padding all through, or too
                long for a learned table.

        Examples:
            >>> import torch
            >>> model, cache = GPTModel(**create_model_config("tiny"), pos_type="t5"), Cache()
            >>> text = torch.tensor([[3, 1, 4, 1, 5]])
            >>> first, rest = model(text[:, :2], cache=cache), model(text[:, 2:], cache=cache)
            >>> torch.allclose(torch.cat([first, rest], dim=1), model(text), atol=1e-5)
            True
        """
        token_ids = as_ids("token_ids", token_ids, below=self.vocab_size, shape=("batch", "length"))
        self._check(token_ids, padding, documents, cache)
        return_attention = as_flag("return_attention", return_attention)
        cache = Cache() if cache is None else cache
        seen = _seen_padding(token_ids, padding, cache)
        if seen is None and documents is None:  # else the embedding looks at what was counted
            self._check_length("token_ids", cache.length + token_ids.shape[1])
        places = self._places(cache.length, cache.length + token_ids.shape[1], seen, documents)

        x = self.embedding(token_ids, positions=places.positions)  # (B, T, d_model)
        attended, present = [], []
        for layer, block in enumerate(self.blocks):
            past = cache.layers[layer] if cache.layers else None
            x, weights, keys_values = block(x, places, past)
            attended.append(weights)
            present.append(keys_values)
        logits = nn.functional.linear(self.norm(x), self.embedding.token_embedding.weight)
        # At the end: a call that fails adds nothing.
        cache.layers, cache.padding, cache.owner = present, seen, ref(self)
        return (logits, torch.stack(attended)) if return_attention else logits

    @torch.no_grad()
    def generate(
        self,
        token_ids: Tensor,
        new_tokens: int,
        *,
        temperature: float = 0.0,
        generator: torch.Generator | None = None,
        padding: Tensor | None = None,
    ) -> Tensor:
        """Return the texts, each carried on by `new_tokens` tokens, read with a cache.

        Dropout acts here too while the model is in training mode; `model.eval()` ends it.

        Args:
            token_ids: (B, T), as for a call.
            new_tokens: how many to add, 0 or more.
            temperature: 0 takes the likeliest token; above 0, one is drawn from
                softmax(logits/temperature).
            generator: where the draws come from; torch's own by default.
            padding: (B, T), as for a call. New tokens come last, behind padding on the right.

        Returns:
            (B, T + new_tokens) int64, a new tensor.

        Raises:
            TypeError: as for a call; `new_tokens` is not an integer, `temperature` not a number.
            ValueError: as for a call; a number is negative or not finite; a learned table has too
                few rows for what is asked, which is said before anything is made.

        Examples:
            >>> import torch
            >>> model = GPTModel(**create_model_config("tiny"), pos_type="alibi").eval()
            >>> model.generate(torch.tensor([[1, 2, 3]]), 4).shape
            torch.Size([1, 7])
        """
        new_tokens = as_integer("new_tokens", new_tokens, least=0)
        temperature = _as_temperature(temperature)
        ids = as_ids("token_ids", token_ids, below=self.vocab_size, shape=("batch", "length"))
        self._check(ids, padding, None, None)
        _check_generator(generator, ids.device)
        real = torch.ones_like(ids, dtype=torch.bool) if padding is None else padding
        longest = max(real.sum(dim=1).tolist(), default=0)
        self._check_length("token_ids and new_tokens", longest + new_tokens)

        cache, text, new = Cache(), ids.clone(), ids
        # The last real token of each text says what comes next, wherever its padding stands.
        last = (real * torch.arange(1, ids.shape[1] + 1, device=ids.device)).argmax(dim=1)
        for _ in range(new_tokens):
            logits = self(new, padding=padding, cache=cache)[torch.arange(len(ids)), last]
            new = _choose(logits, temperature, generator)
            text = torch.cat((text, new), dim=1)
            padding, last = None, torch.zeros_like(last)
        return text

    def _places(
        self, past: int, length: int, padding: Tensor | None, documents: Tensor | None
    ) -> Places:
        """Return where the tokens behind the first `past` of `length` stand, and the bias there."""
        table = self.embedding.token_embedding.weight
        column = torch.arange(length, device=table.device)
        mask = column <= column[past:, None]  # (T, K): a key no later than the query
        positions = column
        if documents is not None:
            document = _begins(documents).cumsum(dim=1)
            mask = mask & (document[:, past:, None] == document[:, None])
        if padding is not None:  # a token sees itself in any case: no row of scores is empty
            mask = mask & padding[:, None] | (column == column[past:, None])
        if padding is not None or documents is not None:
            positions = _counted(column, padding, documents)
        relative = relative_positions(positions[..., past:], positions)
        bias = None
        if self.alibi is not None:
            bias = self.alibi(relative, dtype=torch.promote_types(table.dtype, torch.float32))
        if self.t5 is not None:
            bias = self.t5(relative)
        mask = mask[:, None] if mask.ndim == 3 else mask
        return Places(positions[..., past:], relative, mask, bias)

    def _check(self, token_ids: Tensor, padding: object, documents: object, cache: object) -> None:
        """Raise unless the arguments of a call fit this model and one another."""
        shape = tuple(token_ids.shape)
        table = self.embedding.token_embedding.weight
        on_device("token_ids", token_ids, table.device)
        if not shape[1]:
            raise ValueError(f"token_ids must hold a token or more a text; got shape {shape}")
        if padding is not None:
            real = on_device("padding", as_mask("padding", padding, shape), table.device)
            known = cache is None and values_are_known(real)  # behind a cache a text may end
            if known and not real.any(dim=1).all():
                row = int(real.any(dim=1).long().argmin())
                raise ValueError(
                    f"padding must leave each text a real token; got none in row {row}"
                )
        if documents is not None:
            ids = as_ids("documents", documents, below=LARGEST, shape=shape)
            on_device("documents", ids, table.device)
        if cache is not None:
            self._check_cache(cache, shape[0], documents)

    def _check_length(self, name: str, length: int) -> None:
        """Raise if a learned table ends before a text of so many tokens does."""
        rows = self.embedding.max_len
        if rows is not None and length > rows:
            raise ValueError(
                f"{name} must stay within max_len, the {rows} rows of the learned table;"
                f" got {length} tokens a text"
            )

    def _check_cache(self, cache: object, batch: int, documents: object) -> None:
        """Raise unless this model, at work on as many texts, has filled the cache."""
        if not isinstance(cache, Cache):
            raise TypeError(f"cache must be a posenc.nn.Cache; got {type(cache).__name__}")
        if documents is not None:
            raise ValueError("documents must be read whole, without a cache; got both")
        held = _held(cache)
        owner = cache.owner() if isinstance(cache.owner, ReferenceType) else cache.owner
        if held and owner is not self and not (isinstance(owner, str) and owner == _digest(self)):
            raise ValueError("cache must be one that this model has filled; got another's")
        length = held[0].shape[2] if held and held[0].ndim == 4 else 0
        fits = (batch, self.heads, length, self.d_model // self.heads)
        shapes = [tuple(x.shape) for x in held]
        if held and shapes != [fits] * 2 * len(self.blocks):
            other = next((shape for shape in shapes if shape != fits), fits)
            raise ValueError(
                f"cache must be of this model and batch, {len(self.blocks)} layers of keys and"
                f" values {fits}; got {len(held) // 2} with {other}"
            )
        if cache.padding is not None:
            held.append(as_mask("cache.padding", cache.padding, (batch, length)))
        for x in held:
            on_device("cache", x, self.embedding.token_embedding.weight.device)


def create_model_config(name: str) -> dict[str, Any]:
    """Return the arguments of a `GPTModel` under a name: `GPTModel(**create_model_config("tiny"))`.

    Args:
        name: "tiny", two layers for the words of `create_tokenizer("simple")`, or "byte", four
            for the tokens of `create_tokenizer("byte")`.

    Returns:
        A new dictionary of integers: vocab_size, max_len, d_model, heads, layers.

    Raises:
        TypeError: `name` is not a string.
        ValueError: there is no such configuration.

    Source:
        Our own sizes, small enough to train on a processor without any other help.

    Examples:
        >>> create_model_config("tiny")["d_model"]
        64
    """
    return dict(CONFIGS[as_choice("name", name, tuple(CONFIGS))])


def _digest(model: GPTModel) -> str:
    """Return what two models share only if they have one scheme and the same parameters."""
    digest = hashlib.sha256(f"{model.pos_type} {model.heads}".encode())
    for part in model.modules():
        if isinstance(part, RotaryEmbedding):  # its frequencies are in no state dict
            digest.update(f"{part.layout} {part.frequencies}".encode())
    for name, value in model.state_dict().items():
        digest.update(f"{name} {value.dtype} {tuple(value.shape)}".encode())
        digest.update(value.detach().cpu().contiguous().reshape(-1).view(torch.uint8).numpy())
    return digest.hexdigest()


def _held(cache: Cache) -> list[Tensor]:
    """Return all keys and values of a cache, in a row, as they were left there."""
    layers: object = cache.layers
    whole = isinstance(layers, list) and all(
        isinstance(pair, tuple) and [isinstance(x, Tensor) for x in pair] == [True, True]
        for pair in layers
    )
    if not whole:
        raise ValueError(f"cache must hold a pair of tensors a layer; got {_shown(layers)}")
    return [x for pair in cache.layers for x in pair]


def _behind(past: Tensor, new: Tensor) -> Tensor:
    """Return what a cache holds with what is new behind it, (B, H, K, d)."""
    if past.dtype != new.dtype:
        raise TypeError(f"cache must hold {new.dtype}, as the model makes now; got {past.dtype}")
    return torch.cat((past, new), dim=2)


def _begins(documents: Tensor) -> Tensor:
    """Return where a document begins, (B, K): at the start and wherever the number changes."""
    return torch.cat((torch.ones_like(documents[:, :1]), documents.diff(dim=1)), dim=1) != 0


def _counted(column: Tensor, padding: Tensor | None, documents: Tensor | None) -> Tensor:
    """Return how many real tokens of its document stand before each token, (B, K)."""
    begins = column == 0 if documents is None else _begins(documents)
    real = torch.ones_like(begins) if padding is None else padding
    upto = real.cumsum(dim=1)  # of the row, this one included
    earlier = torch.where(begins, upto - real.long(), 0).cummax(dim=1).values  # documents' tokens
    return (upto - earlier - 1).clamp(min=0)


def _seen_padding(token_ids: Tensor, padding: Tensor | None, cache: Cache) -> Tensor | None:
    """Return which of the cached tokens and these are real, (B, K); None if all of them are."""
    if padding is None and cache.padding is None:
        return None
    new = torch.ones_like(token_ids, dtype=torch.bool) if padding is None else padding
    old = new.new_ones(len(new), cache.length) if cache.padding is None else cache.padding
    return torch.cat((old, new), dim=1)


def _choose(logits: Tensor, temperature: float, generator: torch.Generator | None) -> Tensor:
    """Return the next token of each text, (B, 1): the likeliest, or one drawn."""
    if logits.isnan().any():
        raise ValueError("the model's parameters must lead to numbers; got NaN among the logits")
    best, likeliest = logits.max(dim=-1, keepdim=True)
    if temperature == 0:
        return likeliest
    # Down from the best in float64, so that no temperature is too small to divide by.
    odds = ((logits - best).double() / temperature).softmax(dim=-1)
    return torch.multinomial(odds, 1, generator=generator)


def _as_scheme(value: object) -> str:
    """Return `pos_type`, a scheme for texts."""
    if isinstance(value, str) and value == "swin":
        raise ValueError(
            f"pos_type must be for texts, which have one dimension, so one of"
            f" {', '.join(SCHEMES)}; got 'swin', for pictures, which have two"
        )
    return as_choice("pos_type", value, SCHEMES)


def _as_width(value: object, heads: int, pos_type: str) -> int:
    """Return `d_model`, which the heads divide into widths that the scheme can use."""
    d_model = as_integer("d_model", value, least=1, even=pos_type == "sinusoidal")
    step = 2 * heads if pos_type == "rope" else heads
    if d_model % step:
        raise ValueError(
            f"d_model must be a multiple of {step}, for {heads} heads and pos_type {pos_type!r};"
            f" got {d_model}"
        )
    return d_model


def _check_generator(value: object, device: torch.device) -> None:
    """Raise unless `generator` is None or can draw on the device."""
    if value is not None and not isinstance(value, torch.Generator):
        raise TypeError(f"generator must be a torch.Generator; got {type(value).__name__}")
    if value is not None and value.device.type != device.type:
        raise ValueError(f"generator must be on the device {device}; got {value.device}")


def _as_temperature(value: object) -> float:
    """Return `temperature` as a float, 0 or more."""
    allowed = "one finite number, 0 or more"
    number = as_reals("temperature", value, allowed=allowed)
    if number.ndim:
        raise TypeError(f"temperature must be {allowed}; got an array of shape {number.shape}")
    if number < 0:
        raise ValueError(f"temperature must be {allowed}; got {number}")
    return float(number)
