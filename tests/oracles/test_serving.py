"""What `posenc config --for` prints sets the rule that it says, in the program that it is for."""

from __future__ import annotations

import argparse
import importlib
import json
import shlex
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from posenc import RotaryConfig, read_config
from posenc.config.explain import explained
from posenc.config.serving import SGLANG, TRANSFORMERS, VLLM, Serving, serving
from tests.oracles.rotary_modules import UnknownModuleError, rotations
from tests.oracles.test_published import ALIKE, ENTRIES, Config, config_of, read_all

TIMES = (2, 8)  # as many positions as promised
CASES = [(key, times) for key in ENTRIES for times in TIMES]


def served(config: Config, times: float, program: str) -> tuple[Serving, int]:
    """Return what to start a program with, and the length."""
    configs = read_all(config)
    length = int(times * (configs[0].length or 2048))
    return serving(program, configs, [explained(one, length) for one in configs]), length


def afterwards(config: Config, length: int) -> list[RotaryConfig]:
    """Return what is read about each type of layers once what `posenc config` says is set."""
    after = []
    for one in read_all(config):
        found = explained(one, length)
        changed = config
        if found["set"]:
            place = found["set_in"]
            inner = config[place] | found["set"] if place else found["set"]
            changed = config | ({place: inner} if place else inner)
        after.append(read_config(changed, layer_type=one.layer_type))
    return after


def loaded(said: Serving, config: Config, folder: Path) -> Any:
    """Return the configuration that lines of Python load and change."""
    (folder / "config.json").write_text(json.dumps(config), "utf-8")
    lines = [line.replace("MODEL", str(folder)) for line in said.lines[:-1]]
    names: dict[str, Any] = {}
    exec("\n".join(lines), names)
    return names["config"].get_text_config()


def assert_rotates_as(peer: Any, ours: list[RotaryConfig]) -> None:
    """Compare the frequencies and factors that a class computes with those of the package."""
    theirs = rotations(peer.model_type, peer)
    for one in ours:
        if one.scheme == "none":
            continue
        found, factor = theirs[one.layer_type if one.layer_type in theirs else None]
        np.testing.assert_allclose(one.frequencies(), found, rtol=2e-5)
        assert one.attention_factor == pytest.approx(factor, rel=1e-12)


def own_types(key: str) -> Config:
    """Return a published configuration under the model types that transformers has for it."""
    config = config_of(key)
    config["model_type"] = ALIKE.get(config["model_type"], config["model_type"])
    if "text_config" in config:
        config["model_type"] = "mistral3"  # the model with images, around the text model
    return config


@pytest.mark.parametrize(("key", "times"), CASES)
def test_transformers_computes_what_the_lines_for_it_set(
    key: str, times: float, tmp_path: Path
) -> None:
    config = own_types(key)
    said, length = served(config, times, TRANSFORMERS)
    if not said.lines:
        assert "What helps" in said.notes[0]
        return
    peer = loaded(said, config, tmp_path)
    try:
        assert_rotates_as(peer, afterwards(config, length))
    except UnknownModuleError as error:
        pytest.skip(str(error))


# The options of the programs, as their own parsers have them: see posenc/config/serving.py.
OPTIONS = {
    VLLM: ("--hf-overrides", "--max-model-len"),
    SGLANG: ("--model-path", "--json-model-override-args", "--context-length"),
}


def parsed(said: Serving) -> tuple[Config, int]:
    """Return the overrides and the length in a line, split as a shell splits it."""
    parser = argparse.ArgumentParser()
    parser.add_argument("start", nargs="*")
    for option in OPTIONS[said.program]:
        parser.add_argument(option)
    lines = "\n".join(said.lines).replace("\\\n", "")
    words = [word for word in shlex.split(lines) if word != "-m"]
    found = [
        vars(parser.parse_args(words))[name[2:].replace("-", "_")] for name in OPTIONS[said.program]
    ]
    return json.loads(found[-2] or "{}"), int(found[-1])


def overridden(peer: Any, changes: Config, program: str) -> Any:
    """Return a loaded configuration with other values, as vLLM and SGLang put them in."""
    for key, value in changes.items():
        now = getattr(peer, key, None)
        if hasattr(now, "to_dict"):
            overridden(now, value, program)
        elif program == SGLANG and key == "rope_parameters" and isinstance(now, dict):
            setattr(peer, key, now | value)
        else:
            setattr(peer, key, value)
    return peer


@pytest.mark.parametrize("program", OPTIONS)
@pytest.mark.parametrize(("key", "times"), CASES)
def test_a_server_that_replaces_rope_parameters_loses_nothing(
    key: str, times: float, program: str, tmp_path: Path
) -> None:
    from transformers import AutoConfig

    config = own_types(key)
    said, length = served(config, times, program)
    if not said.lines:
        assert "What helps" in said.notes[0]
        return
    changes, limit = parsed(said)
    (tmp_path / "config.json").write_text(json.dumps(config), "utf-8")
    peer = overridden(AutoConfig.from_pretrained(tmp_path), changes, program).get_text_config()
    assert limit == length
    try:
        assert_rotates_as(peer, afterwards(config, length))
    except UnknownModuleError as error:
        pytest.skip(str(error))


def test_the_parser_of_vllm_takes_the_line() -> None:
    utilities = pytest.importorskip("vllm.engine.arg_utils")
    parser = utilities.EngineArgs.add_cli_args(
        importlib.import_module("vllm.utils.argparse_utils").FlexibleArgumentParser()
    )
    for said, length in lines_for(VLLM):
        found = parser.parse_args(words(said)[3:])
        assert (found.hf_overrides, found.max_model_len) == (parsed(said)[0], length)


def test_the_parser_of_sglang_takes_the_line() -> None:
    arguments = pytest.importorskip("sglang.srt.server_args").ServerArgs
    parser = argparse.ArgumentParser()
    arguments.add_cli_args(parser)
    for said, length in lines_for(SGLANG):
        found = parser.parse_args(words(said)[3:])
        overrides = json.loads(found.json_model_override_args)
        assert (overrides, found.context_length) == (parsed(said)[0], length)


def words(said: Serving) -> list[str]:
    """Return the words of a command, as a shell splits them."""
    return shlex.split("\n".join(said.lines).replace("\\\n", ""))


def lines_for(program: str) -> list[tuple[Serving, int]]:
    """Return the line for each published configuration that has one, and the length."""
    all_served = [served(config_of(key), 2, program) for key in ENTRIES]
    return [(said, length) for said, length in all_served if said.lines]
