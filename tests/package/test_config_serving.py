"""What `posenc config --for` prints: how to start a program, and what it reads otherwise."""

from __future__ import annotations

import ast
import json
import shlex
from pathlib import Path
from typing import Any

import pytest

from posenc import read_config
from posenc.__main__ import main
from posenc._console import REPORT
from posenc.config.explain import explained
from posenc.config.serving import PROGRAMS, Serving, serving

Config = dict[str, Any]

LLAMA: Config = {
    "model_type": "llama",
    "head_dim": 128,
    "max_position_embeddings": 4096,
    "rope_theta": 5e5,
}
YARN: Config = {"rope_type": "yarn", "factor": 4.0, "original_max_position_embeddings": 4096}
GEMMA: Config = {
    "model_type": "gemma3_text",
    "head_dim": 256,
    "num_hidden_layers": 12,
    "max_position_embeddings": 32768,
    "rope_theta": 1e6,
    "rope_local_base_freq": 1e4,
    "sliding_window": 1024,
}
LLAMA3: Config = {
    "rope_type": "llama3",
    "factor": 8.0,
    "original_max_position_embeddings": 8192,
    "low_freq_factor": 1.0,
    "high_freq_factor": 4.0,
}


def served(config: Config, length: int | None, program: str) -> Serving:
    """Return what to start a program with at a length."""
    types = read_config(config).layer_types or (None,)
    configs = [read_config(config, layer_type=one) for one in types]
    return serving(program, configs, [explained(one, length) for one in configs])


def words(said: Serving) -> list[str]:
    """Return the words of a command, as a shell splits them."""
    return shlex.split("\n".join(said.lines).replace("\\\n", ""))


def option(said: Serving, name: str) -> str:
    """Return what follows an option of a command."""
    found = words(said)
    return found[found.index(name) + 1]


def overrides(config: Config, length: int) -> Config:
    """Return what vLLM is told to override."""
    found: Config = json.loads(option(served(config, length, "vllm"), "--hf-overrides"))
    return found


def notes(config: Config, length: int, program: str) -> str:
    return " ".join(served(config, length, program).notes)


@pytest.mark.parametrize(
    ("program", "start", "limit"),
    [
        ("vllm", ["vllm", "serve", "MODEL"], "--max-model-len"),
        ("sglang", ["python", "-m", "sglang.launch_server"], "--context-length"),
        ("llama.cpp", ["llama-server", "-m", "MODEL.gguf"], "-c"),
    ],
)
def test_a_server_is_told_the_length(program: str, start: list[str], limit: str) -> None:
    for length in (2048, 16384):
        said = served(LLAMA, length, program)
        assert words(said)[:3] == start
        assert option(said, limit) == str(length)


def test_a_length_that_is_promised_needs_no_override() -> None:
    assert words(served(LLAMA, 4096, "vllm")) == [
        *("vllm", "serve", "MODEL", "--max-model-len", "4096"),
    ]
    assert "update" not in served(LLAMA, 4096, "transformers").text()


def test_the_rule_that_is_set_is_whole_and_has_the_base() -> None:
    assert overrides(LLAMA, 16384) == {
        "max_position_embeddings": 16384,
        "rope_parameters": {"rope_theta": 5e5, **YARN},
    }


@pytest.mark.parametrize(("d", "share"), [(128, 0.25), (80, 0.4), (78, 0.801)])
def test_the_share_that_is_set_leaves_as_many_dimensions(d: int, share: float) -> None:
    config = LLAMA | {"model_type": "glm4_moe", "head_dim": d, "partial_rotary_factor": share}
    rule = overrides(config, 16384)["rope_parameters"]
    assert int(d * rule["partial_rotary_factor"]) == read_config(config).rotary_d


def test_the_first_name_of_a_rule_is_not_passed_on() -> None:
    section = {"type": "yarn", "factor": 4.0, "original_max_position_embeddings": 1024}
    rule = overrides(LLAMA | {"rope_scaling": section}, 65536)["rope_parameters"]
    assert (rule["rope_type"], rule["factor"]) == ("yarn", 64.0)
    assert "type" not in rule


def test_every_length_in_the_file_that_is_too_short_is_raised() -> None:
    """Qwen3's promises 131072 by its factor, and vLLM goes by max_position_embeddings."""
    section = YARN | {"original_max_position_embeddings": 32768}
    config = LLAMA | {"max_position_embeddings": 40960, "rope_scaling": section}
    assert overrides(config, 131072) == {"max_position_embeddings": 131072}
    several = LLAMA | {"max_seq_len": 2048, "seq_length": 9999}
    assert overrides(several, 4096) == {"max_seq_len": 4096}


def test_a_length_is_set_where_the_file_has_none() -> None:
    assert overrides({"model_type": "llama", "head_dim": 64}, 4096) == {
        "max_position_embeddings": 4096
    }


def test_without_a_length_one_must_be_given() -> None:
    with pytest.raises(ValueError, match=r"^--length must be given"):
        served({"model_type": "llama", "head_dim": 64}, None, "vllm")


def test_a_diffusion_transformer_is_served_by_none_of_them() -> None:
    with pytest.raises(ValueError, match="left out with a diffusion transformer; got sglang"):
        served({"_class_name": "FluxTransformer2DModel"}, 4096, "sglang")


def test_what_is_set_stands_inside_the_part_about_text() -> None:
    config = {"model_type": "llava", "text_config": LLAMA}
    changes = overrides(config, 16384)
    assert list(changes) == ["text_config"]
    assert changes["text_config"]["rope_parameters"]["factor"] == 4.0
    assert "config.text_config.update(" in served(config, 16384, "transformers").text()


def test_layers_with_a_window_keep_their_own_rule() -> None:
    rules = overrides(GEMMA, 131072)["rope_parameters"]
    assert rules["full_attention"]["rope_type"] == "yarn"
    assert rules["sliding_attention"] == {"rope_type": "default", "rope_theta": 1e4}
    assert "window" not in notes(GEMMA, 131072, "vllm")


def test_a_rule_that_holds_in_layers_with_a_window_is_noted() -> None:
    config = LLAMA | {"model_type": "gpt_oss", "num_hidden_layers": 4}
    config |= {"rope_parameters": {"rope_type": "default"}}
    assert "The rule applies to layers with a window too" in notes(config, 16384, "vllm")
    assert "keeps the scale of the file" in notes(config, 16384, "llama.cpp")


def test_llama_cpp_is_told_the_rule_by_options() -> None:
    section = YARN | {"beta_fast": 24, "beta_slow": 1.5}
    said = served(LLAMA | {"rope_scaling": section}, 32768, "llama.cpp")
    assert [
        option(said, f"--{name}")
        for name in ("rope-scaling", "rope-scale", "yarn-orig-ctx", "yarn-beta-fast")
    ] == ["yarn", "8", "4096", "24"]
    assert option(said, "--yarn-beta-slow") == "1.5"


def test_llama_cpp_interpolates() -> None:
    config = LLAMA | {"rope_scaling": {"rope_type": "linear", "factor": 2.0}}
    said = served(config, 16384, "llama.cpp")
    assert option(said, "--rope-scaling") == "linear"
    assert "--yarn-orig-ctx" not in words(said)
    assert float(option(said, "--rope-scale")) > 2


def test_of_layers_that_differ_the_first_with_new_angles_tells_llama_cpp_the_rule() -> None:
    assert option(served(GEMMA, 131072, "llama.cpp"), "--yarn-orig-ctx") == "32768"


def test_llama_cpp_has_no_option_for_the_rule_of_llama_3() -> None:
    config = LLAMA | {"max_position_embeddings": 65536, "rope_scaling": LLAMA3}
    said = served(config, 10**6, "llama.cpp")
    assert said.lines == []
    assert 'no option for rope_type "llama3"' in said.notes[0]


@pytest.mark.parametrize("program", PROGRAMS)
def test_where_nothing_helps_there_is_no_line(program: str) -> None:
    config = LLAMA | {"model_type": "gptj", "rotary_dim": 64}
    said = served(config, 16384, program)
    assert said.lines == []
    assert said.notes[0].startswith("What helps: transformers 5.24 reads no rule")


def test_dynamic_keeps_the_trained_length() -> None:
    config = LLAMA | {"rope_scaling": {"rope_type": "dynamic", "factor": 2.0}}
    changes = overrides(config, 16384)
    assert list(changes) == ["rope_parameters"]
    assert changes["rope_parameters"]["factor"] > 2
    for program in ("vllm", "sglang"):
        assert "a single base for all lengths" in notes(config, 16384, program)


@pytest.mark.parametrize(
    ("program", "key", "said"),
    [
        ("vllm", "attn_factor", "vLLM 0.33 does not read attn_factor. Older versions multiply"),
        ("sglang", "attn_factor", "SGLang multiplies the attention factor by attn_factor"),
        ("transformers", "attn_factor", "transformers does not read attn_factor"),
        ("sglang", "attention_factor", "does not read attention_factor"),
        ("llama.cpp", "attention_factor", "reads no other from its options"),
        ("llama.cpp", "truncate", "truncates the ramp"),
    ],
)
def test_a_setting_that_a_program_reads_otherwise_is_noted(
    program: str, key: str, said: str
) -> None:
    config = LLAMA | {"max_position_embeddings": 16384, "rope_scaling": YARN}
    value = False if key == "truncate" else 1.5
    assert said not in notes(config, 16384, program)
    assert said in notes(config | {"rope_scaling": YARN | {key: value}}, 16384, program)


@pytest.mark.parametrize("program", PROGRAMS)
def test_a_trained_length_that_is_assumed_is_noted(program: str) -> None:
    said = "The trained length is taken to be the promised one"
    assert said in notes(LLAMA, 16384, program)
    given = LLAMA | {"original_max_position_embeddings": 2048}
    assert said not in notes(given, 16384, program)
    assert said not in notes(LLAMA | {"rope_scaling": YARN}, 16384, program)


@pytest.mark.parametrize("program", ["vllm", "sglang", "transformers"])
def test_a_base_that_is_not_in_the_file_is_not_printed_as_if_it_were(program: str) -> None:
    said = "rope_theta is not in the file"
    assert said in notes(LLAMA | {"rope_theta": None}, 16384, program)
    assert said not in notes(LLAMA | {"rope_theta": None}, 4096, program)  # none is printed
    assert said not in notes(LLAMA, 16384, program)


def test_lines_for_transformers_are_python() -> None:
    lines = served(LLAMA, 16384, "transformers").lines
    ast.parse("\n".join(lines))
    (update,) = [line for line in lines if ".update(" in line]
    changes = ast.literal_eval(update.partition("(")[2].removesuffix(")"))
    assert changes == overrides(LLAMA, 16384)


# The command


def run(
    config: Config, tmp_path: Path, capsys: pytest.CaptureFixture[str], *options: str
) -> tuple[int, str, str]:
    path = tmp_path / "config.json"
    path.write_text(json.dumps(config), "utf-8")
    return main(["config", str(path), *options]), *capsys.readouterr()


def test_the_command_prints_the_line_and_notes_as_comments(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    status, out, _ = run(LLAMA, tmp_path, capsys, "--length", "16k", "--for", "vllm")
    said = served(LLAMA, 16384, "vllm")
    assert (status, out) == (0, f"{said.text()}\n\n# {REPORT}\n")
    after = out.removeprefix("\n".join(said.lines) + "\n").splitlines()
    assert after and all(line[:2] in ("", "# ") for line in after)


def test_as_json_it_stands_beside_the_layers(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = run(LLAMA, tmp_path, capsys, "--length", "16k", "--for", "sglang", "--json")[1]
    found = json.loads(out)
    said = served(LLAMA, 16384, "sglang")
    assert found["serving"] == {"program": "sglang", "lines": said.lines, "notes": said.notes}
    assert found["layers"][0]["wrong"]


def test_the_status_is_1_where_no_setting_helps_and_2_without_a_length(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    helpless = LLAMA | {"model_type": "gptj", "rotary_dim": 64}
    assert run(helpless, tmp_path, capsys, "--length", "16k", "--for", "vllm")[0] == 1
    status, out, error = run(
        {"model_type": "llama", "head_dim": 64}, tmp_path, capsys, "--for", "vllm"
    )
    assert (status, out) == (2, "")
    assert "--length must be given" in error
