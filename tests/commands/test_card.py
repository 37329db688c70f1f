"""The committed preview card is what its script draws, with the words of the home page."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml
from PIL import Image

from scripts import DOCS, ROOT
from scripts.figures import card


def test_the_committed_picture_is_what_the_script_draws() -> None:
    assert card.mean_difference(card.CARD) <= 1.0


def test_the_card_has_the_standard_size_and_is_small() -> None:
    assert size(card.CARD) == card.SIZE == (1200, 630)
    assert card.CARD.stat().st_size < 60_000


def test_the_picture_says_what_the_home_page_says() -> None:
    named = (ROOT / "mkdocs.yml").read_text(encoding="utf-8").splitlines()[0]
    assert yaml.safe_load(named)["site_name"] == card.TITLE
    home = (DOCS / "index.md").read_text(encoding="utf-8")
    assert f"# {card.TITLE}\n\n{card.LEAD}\n" in home


def test_a_different_card_is_detected_and_redrawn(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    other = tmp_path / "card.png"
    assert card.mean_difference(other) == 255
    Image.new("RGB", (10, 10)).save(other)
    assert card.mean_difference(other) == 255
    monkeypatch.setattr(card, "LEAD", "By hand")
    assert card.mean_difference(card.CARD) > 1
    monkeypatch.setattr(card, "CARD", other)
    card.main()
    card.main()
    assert capsys.readouterr().out == "card: drawn\n"
    assert size(other) == card.SIZE


def size(path: Path) -> tuple[int, int]:
    with Image.open(path) as picture:
        return picture.size
