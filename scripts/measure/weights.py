"""Train the models of the page *Watch it break* again and write their weights.

`make weights` is this command without options. Each model is trained by the code of `make measure`
with seed 0, and refused unless it gives the numbers of the committed result, to their last digit.
The weights go to docs/assets/weights/, in the format of `weight_files.py`; what they were and what
rounding them costs goes to docs/data/measure/weights/. Models that have both files are skipped.
"""

from __future__ import annotations

import argparse
import copy
import hashlib
import json
import math
import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

from posenc.nn import GPTModel
from posenc.nn.gpt import SelfAttention
from scripts import DOCS, ROOT
from scripts.measure import language, result_files, weight_files
from scripts.measure.corpus import AnotherTextError, Corpus, corpus, recorded_text
from scripts.measure.methods import LONGROPE, TRAINED, as_trained
from scripts.measure.training import Settings, stamp, train

WEIGHTS = DOCS / "assets" / "weights"
TEXT = WEIGHTS / "text.txt"  # what the page shows first, our own
FACTS = result_files.RESULTS / "weights"
CHECKPOINTS = ROOT / "build" / "weights"
SEED = 0
WEIGHTS_OF = (*TRAINED, "windows_none")  # the models that the page runs
# These two were measured on a processor without AVX-512, the others on one with it, and training
# amplifies the difference in rounding. With these settings torch rounds as it does without.
WITHOUT_AVX512 = {
    "ATEN_CPU_CAPABILITY": "avx2",
    "MKL_ENABLE_INSTRUCTIONS": "AVX2",
    "ONEDNN_MAX_CPU_ISA": "AVX2",
}
ROUNDING = {"rope": WITHOUT_AVX512, "windows_none": WITHOUT_AVX512}
FEW = 8  # windows of the held-out text that a test evaluates again
READ = 512  # bytes of the page's text


class DifferentError(Exception):
    """A model does not give the numbers of the committed result; the message says which."""


def trained(method: str, text: Corpus, settings: Settings, longest: int) -> GPTModel:
    """Return the model of a scheme, trained as `make measure` trains it, or as far as it was."""
    model = language.model(settings, method, longest, SEED)
    # No digest of the code in this stamp: whether the model is right is decided by its results.
    mark = stamp(settings, "", task="language", method=method, seed=SEED)
    path = CHECKPOINTS / f"{result_files.name('language', method, SEED)}.pt"

    def loss(model: nn.Module, step: int) -> Tensor:
        return language.loss(model, language.batch(text.training, settings, SEED, step))

    train(model, loss, settings, path, mark)
    return model.eval()


def checked(model: GPTModel, method: str, text: Corpus, result: dict[str, Any]) -> dict[str, Any]:
    """Return what `evaluate` returns for a model, which must be what its result file says.

    Raises:
        DifferentError: A number differs.
    """
    recorded = result["found"][method]
    trained, lengths = result["settings"]["length"], result["lengths"]
    ours: dict[str, Any] = result_files.rounded_numbers(
        language.evaluate(model, as_trained, text, trained, lengths)
    )
    for part, found in ours.items():
        if found != recorded[part]:
            raise DifferentError(
                f"the model of {method!r} gives {part} {found}, but its result file says"
                f" {recorded[part]}; nothing was written. Another processor or another version of"
                " torch rounds otherwise, and training amplifies that"
            )
    return ours


def rounded(model: GPTModel) -> GPTModel:
    """Return a copy with the weights that its file would give back."""
    model = copy.deepcopy(model)
    rows = {name: weight_files.rounded(tensor) for name, tensor in model.state_dict().items()}
    model.load_state_dict(rows)
    return model


def model_from_file(file: bytes) -> tuple[GPTModel, dict[str, Any]]:
    """Return the model in a file of weights, and its description."""
    about, tensors = weight_files.unpacked_file(file)
    longest = next((len(x) for name, x in tensors.items() if "pos_embedding" in name), 1)
    model = language.model(Settings(), about["scheme"], longest, SEED)
    model.load_state_dict(tensors)
    return model.eval(), about


def tensor_description(
    method: str, settings: Settings, result: dict[str, Any], model: GPTModel
) -> dict[str, Any]:
    """Return the description that a page needs beside the tensors."""
    about = {
        "scheme": method,
        "seed": SEED,
        "width": settings.width,
        "heads": settings.heads,
        "layers": settings.layers,
        "trained": settings.length,
    }
    if LONGROPE in result["found"]:
        about["divisors"] = result["found"][LONGROPE]["divisors"]
    return about | layer_description(model)


def layer_description(model: GPTModel) -> dict[str, list[Any]]:
    """Return how many keys each layer sees, None for all, and whether it rotates.

    If all layers see every key, and all or none rotate, there is nothing to describe.
    """
    layers = [part for part in model.modules() if isinstance(part, SelfAttention)]
    windows = [getattr(layer, "window", None) for layer in layers]
    rotates = [layer.rope is not None for layer in layers]
    is_plain = not any(windows) and len(set(rotates)) == 1
    return {} if is_plain else {"windows": windows, "rotates": rotates}


def by_length(model: GPTModel, text: Corpus, trained: int, lengths: Sequence[int]) -> Any:
    """Return the loss in a few windows of a held-out text, by length."""
    longest = max(lengths)
    losses = {}
    for length in lengths:
        read = language.windows(text.held_out, length, longest)[:FEW]
        losses[str(length)] = round(language.surprise(model, read)[-trained:].mean().item(), 5)
    return losses


def page_text_loss(model: GPTModel) -> float:
    """Return the mean loss in the text that the page shows first."""
    read = torch.frombuffer(bytearray(TEXT.read_bytes()), dtype=torch.uint8).long()
    return round(language.surprise(model, read[None, : READ + 1]).mean().item(), 5)


def write(method: str, text: Corpus, folder: Path = WEIGHTS, facts: Path = FACTS) -> None:
    """Train a model, check it and write its weights and the facts about them.

    Raises:
        DifferentError: The model does not give the numbers of the committed result.
    """
    name = result_files.name("language", method, SEED)
    result = result_files.read(result_files.RESULTS / f"{name}.json")
    settings, lengths = Settings(**result["settings"]), result["lengths"]
    model = trained(method, text, settings, max(lengths))
    exact = checked(model, method, text, result)
    file = weight_files.packed_file(
        tensor_description(method, settings, result, model), model.state_dict()
    )
    small = rounded(model)
    found = language.evaluate(small, as_trained, text, settings.length, lengths)["by_length"]
    path = folder / f"{method}.bin"
    folder.mkdir(parents=True, exist_ok=True)
    path.write_bytes(file)
    summary = {
        "scheme": method,
        "seed": SEED,
        "version": weight_files.VERSION,
        "bytes": len(file),
        "sha256": hashlib.sha256(file).hexdigest(),
        "corpus": text.digest,
        "float32": exact["by_length"],
        "stored": result_files.rounded_numbers(found),
        "few": by_length(small, corpus(), settings.length, lengths),
        "page": {"float32": page_text_loss(model), "stored": page_text_loss(small)},
    }
    facts.mkdir(parents=True, exist_ok=True)
    (facts / f"{method}.json").write_text(json.dumps(summary, indent=1) + "\n", encoding="utf-8")


@torch.inference_mode()
def attention_before(method: str, byte: int, layer: int, head: int) -> Tensor:
    """Return the weights of the bytes of the page's text, (byte,), when the next is predicted."""
    model, _ = model_from_file((WEIGHTS / f"{method}.bin").read_bytes())
    read = torch.frombuffer(bytearray(TEXT.read_bytes()[:byte]), dtype=torch.uint8).long()
    _, attention = model(read[None], return_attention=True)
    return Tensor(attention[layer, 0, head, -1])


def most_attended_byte(method: str, byte: int, layer: int = 0, head: int = 0) -> int:
    """Return which byte of the page's text has the most weight when a later one is predicted."""
    return int(attention_before(method, byte, layer, head).argmax())


def bytes_seen(method: str, byte: int, layer: int, head: int = 0) -> int:
    """Return how many bytes of the page's text have a weight when a later one is predicted."""
    return int(attention_before(method, byte, layer, head).count_nonzero())


def is_done(method: str) -> bool:
    """Return whether a scheme has its weights and the facts about them."""
    return (WEIGHTS / f"{method}.bin").exists() and (FACTS / f"{method}.json").exists()


def read() -> dict[str, dict[str, Any]]:
    """Return the facts about the weights of each model."""
    files = {method: FACTS / f"{method}.json" for method in WEIGHTS_OF}
    return {name: json.loads(file.read_text(encoding="utf-8")) for name, file in files.items()}


def compared(*lengths: int) -> dict[str, list[float]]:
    """Return columns of perplexities at some lengths, one row per model: trained, and stored."""
    kinds = {"trained": "float32", "stored": "stored"}
    return {
        f"{length} / {kind}": [math.exp(facts[key][str(length)]) for facts in read().values()]
        for length in lengths
        for kind, key in kinds.items()
    }


def main(arguments: Sequence[str]) -> None:
    """Write the weights that are missing among those asked for."""
    parser = argparse.ArgumentParser(prog="python -m scripts.measure.weights", description=__doc__)
    parser.add_argument("methods", nargs="*", metavar="METHOD", help=", ".join(WEIGHTS_OF))
    parser.add_argument("--here", action="store_true", help="in this process, which must round so")
    options = parser.parse_args(arguments)
    methods = options.methods or WEIGHTS_OF
    if unknown := [method for method in methods if method not in WEIGHTS_OF]:
        parser.error(f"no method {unknown[0]!r}; there are {', '.join(WEIGHTS_OF)}")
    for method in (method for method in methods if not is_done(method)):
        if options.here:
            perform(method)
        else:  # rounding is chosen when torch starts
            command = [sys.executable, "-m", "scripts.measure.weights", "--here", method]
            environment = os.environ | ROUNDING.get(method, {})
            if subprocess.run(command, cwd=ROOT, env=environment, check=False).returncode:
                sys.exit(f"stopped at {method}; files that are written are kept")


def perform(method: str) -> None:
    """Write the weights of a scheme, or exit with the reason why not."""
    torch.set_num_threads(1)  # as when it was measured
    name = result_files.name("language", method, SEED)
    result = result_files.read(result_files.RESULTS / f"{name}.json")
    try:
        write(method, recorded_text(result["corpus"]))
    except (AnotherTextError, DifferentError) as error:
        sys.exit(str(error))
    print(f"{WEIGHTS / method}.bin", file=sys.stderr)


if __name__ == "__main__":
    main(sys.argv[1:])
