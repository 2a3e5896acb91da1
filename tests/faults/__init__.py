"""Fault runs: what was acknowledged is there afterwards, whatever happened in between."""
