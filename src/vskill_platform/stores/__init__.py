"""Records over the ports. Every function reads its bindings from the env in scope."""
