"""The header of a GGUF file, and what its keys mean as those of a configuration.

A GGUF file holds the settings of a model, by keys of llama.cpp, before its tensors. Of the tensors
only the divisors of frequencies are read: the rules of Llama 3.1 and Phi-3 have no other place.

Source: docs/gguf.md of github.com/ggml-org/ggml for the format; of github.com/ggml-org/llama.cpp
src/llama-arch.cpp for the keys, src/llama-model.cpp for their defaults.
"""

from __future__ import annotations

import mmap
import struct
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from posenc._arguments import _shown
from posenc.config.families import (
    BASE,
    LATENTS,
    LOCAL,
    ORIGINAL,
    WIDTH,
    WINDOW,
    defaults_of,
    layout_of,
)
from posenc.frequency import frequencies
from posenc.rotary.scaling import llama3_frequencies, yarn_temperature

if TYPE_CHECKING:
    from posenc.config.entries import Entries

MAGIC, SUFFIX = b"GGUF", ".gguf"
ARCHITECTURE, ALIGNMENT = "general.architecture", "general.alignment"
DIVISORS = ("rope_freqs.weight", "rope_factors_short.weight", "rope_factors_long.weight")

# The types of values, by number: as struct writes them, then strings and arrays.
NUMBERS = {
    0: "B", 1: "b", 2: "H", 3: "h", 4: "I", 5: "i", 6: "f", 7: "?", 10: "Q", 11: "q", 12: "d",
}  # fmt: skip
STRING, ARRAY, FLOAT = 8, 9, 0  # FLOAT is a type of tensors

# What no header exceeds: bytes of a string, elements of an array, and of one that is kept.
LONGEST, MOST, KEPT = 2**24, 2**22, 2**15
LONGEST_NAME = 2**16 - 1  # bytes of a key or of the name of a tensor

# Which dimensions form a pair, by architecture: llama_model_rope_type in src/llama-model.cpp of
# llama.cpp, where these are called NORM, NEOX, MROPE and IMROPE, and those after them NONE.
ADJACENT = {
    "llama", "llada", "llama4", "deci", "baichuan", "starcoder", "internlm2", "minicpm",
    "xverse", "command-r", "cohere2", "olmo", "arctic", "deepseek", "deepseek2",
    "deepseek2-ocr", "deepseek32", "deepseek4", "plm", "chatglm", "granite", "granitemoe",
    "granitehybrid", "chameleon", "bailingmoe", "neo-bert", "smollm3", "arcee", "ernie4_5",
    "ernie4_5-moe", "mistral3", "mistral4", "eagle3", "llama-embed", "maincoder", "glm-dsa",
    "glm4",
}  # fmt: skip
HALVES = {
    "falcon", "falcon-h1", "grok", "dbrx", "bert", "jina-bert-v3", "modern-bert", "nomic-bert",
    "nomic-bert-moe", "eurobert", "stablelm", "bitnet", "qwen", "qwen2", "dream", "qwen2moe",
    "qwen3", "qwen3moe", "llada-moe", "rnd1", "olmo2", "olmoe", "phi2", "phi3", "phimoe",
    "plamo", "plamo2", "plamo3", "gemma", "gemma2", "gemma3", "gemma3n", "gemma4",
    "gemma-embedding", "starcoder2", "openelm", "gptneox", "codeshell", "orion", "nemotron",
    "exaone", "exaone4", "exaone-moe", "minicpm3", "bailingmoe2", "dots1", "hunyuan-moe",
    "hunyuan-dense", "hunyuan_vl", "jais2", "gpt-oss", "hy_v3", "lfm2", "lfm2moe",
    "smallthinker", "seed_oss", "grovemoe", "apertus", "minimax-m2", "cogvlm", "pangu-embedded",
    "afmoe", "laguna", "qwen3next", "mimo2", "step35", "talkie", "mellum", "glm4moe", "qwen2vl",
    "paddleocr",
}  # fmt: skip
ALTERNATING = {"qwen3vl", "qwen3vlmoe", "qwen35", "qwen35moe"}  # halves, whose axes alternate
UNROTATED = {
    "clip", "gpt2", "gptj", "mpt", "refact", "bloom", "mamba", "mamba2", "jamba",
    "jina-bert-v2", "t5", "t5encoder", "jais", "rwkv6", "rwkv6qwen2", "rwkv7", "arwkv7",
    "wavtokenizer-dec", "nemotron_h", "nemotron_h_moe", "kimi-linear",
}  # fmt: skip

# The model type of transformers whose layers have the same settings.
KINDS = {
    "cohere2": "cohere2", "command-r": "cohere", "deepseek2": "deepseek_v3", "falcon": "falcon",
    "gemma": "gemma", "gemma2": "gemma2", "gemma3": "gemma3_text", "gpt-oss": "gpt_oss",
    "gptneox": "gpt_neox", "granite": "granite", "llama": "llama", "llama4": "llama4_text",
    "olmo": "olmo", "olmoe": "olmoe", "phi2": "phi", "phi3": "phi3", "phimoe": "phimoe",
    "qwen2": "qwen2", "qwen2moe": "qwen2_moe", "qwen2vl": "qwen2_vl_text", "qwen3": "qwen3",
    "qwen3moe": "qwen3_moe", "qwen3vl": "qwen3_vl_text", "qwen3vlmoe": "qwen3_vl_moe_text",
    "seed_oss": "seed_oss", "smollm3": "smollm3", "stablelm": "stablelm",
    "starcoder2": "starcoder2",
}  # fmt: skip

# The keys about rotation, after the name of the architecture.
COUNT, SECTIONS, FREQUENCY = "rope.dimension_count", "rope.dimension_sections", "rope.freq_base"
SCALING = "rope.scaling."
ROPE = {
    COUNT, SECTIONS, FREQUENCY, f"{COUNT}_swa", f"{FREQUENCY}_swa", "rope.scale_linear",
    *(SCALING + key for key in (
        "type", "factor", "attn_factor", "original_context_length", "finetuned",
        "yarn_log_multiplier", "yarn_ext_factor", "yarn_attn_factor", "yarn_beta_fast",
        "yarn_beta_slow",
    )),
}  # fmt: skip
RULES = ("none", "linear", "yarn", "longrope")
PUBLISHED = (8.0, 32.0)  # the factors of Llama 3.1 and 3.2, trained on so many positions first:
TRAINED, LIMITS = 8192, {"low": 1.0, "high": 4.0}

Content = bytes | mmap.mmap


def content_of(path: Path) -> Content:
    """Return the bytes of a file; those of a GGUF file are not read before they are asked for."""
    with path.open("rb") as file:
        if file.peek(4)[:4] == MAGIC and path.is_file():
            return mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
        return file.read(4) if path.suffix == SUFFIX else file.read()


def is_gguf(content: Content, name: str) -> bool:
    """Say whether a file is GGUF by its first bytes, or ought to be by its name."""
    return content[:4] == MAGIC or name.endswith(SUFFIX)


def metadata(content: Content, name: str) -> dict[str, Any]:
    """Return the settings in a GGUF file, and the divisors of frequencies among its tensors.

    Raises:
        ValueError: the file is no GGUF of version 2 or 3, little-endian, it is cut short, or it
            declares more than it has or any header needs.
    """
    cursor = _Cursor(content, name)
    _check_start(cursor)
    tensors = cursor.count("the number of tensors", MOST, size=24)
    pairs = cursor.count("the number of keys", MOST, size=13)
    found: dict[str, Any] = {}
    for number in range(pairs):
        key = cursor.string(f"key {number}", LONGEST_NAME)
        if key in found:
            raise ValueError(f"config must have one value for {_quoted(key)}; got two in {name}")
        found[key] = _value(cursor, key)
    places = [place for i in range(tensors) if (place := _tensor(cursor, i))[0] in DIVISORS]
    step = found.get(ALIGNMENT, 32)
    if not isinstance(step, int) or not 1 <= step <= LONGEST:
        raise ValueError(f"{ALIGNMENT} must be an integer from 1 to {LONGEST}; got {_shown(step)}")
    start = -(-cursor.at // step) * step
    divisors = {place[0]: _floats(cursor, start, *place) for place in places}
    if ARCHITECTURE not in found:
        raise ValueError(f"{ARCHITECTURE} must be given in {name}; got none")
    return found | divisors


class _Cursor:
    """A place in a file, which moves on as the file is read and never beyond its end."""

    def __init__(self, content: Content, name: str) -> None:
        self.content, self.name, self.at = content, name, 0

    def skip(self, count: int, what: str) -> int:
        """Return where the next bytes begin, and move on behind them."""
        start, missing = self.at, self.at + count - len(self.content)
        if missing > 0:
            raise ValueError(
                f"config must be a whole GGUF file; got {self.name}, which ends at byte"
                f" {len(self.content)}, {missing} short of the end of {what}"
            )
        self.at += count
        return start

    def number(self, form: str, what: str) -> Any:
        """Return a number of a form that struct knows."""
        size = struct.calcsize(f"<{form}")
        return struct.unpack_from(f"<{form}", self.content, self.skip(size, what))[0]

    def count(self, what: str, most: int, *, size: int = 1) -> int:
        """Return how many things of so many bytes or more follow."""
        given = int(self.number("Q", what))
        fitting = (len(self.content) - self.at) // size
        if given > min(most, fitting):
            why = "more are never needed" if most <= fitting else "no more fit in the file"
            raise ValueError(f"{what} must be at most {min(most, fitting)}: {why}; got {given}")
        return given

    def string(self, what: str, most: int = LONGEST) -> str:
        """Return a string, which its length precedes."""
        count = self.count(f"the length of {what}", most)
        start = self.skip(count, what)
        return self.content[start : start + count].decode("utf-8", "replace")


def _quoted(name: str) -> str:
    """Return a name in a file as messages show it."""
    return _shown(name).removesuffix(" (str)")


def _check_start(cursor: _Cursor) -> None:
    """Raise ValueError if the first bytes are not those of a GGUF file that is read here."""
    seen = bytes(cursor.content[:4])
    if seen != MAGIC[: len(seen)]:
        raise ValueError(f"config must begin with {MAGIC!r} in {cursor.name}; got {seen!r}")
    cursor.skip(4, "the magic")
    version = cursor.number("I", "the version")
    if version not in (2, 3):
        swapped = ", big-endian" if version in (2 << 24, 3 << 24) else ""
        raise ValueError(
            f"config must be GGUF of version 2 or 3, little-endian; got {cursor.name} of version"
            f" {version >> 24 if swapped else version}{swapped}"
        )


def _value(cursor: _Cursor, key: str) -> Any:
    """Return the value of a key, None for arrays that are of strings or too long to matter."""
    name = _quoted(key)
    kind = cursor.number("I", f"the type of {name}")
    if kind == STRING:
        return cursor.string(name)
    if kind == ARRAY:
        return _array(cursor, name)
    if kind not in NUMBERS:
        raise ValueError(f"the type of {name} must be a number from 0 to 12; got {kind}")
    return cursor.number(NUMBERS[kind], name)


def _array(cursor: _Cursor, name: str) -> list[Any] | None:
    """Return the numbers of an array."""
    kind, length = cursor.number("I", f"the type of {name}"), f"the length of {name}"
    if kind == STRING:
        inner = f"the length of a string of {name}"
        for _ in range(cursor.count(length, MOST, size=8)):
            cursor.skip(cursor.count(inner, LONGEST), name)
        return None
    if kind not in NUMBERS:
        raise ValueError(f"{name} must be an array of numbers or strings; got type {kind}")
    size = struct.calcsize(f"<{NUMBERS[kind]}")
    count = cursor.count(length, MOST, size=size)
    start = cursor.skip(count * size, name)
    if count > KEPT:
        return None
    return list(struct.unpack_from(f"<{count}{NUMBERS[kind]}", cursor.content, start))


def _tensor(cursor: _Cursor, number: int) -> tuple[str, list[int], int, int]:
    """Return the name, the shape, the type and the place of a tensor."""
    name = cursor.string(f"the name of tensor {number}", LONGEST_NAME)
    what = f"the entry of tensor {_quoted(name)}"
    axes = cursor.number("I", what)
    if axes > 8:
        raise ValueError(f"the axes of tensor {_quoted(name)} must be at most 8; got {axes}")
    shape = [cursor.number("Q", what) for _ in range(axes)]
    return name, shape, cursor.number("I", what), cursor.number("Q", what)


def _floats(
    cursor: _Cursor, start: int, name: str, shape: list[int], kind: int, offset: int
) -> list[float]:
    """Return the numbers of a tensor of one axis."""
    if kind != FLOAT or len(shape) != 1 or not 1 <= shape[0] <= KEPT:
        raise ValueError(
            f"{name} must be a tensor of type 0 (F32) and one axis of 1 to {KEPT}; got type {kind}"
            f" and shape {shape}"
        )
    cursor.at = start + offset
    return list(
        struct.unpack_from(f"<{shape[0]}f", cursor.content, cursor.skip(4 * shape[0], name))
    )


def configuration(entries: Entries, notes: list[str]) -> dict[str, Any]:
    """Return the settings of a GGUF file under the keys of config.json, and note what differs."""
    name = entries.text(ARCHITECTURE) or ""
    if name in UNROTATED:
        raise ValueError(
            f"{ARCHITECTURE} must be an architecture that llama.cpp rotates; got {_shown(name)},"
            " which it does not"
        )
    _refuse_strangers(entries, name)
    notes.append(
        "The keys are those of GGUF, read as llama.cpp reads them; here they have the names that"
        " config.json uses."
    )
    kind = KINDS.get(name, f"{name} of GGUF")
    length = entries.integer(f"{name}.context_length")
    base = _base(entries, name, notes)
    width, rotated = _widths(entries, name)
    heads = (
        {"qk_rope_head_dim": rotated} if kind in LATENTS else {WIDTH: width, "rotary_dim": rotated}
    )
    found = {
        "model_type": kind,
        "max_position_embeddings": length,
        "num_hidden_layers": entries.integer(f"{name}.block_count"),
        BASE: base,
        LOCAL: _local_base(entries, name, kind, base),
        WINDOW: entries.integer(f"{name}.attention.sliding_window", least=0) or None,
        **heads,
    }
    rule = _rule(entries, name, base, rotated, notes)
    sections = _sections(entries, name)
    layout = _layout(name, kind, sections, notes)
    return found | layout | {"rope_scaling": rule | sections}


def _refuse_strangers(entries: Entries, name: str) -> None:
    """Raise ValueError if a key is about rotation and not read."""
    for key in entries.given(entries.mapping):
        inner = key.removeprefix(f"{name}.")
        if inner.startswith("rope.") and inner not in ROPE:
            shown = _shown(entries.mapping[key])
            raise ValueError(f"{key} must be a key that is read; got {shown}")


def _base(entries: Entries, name: str, notes: list[str]) -> float:
    """Return the base, for which llama.cpp has a default of its own."""
    base = entries.number(f"{name}.{FREQUENCY}", least=1, above=True)
    if base is None:
        notes.append(f"{name}.{FREQUENCY} is not given. llama.cpp uses 10000.")
    return base or 1e4


def _local_base(entries: Entries, name: str, kind: str, base: float) -> float | None:
    """Return the base of layers with a window, if they have one of their own."""
    local = entries.number(f"{name}.{FREQUENCY}_swa", least=1, above=True)
    return local if local != base or LOCAL in (defaults_of(kind) or {}) else None


def _widths(entries: Entries, name: str) -> tuple[int, int]:
    """Return the width of a head, and how many of its dimensions rotate."""
    key, count = f"{name}.attention.key_length", f"{name}.{COUNT}"
    width = entries.integer(key)
    if width is None:
        hidden = entries.integer(f"{name}.embedding_length")
        heads = _heads(entries, f"{name}.attention.head_count")
        if hidden is None or heads is None:
            raise ValueError(
                f"{key} must be given, or {name}.embedding_length and one"
                f" {name}.attention.head_count; got none"
            )
        width = hidden // heads
    rotated = entries.integer(count) or width
    if rotated > width or rotated % 2:
        raise ValueError(f"{count} must be an even integer from 2 to {width}; got {rotated}")
    if entries.integer(f"{count}_swa") not in (None, rotated):
        other = _shown(entries.mapping[f"{count}_swa"])
        raise ValueError(f"{count} and {count}_swa must agree; got {rotated} and {other}")
    return width, rotated


def _heads(entries: Entries, key: str) -> int | None:
    """Return the number of heads, None if layers differ in it."""
    given = entries.mapping.get(key)
    if not isinstance(given, list):
        return entries.integer(key)
    return given[0] if len(set(given)) == 1 and given[0] > 0 else None


def _sections(entries: Entries, name: str) -> dict[str, Any]:
    """Return how many pairs each axis of positions rotates; axes without pairs come last."""
    given = entries.mapping.get(f"{name}.{SECTIONS}") or []
    if not isinstance(given, list) or not any(given):
        return {}
    while given[-1] == 0:
        given = given[:-1]
    return {"mrope_section": given, "mrope_interleaved": name in ALTERNATING}


def _layout(name: str, kind: str, sections: Mapping[str, Any], notes: list[str]) -> dict[str, Any]:
    """Return which dimensions form a pair, nothing if the architecture is not in the table."""
    if not {name} & (ADJACENT | HALVES | ALTERNATING):
        notes.append(
            f"The layout is not known, as posenc has none for architecture {_quoted(name)}."
        )
        return {}
    interleaved = name in ADJACENT and not sections
    if interleaved and layout_of(kind, True) == "half":
        notes.append(
            'The layout "interleaved" is that of the weights in GGUF. In the checkpoint for'
            ' transformers it is "half": the conversion permutes the rows of queries and keys.'
        )
    return {"rotary_emb_interleaved": interleaved}


def _rule(
    entries: Entries, name: str, base: float, rotated: int, notes: list[str]
) -> dict[str, Any]:
    """Return the rule of the frequencies as `rope_scaling` has it."""
    key = f"{name}.{SCALING}type"
    kind = entries.text(key) or "linear"
    if kind not in RULES:
        allowed = ", ".join(f'"{one}"' for one in RULES)
        raise ValueError(f"{key} must be one of {allowed}; got {_shown(kind)}")
    factor = 1.0 if kind == "none" else _factor(entries, name)
    attention = entries.number(f"{name}.{SCALING}attn_factor", least=0, above=True) or 1.0
    divisors = {one: _divisors(entries, one, rotated) for one in entries.given(DIVISORS)}
    if kind == "yarn":
        return _yarn(entries, name, factor, attention, notes, divisors)
    if DIVISORS[1] in divisors or DIVISORS[2] in divisors or kind == "longrope":
        missing = [one for one in DIVISORS[1:] if one not in divisors]
        if missing:
            raise ValueError(f"{missing[0]} must be among the tensors with LongRoPE; got none")
        notes.append(
            "llama.cpp uses the long divisors if the context that it is set up for is long."
        )
        short, long = (factor * divisors[one] for one in DIVISORS[1:])
        return _divided(entries, name, short, long, attention)
    if DIVISORS[0] in divisors:
        notes.append(f"The frequencies are divided by the tensor {DIVISORS[0]}.")
        own = factor * divisors[DIVISORS[0]]
        found = _llama3(own, base, rotated) if attention == 1 else None
        return found or _divided(entries, name, own, own, attention)
    if attention != 1:
        same = np.full(rotated // 2, factor)
        return _divided(entries, name, same, same, attention)
    return {"rope_type": "default"} if factor == 1 else {"rope_type": "linear", "factor": factor}


def _factor(entries: Entries, name: str) -> float:
    """Return by how much positions are slowed; 0 and a missing factor mean 1."""
    keys = (f"{name}.{SCALING}factor", f"{name}.rope.scale_linear")
    given = next(iter(entries.given(keys)), keys[0])
    factor = entries.number(given, least=0) or 1.0
    if factor < 1:
        raise ValueError(f"{given} must be 0, or a number, 1 or more; got {factor:g}")
    return factor


def _divisors(entries: Entries, key: str, rotated: int) -> NDArray[np.float64]:
    """Return the divisors in a tensor, one a pair."""
    return np.array(entries.numbers(key, rotated // 2))


def _yarn(
    entries: Entries,
    name: str,
    factor: float,
    attention: float,
    notes: list[str],
    divisors: Mapping[str, object],
) -> dict[str, Any]:
    """Return YaRN, whose temperature llama.cpp multiplies by `attn_factor`."""
    for key in divisors:
        raise ValueError(f'{key} must not be among the tensors with {name}.{SCALING}type "yarn"')
    for key in (f"{name}.{SCALING}yarn_ext_factor", f"{name}.{SCALING}yarn_attn_factor"):
        if entries.number(key, least=-1) not in (None, 1, -1):
            raise ValueError(f"{key} must be 1; got {_shown(entries.mapping[key])}")
    rule: dict[str, Any] = {"rope_type": "yarn", "factor": factor}
    for key in ("beta_fast", "beta_slow"):
        given = entries.number(f"{name}.{SCALING}yarn_{key}", least=0, above=True)
        rule |= {} if given is None else {key: given}
    everywhere = entries.number(f"{name}.{SCALING}yarn_log_multiplier", least=0) or 0.0
    if KINDS.get(name) in LATENTS and everywhere and attention == 1:
        # The conversion of DeepSeek's models multiplies mscale_all_dim by 0.1.
        rule |= {"mscale": 10 * everywhere, "mscale_all_dim": 10 * everywhere}
    elif attention != 1 or everywhere:
        own = yarn_temperature(factor) / yarn_temperature(factor, mscale=everywhere)
        rule["attention_factor"] = attention * own
        notes.append(f"llama.cpp multiplies the temperature of YaRN by attn_factor, {attention:g}.")
    return rule | _original(entries, name)


def _original(entries: Entries, name: str) -> dict[str, Any]:
    """Return the trained length, for which llama.cpp takes the context's length."""
    given = entries.integer(f"{name}.{SCALING}original_context_length", least=2)
    return {ORIGINAL: given or entries.integer(f"{name}.context_length")}


def _divided(
    entries: Entries,
    name: str,
    short: NDArray[np.float64],
    long: NDArray[np.float64],
    attention: float,
) -> dict[str, Any]:
    """Return a rule that divides frequencies by given numbers, which is that of LongRoPE."""
    return {
        "rope_type": "longrope",
        "short_factor": short.tolist(),
        "long_factor": long.tolist(),
        "attention_factor": attention,
    } | _original(entries, name)


def _llama3(divisors: NDArray[np.float64], base: float, rotated: int) -> dict[str, Any] | None:
    """Return the rule of Llama 3.1 or 3.2 if these are its divisors."""
    for factor in PUBLISHED:
        rule = llama3_frequencies(
            rotated, factor=factor, base=base, trained_length=TRAINED, **LIMITS
        )
        if np.allclose(divisors, frequencies(rotated, base=base) / rule, rtol=1e-4, atol=0):
            return {
                "rope_type": "llama3",
                "factor": factor,
                ORIGINAL: TRAINED,
                "low_freq_factor": LIMITS["low"],
                "high_freq_factor": LIMITS["high"],
            }
    return None
