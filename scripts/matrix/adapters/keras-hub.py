"""KerasHub, with JAX: its layers, and parts of its models that compute positions in their own way.

Layers have no tables to show, so frequencies are the angles by which unit vectors turn from
position 0 to 1.
"""

from __future__ import annotations

import functools
import os
import sys

os.environ["KERAS_BACKEND"] = "jax"
sys.path.append(sys.path.pop(0))  # libraries that KerasHub looks for are no files beside this one

import jax
import keras_hub
import numpy as np
from keras import ops
from keras_hub.src.layers.modeling.transformer_layer_utils import compute_causal_mask
from keras_hub.src.models.flux.flux_maths import (
    ApplyRoPE,
    RotaryPositionalEmbedding,
    TimestepEmbedding,
)
from keras_hub.src.models.gemma4.gemma4_attention import Gemma4VisionAttention
from keras_hub.src.models.llama.llama_rotary_embedding import LlamaRotaryEmbedding
from keras_hub.src.models.phi3.phi3_rotary_embedding import Phi3SuScaledRotaryEmbedding
from keras_hub.src.models.qwen3_5.qwen3_5_attention import Qwen3_5Attention
from keras_hub.src.models.swin_transformer.swin_transformer_layers import (
    get_relative_position_index,
)
from keras_hub.src.models.t5.t5_multi_head_attention import T5MultiHeadAttention
from keras_hub.src.utils.transformers import convert_llama3
from lines import CountedByCaller, Unsupported, answer_lines, library, objects

SMALL = {  # what a configuration needs and positions do not
    "vocab_size": 8,
    "num_hidden_layers": 1,
    "intermediate_size": 8,
    "tie_word_embeddings": True,
}
MANY = 100  # answers after which memory is freed


def tidy(answers):
    """Return functions that now and then free what JAX has compiled for shapes asked before."""
    asked = 0

    def wrapped(function):
        @functools.wraps(function)
        def answered(**given):
            nonlocal asked
            asked += 1
            if asked % MANY == 0:
                jax.clear_caches()
            return function(**given)

        return answered

    return {suite: wrapped(function) for suite, function in answers.items()}


def array(tensor):
    """Return a tensor as an array."""
    return np.array(ops.convert_to_numpy(tensor))


def rotated(layer, x, positions):
    """Return vectors rotated by a layer, whose second axis but one is the sequence."""
    vectors = np.array(x, np.float32)
    rows = vectors if vectors.ndim > 2 else vectors[None]
    layer.sequence_axis = rows.ndim - 2
    with library():
        return array(layer(rows, positions=np.array(positions, np.float32))).reshape(vectors.shape)


def plain_rotation(kind):
    """Return the function that answers suite rotation by a layer."""

    def rotation(x, positions, layout, base=None, rotary_d=None, frequencies=None):
        if layout != "half":
            raise Unsupported(f"layout {layout}")
        if rotary_d is not None:
            raise Unsupported("a partial rotation: the caller slices")
        if frequencies is not None:
            raise Unsupported("given frequencies")
        with library():
            layer = kind(max_wavelength=base)
        return rotated(layer, x, positions)

    return rotation


def scores_of(rotation):
    """Return the function that answers suite scores by a rotation."""

    def scores(query, key, query_positions, key_positions, layout, base):
        if np.shape(query)[-1] != np.shape(key)[-1]:
            raise Unsupported("queries and keys are rotated apart")
        return (
            rotation(query, query_positions, layout, base)
            @ rotation(key, key_positions, layout, base).T
        )

    return scores


def angles(layer, d, length=2):
    """Return how unit vectors turn and grow from position 0 to 1 of a sequence."""
    if length < 2:
        raise Unsupported("a text of one token, where nothing turns")
    if d < 0:
        raise Unsupported("a width: it is the shape of a tensor")
    unit = np.zeros((1, length, d), np.float32)
    unit[..., : d // 2] = 1
    with library():
        row = array(layer(unit))[0, 1].astype(float)
    cosines, sines = row[: d // 2], row[d // 2 :]
    return {
        "frequencies": np.arctan2(sines, cosines),
        "attention_factor": float(np.hypot(sines, cosines).mean()),
    }


def of_layers(rule, d=0, base=10000.0, factor=1.0, length=2, **given):
    """Return what `RotaryEmbedding` does for a rule, and its attention factor."""
    if rule not in ("default", "linear", "dynamic", "yarn"):
        raise Unsupported(f"rule {rule}")
    if {"attention_factor", "mscale", "mscale_all_dim"} & set(given):
        raise Unsupported("an attention factor")
    if given.get("ramp", "pairs") != "pairs":
        raise Unsupported("a ramp by turns")
    if rule == "dynamic" and length < 2:
        raise Unsupported("a text of one token, where nothing turns")
    more = {}
    if rule == "yarn":
        more = {
            "original_max_position_embeddings": given["trained_length"],
            "truncate": given.get("truncate", True),
            "beta_fast": given.get("fast", 32.0),
            "beta_slow": given.get("slow", 1.0),
        }
    kind = "linear" if rule == "default" else rule
    with library():
        layer = keras_hub.layers.RotaryEmbedding(
            max_wavelength=base, scaling_factor=factor, rope_type=kind, **more
        )
    return angles(layer, d, length)


def of_llama(rule, d=0, base=10000.0, factor=1.0, **given):
    """Return what the rotary layer of Llama does for a rule."""
    with library():
        if rule in ("default", "linear"):
            layer = LlamaRotaryEmbedding(base, position_scaling_factor=factor)
        elif rule == "llama3":
            layer = LlamaRotaryEmbedding(
                base,
                frequency_adjustment_factor=factor,
                low_freq_factor=given.get("low", 1.0),
                high_freq_factor=given.get("high", 4.0),
                pretraining_sequence_length=given["trained_length"],
            )
        else:
            raise Unsupported(f"rule {rule}")
    return angles(layer, d)


def llama_config(config, length=None):
    """Return what the rotary layer does that is made from a configuration of transformers."""
    if config["model_type"] != "llama":
        raise Unsupported(f"model type {config['model_type']}")
    heads = {"num_key_value_heads": config["num_attention_heads"]}
    with library():
        found = convert_llama3.convert_backbone_config(SMALL | heads | config)
        backbone = convert_llama3.backbone_cls(**found)
        layer = backbone.transformer_layers[0]._self_attention_layer.rotary_embedding_layer
        width = backbone.hidden_dim // backbone.num_query_heads
    return angles(layer, width)


def phi3_layer(d, base, factor, trained_length, short, long):
    """Return the rotary layer of Phi-3."""
    with library():
        return Phi3SuScaledRotaryEmbedding(
            short,
            long,
            max_sequence_length=factor * trained_length,
            pretraining_sequence_length=trained_length,
            max_wavelength=base,
        )


def of_phi3(rule, d=0, base=10000.0, length=2, **given):
    """Return what the rotary layer of Phi-3 does."""
    if rule != "longrope":
        raise Unsupported(f"rule {rule}")
    if "attention_factor" in given:
        raise Unsupported("an attention factor")
    return angles(phi3_layer(d, base, **given), d, length)


def flux_rotation(x, positions, layout, base=None, rotary_d=None, frequencies=None):
    """Return vectors rotated as in Flux."""
    if layout != "interleaved":
        raise Unsupported(f"layout {layout}")
    if rotary_d is not None or frequencies is not None:
        raise Unsupported("a partial rotation, or given frequencies")
    vectors, places = np.array(x, np.float32), np.array(positions, np.float32)
    length, width = vectors.shape[-2:]
    rows = vectors.reshape(len(vectors) if vectors.ndim > 2 else 1, -1, length, width)
    places = np.broadcast_to(places, (len(rows), places.shape[-1]))
    with library():
        table = RotaryPositionalEmbedding()(places, dim=width, theta=base)[:, None]
        # The layer expects heads before the axis that it adds.
        found = [
            array(ApplyRoPE()(row[None], row[None], one)[0])
            for row, one in zip(rows, table, strict=True)
        ]
        return np.concatenate(found).reshape(vectors.shape)


def flux_timesteps(positions, d_model, base, order, first, shift):
    """Return the embedding of timesteps in Flux."""
    if order != "halves" or first != "cosine" or shift:
        raise Unsupported(f"order {order}, {first} first, shift {shift}")
    with library():
        steps = np.array(positions, np.float32)
        return array(
            TimestepEmbedding()(steps, dim=d_model, max_period=float(base), time_factor=1.0)
        )


def sinusoidal(positions, d_model, base, order, first, shift):
    """Return the rows of `SinePositionEncoding`."""
    if order != "interleaved" or first != "sine" or shift:
        raise Unsupported(f"order {order}, {first} first, shift {shift}")
    if d_model < 0:
        raise Unsupported("a width: it is the shape of a tensor")
    nothing = np.zeros((1, len(positions), d_model), np.float32)
    with library():
        layer = keras_hub.layers.SinePositionEncoding(max_wavelength=base)
        return array(layer(nothing, positions=np.array(positions, np.float32)))[0]


def alibi(heads):
    """Return the slopes: a key before the last is lower by one slope."""
    return -alibi_layer(heads, 1, 2)[:, 0, 0]


def alibi_layer(heads, query_length, key_length):
    """Return what `AlibiBias` adds to scores of 0."""
    if min(heads, query_length, key_length) < 0:
        raise Unsupported("sizes: they are the shape of a tensor")
    with library():
        nothing = np.zeros((1, heads, query_length, key_length), np.float32)
        return array(keras_hub.layers.AlibiBias()(nothing))[0]


def alibi_bias(heads, query_length, key_length, causal, query_offset=0):
    """Return the bias, with later keys hidden by the mask that KerasHub's decoder makes."""
    if not causal:
        raise Unsupported("attention that is not causal")
    if query_offset < 0 or query_offset + query_length > key_length:
        raise Unsupported("queries that have no key")
    bias = alibi_layer(heads, query_length, key_length)
    with library():
        kept = array(compute_causal_mask(1, key_length, query_length, query_offset))[0]
    return np.where(kept.astype(bool), bias, -np.inf)


def gemma4_rotation_2d(x, positions, first, layout, base):
    """Return patches rotated as in the vision encoder of Gemma 4: its first half by the column."""
    if first != "column" or layout != "half":
        raise Unsupported(f"{first} first, layout {layout}")
    vectors = np.array(x, np.float32)
    places = np.array(positions, np.float32)[:, ::-1]  # columns, then rows
    with library():
        attention = Gemma4VisionAttention(vectors.shape[-1], 1, 1, rope_wavelength=float(base))
        return array(attention._apply_rope(vectors[None, :, None], places[None]))[0, :, 0]


def qwen_mrope(x, positions, sections, layout, interleaved_sections, base):
    """Return vectors rotated as in Qwen3.5, whose positions begin with an axis for text."""
    if layout != "half" or not interleaved_sections:
        raise Unsupported(f"layout {layout}, sections in blocks")
    vectors = np.array(x, np.float32)
    places = np.array([positions[0], *positions])[None]
    with library():
        attention = Qwen3_5Attention(
            num_query_heads=1,
            num_key_value_heads=1,
            head_dim=vectors.shape[-1],
            partial_rotary_factor=1.0,
            rope_max_wavelength=base,
            mrope_section=sections,
        )
        attention.build((1, len(vectors), vectors.shape[-1]))
        return array(attention._apply_partial_rope(vectors[None, :, None], 0, places))[0, :, 0]


def t5(relative, bidirectional, buckets, max_distance):
    """Return buckets."""
    places = np.array(relative)
    if places.dtype.kind != "i":
        raise Unsupported("relative positions that are not integers")
    with library():
        found = T5MultiHeadAttention._relative_position_bucket(
            ops.convert_to_tensor(places, "int32"), bidirectional, buckets, max_distance
        )
        return array(found)


def swin(window):
    """Return the index of each pair of patches."""
    with library():
        return array(get_relative_position_index(window, window))


def swin_rectangle(height, width):
    """Return the index of each pair of patches of a window that is not square."""
    with library():
        return array(get_relative_position_index(height, width))


class Rotary(CountedByCaller):
    """A layer `RotaryEmbedding`, for suite sequences."""

    def __init__(self, d, base=10000.0, layout="half", rule="default", **given):
        if layout != "half" or rule != "default":
            raise Unsupported(f"layout {layout}, rule {rule}")
        self.layer = keras_hub.layers.RotaryEmbedding(max_wavelength=base)

    def rotate(self, x, positions):
        """Return rotated vectors."""
        return rotated(self.layer, x, positions)

    def cast(self, dtype):
        """Set the dtype of the layer."""
        with library():
            self.layer.dtype_policy = dtype


class SuRotary:
    """The rotary layer of Phi-3, for suite sequences."""

    def __init__(self, d, base=10000.0, rule="default", **given):
        if rule != "longrope":
            raise Unsupported(f"rule {rule}")
        self.d, self.layer = d, phi3_layer(d, base, **given)

    def frequencies(self, length):
        """Return the frequencies in a sequence of a length."""
        return angles(self.layer, self.d, length)["frequencies"]


LAYER, LLAMA = keras_hub.layers.RotaryEmbedding, LlamaRotaryEmbedding

if __name__ == "__main__":
    ways = {
        "layers": {
            "frequencies": of_layers,
            "rotation": plain_rotation(LAYER),
            "scores": scores_of(plain_rotation(LAYER)),
            "sinusoidal": sinusoidal,
            "alibi": alibi,
            "alibi_bias": alibi_bias,
            "sequences": objects(Rotary),
        },
        "Llama": {
            "frequencies": of_llama,
            "config": llama_config,
            "rotation": plain_rotation(LLAMA),
        },
        "Phi-3": {"frequencies": of_phi3, "sequences": objects(SuRotary)},
        "Flux": {
            "rotation": flux_rotation,
            "scores": scores_of(flux_rotation),
            "sinusoidal": flux_timesteps,
        },
        "Gemma 4": {"rotation_2d": gemma4_rotation_2d},
        "Qwen3.5": {"mrope": qwen_mrope},
        "T5": {"t5": t5},
        "Swin": {"swin": swin, "swin_rectangle": swin_rectangle},
    }
    answer_lines(ways={way: tidy(answers) for way, answers in ways.items()})
