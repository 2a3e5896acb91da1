"""Looks at a skill's bytes without running any of them, and says what it found, where, and how grave it is."""
