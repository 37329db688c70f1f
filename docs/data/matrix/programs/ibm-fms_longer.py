import torch
from fms.modules.positions import RotaryEmbedding

rope = RotaryEmbedding(4, max_seq_len=16)
x = torch.ones(1, 1, 1, 4)
for position in (3, 20):
    try:
        print(position, rope.adjusted_qk(x, x, torch.tensor([[position]]))[0].flatten().tolist())
    except IndexError as error:
        print(position, error)
