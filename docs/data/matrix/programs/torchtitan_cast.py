import torch
from torchtitan.models.common.rope import ComplexRoPE

rope = ComplexRoPE(ComplexRoPE.Config(dim=4, max_seq_len=8))
x = torch.ones(1, 8, 1, 4)
before, _ = rope(x, x)
after, _ = rope.to(torch.bfloat16).to(torch.float32)(x, x)
print("at position 3:", before[0, 3, 0].tolist())
print("after the cast:", after[0, 3, 0].tolist())
