"""The start page: what this is, how it stands, and how to submit."""

from __future__ import annotations

import base64
import hashlib
import html

from litestar import MediaType, Request, Response, get
from litestar.datastructures import State

from vskill_platform import __version__
from vskill_platform.stores.health import read_health

_STYLE = """
:root { color-scheme: light dark; --ink: #1c2024; --soft: #60646c; --page: #fcfcfd; --card: #fff; --line: #e0e1e6 }
:root { --mark: #3358d4 }
@media (prefers-color-scheme: dark) {
  :root { --ink: #edeef0; --soft: #b0b4ba; --page: #111113; --card: #18191b; --line: #363a3f; --mark: #9eb1ff }
}
body { margin: 0; background: var(--page); color: var(--ink); font: 16px/1.6 system-ui, sans-serif }
main { max-width: 44rem; margin: 0 auto; padding: 4rem 1.25rem }
h1 { font-size: 1.9rem; line-height: 1.2; margin: 0 0 .75rem; letter-spacing: -.02em }
h2 { font-size: 1rem; margin: 2.5rem 0 .75rem }
p { margin: 0 0 1rem } .soft { color: var(--soft); margin-top: 2.5rem; font-size: .9rem }
dl { display: grid; grid-template-columns: repeat(auto-fit, minmax(6rem, 1fr)); gap: .75rem; margin: 0 }
dl div { background: var(--card); border: 1px solid var(--line); border-radius: .6rem; padding: .65rem .85rem }
dt { color: var(--soft); font-size: .85rem } dd { margin: 0; font-size: 1.4rem; font-variant-numeric: tabular-nums }
pre { background: var(--card); border: 1px solid var(--line); border-radius: .6rem; padding: 1rem; overflow-x: auto; margin: 0 }
code { font: .9rem/1.6 ui-monospace, monospace } a { color: var(--mark) }
""".strip()
_STYLE_HASH = base64.b64encode(hashlib.sha256(_STYLE.encode()).digest()).decode()
_POLICY = f"default-src 'none'; style-src 'sha256-{_STYLE_HASH}'; frame-ancestors 'none'; base-uri 'none'"


@get("/", media_type=MediaType.HTML)
async def start_page(request: Request[object, object, State]) -> Response[str]:
    """What this is, how it stands, and how to submit."""
    health = await read_health()
    counts = "".join(
        f"<div><dt>{html.escape(name)}</dt><dd>{count:,}</dd></div>" for name, count in health.submissions.items()
    )
    page = f"""<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>vskill-platform</title>
<style>{_STYLE}</style>
</head>
<body>
<main>
<h1>Agent skills, verified before anyone installs them</h1>
<p>Submit a git repository that holds skills. Each one is fetched, scanned and decided on; what passes is published, and
what does not says why, line by line.</p>
<h2>Submissions</h2>
<dl>{counts}</dl>
<h2>Submit from a terminal</h2>
<pre><code>vskill-platform submit https://github.com/owner/repository --wait</code></pre>
<h2>Or over HTTP</h2>
<pre><code>curl -X POST {html.escape(str(request.base_url))}api/v1/submissions \\
  -H 'Content-Type: application/json' \\
  -d '{{"repoUrl": "https://github.com/owner/repository"}}'</code></pre>
<p class="soft">vskill-platform {html.escape(__version__)} · <a href="/healthz">health</a></p>
</main>
</body>
</html>
"""
    return Response(page, headers={"Content-Security-Policy": _POLICY, "Cache-Control": "no-store"})
