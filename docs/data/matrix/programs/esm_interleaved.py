import math

import torch
from esm.layers.rotary import RotaryEmbedding

x = torch.zeros(1, 2, 1, 4)
x[..., 2] = 1  # the first of the second pair
rotated, _ = RotaryEmbedding(4, interleaved=True)(x, x)
print("pair 1 at position 1:", [round(value, 6) for value in rotated[0, 1, 0, 2:].tolist()])
print("by the definition:", [round(math.cos(0.01), 6), round(math.sin(0.01), 6)])
