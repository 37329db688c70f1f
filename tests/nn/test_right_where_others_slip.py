"""Common mistakes in position code, tested on every scheme and module they concern.

A cache with the wrong offset, padding that shifts positions, packed documents that attend to each
other, a table rounded with the model, a shared buffer: each has one test below, run on all
schemes. The expected values come from a second computation (the sequence alone, all tokens in one
call, float64) or from the numpy definitions. The last tests plant the mistakes and make sure that
these checks fail.
"""

from __future__ import annotations

import copy
import os
import shutil
import sys
import sysconfig
from collections.abc import Callable, Iterator
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
import torch
from torch import Tensor, nn

import posenc
from posenc.nn import gpt
from posenc.nn.alibi import ALiBi
from posenc.nn.attention import attention
from posenc.nn.embedding import PositionalEmbedding
from posenc.nn.gpt import SCHEMES, Cache, GPTModel
from posenc.nn.learned import LearnedPositionalEmbedding
from posenc.nn.relative import RelativePositionEmbedding, relative_positions
from posenc.nn.rotary import RotaryEmbedding
from posenc.nn.sinusoidal import SinusoidalPositionalEncoding
from posenc.nn.t5 import T5RelativeBias
from posenc.rotary.rope import apply_rope
from posenc.scores.alibi import alibi_bias

pytestmark = pytest.mark.no_cover  # the tests of each module count its lines

D, ROWS = 16, 1000

MODULES: dict[str, Callable[[], nn.Module]] = {
    "sinusoidal": lambda: SinusoidalPositionalEncoding(D),
    "learned": lambda: LearnedPositionalEmbedding(ROWS, D),
    "embedding, none": lambda: PositionalEmbedding(3, ROWS, D, "none", 0.0),
    "embedding, counting": lambda: PositionalEmbedding(3, ROWS, D, "counting", 0.0),
    "embedding, sinusoidal": lambda: PositionalEmbedding(3, ROWS, D, "sinusoidal", 0.0),
    "embedding, learned": lambda: PositionalEmbedding(3, ROWS, D, "learned", 0.0),
    "rope": lambda: RotaryEmbedding(D),
    "rope, half": lambda: RotaryEmbedding(D, layout="half"),
    "rope, partial": lambda: RotaryEmbedding(D, rotary_d=4),
    "shaw": lambda: RelativePositionEmbedding(D, 5),
    "t5, encoder": lambda: T5RelativeBias(4),
    "t5, decoder": lambda: T5RelativeBias(4, bidirectional=False),
    "alibi": lambda: ALiBi(3),
    "alibi, symmetric": lambda: ALiBi(3, causal=False),
}
WITH_OFFSET = [name for name in MODULES if name.startswith(("sinusoidal", "embedding", "rope"))]
RELATIVE = [name for name in MODULES if name.startswith(("shaw", "t5", "alibi"))]

# What is learned, of each module; nothing of those that are not named.
LEARNED = {
    "learned": {"embedding.weight"},
    "embedding, none": {"token_embedding.weight"},
    "embedding, counting": {"token_embedding.weight"},
    "embedding, sinusoidal": {"token_embedding.weight"},
    "embedding, learned": {"token_embedding.weight", "pos_embedding.embedding.weight"},
    **{name: {"table"} for name in ("shaw", "t5, encoder", "t5, decoder")},
}

NARROW = [torch.bfloat16, torch.float16]

# A few hundred float64 operations on numbers of size 10 or so.
CLOSE = 1e-11

VOCABULARY, LAYERS, HEADS = 11, 2, 2
PARTS = ("weight", "bias")
TEXT = torch.tensor([[3, 1, 4, 1, 5, 9, 2, 6], [2, 7, 1, 8, 2, 8, 1, 8]])


@pytest.fixture(autouse=True)
def seeded() -> Iterator[None]:
    with torch.random.fork_rng():
        torch.manual_seed(0)
        yield


def output(module: nn.Module, positions: Tensor, dtype: torch.dtype = torch.float64) -> Tensor:
    """Return a module's output for positions, (length,) or (batch, length), in its own dtype."""
    batch, length = positions.shape if positions.ndim == 2 else (1, len(positions))
    result: Tensor
    if isinstance(module, SinusoidalPositionalEncoding):
        result = module(torch.zeros(batch, length, D, dtype=dtype), positions=positions)
    elif isinstance(module, RotaryEmbedding):
        result = module(torch.ones(batch, 1, length, D, dtype=dtype), positions=positions)
    elif isinstance(module, PositionalEmbedding):
        result = module(torch.ones(batch, length, dtype=torch.long), positions=positions)
    elif isinstance(module, LearnedPositionalEmbedding):
        result = module(positions)
    elif isinstance(module, ALiBi):
        result = module(relative_positions(positions), dtype=dtype)
    else:
        result = module(relative_positions(positions))
    return result.detach()


def model(scheme: str, *, layers: int = LAYERS, max_len: int = 8, width: int = 8) -> GPTModel:
    """Return a float64 model whose parameters are large enough for any mistake to show."""
    created = GPTModel(VOCABULARY, max_len, width, HEADS, layers, scheme).double().eval()
    for parameter in created.parameters():
        nn.init.normal_(parameter, std=0.6)
    return created


def rounded(module: nn.Module, dtype: torch.dtype) -> nn.Module:
    """Return a float64 copy with only the parameters rounded to a dtype."""
    result = copy.deepcopy(module).double()
    with torch.no_grad():
        for parameter in result.parameters():
            parameter.copy_(parameter.to(dtype))
    return result


# --- Texts: the cache, padding, packing ----------------------------------------------------


@torch.no_grad()
def check_step_by_step(gpt_model: GPTModel) -> None:
    cache = Cache()
    steps = [gpt_model(TEXT[:, i : i + 1], cache=cache) for i in range(TEXT.shape[1])]
    torch.testing.assert_close(torch.cat(steps, dim=1), gpt_model(TEXT), atol=CLOSE, rtol=0)


@torch.no_grad()
def check_padded(gpt_model: GPTModel, real: list[list[int]]) -> None:
    """Compare each padded sequence with the unpadded one; tokens at padding must not matter."""
    padding = torch.tensor(real).bool()
    for filler in (0, 10):
        padded = torch.full(padding.shape, filler)
        padded[padding] = torch.arange(int(padding.sum())) % VOCABULARY
        logits = gpt_model(padded, padding=padding)
        assert logits.isfinite().all()
        for row, alone in enumerate(real):
            text = padded[row, padding[row]][None]
            expected = gpt_model(text)[0]
            torch.testing.assert_close(logits[row, padding[row]], expected, atol=CLOSE, rtol=0)
            assert len(expected) == sum(alone)


@torch.no_grad()
def check_packed(gpt_model: GPTModel) -> None:
    packed = torch.tensor([[5, 5, 5, 1, 1, 1, 1, 5], [0, 7, 7, 7, 7, 7, 2, 2]])
    logits = gpt_model(TEXT, documents=packed)
    for row, cuts in ((0, (0, 3, 7, 8)), (1, (0, 1, 6, 8))):
        for start, stop in pairwise(cuts):
            alone = gpt_model(TEXT[row : row + 1, start:stop])[0]
            torch.testing.assert_close(logits[row, start:stop], alone, atol=CLOSE, rtol=0)


@torch.no_grad()
def check_causal(gpt_model: GPTModel) -> None:
    before = gpt_model(TEXT)
    for place in range(1, TEXT.shape[1]):
        changed = TEXT.clone()
        changed[:, place] = (changed[:, place] + 1) % VOCABULARY
        after = gpt_model(changed)
        assert torch.equal(before[:, :place], after[:, :place])
        assert not torch.isclose(before[:, place], after[:, place]).all()


LEFT = [[0, 0, 0, 1, 1, 1, 1, 1], [1] * 8, [0] * 7 + [1]]
RIGHT = [[1, 1, 1, 1, 1, 0, 0, 0], [1] * 8, [1] + [0] * 7]
BETWEEN = [[0, 1, 0, 0, 1, 1, 0, 1], [1, 0, 1, 1, 1, 1, 1, 0]]


@pytest.mark.parametrize("scheme", SCHEMES)
def test_decoding_step_by_step_with_a_cache_equals_one_call(scheme: str) -> None:
    check_step_by_step(model(scheme))


@pytest.mark.parametrize("scheme", SCHEMES)
@torch.no_grad()
def test_reading_uneven_chunks_with_a_cache_equals_one_call(scheme: str) -> None:
    reader, cache = model(scheme), Cache()
    pieces, attention_rows = [], []
    for piece in (TEXT[:, :3], TEXT[:, 3:4], TEXT[:, 4:]):
        logits, weights = reader(piece, cache=cache, return_attention=True)
        pieces.append(logits)
        attention_rows.append(nn.functional.pad(weights, (0, 8 - weights.shape[-1])))
    logits, weights = reader(TEXT, return_attention=True)
    torch.testing.assert_close(torch.cat(pieces, dim=1), logits, atol=CLOSE, rtol=0)
    torch.testing.assert_close(torch.cat(attention_rows, dim=3), weights, atol=CLOSE, rtol=0)
    assert cache.length == 8


@pytest.mark.parametrize("scheme", SCHEMES)
def test_left_padding_does_not_change_a_sequence(scheme: str) -> None:
    check_padded(model(scheme), LEFT)


@pytest.mark.parametrize("scheme", SCHEMES)
def test_right_padding_does_not_change_a_sequence(scheme: str) -> None:
    check_padded(model(scheme), RIGHT)


@pytest.mark.parametrize("scheme", SCHEMES)
def test_padding_in_between_does_not_change_a_sequence(scheme: str) -> None:
    check_padded(model(scheme), BETWEEN)


@pytest.mark.parametrize("scheme", SCHEMES)
@torch.no_grad()
def test_padded_sequences_with_a_cache_equal_one_call(scheme: str) -> None:
    reader = model(scheme)
    padding = torch.tensor([LEFT[0], RIGHT[0], BETWEEN[0], [1] * 8]).bool()
    texts = TEXT.repeat(2, 1)
    whole, cache = reader(texts, padding=padding), Cache()
    for start, stop in ((0, 2), (2, 3), (3, 7), (7, 8)):
        piece = reader(texts[:, start:stop], padding=padding[:, start:stop], cache=cache)
        torch.testing.assert_close(piece, whole[:, start:stop], atol=CLOSE, rtol=0)


@pytest.mark.parametrize("scheme", SCHEMES)
@torch.no_grad()
def test_padding_need_not_be_given_again_after_a_padded_prompt(scheme: str) -> None:
    reader, cache = model(scheme), Cache()
    prompt = torch.tensor([LEFT[0][:6], RIGHT[0][:6]]).bool()
    reader(TEXT[:, :6], padding=prompt, cache=cache)
    piece = reader(TEXT[:, 6:], cache=cache)
    for row in range(2):
        alone = torch.cat((TEXT[row, :6][prompt[row]], TEXT[row, 6:]))[None]
        torch.testing.assert_close(piece[row], reader(alone)[0, -2:], atol=CLOSE, rtol=0)


@pytest.mark.parametrize("scheme", SCHEMES)
@torch.no_grad()
def test_padding_after_a_cache_is_not_counted(scheme: str) -> None:
    reader, cache = model(scheme), Cache()
    real = torch.tensor([[1, 1], [1, 0]]).bool()
    reader(TEXT[:, :3], cache=cache)
    reader(TEXT[:, 3:5], cache=cache, padding=real)
    last = reader(TEXT[:, 5:6], cache=cache)
    torch.testing.assert_close(last[0], reader(TEXT[:1, :6])[0, -1:], atol=CLOSE, rtol=0)
    without = TEXT[1:, [0, 1, 2, 3, 5]]
    torch.testing.assert_close(last[1], reader(without)[0, -1:], atol=CLOSE, rtol=0)


@pytest.mark.parametrize("scheme", SCHEMES)
def test_packed_documents_equal_documents_alone_in_every_scheme(scheme: str) -> None:
    check_packed(model(scheme))


@pytest.mark.parametrize("scheme", SCHEMES)
@torch.no_grad()
def test_packed_documents_may_be_padded_too(scheme: str) -> None:
    reader = model(scheme)
    padding = torch.tensor([[0, 1, 1, 1, 0, 1, 1, 0]]).bool()
    documents = torch.tensor([[0, 0, 0, 1, 1, 1, 1, 1]])
    logits = reader(TEXT[:1], padding=padding, documents=documents)
    for places in ([1, 2], [3, 5, 6]):
        alone = reader(TEXT[:1, places])
        torch.testing.assert_close(logits[:, places], alone, atol=CLOSE, rtol=0)


@pytest.mark.parametrize("scheme", SCHEMES)
def test_later_tokens_never_change_earlier_logits(scheme: str) -> None:
    check_causal(model(scheme))


def test_without_positions_only_the_causal_mask_reveals_order() -> None:
    x, order = torch.randn(1, 5, 4, dtype=torch.float64), torch.tensor([3, 0, 4, 2, 1])
    causal = torch.ones(5, 5).tril().bool()

    def moved_with_the_tokens(mask: Tensor | None) -> bool:
        there, _ = attention(x[:, order], x[:, order], x[:, order], mask=mask)
        back, _ = attention(x, x, x, mask=mask)
        return torch.allclose(there, back[:, order], atol=CLOSE)

    assert moved_with_the_tokens(None)
    assert not moved_with_the_tokens(causal)


# --- Positions: by offset, by ids, for each text -------------------------------------------


@pytest.mark.parametrize("name", WITH_OFFSET)
def test_offset_shared_and_per_sequence_positions_give_equal_results(name: str) -> None:
    module = MODULES[name]().double()
    run = torch.arange(7, 13)
    if isinstance(module, PositionalEmbedding):
        x = torch.ones(2, 6, dtype=torch.long)
    else:
        x = torch.ones(2, *([3] * isinstance(module, RotaryEmbedding)), 6, D, dtype=torch.float64)
    by_offset = module(x, offset=7)
    assert torch.equal(by_offset, module(x, positions=run))
    assert torch.equal(by_offset, module(x, positions=torch.stack((run, run))))
    mixed = module(x, positions=torch.stack((run, run - 7)))
    assert torch.equal(mixed[0], by_offset[0])
    assert torch.equal(mixed[1], module(x)[1])


@pytest.mark.parametrize("name", RELATIVE)
def test_relative_positions_do_not_know_where_they_start(name: str) -> None:
    module = MODULES[name]().double()
    start, batch = torch.arange(6), torch.tensor([[0, 1, 2, 3, 4, 5], [9, 3, 1, 2, 0, 400]])
    assert torch.equal(output(module, start), module(relative_positions(6)))
    assert torch.equal(output(module, start), output(module, start + 300))
    for row, positions in enumerate(batch):
        assert torch.equal(output(module, batch)[row], output(module, positions))
    # The last query alone, as with a cache.
    last = module(relative_positions(start[5:], start))
    axis = -3 if name == "shaw" else -2
    assert torch.equal(last, module(relative_positions(start)).narrow(axis, 5, 1))


def test_learned_rows_agree_for_count_ids_and_per_sequence_ids() -> None:
    module = LearnedPositionalEmbedding(ROWS, D)
    assert torch.equal(module(6), module(torch.arange(6)))
    assert torch.equal(module(torch.tensor([[7, 0], [2, 3]]))[1], module(4)[2:])


# --- Dtypes: nothing computed is stored, so nothing computed is rounded ---------------------


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16, torch.float32, torch.float64])
def test_formula_schemes_equal_numpy_in_every_dtype_at_every_distance(
    dtype: torch.dtype,
) -> None:
    places = torch.tensor([0, 1, 255, 256, 257, 998, 999, 100_003])
    at = places.numpy()
    defined = {
        "sinusoidal": posenc.sinusoidal_encoding(at, D)[None],
        "rope": apply_rope(np.ones((1, 1, 8, D)), at),
        "rope, half": apply_rope(np.ones((1, 1, 8, D)), at, layout="half"),
    }
    for name, expected in defined.items():
        got = output(MODULES[name]().to(dtype), places, dtype)
        # RoPE's sum of two products is rounded once to the dtype, and before that in float32.
        atol = max(2 * torch.finfo(dtype).eps, CLOSE)
        torch.testing.assert_close(got.double(), torch.tensor(expected), atol=atol, rtol=0)
    bias = ALiBi(3).to(dtype)(relative_positions(1000), dtype=dtype).double()
    slopes_times_distance = torch.tensor(alibi_bias(3, 1000))
    rounding = torch.finfo(dtype).eps
    torch.testing.assert_close(bias, slopes_times_distance, atol=0, rtol=rounding)


@pytest.mark.parametrize(
    "name", ["sinusoidal", "rope", "rope, half", "learned", "embedding, sinusoidal"]
)
def test_bfloat16_modules_tell_a_thousand_positions_apart(name: str) -> None:
    rows = output(MODULES[name]().to(torch.bfloat16), torch.arange(1000), torch.bfloat16)
    assert len(np.unique(rows.reshape(1000, D).float().numpy(), axis=0)) == 1000


def test_alibi_in_a_bfloat16_model_tells_a_thousand_distances_apart() -> None:
    bias = ALiBi(8).to(torch.bfloat16)(relative_positions(1000))
    assert all(len(np.unique(last.numpy())) == 1000 for last in bias[:, -1])


def test_counting_is_the_only_scheme_that_bfloat16_rounds_to_equal_positions() -> None:
    layer = MODULES["embedding, counting"]().to(torch.bfloat16)
    nn.init.zeros_(layer.token_embedding.weight)  # type: ignore[union-attr, arg-type]
    same = output(layer, torch.tensor([256, 257]), torch.bfloat16)[0]
    assert torch.equal(same[0], same[1])


@pytest.mark.parametrize("dtype", NARROW)
@pytest.mark.parametrize("scheme", SCHEMES)
@torch.no_grad()
def test_casting_a_model_to_a_narrow_dtype_and_back_rounds_parameters_only(
    scheme: str, dtype: torch.dtype
) -> None:
    original = model(scheme)
    back = copy.deepcopy(original).to(dtype).double()
    assert torch.equal(back(TEXT), rounded(original, dtype)(TEXT))


@torch.no_grad()
def check_far_out(narrow: GPTModel, exact: nn.Module) -> None:
    """Compare weights and logits of a bfloat16 model after a thousand tokens."""
    text = torch.arange(ROWS)[None] * 7 % VOCABULARY
    logits, got = narrow(text, return_attention=True)
    exact_logits, expected = exact(text, return_attention=True)
    seen = expected[..., -1, :] > 1e-20
    error = (got[..., -1, :].double().log() - expected[..., -1, :].log())[seen].abs()
    # Scores reach some 10 in size, and come of numbers of 8 bits: some times 10 · 2**-8.
    assert error.max() < 0.15
    assert (logits - exact_logits).abs().max() < 0.03 * exact_logits.abs().max()


@pytest.mark.parametrize("scheme", [scheme for scheme in SCHEMES if scheme != "counting"])
def test_a_bfloat16_model_agrees_with_float64_after_a_thousand_tokens(scheme: str) -> None:
    original = model(scheme, layers=1, max_len=ROWS)
    check_far_out(copy.deepcopy(original).to(torch.bfloat16), rounded(original, torch.bfloat16))


def test_counting_drowns_the_tokens_of_a_model_in_bfloat16() -> None:
    original = model("counting", layers=1)
    with pytest.raises(AssertionError):
        check_far_out(copy.deepcopy(original).to(torch.bfloat16), rounded(original, torch.bfloat16))


@torch.no_grad()
def check_alibi_weights(reader: GPTModel, rounding: float) -> None:
    """Compare with softmax(−m·distance), the weights if all tokens and so all q·k are equal."""
    _, weights = reader(torch.full((1, ROWS), 5), return_attention=True)
    expected = torch.tensor(alibi_bias(HEADS, ROWS)).softmax(dim=-1)
    torch.testing.assert_close(weights[0, 0].double(), expected, atol=1e-20, rtol=rounding)


@pytest.mark.parametrize(
    ("dtype", "rounding"), [(torch.float64, CLOSE), (torch.float32, 1e-5), (torch.bfloat16, 2**-8)]
)
def test_alibi_weights_are_exact_at_a_thousand_positions(
    dtype: torch.dtype, rounding: float
) -> None:
    check_alibi_weights(model("alibi", layers=1).to(dtype), rounding)


@pytest.mark.parametrize(("name", "keep"), [("sinusoidal", 3), ("rope", 4)])
def test_two_bases_never_share_a_table(name: str, keep: int) -> None:
    places = torch.arange(9)

    def defined(base: float) -> Tensor:
        if name == "sinusoidal":
            return torch.tensor(posenc.sinusoidal_encoding(9, D, base=base)[None])
        return torch.tensor(apply_rope(np.ones((1, 1, 9, D)), np.arange(9), base=base))

    kind = SinusoidalPositionalEncoding if name == "sinusoidal" else RotaryEmbedding
    modules = {base: kind(D, base=base) for base in (10000.0, 500.0, 10000.5)}
    for base in (10000.0, 500.0, 10000.5, 500.0, 10000.0):
        rows = output(modules[base], places)
        assert rows.ndim == keep
        torch.testing.assert_close(rows, defined(base), atol=CLOSE, rtol=0)
    assert not torch.equal(output(modules[10000.0], places), output(modules[10000.5], places))


# --- State: dicts, the meta device, compilers, aliases --------------------------------------


@pytest.mark.parametrize("scheme", SCHEMES)
@torch.no_grad()
def test_a_model_made_on_meta_works_after_loading_a_state_dict(scheme: str) -> None:
    original = model(scheme)
    assert set(original.state_dict()) == {key for key, _ in original.named_parameters()}
    with torch.device("meta"):
        on_meta = GPTModel(VOCABULARY, 8, 8, HEADS, LAYERS, scheme).double()
        assert on_meta(TEXT.to("meta")).shape == (2, 8, VOCABULARY)
    restored = on_meta.to_empty(device="cpu").eval()
    restored.load_state_dict(original.state_dict())
    assert torch.equal(restored(TEXT), original(TEXT))
    for one in (restored, original):
        torch.manual_seed(1)
        one.reset_parameters()
    assert torch.equal(restored(TEXT), original(TEXT))


@pytest.mark.slow
@pytest.mark.parametrize("scheme", SCHEMES)
@torch.no_grad()
def test_a_model_compiles_in_one_graph_and_exports(scheme: str) -> None:
    torch.compiler.reset()
    reader = model(scheme, layers=1)
    extra = {
        "padding": torch.tensor([LEFT[0], RIGHT[0]]).bool(),
        "documents": torch.tensor([[0, 0, 0, 0, 0, 1, 1, 1], [4, 4, 2, 2, 2, 2, 2, 2]]),
    }
    expected = reader(TEXT, **extra)
    compiled = torch.compile(reader, fullgraph=True, backend="eager")
    exported = torch.export.export(reader, (TEXT,), extra).module()
    for run in (compiled, exported):
        torch.testing.assert_close(run(TEXT, **extra), expected, atol=CLOSE, rtol=0)


@pytest.mark.slow
@torch.no_grad()
def test_a_compiled_model_reads_with_a_cache() -> None:
    torch.compiler.reset()
    reader, cache = model("rope", layers=1), Cache()
    compiled = torch.compile(reader, fullgraph=True, backend="eager")
    pieces = [compiled(TEXT[:, i : i + 2], cache=cache) for i in (0, 2)]
    torch.testing.assert_close(torch.cat(pieces, 1), reader(TEXT[:, :4]), atol=CLOSE, rtol=0)


@pytest.mark.slow
@torch.no_grad()
def test_an_exported_model_accepts_any_length() -> None:
    reader = model("alibi", layers=1)
    sizes = {0: torch.export.Dim("texts"), 1: torch.export.Dim("tokens")}
    exported = torch.export.export(reader, (TEXT,), dynamic_shapes={"token_ids": sizes}).module()
    longer = TEXT.repeat(2, 3)
    torch.testing.assert_close(exported(longer), reader(longer), atol=CLOSE, rtol=0)


def missing_for_kernels(cxx: str, include: Path) -> str:
    """Return what inductor needs and does not find here, or an empty string."""
    if not shutil.which(cxx):
        return f"the compiler of kernels needs a C++ compiler, and there is no {cxx} on the PATH"
    if not (include / "Python.h").is_file():
        return f"the compiler of kernels needs Python's headers, and {include} has no Python.h"
    return ""


COMPILERS = {"darwin": "clang++", "win32": "cl"}  # the compilers that inductor calls by default
CXX = os.environ.get("CXX", COMPILERS.get(sys.platform, "g++"))
MISSING = missing_for_kernels(CXX, Path(sysconfig.get_path("include")))


def test_missing_compiler_and_missing_headers_are_each_named(tmp_path: Path) -> None:
    assert missing_for_kernels("no-such-c++", tmp_path).endswith("no no-such-c++ on the PATH")
    assert missing_for_kernels(sys.executable, tmp_path).endswith("has no Python.h")
    (tmp_path / "Python.h").touch()
    assert missing_for_kernels(sys.executable, tmp_path) == ""


@pytest.mark.slow
@pytest.mark.skipif(bool(MISSING), reason=MISSING)
@pytest.mark.filterwarnings("ignore:.torch.jit:DeprecationWarning")  # the compiler's own
def test_compiled_kernels_keep_angles_exact() -> None:
    torch.compiler.reset()
    places = torch.tensor([0, 1, 257, 100_003])
    compiled = torch.compile(RotaryEmbedding(D), fullgraph=True)  # by inductor
    x = torch.ones(1, 1, 4, D, dtype=torch.float64)
    expected = apply_rope(x.numpy(), places.numpy())
    # At position 100 003 an angle in float64 is known to 1e-11; in float32, to 8e-3.
    torch.testing.assert_close(
        compiled(x, positions=places), torch.tensor(expected), atol=1e-10, rtol=0
    )


@pytest.mark.parametrize("scheme", SCHEMES)
@torch.no_grad()
def test_writing_into_inputs_or_outputs_of_a_model_changes_no_later_call(
    scheme: str,
) -> None:
    reader, cache = model(scheme), Cache()
    text, padding = TEXT[:, :4].clone(), torch.tensor([[0, 1, 1, 1], [1, 1, 1, 1]]).bool()
    logits, weights = reader(text, padding=padding, cache=cache, return_attention=True)
    kept = logits.clone()
    for given in (logits, weights, text, padding):
        given.fill_(0)
    real = torch.tensor([[0, 1, 1, 1], [1, 1, 1, 1]]).bool()
    assert torch.equal(reader(TEXT[:, :4], padding=real), kept)
    whole = reader(TEXT, padding=torch.cat((real, torch.ones(2, 4).bool()), dim=1))
    torch.testing.assert_close(reader(TEXT[:, 4:], cache=cache), whole[:, 4:], atol=CLOSE, rtol=0)


# --- Gradients ------------------------------------------------------------------------------


def with_gradient(module: nn.Module) -> set[str]:
    """Return the names of the parameters that received a gradient other than 0."""
    return {
        name
        for name, parameter in module.named_parameters()
        if parameter.grad is not None and parameter.grad.count_nonzero()
    }


@pytest.mark.parametrize("name", [name for name in MODULES if name.startswith(("sin", "rope"))])
def test_gradients_pass_through_what_is_added_and_through_a_rotation(name: str) -> None:
    x = torch.ones(1, *([1] * name.startswith("rope")), 3, D, requires_grad=True)
    result = MODULES[name]()(x, positions=torch.tensor([3, 0, 2]))
    (gradient,) = torch.autograd.grad(result.square().sum(), x)
    # The gradient of the sum of squares is 2·result; rotated back, it is 2·x.
    expected = 2 * (x if name.startswith("rope") else result)
    torch.testing.assert_close(gradient, expected.detach(), atol=1e-5, rtol=0)


@pytest.mark.parametrize("name", MODULES)
def test_parameters_have_the_names_of_published_state_dicts(name: str) -> None:
    assert {*MODULES[name]().state_dict()} == LEARNED.get(name, set())


@pytest.mark.parametrize("scheme", SCHEMES)
def test_gradients_of_a_model_reach_every_parameter_and_only_the_rows_in_use(
    scheme: str,
) -> None:
    reader = model(scheme, max_len=20)
    layer = {
        *(f"{norm}.{part}" for norm in ("attention_norm", "mlp_norm") for part in PARTS),
        *(f"attention.{step}.{part}" for step in ("query_key_value", "out") for part in PARTS),
        *(f"mlp.{step}.{part}" for step in (0, 2) for part in PARTS),
    } | ({"attention.shaw.table"} if scheme == "shaw" else set())
    expected = {f"blocks.{i}.{name}" for i in range(LAYERS) for name in layer}
    expected |= {"embedding.token_embedding.weight", "norm.weight", "norm.bias"}
    expected |= {"learned": {"embedding.pos_embedding.embedding.weight"}, "t5": {"t5.table"}}.get(
        scheme, set()
    )
    assert {name for name, _ in reader.named_parameters()} == expected
    reader(TEXT).square().sum().backward()
    assert with_gradient(reader) == expected
    rows = {"learned": range(8), "t5": range(8), "shaw": range(gpt.SHAW_DISTANCE - 7, 17)}
    table = {
        "learned": "embedding.pos_embedding.embedding.weight",
        "t5": "t5.table",
        "shaw": "blocks.1.attention.shaw.table",
    }
    if scheme in table:
        gradient = reader.get_parameter(table[scheme]).grad
        assert gradient is not None
        assert gradient.any(dim=1).nonzero().flatten().tolist() == list(rows[scheme])
