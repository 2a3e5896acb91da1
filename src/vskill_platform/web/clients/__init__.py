"""What installation clients speak to: git and the archives."""
