"""The typefaces of the pages and the card, as npm installs them."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from scripts import ROOT

MODULES = ROOT / "node_modules"


@dataclass(frozen=True)
class Face:
    """One typeface in one style, with the names that its npm package uses."""

    family: str  # the name in our CSS
    package: str
    weight: str
    style: str
    css_weight: str

    def file(self, subset: str) -> Path:
        """Return the package's file for one subset of Unicode."""
        stem = self.package.split("/")[1]
        name = f"{stem}-{subset}-{self.weight}-{self.style}.woff2"
        return MODULES / self.package / "files" / name

    @property
    def core(self) -> str:
        """The name of its core file, with the common characters."""
        return f"{self.family.replace(' ', '-').lower()}-{self.weight}-{self.style}.woff2"


FACES = (
    Face("Book Serif", "@fontsource/stix-two-text", "400", "normal", "400"),
    Face("Book Serif", "@fontsource/stix-two-text", "400", "italic", "400"),
    Face("Book Serif", "@fontsource/stix-two-text", "600", "normal", "600"),
    Face("Book Sans", "@fontsource-variable/source-sans-3", "wght", "normal", "200 900"),
    Face("Book Sans", "@fontsource-variable/source-sans-3", "wght", "italic", "200 900"),
    Face("Book Code", "@fontsource/source-code-pro", "400", "normal", "400"),
)
