"""What a git process is told, all of it by environment: no file of the machine, the user or the repository adds to it."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

HARMLESS_FAULTS = (
    "badDate",
    "badDateOverflow",
    "badEmail",
    "badName",
    "badTimezone",
    "missingEmail",
    "missingNameBeforeEmail",
    "missingSpaceBeforeDate",
    "missingSpaceBeforeEmail",
    "multipleAuthors",
    "nulInCommit",
    "zeroPaddedDate",
    "zeroPaddedFilemode",
)
"""What old programs wrote into author lines and file modes. Real histories have it; nothing here reads either."""

REPOSITORY_CONFIG = "[core]\n\trepositoryformatversion = 0\n\tbare = true\n"
"""The whole configuration of a fetched repository. Written again after the fetch, it ends what git calls a partial clone:
an object that is not here is missing, and nothing is ever fetched because somebody looks at it."""

_MIB = 1024 * 1024
_ALWAYS = {
    "advice.detachedHead": "false",
    "core.alternateRefsCommand": "false",
    "core.bigFileThreshold": str(16 * _MIB),
    "core.commitGraph": "false",
    "core.deltaBaseCacheLimit": str(32 * _MIB),
    "core.fsmonitor": "false",
    "core.fsync": "none",
    "core.hooksPath": "/dev/null",
    "core.logAllRefUpdates": "false",
    "core.multiPackIndex": "false",
    "core.packedGitLimit": str(256 * _MIB),
    "core.packedGitWindowSize": str(32 * _MIB),
    "core.protectHFS": "true",
    "core.protectNTFS": "true",
    "core.symlinks": "false",
    "credential.helper": "",
    "gc.auto": "0",
    "maintenance.auto": "false",
    "pack.threads": "1",
    "submodule.recurse": "false",
}
_FETCHING = {
    "fetch.fsckObjects": "true",
    "fetch.recurseSubmodules": "false",
    "fetch.unpackLimit": "1",
    "fetch.uriProtocols": "",
    "fetch.writeCommitGraph": "false",
    "http.followRedirects": "false",
    "http.maxRequests": "1",
    "http.proxyAuthMethod": "basic",
    "http.sslVerify": "true",
    "promisor.acceptFromServer": "none",
    "protocol.version": "2",
    "transfer.bundleURI": "false",
    "transfer.fsckObjects": "true",
    "transfer.unpackLimit": "1",
    **{f"fetch.fsck.{fault}": "ignore" for fault in HARMLESS_FAULTS},
}


class Network(NamedTuple):
    """How a git process reaches its repository. The proxy's address holds a secret."""

    proxy_url: str
    protocol: str
    ca_file: str
    too_slow_s: int
    too_slow_bytes: int = 100


def reading_environment(git: Path, folder: Path) -> dict[str, str]:
    """The environment of a process that reads a fetched repository and may not reach any other."""
    return {**_surroundings(git, folder), "GIT_ALLOW_PROTOCOL": "none", **_config(_ALWAYS)}


def fetching_environment(git: Path, folder: Path, *, network: Network) -> dict[str, str]:
    """The environment of a process that speaks to the repository's server, through our proxy only."""
    config = {
        **_ALWAYS,
        **_FETCHING,
        "http.proxy": network.proxy_url,
        "http.lowSpeedLimit": str(network.too_slow_bytes),
        "http.lowSpeedTime": str(network.too_slow_s),
    }
    if network.ca_file:
        config["http.sslCAInfo"] = network.ca_file
    return {**_surroundings(git, folder), "GIT_ALLOW_PROTOCOL": network.protocol, **_config(config)}


def _surroundings(git: Path, folder: Path) -> dict[str, str]:
    return {
        "PATH": f"{git.parent}:/usr/bin:/bin",
        "HOME": str(folder),
        "TMPDIR": str(folder),
        "LC_ALL": "C",
        "TZ": "UTC",
        "GIT_DIR": str(folder / "repository"),
        "GIT_ASKPASS": "false",
        "GIT_ATTR_NOSYSTEM": "1",
        "GIT_CONFIG_GLOBAL": "/dev/null",
        "GIT_CONFIG_NOSYSTEM": "1",
        "GIT_NO_LAZY_FETCH": "1",
        "GIT_NO_REPLACE_OBJECTS": "1",
        "GIT_OPTIONAL_LOCKS": "0",
        "GIT_TERMINAL_PROMPT": "0",
    }


def _config(config: Mapping[str, str]) -> dict[str, str]:
    """Settings as git reads them from its environment, where other users cannot see them as they can see arguments."""
    numbered = {"GIT_CONFIG_COUNT": str(len(config))}
    for number, (key, value) in enumerate(config.items()):
        numbered[f"GIT_CONFIG_KEY_{number}"] = key
        numbered[f"GIT_CONFIG_VALUE_{number}"] = value
    return numbered
