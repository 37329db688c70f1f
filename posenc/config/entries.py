"""Reading a configuration: typed entries, each named in errors by where it stands."""

from __future__ import annotations

import json
import math
import os
import re
import sys
from collections.abc import Collection, Iterable, Mapping
from difflib import get_close_matches
from pathlib import Path
from typing import Any

from posenc._arguments import LARGEST, _shown
from posenc.config.gguf import Content, content_of, is_gguf, metadata
from posenc.config.places import file_at
from posenc.config.training import is_yaml, looks_like_yaml, settings

# Numbers in a configuration are at most this large, as factors are.
LIMIT = 1e100
SLIP = 2  # edits, at most, between a key and the one that it was to be
# What breaks JSON where a value, a key or a comma is expected, with the comma before it, if any.
CAUSES = {
    r",[ \t\r\n]*[}\]]": "JSON allows no comma before } or ]",
    r",?[ \t\r\n]*(?://|/\*)": "JSON has no comments",
    r",?[ \t\r\n]*(?:None|True|False)(?![^ \t\r\n,}\]])": (
        "JSON has null, true and false for Python's None, True and False"
    ),
    r",?[ \t\r\n]*'": "JSON has double quotes, not single ones",
}
LONG = 300  # letters; of a longer key only these are compared with those that are read


def load(config: object) -> Mapping[str, Any]:
    """Return a configuration as a mapping: as given, or from a JSON or GGUF file, or a folder."""
    if isinstance(config, Mapping):
        return config
    if not isinstance(config, str | os.PathLike):
        raise TypeError(f"config must be a mapping or the path of a file; got {_shown(config)}")
    path = file_at(Path(os.fsdecode(config)))
    return parsed(content_of(path), path.name)


def parsed(content: Content, name: str) -> Mapping[str, Any]:
    """Return the JSON object in the content of a file of this name, or what GGUF or YAML holds."""
    if is_gguf(content, name):
        return metadata(content, name)
    content = bytes(content)
    if is_yaml(content, name):
        return settings(content, name)
    if not content.strip():
        raise ValueError(f"config must be a JSON file; got {name}, which is empty")
    try:
        found = json.loads(
            content.decode("utf-8-sig"), object_pairs_hook=_without_doubles, parse_int=_integer
        )
    except UnicodeDecodeError:
        message = f"config must be a JSON file; got {name}, which is not UTF-8"
        raise ValueError(message) from None
    except json.JSONDecodeError as error:
        if looks_like_yaml(content):
            seen = "which looks like YAML: a file is read as YAML if its name ends in .yaml"
            raise ValueError(f"config must be a JSON file; got {name}, {seen}") from None
        said = f"{_cause(error)}{error}"
        raise ValueError(f"config must be a JSON file; got {name}: {said}") from None
    except RecursionError:  # each Python has a depth and words of its own
        message = f"config must be a JSON file; got {name}: brackets are nested too deeply"
        raise ValueError(message) from None
    if not isinstance(found, dict):
        raise ValueError(f"config must be a JSON object; got {_shown(found)}")
    return found


def _cause(error: json.JSONDecodeError) -> str:
    """Return plain words on what breaks the syntax, to stand before Python's; none if unclear."""
    text, at = error.doc, error.pos
    comma = text.rfind(",", 0, at)
    start = at if comma < 0 or text[comma + 1 : at].strip(" \t\r\n") else comma
    if not error.msg.startswith(("Expecting", "Illegal")):
        return ""
    is_apart = start == at and error.msg.startswith("Expecting")  # not just after a comma
    causes = list(CAUSES.items())[is_apart:]
    found = (said for cause, said in causes if re.match(cause, text[start:]))
    return next((f"{said}: " for said in found), "")


def _without_doubles(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Return the pairs of a JSON object, none of which may repeat the key of another.

    Values are compared as they are written, since 1, 1.0 and true are equal in Python.
    """
    found: dict[str, Any] = {}
    for key, value in pairs:
        if key in found and _written(found[key]) != _written(value):
            raise ValueError(
                f"config must have one value for {key}; got {_shown(found[key])}"
                f" and {_shown(value)}"
            )
        found[key] = value
    return found


def _written(value: Any) -> str:
    """Return a value as JSON, the same for objects whose keys have another order."""
    return json.dumps(value, sort_keys=True)


def _integer(digits: str) -> int:
    """Return an integer of JSON, which must not have more digits than Python reads."""
    most = sys.get_int_max_str_digits()
    count = len(digits.removeprefix("-"))
    if 0 < most < count:
        raise ValueError(f"config must have integers of at most {most} digits; got one of {count}")
    return int(digits)


class Entries:
    """A mapping whose entries are read by type. A null entry counts as missing."""

    def __init__(self, mapping: Mapping[str, Any], place: str = "") -> None:
        self.mapping = mapping
        self.place = place

    def __contains__(self, key: str) -> bool:
        return self.mapping.get(key) is not None

    def path(self, key: str) -> str:
        """Return the name of an entry in messages."""
        return f"{self.place}{key}"

    def given(self, keys: Iterable[str]) -> list[str]:
        """Return those of the keys that have an entry."""
        return [key for key in keys if key in self]

    def within(self, key: str) -> Entries:
        """Return the entries of a mapping that is an entry, or none if it is missing."""
        value = self.mapping.get(key)
        if value is not None and not isinstance(value, Mapping):
            raise TypeError(f"{self.path(key)} must be an object or null; got {_shown(value)}")
        return Entries(value or {}, f"{self.path(key)}.")

    def number(self, key: str, *, least: float, above: bool = False) -> float | None:
        """Return a finite number, at least `least` or above it."""
        value = self.mapping.get(key)
        if value is None:
            return None
        allowed = f"a number above {least:g}" if above else f"a number, {least:g} or more"
        if isinstance(value, bool) or not isinstance(value, int | float):
            raise TypeError(f"{self.path(key)} must be {allowed}; got {_shown(value)}")
        if LIMIT < value < math.inf:
            raise ValueError(
                f"{self.path(key)} must be a number, at most 1e100; got {_shown(value)}"
            )
        if not least <= value <= LIMIT or (above and value == least):  # NaN is in no range
            raise ValueError(f"{self.path(key)} must be {allowed}; got {_shown(value)}")
        return float(value)

    def integer(self, key: str, *, least: int = 1) -> int | None:
        """Return an integer from `least` to 2**53; a float with no fraction will do."""
        value = self.mapping.get(key)
        if value is None:
            return None
        allowed = f"an integer, {least} or more"
        if isinstance(value, bool) or not isinstance(value, int | float):
            raise TypeError(f"{self.path(key)} must be {allowed}; got {_shown(value)}")
        if LARGEST < value < math.inf:
            raise ValueError(
                f"{self.path(key)} must be an integer, at most 2**53; got {_shown(value)}"
            )
        if not least <= value <= LARGEST or value != int(value):
            raise ValueError(f"{self.path(key)} must be {allowed}; got {_shown(value)}")
        return int(value)

    def flag(self, key: str, default: bool) -> bool:
        """Return True or False."""
        value = self.mapping.get(key)
        if value is None:
            return default
        if not isinstance(value, bool):
            raise TypeError(f"{self.path(key)} must be true or false; got {_shown(value)}")
        return value

    def text(self, key: str) -> str | None:
        """Return a string."""
        value = self.mapping.get(key)
        if value is not None and not isinstance(value, str):
            raise TypeError(f"{self.path(key)} must be a string; got {_shown(value)}")
        return value

    def numbers(self, key: str, count: int) -> tuple[float, ...]:
        """Return a list of so many numbers above 0."""
        value = self.mapping.get(key)
        allowed = f"{self.path(key)} must be a list of {count} numbers, one per pair"
        if not isinstance(value, list | tuple):
            raise TypeError(f"{allowed}; got {_shown(value)}")
        if len(value) != count:
            raise ValueError(f"{allowed}; got {len(value)}")
        each = Entries({str(i): one for i, one in enumerate(value)}, self.path(key) + ".")
        return tuple(each.required_number(str(i), least=0, above=True) for i in range(count))

    def required_number(self, key: str, *, least: float, above: bool = False) -> float:
        """Return a number that must be there."""
        value = self.number(key, least=least, above=above)
        if value is None:
            raise ValueError(f"{self.path(key)} must be given; got none")
        return value


def agreed(values: Mapping[str, Any]) -> Any:
    """Return what all of several entries say, or None if there is none; or raise ValueError."""
    said = [(path, value) for path, value in values.items() if value is not None]
    for path, value in said[1:]:
        if value != said[0][1]:
            raise ValueError(
                f"{said[0][0]} and {path} must agree; got {_shown(said[0][1])} and {_shown(value)}"
            )
    return said[0][1] if said else None


def refuse_unknown(entries: Entries, known: Collection[str], where: str) -> None:
    """Raise ValueError if an entry has another key than the known, naming the nearest of them.

    An unknown key that is null says nothing, and passes.
    """
    for key in entries.given(entries.mapping):
        if key not in known:
            raise ValueError(
                f"{entries.path(str(key))} must be a key that {where} reads"
                f"{hint(entries, str(key), known)}; got {_shown(entries.mapping[key])}"
            )


def hint(entries: Entries, key: str, known: Collection[str]) -> str:
    """Return words that name the known key that another was to be, none if that is not clear."""
    near = nearest(key, known)
    return f", such as {entries.path(near)}" if is_misspelling(key.lower(), near, SLIP) else ""


def nearest(key: object, known: Collection[str]) -> str:
    """Return the known key that is written most like another."""
    return get_close_matches(str(key)[:LONG], sorted(known), n=1, cutoff=0.0)[0]


def is_misspelling(first: str, second: str, most: int) -> bool:
    """Say whether so many edits at most make one word of another.

    The edits are counted only where they can be few, since counting takes long: an edit changes the
    length by one at most, and which letters a word has by two.
    """
    few = abs(len(first) - len(second)) <= most and len(set(first) ^ set(second)) <= 2 * most
    return few and len(first) <= LONG and edits(first, second) <= most


def edits(first: str, second: str) -> int:
    """Return how many letters to insert, drop, change or swap to make one word of another."""
    rows = [list(range(len(second) + 1))]
    for i, x in enumerate(first, 1):
        row = [i]
        for j, y in enumerate(second, 1):
            row.append(min(rows[-1][j] + 1, row[-1] + 1, rows[-1][j - 1] + (x != y)))
            if i > 1 and j > 1 and x == second[j - 2] and first[i - 2] == y:
                row[j] = min(row[j], rows[-2][j - 2] + 1)
        rows.append(row)
    return rows[-1][-1]
