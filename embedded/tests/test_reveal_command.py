"""Errors of `tailrace reveal` before it asks ClickHouse."""

import argparse

import pytest

from tailrace.cli.commands import reveal
from tailrace.cli.context import CommandError, Context
from tailrace.config.home import Home
from tailrace.config.settings import Settings


def test_a_token_file_that_is_not_text_is_named(tmp_path):
    file = tmp_path / "ann.token"
    file.write_bytes(b"token\xff")
    parser = argparse.ArgumentParser()
    reveal.configure(parser)
    given = parser.parse_args(["user:etl", "--reason", "case 1", "--token-file", str(file)])

    with pytest.raises(CommandError, match=r"ann\.token has no token: .* offset 5"):
        reveal.run(given, Context(Settings(), Home(tmp_path)))
