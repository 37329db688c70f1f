"""Relative positions against transformers: Shaw's scores, and the Transformer-XL shift.

Wav2Vec2-BERT has Shaw's embeddings under the name `relative_key`, XLNet the shift of
Transformer-XL. x-transformers has neither.
"""

from __future__ import annotations

from typing import Any

import pytest
import torch

from posenc.nn.relative import RelativePositionEmbedding, relative_positions
from posenc.scores.relative import relative_shift, shaw_index


@pytest.fixture
def embedding() -> RelativePositionEmbedding:
    """Return an embedding with standard normal rows."""
    torch.manual_seed(0)
    embedding = RelativePositionEmbedding(8, 5)
    torch.nn.init.normal_(embedding.table)
    return embedding


@pytest.fixture
def relative_key(embedding: RelativePositionEmbedding) -> Any:
    """Return Wav2Vec2-BERT's attention with the same table."""
    from transformers.models.wav2vec2_bert import modeling_wav2vec2_bert as peer

    config = peer.Wav2Vec2BertConfig(
        hidden_size=24,
        num_attention_heads=3,
        position_embeddings_type="relative_key",
        left_max_position_embeddings=5,
        right_max_position_embeddings=5,
    )
    module = peer.Wav2Vec2BertSelfAttention(config)
    module.distance_embedding.weight = embedding.table
    return lambda q, k: peer._apply_relative_key_position_encoding(module, q, k)[1]


@pytest.mark.parametrize(("queries", "keys"), [(20, 20), (3, 17), (17, 3), (1, 1)])
def test_shaw_scores_are_those_of_wav2vec2_bert(
    queries: int, keys: int, embedding: RelativePositionEmbedding, relative_key: Any
) -> None:
    q, k = torch.randn(2, 3, queries, 8), torch.randn(2, 3, keys, 8)
    # That module divides by √d at once; ours is the summand before the division.
    expected = relative_key(q, k) * 8**0.5
    # Dot products of eight float32 numbers of size 1.
    for ours in (
        embedding.scores(q, relative_positions(queries, keys)),
        embedding.shifted_scores(q, keys),
    ):
        torch.testing.assert_close(ours, expected, rtol=0, atol=1e-5)


@pytest.mark.parametrize(("queries", "keys"), [(6, 6), (2, 9), (9, 2), (1, 4)])
def test_the_shift_is_that_of_xlnet(queries: int, keys: int) -> None:
    from transformers.models.xlnet.modeling_xlnet import XLNetRelativeAttention

    scores = torch.randn(2, 3, queries, queries + keys - 1, dtype=torch.float64)
    # XLNet starts one relative position earlier, which the shift drops.
    earlier = torch.cat([torch.full_like(scores[..., :1], torch.nan), scores], dim=-1)
    expected = XLNetRelativeAttention.rel_shift_bnij(earlier, klen=keys)
    assert torch.equal(torch.from_numpy(relative_shift(scores.numpy())), expected)


def test_speecht5_counts_query_minus_key_where_shaw_counts_key_minus_query() -> None:
    # Section 3.2 of the paper labels the edge from i to j by j − i, with 2k + 1 labels: ours.
    # SpeechT5 has 2k rows for i − j: reversed, and without one for the furthest key behind.
    from transformers.models.speecht5.modeling_speecht5 import SpeechT5RelativePositionalEncoding

    peer = SpeechT5RelativePositionalEncoding(1, max_length=3)
    peer.pe_k.weight = torch.nn.Parameter(torch.arange(6.0).unsqueeze(1))
    expected = peer(torch.zeros(1, 9, 1)).squeeze(-1).long()
    ours = torch.from_numpy(shaw_index(relative_positions(9).numpy(), max_distance=3))
    assert torch.equal(expected, (6 - ours).clamp(max=5))
    assert expected.max() == 5
    assert ours.max() == 6
