"""Serve the book with live reload: `python -m scripts.site.serve --port 8000`.

The built site stays in build/served/, in a folder for each port, since pages show their address. A
later start serves it at once and rebuilds what has changed since (rebuild.py). It is not strict: a
warning fails `make test`, but should not keep an author from seeing a page.
"""

from __future__ import annotations

import argparse
import logging
import os
import re
import socket
import sys
import traceback
from collections.abc import Callable, Iterable
from contextlib import suppress
from functools import cache, partial
from pathlib import Path
from urllib.parse import urlsplit

from mkdocs.config import load_config
from mkdocs.config.defaults import MkDocsConfig
from mkdocs.livereload import LiveReloadServer

from scripts import ROOT

HOST = "127.0.0.1"
SERVED = ROOT / "build" / "served"


def main() -> None:
    """Serve the book until Control-C, or suggest another port if this one is taken."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--port", default="8000", help="a number from 1 to 65535")
    port: str = parser.parse_args().port
    if problem := problem_with_port(port):
        sys.exit(f"\n{problem}\n")
    with suppress(KeyboardInterrupt):
        serve(int(port))


def serve(port: int) -> None:
    """Serve the book: at once if it has been built for this port, or else once it is."""
    from scripts.site import rebuild  # imports the book, so a wrong port is reported before

    logging.basicConfig(format="%(message)s")
    logging.getLogger("mkdocs").setLevel(logging.INFO)
    logging.getLogger("mkdocs.commands.build").addFilter(is_not_about_dirty_builds)
    site = SERVED / str(port)
    load = partial(configuration, port)
    config = load(site)
    # Builds the assets: with the first update, while what is built already is served.
    start = cache(partial(config.plugins.on_startup, command="serve", dirty=False))
    code = modules()

    def update() -> None:
        if changed := [file for file, when in code.items() if when != modification_time(file)]:
            compile_all(changed)
            restart()
        try:
            start()
            rebuild.update(site, load)
        finally:  # code that makes a build fail is loaded anew once it is corrected
            code.update(modules() | code)

    path = urlsplit(str(config.site_url)).path
    server = Server(builder=update, host=HOST, port=port, root=str(site), mount_path=path)
    server.error_handler = partial(error_page, site)
    for place in (config.docs_dir, config.config_file_path, *config.watch):
        server.watch(place)
    if rebuild.read_state(site)["sources"]:
        print(
            f"The book is at {server.url} as it was last built; changes since then are being"
            " looked for.",
            flush=True,
        )
    else:
        print("The book is built once, which takes about half a minute.", flush=True)
        update()
    try:
        server.serve()  # type: ignore[no-untyped-call]  # mkdocs does not annotate it
    finally:
        server.shutdown()


def report(build: Callable[[], None]) -> None:
    """Build, and say how it went. Were an error raised, mkdocs would answer no more requests."""
    try:
        build()
        print("The book is up to date.", flush=True)
    except Exception:
        traceback.print_exc()
        print("The book stays as it was last built until this is mended.", file=sys.stderr)


class Server(LiveReloadServer):
    """Serves what is built already while it is brought up to date, and then what is edited."""

    def _build_loop(self) -> None:
        """Build what has changed since the last start, then, whenever a file changes, again."""
        self.builder = partial(report, self.builder)
        self.builder()
        with self._epoch_cond:  # browsers that have loaded an older page reload it
            self._wanted_epoch += 1
            self._visible_epoch = self._wanted_epoch
            self._epoch_cond.notify_all()
        super()._build_loop()  # type: ignore[no-untyped-call]  # mkdocs does not annotate it


def configuration(port: int, site: Path) -> MkDocsConfig:
    """Return the configuration that builds the book for a port into a folder."""
    config = load_config(str(ROOT / "mkdocs.yml"), site_dir=str(site), strict=False)
    path = urlsplit(config.site_url or "").path.strip("/")
    config.site_url = f"http://{HOST}:{port}/{path}/" if path else f"http://{HOST}:{port}/"
    return config


def is_not_about_dirty_builds(record: logging.LogRecord) -> bool:
    """Return whether a message of mkdocs is not its warning of what rebuild.py takes care of."""
    return "'dirty' build" not in record.getMessage()


def error_page(site: Path, code: int) -> bytes | None:
    """Return the page for an error, or None for an error without one."""
    page = site / f"{code}.html"
    return page.read_bytes() if page.is_file() else None


def modules() -> dict[str, int]:
    """Return when each module of the book that this process has loaded last changed."""
    files = {getattr(module, "__file__", None) or "" for module in [*sys.modules.values()]}
    rooms = tuple(f"{ROOT / room}{os.sep}" for room in ("posenc", "scripts"))
    return {file: modification_time(file) for file in files if file.startswith(rooms)}


def modification_time(file: str) -> int:
    """Return when a file last changed, or 0 if it is gone."""
    try:
        return Path(file).stat().st_mtime_ns
    except OSError:
        return 0


def compile_all(files: Iterable[str]) -> None:
    """Raise SyntaxError if a module cannot be compiled, since a server could not start with it."""
    for file in files:
        with suppress(FileNotFoundError):  # a module that is gone
            compile(Path(file).read_bytes(), file, "exec")


def restart() -> None:
    """Replace this process by a new one, which loads the code anew."""
    print("The book’s own code has changed, so the server starts again.", flush=True)
    os.execv(sys.executable, [sys.executable, "-m", "scripts.site.serve", *sys.argv[1:]])


def problem_with_port(port: str) -> str:
    """Return why the book cannot be served on this port and what to do, or an empty string."""
    if not (re.fullmatch("[0-9]{1,5}", port) and 1 <= int(port) <= 65535):
        return f"The port must be a number from 1 to 65535; got {port!r}."
    try:
        listen(int(port))
    except PermissionError:
        return f"Port {port} is reserved for the system. Try: make serve PORT={free_port()}"
    except OSError:
        return (
            f"Port {port} is in use, perhaps by another `make serve`."
            f"\nStop that program, or use another port: make serve PORT={free_port()}"
        )
    return ""


def listen(port: int) -> None:
    """Bind a port on the loopback address and release it, to see whether a server could."""
    with socket.socket() as listener:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind((HOST, port))


def free_port() -> int:
    """Return an unused port."""
    with socket.socket() as listener:
        listener.bind((HOST, 0))
        port: int = listener.getsockname()[1]
    return port


if __name__ == "__main__":
    main()
