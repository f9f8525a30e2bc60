"""Help, manual pages and docs/CLI.md of all commands, and the answers to misspelt ones; without processes."""

import importlib
import os
import re
import shlex
import shutil
import subprocess

import pytest

from tailrace.cli import java_command_line, suggestions, tasks
from tailrace.cli import main as command_line
from tailrace.cli.commands import alerts
from tailrace.cli.exit_codes import Exit
from tailrace.cli.help import catalog, java, text
from tailrace.cli.help.model import CommandHelp
from tailrace.config.resources import REPOSITORY
from tailrace_local import reference
from tailrace_local.cli import EXTENSION

SECTIONS = (
    *("Usage", "Subcommands", "Arguments", "Options", "Details", "Examples", "Exit codes", "See also"),
)
ALWAYS = {"Usage", "Options", "Examples", "Exit codes", "See also"}
MAN_SECTIONS = ["NAME", "SYNOPSIS", "DESCRIPTION", "EXAMPLES", "EXIT STATUS", "SEE ALSO"]
COMMANDS = catalog.everything(reference.modules())
ALL = [each for command in COMMANDS for each in command.walk()]


def name_of(command: CommandHelp) -> str:
    return command.name


def called(words: str, capsys) -> tuple[int, str, str]:
    """The exit code, the output and the errors of a command line."""
    try:
        code = command_line.main(shlex.split(words), [EXTENSION])
    except SystemExit as ended:
        code = ended.code
    shown = capsys.readouterr()
    return code, shown.out, shown.err


def test_the_overview_lists_every_command_once_by_task(capsys):
    code, shown, _ = called("--help", capsys)
    tasks_of_commands = shown.partition("\nOptions:")[0]
    listed = re.findall(r"^  (\w+) {2,}[A-Z]", tasks_of_commands, re.MULTILINE)

    assert code == Exit.OK
    assert listed == [command.name for command in COMMANDS]
    assert sorted(listed) == sorted({*reference.modules(), *java_command_line.COMMANDS})
    assert all(f"\n{task}:\n" in shown for task in tasks.TASKS)
    assert f"\n{tasks.OTHER}:" not in shown
    assert shown.count("\n  tailrace ") >= 3 and all(example in shown for example in tasks.EXAMPLES)


@pytest.mark.parametrize("command", ALL, ids=name_of)
def test_every_help_has_the_same_sections_in_the_same_order(command):
    first, *lines = text.command(command).splitlines()
    titles = [line[:-1] for line in lines if re.fullmatch(r"[A-Z][a-z ]+:", line)]

    assert titles == [title for title in SECTIONS if title in titles]
    assert ALWAYS.issubset(titles)
    assert first[0].isupper() and command.purpose.endswith(".") and command.purpose.count(". ") == 0
    assert {code for code, _ in command.exit_codes} >= {0, Exit.USAGE}


@pytest.mark.parametrize("command", ALL, ids=name_of)
def test_every_option_and_argument_is_explained(command):
    for value in (*command.arguments, *command.options):
        assert value.help.endswith((".", "…")), value
    named = {name for option in command.options for name in option.names}
    assert "--help" in named
    assert "--output" not in named or "csv" not in str(command.options) or command.keys


@pytest.mark.parametrize("command", ALL, ids=name_of)
def test_lines_are_short_and_references_exist(command):
    examples = {f"  {line}" for example in command.examples for line in example.split("\n")}
    for line in text.command(command).splitlines():
        assert len(line) <= text.WIDTH or line in examples or line.startswith("  tailrace "), line
    known = {each.name for each in ALL} | {"--help"}
    for other in command.see_also:
        found = (REPOSITORY / other).exists() or other.removeprefix("tailrace ") in known
        assert found, other


@pytest.mark.parametrize("command", COMMANDS, ids=name_of)
def test_every_example_is_a_valid_command_line(command):
    own = [example for example in command.examples if f"tailrace {command.name}" in example]
    assert own
    for example in own:
        words = shlex.split(example.replace("\\\n", " ").partition("tailrace ")[2].rstrip(")"), comments=True)
        words = words[: next((i for i, word in enumerate(words) if word in ("|", ">")), len(words))]
        words = [word.rstrip(")") for word in words]
        _require_known_options(words, command)


def _require_known_options(words: list[str], command: CommandHelp) -> None:
    if command.name in java_command_line.COMMANDS:
        place = java.find(words, command)
        known = {name for option in place.options for name in option.names}
        assert {word for word in words if word.startswith("-")} <= known
        return
    module = importlib.import_module(reference.modules()[command.name])
    catalog.parser(command.name, module).parse_args(words[1:])


def test_a_narrow_terminal_gets_narrow_lines(monkeypatch):
    monkeypatch.setattr("sys.stdout.isatty", lambda: True, raising=False)
    monkeypatch.setattr(shutil, "get_terminal_size", lambda _: os.terminal_size((70, 24)))
    assert text.width() == 70


def test_the_help_of_a_java_command_starts_no_jvm(capsys, monkeypatch):
    monkeypatch.setattr(java_command_line, "start", lambda *_: pytest.fail("the JVM was started"))
    assert not java_command_line.runs(["digest", "--help"])
    assert "--order-by" in called("digest --help", capsys)[1]
    assert called("help rules coverage", capsys)[1].startswith("Reads logs and lists the rules")
    assert called("rules push --help", capsys)[1].startswith("Pushes a directory of rules")


@pytest.mark.parametrize(
    ("words", "message", "see"),
    [
        ("digset", "there is no command 'digset'; did you mean 'digest'?", "tailrace"),
        ("zzzzzz", "there is no command 'zzzzzz'", "tailrace"),
        ("--vresion", "there is no option '--vresion'; did you mean '--version'?", "tailrace"),
        ("", "a command is missing", "tailrace"),
        ("alerts lsit", "there is no subcommand 'lsit'; did you mean 'list'?", "tailrace alerts"),
        (
            "alerts list --limt 3",
            "there is no option '--limt'; did you mean '--limit'?",
            "tailrace alerts list",
        ),
        (
            "alerts ack 1 --raeson=x --reason y",
            "there is no option '--raeson'; did you",
            "tailrace alerts ack",
        ),
        (
            "status --output cvs",
            "--output: expected one of table, json, csv, found 'cvs'; did you",
            "tailrace",
        ),
        ("alerts list extra", "unexpected argument 'extra'", "tailrace alerts list"),
        ("restart", "COMPONENT is missing", "tailrace restart"),
        ("review", "SUBCOMMAND is missing", "tailrace review"),
        ("doctor --strict", "--strict needs --server DSN", "tailrace doctor"),
        ("doctor --ouptut csv", "there is no option '--ouptut'; did you mean '--output'?", "tailrace doctor"),
    ],
    ids=lambda value: value if " " not in value else None,
)
def test_a_wrong_command_line_is_answered_with_the_correct_name_and_the_next_command(
    words, message, see, capsys
):
    code, out, err = called(words, capsys)
    first, second = err.splitlines()

    assert (code, out) == (Exit.USAGE, "")
    assert first.startswith(f"tailrace: {message}")
    assert second.startswith(f"see: {see}") and second.endswith(" --help")


def test_an_old_subcommand_is_not_suggested():
    parser = catalog.parser("alerts", alerts)
    assert "silence" not in {each.name.split()[-1] for each in parser.about.subcommands}
    assert suggestions.suggestion("lgos", ["logs", "rules"]) == "; did you mean 'logs'?"


def test_the_reference_is_up_to_date():
    page = (REPOSITORY / "docs" / "CLI.md").read_text()
    assert page == reference.page(), "run: make cli-reference"


def test_manual_pages_are_complete_and_well_formed(tmp_path):
    pages = reference.man_pages()
    assert set(pages) == {"tailrace.1", *(f"tailrace-{command.name}.1" for command in COMMANDS)}
    for name, page in pages.items():
        macros = set(re.findall(r"^\.(\S+)", page, re.MULTILINE))
        assert macros <= {"TH", "SH", "SS", "PP", "TP", "nf", "fi", "br"}, name
        assert page.startswith(".TH TAILRACE") and page.count("\n.nf\n") == page.count("\n.fi\n")
        titles = re.findall(r"^\.SH (.+)", page, re.MULTILINE)
        assert [title for title in titles if title in MAN_SECTIONS] == MAN_SECTIONS, name
        (tmp_path / name).write_text(page)
    for command in ALL:
        page = pages[f"tailrace-{command.name.split()[0]}.1"]
        for option in command.options:
            assert option.names[-1].replace("-", "\\-") in page
    if mandoc := shutil.which("mandoc"):
        linted = subprocess.run(
            [mandoc, "-T", "lint", "-W", "error", *tmp_path.iterdir()], capture_output=True, text=True
        )
        assert linted.returncode == 0, linted.stdout
