"""Well-known models and how each encodes the order of its tokens, from `docs/data/models.yml`.

A value is what a source says: [value, source, where in it]. What no source said is left out.

    year         of the first publication
    scheme       one of those in schemas/models.json
    d            width of a head; with multi-head latent attention, of both its parts
    rotary       how many of these dimensions are rotated, where not all are
    base         base of the wavelengths, in global layers where layers differ
    local_base   base in the layers with a window
    reported     tokens: the longest length trained on with this base and, as far as is said,
                 without a rule, by a paper, a card, documentation or a training script
    stated       tokens: the trained length that a configuration states: where its rule starts or,
                 without a rule, the longest that it allows
    reach        tokens: the furthest that layers with a rotation look, where that is less
    promised     tokens: the longest length that is offered, where that is more
    rule         its kind and its numbers
    besides      what else `promised` needs
    layers       which layers differ from the others
    layout       the pairs in the authors' own code, "interleaved" or "half"
    hf_layout    the pairs in Transformers
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from posenc import wavelengths
from scripts import DATA
from scripts.book.citations import references
from scripts.book.data import load

FILE = DATA / "models.yml"
ROTARY = {"RoPE", "M-RoPE"}
NEEDED = ("year", "scheme")
NUMBERS = ("year", "d", "rotary", "base", "local_base", "reported", "stated", "reach", "promised")
FIELDS = (*NUMBERS, "scheme", "rule", "besides", "layers", "layout", "hf_layout")
BASE_OF_SINES = ("base", "sinusoidal")
OF_ROTATION = ("rotary", "base", "local_base", "rule", "layout", "hf_layout")


@dataclass(frozen=True)
class Source:
    """A place that was read: what kind it is, its title and its address."""

    kind: str
    title: str
    url: str


@dataclass(frozen=True)
class Value:
    """What a source says, and where in it."""

    value: Any
    source: str
    where: str


@dataclass(frozen=True)
class Model:
    """A model: its name, whose it is, its type in Transformers if it has one, and its values."""

    key: str
    name: str
    by: str
    type: str
    values: Mapping[str, Value]

    def __getitem__(self, field: str) -> Any:
        """Return the value of a field, None if no source has it."""
        return self.values[field].value if field in self.values else None

    @property
    def is_configuration(self) -> bool:
        """Return whether all that was read of it is a configuration, which says not whose it is."""
        return not self.by

    @property
    def is_rotary(self) -> bool:
        """Return whether queries and keys are rotated."""
        return self["scheme"] in ROTARY

    @property
    def trained(self) -> int | None:
        """Return the trained length that is reported or else stated, None if neither is."""
        length: int | None = self["reported"] or self["stated"]
        return length

    def missing(self) -> list[str]:
        """Return the fields that every model of its kind has and no source named here."""
        rotary = ["base", "layout", "hf_layout"] if self.is_rotary else []
        both = [name for name in ("layout", "hf_layout") if name in self.values]
        fields = ["d", *(name for name in rotary if not (both and "layout" in name))]
        lengths = [] if self.trained else ["reported"]
        return [*(name for name in fields if name not in self.values), *lengths]

    def wavelengths(self) -> np.ndarray[Any, np.dtype[np.float64]] | None:
        """Return the wavelength of each rotated pair in tokens, None if d or base is not known.

        A proportional rule rotates the first pairs of the whole width; otherwise the rotated
        dimensions have wavelengths of their own.
        """
        if not self.is_rotary or not self["d"] or not self["base"]:
            return None
        rotary = self["rotary"] or self["d"]
        if (self["rule"] or {}).get("kind") == "proportional":
            return wavelengths(self["d"], base=float(self["base"]))[: rotary // 2]
        return wavelengths(rotary, base=float(self["base"]))

    def never_round(self) -> int | None:
        """Return how many pairs make no whole turn within what training shows, None if unknown."""
        lengths, seen = self.wavelengths(), self["reach"] or self.trained
        return None if lengths is None or not seen else int(np.sum(lengths > seen))


def models(path: Path = FILE) -> tuple[Model, ...]:
    """Return all models, in order of their years."""
    return _read(path, path.stat().st_mtime_ns)[1]


def sources(path: Path = FILE) -> dict[str, Source]:
    """Return every source by its key."""
    return _read(path, path.stat().st_mtime_ns)[0]


def families(path: Path = FILE) -> dict[str, list[str]]:
    """Return the keys of each family that has a table of its own, by its name."""
    return _read(path, path.stat().st_mtime_ns)[2]


def model(key: str) -> Model:
    """Return the model of a key."""
    return next(found for found in models() if found.key == key)


def rotary() -> list[Model]:
    """Return the models that rotate queries and keys."""
    return [found for found in models() if found.is_rotary]


def bases(*, since: int = 0, until: int = 9999) -> list[int]:
    """Return the bases of the rotary models of these years, in order of their years."""
    return [f["base"] for f in rotary() if f["base"] and since <= f["year"] <= until]


@cache
def _read(
    path: Path, changed: int
) -> tuple[dict[str, Source], tuple[Model, ...], dict[str, list[str]]]:
    data: dict[str, Any] = load(path, "models")
    found = {key: _source(key, **entry) for key, entry in data["sources"].items()}
    read = tuple(_model(key, entry) for key, entry in data["models"].items())
    wrong = list(_faults(found, read))
    if wrong:
        raise ValueError(f"{path.name}: {'; '.join(wrong)}")
    return found, read, data.get("families", {})


def _source(key: str, *, kind: str, title: str = "", url: str = "") -> Source:
    """Return a source; title and address of a paper that pages cite stand in `references.yml`."""
    if kind == "paper" and not title:
        title, url = references()[key]["title"], references()[key]["url"]
    return Source(kind, title, url)


def _model(key: str, entry: dict[str, Any]) -> Model:
    values = {
        field: Value(entry[field][0], entry[field][1], str(entry[field][2]))
        for field in FIELDS
        if field in entry
    }
    return Model(key, entry["name"], entry["by"], entry.get("type", ""), values)


def _faults(found: dict[str, Source], read: tuple[Model, ...]) -> Iterator[str]:
    """Yield what is wrong with the file as a whole, and with each model."""
    used = {value.source for entry in read for value in entry.values.values()}
    yield from (f"nothing is taken from {key}" for key in sorted(found.keys() - used))
    years = [entry["year"] for entry in read]
    if years != sorted(years):
        yield "the models are not in the order of their years"
    for entry in read:
        yield from (f"{entry.key}: {fault}" for fault in faults(entry, found))


def faults(entry: Model, found: Mapping[str, Source]) -> Iterator[str]:
    """Yield what is wrong with a model."""
    for field, value in entry.values.items():
        if value.source not in found:
            yield f"{field} has no source {value.source!r}"
        if (
            field in OF_ROTATION
            and not entry.is_rotary
            and (field, entry["scheme"]) != BASE_OF_SINES
        ):
            yield f"{field} is for models that rotate"
    rule = entry["rule"] or {}
    if entry.trained and rule.get("trained", 0) > entry.trained:
        yield "the rule starts from a longer length than the trained one"
    if entry["rotary"] and entry["d"] and (entry["rotary"] > entry["d"] or entry["rotary"] % 2):
        yield f"rotates {entry['rotary']} of {entry['d']} dimensions"
    if entry.trained and entry["promised"] and entry["promised"] <= entry.trained:
        yield "promises no longer context than it was trained on"
