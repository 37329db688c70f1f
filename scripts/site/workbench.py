"""What the workbench takes from Python: two scripts that are made, not written.

    assets/js/config/tables.js   the keys, model types and bounds of posenc.config
    assets/js/config/models.js   the configurations of docs/data/configurations.yml, as JSON texts

The rest of docs/assets/js/config/ is written by hand: a file of `posenc/config/`, except for those
about files, gguf.py and places.py, has one of the same name there, which computes the same. An
`int` of Python is a `BigInt` there and a `float` a number, since messages show the type.
`tests/site/test_workbench.py` compares the answers.

mkdocs calls `on_files` before it builds, so the page that reads configurations knows the keys and
the model types that the package knows.
"""

from __future__ import annotations

import json
import re
from typing import Any

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files

from posenc import _arguments, _console
from posenc import layers as below
from posenc.config import (
    diffusion,
    entries,
    explain,
    families,
    head,
    keys,
    layers,
    reading,
    rule,
    serving,
    spellings,
    stack,
)
from posenc.rotary import scaling
from scripts.book import configurations

FOLDER = "assets/js/config/"
# Those of serving.py that are its own.
SERVING = (
    "BY_WINDOW", "DEFAULT_BASE", "FLAGS", "LLAMA_CPP", "MODEL", "NOTES", "PARAMETERS", "PROGRAMS",
    "SGLANG", "TRANSFORMERS", "VLLM",
)  # fmt: skip
# The constants of these modules, and of two others the few that their readers need.
MODULES = {
    "families": vars(families),
    "keys": vars(keys),
    "diffusion": vars(diffusion),
    "layers": {
        "GAPPED": below.GAPPED,
        "LINEAR": layers.LINEAR,
        "MOST": layers.MOST,
        "NO_ROPE": layers.NO_ROPE,
        "ROPE": layers.ROPE,
        "TYPES": layers.TYPES,
        "ROTATING": layers.ROTATING,
        "RULES": below.RULES,
        "WINDOWED": below.WINDOWED,
        "WRITTEN": layers.WRITTEN,
    },
    "head": {"WIDEST": head.WIDEST},
    "entries": {
        "CAUSES": entries.CAUSES,
        "LIMIT": entries.LIMIT,
        "LARGEST": _arguments.LARGEST,
        "LONG": entries.LONG,
        "SLIP": entries.SLIP,
    },
    "reading": {"UNKNOWN": reading.UNKNOWN},
    "spellings": {
        "FULL": spellings.FULL,
        "GROK": spellings.GROK,
        "NUMBERED": spellings.NUMBERED,
        "RULED": spellings.RULED,
        "SHARES_BY_LAYER": spellings.SHARES_BY_LAYER,
    },
    "stack": {
        "FULL": stack.FULL,
        "SLIDING": stack.SLIDING,
        "STILL": stack.STILL,
        "UNLISTED": stack.UNLISTED,
    },
    "explain": {
        "SHOWN": explain.SHOWN,
        "WIDTH": explain.WIDTH,
        "LARGE": explain.LARGE,
        "ASSUMED": explain.ASSUMED,
        "RENAMED": explain.RENAMED,
        "EXTENSIBLE": explain.EXTENSIBLE,
        "REPORT": _console.REPORT,
    },
    "rule": {"LOST": rule.LOST, "UNGIVEN": rule.UNGIVEN},
    "serving": {name: value for name, value in vars(serving).items() if name in SERVING},
    "scaling": {"FAST": scaling.FAST, "SLOW": scaling.SLOW},
}
NUMBERS = re.compile(r"\[\s+(-?[\d.][^\[\]{}]*?)\s+\]")


def on_files(files: Files, *, config: MkDocsConfig) -> Files:
    """Add the made scripts to the files of the site."""
    for name, content in scripts().items():
        files.append(File.generated(config, FOLDER + name, content=content))
    return files


def scripts() -> dict[str, str]:
    """Return the content of each script by its name."""
    return {"tables.js": tables(), "models.js": models()}


def tables() -> str:
    """Return the constants of the Python modules, an object for each module."""
    return "".join(
        f"export const {module} = {javascript_literal(constants(names))};\n"
        for module, names in MODULES.items()
    )


def constants(names: dict[str, Any]) -> dict[str, Any]:
    """Return the constants among the names of a module."""
    return {name: value for name, value in names.items() if name.isupper() and name[0] != "_"}


def javascript_literal(names: dict[str, Any]) -> str:
    """Return an object of JavaScript with these properties."""
    return "{ " + ", ".join(f"{name}: {literal(value)}" for name, value in names.items()) + " }"


def literal(value: Any) -> str:
    """Return a value as JavaScript: a dict as a Map, a set as a Set, an int as a BigInt.

    Examples:
        >>> literal({"a": ("b", 1, 1.0)})
        'new Map([["a", ["b", 1n, 1.0]]])'
    """
    if isinstance(value, dict):
        return f"new Map([{', '.join(f'[{literal(k)}, {literal(v)}]' for k, v in value.items())}])"
    if isinstance(value, set):
        return f"new Set([{', '.join(map(literal, sorted(value)))}])"
    if isinstance(value, list | tuple):
        return f"[{', '.join(map(literal, value))}]"
    return f"{value}n" if type(value) is int else json.dumps(value)


def models() -> str:
    """Return the published configurations: the key and the name of each, and its JSON text."""
    found = [
        {"key": one.key, "name": one.name, "text": json_text(one.config)}
        for one in configurations.configurations()
    ]
    return f"export const MODELS = {json.dumps(found)};\n"


def json_text(config: dict[str, Any]) -> str:
    """Return a configuration as the text of a JSON file, each list of numbers in one line.

    Examples:
        >>> print(written({"rope_scaling": {"factors": [1.0, 2.5]}}))
        {
          "rope_scaling": {
            "factors": [1.0, 2.5]
          }
        }
    """
    lines = json.dumps(config, indent=2)
    return NUMBERS.sub(lambda found: f"[{' '.join(found[1].split())}]", lines)
