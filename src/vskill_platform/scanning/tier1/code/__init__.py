"""Code read as code: what flows from where to where inside scripts, fenced blocks and recipes."""
