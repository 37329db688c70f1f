"""Fixtures that several files of this folder share."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from scripts.site import security_policy
from scripts.site.host import Host, serve_folder
from tests.site.served import Site


@pytest.fixture(scope="module")
def book(site: Site) -> Iterator[Host]:
    """Serve the built site with the headers of its `_headers` file."""
    with serve_folder(site.folder) as host:
        host.blocks = security_policy.blocks(site.folder)
        assert host.blocks
        yield host


@pytest.fixture
def own_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the command read config.json from an empty current folder."""
    monkeypatch.chdir(tmp_path)
