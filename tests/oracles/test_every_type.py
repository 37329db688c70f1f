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
from posenc.config.families import AXES
from scripts import DATA
from tests.oracles.libraries import config_class
from tests.oracles.rotary_modules import (
    UnknownModuleError,
    rotary_types,
    rotating_layers,
    rotations,
)

NOT_YET: dict[str, str] = yaml.safe_load((DATA / "not_read.yml").read_text("utf-8"))
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
    except UnknownModuleError as error:
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


@pytest.mark.parametrize("kind", rotary_types())
def test_every_type_is_equal_or_refused_rightly_or_listed(kind: str) -> None:
    found = verdict(kind)
    assert (found not in ("equal", "refused rightly")) == (kind in NOT_YET), found


def test_what_is_listed_as_not_yet_read_exists() -> None:
    assert {*NOT_YET} <= {*rotary_types()}


def test_types_with_several_axes_are_none_that_is_read() -> None:
    for kind in AXES:
        with pytest.raises(ValueError, match="which rotates by"):
            read_config({"model_type": kind, "rope_theta": 1e4, "head_dim": 64})


def test_fewer_than_one_type_in_eight_is_listed_as_not_yet_read() -> None:
    assert len(NOT_YET) < len(rotary_types()) / 8


@pytest.mark.slow
@pytest.mark.parametrize("kind", [kind for kind in rotary_types() if kind not in NOT_YET])
def test_the_numbers_of_rotating_layers_are_those_of_the_model(kind: str) -> None:
    """As its modules rotate on the meta device, where ours are known."""
    peer = config_class(kind)()
    try:
        first = read_config(peer.to_dict())
    except ValueError:
        pytest.skip("refused")
    types = first.layer_types or (None,)
    ours = [read_config(peer.to_dict(), layer_type=one) for one in types]
    if any(one.layers is None for one in ours):
        pytest.skip("no numbers are given")
    try:
        theirs = rotating_layers(peer)
    except UnknownModuleError as error:
        pytest.skip(str(error))
    assert sorted(n for one in ours if one.rotates for n in one.layers or ()) == theirs
