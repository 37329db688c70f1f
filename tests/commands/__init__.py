"""The commands of the Makefile: setting up, figures, benchmarks, measurements, Lighthouse."""
