"""Adds the pages that are made from data to the site; mkdocs calls this."""

from __future__ import annotations

from pathlib import Path

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files

from scripts.book import pages


class GeneratedPage(File):
    """A page without a file, which is built again once rebuild.py has outdated what was built.

    `File.generated` counts as modified at every build.
    """

    def __init__(self, path: str, config: MkDocsConfig) -> None:
        """Make the text of the page."""
        super().__init__(path, None, config.site_dir, config.use_directory_urls)
        self.content_string = pages.text(path)

    def is_modified(self) -> bool:
        """Return whether the page is to be built."""
        built = Path(self.abs_dest_path)
        return not built.is_file() or built.stat().st_mtime == 0


def on_files(files: Files, *, config: MkDocsConfig) -> Files:
    """Add the generated pages."""
    for page in generated_pages(config):
        files.append(page)
    return files


def generated_pages(config: MkDocsConfig) -> list[File]:
    """Return the generated pages."""
    return [GeneratedPage(path, config) for path in pages.MADE]
