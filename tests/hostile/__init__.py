"""Hostile input, as a corpus: what is tried, what must become of it, and what must never happen on the way."""
