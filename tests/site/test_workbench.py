"""The workbench's JavaScript reads and explains configurations as the package does."""

from __future__ import annotations

import difflib
import json
import sys
import textwrap
from argparse import ArgumentTypeError
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from posenc import (
    frequencies,
    interpolated_frequencies,
    llama3_frequencies,
    ntk_frequencies,
    read_config,
    yarn_frequencies,
)
from posenc.__main__ import length as length_of
from posenc.config.diffusion import DIVIDED, LISTED, REASONS
from posenc.config.entries import edits
from posenc.config.keys import READ
from posenc.config.serving import PROGRAMS
from scripts.book.configurations import Configuration, configurations
from scripts.site.workbench import MODULES, constants, json_text, scripts
from tests.oracles.test_published import FAULTS, config_of, planted
from tests.site.config_script import (
    Answer,
    Script,
    assert_same,
    command_answer,
    command_serving,
    copy_scripts,
    running_script,
)
from tests.site.random_configurations import random_configuration

pytestmark = pytest.mark.usefixtures("own_folder")

ALL = configurations()
LENGTHS = (None, 1, 2048, 8193, 131072, 1_000_000, 2**53)
SEEDS, AT_ONCE = 800, 100
# With their end in a trailing comma, later Pythons have words of their own.
TRAILING = [] if sys.version_info >= (3, 13) else ['{"a": 1,}', '{"a": [1, ]}', "[1,\n]", "[,]"]
BROKEN = [
    *(
        "",
        " \n",
        "\ufeff",
        '{"a":1 "b":2}',
        "[1 2]",
        '"\n"',
        '"\t"',
        "[]",
        "null",
        "{}x",
        ",}",
        '{"a":,}',
        '{"x": 1, "a":,}',
    ),
    *("{", "[", '{"a"', '{"a":', '{"a":1', "[1", "nul", "NaN", "Infinity", "-Infinity", "-", "01"),
    *("1.", ".5", "1e5", "1e400", "-0", "4", '"x"', '"', '"\\', '"\\x"', '"\\u12"', '"\\u12g4"'),
    '"\\ud800"',
    *("\ufeff{}", "{}", '{"a":1}\n}', "\xa0{}", "{\n\n  'a': 1}", '{"é😀": x}', "[" * 100_000),
    *('{"rope_theta": 1, "rope_theta": 2}', '{"a": NaN, "a": NaN}', '{"a": [NaN], "a": [NaN]}'),
    *('{"a": 1, "a": 1.0, "a": true}', '{"a": {"b": 1}, "a": {"b": 2}}', "{" + '"a":{' * 40),
    *('{"rope_theta": ' + "9" * 4301 + "}", '{"rope_theta": ' + "9" * 4300 + "}"),
    *(
        '{"rope_theta": "' + "é" * 80 + '"}',
        '{"rope_theta": "it\'s \\"\\u0007\\u2028\\ud83d\\ude00"}',
    ),
    *('{"__proto__": 1, "constructor": 2}', '{"rope_theta": 1e4, "model_type": "constructor"}'),
    *('{"head_dim": 1, "head_dim": true}', '{"a": [0], "a": [false]}', '{"a": 1e0, "a": 1}'),
    *('{"\\u001b[2J": 1, "\\u001b[2J": 2}', '{"rope_\\u202e\\n": 1}', '{"rope_\\ud800": 1}'),
    *('{"rope_' + "y" * 10**6 + '": 1}', '{"rope_theta": 1, "x": ' + "-" + "9" * 5000 + "}"),
    *('{"10": 1, "2": 2, "rope_10": 3}', '{"rope scaling": {"2": [1.50, 1E3, -0.0], "1": null}}'),
    *('{"a": 1, // x\n}', '{"a": 1 /* x */}', "// x\n{}", "{} // x", '{"a":,\n// x', "[1, 'x']"),
    *('{"a": None}', "[True,", '{"a": Falsehood}', "[\"a\", 'b']", '{"a": "it\'\n"}', '[",\n]"]'),
    *("a: 1\n", "# x\n\n---\na: 1", "hidden_size:\r\n", "a:1", "nul: {", "\ufeffa: 1", "a.b-c:"),
    *TRAILING,
]


@pytest.fixture(scope="module")
def script(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Script]:
    with running_script(copy_scripts(tmp_path_factory.mktemp("script"))) as script:
        yield script


# What it answers


@pytest.mark.parametrize("one", ALL, ids=lambda one: one.key)
def test_the_script_answers_what_the_command_answers(one: Configuration, script: Script) -> None:
    text = json_text(one.config)
    for length in LENGTHS:
        theirs = command_answer(text, length)
        assert theirs.error is None
        assert_same(script(text, length), theirs)


@pytest.mark.parametrize("one", ALL, ids=lambda one: one.key)
def test_the_script_starts_programs_as_the_command_does(one: Configuration, script: Script) -> None:
    text = json_text(one.config)
    for length in (2048, 200_000, 3_000_000):
        for program in PROGRAMS:
            assert script.serving(text, length, program) == command_serving(text, length, program)


@pytest.mark.parametrize("kind", [*LISTED, *DIVIDED, *REASONS, "Other", 4, ""])
def test_diffusion_transformers_are_answered_alike(kind: object, script: Script) -> None:
    others: list[dict[str, object]] = [
        {},
        {"positional_embedding_theta": 1e4},
        {"attention_head_dim": 96, "num_layers": 3, "use_rotary_positional_embeddings": True},
        {"attention_head_dim": 98, "axes_dims_rope": [16, 8.0]},
        {"axes_dims_rope": [], "rope_axes_dim": [16, 7], "axes_dims": 4, "axes_dim_rope": [None]},
        {"axes_dims_rope": [2, 4], "rope_theta": 1, "model_type": "diffusers", "head_dim": 8},
        {"axes_dims_rope": [2, 6], "rope_theta": 3, "model_type": "diffusers", "head_dim": 8},
    ]
    for other in others:
        text = json.dumps({"_class_name": kind} | other)
        assert_same(script(text, 4096), command_answer(text, 4096))


PARAMS = {"dim": 4096, "n_heads": 32, "n_layers": 32, "rope_theta": 5e5, "use_scaled_rope": True}


@pytest.mark.parametrize("other", [{}, {"use_scaled_rope": False}, {"max_seq_len": 4096}])
@pytest.mark.parametrize("length", [None, 65536, 131072])
def test_params_are_answered_alike(
    other: dict[str, Any], length: int | None, script: Script
) -> None:
    text = json.dumps(PARAMS | other)
    assert_same(script(text, length), command_answer(text, length))
    for program in PROGRAMS:
        served = script.serving(text, length or 8192, program)
        assert served == command_serving(text, length or 8192, program)


@pytest.mark.parametrize(
    "rule",
    [
        {},
        {"rope_theta": 1e6},
        {"rope_parameters": {"rope_type": "yarn", "factor": 4.0}},
        {"rope_parameters": {"rope_type": "default", "rope_theta": None}},
        {"rope_scaling": {"rope_type": "yarn", "factor": 2.0, "attn_factor": 1.5}},
    ],
)
def test_what_is_assumed_is_said_alike(rule: dict[str, Any], script: Script) -> None:
    text = json.dumps(
        {"model_type": "llama", "head_dim": 64, "max_position_embeddings": 512} | rule
    )
    theirs = command_answer(text, 4096)
    assert_same(script(text, 4096), theirs)
    for program in PROGRAMS if theirs.error is None else ():
        assert script.serving(text, 4096, program) == command_serving(text, 4096, program)


@pytest.mark.parametrize("given", [{}, {"qk_rope_head_dim": 64}, {"qk_rope_head_dim": 192}])
def test_dimensions_at_the_end_of_a_head_are_noted_alike(
    given: dict[str, int], script: Script
) -> None:
    text = json.dumps({"model_type": "deepseek_v4", "head_dim": 192} | given)
    mine, theirs = script(text), command_answer(text)
    assert_same(mine, theirs)
    part = given.get("qk_rope_head_dim", 24)
    said = f"The last {part} of the 192 dimensions of a head are rotated, not the first {part}."
    assert (said in str(mine.numbers)) == (part < 192)


QWEN = {"model_type": "qwen", "use_dynamic_ntk": True, "seq_length": 8192, "kv_channels": 128}
AT_THE_TOP = {"original_max_position_embeddings": 4096}


@pytest.mark.parametrize("given", [QWEN, AT_THE_TOP])
@pytest.mark.parametrize("trained", [4096, 8192])
def test_another_trained_length_than_the_rule_goes_by_is_answered_alike(
    given: dict[str, Any], trained: int, script: Script
) -> None:
    plain = {"model_type": "llama", "head_dim": 128, "max_position_embeddings": 32768}
    text = json.dumps(plain | {"rope_theta": 1e4} | given)
    mine, theirs = script(text, None, trained), command_answer(text, None, trained)
    assert_same(mine, theirs)
    assert (theirs.error is None) == (trained in given.values())


@pytest.mark.parametrize("kind", ["llama", "bert"])
def test_a_fault_in_the_second_name_of_a_scheme_is_found_alike(kind: str, script: Script) -> None:
    named = {"position_embedding_type": "relative_key", "position_embeddings_type": 3}
    text = json.dumps(named | {"model_type": kind})
    mine, theirs = script(text), command_answer(text)
    assert "position_embeddings_type must be a string" in str(theirs.error)
    assert mine == theirs


@pytest.mark.parametrize("kind", ["deepseek_v4", "mimo_v2_flash"])
def test_layer_types_of_a_class_are_derived_alike(kind: str, script: Script) -> None:
    text = json.dumps({"model_type": kind, "head_dim": 192, "num_hidden_layers": 14})
    assert_same(script(text), command_answer(text))


@pytest.mark.parametrize(("key", "place", "value", "named"), FAULTS)
def test_a_planted_fault_has_the_words_of_the_command(
    key: str, place: str, value: Any, named: str, script: Script
) -> None:
    text = json_text(planted(config_of(key), place, value))
    mine, theirs = script(text), command_answer(text)
    assert named in str(theirs.error)
    assert mine == theirs


@pytest.mark.slow
@pytest.mark.parametrize("start", range(0, SEEDS, AT_ONCE))
def test_mutated_configurations_are_answered_alike(start: int, script: Script) -> None:
    read = 0
    for seed in range(start, start + AT_ONCE):
        text, length = random_configuration(seed)
        theirs = command_answer(text, length)
        read += theirs.error is None
        assert_same(script(text, length), theirs)
    assert AT_ONCE / 10 < read < AT_ONCE * 9 / 10


@pytest.mark.parametrize("text", BROKEN, ids=lambda text: f"{text[:12]!r}, {len(text)}")
def test_broken_json_has_the_words_of_the_command(text: str, script: Script) -> None:
    mine, theirs = script(text), command_answer(text)
    assert theirs.error
    assert mine == theirs


@pytest.mark.parametrize("length", [0, -1, 2**53, 2**53 + 1, 10**59, 10**70])
def test_a_length_out_of_range_has_the_words_of_the_command(length: int, script: Script) -> None:
    text = json_text(ALL[0].config)
    assert_same(script(text, length), command_answer(text, length))


@pytest.mark.parametrize("trained", [1, 512, 2048, 2**53 + 1])
@pytest.mark.parametrize("key", ["olmo-2", "llama-3.1", "gpt-oss", "gemma-3-1b"])
@pytest.mark.parametrize(
    "rule", [None, *({"rope_type": name, "factor": 2.0} for name in ("dynamic", "yarn"))]
)
def test_a_trained_length_is_answered_as_the_command_answers_it(
    trained: int, key: str, rule: dict[str, Any] | None, script: Script
) -> None:
    text = json_text(config_of(key) | ({} if rule is None else {"rope_scaling": rule}))
    for asked in (None, 1024, 65536):
        assert_same(script(text, asked, trained), command_answer(text, asked, trained))


def test_a_length_is_read_as_the_command_reads_it(script: Script) -> None:
    given = ["4096", "4,096", "1,234,567", "8k", "128K", "1m", " 32 k ", "1_000", "-3", "+4"]
    given += ["it's", "4,0", "4,0000", ",096", "4096,", "1234,567", "abc", "1.5k", "k", "4 096"]
    given += ["32\u00a0k", "\u200932k", "\ufeff32k", "32k\x85", "32\nk", "9" * 99, "9" * 100]
    mine = script.call("command.js", "lengthIn", [[one] for one in given])
    assert mine == [read_length(one) for one in given]
    assert mine[1] == "4096n" and mine[11].endswith("32,768 or 32k; got '4,0'")


def read_length(written: str) -> str:
    """Return a length as the script prints it, or what the command says of it."""
    try:
        return f"{length_of(written)}n"
    except ArgumentTypeError as error:
        return str(error)


@pytest.mark.parametrize("planted", ["\x1b[2J", "\x85", "\u202e", "\n", "\ud800"])
def test_what_would_steer_a_terminal_has_the_escapes_of_the_command(
    planted: str, script: Script
) -> None:
    names = ("full_attention", f"{planted}attention")
    parameters = {name: {"rope_type": "default", "rope_theta": 1e4} for name in names}
    text = json.dumps({"head_dim": 8, "layer_types": names, "rope_parameters": parameters})
    theirs = command_answer(text)
    assert theirs.words is not None
    assert_same(script(text), theirs)


def test_unrelated_keys_are_passed_over(script: Script) -> None:
    """Words of the letters of a key that is read, and megabytes, are no slips for it."""
    keys = ["x" * 10**6, *(f"unrelated_{n}" for n in range(1000)), "ateht_epor", "rope", "d_headim"]
    text = json.dumps({"head_dim": 8, "rope_theta": 1e4} | dict.fromkeys(keys[:-2], 1))
    assert_same(script(text), command_answer(text))
    for key in keys[-2:]:
        text = json.dumps({"head_dim": 8, "rope_theta": 1e4, key: 1})
        assert_same(script(text), command_answer(text))


# Its parts, against those of Python


@pytest.mark.parametrize("precision", [4, 6, 10, 15])
def test_numbers_are_printed_as_python_prints_them(script: Script, precision: int) -> None:
    chance = np.random.default_rng(precision)
    values = [*(10 ** chance.uniform(-20, 20, 400)), *(chance.integers(0, 2**20, 400) / 64)]
    values += [1.0625, 2.5, 0.00012345, 99995.0, 9999.5, 1e15, 1e16, 123456789012.5, 0.0, -2.5]
    mine = script.call("python.js", "general", [(float(one), precision) for one in values])
    assert mine == [f"{one:.{precision}g}" for one in values]
    mine = script.call("python.js", "float", [(float(one),) for one in values])
    assert mine == [repr(float(one)) for one in values]


def test_lines_are_broken_as_python_breaks_them(script: Script) -> None:
    texts = [note for one in ALL for layers in one.layers() for note in layers.notes]
    texts += ["a-b " * 40, "x" * 200, "well-known-words-that-go-on " * 9, "a -- b--c " * 20]
    texts += [" x", "", "1-2-3 " * 30, "M-RoPE mlx-lm " * 12, "-" * 99]
    texts += ["é" * 50 + "-" + "ü" * 60 + " 😀" * 30]
    for width in (20, 88):
        mine = script.call("wrap.js", "wrap", [(text, width, "  - ", "    ") for text in texts])
        theirs = [
            textwrap.wrap(text, width, initial_indent="  - ", subsequent_indent="    ")
            for text in texts
        ]
        assert mine == theirs


def test_the_nearest_key_is_the_one_that_difflib_finds(script: Script) -> None:
    chance = np.random.default_rng(0)
    letters = list("abcdefghijklmnopqrstuvwxyz_é")
    words = ["".join(chance.choice(letters, size)) for size in chance.integers(1, 40, 60)]
    words += [key[1:] + key[:1] for key in READ] + ["", "rope_" * 60, "Rope_Theta"]
    cached_answer = sorted(READ)
    mine = script.call("nearest.js", "nearest", [(word, cached_answer) for word in words])
    assert mine == [difflib.get_close_matches(word, cached_answer, 1, 0.0)[0] for word in words]
    mine = script.call("nearest.js", "edits", [(word, "rope_theta") for word in words])
    assert mine == [edits(word, "rope_theta") for word in words]


RULES: dict[str, Callable[..., Any]] = {
    "none": lambda d, factor, trained, base: frequencies(d, base=base),
    "interpolation": lambda d, factor, trained, base: interpolated_frequencies(
        d, factor, base=base
    ),
    "NTK-aware": lambda d, factor, trained, base: ntk_frequencies(d, factor, base=base),
    "YaRN": lambda d, factor, trained, base: yarn_frequencies(
        d, factor, trained, base=base, ramp="pairs"
    ),
    "Llama 3": lambda d, factor, trained, base: llama3_frequencies(
        d, factor=factor, trained_length=trained, base=base
    ),
}


@pytest.mark.parametrize("key", ["olmo-2", "llama-3.1", "stablelm-2", "gpt-oss"])
def test_rules_shown_beside_are_those_of_the_package(key: str, script: Script) -> None:
    config = read_config(config_of(key))
    trained, base, length = config.trained_length, config.base, 200_000
    assert trained is not None and base is not None
    plain = frequencies(config.rotary_d, base=base)
    found = {one["name"]: one for one in script.beside(json_text(config_of(key)), length)}
    assert list(found) == ["as configured", *RULES]
    for name, rule in RULES.items():
        now = rule(config.rotary_d, length / trained, trained, base)
        np.testing.assert_allclose(found[name]["slowed"], plain / now, rtol=1e-12)
        never = 2 * np.pi / plain > trained
        assert found[name]["unseen"] == np.sum(never & (length - 1 >= trained * (plain / now)))
    own = plain / config.frequencies(length)
    np.testing.assert_allclose(found["as configured"]["slowed"], own, rtol=1e-12)


# What is made


def test_tables_hold_what_the_package_holds(script: Script) -> None:
    """JSON has neither tuples nor sets, so both are compared as lists, and an int as "4n"."""

    def plain(value: Any) -> Any:
        if isinstance(value, dict):
            return [[key, plain(one)] for key, one in value.items()]
        if isinstance(value, set):
            return sorted(value)
        if isinstance(value, list | tuple):
            return [plain(one) for one in value]
        return f"{value}n" if type(value) is int else value

    mine = script.tables()
    assert mine == {
        module: {name: plain(value) for name, value in constants(names).items()}
        for module, names in MODULES.items()
    }


def test_models_to_pick_are_those_of_the_data(script: Script) -> None:
    found = json.loads(scripts()["models.js"].removeprefix("export const MODELS = ").strip(";\n"))
    assert [(one["key"], one["name"]) for one in found] == [(one.key, one.name) for one in ALL]
    assert [json.loads(one["text"]) for one in found] == [one.config for one in ALL]


# Configurations that no model has, on which a fault shows: a pair slowed by 1.0625, halfway between
# 1.062 and 1.063; a bound that is left out; a share that the model type takes for given; a slip.
OTHERS = [
    """{"head_dim": 4, "rope_theta": 1e4, "max_position_embeddings": 512, "rope_scaling":
        {"rope_type": "longrope", "original_max_position_embeddings": 512,
         "short_factor": [1.0625, 1.0625], "long_factor": [1.0625, 1.0625]}}""",
    '{"head_dim": 64, "rope_theta": 1}',
    '{"model_type": "phi", "head_dim": 64}',
    '{"head_dim": 64, "rope_theta": 1e4, "hidden_sixes": 64}',
]

# Planted faults: a file, what stands in it, and what is put there.
PLANTED = [
    (
        "scaling.js",
        "(1 - kept[pair]) / factor + kept[pair]",
        "kept[pair] / factor + 1 - kept[pair]",
    ),
    ("scaling.js", "length > trained ? far : near", "length > trained ? near : far"),
    ("scaling.js", "truncate) [first", "!truncate) [first"),
    ("rule.js", "factorOf(entries);\n  const length = rounded", "1;\n  const length = rounded"),
    ("angles.js", "length - 1 >=", "length >="),
    ("explain.js", "least(whole, found.window)", "whole"),
    ("head.js", "defaults.get(SHARE) ?? 1", "1"),
    ("python.js", "halfway && Number(all[precision - 1]) % 2 === 0", "false"),
    ("keys.js", "size < 10 ? 1 : Number(limits.SLIP)", "1"),
    ("json.js", "lengthOf(before)}", "before.length}"),
    ("entries.js", "value == least", "value === least"),
]


@pytest.mark.slow
@pytest.mark.parametrize(("name", "right", "wrong"), PLANTED)
def test_a_fault_planted_in_the_script_is_found(
    name: str, right: str, wrong: str, tmp_path: Path
) -> None:
    folder = copy_scripts(tmp_path)
    text = (folder / name).read_text("utf-8")
    assert text.count(right) == 1
    (folder / name).write_text(text.replace(right, wrong), "utf-8")
    asked = [(json_text(one.config), length) for one in ALL for length in (*LENGTHS, 8192)]
    asked += [(text, None) for text in BROKEN]
    asked += [(json_text(planted(config_of(key), at, value)), None) for key, at, value, _ in FAULTS]
    asked += [(text, None) for text in OTHERS]
    with running_script(folder) as script:
        assert any(differ(script, *one) for one in asked)


@cache
def cached_answer(text: str, length: int | None) -> Answer:
    """Return what the command answers, found once."""
    return command_answer(text, length)


def differ(script: Script, text: str, length: int | None) -> bool:
    """Return whether the script and the command differ about a configuration."""
    try:
        assert_same(script(text, length), cached_answer(text, length))
    except AssertionError:
        return True
    return False
