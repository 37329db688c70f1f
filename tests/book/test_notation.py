"""The table of notation: letters occur where their lines say, and names are in the package."""

import inspect
import re

import posenc
from scripts import DOCS

PAGE = DOCS / "reference" / "notation.md"
ROWS = [
    [cell.strip() for cell in line.strip("|\n").split("|")]
    for line in PAGE.read_text().split("## Letters with another meaning")[0].splitlines()
    if line.startswith("| $")
]
FORMULA = re.compile(r"\$\$(.+?)\$\$|\$(.+?)\$", re.S)


def formulas(text: str) -> str:
    text = re.sub(r"```.*?```", "", text, flags=re.S)  # where $ is a prompt
    return " ".join(whole or inline for whole, inline in FORMULA.findall(text))


def letter(formula: str) -> str:
    """Return the letter itself: PE of PE(p), R of R(p), M of M_k."""
    return re.sub(r"(?<!d)_.*|\(.*", "", formula)


def test_each_letter_is_used_where_its_line_says() -> None:
    missing = []
    for row in ROWS:
        [link] = re.findall(r"\]\(([^)#]+)", row[-1])
        used = formulas((PAGE.parent / link).resolve().read_text())
        missing += [
            f"{each}: {link}"
            for each in re.findall(r"\$(.+?)\$", row[0])
            if not re.search(rf"(?<![a-zA-Z\\]){re.escape(letter(each))}(?![a-zA-Z])", used)
        ]
    assert len(ROWS) > 20 and not missing


def test_each_name_is_a_parameter_or_a_function() -> None:
    functions = {name: getattr(posenc, name) for name in posenc.__all__}
    known = {
        name
        for each in functions.values()
        if callable(each)
        for name in inspect.signature(each).parameters
    }
    named = {name for row in ROWS for name in re.findall(r"`(\w+)`", row[3])}
    assert named and named <= known | functions.keys()
