"""The models in the page *Watch it break*: PyTorch's logits, and what a damaged file says."""

from __future__ import annotations

import base64
import copy
import hashlib
import json
import math
import shutil
import subprocess
from pathlib import Path
from typing import Any
from unittest.mock import MagicMock

import numpy as np
import pytest
import torch
from numpy.typing import NDArray

from posenc.nn import GPTModel, RotaryEmbedding
from posenc.nn.gpt import SelfAttention
from scripts.measure import result_files, weight_files, weights
from scripts.measure.corpus import corpus
from scripts.measure.methods import LONGROPE, VARIANTS, rope_longrope
from scripts.measure.schemes import WindowedAttention
from scripts.measure.training import Settings
from scripts.measure.weights import WEIGHTS_OF
from scripts.setup.node import node
from tests.selection import slow_except
from tests.site.config_script import SCRIPTS, copy_scripts

KINDS = ("logits", "attention")
LENGTHS = (16, 64, 128, 512)
NAMES = {
    method: [*VARIANTS[method], *([LONGROPE] if method == "rope" else [])] for method in WEIGHTS_OF
}
CASES = [
    (method, rule, length)
    for method in WEIGHTS_OF
    for rule in NAMES[method]
    for length in LENGTHS
    if "," not in rule or length > 64  # within the trained length a rule does nothing
]
# What the file of windows_none might say of its layers, each in a case of 128 bytes.
OTHER_LAYERS: dict[str, dict[str, list[Any]]] = {
    "one key more": {"windows": [17, 17, None]},
    "a window in the last layer": {"windows": [16, 16, 16]},
    "no window": {"windows": [None, None, None]},
    "the last layer rotates": {"rotates": [True, True, True]},
    "no layer rotates": {"rotates": [False, False, False]},
}
OTHER_CASES = [("windows_none", "windows_none", 128, layers) for layers in OTHER_LAYERS.values()]
# Run each case, and write its logits and the attention of its last byte.
RUN = """
    import {{ readFileSync, writeFileSync }} from "node:fs";
    const {{ judged, run }} = await import("{folder}/watch/model.js");
    const {{ setFor }} = await import("{folder}/watch/rules.js");
    const schemes = await import("{folder}/watch/schemes.js");
    const {{ unpacked }} = await import("{folder}/watch/weights.js");
    const {{ cases, files, into, text }} = JSON.parse(readFileSync(0, "utf8"));
    const models = {{}};
    for (const [scheme, file] of Object.entries(files)) {{
        const {{ buffer, byteOffset, length }} = readFileSync(file);
        models[scheme] = unpacked(buffer.slice(byteOffset, byteOffset + length));
    }}
    const seconds = cases.map(([scheme, rule, length, layers], n) => {{
        const {{ about, tensors }} = models[scheme];
        const model = {{ about: {{ ...about, ...layers }}, tensors }};
        const begun = performance.now();
        const bytes = Uint8Array.from(text.slice(0, length));
        const found = run(model, bytes, setFor(rule, length, model.about));
        const taken = (performance.now() - begun) / 1000;
        const {{ surprise, guesses }} = judged(found.logits, bytes);
        writeFileSync(`${{into}}/${{n}}.logits`, found.logits);
        const rows = found.attention.length / length;
        const last = [...Array(rows).keys()].filter((row) => row % length === length - 1);
        const own = last.flatMap((row) => [
            ...found.attention.slice(row * length, (row + 1) * length),
        ]);
        writeFileSync(`${{into}}/${{n}}.attention`, Float32Array.from(own));
        writeFileSync(`${{into}}/${{n}}.json`, JSON.stringify([[...surprise], guesses]));
        return taken;
    }});
    console.log(JSON.stringify({{ seconds, schemes }}));
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with the scripts of the page, as the site has them."""
    folder = tmp_path_factory.mktemp("scripts")
    copy_scripts(folder)
    shutil.copytree(SCRIPTS / "watch", folder / "watch")
    return folder


@pytest.fixture(scope="module")
def found(folder: Path, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, dict[str, Any]]:
    """Run every case in node; return the folder of what it wrote, and what it printed."""
    into = tmp_path_factory.mktemp("found")
    asked = {
        "cases": [*CASES, *OTHER_CASES],
        "files": {name: str(weights.WEIGHTS / f"{name}.bin") for name in WEIGHTS_OF},
        "into": str(into),
        "text": list(weights.TEXT.read_bytes()),
    }
    code = RUN.format(folder=folder.as_uri())
    done = subprocess.run(
        node("--no-warnings", "--input-type=module", "-e", code),
        input=json.dumps(asked), capture_output=True, text=True, check=True,
    )  # fmt: skip
    return into, json.loads(done.stdout)


@pytest.fixture(scope="module")
def models() -> dict[str, tuple[GPTModel, dict[str, Any]]]:
    return {
        n: weights.model_from_file((weights.WEIGHTS / f"{n}.bin").read_bytes()) for n in WEIGHTS_OF
    }


@torch.inference_mode()
def pytorch_answers(
    model: GPTModel, length: int
) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
    """Return PyTorch's logits, (T, 256), and the last query's weights, (layers, heads, T)."""
    ids = torch.tensor(list(weights.TEXT.read_bytes()[:length]))
    logits, attention = model(ids[None], return_attention=True)
    return logits[0].numpy(), attention[:, 0, :, -1].numpy()


def rescaled(model: GPTModel, about: dict[str, Any], rule: str, length: int) -> GPTModel:
    """Return a model as the measurement rescales it."""
    if rule == LONGROPE:
        divisors = {int(n): found for n, found in about["divisors"].items()}
        return rope_longrope(model, about["trained"], length, divisors)
    return VARIANTS[about["scheme"]][rule](model, about["trained"], length)


@pytest.mark.parametrize("method", slow_except(["rope", "windows_none"], WEIGHTS_OF))
def test_logits_equal_those_of_pytorch(
    method: str,
    found: tuple[Path, dict[str, Any]],
    models: dict[str, tuple[GPTModel, dict[str, Any]]],
) -> None:
    model, about = models[method]
    for n, (scheme, rule, length) in enumerate(CASES):
        if scheme != method:
            continue
        logits, attention = pytorch_answers(rescaled(model, about, rule, length), length)
        ours = [np.fromfile(found[0] / f"{n}.{kind}", np.float32) for kind in KINDS]
        assert np.abs(ours[0].reshape(logits.shape) - logits).max() < 1e-3, (rule, length)
        assert np.abs(ours[1].reshape(attention.shape) - attention).max() < 1e-3, (rule, length)


def with_layers(model: GPTModel, windows: list[int | None], rotates: list[bool]) -> GPTModel:
    """Return a copy whose layers have these windows and rotate or not."""
    model = copy.deepcopy(model)
    layers = [part for part in model.modules() if isinstance(part, SelfAttention)]
    for layer, window, does_rotate in zip(layers, windows, rotates, strict=True):
        layer.__class__ = WindowedAttention if window else SelfAttention
        vars(layer)["window"] = window
        layer.rope = RotaryEmbedding(layer.d) if does_rotate else None
    return model


@pytest.mark.parametrize("name", OTHER_LAYERS)
def test_the_file_says_which_layers_rotate_and_how_far_they_see(
    name: str,
    found: tuple[Path, dict[str, Any]],
    models: dict[str, tuple[GPTModel, dict[str, Any]]],
) -> None:
    """Another description is another model in the page, the same one as in PyTorch."""
    n = len(CASES) + list(OTHER_LAYERS).index(name)
    model, about = models["windows_none"]
    described = {kind: about[kind] for kind in ("windows", "rotates")} | OTHER_LAYERS[name]
    plain, _ = pytorch_answers(model, 128)
    logits, attention = pytorch_answers(with_layers(model, **described), 128)
    ours = [np.fromfile(found[0] / f"{n}.{kind}", np.float32) for kind in KINDS]
    assert np.abs(ours[0].reshape(logits.shape) - logits).max() < 1e-3
    assert np.abs(ours[1].reshape(attention.shape) - attention).max() < 1e-3
    assert np.abs(ours[0].reshape(logits.shape) - plain).max() > 0.1


@pytest.mark.parametrize("length", LENGTHS)
def test_layers_with_a_window_attend_to_a_quarter_of_a_training_text(
    length: int, found: tuple[Path, dict[str, Any]]
) -> None:
    n = CASES.index(("windows_none", "windows_none", length))
    attention = np.fromfile(found[0] / f"{n}.attention", np.float32).reshape(3, 4, length)
    assert not attention[:2, :, :-16].any()
    assert attention[:2, :, -16:].all()
    assert attention[2].all()


def test_every_rule_changes_what_is_read_beyond_the_trained_length(
    found: tuple[Path, dict[str, Any]],
) -> None:
    """So a rule that is passed over would be noticed."""
    last = {
        rule: np.fromfile(found[0] / f"{n}.logits", np.float32)[-256:]
        for n, (_, rule, length) in enumerate(CASES)
        if length == 512
    }
    for rule, logits in last.items():
        same = [
            other
            for other, pytorch_answers in last.items()
            if np.abs(logits - pytorch_answers).max() < 0.01
        ]
        assert same == [rule]


def test_surprise_and_guesses_are_those_of_the_logits(found: tuple[Path, dict[str, Any]]) -> None:
    n = CASES.index(("alibi", "alibi", 128))
    surprise, guesses = json.loads((found[0] / f"{n}.json").read_text())
    text = list(weights.TEXT.read_bytes()[:128])
    logits = np.fromfile(found[0] / f"{n}.logits", np.float32).reshape(128, 256)
    odds = torch.softmax(torch.from_numpy(logits).double(), -1).numpy()
    exact = -np.log2(odds[np.arange(127), text[1:]])
    np.testing.assert_allclose(surprise[1:], exact, rtol=1e-4, atol=1e-5)
    best = np.argsort(-odds, axis=1)[:127, :3]
    assert [[byte for byte, _ in some] for some in guesses[1:]] == best.tolist()
    assert guesses[1][0][1] == pytest.approx(odds[0].max(), rel=1e-4)


def test_the_page_offers_every_scheme_and_rule_of_the_measurement(
    found: tuple[Path, dict[str, Any]],
) -> None:
    schemes = found[1]["schemes"]
    assert set(schemes["SCHEMES"]) == set(WEIGHTS_OF)
    assert {name: list(rules) for name, rules in schemes["RULES"].items()} == {
        name: rules for name, rules in NAMES.items() if len(rules) > 1
    }
    settings = Settings()
    assert schemes["TRAINED"] == settings.length
    assert (schemes["LAYERS"], schemes["HEADS"]) == (settings.layers, settings.heads)
    assert schemes["MOST"] == weights.READ


# The files


@pytest.mark.parametrize("method", WEIGHTS_OF)
def test_the_weights_give_the_measured_numbers(method: str) -> None:
    """The loss as trained is that of the result file, and the digest that of the file."""
    facts = weights.read()[method]
    file = (weights.WEIGHTS / f"{method}.bin").read_bytes()
    assert hashlib.sha256(file).hexdigest() == facts["sha256"]
    assert len(file) == facts["bytes"] < 1_000_000
    result = result_files.read(result_files.RESULTS / f"language-{method}-0.json")
    assert facts["float32"] == result["found"][method]["by_length"]
    about, tensors = weight_files.unpacked_file(file)
    assert sum(tensor.numel() for tensor in tensors.values()) == result["parameters"]
    assert about["trained"] == result["settings"]["length"]
    if method == "rope":
        assert about["divisors"] == result["found"][LONGROPE]["divisors"]


def test_only_the_file_of_windows_none_describes_layers(
    models: dict[str, tuple[GPTModel, dict[str, Any]]],
) -> None:
    for method, (model, about) in models.items():
        described = {kind: about[kind] for kind in ("windows", "rotates") if kind in about}
        assert described == weights.layer_description(model)
        own = {"windows": [16, 16, None], "rotates": [True, True, False]}
        assert described == (own if method == "windows_none" else {})


@pytest.mark.parametrize("method", slow_except(["rope", "windows_none"], WEIGHTS_OF))
def test_rounding_costs_what_the_page_says(
    method: str, models: dict[str, tuple[GPTModel, dict[str, Any]]]
) -> None:
    """Evaluated again in the text of the page, and in some of the held-out text."""
    facts, (model, about) = weights.read()[method], models[method]
    assert weights.page_text_loss(model) == pytest.approx(facts["page"]["stored"], abs=1e-4)
    for kind in ("64", "512"):
        change = math.exp(facts["stored"][kind] - facts["float32"][kind])
        assert change == pytest.approx(1, abs=0.01)
    few = weights.by_length(model, corpus(), about["trained"], (64, 512))
    assert few == pytest.approx({n: facts["few"][n] for n in few}, abs=1e-4)


def test_weights_of_another_run_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """A loss that differs in the last digit stops the command."""
    result = result_files.read(result_files.RESULTS / "language-alibi-0.json")
    exact = {"by_length": {"64": 1.32553}, "by_position": [1.0]}
    monkeypatch.setattr("scripts.measure.language.evaluate", lambda *_: exact)
    with pytest.raises(weights.DifferentError, match="'alibi' gives by_length"):
        weights.checked(GPTModel(4, 4, 4, 2, 1), "alibi", corpus(), result)


def test_every_model_is_trained_with_the_rounding_of_its_result(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    started: dict[str, str | None] = {}

    def start(command: list[str], *, env: dict[str, str], **_: object) -> MagicMock:
        started[command[-1]] = env.get("ATEN_CPU_CAPABILITY")
        return MagicMock(returncode=0)

    monkeypatch.delenv("ATEN_CPU_CAPABILITY", raising=False)
    monkeypatch.setattr(subprocess, "run", start)
    monkeypatch.setattr(weights, "is_done", lambda method: method == "t5")
    weights.main([])
    plain = {name: None for name in WEIGHTS_OF if name != "t5"}
    assert started == plain | {"rope": "avx2", "windows_none": "avx2"}
    with pytest.raises(SystemExit):
        weights.main(["swin"])


def test_a_matrix_is_stored_to_half_a_step_of_its_row_and_a_vector_exactly() -> None:
    matrix = torch.randn(5, 7) * torch.tensor([1e-3, 1.0, 50.0, 0.0, 1e-30])[:, None]
    vector = torch.randn(3)
    about, tensors = weight_files.unpacked_file(
        weight_files.packed_file({"scheme": "α"}, {"m": matrix, "v": vector})
    )
    assert about == {"scheme": "α", "tensors": [["m", [5, 7]], ["v", [3]]]}
    assert torch.equal(tensors["v"], vector)
    step = matrix.abs().amax(dim=1, keepdim=True) / 127
    assert ((tensors["m"] - matrix).abs() <= 0.5001 * step).all()
    with pytest.raises(ValueError, match="x must be a vector or a matrix"):
        weight_files.packed_file({}, {"x": torch.zeros(1, 1, 1)})


# What a damaged file is called, in Python and in the page.
WHOLE = (weights.WEIGHTS / "alibi.bin").read_bytes()
FAULTS = {
    b"": "not a file of weights",
    b"<!doctype html><title>404</title>": "not a file of weights",
    WHOLE[:-1000]: "damaged",
    WHOLE[:5000] + bytes([WHOLE[5000] ^ 1]) + WHOLE[5001:]: "damaged",
    WHOLE[:4] + b"\2" + WHOLE[5:]: "have version 2",
}
SAY = """
    import {{ readFileSync }} from "node:fs";
    const {{ unpacked }} = await import("{folder}/watch/weights.js");
    const said = JSON.parse(readFileSync(0, "utf8")).map((file) => {{
        try {{
            return unpacked(Uint8Array.from(Buffer.from(file, "base64")).buffer).about;
        }} catch (error) {{
            return error.message;
        }}
    }});
    console.log(JSON.stringify(said));
"""


def test_weights_that_are_torn_are_a_sentence(folder: Path) -> None:
    done = subprocess.run(
        node("--no-warnings", "--input-type=module", "-e", SAY.format(folder=folder.as_uri())),
        input=json.dumps([base64.b64encode(file).decode() for file in FAULTS]),
        capture_output=True,
        text=True,
        check=True,
    )
    for said, (file, wanted) in zip(json.loads(done.stdout), FAULTS.items(), strict=True):
        assert wanted in said
        assert said.endswith("Reload the page to fetch them again.")
        with pytest.raises(weight_files.WeightsError, match=wanted):
            weight_files.unpacked_file(file)
