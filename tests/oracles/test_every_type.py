"""Every configuration of transformers with rotary keys is read as its own module computes it.

Each model type is equal, refused for a reason, or listed in docs/data/not_read.yml as not yet read.
"""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest
import yaml

from posenc import RotaryConfig, read_config
from posenc.config.families import AXES, REMOTE, SHARE, defaults_of
from scripts import DATA
from tests.oracles.libraries import config_class
from tests.oracles.rotary_modules import (
    UnknownModuleError,
    rotary_types,
    rotating_layers,
    rotations,
)

NOT_YET: dict[str, str] = yaml.safe_load((DATA / "not_read.yml").read_text("utf-8"))
# How many types are compared at least: with each rule, and by layers in each part of the sweep.
COMPARED, NUMBERED, PARTS = 150, 15, 6
LENGTH = "max_position_embeddings"
# A reason for which a configuration is refused rightly, as the end of the message says.
RIGHTLY = re.compile(
    r"which rotates by|must be \"rope\" or \"rotary\" in a model"
    r"|hidden_size must be a multiple"
)


def read_all(config: dict[str, Any]) -> list[RotaryConfig]:
    """Return what is read about each type of layers that rotates."""
    types = read_config(config).layer_types or (None,)
    found = [read_config(config, layer_type=one) for one in types]
    return [one for one in found if one.scheme != "none"]


def verdict(kind: str) -> str:
    """Return "equal", "refused rightly", or what is wrong with what is read."""
    peer = config_class(kind)()
    try:
        ours = read_all(peer.to_dict())
    except ValueError as error:
        return "refused rightly" if RIGHTLY.search(str(error)) else f"refused: {error}"
    try:
        theirs = rotations(kind, peer)
    except (UnknownModuleError, KeyError) as error:
        return f"no module to compare with: {error}" if ours else "equal"
    for one in ours:
        name = one.layer_type if one.layer_type in theirs else None
        if name not in theirs:
            return f"the module has no {one.layer_type}"
        found, factor = theirs[name]
        mine = one.frequencies()
        if mine.shape != found.shape or not np.allclose(mine, found, rtol=2e-5):
            return "other frequencies"
        if one.attention_factor != pytest.approx(factor, rel=1e-12):
            return "another attention factor"
    return "equal"


def test_every_type_is_equal_or_refused_rightly_or_listed() -> None:
    verdicts = {kind: verdict(kind) for kind in rotary_types()}
    wrong = {kind: v for kind, v in verdicts.items() if v not in ("equal", "refused rightly")}
    assert {*wrong} == {*NOT_YET}, wrong


def test_what_is_listed_as_not_yet_read_exists() -> None:
    assert {*NOT_YET} <= {*rotary_types()}


def test_types_with_several_axes_are_none_that_is_read() -> None:
    for kind in AXES:
        with pytest.raises(ValueError, match="which rotates by"):
            read_config({"model_type": kind, "rope_theta": 1e4, "head_dim": 64})


def test_fewer_than_one_type_in_eight_is_listed_as_not_yet_read() -> None:
    assert len(NOT_YET) < len(rotary_types()) / 8


# Each rule, in each type that reads one


def ruled(kind: str, rule: str) -> dict[str, Any] | None:
    """Return the default configuration of a type with a rule for all its layers, if it has none."""
    config: dict[str, Any] = config_class(kind)().to_dict()
    found = config.get("rope_parameters")
    if not isinstance(found, dict) or found.get("rope_type") != "default":
        return None
    try:
        width = read_config(config).rotary_d
    except ValueError:
        return None
    lengths = {"original_max_position_embeddings": 1024}
    settings: dict[str, dict[str, Any]] = {
        "linear": {"factor": 4.0},
        "dynamic": {"factor": 4.0},
        "yarn": {"factor": 4.0, **lengths},
        "llama3": {"factor": 4.0, "low_freq_factor": 1.0, "high_freq_factor": 4.0, **lengths},
        "longrope": {
            "short_factor": np.linspace(1, 2, width // 2).tolist(),
            "long_factor": np.linspace(1, 9, width // 2).tolist(),
            **lengths,
        },
    }
    config["rope_parameters"] = {**found, "rope_type": rule, **settings[rule]}
    names = config_class(kind).attribute_map  # by which the type may know the length
    return config | {names.get(LENGTH, LENGTH): 4096}


def compared(kind: str, rule: str) -> bool:
    """Say whether a type with a rule could be compared with its module, which must agree."""
    config = ruled(kind, rule)
    if config is None or kind in NOT_YET:
        return False
    try:
        theirs = rotations(kind, config_class(kind).from_dict(config))
    except Exception:  # whatever says that the type has no such rule
        return False
    ours = read_all(config)
    for one in ours:
        found, factor = theirs[one.layer_type if one.layer_type in theirs else None]
        np.testing.assert_allclose(one.frequencies(1), found, rtol=5e-5, err_msg=kind)
        assert one.attention_factor == pytest.approx(factor, rel=1e-12), kind
    return bool(ours)


@pytest.mark.slow
@pytest.mark.parametrize("rule", ["linear", "dynamic", "yarn", "longrope", "llama3"])
def test_each_rule_is_read_as_each_type_computes_it(rule: str) -> None:
    assert sum(compared(kind, rule) for kind in rotary_types()) >= COMPARED


# The part of a head that rotates


def rotated_pairs(kind: str, share: float) -> int:
    """Return how many pairs a type's own module rotates, without a rule."""
    rope = {"rope_type": "default", "rope_theta": 1e4, "partial_rotary_factor": share}
    found = rotations(kind, config_class(kind)(rope_parameters=rope))
    return len(next(iter(found.values())).frequencies)


def is_read(kind: str) -> bool | None:
    """Say whether a type's own module reads the part without a rule; None if that is open."""
    try:
        return rotated_pairs(kind, 0.5) < rotated_pairs(kind, 1.0)
    except Exception:  # there is no module, or its layers have frequencies of their own
        return None


@pytest.mark.slow
def test_a_part_that_a_type_reads_only_with_a_rule_is_noted() -> None:
    told = re.compile(f"{SHARE} is 0.5. For this model type transformers reads it only")
    noted = {}
    for kind in rotary_types():
        config = config_class(kind)().to_dict()
        rope = {"rope_type": "default", "rope_theta": 1e4, SHARE: 0.5}
        config = {key: one for key, one in config.items() if key != "rotary_pct"}
        try:
            found = read_config(config | {"rope_parameters": rope})
        except ValueError:
            continue
        if found.scheme != "none" and "qk_rope_head_dim" not in config:
            noted[kind] = any(told.match(note) for note in found.notes)
    read = {kind: is_read(kind) for kind in noted}
    assert [kind for kind, is_noted in noted.items() if is_noted and read[kind]] == []
    missed = [kind for kind in noted if read[kind] is False and not noted[kind]]
    assert [kind for kind in missed if kind not in REMOTE and defaults_of(kind) is not None] == []
    assert sum(noted.values()) >= COMPARED // 2


# Rotating layers


def same_layers(kind: str) -> bool | None:
    """Say whether the layers that rotate are those of a model of twelve; None if that is open."""
    try:
        peer = config_class(kind)(num_hidden_layers=12)
    except Exception:  # some count their layers by another name
        peer = config_class(kind)()
    try:
        ours = [
            read_config(peer.to_dict(), layer_type=one)
            for one in read_config(peer.to_dict()).layer_types or (None,)
        ]
        theirs = rotating_layers(peer)
    except (ValueError, UnknownModuleError):
        return None
    if any(one.layers is None for one in ours):
        return None
    return sorted(n for one in ours if one.rotates for n in one.layers or ()) == theirs


@pytest.mark.slow
@pytest.mark.parametrize("part", range(PARTS))
def test_the_numbers_of_rotating_layers_are_those_of_the_models(part: int) -> None:
    """As their modules rotate on the meta device, where ours are known."""
    kinds = [kind for kind in rotary_types()[part::PARTS] if kind not in NOT_YET]
    found = {kind: same_layers(kind) for kind in kinds}
    assert [kind for kind, same in found.items() if same is False] == []
    assert sum(same is True for same in found.values()) >= NUMBERED
