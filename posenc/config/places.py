"""Where a configuration lies: a file, a folder, a folder of the Hub's cache, or not here."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from pathlib import Path

FILE, ADAPTER, PARAMS, GGUF = "config.json", "adapter_config.json", "params.json", "*.gguf"
BASE_OF = "base_model_name_or_path"
HUB = "https://huggingface.co"
NAME = re.compile(r"[\w.-]+/[\w.-]+")  # owner/name, as on the Hub
ADDRESS = re.compile(r"https?://(?:www\.)?huggingface\.co/(?P<name>[\w.-]+/[\w.-]+)")


def file_at(path: Path) -> Path:
    """Return the file of the configuration at a path.

    Raises:
        ValueError: the path is a name or an address on the Hub, a cache with several snapshots, a
            folder with several GGUF files, or an adapter whose base is not here or is an adapter.
    """
    if path.is_dir():
        return _in_folder(path)
    if path.name == ADAPTER and path.exists():
        return _base(path.parent)
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
    if (folder / PARAMS).exists():
        return folder / PARAMS
    files = sorted(folder.glob(GGUF))
    return _only(files, "GGUF files", folder) if files else folder / FILE


def _only(found: Sequence[Path], what: str, folder: Path) -> Path:
    """Return the one path of its kind in a folder."""
    if len(found) != 1:
        names = ", ".join(one.name for one in found) or "none"
        pass_one = f": pass one, such as {found[0]}" if found else ""
        raise ValueError(
            f"config must be one of several {what} in {folder.name}; got {names}{pass_one}"
        )
    return found[0]


def _snapshot(folder: Path) -> Path:
    """Return the snapshot of a cached model: that of main, or the only one."""
    main = folder / "refs" / "main"
    if main.exists():
        return folder / "snapshots" / main.read_text("utf-8").strip()
    found = sorted(one for one in (folder / "snapshots").iterdir() if one.is_dir())
    return _only(found, "snapshots", folder)


def _base(folder: Path) -> Path:
    """Return the configuration of the model that an adapter is for."""
    said = json.loads((folder / ADAPTER).read_text("utf-8"))
    base = said.get(BASE_OF) if isinstance(said, dict) else None
    if not isinstance(base, str):
        raise ValueError(f"{ADAPTER} must name its base in {BASE_OF}; got none")
    place = folder / base if (folder / base).is_dir() else Path(base)
    if not (place / FILE).exists() and (place / ADAPTER).exists():
        raise ValueError(f"{BASE_OF} must be a model; got {base}, which is an adapter")
    return file_at(place)


def _refuse_remote(path: str) -> None:
    """Raise ValueError if a path that does not exist is a name or an address on the Hub."""
    address = ADDRESS.match(path.replace(":/", "://", 1) if "://" not in path else path)
    name = address["name"] if address else path
    if address or (NAME.fullmatch(path) and not path.endswith((".json", ".gguf"))):
        raise ValueError(
            f"config must be a file or a folder; got {name}, and nothing is fetched: download"
            f" {HUB}/{name}/resolve/main/{FILE} and pass the file"
        )
