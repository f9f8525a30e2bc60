"""Error and general logs from the file to their tables: every message and command once; the ledger
balances."""

from pathlib import Path

from e2e.stack import Stack, wait_until
from tailrace.config.resources import REPOSITORY
from tailrace.ledger import balance as ledger_balance
from tailrace.sources.sources_file import Source

GOLDEN = REPOSITORY / "stream-jobs/query-core/src/test/resources/golden"

ERRORS = b"".join(
    (GOLDEN / "mysql-error" / case / "input.log").read_bytes()
    for case in ("mysql-8.0-deadlock", "galera-8.0", "replication-8.0", "crash-8.0", "secrets")
)
COMMANDS = (GOLDEN / "mysql-general" / "mysql-8.0" / "input.log").read_bytes()


def watch(stack: Stack, directory: Path, instance: str, source: str, content: bytes) -> None:
    path = directory / f"{source}.log"
    path.write_bytes(content)
    stack.watch_sources([Source(instance, source, path.resolve(), "e2e")])


def rows(stack: Stack, statement: str, instance: str) -> list[dict]:
    return stack.clickhouse().rows(statement, {"instance": instance})


def assert_balances(stack: Stack, instance: str) -> None:
    clickhouse = stack.clickhouse()
    ledger_balance.await_postings(clickhouse)
    found = ledger_balance.read(clickhouse, instance)
    assert found.imbalances == [], found


def test_messages_of_an_error_log(stack, tmp_path):
    instance = "errors"
    watch(stack, tmp_path, instance, "errorlog", ERRORS)

    def kinds() -> dict[str, int]:
        found = rows(
            stack,
            "SELECT kind, count() AS n FROM tailrace.error_events WHERE instance = {instance:String}"
            " GROUP BY kind",
            instance,
        )
        return {row["kind"]: row["n"] for row in found}

    expected = {"crash": 1, "deadlock": 1, "quorum_lost": 3, "errant_gtid": 1}

    def have_come() -> bool:
        found = kinds()
        return expected.items() <= found.items() and "access_denied" in found

    wait_until(have_come, "the messages")
    (crash,) = rows(
        stack,
        "SELECT message, details['signal'] AS signal FROM tailrace.error_events"
        " WHERE instance = {instance:String} AND kind = 'crash'",
        instance,
    )
    assert crash["signal"] == "6"
    assert "PLANTED" not in crash["message"]
    assert_balances(stack, instance)


def test_commands_of_a_general_log(stack, tmp_path):
    instance = "commands"
    watch(stack, tmp_path, instance, "general", COMMANDS)

    def commands() -> int:
        (row,) = rows(
            stack,
            "SELECT count() AS n FROM tailrace.audit_events"
            " WHERE instance = {instance:String} AND source = 'general'",
            instance,
        )
        return row["n"]

    wait_until(lambda: commands() == COMMANDS.count(b"Z\t"), "the commands")
    (denied,) = rows(
        stack,
        "SELECT user, host FROM tailrace.audit_events WHERE instance = {instance:String} AND status = 1045",
        instance,
    )
    assert denied == {"user": "ghost", "host": "localhost"}
    assert_balances(stack, instance)
