"""Which time the engine goes by: the database's, or in tests the one of a clock that is handed in."""

from __future__ import annotations

from vskill_platform.ports.clock import Clock


class Times:
    """The moment to hand to the database with each statement, and moments of the database as this process's clock has them."""

    def __init__(self, clock: Clock, *, uses_database_time: bool) -> None:
        self.clock = clock
        self._uses_database_time = uses_database_time

    def asked_ms(self) -> int | None:
        """What `moment` is called with: None for the database's own time."""
        return None if self._uses_database_time else self.clock.now_ms()

    def local_ms(self, moment_ms: int, *, now_ms: int) -> int:
        """A moment of the database, whose time is `now_ms`, by this process's clock."""
        return self.clock.now_ms() + moment_ms - now_ms if self._uses_database_time else moment_ms
