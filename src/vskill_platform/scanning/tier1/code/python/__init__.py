"""Python read as Python: what a skill's scripts, notebooks and fenced blocks do with secrets, networks and other people's code."""
