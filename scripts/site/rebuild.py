"""Rebuilds only the pages that an edit affects while the book is served.

mkdocs can rebuild just the pages whose own source has changed. In addition, a changed module of the
package rebuilds the pages that show it, and a changed script or data file rebuilds all pages. A
page that is rebuilt alone needs the references that other pages define, so they are passed on from
one build to the next. Builds without a server are not affected.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from mkdocs.commands.build import build
from mkdocs.config import load_config
from mkdocs.config.defaults import MkDocsConfig
from mkdocs.livereload import LiveReloadServer
from mkdocs.structure.files import File, get_files

from scripts.book.changed import module, shows

# Attributes in which autorefs stores references; it has no public interface for them.
MAPS = ("_primary_url_map", "_secondary_url_map", "_title_map", "_abs_url_map")
_defined: dict[str, dict[str, Any]] = {}


def on_config(config: MkDocsConfig) -> MkDocsConfig:
    """Pass the references of earlier builds to this one, and keep its search index."""
    search: Any = config.plugins["material/search"]
    search.is_dirty = True  # keep the entries of pages that are not rebuilt
    for name, known in _defined.items():
        getattr(config.plugins["autorefs"], name).update(known)
    return config


def on_post_build(config: MkDocsConfig) -> None:
    """Store the references of this build."""
    autorefs = config.plugins["autorefs"]
    _defined.update({name: dict(getattr(autorefs, name)) for name in MAPS})


def on_serve(
    server: LiveReloadServer, *, config: MkDocsConfig, builder: Callable[[], None]
) -> LiveReloadServer:
    """Make the server rebuild only the pages that the last edits affect."""
    root = Path(config.config_file_path).parent
    before = modification_times(config)

    def rebuild() -> None:
        nonlocal before
        now = modification_times(config)
        changed = {Path(os.path.relpath(path, root)) for path, _ in before.items() ^ now.items()}
        before = now
        again = load_config(config.config_file_path, site_dir=config.site_dir, strict=False)
        again.site_url = config.site_url
        for page in affected(get_files(again).documentation_pages(), changed):
            Path(page.abs_dest_path).unlink(missing_ok=True)
        build(again, serve_url=config.site_url, dirty=True)

    server.builder = rebuild
    return server


def modification_times(config: MkDocsConfig) -> dict[Path, int]:
    """Return when each file that pages depend on, other than their own source, last changed.

    The index of each folder is included, because building it alone removes the pages below it from
    the search. Files of settings are not, because no page shows them.
    """
    docs = Path(config.docs_dir)
    places = [*map(Path, config.watch), docs / "data", *docs.rglob("index.md")]
    files = {file for place in places for file in [place, *place.rglob("*")]}
    files -= {*(docs / "data" / "settings").rglob("*")}
    times = {file: modification_time(file) for file in files if file.suffix != ".pyc"}
    return {file: when for file, when in times.items() if when is not None}


def modification_time(path: Path) -> int | None:
    """Return when a file last changed, or None for a folder or a deleted file."""
    try:
        about = path.stat()
    except OSError:
        return None
    return about.st_mtime_ns if stat.S_ISREG(about.st_mode) else None


def affected(pages: Iterable[File], changed: Iterable[Path]) -> list[File]:
    """Return the pages that a change of these files, relative to the checkout, may affect.

    A module of the package affects the pages that document or embed any part of it. Any other file
    may affect every page.
    """
    modules = [module(path) for path in changed]
    if not all(modules):
        return list(pages)
    return [page for page in pages if any(shows(page.content_string, name) for name in modules)]
