"""Every listed fault can still be planted. `python -m tests.plant` says whether tests notice it."""

from __future__ import annotations

from scripts import ROOT
from tests.plant import faults


def test_what_a_fault_changes_stands_once_in_its_file() -> None:
    for fault in faults():
        compile(fault.source(), fault.file, "exec")
        assert fault.right != fault.planted, fault.name
        assert all((ROOT / test.partition("::")[0]).is_file() for test in fault.tests.split())
