"""Writes the dark drawings of the figures into the built site, derived from the light ones."""

from __future__ import annotations

from pathlib import Path

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.exceptions import PluginError

from scripts.figures._dark import dark


def on_post_build(config: MkDocsConfig) -> None:
    """Write each dark drawing that is missing, or older than its light one."""
    for light in Path(config.site_dir, "figures").glob("*-light.svg"):
        file = light.with_name(light.name.replace("-light", "-dark"))
        if not file.is_file() or file.stat().st_mtime < light.stat().st_mtime:
            try:
                file.write_text(dark(light.read_text(encoding="utf-8")), encoding="utf-8")
            except ValueError as error:
                raise PluginError(f"{light.name}: {error}") from error
