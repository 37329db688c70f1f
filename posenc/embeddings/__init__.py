"""Added to token embeddings: the sinusoids, learned rows, baselines, renumbered positions."""
