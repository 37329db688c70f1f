"""Bad input is refused for every argument of every public name of `posenc.nn`.

A message names the argument, what is allowed and what was given, as those of the definitions do
(tests/package/test_arguments.py).
"""

from __future__ import annotations

import pytest

from posenc import nn
from tests.schemes.table import cases, check_call_is_complete, check_refusals, public_calls


@pytest.mark.parametrize(("name", "argument"), [*cases("nn")])
def test_bad_input_is_refused_under_its_name(name: str, argument: str) -> None:
    check_refusals("nn", name, argument)


@pytest.mark.parametrize("name", [*public_calls(nn)])
def test_every_argument_of_every_public_name_has_bad_values_here(name: str) -> None:
    check_call_is_complete("nn", name)
