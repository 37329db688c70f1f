"""The tests, a room for each part of the project: `make test-all` runs them all."""
