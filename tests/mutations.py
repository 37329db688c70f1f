"""Changes a sample of the package, a thing at a time, and counts the changes that no test notices.

    python -m tests.mutations          a sample that the last commit chooses; some minutes
    python -m tests.mutations SEED     the sample of another seed

`make mutations` makes every change, which takes half an hour. mutmut does the work; what it changes
and which tests it runs are in pyproject.toml.
"""

from __future__ import annotations

import json
import random
import shutil
import subprocess
import sys
import tomllib

from scripts import ROOT

MODULES = 2  # of a sample
# The share of changes that tests must notice. Of two modules it was 0.898, and most of the others
# change nothing that a caller sees.
ENOUGH = 0.85
STATS = ROOT / "mutants" / "mutmut-cicd-stats.json"


def sample(seed: str) -> list[str]:
    """Return some modules of the package whose tests mutmut runs."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
    tests = project["tool"]["mutmut"]["pytest_add_cli_args_test_selection"]
    paths = [test.removeprefix("tests/package/").replace("test_", "") for test in tests]
    modules = [path[:-3].replace("/", ".") for path in paths if (ROOT / "posenc" / path).exists()]
    return sorted(random.Random(seed).sample(modules, MODULES))


def last_commit() -> str:
    """Return the name of the last commit, or nothing without git."""
    if not shutil.which("git"):
        return ""
    command = ["git", "rev-parse", "HEAD"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    return done.stdout.strip()


def mutmut(*arguments: str) -> None:
    """Run mutmut on the checkout; print what it says, without its spinner, only if it fails."""
    command = [sys.executable, "-m", "mutmut", *arguments]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    if done.returncode:
        print(*(done.stdout + done.stderr).splitlines()[-40:], sep="\n")
        sys.exit(f"mutmut {arguments[0]} ended with status {done.returncode}")


def main() -> int:
    """Make the changes of a sample; return 1 if too many go unnoticed."""
    seed = (sys.argv[1:] or [last_commit()])[0]
    modules = sample(seed)
    print(f"Changing {' and '.join(modules)} (seed {seed!r})", flush=True)
    shutil.rmtree(STATS.parent, ignore_errors=True)  # the counts are of all that it holds
    mutmut("run", *(f"posenc.{module}.*" for module in modules))
    mutmut("export-cicd-stats")
    found = json.loads(STATS.read_text("utf-8"))
    noticed = found["killed"] + found["timeout"] + found["suspicious"] + found["segfault"]
    total = noticed + found["survived"]
    print(f"{noticed} of {total} changes were noticed; `mutmut results` names the others")
    return int(not total or noticed / total < ENOUGH)


if __name__ == "__main__":
    sys.exit(main())
