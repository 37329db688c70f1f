"""The package against independent implementations, which are installed, not copied."""
