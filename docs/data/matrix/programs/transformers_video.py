from types import MethodType, SimpleNamespace

import torch
from transformers import Qwen2VLConfig
from transformers.models.qwen2_vl.modeling_qwen2_vl import Qwen2VLModel

# A word, a video of eight frames of two by two patches, and two words.
types = torch.tensor([[0] + [2] * 32 + [0] * 2])
model = SimpleNamespace(config=Qwen2VLConfig())
model.get_vision_position_ids = MethodType(Qwen2VLModel.get_vision_position_ids, model)
grid = torch.tensor([[8, 4, 4]])  # before patches are merged in twos
positions, _ = Qwen2VLModel.get_rope_index(
    model, torch.zeros_like(types), types, video_grid_thw=grid
)
print("times of the frames:", positions[0, 0, 1:33:4].tolist())
print("positions of the words after them:", positions[0, 0, 33:].tolist())
