import os

os.environ["KERAS_BACKEND"] = "jax"
from keras_hub.src.utils.transformers.convert_llama3 import convert_backbone_config

rule = {"rope_type": "llama3", "factor": 8.0, "original_max_position_embeddings": 8192}
rule |= {"low_freq_factor": 1.0, "high_freq_factor": 4.0}
config = {"vocab_size": 8, "num_hidden_layers": 1, "intermediate_size": 8, "hidden_size": 64}
config |= {"num_attention_heads": 1, "num_key_value_heads": 1, "tie_word_embeddings": True}
older = convert_backbone_config(config | {"rope_theta": 5e5, "rope_scaling": rule})
newer = convert_backbone_config(config | {"rope_parameters": rule | {"rope_theta": 5e5}})
for spelling, found in (("rope_scaling", older), ("rope_parameters", newer)):
    print(f"factor from {spelling}: {found.get('rope_frequency_adjustment_factor')}")
