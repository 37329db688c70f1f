"""What models of transformers do with padded batches and packed rows."""

from __future__ import annotations

import importlib
from typing import Any

import pytest
import torch
from torch import Tensor

SIZES: dict[str, Any] = {"vocab_size": 50, "n_embd": 32, "n_layer": 2, "n_head": 2}
SIZES |= {"n_positions": 64, "bos_token_id": 1, "eos_token_id": None, "pad_token_id": 0}
TEXT = torch.tensor([[7, 21, 3, 44, 9]])
PADDED = torch.tensor([[40, 2, 33, 18, 6, 27, 49, 11], [0, 0, 0, 7, 21, 3, 44, 9]])
REAL = (PADDED > 0).long()


def gpt2() -> Any:
    """Return a small GPT-2, whose learned table shows every shift."""
    them = importlib.import_module("transformers")
    with torch.random.fork_rng():
        torch.manual_seed(0)
        model = them.GPT2LMHeadModel(them.GPT2Config(**SIZES))
        for parameter in model.parameters():
            torch.nn.init.normal_(parameter, std=0.3)
    return model.double().eval()


@torch.no_grad()
def test_models_of_transformers_count_columns_unless_given_positions() -> None:
    model = gpt2()
    alone: Tensor = model(TEXT).logits
    counted = (REAL.cumsum(1) - 1).clamp(min=0)
    found = model(PADDED, attention_mask=REAL, position_ids=counted).logits[1:, 3:]
    torch.testing.assert_close(found, alone, atol=1e-10, rtol=0)
    assert (model(PADDED, attention_mask=REAL).logits[1:, 3:] - alone).abs().max() > 0.1


def test_generate_of_transformers_counts_real_tokens() -> None:
    model = gpt2()
    options: dict[str, Any] = {"max_new_tokens": 6, "do_sample": False}
    alone = model.generate(TEXT, attention_mask=torch.ones_like(TEXT), **options)
    batch = model.generate(PADDED, attention_mask=REAL, **options)
    assert batch[1, 3:].tolist() == alone[0].tolist()
    unmasked = model.generate(PADDED, attention_mask=torch.ones_like(PADDED), **options)
    assert unmasked[1, 3:].tolist() != alone[0].tolist()


def test_transformers_begins_a_document_where_positions_do_not_go_on() -> None:
    masking = importlib.import_module("transformers.masking_utils")
    found = masking.find_packed_sequence_indices(torch.tensor([[0, 1, 2, 0, 1, 5, 6]]))
    assert found.tolist() == [[0, 0, 0, 1, 1, 2, 2]]


def test_the_first_token_of_roberta_has_row_2() -> None:
    them = importlib.import_module("transformers")
    config = them.RobertaConfig(vocab_size=50, hidden_size=8, num_attention_heads=1, pad_token_id=1)
    embeddings = them.RobertaModel(config).embeddings
    ids = torch.tensor([[7, 8, 9, 1]])
    found = embeddings.create_position_ids_from_input_ids(ids, embeddings.padding_idx)
    assert found.tolist() == [[2, 3, 4, 1]]


LENGTHS = [3, 2, 4]
DOCUMENTS = torch.arange(3).repeat_interleave(torch.tensor(LENGTHS))
PACKED = torch.tensor([[7, 21, 3, 44, 9, 30, 12, 5, 8]])
FROM_TWO = torch.cat([torch.arange(n) for n in LENGTHS])[None] + 2


def roberta() -> Any:
    """Return a small RoBERTa with large position embeddings."""
    them = importlib.import_module("transformers")
    sizes = {"vocab_size": 50, "hidden_size": 32, "intermediate_size": 32, "pad_token_id": 1}
    sizes |= {"num_hidden_layers": 2, "num_attention_heads": 2, "max_position_embeddings": 14}
    with torch.random.fork_rng():
        torch.manual_seed(0)
        model = them.RobertaModel(them.RobertaConfig(**sizes), add_pooling_layer=False)
        for parameter in model.parameters():
            torch.nn.init.normal_(parameter, std=0.3)
    return model.double().eval()


def test_roberta_counts_through_a_packed_row() -> None:
    embeddings = roberta().embeddings
    found = embeddings.create_position_ids_from_input_ids(PACKED, embeddings.padding_idx)
    assert found.tolist() == [[2, 3, 4, 5, 6, 7, 8, 9, 10]]


@torch.no_grad()
def test_packed_documents_of_roberta_need_positions_from_two_and_a_mask() -> None:
    model, block = roberta(), (DOCUMENTS[:, None] == DOCUMENTS)[None, None]
    alone = torch.cat([model(ids).last_hidden_state for ids in torch.split(PACKED, LENGTHS, 1)], 1)

    def error(positions: Tensor | None, mask: Tensor | None) -> float:
        found = model(PACKED, attention_mask=mask, position_ids=positions).last_hidden_state
        return float((found - alone).norm() / alone.norm())

    assert error(FROM_TWO, block) < 1e-12
    assert error(FROM_TWO - 2, block) > 0.05  # from row 0
    assert error(None, block) > 0.05  # what the model counts itself
    assert error(FROM_TWO, None) > 0.05  # no mask is made from positions


def test_a_packed_row_longer_than_the_table_of_roberta_is_out_of_bounds() -> None:
    with pytest.raises(RuntimeError, match="index 14 is out of bounds"):
        roberta()(PACKED.repeat(1, 2))


def test_the_collator_of_transformers_counts_from_0_unless_told() -> None:
    collator = importlib.import_module("transformers").DataCollatorWithFlattening
    features = [{"input_ids": ids[0].tolist()} for ids in torch.split(PACKED, LENGTHS, 1)]
    found = collator(position_ids_start=2)(features)["position_ids"]
    assert found.tolist() == FROM_TWO.tolist()
    assert collator()(features)["position_ids"].tolist() == (FROM_TWO - 2).tolist()


@torch.no_grad()
def test_transformers_separates_documents_only_without_a_cache_and_a_mask() -> None:
    model = gpt2()

    def logits(ids: Tensor, **how: Any) -> Tensor:
        found: Tensor = model(ids, **how).logits
        return found

    alone = torch.cat([logits(ids) for ids in torch.split(PACKED, LENGTHS, 1)], 1)

    def error(**how: Any) -> float:
        found = logits(PACKED, position_ids=FROM_TWO - 2, **how)
        return float((found - alone).norm() / alone.norm())

    assert error(use_cache=False) < 1e-12
    assert error() > 0.1  # by default, a cache is made
    assert error(use_cache=False, attention_mask=torch.ones_like(PACKED)) > 0.1


def test_flash_attention_of_transformers_begins_a_document_at_the_lowest_position() -> None:
    flash = importlib.import_module("transformers.modeling_flash_attention_utils")
    (starts, _), _ = flash.prepare_fa_kwargs_from_position_ids(FROM_TWO)
    assert starts.tolist() == [0, 3, 5, 9]
