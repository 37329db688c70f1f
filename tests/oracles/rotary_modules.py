"""The rotary modules of transformers, by the model type of the configuration that they take."""

from __future__ import annotations

import importlib
import inspect
import re
from functools import cache
from typing import Any, NamedTuple

import numpy as np
import pytest
from numpy.typing import NDArray

from tests.oracles.libraries import config_class, library

ROTARY_WORDS = ("rope", "rotary")  # a configuration with a key that contains one is about rotation
NAMES = ("Rotary", "Rope", "RoPE")  # in names of the modules that hold frequencies
ENDING = "inv_freq"
LAYER = re.compile(r"(?:layers|h|encoder\.layer)\.(\d+)")  # the name of a layer


class UnknownModuleError(LookupError):
    """There is no module to compare with."""


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
        UnknownModuleError: the code has no module for this configuration, or one without
            frequencies.
    """
    module = _rotary_class(kind)(config)
    names = [name for name, _ in module.named_buffers() if name.endswith(ENDING)]
    kept = [name for name in names if not name.endswith(f"original_{ENDING}")]
    if not kept:
        raise UnknownModuleError(f"{type(module).__name__} has no frequencies")
    return {name.removesuffix(ENDING).rstrip("_") or None: _rotation(module, name) for name in kept}


def _rotation(module: Any, name: str) -> Rotation:
    prefix = name.removesuffix(ENDING)
    factor = getattr(module, f"{prefix}attention_scaling", 1.0)
    return Rotation(getattr(module, name).double().flatten().numpy(), float(factor))


def _rotary_class(kind: str) -> Any:
    """Return the class that says that it takes this configuration, or is named most like it."""
    peer = config_class(kind)
    try:
        module = importlib.import_module(peer.__module__.replace("configuration_", "modeling_"))
    except ModuleNotFoundError:  # the model is one of another type
        module = importlib.import_module(_model_class(peer()).__module__)
    found = [one for name, one in vars(module).items() if _is_rotary(name, one)]
    fitting = [one for one in found if _taken(one) == peer.__name__]
    fitting = fitting or [one for one in found if "Vision" not in one.__name__] or found
    if not fitting:
        raise UnknownModuleError(f"no rotary module takes a {peer.__name__}")

    def likeness(one: Any) -> tuple[int, int]:
        common = [a == b for a, b in zip(one.__name__, peer.__name__, strict=False)]
        return [*common, False].index(False), -len(one.__name__)

    return max(fitting, key=likeness)


def _is_rotary(name: str, thing: object) -> bool:
    named = any(word in name for word in NAMES) and "Attention" not in name
    return named and inspect.isclass(thing) and "config" in inspect.signature(thing).parameters


def _taken(module: Any) -> str:
    """Return the name of the configuration that the constructor of a module takes."""
    taken = inspect.signature(module).parameters["config"].annotation
    return getattr(taken, "__name__", str(taken))


def rotating_layers(config: Any) -> list[int]:
    """Return the numbers of the layers whose attention rotates, in a model without weights.

    Raises:
        UnknownModuleError: the model cannot be built or run without weights, or its rotation is
            not seen.
    """
    import torch

    before = torch.get_default_dtype()
    torch.set_default_dtype(torch.bfloat16)  # which products of groups of matrices ask for
    try:
        with torch.device("meta"):
            model = _model_class(config)(config)
        return _layers_seen(model)
    except UnknownModuleError:
        raise
    except Exception as error:  # whatever stops a model on the meta device
        raise UnknownModuleError(f"{type(error).__name__}: {error}"[:80]) from None
    finally:
        torch.set_default_dtype(before)


def _model_class(config: Any) -> Any:
    mapping = library("transformers.models.auto.modeling_auto", "MODEL_MAPPING")
    if type(config) not in mapping:
        raise UnknownModuleError("no model has this configuration alone")
    found = mapping[type(config)]
    return found[0] if isinstance(found, tuple | list) else found


def _layers_seen(model: Any) -> list[int]:
    """Return the layers in which a function that rotates is called."""
    import torch

    seen: set[int] = set()
    inside: list[int] = []
    places = {
        re.sub(r"\d+$", "", name) for name, _ in model.named_modules() if LAYER.fullmatch(name)
    }
    if len(places) != 1:
        raise UnknownModuleError("its layers are not one stack")
    for name, module in model.named_modules():
        number = LAYER.fullmatch(name)
        if number:
            n = int(number[1])
            module.register_forward_pre_hook(lambda *_, n=n: inside.append(n))
            module.register_forward_hook(lambda *_: inside.clear())
    source = importlib.import_module(type(model).__module__)
    functions = {
        name: one
        for name, one in vars(source).items()
        if inspect.isfunction(one) and "apply_rotary" in name
    }

    def noting(function: Any) -> Any:
        def call(*given: Any, **named: Any) -> Any:
            seen.update(inside)
            return function(*given, **named)

        return call

    with pytest.MonkeyPatch.context() as patch, torch.no_grad():
        for name, one in functions.items():
            patch.setattr(source, name, noting(one))
        model(input_ids=torch.zeros(1, 8, dtype=torch.long, device="meta"))
    if not functions:
        raise UnknownModuleError("no function that rotates is known by its name")
    return sorted(seen)
