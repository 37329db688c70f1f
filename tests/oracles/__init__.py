"""The package against other people's implementations, which are installed, not copied."""
