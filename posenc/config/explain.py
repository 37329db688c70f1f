"""What `python -m posenc config` says: a configuration at a length, in words and in numbers."""

from __future__ import annotations

import json
import math
import textwrap
from typing import Any

import numpy as np
from numpy.typing import NDArray

from posenc._angles import never_round, unseen_pairs
from posenc._console import printable
from posenc.config import RotaryConfig
from posenc.config.entries import Entries
from posenc.config.families import BASE, META, ORIGINAL, RULELESS, WIDTHLESS
from posenc.config.families import WIDTH as HEAD_WIDTH
from posenc.config.keys import LENGTHS, NONE, SAME_LENGTHS
from posenc.frequency import frequencies

SHOWN = 9  # how many pairs a table has, at most
WIDTH = 88
# What is said where a configuration without a rule gives one length.
ASSUMED = (
    "The trained length is taken to be the promised one. If it is not, pass --trained, or set"
    " original_max_position_embeddings."
)
# What is said below a rule to set.
RENAMED = (
    "What to set is for transformers 5. Before it, rope_parameters is called rope_scaling, and"
    " rope_theta stands beside it."
)
LARGE = 100  # a factor of dynamic NTK above this is no remedy
# With these rules more positions need other settings at most.
EXTENSIBLE = ("default", "linear", "yarn", "llama3", "dynamic")


def explained(config: RotaryConfig, length: int | None = None) -> dict[str, Any]:
    """Return what a configuration does, as numbers: what JSON can hold, in a fixed order.

    Args:
        config: what was read.
        length: how many positions a sequence is to have; None for as many as are promised.
    """
    promised = config.length or config.trained_length
    asked, met = length or promised, _trained_range(config)
    pairs = [] if config.scheme == NONE else _pairs(config, asked)
    new = sum(pair["unseen"] for pair in pairs)
    beyond = bool(asked and met and asked > met and new)
    remedy = _remedy(config, asked, met) if beyond and asked and met else None
    return {
        "model_type": config._place.entries.text("model_type"),
        "layer_type": config.layer_type,
        "rotates": config.rotates,
        "layers": _plain(config.layers),
        "windowed_layers": _plain(config.windowed_layers),
        "layer_count": config._count,
        "scheme": config.scheme,
        "d": config.d,
        "rotary_d": config.rotary_d,
        "base": config.base,
        "base_given": config.base_given,
        "layout": config.layout,
        "factor": config.factor,
        "trained_length": config.trained_length,
        "length": config.length,
        "asked_length": asked,
        "window": config._place.window,
        "attention_factor": config.attention_factor,
        "softmax_factor": config.softmax_factor,
        "sections": config.sections and list(config.sections),
        "interleaved_sections": config.interleaved_sections,
        "settings": {key: _plain(value) for key, value in config.settings.items()},
        "never_round": sum(pair["never_round"] for pair in pairs),
        "unseen": new,
        "wrong": beyond,
        "set": remedy,
        "set_in": config._place.entries.place.rstrip(".") or None,
        "notes": [*config.notes, *_further_notes(config, remedy)],
        "pairs": pairs,
    } | ({"architecture": config._place.architecture} if config._place.architecture else {})


def _further_notes(config: RotaryConfig, remedy: dict[str, Any] | None) -> list[str]:
    """Return what is assumed of the training, and of the program that reads what to set."""
    is_meta = config._place.entries.text("model_type") == META
    is_json = config._place.architecture is None and not is_meta
    is_renamed = is_json and "rope_parameters" in (remedy or {})
    said = {ASSUMED: config._place.assumed, RENAMED: is_renamed}
    return [note for note, holds in said.items() if holds]


def _trained_range(config: RotaryConfig) -> int | None:
    """Return the length whose angles the model has met: without a rule, that of training.

    With a rule, a model is taken to have been trained on what its configuration promises.
    """
    if config.scheme == "default":
        return config.trained_length
    return config.length or config.trained_length


def _reachable_length(config: RotaryConfig, length: int) -> int:
    """Return how far apart a query and a key can be, plus one: a window has no further keys."""
    return min(length, config._place.window or length)


def _plain(value: Any) -> Any:
    return list(value) if isinstance(value, tuple) else value


def _pairs(config: RotaryConfig, asked: int | None) -> list[dict[str, Any]]:
    """Return what becomes of each pair: before and after the rule, in training and now."""
    plain, now = _plain_frequencies(config), config.frequencies(asked)
    omega, trained = _training(config, plain)
    with np.errstate(divide="ignore"):
        slowed = plain / now
    slow = new = np.zeros(len(now), bool)
    if trained and asked:
        trained = _reachable_length(config, trained)
        slow, new = never_round(omega, trained) & (now > 0), _unseen(config, plain, asked)
    return [
        {
            "pair": i,
            "frequency": float(now[i]),
            "turns": float(trained * omega[i] * (now[i] > 0) / (2 * np.pi)) if trained else None,
            "slowed": float(slowed[i]) if np.isfinite(slowed[i]) else None,
            "never_round": bool(slow[i]),
            "unseen": bool(new[i]),
        }
        for i in range(len(now))
    ]


def _training(
    config: RotaryConfig, plain: NDArray[np.float64]
) -> tuple[NDArray[np.float64], int | None]:
    """Return the frequencies of training, and its length; those promised if it is open."""
    if config.trained_length is not None or config.length is None:
        return plain, config.trained_length
    return config.frequencies(config.length), config.length


def _plain_frequencies(config: RotaryConfig) -> NDArray[np.float64]:
    """Return the frequencies that the base alone gives."""
    if config.scheme == "axial":
        return config.frequencies()
    assert config.base is not None
    return frequencies(config.rotary_d, base=config.base)


def _unseen(config: RotaryConfig, plain: NDArray[np.float64], asked: int) -> NDArray[np.bool_]:
    """Return which pairs go beyond all angles that the model has met, or those of training.

    None do for certain if the file does not say what length Llama 3's rule was trained for.
    """
    now, trained, promised = (
        config.frequencies(asked),
        config.trained_length,
        _trained_range(config),
    )
    ends = [(plain, trained), (config.frequencies(promised), promised)]
    is_open = config.scheme == "llama3" and config.length is None
    new = np.full(len(now), not is_open)
    with np.errstate(divide="ignore", invalid="ignore"):
        for omega, end in ((omega, end) for omega, end in ends if end):
            new &= unseen_pairs(
                omega,
                omega / now,
                trained=_reachable_length(config, end),
                length=_reachable_length(config, asked),
            )
    return new & (now > 0)


def _remedy(config: RotaryConfig, asked: int, met: int) -> dict[str, Any] | None:
    """Return the entries to change for more positions than met, or None if there are none.

    A model without a rule gets YaRN's, beside what its section says; one with a rule that has a
    factor gets a larger one. All stand in `found["set_in"]`.
    """
    entries, section, layers = config._place.entries, config._place.section, config._place.layers
    key, *inner = section.place.removeprefix(entries.place).split(".")[:-1] or [""]
    readable = entries.text("model_type") not in RULELESS
    if config.scheme not in EXTENSIBLE or not key or not readable:
        return None
    factor = _factor(config, asked, met)
    if factor > LARGE and config.scheme == "dynamic":
        return None
    found: dict[str, Any] = dict.fromkeys(_lengths(entries), asked)
    if config._place.kind in WIDTHLESS and HEAD_WIDTH not in entries:
        found[HEAD_WIDTH] = config.d
    rule = _extended_section(config, asked, factor)
    if config.scheme == "dynamic":  # it goes by the trained length, and promises what factor says
        found = {key: found[key] for key in [HEAD_WIDTH] if key in found}
    if inner:
        return found | {key: {**entries.mapping[key], inner[0]: rule}}
    types = {name: one.entries for name, one in layers.items() if name and one}
    if key == "rope_parameters" and {"full_attention", "sliding_attention"} <= {*types}:
        # One rule for all would be read by none of these layers.
        said = {name: dict(one.mapping) for name, one in types.items()}
        return found | {key: {**said, str(config.layer_type): rule}}
    return found | {key: rule}


def _lengths(entries: Entries) -> list[str]:
    """Return the keys that promise a length, which must agree."""
    first, *_ = entries.given(LENGTHS) or LENGTHS
    return [first, *entries.given(SAME_LENGTHS)] if first in SAME_LENGTHS else [first]


def _factor(config: RotaryConfig, asked: int, met: int) -> float:
    """Return the smallest factor, in hundredths, that brings no new angle in so many positions.

    It is the positions asked about, divided by those that pairs slowed in full have met, in plain
    frequencies: in training, or since, where the rule with the factor it has leads further. YaRN's
    is the quotient of the asked length and the trained one by definition. Dynamic NTK slows the
    fastest of the pairs that complete no turn the least, so that pair decides.
    """
    trained = config.trained_length or 0
    if config.scheme == "dynamic":
        end = _reachable_length(config, trained)
        first = int(np.sum(~never_round(_plain_frequencies(config), end)))
        slowed = math.log(_reachable_length(config, asked) / end)
        power = (config.rotary_d - 2) / (2 * first) * slowed if first else math.inf
        larger = math.exp(min(power, 99)) - 1
        hundredths = 100 * larger * trained / (asked - trained)
    else:
        reach = max(trained, 0 if config.scheme == "yarn" else met / config.factor)
        hundredths = 100 * asked / reach
    return math.ceil(round(hundredths, 6)) / 100  # 2.2, not 2.21


def _extended_section(config: RotaryConfig, asked: int, factor: float) -> dict[str, Any]:
    """Return the section of a rule with another factor, for so many positions."""
    section, trained = config._place.section.mapping, config.trained_length
    rule = dict(section)
    if config.scheme == "default":
        rule.pop("type", None)
        rule |= {"rope_type": "yarn", "rope_theta": config.base}
    rule["factor"] = factor
    if config.scheme not in ("linear", "dynamic"):
        rule[ORIGINAL] = trained  # without it, some take the promised length for the trained
    if LENGTHS[0] in rule:
        rule[LENGTHS[0]] = asked
    return rule


# Words


def explanation_text(name: str, found: dict[str, Any]) -> str:
    """Return the numbers in words, under the name of the configuration."""
    title = (
        name if found["layer_type"] is None else f'{name}, layers of type "{found["layer_type"]}"'
    )
    lines = [f"{printable(title)}: {_scheme(found)}", ""]
    lines += [*_facts(found), ""]
    if found["scheme"] != NONE:
        lines += [*_table(found), "", *_wrapped(_verdict(found)), ""]
    if found["wrong"]:
        lines += [*_settings(found), ""]
    for note in found["notes"]:
        told = printable(note)
        lines += textwrap.wrap(told, WIDTH, initial_indent="  - ", subsequent_indent="    ")
    return "\n".join(lines).rstrip()


def _wrapped(text: str) -> list[str]:
    return textwrap.wrap(text, WIDTH, initial_indent="  ", subsequent_indent="  ")


def _scheme(found: dict[str, Any]) -> str:
    if found["scheme"] == NONE:
        return "no rotation"
    factor = "" if found["factor"] == 1 else f", factor {found['factor']:.10g}"
    given = "" if found["base_given"] else ", not in the file"
    return f"{found['scheme']}{factor}, base {found['base']:,.10g}{given}"


def _facts(found: dict[str, Any]) -> list[str]:
    """Return a line on widths, on lengths and on factors."""
    layout = f'layout "{found["layout"]}"' if found["layout"] else "layout not settled"
    lengths = [
        f"{found[key]:,} {word}" if found[key] else f"{word}: not given"
        for key, word in (("trained_length", "trained"), ("length", "promised"))
    ]
    asked = [f"{found['asked_length']:,} asked about"] if found["asked_length"] else []
    if found["window"]:
        asked.append(f"a window of {found['window']:,}")
    factor = found["attention_factor"]
    scores = f"rotated dimensions times {factor:.10g}" if factor != 1 else "not scaled"
    if found["softmax_factor"] != 1:
        scores += f", all scores times {found['softmax_factor']:.10g}"
    moving = len(_moving(found))
    rows = {
        "layers": _layers(found),
        "head": f"{found['d']} wide, {2 * moving} rotated, {moving} pairs, {layout}",
        "lengths": ", ".join([*lengths, *asked]),
        "scores": scores,
    }
    if found["scheme"] == NONE:
        rows = {"layers": rows["layers"]}
    if found["sections"]:
        how = "interleaved" if found["interleaved_sections"] else "contiguous"
        rows["sections"] = f"{' + '.join(map(str, found['sections']))} pairs, {how}"
    return [line for name, text in rows.items() for line in _row(name, text)]


def _row(name: str, text: str) -> list[str]:
    return textwrap.wrap(text, WIDTH, initial_indent=f"  {name:<10}", subsequent_indent=" " * 12)


def _moving(found: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the pairs that do not stand still."""
    return [pair for pair in found["pairs"] if pair["frequency"] > 0]


def _layers(found: dict[str, Any]) -> str:
    """Return which layers this is about, by number, and which of them have a window."""
    verb = "do not rotate" if found["rotates"] is False else "rotate"
    layers, windowed, count = found["layers"], found["windowed_layers"], found["layer_count"]
    if found["rotates"] is None:
        return _with_windows("which rotate is not known", windowed, None)
    if layers is None:
        unsaid = "the number of layers is not given"
        return unsaid if count is None else f"which of the {count} {verb} is not known"
    if found["rotates"] is False and len(layers) == count:
        return f"none of {count} rotates"
    said = f"all {count}" if len(layers) == count else f"{numbered(layers)} of {count}"
    return _with_windows(f"{said} {verb}", windowed, layers)


def _with_windows(said: str, windowed: list[int] | None, layers: list[int] | None) -> str:
    if windowed is None or not windowed:
        return said
    which = "all of them" if windowed == layers else numbered(windowed)
    return f"{said}; with a window: {which}"


def numbered(numbers: list[int]) -> str:
    """Return numbers in words, runs of them by their ends.

    Examples:
        >>> numbered([0, 1, 2, 4, 5, 7])
        '0-2, 4, 5, 7'
    """
    runs: list[list[int]] = []
    for number in numbers:
        if runs and number == runs[-1][-1] + 1:
            runs[-1].append(number)
        else:
            runs.append([number])
    parts = [f"{run[0]}-{run[-1]}" if len(run) > 2 else ", ".join(map(str, run)) for run in runs]
    return ", ".join(parts) or "none"


def _table(found: dict[str, Any]) -> list[str]:
    """Return some of the pairs, the first and the last among them."""
    pairs = found["pairs"]
    picked = sorted({round(i) for i in np.linspace(0, len(pairs) - 1, min(SHOWN, len(pairs)))})
    lines = [f"  {'pair':>6}{'turns in training':>20}{'slowed by':>12}  angles"]
    for pair in (pairs[i] for i in picked):
        turns = "-" if pair["turns"] is None else f"{pair['turns']:.4g}"
        slowed = "all" if pair["slowed"] is None else f"{pair['slowed']:.4g}"
        unclear = pair["turns"] is None or (pair["never_round"] and _is_unclear(found))
        angles = "new" if pair["unseen"] else "-" if unclear else "met"
        lines.append(f"  {pair['pair']:>6}{turns:>20}{slowed:>12}  {angles}")
    return lines


def _is_unclear(found: dict[str, Any]) -> bool:
    """Say whether slow pairs leave the angles before scaling, and those after it are not known."""
    if found["scheme"] != "llama3" or found["length"]:
        return False
    return bool(found["asked_length"] > found["factor"] * found["trained_length"])


def _verdict(found: dict[str, Any]) -> str:
    """Return in sentences how many pairs complete no turn, and what the length brings."""
    count, trained = len(_moving(found)), found["trained_length"] or found["length"]
    if not trained:
        return "No length is given, so it is not known which pairs complete a turn in training."
    trained = min(trained, found["window"] or trained)
    slow, asked = found["never_round"], found["asked_length"]
    still = len(found["pairs"]) - count
    kept = f" {still} more stand still." if still else ""
    said = f"{slow} of {count} pairs complete no turn within {trained:,} positions.{kept}"
    if found["unseen"]:
        new = f"{found['unseen']} of the {count} pairs meet new angles"
        return f"{said} In {asked:,} positions, {new}."
    if _is_unclear(found):
        return f"{said} Whether these meet new angles in {asked:,} positions is not known."
    return f"{said} In {asked:,} positions, no pair meets a new angle."


def _settings(found: dict[str, Any]) -> list[str]:
    """Return what to set: a sentence, and the lines of JSON to copy."""
    says, lines = remedy_words(found)
    return [*_wrapped(says), *(f"  {line}" for line in lines)]


def remedy_words(found: dict[str, Any]) -> tuple[str, list[str]]:
    """Return a sentence on what helps, and the lines of JSON to copy, none if nothing does."""
    if found["model_type"] == META:
        says = (
            "What helps: a params.json has no place for another rule. Convert the weights, and ask"
            " about the config.json or the GGUF file that comes of it, or feed the model fewer"
            " tokens."
        )
        return says, []
    if found["model_type"] in RULELESS:
        says = (
            f'What helps: transformers 5.24 reads no rule for model type "{found["model_type"]}".'
            " Feed the model fewer tokens, or rotate by yarn_frequencies in your own code."
        )
        return says, []
    if not found["set"]:
        says = (
            "What helps: a larger factor brings fewer new angles, but changes every sequence beyond"
            " the trained length."
            if found["scheme"] == "dynamic"
            else f'What helps: rope_type "{found["scheme"]}" cannot be extended. Feed the model'
            " fewer tokens, or train it on longer sequences."
        )
        return says, []
    if "architecture" in found:
        says = "What helps: other options of llama.cpp, which --for llama.cpp prints."
        return says, []
    where = f" inside {found['set_in']}" if found["set_in"] else ""
    given = (
        ""
        if found["base_given"] or BASE not in json.dumps(found["set"])
        else f" ({BASE} is the default of the model's code: if the model was trained with another"
        " base, put that in its place)"
    )
    return f"What to set{where}{given}:", json.dumps(found["set"], indent=2).splitlines()[1:-1]
