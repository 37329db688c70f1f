"""The claims of the sources and of the pages, each proved or refuted by a test."""
