import torch
from litgpt.model import apply_rope_interleave, build_rope_cache

cos, sin = build_rope_cache(1, 4)
x = torch.tensor([[[1.0, 2.0, 3.0, 4.0]]])
print("at position 0:", apply_rope_interleave(x, cos[None], sin[None])[0, 0].tolist())
print("what was given:", x[0, 0].tolist())
