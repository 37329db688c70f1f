"""Where a configuration lies: a file, a folder, a folder of the Hub's cache, or not here."""

from __future__ import annotations

import json
import re
from pathlib import Path

FILE, ADAPTER = "config.json", "adapter_config.json"
BASE_OF = "base_model_name_or_path"
HUB = "https://huggingface.co"
NAME = re.compile(r"[\w.-]+/[\w.-]+")  # owner/name, as on the Hub
ADDRESS = re.compile(r"https?://(?:www\.)?huggingface\.co/(?P<name>[\w.-]+/[\w.-]+)")


def file_at(path: Path) -> Path:
    """Return the file of the configuration at a path.

    Raises:
        ValueError: the path is a name or an address on the Hub, a cache with several snapshots, or
            an adapter whose base is not here.
    """
    if path.is_dir():
        return _in_folder(path)
    if not path.exists():
        _refuse_remote(str(path))
    return path


def _in_folder(folder: Path) -> Path:
    if (folder / FILE).exists():
        return folder / FILE
    if (folder / "snapshots").is_dir():
        return _snapshot(folder) / FILE
    if (folder / ADAPTER).exists():
        return _base(folder)
    return folder / FILE


def _snapshot(folder: Path) -> Path:
    """Return the snapshot of a cached model: that of main, or the only one."""
    main = folder / "refs" / "main"
    if main.exists():
        return folder / "snapshots" / main.read_text("utf-8").strip()
    found = sorted(one for one in (folder / "snapshots").iterdir() if one.is_dir())
    if len(found) != 1:
        names = ", ".join(one.name for one in found) or "none"
        raise ValueError(f"config must be one of several snapshots in {folder.name}; got {names}")
    return found[0]


def _base(folder: Path) -> Path:
    """Return the configuration of the model that an adapter is for."""
    said = json.loads((folder / ADAPTER).read_text("utf-8"))
    base = said.get(BASE_OF) if isinstance(said, dict) else None
    if not isinstance(base, str):
        raise ValueError(f"{ADAPTER} must name its base in {BASE_OF}; got none")
    return file_at(folder / base if (folder / base).is_dir() else Path(base))


def _refuse_remote(path: str) -> None:
    """Raise ValueError if a path that does not exist is a name or an address on the Hub."""
    address = ADDRESS.match(path.replace(":/", "://", 1) if "://" not in path else path)
    name = address["name"] if address else path
    if address or (NAME.fullmatch(path) and not path.endswith((".json", ".gguf"))):
        raise ValueError(
            f"config must be a file or a folder; got {name}, and nothing is fetched: download"
            f" {HUB}/{name}/resolve/main/{FILE} and pass the file"
        )
