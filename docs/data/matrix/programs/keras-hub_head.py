import os

os.environ["KERAS_BACKEND"] = "jax"
from keras_hub.src.utils.transformers import convert_llama3

config = {"vocab_size": 8, "num_hidden_layers": 1, "intermediate_size": 8, "hidden_size": 96}
config |= {"num_attention_heads": 4, "num_key_value_heads": 4, "tie_word_embeddings": True}
config |= {"head_dim": 32, "rope_theta": 5e5}
backbone = convert_llama3.backbone_cls(**convert_llama3.convert_backbone_config(config))
attention = backbone.transformer_layers[0]._self_attention_layer
print(f"width of a head in the configuration: {config['head_dim']}")
print(f"width of a head of the model: {attention._query_dense.kernel.shape[-1]}")
