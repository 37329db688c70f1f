"""Rebuilds only the pages that a change affects, while the book is served and when it is again.

mkdocs can rebuild just the pages that are older than their own source. In addition, a changed
module of the package rebuilds the pages that show it, a changed drawing those that name it, and any
other file, such as a script or data, the whole site. A page that is made from data is rebuilt if
its text has changed, for example because a heading that it names has. A file with the digests of
all sources lies in the served site, so a later start knows what has changed since. It also has what
a page that is rebuilt alone cannot know: the references that other pages define. The index of the
search is made of all built pages each time. Builds without a server are not affected.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from hashlib import sha256
from pathlib import Path
from typing import Any

from mkdocs.commands.build import build
from mkdocs.config import load_config
from mkdocs.config.defaults import MkDocsConfig
from mkdocs.livereload import LiveReloadServer
from mkdocs.structure.files import File, get_files

from scripts.book.changed import module, page_shows
from scripts.site.generated_pages import generated_pages

# Attributes in which autorefs stores references; it has no public interface for them.
MAPS = ("_primary_url_map", "_secondary_url_map", "_title_map", "_abs_url_map")
STATE = ".built.json"  # in the served site
UNBUILT: dict[str, Any] = {"sources": {}, "references": {}}
# Files that mkdocs does not watch: the packages that build the site, and the book to download.
OTHERS = ("constraints.txt", "package-lock.json", "pyproject.toml", "build/paper")
ASSETS = Path("docs", "assets")
TEMPORARY = re.compile(r"^[.#]|~$|\.pyc$")  # files of editors, and of Python
DRAWING = re.compile(r"(-phone)?-light\.svg$")

Load = Callable[[Path], MkDocsConfig]


def on_config(config: MkDocsConfig) -> None:
    """Pass on the references of the pages that have been built into the same folder."""
    for name, known in read_state(Path(config.site_dir))["references"].items():
        getattr(config.plugins["autorefs"], name).update(known)


def on_serve(
    server: LiveReloadServer, *, config: MkDocsConfig, builder: Callable[[], None]
) -> LiveReloadServer:
    """Make `mkdocs serve` rebuild only the pages that the last edits affect."""
    site = Path(config.site_dir)
    write_state(config, sources(config) | texts(generated_pages(config)))

    def load(folder: Path) -> MkDocsConfig:
        again = load_config(config.config_file_path, site_dir=str(folder), strict=False)
        again.site_url, again.watch = config.site_url, config.watch
        return again

    server.builder = lambda: update(site, load)
    return server


def update(site: Path, load: Load) -> None:
    """Bring a served site up to date; `load` returns the configuration to build into a folder."""
    config = load(site)
    now, state = sources(config), read_state(site)
    before = state["sources"]
    if not all(is_page_or_asset(Path(path)) for path in differing_paths(before, now)):
        clear_caches(sys.modules)
    made = generated_pages(config)
    now |= texts(made)
    changed = differing_paths(before, now)
    every = [*get_files(config).documentation_pages(), *made]
    outdated = affected_pages(every, map(Path, changed))
    others = {path for path in before.keys() ^ now.keys() if path.endswith(".md")}
    if others or len(outdated) == len(every):
        build_anew(site, load, now)
    elif changed:
        # Until the build ends, the changed files have no digest, in case it fails.
        known = before | dict.fromkeys(changed & before.keys(), "")
        store(site, state | {"sources": known})
        for path in changed:
            if path.startswith("docs/"):
                copied = site / path.removeprefix("docs/")
                outdate(copied) if path in now else copied.unlink(missing_ok=True)
        build_again(config, outdated)
        write_state(config, now)


def differing_paths(before: Mapping[str, str], now: Mapping[str, str]) -> set[str]:
    """Return the paths whose digests differ."""
    return {path for path in {*before, *now} if before.get(path) != now.get(path)}


def clear_caches(loaded: Mapping[str, object]) -> None:
    """Clear the caches of the modules of the book, since they hold data that may have changed."""
    ours = [found for name, found in loaded.items() if re.match(r"(scripts|posenc)\b", name)]
    for value in [value for found in ours for value in vars(found).values()]:
        if callable(clear := getattr(value, "cache_clear", None)):
            clear()


def build_anew(site: Path, load: Load, now: Mapping[str, str]) -> None:
    """Build a whole site, which takes the place of the served one when it is complete."""
    new, old = (site.with_name(f"{site.name}.{which}") for which in ("new", "old"))
    for folder in (new, old):
        shutil.rmtree(folder, ignore_errors=True)
    config = load(new)
    build(config, serve_url=config.site_url)
    write_state(config, now)
    with suppress(FileNotFoundError):
        site.rename(old)
    new.rename(site)
    shutil.rmtree(old, ignore_errors=True)


def build_again(config: MkDocsConfig, outdated: Iterable[File]) -> None:
    """Build the outdated pages of a site."""
    for page in outdated:
        outdate(Path(page.abs_dest_path))
    build(config, serve_url=config.site_url, dirty=True)


def outdate(file: Path) -> None:
    """Date a built file before its source, so that mkdocs builds it, and serve it until then."""
    with suppress(FileNotFoundError):
        os.utime(file, (0, 0))


def read_state(site: Path) -> dict[str, Any]:
    """Return what a site was built from and what it defines; nothing if it is not complete.

    A state that cannot be read counts as none, so the site is built anew.
    """
    try:
        state = json.loads((site / STATE).read_text("utf-8"))
        return {name: state[name] for name in UNBUILT}
    except (FileNotFoundError, ValueError, KeyError, TypeError):
        return UNBUILT


def write_state(config: MkDocsConfig, built_from: Mapping[str, str]) -> None:
    """Store what a site was built from and what it defines."""
    site, autorefs = Path(config.site_dir), config.plugins["autorefs"]
    references = {name: dict(getattr(autorefs, name)) for name in MAPS}
    store(site, {"sources": built_from, "references": references})


def store(site: Path, state: Mapping[str, Any]) -> None:
    """Write the state of a site whole, so no partial file is read."""
    begun = site / f"{STATE}.begun"
    begun.write_text(json.dumps(state), "utf-8")
    begun.replace(site / STATE)


def sources(config: MkDocsConfig) -> dict[str, str]:
    """Return a digest of each file that the served site shows, by its path in the checkout.

    Left out are the files of settings, because no page shows them, and `tests/`, because pages show
    only names of tests: scripts/book/evidence.py reads `tests/` to find whether a test of that name
    exists, which `make test` checks as well. For the assets that are built, their stamps stand. The
    entry without a name is what else pages show: the addresses of the site, of its source and
    of its notebooks in Colab.
    """
    root, docs = Path(config.config_file_path).parent, Path(config.docs_dir)
    places = [*map(Path, config.watch), docs, *(root / name for name in OTHERS)]
    files = {file for place in places for file in [place, *files_below(place)]}
    files -= {*files_below(docs / "data" / "settings")}
    built = files_below(docs / "assets" / "built")
    files -= {file for file in built if file.name != "stamp"}
    found = {
        Path(os.path.relpath(file, root)).as_posix(): digest(file)
        for file in files
        if not TEMPORARY.search(file.name)
    }
    about = (
        f"{sys.version} {config.site_url} {config.extra.get('source')} {config.extra.get('colab')}"
    )
    return {"": about} | {path: text for path, text in found.items() if text}


def files_below(folder: Path) -> Iterator[Path]:
    """Yield the files of a folder and of its folders, also while another program deletes some."""
    for parent, _, names in os.walk(folder):
        yield from (Path(parent, name) for name in names)


def texts(made: Iterable[File]) -> dict[str, str]:
    """Return a digest of the text of each made page, as if it were a file of the checkout."""
    return {f"docs/{page.src_uri}": sha256(page.content_bytes).hexdigest() for page in made}


def digest(path: Path) -> str:
    """Return a digest of a file, or nothing for a folder or a deleted file."""
    try:
        return sha256(path.read_bytes()).hexdigest()
    except OSError:
        return ""


def affected_pages(pages: Iterable[File], changed: Iterable[Path]) -> list[File]:
    """Return the pages that a change of these files, relative to the checkout, may affect.

    A page is affected by its own text. A module of the package affects the pages that document or
    embed any part of it, and a drawing those that name it. An asset affects none. Any other file
    may affect every page.
    """
    paths = list(changed)
    return [page for page in pages if any(is_affected(page, path) for path in paths)]


def is_affected(page: File, path: Path) -> bool:
    """Return whether a change of a file may affect a page."""
    if is_page_or_asset(path):
        return path == Path("docs", page.src_uri)
    if path.is_relative_to("docs/figures") and DRAWING.search(path.name):
        return DRAWING.sub("-light.svg", path.name) in page.content_string
    name = module(path) if path.parts else ""
    return not name or page_shows(page.content_string, name)


def is_page_or_asset(path: Path) -> bool:
    """Return whether a file is a page's own text, or an asset, which no page reads."""
    page = path.is_relative_to("docs") and path.suffix == ".md"
    return page or path.is_relative_to(ASSETS)
