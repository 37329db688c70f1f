"""Inside `torch.func.vmap` and `torch.autocast` every module says what it says outside."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest
import torch
from torch import Tensor, nn

from posenc import mixed_frequencies
from posenc.nn import (
    ALiBi,
    CentralityEmbedding,
    CoPE,
    DAPEBias,
    DisentangledBias,
    FIREBias,
    ForgettingBias,
    GPTModel,
    GraphormerBias,
    KerpleBias,
    LearnedPositionalEmbedding,
    PaTH,
    PositionalEmbedding,
    RelativePositionEmbedding,
    RotaryEmbedding,
    RotaryEmbeddingND,
    SandwichBias,
    SinusoidalPositionalEncoding,
    SwinContinuousBias,
    T5RelativeBias,
    TransformerXLBias,
    TreeEncoding,
    TUPEBias,
    XPos,
    attention,
    relative_attention,
    relative_positions,
    relative_row,
)
from posenc.nn.gpt import SCHEMES

pytestmark = pytest.mark.no_cover  # the tests of each module count its lines

TEXTS, HEADS, LENGTH, D = 3, 2, 5, 8
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
SHAW, T5, LEARNED = RelativePositionEmbedding(D, 2), T5RelativeBias(HEADS), gpt("learned")
COPE, FORGETTING, TUPE = CoPE(D, 4), ForgettingBias(D, HEADS), TUPEBias(HEADS, D, 10)
DEBERTA, XL = DisentangledBias(HEADS, D, 3), TransformerXLBias(HEADS, D, D)
PATH, DAPE = PaTH(HEADS, D, D), DAPEBias(HEADS)
KERPLE, FIRE = KerpleBias(HEADS), FIREBias(HEADS, threshold=3)
SWIN_V2 = SwinContinuousBias(HEADS, 3)
SCORES = torch.einsum("bhqd,bhkd->bhqk", Q[:, 0], Q[:, 0])
IDS = torch.tensor([[[1, 2, 3, 4, 5]], [[9, 8, 7, 6, 5]], [[0, 0, 1, 0, 2]]])
PLACES = torch.tensor([[0, 1, 2, 3, 4], [7, 7, 8, 9, 1], [2, 1, 0, 4, 4]])
RELATIVE = torch.stack([relative_positions(places) for places in PLACES])
MASK = torch.ones(TEXTS, LENGTH, LENGTH).tril().bool()

# Functions with batched arguments: applied to the three entries one by one, or under `vmap`. Swin's
# biases and the learned grid take no tensors, so there is nothing to batch.
CALLS: dict[str, tuple[Callable[..., Tensor], tuple[Tensor, ...]]] = {
    "alibi": (ALiBi(HEADS), (RELATIVE,)),
    "t5": (T5, (RELATIVE,)),
    "relative positions": (relative_positions, (PLACES,)),
    "cope": (lambda q: COPE(q, q @ q.mT), (Q,)),
    "forgetting gate": (FORGETTING, (Q[:, 0],)),
    "path": (lambda q: PATH(q, q, q[:, 0]), (Q,)),
    "dape": (lambda q, far: DAPE(q @ q.mT, KERPLE(far)), (Q, RELATIVE)),
    "deberta": (lambda q, far: DEBERTA(q, q, far), (Q, RELATIVE)),
    "transformer-xl": (lambda q: XL(q, q), (Q,)),
    "tupe": (TUPE, (PLACES,)),
    "kerple": (KERPLE, (RELATIVE,)),
    "graphormer": (GraphormerBias(HEADS, 3), (RELATIVE.abs(),)),
    "centrality": (CentralityEmbedding(D, 4), (PLACES,)),
    "trees": (TreeEncoding(5, LENGTH, 2), (PLACES.clamp(max=4),)),
    "sandwich": (SandwichBias(HEADS), (RELATIVE,)),
    "fire": (FIRE, (PLACES,)),
    "xpos": (lambda q, places: XPos(D)(q, role="key", positions=places), (Q, PLACES)),
    "shaw": (SHAW, (RELATIVE,)),
    "shaw's scores": (SHAW.scores, (Q, RELATIVE)),
    "shaw's scores by the shift": (lambda q: SHAW.shifted_scores(q, LENGTH), (Q,)),
    "rope": (lambda q, places: ROTARY(q, positions=places), (Q, PLACES)),
    "rope, fast": (lambda q: ROTARY.turn(q, ROTARY.factors(q)), (Q,)),
    "rope, fast, in halves": (lambda q: HALVES.turn(q, HALVES.factors(q)), (Q,)),
    "rope, fast, narrow": (lambda q: ROTARY.turn(q, ROTARY.factors(q)), (Q.bfloat16(),)),
    "rope in the plane": (
        lambda q, points: RotaryEmbeddingND(D, mixed_frequencies(D, [0.3, 2.0]))(q, points),
        (Q, torch.stack([PLACES, PLACES.flip(1)], dim=-1)),
    ),
    "factors for one": (lambda f: HALVES.turn(Q[0], f), (torch.randn(TEXTS, LENGTH, D // 2) + 1j,)),
    "sinusoidal": (lambda x, p: SinusoidalPositionalEncoding(D)(x, positions=p), (Q[:, 0], PLACES)),
    "learned": (LearnedPositionalEmbedding(10, D), (PLACES,)),
    "embedding": (PositionalEmbedding(10, 8, D, dropout=0.0), (IDS,)),
    "attention": (lambda q: attention(q, q, q)[0], (Q,)),
    "attention's mask": (lambda mask: attention(Q[0], Q[0], Q[0], mask=mask)[0], (MASK,)),
    "attention's bias": (lambda bias: attention(Q[0], Q[0], Q[0], bias=bias)[0], (RELATIVE * 1.0,)),
    **{f"gpt, {scheme}": (gpt(scheme), (IDS,)) for scheme in SCHEMES},
    "gpt, padded": (lambda ids: LEARNED(ids, padding=ids > 0), (IDS,)),
}


@pytest.mark.parametrize("name", CALLS)
@torch.no_grad()
def test_vmap_equals_separate_calls(name: str) -> None:
    asked, batches = CALLS[name]
    alone = torch.stack([asked(*given) for given in zip(*batches, strict=True)])
    together = torch.func.vmap(asked)(*batches)
    torch.testing.assert_close(together, alone, atol=CLOSE, rtol=CLOSE)


def test_vmap_over_grad_gives_per_sequence_gradients() -> None:
    read = gpt("t5")
    parameters = {name: value.detach() for name, value in read.named_parameters()}

    def said(parameters: dict[str, Tensor], ids: Tensor) -> Tensor:
        logits: Tensor = torch.func.functional_call(read, parameters, (ids,))
        return logits.square().mean()

    gradients = torch.func.vmap(torch.func.grad(said), in_dims=(None, 0))(parameters, IDS)
    for text, ids in enumerate(IDS):
        read.zero_grad()
        said(dict(read.named_parameters()), ids).backward()  # type: ignore[no-untyped-call]
        assert read.t5 is not None
        grad = read.t5.table.grad
        torch.testing.assert_close(gradients["t5.table"][text], grad, atol=1e-4, rtol=1e-4)


# Autocast turns products of float32 into products of bfloat16, off by 2**-9 of their size.
LOUD: dict[str, Callable[[Tensor, Tensor], Tensor]] = {
    "attention": lambda q, rows: attention(q, q, q)[0],
    "its weights": lambda q, rows: attention(q, q, q)[1],
    "scores": lambda q, rows: SHAW.scores(q, relative_positions(LENGTH)),
    "scores by the shift": lambda q, rows: SHAW.shifted_scores(q, LENGTH),
    "fire": lambda q, rows: FIRE(torch.arange(LENGTH)),
    "cope": lambda q, rows: COPE(q, torch.ones(TEXTS, HEADS, LENGTH, LENGTH)),
    "path": lambda q, rows: PATH(q, q, q[:, 0]),
    "dape": lambda q, rows: DAPE(SCORES, SCORES[0]),
    "deberta": lambda q, rows: DEBERTA(q, q, relative_positions(LENGTH)),
    "transformer-xl": lambda q, rows: XL(q, q),
    "tupe": lambda q, rows: TUPE(torch.arange(LENGTH)),
    "forgetting gate": lambda q, rows: FORGETTING(q[:, 0])[..., -1, :],
    "swin v2": lambda q, rows: SWIN_V2(),
    "attention without a matrix": lambda q, rows: relative_attention(q, q, q, rows),
}


@pytest.mark.parametrize("name", LOUD)
@pytest.mark.parametrize("compiled", [False, True])
@torch.no_grad()
def test_autocast_does_not_lower_the_precision_of_products(name: str, compiled: bool) -> None:
    torch.compiler.reset()
    asked, q = LOUD[name], Q[:, 0]
    rows = ALiBi(HEADS, causal=False)(relative_row(LENGTH, LENGTH))[:, 0]
    expected = asked(q, rows)
    run = torch.compile(asked, fullgraph=True, backend="eager") if compiled else asked
    with torch.autocast("cpu", dtype=torch.bfloat16):
        assert (q @ q.mT).dtype is torch.bfloat16
        found = run(q, rows)
    assert found.dtype is torch.float32
    torch.testing.assert_close(found, expected, atol=1e-6, rtol=1e-6)


@torch.no_grad()
def test_a_model_under_autocast_returns_its_dtype_and_nearly_equal_logits() -> None:
    for scheme in SCHEMES:
        read = GPTModel(10, 8, HEADS * D, HEADS, 2, scheme).eval()
        with torch.autocast("cpu", dtype=torch.bfloat16):
            logits, weights = read(IDS[:, 0], return_attention=True)
        assert logits.dtype is weights.dtype is torch.bfloat16
        torch.testing.assert_close(logits.float(), read(IDS[:, 0]), atol=0.02, rtol=0)
