"""The names of what is looked for in JavaScript; `rules/javascript-flows.toml` has their severities and their words."""

from __future__ import annotations

from vskill_platform.scanning.tier1.code.hosts import HostKind, kind_of_address
from vskill_platform.scanning.tier1.code.sending import Leak

RUNS_DOWNLOAD = "js_runs_download"
RUNS_DOWNLOAD_SOMEWHERE = "js_runs_download_from_unknown_host"
LOADS_REMOTE_MODULE = "js_loads_remote_module"
RUNS_DECODED = "js_runs_decoded"
RUNS_DECODED_VALUE = "js_runs_decoded_value"
DISGUISED = "js_disguised_call"
OBFUSCATED = "js_obfuscated"
RUNS_INPUT = "js_runs_input"
GATED = "js_gated_run"
SENDS_SECRET = "js_sends_secret"
SENDS_ENVIRONMENT = "js_sends_environment"
SENDS_SECRET_SOMEWHERE = "js_sends_secret_somewhere"
SENDS_KEY = "js_sends_service_key"
SENDS_MACHINE = "js_sends_machine_details"
SENDS_HOME = "js_sends_home"
LEAKS_BY_NAME = "js_leaks_by_name_lookup"
REVERSE_SHELL = "js_reverse_shell"
RELAYS = "js_relays_traffic"
PERSISTS = "js_persists"
REWRITES_AGENT = "js_rewrites_agent"
CHANGES_REGISTRY = "js_changes_registry"
INSTALL_SCRIPT = "js_install_script"
POLLUTES_PROTOTYPE = "js_pollutes_prototype"
INJECTS_COMMAND = "js_injects_command"
INJECTS_TOOL_INPUT = "js_injects_tool_input"
REMOTE_TOOL_TEXT = "js_remote_tool_text"
NATIVE_BINDING = "js_native_binding"
TAKES_PLACES = "js_takes_places"
HIDES_ADDRESS = "js_hides_address"
RUNS_WEBASSEMBLY = "js_runs_hidden_webassembly"

WEAKER_IN_TEXT = frozenset([INJECTS_COMMAND, POLLUTES_PROTOTYPE, LOADS_REMOTE_MODULE])
"""What counts less in a text that shows code than in a program."""
OWN = frozenset(
    value for name, value in list(globals().items()) if name.isupper() and isinstance(value, str)
) | frozenset(f"{name}_in_text" for name in WEAKER_IN_TEXT)
OVER_MODULES = frozenset(
    [SENDS_SECRET, SENDS_ENVIRONMENT, SENDS_HOME, LEAKS_BY_NAME, RUNS_DOWNLOAD, RUNS_DECODED, RUNS_DECODED_VALUE]
)
"""What is reported where it goes from one file to another."""
OF_LEAK = {
    Leak.SECRET: SENDS_SECRET,
    Leak.ENVIRONMENT: SENDS_ENVIRONMENT,
    Leak.COPY: SENDS_SECRET_SOMEWHERE,
    Leak.KEY: SENDS_KEY,
    Leak.MACHINE: SENDS_MACHINE,
    Leak.HOME: SENDS_HOME,
    Leak.NAME: LEAKS_BY_NAME,
}


def runs_download(addresses: list[str]) -> str | None:
    """The check for running what came from there; None where it came from the machine itself."""
    kinds = {kind_of_address(address) for address in addresses}
    if kinds & {HostKind.THROWAWAY, HostKind.NAMED, HostKind.REPOSITORY, HostKind.VENDOR}:
        return RUNS_DOWNLOAD
    return RUNS_DOWNLOAD_SOMEWHERE if HostKind.UNKNOWN in kinds else None
