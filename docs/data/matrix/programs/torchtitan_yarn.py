import math

from torchtitan.models.common.rope import ComplexRoPE

rope = ComplexRoPE(ComplexRoPE.Config(dim=64, max_seq_len=2, scaling="yarn", rope_factor=16.0))
print(f"length of the table's numbers: {rope.cache[1].abs().max():.6f}")
print(f"0.1 ln 16 + 1 is {0.1 * math.log(16) + 1:.6f}")
