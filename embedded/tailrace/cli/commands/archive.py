"""Archives closed days of event tables as Apache Iceberg tables, verifies and restores them.

The archive is a directory or a prefix of an S3-compatible bucket (TAILRACE_ARCHIVE). DuckDB, Spark, Trino and
ClickHouse read its tables. `run` archives each closed day once and reads it back; rows that come later become
a further snapshot. `verify` compares the archive with its digests and with ClickHouse; `tailrace verify` does
so offline with the transparency log. `restore` inserts the rows that ClickHouse lacks. `delete` deletes days
that neither their retention nor a legal hold keeps, and records who did it; without --yes it only lists them.
"""

import argparse
import getpass
import sys
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from datetime import UTC, date, datetime, timedelta
from typing import TYPE_CHECKING

from tailrace.cli import output
from tailrace.cli.context import Context
from tailrace.cli.exit_codes import Exit
from tailrace.clickhouse import replica_progress
from tailrace.clickhouse.replica_progress import ReplicaProgress
from tailrace.errors import UsageError
from tailrace.plural import counted
from tailrace.retention import demands, record

if TYPE_CHECKING:
    from tailrace.archive.deletion import Candidate, Deleter
    from tailrace.archive.location import Location
    from tailrace.archive.tables import ArchivedTable
    from tailrace.clickhouse.client import ClickHouse

HELP = "archive closed days as Iceberg tables of Parquet files, verify and restore them"
EXAMPLES = (
    "tailrace archive run",
    "tailrace archive list --output csv",
    "tailrace archive verify --from 2026-11-01 --to 2026-11-30",
    "tailrace archive restore --from 2026-11-20 --to 2026-11-20 --table audit_events --copy",
    "tailrace archive delete --before 2020-01-01",
    'tailrace archive delete --before 2020-01-01 --framework pci --yes --reason "retention is over"',
)
EXIT_CODES = {
    0: "success; verify: everything is as it was archived",
    1: "failure; verify: something differs",
    2: "verify: something is missing; an unknown option or an invalid value",
    3: "the stack is not running",
}
SEE_ALSO = ("tailrace verify", "tailrace transparency", "docs/ARCHIVE.md")
KEYS = {
    "run": {
        "table": "the table",
        "day": "the day, UTC",
        "rows": "all archived rows of the day",
        "bytes": "bytes of its Parquet files",
        "is_verified": "true if the files were read back and are as they were archived",
    },
    "list": {
        "table": "the table",
        "day": "the day, UTC",
        "state": "written, verified or deleted, as ClickHouse has recorded it; null if it has not",
        "rows": "archived rows; for a deleted day, its rows before the deletion",
        "bytes": "bytes of its Parquet files",
        "files": "number of Parquet files",
        "parts": "1, and one more for each time that later rows were archived",
        "has_proofs": "true if the proofs of the transparency log are in the archive",
        "snapshot": "the last Iceberg snapshot of the day",
    },
    "verify": {
        "table": "the table",
        "day": "the day, UTC",
        "is_verified": "true if nothing differs and nothing is missing",
    },
    "restore": {
        "table": "the table",
        "day": "the day, UTC",
        "inserted": "rows that ClickHouse did not have",
        "present": "rows that it had",
    },
    "delete": {
        "table": "the table",
        "day": "the day, UTC",
        "rows": "archived rows; 0 if the document of the day cannot be read",
        "bytes": "bytes of its Parquet files",
        "is_deletable": "true if nothing keeps the day",
        "is_deleted": "true if this run has deleted it",
        "kept_because": "what keeps the day, separated by semicolons",
    },
}
ACCOUNT = "admin"


def configure(parser: argparse.ArgumentParser) -> None:
    commands = parser.add_subparsers(dest="doing", metavar="SUBCOMMAND", required=True)
    run_ = commands.add_parser("run", help="archive closed days and read them back")
    run_.add_argument(
        "--until", type=_day, metavar="DAY", help="the last day to archive (default: the last closed day)"
    )
    listed = commands.add_parser("list", help="list the archived days")
    verified = commands.add_parser("verify", help="read days back and compare them with ClickHouse")
    restored = commands.add_parser("restore", help="insert the rows that ClickHouse lacks, each once")
    for each in (run_, verified, restored):
        replica_progress.add_argument(each)
    for each in (listed, verified, restored):
        is_required = each is restored
        each.add_argument(
            "--from", dest="first", type=_day, required=is_required, metavar="DAY", help="the first day, UTC"
        )
        each.add_argument(
            "--to", dest="end", type=_day, required=is_required, metavar="DAY", help="the last day, UTC"
        )
    restored.add_argument(
        "--copy", action="store_true", help="restore into tables restored_TABLE, which have no retention"
    )
    deleted = commands.add_parser(
        "delete", help="delete days whose retention is over; lists them without --yes"
    )
    _configure_deletion(deleted)
    for each in (run_, listed, verified, restored, deleted):
        each.add_argument(
            "--table", action="append", default=[], metavar="TABLE", help="only this table; can be repeated"
        )
        each.add_argument(
            "--archive", default="", metavar="ADDRESS", help="another archive than TAILRACE_ARCHIVE"
        )
        output.add_option(each)


def _configure_deletion(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--before", type=_day, metavar="DAY", help="all days before this one, UTC")
    parser.add_argument("--from", dest="first", type=_day, metavar="DAY", help="the first day, UTC")
    parser.add_argument("--to", dest="end", type=_day, metavar="DAY", help="the last day, UTC")
    parser.add_argument(
        "--framework",
        dest="frameworks",
        action="append",
        choices=tuple(demands.frameworks()),
        help="count the demands of this one only; can be repeated (default: all)",
    )
    parser.add_argument("--yes", action="store_true", help="delete the days, which cannot be undone")
    parser.add_argument("--reason", default="", metavar="TEXT", help="why; needed with --yes, never deleted")
    parser.add_argument("--actor", default="", metavar="NAME", help="your name (default: your login name)")


def _day(text: str) -> date:
    try:
        return date.fromisoformat(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f"expected a day such as 2026-11-26, found {text!r}") from None


def run(arguments: argparse.Namespace, context: Context) -> int:
    from tailrace.archive import session

    location = session.location_of(context.settings, arguments.archive)
    return DOING[arguments.doing](arguments, context, location)


def _run(arguments: argparse.Namespace, context: Context, location: "Location") -> int:
    from tailrace.archive import lock, service, session, tables

    end = session.last_end(context.settings)
    if arguments.until and arguments.until >= end:
        last = end - timedelta(days=1)
        raise UsageError(f"--until: expected {last} or an earlier day, because later days are not closed yet")
    if arguments.until:
        end = arguments.until + timedelta(days=1)
    clickhouse, servers = context.clickhouse(ACCOUNT), _servers(arguments, context)
    task = service.Task(clickhouse, location, context.home.root, _progress, servers=servers)
    with lock.held(context.home.root):
        rows = [
            {"table": each.table, "day": each.day, "rows": each.rows, "bytes": each.size, "is_verified": good}
            for each, good in task.run(end, tables.chosen(arguments.table))
        ]
    _show("run", rows, arguments)
    for finding in task.findings():
        print(f"tailrace: {finding}", file=sys.stderr)
    return Exit.OK if all(row["is_verified"] for row in rows) and not task.findings() else Exit.FAILED


def _servers(arguments: argparse.Namespace, context: Context) -> list["ClickHouse"]:
    return replica_progress.servers_of(context.clickhouse(ACCOUNT), arguments.server)


def _list(arguments: argparse.Namespace, context: Context, location: "Location") -> int:
    rows = [*_listed(arguments, context, location), *_deleted(arguments, location)]
    _show("list", sorted(rows, key=lambda row: (row["table"], row["day"])), arguments)
    return Exit.OK


def _listed(arguments: argparse.Namespace, context: Context, location: "Location") -> Iterator[dict]:
    from tailrace.archive import days

    states = days.states(context.clickhouse(ACCOUNT), location)
    for table, day in _chosen(arguments, location):
        found = days.read(location, table, day)
        yield {
            "table": table,
            "day": day,
            "state": states.get((table, day), {}).get("state"),
            "rows": found.rows,
            "bytes": found.size,
            "files": sum(len(part.files) for part in found.parts),
            "parts": len(found.parts),
            "has_proofs": all(part.proofs for part in found.parts),
            "snapshot": found.parts[-1].snapshot,
        }


def _deleted(arguments: argparse.Namespace, location: "Location") -> Iterator[dict]:
    from tailrace.archive import days, tables

    wanted = {table.name for table in tables.chosen(arguments.table)}
    for table, day in days.deleted(location, *_period(arguments)):
        if table in wanted and days.read(location, table, day) is None:
            unknown = dict.fromkeys(("bytes", "files", "parts"), 0)
            rows = days.read_deletion(location, table, day).rows
            row = {"table": table, "day": day, "state": days.DELETED, "rows": rows, **unknown}
            yield {**row, "has_proofs": False, "snapshot": ""}


def _verify(arguments: argparse.Namespace, context: Context, location: "Location") -> int:
    from tailrace.archive import lock, tables
    from tailrace.archive.verifier import ArchiveVerifier, verify_all
    from tailrace.archive.warehouse import Warehouse
    from tailrace_verify import output as reports
    from tailrace_verify.findings import Report

    _require_no_delay(arguments, context)
    report = Report()
    verifier = ArchiveVerifier(context.clickhouse(ACCOUNT), location, Warehouse(location))
    found = verify_all(verifier, report, *_period(arguments), tables.chosen(arguments.table))
    with lock.held(context.home.root):  # it marks days as verified
        rows = [{"table": table, "day": day, "is_verified": good} for table, day, good in found]
    if arguments.output == output.CSV:
        output.write_csv(KEYS["verify"], rows)
    else:
        is_json = arguments.output == output.JSON
        sys.stdout.write(reports.as_json(report) if is_json else reports.text(report))
    return report.verdict


def _restore(arguments: argparse.Namespace, context: Context, location: "Location") -> int:
    from tailrace.archive import lock, tables
    from tailrace.archive.restore import JOURNAL, Restorer
    from tailrace.migrations.runner import load_retention

    _require_no_delay(arguments, context)
    home, clickhouse = context.home.root, context.clickhouse(ACCOUNT)
    chosen, end = tuple(tables.chosen(arguments.table)), arguments.end + timedelta(days=1)
    with lock.held_with_ttls(home, clickhouse) as require_lock:
        restorer = Restorer(
            clickhouse, location, home / JOURNAL, load_retention(), arguments.copy, require_lock
        )
        _show("restore", map(vars, restorer.restore(arguments.first, end, chosen)), arguments)
    return Exit.OK


def _require_no_delay(arguments: argparse.Namespace, context: Context) -> None:
    """A replica that lags lacks rows: they would differ, or be restored a second time."""
    from tailrace.archive import tables

    names = [table.name for table in tables.TABLES]
    ReplicaProgress(_servers(arguments, context), names).require_no_delay()


def _delete(arguments: argparse.Namespace, context: Context, location: "Location") -> int:
    from tailrace.archive import deletion, lock

    if bool(arguments.before) == bool(arguments.first and arguments.end):
        raise UsageError("expected either --before, or both --from and --to")
    if arguments.yes and not arguments.reason.strip():
        raise UsageError("--yes needs --reason: it is recorded with your name")
    if not arguments.yes:
        found = _deleter(arguments, context, location).candidates(*_deletion_range(arguments))
        _show_deletion(found, set(), arguments)
        return Exit.OK
    order = deletion.Order(record.new_id(), arguments.actor or getpass.getuser(), arguments.reason)
    with lock.held_with_ttls(context.home.root, context.clickhouse(ACCOUNT)) as require_lock:
        deleter = _deleter(arguments, context, location, require_lock)
        for each in deleter.finish():
            text = f"the deletion of {each.table} of {each.day}, which was interrupted"
            _progress(f"did not complete {text}: {each.reason}" if each.reason else f"completed {text}")
        found = deleter.candidates(*_deletion_range(arguments))
        deleted = {(each.table, each.day) for each in deleter.delete(found, order)}
    _show_deletion(found, deleted, arguments)
    return Exit.OK


def _deleter(
    arguments: argparse.Namespace,
    context: Context,
    location: "Location",
    require_lock: Callable[[], None] = lambda: None,
) -> "Deleter":
    from tailrace.archive.deletion import Deleter, Rules
    from tailrace.migrations.runner import load_retention

    frameworks = arguments.frameworks or tuple(demands.frameworks())
    rules = Rules(load_retention(), frameworks, datetime.now(UTC).date())
    auditor = context.clickhouse(record.ACCOUNT)
    return Deleter(context.clickhouse(ACCOUNT), auditor, location, rules, require_lock)


def _deletion_range(arguments: argparse.Namespace) -> tuple[date, date, Sequence["ArchivedTable"]]:
    from tailrace.archive import tables

    end = arguments.before or arguments.end + timedelta(days=1)
    return arguments.first or date.min, end, tables.chosen(arguments.table)


def _show_deletion(
    found: Sequence["Candidate"], deleted: Collection[tuple[str, str]], arguments: argparse.Namespace
) -> None:
    rows = [
        {
            "table": each.table,
            "day": each.day,
            "rows": each.rows,
            "bytes": each.size,
            "is_deletable": not each.reasons,
            "is_deleted": (each.table, each.day) in deleted,
            "kept_because": "; ".join(each.reasons),
        }
        for each in found
    ]
    if arguments.output != output.TABLE:
        _show("delete", rows, arguments)
        return
    for row in rows:
        can_be = "can be deleted" if row["is_deletable"] else f"kept: {row['kept_because']}"
        state = "deleted" if row["is_deleted"] else can_be
        print(
            f"{row['table']}  {row['day']}  {counted(row['rows'], 'row')}  "
            f"{counted(row['bytes'], 'byte')}  {state}"
        )
    if not arguments.yes:
        count = sum(not each.reasons for each in found)
        print(f"nothing was deleted; {counted(count, 'day')} can be: repeat with --yes --reason TEXT")


def _chosen(arguments: argparse.Namespace, location: "Location") -> Iterator[tuple[str, str]]:
    from tailrace.archive import days, tables

    wanted = {table.name for table in tables.chosen(arguments.table)}
    return (each for each in days.listed(location, *_period(arguments)) if each[0] in wanted)


def _period(arguments: argparse.Namespace) -> tuple[str, str]:
    """Returns the first day and the day after the last one."""
    first, last = arguments.first or date.min, arguments.end or date.max - timedelta(days=1)
    return first.isoformat(), (last + timedelta(days=1)).isoformat()


def _show(doing: str, rows: Iterable[dict], arguments: argparse.Namespace) -> None:
    if arguments.output == output.JSON:
        output.write_json(list(rows))
    elif arguments.output == output.CSV:
        output.write_csv(KEYS[doing], rows)
    else:
        for row in rows:
            print("  ".join(_cell(key, row[key]) for key in KEYS[doing]))


def _cell(key: str, value: object) -> str:
    if isinstance(value, bool):
        name = key.partition("_")[2]
        return name if value else f"not {name}" if key.startswith("is") else f"no {name}"
    if isinstance(value, int):
        return f"{value:,} {key}"
    return str(value if value is not None else "unknown")


def _progress(text: str) -> None:
    print(text, file=sys.stderr)


DOING = {"run": _run, "list": _list, "verify": _verify, "restore": _restore, "delete": _delete}
