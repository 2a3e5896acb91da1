"""Shell reads as the shell reads it, wherever it stands, and ordinary scripts show nothing that was not there."""

from __future__ import annotations

import pytest

from tests.scanning.uncovering import limits_hit, shown, uncovered
from vskill_platform.scanning.limits import VIEW_LIMIT
from vskill_platform.scanning.tier1.patterns import Span
from vskill_platform.scanning.tier1.views.shell_pipes import carried_out
from vskill_platform.scanning.tier1.views.shell_values import braces, program_of_glob
from vskill_platform.scanning.tier1.views.unquoted import MOST_LINES, unquoted_views
from vskill_platform.scanning.tier1.views.view import View

TRICKS = {
    "c''url x": "curl x",
    'cu""rl x': "curl x",
    'cu"r"l x': "curl x",
    "c\\url x": "curl x",
    "\\c\\u\\r\\l x": "curl x",
    "''curl x": "curl x",
    "'cu'rl x": "curl x",
    "$'\\x63\\165rl' x": "curl x",
    "$'\\u0063url' x": "curl x",
    "cu$@rl x": "curl x",
    "cu$()rl x": "curl x",
    "cu`echo r`l x": "curl x",
    "$(echo c)url x": "curl x",
    "$(printf '\\143url') x": "curl x",
    "$(printf 'c%s' url) x": "curl x",
    "$(echo Y3VybA== | base64 -d) x": "curl x",
    "$(echo lruc | rev) x": "curl x",
    "$(echo dvsm | tr b-z a-y) x": "curl x",
    "curl${IFS}x": "curl x",
    "curl$IFS$9x": "curl x",
    "{curl,x}": "curl x",
    "ls\n{/b?n/[c]url,x}": "curl x",
    "a=cu;b=rl;$a$b x": "curl x",
    "a=cu\nb=rl\n$a$b x": "curl x",
    "a=cu\na+=rl\nb=x\n$a$b": "curlx",
    "a=xcurlx; ${a:1:4} x": "curl x",
    "a=wurl; ${a/w/c} x": "curl x",
    "a=CURL; ${a,,} x": "curl x",
    "b=curl; a=b; ${!a} x": "curl x",
    "printf -v a '\\143url'; $a x": "curl x",
    "for a in curl; do $a x; done": "curl x",
    "/b?n/c[u]rl x": "curl x",
    '"curl" x': "curl x",
    "ls | 'bash'": "ls | bash",
    "${PATH:0:1}etc/passwd": "/etc/passwd",
    "cu\\\nrl x": "curl x",
    "curl \\\n  x": "curl   x",
    "fields=curl,x; IFS=,; $fields": "curl x",
    "bash -c \"c''url x\"": "bash -c curl x",
    "tar c .{s{sh,top},a{ws,zure}}": "tar c .ssh .stop .aws .azure",
    "U=https://a.example; curl $U/b": "curl https://a.example/b",
    "U=${1:-https://a.example}; curl ${V:-https://a.example}/b": "curl https://a.example/b",
}


@pytest.mark.parametrize("text", TRICKS)
def test_unquoted_view_reads_shell__as_the_shell_does(text: str) -> None:
    assert TRICKS[text] in shown(unquoted_views, text, path="a.sh")


@pytest.mark.parametrize(
    "text", ["c''url x | ba''sh", "$(printf '\\143url') x", "curl${IFS}x", "{curl,-s,x}", "$'\\x63url' x"]
)
@pytest.mark.parametrize(
    ("path", "frame"),
    [
        ("a.md", "```bash\n%s\n```\n"),
        ("a.md", "```\n%s\n```\n"),
        ("a.md", "Run `%s` now."),
        ("a.py", "os.system('''%s''')"),
        ("a.json", '{"command": "%s"}'),
        ("a.yml", "run: %s"),
        ("Makefile", "all:\n\t%s\n"),
        ("Dockerfile", "RUN %s\n"),
        ("tool", "%s\n"),
    ],
)
def test_unquoted_view_finds_shell__wherever_it_stands(path: str, frame: str, text: str) -> None:
    assert "curl" in shown(unquoted_views, frame % text, path=path)


def test_unquoted_view_reads_make_and_docker__with_their_own_constants() -> None:
    makefile = "s := ur\nk := l\nw := c$(s)$(k)\nall:\n\t$(w) x\n"
    assert "\tcurl x" in shown(unquoted_views, makefile, path="Makefile")
    dockerfile = 'ARG A=/de\nARG B=v/tc\nENV C=p/\nRUN bash -c "cat < $A$B${C}a"\n'
    assert "/dev/tcp/a" in shown(unquoted_views, dockerfile, path="Dockerfile")


@pytest.mark.parametrize(
    ("path", "text", "plain"),
    [
        ("a.cmd", "c^u^r^l x", "curl x"),
        ("a.ps1", "I`N`v`O`ke-Re`stMethod x", "INvOke-RestMethod x"),
        ("a.md", "```powershell\ni`e`x y\n```\n", "iex y"),
    ],
)
def test_unquoted_view_reads_shells_of_windows(path: str, text: str, plain: str) -> None:
    assert plain in shown(unquoted_views, text, path=path)


ORDINARY = [
    'echo "hello world" > out.txt',
    'cp "$HOME/a b" "${TARGET}/c"',
    "grep -E 'a\\tb' file | awk '{print $1, $2}'",
    'for f in *.txt; do echo "$f"; done',
    "if [ \"$1\" = 'x' ]; then exit 1; fi",
    "PORT=8080\necho $PORT",
    "it's fine, don't worry",
    "# c''url in a comment",
    "ls /usr/share/*.conf",
]


@pytest.mark.parametrize("text", ORDINARY)
def test_unquoted_view_is_not_made__for_ordinary_shell(text: str) -> None:
    assert uncovered(unquoted_views, text, path="a.sh") == []


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("a.py", "x = b'abc' + r\"d\"\ny = {'a', 'b'}\nprint(f'{x}')"),
        ("a.tex", "\\section{A}\\label{b}"),
        ("a.md", "It's a C:\\temp\\new path."),
    ],
)
def test_unquoted_view_is_not_made__for_other_languages(path: str, text: str) -> None:
    assert uncovered(unquoted_views, text, path=path) == []


def test_unquoted_view_tells_tricks_from_ordinary_writing__by_the_layer_of_a_match() -> None:
    made = uncovered(unquoted_views, "curl \\\n -s x | ba''sh\nls", path="a.sh")
    (view,) = (view for view in made if isinstance(view, View))
    data = view.data
    assert data == b"curl  -s x | bash\nls"
    assert view.layer_of(Span(0, 8)) == "plain"
    assert view.layer_of(Span(data.index(b"bash"), data.index(b"bash") + 4)) == "unquoted"
    assert view.layer_of(Span(data.index(b"ls"), len(data))) is None
    assert view.locate(data.index(b"bash")) == (2, 9)
    assert view.locate(data.index(b"ls")) == (3, 1)


@pytest.mark.parametrize(
    ("ordinary", "trick"),
    [
        ('API="${API:-http://127.0.0.1:8080}"; curl "$API"', "API=http://127.0.0.1; curl ${API:0:4}://127.0.0.1"),
        ('a="$(curl -s "$1:443")"', 'a="$(cu""rl -s "$1:443")"'),
        ('a="$(curl -s "$1:443" |', "a=\"$(cu''rl -s |"),
    ],
    ids=["a port is no number of letters", "quotes in a command", "a command that goes on"],
)
def test_writing_that_is_usual_is_no_trick(ordinary: str, trick: str) -> None:
    def has_trick(text: str) -> bool:
        made = [view for view in uncovered(unquoted_views, f"{text}\n", path="a.sh") if isinstance(view, View)]
        return any(view.layer_of(Span(0, len(view.data))) == "unquoted" for view in made)

    assert not has_trick(ordinary)
    assert has_trick(trick)


def test_constant_that_a_trick_has_set_is_a_trick__where_it_is_used() -> None:
    made = uncovered(unquoted_views, "a=$(printf '\\143url'); b=curl\n$a x\n$b x\n", path="a.sh")
    (view,) = (view for view in made if isinstance(view, View))
    first = view.data.index(b"\ncurl x") + 1
    second = view.data.index(b"curl x", first + 1)
    assert [view.layer_of(Span(at, at + 4)) for at in (first, second)] == ["unquoted", "plain"]


def test_shell_without_end_is_a_limit__and_a_long_script_is_none() -> None:
    assert limits_hit(unquoted_views, "ba''sh x\n" * (MOST_LINES + 1), path="a.sh") == {VIEW_LIMIT}
    script = "TARGET=https://a.example\n" + 'curl "$TARGET/x" \\\n  -o y\nif [ -f y ]; then rm y; fi\n' * 2_000
    assert not limits_hit(unquoted_views, script, path="a.sh")


def test_constants_that_double_stay_bounded() -> None:
    text = "a=https://x\n" + "a=$a$a\n" * 200 + "$a$a"
    assert len(shown(unquoted_views, text, path="a.sh")) < 500_000


@pytest.mark.parametrize(
    ("word", "words"),
    [
        (b"{a,b}c", [b"ac", b"bc"]),
        (b"x{a,b{c,d}}", [b"xa", b"xbc", b"xbd"]),
        (b"{a}", [b"{a}"]),
        (b"{a,b", [b"{a,b"]),
        (b"a{,.bak}", [b"a", b"a.bak"]),
    ],
)
def test_braces_expand__as_in_bash(word: bytes, words: list[bytes]) -> None:
    assert braces(word) == words


def test_braces_stay_bounded__however_many_there_are() -> None:
    assert len(braces(b"{a,b}" * 5_000)) <= 64


def test_glob_stands_for_a_program__only_in_a_folder_of_programs() -> None:
    assert program_of_glob(b"/usr/b?n/w*t") == b"wget"
    assert program_of_glob(b"/srv/data/c*") is None
    assert program_of_glob(b"*.txt") is None


@pytest.mark.parametrize("pipeline", [b"echo a", b"cat file | base64 -d", b"echo a | python3", b"ls | rev"])
def test_pipeline_that_is_not_constant_is_not_carried_out(pipeline: bytes) -> None:
    with pytest.raises(ValueError, match="pipeline"):
        carried_out(pipeline)
