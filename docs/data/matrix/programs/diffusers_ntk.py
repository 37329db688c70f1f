from diffusers.models.embeddings import get_1d_rotary_pos_embed

table = get_1d_rotary_pos_embed(64, 2, ntk_factor=4.0)
base = 10000 * 4 ** (64 / 62)
print(f"slowest frequency: {table[1, 31].angle():.6g}")
print(f"by the base {base:.0f}: {base ** (-62 / 64):.6g}, and by 40000: {40000 ** (-62 / 64):.6g}")
