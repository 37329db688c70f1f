import torch
from labml_nn.transformers.alibi import get_alibi_biases

bias = get_alibi_biases(8, torch.ones(3, 3).tril().bool())
print("bias of the last query, head 0:", bias[2, :, 0].tolist())
print("by the definition:", [0.5 * (key - 2) for key in range(3)])
