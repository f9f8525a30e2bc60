"""The options that are added to a command line of `tailrace rules backtest`."""

from dataclasses import dataclass

import pytest

from tailrace.cli import backtest, java_command_line
from tailrace.cli.context import Context
from tailrace.clickhouse.client import ClickHouse
from tailrace.config.home import Home
from tailrace.config.resources import ROOT
from tailrace.config.settings import Settings
from tailrace.errors import NotRunningError

RULES = ["--rules", str(ROOT / "rules")]


@dataclass(frozen=True)
class Running(Context):
    """A context with a stack."""

    def clickhouse(self, user: str) -> ClickHouse:
        return ClickHouse("http://127.0.0.1:8123", user)


@pytest.fixture
def context(tmp_path) -> Running:
    settings = Settings.from_environment({"HOME": str(tmp_path), "TAILRACE_HOME": str(tmp_path / "home")})
    return Running(settings, Home(settings.home))


def test_the_running_stack_and_its_rules_are_the_default(context):
    password = str(context.home.root / "secrets" / "clickhouse-reader_security")
    store = ["--clickhouse", "http://127.0.0.1:8123", "--password-file", password]
    words = ["rules", "backtest", "new.yml"]
    assert not java_command_line.runs(words)
    assert backtest.completed(words, context) == [*words, *store, *RULES]


def test_given_options_stay(context):
    words = ["rules", "backtest", "--clickhouse=http://store:8123", "--rules", "mine"]
    assert backtest.completed(words, Context(context.settings, context.home)) == words
    other = backtest.completed(["rules", "backtest", "--user", "reader_compliance"], context)
    assert other[-3].endswith("clickhouse-reader_compliance")


def test_without_a_stack_its_address_is_needed(context):
    with pytest.raises(NotRunningError):
        backtest.completed(["rules", "backtest"], Context(context.settings, context.home))


def test_other_commands_stay_as_they_are(context):
    words = ["rules", "check", "rules"]
    assert java_command_line.runs(words)
    assert backtest.completed(words, context) == words
