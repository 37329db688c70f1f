from transformers.models.mpt.modeling_mpt import build_mpt_alibi_tensor

keys = build_mpt_alibi_tensor(1, 4)[0, 0].tolist()
slope = 2**-8
print("for each query:", [key / slope for key in keys], "times the slope")
print("for query 1 in the paper:", [0 - 1, 1 - 1], "times the slope, and later keys hidden")
