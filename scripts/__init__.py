"""What builds and checks the book. Nothing here is installed with the package."""
