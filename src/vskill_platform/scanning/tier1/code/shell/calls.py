"""One command as it is run: its name, its arguments, what flows into it; and the list of what is known of commands."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from vskill_platform.scanning.tier1.code.shell.values import NOTHING, Value
from vskill_platform.scanning.tier1.skill import FactKind

if TYPE_CHECKING:
    from vskill_platform.scanning.tier1.code.shell.machine import Machine


@dataclass(slots=True)
class Call:
    """A command with its arguments. `at` is where it stands; `is_detached` where the shell does not wait for it."""

    machine: Machine
    name: str
    arguments: list[Value]
    stdin: Value
    at: int
    is_detached: bool = False

    @property
    def texts(self) -> list[str]:
        """The texts of the arguments."""
        return [argument.text for argument in self.arguments]

    def see(self, check: str) -> None:
        """Something that a rule names."""
        self.machine.see(check, self.at)

    def know(self, kind: FactKind, value: str) -> None:
        """A fact."""
        self.machine.know(kind, self.at, value)

    def options(
        self, *, with_value: str = "", long_with_value: frozenset[str] = frozenset()
    ) -> Iterator[tuple[str, Value]]:
        """Options with their values, and plain arguments under the name of an empty text.

        `with_value` has the letters of short options that take one. Letters may stand together, as in `-fsSLo`.
        """
        rest = iter(self.arguments)
        for argument in rest:
            text = argument.text
            if text == "--":
                yield from (("", value) for value in rest)
            elif text.startswith("--"):
                name, is_given, value = text.partition("=")
                if is_given:
                    yield name, Value(value, argument.origins)
                else:
                    yield name, next(rest, NOTHING) if name in long_with_value else NOTHING
            elif text.startswith("-") and len(text) > 1:
                yield from self._letters(argument, rest, with_value)
            else:
                yield "", argument

    @staticmethod
    def _letters(argument: Value, rest: Iterator[Value], with_value: str) -> Iterator[tuple[str, Value]]:
        letters = argument.text[1:100]
        for number, letter in enumerate(letters):
            if letter in with_value:
                glued = argument.text[number + 2 :]
                yield f"-{letter}", Value(glued, argument.origins) if glued else next(rest, NOTHING)
                return
            yield f"-{letter}", NOTHING

    def plain(self, *, with_value: str = "", long_with_value: frozenset[str] = frozenset()) -> list[Value]:
        """The arguments that are no options and no values of options."""
        found = self.options(with_value=with_value, long_with_value=long_with_value)
        return [value for name, value in found if not name]

    def for_words(self, arguments: list[Value]) -> Value:
        """Runs other words in the place of this command, as `sudo` and `xargs` do, and gives what they print."""
        return self.machine.run_words(arguments, stdin=self.stdin, at=self.at, is_detached=self.is_detached)


Handler = Callable[[Call], Value]
HANDLERS: dict[str, Handler] = {}


def handles(names: str) -> Callable[[Handler], Handler]:
    """Marks what runs the commands of these names."""

    def register(handler: Handler) -> Handler:
        HANDLERS.update(dict.fromkeys(names.split(), handler))
        return handler

    return register
