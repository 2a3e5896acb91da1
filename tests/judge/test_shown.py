"""What operators and others see of the judge: the doctor's look, and the API."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.api.skills.registry import client_of
from tests.judge.asking import KEY, MODEL, settings_for
from tests.pipeline.journey import Journey, skill_md
from vskill_platform.app.doctor import Outcome
from vskill_platform.app.doctor.judge import look_at_judge
from vskill_platform.app.env import open_env
from vskill_platform.domain.errors import InvalidSettings
from vskill_platform.domain.scan import Verdict
from vskill_platform.scanning.tier2 import PROMPT_VERSION, ModelJudge
from vskill_platform.settings import Settings, convert_settings
from vskill_platform.testing.judge_endpoint import JudgeEndpoint, completing, failing, saying
from vskill_platform.web.app import create_web_app

pytestmark = pytest.mark.asyncio(loop_scope="package")


async def test_doctor_says_whether_the_judge_answers(endpoint: JudgeEndpoint) -> None:
    (found,) = await look_at_judge(settings_for(endpoint))
    assert found.outcome is Outcome.OK
    assert MODEL in found.detail
    endpoint.answers = [completing(lambda asked: "Fine!")]
    (found,) = await look_at_judge(settings_for(endpoint))
    assert found.outcome is Outcome.WARN
    endpoint.answers = [failing(401)]
    (found,) = await look_at_judge(settings_for(endpoint))
    assert (found.outcome, KEY in str(found)) == (Outcome.FAIL, False)
    assert "VSKILL_PLATFORM_JUDGE_URL" in found.advice
    (found,) = await look_at_judge(Settings())
    assert found.outcome is Outcome.OK


async def test_api_shows_the_whole_judgement_with_the_submission(journey: Journey, endpoint: JudgeEndpoint) -> None:
    endpoint.answers = [saying(Verdict.CONCERNS, 65)]
    journey.repository("acme/greeting", {"SKILL.md": skill_md()})
    (submission,) = await journey.take_through("acme/greeting")
    async with client_of(create_web_app(journey.env)) as client:
        told = (await client.get(f"/api/v1/submissions/{submission.id}")).json()
    judgement = told["judgement"]
    assert (told["state"], told["reason"]) == ("NEEDS_REVIEW", "judge_concerns")
    assert (judgement["verdict"], judgement["score"], judgement["model"]) == ("CONCERNS", 65, MODEL)
    assert judgement["promptVersion"] == PROMPT_VERSION
    assert judgement["concerns"] == ["SKILL.md:1 is not what it says."]
    assert '"verdict":"CONCERNS"' in judgement["answer"]


async def test_env_has_a_judge__only_where_it_works_and_the_settings_name_one(
    endpoint: JudgeEndpoint, tmp_path: Path
) -> None:
    settings = settings_for(endpoint, data=str(tmp_path), scan_processes=1)
    async with open_env(settings) as env:
        assert env.judge is None
    async with open_env(settings, is_working=True) as env:
        assert isinstance(env.judge, ModelJudge)
        assert env.judge.model == MODEL


@pytest.mark.parametrize(
    "given",
    [
        {"judge_url": "ftp://host/v1"},
        {"judge_url": "127.0.0.1:8000"},
        {"judge_model": ""},
        {"judge_api_key": "two words"},
        {"judge_api_key": "line\nbreak"},
        {"judge_time_limit_s": 300},
    ],
)
async def test_settings_are_refused__when_no_judge_could_be_asked_by_them(given: dict[str, object]) -> None:
    well = {"judge_url": "http://127.0.0.1:1/v1", "judge_model": "m"}
    convert_settings(well)
    with pytest.raises(InvalidSettings) as refused:
        convert_settings({**well, **given})
    assert str(given.get("judge_api_key", "nothing")) not in str(refused.value)
