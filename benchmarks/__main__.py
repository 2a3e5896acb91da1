"""Runs the figures, all or those named, prints the table and writes build/bench.json. Exits 0 whatever they say."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Coroutine

import uvloop

from benchmarks import (
    admin_pages,
    audit_log,
    catalog_search,
    client_installs,
    concept_passes,
    enumeration,
    event_streams,
    external_scans,
    group_commit,
    http_rates,
    peak_memory,
    pipeline_scaling,
    plain_reads,
    postgres_backlog,
    postgres_commits,
    postgres_drain,
    postgres_sweep,
    queue_drain,
    scan_growth,
    scan_speed,
    scanner_peers,
    stuck_sweep,
    submit_latency,
    view_growth,
)
from benchmarks.report import Row, print_report, write_report

FIGURES: dict[str, Callable[[], Coroutine[None, None, list[Row]]]] = {
    "admin_pages": admin_pages.run,
    "audit_log": audit_log.run,
    "catalog_search": catalog_search.run,
    "client_installs": client_installs.run,
    "concept_passes": concept_passes.run,
    "stuck_sweep": stuck_sweep.run,
    "enumeration": enumeration.run,
    "event_streams": event_streams.run,
    "external_scans": external_scans.run,
    "plain_reads": plain_reads.run,
    "group_commit": group_commit.run,
    "http_rates": http_rates.run,
    "queue_drain": queue_drain.run,
    "peak_memory": peak_memory.run,
    "pipeline_scaling": pipeline_scaling.run,
    "postgres_backlog": postgres_backlog.run,
    "postgres_commits": postgres_commits.run,
    "postgres_drain": postgres_drain.run,
    "postgres_sweep": postgres_sweep.run,
    "scan_speed": scan_speed.run,
    "scan_growth": scan_growth.run,
    "scanner_peers": scanner_peers.run,
    "submit_latency": submit_latency.run,
    "view_growth": view_growth.run,
}
ON_REQUEST = {"scanner_peers"}
"""Figures that run when they are named: this one installs half a gigabyte."""


def main() -> int:
    """Run what the arguments name."""
    wanted = sys.argv[1:] or [name for name in FIGURES if name not in ON_REQUEST]
    unknown = [name for name in wanted if name not in FIGURES]
    if unknown:
        print(f"There is no figure {', '.join(unknown)}. Known are: {', '.join(FIGURES)}.", file=sys.stderr)
        return 2
    rows: list[Row] = []
    for name in wanted:
        started = time.perf_counter()
        print(f"{name} ...", file=sys.stderr, flush=True)
        rows.extend(uvloop.run(FIGURES[name]()))
        print(f"{name} took {time.perf_counter() - started:.0f} s", file=sys.stderr, flush=True)
    write_report(rows)
    print_report(rows)
    return 0


if __name__ == "__main__":
    sys.exit(main())
