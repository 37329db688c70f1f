"""Installs the checker and its libraries, or says how.

As root on Debian or Ubuntu apt-get does it. Elsewhere nothing is installed without being asked for.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys

from scripts.proofs import checker

PACKAGES = ("coq", "libcoq-coquelicot", "libcoq-flocq", "libcoq-interval")
BY_APT = ("apt-get", "install", "--yes", "--no-install-recommends", *PACKAGES)
OPAM = "opam repo add coq-released https://coq.inria.fr/opam/released"
OPAM_PACKAGES = "coq coq-coquelicot coq-flocq coq-interval"


def ensure() -> str:
    """Install what is missing, if possible; return what is still missing and what to do."""
    if not checker.missing():
        return ""
    if can_install():
        print(f"Installing {' '.join(PACKAGES)}", flush=True)
        environment = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
        for command in (("apt-get", "update"), BY_APT):
            done = subprocess.run(
                command, env=environment, capture_output=True, text=True, check=False
            )
            if done.returncode:
                print(f"{' '.join(command)} failed:\n{(done.stdout + done.stderr)[-2000:]}")
        forget()
    missing = checker.missing()
    return f"{missing}. {advice()}" if missing else ""


def can_install() -> bool:
    """Return whether apt-get can install packages here."""
    return os.geteuid() == 0 and shutil.which("apt-get") is not None


def forget() -> None:
    """Look for the checker anew at the next question."""
    for known in (checker.compiler, checker.toplevel, checker.has_library, checker.version):
        known.cache_clear()


def advice() -> str:
    """Return what to install, for this system."""
    if shutil.which("apt-get"):
        return f"Install it, as root: apt-get install {' '.join(PACKAGES)}"
    first = "brew install opam && opam init && " if sys.platform == "darwin" else ""
    return f"Install it with opam: {first}{OPAM} && opam install {OPAM_PACKAGES}"
