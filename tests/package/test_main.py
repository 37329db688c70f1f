"""`python -m posenc` prints the worked example and the three similarities, and nothing else.

`python -m posenc diagnose` prints a report about a model, and its exit status is the verdict.
"""

from __future__ import annotations

import io
import json
import os
import re
import runpy
import subprocess
import sys
import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import posenc
from posenc import dynamic_frequencies, frequencies, read_config, similarity, sinusoidal_encoding
from posenc.__main__ import main
from posenc._console import REPORT

# By its path: pytest loads modules of a package that has a plugin in a way that runpy cannot use.
MAIN = str(Path(posenc.__file__).with_name("__main__.py"))

Config = dict[str, Any]

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(autouse=True)
def module_not_imported(monkeypatch: pytest.MonkeyPatch) -> None:
    """Forget the module if it was imported, since runpy would warn, and clear sys.argv."""
    monkeypatch.delitem(sys.modules, "posenc.__main__", raising=False)
    monkeypatch.setattr(sys, "argv", ["posenc"])


@pytest.fixture
def printed(capsys: pytest.CaptureFixture[str]) -> str:
    """Return what the demonstration prints."""
    runpy.run_path(MAIN, run_name="__main__")
    return capsys.readouterr().out


def numbers(text: str) -> list[float]:
    """Return every decimal number in a text, in order."""
    return [float(found) for found in re.findall(r"-?\d+\.\d+", text)]


def test_the_demonstration_shows_four_positions_in_eight_dimensions(printed: str) -> None:
    table = np.array(numbers(printed)[:32]).reshape(4, 8)
    np.testing.assert_array_equal(table, sinusoidal_encoding(4, 8).round(3))
    assert table[1, :3].tolist() == [0.841, 0.540, 0.100]


def test_the_demonstration_shows_range_norm_and_similarities(printed: str) -> None:
    assert "between -0.990 and 1.000" in printed
    assert "norm 2.000" in printed
    shown = dict(re.findall(r"^(\d+) apart: (-?\d+\.\d{3})$", printed, re.MULTILINE))
    assert shown == {"1": "0.970", "5": "0.737", "9": "0.689"}
    assert shown == {lag: f"{similarity(int(lag), 128):.3f}" for lag in shown}


def test_the_command_exits_with_0_and_an_empty_stderr(printed: str) -> None:
    command = [sys.executable, "-W", "error", "-m", "posenc"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == printed


def test_importing_the_demonstration_prints_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    runpy.run_path(MAIN, run_name="imported")
    assert capsys.readouterr().out == ""


def test_installing_gives_a_command_posenc_that_finds_models_in_its_folder(tmp_path: Path) -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    module, name = project["scripts"]["posenc"].split(":")
    (tmp_path / "mine.py").write_text("model = 3\n", encoding="utf-8")
    script = f"import sys; from {module} import {name}; sys.exit({name}())"
    done = subprocess.run(
        [sys.executable, "-P", "-c", script, "diagnose", "mine:model"],  # -P: as a script is run
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert (done.returncode, done.stdout) == (2, "")
    assert "a int is not callable" in done.stderr


# The diagnosis

MODELS = """
import torch
from posenc import nn

CONFIG = dict(vocab_size=50, max_len=40, d_model=16, heads=2, layers=1)

def healthy():
    return nn.GPTModel(**CONFIG)

def rotary():
    return nn.GPTModel(**CONFIG, pos_type="rope")

def without_positions():
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

def needs_path(path):
    return healthy()

def large_embeddings():
    return nn.PositionalEmbedding(1000, 64, 32, "sinusoidal")

def layer():
    return nn.PositionalEmbedding(50, 40, 16)

class Quoting(torch.nn.Module):
    def forward(self, ids):
        raise FileNotFoundError(f"/home/ann/tokens.txt; {ids}")

quoting = Quoting()
instance = healthy()

class Zoo:
    small = staticmethod(healthy)
"""


Run = Callable[..., tuple[int, str, str]]  # returns status, stdout and stderr


def refusal(error: str) -> str:
    """Return a refusal without its last line, which says where to report it as wrong."""
    said, *rest = error.rsplit(f"\n{REPORT}\n", 1)
    assert rest == [""], error
    return said


@pytest.fixture
def diagnose(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Run:
    """Return a function that runs the command in a folder with models."""
    (tmp_path / "zoo_of_tests.py").write_text(MODELS, encoding="utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delitem(sys.modules, "zoo_of_tests", raising=False)

    def run(model: str, *options: str) -> tuple[int, str, str]:
        status = main(["diagnose", model if ":" in model else f"zoo_of_tests:{model}", *options])
        return status, *capsys.readouterr()

    return run


def test_a_healthy_model_gives_status_0_and_a_report(diagnose: Run) -> None:
    status, output, error = diagnose("healthy")
    assert (status, error) == (0, "")
    assert output.startswith("GPTModel: ")
    assert output.endswith("0 ill, 0 undetermined, of 6 questions.\n\n" + REPORT + "\n")
    assert diagnose("Zoo.small")[0] == 0
    assert diagnose("instance")[0] == 0


def test_an_undetermined_answer_gives_status_2(diagnose: Run) -> None:
    status, output, error = diagnose("layer")
    assert (status, error) == (2, "")
    assert output.endswith("0 ill, 1 undetermined, of 6 questions.\n\n" + REPORT + "\n"), output


@pytest.mark.slow
def test_an_ill_model_gives_status_1_and_a_remedy(diagnose: Run) -> None:
    status, output, error = diagnose("without_positions")
    assert (status, error) == (1, "")
    assert "[ ILL] Does it see order?\n       It does not see order. " in output
    assert "What helps: give it positions" in output
    assert diagnose("healthy", "--length", "41")[0] == 1


@pytest.mark.slow
def test_a_text_longer_than_training_is_asked_about_where_its_length_is_given(
    diagnose: Run,
) -> None:
    status, output, _ = diagnose("rotary", "--length", "80")
    assert (status, "Not asked. Say how many tokens" in output) == (0, True)
    asked = ("rotary", "--length", "80", "--trained")
    status, output, _ = diagnose(*asked, "40")
    assert status == 1
    assert "3 of 4 pairs meet angles that they were never trained on." in words(output)
    assert output.endswith("1 ill, 0 undetermined, of 7 questions.\n\n" + REPORT + "\n")
    assert "base 10,000" in output
    assert "base 100," in diagnose(*asked, "40", "--base", "100")[1]
    assert diagnose(*asked, "80")[0] == 0
    status, _, error = diagnose("rotary", "--trained", "40")
    assert (status, "trained is, as in length=80 or --length 80" in error) == (2, True)


def test_the_sequence_axis_can_be_given(diagnose: Run) -> None:
    status, output, _ = diagnose("channels_first")
    assert (status, words(output).count("say axis=1, or axis=2")) == (2, 6)
    output = diagnose("channels_first", "--axis", "2")[1]
    assert ("It sees order" in output, "axis=1" in output) == (True, False)
    status, _, error = diagnose("channels_first", "--axis", "3")
    assert (status, "ValueError: axis must be below 3" in error) == (2, True)


def test_a_model_that_fails_gives_status_2_and_the_reason(diagnose: Run) -> None:
    status, output, _ = diagnose("encoder")
    assert status == 2
    assert "an example of its input" in words(output)
    assert diagnose("with_example")[0] == 1


def test_a_cache_can_be_given(diagnose: Run) -> None:
    output = diagnose("rotary", "--cache", "cache=posenc.nn:Cache")[1]
    assert "Read one by one with a cache, tokens have the same scores" in words(output)
    assert "--cache NAME=MODULE:CLASS tries one." in words(diagnose("rotary")[1])
    for wrong in ("cache", "cache=posenc.nn", "=:"):
        status, _, error = diagnose("rotary", "--cache", wrong)
        assert status == 2
        assert f"a cache must be given as keyword=module:callable; got {wrong!r}" in error
    status, _, error = diagnose("rotary", "--cache", "cache=posenc:__version__")
    assert (status, "cache must be a mapping of keywords to functions" in error) == (2, True)


def test_a_report_for_somebody_else_quotes_no_error(diagnose: Run, tmp_path: Path) -> None:
    """A message may hold a path or tokens; the model's own numbers are those that are measured."""
    file = tmp_path / "report.json"
    status, output, _ = diagnose("quoting", "--length", "20", "--report", str(file))
    assert (status, "/home/ann/tokens.txt" in output) == (2, True)
    text = file.read_text(encoding="utf-8")
    assert ("home" in text, "tensor" in text, "FileNotFoundError" in text) == (False, False, True)
    report = json.loads(text)
    unasked = dict.fromkeys(("trained", "base", "heads", "rank", "axis"))
    assert report["asked"] == {"length": 20, **unasked}
    assert (report["status"], len(report["answers"])) == ("undetermined", 6)
    diagnose("healthy", "--report", str(file))
    answers = json.loads(file.read_text(encoding="utf-8"))["answers"]
    assert answers[0]["verdict"] == "it sees order"
    assert answers[3]["measured"]["longest"] == 40
    status, _, error = diagnose("healthy", "--report", str(tmp_path))
    assert (status, refusal(error).count("\n")) == (2, 0)


@pytest.mark.parametrize(
    ("place", "why"),
    [
        (":healthy", "must be given as module:callable"),
        ("no_such_zoo:healthy", "No module named 'no_such_zoo'"),
        ("tiger", "no attribute 'tiger'"),
        ("CONFIG", "CONFIG must be a function that returns a model; a dict is not"),
        ("nn.GPTModel", "missing 5 required"),
        ("needs_path", "missing 1 required positional argument: 'path'"),
        ("failing", "RuntimeError: no such checkpoint"),
        ("leaving", "SystemExit: no such checkpoint"),
        ("builtins:dict", "model must be a torch.nn.Module; got {}"),
    ],
)
def test_a_bad_model_argument_gives_status_2_and_one_line(
    diagnose: Run, place: str, why: str
) -> None:
    status, output, error = diagnose(place)
    assert (status, output, refusal(error).count("\n")) == (2, "", 0)
    assert why in error


def test_without_torch_diagnose_says_what_is_missing(
    diagnose: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "torch", None)
    status, output, error = diagnose("healthy")
    assert (status, output) == (2, "")
    assert "PyTorch is needed, which is not installed: pip install torch" in refusal(error)


def test_a_model_in_the_current_folder_is_found(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The command `posenc` does not search the current folder by itself, as `python -m` does."""
    (tmp_path / "found_here.py").write_text("model = 1", encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [one for one in sys.path if one not in {"", str(tmp_path)}])
    assert main(["diagnose", "found_here:model"]) == 2
    assert "No module" not in capsys.readouterr().err
    assert sys.modules.pop("found_here").model == 1


def test_help_explains_the_exit_status(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["diagnose", "--help"])
    assert ended.value.code == 0
    output = " ".join(capsys.readouterr().out.split())
    assert (
        "0 if nothing is ill or undetermined, 1 if something is ill, 2 if nothing is ill but"
        in output
    )


@pytest.mark.slow
def test_the_exit_status_does_not_depend_on_the_consoles_encoding(
    tmp_path: Path,
) -> None:
    """A console that cannot show √ shows the rest."""
    (tmp_path / "zoo.py").write_text(MODELS, encoding="utf-8")
    command = [sys.executable, "-W", "error", "-m", "posenc", "diagnose", "zoo:large_embeddings"]
    path = {"PYTHONPATH": str(ROOT), **os.environ, "PYTHONIOENCODING": "cp1252"}
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, timeout=60, env=path)
    assert (done.returncode, done.stderr) == (1, b"")
    assert b"?d_model" in done.stdout


def test_the_status_is_that_of_the_process(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "argv", ["posenc", "diagnose", "nowhere"])
    with pytest.raises(SystemExit) as ended:
        runpy.run_path(MAIN, run_name="__main__")
    assert ended.value.code == 2
    assert "must be given as module:callable; got 'nowhere'" in capsys.readouterr().err


# The configuration

PLAIN = {
    "model_type": "llama",
    "hidden_size": 4096,
    "num_attention_heads": 32,
    "max_position_embeddings": 8192,
    "rope_theta": 500000.0,
}


@pytest.fixture
def explain(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Run:
    """Return a function that runs the command on a configuration, or on the bytes of a file."""
    path = tmp_path / "config.json"

    def run(config: Config | bytes, *options: str) -> tuple[int, str, str]:
        content = config if isinstance(config, bytes) else json.dumps(config).encode()
        path.write_bytes(content)
        status = main(["config", str(path), *options])
        return status, *capsys.readouterr()

    return run


def test_an_answer_ends_with_where_to_report_it_as_wrong(explain: Run) -> None:
    assert explain(PLAIN)[1].endswith(f"\n\n{REPORT}\n")
    assert explain(PLAIN, "--for", "vllm")[1].endswith(f"\n\n# {REPORT}\n")
    assert json.loads(explain(PLAIN, "--json")[1])["report"] == REPORT
    assert "## Report something wrong" in Path("CONTRIBUTING.md").read_text("utf-8")


def layers_of(explain: Run, config: Config, *options: str) -> Any:
    """Return the layers that the command prints as JSON, each with its numbers."""
    return json.loads(explain(config, "--json", *options)[1])["layers"]


def numbers_of(explain: Run, config: Config, *options: str) -> Any:
    """Return the numbers of a configuration whose layers are all alike."""
    (numbers,) = layers_of(explain, config, *options)
    return numbers


def words(text: str) -> str:
    """Return a text without its line breaks."""
    return " ".join(text.split())


TRAINED = "original_max_position_embeddings"
LINEAR: Config = {"type": "linear", "factor": 2.0}
LLAMA3 = {"rope_type": "llama3", "factor": 8.0, "low_freq_factor": 1.0, "high_freq_factor": 4.0}
LONGROPE: Config = {
    "rope_type": "longrope",
    TRAINED: 4096,
    "short_factor": [1.0] * 64,
    "long_factor": [4.0] * 64,
}
LATENT = {"qk_rope_head_dim": 64, "qk_nope_head_dim": 128, "max_position_embeddings": 163840}
SCALED_SCORES = {"type": "yarn", "factor": 40, TRAINED: 4096, "mscale": 0.5, "mscale_all_dim": 1.0}
SMOLLM = PLAIN | {"model_type": "smollm3"}
GEMMA = PLAIN | {"model_type": "gemma3_text", "head_dim": 128, "sliding_window": None}
LOCAL = GEMMA | {"rope_local_base_freq": 1e4, "rope_scaling": {"type": "linear", "factor": 8.0}}
SHORT: Config = {"head_dim": 8, "rope_theta": 100.0}


def scaled(scaling: Config, **others: Any) -> Config:
    """Return a configuration with a rule."""
    return PLAIN | {"rope_scaling": scaling} | others


def dynamic(factor: float, trained: int) -> Config:
    """Return a configuration with the dynamic rule."""
    return scaled({"rope_type": "dynamic", "factor": factor}, max_position_embeddings=trained)


@pytest.mark.parametrize(
    ("config", "length", "status", "sentences"),
    [
        (PLAIN, None, 0, "config.json: default, base 500,000"),
        (PLAIN, None, 0, 'head 128 wide, 128 rotated, 64 pairs, layout "half"'),
        (PLAIN, None, 0, "lengths 8,192 trained, 8,192 promised, 8,192 asked about"),
        (PLAIN, 8192, 0, "29 of 64 pairs complete no turn within 8,192 positions."),
        (PLAIN, 16384, 1, "In 16,384 positions, 29 of the 64 pairs meet new angles."),
        (scaled(LONGROPE), 32768, 1, '"longrope" cannot be extended'),
        (LOCAL, None, 0, 'layers of type "full_attention": linear, factor 8, base 500,000'),
        (LOCAL, None, 0, 'layers of type "sliding_attention": default, base 10,000'),
        (SMOLLM | {"no_rope_layers": [1, 0]}, None, 0, 'layers of type "no_rope": no rotation'),
        (scaled(SCALED_SCORES, **LATENT), None, 0, "scores rotated dimensions times 0.865"),
        (scaled(SCALED_SCORES, **LATENT), None, 0, ", all scores times 1.8738"),
        (
            scaled({"mrope_section": [24, 20, 20], "mrope_interleaved": True}),
            None,
            0,
            "24 + 20 + 20 pairs, interleaved",
        ),
        (scaled({"mrope_section": [16, 24, 24]}), None, 0, "16 + 24 + 24 pairs, contiguous"),
        (SHORT, None, 0, "trained: not given, promised: not given"),
        (
            SHORT,
            1000,
            0,
            "No length is given, so it is not known which pairs complete a turn in training.",
        ),
        (SHORT | {"rope_theta": 1e4, TRAINED: 64}, None, 0, "64 trained"),
        (SHORT | {"rope_theta": 1e4, TRAINED: 64}, 128, 1, '"factor": 2.0'),
        (PLAIN | {TRAINED: 2048}, None, 1, "8,192 asked about"),
        (PLAIN | {TRAINED: 2048}, 2048, 0, "2,048 asked about"),
        (dynamic(1.0, 8192), 16384, 1, "What to set:"),
        *(
            (
                dynamic(2.0, trained),
                16384,
                1,
                "What helps: a larger factor brings fewer new angles, but changes every"
                " sequence beyond the trained length.",
            )
            for trained in (4, 16)
        ),
    ],
)
def test_status_and_sentences(
    explain: Run, config: Config, length: int | None, status: int, sentences: str
) -> None:
    options = ("--length", str(length)) if length else ()
    found, output, error = explain(config, *options)
    assert (found, error == "") == (status, "model_type" in config)
    assert sentences in words(output)


@pytest.mark.parametrize(
    ("config", "length", "sentence", "times"),
    [
        (PLAIN, 8192, "What to set", 0),
        (dynamic(1.0, 8192), 16384, "cannot be extended", 0),
        # the layers with a window alone have no rule to set
        (GEMMA | {"rope_local_base_freq": 1e4}, 10**5, "What to set:", 1),
        (GEMMA | {"rope_local_base_freq": 1e4}, 10**5, '"default" cannot be extended', 1),
    ],
)
def test_number_of_remedies(
    explain: Run, config: Config, length: int, sentence: str, times: int
) -> None:
    assert explain(config, "--length", str(length))[1].count(sentence) == times


@pytest.mark.parametrize("scaling", [None, LINEAR])
@pytest.mark.parametrize("kind", ["codegen", "esm", "gptj", "recurrent_gemma", "roformer"])
def test_a_model_type_that_reads_no_rule_has_nothing_to_set(
    explain: Run, kind: str, scaling: Config | None
) -> None:
    config = PLAIN | {"model_type": kind, "position_embedding_type": "rotary"}
    config |= {"rope_scaling": scaling}
    status, output, _ = explain(config, "--length", "32768")
    assert (status, "What to set" in output) == (1, False)
    assert (
        f'What helps: transformers 5.24 reads no rule for model type "{kind}". Feed the'
        " model fewer tokens, or rotate by yarn_frequencies in your own code." in words(output)
    )
    assert numbers_of(explain, config, "--length", "32768")["set"] is None


def test_a_trained_length_is_assumed_aloud_or_given(explain: Run) -> None:
    said = "The trained length is taken to be the promised one."
    status, output, _ = explain(PLAIN, "--length", "8k")
    assert status == 0 and said in output
    status, output, _ = explain(PLAIN, "--length", "8k", "--trained", "2k")
    assert status == 1 and said not in output
    assert "2,048 trained, 8,192 promised" in output


def test_a_rule_without_the_trained_length_is_qualified_aloud(explain: Run) -> None:
    longer = scaled({"rope_type": "yarn", "factor": 4.0}, max_position_embeddings=32768)
    status, output, error = explain(longer)
    assert (status, "32,768 trained, 131,072 promised" in output) == (0, True)
    said = f"{TRAINED} is not given. transformers uses max_position_embeddings, 32768. This answer"
    assert f"{said} holds only if sequences in training were that long" in error
    error = explain(longer, "--trained", "8192")[2]
    assert f"{TRAINED} is not given. This answer holds only once it is set to 8192" in error
    longer["rope_scaling"][TRAINED] = 8192
    assert explain(longer)[2] == explain(longer, "--trained", "8192")[2] == ""


def test_a_rule_of_later_layers_is_qualified_aloud(explain: Run) -> None:
    plain = {"rope_type": "default", "rope_theta": 1e4}
    rules = {
        "sliding_attention": plain,
        "full_attention": plain | {"rope_type": "yarn", "factor": 4},
    }
    longer = PLAIN | {"model_type": "gemma3_text", "rope_parameters": rules}
    del longer["rope_theta"]
    assert explain(longer)[2].count(f"{TRAINED} is not given") == 1


def test_a_trained_length_agrees_with_that_of_the_file(explain: Run) -> None:
    longer = scaled({"rope_type": "yarn", "factor": 4.0}, **{TRAINED: 4096})
    assert explain(longer, "--trained", "4096")[0] == 0
    status, _, error = explain(longer, "--trained", "2048")
    assert (status, f"{TRAINED} and trained_length must agree" in error) == (2, True)


def test_a_base_to_set_that_is_not_in_the_file_is_said_to_be_a_default(explain: Run) -> None:
    said = "(rope_theta is the default of the model's code: if the model was trained"
    without = {key: value for key, value in PLAIN.items() if key != "rope_theta"}
    assert said in " ".join(explain(without, "--length", "16k")[1].split())
    assert said not in " ".join(explain(PLAIN, "--length", "16k")[1].split())


def test_json_has_settings_pairs_and_length(explain: Run) -> None:
    assert numbers_of(explain, scaled(LONGROPE))["settings"] == {
        "short": LONGROPE["short_factor"],
        "long": LONGROPE["long_factor"],
    }
    rotating, unrotated = layers_of(explain, SMOLLM | {"no_rope_layers": [1, 0]})
    assert (rotating["pairs"] == [], unrotated["pairs"] == []) == (False, True)
    assert numbers_of(explain, SHORT)["asked_length"] is None
    found = numbers_of(explain, PLAIN | {TRAINED: 2048})
    assert (found["asked_length"], found["wrong"]) == (8192, True)


def test_a_longer_text_brings_new_angles_and_says_what_to_set(explain: Run) -> None:
    output = explain(PLAIN, "--length", "16384")[1]
    settings = output.split("What to set:\n")[1].split("\n\n")[0]
    assert explain(PLAIN | json.loads(f"{{{settings}}}"), "--length", "16384")[0] == 0


def test_a_larger_base_hides_its_new_angles_unless_the_trained_length_is_passed(
    explain: Run,
) -> None:
    larger = 5e5 * 2 ** (128 / 126)  # NTK-aware scaling by 2
    longer = PLAIN | {"max_position_embeddings": 16384, "rope_theta": larger}
    assert explain(longer, "--length", "16384")[0] == 0
    code, output, *_ = explain(longer, "--length", "16384", "--trained", "8192")
    assert code == 1
    assert "meet new angles" in " ".join(output.split())


def test_what_to_set_says_what_it_is_called_before_transformers_5(explain: Run) -> None:
    said = "Before it, rope_parameters is called rope_scaling"
    assert said in " ".join(explain(PLAIN, "--length", "16384")[1].split())
    assert said not in explain(PLAIN, "--length", "8192")[1]
    old = PLAIN | {"rope_scaling": {"type": "linear", "factor": 2.0}}
    assert said not in " ".join(explain(old, "--length", "32768")[1].split())


def test_pairs_are_those_that_the_angles_tell(explain: Run) -> None:
    found = numbers_of(explain, PLAIN, "--length", "16384")
    rates = frequencies(128, base=5e5)
    for pair, rate in zip(found["pairs"], rates, strict=True):
        assert pair["frequency"] == rate
        assert pair["turns"] == pytest.approx(8192 * rate / (2 * np.pi), rel=1e-15)
        assert pair["never_round"] == pair["unseen"] == (8192 * rate < 2 * np.pi)
    assert (found["never_round"], found["unseen"], found["wrong"]) == (29, 29, True)


@pytest.mark.parametrize(
    ("scaling", "promised", "factor"),
    [
        ({"type": "linear", "factor": 2.0}, 8192, 6.0),
        ({"type": "linear", "factor": 1.0}, 8192, 3.0),
        ({"rope_type": "yarn", "factor": 2.0, TRAINED: 8192}, 8192, 6.0),
        ({"type": "yarn", "factor": 2.0}, 8192, 6.0),
        (LLAMA3 | {TRAINED: 8192}, 131072, 24.0),  # since: 16384
        (LLAMA3 | {TRAINED: 2048}, 8192, 12.0),  # in training: 2048
    ],
)
def test_a_rule_with_a_factor_is_told_the_smallest_that_brings_no_new_angle(
    explain: Run, scaling: Config, promised: int, factor: float
) -> None:
    config = PLAIN | {"rope_scaling": scaling, "max_position_embeddings": promised}
    before = read_config(config)
    promised = before.length or 0
    found = numbers_of(explain, config, "--length", str(3 * promised))
    assert found["set"]["rope_scaling"].items() >= (scaling | {"factor": factor}).items()
    after = read_config(config | found["set"])
    assert (after.scheme, after.settings) == (before.scheme, before.settings)
    assert after.trained_length == before.trained_length or after.scheme == "linear"
    plain = frequencies(128, base=5e5) * (before.trained_length or 0)
    met = np.maximum(plain, before.frequencies() * promised)
    angles = after.frequencies() * 3 * promised
    assert ((angles <= met * (1 + 1e-12)) | (met >= 2 * np.pi)).all()
    assert explain(config | found["set"], "--length", str(3 * promised))[0] == 0


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
def test_what_to_set_contradicts_nothing(explain: Run, config: Config) -> None:
    config = PLAIN | config
    if "n_ctx" in config:
        del config["max_position_embeddings"]
    layers = layers_of(explain, config, "--length", "40960")
    (settings,) = (one["set"] for one in layers if one["set"])
    assert explain(config | settings, "--length", "40960")[0] == 0


def test_what_to_set_belongs_inside_the_part_about_text(explain: Run) -> None:
    _, output, _ = explain({"text_config": PLAIN}, "--length", "16384")
    settings = output.split("What to set inside text_config:\n")[1].split("\n\n")[0]
    longer = {"text_config": PLAIN | json.loads(f"{{{settings}}}")}
    assert explain(longer, "--length", "16384")[0] == 0


def test_layers_of_a_default_configuration_keep_their_other_rule(explain: Run) -> None:
    config = {"model_type": "gemma4_text", "max_position_embeddings": 8192}
    config["sliding_window"] = None
    far, near = layers_of(explain, config, "--length", "16384")
    assert far["set"] is None
    assert near["set"]["rope_parameters"]["full_attention"]["rope_type"] == "proportional"
    assert near["set"]["rope_parameters"]["sliding_attention"]["factor"] == 2


def test_a_pair_that_stands_still_meets_nothing_new(explain: Run) -> None:
    scaling = {"rope_type": "proportional", "partial_rotary_factor": 0.25}
    config = PLAIN | {"model_type": "a", "rope_scaling": scaling}
    found = numbers_of(explain, config, "--length", "1000000")
    still = [pair for pair in found["pairs"] if pair["slowed"] is None]
    assert len(still) == 48
    assert not any(pair["unseen"] for pair in still)
    output = explain(config)[1]
    assert ("     all  met" in output, "layout not settled" in output) == (True, True)


@pytest.mark.parametrize(
    ("content", "options", "reason"),
    [
        (PLAIN | {"rope_tehta": 1.0}, (), "rope_tehta must be a key that is read, such as rope_th"),
        (PLAIN | {"rope_theta": "1"}, (), "rope_theta must be a number above 1; got '1' (str)"),
        (PLAIN, ("--length", "0"), "length must be an integer, 1 or more; got 0"),
        ([1], (), "config must be a JSON object; got [1] (list)"),
        (b"[" * 10**5, (), "config must be a JSON file; got config.json: "),
        (b"9" * 5000, (), "integers of at most 4300 digits; got one of 5000"),
        (b'{"head_dim": NaN, "rope_theta": 1e4}', (), "head_dim must be an integer, 1 or more"),
        (b"\xff\xfe{\x00}\x00", (), "config.json, which is not UTF-8"),
        (b"\xef\xbb\xbf", (), "got config.json: Expecting value"),
        (b"", (), "got config.json, which is empty"),
    ],
    ids=range(10),
)
def test_what_cannot_be_read_gives_status_2_and_one_line(
    explain: Run, content: Any, options: tuple[str, ...], reason: str
) -> None:
    status, output, error = explain(content, *options)
    assert (status, output, refusal(error).count("\n")) == (2, "", 0)
    assert reason in error
    assert explain(content, *options, "--json")[:2] == (2, "")


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
        {TRAINED: 2048},
    ],
)
@pytest.mark.parametrize("length", [9000, 16384, 17920, 100000])
def test_what_to_set_changes_nothing_else(explain: Run, settings: Config, length: int) -> None:
    config = PLAIN | settings
    if "n_positions" in settings:
        del config["max_position_embeddings"]
    before = read_config(config)
    found = numbers_of(explain, config, "--length", str(length))
    assert found["wrong"]
    longer = config | found["set"]
    after = read_config(longer)
    assert (after.rotary_d, after.sections) == (before.rotary_d, before.sections)
    assert (after.interleaved_sections, after.base) == (before.interleaved_sections, before.base)
    assert (after.scheme, after.trained_length) == ("yarn", before.trained_length)
    assert numbers_of(explain, longer, "--length", str(length))["unseen"] == 0


@pytest.mark.parametrize(("length", "factor"), [("2200", 2.2), ("2201", 2.21)])
def test_a_factor_is_rounded_up_and_no_further(explain: Run, length: str, factor: float) -> None:
    found = numbers_of(explain, PLAIN | {"max_position_embeddings": 1000}, "--length", length)
    assert found["set"]["rope_parameters"]["factor"] == factor


def test_layers_with_a_window_meet_no_keys_beyond_it(explain: Run) -> None:
    config = GEMMA | {"rope_local_base_freq": 1e4, "sliding_window": 512}
    status, output, _ = explain(config, "--length", "100000")
    assert (status, "100,000 asked about, a window of 512" in output) == (1, True)
    *_, far = output.split("sliding_attention")
    assert "within 512 positions. In 100,000 positions, no pair meets a new angle." in " ".join(
        far.split()
    )
    mistral = PLAIN | {"model_type": "mistral", "sliding_window": 4096}
    assert explain(mistral, "--length", "100000")[0] == 0
    assert explain(mistral | {"sliding_window": 9000}, "--length", "100000")[0] == 1
    some = {"layer_types": ["full_attention", "sliding_attention"]}
    assert explain(mistral | some, "--length", "100000")[0] == 1


@pytest.mark.parametrize("factor", [1.0, 1.5])
@pytest.mark.parametrize(("length", "window"), [(40000, None), (131072, None), (40000, 36000)])
def test_dynamic_is_told_the_smallest_factor_that_brings_no_new_angle(
    explain: Run, factor: float, length: int, window: int | None
) -> None:
    config = dynamic(factor, 8192) | {"rope_theta": 1e6}
    config |= {"model_type": "mistral", "sliding_window": window}
    found = numbers_of(explain, config, "--length", str(length))
    assert list(found["set"]) == ["rope_scaling"]
    larger = found["set"]["rope_scaling"]["factor"]
    assert larger > factor
    omega, trained, ends = frequencies(128, base=1e6), 8192, min(length, window or length)
    slow = 2 * np.pi / omega > trained

    def new(factor: float) -> int:
        now = dynamic_frequencies(128, length, factor=factor, trained_length=trained, base=1e6)
        return int(np.sum(slow & ((ends - 1) * now >= trained * omega)))

    assert (new(larger), new(factor) > 0, new(larger - 0.02) > 0) == (0, True, True)
    assert explain(config | found["set"], "--length", str(length))[0] == 0


def test_the_file_is_read_once(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """So /dev/stdin, which cannot be read again, can be given too."""
    contents = [json.dumps(PLAIN).encode()]

    def opened(path: Path, mode: str) -> io.BufferedReader:
        return io.BufferedReader(io.BytesIO(contents.pop()))

    monkeypatch.setattr(Path, "open", opened)
    assert main(["config", "config.json"]) == 0
    assert "default, base 500,000" in capsys.readouterr().out


def test_a_file_that_is_not_there_gives_status_2(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["config", str(tmp_path / "none.json")]) == 2
    assert "No such file" in capsys.readouterr().err


# What a configuration may do to the command


NAMED_LAYERS: Config = {
    "head_dim": 64,
    "max_position_embeddings": 4096,
    "layer_types": ["full_attention"],
    "rope_parameters": {"full_attention": {"rope_type": "default", "rope_theta": 1e4}},
}


@pytest.mark.parametrize("planted", ["\x1b[2J", "\x9b2J", "\u202e", "\n[ ok ]", "\x07", "\ud800"])
def test_a_configuration_cannot_steer_the_terminal(
    explain: Run, planted: str, capsys: pytest.CaptureFixture[str]
) -> None:
    for config, expected in (
        (PLAIN | {f"rope_{planted}": 1}, 2),
        (PLAIN | {"rope_scaling": {planted: 1}}, 2),
        (PLAIN | {"model_type": planted, "alibi": True}, 2),
        (json.loads(json.dumps(NAMED_LAYERS).replace("full_", json.dumps(planted)[1:-1])), 0),
    ):
        status, *output = explain(config)
        assert status == expected
        assert all(letter == "\n" or letter.isprintable() for letter in "".join(output)), output
        assert status == 0 or refusal(output[1]).count("\n") == 0
    assert main(["config", f"{planted.strip()}x.json"]) == 2
    assert refusal(capsys.readouterr().err).isprintable()


@pytest.mark.parametrize(
    "arguments",
    [
        ["config", "nowhere.json"],
        ["config", "nowhere.json", "--length", "far"],
        ["diagnose", "nowhere:model"],
        ["vectors", "show", "nowhere"],
        ["vectors", "run", "nowhere"],
    ],
    ids=" ".join,
)
def test_a_refusal_ends_with_where_to_report_it_as_wrong(
    arguments: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    try:
        status = main(arguments)
    except SystemExit as ended:
        status = int(str(ended.code))
    assert (status, "\n" in refusal(capsys.readouterr().err)) == (2, "--length" in arguments)


def test_an_argument_cannot_steer_the_terminal(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["config", "x", "--\x1b[2J"])
    assert "unrecognized arguments: --\\x1b[2J" in capsys.readouterr().err


def test_the_nearest_key_is_sought_for_a_slip_alone(
    explain: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Seeking takes a thousand times as long as reading, so unrelated keys are passed over."""
    sought: list[str] = []

    def close(word: str, *_: object, **__: object) -> list[str]:
        sought.append(word)
        return ["rope_theta"]

    monkeypatch.setattr("posenc.config.entries.get_close_matches", close)
    many = {f"unrelated_{n}": n for n in range(1000)}
    assert explain(PLAIN | many | {"x" * 10**6: 1})[0] == 0
    assert sought == []
    status, _, error = explain(PLAIN | {"rope_" + "x" * 10**6: 1})
    assert (status, len(sought), len(sought[0]), len(error) < 2000) == (2, 1, 300, True)


COMMANDS: tuple[list[str], ...] = (
    [],
    ["config", "config.json"],
    ["config", "config.json", "--json"],
    ["vectors", "list"],
    ["vectors", "show", "alibi"],
)


def run_in_folder(
    folder: Path, command: list[str], **streams: Any
) -> subprocess.CompletedProcess[str]:
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
    done = run_in_folder(tmp_path, command, stdout=writing, stderr=subprocess.PIPE)
    assert (done.returncode, done.stderr) == (141, "")
    done = run_in_folder(tmp_path, ["config", "nowhere"], stdout=subprocess.PIPE, stderr=writing)
    assert (done.returncode, done.stdout) == (141, "")
    os.close(writing)
