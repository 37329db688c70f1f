"""Configurations with random faults: missing, misspelt, of a wrong type, contradictory, huge."""

from __future__ import annotations

import copy
import random
from typing import Any

from posenc.config import families, keys
from scripts.book.configurations import configurations
from scripts.site.workbench import json_text

KEYS = sorted({*keys.READ, *keys.UNRELATED, *keys.SCALING, *keys.COMMON})
KINDS = sorted({*families.INTERLEAVED, *families.HALF, *families.CHOOSING, *families.SAME})
LETTERS = "abcdefghijklmnopqrstuvwxyz_S"
LENGTHS = (None, None, 1, 1000, 8192, 131072, 131073, 1_000_000, 0)
VALUES: list[Any] = [
    *(None, True, False, 0, 1, -1, 2, 4, 8, 63, 64, 100, 128, 4096, 8192, 131072),
    *(2**53, 2**53 + 1, 10**30, 0.5, 0.25, 1.0, 2.0, 4.0, 1.5, 40.0, 1e4, 1e6, 5e5, -0.0),
    *(1e99, 1e101, 1e301, float("nan"), float("inf")),
    *("4096", "yarn", "llama3", "longrope", "dynamic", "linear", "default", "mrope", "su"),
    *("proportional", "ntk", "mistral", "deepseek_v3", "llama", "gemma3_text", "é\xa0\n'\""),
    *([], [1], [16, 24, 24], [1.0] * 48, [0, 1, 1], ["full_attention", "sliding_attention"], {}),
    *({"rope_type": "yarn"}, {"rope_type": "linear", "factor": 4.0}),
    *({"type": "dynamic", "factor": 2.0}, {"full_attention": {"rope_theta": 1e6}}),
    {"full_attention": {"rope_theta": 1e6}, "sliding_attention": {"rope_theta": 1e4}},
]
BROKEN = '{}[],:"\\x\x01é\U0001f600'  # what may stand where it should not


def random_configuration(seed: int) -> tuple[str, int | None]:
    """Return the text of a published configuration with up to three faults, and a length."""
    chance = random.Random(seed)
    config = copy.deepcopy(chance.choice(configurations()).config)
    for _ in range(chance.choice([1, 1, 2, 3])):
        _change_entry(chance, config)
    text = json_text(config)
    if chance.random() < 0.15:
        text = _broken_text(chance, text)
    return text, chance.choice(LENGTHS)


def _change_entry(chance: random.Random, config: dict[str, Any]) -> None:
    """Drop, rename, replace or add an entry, in the configuration or in a part of it."""
    part = chance.choice([config, *_parts(config)])
    key = chance.choice([*part, "rope_theta"])
    match chance.randrange(6):
        case 0:
            part.pop(key, None)
        case 1:
            part[_misspelt(chance, key)] = part.pop(key, 1e6)
        case 2:
            part[key] = copy.deepcopy(chance.choice(VALUES))
        case 3:
            part[chance.choice(KEYS)] = copy.deepcopy(chance.choice(VALUES))
        case 4:
            part["model_type"] = chance.choice(KINDS)
        case _:
            part[key] = _changed_value(chance, part.get(key))


def _parts(config: dict[str, Any]) -> list[dict[str, Any]]:
    inner = [value for value in config.values() if isinstance(value, dict)]
    return inner + [one for part in inner for one in _parts(part)]


def _misspelt(chance: random.Random, word: str) -> str:
    """Return a word with a letter dropped, added, changed or swapped."""
    at, letter = chance.randrange(len(word) or 1), chance.choice(LETTERS)
    head, tail = word[:at], word[at:]
    slips = (tail[1:], letter + tail, letter + tail[1:], tail[:2][::-1] + tail[2:])
    return head + chance.choice(slips)


def _changed_value(chance: random.Random, value: Any) -> Any:
    """Return another value of the same type."""
    if isinstance(value, str):
        return _misspelt(chance, value)
    if isinstance(value, list):
        return value[:-1]
    if isinstance(value, int | float):
        return value * chance.choice([2, 3, 0.5, 1.0, 1.37, -1])
    return value


def _broken_text(chance: random.Random, text: str) -> str:
    """Return a text that is cut, or has a character too many or too few."""
    at = chance.randrange(len(text))
    return chance.choice(
        [text[:at], text[:at] + chance.choice(BROKEN) + text[at:], text[:at] + text[at + 1 :]]
    )
