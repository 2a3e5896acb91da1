"""Shell code inside programs of other languages, such as `execSync("...")`."""

from __future__ import annotations

from collections.abc import Mapping

from vskill_platform.scanning.tier1.code.budget import Budget, TooDeep
from vskill_platform.scanning.tier1.code.report import Report
from vskill_platform.scanning.tier1.code.shell.machine import Machine
from vskill_platform.scanning.tier1.code.shell.values import NOTHING, Origin, Value, unknown


class EmbeddedShell:
    """A shell that a program gives commands to. What is seen goes into the program's own report."""

    def __init__(self, report: Report, *, own_files: Mapping[str, str], budget: Budget) -> None:
        self._machine = Machine(own_files=own_files, budget=budget)
        self._machine.report_to(report)

    def run(self, text: str, *, at: int) -> Value:
        """Runs a line of shell code that stands at an offset of the program, and gives what it prints."""
        try:
            return self._machine.run_inner(text, stdin=NOTHING, at=at)
        except TooDeep:
            return NOTHING

    def write_file(self, path: str, origins: frozenset[Origin]) -> None:
        """A file that the program has put there, which commands may run or send."""
        self._machine.files.write(path, unknown(path, origins=origins))
