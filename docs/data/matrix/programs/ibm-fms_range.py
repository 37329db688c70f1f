import math

import torch
from fms.modules.positions import CachedYarnRotaryEmbedding

x = torch.zeros(1, 1, 1, 8)
x[..., ::2] = 1
rope = CachedYarnRotaryEmbedding(8, 4096, 10000.0, 16.0, llama_4_scaling_beta=0)
turned = rope.adjusted_qk(x, x, torch.tensor([[1]]))[0].flatten()
low = math.floor(8 * math.log(4096 / (32 * 2 * math.pi)) / (2 * math.log(10000)))
high = math.ceil(8 * math.log(4096 / (2 * math.pi)) / (2 * math.log(10000)))
ramp = (2 - low) / (high - low)
meant = 10000 ** (-4 / 8) * (1 - ramp + ramp / 16)
print(f"pair 2: {torch.atan2(turned[5], turned[4]):.6f}, and by the definition {meant:.6f}")
