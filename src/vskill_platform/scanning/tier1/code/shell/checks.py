"""The names of what is looked for in shell code; `rules/shell-flows.toml` has their severities and their words."""

from __future__ import annotations

from collections.abc import Sequence

from vskill_platform.scanning.tier1.code.hosts import HostKind, host_of, kind_of_address

RUNS_DOWNLOAD_THROWAWAY = "shell_runs_download_from_throwaway_host"
RUNS_DOWNLOAD = "shell_runs_download"
RUNS_DOWNLOAD_REPOSITORY = "shell_runs_download_from_repository"
RUNS_DOWNLOAD_VENDOR = "shell_runs_download_from_vendor"
DETACHES_DOWNLOAD = "shell_detaches_download"
RUNS_UNPACKED = "shell_runs_unpacked_download"
RUNS_DECODED = "shell_runs_decoded"
RUNS_DECODED_VALUE = "shell_runs_decoded_value"
DISGUISED = "shell_disguised_command"
RUNS_ASSET = "shell_runs_asset"
GATED = "shell_gated_run"
SENDS_SECRET = "shell_sends_secret"
SENDS_ENVIRONMENT = "shell_sends_environment"
COPIES_SECRET = "shell_copies_secret"
SENDS_KEY = "shell_sends_service_key"
SENDS_MACHINE = "shell_sends_machine_details"
SENDS_HOME = "shell_sends_home"
SENDS_TO_NUMBER = "shell_sends_to_bare_address"
LEAKS_BY_NAME = "shell_leaks_by_name_lookup"
REVERSE_SHELL = "shell_reverse_shell"
REVERSE_TUNNEL = "shell_reverse_tunnel"
REDIRECTS_GIT = "shell_redirects_git"
HIDDEN_METADATA = "hides_metadata_address"
REVERSE_SHELL_PLACEHOLDER = "shell_reverse_shell_placeholder"
SCHEDULES_FETCH = "shell_schedules_fetch"
SCHEDULES = "shell_schedules_job"
HIJACKS_PROFILE = "shell_hijacks_profile"
AUTOSTART = "shell_autostart"
GIT_HOOK = "shell_git_hook"
GRANTS_LOGIN = "shell_grants_login"
REWRITES_AGENT = "shell_rewrites_agent"
PLANTS_ORDERS = "shell_plants_orders"
REWRITES_SKILL = "shell_rewrites_skill_from_network"
GRANTS_ROOT = "shell_grants_root"
OPENS_SYSTEM = "shell_opens_system_files"
DISABLES_PROTECTION = "shell_disables_protection"
REMOVES_QUARANTINE = "shell_removes_quarantine"
WIPES_TRACES = "shell_wipes_traces"
ASKS_PASSWORD = "shell_asks_password"
DELETES_EVERYTHING = "shell_deletes_everything"
MAY_DELETE_ROOT = "shell_may_delete_root"
DELETES_BACKUPS = "shell_deletes_backups"
DELETES_PERSONAL = "shell_deletes_personal_files"
STOPS_GUARD = "shell_stops_guard"
HIDES_DOWNLOAD = "shell_hides_download"
PROMPTS_FROM_NETWORK = "shell_prompts_agent_from_network"
PUSHES_AWAY = "shell_pushes_to_stranger"
OVERWRITES_DISK = "shell_overwrites_disk"
FORK_BOMB = "shell_fork_bomb"
ENCRYPTS_FILES = "shell_encrypts_files"
FOREIGN_REGISTRY = "shell_foreign_registry"
THROWAWAY_REGISTRY = "shell_throwaway_registry"
UNPINNED_SOURCE = "shell_unpinned_source"
MINER = "shell_miner"

WEAKER_IN_TEXT = frozenset(
    [
        SCHEDULES,
        AUTOSTART,
        GIT_HOOK,
        REWRITES_AGENT,
        DISABLES_PROTECTION,
        REDIRECTS_GIT,
        DELETES_EVERYTHING,
        OVERWRITES_DISK,
        MAY_DELETE_ROOT,
        DELETES_BACKUPS,
        DELETES_PERSONAL,
    ]
)
"""What a script does by itself, and a text shows for people to decide: there it has another name."""
ALL = frozenset(
    value for name, value in list(globals().items()) if name.isupper() and isinstance(value, str)
) | frozenset(f"{name}_in_text" for name in WEAKER_IN_TEXT)

_OF_KIND = {
    HostKind.THROWAWAY: RUNS_DOWNLOAD_THROWAWAY,
    HostKind.NAMED: RUNS_DOWNLOAD,
    HostKind.UNKNOWN: RUNS_DOWNLOAD_REPOSITORY,
    HostKind.REPOSITORY: RUNS_DOWNLOAD_REPOSITORY,
    HostKind.VENDOR: RUNS_DOWNLOAD_VENDOR,
}
_GRAVEST = (HostKind.THROWAWAY, HostKind.NAMED, HostKind.UNKNOWN, HostKind.REPOSITORY, HostKind.VENDOR, HostKind.LOCAL)
_PLACEHOLDERS = ("attacker", "lhost", "your", "example-ip", "listener")


def gravest_kind(addresses: Sequence[str]) -> HostKind:
    """The kind of the address that is trusted least."""
    kinds = {kind_of_address(address) for address in addresses}
    return next((kind for kind in _GRAVEST if kind in kinds), HostKind.UNKNOWN)


def come_from_stranger(addresses: list[str]) -> bool:
    """Whether one of the addresses is at a host that anybody could have."""
    return bool(addresses) and gravest_kind(addresses) in {HostKind.NAMED, HostKind.THROWAWAY}


def runs_download(addresses: Sequence[str]) -> str | None:
    """The check for running what came from there; None where it came from the machine itself."""
    return _OF_KIND.get(gravest_kind(addresses))


def reverse_shell(address: str) -> str:
    """The check for a shell that is handed to whoever listens at an address."""
    host = host_of(address)
    is_filled_in = kind_of_address(address) in {
        HostKind.NAMED,
        HostKind.THROWAWAY,
        HostKind.REPOSITORY,
        HostKind.VENDOR,
    }
    is_placeholder = not is_filled_in or any(word in host for word in _PLACEHOLDERS)
    return REVERSE_SHELL_PLACEHOLDER if is_placeholder else REVERSE_SHELL
