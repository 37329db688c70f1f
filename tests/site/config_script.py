"""Runs the workbench's JavaScript in V8, and the command that it mirrors."""

from __future__ import annotations

import json
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from io import StringIO
from pathlib import Path
from typing import Any, NamedTuple

from posenc.__main__ import config
from posenc._console import REPORT
from scripts import DOCS
from scripts.setup.node import node
from scripts.site import workbench

SCRIPTS = DOCS / "assets" / "js"
NAME = "config.json"
# Answers a line of JSON, the name of a task with what it needs, with a line of JSON.
ANSWER = """
    import {{ createInterface }} from "node:readline";
    const load = (name) => import(`{folder}/${{name}}`);
    const {{ answered, json, printout }} = await load("command.js");
    const {{ beside }} = await load("beside.js");
    const {{ servingOf, servingText }} = await load("serving.js");
    const plain = (key, value) => typeof value === "bigint" ? `${{value}}n`
        : value instanceof Map || value instanceof Set ? [...value] : value;
    const tasks = {{
        async answer(text, ...lengths) {{
            const asked = lengths.map((one) => one === null ? null : BigInt(one));
            const found = answered(text, ...asked);
            const {{ status, error = null }} = found;
            return error === null
                ? [status, printout(found), null, json(found)] : [status, null, error, null];
        }},
        async beside(text, length) {{
            const {{ settings, layers }} = answered(text, BigInt(length));
            return beside(settings[0], layers[0]);
        }},
        async serving(text, length, program) {{
            const {{ settings, layers }} = answered(text, BigInt(length));
            return servingText(servingOf(program, settings, layers));
        }},
        async call(name, made, calls) {{
            const module = await load(name);
            const called = (given) => {{
                try {{ return module[made](...given); }} catch ({{ message }}) {{ return message; }}
            }};
            return calls.map(called);
        }},
        async tables() {{
            return {{ ...await load("tables.js") }};
        }},
    }};
    for await (const line of createInterface({{ input: process.stdin }})) {{
        const [task, ...given] = JSON.parse(line);
        console.log(JSON.stringify(await tasks[task](...given), plain));
    }}"""


class Answer(NamedTuple):
    """An exit status with words and JSON, or with an error."""

    status: int
    words: str | None
    error: str | None
    numbers: str | None


def copy_scripts(folder: Path) -> Path:
    """Copy the scripts of the workbench to a folder, with those that are made."""
    shutil.copytree(SCRIPTS / "config", folder / "config")
    shutil.copy(SCRIPTS / "positions.js", folder)
    (folder / "package.json").write_text('{"type": "module"}')
    for name, content in workbench.scripts().items():
        (folder / "config" / name).write_text(content, encoding="utf-8")
    return folder / "config"


class Script:
    """The scripts of a folder, running in V8."""

    def __init__(self, running: subprocess.Popen[str]) -> None:
        self.running = running

    def __call__(self, text: str, length: int | None = None, trained: int | None = None) -> Answer:
        """Return what the script answers about the text of a configuration."""
        asked = [None if one is None else str(one) for one in (length, trained)]
        return Answer(*self._send("answer", text, *asked))

    def beside(self, text: str, length: int) -> Any:
        """Return the rules that are shown beside a configuration."""
        return self._send("beside", text, str(length))

    def serving(self, text: str, length: int, program: str) -> str:
        """Return what to start a program with."""
        return str(self._send("serving", text, str(length), program))

    def call(self, file: str, name: str, calls: list[Any]) -> Any:
        """Call a function of a file with each list of arguments."""
        return self._send("call", file, name, calls)

    def tables(self) -> Any:
        """Return the tables that are made, with lists for maps and sets."""
        return self._send("tables")

    def _send(self, *task: Any) -> Any:
        assert self.running.stdin is not None and self.running.stdout is not None
        print(json.dumps(task), file=self.running.stdin, flush=True)
        line = self.running.stdout.readline()
        assert line, f"the script failed on {task!r}"
        return json.loads(line)


@contextmanager
def running_script(folder: Path) -> Iterator[Script]:
    code = ANSWER.format(folder=folder.as_uri())
    with subprocess.Popen(
        node("--no-warnings", "--input-type=module", "-e", code),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as process:
        yield Script(process)


def command_answer(text: str, length: int | None = None, trained: int | None = None) -> Answer:
    """Return what the command answers about a file in the current folder with this text."""
    Path(NAME).write_text(text, encoding="utf-8")
    status, said, error = _printed(length, trained=trained)
    if status == 2:
        said = error.removeprefix(f"posenc config {NAME}: ").removesuffix(f"\n{REPORT}\n")
        return Answer(status, None, said, None)
    numbers = _printed(length, trained=trained, as_json=True)[1]
    return Answer(status, said.rstrip("\n"), None, numbers.rstrip("\n"))


def command_serving(text: str, length: int, program: str) -> str:
    """Return what the command prints to start a program with."""
    Path(NAME).write_text(text, encoding="utf-8")
    return _printed(length, program=program)[1].removesuffix(f"\n\n# {REPORT}\n")


def _printed(length: int | None, **options: Any) -> tuple[int, str, str]:
    out, err = StringIO(), StringIO()
    with redirect_stdout(out), redirect_stderr(err):
        status = config(NAME, length, **options)
    return status, out.getvalue(), err.getvalue()


def assert_same_numbers(mine: Any, theirs: Any, place: str = "") -> None:
    """Compare what JSON holds: types and all exactly, but floats to 1e-12 of their size."""
    assert type(mine) is type(theirs), f"{place}: {mine!r} is not {theirs!r}"
    if isinstance(theirs, dict):
        assert list(mine) == list(theirs), place
        for key, value in theirs.items():
            assert_same_numbers(mine[key], value, f"{place}.{key}")
    elif isinstance(theirs, list):
        assert len(mine) == len(theirs), place
        for number, value in enumerate(theirs):
            assert_same_numbers(mine[number], value, f"{place}.{number}")
    elif isinstance(theirs, float):
        assert abs(mine - theirs) <= 1e-12 * abs(theirs), f"{place}: {mine!r} is not {theirs!r}"
    else:
        assert mine == theirs, f"{place}: {mine!r} is not {theirs!r}"


def assert_same(mine: Answer, theirs: Answer) -> None:
    """Compare two answers: words exactly, numbers to 1e-12."""
    assert (mine.status, mine.error) == (theirs.status, theirs.error)
    assert mine.words == theirs.words
    if theirs.numbers is not None:
        assert mine.numbers is not None
        assert_same_numbers(json.loads(mine.numbers), json.loads(theirs.numbers))
