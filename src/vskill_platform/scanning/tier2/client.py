"""Talking to an OpenAI-compatible server: one question, one answer, bounded in time, size and tries.

The operator names the server, so it may be on loopback or in a private network, and addresses are not judged as those of
strangers are. Redirects are not followed, streams and compression are not asked for, proxies of the environment are not used.
The key is sent to that server alone and never told.
"""

from __future__ import annotations

import asyncio
import ssl
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from functools import cache
from typing import Annotated, Any, NamedTuple

import httpx
import msgspec
import structlog
from msgspec import Meta

from vskill_platform import __version__
from vskill_platform.domain.errors import JudgeUnavailable, JudgeVoid
from vskill_platform.domain.judgement import MAX_ANSWER_TOKENS, estimate_tokens
from vskill_platform.domain.redaction import HIDDEN
from vskill_platform.ports.clock import Clock
from vskill_platform.scanning.tier2.prompt import ANSWER_SCHEMA, Question
from vskill_platform.settings import Settings

MAX_ANSWER_BYTES = 512 * 1024
RETRY_DELAYS_S = (0.25, 0.75)
_FORMS: tuple[dict[str, Any], ...] = (
    {
        "response_format": {
            "type": "json_schema",
            "json_schema": {"name": "judgement", "strict": True, "schema": ANSWER_SCHEMA},
        },
        "max_tokens": MAX_ANSWER_TOKENS,
        "temperature": 0,
    },
    {"response_format": {"type": "json_object"}, "max_tokens": MAX_ANSWER_TOKENS, "temperature": 0},
    {},
)
"""How a question is put: the strictest form first, and the next where a server does not know it."""
_UNKNOWN_FORM = frozenset({400, 422})
_PASSING = frozenset({408, 425, 429})
_log = structlog.get_logger(__name__)

_Tokens = Annotated[int, Meta(ge=0, le=100_000_000)]


class Spoken(NamedTuple):
    """What the model said, and what that cost."""

    text: str
    tokens_in: int
    tokens_out: int


class _Text(msgspec.Struct, frozen=True):
    content: str | None = None


class _Choice(msgspec.Struct, frozen=True):
    message: _Text
    finish_reason: str | None = None


class _Usage(msgspec.Struct, frozen=True):
    prompt_tokens: _Tokens = 0
    completion_tokens: _Tokens = 0


class _Completion(msgspec.Struct, frozen=True):
    choices: Annotated[list[_Choice], Meta(min_length=1)]
    usage: msgspec.Raw = msgspec.Raw(b"null")


class _Passing(Exception):
    """Something that may be over at the next try, and when that may be."""

    def __init__(self, problem: str, *, wait_s: float | None = None) -> None:
        super().__init__(problem)
        self.problem = problem
        self.wait_s = wait_s


class ChatClient:
    """One server and model. `close` it when nobody asks any more."""

    def __init__(self, settings: Settings, *, clock: Clock, retry_delays_s: tuple[float, ...] = RETRY_DELAYS_S) -> None:
        self._settings = settings
        self._clock = clock
        self._delays_s = retry_delays_s
        self._form = 0
        headers = {"User-Agent": f"vskill-platform/{__version__}", "Accept-Encoding": "identity"}
        if settings.judge_api_key:
            headers["Authorization"] = f"Bearer {settings.judge_api_key}"
        self._http = httpx.AsyncClient(
            headers=headers,
            timeout=settings.judge_time_limit_s,
            trust_env=False,
            follow_redirects=False,
            verify=_trusted(),
        )
        self._url = f"{settings.judge_url.rstrip('/')}/chat/completions"

    async def close(self) -> None:
        """Close what is open."""
        await self._http.aclose()

    async def ask(self, question: Question) -> Spoken:
        """The model's answer. Raises JudgeUnavailable where there is none in time, JudgeVoid where it is no completion."""
        limit_s = self._settings.judge_time_limit_s
        end_ms = self._clock.now_ms() + limit_s * 1000
        try:
            async with self._clock.timeout(limit_s):
                return await self._ask_patiently(question, end_ms=end_ms)
        except TimeoutError as exc:
            raise JudgeUnavailable(f"The judge gave no whole answer within {limit_s:g} s.", was_slow=True) from exc

    async def _ask_patiently(self, question: Question, *, end_ms: float) -> Spoken:
        for delay_s in (*self._delays_s, None):
            try:
                return await self._ask_in_some_form(question)
            except _Passing as failed:
                wait_s = delay_s if failed.wait_s is None else failed.wait_s
                if delay_s is None or wait_s is None or self._clock.now_ms() + wait_s * 1000 >= end_ms:
                    raise JudgeUnavailable(failed.problem) from failed
                _log.info("judge_tried_again", problem=failed.problem, wait_s=wait_s)
                await self._clock.sleep(wait_s)
        raise AssertionError("unreachable")

    async def _ask_in_some_form(self, question: Question) -> Spoken:
        """Ask in the strictest form that the server is not known to refuse; where it refuses, in the next one."""
        while True:
            form = self._form
            status, headers, body = await self._post(question, _FORMS[form])
            if status == 200:
                return self._read(body, question)
            if status not in _UNKNOWN_FORM or form == len(_FORMS) - 1:
                raise _refusal(status, headers)
            self._form = max(self._form, form + 1)

    async def _post(self, question: Question, form: dict[str, Any]) -> tuple[int, httpx.Headers, bytes]:
        messages = [{"role": "system", "content": question.system}, {"role": "user", "content": question.user}]
        asked = {"model": self._settings.judge_model, "messages": messages, "stream": False, **form}
        content = await asyncio.to_thread(msgspec.json.encode, asked)
        headers = {"Content-Type": "application/json"}
        try:
            async with self._http.stream("POST", self._url, content=content, headers=headers) as answer:
                return answer.status_code, answer.headers, await _read_bounded(answer)
        except httpx.TimeoutException as exc:
            raise TimeoutError from exc
        except (httpx.HTTPError, httpx.InvalidURL, OSError) as exc:
            raise _Passing(f"The judge could not be asked: the connection failed ({type(exc).__name__}).") from exc

    def _read(self, body: bytes, question: Question) -> Spoken:
        try:
            completion = msgspec.json.decode(body, type=_Completion)
        except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as exc:
            raise JudgeVoid("The judge's answer is void: its server does not speak as the OpenAI API does.") from exc
        key = self._settings.judge_api_key
        text = completion.choices[0].message.content or ""
        usage = _usage(completion.usage)
        return Spoken(
            text.replace(key, HIDDEN) if key else text,
            usage.prompt_tokens or estimate_tokens(question.size),
            usage.completion_tokens or estimate_tokens(len(text.encode(errors="replace"))),
        )


@cache
def _trusted() -> ssl.SSLContext:
    """Whose certificates are believed, read once: the usual ones, or those that SSL_CERT_FILE names."""
    return httpx.create_ssl_context()


def _usage(raw: msgspec.Raw) -> _Usage:
    """What the server says it has counted; nothing where it says nothing that can be."""
    try:
        return msgspec.json.decode(raw, type=_Usage | None) or _Usage()
    except msgspec.MsgspecError:
        return _Usage()


def _refusal(status: int, headers: httpx.Headers) -> Exception:
    if status in _PASSING or status >= 500:
        return _Passing(f"The judge's server is not able to answer (status {status}).", wait_s=_wait_s(headers))
    if 300 <= status < 400:
        return JudgeUnavailable(
            "The judge's server answers with a redirect, which is not followed. Name its real address."
        )
    return JudgeUnavailable(
        f"The judge's server refuses the question (status {status}). Look at its address, model and key."
    )


def _wait_s(headers: httpx.Headers) -> float | None:
    """How long the server asks to be left alone; None where it does not say."""
    told = headers.get("retry-after", "").strip()
    if told.isascii() and told.isdigit():
        return float(told[:9])
    try:
        return max((parsedate_to_datetime(told) - datetime.now(UTC)).total_seconds(), 0.0)
    except (ValueError, TypeError):
        return None


async def _read_bounded(answer: httpx.Response) -> bytes:
    """The whole body. It is not unpacked: what comes packed although nobody asked for that is no JSON."""
    found = bytearray()
    async for piece in answer.aiter_raw():
        found += piece
        if len(found) > MAX_ANSWER_BYTES:
            raise JudgeVoid("The judge's answer is void: it is longer than any answer can be.")
    return bytes(found)
