"""Markdown read as Markdown: its blocks and sections, and what it hides."""
