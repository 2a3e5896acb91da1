"""State machines: random walks over the engines and the worker, compared step by step with plain models."""
