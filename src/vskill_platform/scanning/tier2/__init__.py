"""Tier 2: a model is shown a skill as data that it must not obey, and its answer is believed only where it is one."""

from vskill_platform.scanning.tier2.judge import ModelJudge, open_judge
from vskill_platform.scanning.tier2.prompt import PROMPT_VERSION

__all__ = ["PROMPT_VERSION", "ModelJudge", "open_judge"]
