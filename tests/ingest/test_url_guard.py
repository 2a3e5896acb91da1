"""Which addresses of repositories are fetched from, word by word and address by address."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from ipaddress import IPv4Address, IPv6Address, IPv6Network, ip_address

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vskill_platform.domain.errors import AddressForbidden, SourceUnreachable
from vskill_platform.ingest.public_addresses import judge_any, judge_public
from vskill_platform.ingest.resolver import SystemResolver
from vskill_platform.ingest.url_guard import check_address, resolve_checked
from vskill_platform.settings import Settings

BOTH = Settings(git_protocols="https, http")


@pytest.mark.parametrize(
    ("url", "host", "port", "again"),
    [
        ("https://github.com/o/n", "github.com", 443, "https://github.com/o/n"),
        ("https://GitHub.com:443/o/n.git", "github.com", 443, "https://github.com/o/n.git"),
        ("HTTPS://github.com./o/n", "github.com", 443, "https://github.com/o/n"),
        ("http://git.example:3000/o/n", "git.example", 3000, "http://git.example:3000/o/n"),
        ("https://8.8.8.8/o/n", "8.8.8.8", 443, "https://8.8.8.8/o/n"),
        ("https://[2606:4700:0::1111]:8443/o", "2606:4700::1111", 8443, "https://[2606:4700::1111]:8443/o"),
        (
            "https://xn--bcher-kva.example/o/n%20m",
            "xn--bcher-kva.example",
            443,
            "https://xn--bcher-kva.example/o/n%20m",
        ),
    ],
)
def test_check_address_puts_the_parts_together_again(url: str, host: str, port: int, again: str) -> None:
    address = check_address(url, settings=BOTH)
    assert (address.host, address.port, address.url) == (host, port, again)


@pytest.mark.parametrize(
    "url",
    [
        "",
        "https://",
        "https://github.com",
        "https://github.com/",
        "https:///o/n",
        "https://user@github.com/o/n",
        "https://user:secret@github.com/o/n",
        "https://@github.com/o/n",
        "https://github.com:22/o/n",
        "https://github.com:0/o/n",
        "https://github.com:99999/o/n",
        "https://github.com:x/o/n",
        "https://git hub.com/o/n",
        "https://github.com/o/n\n",
        "https://github.com/o/n\x00",
        "https://github.com/o\t/n",
        "https://github.com/o/n?x=1",
        "https://github.com/o/n#x",
        "https://github.com\\@127.0.0.1/o/n",
        "https://github.com/o/%0a/n",
        "https://github.com/o/%00",
        "https://gïthub.com/o/n",
        "https://github。com/o/n",
        "https://127.1/o/n",
        "https://2130706433/o/n",
        "https://0x7f000001/o/n",
        "https://0177.0.0.1/o/n",
        "https://1.2.3.4.5/o/n",
        "https://[::1%25eth0]/o/n",
        "https://[::g]/o/n",
        "https://-x.example/o/n",
        "https://a..b/o/n",
        "ssh://git@github.com/o/n",
        "git@github.com:o/n",
        "file:///etc",
        "javascript:alert(1)",
        "-oProxyCommand=x",
        "https://github.com/" + "n" * 3000,
    ],
)
def test_check_address_refuses_what_is_no_plain_address(url: str) -> None:
    with pytest.raises(AddressForbidden) as caught:
        check_address(url, settings=BOTH)
    assert caught.value.message.isprintable()
    assert "secret" not in f"{caught.value.message}{caught.value.fields}"
    assert len(caught.value.message) < 400


def test_check_address_holds_to_the_settings() -> None:
    with pytest.raises(AddressForbidden, match="reached by http"):
        check_address("http://github.com/o/n", settings=Settings())
    some = Settings(git_hosts="github.com, git.example")
    assert check_address("https://Git.Example/o/n", settings=some).host == "git.example"
    for host in ("evil.example", "github.com.evil.example", "sub.github.com"):
        with pytest.raises(AddressForbidden, match="host"):
            check_address(f"https://{host}/o/n", settings=some)


@pytest.mark.parametrize(
    "address",
    [
        "0.0.0.0", "10.1.2.3", "100.64.0.1", "127.0.0.1", "127.255.255.254", "169.254.169.254", "172.16.0.1",
        "172.31.255.255", "192.0.0.1", "192.0.2.1", "192.168.0.1", "192.88.99.1", "198.18.0.1", "198.51.100.1",
        "203.0.113.1", "224.0.0.1", "239.255.255.255", "240.0.0.1", "255.255.255.255",
        "::", "::1", "::127.0.0.1", "::ffff:127.0.0.1", "::ffff:10.0.0.1", "::ffff:0:127.0.0.1", "fe80::1", "fec0::1",
        "fc00::1", "fd12::1", "ff02::1", "2001:db8::1", "3fff::1", "100::1", "2001::1", "2001:0:7f00:1::", "2001:10::1",
        "2002:7f00:1::", "2002:a00:1::1", "64:ff9b::127.0.0.1", "64:ff9b::169.254.169.254", "64:ff9b:1::1", "5f00::1",
        "2606:4700::5efe:10.0.0.1", "2606:4700::200:5efe:127.0.0.1",
    ],
)  # fmt: skip
def test_judge_public_refuses__what_is_not_on_the_public_internet(address: str) -> None:
    assert judge_public(ip_address(address)) is not None


@pytest.mark.parametrize(
    "address",
    ["8.8.8.8", "140.82.112.3", "172.32.0.1", "100.128.0.1", "2606:4700::1111", "64:ff9b::8.8.8.8", "::ffff:8.8.8.8",
     "2002:808:808::1"],
)  # fmt: skip
def test_judge_public_takes__what_is_on_the_public_internet(address: str) -> None:
    assert judge_public(ip_address(address)) is None


@given(st.integers(0, 2**32 - 1).map(IPv4Address))
def test_judge_public_is_no_more_lenient_than_the_standard_library__for_ipv4(address: IPv4Address) -> None:
    if not address.is_global or address.is_multicast:
        assert judge_public(address) is not None
        assert judge_public(IPv6Address(f"::ffff:{address}")) is not None
        assert judge_public(IPv6Address(f"64:ff9b::{address}")) is not None


@given(st.integers(0, 2**128 - 1).map(IPv6Address))
def test_judge_public_is_no_more_lenient_than_the_standard_library__for_ipv6(address: IPv6Address) -> None:
    if judge_public(address) is None:
        assert address.is_global or address in IPv6Network("64:ff9b::/96")


async def test_resolve_checked_refuses_all__for_one_that_is_not_public() -> None:
    async def resolve(host: str, port: int) -> Sequence[str]:
        return ["8.8.8.8", "::ffff:192.168.0.1"]

    address = check_address("https://mixed.example/o/n", settings=BOTH)
    with pytest.raises(AddressForbidden):
        await resolve_checked(address, resolve=resolve, judge=judge_public)
    assert await resolve_checked(address, resolve=resolve, judge=judge_any) == ("8.8.8.8", "::ffff:192.168.0.1")


async def test_resolve_checked_is_unreachable__without_an_address() -> None:
    async def resolve(host: str, port: int) -> Sequence[str]:
        return []

    with pytest.raises(SourceUnreachable):
        await resolve_checked(check_address("https://x.example/o", settings=BOTH), resolve=resolve, judge=judge_any)


async def test_system_resolver_gives_each_address_once__however_a_host_is_spelled() -> None:
    resolver = SystemResolver()
    try:
        for host in ("127.0.0.1", "127.1", "2130706433", "0x7f.1", "0177.0.0.1"):
            assert await resolver(host, 443) == ["127.0.0.1"]
        assert await asyncio.wait_for(resolver("localhost", 443), 10)
    finally:
        resolver.close()
