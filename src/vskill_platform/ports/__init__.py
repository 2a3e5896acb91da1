"""The contracts between the registry and its engines. A docstring in here is a specification."""
