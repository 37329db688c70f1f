"""Run the README's two commands on a machine that has nothing: a fresh Debian in a folder.

    python3 scripts/setup/bare_debian.py bookworm
    python3 scripts/setup/bare_debian.py trixie sid --folder /var/tmp/bare
    python3 scripts/setup/bare_debian.py sid --run '.venv/bin/python -m pytest tests/nn'

debootstrap makes a Debian with python3, python3-venv, make, git and the certificates, and nothing
else; a clone of the last commit here is copied into it; `make serve` has to answer by HTTP, and
`make test` has to pass, its browser included. The system is kept for the next time, the machine is
not. With `--run`, another command is run instead of the two, in a machine that is kept and whose
clone is brought up to date.

Needs root, debootstrap and the network. The machine reaches the package indexes as this one does:
by apt's mirror, pip's configuration, and the variables of the environment. All that is mounted
for it is mounted in a namespace of its own, and vanishes with its last process. Standard library
only.
"""

from __future__ import annotations

import argparse
import ast
import os
import re
import shlex
import shutil
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO
from urllib.error import URLError
from urllib.request import ProxyHandler, build_opener

ROOT = Path(__file__).resolve().parents[2]
PACKAGES = ("ca-certificates", "git", "make", "python3", "python3-venv")
TOOLS = ("debootstrap", "unshare", "chroot", "mount", "git")
CLONE = "book"  # the checkout's folder in the machine
# What may say how to reach a package index, or which certificates to trust.
TOLD = re.compile(r"(?i)^(?:pip|npm_config)_|_proxy$|^SSL_CERT_(?:FILE|DIR)$|^NODE_EXTRA_CA_CERTS$")
SHARED = ("/etc/resolv.conf", "/etc/hosts", "/etc/ssl/certs/ca-certificates.crt")
APT = re.compile(r"^Acquire::(?:Check|https?|Retries).*", re.M)  # of its settings, how it fetches
SOURCE = re.compile(r"^(?:deb\s+(?:\[.*?\]\s+)?|URIs:\s*)(?P<mirror>\S+/debian/?)(?:\s|$)", re.M)
# In a namespace of its own: what programs expect, pip's own folders, and then the machine.
ENTER = """\
set -e
mount -t proc proc {root}/proc
mount --rbind /dev {root}/dev
for folder in {folders}; do
  mkdir -p {root}$folder
  mount --bind $folder {root}$folder
done
exec chroot {root} sh -ec {command}
"""
NAMED = '. /etc/os-release && echo "$PRETTY_NAME, $(python3 --version)"'
SERVED_WITHIN = 900.0  # seconds, the first set-up included
NO_PROXY = build_opener(ProxyHandler({}))


def main() -> int:
    """Try each Debian that is named, and say what passed; return 1 if anything did not."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("suites", nargs="+", metavar="suite", help="bookworm, trixie, sid, …")
    parser.add_argument("--folder", default=Path(tempfile.gettempdir(), "bare"), type=Path)
    parser.add_argument("--run", metavar="COMMAND", help="in place of the README's two commands")
    asked = parser.parse_args()
    if missing := what_is_missing():
        sys.exit(missing)
    asked.folder.mkdir(parents=True, exist_ok=True)
    passed = [try_out(suite, asked.folder.resolve(), asked.run) for suite in asked.suites]
    return 0 if all(passed) else 1


def what_is_missing() -> str:
    """Return why no machine can be made here and what to do, or nothing."""
    if os.geteuid():
        return "Only root can make a machine in a folder: run the same command as root."
    absent = [tool for tool in TOOLS if not shutil.which(tool)]
    return (
        f"Missing: {', '.join(absent)} (on Debian: apt-get install debootstrap)" if absent else ""
    )


def try_out(suite: str, folder: Path, command: str | None) -> bool:
    """Run the commands in a machine of this suite, say how each ended; return whether all did."""
    machine = folder / suite
    if not (command and machine.is_dir()):
        make(machine, system(suite, folder))
    commit = copy_checkout(machine)
    _, name = inside(machine, NAMED, subprocess.PIPE)
    print(f"{suite}: {name.strip()}, commit {commit}", flush=True)
    if command:
        return report(command, folder / f"{suite}-run.log", machine)
    served = serve(machine, folder / f"{suite}-serve.log")
    tested = report("make test", folder / f"{suite}-test.log", machine)
    if served and tested:
        shutil.rmtree(machine)
    else:
        print(f"  The machine is kept in {machine}")
    return served and tested


def system(suite: str, folder: Path) -> Path:
    """Return the folder of a bare system, made now unless it stands from an earlier time."""
    base = folder / f"{suite}-system"
    if not base.is_dir():
        unfinished = base.with_suffix(".unfinished")
        shutil.rmtree(unfinished, ignore_errors=True)
        include = f"--include={','.join(PACKAGES)}"
        command = ["debootstrap", "--variant=minbase", include, suite, str(unfinished), mirror()]
        print(f"{suite}: making the system", flush=True)
        with (folder / f"{suite}-system.log").open("wb") as log:
            if subprocess.call(command, stdout=log, stderr=subprocess.STDOUT):
                sys.exit(f"debootstrap failed; what it said is in {log.name}")
        unfinished.rename(base)
    return base


def mirror() -> str:
    """Return the mirror of Debian that this machine's apt takes its packages from."""
    files = [*Path("/etc/apt").glob("sources.list"), *Path("/etc/apt/sources.list.d").glob("*")]
    named = (SOURCE.search(file.read_text(encoding="utf-8")) for file in sorted(files))
    found = next(filter(None, named), None)
    if not found:
        sys.exit("No Debian mirror is named in /etc/apt/sources.list or /etc/apt/sources.list.d")
    return found["mirror"]


def make(machine: Path, base: Path) -> None:
    """Make a machine anew from a bare system, with what it takes to reach the package indexes."""
    shutil.rmtree(machine, ignore_errors=True)
    subprocess.run(["cp", "--archive", "--reflink=auto", base, machine], check=True)
    for path in filter(os.path.exists, SHARED):
        (machine / path[1:]).unlink(missing_ok=True)
        shutil.copyfile(path, machine / path[1:])
    settings = APT.findall(said("apt-config", "dump"))
    (machine / "etc/apt/apt.conf.d/90fetch").write_text("\n".join([*settings, ""]))


def copy_checkout(machine: Path) -> str:
    """Copy a clone of the last commit into a machine, or bring it up to date; return the commit."""
    clone = machine / CLONE
    if not clone.is_dir():
        subprocess.run(["git", "clone", "--quiet", "--no-hardlinks", ROOT, clone], check=True)
    commit = said("git", "-C", str(ROOT), "rev-parse", "HEAD").strip()
    subprocess.run(["git", "-C", clone, "fetch", "--quiet", ROOT, commit], check=True)
    subprocess.run(["git", "-C", clone, "checkout", "--quiet", "--force", commit], check=True)
    if said("git", "-C", str(ROOT), "status", "--porcelain"):
        print("Not in the machine: what is not committed here.")
    return commit[:7]


def serve(machine: Path, log: Path) -> bool:
    """Run `make serve` in a machine until it answers, say how that went, and stop it."""
    port, begun = free_port(), time.monotonic()
    with log.open("wb") as output, running(machine, f"make serve PORT={port}", output) as process:
        while process.poll() is None and time.monotonic() - begun < SERVED_WITHIN:
            time.sleep(1)
            if page := answer(f"http://127.0.0.1:{port}/"):
                title = re.search(r"<title>(.*?)</title>", page)
                return say("make serve", begun, f"answered with “{title[1]}”" if title else "", log)
    return say("make serve", begun, "", log)


def report(command: str, log: Path, machine: Path) -> bool:
    """Run a command in a machine, say how it went, and return whether it passed."""
    begun = time.monotonic()
    with log.open("wb") as output:
        status, _ = inside(machine, command, output)
    lines = log.read_text(encoding="utf-8", errors="replace").splitlines()
    counts = [line for line in lines if re.search(r"\d+ passed", line)]
    return say(command, begun, "" if status else (counts or ["done"])[-1], log)


def say(command: str, begun: float, result: str, log: Path) -> bool:
    """Print how a command ended, and the end of what it said where it failed."""
    print(f"  {command}: {'passed' if result else 'FAILED'} after {time.monotonic() - begun:.0f} s")
    print(f"    {result or f'the end of {log}:'}", flush=True)
    if not result:
        lines = log.read_text(encoding="utf-8", errors="replace").splitlines()
        print("\n".join(f"    {line}" for line in lines[-20:]), flush=True)
    return bool(result)


def answer(address: str) -> str:
    """Return the page at an address, or nothing while nobody answers."""
    try:
        with NO_PROXY.open(address, timeout=5) as page:
            return str(page.read().decode())
    except (URLError, OSError):
        return ""


@contextmanager
def running(
    machine: Path, command: str, output: IO[bytes] | int
) -> Iterator[subprocess.Popen[str]]:
    """Run a command in a machine while the block runs; all that it started ends with it."""
    with subprocess.Popen(
        entered(machine, command),
        env=environment(),
        stdin=subprocess.DEVNULL,
        stdout=output,
        stderr=subprocess.STDOUT,
        text=True,
    ) as process:
        try:
            yield process
        finally:
            process.kill()  # and with it the namespace, whose processes the kernel ends


def inside(machine: Path, command: str, output: IO[bytes] | int) -> tuple[int, str]:
    """Run a command in a machine to its end; return its exit status and what it said to a pipe."""
    with running(machine, command, output) as process:
        said, _ = process.communicate()
    return process.returncode, said or ""


def entered(machine: Path, command: str) -> list[str]:
    """Return the command line that runs a command in a machine, in the clone's folder."""
    script = ENTER.format(
        root=shlex.quote(str(machine)),
        folders=" ".join(map(shlex.quote, folders())),
        command=shlex.quote(f"cd /{CLONE} && {command}"),
    )
    return ["unshare", "--mount", "--pid", "--fork", "--kill-child", "sh", "-c", script]


def environment() -> dict[str, str]:
    """Return a stranger's environment, and in it how this machine reaches the package indexes.

    A browser that cannot be had is a failure there, hence `CI`.
    """
    told = {name: value for name, value in os.environ.items() if TOLD.search(name)}
    place = {"HOME": "/root", "PATH": "/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"}
    return {**pip_settings(), **told, **place, "CI": "true"}


def pip_settings() -> dict[str, str]:
    """Return what pip's files of this machine say on indexes, as variables of the environment."""
    listed = said(sys.executable, "-m", "pip", "config", "list")
    found = re.findall(r"^global\.(extra-index-url|index-url|find-links)=(.+)$", listed, re.M)
    return {
        f"PIP_{name.replace('-', '_').upper()}": ast.literal_eval(value) for name, value in found
    }


def folders() -> list[str]:
    """Return the folders of this machine that pip is told to take packages from.

    An index of files has them beside the folder that lists them.
    """
    told = " ".join(value for name, value in environment().items() if name.startswith("PIP_"))
    paths = [Path(word.removeprefix("file://")) for word in told.split() if "/" in word]
    places = (path.parent if path.name == "simple" else path for path in paths)
    return sorted({str(place) for place in places if place.is_absolute() and place.is_dir()})


def said(*command: str) -> str:
    """Return what a command prints."""
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


def free_port() -> int:
    """Return a port that nobody listens on."""
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        port: int = listener.getsockname()[1]
    return port


if __name__ == "__main__":
    sys.exit(main())
