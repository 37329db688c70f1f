"""The schemes between ALiBi and T5 against other implementations, where there are any installed.

x-transformers has xPos. Its scales are centred on the middle of the positions that it is given, so
they depend on the length of the sequence, and the scores do not.
"""

from __future__ import annotations

import numpy as np
import pytest
import torch

from posenc import apply_rope, apply_xpos
from posenc.nn import XPos

LENGTH, D = 50, 32


def theirs(q: torch.Tensor, k: torch.Tensor) -> torch.Tensor:
    """Return x-transformers' queries and keys, rotated and scaled."""
    from x_transformers.x_transformers import RotaryEmbedding, apply_rotary_pos_emb

    angles, scale = RotaryEmbedding(D, use_xpos=True).forward_from_seq_len(q.shape[-2])
    return torch.stack(
        [apply_rotary_pos_emb(q, angles, scale), apply_rotary_pos_emb(k, angles, scale**-1)]
    )


def test_x_transformers_scales_and_rotates_as_xpos_from_the_middle() -> None:
    q, k = torch.randn(2, 1, 2, LENGTH, D, generator=torch.Generator().manual_seed(0))
    places = np.arange(LENGTH)
    found = theirs(q, k)
    for x, role, peer in ((q, "query", found[0]), (k, "key", found[1])):
        ours = apply_xpos(x.double().numpy(), places - LENGTH // 2, role=role)
        # The scales are theirs; they rotate by the position itself, which is 25 more.
        middle = np.full(LENGTH, LENGTH // 2)
        np.testing.assert_allclose(peer.numpy(), apply_rope(ours, middle), atol=2e-5)


def test_the_scores_of_x_transformers_are_those_of_xpos() -> None:
    q, k = torch.randn(2, 1, 2, LENGTH, D, generator=torch.Generator().manual_seed(1))
    rotated_q, rotated_k = theirs(q, k)
    xpos = XPos(D).double()
    ours = xpos(q.double(), role="query") @ xpos(k.double(), role="key").mT
    seen = torch.ones(LENGTH, LENGTH).tril().bool()
    np.testing.assert_allclose((rotated_q @ rotated_k.mT)[..., seen], ours[..., seen], atol=1e-4)


@pytest.mark.parametrize("step", [1, 2])
def test_x_transformers_scales_depend_on_the_length_that_it_is_asked_for(step: int) -> None:
    """A key cached at one length and a query scaled at another do not fit together."""
    from x_transformers.x_transformers import RotaryEmbedding

    rotary = RotaryEmbedding(D, use_xpos=True)
    shorter, longer = (rotary.forward_from_seq_len(n)[1][0, 0] for n in (10, 10 + 2 * step))
    assert not torch.allclose(shorter, longer, rtol=1e-3)
