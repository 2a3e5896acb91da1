"""Asking one external scanner again about what is published under a slug."""

from __future__ import annotations

from vskill_platform.domain.errors import IllegalTransition, NotFound
from vskill_platform.pipeline.asked_providers import asked_providers
from vskill_platform.pipeline.pinning import published_pin
from vskill_platform.ports.commit import Operation
from vskill_platform.stores.external_dispatch import requesting
from vskill_platform.stores.external_scans import find_external_scan
from vskill_platform.stores.fresh import commit_fresh
from vskill_platform.stores.skills import alias_end, find_skill
from vskill_platform.stores.versions import get_version


async def ask_provider_again(slug: str, provider: str) -> str:
    """Have a provider look at the published bytes once more, in place of what it has said or is at. Gives the slug.

    Raises NotFound for a skill or a provider that there is not, IllegalTransition for a skill that is published no more.
    """
    asked = asked_providers().get(provider)
    if asked is None:
        raise NotFound(f"No external scanner '{provider[:60]}' is switched on. EXTERNAL_SCANNERS says which are.")
    found = await find_skill(await alias_end(slug))
    if found is None:
        raise NotFound(f"There is no skill '{slug[:300]}', and there was none.", slug=slug[:300])
    if found.is_withdrawn:
        raise IllegalTransition(f"'{found.skill.slug}' is published no more: nobody is asked about it.", slug=slug)
    skill = found.skill
    version = await get_version(skill.slug, skill.version)
    pin = await published_pin(skill)

    async def prepare() -> tuple[str, list[Operation]]:
        previous = await find_external_scan(skill.slug, provider)
        return skill.slug, requesting(
            skill.slug,
            asked,
            previous=previous,
            pin=pin,
            submission_id=skill.submission_id,
            run=0 if version is None else version.run,
        )

    return await commit_fresh(prepare)
