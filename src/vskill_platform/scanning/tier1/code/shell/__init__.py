"""Shell code: read as a shell reads it, and followed from where values come to where they go."""
