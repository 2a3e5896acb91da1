"""Errors of tasks that ran at once, which Python hands over in a group.

`except*` would take them apart, but what is raised or exited from inside of it stays in a group before Python 3.11.4.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TypeVar

E = TypeVar("E", bound=Exception)


def first_of(problems: BaseExceptionGroup[BaseException], kinds: tuple[type[E], ...]) -> E | None:
    """The first error of the first of these kinds; None where there is any other error, which must not be hidden."""
    told, others = problems.split(kinds)
    if told is None or others is not None:
        return None
    return min(_leaves(told), key=lambda error: [isinstance(error, kind) for kind in kinds].index(True))


def _leaves(problems: BaseExceptionGroup[E]) -> Iterator[E]:
    for error in problems.exceptions:
        yield from _leaves(error) if isinstance(error, BaseExceptionGroup) else (error,)
