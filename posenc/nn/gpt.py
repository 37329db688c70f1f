"""A small GPT in one file, to be read from top to bottom: where does each scheme put positions?

    none                           nowhere: only the causal mask depends on order
    counting, sinusoidal, learned  added to the tokens, in the embedding
    rope                           rotates queries and keys, in each layer
    shaw                           adds q·a to the scores, with a learned per distance and layer
    alibi, t5                      add a bias to the scores, the same one in every layer

The layers are those of GPT-2 (Radford et al., 2019, section 2.3): normalize, attend, add;
normalize, MLP, add. Shapes: B sequences in a batch, T new tokens, K keys (those in the cache and
the T new ones), H heads of width d, vocabulary of size V.
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
STD = 0.02  # of every initial table and weight: Radford et al. (2018), section 4.1
# Keys this far away or further share a vector: k of the base model of Shaw et al. (2018),
# section 4.1.
SHAW_DISTANCE = 16
CONFIGS = {
    "tiny": {"vocab_size": 512, "max_len": 64, "d_model": 64, "heads": 4, "layers": 2},
    "byte": {"vocab_size": 259, "max_len": 128, "d_model": 128, "heads": 4, "layers": 4},
}


class Places(NamedTuple):
    """The positions of the tokens in one call, and the mask and bias that every layer uses."""

    positions: Tensor  # (T,) or (B, T), of the new tokens
    relative: Tensor  # (T, K) or (B, T, K), key − query
    mask: Tensor  # (T, K) or (B, 1, T, K), True where a token may attend
    bias: Tensor | None = None  # (H, T, K) or (B, H, T, K), of ALiBi or T5


class Cache:
    """The keys and values of all tokens read so far, so that a call need only process new ones.

    Pass the same cache to successive calls; each call appends its tokens. A cache belongs to the
    model that filled it and to one batch of sequences, and holds keys after RoPE has rotated them.
    If the model is trained further, cast or moved, start a new cache; further training is the one
    change that raises no error.

    Copy a cache to continue one prefix in several ways; the copy belongs to the same model.
    `pickle` and `torch.save` save the numbers without gradients. They save not the model but a
    digest of its scheme, rotary frequencies and parameters, and a loaded cache works with any model
    that has the same digest. Load it with `torch.load(..., weights_only=False)` or inside
    `torch.serialization.safe_globals([Cache])`.

    Attributes:
        layers: for each layer the keys and the values, (B, H, K, d) each; initially empty.
        padding: (B, K), True at real tokens; None as long as there is no padding.
        owner: a weak reference to the model that filled it, initially None; in a loaded cache, the
            digest of that model until a model continues it.

    Source:
        Our own. Under the causal mask of Vaswani et al. (2017), section 3.2.3, later tokens do not
        change the keys and values of earlier ones.

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
        """Return a cache that shares the tensors; calls replace tensors and never modify them."""
        other = type(self)()
        vars(other).update(vars(self))
        return other

    def __deepcopy__(self, memo: dict[int, Any]) -> Cache:
        """Return a cache with copies of the tensors, without gradients."""
        other = self.__copy__()
        other.layers = [(k.detach().clone(), v.detach().clone()) for k, v in self.layers]
        other.padding = None if self.padding is None else self.padding.clone()
        return other

    def __getstate__(self) -> dict[str, Any]:
        """Return the state to save, without gradients and without the model."""
        # Cloned, because values share memory with queries and keys, which would be saved too.
        layers = [(k.detach().clone(), v.detach().clone()) for k, v in self.layers]
        owner = self.owner() if isinstance(self.owner, ReferenceType) else self.owner
        digest = _digest(owner) if isinstance(owner, GPTModel) else owner
        return {**vars(self), "layers": layers, "owner": digest}

    @property
    def length(self) -> int:
        """How many tokens of each sequence are cached, including padding."""
        return self.layers[0][0].shape[2] if self.layers else 0


class SelfAttention(nn.Module):
    """Causal self-attention, with the part of a scheme that acts inside a layer."""

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
        """Return the output, (B, T, d_model), the weights, and all keys and values."""
        batch, new, d_model = x.shape
        split = self.query_key_value(x).view(batch, new, 3, self.heads, self.d)
        q, k, v = split.permute(2, 0, 3, 1, 4).unbind()  # (B, H, T, d) each
        bias = places.bias
        if self.rope is not None:  # scores then depend on positions only by their difference
            q = self.rope(q, positions=places.positions)
            k = self.rope(k, positions=places.positions)
        if past is not None:
            k, v = _append_to_cache(past[0], k), _append_to_cache(past[1], v)  # (B, H, K, d)
        if self.shaw is not None:  # q·(k + a)/√d = q·k/√d + bias
            bias = self.shaw.scores(q, places.relative) / math.sqrt(self.d)
        attended, weights = attention(q, k, v, bias=bias, mask=places.mask)
        return self.out(attended.transpose(1, 2).reshape(batch, new, d_model)), weights, (k, v)


class Block(nn.Module):
    """One layer: attention over earlier tokens, then an MLP on each token."""

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
        attended, weights, present = self.attention(self.attention_norm(x), places, past)
        x = x + self.dropout(attended)
        return x + self.dropout(self.mlp(self.mlp_norm(x))), weights, present


class GPTModel(nn.Module):
    """A causal language model, small enough to read, with a choice of position scheme by name.

    The schemes follow their papers. "sinusoidal" scales token embeddings by √d_model so that the
    sines do not drown them (Vaswani et al., section 3.4). "t5" has one table of 32 buckets up to
    distance 128 for all layers (Raffel et al., section 2.1). "shaw" mixes options of its paper: its
    vectors are clipped at distance 16 as in the authors' base model, which learns them separately
    for each layer and head (section 4.1), but the heads of a layer share them to save memory
    (section 3.3), and only keys have them, since vectors for the values did not raise BLEU (section
    4.3). All schemes divide scores by √d, T5's too. "counting" adds the same number to all
    dimensions of a token, which layer normalization removes: here it equals "none".

    The output layer shares the token embedding table (Press and Wolf, "Using the Output Embedding
    to Improve Language Models", 2017). Dropout acts on the embedding and on the output of each
    sublayer.

    Args:
        vocab_size: how many token ids there are, V; 1 or more.
        max_len: the number of rows of a learned table, 1 or more; longer sequences are then an
            error. The other schemes are formulas or clip distances, and accept longer inputs.
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
        embedding: the `PositionalEmbedding`; with one of the first four schemes it adds positions.
        alibi: the `ALiBi` of all layers, or None.
        t5: the `T5RelativeBias` of all layers, or None.
        blocks: the layers.
        norm: the final layer normalization.

    Raises:
        TypeError: a size is not an integer, `pos_type` not a string, `dropout` not a number.
        ValueError: a size is below 1, `d_model` is not a multiple as above, the scheme is unknown,
            or `dropout` is out of range.

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
            self.max_len if pos_type == "learned" else None,  # formulas have no limit
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
        """Initialize again: weights and tables normal with std 0.02, biases 0, norm scales 1."""
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
        """Return the logits of the token that follows each token, and optionally the attention.

        Positions count the real tokens of a sequence, 0, 1, 2, …, wherever its padding is; they
        restart in each document, and continue from the end of the cache.

        Args:
            token_ids: (B, T) integers from 0 to vocab_size − 1, with T of 1 or more.
            padding: (B, T) booleans, True at real tokens; padding may be left, right or in between.
                No real token attends to padding. Padding attends to the real tokens before it and
                to itself, so its logits are finite but meaningless.
            documents: (B, T) integers, 0 or more, that change wherever a new document begins in a
                packed row. No token attends to another document.
            cache: the tokens of earlier calls, to continue from; this call adds to it.
            return_attention: also return the weights.

        Returns:
            The logits, (B, T, V), in the dtype of the parameters, or in that of `torch.autocast`
            if it is on; with `return_attention` also the weights, (layers, B, H, T, K), where the
            cached tokens come first in K.

        Raises:
            TypeError: an argument is not a tensor of its dtype; `cache` is not a `Cache`, or
                holds tensors of another dtype than the model now has.
            ValueError: a shape or device does not fit; T is 0; `documents` are given with a cache;
                the cache is from another model, batch or device, or was modified. In eager
                mode also: an id is outside the vocabulary, a sequence is all padding, or too long
                for a learned table.

        Examples:
            >>> import torch
            >>> model, cache = GPTModel(**create_model_config("tiny"), pos_type="t5"), Cache()
            >>> ids = torch.tensor([[3, 1, 4, 1, 5]])
            >>> first, rest = model(ids[:, :2], cache=cache), model(ids[:, 2:], cache=cache)
            >>> torch.allclose(torch.cat([first, rest], dim=1), model(ids), atol=1e-5)
            True
        """
        token_ids = as_ids("token_ids", token_ids, below=self.vocab_size, shape=("batch", "length"))
        self._check(token_ids, padding, documents, cache)
        return_attention = as_flag("return_attention", return_attention)
        cache = Cache() if cache is None else cache
        seen = _seen_padding(token_ids, padding, cache)
        if seen is None and documents is None:  # otherwise the embedding checks the positions
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
        # Last, so that a call that fails leaves the cache unchanged.
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
        """Return the sequences, each continued by `new_tokens` tokens, using a cache.

        Dropout is active in training mode here too; call `model.eval()` first.

        Args:
            token_ids: (B, T), as for a call.
            new_tokens: how many to add, 0 or more.
            temperature: 0 takes the most likely token; above 0, tokens are sampled from
                softmax(logits/temperature).
            generator: source of random numbers; torch's default generator if None.
            padding: (B, T), as for a call. New tokens are appended after any padding on the right.

        Returns:
            (B, T + new_tokens) int64, a new tensor.

        Raises:
            TypeError: as for a call; `new_tokens` is not an integer, `temperature` not a number.
            ValueError: as for a call; a number is negative or not finite; a learned table has too
                few rows for all tokens, which is checked before any is generated.

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

        cache, output, new = Cache(), ids.clone(), ids
        # The last real token of each sequence predicts the next, wherever the padding is.
        last = (real * torch.arange(1, ids.shape[1] + 1, device=ids.device)).argmax(dim=1)
        for _ in range(new_tokens):
            logits = self(new, padding=padding, cache=cache)[torch.arange(len(ids)), last]
            new = _choose(logits, temperature, generator)
            output = torch.cat((output, new), dim=1)
            padding, last = None, torch.zeros_like(last)
        return output

    def _places(
        self, past: int, length: int, padding: Tensor | None, documents: Tensor | None
    ) -> Places:
        """Return positions, mask and bias for tokens `past` … `length` − 1."""
        table = self.embedding.token_embedding.weight
        column = torch.arange(length, device=table.device)
        mask = column <= column[past:, None]  # (T, K): keys up to the query
        positions = column
        if documents is not None:
            document = _document_starts(documents).cumsum(dim=1)
            mask = mask & (document[:, past:, None] == document[:, None])
        if padding is not None:  # every token attends to itself, so no row of scores is empty
            mask = mask & padding[:, None] | (column == column[past:, None])
        if padding is not None or documents is not None:
            positions = _preceding_tokens(column, padding, documents)
        relative = relative_positions(positions[..., past:], positions)
        bias = None
        if self.alibi is not None:
            bias = self.alibi(relative, dtype=torch.promote_types(table.dtype, torch.float32))
        if self.t5 is not None:
            bias = self.t5(relative)
        mask = mask[:, None] if mask.ndim == 3 else mask
        return Places(positions[..., past:], relative, mask, bias)

    def _check(self, token_ids: Tensor, padding: object, documents: object, cache: object) -> None:
        """Raise unless the arguments of a call fit this model and each other."""
        shape = tuple(token_ids.shape)
        table = self.embedding.token_embedding.weight
        on_device("token_ids", token_ids, table.device)
        if not shape[1]:
            raise ValueError(f"token_ids must hold at least one token per row; got shape {shape}")
        if padding is not None:
            real = on_device("padding", as_mask("padding", padding, shape), table.device)
            known = cache is None and values_are_known(real)  # with a cache, new ones may all pad
            if known and not real.any(dim=1).all():
                row = int(real.any(dim=1).long().argmin())
                raise ValueError(
                    f"padding must leave each row at least one real token; got none in row {row}"
                )
        if documents is not None:
            ids = as_ids("documents", documents, below=LARGEST, shape=shape)
            on_device("documents", ids, table.device)
        if cache is not None:
            self._check_cache(cache, shape[0], documents)

    def _check_length(self, name: str, length: int) -> None:
        """Raise if a learned table has too few rows for a sequence of this length."""
        rows = self.embedding.max_len
        if rows is not None and length > rows:
            raise ValueError(
                f"{name} must stay within max_len, the {rows} rows of the learned table;"
                f" got {length} tokens per sequence"
            )

    def _check_cache(self, cache: object, batch: int, documents: object) -> None:
        """Raise unless the cache was filled by this model with a batch of this size."""
        if not isinstance(cache, Cache):
            raise TypeError(f"cache must be a posenc.nn.Cache; got {type(cache).__name__}")
        if documents is not None:
            raise ValueError("documents must be given without a cache; got both")
        held = _cached_tensors(cache)
        owner = cache.owner() if isinstance(cache.owner, ReferenceType) else cache.owner
        if held and owner is not self and not (isinstance(owner, str) and owner == _digest(self)):
            raise ValueError("cache must have been filled by this model; got another model's")
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
    """Return the arguments of a named `GPTModel`: `GPTModel(**create_model_config("tiny"))`.

    Args:
        name: "tiny", two layers for the vocabulary of `create_tokenizer("simple")`, or "byte", four
            layers for that of `create_tokenizer("byte")`.

    Returns:
        A new dictionary of integers: vocab_size, max_len, d_model, heads, layers.

    Raises:
        TypeError: `name` is not a string.
        ValueError: `name` is unknown.

    Source:
        Our own sizes, small enough to train on a CPU.

    Examples:
        >>> create_model_config("tiny")["d_model"]
        64
    """
    return dict(CONFIGS[as_choice("name", name, tuple(CONFIGS))])


def _digest(model: GPTModel) -> str:
    """Return a hash of the model's scheme, rotary frequencies and parameters."""
    digest = hashlib.sha256(f"{model.pos_type} {model.heads}".encode())
    for part in model.modules():
        if isinstance(part, RotaryEmbedding):  # its frequencies are not in the state dict
            digest.update(f"{part.layout} {part.frequencies}".encode())
    for name, value in model.state_dict().items():
        digest.update(f"{name} {value.dtype} {tuple(value.shape)}".encode())
        digest.update(value.detach().cpu().contiguous().reshape(-1).view(torch.uint8).numpy())
    return digest.hexdigest()


def _cached_tensors(cache: Cache) -> list[Tensor]:
    """Return all keys and values of a cache as a flat list; their shapes are not checked."""
    layers: object = cache.layers
    whole = isinstance(layers, list) and all(
        isinstance(pair, tuple) and [isinstance(x, Tensor) for x in pair] == [True, True]
        for pair in layers
    )
    if not whole:
        raise ValueError(f"cache must hold a pair of tensors per layer; got {_shown(layers)}")
    return [x for pair in cache.layers for x in pair]


def _append_to_cache(past: Tensor, new: Tensor) -> Tensor:
    """Return cached keys or values with the new ones appended, (B, H, K, d)."""
    if past.dtype != new.dtype:
        raise TypeError(f"cache must hold {new.dtype}, like the model; got {past.dtype}")
    return torch.cat((past, new), dim=2)


def _document_starts(documents: Tensor) -> Tensor:
    """Return True where a document begins, (B, K): at the start and where the number changes."""
    return torch.cat((torch.ones_like(documents[:, :1]), documents.diff(dim=1)), dim=1) != 0


def _preceding_tokens(column: Tensor, padding: Tensor | None, documents: Tensor | None) -> Tensor:
    """Return how many real tokens of its document precede each token, (B, K)."""
    begins = column == 0 if documents is None else _document_starts(documents)
    real = torch.ones_like(begins) if padding is None else padding
    upto = real.cumsum(dim=1)  # real tokens in the row up to this one, inclusive
    # Real tokens in the row before the current document.
    earlier = torch.where(begins, upto - real.long(), 0).cummax(dim=1).values
    return (upto - earlier - 1).clamp(min=0)


def _seen_padding(token_ids: Tensor, padding: Tensor | None, cache: Cache) -> Tensor | None:
    """Return which of the cached and the new tokens are real, (B, K), or None for all."""
    if padding is None and cache.padding is None:
        return None
    new = torch.ones_like(token_ids, dtype=torch.bool) if padding is None else padding
    old = new.new_ones(len(new), cache.length) if cache.padding is None else cache.padding
    return torch.cat((old, new), dim=1)


def _choose(logits: Tensor, temperature: float, generator: torch.Generator | None) -> Tensor:
    """Return the next token of each sequence, (B, 1): the most likely, or a sampled one."""
    if logits.isnan().any():
        raise ValueError("the model must give logits that are numbers; got NaN")
    best, likeliest = logits.max(dim=-1, keepdim=True)
    if temperature == 0:
        return likeliest
    # Relative to the best and in float64, so that a tiny temperature gives no NaN.
    odds = ((logits - best).double() / temperature).softmax(dim=-1)
    return torch.multinomial(odds, 1, generator=generator)


def _as_scheme(value: object) -> str:
    """Return `pos_type`, which must be a scheme for one-dimensional positions."""
    if isinstance(value, str) and value == "swin":
        raise ValueError(
            f"pos_type must be a scheme for one-dimensional positions, one of"
            f" {', '.join(SCHEMES)}; got 'swin', which is for images"
        )
    return as_choice("pos_type", value, SCHEMES)


def _as_width(value: object, heads: int, pos_type: str) -> int:
    """Return `d_model`, which the heads must divide into widths that the scheme supports."""
    d_model = as_integer("d_model", value, least=1, even=pos_type == "sinusoidal")
    step = 2 * heads if pos_type == "rope" else heads
    if d_model % step:
        raise ValueError(
            f"d_model must be a multiple of {step}, for {heads} heads and pos_type {pos_type!r};"
            f" got {d_model}"
        )
    return d_model


def _check_generator(value: object, device: torch.device) -> None:
    """Raise unless `generator` is None or a generator for this device."""
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
