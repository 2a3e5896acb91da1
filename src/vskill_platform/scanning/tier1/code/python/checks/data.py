"""Data that is turned into objects: formats that can carry code, from places where anybody may have written them."""

from __future__ import annotations

from vskill_platform.scanning.tier1.code.python import catalogue
from vskill_platform.scanning.tier1.code.python.checks.calls import ReadCall
from vskill_platform.scanning.tier1.code.python.values import FETCHED_PATH, NETWORK, TOOL


def may_load(name: str) -> bool:
    """Whether a call of this name may turn data into objects."""
    return name in catalogue.DESERIALISERS


def check_data(call: ReadCall) -> None:
    """Look at a call that may turn data into objects."""
    if _is_safe(call):
        return
    given = call.argument(0, "file", "filepath_or_buffer", "f", "data", "stream")
    is_fetched = any(call.evaluator.file_taint.get(text, 0) & NETWORK for text in given.texts)
    if given.taint & (NETWORK | FETCHED_PATH) or is_fetched:
        call.sight("python_unpickles_fetched")
    elif call.exposure(given) & TOOL:
        call.sight("python_unpickles_input")


def _is_safe(call: ReadCall) -> bool:
    """Whether the call says that it takes data alone."""
    if call.name.startswith("yaml.load"):
        return any("Safe" in name or "Base" in name for name in call.argument(1, "Loader").references)
    weights = [each.value for each in call.site.node.keywords if each.arg == "weights_only"]
    return call.name == "torch.load" and any(getattr(each, "value", None) is True for each in weights)
