"""Which arguments of operations are recorded, and as they were when."""

from __future__ import annotations

import torch
from torch import Tensor

from posenc.diagnose.recording import Recorder, digest


def recorded(length: int, x: Tensor) -> list[tuple[str, list[Tensor]]]:
    with Recorder(length, lambda name, arguments: arguments) as recorder:
        x.mul_(2)
        torch.ones(length + 1).add(1)
        torch.nn.functional.linear(x, torch.ones(length, length))
    calls: list[tuple[str, list[Tensor]]] = recorder.calls
    return calls


def test_arguments_are_kept_as_they_were_before_an_operation_writes_into_them() -> None:
    x = torch.ones(5)
    ((arguments,),) = [arguments for name, arguments in recorded(5, x) if name == "mul"]
    assert torch.equal(arguments, torch.ones(5))
    assert torch.equal(x, torch.full((5,), 2.0))


def test_arguments_without_rows_and_those_of_operations_with_weights_are_not_kept() -> None:
    recorded_arguments = {
        name: arguments for name, arguments in recorded(5, torch.ones(2, 5)) if arguments
    }
    assert set(recorded_arguments) & {"add", "linear", "mm", "addmm"} == set()


def test_digest_tells_shapes_and_values_apart() -> None:
    x = torch.arange(12.0)
    assert digest(x) == digest(x.clone())
    assert len({digest(x), digest(x + 1), digest(x.view(3, 4))}) == 3


def test_memory_that_nothing_was_written_to_holds_zeros() -> None:
    """A model that fills an empty tensor by parts would otherwise show what was freed before."""
    torch.use_deterministic_algorithms(True)  # so that PyTorch fills it with nan
    try:
        x = torch.ones(5, 3)
        assert bool(torch.empty(5, 3).isnan().all())
        with Recorder(5, lambda name, arguments: arguments):
            unwritten = [torch.empty(5, 3), torch.empty_like(x), x.new_empty(5, 3)]
    finally:
        torch.use_deterministic_algorithms(False)
    assert [bool((rows == 0).all()) for rows in unwritten] == [True] * 3
