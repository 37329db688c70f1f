"""What a configuration means is what mlx-lm rotates by, and where not, a test says what it does.

mlx-lm is asked by rotating: a vector of ones and zeros, one position on, has each pair's cosine and
sine, scaled by the attention factor.
"""

from __future__ import annotations

import importlib.util
import platform
import sys
from collections.abc import Callable
from importlib.metadata import version
from types import ModuleType
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from posenc import RotaryConfig, longrope_frequencies, read_config, yarn_temperature
from tests.oracles.test_config import random_config, tolerance

pytestmark = pytest.mark.slow  # needs a library that only `make test-all` installs

Config = dict[str, Any]
Frequencies = Callable[..., tuple[NDArray[np.float64], float]]

SETTINGS = 50


@pytest.fixture(scope="module")
def rope_utils() -> ModuleType:
    """Return the module of mlx-lm that rotates, alone: the whole would import its models."""
    if sys.platform != "linux" or platform.machine() != "x86_64":
        pytest.skip("the project installs mlx-lm on Linux with an x86-64 processor only")
    found = importlib.util.find_spec("mlx_lm")
    assert found is not None, "mlx-lm is not installed: make installs it"
    assert found.origin is not None
    path = found.origin.replace("__init__.py", "models/rope_utils.py")
    spec = importlib.util.spec_from_file_location("rope_utils", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def mlx_frequencies(rope_utils: ModuleType) -> Frequencies:
    """Return a function that gives the frequencies and the attention factor of mlx-lm."""
    import mlx.core as mx

    def frequencies(config: Config, length: int = 2) -> tuple[NDArray[np.float64], float]:
        ours = read_config(config)
        scaling = config["rope_scaling"] | {"partial_rotary_factor": _share(config)}
        promised = config["max_position_embeddings"]
        rope = rope_utils.initialize_rope(ours.rotary_d, ours.base, False, scaling, promised)
        vectors = np.zeros((1, 1, length, ours.rotary_d), np.float32)
        vectors[..., : ours.rotary_d // 2] = 1
        rotated = np.array(rope(mx.array(vectors)))[0, 0, 1].astype(np.float64)
        cosines, sines = np.split(rotated, 2)
        return np.arctan2(sines, cosines), float(np.median(np.hypot(sines, cosines)))

    return frequencies


def _share(config: Config) -> float:
    share: float = config.get("partial_rotary_factor", 1.0)
    return share


def setting(scheme: str, seed: int) -> Config:
    """Return a configuration with keys that mlx-lm reads as transformers does."""
    config, scaling, _ = random_config(scheme, seed)
    for key in ("truncate", "attention_factor"):
        scaling.pop(key, None)
    if not (scaling.get("mscale") and scaling.get("mscale_all_dim")):
        scaling = {key: value for key, value in scaling.items() if not key.startswith("mscale")}
    if scheme == "dynamic":
        config["max_position_embeddings"] = 64  # so that few positions are beyond it
    if scheme == "longrope":
        scaling.pop("factor", None)
    return config | {"rope_scaling": scaling | {"type": scheme}}


def assert_same(ours: RotaryConfig, found: tuple[NDArray[np.float64], float], length: int) -> None:
    frequencies, factor = found
    np.testing.assert_allclose(frequencies, ours.frequencies(length), rtol=near(ours))
    assert factor == pytest.approx(ours.attention_factor, rel=1e-6)


def near(ours: RotaryConfig) -> float:
    """Return the relative error of float32."""
    return tolerance({"rope_theta": ours.base}, ours.factor)


@pytest.mark.parametrize("length", [2, 64, 65, 200])
def test_mlx_lm_rotates_by_the_frequencies_of_dynamic_ntk(
    mlx_frequencies: Frequencies, length: int
) -> None:
    for seed in range(SETTINGS):
        config = setting("dynamic", seed)
        assert_same(read_config(config), mlx_frequencies(config, length), length)


@pytest.mark.parametrize("scheme", ["linear", "llama3", "yarn", "proportional"])
def test_mlx_lm_rotates_by_the_frequencies_of_a_configuration(
    mlx_frequencies: Frequencies, scheme: str
) -> None:
    for seed in range(SETTINGS):
        config = setting(scheme, seed)
        assert_same(read_config(config), mlx_frequencies(config), 2)


def test_mlx_lm_rotates_by_the_long_divisors_of_longrope(mlx_frequencies: Frequencies) -> None:
    for seed in range(SETTINGS):
        config = setting("longrope", seed)
        ours = read_config(config)
        assert_same(ours, mlx_frequencies(config), (ours.trained_length or 0) + 1)


# Where the two differ


def test_mlx_lm_uses_the_long_divisors_where_the_short_ones_hold(
    mlx_frequencies: Frequencies,
) -> None:
    config = setting("longrope", 0)
    ours = read_config(config)
    found, _ = mlx_frequencies(config)
    assert (np.abs(found / ours.frequencies(2) - 1) > 0.01).any()
    long = config["rope_scaling"]["long_factor"]
    settings = {"short": long, "long": long, "trained_length": 1, "base": ours.base}
    expected = longrope_frequencies(ours.rotary_d, 2, **settings)
    np.testing.assert_allclose(found, expected, rtol=near(ours))
    assert "mlx-lm 0.32.2 never uses the short ones" in " ".join(ours.notes)


def test_mlx_lm_truncates_a_ramp_that_is_not_to_be_truncated(mlx_frequencies: Frequencies) -> None:
    config = setting("yarn", 0)
    exact = config | {"rope_scaling": config["rope_scaling"] | {"truncate": False}}
    ours = read_config(exact)
    assert_same(read_config(config), mlx_frequencies(exact), 2)
    assert (np.abs(mlx_frequencies(exact)[0] / ours.frequencies() - 1) > 0.001).any()
    assert "mlx-lm 0.32.2 and llama.cpp truncate it all the same" in " ".join(ours.notes)


def test_mlx_lm_takes_its_own_attention_factor_where_one_is_given(
    mlx_frequencies: Frequencies,
) -> None:
    config = setting("yarn", 0)
    scaling = {key: one for key, one in config["rope_scaling"].items() if key[0] != "m"}
    changed = config | {"rope_scaling": scaling | {"attention_factor": 0.5}}
    ours = read_config(changed)
    assert ours.attention_factor == 0.5
    assert mlx_frequencies(changed)[1] == pytest.approx(yarn_temperature(ours.factor), rel=1e-6)
    assert "mlx-lm 0.32.2 does not read it" in " ".join(ours.notes)


@pytest.mark.parametrize(("key", "value"), [("mscale", 0.5), ("mscale_all_dim", 0.5)])
def test_mlx_lm_reads_one_mscale_without_the_other_as_deepseek_does(
    mlx_frequencies: Frequencies, key: str, value: float
) -> None:
    config = setting("yarn", 0)
    scaling = {key: one for key, one in config["rope_scaling"].items() if key[0] != "m"}
    alone = config | {"rope_scaling": scaling | {key: value}}
    ours = read_config(alone)
    both = {"mscale": 1.0, "mscale_all_dim": 0.0} | {key: value}
    expected = yarn_temperature(ours.factor, mscale=both["mscale"])
    expected /= yarn_temperature(ours.factor, mscale=both["mscale_all_dim"])
    assert mlx_frequencies(alone)[1] == pytest.approx(expected, rel=1e-6)
    assert ours.attention_factor == yarn_temperature(ours.factor)
    assert "DeepSeek's code takes 1 for the first and 0 for the second" in " ".join(ours.notes)


def test_the_release_that_notes_name_is_the_one_that_is_asked(rope_utils: ModuleType) -> None:
    assert version("mlx-lm") == "0.32.2"
