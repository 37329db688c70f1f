"""Every public name of `posenc.nn` says what it promises, and every example holds."""

from __future__ import annotations

import ast
import doctest
import importlib
import inspect
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
import torch

from posenc import nn
from tests.schemes.table import calls

OF_TORCH = ("extra_repr", "reset_parameters")  # conventions of torch, documented there


def public_callables() -> Iterator[tuple[str, Callable[..., object]]]:
    """Yield every public function, class and method, under the name a reader would write."""
    for name in nn.__all__:
        thing = getattr(nn, name)
        yield name, thing
        if inspect.isclass(thing):
            for method, body in vars(thing).items():
                if inspect.isfunction(body) and not method.startswith("_"):
                    yield f"{name}.{method}", body


PUBLIC = dict(public_callables())
MODULES = sorted({thing.__module__ for thing in PUBLIC.values()})


def arguments(name: str) -> list[inspect.Parameter]:
    """Return the parameters of a public name, without `self`."""
    parameters = inspect.signature(PUBLIC[name]).parameters.values()
    return [argument for argument in parameters if argument.name != "self"]


def wanted(name: str) -> Iterator[str]:
    """Yield the sections that a docstring needs."""
    if name.endswith(OF_TORCH):
        return
    yield "Examples:"
    yield "Attributes:" if inspect.isclass(PUBLIC[name]) else "Returns:"
    if "." not in name:  # a method stands under its class, which names the source
        yield "Source:"
    if arguments(name):  # without arguments there is nothing to refuse
        yield from ("Args:", "Raises:")


@pytest.mark.parametrize("name", PUBLIC)
def test_every_public_name_says_what_it_promises(name: str) -> None:
    text = inspect.getdoc(PUBLIC[name]) or ""
    assert text.splitlines()[0].endswith(".")
    assert [section for section in wanted(name) if f"\n{section}\n" not in text] == []
    assert (">>> " in text) or name.endswith(OF_TORCH)


@pytest.mark.parametrize("name", PUBLIC)
def test_every_argument_is_documented_and_annotated(name: str) -> None:
    text = inspect.getdoc(PUBLIC[name]) or ""
    for argument in arguments(name):
        assert argument.annotation is not argument.empty, argument
        assert f"\n    {argument.name}: " in text, argument


@pytest.mark.parametrize("name", [name for name in PUBLIC if inspect.isclass(PUBLIC[name])])
def test_every_attribute_is_documented_and_there(name: str) -> None:
    text = inspect.getdoc(PUBLIC[name]) or ""
    section = text.split("\nAttributes:\n")[1].split("\n\n")[0]
    lines = [line for line in section.splitlines() if line[4:5].strip()]  # skip continuation lines
    documented = {line.strip().partition(":")[0] for line in lines}
    thing = calls("nn")[name]() if arguments(name) else PUBLIC[name]()
    assert documented - set(dir(thing)) == set()
    kept = {key for key in vars(thing) if not key.startswith("_")} - {"training"}
    if isinstance(thing, torch.nn.Module):
        kept |= {*thing._parameters, *thing._modules}
    assert kept - documented == set()


@pytest.mark.parametrize("module", MODULES)
@pytest.mark.slow
def test_every_docstring_example_prints_what_it_says(module: str) -> None:
    outcome = doctest.testmod(importlib.import_module(module))
    assert outcome.attempted > 0
    assert outcome.failed == 0


def test_every_file_is_on_the_map() -> None:
    files = {f"posenc.nn.{file.stem}" for file in Path(nn.__file__).parent.glob("[a-z]*.py")}
    imports = ast.parse(Path(nn.__file__).read_text("utf-8")).body
    imported = {node.module for node in imports if isinstance(node, ast.ImportFrom)}
    missing = files - imported
    assert not missing, f"import the public names of {missing} in posenc/nn/__init__.py"
