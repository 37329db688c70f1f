"""A plugin for pytest: one test for each test vector, of functions of your own.

    pytest --posenc-vectors my.module:functions --posenc-known known.txt

`functions` maps names of suites to functions, as `posenc.vectors.check` takes them. Nothing of
posenc is imported until the option is given, so this module lies outside of the package.
"""

from __future__ import annotations

import importlib
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

NODE = "posenc-vectors"


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the options."""
    group = parser.getgroup("posenc", "test vectors of positional encodings")
    group.addoption(
        "--posenc-vectors",
        metavar="MODULE:NAME",
        help="test the functions of a mapping from suites to functions",
    )
    group.addoption("--posenc-known", metavar="FILE", help="known differences: ID # reason")
    group.addoption("--posenc-contract", metavar="CONTRACT", help="how exact answers must be")
    group.addoption(
        "--posenc-strict", action="store_true", help="fail if an invalid input is not refused"
    )


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(
    session: pytest.Session, config: pytest.Config, items: list[pytest.Item]
) -> None:
    """Add the cases, before -k and -m choose among all tests."""
    if place := config.getoption("posenc_vectors"):
        parent = Vectors.from_parent(session, name="posenc", nodeid=NODE)
        items.extend(parent.of(place))


@pytest.hookimpl(trylast=True)
def pytest_sessionfinish(session: pytest.Session) -> None:
    """Let pytest fail if all cases were skipped, so that nothing was tested."""
    reporter = session.config.pluginmanager.get_plugin("terminalreporter")
    if reporter is None or not session.config.getoption("posenc_vectors"):
        return
    ours = {
        outcome
        for outcome, reports in reporter.stats.items()
        for one in reports
        if getattr(one, "nodeid", "").startswith(NODE)
    }
    if ours - {"", "deselected"} == {"skipped"} and session.exitstatus == pytest.ExitCode.OK:
        session.exitstatus = pytest.ExitCode.NO_TESTS_COLLECTED
        reporter.write_line("posenc: no test vector was answered; all were skipped")


class Vectors(pytest.Collector):
    """The cases of the suites that a mapping has functions for."""

    def collect(self) -> list[pytest.Item]:
        """Return the cases."""
        return [*self.of(self.config.getoption("posenc_vectors"))]

    def of(self, place: str) -> Iterator[pytest.Item]:
        """Yield an item for each case, an xfail where its failure is known."""
        from posenc.vectors import cases, read_known
        from posenc.vectors.known import matches, unmatched_patterns

        functions = functions_at(place)
        try:
            known = read_known(self.config.getoption("posenc_known"))
            found = [(name, case) for name in functions for case in cases(name)]
        except (OSError, ValueError) as error:
            raise pytest.UsageError(str(error)) from None
        if unmatched := unmatched_patterns(known, None):
            raise pytest.UsageError(f"known differences that match no case: {', '.join(unmatched)}")
        for name, case in found:
            item = CaseItem.from_parent(self, name=case.id, case=case, function=functions[name])
            for pattern in matches(case.id, known)[:1]:
                item.add_marker(pytest.mark.xfail(reason=known[pattern], strict=True))
            yield item


def functions_at(place: str) -> Mapping[str, Any]:
    """Return the mapping at MODULE:NAME; the current folder is searched too."""
    module, colon, name = place.partition(":")
    if not (module and colon and name):
        raise pytest.UsageError(f"--posenc-vectors must be MODULE:NAME; got {place!r}")
    here = str(Path.cwd())
    if here not in sys.path:
        sys.path.insert(0, here)
    try:
        found = getattr(importlib.import_module(module), name)
    except (ImportError, AttributeError) as error:
        raise pytest.UsageError(f"--posenc-vectors {place}: {error}") from None
    if not isinstance(found, Mapping):
        raise pytest.UsageError(
            f"--posenc-vectors must name a mapping from suites to functions; {place} is a"
            f" {type(found).__name__}"
        )
    return found


class WrongAnswerError(Exception):
    """A case failed; says how."""


class CaseItem(pytest.Item):
    """One case."""

    def __init__(self, *, case: Any, function: Any, **rest: Any) -> None:
        super().__init__(**rest)
        self.case, self.function = case, function

    def runtest(self) -> None:
        """Run the case; skip what is not offered, and nonsense that was not refused."""
        from posenc.vectors import check

        options = {"strict": self.config.getoption("posenc_strict")}
        if contract := self.config.getoption("posenc_contract"):
            options["contract"] = contract
        report = check(self.function, self.case, **options)
        (one,) = report.outcomes
        if report.wrong:
            raise WrongAnswerError(str(report))
        if one.status == "unrefused":
            pytest.skip(f"not refused: {self.case.why}")
        if one.status == "unsupported":
            pytest.skip(f"unsupported: {one.said}")

    def repr_failure(self, excinfo: pytest.ExceptionInfo[BaseException], style: Any = None) -> Any:
        """Return the report of the case, without a traceback."""
        if isinstance(excinfo.value, WrongAnswerError):
            return str(excinfo.value)
        return super().repr_failure(excinfo, style)

    def reportinfo(self) -> tuple[Path, None, str]:
        """Return what stands above a failure."""
        return self.path, None, self.case.id
