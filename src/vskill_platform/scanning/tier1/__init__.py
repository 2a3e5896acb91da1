"""Tier 1: a pure function from bytes to a report. Rules are data; views, checks and parsers join in a list."""
