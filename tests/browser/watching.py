"""A page that is watched while a test uses it: what a visitor's console would show, and whom the page speaks to."""

from __future__ import annotations

from dataclasses import dataclass, field
from urllib.parse import urlsplit

from playwright.async_api import BrowserContext, ConsoleMessage, Page, Request

_WATCH = """
window.__shift = 0;
document.addEventListener('securitypolicyviolation', (event) => {
  window.reportViolation(`${event.violatedDirective} ${event.blockedURI} ${event.sourceFile}:${event.lineNumber}`);
});
let newsAt = -Infinity;
document.addEventListener('live:refreshed', () => { newsAt = performance.now(); });
new PerformanceObserver((list) => {
  for (const entry of list.getEntries()) {
    const isNews = entry.startTime >= newsAt && entry.startTime < newsAt + 500;
    if (!entry.hadRecentInput && !isNews) window.__shift += entry.value;
  }
}).observe({ type: 'layout-shift', buffered: true });
for (const name of ['alert', 'confirm', 'prompt', 'print']) {
  window[name] = (text) => window.reportViolation(`${name}(${text}) was called`);
}
"""


@dataclass
class Watched:
    """A page of the registry at `address`, and everything that went wrong in it."""

    page: Page
    address: str
    problems: list[str] = field(default_factory=list)
    expected: tuple[str, ...] = ()

    def expect_problem(self, text: str) -> None:
        """Let pass what holds this text: a page that is meant to be 404 says so in the console."""
        self.expected = (*self.expected, text)

    def unexpected(self) -> list[str]:
        """The problems that the test did not ask for."""
        return [problem for problem in self.problems if not any(text in problem for text in self.expected)]

    async def go(self, path: str) -> Page:
        """Open a page of the registry."""
        await self.page.goto(self.address + path)
        return self.page

    async def layout_shift(self) -> float:
        """How far things have moved that nobody asked to, since the page was opened.

        A list that grows because something was submitted meanwhile, by another test perhaps, is news and does not count.
        """
        shift = await self.page.evaluate("window.__shift")
        return float(shift)

    def hear_console(self, message: ConsoleMessage) -> None:
        if message.type in ("error", "warning"):
            self.problems.append(f"console {message.type}: {message.text}")

    def hear_request(self, request: Request) -> None:
        parts = urlsplit(request.url)
        if parts.scheme != "data" and parts.netloc != urlsplit(self.address).netloc:
            self.problems.append(f"request to another host: {request.url}")


async def watch(context: BrowserContext, address: str) -> Watched:
    """A new page of a context that is watched from its first byte on."""
    page = await context.new_page()
    watched = Watched(page, address)
    await page.expose_function("reportViolation", lambda text: watched.problems.append(f"policy: {text}"))
    await page.add_init_script(_WATCH)
    page.on("console", watched.hear_console)
    page.on("pageerror", lambda error: watched.problems.append(f"page error: {error}"))
    page.on("request", watched.hear_request)
    page.on("dialog", lambda dialog: watched.problems.append(f"dialog: {dialog.message}"))
    return watched
