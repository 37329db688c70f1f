import torch
from transformers import LlamaConfig
from transformers.models.llama.modeling_llama import LlamaRotaryEmbedding

rule = {"rope_type": "dynamic", "rope_theta": 10000.0, "factor": 2.0}
config = LlamaConfig(head_dim=64, max_position_embeddings=2048, rope_parameters=rule)
rotary = LlamaRotaryEmbedding(config)
for length in (3000, 8000, 3000):
    rotary(torch.zeros(1), torch.arange(length)[None])
    print(f"{length} tokens: slowest frequency {rotary.inv_freq[-1]:.3e}")
