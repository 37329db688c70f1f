import torch
from fms.modules.positions import PixtralRotaryEmbedding

x = torch.zeros(1, 1, 1, 8)
x[..., ::2] = 1
rope = PixtralRotaryEmbedding(8, 10000.0, image_size=4, patch_size=1)
turned = rope.adjusted_qk(x, x, torch.tensor([[[1, 1]]]))[0].flatten()
angles = torch.atan2(turned[1::2], turned[::2])
print("frequencies of rows and columns:", [f"{angle:.4g}" for angle in angles.tolist()])
print("each half like a head of its own:", ["1", "0.01", "1", "0.01"])
