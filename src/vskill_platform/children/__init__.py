"""Programs of others that we run: child processes with limits, and private folders for what they read and write."""
