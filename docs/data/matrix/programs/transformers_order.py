import torch
from transformers.models.deepseek_v3 import modeling_deepseek_v3 as deepseek

x = torch.tensor([[[[1.0, 2.0, 3.0, 4.0]]]])  # two pairs of neighbours, at position 0
cosines, sines = torch.ones(1, 1, 4), torch.zeros(1, 1, 4)
queries, keys = deepseek.apply_rotary_pos_emb_interleave(x, x, cosines, sines)
print("not rotated, yet in another order:", queries.flatten().tolist())
print("score:", (queries @ keys.mT).item(), "and without:", (x @ x.mT).item())
