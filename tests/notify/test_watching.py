"""The watch: alerts open once, are told once, repeat no oftener than asked, and close with a word."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import msgspec
import pytest

from vskill_platform.domain.alert import AlertCode
from vskill_platform.domain.errors import InvalidInput, NotFound, StoreUnavailable
from vskill_platform.domain.ids import MessageId
from vskill_platform.domain.messages import SUBMISSIONS_QUEUE
from vskill_platform.engines.postgres import open_postgres
from vskill_platform.notify.machine import report_machine
from vskill_platform.notify.watching import watch_registry
from vskill_platform.ports.commit import Add, Bury, Delete, Put, Send
from vskill_platform.ports.env import WorkerEnv
from vskill_platform.ports.queue import QueueStats
from vskill_platform.stores.alerts import acknowledge, list_alerts, open_alerts
from vskill_platform.stores.pause import PAUSE_KEY, pause_queue, resume_queue
from vskill_platform.stores.records import encode_record
from vskill_platform.stores.series import CUT_OFF, HourRecord, count_events
from vskill_platform.testing.clock import FakeClock
from vskill_platform.testing.envs import make_env
from vskill_platform.testing.submissions import submit
from vskill_platform.worker_context import run_with_worker_env

REPEAT_S = 21_600
HOUR_S = 3600


async def look(env: WorkerEnv) -> list[str]:
    """One look; the ids of what is open after it."""

    async def watch() -> list[str]:
        await count_events()
        await watch_registry()
        return [alert.id for alert in await open_alerts()]

    return await run_with_worker_env(env, watch)


async def look_for(env: WorkerEnv, clock: FakeClock, *, minutes: int) -> list[str]:
    """A look every minute, as the cron does; what is open after the last."""
    opened: list[str] = []
    for _ in range(minutes):
        clock.shift(60)
        opened = await look(env)
    return opened


async def told(env: WorkerEnv) -> list[str]:
    """The alerts that the log tells of, in order."""
    events = (await env.events.read(0)).events
    return [f"{event.kind} {event.subject}" for event in events if event.kind.startswith("alert.")]


async def bury_one(env: WorkerEnv, name: str = "m1") -> None:
    await env.writes.commit([Send(SUBMISSIONS_QUEUE, MessageId(name), b"{}")])
    (message,) = await env.queue.receive(SUBMISSIONS_QUEUE, max_messages=1, lease_s=60)
    await env.writes.commit([Bury(message.lease, "broken")])


async def test_alert_opens_once_and_closes_with_its_word__when_the_dead_letter_goes(
    env: WorkerEnv, clock: FakeClock
) -> None:
    await bury_one(env)
    assert await look_for(env, clock, minutes=3) == ["dead_letters"]
    await env.queue.drop([MessageId("m1")], reason="seen")
    assert await look_for(env, clock, minutes=2) == []
    assert await told(env) == ["alert.opened dead_letters", "alert.closed dead_letters"]
    (alert,) = await run_with_worker_env(env, list_alerts)
    assert [line.what for line in alert.history] == ["opened", "closed"]
    assert alert.history[-1].sentence == "No more dead letters than usual are left."


async def test_alert_is_told_no_oftener_than_asked__when_it_comes_and_goes(env: WorkerEnv, clock: FakeClock) -> None:
    for number in range(3):
        await bury_one(env, f"m{number}")
        assert await look_for(env, clock, minutes=1) == ["dead_letters"]
        await env.queue.drop([MessageId(f"m{number}")], reason="seen")
        assert await look_for(env, clock, minutes=1) == []
    assert await told(env) == ["alert.opened dead_letters", "alert.closed dead_letters"]
    clock.shift(REPEAT_S)
    await bury_one(env, "later")
    await look(env)
    assert await told(env) == ["alert.opened dead_letters", "alert.closed dead_letters", "alert.opened dead_letters"]


async def test_alert_is_repeated_at_the_setting__until_a_person_acknowledges_it(
    env: WorkerEnv, clock: FakeClock
) -> None:
    await bury_one(env)
    await look(env)
    clock.shift(REPEAT_S - 1)
    await look(env)
    assert await told(env) == ["alert.opened dead_letters"]
    clock.shift(1)
    await look(env)
    assert await told(env) == ["alert.opened dead_letters", "alert.repeated dead_letters"]
    seen = await run_with_worker_env(env, lambda: acknowledge("dead_letters", by="ada", note="On it."))
    assert (seen.acknowledged_by, seen.note, seen.is_open) == ("ada", "On it.", True)
    clock.shift(REPEAT_S * 2)
    await look(env)
    assert (await told(env))[2:] == ["alert.acknowledged dead_letters"]


async def test_acknowledging_says_what_is_wrong__when_nothing_is_open_or_said(env: WorkerEnv) -> None:
    with pytest.raises(NotFound, match="no open alert 'dead_letters'"):
        await run_with_worker_env(env, lambda: acknowledge("dead_letters", by="ada", note="On it."))
    with pytest.raises(InvalidInput, match="Say what is being done"):
        await run_with_worker_env(env, lambda: acknowledge("dead_letters", by="ada", note="  "))


async def test_backlog_without_throughput_is_an_alert__after_its_time_and_not_before(
    env: WorkerEnv, clock: FakeClock
) -> None:
    await run_with_worker_env(env, lambda: submit("demo"))
    assert await look_for(env, clock, minutes=15) == []
    assert await look_for(env, clock, minutes=1) == ["no_throughput"]
    await env.queue.drop([message.id for message in await env.queue.line(SUBMISSIONS_QUEUE)], reason="gone")
    assert await look_for(env, clock, minutes=1) == []


async def test_backlog_is_no_alert__while_paused_and_shortly_after(env: WorkerEnv, clock: FakeClock) -> None:
    await run_with_worker_env(env, lambda: submit("demo"))
    await run_with_worker_env(env, lambda: pause_queue(reason="maintenance", seconds=HOUR_S))
    assert await look_for(env, clock, minutes=45) == []
    await run_with_worker_env(env, resume_queue)
    assert await look_for(env, clock, minutes=15) == []
    assert await look_for(env, clock, minutes=1) == ["no_throughput"]


async def test_backlog_is_no_alert_at_once__after_the_registry_was_off(env: WorkerEnv, clock: FakeClock) -> None:
    await run_with_worker_env(env, lambda: submit("demo"))
    await look(env)
    clock.shift(8 * HOUR_S)
    assert await look(env) == []


async def test_pause_is_an_alert__when_it_is_prolonged_again_and_again(env: WorkerEnv, clock: FakeClock) -> None:
    for _ in range(7):
        await run_with_worker_env(env, lambda: pause_queue(reason="maintenance", seconds=2 * HOUR_S))
        assert await look_for(env, clock, minutes=50) == []
    assert await look_for(env, clock, minutes=10) == ["paused_long"]


async def test_pause_is_an_alert__when_it_outlasts_what_was_asked_for(env: WorkerEnv, clock: FakeClock) -> None:
    pause = await run_with_worker_env(env, lambda: pause_queue(reason="maintenance", seconds=60))
    await env.writes.commit([Put(PAUSE_KEY, encode_record(pause))])
    assert await look_for(env, clock, minutes=2) == []
    assert await look_for(env, clock, minutes=1) == ["paused_long"]
    await env.writes.commit([Delete(PAUSE_KEY)])
    assert await look_for(env, clock, minutes=1) == []


async def test_scanner_errors_are_an_alert__from_cut_off_scans_and_missing_scanners_together(
    env: WorkerEnv, clock: FakeClock
) -> None:
    hour = "2026-02-21T10"
    await env.writes.commit([Add(f"metric:{hour}", {"failed.scanner_unavailable": 3})])
    cut_off = HourRecord(hour=hour, counts={CUT_OFF: 2})
    await env.writes.commit([Put(f"series:hour:{hour}", encode_record(cut_off))])
    assert await look(env) == []
    await env.writes.commit([Add(f"metric:{hour}", {"failed.scanner_unavailable": 1})])
    assert await look(env) == ["scanner_errors"]
    clock.shift(2 * HOUR_S)
    assert await look(env) == []


async def test_stuck_submissions_are_an_alert__beyond_the_limit(env: WorkerEnv, clock: FakeClock) -> None:
    few = replace(env, settings=msgspec.structs.replace(env.settings, alert_stuck=1, alert_no_throughput_s=HOUR_S))
    for name in ("one", "two"):
        await run_with_worker_env(few, lambda name=name: submit(name))  # type: ignore[misc]
    assert await look_for(few, clock, minutes=4) == []
    assert await look_for(few, clock, minutes=1) == ["stuck_submissions"]


async def test_disk_is_an_alert_of_its_machine__and_closes_when_there_is_room(env: WorkerEnv) -> None:
    greedy = replace(env, settings=msgspec.structs.replace(env.settings, alert_disk_free_bytes=10**18))
    for host in ("a", "b"):
        await run_with_worker_env(env, lambda host=host: report_machine(host=host))  # type: ignore[misc]
    assert await look(greedy) == ["disk_nearly_full:a", "disk_nearly_full:b"]
    assert await look(env) == []


async def test_clock_that_was_set_back_is_an_alert__until_time_has_caught_up(env: WorkerEnv, clock: FakeClock) -> None:
    async def report_and_look() -> list[str]:
        await run_with_worker_env(env, lambda: report_machine(host="a"))
        return await look(env)

    assert await report_and_look() == []
    clock.shift(-600)
    assert await report_and_look() == ["clock_skew:a"]
    clock.shift(601)
    assert await report_and_look() == []


async def test_clock_that_was_wrong_before_is_believed__after_an_hour(env: WorkerEnv, clock: FakeClock) -> None:
    clock.shift(365 * 24 * HOUR_S)
    await run_with_worker_env(env, lambda: report_machine(host="a"))
    clock.shift(-365 * 24 * HOUR_S)
    report = await run_with_worker_env(env, lambda: report_machine(host="a"))
    assert report.skew_ms == 365 * 24 * HOUR_S * 1000
    clock.shift(HOUR_S)
    report = await run_with_worker_env(env, lambda: report_machine(host="a"))
    assert report.skew_ms == 0


async def test_clock_is_compared_with_the_databases__on_postgresql(postgres_url: str, tmp_path: Path) -> None:
    engine = await open_postgres(postgres_url)
    late = FakeClock()
    try:
        env = make_env(engine, clock=late, folder=tmp_path, data=str(tmp_path), alert_disk_free_bytes=0)
        report = await run_with_worker_env(env, lambda: report_machine(host="a"))
        assert report.skew_ms is not None
        assert report.skew_ms > 24 * HOUR_S * 1000, "the fake clock stands long before the database's"
        assert await look(env) == ["clock_skew:a"]
    finally:
        await engine.close()


async def test_facts_that_cannot_be_read_are_an_alert__and_leave_the_others_as_they_were(
    env: WorkerEnv, clock: FakeClock
) -> None:
    class Down:
        async def stats(self, queue: str) -> QueueStats:
            raise StoreUnavailable("The queue is away.")

    await bury_one(env)
    await look(env)
    blind = replace(env, queue=Down())  # type: ignore[arg-type]

    async def watch() -> list[str]:
        await watch_registry()
        return sorted(alert.id for alert in await open_alerts())

    assert await run_with_worker_env(blind, watch) == ["dead_letters", "facts_unknown"]
    assert await look(env) == ["dead_letters"]
    assert AlertCode.UNKNOWN.value in " ".join(await told(env))
