"""What `PaTH` and `DAPEBias` promise beside what `test_schemes.py` tests of every scheme."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator

import pytest
import torch
from torch import Tensor, nn

from posenc.nn import ALiBi, DAPEBias, KerpleBias, PaTH, relative_positions

pytestmark = pytest.mark.filterwarnings("error")

HEADS, D, WIDTH, LENGTH = 3, 8, 16, 301


@pytest.fixture(autouse=True)
def seeded() -> Iterator[None]:
    with torch.random.fork_rng():
        torch.manual_seed(0)
        yield


def random_inputs(length: int) -> tuple[Tensor, Tensor, Tensor]:
    """Return queries, keys and tokens."""
    q, k = torch.randn(2, 2, HEADS, length, D)
    return q, k, torch.randn(2, length, WIDTH)


def path_with(strength: float) -> PaTH:
    """Return a module whose tokens all have a β of twice the sigmoid of this number."""
    path = PaTH(HEADS, D, WIDTH).requires_grad_(False)
    nn.init.zeros_(path.strength_weight)
    nn.init.constant_(path.strength_bias, strength)
    return path


# PaTH


def test_path_without_strength_adds_a_mask_and_nothing_else() -> None:
    found = path_with(strength=-1e4)(*random_inputs(5))
    mask = torch.zeros(5, 5).masked_fill(torch.ones(5, 5).triu(1).bool(), -math.inf)
    assert torch.equal(found, mask.expand(2, HEADS, 5, 5))


def test_hundreds_of_equal_reflections_undo_each_other_in_pairs() -> None:
    """Rounding would grow with the distance if the triangular system were badly conditioned."""
    path = path_with(strength=1e4)  # β = 2
    q, k, x = (x[:, ..., :1, :].expand_as(x) for x in random_inputs(LENGTH))
    path.kernel[:, :2] = 0  # so that the first tokens, too, have the direction of all others
    last = path(q, k, x)[..., -1, :].flip(-1)  # by distance
    torch.testing.assert_close(last[..., ::2], torch.zeros_like(last[..., ::2]), atol=1e-4, rtol=0)
    odd = last[..., 1::2]
    assert odd[..., 0].abs().min() > 0.01
    torch.testing.assert_close(odd, odd[..., :1].expand_as(odd), atol=1e-4, rtol=0)


@pytest.mark.parametrize("query", [1, 2, 6])
def test_a_matrix_is_made_from_a_token_and_the_two_before_it(query: int) -> None:
    q, k, x = random_inputs(8)
    x.requires_grad_()
    score = PaTH(HEADS, D, WIDTH)(q, k, x)[:, :, query, query - 1]
    (gradient,) = torch.autograd.grad(score.sum(), x)
    tokens = gradient.abs().amax(dim=(0, 2)).nonzero().flatten().tolist()
    assert tokens == list(range(max(0, query - 2), query + 1))


def test_a_token_without_a_direction_has_no_effect_and_finite_gradients() -> None:
    q, k, _ = random_inputs(4)
    path, x = PaTH(HEADS, D, WIDTH), torch.zeros(2, 4, WIDTH, requires_grad=True)
    found = path(q, k, x)
    assert (found.tril() == 0).all()
    found.tril().sum().backward()
    for gradient in (x.grad, *(parameter.grad for parameter in path.parameters())):
        assert gradient is not None
        assert gradient.isfinite().all()


def test_a_very_short_direction_counts_as_much_as_any_other() -> None:
    """SiLU is nearly linear close to 0, so that shorter vectors make the same directions."""
    q, k, x = random_inputs(6)
    path = path_with(strength=0.0)  # β = 1
    torch.testing.assert_close(path(q, k, x * 1e-4), path(q, k, x * 1e-8), atol=1e-3, rtol=0)


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16])
def test_path_computes_narrow_queries_in_float32(dtype: torch.dtype) -> None:
    path, narrow = PaTH(HEADS, D, WIDTH), [x.to(dtype) for x in random_inputs(30)]
    found, exact = path(*narrow), path(*(x.float() for x in narrow))
    assert found.dtype is dtype
    assert torch.equal(found, exact.to(dtype))
    q, k, x = narrow
    assert path(q, k.double(), x.double()).dtype is dtype
    assert path(q.double(), k, x).dtype is torch.float64


# DAPE


def test_dape_takes_one_bias_for_all_texts_or_one_for_each() -> None:
    scores, bias = torch.randn(2, HEADS, 4, 6), torch.randn(2, HEADS, 4, 6)
    dape = DAPEBias(HEADS)
    each = torch.stack([dape(scores, one)[text] for text, one in enumerate(bias)])
    torch.testing.assert_close(dape(scores, bias), each)


def test_dape_refuses_a_bias_that_hides_keys() -> None:
    masking = ALiBi(HEADS)(relative_positions(3))
    with pytest.raises(ValueError, match=r"^bias must be finite .* of torch.float32; got -inf$"):
        DAPEBias(HEADS)(torch.zeros(1, HEADS, 3, 3), masking)


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float32])
def test_dape_refuses_a_bias_that_is_infinite_in_the_dtype_of_the_scores(
    dtype: torch.dtype,
) -> None:
    scores, low = torch.zeros(1, HEADS, 2, 3, dtype=dtype), torch.finfo(dtype).min
    for value in (low, 2 * low):
        bias = torch.full((HEADS, 2, 3), value, dtype=torch.float64)
        refusal = rf"^bias must be finite .* of {dtype}; got {re.escape(str(value))}$"
        with pytest.raises(ValueError, match=refusal):
            DAPEBias(HEADS)(scores, bias)
    assert DAPEBias(HEADS)(scores, torch.full((HEADS, 2, 3), -1e4)).isfinite().all()


def test_dape_with_a_silent_network_returns_the_bias_in_the_dtype_of_the_scores() -> None:
    dape = DAPEBias(HEADS)
    for parameter in (dape.second_weight, dape.second_bias):
        nn.init.zeros_(parameter)
    bias = torch.randn(HEADS, 4, 6, dtype=torch.float64)
    found = dape(torch.randn(2, HEADS, 4, 6), bias)
    assert torch.equal(found, bias.float().expand(2, -1, -1, -1))


def test_a_bias_is_learned_through_dape() -> None:
    kerple = KerpleBias(HEADS)
    found = DAPEBias(HEADS)(torch.randn(2, HEADS, 5, 5), kerple(relative_positions(5)))
    (found * torch.randn_like(found)).sum().backward()
    for parameter in kerple.parameters():
        assert parameter.grad is not None
        assert parameter.grad.abs().min() > 0


# Both


def conv(width: int) -> nn.Conv1d:
    """Return torch's convolution of three taps for each channel alone."""
    return nn.Conv1d(width, width, 3, groups=width, bias=False)


SAME_SPREAD: dict[str, tuple[Callable[[], Tensor], Callable[[], Tensor]]] = {
    "PaTH, first_weight": (
        lambda: PaTH(50, 20, 900).first_weight,
        lambda: nn.Linear(900, 32).weight,
    ),
    "PaTH, second_weight": (
        lambda: PaTH(50, 20, 9).second_weight,
        lambda: nn.Linear(32, 900).weight,
    ),
    "PaTH, kernel": (lambda: PaTH(50, 200, 9).kernel, lambda: conv(9000).weight),
    "PaTH, strength_weight": (
        lambda: PaTH(50, 20, 400).strength_weight,
        lambda: nn.Linear(400, 50).weight,
    ),
    "PaTH, strength_bias": (
        lambda: PaTH(9000, 1, 9).strength_bias,
        lambda: nn.Linear(9, 9000).bias,
    ),
    "DAPE, first_weight": (lambda: DAPEBias(400).first_weight, lambda: nn.Linear(800, 32).weight),
    "DAPE, first_bias": (
        lambda: DAPEBias(4, hidden=9000).first_bias,
        lambda: nn.Linear(8, 9000).bias,
    ),
    "DAPE, second_weight": (lambda: DAPEBias(400).second_weight, lambda: nn.Linear(32, 400).weight),
    "DAPE, second_bias": (lambda: DAPEBias(9000).second_bias, lambda: nn.Linear(32, 9000).bias),
}


@pytest.mark.parametrize("name", SAME_SPREAD)
def test_initial_values_are_spread_as_those_of_torchs_layers(name: str) -> None:
    ours, torchs = (create().detach() for create in SAME_SPREAD[name])
    assert ours.std().item() == pytest.approx(torchs.std().item(), rel=0.03)
    assert ours.abs().max().item() == pytest.approx(torchs.abs().max().item(), rel=0.01)
    assert ours.mean().abs() < 0.05 * ours.std()
