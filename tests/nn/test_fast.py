"""The fast paths of the modules equal the definitions, for any strides."""

from __future__ import annotations

import pickle
import sys
import warnings
from collections.abc import Callable
from functools import partial
from itertools import product
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor, nn
from torch.autograd import forward_ad
from torch.profiler import ProfilerActivity, profile
from torch.utils._python_dispatch import TorchDispatchMode

from posenc import convert_layout, convert_projection, relative_view
from posenc.nn import (
    ALiBi,
    RotaryEmbedding,
    T5RelativeBias,
    attention,
    relative_attention,
    relative_positions,
    relative_row,
    relative_score_mod,
    reversed_view,
)
from posenc.nn import rotary as rotary_file
from tests.nn.rotations import (
    ROUNDING,
    both_layouts,
    close,
    every_dtype,
    random,
    rotated_in_numpy,
)

# Rotary: the definition


@both_layouts
@every_dtype
@pytest.mark.parametrize("rotary_d", [None, 2, 6])
@pytest.mark.parametrize("shape", [(2, 3, 5, 8), (1, 1, 1, 8), (3, 2, 1, 8), (1, 2, 33, 8)])
def test_fast_rotation_equals_the_definition(
    shape: tuple[int, ...], rotary_d: int | None, dtype: torch.dtype, layout: str
) -> None:
    x = random(*shape, dtype=dtype)
    module = RotaryEmbedding(8, base=500.0, layout=layout, rotary_d=rotary_d)
    positions = range(4090, 4090 + shape[2])
    exact = rotated_in_numpy(x, positions, base=500.0, layout=layout, rotary_d=rotary_d)
    for rotated in (module.turn(x, module.factors(x, offset=4090)), module(x, offset=4090)):
        assert (rotated.dtype, rotated.shape) == (x.dtype, x.shape)
        assert close(rotated, exact)


@both_layouts
@every_dtype
def test_fast_rotation_at_position_a_million_is_as_exact_as_at_zero(
    dtype: torch.dtype, layout: str
) -> None:
    x = random(1, 2, 9, 128, dtype=dtype)
    module = RotaryEmbedding(128, layout=layout)
    exact = rotated_in_numpy(x, range(1_000_000, 1_000_009), layout=layout)
    assert close(module.turn(x, module.factors(x, offset=1_000_000)), exact)
    assert close(module.to(dtype)(x, offset=1_000_000), exact)


@both_layouts
@pytest.mark.parametrize("kind", [torch.int64, torch.float32, torch.float64])
def test_factors_accept_the_positions_that_the_module_accepts(
    kind: torch.dtype, layout: str
) -> None:
    module, x = RotaryEmbedding(8, layout=layout), random(2, 3, 4, 8)
    for positions in (torch.tensor([5, 0, 9, 2]), torch.tensor([[5, 0, 9, 2], [-1, 3, 3, 70]])):
        found = module.turn(x, module.factors(x, positions=positions.to(kind)))
        expected = module(x, positions=positions)
        torch.testing.assert_close(found, expected, rtol=0, atol=1e-14)


def test_factors_of_one_layer_serve_all_layers() -> None:
    module, queries, keys = RotaryEmbedding(8), random(2, 4, 5, 8), random(2, 1, 5, 8, seed=1)
    factors = module.factors(queries, offset=3)
    torch.testing.assert_close(module.turn(keys, factors), module(keys, offset=3))


# Rotary: memory


def with_strides(x: Tensor) -> dict[str, Tensor]:
    """Return tensors of these numbers with different strides."""
    wide = torch.zeros(*x.shape[:-1], x.shape[-1] + 3, dtype=x.dtype)
    apart = torch.zeros(*x.shape[:-1], 2 * x.shape[-1], dtype=x.dtype)
    views = {
        "in one piece": x.clone(),
        "heads inside": x.transpose(1, 2).contiguous().transpose(1, 2),
        "batch last": x.permute(1, 2, 3, 0).contiguous().permute(3, 0, 1, 2),
        "width first": x.mT.contiguous().mT,
        "odd rows": wide[..., : x.shape[-1]],
        "odd start": wide.clone()[..., 1 : x.shape[-1] + 1],
        "gaps": apart[..., ::2],
    }
    return {name: view.copy_(x) for name, view in views.items()}


@both_layouts
@every_dtype
def test_rotation_accepts_any_strides(dtype: torch.dtype, layout: str) -> None:
    x = random(2, 3, 5, 8, dtype=dtype)
    module = RotaryEmbedding(8, layout=layout, rotary_d=6)
    factors, exact = module.factors(x), rotated_in_numpy(x, range(5), layout=layout, rotary_d=6)
    for name, view in with_strides(x).items():
        assert close(module.turn(view, factors), exact), name
        assert close(module(view), exact), name
        assert torch.equal(view, x), name
        for other, out in with_strides(torch.zeros_like(x)).items():
            assert module.turn(view, factors, out=out) is out
            assert close(out, exact), (name, other)
        assert module.turn(view, factors, out=view) is view
        assert close(view, exact), name


@both_layouts
def test_a_vector_expanded_over_heads_is_rotated_and_not_modified(layout: str) -> None:
    one = random(2, 1, 5, 8, dtype=torch.float32)
    x, module = one.expand(2, 3, 5, 8), RotaryEmbedding(8, layout=layout)
    rotated = module.turn(x, module.factors(x))
    torch.testing.assert_close(rotated, module(x.contiguous()))
    rotated[0, 0] += 1  # each head has its own
    torch.testing.assert_close(rotated[0, 1], module(x)[0, 1])
    with pytest.raises(ValueError, match=r"^out must not have entries that share memory"):
        module.turn(x, module.factors(x), out=x)


@both_layouts
@every_dtype
@pytest.mark.parametrize("rotary_d", [None, 6])
def test_rotation_by_tiles_equals_rotation_at_once(
    monkeypatch: pytest.MonkeyPatch, rotary_d: int | None, dtype: torch.dtype, layout: str
) -> None:
    x = random(3, 5, 7, 8, dtype=dtype)
    module = RotaryEmbedding(8, layout=layout, rotary_d=rotary_d)
    positions = torch.arange(21).reshape(3, 7)
    factors, exact = module.factors(x, positions=positions), module(x.double(), positions=positions)
    assert close(module.turn(x, factors), exact)
    monkeypatch.setattr(rotary_file, "STEP", 0)
    for size in (1, 8, 9, 24, 56, 57, 120, 280, 281, 600, 10_000):
        monkeypatch.setattr(rotary_file, "TILE", size)
        rotated = module.turn(x, factors)
        assert close(rotated, exact), size
        assert torch.equal(rotated[..., rotary_d or 8 :], x[..., rotary_d or 8 :])
        assert close(module.turn(x.mT.contiguous().mT, factors), exact), size


@both_layouts
@pytest.mark.parametrize("rotary_d", [None, 6])
@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
def test_a_decoding_step_takes_few_operations(
    dtype: torch.dtype, rotary_d: int | None, layout: str
) -> None:
    """Launching one takes longer than running it, so views and repeated operations count too."""
    x = random(2, 3, 1, 8, dtype=dtype)
    module = RotaryEmbedding(8, layout=layout, rotary_d=rotary_d)
    factors = module.factors(x, offset=7)
    with torch.no_grad(), Operations() as counted:
        rotated = module.turn(x, factors)
    assert close(rotated, rotated_in_numpy(x, [7], layout=layout, rotary_d=rotary_d))
    if layout == "half":
        more = 2 * (dtype is torch.bfloat16) + 2 * (rotary_d is not None)
        assert len(counted.names) <= 8 + more, counted.names


class Operations(TorchDispatchMode):  # type: ignore[no-untyped-call]
    """Record the name of every operation that runs."""

    def __init__(self) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self.names: list[str] = []

    def __torch_dispatch__(
        self, func: Any, types: Any, args: Any = (), kwargs: dict[str, Any] | None = None
    ) -> Any:
        self.names.append(str(func))
        return func(*args, **(kwargs or {}))


def test_tiles_cover_every_number_once_and_stay_below_the_limit(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for shape, size in product([(3, 5, 7, 8), (1, 1, 1, 2), (2, 3, 0, 8)], [8, 20, 56, 100, 9999]):
        monkeypatch.setattr(rotary_file, "TILE", size)
        x = torch.zeros(shape)
        for tile in rotary_file._tiles(x):
            assert 0 < x[tile].numel() <= max(size, shape[-1])
            x[tile] += 1
        assert (x == 1).all()


@both_layouts
def test_no_vectors_give_no_vectors(layout: str) -> None:
    module = RotaryEmbedding(8, layout=layout)
    for shape in ((2, 3, 0, 8), (0, 3, 5, 8), (2, 0, 5, 8)):
        for dtype in (torch.float32, torch.bfloat16):
            x = torch.zeros(shape, dtype=dtype)
            assert module(x).shape == shape
            assert module.turn(x, module.factors(x)).shape == shape
            assert module.turn(x, module.factors(x), out=x).shape == shape


@pytest.mark.slow
@both_layouts
@every_dtype
def test_large_results_have_the_strides_of_the_input(dtype: torch.dtype, layout: str) -> None:
    """Above and below the size from which huge pages are used, in any order of axes."""
    module = RotaryEmbedding(64, layout=layout, rotary_d=48)
    for length in (100, 1100):
        heads = random(2, length, 16, 64, dtype=dtype).transpose(1, 2)
        exact = module(heads.double(), offset=3)
        assert (heads.nbytes >= rotary_file.LARGE) is (length == 1100)
        for x in (heads, heads.contiguous()):
            rotated = module.turn(x, module.factors(x, offset=3))
            assert rotated.stride() == torch.empty_like(x).stride()
            assert close(rotated, exact)
            assert torch.equal(pickle.loads(pickle.dumps(rotated)), rotated)


@pytest.mark.skipif(sys.platform != "linux", reason="counts pages as Linux hands them out")
@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
def test_rotation_into_out_maps_no_new_pages(dtype: torch.dtype) -> None:
    """A new tensor of this size maps new pages; huge pages make them few, but never zero."""
    import resource

    x = torch.ones(1, 32, 4096, 128, dtype=dtype)
    module, out = RotaryEmbedding(128), torch.ones_like(x)
    factors = module.factors(x)
    results: list[Tensor] = []  # kept, or the next one may get the memory of the last

    def pages(work: Callable[[], Tensor]) -> int:
        before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
        results.append(work())
        return resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before

    into = [pages(lambda: module.turn(x, factors, out=out)) for _ in range(3)]
    new = [pages(lambda: module.turn(x, factors)) for _ in range(3)]
    assert min(into) < max(new)
    assert min(into) * resource.getpagesize() < x.nbytes / 64


@pytest.mark.parametrize("rotary_d", [None, 6])
def test_scores_do_not_change_when_a_norm_on_heads_is_converted_too(rotary_d: int | None) -> None:
    """Query and key projections with biases, and a norm with weights before the rotation."""
    x, generator = random(2, 5, 24), torch.Generator().manual_seed(1)
    linears = [nn.Linear(24, 3 * 8).double() for _ in range(2)]
    norms = [nn.RMSNorm(8).double() for _ in range(2)]
    for parameter in nn.ModuleList([*linears, *norms]).parameters():
        nn.init.normal_(parameter, generator=generator)

    def scores(layout: str) -> Tensor:
        rotary = RotaryEmbedding(8, layout=layout, rotary_d=rotary_d)
        heads = [
            norm(linear(x).unflatten(-1, (3, 8))).transpose(1, 2)
            for linear, norm in zip(linears, norms, strict=True)
        ]
        q, k = (rotary.turn(each, rotary.factors(each)) for each in heads)
        return q @ k.mT

    orders: dict[str, Any] = {"source": "half", "target": "interleaved", "rotary_d": rotary_d}
    with torch.no_grad():
        expected = scores("half")
        for linear in linears:
            for parameter in linear.parameters():
                moved = convert_projection(parameter.numpy(), heads=3, **orders)
                parameter.copy_(torch.from_numpy(moved))
        without = scores("interleaved")
        for norm in norms:
            norm.weight.copy_(torch.from_numpy(convert_layout(norm.weight.numpy(), **orders)))
        torch.testing.assert_close(scores("interleaved"), expected)
    assert not torch.allclose(without, expected)


@both_layouts
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("storages", ["one", "several"])
def test_out_that_shares_memory_with_x_is_refused(storages: str, dtype: Any, layout: str) -> None:
    """Each tensor made from an array has its own storage."""
    array = np.random.default_rng(0).standard_normal((2, 3, 6, 8)).astype(dtype)
    memory: Any = torch.from_numpy(array) if storages == "one" else array
    x, shifted, same = (
        torch.as_tensor(memory[:, :, part]) for part in (slice(5), slice(1, None), slice(5))
    )
    before, module = torch.from_numpy(array.copy()), RotaryEmbedding(8, layout=layout)
    factors = module.factors(x)
    for out in (shifted, same.as_strided(x.shape, (144, 8, 24, 1))):
        with pytest.raises(ValueError, match=r"^out must be x itself or share no memory with it"):
            module.turn(x, factors, out=out)
    assert torch.equal(torch.from_numpy(array), before)
    module.turn(x, factors, out=same)
    torch.testing.assert_close(x, module(before[:, :, :5]))
    assert torch.equal(torch.as_tensor(memory[:, :, 5:]), before[:, :, 5:])


@both_layouts
@pytest.mark.parametrize("qkv", [np.zeros((2, 5, 3, 4, 8)), torch.zeros(2, 5, 3, 4, 8)])
def test_queries_and_keys_of_one_projection_share_no_memory(qkv: Any, layout: str) -> None:
    q, k = (torch.as_tensor(qkv[:, :, i]).transpose(1, 2) for i in (0, 1))
    module = RotaryEmbedding(8, layout=layout)
    values = random(*q.shape, dtype=q.dtype)
    q.copy_(values)
    rotated = module.turn(q, module.factors(q), out=k)
    torch.testing.assert_close(rotated, module(values))
    assert torch.equal(q, values)


@both_layouts
def test_out_that_shares_memory_with_factors_is_refused(layout: str) -> None:
    module, x = RotaryEmbedding(8, layout=layout), random(1, 1, 5, 8)
    factors = module.factors(x)
    over = torch.view_as_real(factors).reshape(x.shape)
    with pytest.raises(ValueError, match=r"^out must share no memory with factors; got an overlap"):
        module.turn(x, factors, out=over)
    assert torch.equal(factors, module.factors(x))


@pytest.mark.parametrize(
    ("shape", "strides", "shared"),
    [
        ((2, 3), (3, 1), False),
        ((2, 3), (1, 2), False),
        ((1, 3), (0, 1), False),
        ((2, 3), (4, 1), False),
        ((2, 3), (2, 1), True),
        ((2, 3), (0, 1), True),
        ((4, 4), (1, 1), True),
    ],
)
def test_overlapping_strides_are_detected(
    shape: tuple[int, ...], strides: tuple[int, ...], shared: bool
) -> None:
    from posenc._tensor_arguments import _overlaps

    assert _overlaps(torch.zeros(100).as_strided(shape, strides)) is shared


# Rotary: gradients, compilers, other devices


@both_layouts
def test_gradients_of_the_fast_path_are_rotated_back(layout: str) -> None:
    module = RotaryEmbedding(8, layout=layout, rotary_d=6)
    x, upstream = random(2, 3, 5, 8).requires_grad_(), random(2, 3, 5, 8, seed=1)
    expected = module(upstream, positions=-torch.arange(7, 12))
    for rotated in (module.turn(x, module.factors(x, offset=7)), module(x, offset=7)):
        (found,) = torch.autograd.grad(rotated, x, upstream)
        torch.testing.assert_close(found, expected, rtol=0, atol=1e-14)
    small = random(2, 2, 2, 8).requires_grad_()  # each number is changed in turn
    assert torch.autograd.gradcheck(module, small)
    turn = partial(module.turn, factors=module.factors(small, offset=7))
    assert torch.autograd.gradcheck(turn, small)
    assert torch.autograd.gradgradcheck(turn, small)


def test_an_expanded_gradient_is_rotated_back() -> None:
    module, x = RotaryEmbedding(8), random(1, 2, 3, 8).requires_grad_()
    module.turn(x, module.factors(x)).sum().backward()  # type: ignore[no-untyped-call]
    expected = module(torch.ones(1, 2, 3, 8, dtype=x.dtype), positions=-torch.arange(3))
    torch.testing.assert_close(x.grad, expected)


# On first use, torch sets up forward mode with a function that it has deprecated itself.
forward_mode = pytest.mark.filterwarnings("ignore:.torch.jit.script:DeprecationWarning")


@forward_mode
@both_layouts
@pytest.mark.parametrize("which", ["x", "factors", "out"])
@pytest.mark.parametrize("mode", ["backward", "forward"])
def test_out_is_refused_where_gradients_are_recorded(mode: str, which: str, layout: str) -> None:
    module, x = RotaryEmbedding(8, layout=layout), random(1, 2, 3, 8)
    tensors = {"x": x, "factors": module.factors(x), "out": torch.empty_like(x)}
    if mode == "backward":
        tensors[which].requires_grad_()
    with forward_ad.dual_level():
        if mode == "forward":
            tangent = torch.ones_like(tensors[which])
            tensors[which] = forward_ad.make_dual(tensors[which], tangent)  # type: ignore[no-untyped-call]
        with pytest.raises(ValueError, match=r"^out must (be None|not require) .*gradients"):
            module.turn(**tensors)
    if mode == "backward" and which != "out":
        with torch.no_grad():
            torch.testing.assert_close(module.turn(**tensors), module(x))


@forward_mode
@both_layouts
@pytest.mark.parametrize("dtype", [torch.float64, torch.bfloat16])
@pytest.mark.parametrize("which", ["x", "x in no_grad", "x and its gradient", "factors", "both"])
def test_forward_mode_tangents_are_rotated(which: str, dtype: torch.dtype, layout: str) -> None:
    """Rotation is linear in `x` and in the factors, so a tangent can replace either."""
    module = RotaryEmbedding(8, layout=layout, rotary_d=6)
    x, dx = random(2, 3, 5, 8, dtype=dtype), random(2, 3, 5, 8, seed=1, dtype=dtype)
    factors = module.factors(x, offset=7)
    factor_tangents = module.factors(x, offset=90)
    by_x, by_factors = module.turn(dx, factors).double(), module.turn(x, factor_tangents).double()
    by_factors[..., 6:] = 0  # nothing is rotated there
    expected = torch.zeros_like(by_x)
    with forward_ad.dual_level(), torch.set_grad_enabled(which != "x in no_grad"):
        vectors, tangent_factors = x, factors
        if which != "factors":
            vectors = x.clone().requires_grad_() if which == "x and its gradient" else x
            vectors = forward_ad.make_dual(vectors, dx)  # type: ignore[no-untyped-call]
            expected = expected + by_x
        if which in ("factors", "both"):
            tangent_factors = forward_ad.make_dual(factors, factor_tangents)  # type: ignore[no-untyped-call]
            expected = expected + by_factors
        rotated = forward_ad.unpack_dual(module.turn(vectors, tangent_factors))  # type: ignore[no-untyped-call]
        assert rotated.tangent is not None
        assert close(rotated.primal, rotated_in_numpy(x, range(7, 12), layout=layout, rotary_d=6))
        error = (rotated.tangent.double() - expected).abs().max()
        assert error <= 64 * ROUNDING[dtype]


@pytest.mark.slow
@forward_mode
@both_layouts
@pytest.mark.parametrize("rotary_d", [None, 2])
def test_derivatives_in_every_mode_equal_finite_differences(
    rotary_d: int | None, layout: str
) -> None:
    """For `x`, the factors and both; backward, forward, and one after the other."""
    module = RotaryEmbedding(4, layout=layout, rotary_d=rotary_d)
    x = random(2, 1, 2, 4)
    factors = module.factors(x, offset=7)
    traced = x.clone().requires_grad_(), factors.clone().requires_grad_()
    for pair in ((traced[0], factors), (x, traced[1]), traced):
        assert torch.autograd.gradcheck(module.turn, pair, check_forward_ad=True)
        assert torch.autograd.gradgradcheck(module.turn, pair, check_fwd_over_rev=True)


@both_layouts
@every_dtype
def test_gradients_reach_the_factors(dtype: torch.dtype, layout: str) -> None:
    """In a learned rotation, every batch, head and vector adds to the gradient of the factors."""
    module, upstream = RotaryEmbedding(8, layout=layout), random(2, 3, 5, 8, seed=1, dtype=dtype)
    x = random(2, 3, 5, 8, dtype=dtype)
    found = []
    for vectors in (x, x.clone().requires_grad_()):
        factors = module.factors(x).requires_grad_()
        module.turn(vectors, factors).backward(upstream)  # type: ignore[no-untyped-call]
        assert factors.grad is not None
        found.append(factors.grad)
    halves = [
        convert_layout(y.double().numpy(), source=layout, target="interleaved")
        for y in (x, upstream)
    ]
    numbers, gradients = (y[..., ::2] + 1j * y[..., 1::2] for y in halves)
    exact = torch.from_numpy((numbers.conj() * gradients).sum((0, 1)))
    assert torch.equal(found[0], found[1])
    assert float((found[0] - exact).abs().max()) <= 6 * 64 * ROUNDING[dtype]


@both_layouts
def test_a_batch_of_gradients_is_rotated_back(layout: str) -> None:
    module, x = RotaryEmbedding(8, layout=layout, rotary_d=6), random(2, 3, 5, 8).requires_grad_()
    rotated, upstream = module.turn(x, module.factors(x)), random(4, 2, 3, 5, 8, seed=1)
    (found,) = torch.autograd.grad(rotated, x, upstream, is_grads_batched=True)
    expected = module(upstream.flatten(0, 1), positions=-torch.arange(5)).reshape(upstream.shape)
    torch.testing.assert_close(found, expected)


@pytest.mark.slow
@pytest.mark.no_cover  # coverage would trace the compiler too
@both_layouts
def test_fast_path_compiles_into_one_graph(layout: str) -> None:
    rotary, x = RotaryEmbedding(8, layout=layout, rotary_d=6), random(2, 3, 5, 8)

    def turn_twice(x: Tensor, out: Tensor) -> tuple[Tensor, Tensor]:
        factors = rotary.factors(x, offset=3)
        return rotary.turn(x, factors), rotary.turn(x, factors, out=out)

    compiled = torch.compile(turn_twice, fullgraph=True, backend="aot_eager")
    out = torch.empty_like(x)
    fresh, written = compiled(x, out)
    torch.testing.assert_close(fresh, rotary(x, offset=3), rtol=0, atol=1e-13)
    assert torch.equal(written, fresh)
    assert torch.equal(out, fresh)


@both_layouts
def test_fast_path_returns_the_right_shape_on_meta(layout: str) -> None:
    module = RotaryEmbedding(8, layout=layout)
    for dtype in (torch.float32, torch.bfloat16):
        x = torch.empty(2, 3, 5, 8, device="meta", dtype=dtype)
        factors = module.factors(x)
        assert factors.device.type == "meta"
        assert module.turn(x, factors).shape == module.turn(x, factors, out=x).shape == x.shape


# One row in place of a matrix

BIASES: dict[str, Callable[[Tensor], Tensor]] = {
    "ALiBi": ALiBi(6),
    "ALiBi, both ways": ALiBi(6, causal=False),
    "T5": T5RelativeBias(6).requires_grad_(False),
    "T5, decoder": T5RelativeBias(6, bidirectional=False).requires_grad_(False),
}

every_bias = pytest.mark.parametrize("bias", BIASES.values())
every_size = pytest.mark.parametrize(
    ("queries", "keys", "offset"), [(5, 5, 0), (1, 7, 6), (3, 8, 5), (4, 2, 0), (1, 1, 0)]
)


def relative(queries: int, keys: int, offset: int) -> Tensor:
    """Return the matrix of relative positions."""
    return relative_positions(torch.arange(offset, offset + queries), keys)


@every_size
@every_bias
def test_reversed_view_flipped_is_the_bias(
    bias: Callable[[Tensor], Tensor], queries: int, keys: int, offset: int
) -> None:
    rows = bias(relative_row(queries, keys, query_offset=offset))[:, 0]
    view = reversed_view(rows, queries)
    expected = bias(relative(queries, keys, offset))
    assert torch.equal(view.flip(-2), expected)
    np.testing.assert_array_equal(relative_view(rows.numpy(), queries), expected)
    assert view.untyped_storage().data_ptr() == rows.untyped_storage().data_ptr()


@every_dtype
@every_size
@every_bias
def test_relative_attention_equals_attention_with_the_bias(
    bias: Callable[[Tensor], Tensor], queries: int, keys: int, offset: int, dtype: torch.dtype
) -> None:
    q = random(2, 6, queries, 8, dtype=dtype)
    k, v = random(2, 2, 6, keys, 8, seed=1, dtype=dtype)
    rows = bias(relative_row(queries, keys, query_offset=offset))[:, 0]
    found = relative_attention(q, k, v, rows)
    expected, _ = attention(q, k, v, bias=bias(relative(queries, keys, offset)))
    assert (found.dtype, found.shape) == (q.dtype, q.shape)
    # torch rounds its weights to bfloat16 or float16 before the last product, ours does not.
    narrow = 16 * ROUNDING[dtype]
    atol = {torch.float64: 1e-12, torch.float32: 1e-5}.get(dtype, narrow)
    torch.testing.assert_close(found, expected, rtol=0, atol=atol)


def test_rows_are_added_before_rounding_to_a_narrow_dtype() -> None:
    """bfloat16 cannot represent 257: rounded to the queries' dtype, both rows would be 256."""
    q, k = torch.zeros(1, 1, 1, 8, dtype=torch.bfloat16), torch.zeros(1, 1, 2, 8).bfloat16()
    v = torch.tensor([[[[0.0], [1.0]]]], dtype=torch.bfloat16)
    rows = torch.tensor([[256.0, 257.0]])
    found = relative_attention(q, k, v, rows)
    assert found.dtype is torch.bfloat16
    exact = torch.softmax(rows.double(), dim=-1)[0, 1]  # e/(1 + e), and no half
    assert abs(found.double().item() - exact) <= ROUNDING[torch.bfloat16]


def most_at_once(work: Callable[[], object]) -> int:
    """Return the bytes of the largest allocation of any single operation."""
    with profile(activities=[ProfilerActivity.CPU], profile_memory=True) as watched:
        work()
    return max(int(event.self_cpu_memory_usage) for event in watched.events())


def test_relative_attention_never_allocates_the_matrix() -> None:
    length, alibi = 512, ALiBi(6)
    q, k, v = random(3, 1, 6, length, 8, dtype=torch.float32)
    matrix = 6 * length * length * 4
    by_rows = most_at_once(
        lambda: relative_attention(q, k, v, alibi(relative_row(length, length))[:, 0])
    )
    by_matrix = most_at_once(lambda: attention(q, k, v, bias=alibi(relative_positions(length))))
    assert by_rows < matrix / 4
    assert by_matrix >= matrix  # so the measure sees a matrix where there is one


def test_gradients_flow_through_rows_to_the_table() -> None:
    bias, (q, k, v) = T5RelativeBias(6).double(), random(3, 2, 6, 5, 8)
    q.requires_grad_()
    fast = relative_attention(q, k, v, bias(relative_row(5, 5))[:, 0])
    slow, _ = attention(q, k, v, bias=bias(relative_positions(5)))
    found, expected = (
        torch.autograd.grad(output, [q, bias.table], random(2, 6, 5, 8, seed=1))
        for output in (fast, slow)
    )
    torch.testing.assert_close(found, expected)


@pytest.mark.parametrize("query", [0, 1, 2, 3])
@pytest.mark.parametrize("head", [0, 1])
def test_rows_error_names_the_query_without_visible_keys(query: int, head: int) -> None:
    q, k = random(1, 2, 4, 8), random(1, 2, 3, 8, seed=1)
    rows = torch.zeros(2, 6)
    rows[head, 3 - query : 6 - query] = -torch.inf
    message = rf"^rows must leave each .*; got none for query {query} in head {head}$"
    with pytest.raises(ValueError, match=message):
        relative_attention(q, k, k, rows)
    rows[head, 5 - query] = 0
    relative_attention(q, k, k, rows)


@pytest.mark.parametrize("shape", [(1, 2, 0, 8), (1, 2, 3, 0)])
def test_relative_attention_refuses_empty_queries_and_keys(shape: tuple[int, ...]) -> None:
    q = torch.ones(shape)
    k = v = torch.ones(1, 2, 3, shape[-1])
    with pytest.raises(ValueError, match=r"^q and k must hold a query and a key"):
        relative_attention(q, k, v, torch.ones(2, shape[2] + 2))


def test_relative_attention_returns_the_right_shape_on_meta() -> None:
    q, k, rows = (
        torch.empty(shape, device="meta") for shape in ((1, 2, 3, 8), (1, 2, 5, 8), (2, 7))
    )
    assert relative_attention(q, k, k, rows).shape == (1, 2, 3, 8)


@pytest.mark.slow
@pytest.mark.no_cover  # coverage would trace the compiler too
def test_relative_attention_compiles_into_one_graph() -> None:
    bias, (q, k, v) = ALiBi(6), random(3, 1, 6, 5, 8)
    rows = bias(relative_row(5, 5))[:, 0]
    compiled = torch.compile(relative_attention, fullgraph=True, backend="aot_eager")
    torch.testing.assert_close(compiled(q, k, v, rows), relative_attention(q, k, v, rows))


@every_size
@every_bias
def test_score_function_adds_the_bias(
    bias: Callable[[Tensor], Tensor], queries: int, keys: int, offset: int
) -> None:
    add = relative_score_mod(bias(relative_row(queries, keys, query_offset=offset))[:, 0], queries)
    scores = random(6, queries, keys, dtype=torch.float32)
    head, query, key = torch.meshgrid(*map(torch.arange, scores.shape), indexing="ij")
    found = add(scores, torch.zeros_like(head), head, query, key)
    assert torch.equal(found, scores + bias(relative(queries, keys, offset)))


@pytest.mark.slow
@pytest.mark.no_cover  # coverage would trace the compiler too
@every_bias
def test_flex_attention_accepts_the_score_function(bias: Callable[[Tensor], Tensor]) -> None:
    from torch.nn.attention.flex_attention import flex_attention

    q, k, v = random(3, 2, 6, 5, 8, dtype=torch.float32)
    add = relative_score_mod(bias(relative_row(5, 5))[:, 0], 5)
    with warnings.catch_warnings():  # not compiled, it writes the scores out and says so
        warnings.filterwarnings("ignore", "flex_attention called without torch.compile")
        found = flex_attention(q, k, v, score_mod=add)
    expected, _ = attention(q, k, v, bias=bias(relative_positions(5)))
    assert isinstance(found, Tensor)
    torch.testing.assert_close(found, expected)
