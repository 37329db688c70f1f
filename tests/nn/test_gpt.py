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
from unittest.mock import Mock
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


def random_model(scheme: str = "learned", *, heads: int = HEADS, layers: int = LAYERS) -> GPTModel:
    """Return a float64 model whose parameters are large enough for any mistake to show."""
    model = GPTModel(VOCABULARY, MAX_LEN, WIDTH, heads, layers, scheme).double().eval()
    for parameter in model.parameters():
        nn.init.normal_(parameter, std=0.6)
    return model


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


def by_hand(model: GPTModel, ids: list[int]) -> tuple[Array, Array]:
    """Return the logits (n, V) and the weights (layers, heads, n, n) of one sequence."""
    state = {name: value.numpy() for name, value in model.state_dict().items()}
    tokens, n = state["embedding.token_embedding.weight"], len(ids)
    x = tokens[ids]
    if model.pos_type == "counting":
        x = x + np.arange(n)[:, None]
    if model.pos_type == "sinusoidal":
        x = x * math.sqrt(WIDTH) + posenc.sinusoidal_encoding(n, WIDTH)
    if model.pos_type == "learned":
        x = x + state["embedding.pos_embedding.embedding.weight"][:n]
    attention = []
    for layer in range(len(model.blocks)):

        def table(name: str, layer: int = layer) -> Array:
            value: Array = state[name] if name in state else state[f"blocks.{layer}.{name}"]
            return value

        def linear(y: Array, name: str, table: Callable[[str], Array] = table) -> Array:
            return y @ table(f"{name}.weight").T + table(f"{name}.bias")

        y = normalised(x, table("attention_norm.weight"), table("attention_norm.bias"))
        qkv = linear(y, "attention.query_key_value").reshape(n, 3, model.heads, -1)
        q, k, v = qkv.transpose(1, 2, 0, 3)
        weights = weights_by_hand(model.pos_type, q, k, table)
        mixed = (weights @ v).transpose(1, 0, 2).reshape(n, WIDTH)
        x = x + linear(mixed, "attention.out")
        y = normalised(x, table("mlp_norm.weight"), table("mlp_norm.bias"))
        x = x + linear(gelu(linear(y, "mlp.0")), "mlp.2")
        attention.append(weights)
    logits = normalised(x, state["norm.weight"], state["norm.bias"]) @ tokens.T
    return logits, np.stack(attention)


@torch.no_grad()
def check_against_hand(model: GPTModel, text: Tensor = TEXT) -> None:
    logits, weights = model(text, return_attention=True)
    for row, ids in enumerate(text.tolist()):
        expected_logits, expected_weights = by_hand(model, ids)
        np.testing.assert_allclose(logits[row], expected_logits, atol=CLOSE, rtol=0)
        np.testing.assert_allclose(weights[:, row], expected_weights, atol=CLOSE, rtol=0)


@pytest.mark.parametrize("scheme", SCHEMES)
def test_the_model_equals_the_numpy_computation(scheme: str) -> None:
    check_against_hand(random_model(scheme))


@pytest.mark.parametrize(
    ("scheme", "table"), [("t5", "t5.table"), ("shaw", "attention.shaw.table")]
)
def test_far_tokens_use_their_own_rows_as_in_the_numpy_computation(scheme: str, table: str) -> None:
    """T5 has one bucket per distance up to 15 and then wider ones; Shaw clips at 16."""
    model, text = random_model(scheme), TEXT.repeat(1, 5)
    check_against_hand(model, text)
    near, far = model(text[:, :16]).detach(), model(text).detach()
    rows = next(value for name, value in model.named_parameters() if name.endswith(table))
    with torch.no_grad():
        rows[16 if scheme == "t5" else 0] += 1  # the first bucket beyond 15; the far past
    assert torch.equal(model(text[:, :16]), near)
    assert not torch.allclose(model(text), far)
    check_against_hand(model, text)


def test_a_float64_model_has_slopes_that_float32_would_round() -> None:
    check_against_hand(random_model("alibi", heads=12))  # 2**-0.5 is among those of 12 heads


# --- Shapes, sizes, starts ------------------------------------------------------------------


@pytest.mark.parametrize("scheme", SCHEMES)
def test_parameter_count_follows_the_formula(scheme: str) -> None:
    v, rows, w, h, n = VOCABULARY, MAX_LEN, WIDTH, HEADS, LAYERS
    norm, attention, mlp = 2 * w, 4 * w * w + 4 * w, 8 * w * w + 5 * w
    shared = v * w + n * (2 * norm + attention + mlp) + norm
    position = {"learned": rows * w, "t5": 32 * h, "shaw": n * (2 * 16 + 1) * (w // h)}
    counted = sum(parameter.numel() for parameter in random_model(scheme).parameters())
    assert counted == shared + position.get(scheme, 0)


@pytest.mark.parametrize(
    ("option", "visible"),
    [
        pytest.param(
            {"padding": torch.tensor([[0, 1, 1, 0]]).bool()},
            [[1, 0, 0, 0], [0, 1, 0, 0], [0, 1, 1, 0], [0, 1, 1, 1]],
            id="padding attends to itself and to earlier real tokens",
        ),
        pytest.param(
            {"documents": torch.tensor([[7, 7, 0, 7]])},
            [[1, 0, 0, 0], [1, 1, 0, 0], [0, 0, 1, 0], [0, 0, 0, 1]],
            id="a document number may occur again",
        ),
    ],
)
@torch.no_grad()
def test_padding_and_documents_limit_what_a_token_sees(
    option: dict[str, Tensor], visible: list[list[int]]
) -> None:
    _, weights = random_model("rope")(TEXT[:1, :4], return_attention=True, **option)
    assert torch.equal(weights[0, 0, 0] > 0, torch.tensor(visible).bool())


@pytest.mark.parametrize("dtype", [torch.int64, torch.int32, torch.int16, torch.int8, torch.uint8])
@torch.no_grad()
def test_ids_and_documents_may_have_any_integer_dtype(dtype: torch.dtype) -> None:
    documents = torch.tensor([[2, 2, 1, 1, 1, 1, 0, 0], [0] * 8])
    model = random_model("sinusoidal")
    expected = model(TEXT, documents=documents)
    assert torch.equal(model(TEXT.to(dtype), documents=documents.to(dtype)), expected)


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
    empty = torch.empty(0, 3, dtype=torch.long)
    for scheme in SCHEMES:
        model = random_model(scheme)
        assert model(empty).shape == (0, 3, VOCABULARY)
        for temperature in (0, 1):
            assert model.generate(empty, 2, temperature=temperature).shape == (0, 5)


@pytest.mark.parametrize("scheme", SCHEMES)
def test_only_the_first_four_schemes_add_positions_in_the_embedding(scheme: str) -> None:
    model = random_model(scheme)
    tokens = model.embedding.token_embedding(TEXT).detach()
    embedded = model.embedding(TEXT).detach()
    expected = {
        "counting": tokens + torch.arange(8.0).double()[:, None],
        "sinusoidal": tokens * math.sqrt(WIDTH)
        + torch.tensor(posenc.sinusoidal_encoding(8, WIDTH)),
    }
    if model.embedding.pos_embedding is not None:
        expected["learned"] = tokens + model.embedding.pos_embedding(8).detach()
    torch.testing.assert_close(embedded, expected.get(scheme, tokens), atol=CLOSE, rtol=0)


# --- Order and length ------------------------------------------------------------------------


@torch.no_grad()
def test_layer_normalization_removes_counting_positions() -> None:
    """A number added to every dimension is subtracted again with the mean."""
    counting, none = random_model("counting"), random_model("none")
    none.load_state_dict(counting.state_dict())
    torch.testing.assert_close(counting(TEXT), none(TEXT), atol=CLOSE, rtol=0)


@pytest.mark.parametrize("scheme", SCHEMES)
@torch.no_grad()
def test_one_layer_without_positions_ignores_the_order_of_earlier_tokens(scheme: str) -> None:
    forwards, backwards = TEXT[:1], TEXT[:1, [3, 6, 1, 0, 5, 4, 2, 7]]
    shallow, deep = random_model(scheme, layers=1), random_model(scheme)

    def sees_order(model: GPTModel) -> bool:
        return not torch.allclose(model(forwards)[0, -1], model(backwards)[0, -1], atol=1e-6)

    assert sees_order(shallow) is (scheme not in ("none", "counting"))
    assert sees_order(deep)  # by the causal mask, which shows each token another past


@pytest.mark.parametrize("scheme", FORMULAS)
@torch.no_grad()
def test_schemes_without_a_table_accept_inputs_longer_than_max_len(scheme: str) -> None:
    model, text = random_model(scheme), TEXT.repeat(1, 3)
    assert model(text).isfinite().all()
    np.testing.assert_allclose(model(text)[0], by_hand(model, text[0].tolist())[0], atol=1e-10)
    assert model.generate(TEXT, 3).shape == (2, 11)


@torch.no_grad()
def test_inputs_longer_than_a_learned_table_are_refused() -> None:
    model, cache = random_model("learned"), Cache()
    too_long = "token_ids must .*max_len, the 8 rows .*got {} tokens"
    with pytest.raises(ValueError, match=too_long.format(16)):
        model(TEXT.repeat(1, 2))
    model(TEXT, cache=cache)
    layers = cache.layers
    with pytest.raises(ValueError, match=too_long.format(9)):
        model(TEXT[:, :1], cache=cache)
    with pytest.raises(ValueError, match=r"positions must be below max_len, 8.*got 8"):
        model(TEXT[:, :1], cache=cache, padding=torch.tensor([[True], [False]]))
    assert cache.layers is layers
    # The limit is on real tokens of a document, not on columns.
    wide, real = TEXT.repeat(1, 2), torch.tensor([[0, 1] * 8, [1, 0] * 8]).bool()
    assert model(wide, padding=real).isfinite().all()
    assert model(wide, documents=torch.tensor([[0] * 8 + [1] * 8] * 2)).isfinite().all()


@torch.no_grad()
def test_generation_beyond_a_learned_table_is_refused_at_once(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    model, real = random_model("learned"), torch.tensor([[0] * 3 + [1] * 5] * 2).bool()
    assert model.generate(TEXT[:, :5], 3).shape == (2, 8)
    assert model.generate(TEXT, 3, padding=real).shape == (2, 11)
    monkeypatch.setattr(GPTModel, "forward", lambda *_: pytest.fail("the model was called"))
    message = r"new_tokens must .*the 8 rows .*got 9 tokens per sequence"
    with pytest.raises(ValueError, match=message):
        model.generate(TEXT[:, :5], 4)
    with pytest.raises(ValueError, match=message):
        model.generate(TEXT, 4, padding=real)


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


def writer(scheme: str) -> GPTModel:
    """Return a model whose output does not repeat, since repeated tokens would hide cache errors.

    It has no biases that push all tokens the same way, and its final norm has the weight −1.
    """
    torch.manual_seed(11)
    model = random_model(scheme)
    for block in model.blocks:
        for layer in (block.attention.out, block.mlp[2]):  # type: ignore[union-attr, index]
            nn.init.zeros_(layer.bias)  # type: ignore[union-attr, arg-type]
    nn.init.zeros_(model.norm.bias)
    nn.init.constant_(model.norm.weight, -1.0)
    return model


@pytest.fixture
def chosen_from(monkeypatch: pytest.MonkeyPatch) -> list[Tensor]:
    """Return a list to which generation appends the logits that it chooses each token from."""
    recorded, choose = [], gpt._choose

    def recording_choose(logits: Tensor, *options: Any) -> Tensor:
        recorded.append(logits)
        return choose(logits, *options)

    monkeypatch.setattr(gpt, "_choose", recording_choose)
    return recorded


@pytest.mark.parametrize("where", PADDING)
@pytest.mark.parametrize("scheme", SCHEMES)
@torch.no_grad()
def test_generation_uses_the_logits_computed_without_a_cache(
    scheme: str, where: str, chosen_from: list[Tensor]
) -> None:
    """Compare logits instead of tokens: a wrong model often agrees on the most likely token."""
    model, padding = writer(scheme), PADDING[where]
    generator = torch.Generator().manual_seed(1)
    texts = model.generate(PROMPT, 3, temperature=3.0, generator=generator, padding=padding)
    assert torch.equal(texts[:, :5], PROMPT)
    assert all(len(set(row)) > 1 for row in texts[:, 5:].tolist())
    assert len(chosen_from) == 3
    real = torch.ones_like(PROMPT).bool() if padding is None else padding
    for row in range(3):
        whole = model(torch.cat((PROMPT[row, real[row]], texts[row, 5:7]))[None])
        # After the prompt, after the first new token, and after the second.
        found = torch.stack([logits[row] for logits in chosen_from])
        torch.testing.assert_close(found, whole[0, -3:], atol=CLOSE, rtol=0)


def without_a_cache(model: GPTModel, ids: list[int], new_tokens: int) -> list[int]:
    """Return a greedy continuation, computed from the whole sequence at each step."""
    for _ in range(new_tokens):
        ids = [*ids, int(model(torch.tensor([ids]))[0, -1].argmax())]
    return ids


@pytest.mark.parametrize("scheme", SCHEMES)
@torch.no_grad()
def test_greedy_generation_takes_the_most_likely_token(scheme: str) -> None:
    model, prompt = writer(scheme), TEXT[:, :4]
    expected = [without_a_cache(model, ids, 4) for ids in prompt.tolist()]
    assert max(len(set(text[4:])) for text in expected) > 1
    assert model.generate(prompt, 4).tolist() == expected


def test_sampling_depends_on_the_generator_only() -> None:
    model, prompt = random_model("rope"), TEXT[:, :4].repeat(20, 1)

    def sample(seed: int) -> Tensor:
        generator = torch.Generator().manual_seed(seed)
        return model.generate(prompt, 5, temperature=2.0, generator=generator)

    assert torch.equal(sample(1), sample(1))
    assert not torch.equal(sample(1), sample(2))
    torch.manual_seed(3)
    first = model.generate(prompt, 5, temperature=2.0)
    torch.manual_seed(3)
    assert torch.equal(model.generate(prompt, 5, temperature=2.0), first)


@pytest.mark.parametrize("temperature", [0.5, 1.0, 3.0])
@torch.no_grad()
def test_samples_follow_the_softmax_at_the_temperature(temperature: float) -> None:
    model, draws = random_model("alibi"), 4000
    odds = (model(TEXT[:1])[0, -1] / temperature).softmax(dim=0)
    texts = model.generate(TEXT[:1].repeat(draws, 1), 1, temperature=temperature)
    share = texts[:, -1].bincount(minlength=VOCABULARY) / draws
    # Five standard errors of a share; the draws are seeded, so this holds or it does not.
    assert ((share - odds).abs() <= 5 * (odds * (1 - odds) / draws).sqrt() + 1e-9).all()


@pytest.mark.parametrize("temperature", [5e-324, 1e-300, 1e-6])
def test_sampling_at_a_tiny_temperature_takes_the_most_likely_token(temperature: float) -> None:
    model = random_model("t5")
    assert torch.equal(model.generate(TEXT, 4, temperature=temperature), model.generate(TEXT, 4))


def test_equal_logits_are_sampled_at_any_temperature() -> None:
    model = random_model("none")
    nn.init.zeros_(model.embedding.token_embedding.weight)  # which is the output layer, too
    assert len(set(model.generate(TEXT[:1], 40, temperature=1e-6)[0, 8:].tolist())) > 5
    assert not model.generate(TEXT[:1], 3)[0, 8:].any()


def test_generating_no_tokens_returns_a_copy_of_the_prompt() -> None:
    model = random_model("shaw")
    copied = model.generate(TEXT, 0)
    assert torch.equal(copied, TEXT)
    copied.fill_(0)
    assert TEXT.any()
    assert model.generate(TEXT.int(), 1).dtype is torch.int64


def test_generation_records_no_gradients(chosen_from: list[Tensor]) -> None:
    random_model("none").generate(TEXT, 2)
    assert [logits.requires_grad for logits in chosen_from] == [False, False]
    assert random_model("none")(TEXT).requires_grad


def test_generation_with_nan_parameters_is_refused() -> None:
    model = random_model("none")
    nn.init.constant_(model.norm.weight, math.nan)
    for temperature in (0.0, 1.0):
        with pytest.raises(ValueError, match="logits that are numbers; got NaN"):
            model.generate(TEXT, 1, temperature=temperature)


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
    model = GPTModel(VOCABULARY, MAX_LEN, WIDTH, HEADS, LAYERS, "rope", 0.5)
    assert not torch.equal(model(TEXT), model(TEXT))
    model.eval()
    without = GPTModel(VOCABULARY, MAX_LEN, WIDTH, HEADS, LAYERS, "rope")
    without.load_state_dict(model.state_dict())
    assert torch.equal(model(TEXT), without(TEXT))


def test_dropout_acts_on_the_embedding_and_on_each_sublayer(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    probabilities = []

    def recording_forward(self: nn.Dropout, x: Tensor) -> Tensor:
        probabilities.append(self.p)
        return x

    monkeypatch.setattr(nn.Dropout, "forward", recording_forward)
    GPTModel(VOCABULARY, MAX_LEN, WIDTH, HEADS, LAYERS, "rope", 0.25)(TEXT)
    assert probabilities == [0.25] * (1 + 2 * LAYERS)


# --- Configurations --------------------------------------------------------------------------


def test_each_call_returns_a_new_configuration() -> None:
    create_model_config("tiny")["vocab_size"] = 1
    assert create_model_config("tiny")["vocab_size"] == CONFIGS["tiny"]["vocab_size"] == 512


# --- Bad input -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("d_model", "pos_type", "message"),
    [
        (13, "learned", "d_model must be a multiple of 3, for 3 heads.*got 13"),
        (9, "rope", "d_model must be a multiple of 6.*got 9"),
        (9, "sinusoidal", "d_model must be an even .*got 9"),
        (12, "swin", "none, counting, .*shaw; got 'swin', which is for images"),
        (12, "Rope", '"none", "counting", .*"shaw"; got .Rope'),
        (12, np.array(["swin", "rope"]), "pos_type must be one of"),
    ],
)
def test_widths_and_schemes_that_do_not_fit_are_refused(
    d_model: int, pos_type: Any, message: str
) -> None:
    with pytest.raises((TypeError, ValueError), match=message):
        GPTModel(11, 8, d_model, 3, 1, pos_type)


def test_documents_are_refused_with_a_cache() -> None:
    with pytest.raises(ValueError, match="documents must be given without a cache; got both"):
        random_model()(TEXT, documents=TEXT, cache=Cache())


def test_a_row_of_padding_alone_is_refused() -> None:
    with pytest.raises(ValueError, match=r"padding must leave .*; got none in row 1"):
        random_model()(TEXT, padding=TEXT == 9)


def test_a_generator_of_another_device_is_refused() -> None:
    model = random_model("none").to("meta")
    with pytest.raises(ValueError, match="generator must be on the device meta; got cpu"):
        model.generate(TEXT.to("meta"), 1, generator=torch.Generator())


# --- Caches ----------------------------------------------------------------------------------

OTHER_MODEL = "cache must have been filled by this model; got"


@pytest.mark.parametrize(
    "options",
    [
        {"scheme": "rope"},
        {"scheme": "alibi"},
        {"scheme": "rope", "layers": 1},
        {"scheme": "rope", "heads": 2},
    ],
)
@torch.no_grad()
def test_a_cache_of_another_model_is_refused(options: dict[str, Any]) -> None:
    owner, cache = random_model(**options), Cache()
    owner(TEXT[:, :3], cache=cache)
    layers = cache.layers
    for model in (random_model("rope"), copy.deepcopy(owner)):
        with pytest.raises(ValueError, match=OTHER_MODEL):
            model(TEXT[:, 3:], cache=cache)
        assert cache.layers is layers
    owner(TEXT[:, 3:], cache=cache)
    assert cache.length == 8


@torch.no_grad()
def test_a_cache_does_not_keep_its_model_alive_nor_serve_another() -> None:
    cache = Cache()
    random_model("none")(TEXT, cache=cache)
    gc.collect()
    assert isinstance(cache.owner, ReferenceType)
    assert cache.owner() is None
    with pytest.raises(ValueError, match=OTHER_MODEL):
        random_model("none")(TEXT, cache=cache)


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
@pytest.mark.parametrize("copied", [*SAVED, copy.copy, copy.deepcopy])
@pytest.mark.parametrize("gradients", [True, False])
def test_a_saved_or_copied_cache_continues_where_it_stopped(
    gradients: bool, copied: Callable[[Cache], Cache], scheme: str
) -> None:
    model, cache = random_model(scheme), Cache()
    padding = torch.ones(2, 3).bool()
    padding[0, 0] = False
    with torch.set_grad_enabled(gradients):
        model(TEXT[:, :3], padding=padding, cache=cache)
        other = copied(cache)
        assert other is not cache
        expected, found = model(TEXT[:, 3:], cache=cache), model(TEXT[:, 3:], cache=other)
    assert torch.equal(found, expected)
    assert other.length == cache.length == 8


@pytest.mark.parametrize("copied", [*SAVED, copy.deepcopy])
def test_a_saved_cache_has_its_own_tensors_without_gradients(
    copied: Callable[[Cache], Cache],
) -> None:
    model, cache = random_model("rope"), Cache()
    model(TEXT[:, :3], padding=TEXT[:, :3] > 0, cache=cache)
    other = copied(cache)
    originals, copies = itertools.chain(*cache.layers), itertools.chain(*other.layers)
    for original, copy_of_it in zip(originals, copies, strict=True):
        assert original.requires_grad
        assert not copy_of_it.requires_grad
        assert torch.equal(original, copy_of_it)
        assert original.data_ptr() != copy_of_it.data_ptr()
    assert cache.padding is not None
    assert other.padding is not None
    assert cache.padding.data_ptr() != other.padding.data_ptr()
    assert len(pickle.dumps(cache)) < len(pickle.dumps(model))  # the model is not in it


@torch.no_grad()
def test_a_saved_cache_stores_only_its_own_numbers() -> None:
    model, cache = random_model("alibi"), Cache()
    model(torch.zeros(64, 8, dtype=torch.int64), cache=cache)
    numbers = sum(x.numel() * x.element_size() for x in itertools.chain(*cache.layers))
    assert len(pickle.dumps(cache)) < 1.2 * numbers


def test_a_saved_cache_recognizes_a_model_with_scalar_parameters() -> None:
    model, cache = random_model("rope"), Cache()
    model.register_buffer("steps", torch.tensor(3.0))
    model(TEXT[:, :3], cache=cache)
    assert copy.deepcopy(model)(TEXT[:, 3:], cache=pickled(cache)).shape == (2, 5, VOCABULARY)


def test_a_shallow_copy_keeps_gradients() -> None:
    model, cache = random_model("rope"), Cache()
    model(TEXT[:, :3], cache=cache)
    model(TEXT[:, 3:], cache=copy.copy(cache))
    assert cache.length == 3
    assert copy.copy(cache).layers[0][0].grad_fn is cache.layers[0][0].grad_fn is not None


@pytest.mark.parametrize("copied", SAVED)
@torch.no_grad()
def test_a_saved_cache_works_only_with_equal_parameters(
    copied: Callable[[Cache], Cache],
) -> None:
    assert random_model("t5")(TEXT, cache=copied(Cache())).shape == (2, 8, VOCABULARY)
    model, cache = random_model("rope"), Cache()
    model(TEXT[:, :3], cache=cache)
    same = copy.deepcopy(model)
    torch.testing.assert_close(same(TEXT[:, 3:], cache=copied(cache)), model(TEXT)[:, 3:])
    trained = copy.deepcopy(model)
    trained.norm.bias[0] += 1e-6
    other_scheme = random_model("alibi")
    other_scheme.load_state_dict(model.state_dict())
    slower = copy.deepcopy(model)
    for part in slower.modules():
        if isinstance(part, SelfAttention):
            part.rope = RotaryEmbedding(part.d, base=500.0)
    narrower = copy.deepcopy(model).float()
    for other in (trained, other_scheme, slower, narrower, random_model("rope")):
        with pytest.raises(ValueError, match=OTHER_MODEL):
            other(TEXT[:, 3:], cache=copied(cache))


@torch.no_grad()
def test_a_cache_saved_after_its_model_is_deleted_works_with_no_model() -> None:
    cache = Cache()
    model = random_model("rope")
    same = copy.deepcopy(model)
    model(TEXT[:, :3], cache=cache)
    del model
    gc.collect()
    with pytest.raises(ValueError, match=OTHER_MODEL):
        same(TEXT[:, 3:], cache=pickled(cache))


KEYS = torch.ones(2, 3, 3, 4).double()  # as a cache of three tokens holds them
META = KEYS.to("meta")
NO_PAIRS = "cache must hold a pair of tensors per layer"
NO_FIT = r"cache must be of this model and batch, 2 layers .*\(2, 3, 3, 4\); got "


@pytest.mark.parametrize(
    ("layers", "padding", "message"),
    [
        (None, None, f"{NO_PAIRS}; got None"),
        (3, None, f"{NO_PAIRS}; got 3"),
        ([3], None, NO_PAIRS),
        ([(KEYS,)], None, NO_PAIRS),
        ([(KEYS, 5)], None, NO_PAIRS),
        ([(torch.ones(()), torch.ones(()))] * 2, None, "cache must be of this model and batch"),
        ([(KEYS, KEYS)], None, NO_FIT + r"1 with \(2, 3, 3, 4\)"),
        ([(KEYS[:1], KEYS[:1])] * 2, None, NO_FIT + r"2 with \(1,"),
        ([(KEYS, KEYS[:, :, 1:])] * 2, None, NO_FIT + r"2 with \(2, 3, 2, 4\)"),
        ([(KEYS.float(),) * 2] * 2, None, "cache must hold torch.float64, .*; got torch.float32"),
        ([(META, META)] * 2, None, "cache must be on the device cpu; got meta"),
        ([(KEYS, KEYS)] * 2, META[:, 0, :, 0] > 0, "cache must be on the device cpu; got meta"),
        ([], torch.ones(2, 3).bool(), r"cache.padding must be of shape \(2, 0\); got \(2, 3\)"),
        ([], torch.ones(2, 0), "cache.padding must be a boolean tensor; got one of torch.float32"),
        ([], "left", "cache.padding must be a boolean tensor"),
    ],
)
def test_a_damaged_cache_is_refused(layers: Any, padding: Any, message: str) -> None:
    model, cache = random_model("none"), Cache()
    cache.layers, cache.padding, cache.owner = layers, padding, ref(model)
    with pytest.raises((TypeError, ValueError), match=message):
        model(TEXT[:, 3:], cache=cache)


@torch.no_grad()
def test_a_cache_filled_under_autocast_continues_under_autocast() -> None:
    model, cache = random_model("rope").float(), Cache()
    with torch.autocast("cpu", dtype=torch.bfloat16):
        model(TEXT[:, :3], cache=cache)
        assert model(TEXT[:, 3:], cache=cache).dtype is torch.bfloat16
    with pytest.raises(TypeError, match=r"cache must hold torch.float32, .*; got torch.bfloat16"):
        model(TEXT[:, :3], cache=cache)


@torch.no_grad()
def test_a_failed_call_leaves_the_cache_unchanged(monkeypatch: pytest.MonkeyPatch) -> None:
    model, cache = random_model("alibi"), Cache()
    model(TEXT[:, :3], cache=cache)
    layers = cache.layers
    with monkeypatch.context() as patch, pytest.raises(KeyboardInterrupt):
        patch.setattr(nn.LayerNorm, "forward", Mock(side_effect=KeyboardInterrupt))
        model(TEXT[:, 3:], cache=cache)
    assert cache.layers is layers
    torch.testing.assert_close(model(TEXT[:, 3:], cache=cache), model(TEXT)[:, 3:])
