"""A scanning process: `python -I -m vskill_platform.scanning.child MEMORY_BYTES CPU_SECONDS`.

It reads the rules and then jobs from standard input and answers on what was standard output, until its input ends; its
owner's death ends its input, so it does not outlive it. It limits itself before it reads the first job: memory, processor
time for each job, open files, and no new processes and no written files at all. Whatever else is printed goes to standard
error.
"""

from __future__ import annotations

import os
import resource
import sys
import time

import msgspec

from vskill_platform import __version__
from vskill_platform.domain.content import SkillContent, SkillFile
from vskill_platform.domain.scan import ScanReport
from vskill_platform.scanning.frames import (
    EXIT_OTHER_RULES,
    EXIT_OUT_OF_MEMORY,
    HEADER,
    Answer,
    decode_job,
    decode_start,
    frame,
)
from vskill_platform.scanning.tier1.packs import with_pack
from vskill_platform.scanning.tier1.rules import Ruleset, read_ruleset
from vskill_platform.scanning.tier1.scan import scan_content
from vskill_platform.scanning.tier1.yara import RESERVED_BYTES

MAX_OPEN_FILES = 64
_WARM_UP = SkillContent(
    files=(
        SkillFile(path="SKILL.md", content="---\nname: warm-up\n---\nCafé\u200b".encode()),
        SkillFile(path="notes.txt", content="warm-up".encode("utf-16")),
    )
)


def main() -> int:
    """Answer jobs until there are no more, by the rules of its owner and no others."""
    memory_bytes, cpu_s = (int(argument) for argument in sys.argv[1:3])
    answers = _take_standard_output()
    start = _read_frame()
    if start is None:
        return 0
    try:
        ruleset = _ruleset_of(start)
        if ruleset is None:
            return EXIT_OTHER_RULES
        scan_content(_WARM_UP, ruleset=ruleset)
        _limit_itself(memory_bytes + (RESERVED_BYTES if ruleset.yara is not None else 0))
        _write(answers, frame(None))
        while (data := _read_frame()) is not None:
            _write(answers, frame(None))
            _allow_cpu(cpu_s)
            _write(answers, _answer(data, ruleset))
    except MemoryError:
        # Nothing more is allocated on the way out. The owner reads the exit code.
        os._exit(EXIT_OUT_OF_MEMORY)
    except BrokenPipeError:
        return 0
    return 0


def _ruleset_of(data: bytes) -> Ruleset | None:
    """The rules that the owner has; None where this process, begun from another installation, would have others."""
    start = decode_start(data)
    ruleset = with_pack(read_ruleset(), start.pack)
    is_same = (__version__, ruleset.version) == (start.scanner_version, start.ruleset_version)
    return ruleset if is_same else None


def _answer(data: bytes, ruleset: Ruleset) -> bytes:
    job = decode_job(data)
    started = time.perf_counter()
    report = scan_content(job.content, limits=job.limits, ruleset=ruleset, changes=job.changes)
    elapsed_ms = round((time.perf_counter() - started) * 1e3, 3)
    return frame(Answer(job.number, _with_duration(report, elapsed_ms)))


def _with_duration(report: ScanReport, elapsed_ms: float) -> ScanReport:
    return msgspec.structs.replace(report, duration_ms=elapsed_ms)


def _take_standard_output() -> int:
    """The pipe for answers, out of reach of anything that prints."""
    answers = os.dup(sys.stdout.fileno())
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())
    return answers


def _limit_itself(memory_bytes: int) -> None:
    resource.setrlimit(resource.RLIMIT_AS, (memory_bytes, memory_bytes))
    resource.setrlimit(resource.RLIMIT_NOFILE, (MAX_OPEN_FILES, MAX_OPEN_FILES))
    resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    resource.setrlimit(resource.RLIMIT_NPROC, (0, 0))


def _allow_cpu(cpu_s: int) -> None:
    """Processor time for one more job. The limit counts the whole life of the process, so it is moved on."""
    used = resource.getrusage(resource.RUSAGE_SELF)
    _, most = resource.getrlimit(resource.RLIMIT_CPU)
    resource.setrlimit(resource.RLIMIT_CPU, (int(used.ru_utime + used.ru_stime) + 1 + cpu_s, most))


def _read_frame() -> bytes | None:
    """The next frame, or None where the input ends, be it in the middle of one."""
    header = _read_exactly(HEADER.size)
    return None if header is None else _read_exactly(HEADER.unpack(header)[0])


def _read_exactly(size: int) -> bytes | None:
    data = sys.stdin.buffer.read(size)
    return data if len(data) == size else None


def _write(descriptor: int, data: bytes) -> None:
    view = memoryview(data)
    while view:
        view = view[os.write(descriptor, view) :]


if __name__ == "__main__":
    sys.exit(main())
