"""transformers answers the test vectors, a family of models a way.

Frequencies and configurations are asked of the rotary embedding that a family's configuration
makes, without a model around it.
"""

from __future__ import annotations

import math
from importlib import import_module
from itertools import pairwise
from types import MethodType, SimpleNamespace

import torch
from lines import CountedByCaller, Unsupported, answer_lines, library, objects
from transformers import AutoConfig

ROWS = 131072  # of the largest table that is made
RULES = ("default", "linear", "dynamic", "yarn", "llama3", "longrope", "proportional")
RENAMED = {"fast": "beta_fast", "slow": "beta_slow", "low": "low_freq_factor",
           "high": "high_freq_factor", "short": "short_factor", "long": "long_factor"}  # fmt: skip
ANY = torch.zeros(1, 1, 1)  # carries a dtype alone


def modeling(family):
    """Return the module of a family's models."""
    return import_module(f"transformers.models.{family}.modeling_{family}")


def configured(family, d, rope, length=2048, **given):
    """Return the configuration of a family with one head d wide."""
    sizes = {"hidden_size": d, "num_attention_heads": 1, "num_key_value_heads": 1, "head_dim": d}
    with library():
        return AutoConfig.for_model(
            family, **sizes, max_position_embeddings=length, rope_parameters=rope, **given
        )


def embedding_of(config, named):
    """Return the rotary embedding of a configuration."""
    family = config.model_type.removesuffix("_text")
    with library():
        return getattr(modeling(family), named)(config)


def at_length(embedding, length):
    """Return the frequencies that an embedding uses for a sequence, and its attention factor."""
    with library():
        if length is not None:
            embedding(ANY, torch.tensor([[length - 1]]))
        return {
            "frequencies": embedding.inv_freq.clone(),
            "attention_factor": embedding.attention_scaling,
        }


def ruled(rule, d, base=10000, trained_length=None, ramp="pairs", rotary_d=None, **given):
    """Return the embedding of a Llama with a rule."""
    if rule not in RULES:
        raise Unsupported("static NTK") if rule == "ntk" else Unsupported("a choice of rules")
    if ramp != "pairs":
        raise Unsupported(f"ramp {ramp}")
    rope = {RENAMED.get(name, name): value for name, value in given.items()}
    rope |= {"rope_type": rule, "rope_theta": base}
    length = trained_length or 2048
    if trained_length and rule in ("yarn", "llama3", "longrope"):
        rope["original_max_position_embeddings"] = trained_length
        length = int(trained_length * given.get("factor", 1))
    if rotary_d is not None:
        rope["partial_rotary_factor"] = rotary_d / d
    return embedding_of(configured("llama", d, rope, length), "LlamaRotaryEmbedding")


def frequencies(rule, d, length=None, **given):
    """Return the frequencies of a Llama with a rule."""
    return at_length(ruled(rule, d, **given), length)


EMBEDDINGS = {
    "llama": "LlamaRotaryEmbedding",
    "phi": "PhiRotaryEmbedding",
    "stablelm": "StableLmRotaryEmbedding",
    "gpt_neox": "GPTNeoXRotaryEmbedding",
    "gemma3": "Gemma3RotaryEmbedding",
    "modernbert": "ModernBertRotaryEmbedding",
    "smollm3": "SmolLM3RotaryEmbedding",
    "deepseek_v3": "DeepseekV3RotaryEmbedding",
}


def config(config, length=None):
    """Return what the embedding makes of a configuration."""
    family = config["model_type"].removesuffix("_text")
    if family not in EMBEDDINGS:
        raise Unsupported(f"model type {family}")
    with library():
        read = AutoConfig.for_model(**config)
    embedding = embedding_of(read, EMBEDDINGS[family])
    if family in LAYERED:
        return {"layers": LAYERED[family](embedding, read)}
    found = at_length(embedding, length)
    if family == "deepseek_v3":
        with library():
            attention = modeling(family).DeepseekV3Attention(read, 0)
            found["softmax_factor"] = attention.scaling * attention.qk_head_dim**0.5
    return found


def by_layer_type(embedding, read):
    """Return the frequencies and attention factor of each layer, which are those of its type."""
    return [
        {
            "frequencies": getattr(embedding, f"{kind}_inv_freq"),
            "attention_factor": getattr(embedding, f"{kind}_attention_scaling"),
        }
        for kind in read.layer_types
    ]


def where_rotated(embedding, read):
    """Return the frequencies and attention factor of each layer, none where it does not rotate."""
    whole = {"frequencies": embedding.inv_freq, "attention_factor": embedding.attention_scaling}
    none = {"frequencies": [], "attention_factor": 1}
    with library():
        attentions = [
            modeling("smollm3").SmolLM3Attention(read, layer)
            for layer in range(read.num_hidden_layers)
        ]
    return [whole if attention.use_rope else none for attention in attentions]


LAYERED = {"gemma3": by_layer_type, "modernbert": by_layer_type, "smollm3": where_rotated}


def batched(x):
    """Return vectors as a batch of heads of tokens."""
    vectors = torch.tensor(x, dtype=torch.float32)
    if vectors.ndim == 3:
        return vectors[:, None]
    return vectors.reshape((1,) * (4 - vectors.ndim) + vectors.shape)


def usual(family, embedding, x, places):
    """Return vectors rotated by cosines and sines, as in most families."""
    with library():
        cosines, sines = embedding(ANY, places)
        return modeling(family).apply_rotary_pos_emb(x, x, cosines, sines)[0]


def sliced(family, embedding, x, places):
    """Return vectors of which attention hands the rotated part alone to the family's function."""
    with library():
        cosines, sines = embedding(ANY, places)
        d = cosines.shape[-1]
        first = modeling(family).apply_rotary_pos_emb(x[..., :d], x[..., :d], cosines, sines)[0]
        return torch.cat([first, x[..., d:]], -1)


def complexly(family, embedding, x, places):
    """Return vectors rotated by complex numbers, tokens before heads, as in Llama 4."""
    with library():
        turns = embedding(ANY, places)
        tokens_first = x.transpose(1, 2)
        return (
            modeling(family).apply_rotary_emb(tokens_first, tokens_first, turns)[0].transpose(1, 2)
        )


def reordering(family, embedding, x, places):
    """Return vectors rotated as in DeepSeek-V3."""
    with library():
        cosines, sines = embedding(ANY, places)
        return modeling(family).apply_rotary_pos_emb_interleave(x, x, cosines, sines)[0]


def rotating(family, named, offered, *, partial=False, rotate=usual):
    """Return what answers with the rotary embedding of a family."""

    def made(d, base, layout, rotary_d=None):
        if layout != offered:
            known = layout in ("half", "interleaved")
            raise Unsupported(f"layout {layout}" if known else "a choice of layouts")
        if rotary_d is not None and not partial:
            raise Unsupported("partial rotation")
        rope = {"rope_type": "default", "rope_theta": base}
        if partial:
            rope["partial_rotary_factor"] = (rotary_d or d) / d
        return embedding_of(configured(family, d, rope), named)

    def applied(embedding, x, positions):
        vectors, places = batched(x), torch.tensor(positions)
        shape = torch.tensor(x).shape
        places = places if places.ndim == 2 else places[None]
        rotated = rotate(family.removesuffix("_text"), embedding, vectors, places)
        return rotated.reshape(shape if rotated.numel() == shape.numel() else rotated.shape[2:])

    def rotation(x, positions, layout, base=None, rotary_d=None, frequencies=None):
        if frequencies is not None:
            raise Unsupported("given frequencies")
        embedding = made(torch.tensor(x).shape[-1], base, layout, rotary_d)
        return applied(embedding, x, positions)

    def scores(query, key, query_positions, key_positions, layout, base):
        queries = rotation(query, query_positions, layout, base)
        keys = rotation(key, key_positions, layout, base)
        with library():
            return queries @ keys.T

    class Rotary(CountedByCaller):
        def __init__(self, d, base, layout=None, rule=None, **given):
            if rule and family != "llama":
                raise Unsupported(f"rule {rule}")
            self.embedding = ruled(rule, d, base, **given) if rule else made(d, base, layout)

        def rotate(self, x, positions):
            return applied(self.embedding, x, positions)

        def frequencies(self, length):
            return at_length(self.embedding, length)["frequencies"]

        def cast(self, dtype):
            with library():
                self.embedding.to(getattr(torch, dtype)).to(torch.float32)

    return {"rotation": rotation, "scores": scores, "sequences": objects(Rotary)}


def gptj(x, positions, layout, base=None, rotary_d=None, frequencies=None):
    """Return vectors rotated by the rows of GPT-J's table."""
    if layout != "interleaved":
        raise Unsupported(f"layout {layout}" if layout == "half" else "a choice of layouts")
    if frequencies is not None or base != 10000:
        raise Unsupported("given frequencies" if frequencies else f"base {base}")
    vectors, places = batched(x), indices(positions)
    d = rotary_d or vectors.shape[-1]
    places = places if places.ndim == 2 else places[None]
    own = modeling("gptj")
    with library():
        sines, cosines = own.create_sinusoidal_positions(int(places.max()) + 1, d)[places].chunk(
            2, -1
        )
        tokens_first = vectors.transpose(1, 2)
        rotated = own.apply_rotary_pos_emb(tokens_first[..., :d], sines, cosines)
        whole = torch.cat([rotated, tokens_first[..., d:]], -1)
        return whole.transpose(1, 2).reshape(torch.tensor(x).shape)


def indices(positions):
    """Return positions as indices into a table."""
    places = torch.tensor(positions)
    if places.is_floating_point():
        raise Unsupported("positions that are not integers")
    if places.numel() and (places.min() < 0 or places.max() >= ROWS):
        raise Unsupported(f"positions outside of a table of {ROWS} rows")
    return places


def mrope(family, named, turns):
    """Return what answers suite mrope with a family."""

    def rotated(x, positions, sections, layout, interleaved_sections, base):
        if layout != "half" or interleaved_sections != turns:
            told = "in turns" if interleaved_sections else "in blocks"
            raise Unsupported(f"layout {layout}, sections {told}")
        rope = {"rope_type": "default", "rope_theta": base, "mrope_section": sections}
        vectors = batched(x)
        embedding = embedding_of(configured(family, vectors.shape[-1], rope), named)
        with library():
            cosines, sines = embedding(ANY, torch.tensor(positions)[:, None])
            own = modeling(family.removesuffix("_text"))
            return own.apply_rotary_pos_emb(vectors, vectors, cosines, sines)[0][0, 0]

    return {"mrope": rotated}


def positions_of(family, named):
    """Return what answers suite mrope_positions with `get_rope_index` of a family."""

    def positions(parts, intervals=None, after="largest"):
        timed = family == "qwen2_5_vl"
        if intervals is not None and not timed:
            raise Unsupported("intervals")
        kinds = [0 if isinstance(part, int) else 1 if part[0] == 1 else 2 for part in parts]
        if any(one and one == other for one, other in pairwise(kinds)):
            raise Unsupported("two images without a token between")
        with library():
            whole = AutoConfig.for_model(family)
            own = getattr(modeling(family), named)
            merge = whole.vision_config.spatial_merge_size
            grids = {
                kind: [
                    [t, merge * h, merge * w]
                    for t, h, w in (
                        one for one, its in zip(parts, kinds, strict=True) if its == kind
                    )
                ]
                for kind in (1, 2)
            }
            sizes = [part if isinstance(part, int) else math.prod(part) for part in parts]
            types = torch.tensor([kinds]).repeat_interleave(torch.tensor(sizes), 1)
            model = SimpleNamespace(config=whole)
            model.get_vision_position_ids = MethodType(own.get_vision_position_ids, model)
            given = {
                f"{name}_grid_thw": torch.tensor(grids[kind])
                for kind, name in ((1, "image"), (2, "video"))
                if grids[kind]
            }
            if timed:
                speed = whole.vision_config.tokens_per_second
                given["second_per_grid_ts"] = [
                    (1 if intervals is None else intervals) / speed
                ] * len(kinds)
            return own.get_rope_index(model, torch.zeros_like(types), types, **given)[0][:, 0].T

    return {"mrope_positions": positions}


def bloom(attention, heads):
    """Return the bias of BLOOM for each key."""
    with library():
        mask = torch.ones(1, attention, dtype=torch.int64)
        return modeling("bloom").build_alibi_tensor(mask, heads, torch.float32)[:, 0]


def falcon(attention, heads):
    """Return the bias of Falcon for each key."""
    with library():
        mask = torch.ones(1, attention, dtype=torch.int64)
        return modeling("falcon").build_alibi_tensor(mask, heads, torch.float32)[:, 0]


def mpt(attention, heads):
    """Return the bias of MPT for each key."""
    with library():
        return modeling("mpt").build_mpt_alibi_tensor(heads, attention)[:, 0]


def alibi_by(bias):
    """Return what answers with a bias for each key: slopes are its steps."""

    def alibi(heads):
        with library():
            keys = bias(2, heads)
            return keys[:, 1] - keys[:, 0]

    def alibi_bias(heads, query_length, key_length, causal=True, query_offset=0):
        if not causal:
            raise Unsupported("a bias that is not causal")
        with library():
            keys = bias(key_length, heads)
            queries = torch.arange(query_offset, query_offset + query_length)
            hidden = torch.arange(key_length) > queries[:, None]
            return keys[:, None].expand(-1, query_length, -1).masked_fill(hidden, -torch.inf)

    return {"alibi": alibi, "alibi_bias": alibi_bias}


def t5(relative, bidirectional, buckets, max_distance):
    """Return the buckets of T5."""
    with library():
        return modeling("t5").T5Attention._relative_position_bucket(
            torch.tensor(relative),
            bidirectional=bidirectional,
            num_buckets=buckets,
            max_distance=max_distance,
        )


def marian(positions, d_model, base, order, first, shift):
    """Return the rows of Marian's table."""
    if (order, first, shift, base) != ("halves", "sine", 0, 10000):
        raise Unsupported(f"order {order}, {first} first, shift {shift}, base {base}")
    places = indices(positions)
    with library():
        table = modeling("marian").MarianSinusoidalPositionalEmbedding(
            int(places.max()) + 1, d_model
        )
        return table.create_weight()[places]


def m2m_100(positions, d_model, base, order, first, shift):
    """Return the rows of M2M-100's table."""
    if (order, first, shift, base) != ("halves", "sine", 1, 10000):
        raise Unsupported(f"order {order}, {first} first, shift {shift}, base {base}")
    places = indices(positions)
    with library():
        rows = modeling("m2m_100").M2M100SinusoidalPositionalEmbedding.get_embedding(
            int(places.max()) + 1, d_model
        )
        return rows[places]


def swin(window):
    """Return the index of Swin."""
    with library():
        bias = modeling("swin").SwinRelativePositionBias
        index = bias(1, (window, window)).relative_position_index
        return index.view(window**2, window**2)


def swin_rectangle(height, width):
    """Return the index of Swin for a window that is not square."""
    with library():
        index = modeling("swin").SwinRelativePositionBias(1, (height, width))
        return index.relative_position_index.view(height * width, height * width)


def deberta(relative, max_distance, buckets=None):
    """Return the buckets of DeBERTa-v2."""
    if buckets is None:
        raise Unsupported("rows without buckets: they are computed inside of attention")
    with library():
        own = modeling("deberta_v2")
        return own.make_log_bucket_position(torch.tensor(relative), buckets, max_distance).long()


def vit(grid, sizes, kernel, corners, antialias):
    """Return the grid of ViT at other sizes; it begins as a square, with a class token before."""
    if (kernel, corners, antialias) != ("cubic", False, False):
        raise Unsupported("another interpolation than the bicubic one without aligned corners")
    rows = torch.tensor(grid)
    if len(rows) != rows.shape[1]:
        raise Unsupported("a grid that is no square")
    flat = rows.flatten(0, 1)
    own = SimpleNamespace(patch_size=1)
    own.position_embeddings = torch.cat([flat[:1], flat])[None]
    with library():
        patches = torch.zeros(1, sizes[0] * sizes[1] + 1, rows.shape[-1])
        found = modeling("vit").ViTEmbeddings.interpolate_pos_encoding(own, patches, *sizes)
    return found[0, 1:].view(*sizes, -1)


def opt(mask=None, lengths=None, queries=None):
    """Return the rows of OPT's table that are used, less the two that it begins with."""
    if mask is None:
        raise Unsupported("packing")
    with library():
        kept = torch.tensor(mask)
        table = modeling("opt").OPTLearnedPositionalEmbedding(kept.shape[1], 1)
        table.weight.data = torch.arange(len(table.weight))[:, None].float()
        past = 0 if queries is None else kept.shape[1] - queries
        rows = table(kept, cache_length=past)[..., 0].long()
        return rows - table.offset


def roberta(mask=None, lengths=None, queries=None):
    """Return the rows of RoBERTa's table that are used, less those up to the padding's."""
    if mask is None or queries is not None:
        raise Unsupported("packing" if mask is None else "a step with a cache")
    padding = 1
    with library():
        kept = torch.tensor(mask)
        tokens = torch.where(kept == 0, padding, kept + padding)
        own = modeling("roberta").RobertaEmbeddings
        return own.create_position_ids_from_input_ids(tokens, padding) - padding - 1


def vision(family, named):
    """Return what answers suite rotation_2d with the vision tower of a family."""

    def rotated(x, positions, first, layout, base):
        if layout != "half" or first != "row":
            raise Unsupported(f"layout {layout}, {first} first")
        own = modeling(family)
        vectors = torch.tensor(x, dtype=torch.float32)
        with library():
            config = AutoConfig.for_model(family).vision_config
            config.embed_dim, config.num_heads = vectors.shape[-1], 1
            config.rope_parameters = {"rope_type": "axial", "rope_theta": base}
            cosines, sines = getattr(own, named)(config)(ANY, torch.tensor(positions))
            heads = vectors[:, None]
            return own.apply_rotary_pos_emb_vision(heads, heads, cosines, sines)[0][:, 0]

    return {"rotation_2d": rotated}


def without_sequences(answers):
    """Return answers but those to suite sequences."""
    return {suite: answer for suite, answer in answers.items() if suite != "sequences"}


if __name__ == "__main__":
    partial = {"partial": True}
    cut = {"partial": True, "rotate": sliced}
    answer_lines(
        ways={
            "Llama": {
                "frequencies": frequencies,
                "config": config,
                **rotating("llama", "LlamaRotaryEmbedding", "half"),
            },
            "GPT-NeoX": rotating("gpt_neox", "GPTNeoXRotaryEmbedding", "half", **partial),
            "Phi": rotating("phi", "PhiRotaryEmbedding", "half", **cut),
            "StableLM": rotating("stablelm", "StableLmRotaryEmbedding", "half", **cut),
            "gpt-oss": rotating("gpt_oss", "GptOssRotaryEmbedding", "half"),
            "Cohere": rotating("cohere", "CohereRotaryEmbedding", "interleaved"),
            "GLM": rotating("glm", "GlmRotaryEmbedding", "interleaved", **partial),
            "GPT-J": {"rotation": gptj},
            "Llama 4": rotating(
                "llama4_text", "Llama4TextRotaryEmbedding", "interleaved", rotate=complexly
            ),
            "DeepSeek-V3": without_sequences(
                rotating(
                    "deepseek_v3", "DeepseekV3RotaryEmbedding", "interleaved", rotate=reordering
                )
            ),
            "Qwen2-VL": mrope("qwen2_vl_text", "Qwen2VLRotaryEmbedding", False)
            | vision("qwen2_vl", "Qwen2VLVisionRotaryEmbedding")
            | positions_of("qwen2_vl", "Qwen2VLModel"),
            "Qwen2.5-VL": positions_of("qwen2_5_vl", "Qwen2_5_VLModel"),
            "Qwen3-VL": mrope("qwen3_vl_text", "Qwen3VLTextRotaryEmbedding", True),
            "BLOOM": alibi_by(bloom),
            "Falcon": alibi_by(falcon),
            "MPT": alibi_by(mpt),
            "T5": {"t5": t5},
            "Marian": {"sinusoidal": marian},
            "M2M-100": {"sinusoidal": m2m_100},
            "Swin": {"swin": swin, "swin_rectangle": swin_rectangle},
            "DeBERTa-v2": {"deberta": deberta},
            "ViT": {"resize_grid": vit},
            "OPT": {"positions": opt},
            "RoBERTa": {"positions": roberta},
        },
        contract={"Falcon": "bfloat16 result"},
    )
