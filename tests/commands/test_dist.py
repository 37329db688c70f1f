"""`make dist` builds what strangers can install; its JavaScript checker judges as Python does."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import tarfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml

import posenc
from posenc.vectors import check, load, suites
from posenc.vectors.compare import judge_answer
from scripts import ROOT
from scripts.dist import build
from scripts.dist.check import WrongError, check_archive
from scripts.dist.declarations import declarations, type_of
from scripts.setup.node import executable

# Judges the answers on its standard input with the checker of the npm package.
JUDGE = """\
const { judge, load } = require("./index.js");
const { suite, runs } = JSON.parse(require("fs").readFileSync(0, "utf8"));
const { cases } = load(suite);
const told = runs.map(({ contract, answers }) =>
  cases.map((one, n) => {
    const { status, like } = judge(one, answers[n], contract);
    return { status, like };
  }),
);
console.log(JSON.stringify(told));
"""
# Answers ALiBi's slopes by the rule for powers of two, and prints what the report says under each
# of the options on standard input.
REPORT = """\
const { check } = require("./index.js");
const slope = (heads) => (_, i) => 2 ** ((-8 * (i + 1)) / heads);
const plain = ({ heads }) => Array.from({ length: heads }, slope(heads));
const answers = { plain, careless: () => [1], number: 1 };
const runs = JSON.parse(require("fs").readFileSync(0, "utf8"));
const told = runs.map(({ as = "plain", ...options }) => {
  try {
    const report = check("alibi", answers[as], options);
    const unexpected = report.unexpected.map((one) => one.case.id);
    return { status: report.status, unexpected, text: String(report) };
  } catch (error) {
    return { error: error.message };
  }
});
console.log(JSON.stringify(told));
"""


@pytest.fixture(scope="module")
def package(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with what the npm package holds."""
    folder = tmp_path_factory.mktemp("npm")
    for path in [*build.VECTORS.glob("*.json"), *build.NPM.iterdir()]:
        shutil.copy(path, folder)
    return folder


def node(folder: Path, script: str, given: Any) -> Any:
    done = subprocess.run(
        [executable(), "-e", script],
        cwd=folder,
        input=json.dumps(given),
        capture_output=True,
        text=True,
        check=True,
    )
    return json.loads(done.stdout)


def shifted(answer: Any) -> Any:
    """Return an answer with the first number off by a half."""
    if isinstance(answer, dict):
        return {key: shifted(value) for key, value in answer.items()}
    if isinstance(answer, list):
        return [shifted(answer[0]), *answer[1:]] if answer else ["one too many"]
    return answer + 0.5 if isinstance(answer, int | float) else answer


def first_bug(case: Any) -> Any:
    return next(iter(case.bugs.values()), case.expected)


def first_convention(case: Any) -> Any:
    return next(iter(case.acceptable.values()), case.expected)


@pytest.mark.parametrize("suite", suites())
def test_both_checkers_judge_answers_alike(package: Path, suite: str) -> None:
    answers: list[Callable[[Any], Any]] = [
        lambda case: case.expected,
        lambda case: shifted(case.expected),
        lambda case: [1.0],
        first_bug,
        first_convention,
    ]
    cases = load(suite).cases
    runs: list[dict[str, Any]] = [
        {"contract": "float64", "answers": [answer(case) for case in cases]} for answer in answers
    ]
    runs.append({"contract": "bfloat16 result", "answers": [first_bug(case) for case in cases]})
    for run, told in zip(runs, node(package, JUDGE, {"suite": suite, "runs": runs}), strict=True):
        for case, value, javascript in zip(cases, run["answers"], told, strict=True):
            python = judge_answer(case, value, run["contract"])
            assert javascript["status"] == python.status, case.id
            assert set(javascript["like"]) == set(python.like), case.id


def test_known_differences_are_expected_and_a_known_case_that_passes_is_not(package: Path) -> None:
    wrong = [outcome.case.id for outcome in check(plain_slopes, "alibi").failed]
    listed = "\n".join(f"{name}  # the paper's plain rule" for name in wrong)
    passing = next(case.id for case in load("alibi").cases if case.id not in wrong)
    nothing, all_known, one_too_many, no_reason = node(
        package,
        REPORT,
        [{}, {"known": listed}, {"known": f"{listed}\n{passing} # mended"}, {"known": wrong[0]}],
    )
    assert nothing["status"] == 1 and nothing["unexpected"] == wrong
    for name, count in check(plain_slopes, "alibi").bugs.items():
        assert f"{name} explains {count} of {len(wrong)} failures" in nothing["text"]
    assert all_known == {"status": 0, "unexpected": [], "text": all_known["text"]}
    assert "explains" not in all_known["text"]
    assert one_too_many["status"] == 1 and one_too_many["unexpected"] == [passing]
    assert no_reason["error"] == f'known, line 1: "#" and a reason must follow {wrong[0]}'


def test_a_function_that_reads_no_input_is_not_tested(package: Path) -> None:
    (careless,) = node(package, REPORT, [{"as": "careless"}])
    assert careless["status"] == 2 and careless["unexpected"] == []
    assert ", does not read heads\n" in careless["text"]


def test_an_argument_of_another_type_is_named(package: Path) -> None:
    no_function, no_text = node(package, REPORT, [{"as": "number"}, {"known": {"alibi/*": "x"}}])
    assert no_function["error"] == "answer must be a function; got 1"
    assert no_text["error"] == "known must be a string; got an object with alibi/*"


def test_unrefused_cases_are_shown_with_their_reason_and_input(package: Path) -> None:
    (report,) = node(package, REPORT, [{}])
    (first, *_) = check(lambda heads: [1.0] * 3, "alibi", heads=0).unrefused
    assert f'  unrefused {first.case.id} {first.case.why}\n    {{"heads":0}}' in report["text"]


def plain_slopes(heads: int) -> list[float]:
    if heads < 1 or heads != int(heads):
        raise ValueError("heads")
    return [2 ** (-8 * (head + 1) / heads) for head in range(int(heads))]


def test_patterns_and_strictness(package: Path) -> None:
    by_pattern, strict = node(
        package, REPORT, [{"known": "alibi/*-00? # all"}, {"strict": True, "known": "alibi/* # x"}]
    )
    assert all(
        name[-3:-1] != "00" or "known" in by_pattern["text"] for name in by_pattern["unexpected"]
    )
    assert strict["status"] == 1  # what passes is not a known difference


@pytest.mark.parametrize("pattern", ["alibi/slopes-00[35-7]", "alibi/slopes-0[!0]?", "alibi/*.0"])
def test_both_checkers_match_patterns_alike(package: Path, pattern: str) -> None:
    (report,) = node(package, REPORT, [{"known": f"{pattern} # x"}])
    python = check(plain_slopes, "alibi", known={pattern: "x"})
    assert report["unexpected"] == [one.case.id for one in python.wrong]


def test_an_unknown_suite_is_an_error_that_names_all_suites(package: Path) -> None:
    script = """
    try { require("./index.js").load("rotatoin"); }
    catch (error) { console.log(JSON.stringify(error.message)); }
    """
    said = node(package, script, None)
    assert said == f'suite must be one of {", ".join(suites())}; got "rotatoin"'


def test_types_name_every_suite_and_every_input() -> None:
    written = declarations()
    for suite in suites():
        (line,) = (line for line in written.splitlines() if line.startswith(f"  {suite}: {{"))
        for key in {key for case in load(suite).cases for key in case.input}:
            assert f" {key}: " in line or f" {key}?: " in line


@pytest.mark.parametrize(
    ("schema", "written"),
    [
        ({"enum": ["a", "b"]}, '"a" | "b"'),
        ({"type": "array", "items": {"type": "integer"}}, "(number)[]"),
        ({"type": "object"}, "{ [key: string]: unknown }"),
        ({"type": "array"}, "unknown[]"),
        (
            {"type": "object", "properties": {"d": {"type": "integer"}}, "required": []},
            "{ d?: number }",
        ),
    ],
)
def test_types_of_schemas(schema: dict[str, Any], written: str) -> None:
    assert type_of(schema) == written


def test_the_archive_is_the_same_bytes_each_time_and_a_changed_file_is_noticed(
    tmp_path: Path,
) -> None:
    first = build.archive(tmp_path)
    data = first.read_bytes()
    assert build.archive(tmp_path).read_bytes() == data
    check_archive(first)
    with tarfile.open(first) as tar:
        # As an attribute, since Python before 3.11.4 has no argument for it.
        tar.extraction_filter = getattr(tarfile, "data_filter", None)
        tar.extractall(tmp_path / "open")
    (top,) = (tmp_path / "open").iterdir()
    (top / "alibi_v1.json").write_text("{}")
    with tarfile.open(tmp_path / "changed.tar.gz", "w:gz") as tar:
        tar.add(top, top.name)
    with pytest.raises(WrongError, match="a digest differs"):
        check_archive(tmp_path / "changed.tar.gz")


def test_one_version_everywhere() -> None:
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text("utf-8"))
    newest = (ROOT / "CHANGELOG.md").read_text("utf-8").partition("\n## ")[2].partition(",")[0]
    assert {build.version(), posenc.__version__, str(citation["version"]), newest} == {
        build.npm_manifest()["version"]
    }


def test_the_release_publishes_only_what_was_checked_and_keeps_no_secret() -> None:
    text = (ROOT / ".github" / "workflows" / "release.yml").read_text("utf-8")
    jobs = yaml.safe_load(text)["jobs"]
    assert "secrets." not in text
    assert any(step.get("run") == "make dist" for step in jobs["build"]["steps"])
    for name in ("pypi", "npm"):
        assert set(jobs[name]["needs"]) == {"build", "newest"}
        assert jobs[name]["permissions"] == {"id-token": "write"}
        assert "refs/tags/v" in jobs[name]["if"]
        assert not any("checkout" in step.get("uses", "") for step in jobs[name]["steps"])


@pytest.mark.slow
def test_make_dist() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "scripts.dist"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "types and checker work" in done.stdout
