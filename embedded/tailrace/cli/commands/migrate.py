"""Migrates the database to the schema in sql/migrations; the stack does so automatically at every start.

A second run does nothing. A migration that was changed or removed after it was applied is an error. A
migration that changes materialized views needs all writers to be stopped: stop the jobs
(`tailrace down flink detect`) after they have committed everything, and pass --writers-stopped.
"""

import argparse
import json

from tailrace.cli import console
from tailrace.cli.context import Context
from tailrace.cli.exit_codes import Exit
from tailrace.migrations import runner as migration_runner

HELP = "apply or list the migrations of the database"
EXAMPLES = ("tailrace migrate --status", "tailrace migrate", "tailrace migrate --json")


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--status", action="store_true", help="list the migrations and change nothing")
    parser.add_argument(
        "--writers-stopped", action="store_true", help="the jobs are stopped and have committed everything"
    )
    parser.add_argument("--json", action="store_true", help="one JSON object")


def run(arguments: argparse.Namespace, context: Context) -> Exit:
    clickhouse = context.clickhouse("admin")
    applied: list[str] = []
    if not arguments.status:
        report = (lambda _: None) if arguments.json else _print_line
        applied = migration_runner.apply(clickhouse, writers_stopped=arguments.writers_stopped, report=report)
    states = migration_runner.status(clickhouse)
    if arguments.json:
        print(json.dumps({"applied": applied, "migrations": [vars(state) for state in states]}, indent=2))
    elif arguments.status:
        rows = [(state.title, state.applied_at or "-", state.problem or "ok") for state in states]
        console.table(("migration", "applied (UTC)", "state"), rows)
    else:
        print(f"{len(applied)} applied, {len(states)} in all")
    return Exit.FAILED if any(state.problem for state in states) else Exit.OK


def _print_line(migration: str) -> None:
    print(f"  {migration}")
