"""The rotary modules of transformers, by the model type of the configuration that they take."""

from __future__ import annotations

import importlib
import inspect
from functools import cache
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tests.oracles.libraries import config_class, library

ROTARY_WORDS = ("rope", "rotary")  # a configuration with a key that contains one is about rotation
NAMES = ("Rotary", "Rope", "RoPE")  # in names of the modules that hold frequencies
ENDING = "inv_freq"


class Rotation(NamedTuple):
    """The frequencies of the layers of one type, and the factor of their sines and cosines."""

    frequencies: NDArray[np.float64]
    attention_factor: float


@cache
def rotary_types() -> tuple[str, ...]:
    """Return the model types whose configurations have rotary keys of their own, in order."""
    mapping = library("transformers.models.auto.configuration_auto", "CONFIG_MAPPING")
    return tuple(kind for kind in sorted(mapping) if _has_rotary_keys(kind))


def _has_rotary_keys(kind: str) -> bool:
    try:
        keys = config_class(kind)().to_dict()
    except Exception:  # two classes have no default configuration
        return False
    return any(word in key for key in keys if isinstance(key, str) for word in ROTARY_WORDS)


def rotations(kind: str, config: Any) -> dict[str | None, Rotation]:
    """Return what the model type's own module computes, by type of layers; None for all.

    Raises:
        LookupError: the code has no module of its own for this configuration, or one that does not
            take it alone.
    """
    module = _rotary_class(kind)(config)
    names = [name for name, _ in module.named_buffers() if name.endswith(ENDING)]
    kept = [name for name in names if not name.endswith(f"original_{ENDING}")]
    if not kept:
        raise LookupError(f"{type(module).__name__} has no frequencies")
    return {name.removesuffix(ENDING).rstrip("_") or None: _rotation(module, name) for name in kept}


def _rotation(module: Any, name: str) -> Rotation:
    prefix = name.removesuffix(ENDING)
    factor = getattr(module, f"{prefix}attention_scaling", 1.0)
    return Rotation(getattr(module, name).double().flatten().numpy(), float(factor))


def _rotary_class(kind: str) -> Any:
    """Return the class that says that it takes this configuration, or the only one there is."""
    peer = config_class(kind)
    try:
        module = importlib.import_module(peer.__module__.replace("configuration_", "modeling_"))
    except ModuleNotFoundError as error:
        raise LookupError(str(error)) from None
    found = [one for name, one in vars(module).items() if _is_rotary(name, one)]
    fitting = [one for one in found if _taken(one) == peer.__name__] or found
    if len(fitting) != 1:
        raise LookupError(f"{len(fitting)} rotary modules take a {peer.__name__}")
    return fitting[0]


def _is_rotary(name: str, thing: object) -> bool:
    named = any(word in name for word in NAMES) and "Attention" not in name
    return named and inspect.isclass(thing) and "config" in inspect.signature(thing).parameters


def _taken(module: Any) -> str:
    """Return the name of the configuration that the constructor of a module takes."""
    taken = inspect.signature(module).parameters["config"].annotation
    return getattr(taken, "__name__", str(taken))
