"""What every further scheme of `posenc.nn` promises: its definition, in any dtype, at any place.

One entry of `SCHEMES` is one module: how it is made, how it is called for the queries from `start`
to `stop` with keys 0 … stop−1 (as in decoding with a cache), and the numpy definition of the same.
"""

from __future__ import annotations

import copy
import inspect
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any
from unittest.mock import Mock

import numpy as np
import pytest
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

import posenc
from posenc import nn as modules
from posenc.nn import (
    ALiBi,
    CentralityEmbedding,
    CoPE,
    DAPEBias,
    DisentangledBias,
    FIREBias,
    ForgettingBias,
    GraphormerBias,
    KerpleBias,
    PaTH,
    SandwichBias,
    SwinContinuousBias,
    SwinRelativeBias,
    T5RelativeBias,
    TransformerXLBias,
    TreeEncoding,
    TUPEBias,
    XPos,
    relative_positions,
)

pytestmark = pytest.mark.filterwarnings("error")

Call = Callable[[nn.Module, int, int], Tensor]
Definition = Callable[[Any, int, int], NDArray[np.floating]]

HEADS, D, LENGTH = 3, 8, 12
VECTORS = torch.randn(2, HEADS, 300, D, generator=torch.Generator().manual_seed(1)).double()
KEYS = torch.randn(2, HEADS, 300, D, generator=torch.Generator().manual_seed(2)).double()
ALIBI = ALiBi(HEADS, causal=False)


@dataclass(frozen=True)
class Scheme:
    """A module, a call of it for queries start … stop−1 and the same by definition."""

    make: Callable[[], nn.Module]
    call: Call
    definition: Definition
    shown: str
    axis: int = -2  # that of the queries in what a call returns


def array(x: Tensor) -> NDArray[np.float64]:
    """Return a tensor as a float64 array."""
    return x.detach().double().numpy()


def relative(start: int, stop: int) -> Tensor:
    """Return key − query for queries start … stop−1 and keys 0 … stop−1."""
    return relative_positions(torch.arange(start, stop), stop)


def by_relative(module: nn.Module, start: int, stop: int) -> Tensor:
    """Call a bias that takes relative positions."""
    bias: Tensor = module(relative(start, stop))
    return bias


def by_fire(module: nn.Module, start: int, stop: int) -> Tensor:
    """Call FIRE, which takes positions."""
    bias: Tensor = module(torch.arange(start, stop), torch.arange(stop))
    return bias


def fire(module: Any, start: int, stop: int) -> NDArray[np.floating]:
    """Return FIRE's bias by definition, for what a module has learned."""
    shares = posenc.fire_shares(
        stop - start,
        rate=module.rate.item(),
        threshold=module.threshold * module.factor.item(),
        query_offset=start,
    )
    names = ("first_weight", "first_bias", "second_weight", "second_bias")
    return posenc.fire_bias(shares, **{name: array(getattr(module, name)) for name in names})


def vectors(start: int, stop: int) -> Tensor:
    """Return queries or keys, the same ones at the same place in every call."""
    return VECTORS[:, :, start:stop]


def kerple(name: str) -> Scheme:
    """Return one of the two kernels of KERPLE."""
    function = {"log": posenc.kerple_log_bias, "power": posenc.kerple_power_bias}[name]
    return Scheme(
        lambda: KerpleBias(HEADS, kernel=name),
        by_relative,
        lambda m, start, stop: function(
            array(m.scale), array(m.shape), relative(start, stop).numpy()
        ),
        f"KerpleBias(3, kernel='{name}')",
    )


def alibi(*, causal: bool) -> Scheme:
    """Return ALiBi, with or without its mask."""
    return Scheme(
        lambda: ALiBi(HEADS, causal=causal),
        lambda m, start, stop: m(relative(start, stop), dtype=torch.float64),
        lambda m, start, stop: posenc.alibi_bias(
            HEADS, stop - start, stop, query_offset=start, causal=causal
        ),
        f"ALiBi(3, causal={causal})",
    )


def t5(*, bidirectional: bool) -> Scheme:
    """Return T5's bias, of its encoder or its decoder."""
    how: dict[str, Any] = {"bidirectional": bidirectional, "max_distance": 20}
    return Scheme(
        lambda: loud(T5RelativeBias(HEADS, buckets=8, **how)),
        by_relative,
        lambda m, start, stop: posenc.t5_bias(array(m.table), relative(start, stop).numpy(), **how),
        f"T5RelativeBias(3, bidirectional={bidirectional}, buckets=8, max_distance=20)",
    )


def xpos(role: str, layout: str) -> Scheme:
    """Return xPos for queries or for keys."""
    return Scheme(
        lambda: XPos(D, layout=layout, center=5),
        lambda m, start, stop: m(vectors(start, stop), role=role, offset=start),
        lambda m, start, stop: _centred(array(vectors(start, stop)), start, role, layout),
        f"XPos(\n  8, base=10000, layout='{layout}', scale_base=512, gamma=0.4, center=5\n"
        f'  (rotary): RotaryEmbedding(8, base=10000.0, layout="{layout}", rotary_d=8)\n)',
    )


def _centred(x: NDArray[np.float64], start: int, role: str, layout: str) -> NDArray[np.floating]:
    """Return xPos by definition: rotated by the position, scaled by the position − 5."""
    places = np.arange(start, start + x.shape[-2])
    scaled = posenc.apply_xpos(x, places - 5, role=role, layout=layout)
    back = posenc.apply_rope(scaled, np.full(places.shape, 5), layout=layout)
    return np.asarray(back)


def content(module: Any, start: int, stop: int) -> NDArray[np.float64]:
    """Return the content scores over √(3d) or √d, which a module leaves to `attention`."""
    terms = 3 if isinstance(module, DisentangledBias) else 1
    scores = array(vectors(start, stop) @ VECTORS[:, :, :stop].mT)
    return np.asarray(scores / np.sqrt(terms * D))


def deberta(module: Any, start: int, stop: int) -> NDArray[np.floating]:
    """Return DeBERTa's position terms by definition: all its scores, without the content's."""
    apart = relative(start, stop).numpy()
    if module.longest is not None:
        apart = np.asarray(
            posenc.deberta_buckets(apart, buckets=module.max_distance, max_distance=module.longest)
        )
    scores = posenc.disentangled_scores(
        array(vectors(start, stop)),
        array(VECTORS[:, :, :stop]),
        apart,
        position_q=array(module.position_q),
        position_k=array(module.position_k),
        released=module.released,
    )
    return np.asarray(scores - content(module, start, stop))


def disentangled(longest: int | None, *, released: bool) -> Scheme:
    """Return DeBERTa's terms, with or without buckets."""
    return Scheme(
        lambda: loud(DisentangledBias(HEADS, D, 8, longest=longest, released=released)),
        lambda m, start, stop: m(vectors(start, stop), VECTORS[:, :, :stop], relative(start, stop)),
        deberta,
        f"DisentangledBias(3, 8, max_distance=8, longest={longest}, released={released})",
    )


def transformer_xl(module: Any, start: int, stop: int) -> NDArray[np.floating]:
    """Return Transformer-XL's position terms by definition."""
    rows = posenc.transformer_xl_rows(stop - start, stop, module.d_model, query_offset=start)
    keys = (rows @ array(module.weight)).reshape(len(rows), HEADS, D).swapaxes(0, 1)
    scores = posenc.transformer_xl_scores(
        array(vectors(start, stop)),
        array(VECTORS[:, :, :stop]),
        keys,
        content_bias=array(module.content_bias)[:, None],
        position_bias=array(module.position_bias)[:, None],
    )
    return np.asarray(scores - content(module, start, stop))


def tupe(module: Any, start: int, stop: int) -> NDArray[np.floating]:
    """Return TUPE's bias by definition: the whole matrix, and the rows asked for."""
    whole = posenc.tupe_bias(
        array(module.table[:stop]),
        query_weight=array(module.query_weight),
        key_weight=array(module.key_weight),
        heads=HEADS,
    )
    first = {name: array(getattr(module, name)) for name in ("from_first", "to_first")}
    return np.asarray(posenc.untied_bias(whole, **first)[:, start:])


def swin_v2(module: Any, start: int, stop: int) -> NDArray[np.floating]:
    """Return Swin V2's bias by definition, in a window of any number of patches."""
    offsets = posenc.swin_log_offsets(module.window, trained_window=module.trained_window)
    units = np.maximum(0, offsets @ array(module.first_weight).T + array(module.first_bias))
    table = units @ array(module.second_weight).T
    bias = 16 / (1 + np.exp(-posenc.swin_bias(table, module.window)))
    return np.asarray(bias[:, start:stop, :stop])


def by_cope(module: nn.Module, start: int, stop: int) -> Tensor:
    """Call CoPE with the scores of its queries and keys."""
    q = vectors(start, stop)
    bias: Tensor = module(q, q @ VECTORS[:, :, :stop].mT)
    return bias


def cope(module: Any, start: int, stop: int) -> NDArray[np.floating]:
    """Return CoPE's term by definition: all its scores, without the content's."""
    q = vectors(start, stop)
    scores = array(q @ VECTORS[:, :, :stop].mT)
    whole = posenc.cope_scores(array(q), scores, array(module.table))
    return np.where(np.isneginf(whole), 0, whole - scores)


def forgetting(module: Any, start: int, stop: int) -> NDArray[np.floating]:
    """Return the forgetting gate's bias by definition."""
    gates = array(VECTORS[:, 0, :stop]) @ array(module.weight).T + array(module.shift)
    logs = -np.logaddexp(0, -gates).swapaxes(-1, -2)
    return np.asarray(posenc.forgetting_bias(logs, stop - start))


def apart(start: int, stop: int) -> Tensor:
    """Return distances of nodes, the same ones at the same place in every call, some without."""
    far = relative(start, stop).abs()
    return torch.where(far % 7 == 5, -1, far)


def paths(start: int, stop: int) -> list[list[int]]:
    """Return the paths of nodes start … stop−1: the digits of their numbers to the base 3."""
    return [[node // 3**place % 3 for place in range(node % 6)] for node in range(start, stop)]


def by_choices(module: nn.Module, start: int, stop: int) -> Tensor:
    """Call a tree's encoding with the choices of its nodes."""
    choices = posenc.tree_choices(paths(start, stop), branches=3, depth=4)
    rows: Tensor = module(torch.from_numpy(choices).to(VECTORS.device))
    return rows


def tree(module: Any, start: int, stop: int) -> NDArray[np.float64]:
    """Return a tree's rows by definition."""
    decays = np.tanh(array(module.rate))
    return posenc.tree_encoding(paths(start, stop), branches=3, depth=4, decays=decays)


def path(module: Any, start: int, stop: int) -> NDArray[np.floating]:
    """Return PaTH's term by definition: all its scores, without the content's."""
    x, q, k = (array(some) for some in (VECTORS[:, 0, :stop], vectors(0, stop), KEYS[:, :, :stop]))
    made = x @ array(module.first_weight).T @ array(module.second_weight).T
    kernel, mixed = array(module.kernel), np.zeros_like(made)
    for ago in range(3):  # the token itself, the one before it, the one before that
        mixed[:, ago:] += kernel[:, 2 - ago] * made[:, : stop - ago]
    direction = (mixed / (1 + np.exp(-mixed))).reshape(*made.shape[:2], HEADS, D).swapaxes(1, 2)
    strength = x @ array(module.strength_weight).T + array(module.strength_bias)
    strength = (2 / (1 + np.exp(-strength))).swapaxes(1, 2)
    scores = posenc.path_scores(q, k, direction=direction, strength=strength)
    return np.asarray(scores - q @ k.swapaxes(-1, -2) / np.sqrt(D))[:, :, start:]


def before_dape(start: int, stop: int) -> tuple[Tensor, Tensor]:
    """Return scores of content, and ALiBi's bias for each text, twice as steep for the second."""
    bias = ALIBI(relative(start, stop)).double()
    return vectors(start, stop) @ KEYS[:, :, :stop].mT / 4, torch.stack([bias, 2 * bias])


def by_dape(module: nn.Module, start: int, stop: int) -> Tensor:
    """Call DAPE."""
    bias: Tensor = module(*before_dape(start, stop))
    return bias


def dape(module: Any, start: int, stop: int) -> NDArray[np.floating]:
    """Return DAPE's bias by definition, for each text with its own bias."""
    names = ("first_weight", "first_bias", "second_weight", "second_bias")
    network = {name: array(getattr(module, name)) for name in names}
    given = [array(some) for some in before_dape(start, stop)]
    return np.stack([posenc.dape_bias(*some, **network) for some in zip(*given, strict=True)])


def loud(module: nn.Module) -> nn.Module:
    """Return a module whose parameters are large enough to tell apart, drawn by `seeded`."""
    for parameter in module.parameters():
        nn.init.normal_(parameter)
    return module


def inputs(name: str, module: nn.Module, start: int, stop: int) -> dict[str, Any]:
    """Return what a scheme's call gives to its module, by name; but a dtype cannot be exported."""
    called = Mock(wraps=module)
    SCHEMES[name].call(called, start, stop)
    args, how = called.call_args
    given = inspect.signature(module.forward).bind(*args, **how).arguments
    return {key: x for key, x in given.items() if key != "dtype"}


SCHEMES: dict[str, Scheme] = {
    "ALiBi": alibi(causal=True),
    "ALiBi, symmetric": alibi(causal=False),
    "T5, encoder": t5(bidirectional=True),
    "T5, decoder": t5(bidirectional=False),
    "Swin": Scheme(
        lambda: SwinRelativeBias(HEADS, 6),
        lambda m, start, stop: m()[:, start:stop, :stop],
        lambda m, start, stop: posenc.swin_bias(array(m.table), 6)[:, start:stop, :stop],
        "SwinRelativeBias(3, window=6)",
    ),
    "KERPLE, log": kerple("log"),
    "KERPLE, power": kerple("power"),
    "Sandwich": Scheme(
        lambda: SandwichBias(HEADS, width=16),
        lambda m, start, stop: m(relative(start, stop), dtype=torch.float64),
        lambda m, start, stop: posenc.sandwich_bias(HEADS, relative(start, stop).numpy(), width=16),
        "SandwichBias(3, width=16, base=10000)",
    ),
    "FIRE": Scheme(
        lambda: FIREBias(HEADS, threshold=6.0),
        by_fire,
        fire,
        "FIREBias(3, hidden=32, threshold=6)",
    ),
    "DeBERTa, each distance": disentangled(None, released=True),
    "DeBERTa, buckets": disentangled(20, released=False),
    "CoPE": Scheme(lambda: loud(CoPE(D, 5)), by_cope, cope, "CoPE(8, 5)"),
    "forgetting gate": Scheme(
        lambda: loud(ForgettingBias(D, HEADS)),
        lambda m, start, stop: m(VECTORS[:, 0, :stop], query_length=stop - start),
        forgetting,
        "ForgettingBias(8, 3)",
    ),
    "PaTH": Scheme(
        lambda: loud(PaTH(HEADS, D, D, rank=5)),
        lambda m, start, stop: m(vectors(start, stop), KEYS[:, :, :stop], VECTORS[:, 0, :stop]),
        path,
        "PaTH(3, 8, 8, rank=5)",
    ),
    "DAPE": Scheme(lambda: loud(DAPEBias(HEADS, hidden=5)), by_dape, dape, "DAPEBias(3, hidden=5)"),
    "Transformer-XL": Scheme(
        lambda: loud(TransformerXLBias(HEADS, D, 16)),
        lambda m, start, stop: m(vectors(start, stop), VECTORS[:, :, :stop], query_offset=start),
        transformer_xl,
        "TransformerXLBias(3, 8, 16)",
    ),
    "TUPE": Scheme(
        lambda: loud(TUPEBias(HEADS, HEADS * D, 300)),
        by_fire,
        tupe,
        "TUPEBias(3, 24, max_len=300)",
    ),
    "Graphormer, distances": Scheme(
        lambda: GraphormerBias(HEADS, 8),
        lambda m, start, stop: m(apart(start, stop)),
        lambda m, start, stop: posenc.graphormer_bias(array(m.table), apart(start, stop).numpy()),
        "GraphormerBias(3, max_distance=8)",
    ),
    "Graphormer, degrees": Scheme(
        lambda: CentralityEmbedding(D, 6),
        lambda m, start, stop: m(torch.arange(start, stop)),
        lambda m, start, stop: posenc.centrality_rows(array(m.table), np.arange(start, stop)),
        "CentralityEmbedding(8, max_degree=6)",
    ),
    "tree": Scheme(
        lambda: TreeEncoding(3, 4, 2), by_choices, tree, "TreeEncoding(3, depth=4, features=2)"
    ),
    "Swin V2": Scheme(
        lambda: loud(SwinContinuousBias(HEADS, 6, trained_window=4, hidden=16)),
        lambda m, start, stop: m()[:, start:stop, :stop],
        swin_v2,
        "SwinContinuousBias(3, window=6, trained_window=4, hidden=16)",
    ),
    "xPos, queries": xpos("query", "interleaved"),
    "xPos, keys": xpos("key", "half"),
}

# Modules whose own test files ask the same of them.
ELSEWHERE = {
    "GPTModel",
    "LearnedGridEmbedding",
    "LearnedPositionalEmbedding",
    "PositionalEmbedding",
    "RelativePositionEmbedding",
    "RotaryEmbedding",
    "RotaryEmbeddingND",
    "SinusoidalPositionalEncoding",
}
LEARNED = [name for name, scheme in SCHEMES.items() if list(scheme.make().parameters())]

# How the parameters of wide modules begin: all at one number, evenly between two, or NORMAL.
Begun = float | str | tuple[float, float]
NORMAL = "normal, of standard deviation 0.02"
EVEN = (-1 / 300**0.5, 1 / 300**0.5)
INITIAL: dict[str, tuple[nn.Module, dict[str, Begun]]] = {
    "KERPLE, log": (KerpleBias(9000), {"scale": (0.01, 2.0), "shape": (0.01, 1.0)}),
    "KERPLE, power": (
        KerpleBias(9000, kernel="power"),
        {"scale": (0.01, 2.0), "shape": (0.01, 2.0)},
    ),
    "FIRE": (
        FIREBias(9000, hidden=300),
        {"rate": 0.1, "factor": 1.0, "second_weight": EVEN, "second_bias": EVEN},
    ),
    "FIRE, hidden": (
        FIREBias(1, hidden=9000),
        {"first_weight": (-1.0, 1.0), "first_bias": (-1.0, 1.0)},
    ),
    "DeBERTa": (DisentangledBias(90, 50, 9), {"position_q": NORMAL, "position_k": NORMAL}),
    "CoPE": (CoPE(90, 100), {"table": 0.0}),
    "forgetting gate": (ForgettingBias(300, 9000), {"weight": EVEN, "shift": EVEN}),
    "Transformer-XL": (
        TransformerXLBias(90, 100, 8),
        {"content_bias": NORMAL, "position_bias": NORMAL, "weight": NORMAL},
    ),
    "TUPE": (
        TUPEBias(9, 90, 100),
        {
            **dict.fromkeys(("table", "query_weight", "key_weight"), NORMAL),
            **dict.fromkeys(("from_first", "to_first"), 0.0),
        },
    ),
    "Graphormer, distances": (GraphormerBias(90, 98), {"table": NORMAL}),
    "Graphormer, degrees": (CentralityEmbedding(90, 99), {"table": NORMAL}),
    "tree": (TreeEncoding(1, 1, 9000), {"rate": (0.5, 2.0)}),
    "T5": (T5RelativeBias(90, buckets=100), {"table": NORMAL}),
    "Swin": (SwinRelativeBias(90, 6), {"table": NORMAL}),
    "Swin V2": (
        SwinContinuousBias(9, 2, hidden=4500),
        {"first_weight": NORMAL, "first_bias": 0.0, "second_weight": NORMAL},
    ),
}
BEGUN = [(name, parameter) for name, (_, begun) in INITIAL.items() for parameter in begun]

# Schemes whose call takes queries, keys, scores or tokens.
READERS = ["CoPE", "DAPE", "DeBERTa, buckets", "DeBERTa, each distance", "PaTH", "Transformer-XL"]
READERS += ["forgetting gate", "xPos, keys", "xPos, queries"]


@pytest.fixture(autouse=True)
def seeded() -> Iterator[None]:
    with torch.random.fork_rng():
        torch.manual_seed(0)
        yield


def test_no_module_is_forgotten() -> None:
    public = {name: getattr(modules, name) for name in modules.__all__}
    found = {n for n, thing in public.items() if nn.Module in getattr(thing, "__mro__", ())}
    assert {type(scheme.make()).__name__ for scheme in SCHEMES.values()} == found - ELSEWHERE


@pytest.mark.parametrize("name", SCHEMES)
@pytest.mark.parametrize(("start", "stop"), [(0, LENGTH), (0, 1), (11, 12), (4, 9), (6, 33)])
def test_a_module_equals_its_definition(name: str, start: int, stop: int) -> None:
    scheme = SCHEMES[name]
    module = scheme.make().double()
    found = scheme.call(module, start, stop)
    assert found.dtype is torch.float64
    expected = scheme.definition(module, start, stop)
    np.testing.assert_allclose(found.detach(), expected, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("name", SCHEMES)
def test_decoding_with_a_cache_equals_all_at_once(name: str) -> None:
    scheme = SCHEMES[name]
    module = scheme.make().double()
    whole = scheme.call(module, 0, LENGTH)
    for step in range(LENGTH):
        found = scheme.call(module, step, step + 1)
        expected = whole.narrow(scheme.axis, step, 1)[..., : found.shape[-1]]
        torch.testing.assert_close(found, expected, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("name", LEARNED)
@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16, torch.float16])
def test_a_narrow_module_is_near_the_definition_of_its_parameters(
    name: str, dtype: torch.dtype
) -> None:
    scheme = SCHEMES[name]
    module = scheme.make().to(dtype)
    found = scheme.call(module, 0, 300)
    expected = scheme.definition(module, 0, 300)
    largest = np.abs(expected[np.isfinite(expected)]).max()
    bound = 8 * torch.finfo(dtype).eps * (1 + largest)
    np.testing.assert_allclose(array(found), expected, rtol=0, atol=bound)


@pytest.mark.parametrize("name", READERS)
@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16])
def test_narrow_vectors_give_a_result_of_their_dtype_near_the_exact_one(
    name: str, dtype: torch.dtype, monkeypatch: pytest.MonkeyPatch
) -> None:
    scheme = SCHEMES[name]
    module = scheme.make()
    narrow = {key: (globals()[key] / 4).to(dtype) for key in ("VECTORS", "KEYS")}
    for key, given in narrow.items():
        monkeypatch.setitem(globals(), key, given)
    found = scheme.call(module, 4, 40)
    assert found.dtype is dtype
    for key, given in narrow.items():
        monkeypatch.setitem(globals(), key, given.double())
    exact = scheme.call(copy.deepcopy(module).double(), 4, 40)
    largest = exact[exact.isfinite()].abs().max().item()
    bound = 8 * torch.finfo(dtype).eps * (1 + largest)
    torch.testing.assert_close(found.double(), exact, rtol=0, atol=bound)


def test_every_scheme_that_reads_vectors_is_given_narrow_ones(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    before = {name: scheme.call(scheme.make().double(), 3, 9) for name, scheme in SCHEMES.items()}
    for key in ("VECTORS", "KEYS"):
        monkeypatch.setitem(globals(), key, globals()[key].float())
    changed = []
    for name, scheme in SCHEMES.items():
        if scheme.call(scheme.make().double(), 3, 9).dtype != before[name].dtype:
            changed.append(name)
    assert sorted(changed) == READERS


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16])
def test_cope_counts_far_in_scores_of_any_dtype(dtype: torch.dtype) -> None:
    """The gates of 301 keys are counted one by one, where bfloat16 knows no 257."""
    cope = CoPE(1, 302)
    with torch.no_grad():
        cope.table.copy_(torch.arange(302)[:, None] % 2)  # whether a position is odd
    found = cope(torch.ones(1, 1, 1, 1, dtype=dtype), torch.full((1, 1, 1, 301), 60, dtype=dtype))
    assert torch.equal(found[0, 0, 0], (torch.arange(301, 0, -1) % 2).to(dtype))


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16, torch.float32])
def test_gates_close_to_a_query_lose_no_digits_far_into_a_text(dtype: torch.dtype) -> None:
    gate = ForgettingBias(1, 1)
    with torch.no_grad():
        gate.weight.fill_(1)
        gate.shift.zero_()
    found = gate(torch.zeros(1, 10_000, 1, dtype=dtype), query_length=1)[0, 0, 0, -9:]
    expected = torch.arange(-8, 1).double() * np.log(2)
    torch.testing.assert_close(found.double(), expected, rtol=torch.finfo(dtype).eps, atol=0)


@pytest.mark.parametrize("layout", ["interleaved", "half"])
@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16])
def test_xpos_computes_narrow_vectors_in_float32(dtype: torch.dtype, layout: str) -> None:
    xpos, narrow = XPos(D, layout=layout), vectors(0, 300).to(dtype)
    for role in ("query", "key"):
        found, exact = (xpos(x, role=role, offset=200) for x in (narrow, narrow.float()))
        assert torch.equal(found, exact.to(dtype))


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16, torch.float32])
def test_sandwich_is_rounded_once(dtype: torch.dtype) -> None:
    module, apart = SandwichBias(HEADS, width=16), relative(9000, 9001)
    exact = module(apart, dtype=torch.float64)
    assert torch.equal(module(apart, dtype=dtype), exact.to(dtype))


@pytest.mark.parametrize(("kernel", "most"), [("log", 7.0), ("power", 2.0)])
def test_kerple_is_used_within_the_limits_of_its_authors(kernel: str, most: float) -> None:
    module = KerpleBias(3, kernel=kernel)
    with torch.no_grad():
        module.scale.copy_(torch.tensor([-5.0, 0.0, 7.0]))
        module.shape.copy_(torch.tensor([7.0, -5.0, 0.0]))
    definition = {"log": posenc.kerple_log_bias, "power": posenc.kerple_power_bias}[kernel]
    expected = definition([0.01, 0.01, 7.0], [most, 0.01, 0.01], relative(5, 9).numpy())
    np.testing.assert_allclose(module(relative(5, 9)).detach(), expected, rtol=1e-6)
    assert module.scale.tolist() == [-5, 0, 7]  # clipped where they are used, and left alone


@pytest.mark.parametrize("sign", [1, -1])
def test_fire_reads_both_of_its_numbers_without_their_sign(sign: int) -> None:
    module = FIREBias(HEADS, threshold=6.0).double()
    expected = by_fire(module, 4, 12)
    with torch.no_grad():
        module.rate.mul_(sign)
        module.factor.mul_(-sign)
    assert torch.equal(by_fire(module, 4, 12), expected)


def test_fire_stays_finite_where_both_of_its_numbers_are_zero() -> None:
    module = FIREBias(HEADS, threshold=6.0).double()
    with torch.no_grad():
        module.rate.zero_()
        module.factor.zero_()
    shares = posenc.fire_shares(8, rate=1e-6, threshold=1e-6, query_offset=4)
    names = ("first_weight", "first_bias", "second_weight", "second_bias")
    expected = posenc.fire_bias(shares, **{name: array(getattr(module, name)) for name in names})
    np.testing.assert_allclose(by_fire(module, 4, 12).detach(), expected, rtol=1e-12)


@pytest.mark.parametrize(("name", "parameter"), BEGUN)
def test_parameters_begin_as_documented(name: str, parameter: str) -> None:
    module, begun = INITIAL[name]
    module.reset_parameters()  # type: ignore[operator]
    drawn, expected = module.get_parameter(parameter).detach(), begun[parameter]
    if isinstance(expected, float):
        assert (drawn == expected).all()
    elif isinstance(expected, str):
        assert drawn.std().item() == pytest.approx(0.02, rel=0.1)
        assert drawn.abs().max() > 0.04  # a number evenly between two bounds is below 0.035
        assert drawn.mean().abs() < 0.002
    else:
        low, high = expected
        margin = 0.01 * (high - low)
        assert low <= drawn.min() < low + margin
        assert high - margin < drawn.max() <= high
        assert drawn.mean().item() == pytest.approx((low + high) / 2, abs=5 * margin)


def test_the_beginning_of_every_parameter_is_tested() -> None:
    found = {(type(INITIAL[name][0]).__name__, parameter) for name, parameter in BEGUN}
    learned = [SCHEMES[name].make() for name in LEARNED]
    every = {(type(module).__name__, key) for module in learned for key in module.state_dict()}
    elsewhere = {"PaTH", "DAPEBias"}  # test_by_content.py compares these with torch's layers
    assert found == {(module, key) for module, key in every if module not in elsewhere}


@pytest.mark.parametrize("name", SCHEMES)
def test_state_holds_what_is_learned_and_restores_it(name: str) -> None:
    scheme = SCHEMES[name]
    module, other = scheme.make().double(), scheme.make().double()
    assert set(module.state_dict()) == {key for key, _ in module.named_parameters()}
    for parameter in other.parameters():
        nn.init.constant_(parameter, 0.5)
    other.load_state_dict(module.state_dict())
    for same in (other, copy.deepcopy(module)):
        assert torch.equal(scheme.call(same, 0, 7), scheme.call(module, 0, 7))


@pytest.mark.parametrize("name", SCHEMES)
def test_a_module_made_on_meta_works_after_a_reset(name: str) -> None:
    scheme = SCHEMES[name]
    with torch.device("meta"):
        module = scheme.make()
    module = module.to_empty(device="cpu")
    if name in LEARNED:
        torch.manual_seed(3)
        module.reset_parameters()  # type: ignore[operator]
    found = scheme.call(module.double(), 0, 7)
    np.testing.assert_allclose(
        found.detach(), scheme.definition(module, 0, 7), rtol=1e-12, atol=1e-12
    )


@pytest.mark.parametrize("name", SCHEMES)
def test_on_meta_it_computes_shapes_without_reading_values(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    scheme = SCHEMES[name]
    expected = scheme.call(scheme.make().double(), 3, 9)
    monkeypatch.setitem(globals(), "VECTORS", VECTORS.to("meta"))
    monkeypatch.setitem(globals(), "KEYS", KEYS.to("meta"))
    with torch.device("meta"):
        found = scheme.call(scheme.make().double(), 3, 9)
    assert found.is_meta
    assert (found.shape, found.dtype) == (expected.shape, expected.dtype)


@pytest.mark.parametrize("name", LEARNED)
def test_gradients_reach_every_parameter_and_are_finite(name: str) -> None:
    scheme = SCHEMES[name]
    module = scheme.make().double()
    found = scheme.call(module, 0, LENGTH)
    (found.masked_fill(found.isneginf(), 0) * torch.randn_like(found)).sum().backward()  # type: ignore[no-untyped-call]
    for key, parameter in module.named_parameters():
        assert parameter.grad is not None, key
        assert parameter.grad.isfinite().all(), key
        assert parameter.grad.abs().max() > 0, key


@pytest.mark.slow
@pytest.mark.no_cover  # coverage would trace the compiler too
@pytest.mark.parametrize("name", SCHEMES)
def test_it_compiles_to_one_graph_with_equal_results(name: str) -> None:
    torch._dynamo.reset()
    scheme = SCHEMES[name]
    module = scheme.make()
    compiled = torch.compile(scheme.call, fullgraph=True, backend="eager", dynamic=True)
    for start, stop in ((0, 5), (6, 8), (3, 20)):
        assert torch.equal(compiled(module, start, stop), scheme.call(module, start, stop))


@pytest.mark.slow
@pytest.mark.no_cover  # coverage would trace the compiler too
@pytest.mark.parametrize("name", SCHEMES)
def test_it_exports_for_any_length_with_equal_results(name: str) -> None:
    module, dynamic = SCHEMES[name].make(), torch.export.Dim.DYNAMIC
    first, second, third = (inputs(name, module, *span) for span in ((3, 9), (6, 11), (4, 20)))
    open_sizes: dict[str, object] = {}
    for key, x in first.items():
        if isinstance(x, Tensor):
            sizes = enumerate(zip(x.shape, second[key].shape, strict=True))
            open_sizes[key] = {axis: dynamic for axis, (here, there) in sizes if here != there}
            assert open_sizes[key]
        else:
            open_sizes[key] = None if x == second[key] else dynamic
    program = torch.export.export(module, (), first, dynamic_shapes=open_sizes).module()
    for given in (first, second, third):
        assert torch.equal(program(**given), module(**given))


@pytest.mark.parametrize("name", SCHEMES)
def test_repr_shows_the_arguments(name: str) -> None:
    assert repr(SCHEMES[name].make()) == SCHEMES[name].shown


@pytest.mark.parametrize("name", SCHEMES)
@pytest.mark.parametrize(("start", "stop"), [(0, 0), (5, 5)])
def test_no_queries_and_no_keys_are_accepted(name: str, start: int, stop: int) -> None:
    scheme = SCHEMES[name]
    assert scheme.call(scheme.make().double(), start, stop).numel() == 0
