"""H3: addresses of every evil form, submitted to a registry that reaches nothing private."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from ipaddress import IPv4Address

from tests.hostile.corpus import Attack, case
from tests.hostile.stage import Stage
from vskill_platform.ingest.public_addresses import IpAddress
from vskill_platform.testing.hostile_servers import canary

FORMS = {
    "scheme-file": "file://{repository}",
    "scheme-path": "{repository}",
    "scheme-file-host": "file://localhost{repository}",
    "scheme-ext": "ext::sh -c touch% proof",
    "scheme-fd": "fd::17/owner/name",
    "scheme-ftp": "ftp://127.0.0.1:{port}/owner/name",
    "scheme-gopher": "gopher://127.0.0.1:{port}/_owner/name",
    "scheme-dict": "dict://127.0.0.1:{port}/owner/name",
    "scheme-git": "git://127.0.0.1:{port}/owner/name",
    "scheme-ssh": "ssh://git@127.0.0.1:{port}/owner/name",
    "scheme-scp": "git@127.0.0.1:owner/name",
    "scheme-helper": "http::http://127.0.0.1:{port}/owner/name",
    "scheme-https": "https://127.0.0.1:{port}/owner/name",
    "option": "--upload-pack=touch proof",
    "userinfo": "http://user:s3cret@127.0.0.1:{port}/owner/name",
    "userinfo-disguise": "http://github.com@127.0.0.1:{port}/owner/name",
    "userinfo-backslash": "http://github.com\\@127.0.0.1:{port}/owner/name",
    "fragment-disguise": "http://127.0.0.1:{port}#@github.com/owner/name",
    "ip-plain": "http://127.0.0.1:{port}/owner/name",
    "ip-decimal": "http://2130706433:{port}/owner/name",
    "ip-octal": "http://0177.0.0.01:{port}/owner/name",
    "ip-hex": "http://0x7f000001:{port}/owner/name",
    "ip-hex-parts": "http://0x7f.0.0.0x1:{port}/owner/name",
    "ip-short": "http://127.1:{port}/owner/name",
    "ip-other-loopback": "http://127.8.8.8:{port}/owner/name",
    "ip-fullwidth": "http://１２７.0.0.1:{port}/owner/name",
    "ip-private-10": "http://10.0.0.1:{port}/owner/name",
    "ip-private-192": "http://192.168.1.1:{port}/owner/name",
    "ip-carrier": "http://100.64.0.1:{port}/owner/name",
    "ip-zero": "http://0.0.0.0:{port}/owner/name",
    "ip-zero-short": "http://0:{port}/owner/name",
    "ipv6-loopback": "http://[::1]:{port}/owner/name",
    "ipv6-any": "http://[::]:{port}/owner/name",
    "ipv6-mapped": "http://[::ffff:127.0.0.1]:{port}/owner/name",
    "ipv6-mapped-hex": "http://[::ffff:7f00:1]:{port}/owner/name",
    "ipv6-compatible": "http://[::127.0.0.1]:{port}/owner/name",
    "ipv6-6to4": "http://[2002:7f00:1::]:{port}/owner/name",
    "ipv6-nat64": "http://[64:ff9b::7f00:1]:{port}/owner/name",
    "ipv6-nat64-local": "http://[64:ff9b:1::7f00:1]:{port}/owner/name",
    "ipv6-unique-local": "http://[fd00::1]:{port}/owner/name",
    "ipv6-zone": "http://[fe80::1%25lo]:{port}/owner/name",
    "metadata": "http://169.254.169.254/latest/meta-data",
    "metadata-ipv6": "http://[fd00:ec2::254]/latest/meta-data",
    "localhost": "http://localhost:{port}/owner/name",
    "localhost-dot": "http://localhost.:{port}/owner/name",
    "port-smtp": "http://127.0.0.1:25/owner/name",
    "path-climbing": "http://127.0.0.1:{port}/owner/../../name",
    "path-crlf": "http://127.0.0.1:{port}/owner/name%0d%0aX-Evil:%201",
}


async def submitted(stage: Stage, *, form: str) -> Attack:
    repository = stage.repository({"SKILL.md": stage.skill_md()})
    url = form.format(port=stage.traps.listener.port, repository=repository.path)
    return Attack(url=url, bindings=await stage.public_source())


for _id, _form in FORMS.items():
    case(f"H3-{_id}")(partial(submitted, form=_form))


async def local_clone(stage: Stage, *, form: str) -> Attack:
    """A repository on this machine whose objects lead elsewhere, by an address that git would clone without a transport."""
    repository = stage.repository({"SKILL.md": stage.skill_md()})
    (repository.path / "objects" / "secret").symlink_to("/etc/passwd")
    return Attack(url=form.format(path=repository.path), bindings=await stage.public_source())


case("H1-cve-2022-39253")(partial(local_clone, form="file://{path}"))
case("H1-cve-2024-32020")(partial(local_clone, form="{path}"))
case("H1-cve-2024-32021")(partial(local_clone, form="file://localhost/{path}"))


@case("H3-several-addresses")
async def several_addresses(stage: Stage) -> Attack:
    """A host with public addresses and one that is not."""

    async def resolve(host: str, port: int) -> Sequence[str]:
        return ["93.184.216.34", "2606:2800:220:1::1", "127.0.0.1"]

    url = f"http://mixed.example:{stage.traps.listener.port}/owner/{stage.name}"
    return Attack(url=url, bindings=await stage.public_source(resolve=resolve))


async def resolving_here(stage: Stage, *, host: str) -> Attack:
    """A name that resolves to this machine when it is looked up to be fetched."""

    async def resolve(host: str, port: int) -> Sequence[str]:
        return ["127.0.0.1"]

    url = f"http://{host}:{stage.traps.listener.port}/owner/{stage.name}"
    return Attack(url=url, bindings=await stage.public_source(resolve=resolve))


case("H3-rebinding-to-private")(partial(resolving_here, host="rebound.example"))
case("H3-localhost-below")(partial(resolving_here, host="x.localhost"))


@case("H3-dns-rebinding")
async def rebound(stage: Stage) -> Attack:
    """A name that alternates between a permitted address and a forbidden one, with nothing in between to remember.

    The git server stands for the permitted one. A listener on the same port of another address stands for the private one.
    """
    files = {"SKILL.md": stage.skill_md()}
    stage.repository(files)
    port = int(stage.journey.address.rpartition(":")[2])
    stage.listeners.append(await stage.keep(canary(host="127.0.0.2", port=port)))
    asked = 0

    async def resolve(host: str, port: int) -> Sequence[str]:
        nonlocal asked
        asked += 1
        return ["127.0.0.1"] if asked % 2 else ["127.0.0.2"]

    def judge(address: IpAddress) -> str | None:
        return None if address == IPv4Address("127.0.0.1") else "not the one that is public here"

    bindings = await stage.source(resolve=resolve, judge=judge)
    return Attack(url=f"http://rebound.example:{port}/hostile/{stage.name}", bindings=bindings, publishes=files)


@case("H3-env-proxies")
async def proxies_from_environment(stage: Stage) -> Attack:
    """The stage's environment names the listener as everybody's proxy: an honest fetch must not go there."""
    files = {"SKILL.md": stage.skill_md()}
    stage.repository(files)
    return Attack(url=stage.url, publishes=files)
