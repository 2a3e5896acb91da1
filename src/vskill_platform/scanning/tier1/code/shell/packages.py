"""Package managers: what they install, and from where."""

from __future__ import annotations

import re

from vskill_platform.scanning.tier1.code.hosts import HostKind, host_of, is_same_owner, kind_of_host
from vskill_platform.scanning.tier1.code.registries import REGISTRIES
from vskill_platform.scanning.tier1.code.shell import checks
from vskill_platform.scanning.tier1.code.shell.calls import Call, handles
from vskill_platform.scanning.tier1.code.shell.sending import Channel, notice_sent
from vskill_platform.scanning.tier1.code.shell.values import NOTHING, Value
from vskill_platform.scanning.tier1.skill import FactKind

_KNOWN_REGISTRIES = (
    "pytorch.org nvidia.com npmmirror.com yarnpkg.com pkg.github.com "
    "pkg.dev azure.com amazonaws.com gitlab.com jfrog.io "
    "tsinghua.edu.cn aliyun.com cloudsmith.io googleapis.com jetbrains.space anaconda.org conda.io "
    "jsr.io ustc.edu.cn douban.com tencent.com huaweicloud.com"
)
KNOWN_REGISTRIES = (*_KNOWN_REGISTRIES.split(), *REGISTRIES)
_INDEX = frozenset(
    [
        "--index-url",
        "--extra-index-url",
        "--registry",
        "-i",
        "--index",
        "--default-index",
        "--find-links",
        "-f",
        "--source",
    ]
)
_COMMIT = re.compile(r"(?:[@#]|commit=|rev=)[0-9a-f]{7,40}\b|@v?\d+\.\d+")
_SOURCE = re.compile(r"(?:[\w.\[\]-]+\s*@\s*)?(?:git\+)?(?:https?|ssh|git)://\S+|(?:github|gitlab|gist|bitbucket):\S+")
_VARIABLES = frozenset(
    [
        "PIP_INDEX_URL",
        "PIP_EXTRA_INDEX_URL",
        "UV_INDEX_URL",
        "UV_DEFAULT_INDEX",
        "NPM_CONFIG_REGISTRY",
        "npm_config_registry",
        "YARN_REGISTRY",
    ]
)
_REGISTRY_OF = {
    "pip": "pypi",
    "uv": "pypi",
    "uvx": "pypi",
    "npm": "npm",
    "npx": "npm",
    "gem": "rubygems",
    "cargo": "crates",
    "go": "go",
    "brew": "brew",
}
_ACTIONS = frozenset(["install", "i", "add", "run", "dlx", "exec", "x", "tool", "get", "pip", "create"])
_NAME = re.compile(r"(@[\w.-]+/[\w.-]+|[A-Za-z][\w.-]*)(?:\[[\w,]*\])?(?:[@=<>~!].*)?\Z")


@handles("pip pip2 pip3 pipx uv uvx npm npx pnpm yarn bun-install bunx gem cargo go poetry conda mamba brew")
def run_package_manager(call: Call) -> Value:
    """Any of them."""
    texts = call.texts
    for number, text in enumerate(texts):
        option, is_given, value = text.partition("=")
        if option in _INDEX or (option == "config" and "registry" in " ".join(texts)):
            notice_registry(call, value if is_given else " ".join(texts[number + 1 : number + 4]))
    for name in _VARIABLES:
        if call.machine.variables.is_set(name):
            notice_registry(call, call.machine.variables.get(name).text)
    _notice_sources(call, texts)
    return NOTHING


def notice_registry(call: Call, text: str) -> None:
    """Reports a registry that packages are to come from, if it is not a known one."""
    address = next((word for word in text.split() if "://" in word), "")
    host = host_of(address)
    kind = kind_of_host(host)
    if not host or kind in {HostKind.LOCAL, HostKind.UNKNOWN, HostKind.VENDOR} or is_same_owner(host, KNOWN_REGISTRIES):
        return
    if call.texts[:1] in (["publish"], ["upload"]):
        notice_sent(call, Value("", call.machine.files.all_origins()), host, Channel.BODY)
    is_open = address.startswith("http://")
    call.see(checks.THROWAWAY_REGISTRY if kind is HostKind.THROWAWAY or is_open else checks.FOREIGN_REGISTRY)


def _notice_sources(call: Call, texts: list[str]) -> None:
    is_value = False
    for text in texts:
        if is_value or text.startswith("-"):
            is_value = text in _INDEX or text in {"-r", "-c", "--requirement", "-p", "--python", "-C", "--prefix", "-t"}
            continue
        if _SOURCE.fullmatch(text):
            _notice_source(call, text)
        elif text not in _ACTIONS and (found := _NAME.match(text)):
            registry = _REGISTRY_OF.get(
                call.name.rstrip("23"), "npm" if call.name in {"pnpm", "yarn", "bunx"} else "pypi"
            )
            if _ACTIONS & set(texts) or call.name in {"npx", "uvx", "bunx"}:
                call.know(FactKind.INSTALLS, f"{registry}:{found[1]}")


def _notice_source(call: Call, text: str) -> None:
    address = text.partition("git+")[2] or text.partition("@ ")[2] or text
    kind = kind_of_host(host_of(address))
    call.know(FactKind.REACHES, host_of(address))
    if kind is HostKind.THROWAWAY:
        call.see(checks.THROWAWAY_REGISTRY)
    elif kind is HostKind.NAMED and not _COMMIT.search(text):
        named = next((word for word in call.texts if not word.startswith("-")), "")
        is_run = call.name in {"npx", "bunx", "uvx"} and text == named and not text.startswith("git+")
        is_grave = is_run or "--unsafe-perm" in call.texts
        call.see(checks.THROWAWAY_REGISTRY if is_grave else checks.UNPINNED_SOURCE)
