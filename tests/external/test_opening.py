"""Which scanners a process has, by its settings, and what those say that cannot be asked."""

from __future__ import annotations

import asyncio
import subprocess
import sys
from pathlib import Path

import pytest

from tests.external.installed import settings_for
from tests.external.programs import SKILL
from vskill_platform.app.doctor import Outcome
from vskill_platform.app.doctor.external import look_at_external_scanners
from vskill_platform.app.env import open_env
from vskill_platform.domain.errors import InvalidSettings
from vskill_platform.domain.external_scan import ExternalScanStatus
from vskill_platform.scanning.external import PROVIDERS, open_scanners
from vskill_platform.scanning.external.programs import parse_programs
from vskill_platform.settings import Settings, printable_settings


async def names_of(settings: Settings) -> list[str]:
    async with open_scanners(settings) as scanners:
        assert all(scanner.name == name for name, scanner in scanners.items())
        return list(scanners)


async def test_scanners_are_none__when_none_is_switched_on(tmp_path: Path) -> None:
    assert await names_of(Settings(data=str(tmp_path))) == []
    assert list(tmp_path.iterdir()) == []


async def test_scanners_are_those_of_the_settings__without_the_ones_that_only_others_run(tmp_path: Path) -> None:
    settings = Settings(
        data=str(tmp_path),
        external_scanners=" semgrep, bandit ,remote:farm,bandit,",
        external_programs="one=/bin/one {folder} ; two=/bin/two --in={folder}\nsarif:three=three -x {folder}",
    )
    assert await names_of(settings) == ["semgrep", "bandit", "one", "two", "three"]


async def test_name_that_there_is_not_is_an_error_that_says_which_there_are(tmp_path: Path) -> None:
    with pytest.raises(InvalidSettings, match="names bandti, which there is not") as error:
        await names_of(Settings(data=str(tmp_path), external_scanners="bandti"))
    assert all(name in error.value.message for name in PROVIDERS)


@pytest.mark.parametrize(
    "line",
    [
        "tool",
        "tool=",
        "=x {folder}",
        "tool=/bin/tool",
        "Tool=/bin/tool {folder}",
        "../x=/bin/tool {folder}",
        "tool='/bin/tool {folder}",
        "tool=/bin/tool {folder} ; tool=/bin/other {folder}",
        "bandit=/bin/tool {folder}",
        "tool={folder}",
    ],
)
async def test_program_that_cannot_be_is_an_error(tmp_path: Path, line: str) -> None:
    with pytest.raises(InvalidSettings, match="VSKILL_PLATFORM_EXTERNAL_PROGRAMS"):
        await names_of(Settings(data=str(tmp_path), external_programs=line))


def test_program_is_started_without_a_shell__its_words_are_what_the_operator_wrote() -> None:
    (program,) = parse_programs("tool=/opt/my' 'tool/run --as 'a b' --in={folder}/x $HOME")
    command = program.command(SKILL, python=Path("/p"), skill=Path("/s k"))
    assert command == ["/opt/my tool/run", "--as", "a b", "--in=/s k/x", "$HOME"]


async def test_scanner_that_is_not_installed_is_there_and_says_what_to_run(tmp_path: Path) -> None:
    async with open_scanners(Settings(data=str(tmp_path), external_scanners="bandit")) as scanners:
        reason = await scanners["bandit"].unavailable_because()
        report = await scanners["bandit"].scan(SKILL)
    assert reason == "bandit is not installed. Run `vskill-platform scanners install bandit`."
    assert (report.status, report.summary, report.score) == (ExternalScanStatus.ERROR, reason, None)


async def test_program_that_is_not_there_says_so(tmp_path: Path) -> None:
    async with open_scanners(Settings(data=str(tmp_path), external_programs="tool=/no/tool {folder}")) as scanners:
        assert "The program /no/tool of tool is not there" in await scanners["tool"].unavailable_because()


async def test_scanner_of_a_service_is_off_without_the_operators_token__which_is_never_printed(tmp_path: Path) -> None:
    async with open_scanners(settings_for("snyk-agent-scan", data=tmp_path)) as scanners:
        reason = await scanners["snyk-agent-scan"].unavailable_because()
    assert "Run `vskill-platform scanners install snyk-agent-scan`" in reason or "SNYK_TOKEN" in reason
    settings = Settings(snyk_token="hunter2-token")
    assert "hunter2" not in repr(settings)
    assert "hunter2" not in str(printable_settings(settings))


async def test_scanners_are_off_and_say_why__where_the_machine_has_no_namespaces(tmp_path: Path) -> None:
    script = (
        "import asyncio, sys\n"
        "from vskill_platform.domain.content import SkillContent\n"
        "from vskill_platform.scanning.external import open_scanners\n"
        "from vskill_platform.settings import Settings\n"
        "async def main():\n"
        "    async with open_scanners(Settings(data=sys.argv[1], external_programs='t=/bin/true {folder}')) as scanners:\n"
        "        print(await scanners['t'].unavailable_because())\n"
        "        print((await scanners['t'].scan(SkillContent(files=()))).status)\n"
        "asyncio.run(main())\n"
    )
    forbid = 'echo 0 > /proc/sys/user/max_user_namespaces && exec "$@"'
    command = ["unshare", "--user", "--map-root-user", "sh", "-c", forbid, "sh", sys.executable, "-c", script]
    done = await asyncio.to_thread(
        subprocess.run, [*command, str(tmp_path)], capture_output=True, text=True, timeout=60, check=True
    )
    reason, status = done.stdout.splitlines()
    assert reason.startswith("This machine refuses to run a program without network (unshare: ")
    assert status == "ERROR"


async def test_env_of_a_working_process_has_the_scanners__and_that_of_another_has_none(tmp_path: Path) -> None:
    settings = Settings(data=str(tmp_path), external_scanners="bandit", scan_processes=1)
    async with open_env(settings, is_working=True) as env:
        assert list(env.external) == ["bandit"]
    async with open_env(settings) as env:
        assert list(env.external) == []


async def test_doctor_tells_which_scanners_could_be_asked__and_leaves_the_data_folder_alone(tmp_path: Path) -> None:
    data = tmp_path / "data"
    settings = Settings(data=str(data), external_scanners="bandit", external_programs="mine=/bin/true {folder}")
    found = await look_at_external_scanners(settings)
    assert [(finding.outcome, finding.detail) for finding in found] == [
        (Outcome.OK, "Ready: mine."),
        (Outcome.WARN, "bandit is not installed. Run `vskill-platform scanners install bandit`."),
    ]
    assert not data.exists()
    assert [finding.outcome for finding in await look_at_external_scanners(Settings(data=str(data)))] == [Outcome.OK]
