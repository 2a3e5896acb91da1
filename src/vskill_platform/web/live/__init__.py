"""Server-sent events: one reader of the event log a process, and any number of streams that follow it."""
