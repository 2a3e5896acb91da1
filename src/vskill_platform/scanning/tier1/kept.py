"""A property that is worked out when it is first asked for, and kept from then on."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Generic, TypeVar, overload

Made = TypeVar("Made")


class kept_property(Generic[Made]):  # noqa: N801 - it is written like `property`
    """What `functools.cached_property` is, without its lock, which costs more than most of what is worked out here.

    Two threads that ask at the same time may both work it out, to the same end.
    """

    def __init__(self, make: Callable[[Any], Made]) -> None:
        self._make = make
        self._name = make.__name__
        self.__doc__ = make.__doc__

    @overload
    def __get__(self, owner: None, kind: type | None = None) -> kept_property[Made]: ...

    @overload
    def __get__(self, owner: object, kind: type | None = None) -> Made: ...

    def __get__(self, owner: object, kind: type | None = None) -> kept_property[Made] | Made:
        if owner is None:
            return self
        made = owner.__dict__[self._name] = self._make(owner)
        return made
