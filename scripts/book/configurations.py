"""Rotary settings of published models, from `docs/data/configurations.yml`.

Each is a configuration in the format of transformers, with those keys that `posenc.read_config`
reads, and where they were read.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from posenc import RotaryConfig, read_config
from posenc.config.explain import explained
from scripts import DATA
from scripts.book.data import load
from scripts.book.models import Model, Value

FILE = DATA / "configurations.yml"
NOT_READ = DATA / "not_read.yml"
WINDOWED = "sliding_attention"


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

    def model(self) -> Model:
        """Return what the configuration says, as a model of the table: of layers that see all."""
        full = next(layers for layers in self.layers() if layers.layer_type != WINDOWED)
        window = explained(full)["window"]
        local = [layers for layers in self.layers() if layers.layer_type == WINDOWED]
        told = {
            "scheme": "RoPE",
            "d": full.d,
            "rotary": rotating if (rotating := 2 * len(turning(full))) != full.d else None,
            "base": round(full.base or 0),
            "local_base": round(local[0].base or 0) if local else None,
            "stated": full.trained_length,
            "reach": window if window and window < (full.trained_length or window) else None,
            "promised": full.length if full.length != full.trained_length else None,
            "rule": rule(full),
            "hf_layout": full.layout,
        }
        values = {
            field: Value(said, self.source, self.where) for field, said in told.items() if said
        }
        return Model(f"config-{self.key}", self.name, "", "", values)


def turning(layers: RotaryConfig) -> list[dict[str, Any]]:
    """Return what becomes of each pair that does not stand still."""
    return [pair for pair in explained(layers)["pairs"] if pair["frequency"]]


def rule(layers: RotaryConfig) -> dict[str, Any] | None:
    """Return the rule of some layers with its factor, None if there is none."""
    if layers.scheme == "default":
        return None
    return {"kind": layers.scheme} | ({"factor": layers.factor} if layers.factor != 1 else {})


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
