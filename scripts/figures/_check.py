"""Compares the drawings of a figure's script with the committed ones."""

from __future__ import annotations

import json
import platform
import re
from collections.abc import Iterator, Sequence
from functools import cache
from importlib.metadata import version
from itertools import islice, zip_longest
from math import isclose
from pathlib import Path

from scripts import ROOT
from scripts.figures import FIGURES, VARIANTS, data_file, picture_file, scripts
from scripts.figures._plotted import Json, as_text, plotted
from scripts.figures._render import FACE, drawn, load, svg

# The data is rounded to six digits, so a difference in the last one may be rounding noise between
# processors, and is invisible.
RELATIVE, ABSOLUTE = 2e-6, 1e-9

# The bytes of a drawing also depend on these packages and the machine: only the pinned versions on
# this kind of machine reproduce the committed bytes.
PRINTERS = ("matplotlib", "numpy", "pillow", "contourpy", "fonttools")
MACHINE = "Linux x86_64"

SHOWN = 5  # differences listed per comparison


def check(path: Path, folder: Path = FIGURES, variants: Sequence[str] = VARIANTS) -> list[str]:
    """Return a message for each difference between a figure's script and its committed files."""
    return [f"{path.stem}: {difference}" for difference in _faults(path, folder, variants)]


def orphans(folder: Path = FIGURES) -> list[str]:
    """Return the committed files that no script draws."""
    ours = {file for path in scripts() for file in files(path.stem, folder)}
    there = [path for path in sorted(folder.rglob("*")) if path.is_file()]
    return [f"{path.name}: no script draws it" for path in there if path not in ours]


def files(stem: str, folder: Path = FIGURES) -> list[Path]:
    """Return the files of a figure: its data and its four drawings."""
    pictures = [picture_file(stem, variant, folder) for variant in VARIANTS]
    return [data_file(stem, folder), *pictures]


@cache
def unlike_pinned() -> tuple[str, ...]:
    """Return how this machine differs from the one that drew the committed files."""
    pinned = dict(re.findall(r"^([\w-]+)==(\S+)$", (ROOT / "constraints.txt").read_text(), re.M))
    found = {name: (version(name), pinned.get(name)) for name in PRINTERS}
    found["machine"] = (f"{platform.system()} {platform.machine()}", MACHINE)
    found["Source Sans 3"] = _face_versions()
    unlike = ((name, *pair) for name, pair in found.items() if len(set(pair)) > 1)
    return tuple(f"{name} {here}, not {there}" for name, here, there in unlike)


def differences(there: Json, here: Json, place: str = "") -> Iterator[str]:
    """Yield each place where the committed and the drawn data differ, with both values."""
    if there == here:  # the most common case
        return
    if isinstance(there, dict) and isinstance(here, dict) and there.keys() == here.keys():
        for key in there:
            yield from differences(there[key], here[key], f"{place}.{key}".lstrip("."))
    elif isinstance(there, list) and isinstance(here, list) and len(there) == len(here):
        for index, pair in enumerate(zip(there, here, strict=True)):
            yield from differences(*pair, f"{place}[{index}]")
    elif not _alike(there, here):
        yield f"{place}: committed {_short(there)}, drawn {_short(here)}"


def _faults(path: Path, folder: Path, variants: Sequence[str]) -> Iterator[str]:
    missing = [file.name for file in files(path.stem, folder) if not file.exists()]
    if missing:
        yield f"{', '.join(missing)} missing; `make figures` draws them"
        return
    script = load(path)
    committed = json.loads(data_file(path.stem, folder).read_text(encoding="utf-8"))
    exact = not unlike_pinned()
    for variant in variants:
        with drawn(script, variant) as figure:
            found = list(islice(differences(committed, plotted(figure)), SHOWN))
            if exact and not found:
                file = picture_file(path.stem, variant, folder)
                found = _byte_differences(file, file.read_bytes(), svg(figure))
        yield from (f"{variant}: {difference}" for difference in found)


def _byte_differences(file: Path, there: bytes, here: bytes) -> list[str]:
    if there == here:
        return []
    lines = zip_longest(there.splitlines(), here.splitlines())
    first = next((number for number, (a, b) in enumerate(lines, 1) if a != b), 1)
    return [f"the data agree, but {file.name} is drawn otherwise from line {first} on"]


def _alike(there: Json, here: Json) -> bool:
    numbers = isinstance(there, (int, float)) and isinstance(here, (int, float))
    return isclose(there, here, rel_tol=RELATIVE, abs_tol=ABSOLUTE) if numbers else there == here


def _short(data: Json) -> str:
    if isinstance(data, list):
        return f"{len(data)} values"
    return as_text(data) if not isinstance(data, dict) else f"{', '.join(data)}"


def _face_versions() -> tuple[str, str]:
    locked = json.loads((ROOT / "package-lock.json").read_text())["packages"]
    package = FACE / "package.json"
    here = json.loads(package.read_text())["version"] if package.exists() else "not installed"
    return here, locked["node_modules/@fontsource/source-sans-3"]["version"]
