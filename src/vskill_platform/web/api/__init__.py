"""The JSON interface, version 1."""
