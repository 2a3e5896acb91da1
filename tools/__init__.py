"""Tools for developers; nothing of them is installed."""
