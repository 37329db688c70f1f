"""Whether scores depend on key − query along each axis of positions, as in M-RoPE."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from torch import Tensor

from posenc import mrope_positions, nn
from posenc.diagnose.answers import HEALTHY, ILL, UNDETERMINED
from posenc.diagnose.trial import Trial
from tests.diagnose.models import VOCAB

AXES = (0, 0, 1, 1, 1, 2, 2, 2)  # of each pair
POSITIONS = torch.as_tensor(mrope_positions([3, (1, 2, 4), 2])).T[:, None]  # an image in a text
EXAMPLE = {"ids": torch.arange(13)[None], "positions": POSITIONS}


class Decoder(torch.nn.Module):
    """A causal decoder of one layer, at positions (3, batch, length), with a cache.

    Args:
        query: by which axis each pair of a query is rotated.
        key: by which axis each pair of a key is.
        counts: whether a step counts its position from the cached keys, whatever it is given.
    """

    def __init__(
        self,
        query: tuple[int, ...] = AXES,
        key: tuple[int, ...] = AXES,
        *,
        counts: bool = False,
    ) -> None:
        super().__init__()
        self.query, self.key, self.counts = query, key, counts
        self.tokens, self.project = torch.nn.Embedding(VOCAB, 16), torch.nn.Linear(16, 96)

    def forward(self, ids: Tensor, positions: Tensor | None = None, past: Any = None) -> Any:
        cached = past[0].shape[2] if past else 0
        if positions is None or (past and self.counts):
            places = torch.arange(cached, cached + ids.shape[1])
            positions = places.expand(3, 1, -1)
        x = self.project(self.tokens(ids)).unflatten(-1, (3, 2, 16)).permute(2, 0, 3, 1, 4)
        q, k, v = rotated(x[0], positions, self.query), rotated(x[1], positions, self.key), x[2]
        if past:
            k, v = torch.cat([past[0], k], 2), torch.cat([past[1], v], 2)
        later = torch.ones(q.shape[2], k.shape[2], dtype=torch.bool).triu(cached + 1)
        scores = (q @ k.mT / 4).masked_fill(later, -torch.inf)
        return {"out": (scores.softmax(-1) @ v).transpose(1, 2).flatten(2), "past": (k, v)}


def rotated(x: Tensor, positions: Tensor, axes: tuple[int, ...]) -> Tensor:
    """Return heads, (batch, heads, length, d), each pair rotated by its own axis."""
    omega = 10000 ** -(torch.arange(8) / 8)
    angles = (positions[[*axes]].movedim(0, -1) * omega)[:, None].to(x.dtype)
    first, second = x.chunk(2, dim=-1)
    cos, sin = angles.cos(), angles.sin()
    return torch.cat([first * cos - second * sin, first * sin + second * cos], dim=-1)


def test_a_model_that_rotates_by_three_axes_is_healthy_and_its_pairs_are_told() -> None:
    found = nn.relative_scores(Decoder(), EXAMPLE)
    assert (found.status, found.measured["cached"]) == (HEALTHY, 1), str(found)
    assert found.measured["axes"] == 3
    assert found.verdict == "scores depend on key − query along each axis"
    told = "along axis 0 pairs 0 to 1, along axis 1 pairs 2 to 4, along axis 2 pairs 5 to 7."
    assert told in found.why
    assert "that the model itself counts after an image were not tried" in found.why
    assert found.why.endswith("tokens have the same scores. No window was tried.")


EXCHANGED = (1, 1, 0, 0, 0, 2, 2, 2)


@pytest.mark.parametrize(
    ("model", "verdict", "why"),
    [
        (Decoder(key=EXCHANGED), "scores change where an axis is shifted", "along axis 0 and 1,"),
        (
            Decoder((0, 0, 1, 1, 1, 1, 1, 1), (0, 0, 1, 1, 1, 1, 1, 1)),
            "an axis of its positions is not read",
            "Other positions along axis 2 change no score.",
        ),
        (Decoder((0,) * 8, (0,) * 8), "an axis of its positions is not read", "axis 1 and 2 "),
        (
            Decoder(counts=True),
            "a step ignores the positions that it is given",
            "at their own positions, tokens have other scores.",
        ),
    ],
    ids=["axes of keys exchanged", "width lost", "positions of text", "steps count keys"],
)
def test_a_fault_in_the_axes_is_told(model: Decoder, verdict: str, why: str) -> None:
    found = nn.relative_scores(model, EXAMPLE)
    assert (found.status, found.verdict) == (ILL, verdict), str(found)
    assert why in found.why
    assert found.remedy


def test_axes_exchanged_in_queries_and_keys_are_left_to_the_reader() -> None:
    found = nn.relative_scores(Decoder(EXCHANGED, EXCHANGED), EXAMPLE)
    assert found.status == HEALTHY
    assert "along axis 0 pairs 2 to 4, along axis 1 pairs 0 to 1" in found.why
    assert "no run can tell: compare the pairs with mrope_section" in found.why


def test_an_axis_that_counts_tokens_may_be_for_a_mask() -> None:
    positions = torch.cat([torch.arange(13).expand(1, 1, -1), POSITIONS[1:]])
    axes = (1, 1, 1, 1, 2, 2, 2, 2)
    found = nn.relative_scores(Decoder(axes, axes), EXAMPLE | {"positions": positions})
    assert (found.status, "along axis 0 no pairs" in found.why) == (HEALTHY, True), str(found)


def test_of_a_text_alone_the_answer_says_that_axes_were_not_tried() -> None:
    found = nn.relative_scores(Decoder())
    assert found.status == HEALTHY
    assert (
        "positions are on 3 axes, which are alike here: what an image changes was not" in found.why
    )
    assert "An example with positions, (3, batch, length), tries it." in found.why
    assert "axes" not in nn.relative_scores(nn.GPTModel(VOCAB, 40, 16, 2, 1, pos_type="rope")).why


def test_positions_of_several_sequences_are_those_of_the_first() -> None:
    two = torch.cat([POSITIONS, POSITIONS + 5], dim=1)
    trial = Trial(Decoder(), {"ids": torch.arange(26).reshape(2, 13), "positions": two})
    assert trial.positions is not None
    assert torch.equal(trial.positions, POSITIONS)
    assert trial.places(2, 4)["positions"].tolist() == POSITIONS[..., 2:4].tolist()


def test_axes_without_scores_are_undetermined() -> None:
    class Silent(Decoder):
        def forward(self, ids: Tensor, positions: Tensor | None = None, past: Any = None) -> Any:
            assert positions is not None
            return self.tokens(ids) * positions[0][..., None]

    assert nn.relative_scores(Silent(), EXAMPLE).status == UNDETERMINED
