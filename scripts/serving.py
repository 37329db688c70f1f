"""How an edit shows at once while the book is served: only what has changed is made again.

`mkdocs serve --dirty` makes a page again when its own source has changed. That is too little when
the package, a script or the data has: then all pages are. And a page that is made alone has to know
what the others define, so that is handed from one build to the next. A build that is not served
takes no notice of any of this.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.livereload import LiveReloadServer

# Where autorefs keeps what pages define; it has no other way to ask.
MAPS = ("_primary_url_map", "_secondary_url_map", "_title_map", "_abs_url_map")
_defined: dict[str, dict[str, Any]] = {}


def on_config(config: MkDocsConfig) -> MkDocsConfig:
    """Tell the references of this build what the builds before have found."""
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
    """Before each build, forget the pages made so far if something they all rest on has changed."""
    made_from = newest(config)

    def rebuild() -> None:
        nonlocal made_from
        before, made_from = made_from, newest(config)
        if made_from != before:
            for page in Path(config.site_dir).rglob("*.html"):
                page.unlink()
        builder()

    server.builder = rebuild
    return server


def newest(config: MkDocsConfig) -> float:
    """Return when anything that all pages rest on was last changed.

    A folder's first page is among it: the search forgets all pages below one that is made alone.
    """
    docs = Path(config.docs_dir)
    places = [*map(Path, config.watch), docs / "data", *docs.rglob("index.md")]
    files = [file for place in places for file in [place, *place.rglob("*")] if file.is_file()]
    return max(file.stat().st_mtime for file in files if file.suffix != ".pyc")
