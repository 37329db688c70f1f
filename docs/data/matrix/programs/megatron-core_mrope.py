import torch
from megatron.core.models.common.embeddings.rotary_pos_embedding import MultimodalRotaryEmbedding

torch.cuda.current_device = lambda: "cpu"
places = torch.arange(5).expand(3, 1, 5)
for interleaved in (False, True):
    rope = MultimodalRotaryEmbedding(16, 1.0, rotary_interleaved=interleaved)
    try:
        print("interleaved:", interleaved, "shape:", tuple(rope(places, [4, 2, 2]).shape))
    except RuntimeError as error:
        print("interleaved:", interleaved, str(error)[:40])
