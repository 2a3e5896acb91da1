"""What the evaluator has to be told of the world outside the skill. `calls.py` tells it."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import TYPE_CHECKING

from vskill_platform.scanning.tier1.code.python.model import Function, Site
from vskill_platform.scanning.tier1.code.python.values import Value

if TYPE_CHECKING:
    from vskill_platform.scanning.tier1.code.python.evaluation import Evaluator


class OutsideWorld(ABC):
    """Knows functions, modules and places that are not the skill's own."""

    @abstractmethod
    def result(self, evaluator: Evaluator, site: Site) -> Value:
        """What a call gives."""

    @abstractmethod
    def looked_up(self, evaluator: Evaluator, holder: Value, key: Value) -> Value | None:
        """What stands behind a key of something known, such as the environment; None for all else."""

    @abstractmethod
    def joined_path(self, parts: Sequence[Value]) -> Value:
        """A path of these parts."""

    @abstractmethod
    def content_taint(self, evaluator: Evaluator, path: Value) -> int:
        """Where what stands in a file comes from."""

    @abstractmethod
    def attribute_taint(self, name: str) -> int:
        """Where what has this name comes from."""

    @abstractmethod
    def path_attribute(self, holder: Value, name: str) -> Value | None:
        """A part of a path that is an attribute of it; None for all else."""

    @abstractmethod
    def free_name(self, name: str) -> str:
        """What a name means that nothing binds."""

    @abstractmethod
    def parameter_taint(self, function: Function, *, is_called: bool) -> int:
        """Where the parameters of a function come from, besides the calls of the skill itself."""

    @abstractmethod
    def callback_taint(self, callee: Value) -> int:
        """Where what a callback is called with comes from."""
