"""Every committed figure is what its script draws, is complete, and is shown on a page."""

from __future__ import annotations

import io
import json
import re
import shutil
import subprocess
import sys
from functools import cache
from pathlib import Path

import numpy as np
import pytest
from markdown import Markdown
from matplotlib.figure import Figure
from mkdocs.commands.build import build
from mkdocs.config import load_config
from mkdocs.config.defaults import MkDocsConfig

from scripts import ROOT
from scripts.book import pages
from scripts.book.figures import FigureError, FiguresExtension, size
from scripts.figures import FIGURES, SCRIPTS, VARIANTS, picture_file, scripts
from scripts.figures import __main__ as command
from scripts.figures._check import check, differences, files, orphans, unlike_pinned
from scripts.figures._plotted import as_text, plotted
from scripts.figures._render import Script, drawn, load, svg

STEMS = [path.stem for path in scripts()]
WAVES = SCRIPTS / "waves.py"
IMAGE = re.compile(
    r"""!\[(?P<alt>[^]]*)\]\((?P<path>[^)]*)\)
      | <img\s(?=[^>]*\balt="(?P<html_alt>[^"]*)")[^>]*\bsrc="(?P<html_path>[^"]*)" """,
    re.VERBOSE,
)


@pytest.mark.parametrize("path", scripts(), ids=STEMS)
def test_committed_figure_is_what_its_script_draws(path: Path) -> None:
    """The data everywhere; the bytes too where the pinned versions are installed."""
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
    first, second = (printed(load(WAVES), "dark") for _ in range(2))
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
    assert {fault.split(":")[1].strip() for fault in faults} == {"phone-light", "phone-dark"}


def test_a_drawing_that_is_missing_is_reported(tmp_path: Path) -> None:
    folder = copied(tmp_path, "waves")
    (folder / "waves-phone-dark.svg").unlink()
    assert check(WAVES, folder) == [
        "waves: waves-phone-dark.svg missing; `make figures` draws them"
    ]


def test_a_drawing_without_a_script_is_reported(tmp_path: Path) -> None:
    folder = copied(tmp_path, "waves")
    (folder / "waves-old-light.svg").touch()
    assert orphans(folder) == ["waves-old-light.svg: no script draws it"]


@pytest.mark.skipif(bool(unlike_pinned()), reason="; ".join(unlike_pinned()))
def test_a_drawing_edited_by_hand_is_reported_where_bytes_are_compared(tmp_path: Path) -> None:
    file = copied(tmp_path, "plate") / "plate-dark.svg"
    file.write_text(
        file.read_text(encoding="utf-8").replace('height="192pt"', 'height="193pt"'),
        encoding="utf-8",
    )
    (fault,) = check(SCRIPTS / "plate.py", file.parent)
    assert re.fullmatch(
        r"plate: dark: .* plate-dark\.svg is drawn otherwise from line \d+ on", fault
    )


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
        plotted(figure)


def test_data_are_written_one_flat_list_per_line() -> None:
    data = {"rows": [[1, 2], [3, 4]], "words": ["−1"], "none": []}
    text = as_text(data)
    assert json.loads(text) == data
    assert text.splitlines()[2:4] == ["  [1, 2],", "  [3, 4]"]


def test_noise_around_zero_is_written_as_zero() -> None:
    figure = Figure()
    figure.add_subplot().plot([0, 1], [np.sin(np.pi), 2 / 3])
    assert plotted(figure)["panels"][0]["lines"] == [{"x": [0, 1], "y": [0, 0.666667]}]


def test_the_palette_needs_no_matplotlib() -> None:
    asked = "import sys, scripts.figures.style; sys.exit('matplotlib' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", asked], cwd=ROOT, check=False).returncode == 0


def test_the_command_finds_the_committed_figure_up_to_date() -> None:
    before = {file: file.stat().st_mtime_ns for file in files("waves")}
    typed = [sys.executable, "-m", "scripts.figures", "waves"]
    subprocess.run(typed, cwd=ROOT, check=True, capture_output=True)
    assert before == {file: file.stat().st_mtime_ns for file in files("waves")}


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


def test_words_around_an_image_stay_around_it() -> None:
    html = markdown("See ![Two curves.](figures/waves-light.svg) here.")
    assert html.startswith("<p>See <picture ")
    assert html.endswith("</picture> here.</p>")


def test_other_images_are_left_alone() -> None:
    assert markdown("![A dog.](dog.svg)") == '<p><img alt="A dog." src="dog.svg" /></p>'


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("![](figures/waves-light.svg)", r"waves-light\.svg: describe what it shows"),
        ("![Two.](figures/waves.svg)", r"waves\.svg: write the light drawing, waves-light\.svg"),
        ("![Two.](figures/tides-light.svg)", r"tides-light\.svg is missing; `make figures`"),
    ],
)
def test_an_incomplete_figure_stops_the_build(text: str, said: str) -> None:
    with pytest.raises(FigureError, match=said):
        markdown(text)


def test_a_drawing_without_a_size_stops_the_build(tmp_path: Path) -> None:
    folder = copied(tmp_path, "waves")
    (folder / "waves-dark.svg").write_text("<svg/>", encoding="utf-8")
    with pytest.raises(FigureError, match=r"waves-dark\.svg does not say its width and height"):
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
    assert len(found) == len(VARIANTS)
    assert all((built.parent / address).is_file() for address in found)


@cache
def images() -> list[tuple[str, str]]:
    """Return the words and the address of every image in the book and its README."""
    texts = [(ROOT / "README.md").read_text(encoding="utf-8"), *map(pages.text, pages.paths())]
    found = [match for text in texts for match in IMAGE.finditer(text)]
    return [(m["alt"] or m["html_alt"] or "", m["path"] or m["html_path"]) for m in found]


def printed(script: Script, variant: str) -> bytes:
    """Return one drawing of a figure as SVG."""
    with drawn(script, variant) as figure:
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
        strict=True,
        markdown_extensions=[
            {"scripts.book.figures": {"folder": str(folder / "docs" / "figures")}}
        ],
    )
