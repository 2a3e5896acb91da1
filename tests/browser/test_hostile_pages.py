"""SKILL.md files that attack whoever reads them here: nothing of them runs, and the policy has nothing to refuse."""

from __future__ import annotations

import pytest
from playwright.async_api import expect

from tests.browser.conftest import Visit
from tests.browser.sites import Site, skill_md
from tests.pages.hostile_markdown import KINDS, hostile_document

END = "This is the end of the document."
DESCRIPTION = "\"<img src=x onerror=alert(1)> <script>alert(1)</script> {{ 7*7 }} ' onmouseover='alert(1)\""
FOREIGN = """() => [...document.querySelectorAll('main *')].flatMap((element) => {
  const names = element.getAttributeNames();
  const bad = names.filter((name) => name.startsWith('on') || name === 'style' || name === 'srcdoc');
  const link = element.getAttribute('href') || element.getAttribute('src') || element.getAttribute('action') || '';
  const isOurs = /^(https?:|mailto:|[/?#]|data:image|$)/i.test(link);
  const isKnown = !/^(script|iframe|object|embed|base|meta|link|style|template|video|audio|math|foreignobject)$/i
    .test(element.tagName);
  return bad.length || !isOurs || !isKnown ? [element.outerHTML.slice(0, 200)] : [];
})"""


@pytest.mark.parametrize("kind", KINDS)
async def test_hostile_skill_runs_nothing__wherever_it_is_shown(site: Site, visit: Visit, kind: str) -> None:
    text = f"{hostile_document(KINDS[kind])}\n{END}"
    files = {"it/SKILL.md": skill_md("it", description=DESCRIPTION, body=text), "it/notes.md": text.encode()}
    (skill,) = await site.publish(f"hostile/{kind}", files)
    watched = await visit(site)
    home = f"/skills/{skill['slug']}"
    for path in (
        home,
        f"{home}/security",
        f"{home}/files",
        f"{home}/versions/{skill['version']}/files/notes.md",
        f"/submissions/{skill['id']}",
        "/skills?q=hostile",
        "/queue?q=hostile",
        "/",
    ):
        page = await watched.go(path)
        assert await page.evaluate(FOREIGN) == [], path
        assert page.url == f"{site.address}{path}"
        await expect(page.locator("footer")).to_be_visible()
        if path == home:
            await expect(page.get_by_text(END)).to_be_visible()
