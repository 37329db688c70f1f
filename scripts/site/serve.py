"""Serve the book with live reload: `python -m scripts.site.serve --port 8000`."""

import argparse
import os
import re
import socket
import sys

HOST = "127.0.0.1"


def main() -> None:
    """Replace this process by `mkdocs serve`, or suggest another port if this one is taken."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--port", default="8000", help="a number from 1 to 65535")
    port: str = parser.parse_args().port
    if problem := problem_with_port(port):
        sys.exit(f"\n{problem}\n")
    sys.stdout.flush()
    os.execv(sys.executable, serve_command(port))


def serve_command(port: str) -> list[str]:
    """Return the command that serves the book.

    It is not strict: a warning fails `make test`, but should not keep an author from seeing a page.
    """
    return [sys.executable, "-m", "mkdocs", "serve", "--no-strict", "--dev-addr", f"{HOST}:{port}"]


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
