"""The pages about one skill, on every engine: what they show, what they lead to, and what they say when it is gone."""

from __future__ import annotations

import re

import httpx

from tests.pages.planting import ON_EVERY_ENGINE, SKILL_MD, SLUG, make_finding, plant
from vskill_platform.domain.ids import alias_key
from vskill_platform.domain.scan import Capabilities, Severity, Verdict
from vskill_platform.ports.commit import Put
from vskill_platform.ports.engine import Engine
from vskill_platform.ports.env import WorkerEnv
from vskill_platform.stores.skills import find_skill, withdrawing
from vskill_platform.web.markdown import MAX_BYTES
from vskill_platform.worker_context import run_with_worker_env

HOME = f"/skills/{SLUG}"


async def withdraw(env: WorkerEnv, *, reason: str) -> None:
    found = await find_skill(SLUG)
    assert found is not None
    await env.writes.commit(withdrawing(found, reason=reason))


async def test_skill_page_shows_the_text_and_what_stands_before_it(client: httpx.AsyncClient, env: WorkerEnv) -> None:
    version = await plant(env)
    answer = await client.get(HOME)
    assert answer.status_code == 200
    assert "Say hello to <em>everybody</em>." in answer.text
    assert '<dt class="code">license</dt><dd>MIT</dd>' in answer.text
    assert version.zip_digest.removeprefix("sha256:") in answer.text
    assert f"https://github.com/acme/toolbox/tree/{version.commit}/skills/greeting" in answer.text


async def test_skill_page_shows_names_of_others_as_text(client: httpx.AsyncClient, env: WorkerEnv) -> None:
    evil = '"><script>alert(1)</script>'
    found = make_finding(message=evil, excerpt=evil, why=evil, fix=evil, file=evil, context=evil, detail=evil)
    capabilities = Capabilities(network_hosts=(evil,), commands=(evil,))
    fields = {"name": evil, "description": evil, "license": evil, "category": evil, "skill_path": evil}
    files = {"SKILL.md": SKILL_MD, "a<b>.py": evil.encode()}
    await plant(
        env, files=files, findings=(found,), capabilities=capabilities, repo_url="javascript:alert(1)", **fields
    )
    for path in ("", "/security", "/files", "/versions", "/versions/1.0.0/files/a%3Cb%3E.py"):
        answer = await client.get(HOME + path)
        assert answer.status_code == 200, path
        assert "<script>alert" not in answer.text, path
        assert 'href="javascript' not in answer.text, path
    for path in ("/", "/skills", "/publishers/acme"):
        assert "<script>alert" not in (await client.get(path)).text, path


async def test_skill_page_leads_links_to_the_verified_files__or_to_the_pinned_commit(
    client: httpx.AsyncClient, env: WorkerEnv
) -> None:
    text = SKILL_MD + b"[kinds](references/kinds.md) [gone](./gone.md) [out](../../secret)\n"
    version = await plant(env, files={"SKILL.md": text, "references/kinds.md": b"# Kinds\n"})
    page = (await client.get(HOME)).text
    assert f'<a href="{HOME}/versions/1.0.0/files/references/kinds.md" rel="nofollow noopener ugc">kinds</a>' in page
    assert f'href="https://github.com/acme/toolbox/tree/{version.commit}/skills/greeting/gone.md"' in page
    assert "secret" not in re.sub(r">[^<]*<", "", page)
    assert (await client.get(f"{HOME}/versions/1.0.0/files/references/kinds.md")).status_code == 200


async def test_skill_page_shows_the_beginning_of_a_long_file_and_leads_to_the_rest(
    client: httpx.AsyncClient, env: WorkerEnv
) -> None:
    await plant(env, files={"SKILL.md": SKILL_MD + b"word\n\n" * MAX_BYTES + b"THE END\n"})
    page = (await client.get(HOME)).text
    assert "View the whole file" in page
    assert "THE END" not in page


async def test_security_page_shows_each_finding_with_why_and_fix(client: httpx.AsyncClient, env: WorkerEnv) -> None:
    findings = (make_finding(), make_finding(rule_id="SEC-9", severity=Severity.MEDIUM, message="Reads a key"))
    await plant(env, findings=findings, capabilities=Capabilities(network_hosts=("example.com",)))
    page = (await client.get(f"{HOME}/security")).text
    assert page.index("Reads a key") < page.index("Sends something to a host")
    for told in ("What leaves cannot be taken back.", "Ask before sending.", "curl https://example.com", "example.com"):
        assert told in page
    assert f'href="{HOME}/versions/1.0.0/files/SKILL.md#L7"' in page


async def test_older_version_says_that_it_is_older(client: httpx.AsyncClient, env: WorkerEnv) -> None:
    await plant(env)
    changed = SKILL_MD.replace(b"hello", b"goodbye")
    await plant(env, version="1.1.0", files={"SKILL.md": changed}, capabilities=Capabilities(commands=("git",)))
    assert "goodbye" in (await client.get(HOME)).text
    older = (await client.get(f"{HOME}/versions/1.0.0")).text
    assert "Say hello" in older
    assert "This is version 1.0.0, not the newest" in older
    versions = (await client.get(f"{HOME}/versions")).text
    assert "Runs commands" in versions
    assert f"{HOME}/compare?from=1.0.0&amp;to=1.1.0" in versions


async def test_skill_that_a_person_let_pass_says_so_everywhere(client: httpx.AsyncClient, env: WorkerEnv) -> None:
    await plant(env, verdict=Verdict.CONCERNS, score=70, findings=(make_finding(),))
    for path in (HOME, f"{HOME}/security", f"{HOME}/files"):
        assert "a person did" in (await client.get(path)).text
    for path in ("/", "/skills", "/publishers/acme"):
        assert "Concerns</span>" in (await client.get(path)).text


@ON_EVERY_ENGINE
async def test_comparison_shows_lines_and_capabilities_that_changed(client: httpx.AsyncClient, env: WorkerEnv) -> None:
    await plant(env)
    changed = SKILL_MD.replace(b"hello", b"<b>goodbye")
    await plant(env, version="1.1.0", files={"SKILL.md": changed}, capabilities=Capabilities(commands=("git",)))
    for query in ("", "?from=1.0.0&to=1.1.0"):
        page = (await client.get(f"{HOME}/compare{query}")).text
        assert '<span class="removed">-Say hello to *everybody*.' in page
        assert '<span class="added">+Say &lt;b&gt;goodbye to *everybody*.' in page
        assert '<li class="code">git</li>' in page
    assert (await client.get(f"{HOME}/compare?from=9.9.9&to=1.1.0")).status_code == 404


async def test_file_page_shows_numbered_lines__and_no_file_that_is_not_there(
    client: httpx.AsyncClient, env: WorkerEnv
) -> None:
    await plant(env, files={"SKILL.md": SKILL_MD, "run.sh": b"echo <1>\n", "logo.bin": b"\x00\xff"})
    answer = await client.get(f"{HOME}/versions/1.0.0/files/run.sh")
    assert '<span class="line" id="L1">echo &lt;1&gt;' in answer.text
    assert "It is not text" in (await client.get(f"{HOME}/versions/1.0.0/files/logo.bin")).text
    for path in ("nothing.py", "..%2f..%2fetc%2fpasswd"):
        assert (await client.get(f"{HOME}/versions/1.0.0/files/{path}")).status_code in (400, 404)


@ON_EVERY_ENGINE
async def test_page_of_an_older_slug_leads_to_the_present_one(client: httpx.AsyncClient, env: WorkerEnv) -> None:
    await plant(env)
    await env.writes.commit([Put(alias_key("acme/old/greeting"), SLUG.encode())])
    for path in ("", "/versions", "/versions/1.0.0/files/SKILL.md"):
        answer = await client.get(f"/skills/acme/old/greeting{path}")
        assert (answer.status_code, answer.headers["location"]) == (308, f"{HOME}{path}")


@ON_EVERY_ENGINE
async def test_page_of_a_withdrawn_skill_is_410_and_says_why(client: httpx.AsyncClient, env: WorkerEnv) -> None:
    await plant(env)
    await run_with_worker_env(env, lambda: withdraw(env, reason="It stole keys."))
    answer = await client.get(HOME)
    assert answer.status_code == 410
    assert "It stole keys." in answer.text
    assert "no longer published" in answer.text


async def test_page_of_an_unknown_skill_offers_those_that_are_near(client: httpx.AsyncClient, env: WorkerEnv) -> None:
    await plant(env)
    answer = await client.get("/skills/somebody/else/greeting")
    assert answer.status_code == 404
    assert f'href="{HOME}"' in answer.text


@ON_EVERY_ENGINE
async def test_pages_are_503__when_the_store_is_down(client: httpx.AsyncClient, env: WorkerEnv, engine: Engine) -> None:
    await plant(env)
    await engine.close()
    for path in ("/", "/skills", HOME, f"{HOME}/files", "/publishers", "/publishers/acme"):
        answer = await client.get(path)
        assert (answer.status_code, answer.headers["content-type"][:9]) == (503, "text/html"), path
        assert "retry-after" in answer.headers
