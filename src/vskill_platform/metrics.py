"""What a process counts about itself, for Prometheus.

Facts about the store (how long the queue is, how many submissions there are) are no business of this module: they are read
from the store when somebody asks, in `web/metrics.py`, because every process would count them differently. Here is only what
no one but the process itself can know. Counters start at zero with the process, as Prometheus expects.
"""

from __future__ import annotations

from typing import NamedTuple

from prometheus_client import (
    CollectorRegistry,
    Counter,
    Gauge,
    Histogram,
    ProcessCollector,
    disable_created_metrics,
)
from prometheus_client.metrics import MetricWrapperBase

disable_created_metrics()  # type: ignore[no-untyped-call]
REGISTRY = CollectorRegistry()
"""The registry of this process: ours and not the library's own, so that nothing else turns up in it."""
_SHORT_S = (0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 5.0, 30.0)
_LONG_S = (0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0, 300.0)

BUILD = Gauge("vskill_build_info", "Always 1; the labels say what runs.", ["version", "role"], registry=REGISTRY)
MESSAGES = Counter(
    "vskill_messages",
    "Deliveries that this worker has ended: processed, released or failed.",
    ["outcome"],
    registry=REGISTRY,
)
MESSAGE_SECONDS = Histogram(
    "vskill_message_seconds", "Time that work on one message took.", buckets=_LONG_S, registry=REGISTRY
)
BATCHES = Gauge("vskill_batches_in_work", "Batches that this worker has in work now.", registry=REGISTRY)
EXTERNAL_SCANS = Counter(
    "vskill_external_scans",
    "External scans that have ended, by scanner and by how.",
    ["provider", "status"],
    registry=REGISTRY,
)
LEASES_LOST = Counter(
    "vskill_leases_lost", "Messages that went to another worker while this one had them.", registry=REGISTRY
)
EXCHANGE_SECONDS = Histogram(
    "vskill_exchange_seconds",
    "Time of one round trip to the queue: settle what has ended, pull what is there.",
    buckets=_SHORT_S,
    registry=REGISTRY,
)
COMMIT_SECONDS = Histogram(
    "vskill_commit_seconds",
    "Time until a commit was on disk or refused: committed, conflict (somebody was first) or failed.",
    ["outcome"],
    buckets=_SHORT_S,
    registry=REGISTRY,
)
SCAN_SECONDS = Histogram(
    "vskill_scan_seconds",
    "Time of one scan: complete, or cut short by a limit or a crash.",
    ["outcome"],
    buckets=_LONG_S,
    registry=REGISTRY,
)
SCANNER_STARTS = Counter(
    "vskill_scanner_starts", "Scanning processes that were started: first ones, and replacements.", ["reason"],
    registry=REGISTRY,
)  # fmt: skip
CRON_RUNS = Counter("vskill_cron_runs", "Runs of cron jobs by this process.", ["task", "outcome"], registry=REGISTRY)
CRON_HOLDER = Gauge(
    "vskill_cron_holder", "1 where this process holds the lease and runs the cron jobs, else 0.", registry=REGISTRY
)
SWEPT = Counter(
    "vskill_swept_submissions",
    "Submissions that looked stuck, by what the sweep did: left, requeued, rejected, conflicts, malformed, failed.",
    ["outcome"],
    registry=REGISTRY,
)
HTTP_REQUESTS = Counter(
    "vskill_http_requests", "Requests answered, by method, route and status.", ["method", "route", "status"],
    registry=REGISTRY,
)  # fmt: skip
HTTP_SECONDS = Histogram(
    "vskill_http_request_seconds",
    "Time until a request was answered whole.",
    ["method"],
    buckets=_LONG_S,
    registry=REGISTRY,
)
PASSWORD_CHECKS = Counter(
    "vskill_password_checks",
    "Passwords that were checked: right or wrong. Who names an account that is not there is among the wrong.",
    ["outcome"],
    registry=REGISTRY,
)
CLIENT_LISTS = Counter(
    "vskill_client_lists",
    "Lists of skills that clients asked for: to install from (install) or to look for something newer (update_check).",
    ["purpose"],
    registry=REGISTRY,
)
STREAMS = Gauge("vskill_event_streams", "Event streams that this process has open now.", registry=REGISTRY)
STREAMS_ENDED = Counter(
    "vskill_event_streams_ended",
    "Event streams that this process ended by itself: stopping, stalled (the reader took nothing).",
    ["reason"],
    registry=REGISTRY,
)
JUDGEMENTS = Counter(
    "vskill_judgements",
    "Skills that this worker had judged: answered, void (no valid answer), unavailable, over_limit or cached.",
    ["outcome"],
    registry=REGISTRY,
)
JUDGE_SECONDS = Histogram(
    "vskill_judge_seconds", "Time of one question to the judge, with its tries.", buckets=_LONG_S, registry=REGISTRY
)
JUDGE_TOKENS = Counter(
    "vskill_judge_tokens", "Tokens that this worker spent on the judge: in (read) or out (written).", ["direction"],
    registry=REGISTRY,
)  # fmt: skip
JUDGE_BREAKER = Gauge(
    "vskill_judge_breaker_open", "1 while this worker leaves the judge alone because it kept failing, else 0.",
    registry=REGISTRY,
)  # fmt: skip
WEBHOOK_TRIES = Counter(
    "vskill_webhook_tries",
    "Tries to deliver a webhook by this worker: delivered, failed (comes again) or given_up.",
    ["outcome"],
    registry=REGISTRY,
)
ProcessCollector(registry=REGISTRY)


class Fact(NamedTuple):
    """A fact about the store, which every process that is asked reads there."""

    name: str
    help: str
    labels: tuple[str, ...] = ()


READABLE = Fact(
    "vskill_store_readable", "1 where the store could be read for this answer; else 0, and no other fact is told."
)
QUEUE_MESSAGES = Fact(
    "vskill_queue_messages", "Messages in the queue: waiting, delayed, leased (in work) or dead.", ("state",)
)
QUEUE_OLDEST = Fact(
    "vskill_queue_oldest_age_seconds", "Age of the oldest message that is not dead; 0 where there is none."
)
QUEUE_PAUSED = Fact("vskill_queue_paused", "1 while a person has paused the queue, else 0.")
SUBMISSIONS = Fact("vskill_submissions", "Submissions by state.", ("state",))
STUCK = Fact(
    "vskill_submissions_stuck", "Submissions that have not moved for five minutes; from 10,000 on no more are counted."
)
ALERTS = Fact("vskill_alerts_open", "Alerts that are open, by severity.", ("severity",))
FACTS = (ALERTS, READABLE, QUEUE_MESSAGES, QUEUE_OLDEST, QUEUE_PAUSED, SUBMISSIONS, STUCK)


class Described(NamedTuple):
    """A metric as the reference lists it, with every name that its samples have."""

    name: str
    kind: str
    labels: tuple[str, ...]
    help: str
    samples: tuple[str, ...]


_SUFFIXES = {"counter": ("_total",), "histogram": ("_bucket", "_sum", "_count"), "gauge": ("",)}


def describe_metrics() -> list[Described]:
    """Every metric of ours, those of processes before the facts of the store."""
    own = [
        _describe(family.name, family.type, family.documentation, wrapper._labelnames)
        for wrapper in _wrappers()
        for family in wrapper.describe()
    ]
    return [*own, *(_describe(fact.name, "gauge", fact.help, fact.labels) for fact in FACTS)]


def _describe(name: str, kind: str, documentation: str, labels: tuple[str, ...]) -> Described:
    samples = tuple(f"{name}{suffix}" for suffix in _SUFFIXES[kind])
    shown = samples[0] if kind == "counter" else name
    return Described(shown, kind, tuple(labels), documentation, samples)


def _wrappers() -> list[MetricWrapperBase]:
    return [value for value in globals().values() if isinstance(value, MetricWrapperBase)]
