"""`python -m posenc` prints the worked example and the three similarities, and nothing else.

`python -m posenc diagnose` prints a report about a model, and its exit status is the verdict.
"""

from __future__ import annotations

import contextlib
import io
import json
import os
import re
import runpy
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from posenc import dynamic_frequencies, frequencies, read_config, similarity, sinusoidal_encoding
from posenc.__main__ import main

pytestmark = pytest.mark.filterwarnings("error")

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(autouse=True)
def afresh(monkeypatch: pytest.MonkeyPatch) -> None:
    """Forget the module if it was imported, since runpy would warn, and clear sys.argv."""
    monkeypatch.delitem(sys.modules, "posenc.__main__", raising=False)
    monkeypatch.setattr(sys, "argv", ["posenc"])


@pytest.fixture
def printed(capsys: pytest.CaptureFixture[str]) -> str:
    """Return what the demonstration prints."""
    runpy.run_module("posenc", run_name="__main__")
    return capsys.readouterr().out


def numbers(text: str) -> list[float]:
    """Return every decimal number in a text, in order."""
    return [float(found) for found in re.findall(r"-?\d+\.\d+", text)]


def test_the_demonstration_shows_four_positions_in_eight_dimensions(printed: str) -> None:
    table = np.array(numbers(printed)[:32]).reshape(4, 8)
    np.testing.assert_array_equal(table, sinusoidal_encoding(4, 8).round(3))
    assert table[1, :3].tolist() == [0.841, 0.540, 0.100]


def test_the_demonstration_shows_the_range_and_the_length_of_the_rows(printed: str) -> None:
    assert "between -0.990 and 1.000" in printed
    assert "length 2.000" in printed


def test_the_demonstration_shows_similarities_of_positions(printed: str) -> None:
    shown = dict(re.findall(r"^(\d+) apart: (-?\d+\.\d{3})$", printed, re.MULTILINE))
    assert shown == {"1": "0.970", "5": "0.737", "9": "0.689"}
    assert shown == {lag: f"{similarity(int(lag), 128):.3f}" for lag in shown}


def test_the_command_exits_with_0_and_an_empty_stderr(printed: str) -> None:
    command = [sys.executable, "-W", "error", "-m", "posenc"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == printed


def test_importing_the_demonstration_prints_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    runpy.run_module("posenc.__main__", run_name="imported")
    assert capsys.readouterr().out == ""


# The diagnosis

MODELS = """
import torch
from posenc import nn

CONFIG = dict(vocab_size=50, max_len=40, d_model=16, heads=2, layers=1)

def healthy():
    return nn.GPTModel(**CONFIG)

def rotary():
    return nn.GPTModel(**CONFIG, pos_type="rope")

def forgetful():
    return nn.GPTModel(**CONFIG, pos_type="none")

def encoder():
    layer = torch.nn.TransformerEncoderLayer(8, 2, 16, batch_first=True)
    return torch.nn.TransformerEncoder(layer, 1)

def with_example():
    return encoder(), torch.randn(1, 9, 8)

def channels_first():
    attend = torch.nn.Conv1d(8, 8, 3, padding=1)
    return torch.nn.Sequential(attend, torch.nn.GELU(), attend), torch.randn(1, 8, 20)

def failing():
    raise RuntimeError("no such\\n\\ncheckpoint")

def leaving():
    raise SystemExit("no such checkpoint")

def of(path):
    return healthy()

def loud():
    return nn.PositionalEmbedding(1000, 64, 32, "sinusoidal")

def layer():
    return nn.PositionalEmbedding(50, 40, 16)

instance = healthy()

class Zoo:
    small = staticmethod(healthy)
"""


@pytest.fixture
def diagnosed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Callable[..., tuple[int, str, str]]:
    """Return a function that runs the command in a folder with models.

    It returns status, stdout and stderr.
    """
    (tmp_path / "zoo_of_tests.py").write_text(MODELS, encoding="utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delitem(sys.modules, "zoo_of_tests", raising=False)

    def run(*arguments: str) -> tuple[int, str, str]:
        status = main(["diagnose", *arguments])
        return status, *capsys.readouterr()

    return run


Diagnosed = Callable[..., tuple[int, str, str]]


def test_a_healthy_model_gives_status_0_and_a_report(diagnosed: Diagnosed) -> None:
    status, said, wrong = diagnosed("zoo_of_tests:healthy")
    assert (status, wrong) == (0, "")
    assert said.startswith("GPTModel: ")
    assert said.endswith("0 ill, 0 undetermined, of 6 questions.\n")
    assert diagnosed("zoo_of_tests:Zoo.small")[0] == 0
    assert diagnosed("zoo_of_tests:instance")[0] == 0


def test_an_undetermined_answer_gives_status_2(diagnosed: Diagnosed) -> None:
    status, said, wrong = diagnosed("zoo_of_tests:layer")
    assert (status, wrong) == (2, "")
    assert said.endswith("0 ill, 1 undetermined, of 6 questions.\n"), said


@pytest.mark.slow
def test_an_ill_model_gives_status_1_and_a_remedy(diagnosed: Diagnosed) -> None:
    status, said, wrong = diagnosed("zoo_of_tests:forgetful")
    assert (status, wrong) == (1, "")
    assert "[ ILL] Does it see order?\n       It does not see order. " in said
    assert "What helps: give it positions" in said
    assert diagnosed("zoo_of_tests:healthy", "--length", "41")[0] == 1


@pytest.mark.slow
def test_a_text_longer_than_training_is_asked_about_where_its_length_is_given(
    diagnosed: Diagnosed,
) -> None:
    status, said, _ = diagnosed("zoo_of_tests:rotary", "--length", "80")
    assert (status, "Not asked. Say how many tokens" in said) == (0, True)
    asked = ("zoo_of_tests:rotary", "--length", "80", "--trained")
    status, said, _ = diagnosed(*asked, "40")
    assert status == 1
    assert "3 of 4 pairs meet angles that they were never trained on." in " ".join(said.split())
    assert said.endswith("1 ill, 0 undetermined, of 7 questions.\n")
    assert "base 10,000" in said
    assert "base 100," in diagnosed(*asked, "40", "--base", "100")[1]
    assert diagnosed(*asked, "80")[0] == 0
    status, _, wrong = diagnosed("zoo_of_tests:rotary", "--trained", "40")
    assert (status, "length must be given where trained is" in wrong) == (2, True)


def test_the_sequence_axis_can_be_given(diagnosed: Diagnosed) -> None:
    status, said, _ = diagnosed("zoo_of_tests:channels_first")
    assert (status, " ".join(said.split()).count("say axis=1, or axis=2")) == (2, 6)
    said = diagnosed("zoo_of_tests:channels_first", "--axis", "2")[1]
    assert ("It sees order" in said, "axis=1" in said) == (True, False)
    status, _, wrong = diagnosed("zoo_of_tests:channels_first", "--axis", "3")
    assert (status, "ValueError: axis must be below 3" in wrong) == (2, True)


def test_a_model_that_fails_gives_status_2_and_the_reason(diagnosed: Diagnosed) -> None:
    status, said, _ = diagnosed("zoo_of_tests:encoder")
    assert status == 2
    assert "an example of its input" in " ".join(said.split())
    assert diagnosed("zoo_of_tests:with_example")[0] == 1


@pytest.mark.parametrize(
    ("place", "why"),
    [
        ("zoo_of_tests", "must be given as module:callable; got 'zoo_of_tests'"),
        (":healthy", "must be given as module:callable"),
        ("no_such_zoo:healthy", "No module named 'no_such_zoo'"),
        ("zoo_of_tests:tiger", "no attribute 'tiger'"),
        ("zoo_of_tests:CONFIG", "CONFIG must be a function that returns a model; a dict is not"),
        ("zoo_of_tests:nn.GPTModel", "missing 5 required"),
        ("zoo_of_tests:of", "missing 1 required positional argument: 'path'"),
        ("zoo_of_tests:failing", "RuntimeError: no such checkpoint"),
        ("zoo_of_tests:leaving", "SystemExit: no such checkpoint"),
        ("builtins:dict", "model must be a torch.nn.Module; got {}"),
    ],
)
def test_a_bad_model_argument_gives_status_2_and_one_line(
    diagnosed: Diagnosed, place: str, why: str
) -> None:
    status, said, wrong = diagnosed(place)
    assert (status, said, wrong.count("\n")) == (2, "", 1)
    assert why in wrong


def test_without_torch_diagnose_says_what_is_missing(
    diagnosed: Diagnosed, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "torch", None)
    status, said, wrong = diagnosed("zoo_of_tests:healthy")
    assert (status, said) == (2, "")
    assert wrong == "posenc diagnose needs PyTorch, which is not installed: pip install torch\n"


def test_help_explains_the_exit_status(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["diagnose", "--help"])
    assert ended.value.code == 0
    said = " ".join(capsys.readouterr().out.split())
    assert (
        "0 if nothing is ill or undetermined, 1 if something is ill, 2 if nothing is ill but"
        in said
    )


@pytest.mark.slow
def test_the_exit_status_does_not_depend_on_the_consoles_encoding(
    tmp_path: Path,
) -> None:
    """A console that cannot show √ shows the rest."""
    (tmp_path / "zoo.py").write_text(MODELS, encoding="utf-8")
    command = [sys.executable, "-W", "error", "-m", "posenc", "diagnose", "zoo:loud"]
    path = {"PYTHONPATH": str(ROOT), **os.environ, "PYTHONIOENCODING": "cp1252"}
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, timeout=60, env=path)
    assert (done.returncode, done.stderr) == (1, b"")
    assert b"rows ?d_model = " in done.stdout


def test_the_report_may_be_printed_elsewhere(diagnosed: Diagnosed) -> None:
    elsewhere = io.StringIO()
    with contextlib.redirect_stdout(elsewhere):
        assert diagnosed("zoo_of_tests:healthy") == (0, "", "")
    assert elsewhere.getvalue().startswith("GPTModel: ")


def test_a_status_that_is_not_0_leaves_the_module(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "argv", ["posenc", "diagnose", "nowhere"])
    with pytest.raises(SystemExit) as ended:
        runpy.run_module("posenc", run_name="__main__")
    assert ended.value.code == 2


# The configuration

PLAIN = {
    "model_type": "llama",
    "hidden_size": 4096,
    "num_attention_heads": 32,
    "max_position_embeddings": 8192,
    "rope_theta": 500000.0,
}


@pytest.fixture
def configured(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> Callable[..., tuple[int, str, str]]:
    """Return a function that runs the command on a configuration.

    It returns status, stdout and stderr.
    """
    path = tmp_path / "config.json"

    def run(config: dict[str, Any], *arguments: str) -> tuple[int, str, str]:
        path.write_text(json.dumps(config), encoding="utf-8")
        status = main(["config", str(path), *arguments])
        return status, *capsys.readouterr()

    return run


Configured = Callable[..., tuple[int, str, str]]


def printed_numbers(configured: Configured, config: dict[str, Any], *arguments: str) -> Any:
    """Return the only layers of what the command prints as JSON."""
    _, said, _ = configured(config, "--json", *arguments)
    (layers,) = json.loads(said)["layers"]
    return layers


def test_a_configuration_is_said_in_words(configured: Configured) -> None:
    status, said, wrong = configured(PLAIN)
    assert (status, wrong) == (0, "")
    assert "config.json: default, base 500,000\n" in said
    assert 'head      128 wide, 128 rotated, 64 pairs, layout "half"' in said
    assert "lengths   8,192 trained, 8,192 promised, 8,192 asked about" in said
    assert "29 of 64 pairs complete no turn within 8,192 positions." in said
    assert "What to set" not in said


def test_a_longer_text_brings_new_angles_and_says_what_to_set(configured: Configured) -> None:
    status, said, wrong = configured(PLAIN, "--length", "16384")
    assert (status, wrong) == (1, "")
    assert "In 16,384, 29 meet angles that are new." in " ".join(said.split())
    settings = said.split("What to set:\n")[1].split("\n\n")[0]
    assert configured(PLAIN | json.loads(f"{{{settings}}}"), "--length", "16384")[0] == 0
    assert configured(PLAIN, "--length", "8192")[0] == 0


def test_pairs_are_those_that_the_angles_tell(configured: Configured) -> None:
    found = printed_numbers(configured, PLAIN, "--length", "16384")
    rates = frequencies(128, base=5e5)
    for pair, rate in zip(found["pairs"], rates, strict=True):
        assert pair["frequency"] == rate
        assert pair["turns"] == pytest.approx(8192 * rate / (2 * np.pi), rel=1e-15)
        assert pair["never_round"] == pair["unseen"] == (8192 * rate < 2 * np.pi)
    assert (found["never_round"], found["unseen"], found["wrong"]) == (29, 29, True)


LLAMA3 = {"rope_type": "llama3", "factor": 8.0, "low_freq_factor": 1.0, "high_freq_factor": 4.0}


@pytest.mark.parametrize(
    ("scaling", "promised", "factor"),
    [
        ({"type": "linear", "factor": 2.0}, 8192, 6.0),
        ({"type": "linear", "factor": 1.0}, 8192, 3.0),
        ({"rope_type": "yarn", "factor": 2.0, "original_max_position_embeddings": 8192}, 8192, 6.0),
        ({"type": "yarn", "factor": 2.0}, 8192, 6.0),
        (LLAMA3 | {"original_max_position_embeddings": 8192}, 131072, 24.0),  # since: 16384
        (LLAMA3 | {"original_max_position_embeddings": 2048}, 8192, 12.0),  # in training: 2048
    ],
)
def test_a_rule_with_a_factor_is_told_the_smallest_that_brings_no_new_angle(
    configured: Configured, scaling: dict[str, Any], promised: int, factor: float
) -> None:
    config = PLAIN | {"rope_scaling": scaling, "max_position_embeddings": promised}
    before = read_config(config)
    promised = before.length or 0
    found = printed_numbers(configured, config, "--length", str(3 * promised))
    assert found["set"]["rope_scaling"].items() >= (scaling | {"factor": factor}).items()
    after = read_config(config | found["set"])
    assert (after.scheme, after.settings) == (before.scheme, before.settings)
    assert after.trained_length == before.trained_length or after.scheme == "linear"
    plain = frequencies(128, base=5e5) * (before.trained_length or 0)
    met = np.maximum(plain, before.frequencies() * promised)
    angles = after.frequencies() * 3 * promised
    assert ((angles <= met * (1 + 1e-12)) | (met >= 2 * np.pi)).all()
    assert configured(config | found["set"], "--length", str(3 * promised))[0] == 0


@pytest.mark.parametrize(
    "config",
    [
        {"n_positions": 8192, "n_ctx": 8192},
        {"max_sequence_length": 8192, "n_ctx": 4096},
        {"rope_scaling": {"type": "yarn", "factor": 2, "max_position_embeddings": 8192}},
        {"rope_local_base_freq": 1e4, "sliding_window": 512},
        {"model_type": "olmo3", "sliding_window": 512},
    ],
)
def test_what_to_set_contradicts_nothing(configured: Configured, config: dict[str, Any]) -> None:
    config = PLAIN | config
    if "n_ctx" in config:
        del config["max_position_embeddings"]
    _, said, _ = configured(config, "--json", "--length", "40960")
    (settings,) = (one["set"] for one in json.loads(said)["layers"] if one["set"])
    assert configured(config | settings, "--length", "40960")[0] == 0


def test_what_to_set_belongs_inside_the_part_about_text(configured: Configured) -> None:
    _, said, _ = configured({"text_config": PLAIN}, "--length", "16384")
    settings = said.split("What to set inside text_config:\n")[1].split("\n\n")[0]
    longer = {"text_config": PLAIN | json.loads(f"{{{settings}}}")}
    assert configured(longer, "--length", "16384")[0] == 0


def test_layers_of_a_default_configuration_keep_their_other_rule(configured: Configured) -> None:
    config = {"model_type": "gemma4_text", "max_position_embeddings": 8192}
    _, said, _ = configured(config, "--json", "--length", "16384")
    far, near = json.loads(said)["layers"]
    assert far["set"] is None
    assert near["set"]["rope_parameters"]["full_attention"]["rope_type"] == "proportional"
    assert near["set"]["rope_parameters"]["sliding_attention"]["factor"] == 2


def test_a_rule_that_goes_no_further_says_so(configured: Configured) -> None:
    divisors = {"short_factor": [1.0] * 64, "long_factor": [4.0] * 64}
    scaling = {"rope_type": "longrope", "original_max_position_embeddings": 4096} | divisors
    status, said, _ = configured(PLAIN | {"rope_scaling": scaling}, "--length", "32768")
    assert status == 1
    assert '"longrope" goes no further' in said
    assert printed_numbers(configured, PLAIN | {"rope_scaling": scaling})["settings"] == {
        "short": divisors["short_factor"],
        "long": divisors["long_factor"],
    }


@pytest.mark.parametrize("scaling", [None, {"type": "linear", "factor": 2.0}])
@pytest.mark.parametrize("kind", ["codegen", "esm", "gptj", "recurrent_gemma", "roformer"])
def test_a_model_type_that_reads_no_rule_is_told_to_set_none(
    configured: Configured, kind: str, scaling: dict[str, Any] | None
) -> None:
    config = PLAIN | {"model_type": kind, "rope_scaling": scaling}
    config |= {"position_embedding_type": "rotary"}
    status, said, _ = configured(config, "--length", "32768")
    assert (status, "What to set" in said) == (1, False)
    assert (
        f'What helps: transformers 5.24 reads no rule for model type "{kind}". Feed it fewer'
        " tokens, or rotate by yarn_frequencies in code of your own." in " ".join(said.split())
    )
    assert printed_numbers(configured, config, "--length", "32768")["set"] is None


def test_where_layers_differ_each_type_is_said(configured: Configured) -> None:
    local = {"rope_local_base_freq": 1e4, "rope_scaling": {"type": "linear", "factor": 8.0}}
    status, said, _ = configured(PLAIN | local)
    assert status == 0
    assert 'layers of type "full_attention": linear, factor 8, base 500,000' in said
    assert 'layers of type "sliding_attention": default, base 10,000' in said
    status, said, _ = configured(PLAIN | {"no_rope_layers": [1, 0]})
    assert 'layers of type "no_rope": no rotation' in said
    status, said, _ = configured(PLAIN | {"no_rope_layers": [1, 0]}, "--json")
    assert [layers["pairs"] == [] for layers in json.loads(said)["layers"]] == [False, True]


def test_scales_and_sections_are_said(configured: Configured) -> None:
    latent = {"qk_rope_head_dim": 64, "qk_nope_head_dim": 128, "max_position_embeddings": 163840}
    yarn = {"type": "yarn", "factor": 40, "original_max_position_embeddings": 4096}
    scaling = yarn | {"mscale": 0.5, "mscale_all_dim": 1.0}
    said = configured(PLAIN | latent | {"rope_scaling": scaling})[1]
    assert "scores    rotated dimensions times 0.865" in said
    assert ", all scores times 1.8738" in said
    sections = {"mrope_section": [24, 20, 20], "mrope_interleaved": True}
    assert "24 + 20 + 20 pairs, in turns" in configured(PLAIN | {"rope_scaling": sections})[1]
    sections = {"mrope_section": [16, 24, 24]}
    assert "16 + 24 + 24 pairs, in blocks" in configured(PLAIN | {"rope_scaling": sections})[1]


def test_a_pair_that_stands_still_meets_nothing_new(configured: Configured) -> None:
    scaling = {"rope_type": "proportional", "partial_rotary_factor": 0.25}
    config = PLAIN | {"model_type": "a", "rope_scaling": scaling}
    found = printed_numbers(configured, config, "--length", "1000000")
    still = [pair for pair in found["pairs"] if pair["slowed"] is None]
    assert len(still) == 48
    assert not any(pair["unseen"] for pair in still)
    said = configured(config)[1]
    assert ("     all  met" in said, "layout not settled" in said) == (True, True)


def test_without_lengths_nothing_is_said_about_turns(configured: Configured) -> None:
    config = {"head_dim": 8, "rope_theta": 100.0}
    status, said, _ = configured(config)
    assert status == 0
    assert "trained: not said, promised: not said\n" in said
    assert "No length is said, so which pairs complete a turn in training is open." in said
    assert printed_numbers(configured, config)["asked_length"] is None
    assert configured(config, "--length", "1000")[0] == 0


@pytest.mark.parametrize(
    ("config", "arguments", "why"),
    [
        (
            PLAIN | {"rope_tehta": 1.0},
            (),
            "rope_tehta must be a key that is read, such as rope_theta",
        ),
        (PLAIN | {"rope_theta": "1"}, (), "rope_theta must be a number above 1; got '1' (str)"),
        (PLAIN, ("--length", "0"), "length must be an integer, 1 or more; got 0"),
        ([1], (), "config must be a JSON object; got [1] (list)"),
    ],
)
def test_what_cannot_be_read_gives_status_2_and_one_line(
    configured: Configured, config: Any, arguments: tuple[str, ...], why: str
) -> None:
    status, said, wrong = configured(config, *arguments)
    assert (status, said, wrong.count("\n")) == (2, "", 1)
    assert why in wrong
    assert configured(config, *arguments, "--json")[:2] == (2, "")


def test_the_trained_length_is_the_limit_if_none_is_promised(configured: Configured) -> None:
    config = {"head_dim": 8, "rope_theta": 1e4, "original_max_position_embeddings": 64}
    assert configured(config)[0] == 0
    status, said, _ = configured(config, "--length", "128")
    assert (status, '"factor": 2.0' in said) == (1, True)


SECTIONS = {"mrope_section": [8, 4, 4], "mrope_interleaved": True}
FULL = {"full_attention": {"rope_theta": 1e6, "partial_rotary_factor": 0.25}}


@pytest.mark.parametrize(
    "settings",
    [
        {"partial_rotary_factor": 0.25},
        {"rope_parameters": {"partial_rotary_factor": 0.25, "rope_theta": 5e5} | SECTIONS},
        {"rope_scaling": {"type": "mrope"} | SECTIONS, "partial_rotary_factor": 0.25},
        {"rope_scaling": {"rope_type": "default"}, "n_positions": 8192},
        {"rope_theta": None, "rope_parameters": FULL},
        {"original_max_position_embeddings": 2048},
    ],
)
@pytest.mark.parametrize("length", [9000, 16384, 17920, 100000])
def test_what_to_set_changes_nothing_else(
    configured: Configured, settings: dict[str, Any], length: int
) -> None:
    config = PLAIN | settings
    if "n_positions" in settings:
        del config["max_position_embeddings"]
    before = read_config(config)
    found = printed_numbers(configured, config, "--length", str(length))
    assert found["wrong"]
    longer = config | found["set"]
    after = read_config(longer)
    assert (after.rotary_d, after.sections) == (before.rotary_d, before.sections)
    assert (after.interleaved_sections, after.base) == (before.interleaved_sections, before.base)
    assert (after.scheme, after.trained_length) == ("yarn", before.trained_length)
    assert printed_numbers(configured, longer, "--length", str(length))["unseen"] == 0


def test_a_factor_is_rounded_up_and_no_further(configured: Configured) -> None:
    config = PLAIN | {"max_position_embeddings": 1000}
    found = printed_numbers(configured, config, "--length", "2200")
    assert found["set"]["rope_parameters"]["factor"] == 2.2
    found = printed_numbers(configured, config, "--length", "2201")
    assert found["set"]["rope_parameters"]["factor"] == 2.21


def test_a_base_of_layers_with_a_window_alone_has_no_rule_to_set(configured: Configured) -> None:
    config = PLAIN | {"rope_local_base_freq": 1e4}
    said = configured(config, "--length", "100000")[1]
    assert said.count("What to set:") == said.count('"default" goes no further') == 1


def test_layers_with_a_window_meet_no_keys_beyond_it(configured: Configured) -> None:
    config = PLAIN | {"rope_local_base_freq": 1e4, "sliding_window": 512}
    status, said, _ = configured(config, "--length", "100000")
    assert (status, "100,000 asked about, a window of 512" in said) == (1, True)
    *_, far = said.split("sliding_attention")
    assert "within 512 positions. In 100,000, none meets an angle that is new." in " ".join(
        far.split()
    )
    mistral = PLAIN | {"model_type": "mistral", "sliding_window": 4096}
    assert configured(mistral, "--length", "100000")[0] == 0
    assert configured(mistral | {"sliding_window": 9000}, "--length", "100000")[0] == 1
    some = {"layer_types": ["full_attention", "sliding_attention"]}
    assert configured(mistral | some, "--length", "100000")[0] == 1


def test_a_promise_without_a_rule_is_compared_with_training(configured: Configured) -> None:
    config = PLAIN | {"original_max_position_embeddings": 2048}
    found = printed_numbers(configured, config)
    assert (found["asked_length"], found["wrong"], configured(config)[0]) == (8192, True, 1)
    assert configured(config, "--length", "2048")[0] == 0


def test_dynamic_frequencies_are_not_said_to_end(configured: Configured) -> None:
    scaling = {"rope_type": "dynamic", "factor": 1.0}
    status, said, _ = configured(PLAIN | {"rope_scaling": scaling}, "--length", "16384")
    assert (status, "goes no further" in said) == (1, False)
    assert "What to set:" in said


@pytest.mark.parametrize("factor", [1.0, 1.5])
@pytest.mark.parametrize(("length", "window"), [(40000, None), (131072, None), (40000, 36000)])
def test_dynamic_is_told_the_smallest_factor_that_brings_no_new_angle(
    configured: Configured, factor: float, length: int, window: int | None
) -> None:
    config: dict[str, Any] = {"head_dim": 128, "rope_theta": 1e6, "max_position_embeddings": 8192}
    config |= {"rope_scaling": {"type": "dynamic", "factor": factor}}
    config |= {"model_type": "mistral", "sliding_window": window}
    found = printed_numbers(configured, config, "--length", str(length))
    assert list(found["set"]) == ["rope_scaling"]
    larger = found["set"]["rope_scaling"]["factor"]
    assert larger > factor
    omega, trained, ends = frequencies(128, base=1e6), 8192, min(length, window or length)
    slow = 2 * np.pi / omega > trained

    def new(factor: float) -> int:
        now = dynamic_frequencies(128, length, factor=factor, trained_length=trained, base=1e6)
        return int(np.sum(slow & ((ends - 1) * now >= trained * omega)))

    assert (new(larger), new(factor) > 0, new(larger - 0.02) > 0) == (0, True, True)
    assert configured(config | found["set"], "--length", str(length))[0] == 0


@pytest.mark.parametrize("trained", [4, 16])
def test_where_no_factor_of_dynamic_is_enough_it_says_what_a_larger_one_does(
    configured: Configured, trained: int
) -> None:
    config = PLAIN | {"max_position_embeddings": trained}
    config |= {"rope_scaling": {"type": "dynamic", "factor": 2.0}}
    said = configured(config, "--length", "16384")[1]
    assert (
        "What helps: a larger factor leaves fewer angles new, and changes every sequence beyond the"
        " trained length." in " ".join(said.split())
    )


def test_the_file_is_read_once(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """So /dev/stdin, which cannot be read again, can be given too."""
    contents = [json.dumps(PLAIN).encode()]
    monkeypatch.setattr(Path, "read_bytes", lambda path: contents.pop())
    assert main(["config", "config.json"]) == 0
    assert "default, base 500,000" in capsys.readouterr().out


def test_a_file_that_is_not_there_gives_status_2(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["config", str(tmp_path / "none.json")]) == 2
    assert "No such file" in capsys.readouterr().err


# What a configuration may do to the command

TYPE = {"rope_type": "default", "rope_theta": 1e4}


def of_types(*names: str) -> dict[str, Any]:
    """Return a configuration with layers of these types."""
    parameters = {name: dict(TYPE) for name in names}
    lengths = {"head_dim": 64, "max_position_embeddings": 4096}
    return lengths | {"layer_types": [*names], "rope_parameters": parameters}


@pytest.mark.parametrize("planted", ["\x1b[2J", "\x9b2J", "\u202e", "\n[ ok ]", "\x07", "\ud800"])
def test_a_configuration_cannot_steer_the_terminal(
    configured: Configured, planted: str, capsys: pytest.CaptureFixture[str]
) -> None:
    for config, expected in (
        (PLAIN | {f"rope_{planted}": 1}, 2),
        (PLAIN | {"rope_scaling": {planted: 1}}, 2),
        (PLAIN | {"model_type": planted, "alibi": True}, 2),
        (of_types("full_attention", f"{planted}attention"), 0),
    ):
        status, *said = configured(config)
        assert status == expected
        assert all(letter == "\n" or letter.isprintable() for letter in "".join(said)), said
        assert status == 0 or said[1].count("\n") == 1
    assert main(["config", f"{planted.strip()}x.json"]) == 2
    assert capsys.readouterr().err[:-1].isprintable()


def test_an_argument_cannot_steer_the_terminal(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["config", "x", "--\x1b[2J"])
    assert "unrecognized arguments: --\\x1b[2J" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("first", "second"),
    [("1", "true"), ("1", "1.0"), ("0", "false"), ('{"a": [1]}', '{"a": [true]}')],
)
def test_a_double_key_is_named_where_python_calls_both_values_equal(
    first: str, second: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "config.json"
    path.write_text(f'{{"head_dim": {first}, "head_dim": {second}}}', encoding="utf-8")
    assert main(["config", str(path)]) == 2
    assert "config must have one value for head_dim; got " in capsys.readouterr().err
    path.write_text('{"a": {"b": 1, "c": 2}, "a": {"c": 2, "b": 1}}', encoding="utf-8")
    main(["config", str(path)])
    assert "one value" not in capsys.readouterr().err


def test_the_nearest_key_is_sought_for_a_slip_alone(
    configured: Configured, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Seeking takes a thousand times as long as reading, so unrelated keys are passed over."""
    sought: list[str] = []

    def close(word: str, *_: object, **__: object) -> list[str]:
        sought.append(word)
        return ["rope_theta"]

    monkeypatch.setattr("posenc.config.entries.get_close_matches", close)
    many = {f"unrelated_{n}": n for n in range(1000)}
    assert configured(PLAIN | many | {"x" * 10**6: 1})[0] == 0
    assert sought == []
    status, _, wrong = configured(PLAIN | {"rope_" + "x" * 10**6: 1})
    assert (status, len(sought), len(sought[0]), len(wrong) < 2000) == (2, 1, 300, True)


@pytest.mark.parametrize(
    ("content", "why"),
    [
        (b"[" * 10**5, "config must be a file of JSON; got config.json: "),
        (b'{"head_dim": ' + b"9" * 5000 + b"}", "integers of at most 4300 digits; got one of 5000"),
        (
            b'{"head_dim": NaN, "rope_theta": 1e4}',
            "head_dim must be an integer, 1 or more",
        ),
        (b'{"head_dim": 8, "rope_theta": Infinity}', "rope_theta must be a number above"),
        (b"\xff\xfe{\x00}\x00", "config.json, which is not UTF-8"),
        (b"\xef\xbb\xbf", "got config.json: Expecting value"),
        (b"", "got config.json, which is empty"),
    ],
    ids=["deep", "huge", "nan", "infinity", "utf-16", "bom", "empty"],
)
def test_a_file_that_says_nothing_gives_one_sentence(
    content: bytes, why: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "config.json"
    path.write_bytes(content)
    assert main(["config", str(path)]) == 2
    said, wrong = capsys.readouterr()
    assert (said, wrong.count("\n")) == ("", 1)
    assert why in wrong


COMMANDS: tuple[list[str], ...] = (
    [],
    ["config", "config.json"],
    ["config", "config.json", "--json"],
    ["vectors", "list"],
    ["vectors", "show", "alibi"],
)


def ran(folder: Path, command: list[str], **streams: Any) -> subprocess.CompletedProcess[str]:
    """Run a command in a folder with a configuration."""
    (folder / "config.json").write_text(json.dumps(PLAIN), encoding="utf-8")
    line = [sys.executable, "-W", "error", "-m", "posenc", *command]
    path = {**os.environ, "PYTHONPATH": str(ROOT)}
    return subprocess.run(line, cwd=folder, env=path, text=True, timeout=60, check=False, **streams)


@pytest.mark.skipif(os.name != "posix", reason="Windows has no such pipes")
@pytest.mark.parametrize("command", COMMANDS, ids=" ".join)
def test_a_reader_that_has_gone_ends_the_command_without_a_word(
    command: list[str], tmp_path: Path
) -> None:
    reading, writing = os.pipe()
    os.close(reading)
    done = ran(tmp_path, command, stdout=writing, stderr=subprocess.PIPE)
    assert (done.returncode, done.stderr) == (141, "")
    done = ran(tmp_path, ["config", "nowhere"], stdout=subprocess.PIPE, stderr=writing)
    assert (done.returncode, done.stdout) == (141, "")
    os.close(writing)


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="/dev/full is Linux's")
@pytest.mark.parametrize("command", COMMANDS, ids=" ".join)
def test_output_that_cannot_be_written_gives_status_2_and_one_line(
    command: list[str], tmp_path: Path
) -> None:
    with Path("/dev/full").open("w", encoding="utf-8") as full:
        done = ran(tmp_path, command, stdout=full, stderr=subprocess.PIPE)
    assert (done.returncode, done.stderr.count("\n")) == (2, 1)
    assert "No space left on device" in done.stderr
