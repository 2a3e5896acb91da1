"""The faces of the registry over HTTP."""
