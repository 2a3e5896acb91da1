"""H4: frontmatter that is a trap for parsers. What is safe is read as it stands, what is not is refused."""

from __future__ import annotations

from functools import partial

from tests.hostile.corpus import Attack, case
from tests.hostile.stage import Stage

LAUGHS = "a: &a [x,x,x,x,x,x,x,x,x]\n" + "".join(
    f"{letter}: &{letter} [{','.join([f'*{before}'] * 9)}]\n"
    for before, letter in zip("abcdefgh", "bcdefghi", strict=True)
)
HEADS = {
    "alias": "name: &n x\ndescription: *n\n",
    "alias-laughs": f"name: x\n{LAUGHS}",
    "alias-of-itself": "name: x\nmetadata: &m\n  inner: *m\n",
    "anchor": "name: &n x\ndescription: y\n",
    "merge": "base: {name: x}\n<<: {description: y}\n",
    "merge-alias": "base: &b {name: x}\nmetadata:\n  <<: *b\n",
    "duplicate-key": "name: x\ndescription: y\nname: z\n",
    "duplicate-key-nested": "name: x\nmetadata:\n  a: 1\n  a: 2\n",
    "duplicate-key-quoted": 'name: x\n"name": z\ndescription: y\n',
    "tag-python": "name: !!python/object/apply:os.system ['{command}']\ndescription: y\n",
    "tag-python-module": "name: x\ndescription: !!python/module:os\n",
    "tag-local": "name: !include /etc/passwd\ndescription: y\n",
    "tag-binary": "name: !!binary aGk=\ndescription: y\n",
    "tag-directive": "%TAG ! tag:yaml.org,2002:python/\n---\nname: x\n",
    "documents": "name: x\n...\nname: y\n",
    "nesting": "name: x\nmetadata: " + "[" * 20_000 + "]" * 20_000 + "\n",
    "nesting-unclosed": "name: x\nmetadata: " + "[" * 60_000 + "\n",
    "nesting-mapping": "name: x\nmetadata: " + "{a: " * 10_000 + "1" + "}" * 10_000 + "\n",
    "nesting-block": "name: x\nmetadata:\n" + "".join(" " * depth + "a:\n" for depth in range(1, 300)),
    "long-scalar": "name: x\ndescription: " + "y" * 20_000 + "\n",
    "too-large": "name: x\n" + "".join(f"k{number}: {'y' * 100}\n" for number in range(700)),
    "too-many-nodes": "name: x\nmetadata: [" + "1," * 3000 + "1]\n",
    "nul-escaped": 'name: "x\\0y"\ndescription: y\n',
    "control": "name: x\x1b[31m\ndescription: y\n",
    "line-separator": "name: x\u2028evil: y\ndescription: z\n",
    "surrogate-escaped": 'name: "\\ud800"\ndescription: y\n',
    "norway": "name: {name}\ndescription: no\nlicense: off\nversion: 1.10\n",
    "date-and-octal": "name: {name}\ndescription: 2024-01-01\nmetadata: {{a: 0o17, b: 1e3, c: 12:30:45}}\n",
    "name-number": "name: 12345\ndescription: A number for a name, {name}.\n",
    "name-boolean": "name: yes\ndescription: A boolean for a name, {name}.\n",
    "name-list": "name: [a, b]\ndescription: A list for a name, {name}.\n",
    "name-mapping": "name: {{a: b}}\ndescription: A mapping for a name, {name}.\n",
    "name-null": "name: ~\ndescription: Null for a name, {name}.\n",
    "name-empty": "name:\ndescription: Nothing for a name, {name}.\n",
    "not-a-mapping": "- name\n- {name}\n",
    "odd-key": "name: {name}\ndescription: y\n? [a, b]\n: c\n",
}


async def head(stage: Stage, *, text: str) -> Attack:
    text = text.replace("{name}", stage.name).replace("{command}", stage.traps.command)
    text = text.replace("{{", "{").replace("}}", "}") if "{{" in text else text
    return await whole(stage, content=f"---\n{text}---\n\nGreet the user, {stage.name}.\n".encode())


async def whole(stage: Stage, *, content: bytes) -> Attack:
    files = {"SKILL.md": content}
    stage.repository(files)
    return Attack(url=stage.url, publishes=files)


for _id, _head in HEADS.items():
    case(f"H4-{_id}")(partial(head, text=_head))


@case("H4-byte-order-mark")
async def byte_order_mark(stage: Stage) -> Attack:
    return await whole(stage, content=b"\xef\xbb\xbf" + stage.skill_md())


@case("H4-nul")
async def nul(stage: Stage) -> Attack:
    return await whole(stage, content=stage.skill_md("before\0after"))


@case("H4-not-utf8")
async def not_utf8(stage: Stage) -> Attack:
    return await whole(stage, content=stage.skill_md() + b"\xff\xfe\xc0\xaf\n")


@case("H4-utf16")
async def utf16(stage: Stage) -> Attack:
    return await whole(stage, content=stage.skill_md().decode().encode("utf-16"))


@case("H4-fence-in-code")
async def fence_in_code(stage: Stage) -> Attack:
    return await whole(stage, content=stage.skill_md("```yaml\n---\nname: other\n---\n```"))


@case("H4-fence-in-block-scalar")
async def fence_in_block_scalar(stage: Stage) -> Attack:
    """A second fence inside a value: where the frontmatter ends must not be a matter of opinion."""
    return await whole(
        stage, content=f"---\nname: {stage.name}\ndescription: |\n  one\n---\n  two\n---\nBody.\n".encode()
    )


@case("H4-crlf")
async def crlf(stage: Stage) -> Attack:
    return await whole(stage, content=stage.skill_md().replace(b"\n", b"\r\n"))


@case("H4-bare-cr")
async def bare_cr(stage: Stage) -> Attack:
    return await whole(stage, content=stage.skill_md().replace(b"\n", b"\r"))


@case("H4-million-nesting")
async def million_nesting(stage: Stage) -> Attack:
    text = f"---\nname: x\nmetadata: {'[' * 1_000_000}{']' * 1_000_000}\n---\nBody of {stage.name}.\n"
    return await whole(stage, content=text.encode())


@case("H4-ten-megabyte-scalar")
async def ten_megabyte_scalar(stage: Stage) -> Attack:
    return await whole(stage, content=b"---\nname: x\ndescription: " + b"y" * 10_000_000 + b"\n---\nBody.\n")


@case("H4-four-megabyte-scalar")
async def four_megabyte_scalar(stage: Stage) -> Attack:
    return await whole(stage, content=b"---\nname: x\ndescription: " + b"y" * 4_000_000 + b"\n---\nBody.\n")


@case("H4-unclosed")
async def unclosed(stage: Stage) -> Attack:
    return await whole(stage, content=f"---\nname: {stage.name}\ndescription: y\n\nGreet the user.\n".encode())


@case("H4-many-blank-lines")
async def many_blank_lines(stage: Stage) -> Attack:
    """Blank space before the frontmatter, as a trap for patterns that look for it."""
    return await whole(stage, content=b" \t" * 1_000_000 + b"\n" + stage.skill_md())
