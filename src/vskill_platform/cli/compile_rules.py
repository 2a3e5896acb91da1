"""`vskill-platform compile-rules`: what the scanner looks for, compiled ahead, so that it need not be learnt."""

from __future__ import annotations

import typer
from rich.console import Console

from vskill_platform.cli.printing import AS_JSON, plain, print_json
from vskill_platform.cli.progress import ProgressLines

HELP = "Compile the bundled rules' patterns ahead, once after an installation."


def compile_rules(as_json: bool = AS_JSON) -> None:
    """Compile what is not compiled yet. Scans find the same without it and are slower, the first hundreds most of all."""
    from vskill_platform.scanning.tier1.all_sets import all_sets, compile_missing
    from vskill_platform.scanning.tier1.compiled_sets import FOLDER, is_supported

    if not is_supported():
        _say(
            "There is no hyperscan for this machine. google-re2 does its work; nothing needs to be done.", 0, 0, as_json
        )
        return
    sets = all_sets()
    progress = ProgressLines()
    done = 0
    try:
        for done, total in compile_missing(sets):
            progress.tell("compiling sets of patterns", done, total)
    except OSError as error:
        advice = "Run this as the user who installed the software. Until then scans are slower, and find the same."
        Console(stderr=True, highlight=False, emoji=False, soft_wrap=True).print(
            plain(f"Nothing can be written to {FOLDER}: {error.strerror}. {advice}")
        )
        raise typer.Exit(1) from error
    before = f"; {len(sets) - done} had been before" if done < len(sets) else ""
    _say(f"{done} sets of patterns were compiled{before}.", done, len(sets), as_json)


def _say(sentence: str, compiled: int, total: int, as_json: bool) -> None:
    if as_json:
        print_json({"compiled": compiled, "sets": total})
    else:
        Console(highlight=False, emoji=False, soft_wrap=True).print(sentence)
