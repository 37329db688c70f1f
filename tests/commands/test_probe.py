"""The probe of the measuring code detects planted faults and ignores rounding."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pkgutil import resolve_name
from typing import Any

import pytest
import torch
from torch import nn
from torch.nn.modules.module import register_module_forward_hook
from torch.utils._pytree import tree_leaves

from scripts import ROOT
from scripts.measure import result_files
from scripts.measure.__main__ import METHODS
from scripts.measure.probe import TOLERANCE, agrees_with, probe

ANSWER = (5.0, 0.25)
PAIRS = [(task, method) for task, methods in METHODS.items() for method in methods]

# A function of each method; one percent more of it is a fault.
FAULTS = {
    "none": "scripts.measure.training.rate",
    "none, encoder": "scripts.measure.training.rate",
    "sinusoidal": "posenc.nn.embedding.frequencies",
    "learned": "posenc.nn.LearnedPositionalEmbedding.forward",
    "rope": "posenc.nn.rotary.rotary_frequencies",
    "alibi": "posenc.nn.alibi.alibi_slopes",
    "t5": "posenc.nn.t5.t5_bucket_starts",
    "shaw": "posenc.nn.relative.RelativePositionEmbedding.scores",
    "kerple": "posenc.nn.KerpleBias.forward",
    "kerple_power": "posenc.nn.KerpleBias.forward",
    "fire": "posenc.nn.FIREBias.forward",
    "sandwich": "posenc.nn.SandwichBias.forward",
    "tupe": "posenc.nn.TUPEBias.forward",
    "xpos": "posenc.nn.XPos.forward",
    "transformer_xl": "posenc.nn.TransformerXLBias.forward",
    "deberta": "posenc.nn.DisentangledBias.forward",
    "forgetting": "posenc.nn.ForgettingBias.forward",
    "cope": "posenc.nn.CoPE.forward",
    "path": "posenc.nn.PaTH.forward",
    "dape": "posenc.nn.DAPEBias.forward",
    "t5_fitted": "posenc.nn.t5.t5_bucket_starts",
    "fire_fitted": "posenc.nn.FIREBias.forward",
    "rope_random": "scripts.measure.schemes.random_positions",
    "rope_pose": "scripts.measure.schemes.pose_positions",
    "rope_then_none": "posenc.nn.rotary.rotary_frequencies",
    "windows": "posenc.nn.rotary.rotary_frequencies",
    "windows_rope": "posenc.nn.rotary.rotary_frequencies",
    "windows_none": "posenc.nn.rotary.rotary_frequencies",
}
# What a task evaluates beside the model as trained.
READINGS = [
    ("language", "learned", "scripts.measure.methods.resize_table"),
    ("language", "rope", "scripts.measure.methods.interpolated_frequencies"),
    ("language", "rope", "scripts.measure.methods.ntk_frequencies"),
    ("language", "rope", "scripts.measure.methods.dynamic_frequencies"),
    ("language", "rope", "scripts.measure.methods.llama3_frequencies"),
    ("language", "rope", "scripts.measure.methods.yarn_frequencies"),
    ("language", "rope", "scripts.measure.methods.yarn_temperature"),
    ("language", "rope", "scripts.measure.methods.longrope_frequencies"),
    ("language", "rope", "scripts.measure.methods.longrope_temperature"),
    ("language", "windows_rope", "scripts.measure.methods.llama3_frequencies"),
    ("language", "windows_rope", "scripts.measure.methods.yarn_frequencies"),
    ("language", "windows_none", "scripts.measure.methods.log_scale"),
    ("again", "rope", "scripts.measure.methods.yarn_frequencies"),
    ("again", "rope", "scripts.measure.reevaluate.surprise"),
    ("renumbered", "rope", "scripts.measure.renumbered.log_scale"),
    ("further", "rope", "scripts.measure.methods.frequencies"),
    ("further", "rope", "scripts.measure.methods.ntk_frequencies"),
    ("order", "none", "scripts.measure.order.cross_entropy"),
    ("retrieval", "none", "scripts.measure.retrieval.cross_entropy"),
]
# What torch may be told to use of a processor: no vector instructions, or fewer than it has.
CAPABILITIES = {
    "AVX512": ("default", "avx2"),
    "AVX2": ("default", "avx2"),
}.get(torch.backends.cpu.get_cpu_capability(), ("default",))
VERDICTS = """
import torch
from scripts.measure.summary import measurement, results_at_best_rate
outdated = measurement().outdated() + results_at_best_rate().outdated()
print(torch.backends.cpu.get_cpu_capability(), outdated)
"""


def larger(function: Callable[..., Any]) -> Callable[..., Any]:
    """Return the function with its results enlarged by one percent."""
    return lambda *given, **named: 1.01 * function(*given, **named)


def probe_notices(task: str, method: str, name: str, monkeypatch: pytest.MonkeyPatch) -> bool:
    """Return whether a probe notices one percent more of a function."""
    sound = probe(task, method)
    monkeypatch.setattr(name, larger(resolve_name(name)))
    return not agrees_with(sound, probe.__wrapped__(task, method))


@pytest.mark.parametrize("method", [method for task, method in PAIRS if task == "language"])
def test_a_fault_of_one_percent_shows_in_the_probe(
    method: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert probe_notices("language", method, FAULTS[method], monkeypatch)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("task", "method"), [(task, method) for task, method in PAIRS if task != "language"]
)
def test_faults_in_other_tasks_show_in_their_probes(
    task: str, method: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert probe_notices(task, method, FAULTS[method], monkeypatch)


@pytest.mark.slow
@pytest.mark.parametrize(("task", "method", "name"), READINGS)
def test_a_fault_in_a_reading_of_the_trained_model_shows_in_its_probe(
    task: str, method: str, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert probe_notices(task, method, name, monkeypatch)


@pytest.mark.slow
@pytest.mark.parametrize("capability", CAPABILITIES)
def test_no_vector_instructions_make_a_result_outdated(capability: str) -> None:
    command = [sys.executable, "-c", VERDICTS]
    environment = os.environ | {"ATEN_CPU_CAPABILITY": capability}
    run = subprocess.run(
        command, cwd=ROOT, env=environment, capture_output=True, text=True, check=True
    )
    assert run.stdout.split() == [capability.upper(), "[]"]


@pytest.mark.parametrize("method", [method for task, method in PAIRS if task == "order"])
def test_a_probe_computes_in_float64_alone(method: str) -> None:
    dtypes: set[torch.dtype] = set()

    def note(module: nn.Module, given: Any, found: Any) -> None:
        dtypes.update(x.dtype for x in tree_leaves(found) if isinstance(x, torch.Tensor))

    hook = register_module_forward_hook(note)
    try:
        probe.__wrapped__("order", method)
    finally:
        hook.remove()
    assert {dtype for dtype in dtypes if dtype.is_floating_point} == {torch.float64}
    assert torch.get_default_dtype() == torch.float32


def test_order_is_probed_with_and_without_its_mask() -> None:
    assert not agrees_with(probe("order", "none"), probe("order", "none, encoder"))


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
    assert agrees_with(theirs, ANSWER) is alike


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
