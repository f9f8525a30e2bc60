"""Migrates the database to the schema in sql/migrations; the stack does so automatically at every start.

A second run does nothing. A migration that was changed or removed after it was applied is an error. A
migration that changes materialized views needs all writers to be stopped: stop the jobs
(`tailrace down flink detect`) after they have committed everything, and pass --writers-stopped.
"""

import argparse
import dataclasses

from tailrace import console
from tailrace.cli import output
from tailrace.cli.context import Context
from tailrace.cli.exit_codes import Exit
from tailrace.migrations import runner as migration_runner

HELP = "apply or list the migrations of the database"
EXAMPLES = ("tailrace migrate --status", "tailrace migrate", "tailrace migrate --status --output csv")
EXIT_CODES = {
    1: "a migration failed, or an applied one was changed or removed",
    3: "the stack is not running",
}
SEE_ALSO = ("tailrace down", "docs/UPGRADING.md")
KEYS = {
    "": {
        "number": "number of the migration",
        "title": "its number and name",
        "applied_at": "when it was applied, UTC; null if it was not",
        "problem": "a problem with it; null if there is none",
    }
}
NULL_IF_EMPTY = ("applied_at", "problem")


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--status", action="store_true", help="list the migrations and change nothing")
    parser.add_argument(
        "--writers-stopped", action="store_true", help="the jobs are stopped and have committed everything"
    )
    output.add_option(parser)


def run(arguments: argparse.Namespace, context: Context) -> Exit:
    clickhouse = context.clickhouse("admin")
    applied: list[str] = []
    if not arguments.status:
        report = _print_line if arguments.output == output.TABLE else (lambda _: None)
        applied = migration_runner.apply(clickhouse, writers_stopped=arguments.writers_stopped, report=report)
    states = migration_runner.status(clickhouse)
    rows = [_row(state) for state in states]
    if arguments.output == output.JSON:
        output.write_json({"applied": applied, "migrations": rows})
    elif arguments.output == output.CSV:
        output.write_csv(KEYS[""], rows)
    elif arguments.status:
        cells = [(state.title, state.applied_at or "-", state.problem or "ok") for state in states]
        console.table(("migration", "applied (UTC)", "state"), cells)
    else:
        print(f"{len(applied)} applied, {len(states)} in all")
    return Exit.FAILED if any(state.problem for state in states) else Exit.OK


def _row(state: migration_runner.State) -> dict[str, object]:
    values = dataclasses.asdict(state)
    return {name: output.known(value) if name in NULL_IF_EMPTY else value for name, value in values.items()}


def _print_line(migration: str) -> None:
    print(f"  {migration}")
