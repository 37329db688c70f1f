import torch
from megatron.core.models.common.embeddings.rope_utils import apply_rotary_pos_emb_with_cos_sin

x = torch.tensor([1.0, 2.0, 3.0, 4.0]).reshape(1, 1, 1, 4)
cos, sin = torch.ones(1, 2), torch.zeros(1, 2)  # position 0: no rotation
print("at position 0:", apply_rotary_pos_emb_with_cos_sin(x, cos, sin).flatten().tolist())
print("by the definition:", x.flatten().tolist())
