"""The watcher itself: what it must notice, it notices."""

from __future__ import annotations

from tests.browser.conftest import Visit
from tests.browser.sites import Site


async def test_watcher_notices_foreign_requests_and_refused_scripts(site: Site, visit: Visit) -> None:
    watched = await visit(site, "/")
    await watched.page.evaluate(
        """async () => {
          const image = new Image();
          image.src = 'http://127.0.0.1:9/elsewhere.png';
          const script = document.createElement('script');
          script.textContent = 'window.__ran = true';
          document.body.append(image, script);
          console.error('said aloud');
          await new Promise((resolve) => setTimeout(resolve, 0));
        }"""
    )
    assert await watched.page.evaluate("window.__ran === undefined")
    for sign in ("console error: said aloud", "policy: img-src", "policy: script-src"):
        assert any(problem.startswith(sign) for problem in watched.problems), sign
    watched.expect_problem("")
