"""The header of a GGUF file, and the configuration that its keys make."""

from __future__ import annotations

import io
import json
import math
import struct
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from posenc import frequencies, llama3_frequencies, read_config
from posenc.__main__ import main
from posenc.config import gguf

LLAMA: dict[str, Any] = {
    "general.architecture": "llama",
    "llama.context_length": 131072,
    "llama.embedding_length": 256,
    "llama.attention.head_count": 4,
    "llama.rope.dimension_count": 64,
    "llama.rope.freq_base": 500000.0,
}
QWEN2: dict[str, Any] = {
    "general.architecture": "qwen2",
    "qwen2.context_length": 32768,
    "qwen2.embedding_length": 512,
    "qwen2.attention.head_count": 4,
    "qwen2.rope.freq_base": 1000000.0,
    "qwen2.rope.scaling.type": "yarn",
    "qwen2.rope.scaling.factor": 4.0,
    "qwen2.rope.scaling.original_context_length": 32768,
}
PHI3: dict[str, Any] = {
    "general.architecture": "phi3",
    "phi3.context_length": 131072,
    "phi3.attention.key_length": 96,
    "phi3.rope.dimension_count": 96,
    "phi3.rope.scaling.original_context_length": 4096,
    "phi3.rope.scaling.attn_factor": math.sqrt(1 + math.log(32) / math.log(4096)),
}
SHORT, LONG = np.linspace(1, 1.5, 48), np.linspace(1, 64, 48)
SCALED = llama3_frequencies(64, factor=8, base=5e5, trained_length=8192, low=1, high=4)
DIVISORS = frequencies(64, base=5e5) / SCALED


def string(text: str) -> bytes:
    return struct.pack("<Q", len(text.encode())) + text.encode()


def value(given: Any) -> bytes:
    """Return a value and its type as a file has them."""
    if isinstance(given, bytes):  # a type and a value as they are
        return given
    if isinstance(given, str):
        return struct.pack("<I", 8) + string(given)
    if isinstance(given, list):
        inner = [value(one) for one in given]
        return struct.pack("<I4sQ", 9, inner[0][:4], len(given)) + b"".join(x[4:] for x in inner)
    if isinstance(given, bool):
        return struct.pack("<I?", 7, given)
    return (
        struct.pack("<If", 6, given) if isinstance(given, float) else struct.pack("<Ii", 5, given)
    )


def written(
    pairs: Mapping[str, Any], version: int = 3, **tensors: np.typing.NDArray[np.float64]
) -> bytes:
    """Return a GGUF file with tensors of one axis, each named like its argument, and weight."""
    head = struct.pack("<4sIQQ", b"GGUF", version, len(tensors), len(pairs))
    head += b"".join(string(key) + value(one) for key, one in pairs.items())
    data = b""
    for name, one in tensors.items():
        head += string(f"{name}.weight") + struct.pack("<IQIQ", 1, len(one), 0, len(data))
        data += one.astype("<f4").tobytes().ljust(-(-4 * len(one) // 32) * 32, b"\0")
    return head.ljust(-(-len(head) // 32) * 32, b"\0") + data if tensors else head


def saved(folder: Path, content: bytes, name: str = "model.gguf") -> Path:
    (folder / name).write_bytes(content)
    return folder / name


@pytest.mark.parametrize("version", [2, 3])
def test_llama_has_adjacent_pairs_and_the_divisors_of_a_tensor(
    tmp_path: Path, version: int
) -> None:
    path = saved(tmp_path, written(LLAMA, version=version, rope_freqs=DIVISORS))
    found = read_config(path)
    assert (found.scheme, found.layout, found.d, found.base) == ("llama3", "interleaved", 64, 5e5)
    assert (found.factor, found.trained_length, found.length) == (8, 8192, 131072)
    np.testing.assert_allclose(found.frequencies(), SCALED, rtol=1e-12)
    assert any("permutes the rows of queries and keys" in note for note in found.notes)
    plain = read_config(saved(tmp_path, written(LLAMA)))
    assert plain.scheme == "default"
    np.testing.assert_array_equal(plain.frequencies(), frequencies(64, base=5e5))


def test_for_a_longer_context_llama_cpp_is_told_what_the_file_cannot_say(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = str(saved(tmp_path, written(LLAMA)))
    assert main(["config", path, "--length", "256k"]) == 1
    words = capsys.readouterr().out
    assert "which --for llama.cpp prints" in words and '"rope_scaling"' not in words
    assert main(["config", path, "--length", "256k", "--for", "llama.cpp"]) == 0
    line = capsys.readouterr().out
    assert "--override-kv llama.context_length=int:262144" in line
    assert "--rope-scaling yarn" in line and "ARCHITECTURE" not in line
    assert main(["config", path, "--length", "64k", "--for", "llama.cpp"]) == 0
    assert "--override-kv" not in capsys.readouterr().out


def test_divisors_of_no_published_rule_divide_all_the_same(tmp_path: Path) -> None:
    own = np.linspace(1, 9, 32)
    path = saved(tmp_path, written(LLAMA | {"llama.rope.scaling.factor": 2.0}, rope_freqs=own))
    found = read_config(path)
    expected = frequencies(64, base=5e5) / 2 / own
    for length in (1, 10**6):
        np.testing.assert_allclose(found.frequencies(length), expected, rtol=1e-6)
    assert found.attention_factor == 1
    assert any("divided by the tensor rope_freqs.weight" in note for note in found.notes)


def test_qwen2_has_halves_and_yarn(tmp_path: Path) -> None:
    found = read_config(saved(tmp_path, written(QWEN2)))
    scaling = {"type": "yarn", "factor": 4.0, "original_max_position_embeddings": 32768}
    config = {"model_type": "qwen2", "head_dim": 128, "rope_theta": 1e6, "rope_scaling": scaling}
    same = read_config(config | {"max_position_embeddings": 32768})
    assert (found.scheme, found.layout, found.length) == ("yarn", "half", 131072)
    assert found.attention_factor == same.attention_factor
    np.testing.assert_array_equal(found.frequencies(), same.frequencies())


def test_phi3_has_the_divisors_of_longrope(tmp_path: Path) -> None:
    content = written(PHI3, rope_factors_short=SHORT, rope_factors_long=LONG)
    found = read_config(saved(tmp_path, content))
    scaling = {"type": "longrope", "short_factor": SHORT.tolist(), "long_factor": LONG.tolist()}
    config = {"model_type": "phi3", "head_dim": 96, "rope_theta": 1e4, "rope_scaling": scaling}
    config |= {"max_position_embeddings": 131072, "original_max_position_embeddings": 4096}
    same = read_config(config)
    assert (found.scheme, found.layout) == ("longrope", "half")
    assert found.attention_factor == pytest.approx(same.attention_factor, rel=1e-6)
    for length in (4096, 4097):
        np.testing.assert_allclose(found.frequencies(length), same.frequencies(length), rtol=1e-6)


@pytest.mark.parametrize(
    ("more", "scheme", "divisor", "attention"),
    [
        ({"type": "none", "factor": 4.0}, "default", 1, 1),
        ({"type": "linear", "factor": 4.0}, "linear", 4, 1),
        ({"factor": 0.0}, "default", 1, 1),
        ({"factor": 4.0, "attn_factor": 1.5}, "longrope", 4, 1.5),
    ],
)
def test_a_rule_without_a_type_is_linear(
    more: dict[str, Any], scheme: str, divisor: float, attention: float
) -> None:
    scaling = {f"llama.rope.scaling.{key}": one for key, one in more.items()}
    found = read_config(LLAMA | scaling)
    assert (found.scheme, found.attention_factor) == (scheme, attention)
    expected = frequencies(64, base=5e5) / divisor
    np.testing.assert_allclose(found.frequencies(), expected, rtol=1e-12)


def test_the_limits_of_the_ramp_may_be_given() -> None:
    assert read_config(QWEN2).settings["fast"] == 32
    found = read_config(QWEN2 | {"qwen2.rope.scaling.yarn_beta_fast": 16.0})
    assert found.settings["fast"] == 16


def test_attn_factor_multiplies_the_temperature_of_yarn() -> None:
    found = read_config(QWEN2 | {"qwen2.rope.scaling.attn_factor": 2.0})
    assert found.attention_factor == pytest.approx(2 * (0.1 * math.log(4) + 1))
    found = read_config(QWEN2 | {"qwen2.rope.scaling.yarn_log_multiplier": 1.0})
    assert found.attention_factor == 1


def test_latent_attention_scales_scores_as_deepseek_does() -> None:
    a = "deepseek2"
    keys: dict[str, Any] = {f"{a}.attention.key_length": 192, f"{a}.rope.dimension_count": 64}
    keys |= {f"{a}.context_length": 163840, f"{a}.rope.scaling.yarn_log_multiplier": 0.1}
    keys |= {f"{a}.rope.scaling.original_context_length": 4096, f"{a}.rope.scaling.factor": 40.0}
    keys |= {f"{a}.rope.scaling.type": "yarn", "general.architecture": a}
    found = read_config(keys)
    assert (found.d, found.layout, found.attention_factor) == (64, "interleaved", 1)
    assert found.softmax_factor == pytest.approx((0.1 * math.log(40) + 1) ** 2)


def test_axes_without_pairs_are_left_out() -> None:
    keys = {"general.architecture": "qwen2vl", "qwen2vl.attention.key_length": 128}
    keys |= {"qwen2vl.context_length": 32768, "qwen2vl.rope.dimension_sections": [16, 24, 24, 0]}
    found = read_config(keys)
    assert (found.sections, found.interleaved_sections) == ((16, 24, 24), False)
    keys = {key.replace("qwen2vl", "qwen3vl"): one for key, one in keys.items()}
    found = read_config(keys | {"general.architecture": "qwen3vl"})
    assert (found.interleaved_sections, found.layout) == (True, "half")
    assert (
        read_config(
            keys
            | {"general.architecture": "qwen3vl"}
            | {"qwen3vl.rope.dimension_sections": [0, 0, 0, 0]}
        ).sections
        is None
    )


def test_layers_with_a_window_have_the_base_of_gemma3() -> None:
    keys = {"general.architecture": "gemma3", "gemma3.attention.key_length": 256}
    keys |= {"gemma3.rope.freq_base": 1e6, "gemma3.attention.sliding_window": 1024}
    keys |= {"gemma3.rope.scaling.type": "linear", "gemma3.rope.scaling.factor": 8.0}
    assert read_config(keys).factor == 8
    sliding = read_config(keys, layer_type="sliding_attention")
    assert (sliding.base, sliding.scheme) == (1e4, "default")
    keys |= {"gemma3.rope.freq_base_swa": 2e4}
    assert read_config(keys, layer_type="sliding_attention").base == 2e4


@pytest.mark.parametrize("name", sorted(gguf.KINDS))
def test_every_architecture_with_a_model_type_is_read(name: str) -> None:
    keys = {f"{name}.context_length": 4096, f"{name}.attention.key_length": 64}
    keys |= {f"{name}.rope.dimension_count": 32, f"{name}.block_count": 12}
    found = read_config(keys | {"general.architecture": name})
    assert (found.rotary_d, found.base) == (32, 1e4)
    assert found.layout is not None
    assert found.rotates is not None


def test_no_architecture_is_in_two_tables() -> None:
    tables = [gguf.ADJACENT, gguf.HALVES, gguf.ALTERNATING, gguf.UNROTATED]
    assert sum(map(len, tables)) == len(set().union(*tables))


def test_the_layout_of_an_unknown_architecture_is_open() -> None:
    found = read_config(
        {"general.architecture": "of tomorrow", "of tomorrow.attention.key_length": 64}
    )
    assert found.layout is None
    said = "The layout is not known, as posenc has none for architecture 'of tomorrow'."
    assert said in found.notes
    assert any(note.startswith("Model type 'of tomorrow of GGUF'") for note in found.notes)


@pytest.mark.parametrize(
    ("more", "message"),
    [
        (
            {"general.architecture": "gpt2"},
            "general.architecture must be an architecture that llama.cpp rotates",
        ),
        (
            {"llama.rope.scaling.beta": 2.0},
            "llama.rope.scaling.beta must be a key that is read; got",
        ),
        ({"llama.rope.freq_base": -1.0}, "llama.rope.freq_base must be a number above 1; got -1"),
        ({"llama.rope.dimension_count": 66}, "must be an even integer from 2 to 64; got 66"),
        ({"llama.rope.dimension_count_swa": 32}, "dimension_count_swa must agree; got 64 and 32"),
        ({"llama.attention.head_count": [4, 8]}, "llama.attention.key_length must be given"),
        ({"llama.rope.scaling.type": "su"}, '"none", "linear", "yarn", "longrope"; got'),
        ({"llama.rope.scaling.factor": 0.5}, "scaling.factor must be 0, or a number, 1 or more"),
        ({"llama.rope.scaling.type": "longrope"}, "rope_factors_short.weight must be among"),
        ({"rope_freqs.weight": [1.0]}, "rope_freqs.weight must be a list of 32 numbers"),
        (
            {"llama.rope.scaling.type": "yarn", "rope_freqs.weight": [1.0] * 32},
            "rope_freqs.weight must not be among the tensors",
        ),
        (
            {"llama.rope.scaling.type": "yarn", "llama.rope.scaling.yarn_ext_factor": 0.0},
            "llama.rope.scaling.yarn_ext_factor must be 1; got 0.0",
        ),
    ],
)
def test_a_key_with_a_fault_is_named(more: dict[str, Any], message: str) -> None:
    with pytest.raises((TypeError, ValueError)) as caught:
        read_config(LLAMA | more)
    assert message in str(caught.value)


def test_heads_that_all_layers_share_may_be_a_list() -> None:
    assert read_config(LLAMA | {"llama.attention.head_count": [4, 4]}).d == 64


def test_a_file_cut_short_at_any_byte_is_refused(tmp_path: Path) -> None:
    tokens = {"tokenizer.ggml.tokens": ["a", "bc"], "tokenizer.ggml.scores": [0.5, 1.0]}
    whole = written(LLAMA | tokens, rope_freqs=DIVISORS)
    assert read_config(saved(tmp_path, whole)).d == 64
    for size in range(len(whole)):
        path = saved(tmp_path, whole[:size])
        with pytest.raises(
            ValueError, match=r"must be a whole GGUF file; got model|fit in the file"
        ):
            read_config(path)


BROKEN: dict[str, tuple[dict[str, Any], str]] = {
    "a long string": (
        {"a.b": struct.pack("<IQ", 8, 2**30)},
        "the length of 'a.b' must be at most 0",
    ),
    "a long array": (
        {"a.b": struct.pack("<IIQ", 9, 4, 2**40)},
        "the length of 'a.b' must be at most",
    ),
    "many strings": (
        {"a.b": struct.pack("<IIQ", 9, 8, 2**63)},
        "the length of 'a.b' must be at most",
    ),
    "nested": (
        {"a.b": struct.pack("<IIQ", 9, 9, 1)},
        "'a.b' must be an array of numbers or strings",
    ),
    "a type": ({"a.b": struct.pack("<I", 13)}, "the type of 'a.b' must be a number from 0 to 12"),
    "alignment": ({"general.alignment": 0}, "general.alignment must be an integer from 1 to"),
}


@pytest.mark.parametrize("case", BROKEN)
def test_what_a_header_must_not_declare_is_refused_by_name(case: str, tmp_path: Path) -> None:
    pairs, message = BROKEN[case]
    with pytest.raises(ValueError, match=message):
        read_config(saved(tmp_path, written(LLAMA | pairs)))


def test_a_string_of_a_gigabyte_that_the_file_has_is_not_read(tmp_path: Path) -> None:
    path = saved(tmp_path, written({"a.b": struct.pack("<IQ", 8, 2**30)}))
    with path.open("r+b") as file:
        file.truncate(2**31)  # zeros that no disk holds
    with pytest.raises(ValueError, match=r"'a.b' must be at most 16777216: more are never needed"):
        read_config(path)


def test_a_long_vocabulary_is_passed_over(tmp_path: Path) -> None:
    many = struct.pack("<IIQ", 9, 8, 2**18) + string("token") * 2**18
    scores = struct.pack("<IIQ", 9, 6, 2**18) + bytes(2**20)
    pairs = {"tokenizer.ggml.tokens": many, "tokenizer.ggml.scores": scores} | LLAMA
    path, start = saved(tmp_path, written(pairs)), time.perf_counter()
    assert read_config(path).d == 64
    assert time.perf_counter() - start < 20


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"GGML" + bytes(20), r"must begin with b'GGUF' in model.gguf; got b'GGML'"),
        (b"{}", r"must begin with b'GGUF' in model.gguf; got b'{}'"),
        (b"", "whole GGUF file; got model.gguf, which ends at byte 0"),
        (struct.pack("<4sI", b"GGUF", 1), "of version 2 or 3, little-endian; .* of version 1"),
        (struct.pack(">4sI", b"GGUF", 3), "of version 2 or 3, .* of version 3, big-endian"),
        (struct.pack("<4sIQQ", b"GGUF", 3, 2**60, 0), "number of tensors must be at most 0"),
        (struct.pack("<4sIQQ", b"GGUF", 3, 0, 2**60), "number of keys must be at most 0"),
        (written({"a": 1}), "general.architecture must be given in model.gguf; got none"),
        (written({"a": 1, "b": 2}).replace(b"b", b"a"), "must have one value for 'a'; got two"),
    ],
)
def test_what_is_no_gguf_of_today_is_told_why(tmp_path: Path, content: bytes, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        read_config(saved(tmp_path, content))


@pytest.mark.parametrize(
    ("entry", "message"),
    [
        (struct.pack("<I", 9), "the axes of tensor 'rope_freqs.weight' must be at most 8; got 9"),
        (struct.pack("<IQIQ", 1, 32, 1, 0), r"must be a tensor of type 0 \(F32\) .* got type 1"),
        (struct.pack("<IQQIQ", 2, 4, 8, 0, 0), r"and one axis of 1 to 32768; .* shape \[4, 8\]"),
        (struct.pack("<IQIQ", 1, 2**40, 0, 0), r"shape \[1099511627776\]"),
        (struct.pack("<IQIQ", 1, 32, 0, 2**50), "short of the end of rope_freqs.weight"),
    ],
)
def test_divisors_of_another_form_are_refused(tmp_path: Path, entry: bytes, message: str) -> None:
    head = struct.pack("<4sIQQ", b"GGUF", 3, 1, 0) + string("rope_freqs.weight") + entry
    with pytest.raises(ValueError, match=message):
        read_config(saved(tmp_path, head + bytes(64)))


def test_the_command_reads_a_gguf_by_its_first_bytes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    content = written(QWEN2)
    assert main(["config", str(saved(tmp_path, content, "blob")), "--json"]) == 0
    layer = json.loads(capsys.readouterr().out)["layers"][0]
    assert any("keys are those of GGUF" in note for note in layer["notes"])
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(content)))
    assert main(["config", "-"]) == 0
    assert "yarn, factor 4, base 1,000,000" in capsys.readouterr().out
    assert main(["config", str(saved(tmp_path, content[:40]))]) == 2
    assert "posenc config" in capsys.readouterr().err
    with pytest.raises(FileNotFoundError):
        read_config("folder/model.gguf")
