"""The site as its reader gets it: built strictly, and served on a loopback port of its own."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
DOCS = ROOT / "docs"


@dataclass(frozen=True)
class Site:
    """A built site: where its files are, and where a browser finds them."""

    folder: Path
    url: str


def paths() -> list[str]:
    """Return the path of every page in the site, read off the pages' sources."""
    sources = [path.relative_to(DOCS).with_suffix("") for path in sorted(DOCS.rglob("*.md"))]
    return [_path(source) for source in sources if source.parts[0] != "data"]


def _path(source: Path) -> str:
    folder = source.parent if source.name == "index" else source
    return f"{folder}/" if folder.name else ""


@contextmanager
def served(folder: Path) -> Iterator[str]:
    """Serve a folder while the block runs, and give its address.

    The folder may still be empty: the site is built for the address that it is served at, since
    instant navigation works at no other.
    """
    with ThreadingHTTPServer(("127.0.0.1", 0), partial(_Handler, directory=folder)) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True)
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}/"
        server.shutdown()
        thread.join()


def build(folder: Path, url: str) -> None:
    """Build the site into a folder, for an address; a warning is a failure."""
    _run("-m", "scripts.assets")
    _run("-m", "mkdocs", "build", "--strict", "--site-dir", str(folder), url=url)


def _run(*arguments: str, url: str = "") -> None:
    done = subprocess.run(
        [sys.executable, *arguments],
        cwd=ROOT,
        env=os.environ | {"SITE_URL": url},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, f"{' '.join(arguments)} failed:\n{done.stdout}{done.stderr}"


class _Handler(SimpleHTTPRequestHandler):
    """A static server that keeps quiet, and answers a wrong address with the book's own page."""

    def log_message(self, format: str, *args: object) -> None:
        pass

    def send_error(self, code: int, message: str | None = None, explain: str | None = None) -> None:
        page = Path(self.directory, "404.html")
        if code == 404 and page.exists():
            self.send_response(404)
            self.send_header("Content-Type", "text/html; charset=utf-8")
            self.end_headers()
            self.wfile.write(page.read_bytes())
        else:
            super().send_error(code, message, explain)
