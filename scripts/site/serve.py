"""Serve the book and show every edit at once: `python -m scripts.site.serve --port 8000`."""

import argparse
import os
import re
import socket
import sys

HOST = "127.0.0.1"


def main() -> None:
    """Become `mkdocs serve` on a free port, or say which port to take instead."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--port", default="8000", help="a number from 1 to 65535")
    port: str = parser.parse_args().port
    if trouble := what_is_wrong(port):
        sys.exit(f"\n{trouble}\n")
    sys.stdout.flush()
    os.execv(sys.executable, serve_command(port))


def serve_command(port: str) -> list[str]:
    """Return the command that serves the book.

    A warning stops `make test`; it does not stop an author's look at the page.
    """
    return [sys.executable, "-m", "mkdocs", "serve", "--no-strict", "--dev-addr", f"{HOST}:{port}"]


def what_is_wrong(port: str) -> str:
    """Return why the book cannot be served on this port and what to do, or nothing."""
    if not (re.fullmatch("[0-9]{1,5}", port) and 1 <= int(port) <= 65535):
        return f"The port must be a number from 1 to 65535, and {port!r} is none."
    try:
        listen(int(port))
    except PermissionError:
        return f"Port {port} is kept for the system. Take another: make serve PORT={free_port()}"
    except OSError:
        return (
            f"Port {port} is taken by another program, perhaps by a book already being served."
            f"\nStop that one, or take another port: make serve PORT={free_port()}"
        )
    return ""


def listen(port: int) -> None:
    """Listen on a port of the loopback address for a moment, as a server would."""
    with socket.socket() as listener:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind((HOST, port))


def free_port() -> int:
    """Return a port that nobody listens on."""
    with socket.socket() as listener:
        listener.bind((HOST, 0))
        port: int = listener.getsockname()[1]
    return port


if __name__ == "__main__":
    main()
