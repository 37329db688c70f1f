import torch
from transformers.models.deberta_v2.modeling_deberta_v2 import make_log_bucket_position

print(make_log_bucket_position(torch.tensor([511, 512, 5120]), 256, 512).tolist())
