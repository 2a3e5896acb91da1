"""External scans: asked for, run here or elsewhere, answered, late, lost and forged."""
