"""What transformers does with M-RoPE in packed rows, and behind a cache."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor

from posenc import mrope_positions
from tests.oracles.libraries import in_transformers, library
from tests.oracles.test_axes import Part, model_without_weights, rope_index

NAMES = {"qwen2_vl": "Qwen2VL", "qwen2_5_vl": "Qwen2_5_VL", "qwen3_vl": "Qwen3VL"}
FIRST: list[Part] = [2, (1, 2, 3), 2]
SECOND: list[Part] = [1, (1, 3, 2), 3]
SIZES: dict[str, Any] = {"vocab_size": 50, "hidden_size": 48, "intermediate_size": 32}
SIZES |= {"num_hidden_layers": 2, "num_attention_heads": 2, "num_key_value_heads": 2}
SIZES |= {"head_dim": 24, "pad_token_id": None}
ROPE = {"rope_type": "default", "rope_theta": 1e4, "mrope_section": [4, 4, 4]}
IDS = torch.arange(20)[None]
TEXT = torch.arange(10).repeat(2)[None]  # positions that begin a document anew


def text_model(model: str) -> Any:
    """Return a small model of text and images, without its vision encoder."""
    config = library(
        f"transformers.models.{model}.configuration_{model}", f"{NAMES[model]}TextConfig"
    )(**SIZES, rope_parameters=ROPE)
    with torch.random.fork_rng():
        torch.manual_seed(0)
        found = in_transformers(model, f"{NAMES[model]}TextModel")(config)
        for parameter in found.parameters():
            if parameter.ndim > 1:
                torch.nn.init.normal_(parameter, std=0.3)
    return found.double().eval()


def rows(*parts: list[Part]) -> Tensor:
    """Return the positions of documents one after another, (3, 1, length)."""
    found = np.concatenate([mrope_positions(each) for each in parts])
    return torch.from_numpy(found).T[:, None]


@torch.no_grad()
def error(model: Any, positions: Tensor | None, **more: Any) -> float:
    """Return how far the second of two packed documents is from that document alone."""

    def output(ids: Tensor, at: Tensor | None, **more: Any) -> Tensor:
        how = {"use_cache": False} | more
        found: Tensor = model(input_ids=ids, position_ids=at, **how).last_hidden_state
        return found

    alone = output(IDS[:, 10:], rows(SECOND))
    found = output(IDS, positions, **more)[:, 10:]
    return float((found - alone).norm() / alone.norm())


@pytest.mark.parametrize("model", NAMES)
def test_transformers_separates_packed_images_by_a_fourth_row_and_no_mask(model: str) -> None:
    peer, restart, on = text_model(model), rows(FIRST, SECOND), rows([*FIRST, *SECOND])
    four = torch.cat([TEXT[None], restart])
    assert error(peer, four) < 1e-6
    assert error(peer, torch.cat([TEXT[None], on])) < 1e-6  # the fourth row makes the mask
    assert error(peer, restart) > 0.1
    assert error(peer, torch.cat([IDS[None], restart])) > 0.1
    assert error(peer, four, attention_mask=torch.ones_like(IDS)) > 0.1
    assert error(peer, four, use_cache=True) > 0.1


@pytest.mark.parametrize("model", NAMES)
def test_three_rows_are_enough_with_a_mask_for_each_pair_of_tokens(model: str) -> None:
    document = torch.arange(2).repeat_interleave(10)
    mask = (document[:, None] == document) & torch.ones(20, 20, dtype=torch.bool).tril()
    peer = text_model(model)
    for cached in (False, True):
        how = {"attention_mask": mask[None, None], "use_cache": cached}
        assert error(peer, rows(FIRST, SECOND), **how) < 1e-6


def test_one_number_for_each_token_separates_documents_in_qwen3_vl_alone() -> None:
    """Where it does, patches have the positions of text."""
    errors = {model: error(text_model(model), TEXT) for model in NAMES}
    separated = {
        model: error(text_model(model), torch.cat([TEXT[None], TEXT.expand(3, 1, -1)]))
        for model in NAMES
    }
    assert [model for model in NAMES if errors[model] == separated[model]] == ["qwen3_vl"]
    assert min(separated.values()) > 0.1


@pytest.mark.parametrize("model", NAMES)
def test_get_rope_index_goes_on_through_a_packed_row(model: str) -> None:
    found, delta = rope_index(model, [*FIRST, *SECOND])
    np.testing.assert_array_equal(found, mrope_positions([*FIRST, *SECOND]))
    assert (found[10:] - mrope_positions(SECOND)).tolist() == [[7, 7, 7]] * 10
    assert delta == 14 - 20


def test_get_rope_index_takes_numbers_of_documents_in_a_mask_for_ones() -> None:
    peer, kinds = model_without_weights("qwen2_vl"), [0, 0] + [1] * 6 + [0] * 4
    found, _ = peer.get_rope_index(
        torch.zeros(1, 12, dtype=torch.long),
        mm_token_type_ids=torch.tensor([kinds]),
        image_grid_thw=torch.tensor([[1, 4, 6]]),
        attention_mask=torch.tensor([[1] * 10 + [2] * 2]),
    )
    np.testing.assert_array_equal(found[:, 0].T, mrope_positions([2, (1, 2, 3), 4]))


def positions_of(peer: Any, **given: Any) -> Tensor:
    """Return the positions that a model computes for itself, (3, 1, length)."""
    names = ("image_grid_thw", "video_grid_thw", "attention_mask", "cache", "mm_token_type_ids")
    ids = given["input_ids"]
    embedded = torch.zeros(*ids.shape, 8)
    found: Tensor = peer.compute_3d_position_ids(
        inputs_embeds=embedded, **(dict.fromkeys(names) | given)
    )
    return found


def step(peer: Any, cached: int, count: int) -> list[int]:
    """Return the position that each of some text tokens gets behind a cache, equal on all axes."""
    found = positions_of(
        peer,
        input_ids=torch.zeros(1, count, dtype=torch.long),
        cache=SimpleNamespace(get_seq_length=lambda: cached),
    )
    assert (found == found[:1]).all()
    return [int(each) for each in found[0, 0]]


@pytest.mark.parametrize("model", NAMES)
def test_transformers_places_a_draft_at_the_length_of_the_cache_plus_rope_deltas(
    model: str,
) -> None:
    peer = model_without_weights(model)
    delta = rope_index(model, FIRST)[1]
    peer.rope_deltas = torch.tensor([[delta]])
    assert delta == -3
    assert step(peer, 10, 4) == mrope_positions([*FIRST, 4])[-4:, 0].tolist() == [7, 8, 9, 10]
    assert step(peer, 12, 1) == [9]  # two of the four were accepted


@pytest.mark.parametrize("model", NAMES)
def test_rope_deltas_are_those_of_the_prompt_that_the_model_read_last(model: str) -> None:
    """They belong to the model and not to the cache."""
    peer = model_without_weights(model)
    peer.rope_deltas = None
    for columns in (3, 5):
        kinds = torch.tensor([[0, 0] + [1] * 2 * columns + [0, 0]])
        positions_of(
            peer,
            input_ids=torch.zeros_like(kinds),
            image_grid_thw=torch.tensor([[1, 4, 2 * columns]]),
            mm_token_type_ids=kinds,
        )
    assert step(peer, 10, 1) == [5]
    assert mrope_positions(FIRST).max() + 1 == 7
