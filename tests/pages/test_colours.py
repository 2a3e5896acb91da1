"""The colours of the style sheet: text can be read on every surface it stands on, in light and in dark (WCAG AA)."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import vskill_platform.web

CSS = (Path(vskill_platform.web.__file__).parent / "static" / "site.css").read_text()
TOKENS = {
    name: (light, dark or light)
    for name, light, dark in re.findall(r"--([a-z-]+): (?:light-dark\()?(#[0-9a-f]{6})(?:, (#[0-9a-f]{6})\))?;", CSS)
}
SURFACES = ("page", "raised", "sunken")
TEXT_ON = [
    *((text, surface) for text in ("ink", "soft", "accent") for surface in SURFACES),
    *((text, f"{text}-tint") for text in ("accent", "pass", "warn", "fail", "info")),
    *(("ink", f"{tint}-tint") for tint in ("accent", "pass", "warn", "fail", "info")),
    *((text, surface) for text in ("pass", "warn", "fail", "info") for surface in ("page", "raised")),
    ("on-fill", "fill"),
    ("on-fill", "fill-hover"),
]
CONTROLS_ON = [("control", "page"), ("control", "raised")]


def luminance(colour: str) -> float:
    parts = [int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)]
    red, green, blue = (part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def contrast(one: str, other: str) -> float:
    lighter, darker = sorted((luminance(one), luminance(other)), reverse=True)
    return (lighter + 0.05) / (darker + 0.05)


@pytest.mark.parametrize("scheme", [0, 1], ids=["light", "dark"])
@pytest.mark.parametrize(("text", "surface"), TEXT_ON)
def test_text_can_be_read(text: str, surface: str, scheme: int) -> None:
    assert contrast(TOKENS[text][scheme], TOKENS[surface][scheme]) >= 4.5


@pytest.mark.parametrize("scheme", [0, 1], ids=["light", "dark"])
@pytest.mark.parametrize(("control", "surface"), CONTROLS_ON)
def test_controls_can_be_seen(control: str, surface: str, scheme: int) -> None:
    assert contrast(TOKENS[control][scheme], TOKENS[surface][scheme]) >= 3.0
