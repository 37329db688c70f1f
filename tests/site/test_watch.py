"""The models in the page *Watch it break*: PyTorch's logits, and what a damaged file says."""

from __future__ import annotations

import json
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from numpy.typing import NDArray

from posenc.nn import GPTModel
from scripts.measure import weight_files, weights
from scripts.measure.methods import LONGROPE, TRAINED, VARIANTS, rope_longrope
from scripts.setup.node import node
from tests.site.config_script import SCRIPTS, copied

LENGTHS = (16, 64, 128, 512)
NAMES = {method: [*VARIANTS[method], *([LONGROPE] if method == "rope" else [])] for method in TRAINED}
CASES = [
    (method, rule, length)
    for method in TRAINED
    for rule in NAMES[method]
    for length in LENGTHS
    if "," not in rule or length > 64  # within the trained length a rule does nothing
]
# Run each case, and write its logits and the attention of its last byte.
RUN = """
    import {{ readFileSync, writeFileSync }} from "node:fs";
    const {{ judged, run }} = await import("{folder}/watch/model.js");
    const {{ setFor }} = await import("{folder}/watch/rules.js");
    const schemes = await import("{folder}/watch/schemes.js");
    const {{ unpacked }} = await import("{folder}/watch/weights.js");
    const {{ cases, files, into, text }} = JSON.parse(readFileSync(0, "utf8"));
    const models = {{}};
    for (const [scheme, file] of Object.entries(files)) {{
        const {{ buffer, byteOffset, length }} = readFileSync(file);
        models[scheme] = unpacked(buffer.slice(byteOffset, byteOffset + length));
    }}
    const seconds = cases.map(([scheme, rule, length], n) => {{
        const model = models[scheme];
        const begun = performance.now();
        const bytes = Uint8Array.from(text.slice(0, length));
        const found = run(model, bytes, setFor(rule, length, model.about));
        const taken = (performance.now() - begun) / 1000;
        const {{ surprise, guesses }} = judged(found.logits, bytes);
        writeFileSync(`${{into}}/${{n}}.logits`, found.logits);
        writeFileSync(`${{into}}/${{n}}.attention`, found.attention);
        writeFileSync(`${{into}}/${{n}}.json`, JSON.stringify([[...surprise], guesses]));
        return taken;
    }});
    console.log(JSON.stringify({{ seconds, schemes }}));
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with the scripts of the page, as the site has them."""
    folder = tmp_path_factory.mktemp("scripts")
    copied(folder)
    shutil.copytree(SCRIPTS / "watch", folder / "watch")
    return folder


@pytest.fixture(scope="module")
def found(folder: Path, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, dict[str, Any]]:
    """Run every case in node; return the folder of what it wrote, and what it printed."""
    into = tmp_path_factory.mktemp("found")
    asked = {
        "cases": CASES,
        "files": {name: str(weights.WEIGHTS / f"{name}.bin") for name in TRAINED},
        "into": str(into),
        "text": list(weights.TEXT.read_bytes()),
    }
    code = RUN.format(folder=folder.as_uri())
    done = subprocess.run(
        node("--no-warnings", "--input-type=module", "-e", code),
        input=json.dumps(asked), capture_output=True, text=True, check=True,
    )  # fmt: skip
    return into, json.loads(done.stdout)


@pytest.fixture(scope="module")
def models() -> dict[str, tuple[GPTModel, dict[str, Any]]]:
    return {n: weights.restored((weights.WEIGHTS / f"{n}.bin").read_bytes()) for n in TRAINED}
