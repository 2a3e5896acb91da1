"""The Dockerfile, as far as it can be judged without Docker: what it copies, runs and leaves behind."""

from __future__ import annotations

import re
import tomllib
from fnmatch import fnmatch

from tests.deploy import deployment
from tests.deploy.deployment import DOCKERFILE, ROOT, dockerfile_instructions
from tests.deploy.test_names import commands
from vskill_platform.settings import health_place, load_settings

IN_THE_IMAGE = {"python", "apt-get", "install", "rm", "useradd"}
"""What Debian's slim Python image brings along and the Dockerfile runs."""


def arguments(name: str) -> list[str]:
    return [rest for instruction, rest in dockerfile_instructions() if instruction == name]


def test_image_copies_files_that_exist__and_that_the_build_is_given() -> None:
    allowed = [
        line[1:]
        for line in (DOCKERFILE.with_name("Dockerfile.dockerignore")).read_text().splitlines()
        if line[0] == "!"
    ]
    sources = [word for rest in arguments("COPY") if "--from" not in rest for word in rest.split()[:-1]]
    assert len(sources) >= 5
    for source in sources:
        assert (ROOT / source).exists(), source
        assert any(fnmatch(source.split("/")[0], pattern) for pattern in allowed), source


def test_image_runs_only_programs_that_it_has_or_makes() -> None:
    made = set(re.findall(r"python -m venv (\S+)", DOCKERFILE.read_text()))
    ours = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["scripts"]
    installed = {f"{venv}/bin/{name}" for venv in made for name in ours}
    for rest in arguments("RUN"):
        for command in rest.split(" && "):
            program = command.split()[0]
            venv = program.removesuffix("/bin/python")
            assert program in IN_THE_IMAGE | installed or venv in made, program


def test_image_installs_nothing_without_a_hash() -> None:
    installs = [rest for rest in arguments("RUN") if "pip install" in rest]
    assert all("--require-hashes" in rest or "--no-deps --no-index" in rest for rest in installs)
    named = {name for rest in installs for name in re.findall(r"-r (\S+)", rest)}
    assert named == {"requirements/deploy.txt", "requirements/build.txt"}
    for name in named:
        pinned = re.split(r"\n(?=\w)", (ROOT / name).read_text())
        assert all("==" in one and "--hash=sha256:" in one for one in pinned)


def test_installation_takes_the_versions_that_are_tested() -> None:
    tested = {**_versions("dev"), **_versions("runtime")}
    installed = _versions("deploy")
    assert installed.items() <= tested.items()
    assert _versions("runtime").keys() <= installed.keys()
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"]
    assert {re.split(r"[<>=]", wanted)[0] for names in extras.values() for wanted in names} <= installed.keys()


def _versions(name: str) -> dict[str, str]:
    text = (ROOT / "requirements" / f"{name}.txt").read_text()
    return dict(re.findall(r"^([\w.-]+)==(\S+)", text, re.MULTILINE))


def test_image_ends_as_a_user_that_is_not_root__and_owns_the_data_folder() -> None:
    user = arguments("USER")[-1]
    assert re.fullmatch(r"(?!0)\d+:(?!0)\d+", user)
    assert f"--uid {user.split(':')[0]} " in DOCKERFILE.read_text()
    data = load_settings(deployment.image_settings()).data
    assert arguments("VOLUME") == arguments("WORKDIR")[-1:] == [data]
    assert f"install --directory --owner=vskill --group=vskill --mode=0700 {data}" in DOCKERFILE.read_text()


def test_image_starts_the_command_of_the_project__and_watches_its_health() -> None:
    scripts = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["scripts"]
    [entry], [command] = (re.findall(r'"([^"]+)"', arguments(name)[0]) for name in ("ENTRYPOINT", "CMD"))
    assert entry in scripts
    assert command in commands()
    settings = load_settings(deployment.image_settings())
    place = health_place(settings)
    assert place is not None
    assert f"127.0.0.1:{place[1]}/healthz" in arguments("HEALTHCHECK")[0]
    assert arguments("EXPOSE") == [f"{settings.port} {place[1]}"]


def test_image_has_git_inside() -> None:
    assert re.search(r"apt-get install [^&]*\bgit\b", "\n".join(arguments("RUN")))
