import torch
from litgpt import GPT, Config

gpt = GPT(Config(block_size=8192, n_layer=1, n_embd=64, n_head=1, rotary_percentage=1.0))
before = gpt.cos[4999, 0].item()
gpt.to(torch.bfloat16).to(torch.float32)
print(f"cosine at position 4999: {before:.6f}, and after the cast {gpt.cos[4999, 0]:.6f}")
