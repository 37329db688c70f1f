"""A local server that behaves like a static host: it compresses files and serves 404.html.

`python -m scripts.site.host site` serves a built site, with the headers in its `_headers` file
(security_policy.py). Python's `http.server` neither compresses nor uses a site's 404.html.
"""

from __future__ import annotations

import argparse
import gzip
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cache, partial
from http import HTTPStatus
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import urlsplit

from scripts.site import security_policy
from scripts.site.security_policy import Block

HERE = "127.0.0.1"
# The files that are not compressed already.
TEXTS = {".css", ".html", ".ipynb", ".js", ".json", ".map", ".md", ".mjs", ".svg", ".txt", ".wasm"}
TEXTS |= {".inv", ".py", ".xml", ".yml"}
KINDS = {".ipynb": "application/json", ".md": "text/markdown", ".mjs": "text/javascript"}
KINDS |= {".wasm": "application/wasm", ".whl": "application/zip", ".woff2": "font/woff2"}


@dataclass
class Host:
    """A folder that is being served: its address, and a record of the files sent."""

    url: str
    sent: list[tuple[str, int]] = field(default_factory=list)
    headers: dict[str, str] = field(default_factory=dict)  # sent with every response
    blocks: list[Block] = field(default_factory=list)  # headers of some paths, as in `_headers`
    reports: list[str] = field(default_factory=list)  # posted by browsers


@contextmanager
def serve_folder(folder: Path, *, port: int = 0, under: str = "/") -> Iterator[Host]:
    """Serve a folder while the block runs, at the root of a free port or under a path."""
    host = Host("")
    handler = partial(_Handler, host=host, under=under, directory=str(folder))
    with _Server((HERE, port), handler) as server:
        host.url = f"http://{HERE}:{server.server_port}{under}"
        thread = threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True)
        thread.start()
        try:
            yield host
        finally:
            server.shutdown()
            thread.join()


@cache
def compressed(path: Path, changed: int) -> bytes:
    """Return a file's compressed content; `changed` makes the cache follow changes."""
    return gzip.compress(path.read_bytes(), compresslevel=6, mtime=0)


class _Server(ThreadingHTTPServer):
    """Ignores connections closed by the browser, which happens when it leaves a page."""

    def handle_error(self, request: object, client_address: object) -> None:
        if not isinstance(sys.exception(), ConnectionError):
            super().handle_error(request, client_address)  # type: ignore[arg-type]


class _Handler(SimpleHTTPRequestHandler):
    """Serves HTTP/1.1 without logging, and compresses files if the client accepts gzip."""

    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True  # otherwise a file waits 40 ms for the header's acknowledgement
    extensions_map = SimpleHTTPRequestHandler.extensions_map | KINDS

    def __init__(self, *arguments: object, host: Host, under: str, directory: str) -> None:
        self.host, self.under = host, under
        super().__init__(*arguments, directory=directory)  # type: ignore[arg-type]

    def log_message(self, format: str, *arguments: object) -> None:
        pass

    def end_headers(self) -> None:
        """Send the headers that every response has, and those of its path."""
        path = "/" + urlsplit(self.path).path.removeprefix(self.under)
        own = security_policy.headers(self.host.blocks, path)
        for name, value in (self.host.headers | own).items():
            self.send_header(name, value)
        super().end_headers()

    def do_GET(self) -> None:
        """Send a file, the index of a folder, or 404.html."""
        address = urlsplit(self.path).path
        path = Path(self.translate_path("/" + address.removeprefix(self.under)))
        here = address.startswith(self.under)
        if here and path.is_dir() and not address.endswith("/"):
            self.send_response(HTTPStatus.MOVED_PERMANENTLY)
            self.send_header("Location", f"{address}/")
            self.send_header("Content-Length", "0")
            self.end_headers()
            return
        path = path / "index.html" if path.is_dir() else path
        if here and path.is_file():
            self._send(path, HTTPStatus.OK)
        else:
            self._send(Path(self.directory, "404.html"), HTTPStatus.NOT_FOUND)

    def do_POST(self) -> None:
        """Record a browser's report, such as a violation of the security policy."""
        length = int(self.headers.get("Content-Length", 0))
        self.host.reports.append(self.rfile.read(length).decode())
        self.send_response(HTTPStatus.NO_CONTENT)
        self.end_headers()

    def _send(self, path: Path, status: HTTPStatus) -> None:
        content, packed = self._content(path)
        if self.command == "GET":  # recorded before the client can have received anything
            self.host.sent.append((urlsplit(self.path).path, len(content)))
        self.send_response(status)
        self.send_header("Content-Type", self._kind(path))
        self.send_header("Content-Length", str(len(content)))
        self.send_header("Cache-Control", "max-age=600")  # as on GitHub Pages
        self.send_header("Vary", "Accept-Encoding")
        if packed:
            self.send_header("Content-Encoding", "gzip")
        self.end_headers()
        if self.command == "GET":
            self.wfile.write(content)

    def _content(self, path: Path) -> tuple[bytes, bool]:
        """Return the content to send for a file, and whether it is compressed."""
        if not path.is_file():  # the site has no 404.html
            return b"Not found.\n", False
        if path.suffix in TEXTS and "gzip" in self.headers.get("Accept-Encoding", ""):
            return compressed(path, path.stat().st_mtime_ns), True
        return path.read_bytes(), False

    def _kind(self, path: Path) -> str:
        kind = self.guess_type(path)
        return f"{kind}; charset=utf-8" if kind.startswith("text/") else kind


def main() -> None:
    """Serve a folder until interrupted."""
    parser = argparse.ArgumentParser(prog="python -m scripts.site.host", description=__doc__)
    parser.add_argument("folder", nargs="?", default="site", type=Path)
    parser.add_argument("--port", default=8000, type=int)
    options = parser.parse_args()
    with serve_folder(options.folder, port=options.port) as host:
        host.blocks = security_policy.blocks(options.folder)
        print(host.url, flush=True)
        while True:
            time.sleep(3600)


if __name__ == "__main__":
    main()
