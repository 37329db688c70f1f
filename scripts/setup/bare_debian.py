"""Run the README's commands on a minimal machine: a fresh Debian in a folder.

    python3 scripts/setup/bare_debian.py bookworm
    python3 scripts/setup/bare_debian.py trixie sid --folder /var/tmp/bare
    python3 scripts/setup/bare_debian.py sid --run '.venv/bin/python -m pytest tests/nn'

debootstrap installs Debian with python3, python3-venv, make, git and the CA certificates, and
nothing else. A clone of the last commit is copied into it. There reader.py must pass, which runs
`make serve`, and then `make test`, including the browser tests. The base system is kept for the
next run; the machine made from it is deleted if both pass. With `--run`, another command runs
instead, in a machine that is kept and whose clone is updated first.

Needs root, debootstrap and the network. The machine reaches the package indexes in the same way as
the host: through apt's mirror, pip's configuration and environment variables. Its mounts live in
their own namespace and disappear with its last process. Standard library only.
"""

from __future__ import annotations

import argparse
import ast
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

ROOT = Path(__file__).resolve().parents[2]
PACKAGES = ("ca-certificates", "git", "make", "python3", "python3-venv")
TOOLS = ("debootstrap", "unshare", "chroot", "mount", "git")
CLONE = "book"  # the folder of the clone, inside the machine
# Environment variables that configure package indexes, proxies and certificates.
INDEX_VARIABLES = re.compile(
    r"(?i)^(?:pip|npm_config)_|_proxy$|^SSL_CERT_(?:FILE|DIR)$|^NODE_EXTRA_CA_CERTS$"
)
SHARED = ("/etc/resolv.conf", "/etc/hosts", "/etc/ssl/certs/ca-certificates.crt")
APT = re.compile(r"^Acquire::(?:Check|https?|Retries).*", re.M)  # the download settings of apt
SOURCE = re.compile(r"^(?:deb\s+(?:\[.*?\]\s+)?|URIs:\s*)(?P<mirror>\S+/debian/?)(?:\s|$)", re.M)
# Runs in a new namespace: mounts /proc, /dev and pip's local folders, then enters the machine.
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
RELEASE = '. /etc/os-release && echo "$PRETTY_NAME, $(python3 --version)"'
COMMANDS = {"read": "python3 scripts/setup/reader.py --here", "test": "make test"}
SHOWN = re.compile(r"\d+ passed|: .* after \d+ s$")  # lines of a log that say what passed


def main() -> int:
    """Try each Debian on the command line and print the results; return 1 if anything failed."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("suites", nargs="+", metavar="suite", help="bookworm, trixie, sid, …")
    parser.add_argument("--folder", default=Path(tempfile.gettempdir(), "bare"), type=Path)
    parser.add_argument(
        "--run", metavar="COMMAND", help="run this instead of the README's commands"
    )
    options = parser.parse_args()
    if missing := missing_requirement():
        sys.exit(missing)
    options.folder.mkdir(parents=True, exist_ok=True)
    passed = [try_out(suite, options.folder.resolve(), options.run) for suite in options.suites]
    return 0 if all(passed) else 1


def missing_requirement() -> str:
    """Return why no machine can be made here and what to do, or an empty string."""
    if os.geteuid():
        return "Making a machine in a folder needs root: run the same command as root."
    absent = [tool for tool in TOOLS if not shutil.which(tool)]
    return (
        f"Missing: {', '.join(absent)} (on Debian: apt-get install debootstrap)" if absent else ""
    )


def try_out(suite: str, folder: Path, command: str | None) -> bool:
    """Run the commands in a machine of this suite, print the results; return whether all passed."""
    machine = folder / suite
    if not (command and machine.is_dir()):
        make(machine, base_system(suite, folder))
    commit = copy_checkout(machine)
    _, name = run_inside(machine, RELEASE, subprocess.PIPE)
    print(f"{suite}: {name.strip()}, commit {commit}", flush=True)
    if command:
        return report(command, folder / f"{suite}-run.log", machine)
    passed = [
        report(line, folder / f"{suite}-{name}.log", machine) for name, line in COMMANDS.items()
    ]
    if all(passed):
        shutil.rmtree(machine)
    else:
        print(f"  The machine is kept in {machine}.")
    return all(passed)


def base_system(suite: str, folder: Path) -> Path:
    """Return the folder of the base system, installing it unless an earlier run has done so."""
    base = folder / f"{suite}-system"
    if not base.is_dir():
        unfinished = base.with_suffix(".unfinished")
        shutil.rmtree(unfinished, ignore_errors=True)
        include = f"--include={','.join(PACKAGES)}"
        command = ["debootstrap", "--variant=minbase", include, suite, str(unfinished), mirror()]
        print(f"{suite}: installing the base system", flush=True)
        with (folder / f"{suite}-system.log").open("wb") as log:
            if subprocess.call(command, stdout=log, stderr=subprocess.STDOUT):
                sys.exit(f"debootstrap failed; its output is in {log.name}")
        unfinished.rename(base)
    return base


def mirror() -> str:
    """Return the Debian mirror that apt uses on the host."""
    files = [*Path("/etc/apt").glob("sources.list"), *Path("/etc/apt/sources.list.d").glob("*")]
    named = (SOURCE.search(file.read_text(encoding="utf-8")) for file in sorted(files))
    found = next(filter(None, named), None)
    if not found:
        sys.exit("Found no Debian mirror in /etc/apt/sources.list or /etc/apt/sources.list.d")
    return found["mirror"]


def make(machine: Path, base: Path) -> None:
    """Make a fresh machine from a base system, with apt's settings, hosts and certificates."""
    shutil.rmtree(machine, ignore_errors=True)
    subprocess.run(["cp", "--archive", "--reflink=auto", base, machine], check=True)
    for path in filter(os.path.exists, SHARED):
        (machine / path[1:]).unlink(missing_ok=True)
        shutil.copyfile(path, machine / path[1:])
    settings = APT.findall(output_of("apt-config", "dump"))
    (machine / "etc/apt/apt.conf.d/90fetch").write_text("\n".join([*settings, ""]))


def copy_checkout(machine: Path) -> str:
    """Clone the last commit into a machine, or update its clone; return the commit."""
    clone = machine / CLONE
    if not clone.is_dir():
        subprocess.run(["git", "clone", "--quiet", "--no-hardlinks", ROOT, clone], check=True)
    commit = output_of("git", "-C", str(ROOT), "rev-parse", "HEAD").strip()
    subprocess.run(["git", "-C", clone, "fetch", "--quiet", ROOT, commit], check=True)
    subprocess.run(["git", "-C", clone, "checkout", "--quiet", "--force", commit], check=True)
    if output_of("git", "-C", str(ROOT), "status", "--porcelain"):
        print("Uncommitted changes are not copied into the machine.")
    return commit[:7]


def report(command: str, log: Path, machine: Path) -> bool:
    """Run a command in a machine, print the result, and return whether it passed."""
    start = time.monotonic()
    with log.open("wb") as output:
        status, _ = run_inside(machine, command, output)
    lines = log.read_text(encoding="utf-8", errors="replace").splitlines()
    shown = [line for line in lines if SHOWN.search(line)]
    return say(command, start, "" if status else "\n    ".join(shown or ["done"]), log)


def say(command: str, start: float, result: str, log: Path) -> bool:
    """Print the result of a command, and the end of its log if it failed."""
    print(f"  {command}: {'passed' if result else 'FAILED'} after {time.monotonic() - start:.0f} s")
    print(f"    {result or f'the end of {log}:'}", flush=True)
    if not result:
        lines = log.read_text(encoding="utf-8", errors="replace").splitlines()
        print("\n".join(f"    {line}" for line in lines[-20:]), flush=True)
    return bool(result)


@contextmanager
def running(
    machine: Path, command: str, output: IO[bytes] | int
) -> Iterator[subprocess.Popen[str]]:
    """Run a command in a machine until the block ends, then stop it and its processes."""
    with subprocess.Popen(
        command_inside(machine, command),
        env=environment(),
        stdin=subprocess.DEVNULL,
        stdout=output,
        stderr=subprocess.STDOUT,
        text=True,
    ) as process:
        try:
            yield process
        finally:
            process.kill()  # which ends the namespace; the kernel kills every process in it


def run_inside(machine: Path, command: str, output: IO[bytes] | int) -> tuple[int, str]:
    """Run a command in a machine to its end; return its exit status, and its output if piped."""
    with running(machine, command, output) as process:
        printed, _ = process.communicate()
    return process.returncode, printed or ""


def command_inside(machine: Path, command: str) -> list[str]:
    """Return the command line that runs a command in a machine, in the clone's folder."""
    script = ENTER.format(
        root=shlex.quote(str(machine)),
        folders=" ".join(map(shlex.quote, folders())),
        command=shlex.quote(f"cd /{CLONE} && {command}"),
    )
    return ["unshare", "--mount", "--pid", "--fork", "--kill-child", "sh", "-c", script]


def environment() -> dict[str, str]:
    """Return a clean environment that keeps only the host's settings for package indexes.

    `CI` makes a missing browser a failure.
    """
    indexes = {name: value for name, value in os.environ.items() if INDEX_VARIABLES.search(name)}
    clean = {"HOME": "/root", "PATH": "/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"}
    return {**pip_settings(), **indexes, **clean, "CI": "true"}


def pip_settings() -> dict[str, str]:
    """Return the indexes in the host's pip configuration, as environment variables."""
    listed = output_of(sys.executable, "-m", "pip", "config", "list")
    found = re.findall(r"^global\.(extra-index-url|index-url|find-links)=(.+)$", listed, re.M)
    return {
        f"PIP_{name.replace('-', '_').upper()}": ast.literal_eval(value) for name, value in found
    }


def folders() -> list[str]:
    """Return the local folders from which pip installs packages, according to its settings.

    An index made of files keeps the packages next to its `simple` folder, so the parent is mounted.
    """
    settings = " ".join(value for name, value in environment().items() if name.startswith("PIP_"))
    paths = [Path(word.removeprefix("file://")) for word in settings.split() if "/" in word]
    places = (path.parent if path.name == "simple" else path for path in paths)
    return sorted({str(place) for place in places if place.is_absolute() and place.is_dir()})


def output_of(*command: str) -> str:
    """Return the output of a command."""
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


if __name__ == "__main__":
    sys.exit(main())
