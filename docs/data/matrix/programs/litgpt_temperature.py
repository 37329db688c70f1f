import math

from litgpt.model import build_rope_cache

yarn = {"factor": 16.0, "beta_fast": 32, "beta_slow": 1, "original_max_seq_len": 4096}
cos, _ = build_rope_cache(1, 128, extra_config=yarn)
print(f"cosine at position 0: {cos[0, 0]:.6f}")
print(f"0.1 ln 16 + 1 is {0.1 * math.log(16) + 1:.6f}")
