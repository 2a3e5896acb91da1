"""A remote worker: takes scans up at a registry, runs them here, and says what came of them.

It holds a scan by a lease that it extends while the scanner runs. Whatever becomes of the worker, the registry gives the scan to
another when the lease lapses; a worker that is told to stop gives it back at once.
"""

from __future__ import annotations

import asyncio
import contextlib
import hashlib
from collections import Counter
from collections.abc import AsyncIterator, Mapping

import httpx
import structlog

from vskill_platform.client.connection import RegistryClient
from vskill_platform.domain.archives import read_tar
from vskill_platform.domain.content import SkillContent, content_digest
from vskill_platform.domain.errors import (
    BlobCorrupt,
    Conflict,
    ExternalScanOver,
    NotAllowed,
    RegistryUnreachable,
    SignInRequired,
    VskillError,
)
from vskill_platform.domain.external_result import result_of
from vskill_platform.domain.external_scan import ExternalReport, ExternalScanStatus
from vskill_platform.pipeline.pushed_scans import CLAIM_HEADER
from vskill_platform.ports.second_opinions import ExternalScanner
from vskill_platform.web.api.external_scan_views import (
    ClaimedScan,
    ClaimRequest,
    CompletedScan,
    HeldScan,
    LeaseView,
    PendingScans,
    ScanOutcome,
)

PLACE = "/api/v1/external-scans"
MAX_ARCHIVE_BYTES = 256 * 1024 * 1024
_IDLE_S, _LONGEST_IDLE_S = 1.0, 15.0
_TROUBLE_S, _LONGEST_TROUBLE_S = 1.0, 60.0
_log = structlog.get_logger(__name__)


class RemoteWorker:
    """Works for a registry until it is told to stop, or until nothing waits.

    `archives` fetches the bytes: they are for whoever has the claim, and the token need not travel with them.
    """

    def __init__(
        self,
        registry: RegistryClient,
        *,
        archives: httpx.AsyncClient,
        scanners: Mapping[str, ExternalScanner],
        name: str,
    ) -> None:
        self._registry = registry
        self._archives = archives
        self._scanners = scanners
        self._name = name
        self._stopping = asyncio.Event()
        self.ended: Counter[str] = Counter()

    def stop(self) -> None:
        """Take nothing more up, and give back what is in work."""
        self._stopping.set()

    async def run(self, *, at_once: int, is_once: bool) -> None:
        """Work in so many lanes side by side; with `is_once`, until nothing waits. Raises what a registry refuses us with."""
        async with asyncio.TaskGroup() as group:
            for _ in range(at_once):
                group.create_task(self._lane(is_once=is_once))

    async def _lane(self, *, is_once: bool) -> None:
        idle_s, trouble_s = _IDLE_S, _TROUBLE_S
        while not self._stopping.is_set():
            try:
                has_worked = await self._work_once()
            except (SignInRequired, NotAllowed):
                raise
            except VskillError as error:
                if is_once:
                    raise
                _log.warning("registry_trouble", code=error.code, error=error.message, again_in_s=trouble_s)
                await self._wait(trouble_s)
                trouble_s = min(trouble_s * 2, _LONGEST_TROUBLE_S)
                continue
            trouble_s = _TROUBLE_S
            if not has_worked:
                if is_once:
                    return
                await self._wait(idle_s)
            idle_s = _IDLE_S if has_worked else min(idle_s * 1.5, _LONGEST_IDLE_S)

    async def _work_once(self) -> bool:
        """Take one scan up and end it. Says whether there was one."""
        for provider, scanner in self._scanners.items():
            pending = await self._registry.get(f"{PLACE}/pending", PendingScans, provider=provider)
            for waiting in pending.scans:
                claimed = await self._claim(provider, waiting.id)
                if claimed is not None:
                    await self._run(claimed, scanner)
                    return True
                if self._stopping.is_set():
                    return False
        return False

    async def _claim(self, provider: str, identity: str) -> ClaimedScan | None:
        body = ClaimRequest(provider=provider, id=identity, worker=self._name)
        try:
            return await self._registry.post(f"{PLACE}/claim", ClaimedScan, body)
        except (Conflict, ExternalScanOver):
            return None  # another worker has it, or nobody wants it any more

    async def _run(self, claimed: ClaimedScan, scanner: ExternalScanner) -> None:
        _log.info("scan_taken_up", provider=claimed.provider, id=claimed.id, digest=claimed.content_digest)
        work = asyncio.ensure_future(self._scan(claimed, scanner))
        stop = asyncio.ensure_future(self._stopping.wait())
        hold = asyncio.ensure_future(self._hold(claimed))
        try:
            await asyncio.wait({work, stop, hold}, return_when=asyncio.FIRST_COMPLETED)
            if work.done():
                await self._complete(claimed, work.result())
            elif hold.done():
                _log.warning("scan_lost", provider=claimed.provider, id=claimed.id, detail="The lease is over.")
                self.ended["lost"] += 1
            else:
                await self._give_back(claimed)
        finally:
            for task in (work, stop, hold):
                task.cancel()
            await asyncio.gather(work, stop, hold, return_exceptions=True)

    async def _scan(self, claimed: ClaimedScan, scanner: ExternalScanner) -> ExternalReport:
        try:
            content = await self._download(claimed)
        except BlobCorrupt as error:
            return ExternalReport(provider=claimed.provider, status=ExternalScanStatus.ERROR, summary=error.message)
        return await scanner.scan(content)

    async def _download(self, claimed: ClaimedScan) -> SkillContent:
        """The very bytes that the scan is about. Raises BlobCorrupt where they are others."""
        archive = bytearray()
        async for piece in self._pieces(claimed):
            archive += piece
            if len(archive) > MAX_ARCHIVE_BYTES:
                raise BlobCorrupt(f"The archive has more than {MAX_ARCHIVE_BYTES} bytes.")
        if f"sha256:{hashlib.sha256(archive).hexdigest()}" != claimed.tar_digest:
            raise BlobCorrupt("The archive that came is not the one that was asked about.")
        content = await asyncio.to_thread(read_tar, bytes(archive), omitted=claimed.omitted)
        if await asyncio.to_thread(content_digest, content) != claimed.content_digest:
            raise BlobCorrupt("The archive does not hold the content that was asked about.")
        return content

    async def _pieces(self, claimed: ClaimedScan) -> AsyncIterator[bytes]:
        headers = {CLAIM_HEADER: claimed.claim, "Accept-Encoding": "identity"}
        try:
            async with self._archives.stream("GET", claimed.archive_url, headers=headers) as answer:
                if answer.status_code != 200:
                    raise RegistryUnreachable(f"The archive was answered with {answer.status_code}.")
                async for piece in answer.aiter_raw():
                    yield piece
        except httpx.HTTPError as exc:
            raise RegistryUnreachable(f"The archive did not come ({type(exc).__name__}: {exc}).") from exc

    async def _hold(self, claimed: ClaimedScan) -> None:
        """Extend the lease while the scan runs; returns when it is lost."""
        while True:
            await asyncio.sleep(claimed.lease_s / 3)
            try:
                await self._registry.post(f"{PLACE}/extend", LeaseView, _held(claimed))
            except ExternalScanOver:
                return
            except VskillError as error:
                _log.warning("lease_not_extended", id=claimed.id, code=error.code, error=error.message)

    async def _complete(self, claimed: ClaimedScan, report: ExternalReport) -> None:
        body = CompletedScan(
            provider=claimed.provider,
            id=claimed.id,
            claim=claimed.claim,
            content_digest=claimed.content_digest,
            result=result_of(report),
        )
        try:
            outcome = await self._registry.post(f"{PLACE}/complete", ScanOutcome, body)
        except ExternalScanOver as error:
            _log.warning("result_not_wanted", provider=claimed.provider, id=claimed.id, error=error.message)
            self.ended["lost"] += 1
            return
        self.ended[outcome.status.value] += 1
        _log.info(
            "scan_ended",
            provider=claimed.provider,
            id=claimed.id,
            status=outcome.status.value,
            score=outcome.score,
            findings=len(report.findings),
            ms=round(report.duration_ms),
        )

    async def _give_back(self, claimed: ClaimedScan) -> None:
        with contextlib.suppress(ExternalScanOver):
            await self._registry.post(f"{PLACE}/release", ScanOutcome, _held(claimed))
        self.ended["given back"] += 1
        _log.info("scan_given_back", provider=claimed.provider, id=claimed.id)

    async def _wait(self, seconds: float) -> None:
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                await self._stopping.wait()


def _held(claimed: ClaimedScan) -> HeldScan:
    return HeldScan(provider=claimed.provider, id=claimed.id, claim=claimed.claim)
