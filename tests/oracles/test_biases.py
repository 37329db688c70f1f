"""The schemes between ALiBi and T5 against other implementations, where there are any installed.

x-transformers has xPos. Its scales are centred on the middle of the positions that it is given, so
they depend on the length of the sequence, and the scores do not.
"""

from __future__ import annotations

import importlib.metadata
import importlib.util
from types import ModuleType

import numpy as np
import pytest
import torch

from posenc import apply_rope, apply_xpos, path_scores
from posenc.nn import CoPE, ForgettingBias, PaTH, XPos, attention

LENGTH, D = 50, 32


def x_transformers_vectors(q: torch.Tensor, k: torch.Tensor) -> torch.Tensor:
    """Return x-transformers' queries and keys, rotated and scaled."""
    from x_transformers.x_transformers import RotaryEmbedding, apply_rotary_pos_emb

    angles, scale = RotaryEmbedding(D, use_xpos=True).forward_from_seq_len(q.shape[-2])
    return torch.stack(
        [apply_rotary_pos_emb(q, angles, scale), apply_rotary_pos_emb(k, angles, scale**-1)]
    )


def test_x_transformers_scales_and_rotates_as_xpos_from_the_middle() -> None:
    q, k = torch.randn(2, 1, 2, LENGTH, D, generator=torch.Generator().manual_seed(0))
    places = np.arange(LENGTH)
    found = x_transformers_vectors(q, k)
    for x, role, peer in ((q, "query", found[0]), (k, "key", found[1])):
        ours = apply_xpos(x.double().numpy(), places - LENGTH // 2, role=role)
        # The scales agree; x-transformers rotates by the position itself, which is 25 more.
        middle = np.full(LENGTH, LENGTH // 2)
        np.testing.assert_allclose(peer.numpy(), apply_rope(ours, middle), atol=2e-5)


def test_the_scores_of_x_transformers_are_those_of_xpos() -> None:
    q, k = torch.randn(2, 1, 2, LENGTH, D, generator=torch.Generator().manual_seed(1))
    rotated_q, rotated_k = x_transformers_vectors(q, k)
    xpos = XPos(D).double()
    ours = xpos(q.double(), role="query") @ xpos(k.double(), role="key").mT
    visible = torch.ones(LENGTH, LENGTH).tril().bool()
    np.testing.assert_allclose(
        (rotated_q @ rotated_k.mT)[..., visible], ours[..., visible], atol=1e-4
    )


@pytest.mark.parametrize("step", [1, 2])
def test_x_transformers_scales_depend_on_the_length_that_it_is_asked_for(step: int) -> None:
    """A key cached at one length and a query scaled at another do not fit together."""
    from x_transformers.x_transformers import RotaryEmbedding

    rotary = RotaryEmbedding(D, use_xpos=True)
    shorter, longer = (rotary.forward_from_seq_len(n)[1][0, 0] for n in (10, 10 + 2 * step))
    assert not torch.allclose(shorter, longer, rtol=1e-3)


# By content: CoPE and the forgetting gate


@pytest.mark.parametrize("rows", [3, 40])
@torch.no_grad()
def test_cope_of_x_transformers_is_ours_with_the_same_table(rows: int) -> None:
    from x_transformers.x_transformers import CoPE as XCoPE

    torch.manual_seed(0)
    q = torch.randn(2, 3, 9, 8)
    scores = q @ torch.randn(2, 3, 9, 8).mT
    ahead = torch.ones(9, 9).triu(1).bool()
    peer, ours = XCoPE(8, 3, rows), CoPE(8, rows)
    ours.table.copy_(torch.nn.init.normal_(peer.pos_emb))
    masked = scores.masked_fill(ahead, -torch.finfo(scores.dtype).max)
    found = peer(q, masked).masked_fill(ahead, 0)
    torch.testing.assert_close(found, ours(q, scores), atol=2e-5, rtol=1e-5)


@torch.no_grad()
def test_data_dependent_alibi_of_x_transformers_is_the_forgetting_gate() -> None:
    from x_transformers.x_transformers import DataDependentAlibi

    torch.manual_seed(0)
    x = torch.randn(2, 9, 16)
    peer, ours = DataDependentAlibi(16, 4), ForgettingBias(16, 4)
    linear = peer.to_forget_gates[0]
    ours.weight.copy_(linear.weight)
    ours.shift.copy_(linear.bias)
    visible = torch.ones(9, 9).tril().bool()
    torch.testing.assert_close(peer(x)[..., visible], ours(x)[..., visible], atol=1e-6, rtol=1e-5)
    assert (peer(x)[..., ~visible] > 0).all()  # ahead it grows, and a mask hides it


# By content: PaTH, against the reference of flash-linear-attention


def of_fla(path: str) -> ModuleType:
    """Return one file of fla, without its package, which needs Triton."""
    file = importlib.metadata.distribution("fla-core").locate_file(f"fla/{path}")
    spec = importlib.util.spec_from_file_location("of_fla", str(file))
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def path_inputs(module: PaTH, x: torch.Tensor) -> dict[str, torch.Tensor]:
    """Return w and β as the layer of fla makes them, by layers of torch."""
    heads, d = module.heads, module.d
    convolution = torch.nn.Conv1d(heads * d, heads * d, 3, padding=2, groups=heads * d, bias=False)
    convolution.weight.copy_(module.kernel[:, None])
    directions = x @ module.first_weight.mT @ module.second_weight.mT
    mixed = torch.nn.functional.silu(convolution(directions.mT)[..., : x.shape[1]].mT)
    strength = torch.nn.Linear(module.d_model, heads)
    strength.weight.copy_(module.strength_weight)
    strength.bias.copy_(module.strength_bias)
    w = torch.nn.functional.normalize(mixed.reshape(*x.shape[:2], heads, d), dim=-1)
    return {"w": w, "beta": 2 * strength(x).sigmoid()}


@pytest.mark.slow  # needs a library that only `make test-all` installs
@pytest.mark.parametrize("length", [1, 64, 150])  # fla works in pieces of 64
@torch.no_grad()
def test_path_of_flash_linear_attention_is_ours(length: int) -> None:
    torch.manual_seed(0)
    x, (q, k, v) = torch.randn(2, length, 24), torch.randn(3, 2, 3, length, 8)
    ours = PaTH(3, 8, 24)
    for parameter in ours.parameters():
        torch.nn.init.normal_(parameter)
    first = {name: some.transpose(1, 2) for name, some in {"q": q, "k": k, "v": v}.items()}
    open_gates = torch.zeros(2, length, 3)  # the logarithms of a forgetting gate
    naive = of_fla("ops/path_attn/naive.py").naive_path_attn
    expected = naive(**first, **path_inputs(ours, x), g=open_gates, scale=8**-0.5)
    found, _ = attention(q, k, v, bias=ours(q, k, x))
    torch.testing.assert_close(found, expected.transpose(1, 2), atol=2e-5, rtol=1e-4)


@pytest.mark.slow  # needs a library that only `make test-all` installs
@torch.no_grad()
def test_the_definition_of_path_is_that_of_flash_linear_attention() -> None:
    torch.manual_seed(0)
    q, k, w, v = torch.randn(4, 1, 2, 70, 8)
    beta = 2 * torch.rand(1, 2, 70)
    inputs = {"q": q, "k": k, "v": v, "w": torch.nn.functional.normalize(w, dim=-1), "beta": beta}
    first = {name: some.transpose(1, 2) for name, some in inputs.items()}
    naive = of_fla("ops/path_attn/naive.py").naive_path_attn
    expected = naive(**first, g=torch.zeros(1, 70, 2), scale=8**-0.5)
    scores = torch.from_numpy(path_scores(q, k, direction=w, strength=beta))
    torch.testing.assert_close(
        (scores.softmax(-1) @ v.double()).float(), expected.transpose(1, 2), atol=2e-5, rtol=1e-4
    )
