"""`/metrics` for Prometheus: what this process has counted, and facts about the store, read for each answer."""

from __future__ import annotations

from ipaddress import ip_address
from typing import Any

import structlog
from litestar import Response, get
from litestar.connection import ASGIConnection
from litestar.handlers import BaseRouteHandler
from prometheus_client import CONTENT_TYPE_LATEST, CollectorRegistry, Gauge, generate_latest

from vskill_platform import metrics
from vskill_platform.domain.alert import AlertSeverity
from vskill_platform.domain.errors import NotFound, VskillError
from vskill_platform.domain.submission import SubmissionState
from vskill_platform.metrics import Fact
from vskill_platform.stores.facts import StoreFacts, read_facts
from vskill_platform.web.access import IS_CONTROL

_FORWARDED = ("forwarded", "via", "x-forwarded-for", "x-forwarded-host", "x-forwarded-proto", "x-real-ip")
_log = structlog.get_logger(__name__)


async def only_from_this_machine(connection: ASGIConnection[Any, Any, Any, Any], _: BaseRouteHandler) -> None:
    """Nobody else is told that there is anything: figures say how busy a registry is and what it fails at.

    Whoever may open the control socket is on this machine.
    """
    if connection.app.state.get(IS_CONTROL):
        return
    client = connection.client
    is_forwarded = any(name in connection.headers for name in _FORWARDED)
    if client is None or is_forwarded or not _is_loopback(client.host):
        raise NotFound("There is nothing at this address.")


def _is_loopback(host: str) -> bool:
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return False


@get("/metrics")
async def show_metrics() -> Response[bytes]:
    """Everything, in Prometheus' text format. A store that cannot be read is told as that, never as zeros."""
    content = generate_latest(metrics.REGISTRY) + generate_latest(await _facts())
    return Response(content, headers={"Content-Type": CONTENT_TYPE_LATEST, "Cache-Control": "no-store"})


async def _facts() -> CollectorRegistry:
    registry = CollectorRegistry()
    readable = _gauge(metrics.READABLE, registry)
    try:
        facts = await read_facts()
    except VskillError as error:
        _log.warning("facts_unreadable", code=error.code, error=error.message)
        readable.set(0)
        return registry
    readable.set(1)
    _tell(facts, registry)
    return registry


def _tell(facts: StoreFacts, registry: CollectorRegistry) -> None:
    messages = _gauge(metrics.QUEUE_MESSAGES, registry)
    for state in ("waiting", "delayed", "leased", "dead"):
        messages.labels(state).set(getattr(facts.queue, state))
    submissions = _gauge(metrics.SUBMISSIONS, registry)
    for known in SubmissionState:
        submissions.labels(known.value).set(facts.submissions.get(known, 0))
    alerts = _gauge(metrics.ALERTS, registry)
    for severity in AlertSeverity:
        alerts.labels(severity.value).set(facts.alerts.get(severity, 0))
    _gauge(metrics.QUEUE_OLDEST, registry).set(facts.oldest_age_s)
    _gauge(metrics.QUEUE_PAUSED, registry).set(facts.is_paused)
    _gauge(metrics.STUCK, registry).set(facts.stuck)


def _gauge(fact: Fact, registry: CollectorRegistry) -> Gauge:
    return Gauge(fact.name, fact.help, fact.labels, registry=registry)
