"""`posenc.nn.gpt` keeps its promises, compared with the same model computed in numpy.

`by_hand` reads a model's parameters and follows the papers with the numpy definitions of every
scheme; it shares no line with the modules. Mistakes with caches, padding and dtypes are tested in
test_right_where_others_slip.py.
"""

from __future__ import annotations

import copy
import gc
import io
import itertools
import math
import pickle
from collections.abc import Callable, Iterator
from typing import Any
from weakref import ReferenceType, ref

import numpy as np
import pytest
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

import posenc
from posenc.nn import RotaryEmbedding, gpt
from posenc.nn.gpt import (
    CONFIGS,
    SCHEMES,
    Cache,
    GPTModel,
    SelfAttention,
    create_model_config,
)
from posenc.nn.tokenizer import create_tokenizer
from posenc.rotary.rope import apply_rope
from posenc.scores.alibi import alibi_bias
from posenc.scores.t5 import t5_bias

Array = NDArray[np.float64]

VOCABULARY, MAX_LEN, WIDTH, HEADS, LAYERS = 11, 8, 12, 3, 2  # heads of width 4
TEXT = torch.tensor([[3, 1, 4, 1, 5, 9, 2, 6], [2, 7, 1, 8, 2, 8, 1, 8]])

# A few hundred float64 operations on numbers of size 10 or so.
CLOSE = 1e-11

FORMULAS = [scheme for scheme in SCHEMES if scheme != "learned"]


@pytest.fixture(autouse=True)
def seeded() -> Iterator[None]:
    with torch.random.fork_rng():
        torch.manual_seed(0)
        yield


def model(scheme: str = "learned", *, heads: int = HEADS, layers: int = LAYERS) -> GPTModel:
    """Return a float64 model whose parameters are large enough for any mistake to show."""
    made = GPTModel(VOCABULARY, MAX_LEN, WIDTH, heads, layers, scheme).double().eval()
    for parameter in made.parameters():
        nn.init.normal_(parameter, std=0.6)
    return made


# --- The model in numpy ---------------------------------------------------------------------


def normalised(x: Array, weight: Array, bias: Array) -> Array:
    centred = x - x.mean(axis=-1, keepdims=True)
    variance = (centred**2).mean(axis=-1, keepdims=True)
    result: Array = centred / np.sqrt(variance + 1e-5) * weight + bias
    return result


def gelu(x: Array) -> Array:
    erf = np.vectorize(math.erf)(x / math.sqrt(2))
    result: Array = x * (1 + erf) / 2
    return result


def weights_by_hand(scheme: str, q: Array, k: Array, table: Callable[[str], Array]) -> Array:
    """Return softmax rows, (heads, n, n), of queries and keys (heads, n, d)."""
    heads, n, d = q.shape
    if scheme == "rope":
        q, k = (apply_rope(x, np.arange(n)).astype(np.float64) for x in (q, k))
    relative = np.arange(n) - np.arange(n)[:, None]
    scores = np.zeros((heads, n, n))
    for h, i, j in itertools.product(range(heads), range(n), range(n)):
        key = k[h, j]
        if scheme == "shaw":
            key = key + table("attention.shaw.table")[int(np.clip(j - i, -16, 16)) + 16]
        scores[h, i, j] = q[h, i] @ key / math.sqrt(d)
    if scheme == "alibi":
        scores += alibi_bias(heads, n)
    if scheme == "t5":
        scores += t5_bias(table("t5.table"), relative, bidirectional=False)
    scores[:, relative > 0] = -np.inf
    odds = np.exp(scores - scores.max(axis=-1, keepdims=True))
    weights: Array = odds / odds.sum(axis=-1, keepdims=True)
    return weights


def by_hand(read: GPTModel, ids: list[int]) -> tuple[Array, Array]:
    """Return the logits (n, V) and the weights (layers, heads, n, n) of one sequence."""
    state = {name: value.numpy() for name, value in read.state_dict().items()}
    tokens, n = state["embedding.token_embedding.weight"], len(ids)
    x = tokens[ids]
    if read.pos_type == "counting":
        x = x + np.arange(n)[:, None]
    if read.pos_type == "sinusoidal":
        x = x * math.sqrt(WIDTH) + posenc.sinusoidal_encoding(n, WIDTH)
    if read.pos_type == "learned":
        x = x + state["embedding.pos_embedding.embedding.weight"][:n]
    seen = []
    for layer in range(len(read.blocks)):

        def table(name: str, layer: int = layer) -> Array:
            here: Array = state[name] if name in state else state[f"blocks.{layer}.{name}"]
            return here

        def linear(y: Array, name: str, table: Callable[[str], Array] = table) -> Array:
            return y @ table(f"{name}.weight").T + table(f"{name}.bias")

        y = normalised(x, table("attention_norm.weight"), table("attention_norm.bias"))
        qkv = linear(y, "attention.query_key_value").reshape(n, 3, read.heads, -1)
        q, k, v = qkv.transpose(1, 2, 0, 3)
        weights = weights_by_hand(read.pos_type, q, k, table)
        taken = (weights @ v).transpose(1, 0, 2).reshape(n, WIDTH)
        x = x + linear(taken, "attention.out")
        y = normalised(x, table("mlp_norm.weight"), table("mlp_norm.bias"))
        x = x + linear(gelu(linear(y, "mlp.0")), "mlp.2")
        seen.append(weights)
    logits = normalised(x, state["norm.weight"], state["norm.bias"]) @ tokens.T
    return logits, np.stack(seen)


@torch.no_grad()
def check_against_hand(read: GPTModel, text: Tensor = TEXT) -> None:
    logits, weights = read(text, return_attention=True)
    for row, ids in enumerate(text.tolist()):
        expected_logits, expected_weights = by_hand(read, ids)
        np.testing.assert_allclose(logits[row], expected_logits, atol=CLOSE, rtol=0)
        np.testing.assert_allclose(weights[:, row], expected_weights, atol=CLOSE, rtol=0)


@pytest.mark.parametrize("scheme", SCHEMES)
def test_the_model_equals_the_numpy_computation(scheme: str) -> None:
    check_against_hand(model(scheme))


@pytest.mark.parametrize(
    ("scheme", "table"), [("t5", "t5.table"), ("shaw", "attention.shaw.table")]
)
def test_far_tokens_use_their_own_rows_as_in_the_numpy_computation(scheme: str, table: str) -> None:
    """T5 has one bucket per distance up to 15 and then wider ones; Shaw clips at 16."""
    read, text = model(scheme), TEXT.repeat(1, 5)
    check_against_hand(read, text)
    near = read(text[:, :16]).detach(), read(text).detach()
    rows = next(value for name, value in read.named_parameters() if name.endswith(table))
    with torch.no_grad():
        rows[16 if scheme == "t5" else 0] += 1  # the first bucket beyond 15; the far past
    assert torch.equal(read(text[:, :16]), near[0])
    assert not torch.allclose(read(text), near[1])
    check_against_hand(read, text)


def test_a_float64_model_has_slopes_that_float32_would_round() -> None:
    check_against_hand(model("alibi", heads=12))  # 2**-0.5 is among those of 12 heads


@pytest.mark.parametrize("scheme", ["rope", "alibi", "t5", "shaw"])
def test_removing_the_scheme_changes_the_logits(scheme: str) -> None:
    read = model(scheme)
    read.alibi = read.t5 = None
    for block in read.blocks:
        block.attention.rope = block.attention.shaw = None  # type: ignore[union-attr]
    if scheme in ("t5", "shaw"):  # their tables are still to be read by hand
        bare = read.state_dict
        full = model(scheme).state_dict()
        read.state_dict = lambda: {**full, **bare()}  # type: ignore[method-assign, assignment]
    with pytest.raises(AssertionError):
        check_against_hand(read)


# --- Shapes, sizes, starts ------------------------------------------------------------------


@pytest.mark.parametrize("scheme", SCHEMES)
def test_parameter_count_follows_the_formula(scheme: str) -> None:
    v, rows, w, h, n = VOCABULARY, MAX_LEN, WIDTH, HEADS, LAYERS
    norm, attention, mlp = 2 * w, 4 * w * w + 4 * w, 8 * w * w + 5 * w
    shared = v * w + n * (2 * norm + attention + mlp) + norm
    position = {"learned": rows * w, "t5": 32 * h, "shaw": n * (2 * 16 + 1) * (w // h)}
    counted = sum(parameter.numel() for parameter in model(scheme).parameters())
    assert counted == shared + position.get(scheme, 0)


@pytest.mark.parametrize("scheme", SCHEMES)
@torch.no_grad()
def test_attention_rows_sum_to_one_and_never_look_ahead(scheme: str) -> None:
    cache = Cache()
    _, weights = model(scheme)(TEXT, cache=cache, return_attention=True)
    assert weights.shape == (LAYERS, 2, HEADS, 8, 8)
    torch.testing.assert_close(weights.sum(-1), torch.ones(LAYERS, 2, HEADS, 8).double())
    assert torch.equal(weights, weights.tril())


@torch.no_grad()
def test_padding_attends_to_earlier_real_tokens_and_itself() -> None:
    real = torch.tensor([[0, 1, 1, 0]]).bool()
    _, weights = model("none")(TEXT[:1, :4], padding=real, return_attention=True)
    looks = torch.tensor([[1, 0, 0, 0], [0, 1, 0, 0], [0, 1, 1, 0], [0, 1, 1, 1]]).bool()
    assert torch.equal(weights[0, 0, 0] > 0, looks)


@torch.no_grad()
def test_documents_are_runs_and_numbers_may_repeat() -> None:
    _, weights = model("rope")(
        TEXT[:1, :4], documents=torch.tensor([[7, 7, 0, 7]]), return_attention=True
    )
    looks = torch.tensor([[1, 0, 0, 0], [1, 1, 0, 0], [0, 0, 1, 0], [0, 0, 0, 1]]).bool()
    assert torch.equal(weights[0, 0, 0] > 0, looks)


@pytest.mark.parametrize("dtype", [torch.int64, torch.int32, torch.int16, torch.int8, torch.uint8])
@torch.no_grad()
def test_ids_and_documents_of_every_integer_type_are_read_alike(dtype: torch.dtype) -> None:
    documents = torch.tensor([[2, 2, 1, 1, 1, 1, 0, 0], [0] * 8])
    read = model("sinusoidal")
    expected = read(TEXT, documents=documents)
    assert torch.equal(read(TEXT.to(dtype), documents=documents.to(dtype)), expected)


@pytest.mark.parametrize("scheme", SCHEMES)
def test_a_new_model_predicts_nearly_uniformly(scheme: str) -> None:
    fresh = GPTModel(512, 64, 64, 4, 2, scheme).eval()
    for name, parameter in fresh.named_parameters():
        if name.endswith("bias"):
            assert not parameter.any()
        elif "norm" in name:
            assert (parameter == 1).all()
        else:  # 128 numbers at least, and 5 standard errors of their deviation at most
            error = float(parameter.detach().std()) / 0.02 - 1
            assert abs(error) < 5 / math.sqrt(2 * parameter.numel())
    logits = fresh(torch.arange(64)[None] % 8).detach()
    loss = nn.functional.cross_entropy(logits[0], torch.arange(64) * 5 % 512)
    assert abs(float(loss) - math.log(512)) < 0.1


def test_an_empty_batch_gives_empty_logits() -> None:
    none = torch.empty(0, 3, dtype=torch.long)
    for scheme in SCHEMES:
        assert model(scheme)(none).shape == (0, 3, VOCABULARY)
        assert model(scheme).generate(none, 2).shape == (0, 5)
        assert model(scheme).generate(none, 2, temperature=1).shape == (0, 5)


@pytest.mark.parametrize("scheme", SCHEMES)
def test_only_the_first_four_schemes_add_positions_in_the_embedding(scheme: str) -> None:
    read = model(scheme)
    tokens = read.embedding.token_embedding(TEXT).detach()
    said = read.embedding(TEXT).detach()
    expected = {
        "counting": tokens + torch.arange(8.0).double()[:, None],
        "sinusoidal": tokens * math.sqrt(WIDTH)
        + torch.tensor(posenc.sinusoidal_encoding(8, WIDTH)),
    }
    if read.embedding.pos_embedding is not None:
        expected["learned"] = tokens + read.embedding.pos_embedding(8).detach()
    torch.testing.assert_close(said, expected.get(scheme, tokens), atol=CLOSE, rtol=0)


# --- What the schemes can and cannot ---------------------------------------------------------


@torch.no_grad()
def test_layer_normalization_removes_counting_positions() -> None:
    """A number added to every dimension is subtracted again with the mean."""
    counting, none = model("counting"), model("none")
    none.load_state_dict(counting.state_dict())
    torch.testing.assert_close(counting(TEXT), none(TEXT), atol=CLOSE, rtol=0)


@pytest.mark.parametrize("scheme", SCHEMES)
@torch.no_grad()
def test_one_layer_without_positions_ignores_the_order_of_earlier_tokens(scheme: str) -> None:
    forwards, backwards = TEXT[:1], TEXT[:1, [3, 6, 1, 0, 5, 4, 2, 7]]
    shallow, deep = model(scheme, layers=1), model(scheme)

    def told_apart(read: GPTModel) -> bool:
        return not torch.allclose(read(forwards)[0, -1], read(backwards)[0, -1], atol=1e-6)

    assert told_apart(shallow) is (scheme not in ("none", "counting"))
    assert told_apart(deep)  # by the causal mask, which shows each token another past


@pytest.mark.parametrize("scheme", FORMULAS)
@torch.no_grad()
def test_schemes_without_a_table_accept_inputs_longer_than_max_len(scheme: str) -> None:
    read, text = model(scheme), TEXT.repeat(1, 3)
    assert read(text).isfinite().all()
    np.testing.assert_allclose(read(text)[0], by_hand(read, text[0].tolist())[0], atol=1e-10)
    assert read.generate(TEXT, 3).shape == (2, 11)


@torch.no_grad()
def test_inputs_longer_than_a_learned_table_are_refused() -> None:
    read = model("learned")
    with pytest.raises(ValueError, match=r"token_ids must .*max_len, the 8 rows .*got 16 tokens"):
        read(TEXT.repeat(1, 2))
    cache = Cache()
    read(TEXT, cache=cache)
    kept = cache.layers
    with pytest.raises(ValueError, match=r"token_ids must .*max_len, the 8 rows .*got 9 tokens"):
        read(TEXT[:, :1], cache=cache)
    with pytest.raises(ValueError, match=r"positions must be below max_len, 8.*got 8"):
        read(TEXT[:, :1], cache=cache, padding=torch.tensor([[True], [False]]))
    assert cache.layers is kept
    # Real tokens and documents are what is counted, not columns.
    wide, real = TEXT.repeat(1, 2), torch.tensor([[0, 1] * 8, [1, 0] * 8]).bool()
    assert read(wide, padding=real).isfinite().all()
    assert read(wide, documents=torch.tensor([[0] * 8 + [1] * 8] * 2)).isfinite().all()


@torch.no_grad()
def test_generation_beyond_a_learned_table_is_refused_at_once(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    read = model("learned")
    assert read.generate(TEXT[:, :5], 3).shape == (2, 8)
    real = torch.tensor([[0] * 3 + [1] * 5] * 2).bool()
    assert read.generate(TEXT, 3, padding=real).shape == (2, 11)
    monkeypatch.setattr(GPTModel, "forward", lambda *_: pytest.fail("something was read"))
    with pytest.raises(
        ValueError, match=r"new_tokens must .*the 8 rows .*got 9 tokens per sequence"
    ):
        read.generate(TEXT[:, :5], 4)
    with pytest.raises(
        ValueError, match=r"new_tokens must .*the 8 rows .*got 9 tokens per sequence"
    ):
        read.generate(TEXT, 4, padding=real)


# --- Generation ------------------------------------------------------------------------------

# Three rows of five columns, three real tokens each; or all of them real.
PROMPT = TEXT[[0, 1, 0], :5]
PADDING = {
    "none": None,
    "left": torch.tensor([[0, 0, 1, 1, 1]] * 3).bool(),
    "right": torch.tensor([[1, 1, 1, 0, 0]] * 3).bool(),
    "between": torch.tensor([[1, 0, 1, 0, 1]] * 3).bool(),
    "another in each row": torch.tensor([[0, 0, 1, 1, 1], [1, 1, 1, 0, 0], [1, 0, 1, 0, 1]]).bool(),
}


GENUINE = GPTModel.forward


def writer(scheme: str) -> GPTModel:
    """Return a model whose output does not repeat, since repeated tokens would hide cache errors.

    It has no biases that push all tokens the same way, and its final norm has the weight −1.
    """
    torch.manual_seed(11)
    made = model(scheme)
    for block in made.blocks:
        for layer in (block.attention.out, block.mlp[2]):  # type: ignore[union-attr, index]
            nn.init.zeros_(layer.bias)  # type: ignore[union-attr, arg-type]
    nn.init.zeros_(made.norm.bias)
    nn.init.constant_(made.norm.weight, -1.0)
    return made


def check_generation(read: GPTModel, padding: Tensor | None, patch: pytest.MonkeyPatch) -> None:
    """Compare the logits used in generation with those of the whole sequence, without a cache.

    Tokens are sampled, so that sequences vary. Logits are compared instead of tokens, since a wrong
    model often agrees on the most likely token.
    """
    chosen_from, choose = [], gpt._choose

    def noted(logits: Tensor, *options: Any) -> Tensor:
        chosen_from.append(logits)
        return choose(logits, *options)

    with patch.context() as noting:
        noting.setattr(gpt, "_choose", noted)
        made = read.generate(
            PROMPT, 3, temperature=3.0, generator=torch.Generator().manual_seed(1), padding=padding
        )
    assert torch.equal(made[:, :5], PROMPT)
    assert all(len(set(row)) > 1 for row in made[:, 5:].tolist())
    assert len(chosen_from) == 3
    real = torch.ones_like(PROMPT).bool() if padding is None else padding
    for row in range(3):
        whole = GENUINE(read, torch.cat((PROMPT[row, real[row]], made[row, 5:7]))[None])
        assert isinstance(whole, Tensor)
        # After the prompt, after the first new token, and after the second.
        found = torch.stack([logits[row] for logits in chosen_from])
        torch.testing.assert_close(found, whole[0, -3:], atol=CLOSE, rtol=0)


@pytest.mark.parametrize("where", PADDING)
@pytest.mark.parametrize("scheme", SCHEMES)
@torch.no_grad()
def test_generation_uses_the_logits_computed_without_a_cache(
    scheme: str, where: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    check_generation(writer(scheme), PADDING[where], monkeypatch)


def no_cache(self: GPTModel, ids: Tensor, *, cache: Cache, padding: Tensor | None) -> Any:
    return GENUINE(self, ids, padding=padding)


def dropped_cache(self: GPTModel, ids: Tensor, *, cache: Cache, padding: Tensor | None) -> Any:
    if cache.length > PROMPT.shape[1]:  # at the last of three tokens
        cache.layers, cache.padding = [], None
    return GENUINE(self, ids, padding=padding, cache=cache)


def forgotten_padding(self: GPTModel, ids: Tensor, *, cache: Cache, padding: Tensor | None) -> Any:
    logits = GENUINE(self, ids, padding=padding, cache=cache)
    cache.padding = None
    return logits


def last_column(self: GPTModel, ids: Tensor, *, cache: Cache, padding: Tensor | None) -> Any:
    logits = GENUINE(self, ids, padding=padding, cache=cache)
    assert isinstance(logits, Tensor)
    return logits[:, -1:].expand_as(logits)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("fault", "where"),
    [
        *((fault, where) for fault in (no_cache, dropped_cache) for where in PADDING),
        *((forgotten_padding, where) for where in PADDING if where != "none"),
        *((last_column, where) for where in ("right", "another in each row")),
    ],
)
@pytest.mark.parametrize("scheme", SCHEMES)
@torch.no_grad()
def test_planted_faults_in_generation_are_detected(
    scheme: str, fault: Callable[..., Any], where: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    read = writer(scheme)
    monkeypatch.setattr(GPTModel, "forward", fault)
    with pytest.raises(AssertionError, match="Tensor-likes are not close"):
        check_generation(read, PADDING[where], monkeypatch)


def without_a_cache(read: GPTModel, ids: list[int], new_tokens: int) -> list[int]:
    """Return a greedy continuation, computed from the whole sequence at each step."""
    for _ in range(new_tokens):
        ids = [*ids, int(read(torch.tensor([ids]))[0, -1].argmax())]
    return ids


@pytest.mark.parametrize("scheme", SCHEMES)
@torch.no_grad()
def test_greedy_generation_takes_the_most_likely_token(scheme: str) -> None:
    read, prompt = writer(scheme), TEXT[:, :4]
    expected = [without_a_cache(read, ids, 4) for ids in prompt.tolist()]
    assert max(len(set(text[4:])) for text in expected) > 1
    assert read.generate(prompt, 4).tolist() == expected
    assert read.generate(prompt, 4).tolist() == expected


@pytest.mark.parametrize("scheme", SCHEMES)
@torch.no_grad()
def test_padded_prompts_are_continued_like_unpadded_ones(scheme: str) -> None:
    read, real = writer(scheme), PADDING["another in each row"]
    assert real is not None
    made = read.generate(PROMPT, 4, padding=real)
    for row in range(3):
        alone = PROMPT[row, real[row]].tolist()
        assert made[row, 5:].tolist() == without_a_cache(read, alone, 4)[3:]


def test_sampling_depends_on_the_generator_only() -> None:
    read, prompt = model("rope"), TEXT[:, :4].repeat(20, 1)

    def drawn(seed: int) -> Tensor:
        return read.generate(
            prompt, 5, temperature=2.0, generator=torch.Generator().manual_seed(seed)
        )

    assert torch.equal(drawn(1), drawn(1))
    assert not torch.equal(drawn(1), drawn(2))
    torch.manual_seed(3)
    first = read.generate(prompt, 5, temperature=2.0)
    torch.manual_seed(3)
    assert torch.equal(read.generate(prompt, 5, temperature=2.0), first)


@pytest.mark.parametrize("temperature", [0.5, 1.0, 3.0])
@torch.no_grad()
def test_samples_follow_the_softmax_at_the_temperature(temperature: float) -> None:
    read, draws = model("alibi"), 4000
    odds = (read(TEXT[:1])[0, -1] / temperature).softmax(dim=0)
    made = read.generate(TEXT[:1].repeat(draws, 1), 1, temperature=temperature)
    share = made[:, -1].bincount(minlength=VOCABULARY) / draws
    # Five standard errors of a share; the draws are seeded, so this holds or it does not.
    assert ((share - odds).abs() <= 5 * (odds * (1 - odds) / draws).sqrt() + 1e-9).all()


@pytest.mark.parametrize("temperature", [5e-324, 1e-300, 1e-6])
def test_sampling_at_a_tiny_temperature_takes_the_most_likely_token(temperature: float) -> None:
    read = model("t5")
    assert torch.equal(read.generate(TEXT, 4, temperature=temperature), read.generate(TEXT, 4))


def test_equal_logits_are_sampled_at_any_temperature() -> None:
    read = model("none")
    nn.init.zeros_(read.embedding.token_embedding.weight)  # which is the output layer, too
    assert len(set(read.generate(TEXT[:1], 40, temperature=1e-6)[0, 8:].tolist())) > 5
    assert not read.generate(TEXT[:1], 3)[0, 8:].any()


def test_generating_no_tokens_returns_a_copy_of_the_prompt() -> None:
    read = model("shaw")
    made = read.generate(TEXT, 0)
    assert torch.equal(made, TEXT)
    made.fill_(0)
    assert TEXT.any()
    assert read.generate(TEXT.int(), 1).dtype is torch.int64


def test_generation_records_no_gradients(monkeypatch: pytest.MonkeyPatch) -> None:
    recorded = []
    choose = gpt._choose

    def noted(logits: Tensor, *options: Any) -> Tensor:
        recorded.append(logits.requires_grad)
        return choose(logits, *options)

    monkeypatch.setattr(gpt, "_choose", noted)
    model("none").generate(TEXT, 2)
    assert recorded == [False, False]
    assert model("none")(TEXT).requires_grad


def test_generation_with_nan_parameters_is_refused() -> None:
    read = model("none")
    nn.init.constant_(read.norm.weight, math.nan)
    for temperature in (0.0, 1.0):
        with pytest.raises(ValueError, match="logits that are numbers; got NaN"):
            read.generate(TEXT, 1, temperature=temperature)


# --- Training --------------------------------------------------------------------------------


@pytest.mark.parametrize("scheme", SCHEMES)
def test_every_scheme_memorizes_a_short_sequence(scheme: str) -> None:
    text = torch.tensor([[1, 2, 3, 1, 4, 1, 2, 5, 6, 3, 2, 1, 7, 7, 2, 3]])
    learner = GPTModel(8, 16, 32, 2, 2, scheme)
    optimizer = torch.optim.Adam(learner.parameters(), lr=1e-2, fused=True)
    losses = []
    for _ in range(40):
        loss = nn.functional.cross_entropy(learner(text[:, :-1])[0], text[0, 1:])
        optimizer.zero_grad()
        loss.backward()  # type: ignore[no-untyped-call]
        optimizer.step()
        losses.append(loss.item())
    assert abs(losses[0] - math.log(8)) < 0.2
    assert losses[-1] < losses[0] / 10


@torch.no_grad()
def test_dropout_acts_in_training_mode_only() -> None:
    wet = GPTModel(VOCABULARY, MAX_LEN, WIDTH, HEADS, LAYERS, "rope", 0.5)
    assert not torch.equal(wet(TEXT), wet(TEXT))
    wet.eval()
    dry = GPTModel(VOCABULARY, MAX_LEN, WIDTH, HEADS, LAYERS, "rope")
    dry.load_state_dict(wet.state_dict())
    assert torch.equal(wet(TEXT), dry(TEXT))


def test_dropout_acts_on_the_embedding_and_on_each_sublayer(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    dropped = []

    def noted(self: nn.Dropout, x: Tensor) -> Tensor:
        dropped.append(self.p)
        return x

    monkeypatch.setattr(nn.Dropout, "forward", noted)
    GPTModel(VOCABULARY, MAX_LEN, WIDTH, HEADS, LAYERS, "rope", 0.25)(TEXT)
    assert dropped == [0.25] * (1 + 2 * LAYERS)


# --- Configurations --------------------------------------------------------------------------


@pytest.mark.parametrize(("name", "kind"), [("tiny", "simple"), ("byte", "byte")])
@torch.no_grad()
def test_a_configuration_fits_its_tokenizer(name: str, kind: Any) -> None:
    config, tokenizer = create_model_config(name), create_tokenizer(kind)
    assert config["vocab_size"] >= tokenizer.vocab_size
    ids = torch.tensor([tokenizer.encode("The cat sat on the mat")])
    read = GPTModel(**config).eval()
    logits, weights = read(ids, return_attention=True)
    assert logits.shape == (1, ids.shape[1], config["vocab_size"])
    assert weights.shape == (config["layers"], 1, config["heads"], ids.shape[1], ids.shape[1])
    assert read.embedding(ids).shape == (1, ids.shape[1], config["d_model"])


def test_each_call_returns_a_new_configuration() -> None:
    create_model_config("tiny")["vocab_size"] = 1
    assert create_model_config("tiny")["vocab_size"] == CONFIGS["tiny"]["vocab_size"] == 512


# --- Bad input -------------------------------------------------------------------------------

SIZES = {"vocab_size": 11, "max_len": 8, "d_model": 12, "heads": 3, "layers": 1}


@pytest.mark.parametrize(
    ("changed", "error", "message"),
    [
        *(({size: 0}, ValueError, f"{size} must be .*got 0") for size in SIZES),
        *(({size: 2.5}, TypeError, f"{size} must be .*got 2.5") for size in SIZES),
        *(({size: True}, TypeError, f"{size} must be .*got True") for size in SIZES),
        ({"d_model": 13}, ValueError, "d_model must be a multiple of 3, for 3 heads.*got 13"),
        ({"d_model": 9, "pos_type": "rope"}, ValueError, "d_model must be a multiple of 6.*got 9"),
        ({"d_model": 9, "pos_type": "sinusoidal"}, ValueError, "d_model must be an even .*got 9"),
        (
            {"pos_type": "swin"},
            ValueError,
            "none, counting, .*shaw; got 'swin', which is for images",
        ),
        ({"pos_type": "Rope"}, ValueError, '"none", "counting", .*"shaw"; got .Rope'),
        ({"pos_type": None}, TypeError, "pos_type must be one of"),
        ({"pos_type": np.array(["swin", "rope"])}, TypeError, "pos_type must be one of"),
        ({"dropout": 1.0}, ValueError, "dropout must be .*got 1.0"),
        ({"dropout": math.nan}, ValueError, "dropout must be"),
        ({"dropout": "0.1"}, TypeError, "dropout must be"),
    ],
)
def test_bad_model_arguments_are_refused(
    changed: dict[str, Any], error: type[Exception], message: str
) -> None:
    with pytest.raises(error, match=message):
        GPTModel(**{**SIZES, **changed})


@pytest.mark.parametrize(
    "other",
    [model("rope"), model("alibi"), model("rope", layers=1), model("rope", heads=2)],
)
@torch.no_grad()
def test_a_cache_of_another_model_is_refused(other: GPTModel) -> None:
    cache = Cache()
    other(TEXT[:, :3], cache=cache)
    kept = cache.layers
    for read in (model("rope"), copy.deepcopy(other)):
        with pytest.raises(ValueError, match="cache must have been filled by this model; got"):
            read(TEXT[:, 3:], cache=cache)
        assert cache.layers is kept
    other(TEXT[:, 3:], cache=copy.deepcopy(cache))  # to go on in more than one way
    other(TEXT[:, 3:], cache=cache)
    assert cache.length == 8


@torch.no_grad()
def test_a_cache_does_not_keep_its_model_alive_nor_serve_another() -> None:
    cache = Cache()
    model("none")(TEXT, cache=cache)
    gc.collect()
    assert isinstance(cache.owner, ReferenceType)
    assert cache.owner() is None
    with pytest.raises(ValueError, match="cache must have been filled by this model"):
        model("none")(TEXT, cache=cache)


def saved(cache: Cache) -> Cache:
    """Return a cache saved and loaded by torch, with only `Cache` allowed as a class."""
    file = io.BytesIO()
    torch.save(cache, file)
    file.seek(0)
    with torch.serialization.safe_globals([Cache]):
        loaded: Cache = torch.load(file, weights_only=True)
    return loaded


def pickled(cache: Cache) -> Cache:
    loaded: Cache = pickle.loads(pickle.dumps(cache))
    return loaded


SAVED: list[Callable[[Cache], Cache]] = [saved, pickled, lambda cache: pickled(saved(cache))]


@pytest.mark.parametrize("scheme", SCHEMES)
@pytest.mark.parametrize("again", [*SAVED, copy.copy, copy.deepcopy])
@pytest.mark.parametrize("recorded", [True, False])
def test_a_saved_or_copied_cache_continues_where_it_stopped(
    recorded: bool, again: Callable[[Cache], Cache], scheme: str
) -> None:
    """While gradients are recorded too, as they are by default."""
    read, cache = model(scheme), Cache()
    padding = torch.ones(2, 3).bool()
    padding[0, 0] = False
    with torch.set_grad_enabled(recorded):
        read(TEXT[:, :3], padding=padding, cache=cache)
        other = again(cache)
        assert other is not cache
        expected, found = read(TEXT[:, 3:], cache=cache), read(TEXT[:, 3:], cache=other)
    assert torch.equal(found, expected)
    assert other.length == cache.length == 8


@pytest.mark.parametrize("again", [*SAVED, copy.deepcopy])
def test_a_saved_cache_has_its_own_tensors_without_gradients(
    again: Callable[[Cache], Cache],
) -> None:
    read, cache = model("rope"), Cache()
    read(TEXT[:, :3], padding=TEXT[:, :3] > 0, cache=cache)
    other = again(cache)
    for mine, theirs in zip(
        itertools.chain(*cache.layers), itertools.chain(*other.layers), strict=True
    ):
        assert mine.requires_grad
        assert not theirs.requires_grad
        assert torch.equal(mine, theirs)
        assert mine.data_ptr() != theirs.data_ptr()
    assert cache.padding is not None
    assert other.padding is not None
    assert cache.padding.data_ptr() != other.padding.data_ptr()
    assert len(pickle.dumps(cache)) < len(pickle.dumps(read))  # the model is not in it


@torch.no_grad()
def test_a_saved_cache_stores_only_its_own_numbers() -> None:
    read, cache = model("alibi"), Cache()
    read(torch.zeros(64, 8, dtype=torch.int64), cache=cache)
    numbers = sum(x.numel() * x.element_size() for x in itertools.chain(*cache.layers))
    assert len(pickle.dumps(cache)) < 1.2 * numbers


def test_a_saved_cache_recognizes_a_model_with_scalar_parameters() -> None:
    read, cache = model("rope"), Cache()
    read.register_buffer("steps", torch.tensor(3.0))
    read(TEXT[:, :3], cache=cache)
    assert copy.deepcopy(read)(TEXT[:, 3:], cache=pickled(cache)).shape == (2, 5, VOCABULARY)


def test_a_shallow_copy_keeps_gradients() -> None:
    read, cache = model("rope"), Cache()
    read(TEXT[:, :3], cache=cache)
    read(TEXT[:, 3:], cache=copy.copy(cache))
    assert cache.length == 3
    assert copy.copy(cache).layers[0][0].grad_fn is cache.layers[0][0].grad_fn is not None


@pytest.mark.parametrize("again", SAVED)
@torch.no_grad()
def test_a_saved_cache_works_only_with_equal_parameters(
    again: Callable[[Cache], Cache],
) -> None:
    read, cache = model("rope"), Cache()
    read(TEXT[:, :3], cache=cache)
    same = copy.deepcopy(read)
    torch.testing.assert_close(same(TEXT[:, 3:], cache=again(cache)), read(TEXT)[:, 3:])
    trained = copy.deepcopy(read)
    trained.norm.bias[0] += 1e-6
    other_scheme = model("alibi")
    other_scheme.load_state_dict(read.state_dict())
    slower = copy.deepcopy(read)
    for part in slower.modules():
        if isinstance(part, SelfAttention):
            part.rope = RotaryEmbedding(part.d, base=500.0)
    narrower = copy.deepcopy(read).float()
    for other in (trained, other_scheme, slower, narrower, model("rope")):
        with pytest.raises(ValueError, match="cache must have been filled by this model; got"):
            other(TEXT[:, 3:], cache=again(cache))


@torch.no_grad()
def test_a_cache_saved_after_its_model_is_deleted_works_with_no_model() -> None:
    cache = Cache()
    read = model("rope")
    same = copy.deepcopy(read)
    read(TEXT[:, :3], cache=cache)
    del read
    gc.collect()
    with pytest.raises(ValueError, match="cache must have been filled by this model; got"):
        same(TEXT[:, 3:], cache=pickled(cache))


def test_a_saved_empty_cache_works_with_any_model() -> None:
    for again in SAVED:
        assert model("t5")(TEXT, cache=again(Cache())).shape == (2, 8, VOCABULARY)


def cast(read: GPTModel, cache: Cache) -> None:
    read.float()


def moved(read: GPTModel, cache: Cache) -> None:
    cache.layers = [(k.to("meta"), v.to("meta")) for k, v in cache.layers]


def padding_moved(read: GPTModel, cache: Cache) -> None:
    cache.padding = torch.ones(2, 3, device="meta").bool()


def cut(read: GPTModel, cache: Cache) -> None:
    cache.layers = [(k[:1], v[:1]) for k, v in cache.layers]


def values_cut(read: GPTModel, cache: Cache) -> None:
    cache.layers = [(k, v[:, :, 1:]) for k, v in cache.layers]


def layers_lost(read: GPTModel, cache: Cache) -> None:
    cache.layers = cache.layers[:1]


@pytest.mark.parametrize(
    ("damage", "error", "message"),
    [
        (cast, TypeError, "cache must hold torch.float32, like the model; got torch.float64"),
        (moved, ValueError, "cache must be on the device cpu; got meta"),
        (padding_moved, ValueError, "cache must be on the device cpu; got meta"),
        (cut, ValueError, r"cache must be of .* batch, 2 layers .*\(2, 3, 3, 4\); got 2 with \(1,"),
        (values_cut, ValueError, r"cache must be of .*\(2, 3, 3, 4\); got 2 with \(2, 3, 2, 4\)"),
        (layers_lost, ValueError, r"cache must be of .* 2 layers .*; got 1 with \(2, 3, 3, 4\)"),
    ],
)
@torch.no_grad()
def test_a_cache_that_no_longer_fits_its_model_is_refused(
    damage: Callable[[GPTModel, Cache], None], error: type[Exception], message: str
) -> None:
    read, cache = model("none"), Cache()
    read(TEXT[:, :3], cache=cache)
    damage(read, cache)
    with pytest.raises(error, match=message):
        read(TEXT[:, 3:], cache=cache)


@pytest.mark.parametrize(
    ("layers", "padding", "message"),
    [
        (None, None, "cache must hold a pair of tensors per layer; got None"),
        (3, None, "cache must hold a pair of tensors per layer; got 3"),
        ([3], None, "cache must hold a pair of tensors per layer"),
        ([(torch.ones(2, 3, 3, 4),)], None, "cache must hold a pair of tensors per layer"),
        ([(torch.ones(2, 3, 3, 4), 5)], None, "cache must hold a pair of tensors per layer"),
        ([(torch.ones(()), torch.ones(()))] * 2, None, "cache must be of this model and batch"),
        ([], torch.ones(2, 3).bool(), r"cache.padding must be of shape \(2, 0\); got \(2, 3\)"),
        ([], torch.ones(2, 0), "cache.padding must be a boolean tensor; got one of torch.float32"),
        ([], "left", "cache.padding must be a boolean tensor"),
    ],
)
def test_a_damaged_cache_is_refused(layers: Any, padding: Any, message: str) -> None:
    read, cache = model("none"), Cache()
    cache.layers, cache.padding, cache.owner = layers, padding, ref(read)
    with pytest.raises((TypeError, ValueError), match=message):
        read(TEXT, cache=cache)


@torch.no_grad()
def test_a_cache_filled_under_autocast_continues_under_autocast() -> None:
    read, cache = model("rope").float(), Cache()
    with torch.autocast("cpu", dtype=torch.bfloat16):
        read(TEXT[:, :3], cache=cache)
        assert read(TEXT[:, 3:], cache=cache).dtype is torch.bfloat16
    with pytest.raises(TypeError, match=r"cache must hold torch.float32, .*; got torch.bfloat16"):
        read(TEXT[:, :3], cache=cache)


@torch.no_grad()
def test_a_failed_call_leaves_the_cache_unchanged(monkeypatch: pytest.MonkeyPatch) -> None:
    read, cache = model("alibi"), Cache()
    read(TEXT[:, :3], cache=cache)
    kept = cache.layers
    with monkeypatch.context() as broken, pytest.raises(KeyboardInterrupt):
        broken.setattr(nn.LayerNorm, "forward", interrupted)
        read(TEXT[:, 3:], cache=cache)
    assert cache.layers is kept
    torch.testing.assert_close(read(TEXT[:, 3:], cache=cache), read(TEXT)[:, 3:])


def interrupted(*_: object) -> None:
    raise KeyboardInterrupt


def test_documents_are_refused_with_a_cache_and_padding_that_leaves_nothing_by_row() -> None:
    with pytest.raises(ValueError, match="documents must be given without a cache; got both"):
        model()(TEXT, documents=TEXT, cache=Cache())
    with pytest.raises(ValueError, match=r"padding must leave .*; got none in row 1"):
        model()(TEXT, padding=TEXT == 9)


def test_a_generator_of_another_device_is_refused() -> None:
    read = model("none").to("meta")
    with pytest.raises(ValueError, match="generator must be on the device meta; got cpu"):
        read.generate(TEXT.to("meta"), 1, generator=torch.Generator())


@pytest.mark.parametrize(
    ("name", "error", "message"),
    [
        ("huge", ValueError, 'name must be one of "tiny", "byte"; got .huge'),
        (3, TypeError, 'name must be one of "tiny", "byte"; got 3'),
    ],
)
def test_unknown_configuration_error_lists_the_known_names(
    name: Any, error: type[Exception], message: str
) -> None:
    with pytest.raises(error, match=message):
        create_model_config(name)
