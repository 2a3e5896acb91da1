"""Pinning: the bytes of a skill are kept under their digest before anything is decided about them.

What was pinned is what is scanned, and what was scanned is what is published, whatever becomes of the repository.
"""

from __future__ import annotations

import asyncio
from typing import NamedTuple

from vskill_platform.domain.archives import build_tar, read_tar
from vskill_platform.domain.content import SkillContent, content_digest
from vskill_platform.domain.errors import BlobCorrupt, MalformedRecord
from vskill_platform.domain.ids import Digest
from vskill_platform.domain.records import Pin
from vskill_platform.domain.skill import Skill
from vskill_platform.stores.versions import get_version
from vskill_platform.worker_context import current_env


class Pinned(NamedTuple):
    """Content, and the pin that stands for it."""

    content: SkillContent
    pin: Pin


async def pin_content(content: SkillContent, *, commit: str, version: str = "") -> Pinned:
    """Keep the content: of a commit, or pushed as a version."""
    digest, archive = await asyncio.to_thread(lambda: (content_digest(content), build_tar(content)))
    tar_digest = await current_env("blobs").blobs.put(archive)
    pin = Pin(commit=commit, content_digest=digest, tar_digest=tar_digest, omitted=content.omitted, version=version)
    return Pinned(content, pin)


async def read_pinned(pin: Pin) -> Pinned:
    """The content that a pin stands for. Raises BlobMissing, or BlobCorrupt where it is not what was pinned."""
    archive = await current_env("blobs").blobs.get(Digest(pin.tar_digest))
    content = await asyncio.to_thread(read_tar, archive, omitted=pin.omitted)
    digest = await asyncio.to_thread(content_digest, content)
    if digest != pin.content_digest:
        raise BlobCorrupt(f"The archive {pin.tar_digest} does not hold the content {pin.content_digest}.")
    return Pinned(content, pin)


async def published_pin(skill: Skill) -> Pin:
    """The pin of the version that a skill is published in. Raises MalformedRecord where that version has no record."""
    version = await get_version(skill.slug, skill.version)
    if version is None:
        raise MalformedRecord(
            f"The skill '{skill.slug}' has no record of its version {skill.version}.", slug=skill.slug
        )
    return Pin(
        commit=version.commit,
        content_digest=version.content_digest,
        tar_digest=version.tar_digest,
        omitted=version.omitted,
    )
