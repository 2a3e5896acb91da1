"""Shell text is read as a shell reads it: words, quotes, here-documents, branches, and what documents add to them."""

from __future__ import annotations

import pytest

from vskill_platform.scanning.tier1.code.budget import OutOfSteps, TooDeep
from vskill_platform.scanning.tier1.code.shell.reading import Reader
from vskill_platform.scanning.tier1.code.shell.syntax import (
    Command,
    Compound,
    Function,
    Pipeline,
    Program,
    Simple,
    Text,
    Variable,
    Word,
)
from vskill_platform.scanning.tier1.code.shell.words import DEEPEST, MOST_PARTS


def shown_word(word: Word) -> str:
    """A word as one text: `$name` for variables, `$(...)` for what is substituted."""
    shown = ""
    for part in word.parts:
        if isinstance(part, Text):
            shown += part.text
        elif isinstance(part, Variable):
            shown += f"${part.name}"
        else:
            shown += f"{part.direction or '$'}({shown_program(part.program)})"
    return shown


def shown_command(command: Command) -> str:
    if isinstance(command, Simple):
        assigned = [f"{given.name}={shown_word(given.value)}" for given in command.assignments]
        redirected = [f"{given.operator}{shown_word(given.target)}" for given in command.redirections]
        return " ".join([*assigned, *map(shown_word, command.words), *redirected])
    if isinstance(command, Function):
        return f"{command.name}() {{{shown_program(command.body)}}}"
    return f"{command.kind}[{', '.join(map(shown_program, (*command.conditions, *command.bodies)))}]"


def shown_program(program: Program) -> str:
    return "; ".join(" | ".join(map(shown_command, pipeline.commands)) for pipeline in program.pipelines)


def read(text: str, *, has_placeholders: bool = False) -> list[Pipeline]:
    return list(Reader(text, has_placeholders=has_placeholders).pipelines())


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("c''url -s 'a b'|ba\\sh", "curl -s a b | bash"),
        ('echo $\'\\x63url\' "a\\"b" \\\n  more', 'echo curl a"b more'),
        ("x=1 y=$(id -u) cmd >out 2>&1", "x=1 y=$(id -u) cmd >out >&1"),
        ("a && b || c; d & e # f | sh", "a; b; c; d; e"),
        ("cat <<EOF | sh\nls $x\nEOF\necho done", "cat <<ls $x\n | sh; echo done"),
        ("cat <<'A' <<B\nit's\nA\nb\nB\nls", "cat <<it's\n <<b\n; ls"),
        ("cat <<-X\n\tin\n\tX\nls", "cat <<-\tin\n; ls"),
        ("if a; then b; elif c; then d; else e; fi | f", "if[a, c, b, d, e] | f"),
        ("for x in 1 2; do a $x; done < in", "for[a $x]"),
        ("while read l; do a; done < <(b)", "while[read l, a]"),
        ("case $x in a|b) c ;; *) d; e ;; esac; f", "case[c, d; e]; f"),
        ("f() { a; }; function g { b; }\nh () ( c )", "f() {group[a]}; g() {group[b]}; h() {subshell[c]}"),
        ("{ a; b; } | (c)", "group[a; b] | subshell[c]"),
        ("echo `a \\`b\\`` $(c $(d))", "echo $(a $(b)) $(c $(d))"),
        ("[[ $a > b && -n c ]] && d", "[[ $a b -n c; d"),
        ("((x > 1)) && a", "(( x > 1; a"),
        ("fi\ndone } ) ls", "ls"),
        ("echo $((1 << 2))\nls", "echo $#; ls"),
        ("a\n\n # b\n\t# c\n\\\n d #e\r\n\\f", "a; d; f"),
        ("a\n\n\\", "a; "),
        ("a <<X; b\n\n# c\nX\n\n# d\ne", "a <<\n# c\n; b; e"),
    ],
)
def test_reader_takes_text_apart__as_a_shell_does(text: str, shown: str) -> None:
    assert shown_program(Program(read(text))) == shown


def test_reader_takes_a_placeholder_for_a_word__in_documents_only() -> None:
    assert shown_program(Program(read("curl <your url> | sh", has_placeholders=True))) == "curl <your url> | sh"
    assert len(read("cmd <in >out")[0].commands) == 1


def test_arithmetic_is_read_for_commands__because_the_shell_runs_them() -> None:
    assert "$(curl x | sh)" in shown_program(Program(read("echo $(( $(curl x | sh) + 1 ))")))


def test_here_document_in_an_indented_block_ends__at_its_indented_delimiter() -> None:
    pipelines = read("  cat <<EOF\n  it's\n  EOF\n  ls\n")
    assert shown_program(Program(pipelines[1:])) == "ls"


def test_here_document_ends_at_its_own_line__not_at_an_indented_copy_inside() -> None:
    pipelines = read("cat <<EOF\n  EOF\nEOF\nls\n")
    assert shown_program(Program(pipelines[1:])) == "ls"


@pytest.mark.parametrize("opening", ["(", "$(", "${a:-", "{ ", "if ", "case x in y) ", "<(", "f() { "])
def test_reader_refuses__what_nests_too_deeply(opening: str) -> None:
    assert read(opening * (DEEPEST // 2))
    with pytest.raises(TooDeep):
        read(opening * 100_000)


@pytest.mark.parametrize("piece", ["a|", "$a"])
def test_reader_stops__before_it_keeps_too_much_in_memory(piece: str) -> None:
    with pytest.raises(OutOfSteps):
        read(piece * (MOST_PARTS + 1))


def test_what_stands_before_trouble_is_read() -> None:
    found: list[Pipeline] = []
    with pytest.raises(TooDeep):
        found.extend(Reader("ls -l\n" + "$(" * 1_000).pipelines())
    reader = Reader("ls -l\n" + "$(" * 1_000).pipelines()
    assert shown_program(Program([next(reader)])) == "ls -l"


def test_compound_keeps_its_redirections() -> None:
    command = read("for x in a; do b; done > out 2>> err")[0].commands[0]
    assert isinstance(command, Compound)
    assert [given.operator for given in command.redirections] == [">", ">>"]
