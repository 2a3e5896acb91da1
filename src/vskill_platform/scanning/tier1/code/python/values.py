"""What an expression may stand for: texts it may be, names it may mean, and where what is in it comes from.

A value is a bounded summary, never the thing itself. `UNKNOWN` inside a text stands for a part that only the program knows,
so that a path or a command of which one end is known can still be told.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, TypeVar

from vskill_platform.scanning.tier1.code.places import secret_at

if TYPE_CHECKING:
    from vskill_platform.scanning.tier1.code.python.model import Class, Function, Module

Constant = str | bytes | int
_T = TypeVar("_T")
MOST_CONSTANTS = 32
MOST_REFERENCES = 16
MOST_ITEMS = 4096
MOST_JOINED = 256
LONGEST_PLACE = 300
UNKNOWN = "\0"
ALTERNATIVE = "|"
"""Between the names of keys of which a value has one."""

SECRET = 1 << 0
"""Credentials, cookies, histories, what is typed or copied."""
ENVIRONMENT = 1 << 1
"""All environment variables together."""
NAMED_KEY = 1 << 2
"""One environment variable that holds a key; its name is in `variables`."""
USER_FILES = 1 << 3
"""What stands in the user's files, many of them."""
USER_PATHS = 1 << 4
"""The paths of the user's files, many of them."""
IDENTITY = 1 << 5
"""Who and what machine this is."""
NETWORK = 1 << 6
"""What came from outside."""
DECODED = 1 << 7
"""What was decoded, decrypted or put together from numbers."""
INPUT = 1 << 8
"""What the user typed: standard input and arguments of a program."""
PARAMETER = 1 << 9
"""A parameter of a function that nothing in the skill calls: the agent does."""
TOOL = 1 << 10
"""A parameter of a function that is offered as a tool, or a part of a web request."""
HIDDEN = 1 << 11
"""A name that was looked up by a text instead of being written."""
FETCHED_PATH = 1 << 12
"""The path of a file that holds what came from outside."""
OWN_SECRET = 1 << 13
"""A secret that a program may have for itself: a token in a file of its own, or in a store under its name."""
FOLDED = 1 << 14
"""A text that does not stand in the source as it is."""
FILE = 1 << 15
"""What stands in some file."""
WALKED = 1 << 16
"""A path that a walk through folders came across."""
ENCRYPTED = 1 << 17
"""What was made unreadable without a key."""
PARSED = 1 << 18
"""A part of a table, a list or a document: data, and no program."""
ASSET = 1 << 19
"""What stands in a file that the skill brings along and that is no program."""
REQUEST = 1 << 20
"""A part of a web request."""
SETTINGS = 1 << 22
"""What stands in the project's own file of variables: the keys of all that it works with."""
TABLE = 1 << 23
"""Rows of a table, which are the user's own."""
MEMBER = 1 << 24
"""What stands under its name in a document, such as one setting of several."""
SECRET_PLACE = 1 << 21
"""The path of a secret, among so many others that it is not kept by itself."""

IN_CIRCLES = (
    SECRET
    | ENVIRONMENT
    | USER_FILES
    | USER_PATHS
    | NETWORK
    | DECODED
    | INPUT
    | PARAMETER
    | TOOL
    | OWN_SECRET
    | SETTINGS
    | FILE
    | PARSED
    | MEMBER
    | TABLE
    | ASSET
)
"""What goes on from each to each where several things are made from one another."""
EXPOSED = PARAMETER | TOOL
FROM_USER = INPUT | EXPOSED


class Value:
    """A summary of what an expression may be.

    `items` are the parts of a list or tuple in their order where all of them are known; `inner` is what any container may
    hold; `keyed` are the parts of a dictionary that have constant keys. Order is kept everywhere, so that a scan says the
    same thing each time.
    """

    __slots__ = ("_element", "constants", "inner", "items", "keyed", "references", "taint", "targets", "variables")

    def __init__(
        self,
        constants: tuple[Constant, ...] = (),
        references: tuple[str, ...] = (),
        targets: tuple[Function | Class | Module, ...] = (),
        taint: int = 0,
        *,
        items: tuple[Value, ...] | None = None,
        inner: Value | None = None,
        keyed: dict[Constant, Value] | None = None,
        variables: tuple[str, ...] = (),
    ) -> None:
        self.constants = constants
        self.references = references
        self.targets = targets
        self.taint = taint
        self.items = items
        self.inner = inner
        self.keyed = keyed
        self.variables = variables
        self._element: Value | None = None

    @property
    def texts(self) -> list[str]:
        """The constants that are texts, with bytes read as Latin-1."""
        return [
            each.decode("latin-1") if isinstance(each, bytes) else each
            for each in self.constants
            if not isinstance(each, int)
        ]

    @property
    def only(self) -> Constant | None:
        """The constant, where there is one and no other."""
        return self.constants[0] if len(self.constants) == 1 else None

    @property
    def is_single(self) -> bool:
        """Whether there is at most one constant and one variable, and nothing of the skill's own."""
        return not self.targets and len(self.constants) < 2 and len(self.variables) < 2

    def tainted(self, taint: int) -> Value:
        """The same value with this taint as well."""
        return self if self.taint | taint == self.taint else self._with(self.taint | taint, self.variables)

    def one_at_a_time(self) -> Value:
        """The same value where it has one of its keys; their names become one name."""
        if len(self.variables) < 2:
            return self
        return self._with(self.taint, (ALTERNATIVE.join(self.variables),))

    def _with(self, taint: int, variables: tuple[str, ...]) -> Value:
        return Value(
            self.constants,
            self.references,
            self.targets,
            taint,
            items=self.items,
            inner=self.inner,
            keyed=self.keyed,
            variables=variables,
        )

    def element(self) -> Value:
        """What a loop over the value meets."""
        if self._element is None:
            self._element = self._any_part()
        return self._element

    def _any_part(self) -> Value:
        if self.items is not None:
            return join(self.items[:MOST_JOINED]).tainted(self.taint & ~HIDDEN)
        if self.inner is not None:
            return self.inner.tainted(self.taint & ~HIDDEN)
        references = tuple(f"{name}[]" for name in self.references)
        return Value(references=references, taint=self.taint, variables=self.variables)

    def flat(self) -> Iterable[Value]:
        """The value and its direct parts."""
        yield self
        yield from (self.items or ())[:MOST_CONSTANTS]
        if self.inner is not None:
            yield self.inner


NOTHING = Value()


def constant(value: Constant, taint: int = 0) -> Value:
    """The value of a constant."""
    return Value((value,), (), (), taint)


def reference(name: str, taint: int = 0) -> Value:
    """The value of a name that comes from outside the skill."""
    return Value((), (name,), (), taint)


def container(items: list[Value]) -> Value:
    """A list or tuple of these parts, in this order."""
    kept = tuple(items[:MOST_ITEMS])
    taint, variables = 0, list[str]()
    for item in kept:
        taint |= item.taint
        variables += item.variables
    taint &= ~HIDDEN
    if len(kept) > MOST_JOINED:
        taint |= _taint_of_dropped([each for item in kept[MOST_JOINED:] for each in item.constants])
    return Value((), (), (), taint, items=kept, variables=_distinct(variables))


def join(values: Iterable[Value]) -> Value:
    """What may be any of these."""
    given = dict.fromkeys(values)
    given.pop(NOTHING, None)
    if len(given) <= 1:
        return next(iter(given), NOTHING)
    constants: list[Constant] = []
    references: list[str] = []
    targets: list[Function | Class | Module] = []
    variables: list[str] = []
    holders: list[Value] = []
    taint, keyed = 0, None
    for value in given:
        taint |= value.taint
        if value.constants:
            constants += value.constants
        if value.references:
            references += value.references
        if value.targets:
            targets += value.targets
        if value.variables:
            variables += value.variables
        if value.items is not None or value.inner is not None:
            holders.append(value)
        if value.keyed and keyed is None:
            keyed = value.keyed
    distinct = _distinct(constants)
    if len(distinct) > MOST_CONSTANTS:
        taint |= _taint_of_dropped(distinct[MOST_CONSTANTS:])
        distinct = distinct[:MOST_CONSTANTS]
    joined = Value(distinct, (), (), taint, keyed=keyed)
    if references:
        joined.references = _distinct(references)[:MOST_REFERENCES]
    if targets:
        joined.targets = _distinct(targets)[:MOST_REFERENCES]
    if variables:
        joined.variables = _distinct(variables)[:MOST_REFERENCES]
    if holders:
        joined.items = holders[0].items if len(holders) == 1 else None
        joined.inner = join([part for value in holders for part in _parts(value)])
    return joined


def one_of(values: list[Value]) -> Value:
    """The same where a program takes one of them: keys of which each value has but one then never come together."""
    joined = join(values)
    if len(joined.variables) > 1 and all(len(value.variables) < 2 for value in values):
        return joined.one_at_a_time()
    return joined


def _distinct(given: list[_T]) -> tuple[_T, ...]:
    """Each of them once, in the order in which they came first."""
    return tuple(dict.fromkeys(given)) if len(given) > 1 else tuple(given)


def _taint_of_dropped(constants: Iterable[Constant]) -> int:
    """What must be remembered of constants that are too many to be kept."""
    texts = (each for each in constants if isinstance(each, str) and len(each) < LONGEST_PLACE)
    return SECRET_PLACE if any(secret_at(each) for each in texts) else 0


def _parts(value: Value) -> list[Value]:
    parts = list(value.items or ())[:MOST_CONSTANTS]
    return parts if value.inner is None else [*parts, value.inner]
