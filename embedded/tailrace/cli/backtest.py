"""Completes the command line of `tailrace rules backtest` with this installation's ClickHouse and rules.

The command itself runs in the JVM.
"""

import os
from collections.abc import Sequence

from tailrace.cli.context import Context
from tailrace.clickhouse.client import AUTHORITIES
from tailrace.config.resources import ROOT
from tailrace.credentials.names import password_name

COMMAND = ["rules", "backtest"]
USER = "reader_security"


def completed(words: Sequence[str], context: Context) -> list[str]:
    """Returns the words with `--clickhouse`, `--password-file` and `--rules` if they are missing.

    Words of other commands are returned as they are. Raises NotRunningError if no stack is running.
    """
    if list(words[:2]) != COMMAND:
        return list(words)
    return [*words, *_store(words, context), *_rules(words)]


def _store(words: Sequence[str], context: Context) -> list[str]:
    if _value(words, "--clickhouse"):
        return []
    user = _value(words, "--user") or USER
    server = context.clickhouse(user)
    options = ["--clickhouse", server.url]
    if server.authorities:
        os.environ.setdefault(AUTHORITIES, server.authorities)  # for the JVM of the command
    if not _value(words, "--password-file"):
        options += ["--password-file", str(context.home.secret_file(password_name(user)))]
    return options


def _rules(words: Sequence[str]) -> list[str]:
    return [] if _value(words, "--rules") else ["--rules", str(ROOT / "rules")]


def _value(words: Sequence[str], option: str) -> str:
    """Returns the value of an option; empty if it is missing."""
    for word, following in zip(words, [*words[1:], ""], strict=True):
        if word == option:
            return following
        if word.startswith(option + "="):
            return word.removeprefix(option + "=")
    return ""
