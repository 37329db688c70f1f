"""Added to token embeddings: the sinusoids, learned rows, baselines, other numbers for places."""
