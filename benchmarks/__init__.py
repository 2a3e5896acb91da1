"""Figures as ratios measured in one run. `python -m benchmarks [name]` prints them and writes build/bench.json."""
