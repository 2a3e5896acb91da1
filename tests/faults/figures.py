"""What a fault run came to, in one line that the documents can quote; pytest prints the lines at its end."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from statistics import quantiles

Tell = Callable[[str], None]
FIGURE = "figure"


def spread(seconds: Sequence[float]) -> str:
    """Median, 95th percentile and longest of some durations."""
    cuts = quantiles(seconds, n=20, method="inclusive") if len(seconds) > 1 else [*seconds] * 19
    return f"p50 {cuts[9]:.2f} s, p95 {cuts[18]:.2f} s, max {max(seconds):.2f} s"
