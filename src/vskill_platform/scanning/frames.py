"""What a pool and its scanning processes say to each other: msgpack in frames, each with its length before it.

A process is told the rules first and says one empty frame when it is ready. Then it is given jobs, one at a time: it says
an empty frame when it has one whole and has not looked at it yet, and then its answer. So an end before the empty frame is
not the job's doing.
"""

from __future__ import annotations

import struct

import msgspec

from vskill_platform.domain.content import SkillContent
from vskill_platform.domain.scan import ScanReport
from vskill_platform.scanning.limits import ScanLimits
from vskill_platform.scanning.tier1.rules import PackFile

HEADER = struct.Struct(">I")
MAX_ANSWER_BYTES = 16 * 1024 * 1024
EXIT_OUT_OF_MEMORY = 3
EXIT_OTHER_RULES = 4


class Start(msgspec.Struct, frozen=True, array_like=True):
    """What a process is to scan by: the operator's pack, and the versions that it must come to with it."""

    scanner_version: str
    ruleset_version: str
    pack: tuple[PackFile, ...]


class Job(msgspec.Struct, frozen=True, array_like=True):
    """A skill to scan, and the operator's changes of the rules to scan it by. The answer has the same number."""

    number: int
    content: SkillContent
    limits: ScanLimits
    changes: dict[str, str] = msgspec.field(default_factory=dict)


class Answer(msgspec.Struct, frozen=True, array_like=True):
    """The report on the job of this number."""

    number: int
    report: ScanReport


_encoder = msgspec.msgpack.Encoder()
_start_decoder = msgspec.msgpack.Decoder(Start)
_job_decoder = msgspec.msgpack.Decoder(Job)
_answer_decoder = msgspec.msgpack.Decoder(Answer)


def frame(message: Start | Job | Answer | None) -> bytes:
    """The message with its length before it; None gives the empty frame."""
    data = b"" if message is None else _encoder.encode(message)
    return HEADER.pack(len(data)) + data


def decode_start(data: bytes) -> Start:
    """The start in a frame."""
    return _start_decoder.decode(data)


def decode_job(data: bytes) -> Job:
    """The job in a frame."""
    return _job_decoder.decode(data)


def decode_answer(data: bytes) -> Answer:
    """The answer in a frame. Raises msgspec.MsgspecError for anything else."""
    return _answer_decoder.decode(data)
