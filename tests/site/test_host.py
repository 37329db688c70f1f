"""The host of the tests and of `make lighthouse` does what static hosts do."""

from __future__ import annotations

import gzip
import socket
import struct
from http.client import RemoteDisconnected
from pathlib import Path
from urllib.error import HTTPError
from urllib.parse import urlsplit
from urllib.request import Request, urlopen

import pytest

from scripts.site.host import serve_folder

PAGE = "<p>A page.</p>" * 50


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Return a folder with a page, a picture and a 404 page."""
    (tmp_path / "a").mkdir()
    (tmp_path / "a" / "index.html").write_text(PAGE, encoding="utf-8")
    (tmp_path / "a" / "face.woff2").write_bytes(b"face" * 100)
    (tmp_path / "404.html").write_text("Nothing", encoding="utf-8")
    return tmp_path


def test_text_is_compressed_and_counted_compressed(folder: Path) -> None:
    with serve_folder(folder) as host:
        asked = Request(f"{host.url}a/", headers={"Accept-Encoding": "gzip, br"})
        with urlopen(asked) as answer:
            sent = answer.read()
            assert answer.headers["Content-Encoding"] == "gzip"
            assert answer.headers["Content-Type"] == "text/html; charset=utf-8"
        assert gzip.decompress(sent).decode() == PAGE
        assert host.sent == [("/a/", len(sent))]
        assert len(sent) < 100


def test_compressed_formats_and_plain_requests_are_not_compressed(folder: Path) -> None:
    with serve_folder(folder) as host:
        asked = Request(f"{host.url}a/face.woff2", headers={"Accept-Encoding": "gzip"})
        for request in (asked, f"{host.url}a/"):
            with urlopen(request) as answer:
                assert answer.headers["Content-Encoding"] is None
        assert host.sent == [("/a/face.woff2", 400), ("/a/", len(PAGE))]


def test_a_changed_file_is_served_at_once(folder: Path) -> None:
    page = folder / "a" / "index.html"
    with serve_folder(folder) as host:
        asked = Request(f"{host.url}a/?x=1", headers={"Accept-Encoding": "gzip"})
        for words in ("one", "another"):
            page.write_text(words, encoding="utf-8")
            with urlopen(asked) as answer:
                assert gzip.decompress(answer.read()).decode() == words


@pytest.mark.parametrize("path", ["none/", "a/none.css", "../conftest.py", "%2e%2e/conftest.py"])
def test_a_wrong_address_gets_the_404_page(folder: Path, path: str) -> None:
    with serve_folder(folder) as host, pytest.raises(HTTPError) as failed:
        urlopen(host.url + path)
    with failed.value as answer:
        assert (answer.code, answer.read()) == (404, b"Nothing")


def test_host_under_a_path_serves_nothing_outside_it(folder: Path) -> None:
    with serve_folder(folder, under="/some/book/") as host:
        with urlopen(f"{host.url}a") as answer:  # redirected to the folder
            assert answer.url == f"{host.url}a/"
            assert answer.read().decode() == PAGE
        with pytest.raises(HTTPError, match="404") as failed:
            urlopen(host.url.replace("/some/book/", "/a/"))
        failed.value.close()


def test_folder_without_a_404_page_gets_a_default(folder: Path) -> None:
    (folder / "404.html").unlink()
    with serve_folder(folder) as host, pytest.raises(HTTPError, match="404") as failed:
        urlopen(f"{host.url}none")
    with failed.value as answer:
        assert b"Not found" in answer.read()


def test_connection_reset_by_a_browser_prints_nothing(
    folder: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    with serve_folder(folder) as host:
        for asked in (b"", b"GET /a/face.woff2 HTTP/1.1\r\n"):
            reset(host.url, asked)
        with urlopen(f"{host.url}a/") as answer:  # the next request is answered
            assert answer.read().decode() == PAGE
    assert capfd.readouterr().err == ""


def test_an_error_of_the_host_itself_is_still_printed(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    def broken(path: Path, changed: int) -> bytes:
        raise ValueError("a fault of the host")

    monkeypatch.setattr("scripts.site.host.compressed", broken)
    with serve_folder(folder) as host, pytest.raises(RemoteDisconnected):
        urlopen(Request(f"{host.url}a/", headers={"Accept-Encoding": "gzip"}))
    assert "ValueError: a fault of the host" in capfd.readouterr().err


def reset(url: str, asked: bytes) -> None:
    """Request a file and reset the connection, as a browser does when its page is left."""
    address = urlsplit(url)
    with socket.create_connection((address.hostname, address.port)) as connection:
        connection.sendall(asked)
        at_once = struct.pack("ii", 1, 0)  # close with a reset, dropping unsent data
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, at_once)
