"""Fonts, style sheets and icons of the site: complete, computed from the package, legible."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from fontTools.ttLib import TTFont
from PIL import Image

from posenc import sinusoidal_encoding
from scripts import ROOT
from scripts.figures.style import DARK, LIGHT, PALETTE, Ink, ramp
from scripts.figures.typefaces import FACES, Face
from scripts.pyodide import runtime
from scripts.site import assets, framed_explorers

CSS = ROOT / "docs" / "assets" / "css"
# Whatever text may stand on, and what a sign that is no text may stand on, by WCAG 2.2.
TEXT = ("ink", "ink-2", "ink-3", "link", "bad", "warn", "string", "number", "special")
SIGNS = ("edge", "pos", "neg")


@pytest.fixture(scope="module", autouse=True)
def _without_python() -> Iterator[None]:
    """Leave out the browser's Python, which has tests of its own."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(runtime, "build", lambda folder: None)
        yield


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Build all assets into a temporary folder."""
    folder = tmp_path_factory.mktemp("assets") / "built"
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(assets, "BUILT", folder)
        assets.main()
    return folder


def contrast(one: str, other: str) -> float:
    """Return the contrast of two colours as WCAG defines it."""

    def luminance(colour: str) -> float:
        channels = np.array([*bytes.fromhex(colour[1:])]) / 255
        bright = ((channels + 0.055) / 1.055) ** 2.4
        linear = np.where(channels <= 0.04045, channels / 12.92, bright)
        return float(linear @ [0.2126, 0.7152, 0.0722])

    dark, light = sorted([luminance(one), luminance(other)])
    return (light + 0.05) / (dark + 0.05)


def test_every_file_named_in_built_css_exists(built: Path) -> None:
    for sheet in built.glob("*.css"):
        names = re.findall(r"url\(([^)]+)\)", sheet.read_text(encoding="utf-8"))
        assert sheet.name in ("marks.css", "palette.css") or names
        assert all(name.endswith(".woff2") and (built / name).is_file() for name in names)


def test_preloaded_files_exist(built: Path) -> None:
    template = (ROOT / "scripts" / "site" / "theme" / "main.html").read_text(encoding="utf-8")
    faces = re.findall(r'"((?:book|KaTeX)[\w-]+)"', template)
    assert len(faces) == 7
    assert all((built / "fonts" / f"{face}.woff2").is_file() for face in faces)


def test_own_css_requests_nothing_from_other_hosts() -> None:
    for sheet in CSS.glob("*.css"):
        addresses = re.findall(r"url\(['\"]?([^)]+)", sheet.read_text(encoding="utf-8"))
        assert all(address.startswith(("data:", "#")) for address in addresses), sheet


def test_second_build_does_nothing(built: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(assets, "BUILT", built)
    monkeypatch.setattr(assets, "font_rules", lambda: pytest.fail("built again"))
    assets.main()


def test_a_changed_source_builds_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(assets, "BUILT", tmp_path)
    (tmp_path / "stamp").write_text("of other sources")
    monkeypatch.setattr(assets, "font_rules", lambda: pytest.fail("built again"))
    with pytest.raises(pytest.fail.Exception, match="built again"):
        assets.main()
    assert not (tmp_path / "stamp").exists()


def test_missing_packages_say_what_to_do(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(assets, "BUILT", tmp_path / "built")
    monkeypatch.setattr(assets, "MODULES", tmp_path / "node_modules")
    with pytest.raises(SystemExit, match="node_modules is missing"):
        assets.main()


@pytest.mark.parametrize("face", FACES, ids=lambda face: face.core)
def test_font_subset_has_its_characters_and_its_own_name(built: Path, face: Face) -> None:
    file = built / "fonts" / face.core
    with TTFont(file) as small, TTFont(face.file("latin")) as full:
        wanted = full.getBestCmap().keys() & set(assets.code_points(assets.CORE))
        assert wanted <= small.getBestCmap().keys()
        assert {ord(character) for character in "−–’“”…·×"} <= wanted
        assert not re.search("Source|STIX", small["name"].getBestFamilyName() or "Source")
    assert file.stat().st_size < face.file("latin").stat().st_size * 0.7


def test_every_licence_is_shipped(built: Path) -> None:
    licences = [file.read_text(encoding="utf-8") for file in built.glob("licences/*.txt")]
    packages = {face.package for face in FACES}
    assert sum("SIL OPEN FONT LICENSE" in licence for licence in licences) == len(packages)


@pytest.mark.parametrize("chapter", [1, 2, 3, 4, 5])
def test_chapter_mark_is_its_row_of_the_table(built: Path, chapter: int) -> None:
    rule = re.search(rf"^\.mark-{chapter},.*$", (built / "marks.css").read_text(), re.M)
    assert rule
    cells = re.findall(r"var\(--(pos|neg)\) ([\d.]+)%", rule[0])
    shown = [float(share) / 100 * (1 if end == "pos" else -1) for end, share in cells]
    assert shown == pytest.approx(sinusoidal_encoding(6, 8)[chapter], abs=0.0006)


@pytest.mark.parametrize(("scheme", "ink"), [("light", LIGHT), ("dark", DARK)])
def test_plate_is_the_sine_half_of_the_table(built: Path, scheme: str, ink: Ink) -> None:
    with Image.open(built / f"plate-{scheme}.png") as image:
        assert (image.size, image.mode) == ((200, 64), "P")
        pixels = np.asarray(image.convert("RGB"))
    sines = sinusoidal_encoding(200, 128)[:, 0::2].T
    assert pixels[0, 0].tobytes().hex() == ink.paper[1:]
    ends = [np.array([*bytes.fromhex(end[1:])]) for end in (ink.positive, ink.negative)]
    for end, extreme in zip(ends, (sines.argmax(), sines.argmin()), strict=True):
        assert np.abs(pixels.reshape(-1, 3)[extreme] - end).max() <= 1
    assert np.abs(pixels - ramp(sines, assets.SCHEMES[scheme]).astype(int)).max() <= 2


@pytest.mark.parametrize("scheme", [0, 1], ids=["light", "dark"])
def test_text_and_signs_contrast_with_the_page(scheme: int) -> None:
    colour = {name: pair[scheme] for name, pair in PALETTE.items()}
    for ground in ("paper", "tint"):
        for text in TEXT:
            assert contrast(colour[text], colour[ground]) >= 4.5, f"{text} on {ground}"
        for sign in SIGNS:
            assert contrast(colour[sign], colour[ground]) >= 3, f"{sign} on {ground}"
    assert contrast(colour["ink"], colour["mark"]) >= 4.5


def test_pages_have_every_colour_in_light_and_dark(built: Path) -> None:
    light, dark = (built / "palette.css").read_text(encoding="utf-8").split(framed_explorers.DARK)
    shades = [dict(re.findall(r"--([\w-]+): (#\w+);", part)) for part in (light, dark)]
    assert {name: tuple(shade[name] for shade in shades) for name in shades[0]} == PALETTE


def test_no_style_sheet_has_a_colour_of_its_own() -> None:
    """Left are the white of paper, in print.css, and the black of masks, which is not seen."""
    rules = "\n".join(sheet.read_text(encoding="utf-8") for sheet in sorted(CSS.glob("*.css")))
    assert {*re.findall(r"#[0-9a-f]{3,8}\b(?=[;, )])", rules)} == {"#000", "#fff"}
