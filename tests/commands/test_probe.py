"""The probe of the measuring code detects planted faults and ignores rounding."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pkgutil import resolve_name
from typing import Any

import pytest

from scripts.measure import result_files
from scripts.measure.probe import TOLERANCE, is_like, probe

ANSWER = (5.0, 0.25)


def larger(function: Callable[..., Any]) -> Callable[..., Any]:
    """Return the function with its results enlarged by one percent."""
    return lambda *given, **named: 1.01 * function(*given, **named)


@pytest.fixture
def asked_anew() -> Iterator[None]:
    """Clear the cached answers before and after the fault is planted."""
    probe.cache_clear()
    yield
    probe.cache_clear()


@pytest.mark.usefixtures("asked_anew")
@pytest.mark.parametrize(
    ("method", "name"),
    [
        ("none", "scripts.measure.training.rate"),
        ("sinusoidal", "posenc.nn.embedding.frequencies"),
        ("learned", "scripts.measure.methods.resize_table"),
        ("rope", "posenc.nn.rotary.rotary_frequencies"),
        ("rope", "scripts.measure.methods.ntk_frequencies"),
        ("rope", "scripts.measure.methods.dynamic_frequencies"),
        ("rope", "scripts.measure.methods.llama3_frequencies"),
        ("rope", "scripts.measure.methods.yarn_temperature"),
        ("rope", "scripts.measure.methods.longrope_frequencies"),
        ("rope", "scripts.measure.methods.longrope_temperature"),
        ("alibi", "posenc.nn.alibi.alibi_slopes"),
        ("t5", "posenc.nn.t5.t5_bucket_starts"),
        ("shaw", "posenc.nn.relative.RelativePositionEmbedding.scores"),
        ("kerple", "posenc.nn.KerpleBias.forward"),
        ("fire", "posenc.nn.FIREBias.forward"),
        ("xpos", "posenc.nn.XPos.forward"),
        ("forgetting", "posenc.nn.ForgettingBias.forward"),
        ("cope", "posenc.nn.CoPE.forward"),
    ],
)
def test_a_fault_of_one_percent_shows_in_the_probe(
    method: str, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    sound = probe("language", method)
    assert is_like(sound, probe.__wrapped__("language", method))
    monkeypatch.setattr(name, larger(resolve_name(name)))
    assert not is_like(sound, probe.__wrapped__("language", method))


@pytest.mark.usefixtures("asked_anew")
@pytest.mark.parametrize(
    ("task", "method", "name"),
    [
        ("again", "rope", "scripts.measure.methods.yarn_frequencies"),
        ("again", "alibi", "scripts.measure.again.surprise"),
        ("retrieval", "alibi", "posenc.nn.alibi.alibi_slopes"),
        ("retrieval", "none", "scripts.measure.retrieval.cross_entropy"),
    ],
)
def test_faults_in_other_tasks_show_in_their_probes(
    task: str, method: str, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    sound = probe(task, method)
    assert is_like(sound, probe.__wrapped__(task, method))
    monkeypatch.setattr(name, larger(resolve_name(name)))
    assert not is_like(sound, probe.__wrapped__(task, method))


def test_order_is_probed_with_and_without_its_mask() -> None:
    assert not is_like(probe("order", "none"), probe("order", "none, encoder"))


@pytest.mark.parametrize(
    ("theirs", "alike"),
    [
        (ANSWER, True),
        ((5.0, 0.25 * (1 + TOLERANCE / 2)), True),
        ((5.0, 0.25 * (1 + TOLERANCE * 2)), False),
        ((5.0,), False),
    ],
)
def test_answers_are_alike_up_to_rounding(theirs: tuple[float, ...], alike: bool) -> None:
    assert is_like(theirs, ANSWER) is alike


def test_any_edit_of_the_code_changes_its_digest(tmp_path: Any) -> None:
    (tmp_path / "posenc").mkdir()
    module = tmp_path / "posenc" / "rotary.py"
    module.write_text("x = 1\n", "utf-8")
    first = result_files.code(tmp_path)
    result_files.code.cache_clear()
    assert result_files.code(tmp_path) == first
    module.write_text("x = 2\n", "utf-8")
    result_files.code.cache_clear()
    assert result_files.code(tmp_path) != first
    result_files.code.cache_clear()
