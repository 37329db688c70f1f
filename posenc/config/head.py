"""The widths of a head and of what is rotated in it."""

from __future__ import annotations

from typing import NamedTuple

from posenc._arguments import _shown
from posenc.config.entries import Entries, agreed
from posenc.config.families import (
    DOUBLED,
    LATENTS,
    PARTIAL,
    REMOTE,
    RULELESS,
    SHARE,
    SIZES,
    TAILS,
    UNROTATED,
    WIDE,
    WIDTH,
)
from posenc.config.keys import HEADS, HIDDEN, LATENT, SHARES, WIDTHS, type_of
from posenc.config.layers import Reading, Section

WIDEST = 2**16


class Head(NamedTuple):
    """What is rotated."""

    d: int
    rotary_d: int
    share: float = 1.0
    latent: bool = False  # whether the rotated part is a vector beside the rest of the head


def head_of(reading: Reading, section: Section | None, layer_type: str | None) -> Head:
    """Return the widths of a head and of what is rotated in it."""
    head = _head(reading, section, layer_type)
    if reading.kind in TAILS and head.rotary_d < head.d:
        reading.notes.append(
            f"The last {head.rotary_d} of the {head.d} dimensions of a head are rotated, not the"
            f" first {head.rotary_d}."
        )
    return head


def _head(reading: Reading, section: Section | None, layer_type: str | None) -> Head:
    """Return the widths, with notes on those that are not given or not read."""
    latent = reading.entries.integer(LATENT[0])
    if latent is not None and reading.kind not in TAILS:
        return _latent(reading, section, latent)
    if reading.kind in LATENTS:
        raise ValueError(
            f"{reading.entries.path(LATENT[0])} must be given with model type"
            f" {_shown(reading.kind)}; got none"
        )
    d = _width(reading, layer_type)
    share = _share(reading, section)
    name = LATENT[0] if reading.kind in TAILS else "rotary_dim"
    count = reading.entries.integer(name)
    if count is not None:
        path = reading.entries.path(name)
        if share is not None and int(d * share) != count:
            raise ValueError(
                f"{path} and {SHARE} must agree; got {count} and {share:g} of a width of {d}"
            )
        if count > d or count % 2:
            raise ValueError(f"{path} must be an even integer from 2 to {d}; got {count}")
        return Head(d, count)
    if share is None:
        share = reading.defaults.get(SHARE, 1.0)
        if share != 1:
            reading.notes.append(
                f"{SHARE} is not given. transformers uses {share:g} for this model type."
            )
    elif share != 1 and _is_unread(reading, section):
        reading.notes.append(
            f"{SHARE} is {share:g}. For this model type transformers reads it only with a scaling"
            " rule. Without one it rotates the whole head."
        )
    if section is not None and type_of(section.entries) == "proportional":
        return Head(d, d, share)
    rotary_d = int(d * share)
    if rotary_d < 2 or rotary_d % 2:
        name = next(iter(_shares(reading, section)), SHARE)
        raise ValueError(
            f"{name} must leave an even number of dimensions, 2 or more; got {share:g} of {d}"
        )
    return Head(d, rotary_d)


def _is_unread(reading: Reading, section: Section | None) -> bool:
    """Return whether the class in transformers rotates the whole head whatever the entry says."""
    is_plain = section is None or type_of(section.entries) == "default"
    is_other = reading.kind in {*PARTIAL, *REMOTE, *RULELESS, *UNROTATED}
    return is_plain and reading.known and not is_other and reading.defaults[SHARE] == 1


def _latent(reading: Reading, section: Section | None, latent: int) -> Head:
    """Return the rotated vector of latent attention, which stands beside the rest of a head."""
    entries = reading.entries
    rest, whole = entries.integer(LATENT[1], least=0), entries.integer(LATENT[2])
    path = entries.path(LATENT[0])
    _check_width(path, latent)
    if rest is not None:
        agreed({f"{path} + {LATENT[1]}": latent + rest, entries.path(LATENT[2]): whole})
    width, share = entries.integer(WIDTH), _share(reading, section)
    if width is not None and width not in (latent, rest, latent + (rest or 0), _quotient(reading)):
        raise ValueError(f"{path} and {entries.path(WIDTH)} must agree; got {latent} and {width}")
    if share not in (None, 1.0) and int((width or latent + (rest or 0)) * share) != latent:
        raise ValueError(f"{path} and {SHARE} must agree; got {latent} and {share:g}")
    beside = "" if rest is None else f", {rest} wide,"
    reading.notes.append(
        f"The rotated part is a separate vector, {latent} wide; the rest of a head{beside} is not"
        " rotated."
    )
    return Head(latent, latent, latent=True)


def _width(reading: Reading, layer_type: str | None) -> int:
    """Return the width of a head, an even integer."""
    entries, defaults = reading.entries, reading.defaults
    keys = [WIDTH] if reading.kind in DOUBLED else WIDTHS  # kv_channels of Zamba2 is half of it
    widths = {entries.path(key): entries.integer(key) for key in keys}
    if layer_type == "full_attention" and (WIDE in entries or WIDE in defaults):
        widths = {entries.path(WIDE): entries.integer(WIDE) or int(defaults.get(WIDE, 0))}
    d, quotient = agreed(widths), _quotient(reading)
    name = next((path for path, width in widths.items() if width is not None), entries.path(WIDTH))
    if d is None and WIDTH in defaults:
        d = int(defaults[WIDTH])
        reading.notes.append(f"{name} is not given. transformers uses {d} for this model type.")
    elif d is None:
        d, name = _integer_quotient(reading), "hidden_size / num_attention_heads"
    _check_width(name, d)
    if quotient is not None and quotient != d:
        reading.notes.append(
            f"A head is {d} wide, not hidden_size / num_attention_heads, {quotient:g}. A program"
            " that divides these two computes different frequencies, as transformers once did (PR"
            " 32495)."
        )
    return int(d)


def _check_width(name: str, d: int) -> None:
    """Raise ValueError if what is rotated cannot be so wide."""
    if d % 2:
        raise ValueError(f"{name} must be an even integer, 2 or more; got {d}")
    if d > WIDEST:
        raise ValueError(f"{name} must be at most {WIDEST}; got {d}")


def _quotient(reading: Reading) -> float | None:
    """Return the width of the model divided by the number of heads, if both are given."""
    hidden, heads = _given_sizes(reading)
    return None if hidden is None or heads is None else _divided(reading, hidden, heads)


def _given_sizes(reading: Reading) -> list[int | None]:
    """Return the width of the model and the number of heads, as they are given."""
    entries = reading.entries
    return [
        agreed({entries.path(key): entries.integer(key) for key in keys})
        for keys in (HIDDEN, HEADS)
    ]


def _divided(reading: Reading, hidden: int, heads: int) -> float:
    return float((2 if reading.kind in DOUBLED else 1) * hidden / heads)


def _completed_quotient(reading: Reading) -> float | None:
    """Return the quotient, with the sizes of the model type where neither is given."""
    hidden, heads = given = _given_sizes(reading)
    usual = next((one for one in SIZES if reading.kind in one[2]), None)
    if usual is not None and given == [None, None]:
        hidden, heads, _ = usual
        reading.notes.append(
            f"{HIDDEN[0]} and {HEADS[0]} are not given. transformers uses {hidden} and {heads} for"
            " this model type."
        )
    return None if hidden is None or heads is None else _divided(reading, hidden, heads)


def _integer_quotient(reading: Reading) -> int:
    """Return the quotient, which must be an integer."""
    quotient = _completed_quotient(reading)
    path = reading.entries.path
    if quotient is None:
        raise ValueError(
            f"{path(WIDTH)} must be given, or hidden_size and num_attention_heads; got none"
        )
    if quotient != int(quotient):
        raise ValueError(
            f"{path('hidden_size')} must be a multiple of num_attention_heads where head_dim is not"
            f" given; got {quotient:g} times as much"
        )
    return int(quotient)


def _shares(reading: Reading, section: Section | None) -> dict[str, float]:
    """Return which part of a head is rotated, by the name of the entry that says so."""
    inner = section.entries if section else Entries({})
    places = [(reading.entries, SHARES), (inner, (SHARE,))]
    found: dict[str, float] = {}
    for name, share in (
        (one.path(key), one.number(key, least=0, above=True))
        for one, keys in places
        for key in keys
    ):
        if share is not None and share > 1:
            raise ValueError(f"{name} must be a number above 0, at most 1; got {share:g}")
        found |= {} if share is None else {name: share}
    return found


def _share(reading: Reading, section: Section | None) -> float | None:
    """Return which part of a head is rotated, or None if it is not given."""
    share: float | None = agreed(_shares(reading, section))
    return share
