"""Measured in one run, printed as ratios: ``python -m benchmarks``."""
