"""Each exhibit of the museum fails its vector, posenc passes it, and the kit names the bug."""

from __future__ import annotations

import ast
import inspect
import re
import runpy
import textwrap
from collections import Counter
from collections.abc import Callable
from datetime import date
from functools import cache
from typing import Any

import numpy as np
import pytest
import torch
import yaml

from posenc.vectors import Report, check
from scripts import DOCS
from scripts.book.source_listings import embedded_symbols, source
from scripts.examples.museum import FACTS, STATES, WINGS, Exhibit, effects, exhibits, precision
from scripts.examples.museum.caches import BaseNotInTheKey

pytestmark = pytest.mark.filterwarnings("error")

ADAPTER: dict[str, Any] = runpy.run_path(str(DOCS / "vectors" / "adapters" / "numpy_posenc.py"))
LONGEST = 12  # lines of a program
HEADING = re.compile(r"^## (.+) \{ #([\w-]+) \}$", re.M)
IDS = [exhibit.id for exhibit in exhibits()]
each = pytest.mark.parametrize("exhibit", exhibits(), ids=IDS)


def posenc_for(suite: str) -> Callable[..., Any]:
    """Return what posenc answers a suite with."""
    found: Callable[..., Any] = (
        ADAPTER["Rotary"] if suite == "sequences" else ADAPTER["ANSWERS"][suite]
    )
    return found


def program_report(exhibit: Exhibit, program: Callable[..., Any]) -> Report:
    """Return how a program answers the suite of an exhibit."""
    BaseNotInTheKey.tables.clear()
    return check(program, exhibit.suite, **exhibit.choice)


def faults(exhibit: Exhibit, program: Callable[..., Any]) -> list[str]:
    """Return what keeps a program from being the one of this exhibit."""
    report = program_report(exhibit, program)
    like = {one.case.id: one.like for one in report.failed}
    found = []
    if exhibit.case not in like:
        found.append(f"{exhibit.case} does not fail")
    elif exhibit.bug not in like[exhibit.case]:
        found.append(f"{exhibit.case} looks like {like[exhibit.case]}")
    BaseNotInTheKey.tables.clear()
    case = next(one.case for one in report.outcomes if one.case.id == exhibit.case)
    alone = check(program, case)  # a suite may have many failures that the exhibit is not about
    if exhibit.bug not in alone.bugs:
        found.append(f"the report says {alone.bugs}")
    return found


@each
def test_a_program_fails_its_vector_and_is_named(exhibit: Exhibit) -> None:
    assert faults(exhibit, exhibit.function) == []


@each
def test_posenc_passes_the_vectors_of_an_exhibit(exhibit: Exhibit) -> None:
    report = program_report(exhibit, posenc_for(exhibit.suite))
    assert report.failed + report.crashed + report.refused == ()
    assert exhibit.case in {one.case.id for one in report.passed}


@each
def test_a_right_program_is_no_exhibit(exhibit: Exhibit) -> None:
    assert faults(exhibit, posenc_for(exhibit.suite)) == [
        f"{exhibit.case} does not fail",
        "the report says {}",
    ]


def test_a_program_of_another_exhibit_is_found_out() -> None:
    by_id = {exhibit.id: exhibit for exhibit in exhibits()}
    assert faults(by_id["not-put-back"], by_id["tables-repeated"].function)
    assert faults(by_id["one-formula"], by_id["from-zero"].function)


@each
def test_a_program_is_short_and_says_what_it_does(exhibit: Exhibit) -> None:
    code = ast.parse(textwrap.dedent(inspect.getsource(exhibit.function))).body[0]
    assert isinstance(code, ast.FunctionDef | ast.ClassDef)
    assert ast.get_docstring(code)
    _, shown = source(symbol(exhibit), short=True)
    lines = [line for line in shown.splitlines() if line.strip()]
    assert 3 <= len(lines) <= LONGEST + isinstance(code, ast.ClassDef)


def symbol(exhibit: Exhibit) -> str:
    """Return the name under which a page embeds the program."""
    return f"scripts.examples.museum.{exhibit.wing}.{exhibit.program}"


# Facts


def test_there_are_exhibits_in_every_wing() -> None:
    counts = Counter(exhibit.wing for exhibit in exhibits())
    assert [*counts] == [*WINGS]
    assert min(counts.values()) >= 4
    assert len(exhibits()) >= 24


@pytest.mark.parametrize("key", ["id", "title", "link", "program"])
def test_no_two_exhibits_share(key: str) -> None:
    counts = Counter(getattr(exhibit, key) for exhibit in exhibits())
    assert [name for name, count in counts.items() if count > 1] == []


@each
def test_a_link_is_a_thread_with_dates_in_order(exhibit: Exhibit) -> None:
    assert re.fullmatch(r"https://github\.com/[\w.-]+/[\w.-]+/(?:issues|pull)/\d+", exhibit.link)
    read = yaml.safe_load(FACTS.read_text("utf-8"))["read"]
    assert date(2020, 1, 1) < exhibit.dated <= (exhibit.fixed or exhibit.dated) <= read
    assert exhibit.state in STATES
    assert exhibit.fixed is None or exhibit.state != "open"


# Pages


@cache
def plates(wing: str) -> dict[str, tuple[str, str]]:
    """Return the titles and texts of the sections of the page of a wing, by their anchors."""
    text = (DOCS / "museum" / f"{wing}.md").read_text("utf-8")
    _, *parts = HEADING.split(text)
    return dict(zip(parts[1::3], zip(parts[::3], parts[2::3], strict=True), strict=True))


@pytest.mark.parametrize("wing", WINGS)
def test_a_page_has_the_exhibits_of_its_wing_in_order(wing: str) -> None:
    ours = [exhibit.id for exhibit in exhibits() if exhibit.wing == wing]
    assert [*plates(wing)] == ours


@each
def test_a_plate_says_what_the_facts_say(exhibit: Exhibit) -> None:
    title, section = plates(exhibit.wing)[exhibit.id]
    assert title == exhibit.title
    assert embedded_symbols(section) == [symbol(exhibit)]
    plate = " ".join(section.split())
    facts = (
        *(f"]({exhibit.link})", f"`{exhibit.case}`", f"*{exhibit.bug}*"),
        *(exhibit.dated_in_words, exhibit.state_in_words),
    )
    assert [fact for fact in facts if fact not in plate] == []
    assert re.search(r"\{\{ \S+ = [^}]*effects\.", plate)  # its effect is computed


# The figures need no torch, so effects.py computes in numpy what precision.py does in torch.


@pytest.mark.parametrize("base", [1e4, 5e5])
def test_numpy_casts_frequencies_as_a_model_does(base: float) -> None:
    model = precision.CastWithTheModel(128, base, "half")
    model.cast("bfloat16")
    assert (effects.cast_frequencies(128, base)[1] == model.inv_freq.double().numpy()).all()


def test_numpy_rounds_to_bfloat16_as_torch_does() -> None:
    near = np.arange(2**16, 2**16 + 2048)  # has all ties
    x = np.concatenate([near, -near, 1 / near, [0.0]]).astype(np.float32)
    assert (effects.bfloat16(x) == torch.from_numpy(x).bfloat16().double().numpy()).all()
    assert not (effects.bfloat16(x) == x).all()


def test_numpy_collapses_an_image_as_the_exhibit_does() -> None:
    ours = effects.image_scores(effects.collapsed)
    assert (ours == effects.image_scores(precision.collapsed)).all()


def test_numpy_has_as_many_angles_as_autocast() -> None:
    omega = torch.tensor([[1.0]])
    with torch.autocast("cpu", dtype=torch.bfloat16):
        angles = torch.arange(4096.0)[:, None] @ omega
    assert effects.distinct_angles(4096) == len(torch.unique(angles))


def test_numpy_halves_cosines_as_torch_does() -> None:
    omega = torch.tensor(10000 ** (-np.arange(16) / 16))
    places = torch.arange(2048)
    half = torch.outer(places.half(), omega.half()).cos()
    error = (half.double() - torch.outer(places, omega).cos()).abs().max()
    assert effects.half_cosines() == pytest.approx(float(error), abs=1e-9)
