"""Many small cases in one test: a test of its own takes pytest longer than most of them take."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Iterable
from typing import Any

import pytest

Test = Callable[..., None]


def each(names: str | tuple[str, ...], cases: Iterable[Any]) -> Callable[[Test], Test]:
    """Run a test on one case after another, and name the case that fails.

    This is written as `pytest.mark.parametrize` is. Fixtures are made once, for all cases.
    """
    keys = (names,) if isinstance(names, str) else names
    rows = [(case,) if isinstance(names, str) else tuple(case) for case in cases]
    assert rows, f"There is no case of {keys}."

    def decorate(test: Test) -> Test:
        signature = inspect.signature(test)
        given = [p for p in signature.parameters.values() if p.name not in keys]
        assert len(given) + len(keys) == len(signature.parameters), f"{test} takes no {keys}."

        @functools.wraps(test)
        def run(**fixtures: Any) -> None:
            __tracebackhide__ = True
            for row in rows:
                case = dict(zip(keys, row, strict=True))
                try:
                    test(**case, **fixtures)
                except pytest.skip.Exception as reason:
                    raise AssertionError(f"To skip {case} is to skip all after it.") from reason
                except BaseException as error:
                    error.add_note(f"The case is {case}.")
                    raise

        run.__signature__ = signature.replace(parameters=given)  # type: ignore[attr-defined]
        return run

    return decorate
