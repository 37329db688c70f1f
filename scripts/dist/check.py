"""Check what was built: its contents, and that it works where nothing else is installed."""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
import sys
import tarfile
import tempfile
import zipfile
from pathlib import Path

from posenc.vectors import suites
from scripts import ROOT
from scripts.dist.build import VECTORS, version
from scripts.setup.node import executable, npm

CONFIG = {"model_type": "llama", "hidden_size": 128, "num_attention_heads": 2, "rope_theta": 10000}
# What a stranger types first, and a line that the answer must have.
COMMANDS = (
    (("posenc", "vectors", "list"), "rotation"),
    (("posenc", "config", "config.json"), "base 10,000"),
    (("python", "-m", "posenc"), "positions"),
    (("python", "-c", "import posenc; print(posenc.__version__)"), version()),
)
# Types as a user would have them: an input has its fields; an unknown suite is an error.
TYPED = """\
import { check, load, type Case } from "posenc-vectors";
const first: Case<"alibi"> = load("alibi").cases[0];
const heads: number = first.input.heads;
const report = check("alibi", () => [heads], { contract: "float64", strict: true });
const status: 0 | 1 | 2 = report.status;
// @ts-expect-error there is no such suite
load("alibo");
export { status };
"""
TYPESCRIPT = "typescript@5"
SCRIPT = """\
const { check, suites, load } = require("posenc-vectors");
import("posenc-vectors").then((module) => {
  if (module.check !== check) throw new Error("import and require differ");
  const slopes = ({ heads }) => {
    if (!Number.isInteger(heads) || heads < 1) throw new RangeError("heads");
    const whole = 2 ** Math.floor(Math.log2(heads));
    const of = (n) => Array.from({ length: n }, (_, i) => 2 ** ((-8 * (i + 1)) / n));
    return [...of(whole), ...of(2 * whole).filter((_, i) => i % 2 === 0).slice(0, heads - whole)];
  };
  const right = check("alibi", slopes);
  const wrong = check("alibi", ({ heads }) => slopes({ heads }).reverse());
  console.log(JSON.stringify({
    suites,
    cases: suites.map((suite) => load(suite).cases.length),
    right: right.status,
    wrong: wrong.status,
    bugs: Object.keys(wrong.bugs),
    json: require("posenc-vectors/index.json").version,
  }));
});
"""


class WrongError(Exception):
    """Something that was built is not as it must be."""


def must(condition: bool, said: str) -> None:
    """Raise WrongError unless a condition holds."""
    if not condition:
        raise WrongError(said)


def check_python_packages(sdist: Path, wheel: Path) -> None:
    """Check the metadata and the contents of both, and use each in an environment of its own."""
    subprocess.run([sys.executable, "-m", "twine", "check", "--strict", sdist, wheel], check=True)
    inside = wheel_contents(wheel)
    must(inside == expected_wheel_contents(), f"the wheel differs from the checkout: {inside}")
    for package in (wheel, sdist):
        with tempfile.TemporaryDirectory() as folder:
            use_installed(package, Path(folder))
        print(f"{package.name}: installs with numpy alone, and its commands answer", flush=True)


def wheel_contents(wheel: Path) -> set[str]:
    """Return the files of a wheel, without its metadata."""
    with zipfile.ZipFile(wheel) as archive:
        return {name for name in archive.namelist() if ".dist-info/" not in name}


def expected_wheel_contents() -> set[str]:
    """Return the files of the package: modules, mark of types, vectors, the plugin of pytest."""
    modules = {path.relative_to(ROOT).as_posix() for path in (ROOT / "posenc").rglob("*.py")}
    vectors = {f"posenc/vectors/files/{path.name}" for path in VECTORS.glob("*.json")}
    return modules | vectors | {"posenc/py.typed", "posenc_pytest.py"}


def use_installed(package: Path, folder: Path) -> None:
    """Install a package into a new environment and run what a stranger types first."""
    subprocess.run([sys.executable, "-m", "venv", folder / "venv"], check=True)
    programs = folder / "venv" / ("Scripts" if os.name == "nt" else "bin")
    pip = ["-m", "pip", "--quiet", "--disable-pip-version-check", "install", str(package)]
    subprocess.run([str(programs / "python"), *pip], check=True)
    (folder / "config.json").write_text(json.dumps(CONFIG))
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    for (program, *arguments), line in COMMANDS:
        command = [str(programs / program), *arguments]
        done = subprocess.run(
            command, cwd=folder, env=environment, capture_output=True, text=True, check=False
        )
        said = done.stdout + done.stderr
        must(not done.returncode and line in done.stdout, f"{program} {arguments} said:\n{said}")


def check_archive(archive: Path) -> None:
    """Check that each file of the archive has the digest that is stated for it."""
    with tarfile.open(archive) as tar:
        files = {Path(entry.name).name: entry for entry in tar.getmembers()}
        data = {
            name: stream.read()
            for name, entry in files.items()
            if (stream := tar.extractfile(entry))
        }
    lines = [line.split("  ") for line in data["SHA256SUMS"].decode().splitlines()]
    stated = {name: digest for digest, name in lines}
    found = {name: hashlib.sha256(text).hexdigest() for name, text in data.items()}
    must(
        stated == {name: found[name] for name in found if name != "SHA256SUMS"}, "a digest differs"
    )
    must(
        {path.name for path in VECTORS.glob("*.json")} < set(stated), "a file of vectors is missing"
    )
    print(f"{archive.name}: {len(stated)} files, digests right", flush=True)


def check_npm_package(package: Path) -> None:
    """Install the package into a new project, use it there, and check its types."""
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        (folder / "package.json").write_text("{}")
        subprocess.run(npm("install", "--silent", str(package)), cwd=folder, check=True)
        (folder / "use.cjs").write_text(SCRIPT)
        done = subprocess.run(
            [executable(), "use.cjs"], cwd=folder, check=True, capture_output=True, text=True
        )
        (folder / "use.ts").write_text(TYPED)
        subprocess.run(npm("install", "--silent", TYPESCRIPT), cwd=folder, check=True)
        compiler = str(folder / "node_modules" / "typescript" / "bin" / "tsc")
        options = ["--noEmit", "--strict", "--module", "nodenext"]
        subprocess.run([executable(), compiler, *options, "use.ts"], cwd=folder, check=True)
    told = json.loads(done.stdout)
    must(told["suites"] == list(suites()), f"the suites are {told['suites']}")
    must((told["right"], told["wrong"], told["json"]) == (0, 1, 1), f"the checker says {told}")
    print(f"{package.name}: {sum(told['cases'])} cases; types and checker work")
