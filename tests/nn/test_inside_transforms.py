"""Inside `torch.func.vmap` and `torch.autocast` every module returns what it returns outside."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest
import torch
from torch import Tensor, nn

from posenc.nn import (
    GPTModel,
    PoPE,
    RelativePositionEmbedding,
    RotaryEmbedding,
    SinusoidalPositionalEncoding,
    XPos,
    attention,
    relative_attention,
    relative_positions,
)
from posenc.nn.gpt import SCHEMES
from tests.schemes.inputs import inputs_as
from tests.schemes.table import arguments, variants

pytestmark = pytest.mark.no_cover  # the tests of each module count its lines

TEXTS, HEADS, LENGTH, D = 3, 2, 5, 8
VARIANTS = variants()
CLOSE = 1e-5  # float32 sums, whose order may be another in a batch


@pytest.fixture(autouse=True)
def seeded() -> Iterator[None]:
    with torch.random.fork_rng():
        torch.manual_seed(0)
        yield


def gpt(scheme: str) -> GPTModel:
    read = GPTModel(10, 8, HEADS * D, HEADS, 2, scheme).eval()
    for parameter in read.parameters():
        nn.init.normal_(parameter, std=0.5)
    return read


Q = torch.randn(TEXTS, 1, HEADS, LENGTH, D, generator=torch.Generator().manual_seed(0))
ROTARY, HALVES = RotaryEmbedding(D), RotaryEmbedding(D, layout="half")
SHAW, LEARNED = RelativePositionEmbedding(D, 2), gpt("learned")
IDS = torch.tensor([[[1, 2, 3, 4, 5]], [[9, 8, 7, 6, 5]], [[0, 0, 1, 0, 2]]])
PLACES = torch.tensor([[0, 1, 2, 3, 4], [7, 7, 8, 9, 1], [2, 1, 0, 4, 4]])
RELATIVE = torch.stack([relative_positions(places) for places in PLACES])
MASK = torch.ones(TEXTS, LENGTH, LENGTH).tril().bool()

# Functions with batched arguments: applied to the three entries one by one, or under `vmap`.
CALLS: dict[str, tuple[Callable[..., Tensor], tuple[Tensor, ...]]] = {
    "relative positions": (relative_positions, (PLACES,)),
    "shaw's scores": (SHAW.scores, (Q, RELATIVE)),
    "shaw's scores by the shift": (lambda q: SHAW.shifted_scores(q, LENGTH), (Q,)),
    "rope at positions": (lambda q, places: ROTARY(q, positions=places), (Q, PLACES)),
    "rope by factors": (lambda q: ROTARY.turn(q, ROTARY.factors(q)), (Q,)),
    "rope by factors, in halves": (lambda q: HALVES.turn(q, HALVES.factors(q)), (Q,)),
    "rope by factors, narrow": (lambda q: ROTARY.turn(q, ROTARY.factors(q)), (Q.bfloat16(),)),
    "factors for one": (lambda f: HALVES.turn(Q[0], f), (torch.randn(TEXTS, LENGTH, D // 2) + 1j,)),
    "xpos at positions": (lambda q, p: XPos(D)(q, role="key", positions=p), (Q, PLACES)),
    "pope at positions": (lambda k, p: PoPE(HEADS, D)(k, role="key", positions=p), (Q, PLACES)),
    "sinusoids at positions": (
        lambda x, places: SinusoidalPositionalEncoding(D)(x, positions=places),
        (Q[:, 0], PLACES),
    ),
    "attention": (lambda q: attention(q, q, q)[0], (Q,)),
    "attention's mask": (lambda mask: attention(Q[0], Q[0], Q[0], mask=mask)[0], (MASK,)),
    "attention's bias": (lambda bias: attention(Q[0], Q[0], Q[0], bias=bias)[0], (RELATIVE * 1.0,)),
    **{f"gpt, {scheme}": (gpt(scheme), (IDS,)) for scheme in SCHEMES},
    "gpt, padded": (lambda ids: LEARNED(ids, padding=ids > 0), (IDS,)),
}


@pytest.mark.parametrize("name", CALLS)
@torch.no_grad()
def test_vmap_equals_separate_calls(name: str) -> None:
    function, batches = CALLS[name]
    alone = torch.stack([function(*given) for given in zip(*batches, strict=True)])
    together = torch.func.vmap(function)(*batches)
    torch.testing.assert_close(together, alone, atol=CLOSE, rtol=CLOSE)


# Swin's biases and the learned grid take no tensors, so there is nothing to batch.
@pytest.mark.parametrize("name", [name for name in VARIANTS if name[:4] not in ("swin", "resi")])
@torch.no_grad()
def test_vmap_over_a_module_equals_separate_calls(name: str) -> None:
    module = VARIANTS[name].make().double()
    given = arguments(VARIANTS[name], module, 4, 9)
    tensors = {key: x for key, x in given.items() if isinstance(x, Tensor)}
    others = {key: x for key, x in given.items() if key not in tensors}
    # The same entries for other queries.
    batches = [
        torch.stack([x.roll(places, max(x.ndim - 2, 0)) for places in range(3)])
        for x in tensors.values()
    ]

    def function(*entries: Tensor) -> Tensor:
        result: Tensor = module(**dict(zip(tensors, entries, strict=True)), **others)
        return result

    alone = torch.stack([function(*entries) for entries in zip(*batches, strict=True)])
    torch.testing.assert_close(torch.func.vmap(function)(*batches), alone, atol=CLOSE, rtol=CLOSE)


def test_vmap_over_grad_gives_per_sequence_gradients() -> None:
    read = gpt("t5")
    parameters = {name: value.detach() for name, value in read.named_parameters()}

    def loss(parameters: dict[str, Tensor], ids: Tensor) -> Tensor:
        logits: Tensor = torch.func.functional_call(read, parameters, (ids,))
        return logits.square().mean()

    gradients = torch.func.vmap(torch.func.grad(loss), in_dims=(None, 0))(parameters, IDS)
    for text, ids in enumerate(IDS):
        read.zero_grad()
        loss(dict(read.named_parameters()), ids).backward()  # type: ignore[no-untyped-call]
        assert read.t5 is not None
        grad = read.t5.table.grad
        torch.testing.assert_close(gradients["t5.table"][text], grad, atol=1e-4, rtol=1e-4)


# Autocast turns products of float32 into products of bfloat16, off by 2**-9 of their size.
PRODUCTS: dict[str, Callable[[], Tensor]] = {
    "attention": lambda: attention(Q[:, 0], Q[:, 0], Q[:, 0])[0],
    "its weights": lambda: attention(Q[:, 0], Q[:, 0], Q[:, 0])[1],
    "scores": lambda: SHAW.scores(Q[:, 0], RELATIVE[0]),
    "scores by the shift": lambda: SHAW.shifted_scores(Q[:, 0], LENGTH),
    "attention without a matrix": lambda: relative_attention(
        Q[:, 0], Q[:, 0], Q[:, 0], torch.linspace(-1, 0, 2 * LENGTH - 1).expand(HEADS, -1)
    ),
}


def check_autocast(function: Callable[[], Tensor], compiled: bool) -> None:
    """Fail if autocast changes the result of a function of float32 tensors."""
    torch.compiler.reset()
    expected = function()
    run = torch.compile(function, fullgraph=True, backend="eager") if compiled else function
    with torch.autocast("cpu", dtype=torch.bfloat16):
        assert (Q @ Q.mT).dtype is torch.bfloat16
        found = run()
    assert found.dtype is torch.float32
    torch.testing.assert_close(found, expected, atol=1e-6, rtol=1e-6)


@pytest.mark.parametrize("name", PRODUCTS)
@pytest.mark.parametrize("compiled", [False, True])
@torch.no_grad()
def test_autocast_does_not_lower_the_precision_of_products(name: str, compiled: bool) -> None:
    check_autocast(PRODUCTS[name], compiled)


@pytest.mark.parametrize("name", VARIANTS)
@pytest.mark.parametrize("compiled", [False, True])
@torch.no_grad()
def test_autocast_does_not_lower_the_precision_of_a_module(name: str, compiled: bool) -> None:
    module = VARIANTS[name].make()
    with inputs_as(torch.float32):
        given = arguments(VARIANTS[name], module, 4, 9)
    check_autocast(lambda: module(**given), compiled)


@torch.no_grad()
def test_a_model_under_autocast_returns_its_dtype_and_nearly_equal_logits() -> None:
    for scheme in SCHEMES:
        read = GPTModel(10, 8, HEADS * D, HEADS, 2, scheme).eval()
        with torch.autocast("cpu", dtype=torch.bfloat16):
            logits, weights = read(IDS[:, 0], return_attention=True)
        assert logits.dtype is weights.dtype is torch.bfloat16
        torch.testing.assert_close(logits.float(), read(IDS[:, 0]), atol=0.02, rtol=0)
