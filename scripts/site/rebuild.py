"""How an edit shows at once while the book is served: only what has changed is made again.

mkdocs can make again only the pages whose own sources have changed. That is too little when a
module has changed that pages show: then those are made again as well. And when a script or the data
has, all pages are. A page that is made alone has to know what the others define, so that is handed
from one build to the next. A build that is not served takes no notice of any of this.
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

# Where autorefs keeps what pages define; it has no other way to ask.
MAPS = ("_primary_url_map", "_secondary_url_map", "_title_map", "_abs_url_map")
_defined: dict[str, dict[str, Any]] = {}


def on_config(config: MkDocsConfig) -> MkDocsConfig:
    """Tell this build what the builds before have found: its references, and its search."""
    search: Any = config.plugins["material/search"]
    search.is_dirty = True  # so that it keeps the pages which are not made again
    for name, known in _defined.items():
        getattr(config.plugins["autorefs"], name).update(known)
    return config


def on_post_build(config: MkDocsConfig) -> None:
    """Keep what this build has found."""
    autorefs = config.plugins["autorefs"]
    _defined.update({name: dict(getattr(autorefs, name)) for name in MAPS})


def on_serve(
    server: LiveReloadServer, *, config: MkDocsConfig, builder: Callable[[], None]
) -> LiveReloadServer:
    """Let a build make again what the last edits show in, and no more."""
    root = Path(config.config_file_path).parent
    before = dated(config)

    def rebuild() -> None:
        nonlocal before
        now = dated(config)
        changed = {Path(os.path.relpath(path, root)) for path, _ in before.items() ^ now.items()}
        before = now
        again = load_config(config.config_file_path, site_dir=config.site_dir, strict=False)
        again.site_url = config.site_url
        for page in outdated(get_files(again).documentation_pages(), changed):
            Path(page.abs_dest_path).unlink(missing_ok=True)
        build(again, serve_url=config.site_url, dirty=True)

    server.builder = rebuild
    return server


def dated(config: MkDocsConfig) -> dict[Path, int]:
    """Return when each file that pages depend on, besides their own sources, was last changed.

    The index of each folder is included, because building it alone removes the pages below it from
    the search. Files of settings are not: no page shows them.
    """
    docs = Path(config.docs_dir)
    places = [*map(Path, config.watch), docs / "data", *docs.rglob("index.md")]
    files = {file for place in places for file in [place, *place.rglob("*")]}
    files -= {*(docs / "data" / "settings").rglob("*")}
    times = {file: edited(file) for file in files if file.suffix != ".pyc"}
    return {file: when for file, when in times.items() if when is not None}


def edited(path: Path) -> int | None:
    """Return when a file was last changed; nothing for a folder, or once the file is gone."""
    try:
        about = path.stat()
    except OSError:
        return None
    return about.st_mtime_ns if stat.S_ISREG(about.st_mode) else None


def outdated(pages: Iterable[File], changed: Iterable[Path]) -> list[File]:
    """Return the pages in which a change of these files, relative to the checkout, may show.

    A module of the package shows where it, or something in it, is documented or embedded. Any other
    file may show on every page.
    """
    modules = [module(path) for path in changed]
    if not all(modules):
        return list(pages)
    return [page for page in pages if any(shows(page.content_string, name) for name in modules)]
