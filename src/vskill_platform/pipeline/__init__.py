"""A submission's journey, top to bottom."""
