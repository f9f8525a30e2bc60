"""The text of rows, option files, and statements that count as the puller's own."""

import json
from datetime import datetime, timedelta
from pathlib import Path

import pytest

from tailrace_capture.product import product_of
from tailrace_pull import option_file
from tailrace_pull.log_rows import COMMANDS, GeneralRows, SlowRows
from tailrace_pull.log_tables import OWN
from tailrace_pull.option_file import OptionFileError

CONTRACTS = Path(__file__).resolve().parents[3] / "schemas" / "contracts"
EIGHT = product_of("8.0.15", "MySQL Community Server - GPL")
FIVE = product_of("5.7.22-log", "MySQL Community Server (GPL)")
MARIADB = product_of("10.11.14-MariaDB-log", "Debian 12")
ROW = {
    "start_time": datetime(2026, 11, 26, 19, 56, 52, 303877),
    "user_host": "app[app] @ web-1 [10.0.0.7]",
    "query_time": timedelta(seconds=1, microseconds=400544),
    "lock_time": timedelta(microseconds=7),
    "rows_sent": 1,
    "rows_examined": 9,
    "db": "sh`op",
    "last_insert_id": 0,
    "insert_id": 5,
    "sql_text": b"SELECT '\xff\n'",
    "thread_id": 9,
}


def test_a_row_of_mysql_is_the_entry_of_its_file():
    assert SlowRows(EIGHT).text(ROW) == (
        b"# Time: 2026-11-26T19:56:52.303877Z\n# User@Host: app[app] @ web-1 [10.0.0.7]  Id:     9\n"
        b"# Query_time: 1.400544  Lock_time: 0.000007 Rows_sent: 1  Rows_examined: 9\nuse sh`op;\n"
        b"SET insert_id=5,timestamp=1795723010;\nSELECT '\xff\n';\n"
    )
    assert b"timestamp=1795723012;" in SlowRows(FIVE).text(ROW)


@pytest.mark.parametrize("product", [EIGHT, MARIADB])
def test_a_row_without_a_database_does_not_get_that_of_the_row_before(product):
    text = SlowRows(product).text({**ROW, "db": ""})
    assert b"Schema: \n# Query_time" in text
    assert b"use" not in text


def test_a_row_of_mariadb_has_the_start_and_other_columns():
    assert SlowRows(MARIADB).text({**ROW, "rows_affected": 3, "sql_text": "SELECT 1"}) == (
        b"# Time: 2026-11-26T19:56:53.704421Z\n# User@Host: app[app] @ web-1 [10.0.0.7]\n"
        b"# Thread_id: 9  Schema: sh`op\n"
        b"# Query_time: 1.400544  Lock_time: 0.000007  Rows_sent: 1  Rows_examined: 9\n# Rows_affected: 3\n"
        b"use `sh``op`;\nSET insert_id=5,timestamp=1795723012;\nSELECT 1;\n"
    )


def test_commands_are_those_of_servers():
    """A row has the text of `Query`, not its name. `Bulk_execute` is a command of MariaDB."""
    cases = json.loads((CONTRACTS / "protocol_command.json").read_text())
    written = {case["name"] for case in cases if case["writer"] == "server"}
    assert written - {"Query", "Bulk_execute", "Error"} == COMMANDS


@pytest.mark.parametrize("command", [b"Quit", b"Init DB", b"Close stmt"])
def test_commands_are_no_statements(command):
    text = SlowRows(EIGHT).text({**ROW, "sql_text": command})
    assert text.endswith(b";\n# administrator command: " + command + b";\n")


def test_a_row_without_a_fraction_has_whole_seconds():
    row = {**ROW, "start_time": datetime(2026, 11, 26, 19, 56, 52), "query_time": timedelta(seconds=2)}
    text = SlowRows(EIGHT).text(row)
    assert b"# Time: 2026-11-26T19:56:52.000000Z\n" in text
    assert b"# Query_time: 2.000000 " in text


def test_a_row_of_the_general_log_is_its_entry():
    row = {"event_time": ROW["start_time"], "user_host": "a[a] @ h []", "thread_id": 9}
    text = GeneralRows(EIGHT).text({**row, "command_type": "Init DB", "argument": b"shop"})
    assert text == b"2026-11-26T19:56:52.303877Z\t    9 Init DB\tshop\n"


@pytest.mark.parametrize(
    ("statement", "is_own"),
    [
        (b"/* tailrace */ SELECT * FROM `mysql`.`slow_log` LIMIT 5, 20001", True),
        (b"/* tailrace */ SELECT * FROM `mysql`.`slow_log` LIMIT 1", True),
        (b"/* tailrace */ SET SESSION long_query_time = 1000000", True),
        (b"/* tailrace */ SELECT * FROM `mysql`.`slow_log` LIMIT 1; DROP TABLE a", False),
        (b"/* tailrace */ SELECT * FROM `mysql`.`user` LIMIT 1", False),
        (b"SELECT * FROM `mysql`.`slow_log` LIMIT 1", False),
    ],
)
def test_only_exact_statements_are_the_pullers_own(statement, is_own):
    assert bool(OWN.fullmatch(statement)) == is_own


def test_an_option_file_has_address_and_credentials(tmp_path: Path):
    file = tmp_path / "my.cnf"
    file.write_text(
        "!includedir /etc/x\n[client]\nuser = a\nhost=db-1\nport=3307\nskip-ssl\nssl_mode=VERIFY_CA\n"
        "ssl-ca=/ca\n"
        "[mysqld]\nuser=b\n[tailrace]\npassword='p=#1'\n"
    )
    dsn, password = option_file.read(file)
    assert (dsn.user, dsn.host, dsn.port, dsn.tls, dsn.ca) == ("a", "db-1", 3307, "verify-ca", "/ca")
    assert password.text == "p=#1"
    assert option_file.read(file, "db-2:1")[0].where == "db-2:1"


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("[client]\npassword=secret\n", "expected `user`"),
        ("password=secret\n", "is no option file"),
        ("[client]\nuser=a\nport=x\n", "port must be a number"),
        ("[client]\nuser=a\nssl-mode=yes\n", "ssl-mode must be one of"),
    ],
)
def test_a_bad_option_file_is_named_without_its_secret(tmp_path, text, problem):
    (tmp_path / "my.cnf").write_text(text)
    with pytest.raises(OptionFileError, match=problem) as raised:
        option_file.read(tmp_path / "my.cnf")
    assert "secret" not in str(raised.value)
