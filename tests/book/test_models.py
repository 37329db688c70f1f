"""The models' data are complete, each value has a source, and is compared with code if possible."""

import ast
import re
from collections.abc import Callable
from functools import cache
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest
import torch
from transformers.models.auto.configuration_auto import CONFIG_MAPPING

from posenc import frequencies, wavelengths
from posenc.config.explain import explained
from scripts.book import models_page, pages
from scripts.book.configurations import WINDOWED, Configuration, configurations
from scripts.book.evaluate import names
from scripts.book.models import NEEDED, Model, bases, families, model, models, rotary, sources

BY_KEY = {found.key: found for found in models()}
CONFIGURED = {
    f"{found.key}, {field}": (found, field)
    for found in models()
    for field, value in found.values.items()
    if value.source == "transformers" and re.match(r"\w+Config:", value.where) and field != "year"
}


def test_there_are_thirty_models_from_2017_to_2026() -> None:
    assert len(models()) >= 30
    assert (models()[0]["year"], models()[-1]["year"]) == (2017, 2026)
    assert {found["year"] for found in models()} == set(range(2017, 2027))


@pytest.mark.parametrize("key", BY_KEY)
def test_every_value_has_a_source(key: str) -> None:
    found = BY_KEY[key]
    assert set(NEEDED) <= set(found.values)
    for value in found.values.values():
        assert sources()[value.source].url.startswith("https://")
        assert value.where.strip()


@pytest.mark.parametrize("key", [found.key for found in models() if found.type])
def test_model_types_exist_in_transformers(key: str) -> None:
    assert BY_KEY[key].type in CONFIG_MAPPING


@pytest.mark.parametrize("key", [found.key for found in rotary()])
def test_computed_columns_are_those_of_the_package(key: str) -> None:
    found = BY_KEY[key]
    cells = models_page.row(found)
    if not found["d"] or not found["base"]:
        assert cells["slowest turn"] == cells["no full turn"] == models_page.NOT_FOUND
        return
    width = found["rotary"] or found["d"]
    table = wavelengths(width, base=float(found["base"]))
    if key == "gemma-4":  # the first quarter of the pairs of the whole head
        table = 2 * torch.pi / frequencies(512, base=1e6)[:64]
    assert cells["slowest turn"] == f"{table[-1]:,.0f}"
    if seen := found["reach"] or found["reported"] or found["stated"]:
        never = sum(length > seen for length in table)
        assert cells["no full turn"] == f"{never} of {width // 2}"
    else:
        assert cells["no full turn"] == models_page.NOT_FOUND


def test_llama_2_and_code_llama_by_hand() -> None:
    """10000^(126/128) · 2π is 54,410; pairs from 46 on take more than 4096 tokens."""
    slowest = 2 * torch.pi * 10000 ** (126 / 128)
    assert models_page.row(model("llama-2"))["slowest turn"] == f"{slowest:,.0f}"
    assert 2 * torch.pi * 10000 ** (90 / 128) < 4096 < 2 * torch.pi * 10000 ** (92 / 128)
    assert models_page.row(model("llama-2"))["no full turn"] == f"{64 - 46} of 64"
    assert models_page.row(model("code-llama"))["no full turn"] == "27 of 64"


@pytest.mark.parametrize("which", CONFIGURED)
def test_values_from_configuration_classes_agree_with_them(which: str) -> None:
    found, field = CONFIGURED[which]
    value = found.values[field]
    config = CONFIG_MAPPING[found.type]()
    assert type(config).__name__ == value.where.partition(":")[0]
    assert agrees_with_config(field, value.value, config), (field, value)


def agrees_with_config(field: str, value: Any, config: Any) -> bool:
    """Return whether a value is that of a configuration, for the fields that it has."""
    numbers = rope_of(config)
    if field == "d":
        return bool(value == head_of(config))
    if field == "rotary":
        # MiMo's factor is 0.334, of which the library rotates what is even
        share = config.head_dim * numbers.get("partial_rotary_factor", 0)
        return value in (getattr(config, "qk_rope_head_dim", None), int(share) // 2 * 2)
    if field in ("base", "local_base"):
        return float(value) == float(numbers["rope_theta"] if field == "base" else local_of(config))
    if field in ("stated", "promised"):
        names = ("max_position_embeddings", "n_positions")
        lengths = [getattr(config, name) for name in names if hasattr(config, name)]
        return value in [*lengths, numbers.get("original_max_position_embeddings")]
    if field == "reach":
        return value in (
            getattr(config, name, 0) for name in ("attention_chunk_size", "sliding_window")
        )
    if field == "rule":
        return rule_agrees(value, numbers)
    return field in ("scheme", "layers")  # words, which are not compared


def rule_agrees(rule: dict[str, Any], numbers: dict[str, Any]) -> bool:
    """Return whether a rule has the numbers of a configuration, under its names for them."""
    names = {
        "kind": "rope_type",
        "trained": "original_max_position_embeddings",
        "low": "low_freq_factor",
        "high": "high_freq_factor",
        "fast": "beta_fast",
        "slow": "beta_slow",
    }
    return all(numbers[names.get(name, name)] == number for name, number in rule.items())


def head_of(config: Any) -> int:
    """Return the width of a head, of both parts with multi-head latent attention."""
    parts = [getattr(config, f"qk_{part}_head_dim", None) for part in ("nope", "rope")]
    if None not in parts:
        return int(sum(part or 0 for part in parts))
    explicit = getattr(config, "head_dim", None)
    return int(explicit or config.hidden_size // config.num_attention_heads)


def rope_of(config: Any) -> dict[str, Any]:
    """Return the rotary settings of a configuration, of the layers that see everything."""
    numbers = getattr(config, "rope_parameters", None) or {}
    return dict(numbers.get("full_attention", numbers))


def local_of(config: Any) -> float:
    return float(config.rope_parameters["sliding_attention"]["rope_theta"])


@pytest.mark.parametrize(
    ("key", "field", "wrong"),
    [
        ("llama", "base", 100000),
        ("falcon", "d", 128),
        ("gpt-oss", "promised", 8192),
        ("gpt-oss", "rule", {"kind": "yarn", "factor": 16}),
        ("gpt-oss", "rule", {"kind": "linear"}),
        ("modernbert", "local_base", 160000),
        ("mistral-small-4", "rotary", 128),
        ("hy3", "base", 10000),
    ],
)
def test_a_wrong_value_disagrees_with_its_configuration(key: str, field: str, wrong: Any) -> None:
    config = CONFIG_MAPPING[BY_KEY[key].type]()
    assert agrees_with_config(field, BY_KEY[key][field], config)
    assert not agrees_with_config(field, wrong, config)


@cache
def function_of(module: str, name: str) -> Callable[..., Any]:
    """Return a function of a modeling file of Transformers, without importing the file."""
    spec = find_spec("transformers")
    assert spec is not None and spec.origin is not None
    path = Path(spec.origin).parent / "models" / module.removeprefix("modeling_") / f"{module}.py"
    tree = ast.parse(path.read_text("utf-8"))
    [found] = [n for n in tree.body if isinstance(n, ast.FunctionDef) and n.name == name]
    space: dict[str, Any] = {"torch": torch}
    source = "from __future__ import annotations\n" + ast.unparse(found)
    exec(compile(source, str(path), "exec"), space)
    function: Callable[..., Any] = space[name]
    return function


HALVES = [
    found.key
    for found in rotary()
    if found["hf_layout"] and re.search(r": rotate_\w+$", found.values["hf_layout"].where)
]


@pytest.mark.parametrize("key", HALVES)
def test_stated_layout_is_that_of_the_transformers_code(key: str) -> None:
    module, name = re.split(r"\.py: ", BY_KEY[key].values["hf_layout"].where)
    turned = function_of(module, name)(torch.arange(1.0, 5.0).reshape(1, 1, 1, 4)).flatten()
    layouts = {"half": [-3.0, -4.0, 1.0, 2.0], "interleaved": [-2.0, 1.0, -4.0, 3.0]}
    assert turned.tolist() == layouts[BY_KEY[key]["hf_layout"]]


def test_most_layouts_in_transformers_are_compared_with_its_code() -> None:
    rest = {found.key for found in rotary() if found["hf_layout"]} - set(HALVES)
    # functions of other names, which were read but are not run
    assert rest == {
        *("roformer", "deepseek-v2", "deepseek-v3", "deepseek-v4"),
        *("llama-4", "gpt-oss", "mistral-small-4"),
    }


@pytest.mark.parametrize("key", ["deepseek-v3", "mistral-small-4"])
def test_a_configuration_that_interleaves_says_so(key: str) -> None:
    assert CONFIG_MAPPING[BY_KEY[key].type]().rope_interleave is True
    assert BY_KEY[key]["hf_layout"] == "interleaved"


ENTRY = """
families: {All: [early, late]}
sources:
  one: {kind: authors, title: a/b, url: "https://example.org"}
models:
  early: {name: A, by: B, year: [2023, one, here], scheme: [none, one, here]}
  late:
    name: A
    by: B
    type: llama
    year: [2024, one, here]
    scheme: [RoPE, one, here]
    d: [64, one, here]
    base: [10000, one, here]
    reported: [1024, one, here]
    promised: [4096, one, here]
    rule: [{kind: yarn, factor: 4, trained: 1024}, one, here]
    layout: [half, one, here]
"""


@pytest.mark.parametrize(
    ("says", "instead", "complaint"),
    [
        ("    d:", "    heads:", "models/late: .*'heads' was unexpected"),
        ("    scheme: [RoPE, one, here]\n", "", "models/late: 'scheme' is a required property"),
        ("by: B, year", "year", "models/early: 'by' is a required property"),
        ("d: [64, one, here]", "d: 64", "models/late/d: 64 is not of type 'array'"),
        ("d: [64, one, here]", "d: [64, one]", "models/late/d: .* is too short"),
        ("d: [64, one, here]", "d: [64, two, here]", "late: d has no source 'two'"),
        ("d: [64, one, here]", "d: [64, one, ' ']", "models/late/d/2: ' ' should not be"),
        ("d: [64, one, here]", "d: [wide, one, here]", "d/0: 'wide' is not of type 'integer'"),
        ("d: [64, one, here]", "d: [-64, one, here]", "d/0: -64 is less than the minimum of 1"),
        ("base: [10000,", "base: [1.5,", "base/0: 1.5 is not of type 'integer'"),
        ("    base:", "    rotary: [65, one, here]\n    base:", "rotates 65 of 64 dimensions"),
        ("    base:", "    rotary: [33, one, here]\n    base:", "rotates 33 of 64 dimensions"),
        ("[RoPE,", "[rope,", "scheme/0: 'rope' is not one of"),
        ("[RoPE,", "[ALiBi,", "late: base is for models that rotate"),
        ("layout: [half,", "layout: [halves,", "layout/0: 'halves' is not one of"),
        ("kind: yarn", "kind: yarns", "rule/0/kind: 'yarns' is not one of"),
        ("factor: 4", "factr: 4", "rule/0: 'factr' does not match"),
        ("factor: 4", "factor: four", "rule/0/factor: 'four' is not of type 'number'"),
        ("trained: 1024}", "trained: 2048}", "the rule starts from a longer length"),
        ("promised: [4096,", "promised: [1024,", "promises no longer context"),
        ("year: [2024,", "year: [2022,", "not in the order of their years"),
        ("models:", "  two: {kind: authors, title: c, url: 'https://c'}\nmodels:", "from two"),
        ("kind: authors", "kind: rumour", "sources/one/kind: 'rumour' is not one of"),
        ('url: "https://example.org"', 'url: ""', "sources/one/url: '' does not match"),
        ("  late:", "  early:", "'early' more than once"),
    ],
)
def test_a_planted_fault_is_refused(
    says: str, instead: str, complaint: str, tmp_path: Path
) -> None:
    file = tmp_path / "models.yml"
    file.write_text(ENTRY, "utf-8")
    assert [found.key for found in models(file)] == ["early", "late"]
    assert says in ENTRY
    file.write_text(ENTRY.replace(says, instead, 1), "utf-8")
    with pytest.raises(ValueError, match=complaint):
        models(file)


def test_values_that_were_not_found_are_marked_not_found() -> None:
    unknown = models_page.row(model("qwen2-vl"))
    assert {unknown[name] for name in ("d", "slowest turn", "no full turn")} == {"— not found"}
    assert "- Not found: head dimension" in models_page.entry(model("qwen2-vl"))
    assert models_page.row(model("bloom"))["base"] == "—"
    for found in models():
        assert ("Not found" in models_page.entry(found)) == bool(found.missing())


def test_every_cell_has_a_value_or_a_dash_with_a_reason_or_no_meaning() -> None:
    meaningless = {"year", "base", "slowest turn", "no full turn", "promised", "layout"}
    for family in models_page.tables():
        for cells in models_page.rows(family):
            bare = {name for name, cell in cells.items() if cell == models_page.NONE}
            assert bare <= meaningless, cells["model"]
            assert all(cells.values()), cells["model"]


def test_what_was_reported_and_what_a_configuration_states_are_apart() -> None:
    cells = models_page.row(model("mistral"))
    assert cells["trained / reported"] == "8,192"
    assert cells["trained / stated"].startswith("[32,768](")
    assert models_page.row(model("llama-2"))["trained / stated"] == "— not read"
    assert models_page.row(model("gemma-3"))["trained / stated"] == "— not said"
    assert models_page.row(model("code-llama"))["trained / reported"] == "— not found"
    (only,) = (one for one in models_page.configured() if one.name == "Llama 3.2 1B")
    assert models_page.row(only)["trained / reported"] == "— not read"


CONFIGURATION_WORDS = (
    *("max_position_embeddings", "n_positions", "block_size", "n_ctx"),
    *("original_seq_len", "initial_context_length"),
)


@pytest.mark.parametrize("key", BY_KEY)
def test_a_stated_length_is_from_a_configuration_and_a_reported_one_is_not(key: str) -> None:
    values = BY_KEY[key].values
    if "stated" in values:
        assert values["stated"].where.endswith(CONFIGURATION_WORDS)
    if "reported" in values:
        assert not values["reported"].where.endswith(CONFIGURATION_WORDS)


def test_every_model_and_every_configuration_is_in_one_table() -> None:
    shown = [found.name for listed in models_page.tables().values() for found in listed]
    assert len(shown) == len(set(shown))
    named = {one.name for one in models()} | {one.name for one in configurations()}
    assert set(shown) == named
    keys = [key for listed in families().values() for key in listed]
    assert len(keys) == len(set(keys))
    assert set(keys) <= {one.key for one in models()} | {one.key for one in configurations()}


@pytest.mark.parametrize("one", models_page.configured(), ids=lambda one: one.key)
def test_row_of_a_configuration_counts_the_pairs_that_the_command_counts(one: Model) -> None:
    read = models_page.configuration(one)
    assert read is not None
    full = next(found for found in read.layers() if found.layer_type != WINDOWED)
    turning = [pair for pair in explained(full)["pairs"] if pair["frequency"]]
    never = sum(pair["never_round"] for pair in turning)
    assert models_page.row(one)["no full turn"] == f"{never} of {len(turning)}"


@pytest.mark.parametrize("one", configurations(), ids=lambda one: one.key)
def test_fold_of_a_model_says_what_each_type_of_its_layers_states(one: Configuration) -> None:
    (shown,) = (
        found
        for listed in models_page.tables().values()
        for found in listed
        if found.name == one.name
    )
    said = models_page.entry(shown)
    for layers in one.layers():
        told = explained(layers)
        for number in (told["base"], told["trained_length"], told["length"]):
            assert number is None or f"{number:,.10g}" in said
        turning = [pair for pair in told["pairs"] if pair["frequency"]]
        never = sum(pair["never_round"] for pair in turning)
        assert f"{never} of {len(turning)} pairs complete no turn" in said
        assert one.source == "models.yml" or f"`{one.where}`" in said


def test_bases_are_counted_by_year() -> None:
    assert set(bases(until=2022)) == {10000}
    assert len(bases(since=2024)) + len(bases(until=2023)) == len(bases())
    assert names()["models_table"](models_page.UNROTATED)[0]["year"] == "2017"


def test_every_model_is_linked_once_even_without_positions() -> None:
    page = pages.text("reference/models.md")
    assert model("kimi-linear")["scheme"] == "none"
    for found in (*models(), *models_page.configured()):
        assert page.count(f"(#{models_page.anchor(found)})") == 1
        assert page.count(f"{{ #{models_page.anchor(found)} }}") == 1
    assert import_module("scripts.book.expression_globals").NAMES["models"].model is model


def test_the_anchor_of_a_model_is_inside_its_fold() -> None:
    """So browsers open the fold for whoever follows a link from the table."""
    entry = models_page.entry(model("gpt"))
    assert entry.startswith('??? sources "GPT, by OpenAI')
    assert "\n    { #gpt }\n" in entry
