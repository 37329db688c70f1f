"""No number in a page is unbound unless it was accepted, in its place, as a setting."""

from pathlib import Path

import pytest

from scripts.book import ledger_page, pages, settings, update
from scripts.book.check import problems
from scripts.book.data import front_matter
from scripts.book.settings import Setting, accept, accepted, orphans, sections, strays

ADVICE = "or accept it as a setting with `make update` and check `git diff`"


def as_settings(numbers: str, section: str = "top") -> list[Setting]:
    return [Setting(section, number) for number in numbers.split()]


def unchecked_items(text: str, numbers: str = "") -> list[str]:
    return [text[stray.start : stray.end] for stray in strays(text, as_settings(numbers))]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return the folder of settings of a book that has no pages yet."""
    monkeypatch.setattr(pages, "DOCS", tmp_path)
    monkeypatch.setattr(settings, "FOLDER", tmp_path / "data" / "settings")
    monkeypatch.setattr(update, "DOCS", tmp_path)
    monkeypatch.setattr(update, "ROOT", tmp_path)
    monkeypatch.setattr(ledger_page, "update_numbers", list)
    (tmp_path / "README.md").touch()
    return tmp_path / "data" / "settings"


@pytest.mark.parametrize(
    ("text", "numbers", "expected"),
    [
        ("It rises to 0.046.", "", ["0.046"]),
        ("Some 60,611 positions.", "", ["60,611"]),
        ("A row begins .76 and .41.", "", [".76", ".41"]),
        ("$2\\pi\\cdot10000$", "", ["2", "10000"]),
        ("| 0.5 | x |\n|---|---|\n| 7 | y |", "", ["0.5", "7"]),
        ("![a curve that ends at 400](x.svg)", "", ["400"]),
        ("3 5 8 3e5 3/8 5_8 5% 8²", "3 5 8", ["3e5", "3/8", "5_8", "5%", "8²"]),
        ("3 3", "3", ["3"]),  # one more than accepted
        ("4 3", "3 4", ["4", ""]),  # in another order
        ("`np.arange(0, 8)`", "", ["0", "8"]),
        ("See section 3.5, Table 2.1.", "", ["3.5", "2.1"]),
        ("Width 8, half is 0.5.", "8 0.5", []),
        ("{{ 0.046 = 0.046 }} and float64, x_1, T5.", "", []),
        ("`x[i]`, `test_pair_710` and\n\n```python\n0.5\n```\n", "", []),
        ("<!-- table: np.eye(1) -->\n| x |\n|---|\n| 1 |\n", "", []),
        ("[link](page-2.md#step-3) and [^su2021]", "", []),
        ("/// table-caption | < 1.1 #table-1-1\nText.\n///", "", []),
    ],
)
def test_numbers_are_found_that_are_neither_bound_nor_accepted(
    text: str, numbers: str, expected: list[str]
) -> None:
    assert unchecked_items(text, numbers) == expected


def test_the_message_names_both_remedies() -> None:
    text = "# Wide { #wide }\n\nIt is 0.5.\n"
    [stray] = strays(text)
    assert stray.message(text) == (
        f"line 3: 0.5 is not bound: write {{{{ 0.5 = expression }}}}, {ADVICE}"
    )


def test_a_missing_setting_is_reported_where_it_was() -> None:
    text = "---\ntitle: A\n---\n\nWidth 8.\n"
    [stray] = strays(
        text, [*as_settings("8"), Setting("top", "9", "of 9"), Setting("top", "1", "a 1")]
    )
    assert stray.message(text).startswith(
        "line 5: settings are missing from here on, 9 in top: of 9; 1 in top: a 1: put them back,"
    )


@pytest.mark.parametrize("changed", ["# A { #b }\n3\n", "# A { #a }\n## B { #b }\n3\n"])
def test_a_setting_belongs_to_its_section(changed: str) -> None:
    assert list(strays("# A { #a }\n3\n", as_settings("3", "a"))) == []
    assert list(strays(changed, as_settings("3", "a")))


def test_a_section_is_named_by_its_id_or_else_its_words() -> None:
    text = "above\n# A title\n```pycon\n# a comment\n```\n## B { #b .c }\n"
    assert [section.name for section in sections(text)] == ["top", "A title", "b"]


PAGE = "# A\n\nThe width is 8\nand its base 0.50.\n\n- 3 heads\n"


def test_accepting_writes_a_line_for_each_number_with_its_words(folder: Path) -> None:
    assert accept("a/b.md", PAGE) == [
        "accepted the setting 8 in A: The width is 8 and its base 0.50.",
        "accepted the setting 0.50 in A: The width is 8 and its base 0.50.",
        "accepted the setting 3 in A: - 3 heads",
    ]
    assert (folder / "a" / "b.tsv").read_text("utf-8") == (
        "A\t8\tThe width is 8 and its base 0.50.\n"
        "A\t0.50\tThe width is 8 and its base 0.50.\n"
        "A\t3\t- 3 heads\n"
    )
    assert accepted("a/b.md") == [Setting("A", "8"), Setting("A", "0.50"), Setting("A", "3")]
    assert list(strays(PAGE, accepted("a/b.md"))) == []


def test_other_words_around_a_setting_change_no_file(folder: Path) -> None:
    accept("a.md", PAGE)
    before = (folder / "a.tsv").read_text("utf-8")
    assert accept("a.md", PAGE.replace("The width", "Our width")) == []
    assert (folder / "a.tsv").read_text("utf-8") == before


def test_a_changed_setting_changes_its_line_alone(folder: Path) -> None:
    accept("a.md", PAGE)
    first, _, last = (folder / "a.tsv").read_text("utf-8").splitlines()
    changes = accept("a.md", PAGE.replace("The width", "Our width").replace("0.50", "0.60"))
    assert changes == [
        "dropped the setting 0.50 in A: The width is 8 and its base 0.50.",
        "accepted the setting 0.60 in A: Our width is 8 and its base 0.60.",
    ]
    middle = "A\t0.60\tOur width is 8 and its base 0.60."
    assert (folder / "a.tsv").read_text("utf-8").splitlines() == [first, middle, last]


def test_a_page_without_settings_has_no_file(folder: Path) -> None:
    assert accepted("a.md") == []
    assert accept("a.md", "# A\n") == []
    accept("a.md", PAGE)
    assert len(accept("a.md", "# A\n")) == 3
    assert not (folder / "a.tsv").exists()


@pytest.mark.parametrize("line", ["<<<<<<< HEAD", "A\t9", ""])
def test_an_edited_file_of_settings_is_reported(line: str, folder: Path) -> None:
    accept("a.md", PAGE)
    file = folder / "a.tsv"
    file.write_text(f"{line}\n{file.read_text('utf-8')}", "utf-8")
    assert len(list(strays(PAGE, accepted("a.md")))) == 1


def test_update_accepts_settings_and_says_which(
    folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.argv", ["update"])
    monkeypatch.chdir(folder.parents[1])
    Path("a.md").write_text(PAGE, "utf-8")
    folder.mkdir(parents=True)
    (folder / "gone.tsv").write_text("A\t8\twidth 8\n", "utf-8")
    assert orphans() == [folder / "gone.tsv"]
    update.main()
    assert capsys.readouterr().out.splitlines() == [
        "data/settings/gone.tsv, removed with its page",
        "a.md, accepted the setting 8 in A: The width is 8 and its base 0.50.",
        "a.md, accepted the setting 0.50 in A: The width is 8 and its base 0.50.",
        "a.md, accepted the setting 3 in A: - 3 heads",
    ]
    assert list(strays(PAGE, accepted("a.md"))) == []
    assert orphans() == []


def test_every_file_of_settings_has_its_page() -> None:
    assert orphans() == []
    assert accepted("chapters/by-hand/index.md")


def test_settings_in_front_matter_are_an_error() -> None:
    text = "---\nsettings:\n  top: 8\n---\n\nWidth 8.\n"
    with pytest.raises(ValueError, match="settings belong in docs/data/settings/"):
        front_matter(text)
    [problem] = problems(text, as_settings("8"))
    assert "settings belong in docs/data/settings/, where `make update` lists them" in problem
