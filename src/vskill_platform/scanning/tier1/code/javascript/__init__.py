"""JavaScript and TypeScript: read loosely, and followed from where values come to where they go."""
