"""`tailrace digest --server`: which words are whose."""

import pytest

from tailrace.cli import java_command_line, server_digest
from tailrace.errors import UsageError


@pytest.mark.parametrize(
    ("words", "is_read"),
    [
        (["digest", "--server", "mysql://a@b/"], True),
        (["digest", "--json", "--server=mysql://a@b/"], True),
        (["digest", "--servers"], False),
        (["parse", "--server", "x"], False),
    ],
)
def test_only_digest_reads_a_server(words, is_read):
    assert java_command_line.reads_server(words) == is_read
    assert java_command_line.runs(words) != is_read


def test_the_address_and_the_password_are_not_passed_to_the_report():
    words = ["digest", "--server=mysql://a@b/?tls=off", "--limit", "3", "--password-file", "f", "--json"]
    values, rest = server_digest._split(words)
    assert values == {"--server": "mysql://a@b/?tls=off", "--password-file": "f"}
    assert rest == ["digest", "--limit", "3", "--json"]
    with pytest.raises(UsageError, match="--server needs a value"):
        server_digest._split(["digest", "--server"])


@pytest.mark.parametrize(
    ("option", "value", "problem"),
    [("--via", "log", "--via expects performance_schema or log_tables"), ("--for", "0s", "such as 30s")],
)
def test_a_wrong_value_is_named_before_the_server_is_asked(option, value, problem):
    with pytest.raises(UsageError, match=problem):
        server_digest.run(["digest", "--server", "mysql://a@b/", option, value], None)
