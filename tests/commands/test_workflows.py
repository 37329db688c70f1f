"""CI checks what the book promises: bare Debian, every Python, the package on other systems."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

from scripts import ROOT
from scripts.proofs import install
from scripts.setup import bare_debian
from scripts.setup.environment import ELSEWHERE, OLDEST
from tests.site import engines

ACTION = yaml.safe_load((ROOT / "action.yml").read_text(encoding="utf-8"))
WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))
PACKAGE_TESTS = ("tests/package", "tests/nn", "tests/diagnose")


def jobs(name: str) -> dict[str, Any]:
    text = (ROOT / ".github" / "workflows" / name).read_text(encoding="utf-8")
    found: dict[str, Any] = yaml.safe_load(text)["jobs"]
    return found


def commands(job: dict[str, Any]) -> list[str]:
    return [step["run"].strip() for step in job["steps"] if "run" in step]


@pytest.mark.parametrize(
    ("name", "debian", "checks"),
    [
        ("everything", "12", ["bash .ci/run"]),
        ("newer", "13", ["python3 scripts/setup/reader.py", "make test"]),
    ],
)
def test_bare_debians_install_the_same_packages_and_check_the_book(
    name: str, debian: str, checks: list[str]
) -> None:
    job = jobs("checks.yml")[name]
    assert job["container"] == f"debian:{debian}-slim"
    install, trust, *found = commands(job)
    packages = install.partition("--no-install-recommends ")[2].split()
    assert packages == sorted(bare_debian.PACKAGES)
    assert trust == 'git config --global --add safe.directory "$GITHUB_WORKSPACE"'
    assert found == checks


def test_an_action_hands_each_input_to_the_command() -> None:
    *_, step = ACTION["runs"]["steps"]
    assert step["env"] == {name.upper(): f"${{{{ inputs.{name} }}}}" for name in ACTION["inputs"]}
    assert all(f"${name}" in step["run"] for name in step["env"])


@pytest.mark.parametrize(
    ("given", "status"),
    [
        ({}, 1),
        ({"KNOWN": "known.txt"}, 0),
        ({"KNOWN": "known.txt", "STRICT": "true"}, 1),
        ({"KNOWN": "no such file.txt"}, 2),
        ({"SUITE": "swin", "CONTRACT": "float64", "REPORT": "a report.xml", "BADGE": "b.json"}, 1),
    ],
)
def test_an_action_runs_the_vectors(given: dict[str, str], status: int, tmp_path: Path) -> None:
    program = """import json, sys
for line in sys.stdin:
    asked = json.loads(line)
    told = {"id": asked["id"], "ok": [[0]]} if "id" in asked else {"suites": ["swin"]}
    print(json.dumps(told), flush=True)
"""
    (tmp_path / "answer.py").write_text(program, "utf-8")
    (tmp_path / "known.txt").write_text("swin/window-00[2-5]  # by design\n", "utf-8")
    command = tmp_path / "posenc" / "bin" / "posenc"
    command.parent.mkdir(parents=True)
    command.write_text(f'#!/bin/sh\nexec {sys.executable} -m posenc "$@"\n', "utf-8")
    command.chmod(0o755)
    *_, step = ACTION["runs"]["steps"]
    environment = os.environ | dict.fromkeys(step["env"], "") | {"STRICT": "false"} | given
    environment |= {"RUNNER_TEMP": str(tmp_path), "COMMAND": f"{sys.executable} answer.py"}
    environment["PYTHONPATH"] = str(ROOT)
    done = subprocess.run(
        ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", step["run"]],
        cwd=tmp_path,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == status, done.stdout + done.stderr
    for name in ("REPORT", "BADGE"):
        assert name not in given or (tmp_path / given[name]).is_file()


def test_ci_checks_the_reader_first_then_make_test_then_the_rest() -> None:
    script = (ROOT / ".ci" / "run").read_text(encoding="utf-8")
    checks = re.search(r"^for check in (.+); do$", script, re.M)
    assert checks and shlex.split(checks[1]) == [
        "python3 scripts/setup/reader.py",
        "make test",
        "make rest",
    ]
    packages = script[script.index("--no-install-recommends") :].partition(">")[0].split()[1:]
    assert {*packages} - {"\\"} == {
        *engines.PACKAGES.split(),
        *install.PACKAGES,
        *("g++", "python3-dev"),  # for kernels that PyTorch compiles
    }


def test_the_proofs_are_checked_on_bare_debians() -> None:
    job = jobs("checks.yml")["proofs"]
    assert job["strategy"]["matrix"]["debian"] == ["12", "13"]
    assert job["container"] == "debian:${{ matrix.debian }}-slim"
    install, prove = commands(job)
    packages = install.partition("--no-install-recommends ")[2].split()
    assert packages == sorted({*bare_debian.PACKAGES} - {"python3-venv"})
    assert prove == "make prove"


def test_every_system_runs_the_tests_of_every_module_on_every_python() -> None:
    job = jobs("checks.yml")["package"]
    assert job["strategy"]["matrix"]["system"] == [
        "ubuntu-latest",
        "macos-latest",
        "windows-latest",
    ]
    known = [name.removeprefix("python") for name in ELSEWHERE if "." in name]
    assert job["strategy"]["matrix"]["python"] == known[::-1]
    assert known[-1] == ".".join(map(str, OLDEST))
    *_, command = commands(job)
    assert command == f"python -m pytest posenc {' '.join(PACKAGE_TESTS)}"
    assert all(list((ROOT / room).glob("test_*.py")) for room in PACKAGE_TESTS)


def test_tests_of_the_package_import_nothing_that_windows_lacks() -> None:
    files = [path for room in PACKAGE_TESTS for path in (ROOT / room).glob("*.py")]
    files += (ROOT / "tests").glob("*.py")
    posix = re.compile(r"^(?:import|from) (?:fcntl|grp|pwd|resource|termios|pty)\b", re.M)
    assert [path.name for path in files if posix.search(path.read_text("utf-8"))] == []


# scripts/setup/bare_debian.py, as far as it runs without root


@pytest.mark.parametrize(
    "text",
    [
        "deb http://mirror.example/debian bookworm main\n",
        "deb [signed-by=/a/key.gpg] http://mirror.example/debian bookworm main\n",
        "Types: deb\nURIs: http://other.example/x\n\nURIs: http://mirror.example/debian\nSuites: s",
        "deb http://mirror.example/debian-security s main\ndeb http://mirror.example/debian s main",
    ],
)
def test_the_mirror_is_read_from_apts_sources(text: str) -> None:
    found = bare_debian.SOURCE.search(text)
    assert found and found["mirror"] == "http://mirror.example/debian"


def test_the_bare_machine_gets_only_the_index_settings(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "index" / "simple").mkdir(parents=True)
    (tmp_path / "wheels").mkdir()
    monkeypatch.setattr(
        bare_debian, "pip_settings", lambda: {"PIP_FIND_LINKS": str(tmp_path / "wheels")}
    )
    told = {"PIP_EXTRA_INDEX_URL": f"file://{tmp_path}/index/simple", "npm_config_cafile": "/a.crt"}
    told |= {"https_proxy": "http://proxy.example:3128", "SSL_CERT_FILE": "/a.crt"}
    for name in list(os.environ):
        if bare_debian.INDEX_VARIABLES.search(name):
            monkeypatch.delenv(name)
    for name, value in {**told, "SECRET": "x", "VIRTUAL_ENV": "/y", "PYTHONPATH": "/z"}.items():
        monkeypatch.setenv(name, value)
    own = {"PIP_FIND_LINKS": str(tmp_path / "wheels"), "HOME": "/root", "CI": "true"}
    environment = bare_debian.environment()
    del environment["PATH"]
    assert environment == told | own
    assert bare_debian.folders() == [str(tmp_path / "index"), str(tmp_path / "wheels")]


def test_failure_shows_the_end_of_the_log_and_a_pass_does_not(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    log = tmp_path / "said.log"
    log.write_text("\n".join(f"line {n}" for n in range(100)))
    assert bare_debian.say("make test", 0.0, "3 passed", log)
    assert "line 99" not in capsys.readouterr().out
    assert not bare_debian.say("make test", 0.0, "", log)
    said = capsys.readouterr().out
    assert "make test: FAILED" in said
    assert "line 99" in said and "line 79" not in said


def test_bare_debian_needs_root(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("os.geteuid", lambda: 1000)
    assert "as root" in bare_debian.missing_requirement()
