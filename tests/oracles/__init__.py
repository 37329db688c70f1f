"""Full tensors against programs that nobody here wrote."""
