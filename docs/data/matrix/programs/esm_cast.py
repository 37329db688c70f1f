import torch
from esm.layers.rotary import RotaryEmbedding

rotary = RotaryEmbedding(64)
before = rotary.inv_freq[5].item()
rotary.to(torch.bfloat16).to(torch.float32)
after = rotary.inv_freq[5].item()
print(f"frequency of pair 5: {before:.6f}, and after the cast {after:.6f}")
print(f"at position 4096 they are {4096 * abs(before - after):.2f} radians apart")
