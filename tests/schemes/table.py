"""What an entry is made of, and the entries of all schemes by name."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from importlib import import_module
from pkgutil import iter_modules
from types import ModuleType
from typing import Any
from unittest.mock import Mock

import pytest

from tests import schemes
from tests.schemes.arrays import BAD, Row


@dataclass(frozen=True)
class Call:
    """A public function, class or method with good arguments, and bad ones of its own.

    `bad` has rows, or bare values that any helpful message may refuse. `reals` has arrays of reals
    instead of the integers, the one number or the nothing that the good arguments have.
    """

    thing: Callable[..., Any]
    method: str
    good: Mapping[str, Any]
    bad: Mapping[str, Sequence[Any]] = field(default_factory=dict)
    reals: Mapping[str, Any] = field(default_factory=dict)

    def refuses(self, **bad: Sequence[Any]) -> Call:
        """Return this call with bad values for some arguments."""
        return replace(self, bad=bad)

    def with_reals(self, **reals: Any) -> Call:
        """Return this call with arrays of reals for some arguments."""
        return replace(self, reals=reals)

    @property
    def name(self) -> str:
        """Return the name that a reader would write after the package's."""
        return ".".join(filter(None, (self.thing.__name__, self.method)))

    @property
    def package(self) -> str:
        """Return "nn" for what needs torch, or "posenc"."""
        return "nn" if self.thing.__module__.split(".")[1] in ("nn", "diagnose") else "posenc"

    @property
    def parameters(self) -> dict[str, inspect.Parameter]:
        """Return the parameters by name, without `self`."""
        function = getattr(self.thing, self.method) if self.method else self.thing
        parameters = inspect.signature(function).parameters
        return {name: one for name, one in parameters.items() if name != "self"}

    def bound(self) -> Callable[..., Any]:
        """Return the function or class; for a method, that of a new object."""
        if not self.method:
            return self.thing
        created = calls(self.package)[self.thing.__name__]()
        method: Callable[..., Any] = getattr(created, self.method)
        return method

    def __call__(self, **others: Any) -> Any:
        """Return the result for the good arguments, with others in their place."""
        return self.bound()(**{**self.good, **others})

    def bad_values(self, argument: str) -> Sequence[Any]:
        """Return the values that an argument must refuse."""
        if self.package == "posenc":
            return self.bad.get(argument, BAD.get(argument, []))
        from tests.schemes.tensors import TENSORS

        return self.bad.get(argument, TENSORS.get(argument, BAD.get(argument, [])))


def call(thing: Callable[..., Any], method: str = "", /, **good: Any) -> Call:
    """Return a call with these good arguments."""
    return Call(thing, method, good)


@dataclass(frozen=True)
class Variant:
    """One way to make a scheme's module, and what it must equal.

    `call` calls the module for the queries from `start` to `stop` with the keys 0 … stop−1, as in
    decoding with a cache, and `definition` computes the same with numpy. `narrow` is how many
    units in the last place a result in a narrow dtype may be off, relative to the largest entry;
    with None each entry is the exact one, rounded.
    """

    make: Callable[[], Any]
    call: Callable[[Any, int, int], Any]
    definition: Callable[[Any, int, int], Any]
    shown: str  # the module's repr
    axis: int = -2  # that of the queries in what `call` returns
    narrow: float | None = 8


@dataclass(frozen=True)
class Initial:
    """A module wide enough for statistics, and how its parameters begin.

    All are at one number, evenly between two, or `NORMAL`.
    """

    make: Callable[[], Any]
    parameters: Mapping[str, float | str | tuple[float, float]]


NORMAL = "normal, of standard deviation 0.02"


class Scheme:
    """The entry of a scheme: its public names, its modules, and how their parameters begin."""

    def __init__(
        self,
        *calls: Call,
        variants: Mapping[str, Variant] | None = None,
        initial: Sequence[Initial] = (),
    ) -> None:
        self.calls, self.variants, self.initial = calls, variants or {}, initial


def wings() -> Iterator[ModuleType]:
    """Yield the files of this folder that have entries."""
    for module in iter_modules(schemes.__path__):
        if module.name not in ("arrays", "table", "tensors"):
            yield import_module(f"tests.schemes.{module.name}")


@cache
def entries() -> dict[str, Scheme]:
    """Return all entries by name."""
    return {
        name.lower(): entry
        for wing in wings()
        for name, entry in vars(wing).items()
        if isinstance(entry, Scheme)
    }


@cache
def calls(package: str) -> dict[str, Call]:
    """Return the calls of all public names of "posenc" or "nn"."""
    return {
        one.name: one
        for entry in entries().values()
        for one in entry.calls
        if one.package == package
    }


def variants() -> dict[str, Variant]:
    """Return the variants of all modules, as "kerple, power"."""
    return {
        ", ".join(filter(None, (name, variant))): found
        for name, entry in entries().items()
        for variant, found in entry.variants.items()
    }


def arguments(variant: Variant, module: Any, start: int, stop: int) -> dict[str, Any]:
    """Return what a variant's call gives to its module, by name."""
    called = Mock(wraps=module)
    variant.call(called, start, stop)
    positional, named = called.call_args
    return inspect.signature(module.forward).bind(*positional, **named).arguments


def cases(package: str) -> Iterator[tuple[str, str]]:
    """Yield every public name and argument that has bad values."""
    for name, one in calls(package).items():
        yield from ((name, argument) for argument in one.parameters if one.bad_values(argument))


def public_calls(package: ModuleType) -> Iterator[str]:
    """Yield every public function, class and method of a package that takes arguments."""
    for name in package.__all__:
        thing = getattr(package, name)
        methods = inspect.getmembers(thing, inspect.isfunction) if inspect.isclass(thing) else []
        for method, body in [("", thing), *methods]:
            ours = method[:1] != "_" and body.__module__.startswith("posenc")
            if ours and [key for key in inspect.signature(body).parameters if key != "self"]:
                yield ".".join(filter(None, (name, method)))


def check_call_is_complete(package: str, name: str) -> None:
    """Fail, and say what to add, unless a public name has good arguments and bad ones of each."""
    one = calls(package).get(name)
    assert one, f"add a call of {package}.{name} to the entry of its scheme in tests/schemes/"
    one()
    missing = [argument for argument in one.parameters if not one.bad_values(argument)]
    assert not missing, (
        f"add bad values of {missing} to the call of {package}.{name}, by refuses(…)"
    )


def check_refusals(package: str, name: str, argument: str) -> None:
    """Fail unless each bad value is refused with a message that names it and what is allowed."""
    one = calls(package)[name]
    tested = one.bound()
    # An argument may be named with another that it has to fit, as q and k are.
    named = rf"(?:\w+(?:,| and| \+) )*{argument}(?:(?:,| and| \+) \w+)*"
    for number, value in enumerate(one.bad_values(argument)):
        row = value if isinstance(value, Row) else Row(Exception, "", "", value)
        about = f"bad value {number} of {argument}, {row.shown or type(value)}"
        with pytest.raises((TypeError, ValueError)) as refusal:
            pytest.fail(f"{about} gave {tested(**{**one.good, argument: row.value})}")
        message = re.fullmatch(rf"{named} must (.+?); got (.+)", str(refusal.value))
        assert message, (about, str(refusal.value))
        assert refusal.type is row.error or not isinstance(value, Row), about
        assert row.allowed in message[1], (about, str(refusal.value))
        assert row.shown in message[2], (about, str(refusal.value))
        assert len(str(refusal.value)) < 200, about
