from mlx_lm.models.llama import Attention, ModelArgs

config = {
    "model_type": "llama", "hidden_size": 64, "num_hidden_layers": 1, "intermediate_size": 8,
    "num_attention_heads": 1, "rms_norm_eps": 1e-5, "vocab_size": 8,
    "rope_parameters": {"rope_type": "default", "rope_theta": 500000.0},
}  # fmt: skip
rope = Attention(ModelArgs.from_dict(config)).rope
print(f"base in the configuration: {config['rope_parameters']['rope_theta']:.0f}")
print(f"base of the model: {rope.base:.0f}")
