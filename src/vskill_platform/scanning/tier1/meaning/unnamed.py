"""Where a skill's programs send files, held against what the skill says: a service that it is for, it names.

A document that goes to a host which comes up in one line of one program and in no sentence goes to somebody whom the user
does not know of, whatever that line calls itself: a check, a preview, a copy for the archive.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import chain, islice

from vskill_platform.scanning.tier1.code.hosts import HostKind, domain_of, host_of, is_same_owner, kind_of_host
from vskill_platform.scanning.tier1.excerpts import make_excerpt
from vskill_platform.scanning.tier1.meaning.guards import is_guard
from vskill_platform.scanning.tier1.meaning.joins import sighting_of
from vskill_platform.scanning.tier1.meaning.strangers import PLACEHOLDERS, mentions_of
from vskill_platform.scanning.tier1.patterns import compile_pattern
from vskill_platform.scanning.tier1.skill import (
    Fact,
    FactKind,
    FileUnderScan,
    Hit,
    Observation,
    Sighting,
    SkillUnderScan,
    simple_name,
)
from vskill_platform.scanning.tier1.views.glance import Sign, signs_of
from vskill_platform.scanning.tier1.views.view import places_in

SENT_TO_UNNAMED = "file_sent_to_unnamed_host"
MAILED_TO_UNNAMED = "mail_to_unnamed_address"
KEYS_AND_UNNAMED = "keys_and_unnamed_host"
MACHINE_TO_UNNAMED = "machine_told_to_unnamed_host"
CHECKS = frozenset([SENT_TO_UNNAMED, MAILED_TO_UNNAMED, KEYS_AND_UNNAMED, MACHINE_TO_UNNAMED])
_OF_MACHINE = ("python_identity_sent", "js_sends_machine_details", "shell_sends_machine_details")
"""The checks that see who and what machine this is being sent."""
_SENDING = frozenset([FactKind.SENDS, FactKind.REACHES])
"""What a request does, also one that says all in its address."""
LEAST_PLACES = 2
"""Places of keys of different kinds in one program that are a collection."""
MOST_PROSE = 300_000
MOST_RECIPIENTS = 50
_RECIPIENT = (
    r"(?i)[\"'](?:to|cc|bcc)[\"']\s?\]?\s?(?:=|=>|:|,)\s?[^\n@]{0,80}@(?:[a-z0-9-]+\.)+[a-z]{2,12}\b"
    r"|\b(?:bcc|addbcc|addcc|addaddress|add_bcc|to_addrs|rcpt|recipients)\s?[=:(]\s?[\[(]?\s?[\"'][^\n\"'@]{1,64}"
    r"@(?:[a-z0-9-]+\.)+[a-z]{2,12}\b"
)
_MAILS = Sign(_RECIPIENT)
_PLACES = (
    r"\.ssh/(?:id_|\*)|\bid_(?:rsa|ed25519|ecdsa)\b",
    r"\.aws/credentials",
    r"gcloud/(?:\w+/)?(?:application_default_)?credentials|application_default_credentials",
    r"\.azure/|msal_token_cache",
    r"\.kube/config",
    r"\.git-credentials|\.netrc\b",
    r"Login Data|logins\.json|key4\.db",
    r"[/\\\"']Cookies\b|cookies\.sqlite|Local State",
    r"wallet\.dat|Exodus|Electrum|nkbihfbeogaeaoehlefnkodbefgpgknn|MetaMask",
    r"\.gnupg|\.password-store|login\.keychain|\.kdbx\b",
    r"\.docker/config\.json|\.npmrc\b|\.pypirc\b",
    r"\.openclaw/(?:credentials|identity|device|\.env)|device\.json",
    r"\.claude/\.credentials\.json|\.codex/auth\.json|\.gemini/oauth_creds\.json|\.config/github-copilot/|\.cursor/mcp\.json",
)
_SECRETS = Sign("|".join(_PLACES))
_HOSTS = re.compile(rb"https?://([A-Za-z0-9.-]{4,200})")
_FORM = (
    r"\.append\(\s?[^,\n]{1,60},\s?(?:await )?(?:fs\.)?(?:createReadStream|readFileSync|openAsBlob|new Blob)\b"
    r"|createReadStream\([^)\n]{1,80}\)\s?\.pipe\(\s?(?:r|rq|req|request|upload|post|out)\b"
)
"""A file that is put into a form or let flow into a request, which no value is followed through."""
_FORMS = Sign(_FORM)
_PUT = re.compile(rb"\bRequest\((?:[^()#]|\([^()]{0,80}\)){1,400}?\bdata\s?=")
"""A request of Python's own library that is given a body; what it is called tells nothing."""
_SPEAKS_MAIL = re.compile(
    rb"(?i)smtp|sendmail|send_message|nodemailer|PHPMailer|\bmail\s?\(|Send-MailMessage|sendgrid|mailgun|\bresend\b|ses\.send"
)
_ONLY_MAIL = re.compile(r"(?i)bcc")
"""What nothing but a mail has."""
_SERVICES = (
    "googleapis.com google.com openai.com anthropic.com azure.com windows.net microsoft.com office.com "
    "microsoftonline.com amazonaws.com cloudflare.com workers.dev notion.com notion.so stripe.com "
    "replicate.com elevenlabs.io openrouter.ai mistral.ai groq.com deepseek.com x.ai fal.ai fal.run "
    "together.xyz together.ai stability.ai deepgram.com assemblyai.com cohere.ai cohere.com voyageai.com "
    "jina.ai atlassian.net atlassian.com figma.com dropboxapi.com box.com hubapi.com salesforce.com "
    "sentry.io linear.app airtable.com feishu.cn larksuite.com dingtalk.com weixin.qq.com aliyuncs.com "
    "volces.com bigmodel.cn moonshot.cn minimaxi.com minimax.chat baidubce.com siliconflow.cn twilio.com "
    "sendgrid.com mailgun.net resend.com shopify.com wordpress.com zoom.us cloudinary.com slack.com netlify.com vercel.com "
    "gitlab.com bitbucket.org supabase.co huggingface.co pinecone.io asana.com monday.com clickup.com trello.com zendesk.com "
    "intercom.io datadoghq.com pagerduty.com posthog.com heroku.com digitalocean.com canva.com miro.com webflow.com sanity.io "
    "contentful.com perplexity.ai runwayml.com heygen.com"
)
_WELL_KNOWN = tuple(_SERVICES.split())
"""Services that many skills use without a word about whose they are."""
_BUCKET = re.compile(r"([a-z0-9][a-z0-9.-]+)\.s3[.-](?:[a-z0-9.-]+\.)?amazonaws\.com$")
_ANY_BUCKET = re.compile(r"\b(?:your|my|example|test|bucket-?name|bucket)\b")
_NOBODY = ".invalid"
"""How the host is called that only the running program knows."""
_NO_LETTER = bytes(set(range(128)) - set(b"abcdefghijklmnopqrstuvwxyz0123456789"))
_SIGNED = re.compile(
    r"(?m)^[ \t\"'-]*(?:(?:name|authors?|maintainer|publisher|owner|by)\b[\"' \t]*:|copyright\b|©)[^\n]{0,200}$"
)
"""Who wrote a skill and what it is called: that somebody gets files is not said by it."""
_OF_A_SERVICE = (
    "api",
    "cloud",
    "account",
    "dashboard",
    "server",
    "service",
    "token",
    "key",
    "workspace",
    "platform",
    "endpoint",
)
"""What follows the name of a skill where that is also the name of a service."""


def find_unnamed_receivers(skill: SkillUnderScan, observations: Sequence[Observation]) -> Iterator[Sighting]:
    """Files that are sent, and mail that is addressed, to somebody of whom the skill does not speak."""
    sent = [seen for seen in observations if isinstance(seen, Fact) and seen.kind is FactKind.SENDS_FILE and seen.value]
    sent += _sent_by_form(skill, observations)
    mailing = [file for file in skill.files if file.is_program and _MAILS in signs_of(file)]
    taking = [file for file in skill.files if file.is_program and _SECRETS in signs_of(file)]
    told = _told_of_machine(skill, observations)
    if not sent and not mailing and not taking and not told:
        return
    known = _Known(skill)
    for fact in told:
        if known.is_unnamed(fact.value):
            yield sighting_of(MACHINE_TO_UNNAMED, skill, fact, f"{fact.value} comes up only here")
    for fact in sent:
        if known.is_unnamed(fact.value):
            yield sighting_of(SENT_TO_UNNAMED, skill, fact, f"{fact.value} comes up only here")
    for file in mailing:
        yield from _mailed(file, known)
    for file in taking:
        if sum(compile_pattern(place).is_in(file.encoded) for place in _PLACES) >= LEAST_PLACES and not is_guard(file):
            yield from _collected(skill, file, known, observations)


def _told_of_machine(skill: SkillUnderScan, observations: Sequence[Observation]) -> list[Fact]:
    """The sending in which a program says who and what machine this is."""
    rules = {rule for check in _OF_MACHINE for rule in skill.ruleset.rules_by_check.get(check, ())}
    lines = {(seen.file, seen.line) for seen in observations if isinstance(seen, Hit) and seen.rule_id in rules}
    facts = (seen for seen in observations if isinstance(seen, Fact) and seen.kind in _SENDING and seen.value)
    found = {(fact.file, fact.line, fact.value): fact for fact in facts if (fact.file, fact.line) in lines}
    return list(found.values())


def _sent_by_form(skill: SkillUnderScan, observations: Sequence[Observation]) -> list[Fact]:
    """The hosts that a program reaches which lets files flow into forms or requests."""
    files = {file.path for file in skill.files if file.is_program and _FORMS in signs_of(file) and _has_form(file)}
    if not files:
        return []
    facts = (seen for seen in observations if isinstance(seen, Fact) and seen.kind is FactKind.REACHES)
    return [fact for fact in facts if fact.file in files and fact.value]


def _has_form(file: FileUnderScan) -> bool:
    return compile_pattern(_FORM).is_in(file.encoded)


def _collected(
    skill: SkillUnderScan, file: FileUnderScan, known: _Known, observations: Sequence[Observation]
) -> Iterator[Sighting]:
    """A program that names several places of keys, where programs beside it send to somebody unheard of."""
    folder = file.path.rpartition("/")[0]
    sending = {seen.file for seen in observations if isinstance(seen, Fact) and seen.kind is FactKind.SENDS}
    sending.update(other.path for other in skill.files if other.is_program and _PUT.search(other.encoded))
    reached = [seen for seen in observations if isinstance(seen, Fact) and seen.kind is FactKind.REACHES]
    for other in skill.files:
        if other.path not in sending or other.path.rpartition("/")[0] != folder or not other.is_program:
            continue
        named = (host_of(found[1].decode()) for found in islice(_HOSTS.finditer(other.encoded), MOST_RECIPIENTS))
        hosts = chain(named, (fact.value for fact in reached if fact.file == other.path))
        host = next((host for host in hosts if host and known.is_unheard_of(host)), None)
        if host:
            at = next(iter(compile_pattern("|".join(_PLACES)).spans(file.encoded))).start
            place = places_in(file)(at)
            line = file.lines[place.line - 1] if place.line else ""
            detail = f"{other.path} sends to {host}"
            yield Sighting(KEYS_AND_UNNAMED, file.path, place.line, place.column, make_excerpt(line), "joins", detail)
            return


class _Known:
    """Whom a skill speaks of."""

    def __init__(self, skill: SkillUnderScan) -> None:
        self._mentions = mentions_of(skill)
        self._texts = "\n".join(file.text for file in skill.files if file.is_markdown)[:MOST_PROSE].lower()
        words = _SIGNED.sub("", self._texts).split()
        prose = _letters(" ".join(word for word in words if "://" not in word and "@" not in word))
        own = _letters(simple_name(skill.frontmatter).lower())
        is_service = not own or any(f"{own}{word}" in prose for word in _OF_A_SERVICE)
        self._prose = prose if is_service else prose.replace(own, " ")

    def is_unnamed(self, host: str) -> bool:
        """Whether no sentence names the owner of this host, and hardly anything else does."""
        return self._mentions.is_stranger(host) and self._is_nobodys(host)

    def is_unheard_of(self, host: str) -> bool:
        """Whether no text names this host or its owner, however often programs do. A bucket has an owner of its own."""
        if (bucket := _BUCKET.match(host)) and not _ANY_BUCKET.search(bucket[1]):
            return bucket[1] not in self._texts
        return domain_of(host) not in self._texts and self._is_nobodys(host)

    def _is_nobodys(self, host: str) -> bool:
        domain = domain_of(host)
        is_known = not domain.endswith(_NOBODY) and domain not in PLACEHOLDERS
        if kind_of_host(host) not in (HostKind.NAMED, HostKind.THROWAWAY) or not is_known:
            return False
        name = _letters(domain.partition(".")[0])
        return not is_same_owner(host, _WELL_KNOWN) and (not name or name not in self._prose)


def _letters(text: str) -> str:
    return text.encode("ascii", "ignore").translate(None, _NO_LETTER).decode()


def _mailed(file: FileUnderScan, known: _Known) -> Iterator[Sighting]:
    data = file.encoded
    is_mail = _SPEAKS_MAIL.search(data) is not None
    for number, span in enumerate(compile_pattern(_RECIPIENT).spans(data)):
        if number >= MOST_RECIPIENTS:
            return
        written = data[span.start : span.end].decode(errors="ignore")
        host = host_of(written.rpartition("@")[2])
        if (is_mail or _ONLY_MAIL.search(written)) and known.is_unheard_of(host):
            place = places_in(file)(span.start)
            yield Sighting(
                MAILED_TO_UNNAMED,
                file.path,
                place.line,
                place.column,
                make_excerpt(written),
                "joins",
                f"{host} comes up only here",
            )
