"""Which sessions of a page run in the browser, and how the page's Python runs them."""

from __future__ import annotations

import re
from html import unescape
from urllib.parse import unquote

import pytest

from scripts.book.render import render
from scripts.book.run import runnable_sessions
from scripts.pyodide.session import Page


def page(*sessions: str) -> str:
    """Return a page of sessions, without what they print."""
    prompts = [
        "".join(f"{'... ' if line[0] == ' ' else '>>> '}{line}\n" for line in session.splitlines())
        for session in sessions
    ]
    return "\n".join(f"Words.\n\n```pycon\n{prompt}```\n" for prompt in prompts)


def runnable_numbers(*sessions: str) -> list[int]:
    """Return the numbers of the sessions that run, of a page of them."""
    text = page(*sessions)
    starts = [place for place in range(len(text)) if text.startswith("```pycon", place)]
    return [starts.index(found.start) for found in runnable_sessions(text)]


@pytest.mark.parametrize(
    ("statement", "runs"),
    [
        ("import numpy as np", True),
        ("import numpy.linalg, posenc", True),
        ("from posenc import frequencies", True),
        ("from posenc.rotary.rope import apply_rope", True),
        ("from itertools import product", True),
        ("nn = 1\nnn.real", True),
        ("import posenc\nposenc.frequencies(8)", True),
        ("import torch", False),
        ("import numpy as np, torch.nn", False),
        ("from torch import nn", False),
        ("import posenc.nn", False),
        ("import posenc.diagnose", False),
        ("from posenc import frequencies, nn", False),
        ("from posenc.nn import RotaryEmbedding", False),
        ("import matplotlib.pyplot as plt", False),
        ("from scripts import assets", False),
        ("import posenc\nlayer = posenc.nn.ALiBi(2)", False),
        ("np.pi  # which nothing above has imported", False),
        ("def layer():\n    import torch", False),
    ],
)
def test_sessions_that_need_only_numpy_run(statement: str, runs: bool) -> None:
    assert runnable_numbers("1", statement, "2") == ([0, 1, 2] if runs else [0, 2])


@pytest.mark.parametrize(
    ("statement", "needs"),
    [
        ("import torch", "PyTorch"),
        ("from posenc import nn", "PyTorch"),
        ("import torch\nx = torch.ones(2)\ny = x", "PyTorch"),
        ("from scripts import assets", "a checkout of the book"),
    ],
)
def test_a_session_without_a_button_says_what_it_needs(statement: str, needs: str) -> None:
    html = render(page("1", statement))
    assert html.count(" data-needs=") == 1
    assert f'data-needs="{needs}"' in html


def test_a_page_without_buttons_names_no_needs() -> None:
    assert "data-needs" not in render(page("import torch"))


@pytest.mark.parametrize(
    ("sessions", "runnable"),
    [
        (["x = 1", "import torch\nx = torch.ones(2)", "x", "x = 2", "x"], [0, 3, 4]),
        (["import torch", "def f():\n    return [torch.ones(n) for n in range(3)]", "f()"], []),
        (["import torch", "def f():\n    torch", "g = lambda: f()", "g()"], []),
        (["import torch\nx = torch.ones(1)", "sum(x for x in [1])", "def f(x):\n    x"], [1, 2]),
    ],
    ids=["until redefined", "in a function", "through a function", "own scope"],
)
def test_names_from_torch_are_missing(sessions: list[str], runnable: list[int]) -> None:
    assert runnable_numbers(*sessions) == runnable


def test_runnable_lines_of_a_mixed_session_precede_the_next() -> None:
    first, second, third = runnable_sessions(
        page("1", "import torch\nimport numpy as np\nt = torch.ones(1)\nz = 0", "np.ones(1)", "z")
    )
    assert first.before == third.before == ""
    assert second.before == "import numpy as np\nz = 0\n"


def test_runnable_sessions_are_marked_even_inside_a_box() -> None:
    inside = page("import torch\nx = 'a \"b\" & c'", "x").replace("\n", "\n    ")
    shown = render(f"# A title\n\n!!! aside\n\n    {inside}\n")
    assert shown.count("language-pycon") == 2
    (mark,) = [tag for tag in shown.split("<div ") if "runs" in tag]
    assert unquote(unescape(mark.split('data-before="')[1].split('"')[0])) == "x = 'a \"b\" & c'\n"


def test_a_hidden_session_runs_silently_before_the_next_and_is_not_shown() -> None:
    text = page("x = 1", "x + 1").replace("```pycon", "```pycon hidden", 1)
    assert [found.before for found in runnable_sessions(text)] == ["x = 1\n"]
    html = render(text)
    assert html.count("<pre") == 1
    assert "hidden" not in html
    assert "x = 1" not in re.sub("<[^>]*>", "", html)


def printed(capsys: pytest.CaptureFixture[str], page: Page, source: str, place: str = "a") -> str:
    page.run(source, place)
    out, err = capsys.readouterr()
    return str(out + err)


def test_values_are_echoed_and_none_is_not(capsys: pytest.CaptureFixture[str]) -> None:
    page = Page()
    assert printed(capsys, page, "x = 2\nx\nNone\nprint('so')\nx, 'y'") == "2\nso\n(2, 'y')\n"
    assert printed(capsys, page, "x + 1; x + 2\nif x:\n    x") == "3\n4\n2\n"


def test_output_without_a_newline_is_printed(capsys: pytest.CaptureFixture[str]) -> None:
    assert printed(capsys, Page(), "print('x', end='')") == "x"


def test_a_traceback_omits_our_frames_and_the_rest_runs(
    capsys: pytest.CaptureFixture[str],
) -> None:
    page = Page()
    page.run("def f(x):\n    return 1 / x", "example 1")
    shown = printed(capsys, page, "3\nf(0)\n4", "example 2")
    assert re.sub(r"^ *[~^]+\n", "", shown, flags=re.M) == (
        "3\n4\nTraceback (most recent call last):\n"
        '  File "<example 2>", line 2, in <module>\n    f(0)\n'
        '  File "<example 1>", line 2, in f\n    return 1 / x\n'
        "ZeroDivisionError: division by zero\n"
    )


@pytest.mark.parametrize("source", ["1\nx =\n", "1\nreturn 2\n"])
def test_code_with_a_syntax_error_does_not_run(
    capsys: pytest.CaptureFixture[str], source: str
) -> None:
    shown = printed(capsys, Page(), source, "example 3")
    assert shown.startswith('  File "<example 3>", line 2\n    ')
    assert "SyntaxError: " in shown


def test_system_exit_is_shown_as_an_error(capsys: pytest.CaptureFixture[str]) -> None:
    assert printed(capsys, Page(), "raise SystemExit(3)\n4").endswith("SystemExit: 3\n")


def test_a_group_starts_with_the_names_of_its_module_alone(
    capsys: pytest.CaptureFixture[str],
) -> None:
    page = Page()
    page.run("x = 1", "a")
    page.run("x", "a", "f", "posenc.embeddings.sinusoidal")
    page.run("np.pi > 3, __name__", "a", "f", "posenc.embeddings.sinusoidal")
    out, err = capsys.readouterr()
    assert out == "(True, '__main__')\n"
    assert err.endswith("NameError: name 'x' is not defined\n")
