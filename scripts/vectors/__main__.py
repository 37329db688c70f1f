"""Write docs/vectors/: a file for each suite, their schema and their index.

    python -m scripts.vectors               all suites
    python -m scripts.vectors swin t5       some of them, and the index
    python -m scripts.vectors --release X   nothing but docs/data/vectors_released.json

Running it again changes no byte.
"""

from __future__ import annotations

import argparse
import hashlib
import json
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from scripts import DOCS
from scripts.vectors.axes import mrope_suite, rotation_2d_suite
from scripts.vectors.biases import alibi_bias_suite, alibi_suite, deberta_suite, t5_suite
from scripts.vectors.cases import LICENSE, VERSION, Suite
from scripts.vectors.configurations import config_suite
from scripts.vectors.frequencies import frequencies_suite
from scripts.vectors.images import mrope_positions_suite, resize_grid_suite
from scripts.vectors.indices import shaw_suite, swin_rectangle_suite, swin_suite
from scripts.vectors.places import positions_suite, resize_suite
from scripts.vectors.released import release
from scripts.vectors.rotation import rotation_suite, scores_suite
from scripts.vectors.schema import schema
from scripts.vectors.sequences import sequences_suite
from scripts.vectors.sinusoidal import sinusoidal_suite

FOLDER = DOCS / "vectors"
INDEX, SCHEMA = "index.json", f"schema_v{VERSION}.json"
SUITES: dict[str, Callable[[], Suite]] = {
    "frequencies": frequencies_suite,
    "config": config_suite,
    "rotation": rotation_suite,
    "rotation_2d": rotation_2d_suite,
    "mrope": mrope_suite,
    "scores": scores_suite,
    "sinusoidal": sinusoidal_suite,
    "alibi": alibi_suite,
    "alibi_bias": alibi_bias_suite,
    "t5": t5_suite,
    "swin": swin_suite,
    "shaw": shaw_suite,
    "resize": resize_suite,
    "positions": positions_suite,
    "sequences": sequences_suite,
    "swin_rectangle": swin_rectangle_suite,
    "deberta": deberta_suite,
    "mrope_positions": mrope_positions_suite,
    "resize_grid": resize_grid_suite,
}


def write(folder: Path, names: Sequence[str] = ()) -> None:
    """Write the files of these suites, or of all, with the schema and the index."""
    folder.mkdir(parents=True, exist_ok=True)
    for name in names or SUITES:
        (folder / f"{name}_v{VERSION}.json").write_bytes(SUITES[name]().text().encode())
    (folder / SCHEMA).write_bytes(json_text(schema()).encode())
    (folder / INDEX).write_bytes(json_text(index(folder)).encode())


def json_text(value: Any) -> str:
    """Return indented JSON."""
    return json.dumps(value, indent=1, ensure_ascii=False) + "\n"


def index(folder: Path) -> dict[str, Any]:
    """Return the counts and digests of the files in a folder."""
    entries = {}
    for name in SUITES:
        file = folder / f"{name}_v{VERSION}.json"
        if file.is_file():
            entries[name] = entry(file)
    found = {
        "version": VERSION,
        "license": LICENSE,
        "cases": sum(one["cases"] for one in entries.values()),
    }
    return found | {
        "schema": {"file": SCHEMA, "sha256": digest(folder / SCHEMA)},
        "suites": entries,
    }


def entry(file: Path) -> dict[str, Any]:
    """Return what the index says of a file."""
    cases = json.loads(file.read_text("utf-8"))["cases"]
    counts = Counter(case["result"] for case in cases)
    results = {name: counts[name] for name in ("valid", "acceptable", "invalid")}
    return {"file": file.name, "sha256": digest(file), "cases": len(cases)} | results


def digest(file: Path) -> str:
    """Return the SHA-256 of a file."""
    return hashlib.sha256(file.read_bytes()).hexdigest()


if __name__ == "__main__":
    parser = argparse.ArgumentParser("python -m scripts.vectors", description=__doc__)
    parser.add_argument("suites", nargs="*", choices=[*SUITES, []], metavar="SUITE")
    parser.add_argument("--release", metavar="VERSION", help="today's cases are its cases")
    asked = parser.parse_args()
    if asked.release:
        release(asked.release, FOLDER)
    else:
        write(FOLDER, asked.suites)
