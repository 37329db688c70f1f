"""constraints.txt pins what pyproject.toml names, and says nothing of where packages come from."""

import tomllib

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from scripts import ROOT

PINS = (ROOT / "constraints.txt").read_text("utf-8")


def test_every_named_package_is_pinned_to_a_version_that_the_project_allows() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    extras = project["optional-dependencies"].values()
    named = [Requirement(text) for extra in (project["dependencies"], *extras) for text in extra]
    lines = [Requirement(line) for line in PINS.splitlines() if not line.startswith("#")]
    pinned = {pin.name: str(pin.specifier).removeprefix("==") for pin in lines}
    for requirement in named:
        name = canonicalize_name(requirement.name)
        if name != project["name"]:
            assert pinned[name] in requirement.specifier, requirement


def test_the_pins_name_no_address_and_no_build_of_a_version() -> None:
    assert "://" not in PINS
    assert "+" not in PINS
