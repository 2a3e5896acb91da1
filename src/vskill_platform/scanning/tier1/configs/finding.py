"""Reads every file that configures something, and every install command, and reports what is wrong with them."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice

from vskill_platform.scanning.limits import CONFIG_LIMIT
from vskill_platform.scanning.tier1.configs import actions, environment, installs, permissions, redirects
from vskill_platform.scanning.tier1.configs.actions import find_imitations
from vskill_platform.scanning.tier1.configs.compose import find_in_compose
from vskill_platform.scanning.tier1.configs.frontmatter import find_in_frontmatter
from vskill_platform.scanning.tier1.configs.hooks import find_container_commands, find_hooks, find_tasks
from vskill_platform.scanning.tier1.configs.installs import column_of, find_installs
from vskill_platform.scanning.tier1.configs.manifests import find_in_manifests
from vskill_platform.scanning.tier1.configs.places import (
    MAY_CONFIGURE,
    Place,
    looks_like_configuration,
    looks_like_workflow,
    place_of,
    reader_for,
)
from vskill_platform.scanning.tier1.configs.redirects import find_redirects
from vskill_platform.scanning.tier1.configs.reporting import LAYER, Seen, Source
from vskill_platform.scanning.tier1.configs.repositories import find_repositories
from vskill_platform.scanning.tier1.configs.servers import find_servers
from vskill_platform.scanning.tier1.configs.structured import Entry, Reading
from vskill_platform.scanning.tier1.configs.toml_text import read_ini
from vskill_platform.scanning.tier1.configs.tool_texts import find_in_server_code, find_tool_texts
from vskill_platform.scanning.tier1.configs.word_lists import words
from vskill_platform.scanning.tier1.configs.workflows import find_in_pre_commit, find_in_script, find_in_workflow
from vskill_platform.scanning.tier1.excerpts import make_excerpt
from vskill_platform.scanning.tier1.file_kinds import Shape
from vskill_platform.scanning.tier1.skill import FileUnderScan, LimitHit, Sighting, SkillUnderScan
from vskill_platform.scanning.tier1.views.glance import Sign, signs_of

_DEEDS = ("attacks", "network", "inline", "unclear")
CHECKS = frozenset(f"{kind}_{deed}" for kind in ("hook", "server", "editor", "lifecycle") for deed in _DEEDS) | words(
    "build_attacks build_reaches_out build_runs_own_code compose_reaches_host configuration_broken "
    "container_reaches_host dependency_confusion dependency_is_another dependency_outside "
    "environment_drops_checks environment_loads_code environment_own_authority environment_redirects_model "
    "environment_sets_proxy environment_reports_prompts git_runs_program head_asks_for_the_machine install_from_unknown_host "
    "install_from_untrusted_address known_package_from_elsewhere manager_runs_program nested_repository "
    "package_from_address package_from_branch package_from_untrusted_address package_gets_foreign_keys "
    "package_imitates package_resembles permissions_bypassed permissions_everything python_starts_with_it "
    "registry_redirect registry_unchecked server_at_untrusted_address server_gets_foreign_keys "
    "server_reaches_host server_unpinned ships_agent_instructions tool_text_gives_orders "
    "tool_text_shadows_others workflow_hands_all_secrets workflow_runs_strangers_code workflow_sends_secrets "
    "workflow_runs_strangers_image"
)
MOST_SIGHTINGS = 20
_LANGUAGES = frozenset(["json", "jsonc", "json5", "yaml", "yml", "toml", ""])


def find_in_configs(skill: SkillUnderScan) -> Iterator[Seen]:
    """What the configuration files, the manifests and the install commands of a skill do."""
    yield from find_repositories(skill)
    yield from find_in_frontmatter(skill)
    about = skill.frontmatter.text if skill.frontmatter else ""
    for file in skill.files:
        if file.shape is Shape.TEXT:
            yield from find_in_manifests(file)
            signs = signs_of(file)
            for sign, find in _IN_ANY_TEXT:
                if sign in signs:
                    yield from find(file, about)
            yield from _find_in_file(file, about)


def _find_redirects(file: FileUnderScan, _about: str) -> Iterator[Seen]:
    return find_redirects(file)


def _find_imitated_actions(file: FileUnderScan, _about: str) -> Iterator[Seen]:
    for offset, detail in islice(find_imitations(file.encoded), MOST_SIGHTINGS):
        line = file.encoded.count(b"\n", 0, offset) + 1
        excerpt = make_excerpt(file.lines[line - 1])
        yield Sighting("package_imitates", file.path, line, column_of(file.encoded, offset), excerpt, "raw", detail)


_IN_ANY_TEXT = (
    (Sign(installs.BEGINNING), find_installs),
    (Sign(redirects.PLACES), _find_redirects),
    (Sign(actions.PLACE), _find_imitated_actions),
)
"""What any text may have, by the sign of it: most have none of them."""


def _find_in_file(file: FileUnderScan, about: str) -> Iterator[Seen]:
    place = place_of(file.path)
    if place is Place.INSTRUCTIONS:
        yield Sighting("ships_agent_instructions", file.path, layer=LAYER)
    elif place is Place.RUNS_BY_ITSELF:
        yield from find_in_script(file)
    elif file.is_markdown:
        yield from _find_in_fences(file, about)
    elif _is_environment(file.path):
        yield from _find_in_variables(file)
    else:
        yield from _find_in_document(file, place, about)
        yield from _find_in_code(file)


def _is_environment(path: str) -> bool:
    name = path.rpartition("/")[2].lower()
    return name.endswith(".env") or name.startswith(".env")


def _find_in_variables(file: FileUnderScan) -> Iterator[Seen]:
    reading = read_ini(file.text)
    if reading.is_cut:
        yield LimitHit(CONFIG_LIMIT)
    source = Source(file.path, tuple(reading.entries))
    for entry in source.entries:
        check = environment.check_for(entry.key.removeprefix("export ").strip(), entry.value)
        if check is not None:
            yield source.sighting(check, entry)


def _find_in_code(file: FileUnderScan) -> Iterator[Seen]:
    """What the code of an MCP server tells an agent about its tools."""
    if file.language is not None and b"tool" in file.content:
        for line, check in find_in_server_code(file.text):
            yield Sighting(check, file.path, line, 1, make_excerpt(file.lines[line - 1]), LAYER)


def _find_in_document(file: FileUnderScan, place: Place | None, about: str) -> Iterator[Seen]:
    read = reader_for(file.path, file.text)
    if place is None and looks_like_workflow(file.path, file.content):
        place = Place.WORKFLOW
    if read is None or (place is None and not _looks_like_configuration(file)):
        return
    reading: Reading = read(file.text)
    if reading.is_cut:
        yield LimitHit(CONFIG_LIMIT)
    if reading.is_broken and place is not None:
        yield Sighting("configuration_broken", file.path, layer=LAYER)
    source = Source(file.path, tuple(reading.entries), about=about)
    if place is Place.WORKFLOW:
        yield from find_in_workflow(source)
    elif place is Place.COMPOSE:
        yield from find_in_compose(source)
    elif place is Place.PRE_COMMIT:
        yield from find_in_pre_commit(source)
    else:
        yield from find_in_settings(source)


def _looks_like_configuration(file: FileUnderScan) -> bool:
    return MAY_CONFIGURE in signs_of(file) and looks_like_configuration(file.encoded)


def _find_in_fences(file: FileUnderScan, about: str) -> Iterator[Seen]:
    """Settings that a text shows, or wants to be copied: only what is an attack counts."""
    for block in file.document.fences if MAY_CONFIGURE in signs_of(file) else ():
        if block.language not in _LANGUAGES or not looks_like_configuration(block.text.encode()):
            continue
        read = reader_for(f"x.{block.language}", block.text)
        if read is not None:
            entries = tuple(read(block.text).entries)
            source = Source(file.path, entries, is_shown=True, line_offset=block.first_line - 1, about=about)
            yield from find_hooks(source)
            yield from find_servers(source)
            yield from (source.sighting("permissions_bypassed", entry) for entry in source.entries if _bypasses(entry))


def _bypasses(entry: Entry) -> bool:
    return permissions.check_for(entry) == "permissions_bypassed"


def find_in_settings(source: Source) -> Iterator[Seen]:
    """What settings of an agent or an editor start, grant and redirect."""
    yield from find_hooks(source)
    yield from find_servers(source)
    yield from find_container_commands(source)
    yield from find_tasks(source)
    yield from (source.sighting(check, entry) for entry, check in find_tool_texts(source.entries))
    reported_to = environment.reports_prompts(source.entries)
    if reported_to is not None:
        yield source.sighting("environment_reports_prompts", reported_to)
    for entry in source.entries:
        check = permissions.check_for(entry) or environment.check_for_provider(entry)
        if check is not None:
            yield source.sighting(check, entry)
        if environment.is_variable(entry):
            name, value = environment.variable_of(entry)
            check = environment.check_for(name, value)
            if check is not None:
                yield source.sighting(check, entry, shown=f"{name}={value}")
