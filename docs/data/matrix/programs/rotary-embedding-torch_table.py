import torch
from rotary_embedding_torch import RotaryEmbedding

rope = RotaryEmbedding(4)
x = torch.ones(1, 1, 1001, 4)
before = rope.rotate_queries_or_keys(x)
rope.to(torch.bfloat16).to(torch.float32)
after = rope.rotate_queries_or_keys(x)
for position in (300, 301, 1000):
    print(f"at {position}:", before[0, 0, position, 0].item(), after[0, 0, position, 0].item())
