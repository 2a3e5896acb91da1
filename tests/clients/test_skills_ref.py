"""skills-ref, the specification's own validator, over what our archives hold: it agrees with our verdict, or we say why not."""

from __future__ import annotations

import io
import json
import zipfile
from pathlib import Path
from typing import NamedTuple

from tests.clients.programs import Machine, python_program
from tests.clients.registry import LiveRegistry
from tests.clients.table import proves
from tests.corpus.cases import read_corpus
from tests.pipeline.journey import skill_md
from vskill_platform.domain.archives import build_zip
from vskill_platform.domain.content import SkillContent, SkillFile, make_content, skill_file_of
from vskill_platform.domain.lint import ProblemSeverity
from vskill_platform.ingest.skill_md import parse_skill_md

VALIDATE_ALL = """
import json, sys
from pathlib import Path
from skills_ref import validate
print(json.dumps({folder: validate(Path(folder)) for folder in json.load(sys.stdin)}))
"""
"""The validator once for all folders: starting it takes longer than its work."""
BREACHES = {
    "a top-level version": "name: greeting\ndescription: Greets.\nversion: 1.0.0",
    "no description": "name: greeting",
    "an empty description": "name: greeting\ndescription:",
    "a long description": f"name: greeting\ndescription: {'x' * 1025}",
    "no name": "description: Greets.",
    "a name in capitals": "name: Greeting\ndescription: Greets.",
    "two dashes": "name: gree--ting\ndescription: Greets.",
    "a dash at the edge": "name: greeting-\ndescription: Greets.",
    "another name than the folder's": "name: parting\ndescription: Greets.",
    "a long name": f"name: {'x' * 65}\ndescription: Greets.",
    "a long compatibility": f"name: greeting\ndescription: Greets.\ncompatibility: {'x' * 501}",
    "brackets": 'name: greeting\ndescription: Greets.\nmetadata: {version: "1.0"}',
    "a tab": "name: greeting\ndescription:\tGreets.",
    "a colon without quotes": "name: greeting\ndescription: Greets people: all of them",
    "no frontmatter": "",
}
STRICTER = {
    "metadata in levels": "name: greeting\ndescription: Greets.\nmetadata:\n  a:\n    b: c",
    "metadata that is a text": "name: greeting\ndescription: Greets.\nmetadata: some",
    "tools in a list": "name: greeting\ndescription: Greets.\nallowed-tools:\n  - Read",
    "letters beyond a to z": "name: grüße\ndescription: Greets.",
}
"""What the specification does not allow and its validator does not see; discovery and installers do."""
SOUND = {
    "metadata": 'name: greeting\ndescription: Greets.\nmetadata:\n  version: "1.0"',
    "all fields": "name: greeting\ndescription: Greets.\nlicense: MIT\ncompatibility: Python 3\nallowed-tools: Read Bash(git:*)",
    "folded text": "name: greeting\ndescription: >\n  Greets\n  people.",
    "the longest description": f"name: greeting\ndescription: {'x' * 1024}",
}


class Verdicts(NamedTuple):
    """What we say of an archive, what the validator says, and our reasons."""

    ours: bool
    theirs: bool
    reasons: tuple[str, ...]


def is_stricter(verdict: Verdicts) -> bool:
    """Whether we object to what the specification does not allow and its validator does not see."""
    return verdict.theirs and all("allowed-tools" in reason or "metadata" in reason for reason in verdict.reasons)


async def judge(machine: Machine, skills: dict[str, tuple[SkillContent, str]]) -> dict[str, Verdicts]:
    """Both verdicts on each archive, unpacked into a folder of the given name."""
    folders = {
        name: _unpack(content, machine.project / str(number) / folder)
        for number, (name, (content, folder)) in enumerate(skills.items())
    }
    [python] = python_program("skills-ref", "python")
    given = json.dumps([str(folder) for folder in folders.values()]).encode()
    ran = await machine.run([python, "-c", VALIDATE_ALL], given=given)
    assert ran.code == 0, ran.text
    complaints = json.loads(ran.output)
    return {name: _verdicts(folder, complaints[str(folder)]) for name, folder in folders.items()}


def _unpack(content: SkillContent, folder: Path) -> Path:
    folder.mkdir(parents=True)
    zipfile.ZipFile(io.BytesIO(build_zip(content))).extractall(folder)
    return folder


def _verdicts(folder: Path, complaints: list[str]) -> Verdicts:
    read = parse_skill_md((folder / "SKILL.md").read_bytes(), folder_name=folder.name)
    reasons = tuple(problem.message for problem in read.problems if problem.severity is ProblemSeverity.ERROR)
    return Verdicts(read.is_strict_valid, not complaints, reasons)


def _written(headers: dict[str, str]) -> dict[str, tuple[SkillContent, str]]:
    """Skills with these headers, in a folder whose name is right wherever the name itself is not what is tried."""
    folders = {"letters beyond a to z": "grüße"}
    return {
        name: (_skill(f"---\n{header}\n---\n\n# Greeting\n\nHello.\n"), folders.get(name, "greeting"))
        for name, header in headers.items()
    }


def _skill(document: str) -> SkillContent:
    return make_content([SkillFile(path="SKILL.md", content=document.encode())])


@proves("skills-ref 0.1.1", "validate")
async def test_verdict_on_every_good_skill_is_the_validators__or_stricter_for_a_reason(machine: Machine) -> None:
    skills = {}
    for case in read_corpus():
        document = skill_file_of(case.content)
        if case.kind == "benign" and document is not None:
            skills[case.name] = (case.content, str(parse_skill_md(document.content).name))
    verdicts = await judge(machine, skills)
    assert sum(verdict.ours and verdict.theirs for verdict in verdicts.values()) > 500
    differing = {name: verdict for name, verdict in verdicts.items() if verdict.ours != verdict.theirs}
    assert {name: verdict for name, verdict in differing.items() if not is_stricter(verdict)} == {}


@proves("skills-ref 0.1.1", "validate")
async def test_verdicts_agree_on_what_is_wrong__and_ours_says_why(machine: Machine) -> None:
    verdicts = await judge(machine, _written({**BREACHES, **STRICTER, **SOUND}))
    assert {name for name, verdict in verdicts.items() if not verdict.theirs} == set(BREACHES)
    assert {name for name, verdict in verdicts.items() if not verdict.ours} == {*BREACHES, *STRICTER}
    assert {name for name, verdict in verdicts.items() if bool(verdict.reasons) is verdict.ours} == set()


@proves("skills-ref 0.1.1", "validate")
@proves("skills-ref 0.1.1", "read-properties")
@proves("skills-ref 0.1.1", "to-prompt")
async def test_program_takes_what_the_registry_serves__and_the_registry_says_which_it_would_not(
    registry: LiveRegistry, machine: Machine
) -> None:
    program = python_program("skills-ref", "agentskills")
    documents = {"greeting": skill_md("greeting"), "parting": skill_md("parting", version="1.0.0")}
    for name, document in documents.items():
        skill = await registry.publish(f"acme/tools/{name}", {"SKILL.md": document})
        place = f"/api/v1/skills/{skill.slug}/versions/{skill.version}/archive.zip"
        archive = (await registry.http.get(place)).content
        zipfile.ZipFile(io.BytesIO(archive)).extractall(machine.project / name)
    ran = await machine.run([*program, "validate", "greeting"])
    assert ran.code == 0, ran.text
    assert json.loads((await machine.run([*program, "read-properties", "greeting"])).output)["name"] == "greeting"
    assert "<name>\ngreeting\n</name>" in (await machine.run([*program, "to-prompt", "greeting"])).output
    refused = await machine.run([*program, "validate", "parting"])
    assert (refused.code, "version" in refused.text) == (1, True)
    found = await registry.skill("127-0-0-1-acme/tools/parting")
    lint = (await registry.http.get(f"/api/v1/submissions/{found.submission_id}")).json()["lint"]
    assert lint["strictValid"] is False
    assert [problem["code"] for problem in lint["problems"] if problem["severity"] == "error"] == ["unknown_field"]
