"""Where a configuration may lie, and how a length may be written."""

from __future__ import annotations

import io
import json
from pathlib import Path

import pytest

from posenc import read_config
from posenc.__main__ import main
from tests.package.test_config_gguf import LLAMA, written

CONFIG = {"model_type": "llama", "head_dim": 64, "max_position_embeddings": 4096}


def saved(folder: Path, name: str = "config.json", **content: object) -> Path:
    """Return a folder in which a file of this content lies."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / name).write_text(json.dumps(content or CONFIG), "utf-8")
    return folder


def test_a_model_in_a_cache_is_read(tmp_path: Path) -> None:
    cache = tmp_path / "models--owner--name"
    saved(cache / "snapshots" / "abc")
    assert read_config(cache).d == 64
    saved(cache / "snapshots" / "def", head_dim=128, rope_theta=1e4)
    with pytest.raises(
        ValueError,
        match=r"one of several snapshots in models--.*; got abc, def: pass one, such as .*abc",
    ):
        read_config(cache)
    saved(cache / "refs", "main")
    (cache / "refs" / "main").write_text("def\n", "utf-8")
    assert read_config(cache).d == 128


def test_of_an_adapter_the_base_is_read(tmp_path: Path) -> None:
    base = saved(tmp_path / "base")
    for name in (str(base), "../base"):
        adapter = saved(tmp_path / "a", "adapter_config.json", base_model_name_or_path=name)
        assert read_config(adapter).d == 64
    saved(adapter, "adapter_config.json", r=8)
    with pytest.raises(ValueError, match=r"adapter_config.json must name its base"):
        read_config(adapter)
    saved(adapter, "adapter_config.json", base_model_name_or_path="owner/name")
    with pytest.raises(ValueError, match="got owner/name, and nothing is fetched"):
        read_config(adapter)


def test_the_file_of_an_adapter_does_as_its_folder_does(tmp_path: Path) -> None:
    saved(tmp_path / "base")
    adapter = saved(tmp_path / "a", "adapter_config.json", base_model_name_or_path="../base")
    assert read_config(adapter / "adapter_config.json").d == 64


@pytest.mark.parametrize("base", [".", "../other"])
def test_an_adapter_of_an_adapter_is_refused(tmp_path: Path, base: str) -> None:
    for name in ("a", "other"):
        saved(tmp_path / name, "adapter_config.json", base_model_name_or_path=base)
    with pytest.raises(ValueError, match=r"must be a model; got .*, which is an adapter"):
        read_config(tmp_path / "a")


def test_a_folder_may_have_params_or_one_gguf_file_in_place_of_a_configuration(
    tmp_path: Path,
) -> None:
    assert (
        read_config(saved(tmp_path / "a", "params.json", dim=512, n_layers=2, n_heads=4)).d == 128
    )
    folder = tmp_path / "b"
    folder.mkdir()
    (folder / "one.gguf").write_bytes(written(LLAMA))
    assert read_config(folder).base == 5e5
    (folder / "two.gguf").write_bytes(written(LLAMA))
    with pytest.raises(ValueError, match=r"one of several GGUF files in b; .* such as .*one.gguf"):
        read_config(folder)


@pytest.mark.parametrize("path", ["owner/name", "https://huggingface.co/owner/name/tree/main"])
def test_a_name_on_the_hub_is_told_which_file_to_download(path: str) -> None:
    file = "https://huggingface.co/owner/name/resolve/main/config.json"
    with pytest.raises(ValueError, match=f"nothing is fetched: download {file} and pass the file"):
        read_config(path)


def test_a_file_that_is_missing_is_no_name_on_the_hub(tmp_path: Path) -> None:
    for path in (tmp_path, tmp_path / "config.json", Path("a/config.json")):
        with pytest.raises(FileNotFoundError):
            read_config(path)


def test_a_configuration_may_come_from_standard_input(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(json.dumps(CONFIG).encode())))
    assert main(["config", "-", "--length", "2k"]) == 0
    assert "-: default, base 10,000" in capsys.readouterr().out
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(b"{")))
    assert main(["config", "-"]) == 2
    assert "got standard input: Expecting" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("written", "length"), [("8192", 8192), ("128k", 131072), ("128K", 131072), ("1m", 2**20)]
)
def test_a_length_may_have_a_unit(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], written: str, length: int
) -> None:
    folder = saved(tmp_path)
    main(["config", str(folder), "--length", written])
    assert f"{length:,} asked about" in capsys.readouterr().out


@pytest.mark.parametrize("written", ["k", "1.5k", "128kb", ""])
def test_another_unit_is_refused(tmp_path: Path, written: str) -> None:
    with pytest.raises(SystemExit):
        main(["config", str(saved(tmp_path)), "--length", written])
