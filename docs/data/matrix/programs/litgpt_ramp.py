import torch
from litgpt.model import build_rope_cache

yarn = {"factor": 16.0, "beta_fast": 32, "beta_slow": 1, "original_max_seq_len": 4096}
cos, sin = build_rope_cache(2, 128, extra_config=yarn)
angles = torch.atan2(sin[1], cos[1])  # at position 1
for pair, kept in ((0, True), (63, False)):
    unscaled = 10000 ** (-2 * pair / 128)
    meant = unscaled if kept else unscaled / 16
    print(f"pair {pair}: {angles[pair]:.6g}, and by the definition {meant:.6g}")
