"""Rotary settings of published models, from `docs/data/configurations.yml`.

Each is a configuration in the manner of transformers, with those keys that `posenc.read_config`
reads, and where they were read.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from posenc import RotaryConfig, read_config
from scripts import DATA
from scripts.book.data import load

FILE = DATA / "configurations.yml"
NOT_READ = DATA / "not_read.yml"


@dataclass(frozen=True)
class Configuration:
    """The settings of a model: its name, where they were read, and the settings themselves."""

    key: str
    name: str
    source: str
    where: str
    config: dict[str, Any]

    def layers(self) -> list[RotaryConfig]:
        """Return what is read about each type of its layers."""
        types = read_config(self.config).layer_types or (None,)
        return [read_config(self.config, layer_type=one) for one in types]


def not_read() -> dict[str, str]:
    """Return the model types of transformers that are not read yet, or not compared, and why."""
    found: dict[str, str] = load(NOT_READ)
    return found


def configurations(path: Path = FILE) -> tuple[Configuration, ...]:
    """Return all configurations, in the order of the file."""
    return _read(path, path.stat().st_mtime_ns)


def published_settings(key: str) -> dict[str, Any]:
    """Return the settings of the model of a key, a new mapping."""
    return dict(next(found for found in configurations() if found.key == key).config)


@cache
def _read(path: Path, changed: int) -> tuple[Configuration, ...]:
    data = load(path, "configurations")
    return tuple(Configuration(key, **entry) for key, entry in data["models"].items())
