"""The site in Firefox and in WebKit: every page fits a phone, and its scripts work."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from unittest.mock import patch

import pytest

from tests.site.engines import ENTER, UP, Engine, address, firefox, minibrowser, running, webkit
from tests.site.served import Site, paths
from tests.site.visits import DESK, JUMP_AFTER_SCROLL, NOWHERE, PERMALINK, PHONE, TOO_WIDE, UNFOLD

pytestmark = pytest.mark.slow  # needs what only `make test-all` installs

TEXT = "selector => document.querySelector(selector)?.textContent ?? ''"
SAYS = f"(selector, said) => ({TEXT})(selector).includes(said)"
RIGHT_ANSWER = "#question-1 input[value=A]"


@pytest.fixture(scope="module", params=[firefox, webkit], ids=["firefox", "webkit"])
def engine(request: pytest.FixtureRequest) -> Iterator[Engine]:
    with request.param() as engine:
        yield engine


# A Firefox that writes more than a pipe holds before its address; argument 4 is the profile.
TALKATIVE = """#!/bin/sh
head -c 200000 /dev/zero >&2
echo '{"ws_host": "127.0.0.1", "ws_port": 9}' > "$4/WebDriverBiDiServer.json"
exec sleep 600
"""


def test_firefox_with_much_output_is_connected_to(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "firefox-esr").write_text(TALKATIVE, "utf-8")
    (tmp_path / "firefox-esr").chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}{os.pathsep}{os.environ['PATH']}")
    with (
        patch("tests.site.engines.connect") as connect,
        patch("tests.site.engines.Firefox"),
        firefox(),
    ):
        connect.assert_called_once_with("ws://127.0.0.1:9/session", max_size=None)


def test_firefox_that_exits_early_is_an_error(tmp_path: Path) -> None:
    with running(["sh", "-c", "exit 3"]) as started, pytest.raises(AssertionError, match="with 3"):
        address(started, tmp_path)


def test_webkit_without_its_browser_is_skipped(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("CI", raising=False)
    monkeypatch.setattr("tests.site.engines.USR", tmp_path)
    with pytest.raises(pytest.skip.Exception, match="MiniBrowser is not installed"):
        minibrowser()


def test_every_page_fits_a_phone(engine: Engine, site: Site) -> None:
    engine.resize(PHONE)
    wide = {}
    for path in [*paths(), NOWHERE]:
        engine.open(site.url + path)
        engine.evaluate(UNFOLD)
        if found := engine.evaluate(TOO_WIDE):
            wide[path] = found[:3]
    assert wide == {}


def test_search_explorer_quiz_and_run_work(engine: Engine, site: Site) -> None:
    engine.resize(DESK)
    engine.open(site.url)
    engine.click(".search-field")
    engine.type("alibi")
    engine.wait("() => document.querySelector('.search-found a[href*=alibi]')?.href")
    engine.click(".search-found a[href*='/alibi/']")
    engine.wait("() => /alibi/.test(location.pathname)")

    engine.open(f"{site.url}explore/heatmap/")
    engine.wait(SAYS, "explore-heatmap [role=status]", "Row")
    before = engine.evaluate(TEXT, "explore-heatmap [role=status]")
    engine.click("#heatmap-row")
    engine.type(UP)
    changed = f"(selector, before) => ({TEXT})(selector) !== before"
    engine.wait(changed, "explore-heatmap [role=status]", before)

    engine.open(f"{site.url}chapters/check-yourself/quiz/")
    engine.click(RIGHT_ANSWER)
    engine.type(ENTER)
    engine.wait(SAYS, "#question-1 [role=status]", "A is")

    engine.open(f"{site.url}reference/baselines/")
    engine.click(".run button")
    engine.wait(SAYS, ".runs", "Done")


def test_jump_right_after_scrolling_leads_to_its_heading(engine: Engine, site: Site) -> None:
    engine.resize(PHONE)
    engine.open(f"{site.url}chapters/at-the-board/why/")
    for _ in range(2):
        came, top = engine.evaluate(JUMP_AFTER_SCROLL, PERMALINK)
        assert came
        assert 0 <= top < 100
