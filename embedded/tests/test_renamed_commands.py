"""Commands and options work under their old names, with a warning, and the help shows the new names only."""

import argparse
import importlib
import re

import pytest

from tailrace.alerts.delivery import config
from tailrace.cli import main as command_line
from tailrace.cli.commands import alerts
from tailrace.cli.context import CommandError, Context
from tailrace.cli.exit_codes import Exit
from tailrace.config import renamed
from tailrace.config.home import Home
from tailrace.config.resources import REPOSITORY
from tailrace.config.settings import RENAMED, Settings
from tailrace.dashboards import roles
from tailrace.deployment import __main__ as deployment
from tailrace_local import reference
from tailrace_local.cli import EXTENSION

PROGRAMS = ("tailrace.delivery.__main__", "tailrace.facts.__main__")
OPTIONS = [
    ("tailrace.deployment.__main__", "--readable"),
    ("tailrace.deployment.__main__", "--seen-as"),
    *((program, "--beat") for program in PROGRAMS),
]
VALUES = {"--readable": "kafka", "--seen-as": "/etc/clickhouse", "--beat": "/run/beat"}
REQUIRED = {
    "--readable": ["certificates"],
    "--seen-as": ["clickhouse", "--to", "/etc/clickhouse"],
    "tailrace.delivery.__main__": ["--config", "a", "--clickhouse", "http://c", "--password-file", "p"],
    "tailrace.facts.__main__": ["--kafka", "k:9092", "--clickhouse", "http://c", "--password-file", "p"],
}


def warning(old: str, new: str) -> str:
    return f"tailrace: warning: {old} is now called {new}; release 0.3.0 removes the old name\n"


def parsed(module, words: list[str], monkeypatch) -> argparse.Namespace:
    """What a program makes of a command line."""
    if module is deployment:
        return renamed.parse(deployment._parser(), deployment.OLD_OPTIONS, words)
    monkeypatch.setattr("sys.argv", ["program", *words])
    return module._arguments()


@pytest.fixture(params=OPTIONS, ids=" ".join)
def option(request) -> tuple:
    """The module of a program, words that it needs, the old option, the new one, and a value."""
    name, old = request.param
    module = importlib.import_module(name)
    words = REQUIRED.get(old) or REQUIRED[name]
    return module, words, old, module.OLD_OPTIONS[old].name, VALUES[old]


def test_an_old_option_works_with_a_warning(option, monkeypatch, capsys):
    module, words, old, new, value = option
    expected = parsed(module, [*words, new, value], monkeypatch)
    assert value in str(vars(expected))

    for given in ([old, value], [f"{old}={value}"]):
        assert vars(parsed(module, [*words, *given], monkeypatch)) == vars(expected)
        assert capsys.readouterr().err == warning(old, new)


def test_an_old_option_beside_the_new_one_is_refused(option, monkeypatch, capsys):
    module, words, old, new, value = option
    with pytest.raises(SystemExit) as ended:
        parsed(module, [*words, old, value, f"{new}={value}"], monkeypatch)

    assert ended.value.code == Exit.USAGE
    assert f"{old} is the old name of {new}, and both are given: remove {old}" in capsys.readouterr().err


def test_help_contains_new_options_only(option, monkeypatch, capsys):
    module, words, old, new, _ = option
    with pytest.raises(SystemExit):
        parsed(module, [*words[:1], "--help"] if module is deployment else ["--help"], monkeypatch)

    shown = capsys.readouterr().out.split()
    assert {new, f"[{new}"} & set(shown) and old not in shown and f"[{old}" not in shown


@pytest.mark.parametrize("old", ["books"])
def test_an_old_command_works_with_a_warning(old, capsys):
    new = command_line.OLD_COMMANDS[old].name
    assert new in reference.modules() and old not in reference.modules()
    with pytest.raises(SystemExit) as ended:
        command_line.main([old, "--help"], [EXTENSION])

    shown = capsys.readouterr()
    assert ended.value.code == Exit.OK
    assert f"Usage:\n  tailrace {new} " in shown.out
    assert shown.err == warning(old, new)


class NoServer(Context):
    """An installation whose servers cannot be reached."""

    def clickhouse(self, user: str):
        raise CommandError(f"no server for {user}")


SUBCOMMANDS = {
    "silence": ["--rule", "x", "--for", "1h", "--reason", "x"],
    "silences": ["--json"],
    "unsilence": ["ffff", "--reason", "x"],
}


@pytest.mark.parametrize("old", SUBCOMMANDS)
def test_an_old_subcommand_of_alerts_works_with_a_warning(old, tmp_path, capsys):
    new = alerts.OLD_SUBCOMMANDS[old].name
    parser = argparse.ArgumentParser()
    alerts.configure(parser)
    given = parser.parse_args([old, *SUBCOMMANDS[old]])
    with pytest.raises(CommandError, match="no server for analyst"):
        alerts.run(given, NoServer(Settings(), Home(tmp_path)))

    assert capsys.readouterr().err == warning(old, new)
    assert given == parser.parse_args([new, *SUBCOMMANDS[old]])
    shown = parser.format_help().split()
    assert new in shown and old not in shown


def test_ack_is_short_for_acknowledge():
    parser = argparse.ArgumentParser()
    alerts.configure(parser)
    for word in ("ack", "acknowledge"):
        assert (
            alerts.SHORT_ACTIONS.get(parser.parse_args([word, "3fa9", "--reason", "x"]).doing, word) == "ack"
        )


def test_the_documentation_lists_every_old_name():
    programs = [importlib.import_module(name).OLD_OPTIONS for name in {name for name, _ in OPTIONS}]
    tables = [(table, "") for table in (RENAMED, config.OLD_NAMES, roles.OLD_NAMES, *programs)]
    tables += [(command_line.OLD_COMMANDS, "tailrace "), (alerts.OLD_SUBCOMMANDS, "tailrace alerts ")]
    documentation = (REPOSITORY / "docs" / "CONFIGURATION.md").read_text()
    for table, before in tables:
        for old, new in table.items():
            line = re.escape(f"| `{before}{old}` | `{before}{new.name}` | ")
            assert re.search(
                f"^{line}.* \\| {re.escape(new.removed_in)} \\|$", documentation, re.MULTILINE
            ), old
