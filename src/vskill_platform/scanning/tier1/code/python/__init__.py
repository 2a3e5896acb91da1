"""Python read as Python: what scripts, notebooks and fenced blocks do with secrets, networks and other people's code."""
