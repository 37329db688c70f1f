"""Every committed figure is what its script draws, is complete, and is shown on a page."""

from __future__ import annotations

import io
import json
import re
import shutil
import subprocess
import sys
from base64 import b64decode, b64encode
from collections.abc import Callable
from functools import cache
from pathlib import Path

import numpy as np
import pytest
from markdown import Markdown
from matplotlib.figure import Figure
from mkdocs.commands.build import build
from mkdocs.config import load_config
from mkdocs.config.defaults import MkDocsConfig
from mkdocs.exceptions import PluginError
from numpy.typing import NDArray
from PIL import Image

from posenc import sinusoidal_encoding
from scripts import ROOT
from scripts.book import pages
from scripts.book.figures import FigureError, FiguresExtension, size
from scripts.figures import FIGURES, SCRIPTS, VARIANTS, picture_file, scripts
from scripts.figures import __main__ as command
from scripts.figures._check import check, differences, files, orphans, shapes
from scripts.figures._dark import COLOUR, PIXELS, dark, dark_colour
from scripts.figures._plotted import as_text, plotted_data
from scripts.figures._render import Script, drawn_variant, load, svg
from scripts.figures.style import DARK, LIGHT, ramp
from scripts.site import dark_figures

STEMS = [path.stem for path in scripts()]
WAVES = SCRIPTS / "waves.py"
Edit = Callable[[re.Match[str]], str]
IMAGE = re.compile(
    r"""!\[(?P<alt>[^]]*)\]\((?P<path>[^)]*)\)
      | <img\s(?=[^>]*\balt="(?P<html_alt>[^"]*)")[^>]*\bsrc="(?P<html_path>[^"]*)" """,
    re.VERBOSE,
)


@pytest.mark.parametrize("path", scripts(), ids=STEMS)
def test_committed_figure_is_what_its_script_draws(path: Path) -> None:
    assert check(path) == []


def test_every_committed_file_belongs_to_a_script() -> None:
    assert orphans() == []


@pytest.mark.parametrize("stem", STEMS)
def test_every_figure_is_shown_with_alt_text(stem: str) -> None:
    shown = [alt for alt, path in images() if Path(path).name == f"{stem}-light.svg"]
    assert shown, f"no page shows {stem}"
    assert all(alt.strip() for alt in shown), f"{stem} is shown without words"


@pytest.mark.parametrize("stem", STEMS)
def test_wide_and_phone_drawings_have_the_sizes_of_their_script(stem: str) -> None:
    script = load(SCRIPTS / f"{stem}.py")
    for variant in VARIANTS:
        said = script.PHONE if variant.startswith("phone") else script.SIZE
        assert size(picture_file(stem, variant)) == tuple(map(str, said))


@pytest.mark.parametrize("stem", STEMS)
def test_drawings_contain_no_metadata(stem: str) -> None:
    for variant in VARIANTS:
        text = picture_file(stem, variant).read_text(encoding="utf-8")
        assert not re.search("<metadata|<dc:|Created with", text)


def test_drawing_is_deterministic() -> None:
    first, second = (drawing_svg(load(WAVES), "light") for _ in range(2))
    assert first == second


# Planted faults: each changes what a copy of a script draws, and the check must name the place.


@pytest.mark.parametrize(
    ("stem", "written", "planted", "reported"),
    [
        ("waves", "(between, WIDTH)", "(between, WIDTH, base=1000)", "panels[1].lines[0].y[1]"),
        ("waves", "xlim=(-10, 410)", "xlim=(-10, 500)", "panels[1].x.ends[1]"),
        ("waves", "a {kind}:", "the {kind}:", "panels[1].words[0].says"),
        ("clocks", "(LENGTH, WIDTH)", "(LENGTH, WIDTH, base=100)", "panels[5].lines[1].x[1]"),
        ("heatmap", "(LENGTH, WIDTH)", "(LENGTH, WIDTH, base=1000)", "panels[0].images[0].rows"),
        ("heatmap", "vmin=-1", "vmin=-2", "panels[0].images[0].ends[0]"),
        ("shift", "OFFSET, PAIRS = 8, 2, 2", "OFFSET, PAIRS = 8, 3, 2", "panels[0].lines[1].x[1]"),
        ("similarity", "(lags, width)", "(lags, width, base=500)", "panels[0].lines[1].y[1]"),
        ("plate", "0::2", "1::2", "panels[0].images[0].rows[0][0]"),
        ("extrapolation", "(0, 1), axis", "(0.5, 1), axis", "panels[0].dots[0][0][1][1]"),
    ],
)
def test_a_script_that_draws_something_else_is_reported(
    tmp_path: Path, stem: str, written: str, planted: str, reported: str
) -> None:
    faults = check(changed_copy(tmp_path, stem, written, planted), variants=["light"])
    assert faults
    assert all(fault.startswith(f"{stem}: ") for fault in faults)
    assert any(reported in fault and "committed" in fault for fault in faults), faults


def test_a_phone_drawing_with_other_data_than_the_wide_one_is_reported(tmp_path: Path) -> None:
    faults = check(changed_copy(tmp_path, "plate", "[:, 0::2]", "[:, int(narrow)::2]"))
    assert {fault.split(":")[1].strip() for fault in faults} == {"phone-light"}


def test_a_drawing_that_is_missing_or_without_a_script_is_reported(tmp_path: Path) -> None:
    folder = copied(tmp_path, "waves")
    (folder / "waves-phone-light.svg").rename(folder / "waves-old-light.svg")
    missing = "waves: waves-phone-light.svg missing; `make figures` draws them"
    assert check(WAVES, folder) == [missing]
    assert orphans(folder) == ["waves-old-light.svg: no script draws it"]


@pytest.mark.parametrize(
    ("stem", "shade", "written", "edited"),
    [
        ("plate", "light", 'height="192pt"', 'height="193pt"'),
        ("plate", "dark", 'height="192pt"', 'height="193pt"'),
        ("plate", "light", PIXELS, lambda png: encoded_bitmap(np.flipud(decoded_bitmap(png[0])))),
        ("waves", "light", f"stroke: {LIGHT.categorical[0]}", f"stroke: {LIGHT.categorical[3]}"),
        ("waves", "light", "stroke-width: 0.75", "stroke-width: 1.5"),
        ("waves", "light", r'<use [^>]*style="[^>]*/>', ""),
        ("waves", "light", 'd="M (\\d+)', r'd="M 9\1'),
        ("waves", "light", r"scale\(0.1", "scale(0.2"),
    ],
)
def test_a_drawing_edited_by_hand_is_reported(
    stem: str, shade: str, written: str, edited: str | Edit, tmp_path: Path
) -> None:
    file = copied(tmp_path, stem) / f"{stem}-{shade}.svg"
    text, count = re.subn(written, edited, file.read_text(encoding="utf-8"), count=1)
    assert count == 1
    file.write_text(text, encoding="utf-8")
    (fault,) = check(SCRIPTS / f"{stem}.py", file.parent)
    said = rf"{stem}: light: .* agree, but element \d+ of {file.name} is drawn otherwise"
    assert re.fullmatch(said, fault)


def test_what_another_machine_draws_otherwise_is_no_fault(tmp_path: Path) -> None:
    """Other outlines and places of words, other names, bitmaps as other bytes."""
    file = copied(tmp_path, "heatmap") / "heatmap-light.svg"
    text = file.read_text(encoding="utf-8")
    changes: list[tuple[str | re.Pattern[str], str | Edit]] = [
        (r'(<path id="[\w-]+-[0-9a-f]+" d="M )(\d+)', r"\1 1\2"),
        (r"\b(m|p|image)([0-9a-f]{10})\b", r"\1f\2"),
        (r"(translate\(\d+\.?\d* )(\d+)", r"\1 1\2"),
        (PIXELS, lambda png: encoded_bitmap(decoded_bitmap(png[0]), compress_level=0)),
    ]
    for written, other in changes:
        text, count = re.subn(written, other, text)
        assert count
    file.write_text(text, encoding="utf-8")
    assert check(SCRIPTS / "heatmap.py", file.parent) == []


@pytest.mark.parametrize("planted", ['"#ff0000"', '"green"', "ink.ink + '80'"])
def test_a_colour_that_has_no_dark_counterpart_is_reported(planted: str, tmp_path: Path) -> None:
    path = changed_copy(tmp_path, "waves", "color=ink.categorical[0]", f"color={planted}")
    (fault,) = check(path, variants=["light"])
    assert re.search("neither in the palette of style.py nor on its ramp|drawn otherwise", fault)


# The dark drawings


def test_figures_never_use_one_light_colour_for_two_dark_ones() -> None:
    lights = [*LIGHT.categorical, *LIGHT.diverging, LIGHT.rule, LIGHT.edge, LIGHT.ink, LIGHT.mark]
    darks = [*DARK.categorical, *DARK.diverging, DARK.rule, DARK.edge, DARK.ink, DARK.mark]
    assert len({*lights}) == len(lights)
    assert [dark_colour(light) for light in lights] == darks


@pytest.mark.parametrize("stem", STEMS)
def test_dark_drawing_differs_in_nothing_but_its_colours(stem: str) -> None:
    for variant in VARIANTS:
        light = picture_file(stem, variant).read_text(encoding="utf-8")
        made = dark(light)
        assert without_colours(light) == without_colours(made)
        both = zip(COLOUR.findall(light), COLOUR.findall(made), strict=True)
        assert all(dark_colour(one) == other != one for one, other in both)


def test_dark_bitmap_is_what_the_ramp_gives_for_dark_pages() -> None:
    (image,) = PIXELS.findall(dark(picture_file("plate", "light").read_text(encoding="utf-8")))
    sines = sinusoidal_encoding(200, 128)[:, 0::2].T
    assert np.abs(decoded_bitmap(image)[..., :3] - ramp(sines, DARK).astype(int)).max() <= 3


def test_dark_drawings_are_written_with_the_site_and_after_each_change(tmp_path: Path) -> None:
    figures = copied(tmp_path, "waves")
    config = MkDocsConfig()
    config.site_dir = str(tmp_path)
    dark_figures.on_post_build(config)
    assert {file.name for file in figures.glob("*-dark.svg")} == {
        "waves-dark.svg",
        "waves-phone-dark.svg",
    }
    light, made = figures / "waves-light.svg", figures / "waves-dark.svg"
    before = made.stat().st_mtime_ns
    dark_figures.on_post_build(config)
    assert made.stat().st_mtime_ns == before
    light.write_text(light.read_text("utf-8").replace(LIGHT.categorical[0], LIGHT.ink), "utf-8")
    dark_figures.on_post_build(config)
    assert DARK.categorical[0] not in made.read_text("utf-8")
    light.write_text(light.read_text("utf-8").replace(LIGHT.ink, "#ff0000"), "utf-8")
    with pytest.raises(PluginError, match=r"waves-light\.svg: #ff0000 is neither in the palette"):
        dark_figures.on_post_build(config)


# Differences, and the data read from a drawing.


def test_floating_point_noise_is_not_a_difference() -> None:
    assert list(differences([0.123456, 0.0], [0.123457 * (1 - 8e-6), 1e-12])) == []


@pytest.mark.parametrize(
    ("there", "here", "said"),
    [
        ({"a": [1.0, 2.0]}, {"a": [1.0, 2.0001]}, "a[1]: committed 2.0, drawn 2.0001"),
        ([1, 2], [1, 2, 3], ": committed 2 values, drawn 3 values"),
        ({"a": 1}, {"b": 1}, ": committed a, drawn b"),
        ("sine", "cosine", ': committed "sine", drawn "cosine"'),
        ([1], ["1"], '[0]: committed 1, drawn "1"'),
    ],
)
def test_a_difference_names_its_place_and_both_values(
    there: object, here: object, said: str
) -> None:
    assert list(differences(there, here)) == [said]


def test_a_plot_whose_data_cannot_be_read_is_an_error() -> None:
    figure = Figure()
    figure.add_subplot().scatter([0, 1], [0, 1])
    with pytest.raises(TypeError, match=r"cannot read the data of"):
        plotted_data(figure)


def test_data_are_written_one_flat_list_per_line_and_noise_around_zero_as_zero() -> None:
    figure = Figure()
    figure.add_subplot().plot([0, 1], [np.sin(np.pi), 2 / 3])
    assert plotted_data(figure)["panels"][0]["lines"] == [{"x": [0, 1], "y": [0, 0.666667]}]
    data = {"rows": [[1, 2], [3, 4]], "words": ["−1"], "none": []}
    text = as_text(data)
    assert json.loads(text) == data
    assert text.splitlines()[2:4] == ["  [1, 2],", "  [3, 4]"]


def test_the_palette_needs_no_matplotlib() -> None:
    asked = "import sys, scripts.figures.style; sys.exit('matplotlib' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", asked], cwd=ROOT, check=False).returncode == 0


@pytest.mark.parametrize(
    ("named", "fault", "does"),
    [(["waves"], [], "drawn"), ([], [], "up to date"), ([], ["waves: light: other"], "drawn")],
)
def test_a_figure_is_drawn_if_it_is_named_or_differs(
    named: list[str],
    fault: list[str],
    does: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    written: list[Path] = []
    monkeypatch.setattr(command, "scripts", lambda: [WAVES])
    monkeypatch.setattr(command, "check", lambda path: fault)
    monkeypatch.setattr(command, "_write", written.append)
    monkeypatch.setattr(sys, "argv", ["figures", *named])
    assert command.main() == 0
    assert capsys.readouterr().out == f"waves: {does}\n"
    assert written == [WAVES] * (does == "drawn")


@pytest.mark.parametrize(("found", "status"), [([], 0), (["light: other"], 1)])
def test_the_exit_status_of_a_check_reports_faults(
    found: list[str],
    status: int,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setattr(command, "check", lambda path: [f"{path.stem}: {one}" for one in found])
    monkeypatch.setattr(sys, "argv", ["figures", "--check", "waves"])
    assert command.main() == status
    assert capsys.readouterr().err.splitlines() == [f"waves: {one}" for one in found]


def test_an_unknown_figure_lists_the_known_ones(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "argv", ["figures", "wave"])
    with pytest.raises(SystemExit) as ended:
        command.main()
    assert ended.value.code == 2
    assert "no wave in figures/; there are alibi, " in capsys.readouterr().err


# Figures in pages.


@pytest.mark.parametrize(("stem", "window"), [("clocks", "44.98em"), ("waves", "47.98em")])
def test_an_image_becomes_light_and_dark_pictures_for_wide_windows_and_phones(
    stem: str, window: str
) -> None:
    width, height = size(FIGURES / f"{stem}-light.svg")
    narrow, tall = size(FIGURES / f"{stem}-phone-light.svg")
    assert markdown(f"![Two curves.](../../figures/{stem}-light.svg)") == "".join(
        f'<picture class="only-{shade}">'
        f'<source height="{tall}" media="(max-width: {window})"'
        f' srcset="../../figures/{stem}-phone-{shade}.svg" width="{narrow}" />'
        f'<img alt="Two curves." decoding="async" height="{height}" loading="lazy"'
        f' src="../../figures/{stem}-{shade}.svg" width="{width}" /></picture>'
        for shade in ("light", "dark")
    )


@pytest.mark.parametrize(
    ("text", "html"),
    [
        (
            "See ![Two curves.](figures/waves-light.svg) here.",
            r"<p>See <picture .*</picture> here.",
        ),
        ("![A dog.](dog.svg)", r'<p><img alt="A dog\." src="dog\.svg" />'),
    ],
    ids=["words around an image stay", "other images stay"],
)
def test_a_page_keeps_what_is_no_figure(text: str, html: str) -> None:
    assert re.fullmatch(f"{html}</p>", markdown(text), re.S)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("![](figures/waves-light.svg)", r"waves-light\.svg: describe what it shows"),
        ("![Two.](figures/waves.svg)", r"waves\.svg: write the light drawing, waves-light\.svg"),
        ("![Two.](figures/tides-light.svg)", r"tides-light\.svg is missing; `make figures`"),
    ],
)
def test_an_incomplete_figure_stops_the_build(text: str, said: str, tmp_path: Path) -> None:
    with pytest.raises(FigureError, match=said):
        markdown(text)
    folder = copied(tmp_path, "waves")
    (folder / "waves-light.svg").write_text("<svg/>", encoding="utf-8")
    with pytest.raises(FigureError, match=r"waves-light\.svg does not say its width and height"):
        markdown("![Two curves.](figures/waves-light.svg)", folder)


def test_a_built_page_links_to_existing_drawings(tmp_path: Path) -> None:
    """A page in a folder of its own: addresses are rewritten by the builder, then expanded."""
    copied(tmp_path / "docs", "waves")
    page = tmp_path / "docs" / "rooms" / "page.md"
    page.parent.mkdir()
    page.write_text("![Two curves.](../figures/waves-light.svg)", encoding="utf-8")
    build(configuration(tmp_path))
    built = tmp_path / "site" / "rooms" / "page" / "index.html"
    found = re.findall(r'(?:src|srcset)="([^"]*waves[^"]*)"', built.read_text(encoding="utf-8"))
    assert len({*found}) == 4
    assert all((built.parent / address).is_file() for address in found)


@cache
def images() -> list[tuple[str, str]]:
    """Return the words and the address of every image in the book and its README."""
    texts = [(ROOT / "README.md").read_text(encoding="utf-8"), *map(pages.text, pages.paths())]
    found = [match for text in texts for match in IMAGE.finditer(text)]
    return [(m["alt"] or m["html_alt"] or "", m["path"] or m["html_path"]) for m in found]


def without_colours(drawing: str) -> list[object]:
    """Return the elements of a drawing without their colours, and without the pixels of bitmaps."""
    found = shapes(COLOUR.sub("", drawing))
    return [one[:2] if one.tag == "image" else one for one in found]


def decoded_bitmap(png: str) -> NDArray[np.uint8]:
    with Image.open(io.BytesIO(b64decode(png))) as image:
        return np.asarray(image)


def encoded_bitmap(pixels: NDArray[np.uint8], **how: int) -> str:
    file = io.BytesIO()
    Image.fromarray(np.ascontiguousarray(pixels)).save(file, "png", **how)
    return b64encode(file.getvalue()).decode()


def drawing_svg(script: Script, variant: str) -> bytes:
    with drawn_variant(script, variant) as figure:
        return svg(figure)


def changed_copy(folder: Path, stem: str, written: str, planted: str) -> Path:
    """Return a copy of a figure's script with one passage replaced."""
    text = (SCRIPTS / f"{stem}.py").read_text(encoding="utf-8")
    assert written in text
    path = folder / f"{stem}.py"
    path.write_text(text.replace(written, planted), encoding="utf-8")
    return path


def copied(folder: Path, stem: str) -> Path:
    """Return a folder of figures that holds a copy of one figure's files."""
    copy = folder / "figures"
    (copy / "data").mkdir(parents=True)
    for file in files(stem):
        shutil.copy(file, copy / file.relative_to(FIGURES))
    return copy


def markdown(text: str, folder: Path = FIGURES) -> str:
    """Return a text as HTML, with the figures of a folder."""
    return Markdown(extensions=[FiguresExtension(folder=str(folder))]).convert(text)


def configuration(folder: Path) -> MkDocsConfig:
    """Return the settings of a small site that shows the figures in its own folder."""
    return load_config(
        config_file=io.StringIO("site_name: rooms"),
        config_file_path=str(folder / "mkdocs.yml"),
        docs_dir=str(folder / "docs"),
        site_dir=str(folder / "site"),
        plugins=[],
        hooks=[dark_figures.__file__],
        strict=True,
        markdown_extensions=[
            {"scripts.book.figures": {"folder": str(folder / "docs" / "figures")}}
        ],
    )
