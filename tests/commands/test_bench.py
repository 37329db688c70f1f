"""The benchmark's machinery at tiny sizes. Tests assert what is computed from times, no time."""

from __future__ import annotations

import gc
import json
import re
import sys
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor

from posenc import alibi_bias, attention
from posenc.nn import RotaryEmbedding
from scripts.bench import __main__ as command
from scripts.bench import bias, importing, measure, report, rotary, slices, table
from scripts.bench.measure import (
    FEWEST,
    Case,
    Pair,
    Result,
    paired_seconds,
    ratio_to_floor,
    seconds,
)
from scripts.book.evaluate import corrections
from scripts.setup.machine import machine

TINY: dict[str, Callable[[], Iterator[Case]]] = {
    "table": partial(table.cases, 20, 8),
    "rotary": partial(rotary.cases, 2, 5, 8, batch=3),
    "bias": partial(bias.cases, 2, 6),
    "attention": partial(bias.attention_cases, 2, 6, 8),
    "import": importing.cases,
}


@pytest.fixture(autouse=True)
def threads(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Restore torch's threads, and skip garbage collection, which matters only for timing."""
    monkeypatch.setattr(gc, "collect", lambda: 0)
    before = torch.get_num_threads()
    yield
    torch.set_num_threads(before)


def case(subject: float, floor: float, **about: object) -> Case:
    """Return a case whose functions return their own times."""
    made = Pair(lambda: subject, lambda: floor)
    return replace(Case("name", "what", "floor", lambda: made), **about)  # type: ignore[arg-type]


def result(group: str = "table", name: str = "new", **about: object) -> Result:
    found = Result(group, name, f"{name} what", "floor", None, ratio=1.25, low=1.2, high=1.5)
    return replace(found, **{"error": 1.3e-7, "rounds": 7, **about})  # type: ignore[arg-type]


def report_of(*results: Result) -> report.Report:
    return report.report(results, threads="one thread", gpu="none")


# Measuring


def test_ratio_is_the_median_of_the_rounds_ratios() -> None:
    subject = [2.0, 1.0, 4.0, 3.0, 6.0, 7.0, 8.0, 2.0]
    floor = [1.0, 2.0, 1.0, 8.0, 2.0, 1.0, 16.0, 4.0]
    # The first call only determines how often a sample repeats the work.
    times, floors = iter([9.0, *subject]), iter([9.0, *floor])
    steps = Pair(lambda: next(times), lambda: next(floors))
    found = ratio_to_floor("g", Case("n", "w", "a", lambda: steps, 1.5), rounds=8)
    ratios = np.quantile(np.divide(subject, floor), [0.25, 0.5, 0.75])
    assert (found.low, found.ratio, found.high) == tuple(ratios)
    # Not ratios of medians: noise that slows both has to cancel within a round.
    assert not np.isclose(ratios, np.quantile(subject, [0.25, 0.5, 0.75]) / np.median(floor)).any()
    low, middle, high = np.quantile(floor, [0.25, 0.5, 0.75])
    assert (found.floor_seconds, found.floor_spread) == (middle, (high - low) / middle)
    assert (found.seconds, found.rounds, found.target) == (np.median(subject), 8, 1.5)
    assert found.error is None


def test_the_first_to_run_alternates_each_round() -> None:
    calls: list[str] = []

    def note(name: str) -> float:
        calls.append(name)
        return 1.0

    times = paired_seconds(lambda: note("s"), lambda: note("f"), rounds=4)
    assert times.shape == (4, 2)
    assert "".join(calls[2:]) == "fssffssf"


def test_a_slow_case_stops_after_the_fewest_rounds() -> None:
    assert len(paired_seconds(lambda: 1.0, lambda: 1.0, rounds=50, patience=0.0)) == FEWEST
    assert len(paired_seconds(lambda: 1.0, lambda: 1.0, rounds=3, patience=0.0)) == 3


def test_quick_work_is_repeated_within_a_round() -> None:
    calls = [0, 0]

    def count(which: int) -> None:
        calls[which] += 1

    paired_seconds(partial(count, 0), partial(count, 1), rounds=1)
    assert min(calls) > 10
    before = calls[0]
    assert seconds(partial(count, 0), 5) > 0
    assert calls[0] == before + 5


def test_the_spread_of_the_floor_is_reported() -> None:
    floors = iter([1.0, *(1.0, 2.0, 3.0, 4.0, 5.0)])
    made = Pair(lambda: 1.0, lambda: next(floors))
    found = ratio_to_floor("g", Case("n", "w", "a", lambda: made), rounds=5)
    assert found.floor_spread == (4 - 2) / 3
    assert report_of(found).noise() == "g 67%, noisy"
    assert report_of(ratio_to_floor("g", case(1.0, 1.0))).noise() == "g 0%"


def test_the_noisiest_floor_decides_whether_a_group_is_noisy() -> None:
    """One noisy floor among many quiet ones can still make its ratio wrong."""
    quiet = [result(name=f"case {i}", floor_spread=0.03) for i in range(9)]
    worst = result(floor_spread=0.22)
    found = report_of(*quiet[:5], worst, *quiet[5:], result("bias", floor_spread=0.1))
    skipped = result("bias", "gone", floor_spread=0.9, skipped="not here")
    assert found.spreads() == {"table": 0.22, "bias": 0.1}
    assert report_of(*found.results, skipped).noise() == "table 22%, noisy; bias 10%"


def test_slices_and_their_floors_compute_the_same() -> None:
    """Each floor does all of the work, and both agree with the definition in float64."""
    made = list(slices.cases(sizes=((2, 3, 5, 8),), steps=((2, 3, 1, 8),)))
    assert len(made) == 4 + 2
    for each in made:
        pair = each.make()
        assert pair.off is not None
        close = 1e-6 if "float" in each.what and "bfloat16" not in each.what else 0.1
        assert max(pair.off(pair.subject()), pair.off(pair.floor())) < close, each.what
    assert slices.peak(lambda: np.ones(1000)) >= 8000


@pytest.mark.parametrize("library", ["transformers", "x_transformers"])
def test_missing_library_is_skipped_and_reported(
    monkeypatch: pytest.MonkeyPatch, library: str
) -> None:
    for module in [name for name in sys.modules if name.partition(".")[0] == library]:
        monkeypatch.delitem(sys.modules, module)
    monkeypatch.setitem(sys.modules, library, None)
    for group in ("table", "rotary", "bias"):
        theirs = library.replace("_", "-")
        cases = [c for c in TINY[group]() if re.match(rf"{theirs}\b", c.what)]
        assert cases
        for missing in cases:
            found = ratio_to_floor(group, missing, rounds=1)
            assert found.skipped == f"{library} is not installed"
            assert report_of(found).skipped() == [f"{missing.what}: {library} is not installed"]
            assert report_of(found).measured(group) == []


def test_changed_library_is_skipped_and_reported() -> None:
    def make() -> Pair:
        from numpy import no_such_name  # type: ignore[attr-defined]

        return Pair(no_such_name, no_such_name)

    found = ratio_to_floor("table", Case("library", "a library", "floor", make))
    assert found.skipped == "numpy has changed"


# What is measured


@pytest.mark.parametrize("group", TINY)
def test_every_case_measures_what_it_says(group: str) -> None:
    names = []
    for made in TINY[group]():
        found = ratio_to_floor(group, made, rounds=1)
        names.append(found.name)
        assert found.skipped == ""
        assert 0 < found.low <= found.ratio <= found.high
        assert (found.error is not None) is (group in command.WITH_ERROR)
        # Other libraries' float32 angles are slightly off at small positions, bfloat16 by rounding.
        assert (found.error or 0.0) < (0.05 if "bfloat16" in found.what else 1e-3)
    assert len(set(names)) == len(names)


@pytest.mark.usefixtures("without_timing")
@pytest.mark.parametrize("group", command.WITH_ERROR[:-1])
def test_ours_is_exact_in_every_group(group: str) -> None:
    for made in TINY[group]():
        if made.target is not None:
            error = ratio_to_floor(group, made, rounds=1).error
            assert error is not None
            assert error < (0.02 if "bfloat16" in made.what else 1e-6)


@pytest.fixture
def without_timing(monkeypatch: pytest.MonkeyPatch) -> None:
    """Skip the timing: only errors count."""
    monkeypatch.setattr(measure, "paired_seconds", lambda *_, **__: np.ones((1, 2)))


def errors(group: str) -> dict[str, float]:
    """Return the error of each tiny case of a group."""
    found = [ratio_to_floor(group, made, rounds=1) for made in TINY[group]()]
    return {r.name: r.error for r in found if r.error is not None}


@pytest.mark.usefixtures("without_timing")
def test_a_wrong_rotation_is_detected_in_every_form(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whether it makes a new tensor, writes into an existing one, or rotates in place."""
    turn = RotaryEmbedding.turn
    right = errors("rotary")
    ours = [c.name for c in TINY["rotary"]() if c.what.startswith("`turn`")]
    for wrong in (None, "new", "into", "in place"):

        def turned(
            self: RotaryEmbedding, x: Tensor, factors: Tensor, *, out: Tensor | None = None
        ) -> Tensor:
            form = "new" if out is None else "in place" if out is x else "into"
            found = turn(self, x, factors, out=out)
            return found.neg_() if form == wrong else found  # noqa: B023

        monkeypatch.setattr(RotaryEmbedding, "turn", turned)
        made = errors("rotary")
        forms = {"in place": "in place"} | dict.fromkeys(
            ["into", "anew", "bf16 into", "half into", "half bf16 into"],
            "into",
        )
        for name, error in made.items():
            if name in ours and forms.get(name, "new") == wrong:
                assert error > 1, (name, wrong)
            else:
                assert error == right[name], (name, wrong)


@pytest.mark.parametrize("key", [False, True])
def test_queries_and_keys_are_both_compared(monkeypatch: pytest.MonkeyPatch, key: bool) -> None:
    turn, calls = RotaryEmbedding.turn, [0]

    def turned(
        self: RotaryEmbedding, x: Tensor, factors: Tensor, *, out: Tensor | None = None
    ) -> Tensor:
        calls[0] += 1
        found = turn(self, x, factors, out=out)
        found[:, -1, -1, -1] += 3.0 * ((calls[0] - 1) % 2 == key)  # one number of the last head
        return found

    monkeypatch.setattr(RotaryEmbedding, "turn", turned)
    made = next(c for c in TINY["rotary"]() if c.name == "in place").make()
    assert made.off is not None
    assert made.off(made.subject()) == pytest.approx(3.0, abs=1e-5)


def test_nan_in_a_result_is_a_nan_error() -> None:
    pair = next(TINY["rotary"]()).make()
    assert pair.off is not None
    for place in (0, 1):
        found = pair.subject()
        found[place][0, 0, 0, 0] = torch.nan
        assert np.isnan(pair.off(found))


@pytest.mark.parametrize(
    ("module", "name", "group", "cases"),
    [
        (table, "sinusoidal_table", "table", ["new", "into"]),
        (bias, "reversed_view", "bias", ["ALiBi seen", "T5 seen"]),
        (bias, "relative_view", "bias", ["ALiBi seen in numpy"]),
        (bias, "relative_attention", "attention", ["rows"]),
        (bias, "scaled_dot_product_attention", "attention", ["matrix"]),
    ],
)
@pytest.mark.usefixtures("without_timing")
def test_a_wrong_fast_path_is_detected(
    monkeypatch: pytest.MonkeyPatch, module: ModuleType, name: str, group: str, cases: list[str]
) -> None:
    right, path = errors(group), getattr(module, name)

    def wrong(*given: Any, **keywords: Any) -> Any:
        found = path(*given, **keywords)
        if keywords.get("out") is not None:
            found += 0.25
            return found
        return found + 0.25

    monkeypatch.setattr(module, name, wrong)
    for case, error in errors(group).items():
        assert error == pytest.approx(right[case] + 0.25 * (case in cases), abs=1e-5), case


@pytest.mark.parametrize("length", [1, 2, 6, 7])
def test_biases_are_compared_piece_by_piece(monkeypatch: pytest.MonkeyPatch, length: int) -> None:
    monkeypatch.setattr(bias, "AT_ONCE", 3)
    defined = bias.exact_alibi(2, length)
    whole = alibi_bias(2, length, causal=False)
    assert bias.furthest(whole, defined) == 0.0
    for query in range(length):
        wrong = whole.copy()
        wrong[1, query, -1] += 0.5
        assert bias.furthest(wrong, defined) == 0.5
    q, k, v = torch.randn(3, 1, 2, length, 4, generator=torch.Generator().manual_seed(0))
    expected, _ = attention(q.numpy(), k.numpy(), v.numpy(), bias=whole)
    np.testing.assert_allclose(bias.exact_attention(q, k, v, defined), expected, rtol=0, atol=1e-14)


@pytest.mark.parametrize("group", TINY)
def test_committed_results_cover_todays_cases(group: str) -> None:
    page, found = report.PAGE.read_text(encoding="utf-8"), report.read()
    today = [(c.name, c.what, c.against, c.target) for c in TINY[group]()]
    then = [(r.name, r.what, r.against, r.target) for r in found.results if r.group == group]
    assert then == today, "run make bench"
    assert f'bench.table("{group}"' in page
    assert report.page_with_results(page, found) == page


# Reporting


def test_a_report_reads_back_as_it_was_written(tmp_path: Path) -> None:
    found = report_of(result(), result(name="other", target=1.5), result("bias", skipped="gone"))
    report.write(found, tmp_path / "bench.json")
    assert report.read(tmp_path / "bench.json") == found
    assert found["table: other"].target == 1.5
    row, _ = found.table("table")
    assert [row["ratio"], row["from"], row["to"]] == [1.25, 1.2, 1.5]
    assert [row["error"] for row in found.table("table", error=True)] == [1.3e-7] * 2
    assert [(row["target"], row["ratio"]) for row in found.targets()] == [(1.5, 1.25)]


def test_missed_targets_are_listed() -> None:
    found = report_of(
        result(name="fast", target=1.25),
        result(name="slow", target=1.0),
        result(name="free"),
        result(name="gone", target=0.1, skipped="not here"),
    )
    assert found.missed_targets() == ["slow what"]


def test_targets_within_the_noise_are_listed() -> None:
    found = report_of(
        *(result(name=f"{target}", target=target) for target in (1.19, 1.2, 1.25, 1.5, 1.51)),
        result(name="gone", target=1.25, skipped="not here"),
    )
    assert found.undecided_targets() == ["1.2 what", "1.25 what", "1.5 what"]


def test_machine_is_described_on_any_system(monkeypatch: pytest.MonkeyPatch) -> None:
    assert "processors" in machine()

    def nothing(*_: object, **__: object) -> str:
        raise OSError

    monkeypatch.setattr(Path, "read_text", nothing)
    assert "processors" in machine()


def test_package_that_is_not_installed_has_no_version(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(report, "PACKAGES", ("numpy", "no-such-package"))
    assert report_of().versions.keys() == {"python", "numpy"}
    assert report_of().noise() == ""


@pytest.mark.parametrize(
    ("form", "number", "text"),
    [
        (report.significant_digits, 12.345, "12.3"),
        (report.significant_digits, 0.5, "0.50"),
        (report.scientific, 0.0, "0.0e0"),
        (report.scientific, 0.014, "1.4e-2"),
        (report.scientific, 2e-12, "2.0e-12"),
    ],
)
def test_numbers_have_the_digits_of_the_page(
    form: Callable[[float], str], number: float, text: str
) -> None:
    assert form(number) == text


PAGE = """# A page

```pycon
>>> bench = given
```

<!-- table: bench.targets() -->
| what | against | target | ratio |
|---|---|--:|--:|
| … | … | 0.00 | 0.00 |

<!-- table: bench.table("table", error=True) -->
| what | against | ratio | from | to | error |
|---|---|--:|--:|--:|--:|
| an old case | floor | 9.99 | 0.00 | 0.00 | 1.0e-1 |
| another | floor | 9.99 | 0.00 | 0.00 | 1.0e-1 |

<!-- table: bench.table("bias") -->
| what | against | ratio | from | to |
|---|---|--:|--:|--:|
| … | … | 0.00 | 0.00 | 0.00 |

The end.
"""


def test_rows_of_the_page_are_replaced_by_the_results(monkeypatch: pytest.MonkeyPatch) -> None:
    found = report_of(
        result(target=1.5),
        result("bias", "seen", ratio=0.00123, low=0.001, high=0.002),
        result("bias", "gone", skipped="not here"),
    )
    page = report.page_with_results(PAGE, found)
    assert "an old case" not in page
    assert "gone" not in page
    assert "| new what | floor | 1.25 | 1.20 | 1.50 | 1.3e-7 |" in page
    assert "| seen what | floor | 0.00123 | 0.00100 | 0.00200 |" in page
    assert page.endswith("\n\nThe end.\n")
    assert report.page_with_results(page, found) == page
    # And the check finds the same numbers.
    monkeypatch.setattr("builtins.given", found, raising=False)
    assert corrections(page) == []
    wrong = page.replace("1.25 | 1.20", "1.26 | 1.20")
    assert [c.should for c in corrections(wrong)] == ["1.25"]


# The command


@pytest.fixture
def tiny_group(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """Measure one tiny group in this process, and write elsewhere."""
    monkeypatch.setattr(
        command, "GROUPS", {"table": ("table", "cases", {"length": 9, "d_model": 4})}
    )
    monkeypatch.setattr(command, "measure_in_new_process", partial(command.measure_here, rounds=1))
    monkeypatch.setattr(report, "PAGE", tmp_path / "page.md")
    monkeypatch.setattr(report, "write", partial(report.write, path=tmp_path / "bench.json"))
    read = report.read
    monkeypatch.setattr(report, "read", lambda: read(tmp_path / "bench.json"))
    return tmp_path


def test_command_writes_file_and_page(tiny_group: Path, capsys: pytest.CaptureFixture[str]) -> None:
    session = "```pycon\n>>> from scripts.bench import report\n>>> bench = report.read()\n```\n\n"
    page = PAGE.replace("```pycon\n>>> bench = given\n```\n\n", session)
    page = page[: page.index('<!-- table: bench.table("bias")')]
    report.PAGE.write_text(page, encoding="utf-8")
    command.main([])
    printed = capsys.readouterr().out
    assert "`sinusoidal_table`, new" in printed
    assert "one thread" in printed
    rows = report.PAGE.read_text(encoding="utf-8")
    assert "`sinusoidal_table`, new" in rows
    assert corrections(rows) == []
    assert json.loads((tiny_group / "bench.json").read_text("utf-8"))["threads"] == "one thread"


def test_command_with_a_name_writes_nothing(tiny_group: Path) -> None:
    command.main(["table"])
    assert list(tiny_group.iterdir()) == []


def test_an_unknown_group_lists_the_known_ones(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit, match=r"^no group speed; there are table, rotary, "):
        command.main(["speed"])


def test_command_shows_skipped_cases_and_missed_targets(
    capsys: pytest.CaptureFixture[str],
) -> None:
    command.show(report_of(result(target=1.0), result(name="gone", skipped="not here")), ["table"])
    printed = capsys.readouterr().out
    assert "skipped: gone what: not here" in printed
    assert "missed its target: new what" in printed
    assert "between its quartiles" not in printed
    command.show(report_of(result(target=1.3, floor_spread=0.5)), ["table"])
    printed = capsys.readouterr().out
    assert "target within the noise: new what" in printed
    assert "interquartile range of the noisiest floor in each group: table 50%, noisy" in printed


def test_threads_that_cannot_be_pinned_are_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    assert command.use_one_thread() == "one thread"
    monkeypatch.setattr(torch, "set_num_threads", lambda _: None)
    monkeypatch.setattr(torch, "get_num_threads", lambda: 4)
    assert command.use_one_thread() == "4 threads, which could not be pinned to one"
    monkeypatch.setitem(sys.modules, "torch", None)
    assert command.use_one_thread() == "one thread"
    assert command.gpu_name() == ""


@pytest.mark.parametrize(("available", "name"), [(True, "a card"), (False, "")])
def test_graphics_card_is_named_where_there_is_one(
    available: bool, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(torch.cuda, "is_available", lambda: available)
    monkeypatch.setattr(torch.cuda, "get_device_name", lambda: "a card")
    assert command.gpu_name() == name


def test_asynchronous_devices_are_synchronized(monkeypatch: pytest.MonkeyPatch) -> None:
    waits: list[int] = []
    monkeypatch.setattr(torch.cuda, "synchronize", lambda: waits.append(1))
    assert rotary.synchronized(lambda: "done", torch.empty(1, device="meta"))() == "done"
    assert waits == [1]


@pytest.mark.slow
def test_groups_are_measured_in_their_own_process() -> None:
    found = command.measure_in_new_process("import", rounds=1)
    assert found["threads"] == "one thread"
    assert [r["name"] for r in found["results"]] == ["posenc"]
