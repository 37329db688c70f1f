"""What every scheme of `posenc.nn` promises: its definition, in any dtype, at any place.

The tests run on the variants of the entries in tests/schemes/.
"""

from __future__ import annotations

import copy
from collections.abc import Iterator

import numpy as np
import pytest
import torch
from torch import Tensor, nn

import posenc
from posenc import nn as modules
from posenc.nn import CoPE, FIREBias, ForgettingBias, KerpleBias, SandwichBias, XPos
from tests.schemes import table
from tests.schemes.inputs import D, array, arrays, by_positions, inputs_as, relative, vectors
from tests.schemes.scores import NETWORK

pytestmark = pytest.mark.filterwarnings("error")

HEADS, LENGTH = 3, 12
NARROW = [torch.bfloat16, torch.float16]
SCHEMES = table.variants()
LEARNED = [name for name, scheme in SCHEMES.items() if list(scheme.make().parameters())]
INITIAL = [
    (f"{name} {number}, {parameter}", initial, parameter)
    for name, entry in table.entries().items()
    for number, initial in enumerate(entry.initial)
    for parameter in initial.parameters
]
# test_by_content.py compares PaTH's and DAPE's with torch's layers; the test files of the others
# test how they begin.
BEGINNING_TESTED_ELSEWHERE = {
    "DAPEBias",
    "LearnedGridEmbedding",
    "LearnedPositionalEmbedding",
    "PaTH",
    "PositionalEmbedding",
    "RelativePositionEmbedding",
    "RotaryEmbeddingND",
}


@pytest.fixture(autouse=True)
def seeded() -> Iterator[None]:
    with torch.random.fork_rng():
        torch.manual_seed(0)
        yield


def test_no_module_is_forgotten() -> None:
    public = {name: getattr(modules, name) for name in modules.__all__}
    found = {name for name, one in public.items() if nn.Module in getattr(one, "__mro__", ())}
    tested = {type(scheme.make()).__name__ for scheme in SCHEMES.values()}
    missing = found - tested - {"GPTModel"}
    assert not missing, f"add variants of {missing} to the entry of their scheme in tests/schemes/"


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


@pytest.mark.parametrize("name", SCHEMES)
@pytest.mark.parametrize("dtype", [torch.float32, *NARROW])
@pytest.mark.parametrize("changed", ["module", "inputs", "both"])
def test_a_narrow_dtype_gives_nearly_what_its_exact_values_give(
    name: str, dtype: torch.dtype, changed: str
) -> None:
    scheme = SCHEMES[name]
    of_module = dtype if changed != "inputs" else torch.float32
    of_inputs = dtype if changed != "module" else torch.float64
    module = scheme.make().to(of_module)
    with inputs_as(of_inputs, scale=0.25):
        found = scheme.call(module, 4, 300)
        given = table.arguments(scheme, module, 4, 300).values()
        exact = scheme.definition(module, 4, 300)
    floating = [x for x in given if isinstance(x, Tensor) and x.is_floating_point()]
    assert found.dtype is (of_inputs if floating or torch.dtype in map(type, given) else of_module)
    eps = torch.finfo(found.dtype).eps
    if scheme.narrow is None:
        # Half a unit in the last place, for a value and for its sum with a token.
        np.testing.assert_allclose(array(found), exact, rtol=eps, atol=1e-7)
    else:
        bound = scheme.narrow * max(eps, torch.finfo(of_module).eps)
        largest = np.abs(exact[np.isfinite(exact)]).max()
        np.testing.assert_allclose(array(found), exact, rtol=0, atol=bound * (1 + largest))


@pytest.mark.parametrize("dtype", NARROW)
@pytest.mark.parametrize("name", SCHEMES)
def test_casting_to_a_narrow_dtype_and_back_rounds_parameters_only(
    name: str, dtype: torch.dtype
) -> None:
    scheme = SCHEMES[name]
    module = scheme.make()
    rounded = copy.deepcopy(module).double()
    with torch.no_grad():
        for parameter in rounded.parameters():
            parameter.copy_(parameter.to(dtype))
    found = scheme.call(copy.deepcopy(module).to(dtype).double(), 4, 300)
    assert torch.equal(found, scheme.call(rounded, 4, 300))


@pytest.mark.parametrize("dtype", NARROW)
def test_cope_counts_far_in_scores_of_any_dtype(dtype: torch.dtype) -> None:
    """The gates of 301 keys are counted one by one, where bfloat16 cannot represent 257."""
    cope = CoPE(1, 302)
    with torch.no_grad():
        cope.table.copy_(torch.arange(302)[:, None] % 2)  # whether a position is odd
    found = cope(torch.ones(1, 1, 1, 1, dtype=dtype), torch.full((1, 1, 1, 301), 60, dtype=dtype))
    assert torch.equal(found[0, 0, 0], (torch.arange(301, 0, -1) % 2).to(dtype))


@pytest.mark.parametrize("dtype", [*NARROW, torch.float32])
def test_gates_close_to_a_query_lose_no_digits_far_into_a_text(dtype: torch.dtype) -> None:
    gate = ForgettingBias(1, 1)
    with torch.no_grad():
        gate.weight.fill_(1)
        gate.shift.zero_()
    found = gate(torch.zeros(1, 10_000, 1, dtype=dtype), query_length=1)[0, 0, 0, -9:]
    expected = torch.arange(-8, 1).double() * np.log(2)
    torch.testing.assert_close(found.double(), expected, rtol=torch.finfo(dtype).eps, atol=0)


@pytest.mark.parametrize("layout", ["interleaved", "half"])
@pytest.mark.parametrize("dtype", NARROW)
def test_xpos_computes_narrow_vectors_in_float32(dtype: torch.dtype, layout: str) -> None:
    xpos, narrow = XPos(D, layout=layout), vectors(0, 300).to(dtype)
    for role in ("query", "key"):
        found, exact = (xpos(x, role=role, offset=200) for x in (narrow, narrow.float()))
        assert torch.equal(found, exact.to(dtype))


@pytest.mark.parametrize("dtype", [*NARROW, torch.float32])
def test_sandwich_is_rounded_once(dtype: torch.dtype) -> None:
    module, far = SandwichBias(HEADS, width=16), relative(9000, 9001)
    assert torch.equal(module(far, dtype=dtype), module(far, dtype=torch.float64).to(dtype))


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
def test_fire_ignores_the_sign_of_its_rate_and_factor(sign: int) -> None:
    module = FIREBias(HEADS, threshold=6.0).double()
    expected = by_positions(module, 4, 12)
    with torch.no_grad():
        module.rate.mul_(sign)
        module.factor.mul_(-sign)
    assert torch.equal(by_positions(module, 4, 12), expected)


def test_fire_stays_finite_where_its_rate_and_factor_are_zero() -> None:
    module = FIREBias(HEADS, threshold=6.0).double()
    with torch.no_grad():
        module.rate.zero_()
        module.factor.zero_()
    shares = posenc.fire_shares(8, rate=1e-6, threshold=1e-6, query_offset=4)
    expected = posenc.fire_bias(shares, **arrays(module, *NETWORK))
    np.testing.assert_allclose(by_positions(module, 4, 12).detach(), expected, rtol=1e-12)


@pytest.mark.parametrize(
    ("initial", "parameter"), [one[1:] for one in INITIAL], ids=[one[0] for one in INITIAL]
)
def test_parameters_begin_as_documented(initial: table.Initial, parameter: str) -> None:
    module = initial.make()
    module.reset_parameters()
    drawn, expected = module.get_parameter(parameter).detach(), initial.parameters[parameter]
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
    tested = {(type(one.make()).__name__, parameter) for _, one, parameter in INITIAL}
    learned = [SCHEMES[name].make() for name in LEARNED]
    every = {(type(module).__name__, key) for module in learned for key in module.state_dict()}
    missing = {pair for pair in every if pair[0] not in BEGINNING_TESTED_ELSEWHERE} - tested
    assert not missing, f"add an Initial for {missing} to the entry of the scheme"


@pytest.mark.parametrize("name", SCHEMES)
def test_the_state_dict_holds_all_parameters_and_restores_them(name: str) -> None:
    scheme = SCHEMES[name]
    module, other = scheme.make().double(), scheme.make().double()
    assert set(module.state_dict()) == {key for key, _ in module.named_parameters()}
    assert list(module.buffers()) == []
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
    for parameter in module.parameters():
        nn.init.constant_(parameter, torch.nan)
    if name in LEARNED:
        module.reset_parameters()
    assert all(parameter.isfinite().all() for parameter in module.parameters())
    found = scheme.call(module.double(), 0, 7)
    np.testing.assert_allclose(
        found.detach(), scheme.definition(module, 0, 7), rtol=1e-12, atol=1e-12
    )


@pytest.mark.parametrize("name", SCHEMES)
def test_on_meta_it_computes_shapes_without_reading_values(name: str) -> None:
    scheme = SCHEMES[name]
    expected = scheme.call(scheme.make().double(), 3, 9)
    with inputs_as(torch.float64, "meta"), torch.device("meta"):
        found = scheme.call(scheme.make().double(), 3, 9)
    assert found.is_meta
    assert (found.shape, found.dtype) == (expected.shape, expected.dtype)


@pytest.mark.parametrize("name", LEARNED)
def test_gradients_reach_every_parameter_and_are_finite(name: str) -> None:
    scheme = SCHEMES[name]
    module = scheme.make().double()
    found = scheme.call(module, 0, LENGTH)
    (found.masked_fill(found.isneginf(), 0) * torch.randn_like(found)).sum().backward()
    for key, parameter in module.named_parameters():
        assert parameter.grad is not None, key
        assert parameter.grad.isfinite().all(), key
        assert parameter.grad.abs().max() > 0, key


@pytest.mark.parametrize("name", [name for name in SCHEMES if name != "resize"])  # the table itself
@torch.no_grad()
def test_writing_into_a_result_changes_no_later_result(name: str) -> None:
    scheme = SCHEMES[name]
    module = scheme.make()
    first = scheme.call(module, 0, LENGTH)
    kept = first.clone()
    first.fill_(7.0)
    assert torch.equal(scheme.call(module, 0, LENGTH), kept)


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
    scheme = SCHEMES[name]
    module, dynamic = scheme.make(), torch.export.Dim.DYNAMIC
    spans = ((3, 9), (6, 11), (4, 20))
    # A dtype cannot be exported.
    first, second, third = (
        {key: x for key, x in table.arguments(scheme, module, *span).items() if key != "dtype"}
        for span in spans
    )
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
