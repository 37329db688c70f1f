"""What a model configuration says about its rotary positions. `read_config` reads one.

Configurations like those of transformers, config.json, name the settings in two spellings: old,
`rope_scaling` beside a `rope_theta` of its own, and new, all in `rope_parameters`. Programs differ
in which settings they read, and for a setting that it does not read, a program silently takes a
default. Here a key that is not read is an error.

A key of the whole configuration is ignored, without an error, if it is not about positions: if none
of its words is, and it is not a misspelling of a key that is read. Inside `rope_scaling` and
`rope_parameters` every key must be one that the rule reads.

reading.py   a configuration, from its first key to the last
keys.py      the keys that are read, and those that are refused
spellings.py  published spellings of some models, put into the usual ones
layers.py    which part of it is about which layers
stack.py     which layers that is, by number
gguf.py      the header of a GGUF file, as a configuration
diffusion.py the axes of a diffusion transformer
training.py  YAML of training frameworks, as a configuration
places.py    where it lies: a file, a folder, a cache
head.py      the widths of a head and of what is rotated in it
rule.py      the base, the lengths and the rule of the frequencies
families.py  what is known about the model types of transformers
entries.py   typed entries, each named in errors by where it stands
explain.py   what a configuration does, in words and in numbers
serving.py   what to start a program with, so that it serves the model at a length
"""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from posenc._arguments import as_integer
from posenc.config.entries import load
from posenc.config.keys import NONE
from posenc.config.reading import read
from posenc.frequency import frequencies
from posenc.rotary.scaling import (
    dynamic_frequencies,
    interpolated_frequencies,
    llama3_frequencies,
    longrope_frequencies,
    ntk_frequencies,
    proportional_frequencies,
    yarn_frequencies,
)


class RotaryConfig:
    """The rotary settings of a model, or of the layers of one type, as its configuration has them.

    Args:
        config: a configuration, or where one is: see `read_config`.
        layer_type: of which layers, where they differ; see `read_config`.
        trained_length: how many positions a sequence had in training; see `read_config`.

    Attributes:
        scheme: the rule of the frequencies, as transformers names it: "default", "linear",
            "dynamic", "yarn", "longrope", "llama3" or "proportional"; "ntk" for a larger base,
            "fixed-ntk" and "ntk-steps" for those of code that comes with weights; "axial" for axes
            of a diffusion transformer; or "none" for layers without rotation.
        d: width of one head; of its rotated part where that is a vector of its own, as in
            DeepSeek's latent attention.
        rotary_d: how many dimensions are rotated, the first ones unless a note says that they are
            the last, as in DeepSeek-V4; 0 if none.
        base: of the frequencies before scaling; None with the scheme "none".
        layout: of the weights as published: "interleaved" or "half", or None if the model type does
            not settle it.
        factor: by how much the context is extended, or pairs are slowed; 1.0 if the rule has none.
        trained_length: how many positions a sequence had before the rule was applied; None if the
            configuration does not say.
        length: how many positions the configuration promises; None if it does not say.
        attention_factor: by how much rotated dimensions of queries and keys are scaled.
        softmax_factor: by how much the scores are scaled in addition, as in DeepSeek's models.
        sections: how many pairs each axis of positions rotates, in M-RoPE; None if there is one.
        interleaved_sections: whether the axes alternate, rather than having one block each.
        layer_type: the type of layers that this is about, or None if all are alike.
        layer_types: the types that differ; empty if all are alike.
        settings: other settings of the rule, as arguments of its function in `posenc`.
        rotates: whether these layers rotate queries and keys; None if nothing is known of the model
            type, and it is read as if they did.
        layers: the numbers of these layers, counted from 0; None if that is not known.
        windowed_layers: the numbers of those among them that attend in a window; None if unknown.
        base_given: whether the base is in the configuration, rather than the default of the type.
        notes: what is ambiguous, or done differently by different programs, in sentences.

    Raises:
        TypeError: see `read_config`.
        ValueError: see `read_config`.
        OSError: see `read_config`.

    Source:
        transformers 5.24, modeling_rope_utils.py and the configurations of its models.

    Examples:
        >>> RotaryConfig({"head_dim": 64, "rope_theta": 1e6, "max_position_embeddings": 4096})
        RotaryConfig(default, d=64, rotary_d=64, base=1000000, length=4096)
    """

    def __init__(
        self,
        config: Mapping[str, Any] | str | os.PathLike[str],
        *,
        layer_type: str | None = None,
        trained_length: int | None = None,
    ) -> None:
        if trained_length is not None:
            trained_length = as_integer("trained_length", trained_length, least=2)
        found = read(load(config), layer_type, trained_length)
        rule, head = found.rule, found.head
        self.scheme = rule.scheme
        self.d = head.d
        self.rotary_d = head.rotary_d if rule.scheme != NONE else 0
        self.base = rule.base
        self.layout = found.layout
        self.factor = rule.factor
        self.trained_length = rule.trained_length
        self.length = rule.length
        self.attention_factor = rule.attention_factor
        self.softmax_factor = rule.softmax_factor
        self.sections = found.sections
        self.interleaved_sections = found.interleaved_sections
        self.layer_type = found.layer_type
        self.layer_types = found.layer_types
        self.settings = dict(rule.settings)
        self.rotates, self.layers, self.windowed_layers, self._count = found.stack
        self.base_given = rule.base_given
        self.notes = tuple(found.notes)
        self._place = found.place

    def __repr__(self) -> str:
        parts = [self.scheme, f"d={self.d}", f"rotary_d={self.rotary_d}"]
        if self.base is not None:
            parts.append(f"base={self.base:.15g}")
        if self.factor != 1:
            parts.append(f"factor={self.factor:.15g}")
        return f"RotaryConfig({', '.join([*parts, f'length={self.length}'])})"

    def frequencies(self, length: int | None = None) -> NDArray[np.float64]:
        """Return the frequency of each rotated pair in a sequence of this length.

        Args:
            length: how many positions the whole sequence has; an integer, 1 or more. None for any
                up to the trained length. It matters for "dynamic" and "longrope" only.

        Returns:
            Shape `(rotary_d/2,)`, float64, radians per position, a new array. The result depends on
            nothing else: not on earlier calls.

        Raises:
            TypeError: `length` is not an integer.
            ValueError: `length` is below 1.

        Examples:
            >>> config = {"head_dim": 8, "rope_theta": 1e4, "max_position_embeddings": 256}
            >>> config["rope_scaling"] = {"rope_type": "dynamic", "factor": 2.0}
            >>> found = read_config(config)
            >>> found.frequencies(256)
            array([1.   , 0.1  , 0.01 , 0.001])
            >>> (found.frequencies(512) / found.frequencies(256)).round(4)
            array([1.    , 0.6934, 0.4807, 0.3333])
        """
        if length is not None:
            length = as_integer("length", length, least=1)
        return COMPUTED[self.scheme](self, length or 1)


def read_config(
    config: Mapping[str, Any] | str | os.PathLike[str],
    *,
    layer_type: str | None = None,
    trained_length: int | None = None,
) -> RotaryConfig:
    """Return the rotary settings that a configuration in the format of transformers gives a model.

    The configuration is read as transformers reads it. Where other programs, or the authors' own,
    read it differently, `notes` of the result say so.

    Args:
        config: the configuration as a mapping, or the path of its JSON file, of a folder that has
            it as config.json, of a GGUF file, of YAML of a training framework (which needs PyYAML),
            of a model in the Hub's cache, or of an adapter whose base is a folder. Nothing is
            fetched. Of a model with text and images, the part about text is read.
        layer_type: of which layers, where they differ: a name in `layer_types` of the
            configuration, such as "sliding_attention"; or, where the configuration counts layers
            without rotation, "rope" or "no_rope". None for those with full attention, or those that
            rotate if full attention does not.
        trained_length: how many positions a sequence had in training, an integer, 2 or more; read
            as if it were `original_max_position_embeddings` of the configuration. None if that says
            it, or without a rule promises as many.

    Returns:
        A `RotaryConfig`.

    Raises:
        TypeError: `config` is neither a mapping nor a path, or an entry of it is of a wrong type.
        ValueError: `config` is not a JSON object or a whole GGUF file, has a key about positions
            that is not read or written like one that is, or entries that contradict one another, or
            lacks one that is needed; an entry has a wrong value; `layer_type` is unknown.
        OSError: the file cannot be read.

    Source:
        transformers 5.24, modeling_rope_utils.py and the configurations of its models.

    Examples:
        >>> scaling = {"rope_type": "yarn", "factor": 4.0}
        >>> scaling["original_max_position_embeddings"] = 32768
        >>> config = {"head_dim": 128, "rope_theta": 1e6, "rope_scaling": scaling}
        >>> found = read_config(config)
        >>> found.scheme, found.trained_length, found.length, round(found.attention_factor, 4)
        ('yarn', 32768, 131072, 1.1386)
        >>> read_config({"head_dim": 128, "rope_teta": 500000})
        Traceback (most recent call last):
        ValueError: rope_teta must be a key that is read, such as rope_theta; got 500000 (int)
    """
    return RotaryConfig(config, layer_type=layer_type, trained_length=trained_length)


COMPUTED: dict[str, Callable[[RotaryConfig, int], NDArray[np.float64]]] = {
    NONE: lambda c, _: np.empty(0),
    "default": lambda c, _: frequencies(c.rotary_d, base=_base(c)),
    "axial": lambda c, _: np.concatenate(
        [frequencies(width, base=_base(c)) for width in c.settings["widths"]]
    ),
    "linear": lambda c, _: interpolated_frequencies(c.rotary_d, c.factor, base=_base(c)),
    "ntk": lambda c, _: ntk_frequencies(c.rotary_d, c.factor, base=_base(c)),
    "fixed-ntk": lambda c, _: (
        frequencies(c.rotary_d, base=_base(c) * c.factor) / c.factor ** (2 / c.rotary_d)
    ),
    "ntk-steps": lambda c, length: ntk_frequencies(
        c.rotary_d, _step(length, c.trained_length or 1), base=_base(c)
    ),
    "dynamic": lambda c, length: dynamic_frequencies(
        c.rotary_d, length, factor=c.factor, base=_base(c), **_trained(c)
    ),
    "yarn": lambda c, _: yarn_frequencies(
        c.rotary_d, c.factor, ramp="pairs", base=_base(c), **_trained(c), **c.settings
    ),
    "longrope": lambda c, length: longrope_frequencies(
        c.rotary_d, length, base=_base(c), **_trained(c), **c.settings
    ),
    "llama3": lambda c, _: llama3_frequencies(
        c.rotary_d, factor=c.factor, base=_base(c), **_trained(c), **c.settings
    ),
    "proportional": lambda c, _: proportional_frequencies(
        c.rotary_d, factor=c.factor, base=_base(c), **c.settings
    ),
}


def _base(config: RotaryConfig) -> float:
    """Return the base of a config whose layers rotate."""
    assert config.base is not None
    return config.base


def _step(length: int, trained: int) -> int:
    """Return by how much Qwen-7B enlarges the base: 1, 3, 7, ... as the length doubles."""
    return max(int(2 ** math.ceil(math.log2(length / trained) + 1)) - 1, 1)


def _trained(config: RotaryConfig) -> dict[str, Any]:
    """Return the trained length as the argument that rules take."""
    return {"trained_length": config.trained_length}
