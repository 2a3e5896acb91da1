"""The memory engine: plain dicts under the same contract. For docs and tests; nothing of it survives the process."""

from vskill_platform.engines.memory.engine import MemoryEngine, open_memory

__all__ = ["MemoryEngine", "open_memory"]
