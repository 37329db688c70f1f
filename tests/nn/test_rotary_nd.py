"""`posenc.nn.rotary_nd` equals the numpy definition, which is tested in 50 digits."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from numpy.typing import NDArray
from torch import Tensor

from posenc import (
    apply_rope_nd,
    axial_frequencies,
    grid_positions,
    mixed_frequencies,
    mrope_frequencies,
    mrope_positions,
)
from posenc.nn import RotaryEmbeddingND

pytestmark = pytest.mark.filterwarnings("error")

D, HEADS = 16, 3
MATRICES: dict[str, NDArray[np.float64]] = {
    "axial": axial_frequencies(D, base=100),
    "mixed": mixed_frequencies(D, [0.4, 1.0, 5.0]),
    "m-rope": mrope_frequencies(D, (4, 2, 2), interleaved=True),
}
LAYOUTS = ("interleaved", "half")


def rotary_embedding(name: str, **options: object) -> RotaryEmbeddingND:
    return RotaryEmbeddingND(D, MATRICES[name], **options)  # type: ignore[arg-type]


def vectors(length: int = 6, *, seed: int = 0) -> Tensor:
    generator = torch.Generator().manual_seed(seed)
    return torch.randn(2, HEADS, length, D, generator=generator, dtype=torch.float64)


def points(name: str, length: int = 6) -> Tensor:
    axes = MATRICES[name].shape[-2]
    return torch.from_numpy(grid_positions((3,) * axes)[1 : length + 1] * 3)


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("learned", [False, True])
@pytest.mark.parametrize("name", MATRICES)
def test_the_module_equals_the_numpy_definition(name: str, learned: bool, layout: str) -> None:
    x, places = vectors(), points(name)
    rotary = rotary_embedding(name, layout=layout, learned=learned).double()
    rotary.reset_parameters()
    expected = apply_rope_nd(x.numpy(), places.numpy(), MATRICES[name], layout=layout)
    found = rotary(x, places).detach().numpy()
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-14)


@pytest.mark.parametrize("name", MATRICES)
def test_each_sequence_may_have_its_own_points(name: str) -> None:
    x, places, rotary = vectors(), points(name), rotary_embedding(name)
    both = torch.stack([places, places.flip(0)])
    rotated = rotary(x, both)
    for sequence in range(2):
        alone = rotary(x[sequence : sequence + 1], both[sequence])
        assert torch.equal(rotated[sequence], alone[0])


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16, torch.float16])
@pytest.mark.parametrize("learned", [False, True])
def test_narrow_vectors_have_exact_angles_and_are_rounded_at_the_end(
    dtype: torch.dtype, learned: bool
) -> None:
    x = vectors().to(dtype)
    far = points("axial") + 30_000  # bfloat16 holds no integer of this size but every 128th
    rotated = rotary_embedding("axial", learned=learned)(x, far)
    assert rotated.dtype == dtype
    exact = rotary_embedding("axial").to(dtype)(x.double(), far)
    allowed = 4 * torch.finfo(dtype).eps if not learned else 0.02  # parameters in float32
    torch.testing.assert_close(rotated.double(), exact, rtol=allowed, atol=allowed)
    rounded_once = rotary_embedding("axial", learned=learned)(x.float(), far).to(dtype)
    assert torch.equal(rotated, rounded_once)


def test_casting_the_module_leaves_fixed_frequencies_alone() -> None:
    rotary = rotary_embedding("m-rope")
    x, places = vectors(), points("m-rope")
    before = rotary(x, places)
    assert torch.equal(rotary.bfloat16().double()(x, places), before)
    assert [*rotary.parameters()] == [*rotary.buffers()] == [*rotary.state_dict()] == []


def test_gradients_reach_learned_frequencies_of_every_head_and_axis() -> None:
    rotary = rotary_embedding("mixed", learned=True).double()
    x, places = vectors(), points("mixed").double()
    assert list(rotary.state_dict()) == ["omega"]

    def rotated(omega: Tensor) -> Tensor:
        out: Tensor = torch.func.functional_call(rotary, {"omega": omega}, (x, places))
        return out

    omega = torch.from_numpy(MATRICES["mixed"]).requires_grad_()
    assert torch.autograd.gradcheck(rotated, omega)
    rotary(x, places).square().sum().backward()
    rotary(x, places)[..., 0].sum().backward()
    assert rotary.omega is not None
    assert rotary.omega.grad is not None
    assert (rotary.omega.grad[:, :, 0] != 0).all()


def test_gradients_reach_the_vectors() -> None:
    x = vectors(3).requires_grad_()
    assert torch.autograd.gradcheck(lambda x: rotary_embedding("axial")(x, points("axial", 3)), x)


def test_a_step_with_a_cache_equals_the_whole_sequence() -> None:
    # A prompt of two words, an image of 2 by 3 patches and a word, then two new words.
    whole = torch.from_numpy(mrope_positions([2, (1, 2, 3), 3]))
    rotary, x = rotary_embedding("m-rope"), vectors(len(whole))
    prompt = mrope_positions([2, (1, 2, 3), 1])
    cached = rotary(x[:, :, : len(prompt)], torch.from_numpy(prompt))
    following = int(prompt.max()) + 1
    for token in range(2):
        step = torch.full((1, 3), following + token)
        place = len(prompt) + token
        cached = torch.cat([cached, rotary(x[:, :, place : place + 1], step)], dim=2)
    assert torch.equal(cached, rotary(x, whole))
    # The length of the sequence is another number, and another rotation.
    wrong = rotary(x[:, :, -1:], torch.full((1, 3), len(whole) - 1))
    assert not torch.allclose(wrong, cached[:, :, -1:])


def test_a_module_made_on_meta_works_after_a_reset() -> None:
    with torch.device("meta"):
        rotary = rotary_embedding("mixed", learned=True)
        assert rotary(vectors().float().to("meta"), points("mixed").to("meta")).is_meta
    rotary.to_empty(device="cpu").reset_parameters()
    x, places = vectors().float(), points("mixed")
    assert torch.equal(rotary(x, places), rotary_embedding("mixed", learned=True)(x, places))
    with torch.device("meta"):
        fixed = rotary_embedding("axial")
    assert torch.equal(fixed(x, points("axial")), rotary_embedding("axial")(x, points("axial")))


@pytest.mark.slow
@pytest.mark.no_cover  # coverage would trace the compiler too
@pytest.mark.parametrize("learned", [False, True])
@pytest.mark.parametrize("name", MATRICES)
def test_it_compiles_into_one_graph_and_exports_for_any_length(name: str, learned: bool) -> None:
    torch.compiler.reset()
    rotary = rotary_embedding(name, learned=learned)
    compiled = torch.compile(rotary, fullgraph=True, backend="eager")
    length = torch.export.Dim("length", min=2, max=99)
    example, shapes = (vectors(6).float(), points(name, 6)), ({2: length}, {0: length})
    program = torch.export.export(rotary, example, dynamic_shapes=shapes).module()
    for size in (6, 4):
        inputs = vectors(size, seed=1).float(), points(name, size) + 5
        assert torch.equal(compiled(*inputs), rotary(*inputs))
        assert torch.equal(program(*inputs), rotary(*inputs))


def test_repr_shows_the_arguments() -> None:
    shown = 'RotaryEmbeddingND(16, axes=3, layout="interleaved", learned=False)'
    assert repr(rotary_embedding("m-rope")) == shown


def test_frequencies_of_other_heads_or_of_another_device_are_refused() -> None:
    x, places = vectors(), points("mixed")
    with pytest.raises(ValueError, match=r"^x must be of shape \(batch, 3, length, 16\); got"):
        rotary_embedding("mixed")(x[:, :2], places)
    with pytest.raises(ValueError, match=r"^x must be on the device meta; got cpu$"):
        rotary_embedding("mixed", learned=True).to("meta")(x, places)
