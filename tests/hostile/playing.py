"""Playing a case: submitted at the registry's door, delivered as the worker delivers, and looked at from all sides after."""

from __future__ import annotations

import io
import zipfile
from typing import NamedTuple

from tests.hostile.corpus import REFUSED, Attack, Case
from tests.hostile.measuring import OUR_PROGRAMS, Measure, changed, descendants, left_running, measured, snapshot
from tests.hostile.stage import Stage
from tests.pipeline.journey import Journey
from vskill_platform.domain.archives import read_tar
from vskill_platform.domain.content import SkillFile, content_digest, make_content
from vskill_platform.domain.errors import InvalidInput
from vskill_platform.domain.ids import Digest
from vskill_platform.domain.messages import SUBMISSIONS_QUEUE
from vskill_platform.domain.records import Submission
from vskill_platform.domain.recovery import MessageStatus
from vskill_platform.domain.scan import ScanReport, Verdict
from vskill_platform.domain.submission import CATEGORY_OF, Category
from vskill_platform.pipeline.intake import submit_repository
from vskill_platform.stores.scans import get_scan
from vskill_platform.stores.skills import find_skill
from vskill_platform.stores.versions import get_version
from vskill_platform.testing.clock import FakeClock
from vskill_platform.testing.git_repos import EXECUTABLE, REGULAR, Entry, Files

OWN_MEMORY_KIB = 256 * 1024
CHILD_MEMORY_KIB = 640 * 1024
_BADNESS = {verdict: rank for rank, verdict in enumerate((Verdict.PASS, Verdict.CONCERNS, Verdict.FAIL))}


class End(NamedTuple):
    """How one submission ended."""

    state: str
    reason: str | None = None
    verdict: Verdict | None = None
    score: int | None = None
    rules: tuple[str, ...] = ()
    limits: tuple[str, ...] = ()

    def __str__(self) -> str:
        words = [self.state, self.reason, self.verdict, *self.rules[:6], *(f"!{limit}" for limit in self.limits)]
        return " ".join(str(word) for word in words if word)


class Play(NamedTuple):
    """Everything that is known of a case once it has been played."""

    ends: list[End]
    measure: Measure
    outside: list[str]
    processes: list[str]
    reached: int
    faults: list[str]


async def play(case: Case, stage: Stage, attack: Attack) -> Play:
    """Submit the attack, work until all is decided, and look."""
    traps = stage.traps
    baseline = (
        None if attack.baseline is None else (await _take_through(stage.journey, stage.clock, attack.baseline))[1]
    )
    journey = stage.journey.with_env(**attack.bindings)
    before, running, reached = snapshot(traps.folders), descendants(), stage.reached
    with measured(stage.scanner_pids) as measure:
        submissions, ends = await _take_through(journey, stage.clock, attack.url, skill=attack.skill)
    outside = changed(before, snapshot(traps.folders))
    outside += [str(path) for path in stage.folder.parent.parent.glob("fetched/*/*")]
    outside += [str(path) for path in stage.folder.glob("fetched/*/*")]
    processes = sorted(measure.programs - OUR_PROGRAMS)
    processes += await left_running(running, allowed=lambda: stage.scanner_pids)
    if traps.proof.exists():
        processes.append("payload")
        traps.proof.unlink()
    faults = [fault for submission in submissions for fault in await _check_published(journey, submission, attack)]
    faults += [] if baseline is None else _compare(ends, baseline)
    return Play(ends, measure, outside, processes, stage.reached - reached, faults)


def find_faults(case: Case, played: Play) -> list[str]:
    """What is not as the manifest says, or must never be. Empty for a case that ended as it must."""
    faults = [fault for end in played.ends for fault in _judge(case, end)]
    return faults + played.faults + find_trespasses(played)


def find_trespasses(played: Play) -> list[str]:
    """What no case may do, however it ends."""
    faults = [f"written outside: {path}" for path in played.outside]
    faults += [f"process: {name}" for name in played.processes]
    if played.reached:
        faults.append(f"the listener was reached {played.reached} times")
    if played.measure.own_kib > OWN_MEMORY_KIB or played.measure.child_kib > CHILD_MEMORY_KIB:
        faults.append(f"memory: {played.measure.own_kib} KiB here, {played.measure.child_kib} KiB in a child")
    return faults


def _judge(case: Case, end: End) -> list[str]:
    faults: list[str] = []
    if case.state is not None and (end.state, end.reason) != (case.state, case.reason):
        faults.append(f"ended as '{end}', not as {case.state} {case.reason or ''}")
    if case.ceiling is not None and (end.verdict is None or _BADNESS[end.verdict] < _BADNESS[Verdict(case.ceiling)]):
        faults.append(f"ended as '{end}', which is better than {case.ceiling}")
    if case.rule is not None and case.rule not in end.rules:
        faults.append(f"{case.rule} did not hit: '{end}'")
    if case.limits is not None and {*end.limits} - {*case.may_hit} != {*case.limits}:
        faults.append(f"limits {end.limits}, not {case.limits}")
    return faults


def _compare(ends: list[End], baseline: list[End]) -> list[str]:
    """More to look at must not make a verdict kinder."""
    (end,), (base,) = ends, baseline
    if end.verdict is None or base.verdict is None or end.score is None or base.score is None:
        return [] if end.verdict is None and base.verdict is not None else [f"not comparable: '{end}' and '{base}'"]
    if _BADNESS[end.verdict] < _BADNESS[base.verdict] or end.score > base.score:
        return [f"'{end}' with {end.score} is kinder than '{base}' with {base.score}"]
    return []


async def _take_through(
    journey: Journey, clock: FakeClock, url: str, *, skill: str = ""
) -> tuple[list[Submission], list[End]]:
    try:
        intake = await journey.inside(lambda: submit_repository(url, skill_name=skill))
    except InvalidInput as error:
        return [], [End(REFUSED, error.code)]
    for _ in range(2 * journey.env.settings.max_attempts):
        await journey.work()
        waiting = (await journey.env.queue.peek(SUBMISSIONS_QUEUE, status=MessageStatus.DELAYED)).messages
        if not waiting:
            break
        await clock.advance(max(0.0, (max(message.ready_ms for message in waiting) - clock.now_ms()) / 1000))
    parent = await journey.read(intake.submission.id)
    ended = [await journey.read(child) for child in parent.children] or [parent]
    return ended, [await _end_of(journey, submission) for submission in ended]


async def _end_of(journey: Journey, submission: Submission) -> End:
    assert CATEGORY_OF[submission.state] is not Category.ACTIVE, f"not decided: {submission}"
    scan = await journey.inside(lambda: get_scan(submission))
    if scan is None:
        return End(submission.state.value, submission.reason)
    report: ScanReport = scan.report
    rules = tuple(dict.fromkeys(finding.rule_id for finding in report.findings))
    return End(submission.state.value, submission.reason, report.verdict, report.score, rules, report.limits_hit)


async def _check_published(journey: Journey, submission: Submission, attack: Attack) -> list[str]:
    """What is published is what was scanned, to the byte, in the record and in both archives."""
    if submission.slug is None or submission.version is None:
        return []
    slug, number = submission.slug, submission.version
    found = await journey.inside(lambda: find_skill(slug))
    version = await journey.inside(lambda: get_version(slug, number))
    scan = await journey.inside(lambda: get_scan(submission))
    assert found is not None
    assert version is not None
    assert scan is not None
    assert submission.pin is not None
    tar = read_tar(await journey.env.blobs.get(Digest(version.tar_digest)))
    zipped = _read_zip(await journey.env.blobs.get(Digest(version.zip_digest)))
    digests = {
        "scanned": scan.report.content_digest,
        "pinned": submission.pin.content_digest,
        "version": version.content_digest,
        "skill": found.skill.content_digest,
        "tar": content_digest(tar),
        "zip": zipped,
    }
    if attack.publishes is not None:
        digests["committed"] = digest_of(attack.publishes)
    return [] if len(set(digests.values())) == 1 else [f"digests differ: {digests}"]


def digest_of(files: Files) -> str:
    """The digest of the skill that these files make; what is no regular file does not count."""
    entries = {path: entry if isinstance(entry, Entry) else Entry(entry) for path, entry in files.items()}
    kept = [
        SkillFile(path=path, content=entry.content, executable=entry.mode == EXECUTABLE)
        for path, entry in entries.items()
        if entry.mode in (REGULAR, EXECUTABLE)
    ]
    return content_digest(make_content(kept))


def _read_zip(archive: bytes) -> str:
    with zipfile.ZipFile(io.BytesIO(archive)) as opened:
        files = [
            SkillFile(
                path=entry.filename, content=opened.read(entry), executable=bool(entry.external_attr >> 16 & 0o100)
            )
            for entry in opened.infolist()
        ]
    return content_digest(make_content(files))
