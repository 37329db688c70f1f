"""Which layers settings are about, by number, and which layers attend in a window."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from posenc.config.families import (
    LABELS,
    LATER_WINDOWS,
    MIXED,
    NARROW,
    PERIODS,
    SCALED_WINDOWS,
    WIDE_WINDOW,
    WINDOW,
    WINDOWS,
)
from posenc.config.keys import INTERVAL, LAYERS, LOCAL_WINDOW
from posenc.config.layers import (
    LINEAR,
    ROPE,
    Reading,
    Section,
    is_about_layers_that_count,
    layer_count,
    listed_gaps,
    listed_types,
    named_layers,
)
from posenc.layers import GAPPED, RULES

FULL, SLIDING = "full_attention", "sliding_attention"
STILL = (LINEAR, "conv", "mamba", "recurrent", "moe", "mlp")  # types without queries and keys

_HEAVY = "heavily_compressed_attention"
# Types of layers that no key lists: those of the first layers, and a group that all others repeat.
UNLISTED = {
    "deepseek_v4": ((_HEAVY, _HEAVY), (_HEAVY, "compressed_sparse_attention")),
    "mimo_v2_flash": ((FULL,), (*[SLIDING] * 5, FULL)),
}


class Stack(NamedTuple):
    """What is known of the layers of a model, counted from 0; None for what is not."""

    rotates: bool | None  # whether the layers in question rotate queries and keys
    layers: tuple[int, ...] | None  # these layers
    windowed: tuple[int, ...] | None  # those among them that attend in a window
    total: int | None  # how many layers the model has


def stack_of(
    reading: Reading,
    layers: Mapping[str | None, Section | None],
    chosen: str | None,
    asked: str | None,
) -> Stack:
    """Return the numbers of the layers that a section is about."""
    kinds, named = _kinds(reading), named_layers(reading)
    rotates = (layers[chosen] is not None) if reading.known else None
    if named and chosen is not None:
        meant = tuple(number for number, name in enumerate(named) if name == chosen)
        return Stack(
            rotates, meant if reading.known else None, _within(reading, kinds, meant), len(named)
        )
    if kinds is None:
        return Stack(rotates, None, None, layer_count(reading))
    labels, gaps = LABELS.get(reading.kind or "", {}), _gaps(reading, len(kinds))

    def is_meant(number: int, kind: str) -> bool:
        if chosen is None:
            return kind not in STILL and asked in (None, kind)
        if is_about_layers_that_count(layers):
            return gaps[number] == (chosen == ROPE)
        return labels.get(kind, kind) == chosen

    meant = tuple(number for number, kind in enumerate(kinds) if is_meant(number, kind))
    return Stack(
        rotates, meant if reading.known else None, _within(reading, kinds, meant), len(kinds)
    )


def _within(
    reading: Reading, kinds: tuple[str, ...] | None, meant: tuple[int, ...]
) -> tuple[int, ...] | None:
    """Return which of the layers attend in a window, None if their types are not known."""
    if kinds is None:
        return None
    has_window = window_of(reading, SLIDING) is not None
    return tuple(
        number for number in meant if has_window and kinds[number : number + 1] == (SLIDING,)
    )


def window_of(reading: Reading, layer_type: str | None) -> int | None:
    """Return how many positions layers of a type attend to at most, or None if to all."""
    entries, kind = reading.entries, reading.kind or ""
    if layer_type == SLIDING and kind in SCALED_WINDOWS:
        half = (entries.integer(LOCAL_WINDOW) or WIDE_WINDOW) // 2
        # The decoder counts the token itself, the encoder tokens on either side of it.
        return max(half, 1) + (kind == "modernbert")
    everywhere = kind in NARROW and "layer_types" not in entries
    if layer_type != SLIDING and not everywhere:
        return None
    if kind in LATER_WINDOWS and not entries.flag("use_sliding_window", False):
        return None
    given = entries.integer(WINDOW)
    return WINDOWS.get(kind) if given is None and WINDOW not in entries.mapping else given


def _kinds(reading: Reading) -> tuple[str, ...] | None:
    """Return the type of each layer: as listed, or by the default of the model type."""
    listed, count, kind = listed_types(reading), layer_count(reading), reading.kind or ""
    if listed:
        return tuple(listed)
    if count is not None and kind in UNLISTED:
        first_ones, group = UNLISTED[kind]
        types = (*first_ones, *(group[i % len(group)] for i in range(len(first_ones), count)))
        return types[:count]
    if count is None or not reading.known or kind in MIXED:
        return None
    if kind in PERIODS or kind in RULES:
        every, others, first = PERIODS.get(kind) or RULES[kind]
        keys = (INTERVAL,) if kind in GAPPED else LAYERS
        given = next((reading.entries.integer(key) for key in keys if key in reading.entries), 0)
        every = given or every
        place = 0 if first else every - 1
        return tuple(FULL if i % every == place else others for i in range(count))
    windowed = _windowed(reading, count)
    return tuple(SLIDING if i >= windowed else FULL for i in range(count))


def _windowed(reading: Reading, count: int) -> int:
    """Return the first layer with a window, where all later ones have one too."""
    if reading.kind in LATER_WINDOWS:
        first = reading.entries.integer("max_window_layers", least=0)
        return count if window_of(reading, SLIDING) is None or first is None else first
    return 0 if reading.kind in NARROW and window_of(reading, SLIDING) is not None else count


def _gaps(reading: Reading, count: int) -> list[bool]:
    """Return for each layer whether it rotates, in a model that counts layers without rotation."""
    if listed := listed_gaps(reading):
        return [bool(one) for one in listed]
    given = reading.entries.integer(INTERVAL) if reading.kind in GAPPED else None
    return [(i + 1) % (given or 4) > 0 for i in range(count)]
