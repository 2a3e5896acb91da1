"""Package manifests and the configuration of package managers, by the names that managers look for."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from vskill_platform.scanning.limits import CONFIG_LIMIT
from vskill_platform.scanning.tier1.configs.build_scripts import (
    judge_build_script,
    judge_customisation,
    judge_gyp,
    judge_path_file,
)
from vskill_platform.scanning.tier1.configs.json_text import read_json
from vskill_platform.scanning.tier1.configs.managers import judge_manager
from vskill_platform.scanning.tier1.configs.npm_manifests import judge_package_json
from vskill_platform.scanning.tier1.configs.other_manifests import judge_cargo, judge_gemfile, judge_go_mod
from vskill_platform.scanning.tier1.configs.pypi_manifests import (
    judge_environment,
    judge_pyproject,
    judge_requirements,
    judge_setup_cfg,
)
from vskill_platform.scanning.tier1.configs.reporting import Seen, Source
from vskill_platform.scanning.tier1.configs.structured import Reader
from vskill_platform.scanning.tier1.configs.toml_text import read_ini, read_toml
from vskill_platform.scanning.tier1.configs.yaml_text import read_yaml
from vskill_platform.scanning.tier1.skill import FileUnderScan, LimitHit

Judge = Callable[[FileUnderScan], Iterator[Seen]]


def find_in_manifests(file: FileUnderScan) -> Iterator[Seen]:
    """What is wrong with a manifest or with the configuration of a package manager; nothing for other files."""
    judge = _judge_for(file.path)
    if judge is not None:
        yield from judge(file)


def _judge_for(path: str) -> Judge | None:
    name = path.rpartition("/")[2].lower()
    if path.endswith((".cargo/config.toml", ".cargo/config")):
        name = ".cargo"
    elif name.startswith(("requirements", "constraints")) and name.endswith((".txt", ".in")):
        name = "requirements.txt"
    elif name.endswith(".pth"):
        name = ".pth"
    return _JUDGES.get(name)


def _structured(read: Reader, judge: Callable[[Source], Iterator[Seen]]) -> Judge:
    def judge_file(file: FileUnderScan) -> Iterator[Seen]:
        reading = read(file.text)
        if reading.is_cut:
            yield LimitHit(CONFIG_LIMIT)
        yield from judge(Source(file.path, tuple(reading.entries)))

    return judge_file


_JUDGES: dict[str, Judge] = {
    "package.json": _structured(read_json, judge_package_json),
    "pyproject.toml": _structured(read_toml, judge_pyproject),
    "pipfile": _structured(read_toml, judge_pyproject),
    "uv.toml": _structured(read_toml, judge_pyproject),
    "setup.cfg": _structured(read_ini, judge_setup_cfg),
    "requirements.txt": judge_requirements,
    "environment.yml": _structured(read_yaml, judge_environment),
    "environment.yaml": _structured(read_yaml, judge_environment),
    ".condarc": _structured(read_yaml, judge_environment),
    "cargo.toml": _structured(read_toml, judge_cargo),
    "gemfile": judge_gemfile,
    "go.mod": judge_go_mod,
    ".cargo": _structured(read_toml, judge_manager),
    ".npmrc": _structured(read_ini, judge_manager),
    ".yarnrc": _structured(read_ini, judge_manager),
    ".yarnrc.yml": _structured(read_yaml, judge_manager),
    "pip.conf": _structured(read_ini, judge_manager),
    "pip.ini": _structured(read_ini, judge_manager),
    "bunfig.toml": _structured(read_toml, judge_manager),
    ".gemrc": _structured(read_yaml, judge_manager),
    "setup.py": judge_build_script,
    "build.rs": judge_build_script,
    "binding.gyp": judge_gyp,
    ".pth": judge_path_file,
    "sitecustomize.py": judge_customisation,
    "usercustomize.py": judge_customisation,
}
