"""Passwords in addresses and settings: hidden wherever they are printed, refused where they would get out."""

from __future__ import annotations

import pytest

from vskill_platform.domain.errors import InvalidSettings
from vskill_platform.domain.redaction import hide_password
from vskill_platform.settings import convert_settings, health_place, printable_settings

SECRET = "hunter2"


@pytest.mark.parametrize(
    ("url", "shown"),
    [
        ("postgresql://u:hunter2@h:5432/d", "postgresql://u:***@h:5432/d"),
        ("postgresql://:hunter2@h/d", "postgresql://:***@h/d"),
        ("postgresql://u:hunter2@h1,h2:2/d?sslmode=require", "postgresql://u:***@h1,h2:2/d?sslmode=require"),
        ("postgresql://u@h/d?password=hunter2&a=b", "postgresql://u@h/d?password=***&a=b"),
        ("postgresql://u@h/d?a=b&sslpassword=hunter2", "postgresql://u@h/d?a=b&sslpassword=***"),
        ("postgresql://u:x@hunter2@h/d", "postgresql://u:***@h/d"),
        ("postgresql://u:x/hunter2@h/d", "postgresql://u:***@h/d"),
        ("postgresql://u:x#hunter2@h/d", "postgresql://u:***@h/d"),
        ("postgresql://u:x?hunter2@h/d", "postgresql://u:***@h/d"),
        ("postgresql://u:[hunter2@h/d", "postgresql://u:***@h/d"),
        ("postgresql:///d?host=/run/postgresql", "postgresql:///d?host=/run/postgresql"),
        ("postgresql://u@h/d", "postgresql://u@h/d"),
        ("", ""),
    ],
)
def test_password_is_hidden__and_the_rest_is_shown(url: str, shown: str) -> None:
    assert hide_password(url) == shown


def test_settings_show_no_secret__however_they_are_printed() -> None:
    settings = convert_settings(
        {"database_url": f"postgresql://u:{SECRET}@h/d", "blobs_secret_access_key": SECRET, "port": 1}
    )
    for text in (repr(settings), str(settings), f"{settings}", str(printable_settings(settings))):
        assert SECRET not in text
        assert "port" in text
    assert settings.database_url.count(SECRET) == 1


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("database_url", f"mysql://u:{SECRET}@h/d"),
        ("database_url", f"u:{SECRET}@h/d"),
        ("database_url", f"postgresql://u:{SECRET}/x@h/d"),
        ("database_url", f"postgresql://u:{SECRET}#x@h/d"),
        ("database_url", f"postgresql://u:[{SECRET}@h/d"),
        ("blobs_url", "https://bucket.example/prefix"),
        ("blobs_url", "s3://"),
        ("health_address", "loopback"),
        ("health_address", "0.0.0.0:70000"),
    ],
)
def test_address_that_means_nothing_is_refused__without_repeating_a_password(name: str, value: str) -> None:
    with pytest.raises(InvalidSettings) as refused:
        convert_settings({name: value})
    assert name.upper() in refused.value.message
    assert SECRET not in refused.value.message


@pytest.mark.parametrize(
    ("address", "place"),
    [
        ("", None),
        ("9464", ("127.0.0.1", 9464)),
        (":9464", ("127.0.0.1", 9464)),
        ("0.0.0.0:0", ("0.0.0.0", 0)),
        ("[::1]:9464", ("::1", 9464)),
    ],
)
def test_health_is_on_loopback__unless_a_host_is_named(address: str, place: tuple[str, int] | None) -> None:
    assert health_place(convert_settings({"health_address": address})) == place
