"""Pure words and rules of the registry. Nothing in here does I/O, reads a clock or draws a random number."""
