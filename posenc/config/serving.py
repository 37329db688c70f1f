"""What to start a program with, so that it serves a model at a length: `posenc config --for`.

A setting is written as transformers 5 spells it, and whole: a program that replaces the mapping
`rope_parameters` loses every entry that is left out, the base among them.

Source: what each program does with its options was read in vLLM 0.33.0 (`config/model.py`,
`rotary_embedding/__init__.py`), SGLang 0.5.23 (`utils/hf_transformers/config.py` and `common.py`,
`rotary_embedding/factory.py`), transformers 5.24 (`configuration_utils.py`) and llama.cpp
(`tools/server/README.md`, `server-context.cpp`, `get_rope_freq_scale` in `llama-model.cpp`).
"""

from __future__ import annotations

import json
import shlex
import textwrap
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from posenc._console import printable
from posenc.config.explain import ASSUMED, WIDTH, remedy_words
from posenc.config.families import BASE, SHARE, UNSCALED_WINDOWS
from posenc.config.keys import ATTN, LENGTHS, SYNONYMS

if TYPE_CHECKING:
    from posenc.config import RotaryConfig

VLLM, SGLANG, LLAMA_CPP, TRANSFORMERS = "vllm", "sglang", "llama.cpp", "transformers"
PROGRAMS = (VLLM, SGLANG, LLAMA_CPP, TRANSFORMERS)
MODEL = "MODEL"  # stands for the folder, the name or the file of the weights
PARAMETERS = "rope_parameters"
BY_WINDOW = ("full_attention", "sliding_attention")
FLAGS = {"beta_slow": "--yarn-beta-slow", "beta_fast": "--yarn-beta-fast"}  # of llama.cpp


class Serving(NamedTuple):
    """What to start a program with."""

    program: str
    lines: list[str]  # of a shell or of Python; none if nothing helps
    notes: list[str]

    def text(self) -> str:
        """Return the lines, and the notes as comments below them."""
        return "\n".join([*self.lines, *(line for note in self.notes for line in _comment(note))])


def serving(
    program: str, configs: Sequence[RotaryConfig], found: Sequence[dict[str, Any]]
) -> Serving:
    """Return what to start a program with.

    Args:
        program: one of `PROGRAMS`.
        configs: what was read about each type of layers.
        found: what `explained` says of each, at the length that is wanted.

    Raises:
        ValueError: no length is given and the configuration promises none, or it is one of a
            diffusion transformer.
    """
    if configs[0].scheme == "axial":
        raise ValueError("--for must be left out with a diffusion transformer; got " + program)
    length = found[0]["asked_length"]
    if length is None:
        raise ValueError("--length must be given, as the configuration promises none; got none")
    helpless = next((one for one in found if one["wrong"] and one["set"] is None), None)
    if helpless is not None:
        return Serving(program, [], [remedy_words(helpless)[0]])
    changes = _changes(configs, found, length)
    notes = _notes(program, configs, found, changes)
    if program == LLAMA_CPP:
        return _llama_cpp(configs, found, length, notes)
    inner = changes
    for name in reversed((found[0]["set_in"] or "").split(".")):
        inner = {name: inner} if name and inner else inner
    if program == TRANSFORMERS:
        return Serving(program, _python(found[0]["set_in"], changes), notes)
    start, override, limit = {
        VLLM: (f"vllm serve {MODEL}", "--hf-overrides", "--max-model-len"),
        SGLANG: (
            f"python -m sglang.launch_server --model-path {MODEL}",
            "--json-model-override-args",
            "--context-length",
        ),
    }[program]
    options = [f"{override} {shlex.quote(json.dumps(inner))}"] if inner else []
    return Serving(program, _command(start, [*options, f"{limit} {length}"]), notes)


def _command(start: str, options: list[str]) -> list[str]:
    """Return a command of a shell with an option a line."""
    *first, last = [start, *(f"  {option}" for option in options)]
    return [*(f"{line} \\" for line in first), last]


def _comment(note: str) -> list[str]:
    return textwrap.wrap(printable(note), WIDTH, initial_indent="# ", subsequent_indent="# ")


def _python(place: str | None, changes: dict[str, Any]) -> list[str]:
    """Return lines of Python that load a model with other settings."""
    start = "from transformers import AutoConfig, AutoModelForCausalLM"
    part = "config" if place is None else f"config.{place}"
    return [
        start,
        "",
        f'config = AutoConfig.from_pretrained("{MODEL}")',
        *([f"{part}.update({changes!r})"] if changes else []),
        f'model = AutoModelForCausalLM.from_pretrained("{MODEL}", config=config)',
    ]


def _changes(
    configs: Sequence[RotaryConfig], found: Sequence[dict[str, Any]], length: int
) -> dict[str, Any]:
    """Return the entries to change: the lengths that are too short, and the rule, whole."""
    entries = configs[0]._place.entries
    if any(config.scheme == "dynamic" for config in configs):
        changes = {}  # it goes by the trained length
    else:
        given = entries.given(LENGTHS)
        short = [key for key in given if (entries.integer(key) or 0) < length]
        changes = dict.fromkeys(short if given else LENGTHS[:1], length)
    told = [one for one in found if one["wrong"]]
    for one in told:
        changes |= {key: value for key, value in one["set"].items() if isinstance(value, int)}
    if not told:
        return changes
    sections = {
        config.layer_type: _section(config, one)
        for config, one in zip(configs, found, strict=True)
        if config.base is not None
    }
    if _is_by_window(configs, sections):
        return changes | {PARAMETERS: sections}
    return changes | {PARAMETERS: sections[told[0]["layer_type"]]}


def _is_by_window(configs: Sequence[RotaryConfig], sections: dict[str | None, Any]) -> bool:
    """Say whether transformers keeps a rule for each type of layers."""
    return set(BY_WINDOW) <= {*sections} and configs[0]._place.kind not in UNSCALED_WINDOWS


def _section(config: RotaryConfig, found: dict[str, Any]) -> dict[str, Any]:
    """Return the rule of some layers, new or as it is, with the base and the share in it."""
    rule = dict(config._place.section.mapping)
    if found["wrong"]:
        rule = next(one for one in found["set"].values() if isinstance(one, dict))
        rule = dict(rule.get(str(config.layer_type), rule))
    named = rule.pop("type", None)
    kind = rule.pop("rope_type", named) or "default"
    share = config.rotary_d / config.d
    if int(config.d * share) < config.rotary_d:
        share *= 1 + 2**-52  # rounded down, it would lose a pair
    whole = {"rope_type": SYNONYMS.get(kind, kind), BASE: config.base}
    return whole | ({} if share == 1 else {SHARE: share}) | _read(rule)


def _read(rule: dict[str, Any]) -> dict[str, Any]:
    """Return the entries of a rule that say something."""
    return {key: value for key, value in rule.items() if value is not None and key != BASE}


def _llama_cpp(
    configs: Sequence[RotaryConfig],
    found: Sequence[dict[str, Any]],
    length: int,
    notes: list[str],
) -> Serving:
    """Return the line for llama.cpp, which takes a rule as options and no configuration."""
    options = [f"-c {length}"]
    architecture = configs[0]._place.architecture
    if architecture and NOTES[LLAMA_CPP]["length"] in notes:
        notes.remove(NOTES[LLAMA_CPP]["length"])
        override = f"{architecture}.context_length=int:{length}"
        options.append(f"--override-kv {shlex.quote(override)}")
    for config, one in zip(configs, found, strict=True):
        if not one["wrong"]:
            continue
        rule = _section(config, one)
        kind, factor = rule["rope_type"], rule["factor"]
        if kind not in ("linear", "yarn"):
            said = (
                f'llama.cpp has no option for rope_type "{kind}". Write the new rule into'
                " config.json and convert the model again."
            )
            return Serving(LLAMA_CPP, [], [said])
        options += [f"--rope-scaling {kind}", f"--rope-scale {factor:.15g}"]
        if kind == "yarn":
            options.append(f"--yarn-orig-ctx {config.trained_length}")
            given = [(flag, rule[key]) for key, flag in FLAGS.items() if key in rule]
            options += [f"{flag} {value:.15g}" for flag, value in given]
        break
    return Serving(LLAMA_CPP, _command(f"llama-server -m {MODEL}.gguf", options), notes)


def _notes(
    program: str,
    configs: Sequence[RotaryConfig],
    found: Sequence[dict[str, Any]],
    changes: dict[str, Any],
) -> list[str]:
    """Return how the program reads what is set, where others read it differently."""
    rules = [config._place.section for config in configs]
    has = {key: any(key in rule for rule in rules) for key in (ATTN, "attention_factor")}
    dynamic = any(config.scheme == "dynamic" for config in configs)
    windows = any(one["windowed_layers"] and one["wrong"] for one in found)
    is_set, nested = PARAMETERS in changes, BY_WINDOW[0] in changes.get(PARAMETERS, {})
    texts = NOTES[program]
    reasons = {
        "rule": is_set,
        "length": any(key in changes for key in LENGTHS),
        "dynamic": dynamic,
        ATTN: has[ATTN],
        "attention_factor": has["attention_factor"],
        "truncate": any(config.settings.get("truncate") is False for config in configs),
        "window": windows and is_set and not nested,
    }
    said = [texts[reason] for reason, holds in reasons.items() if holds and reason in texts]
    if is_set and program != LLAMA_CPP and not all(one["base_given"] for one in found):
        said.append(DEFAULT_BASE)
    return [*said, *([ASSUMED] if any(config._place.assumed for config in configs) else [])]


_WINDOW = (
    "The rule applies to layers with a window too: the configuration has one rule for all layers."
)
DEFAULT_BASE = (
    "rope_theta is not in the file: what is printed is the default of the model's code. If the"
    " model was trained with another base, put that in its place."
)
_ONE_BASE = (
    "takes a single base for all lengths, that of factor times max_position_embeddings, whereas"
    " transformers follows the length of the sequence."
)
NOTES = {
    VLLM: {
        "rule": "vLLM 0.33 replaces rope_parameters as a whole, so rope_theta has to be in it: else"
        " the base is 10000. If rope_scaling is passed, the base is lost too.",
        "length": "vLLM refuses a --max-model-len above the shortest length in config.json.",
        "dynamic": f"vLLM 0.33 {_ONE_BASE}",
        ATTN: f"vLLM 0.33 does not read {ATTN}. Older versions multiply the attention factor by"
        " it.",
        "window": _WINDOW,
    },
    SGLANG: {
        "rule": "SGLang 0.5.23 merges what is passed into the rope_parameters of the file. A"
        " version that replaces them takes the base from what is passed.",
        "length": "SGLang refuses a --context-length above the length that it derives from"
        " config.json.",
        "dynamic": f"SGLang 0.5.23 {_ONE_BASE}",
        ATTN: f"SGLang multiplies the attention factor by {ATTN}.",
        "attention_factor": "SGLang 0.5.23 does not read attention_factor of YaRN: it computes one"
        " from factor.",
        "window": _WINDOW,
    },
    LLAMA_CPP: {
        "length": "llama-server caps a sequence at the context_length in the GGUF. To raise it, add"
        " --override-kv ARCHITECTURE.context_length=int:N, where ARCHITECTURE is"
        " general.architecture of the file.",
        "attention_factor": "llama.cpp computes the attention factor of YaRN from the scale, and"
        " reads no other from its options.",
        "truncate": "llama.cpp truncates the ramp of YaRN to integer pairs all the same.",
        "window": "llama.cpp keeps the scale of the file in layers with a window.",
    },
    TRANSFORMERS: {
        "rule": "These lines are for transformers 5. In version 4 the mapping is rope_scaling, and"
        " rope_theta is next to it; if rope_theta is missing, the base is the default of the"
        " class.",
        ATTN: f"transformers does not read {ATTN}.",
        "window": _WINDOW,
    },
}
