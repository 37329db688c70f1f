"""Run what a reader runs, with the extra `docs` alone, and print how long it takes.

    python3 scripts/setup/reader.py           in a fresh clone of the last commit
    python3 scripts/setup/reader.py --here    in this checkout

`make serve` must answer with the home page and the first chapter and bring the book up to date, and
once more after a module of the package has changed; the module is restored. Then `make site` and
`make figures` must pass. The clone's folder has a space and letters beyond ASCII in its path. It is
deleted afterwards. Standard library only.
"""

from __future__ import annotations

import argparse
import os
import signal
import socket
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.request import ProxyHandler, build_opener

ROOT = Path(__file__).resolve().parents[2]
PAGES = ("", "chapters/by-hand/")
CHANGED = "posenc/rotary/rope.py"
UP_TO_DATE = "The book is up to date."  # said by scripts/site/serve.py, as is the next line
NOT_BUILT = "The book stays as it was last built"
TIMEOUT = 900.0  # seconds, including the first set-up
LINES = 30  # of a log that ends in a failure
NO_PROXY = build_opener(ProxyHandler({}))


def main() -> None:
    """Run the commands; the first that fails ends it, with the end of its log."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--here", action="store_true", help="in this checkout, not in a clone")
    here: bool = parser.parse_args().here
    with tempfile.TemporaryDirectory() as temporary:
        log = Path(temporary, "log")
        checkout = ROOT if here else clone(Path(temporary, "my büro", "posenc"))
        port = free_port()
        serve("make serve", port, checkout, log)
        with with_comment(checkout / CHANGED):
            serve(f"make serve, {CHANGED} changed", port, checkout, log)
        finish("make site", checkout, log)
        finish("make figures", checkout, log)


def clone(folder: Path) -> Path:
    """Clone the last commit into a folder, and return it; git itself says why it cannot."""
    try:
        subprocess.run(["git", "clone", "--quiet", "--no-hardlinks", ROOT, folder], check=True)
    except (FileNotFoundError, subprocess.CalledProcessError):
        raise SystemExit(f"git cannot clone {ROOT}; `--here` runs the commands in it.") from None
    print(f"A fresh clone in {folder}", flush=True)
    return folder


@contextmanager
def with_comment(module: Path) -> Iterator[None]:
    """Add a comment to a module until the block ends."""
    text = module.read_bytes()
    module.write_bytes(text + b"# changed\n")
    try:
        yield
    finally:
        module.write_bytes(text)


def serve(title: str, port: int, checkout: Path, log: Path) -> None:
    """Run `make serve` until all of `PAGES` answer and the book is up to date, and stop it.

    It prints how long each took.
    """
    start = time.monotonic()
    with running(f"make serve PORT={port}", checkout, log) as process:
        waiting = [f"http://127.0.0.1:{port}/{page}" for page in PAGES]
        while waiting or UP_TO_DATE not in read(log):
            ended = process.poll() is not None or NOT_BUILT in read(log)
            if ended or time.monotonic() - start > TIMEOUT:
                raise failure(title, start, log)
            if waiting and answers(waiting[0]):
                print(f"{title}: {waiting.pop(0)} {elapsed_in_words(start)}", flush=True)
            else:
                time.sleep(0.2)
        print(f"{title}: up to date {elapsed_in_words(start)}", flush=True)


def finish(command: str, checkout: Path, log: Path) -> None:
    """Run a command to its end, and print how long that took."""
    start = time.monotonic()
    with running(command, checkout, log) as process:
        if process.wait():
            raise failure(command, start, log)
    print(f"{command}: done {elapsed_in_words(start)}", flush=True)


def elapsed_in_words(start: float) -> str:
    """Return how long ago something began, in words."""
    return f"after {time.monotonic() - start:.0f} s"


def read(log: Path) -> str:
    """Return what a command has said so far."""
    return log.read_text(encoding="utf-8", errors="replace")


def failure(title: str, start: float, log: Path) -> SystemExit:
    """Return the end of this script: the message shows the end of the log."""
    end = read(log).splitlines()[-LINES:]
    title_line = f"{title}: FAILED {elapsed_in_words(start)}. The end of its log:"
    return SystemExit("\n    ".join([title_line, *end]))


@contextmanager
def running(command: str, checkout: Path, log: Path) -> Iterator[subprocess.Popen[bytes]]:
    """Run a command in a checkout until the block ends, then stop it and its processes."""
    print(f"{command} …", flush=True)
    with log.open("wb") as output:
        process = subprocess.Popen(
            command.split(),
            cwd=checkout,
            env=environment(),
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
    try:
        yield process
    finally:
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGTERM)
        process.wait()


def environment() -> dict[str, str]:
    """Return the variables without those of make and of Python's environments.

    What make tells its commands would change what this make does.
    """
    dropped = {"PYTHONPATH", "VIRTUAL_ENV", "MAKEFLAGS", "MAKELEVEL", "MFLAGS"}
    return {name: value for name, value in os.environ.items() if name not in dropped}


def answers(address: str) -> bool:
    """Return whether a page answers with status 200."""
    try:
        with NO_PROXY.open(address, timeout=5) as page:
            return bool(page.status == 200)
    except OSError:  # refused, or another status
        return False


def free_port() -> int:
    """Return an unused port."""
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        port: int = listener.getsockname()[1]
    return port


if __name__ == "__main__":
    main()
