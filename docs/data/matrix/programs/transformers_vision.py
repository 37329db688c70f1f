import torch
from transformers.models.qwen2_vl import modeling_qwen2_vl as qwen

x = torch.arange(1.0, 9).view(1, 1, 8)  # one patch, one head
config = qwen.Qwen2VLVisionConfig(embed_dim=8, num_heads=1)
rotary = qwen.Qwen2VLVisionRotaryEmbedding(config)
for where in ([1, 0], [0, 1]):
    cosines, sines = rotary(x, torch.tensor([where]))
    rotated = qwen.apply_rotary_pos_emb_vision(x, x, cosines, sines)[0]
    moved = (rotated != x).flatten().nonzero().flatten().tolist()
    print(f"row and column {where}: dimensions {moved} rotate")
