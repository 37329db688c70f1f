import importlib.util
from importlib.metadata import distribution

import torch

path = distribution("torchtune").locate_file("torchtune/modules/position_embeddings.py")
spec = importlib.util.spec_from_file_location("position_embeddings", path)
spec.loader.exec_module(module := importlib.util.module_from_spec(spec))
rotary = module.RotaryPositionalEmbeddings(64)
before = rotary.cache.clone()
rotary.to(torch.bfloat16).to(torch.float32)
error = (rotary.cache - before).abs().amax((1, 2))
print(f"largest error up to position 63: {error[:64].max():.4f}")
print(f"largest error up to position 4095: {error.max():.4f}")
