"""Places on a user's machine that matter: where secrets lie, where what is written comes back, what is not for a skill.

Paths are compared in one form (`plain_path`): the home folder, however it is named, is `~`, and detours are taken out.
"""

from __future__ import annotations

import posixpath
import re
from enum import StrEnum
from fnmatch import fnmatchcase
from functools import lru_cache
from typing import NamedTuple

from vskill_platform.scanning.tier1.code.registries import CARGO, NPM, PYPI, RUBY
from vskill_platform.scanning.tier1.patterns import compile_pattern

LONGEST_PATH = 500


class SecretKind(StrEnum):
    """What lies at a place, by how bad it is when it leaves the machine."""

    KEY = "key"
    """Private keys, passwords, wallets, browser stores, shell histories: nobody has a use for them but their owner."""
    LOGIN = "login"
    """What a tool has stored to log in to its own service."""
    PROJECT = "project"
    """What a project keeps beside its code, such as `.env`."""


class Secret(NamedTuple):
    """A secret place, and the domains whose business it is."""

    path: str
    kind: SecretKind
    owners: tuple[str, ...] = ()


_HOME = re.compile(
    r"(?:~[\w.-]*|\$\{?HOME\}?|\0HOME\0|%USERPROFILE%|\$env:USERPROFILE|(?:[A-Za-z]:)?/(?:home|Users)/[^/]+|"
    r"/root)(?=/|$)",
    re.IGNORECASE,
)
_BROWSERS = (
    r"(?:google/?-?chrome|chromium|brave[\w-]*|microsoft ?edge|edge|opera[\w ]*|vivaldi|arc|firefox|mozilla|safari)"
)
_AGENTS = "claude|codex|gemini|openclaw|clawdbot|moltbot"
"""The folders of agents in a home, without the dot that they begin with."""
_SECRETS: tuple[tuple[str, SecretKind, tuple[str, ...]], ...] = (
    (r"(?:^|/)\.ssh(?:/(?!known_hosts|config$|authorized_keys|[^/]*\.pub$|environment$)[^/]*)?$", SecretKind.KEY, ()),
    (r"(?:^|/)id_(?:rsa|dsa|ecdsa|ed25519)(?:_\w+)?$", SecretKind.KEY, ()),
    (
        r"^~/.*\.(?:pem|key|p12|pfx|ppk)$|^/etc/ssl/private(?:/|$)|(?:^|/)privkey\d*\.pem$|\.(?:keystore|jks)$",
        SecretKind.KEY,
        (),
    ),
    (r"(?:^|/)\.gnupg(?:/|$)", SecretKind.KEY, ()),
    (r"(?:^|/)\.password-store(?:/|$)", SecretKind.KEY, ()),
    (
        r"\.(?:kdbx|keychain(?:-db)?)$|/library/keychains(?:/|$)|(?:^|/)\.local/share/keyrings(?:/|$)",
        SecretKind.KEY,
        (),
    ),
    (r"^/etc/(?:shadow|gshadow|sudoers|master\.passwd)$", SecretKind.KEY, ()),
    (r"^/proc/[^/]{1,20}/(?:environ|mem|maps)$", SecretKind.KEY, ()),
    (
        r"(?:^|/)wallet\.dat$|/\.?(?:electrum|exodus|bitcoin|ethereum|solana|atomic|monero|ledger live|metamask|"
        r"phantom)(?:/|$)",
        SecretKind.KEY,
        (),
    ),
    (r"(?:^|/)nkbihfbeogaeaoehlefnkodbefgpgknn(?:/|$)", SecretKind.KEY, ()),
    (rf"/{_BROWSERS}/.*(?:login ?data|cookies|web ?data|local ?state|local storage|/history$)", SecretKind.KEY, ()),
    (r"(?:^|/)(?:logins\.json|key[34]\.db|cookies\.sqlite|cookies\.binarycookies|login ?data)$", SecretKind.KEY, ()),
    (
        r"^~/\.mozilla(?:/firefox)?/?\*?$|^~/(?:\.config|library/application support)/(?:google-chrome|google/chrome|chromium|"
        r"bravesoftware(?:/brave-browser)?|microsoft-edge|microsoft edge|firefox)(?:/default|/profiles)?/?\*?$",
        SecretKind.KEY,
        (),
    ),
    (
        r"/library/messages(?:/chat\.db[\w*-]*)?/?$|/tdata(?:/|$)|/signal(?:/config\.json|/sql(?:/|$)|/?$)|"
        r"(?:^|/)(?:chatstorage|msgstore)\.[\w.]+$|/(?:discord\w*|slack)/(?:local storage|cookies)",
        SecretKind.KEY,
        (),
    ),
    (
        r"(?:^|/)\.(?:bash|zsh|sh|psql|mysql|python|node_repl|sqlite|rediscli)_history$|/fish_history$|(?:^|"
        r"/)\.histfile$",
        SecretKind.KEY,
        (),
    ),
    (
        rf"(?:^|/)\.(?:{_AGENTS})/(?:projects|history|sessions|memory|memories|transcripts)(?:/|\.|$)|"
        rf"^~/\.(?:{_AGENTS})(?:/[*\0]+)*/?$",
        SecretKind.KEY,
        (),
    ),
    (
        rf"(?:^|/)\.?(?:{_AGENTS}|cursor)/(?:\.env|\.?credentials|auth|oauth|"
        r"token|secret|identity)[\w.-]*$",
        SecretKind.LOGIN,
        (
            "anthropic.com",
            "claude.ai",
            "openai.com",
            "chatgpt.com",
            "googleapis.com",
            "google.com",
            "cursor.com",
            "cursor.sh",
        ),
    ),
    (r"(?:^|/)\.claude\.json$", SecretKind.LOGIN, ("anthropic.com", "claude.ai")),
    (r"(?:^|/)\.aws(?:/(?:credentials|sso(?:/|$)|cli/cache)|$)", SecretKind.KEY, ("amazonaws.com", "aws.amazon.com")),
    (
        r"(?:^|/)\.config/gcloud(?:/|$)|application_default_credentials\.json$",
        SecretKind.KEY,
        ("googleapis.com", "google.com"),
    ),
    (r"(?:^|/)\.azure(?:/|$)", SecretKind.KEY, ("azure.com", "microsoftonline.com", "windows.net")),
    (r"(?:^|/)\.kube(?:/config[^/]*)?$", SecretKind.LOGIN, ()),
    (r"(?:^|/)\.docker(?:/config\.json)?$", SecretKind.LOGIN, ("docker.io", "docker.com", "ghcr.io")),
    (r"(?:^|/)\.config/gh(?:/hosts\.yml)?$", SecretKind.LOGIN, ("github.com", "githubusercontent.com")),
    (r"(?:^|/)\.git-credentials$", SecretKind.KEY, ("github.com", "gitlab.com")),
    (r"(?:^|/)[._]netrc$", SecretKind.KEY, ()),
    (r"^~/\.(?:npmrc|yarnrc(?:\.yml)?)$", SecretKind.LOGIN, (*NPM, "pkg.github.com")),
    (
        r"(?:^|/)\.(?:pypirc|gem/credentials|cargo/credentials(?:\.toml)?)$",
        SecretKind.LOGIN,
        (*PYPI, *RUBY, *CARGO),
    ),
    (
        r"(?:^|/)\.(?:pgpass|my\.cnf|boto|s3cfg|terraform\.d/credentials[\w.]*|terraformrc)$",
        SecretKind.KEY,
        (),
    ),
    (r"(?:^|/)\.vault-token$", SecretKind.LOGIN, ()),
    (r"^/(?:var/)?run/secrets(?:/|$)", SecretKind.LOGIN, ()),
    (r"(?:^|/)\.env(?:rc)?(?:\.(?!example$|sample$|template$|dist$|test$)[\w-]+)*$", SecretKind.PROJECT, ()),
    (
        r"(?:^|/)(?:secrets?|credentials|service[_-]?account)(?:\.\w+)?\.(?:json|ya?ml|toml|env|txt|ini)$",
        SecretKind.PROJECT,
        (),
    ),
)
_ALL_SECRETS = re.compile(
    "|".join(f"(?P<s{number}>{pattern})" for number, (pattern, _, _) in enumerate(_SECRETS)), re.IGNORECASE
)
_LOOKAHEAD = re.compile(r"\(\?![^()]*\)")
_MAY_BE_SECRET = compile_pattern("(?i)" + "|".join(_LOOKAHEAD.sub("", pattern) for pattern, _, _ in _SECRETS))
"""All that is secret and a little more, told in one pass: nearly every text that a program has in it is no such place."""

_GLOB = re.compile(r"[*?\[]")
_WELL_KNOWN = (
    "~/.ssh/id_rsa ~/.ssh/id_ed25519 ~/.aws/credentials ~/.gnupg/secring.gpg ~/.kube/config ~/.netrc "
    "~/.git-credentials ~/.npmrc ~/.docker/config.json ~/.bash_history ~/.zsh_history /etc/shadow "
    "~/.claude/.credentials.json .env ./.env .aws/credentials .ssh/id_rsa"
)
WELL_KNOWN = tuple(_WELL_KNOWN.split())


class Lasting(StrEnum):
    """How what is written to a place comes back."""

    SCHEDULE = "schedule"
    PROFILE = "profile"
    AUTOSTART = "autostart"
    SERVICE = "service"
    GIT_HOOK = "git-hook"
    LOGIN_KEY = "login-key"
    AGENT = "agent"
    SUDO = "sudo"
    PACKAGES = "packages"
    LOADER = "loader"


_AGENTS_AND_EDITORS = f"{_AGENTS}|cursor|vscode"
_LASTING = {
    Lasting.SCHEDULE: r"^/etc/cron(?:tab$|\.)|^/(?:private)?/?var/(?:spool/cron|cron/tabs|at/)|^/usr/lib/cron/tabs",
    Lasting.PROFILE: (
        r"^(?:~|/etc|/etc/skel)/\.?(?:bashrc|bash\.bashrc|bash_profile|bash_login|bash_aliases|bash_logout|profile|"
        r"zshrc|zshenv|zprofile|zlogin|"
        r"kshrc|cshrc|tcshrc|inputrc|xprofile|xinitrc|xsessionrc)$|^/etc/(?:profile\.d/|zsh/|environment$)|"
        r"^~/\.config/fish/(?:config\.fish|conf\.d/)|"
        r"profile\.ps1$|^~/\.(?:vimrc|tmux\.conf|gitconfig|ssh/(?:config|rc))$"
    ),
    Lasting.AUTOSTART: (
        r"/library/launch(?:agents|daemons)/|^~/\.config/(?:systemd/user|autostart)/|start menu/programs/startup/|"
        r"^/etc/xdg/autostart/|"
        r"^~/\.local/share/systemd/user/"
    ),
    Lasting.SERVICE: r"^(?:/etc|/usr/lib|/lib)/systemd/system/|^/etc/(?:init\.d/|rc\.local$|rc\d?\.d/|supervisor/)",
    Lasting.GIT_HOOK: r"(?:^|/)(?:\.git|git-core/templates|\.git-templates?)/hooks/[^/]+(?<!\.sample)$|^~/\.config/git/hooks/",
    Lasting.LOGIN_KEY: r"(?:^|/)\.ssh/authorized_keys2?$",
    Lasting.AGENT: (
        rf"(?:^|(?:^|/)(?!\.(?!(?:{_AGENTS_AND_EDITORS})/)[\w-]+/)[^/]*/)(?:memory|identity)\.md$|"
        r"(?:^|/)(?:claude(?:\.local)?\.md|agents\.md|gemini\.md|soul\.md|"
        r"copilot-instructions\.md|\.cursorrules|\.windsurfrules|"
        r"\.clinerules|\.mcp\.json|mcp\.json|mcp_servers\.json|claude_desktop_config\.json)$|"
        rf"(?:^|/)\.(?:{_AGENTS_AND_EDITORS})/(?:settings(?:\.local)?\.json|"
        r"config\.(?:toml|json)|hooks(?:/|\.json)|rules/|"
        r"agents/|commands/|memory|tasks\.json)|(?:^|/)\.claude\.json$|"
        r"(?:^|/)\.(?:vscode|cursor|windsurf)(?:-server|-oss)?/extensions/."
    ),
    Lasting.SUDO: r"^/etc/sudoers(?:$|\.d/)|^/etc/(?:passwd|shadow|pam\.d/|polkit-1/|doas\.conf)",
    Lasting.PACKAGES: (
        r"^~/\.(?:npmrc|yarnrc(?:\.yml)?|pypirc|pip/pip\.conf|config/pip/pip\.conf|cargo/config(?:\.toml)?)$|"
        r"^/etc/(?:pip\.conf|apt/sources)"
    ),
    Lasting.LOADER: r"^/etc/ld\.so\.preload$|/site-packages/[^/]+\.pth$|/sitecustomize\.py$|/usercustomize\.py$",
}
_ALL_LASTING = re.compile("|".join(f"(?P<{kind.name}>{pattern})" for kind, pattern in _LASTING.items()), re.IGNORECASE)
_BACKUPS = re.compile(
    r"(?:/(?:var|mnt|srv|opt|data|media)|~)?/(?:backups?|snapshots|dumps)(?:(?:/[\w.-]+){0,2}/\*|/?)\Z"
)
_SYSTEM = re.compile(
    r"^/(?:bin|boot|dev|etc|lib|lib64|opt|sbin|sys|usr|var|System|Library|Applications|Windows)?/?\*?$"
)
_SYSTEM_BELOW = re.compile(r"^/(?:bin|boot|etc|lib|lib64|sbin|usr|System)(?:/|$)")
_LOGS = re.compile(
    r"^/var/log(?:/(?:\*|auth\.log|secure|wtmp|btmp|lastlog|audit(?:/.*)?|syslog|messages|faillog|utmp)?\*?)?$|"
    r"^/var/run/utmp$",
    re.IGNORECASE,
)
_PERSONAL = re.compile(
    r"^~/(?:\.config|documents|desktop|pictures|photos|movies|videos|music|onedrive|dropbox|google drive|icloud drive|"
    r"library/mobile documents|dokumente|bilder|documentos|escritorio|bureau)(?:/\*+)*/?$",
    re.IGNORECASE,
)
_DISK = re.compile(r"^/dev/(?:sd[a-z]|hd[a-z]|vd[a-z]|xvd[a-z]|nvme\d|mmcblk\d|r?disk\d|mapper/)")

_SCRATCH = "tmp var/tmp dev/shm private/tmp private/var/tmp Users/Shared run/user"
SCRATCH_FOLDERS = tuple(f"/{folder}/" for folder in _SCRATCH.split())
_DATA = (
    "png jpg jpeg gif webp bmp ico svg avif tif tiff pdf woff woff2 ttf otf mp3 mp4 m4a mov wav ogg flac webm dat "
    "data bin blob raw log csv tsv "
    "txt md mdx rst json xml html htm css doc docx xls xlsx ppt pptx db sqlite pem crt b64 enc cache lock tmp bak "
    "gz bz2 xz zst"
)
DATA_SUFFIXES = frozenset(_DATA.split())
"""What no interpreter is given as a program by people who mean well."""


@lru_cache(maxsize=1024)
def plain_path(path: str) -> str:
    """A path in the one form that places are compared in; what is too long to be one stays as it is, shortened."""
    text = path[:LONGEST_PATH].strip().replace("\\ ", " ").replace("\\", "/")
    home = _HOME.match(text)
    if home:
        text = "~" + text[home.end() :]
    if "//" in text or "/." in text or text.startswith("./"):
        text = posixpath.normpath(text)
    return text


@lru_cache(maxsize=1024)
def secret_at(path: str) -> Secret | None:
    """The secret at this path, if it is the place of one. A path with `*` or `?` stands for what a shell would find."""
    plain = plain_path(path)
    found = _ALL_SECRETS.search(plain) if _MAY_BE_SECRET.is_in(plain.encode(errors="replace")) else None
    if found is None and _GLOB.search(plain):
        found = _ALL_SECRETS.search(next((place for place in WELL_KNOWN if _is_found_by(plain, place)), ""))
    if found is None or found.lastgroup is None:
        return None
    _, kind, owners = _SECRETS[int(found.lastgroup[1:])]
    return Secret(plain, kind, owners)


def _is_found_by(pattern: str, path: str) -> bool:
    """Whether a shell would find the path by the pattern: folder by folder, and no hidden one by a leading `*`."""
    wanted, given = pattern.split("/"), path.split("/")
    return len(wanted) == len(given) and all(map(_names, wanted, given))


def _names(part: str, name: str) -> bool:
    """Whether a shell would find the name by this part of a path. Most parts are no patterns, and none is made of those."""
    if not _GLOB.search(part):
        return part == name
    return not (name.startswith(".") and part.startswith(("*", "?", "["))) and fnmatchcase(name, part)


@lru_cache(maxsize=1024)
def lasting_at(path: str) -> Lasting | None:
    """How what is written there comes back, if it does."""
    found = _ALL_LASTING.search(plain_path(path))
    return Lasting[found.lastgroup] if found and found.lastgroup else None


def is_home(path: str) -> bool:
    """Whether the path is the whole home folder, or all homes."""
    return plain_path(path).rstrip("/*") in {"~", "/home", "/Users", "/root"}


def is_personal(path: str) -> bool:
    """Whether the path is all that a user keeps in one of the folders that are theirs alone."""
    return bool(_PERSONAL.match(plain_path(path)))


def holds_backups(path: str) -> bool:
    """Whether the path is all that a folder of backups of the machine holds."""
    return bool(_BACKUPS.match(plain_path(path)))


def is_system_root(path: str) -> bool:
    """Whether the path is the root of the system or one of its great folders as a whole."""
    return bool(_SYSTEM.match(plain_path(path)))


def is_system_place(path: str) -> bool:
    """Whether the path belongs to the system."""
    return bool(_SYSTEM_BELOW.match(plain_path(path)))


def is_log(path: str) -> bool:
    """Whether the path holds what tells people what happened on the machine."""
    return bool(_LOGS.match(plain_path(path)))


def is_history(path: str) -> bool:
    """Whether a shell keeps there what was typed."""
    return plain_path(path).endswith(("_history", ".histfile"))


def is_disk(path: str) -> bool:
    """Whether the path is a whole disk or a part of one."""
    return bool(_DISK.match(path))


def is_hidden(path: str) -> bool:
    """Whether the file itself is one that listings leave out."""
    name = posixpath.basename(plain_path(path))
    return name.startswith(".") and name not in {".", ".."}
