"""Serve the book on this machine and show every edit: `python -m scripts.serve --port 8000`."""

import argparse
import os
import socket
import sys

HOST = "127.0.0.1"


def main() -> None:
    """Become `mkdocs serve` on a free port, or say which port to take instead."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--port", type=int, default=8000)
    port: int = parser.parse_args().port
    if not is_free(port):
        sys.exit(
            f"\nPort {port} is taken by another program, perhaps by a book already being served."
            f"\nStop that one, or take another port: make serve PORT={free_port()}\n"
        )
    sys.stdout.flush()
    os.execv(sys.executable, serve_command(port))


def serve_command(port: int) -> list[str]:
    """Return the command that serves the book.

    `--livereload` is said aloud because mkdocs 1.6 with click 8.3 or newer leaves it off. A
    warning stops `make test`; it does not stop an author's look at the page.
    """
    address = f"{HOST}:{port}"
    options = ["--livereload", "--no-strict", "--dev-addr", address]
    return [sys.executable, "-m", "mkdocs", "serve", *options]


def is_free(port: int) -> bool:
    """Return whether a server could listen on this port of the loopback address."""
    with socket.socket() as listener:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            listener.bind((HOST, port))
        except OSError:
            return False
    return True


def free_port() -> int:
    """Return a port that nobody listens on."""
    with socket.socket() as listener:
        listener.bind((HOST, 0))
        port: int = listener.getsockname()[1]
    return port


if __name__ == "__main__":
    main()
