"""Setup says in helpful words what a machine lacks, and repairs an interrupted installation."""

from __future__ import annotations

import ast
import importlib.util
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import time
import tomllib
from pathlib import Path
from typing import Any

import pytest
import yaml

import posenc
from scripts import ROOT
from scripts.setup import browser
from scripts.setup.node import executable
from scripts.site import serve as server
from tests.linked_environment import closure

SETUP = ROOT / "scripts" / "setup" / "environment.py"
DEAD = "http://127.0.0.1:9/simple"  # the discard port, where nothing answers


def bare_checkout(folder: Path) -> Path:
    """Return a checkout of only the files that setup reads, in a path with a space and umlauts."""
    root = folder / "büro" / "bare checkout"
    (root / "scripts" / "setup").mkdir(parents=True)
    shutil.copy(SETUP, root / "scripts" / "setup")
    for name in setup_script(root).SOURCES:
        shutil.copy(ROOT / name, root)
    return root


@pytest.fixture
def bare(tmp_path: Path) -> Path:
    return bare_checkout(tmp_path)


def setup_script(root: Path) -> Any:
    """Return a checkout's own setup as a module, so that it works in that checkout."""
    spec = importlib.util.spec_from_file_location(
        "setup_of_a_copy", root / "scripts" / "setup" / "environment.py"
    )
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def run_setup(root: Path, *extras: str, **environment: str) -> subprocess.CompletedProcess[str]:
    """Run a checkout's setup with an empty PATH and without a reachable index."""
    lonely = {"PATH": str(root / "bin"), "PIP_CONFIG_FILE": os.devnull, "PIP_INDEX_URL": DEAD}
    return subprocess.run(
        [sys.executable, root / "scripts" / "setup" / "environment.py", *extras],
        env=lonely | {"PIP_RETRIES": "1"} | environment,
        capture_output=True,
        text=True,
        check=False,
    )


def require_python(root: Path, version: str) -> None:
    """Make a checkout require a Python that does not exist yet."""
    script = root / "scripts" / "setup" / "environment.py"
    text = script.read_text(encoding="utf-8")
    assert "OLDEST = (3, 11)" in text
    script.write_text(text.replace("OLDEST = (3, 11)", f"OLDEST = {version}"), encoding="utf-8")


def program(path: Path, script: str) -> None:
    path.parent.mkdir(exist_ok=True)
    path.write_text(f"#!/bin/sh\n{script}\n", encoding="utf-8")
    path.chmod(0o755)


def test_the_setup_script_parses_in_python_3_6() -> None:
    ast.parse(SETUP.read_text(encoding="utf-8"), feature_version=(3, 6))


def test_an_old_python_gets_instructions(bare: Path) -> None:
    require_python(bare, "(3, 99)")
    done = run_setup(bare)
    assert done.returncode == 1
    assert "Python 3.99 or newer is needed" in done.stderr
    assert "make PYTHON=" in done.stderr
    assert not (bare / ".venv").exists()


def test_a_newer_python_on_the_path_takes_over(bare: Path) -> None:
    require_python(bare, "(3, 99)")
    program(bare / "bin" / "python3.14", 'test "$1" = -c && echo 3.99 || echo "$0 runs $*"')
    done = run_setup(bare, "test")
    assert done.returncode == 0
    assert re.search(r"python3\.14 runs .*environment\.py docs test$", done.stdout.strip())


def make(root: Path, *words: str) -> subprocess.CompletedProcess[str]:
    """Run make in a checkout as a reader would, even if make runs this test."""
    shutil.copy(ROOT / "Makefile", root)
    return subprocess.run(
        ["make", *words],
        cwd=root,
        env={"PATH": os.environ["PATH"]},
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.mark.parametrize("python", ["exit 127", "echo SyntaxError >&2; exit 1"])
def test_make_reports_a_missing_python_3(bare: Path, python: str) -> None:
    program(bare / "python3", python)
    done = make(bare, "site", "PYTHON=./python3")
    assert done.returncode == 2
    assert "Python 3.11 or newer is needed, and `./python3` is not one" in done.stderr
    assert "make PYTHON=" in done.stderr
    assert "SyntaxError" not in done.stderr


@pytest.mark.parametrize("old", ["(2, 7)", "(3, 5)"])
def test_make_runs_no_setup_in_a_python_too_old_to_parse_it(bare: Path, old: str) -> None:
    question = f'exec {sys.executable} -c "import sys; sys.version_info = {old}; $2"'
    program(bare / "python3", f'test "$1" = -c && {question} || echo "it was run"')
    done = make(bare, "setup", "PYTHON=./python3")
    assert done.returncode == 2
    assert "it was run" not in done.stdout


@pytest.mark.parametrize(
    ("goal", "arguments"),
    [
        ("serve", ""),
        ("site", ""),
        ("figures", ""),
        ("test", " test"),
        ("quick", " test"),
        ("update", " test"),
        ("types", " test"),
    ],
)
def test_only_test_targets_install_the_test_extra(bare: Path, goal: str, arguments: str) -> None:
    told = make(bare, "--dry-run", goal).stdout.splitlines()
    assert f"python3 scripts/setup/environment.py{arguments}" in [line.strip() for line in told]


def test_a_missing_venv_module_names_the_package_to_install(bare: Path) -> None:
    (bare / "ensurepip.py").write_text("raise ImportError", encoding="utf-8")
    done = run_setup(bare, PYTHONPATH=str(bare))
    assert done.returncode == 1
    version = "{}.{}".format(*sys.version_info)
    assert f"apt-get install python{version}-venv" in done.stderr


@pytest.fixture(scope="module")
def offline(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Any]:
    """Return a checkout whose first setup was interrupted, and a second one without a network."""
    root = bare_checkout(tmp_path_factory.mktemp("offline"))
    setup_script(root).write_mark("unfinished")
    (root / ".venv" / "left-over").touch()
    return root, run_setup(root)


@pytest.mark.slow
def test_a_missing_network_is_reported_in_a_few_lines(offline: tuple[Path, Any]) -> None:
    done = offline[1]
    assert done.returncode == 1
    assert "no package index could be reached" in done.stderr
    assert "HTTPS_PROXY" in done.stderr
    assert "run the same command again" in done.stderr
    assert len(done.stderr.splitlines()) < 15


@pytest.mark.slow
def test_an_interrupted_environment_is_rebuilt(offline: tuple[Path, Any]) -> None:
    root = offline[0]
    assert not (root / ".venv" / "left-over").exists()
    assert (root / ".venv" / "bin" / "python").exists()


@pytest.mark.slow
def test_an_environment_made_without_a_network_is_kept(offline: tuple[Path, Any]) -> None:
    module = setup_script(offline[0])
    assert module.read_mark() == [module.foundation(), "unfinished"]
    assert not module.is_ready([])


@pytest.fixture
def ready(bare: Path) -> Path:
    """Return a checkout set up for reading, with a fake Python that records its arguments.

    Its pip fails, as without a network, if `PIP_FAILS` is set.
    """
    (bare / "node_modules").mkdir()
    (bare / "node_modules" / ".package-lock.json").touch()
    (bare / ".venv").mkdir()
    program(bare / ".venv" / "bin" / "python", PRETENDER)
    module = setup_script(bare)
    module.write_mark(module.foundation(), module.digest(), "docs")
    return bare


PRETENDER = """
echo "$*" >> "${0%/*}/../told"
test "$3" != install -o -z "$PIP_FAILS" || { echo "$PIP_FAILS"; exit 1; }
"""
CONFLICT = """\
WARNING: Retrying (Retry(total=0, connect=None, read=None)) after connection broken by \
'NewConnectionError('<pip._vendor.urllib3.connection.HTTPConnection object at 0x7f1d57283a90>: \
Failed to establish a new connection: [Errno 111] Connection refused')': /simple/numpy/
ERROR: Cannot install posenc[docs]==0.1.0 because these package versions have conflicting \
dependencies.
ERROR: ResolutionImpossible: for help visit https://pip.pypa.io/
"""
REFUSED = "ERROR: connection refused"


def recorded_arguments(root: Path) -> list[str]:
    """Return the recorded arguments of a `ready` checkout's Python, except `pip --version`."""
    said = (root / ".venv" / "told").read_text(encoding="utf-8").splitlines()
    return [line for line in said if line != "-m pip --version"]


def installed_extras(root: Path) -> list[str]:
    """Return the installed extras, by the mark of an up-to-date checkout."""
    module = setup_script(root)
    assert module.is_up_to_date()
    return list(module.read_mark()[2:])


def test_a_second_setup_does_nothing(ready: Path) -> None:
    done = run_setup(ready)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


def test_the_test_extra_is_added_without_running_npm(ready: Path) -> None:
    done = run_setup(ready, "test")
    assert done.stdout == "Installing the Python packages for docs and test\n"
    [command] = recorded_arguments(ready)
    assert command.endswith("--editable .[docs,test]")
    assert installed_extras(ready) == ["docs", "test"]


def test_test_extra_includes_docs_extra(ready: Path) -> None:
    run_setup(ready, "test")
    done = run_setup(ready)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    assert installed_extras(ready) == ["docs", "test"]


def test_changed_requirements_keep_the_extras(ready: Path) -> None:
    run_setup(ready, "test")
    change(ready / "pyproject.toml")
    done = run_setup(ready)
    assert "for docs and test" in done.stdout
    assert "Installing the mathematics" in done.stdout
    assert installed_extras(ready) == ["docs", "test"]


def test_a_failed_test_extra_leaves_the_docs_extra_usable(ready: Path) -> None:
    done = run_setup(ready, "test", PIP_FAILS=REFUSED)
    assert done.returncode == 1
    assert "no package index could be reached" in done.stderr
    assert installed_extras(ready) == ["docs"]
    assert run_setup(ready).returncode == 0


def test_a_failed_update_is_retried(ready: Path) -> None:
    run_setup(ready, "test")
    change(ready / "constraints.txt")
    assert run_setup(ready, PIP_FAILS=REFUSED).returncode == 1
    assert not setup_script(ready).is_ready(["docs"])
    assert "for docs and test" in run_setup(ready).stdout


UNREACHABLE = (
    "no package index could be reached",
    "\n    NewConnectionError(Failed to establish a new connection: [Errno 111] Connection refused"
    "): /simple/numpy/\n",
)
CONFLICTING = ("because these package versions have conflicting dependencies",)


@pytest.mark.parametrize(
    ("pip_prints", "reported", "not_reported"),
    [
        (CONFLICT, UNREACHABLE, ("onflict", "Resolution")),
        (CONFLICT.partition("\n")[2], CONFLICTING, ("no package index",)),
    ],
    ids=["unreachable index", "conflict"],
)
def test_an_unreachable_index_is_told_from_a_conflict(
    pip_prints: str, reported: tuple[str, ...], not_reported: tuple[str, ...], ready: Path
) -> None:
    error = run_setup(ready, "test", PIP_FAILS=pip_prints).stderr
    assert all(words in error for words in reported)
    assert not any(words in error for words in not_reported)


READ_ONLY = "You may not write to {}: copy the checkout to a folder of your own"


def refuse_writing(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the system say that a folder is read-only; root could write to a real one."""
    monkeypatch.setattr(os, "access", lambda path, mode: path != str(folder))


@pytest.mark.parametrize("locked", ["", ".venv"])
def test_a_read_only_checkout_is_reported_in_a_sentence(
    locked: str, bare: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (bare / ".venv").mkdir()
    refuse_writing(bare / locked, monkeypatch)
    monkeypatch.setattr(sys, "argv", ["environment.py"])
    assert setup_script(bare).main() == 1
    said = capsys.readouterr().err.strip()
    assert said.startswith(READ_ONLY.format(bare / locked))
    assert "\n" not in said


@pytest.mark.parametrize("extras", [[], ["test"]])
def test_a_read_only_checkout_that_is_set_up_runs_no_command(
    extras: list[str],
    ready: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    run_setup(ready, "test")
    refuse_writing(ready, monkeypatch)
    monkeypatch.setattr(sys, "argv", ["environment.py", *extras])
    assert setup_script(ready).main() == 1
    assert READ_ONLY.format(ready) in capsys.readouterr().err


def test_control_c_ends_the_installation_with_a_sentence(ready: Path) -> None:
    fake = ready / ".venv" / "bin" / "python"
    program(fake, 'test "$3" != install || { echo started > "${0%/*}/../pip"; sleep 60; }')
    change(ready / "constraints.txt")
    with subprocess.Popen(
        [sys.executable, ready / "scripts" / "setup" / "environment.py"],
        stderr=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        text=True,
        start_new_session=True,
    ) as process:
        while not (ready / ".venv" / "pip").exists():
            assert process.poll() is None
            time.sleep(0.01)
        os.killpg(process.pid, signal.SIGINT)
        _, said = process.communicate(timeout=30)
    assert (process.returncode, said) == (
        130,
        "\nInterrupted. Run the same command to continue.\n",
    )
    assert setup_script(ready).read_mark() == ["unfinished"]  # so that the next one begins anew


def test_an_unknown_extra_is_rejected(ready: Path) -> None:
    done = run_setup(ready, "tests")
    assert (done.returncode, done.stderr.strip()) == (
        1,
        "Usage: python3 scripts/setup/environment.py [dist | test | test-all]",
    )


def change(path: Path) -> None:
    with path.open("a", encoding="utf-8") as file:
        file.write("\n")


@pytest.mark.parametrize("name", setup_script(ROOT).SOURCES)
def test_changed_requirements_are_noticed(ready: Path, name: str) -> None:
    change(ready / name)
    assert not setup_script(ready).is_ready([])


def test_a_moved_checkout_and_a_missing_node_modules_are_noticed(
    ready: Path, tmp_path: Path
) -> None:
    assert setup_script(ready).is_ready([])
    assert not setup_script(ready.rename(tmp_path / "elsewhere")).is_ready([])
    (tmp_path / "elsewhere").rename(ready)
    shutil.rmtree(ready / "node_modules")
    assert not setup_script(ready).is_ready([])


def serve(port: str) -> subprocess.CompletedProcess[str]:
    """Run the book's server on a port that it must reject."""
    return subprocess.run(
        [sys.executable, "-m", "scripts.site.serve", f"--port={port}"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
        timeout=30,
    )


def test_a_port_in_use_is_reported_with_a_free_one() -> None:
    with socket.create_server(("127.0.0.1", 0)) as other:
        port = other.getsockname()[1]
        done = serve(str(port))
    assert done.returncode == 1
    assert f"Port {port} is in use" in done.stderr
    assert "make serve PORT=" in done.stderr


@pytest.mark.parametrize("port", ["99999", "0", "-1", "abc", "80.5", "", "9" * 5000, "٨٠٠٠"])
def test_an_invalid_port_is_reported_in_one_line(port: str) -> None:
    done = serve(port)
    said = f"The port must be a number from 1 to 65535; got {port!r}."
    assert (done.returncode, done.stdout, done.stderr.strip()) == (1, "", said)


def test_a_reserved_port_is_not_reported_as_in_use(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(port: int) -> None:
        raise PermissionError

    monkeypatch.setattr(server, "listen", refuse)
    assert server.problem_with_port("80").startswith("Port 80 is reserved")


@pytest.mark.parametrize(
    ("statuses", "found"),
    [
        ({"chromium": 1, "google-chrome": 0}, "google-chrome"),
        ({"chromium": 0, "chromium-headless-shell": 0}, "chromium-headless-shell"),
    ],
    ids=["one that starts", "the headless shell"],
)
def test_first_browser_that_starts_is_taken_and_the_headless_shell_is_preferred(
    statuses: dict[str, int], found: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, status in statuses.items():
        program(tmp_path / name, f"exit {status}")
    monkeypatch.setenv("PATH", str(tmp_path))
    assert browser.find() == str(tmp_path / found)


def test_playwrights_browser_is_found_without_playwrights_node(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    there = Path(playwright(WHERE_IT_INSTALLS, PLAYWRIGHT_BROWSERS_PATH=str(tmp_path)))
    assert there.is_relative_to(tmp_path)
    there.parent.mkdir(parents=True)
    program(there, "exit 0")
    monkeypatch.setenv("PLAYWRIGHT_BROWSERS_PATH", str(tmp_path))
    monkeypatch.setenv("PLAYWRIGHT_NODEJS_PATH", str(tmp_path / "none"))
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr(browser, "APPLICATIONS", ())
    assert browser.find() == str(there)
    there.unlink()
    assert browser.find() is None


def test_playwright_uses_the_node_of_the_python_packages() -> None:
    assert playwright(ITS_NODE) == executable()
    assert playwright(ITS_NODE, PLAYWRIGHT_NODEJS_PATH="/a/node") == "/a/node"  # the user's choice


ITS_NODE = """\
from scripts.setup import browser
from playwright._impl._driver import compute_driver_executable
print(compute_driver_executable()[0])
"""
WHERE_IT_INSTALLS = """\
from scripts.setup import browser
from playwright.sync_api import sync_playwright
with sync_playwright() as started:
    print(started.chromium.executable_path)
"""


def playwright(script: str, **environment: str) -> str:
    """Return the output of a script in a fresh Python without Playwright's variables."""
    told = {name: v for name, v in os.environ.items() if not name.startswith("PLAYWRIGHT_")}
    command, env = [sys.executable, "-c", script], told | environment
    done = subprocess.run(command, cwd=ROOT, env=env, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


@pytest.mark.parametrize(("ci", "status"), [("true", 1), ("", 0)])
def test_a_missing_browser_fails_only_under_ci(
    ci: str, status: int, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("CI", ci)
    monkeypatch.setattr(browser, "find", lambda: None)
    monkeypatch.setattr(browser, "install", lambda: None)
    assert browser.main() == status
    assert "apt-get install chromium" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("user", "first"), [(0, "apt-get update"), (1000, f"{sys.executable} -m playwright install")]
)
def test_root_on_debian_installs_the_package_and_others_playwrights_browser(
    user: int, first: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    commands: list[str] = []
    program(tmp_path / "apt-get", "exit 1")
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr(os, "geteuid", lambda: user)
    monkeypatch.setattr(browser, "succeeds", lambda *command: commands.append(" ".join(command)))
    browser.install()
    assert commands[0].startswith(first)
    assert "playwright install chromium" in commands[-1]
    packages = [command.split()[-1] for command in commands if command.startswith("apt-get inst")]
    assert packages == (["chromium-headless-shell", "chromium"] if user == 0 else [])


@pytest.mark.slow
def test_everything_that_make_test_all_needs_is_installed() -> None:
    found = {installed.metadata["Name"].lower() for installed in closure("posenc[test-all]")}
    assert {"diffusers", "distributed", "mutmut", "ray", "torch-geometric"} <= found


def test_the_version_is_the_same_everywhere() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    version = project["version"]
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))
    changes = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    assert posenc.__version__ == version
    assert citation["version"] == version
    assert f"\n## {version}, " in changes
