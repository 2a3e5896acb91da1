"""The env: every binding that code above the engines may use, handed in together."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from uuid import UUID, uuid4

from vskill_platform.ports.blobs import Blobs
from vskill_platform.ports.catalog import Catalog
from vskill_platform.ports.clock import Clock
from vskill_platform.ports.commit import Commit
from vskill_platform.ports.events import Events
from vskill_platform.ports.kv import KV
from vskill_platform.ports.limiter import Limiter
from vskill_platform.ports.queue import Message, Queue
from vskill_platform.ports.scanner import Scanner
from vskill_platform.ports.second_opinions import ExternalScanner, Judge
from vskill_platform.ports.source import Source
from vskill_platform.settings import Settings

ProcessMessage = Callable[[Message], Awaitable[None]]
"""Works on one message, with the env in scope. Returning acks it unless it was settled; raising retries it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkerEnv:
    """The bindings of one process, or of one test. Immutable: to change one, make another env."""

    kv: KV
    writes: Commit
    queue: Queue
    catalog: Catalog
    events: Events
    blobs: Blobs
    limiter: Limiter
    clock: Clock
    settings: Settings
    source: Source
    scanner: Scanner
    process: ProcessMessage
    external: Mapping[str, ExternalScanner] = field(default_factory=lambda: MappingProxyType({}))
    judge: Judge | None = None
    random_id: Callable[[], UUID] = uuid4
