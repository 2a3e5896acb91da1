"""Adapters for the ports. Only the composition root and the tests know which one is in use."""
