"""The script of live pages in a real browser: rows change in place, and polling takes over where streams do not work."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from litestar import MediaType, Response, Router, get
from playwright.async_api import Page, async_playwright

import vskill_platform.web
from tests.live.happenings import claimed, submitted
from vskill_platform.app.listening import serving
from vskill_platform.engines.sqlite import open_sqlite
from vskill_platform.ports.clock import SystemClock
from vskill_platform.ports.env import WorkerEnv
from vskill_platform.testing.envs import make_env
from vskill_platform.web.access import ACCESS, ANYONE
from vskill_platform.web.api.streams import HUB, stream_submissions
from vskill_platform.web.application import create_app
from vskill_platform.web.live.hub import Hub

SCRIPT = Path(vskill_platform.web.__file__).parent / "static" / "live.js"
POLICY = "default-src 'none'; script-src 'self'; connect-src 'self'"
_ATTRIBUTES = """data-live-pace=0.1 data-live="/api/v1/submissions/stream" data-live-fragment="/rows"
data-live-refresh="submission_created" data-live-labels='{"state": {"TIER1_SCANNING": "Being scanned"}}'"""


@dataclass
class Stage:
    """A registry with one submission, a page that shows it, and what the page's fragment says of it."""

    env: WorkerEnv
    hub: Hub
    page: Page
    address: str
    identity: str
    fragment: str = ""


def row(identity: str, state: str) -> str:
    return f"""<p data-live-announce="{{skillName}}: {{state}}" aria-live="polite" id="said"></p>
<div data-live-row="{identity}"><b data-live-field="state">{state}</b><i data-live-if="state:PUBLISHED">done</i>
<time data-live-field="updatedAt"></time></div>"""


@pytest.fixture
async def stage(tmp_path: Path) -> AsyncIterator[Stage]:
    engine = await open_sqlite(tmp_path / "registry.db", clock=SystemClock(), synchronous="OFF")
    env = make_env(engine, clock=SystemClock(), folder=tmp_path)
    hub, identity = Hub(env), await submitted(env)
    shown = Stage(env, hub, None, "", identity, row(identity, "RECEIVED"))  # type: ignore[arg-type]

    @get("/", media_type=MediaType.HTML)
    async def page() -> Response[str]:
        html = (
            f"<!doctype html><title>x</title><script src=/live.js></script><main {_ATTRIBUTES}>{shown.fragment}</main>"
        )
        return Response(html, headers={"Content-Security-Policy": POLICY})

    @get("/rows", media_type=MediaType.HTML)
    async def rows() -> str:
        return shown.fragment

    @get("/live.js")
    async def script() -> Response[bytes]:
        return Response(SCRIPT.read_bytes(), media_type="text/javascript")

    app = create_app(
        env,
        [Router("/", route_handlers=[page, rows, script, stream_submissions], opt={ACCESS: ANYONE})],
        state={HUB: hub},
    )
    async with serving(app) as shown.address, async_playwright() as playwright:
        browser = await playwright.chromium.launch(executable_path="/usr/bin/chromium", args=["--no-sandbox"])
        shown.page = await browser.new_page()
        yield shown
        await browser.close()
        hub.stop()
    await hub.close()
    await engine.close()


async def test_row_changes_in_place_and_is_said__when_an_event_comes(stage: Stage) -> None:
    await stage.page.goto(stage.address)
    await stage.page.wait_for_selector("main[data-live-state=live]")
    assert await stage.page.is_visible("i")
    stage.fragment = "<p>read afresh</p>"
    await claimed(stage.env, stage.identity)
    state = await stage.page.wait_for_selector("b[data-value=TIER1_SCANNING]")
    assert await state.inner_text() == "Being scanned"
    assert not await stage.page.is_visible("i")
    assert (await stage.page.get_attribute("time", "datetime") or "").endswith("Z")
    await stage.page.wait_for_selector("#said:text-is('demo: Being scanned')")
    await submitted(stage.env, "another")
    await stage.page.wait_for_selector("text=read afresh")


async def test_page_polls__when_streams_are_refused_and_goes_live_again(stage: Stage) -> None:
    stage.hub.places._most_per_address = 0
    await stage.page.goto(stage.address)
    await stage.page.wait_for_selector("main[data-live-state=polling]", timeout=60_000)
    stage.fragment = row(stage.identity, "polled")
    await stage.page.wait_for_selector("text=polled", timeout=60_000)
    stage.hub.places._most_per_address = 10
    await stage.page.wait_for_selector("main[data-live-state=live]", timeout=60_000)
