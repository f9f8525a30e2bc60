"""Lists every setting: its environment variable, unit, effective value, and meaning."""

import argparse
import dataclasses

from tailrace.cli import console
from tailrace.cli.context import Context
from tailrace.cli.exit_codes import Exit
from tailrace.config.settings import variable

HELP = "list every TAILRACE_* setting with its value"
EXAMPLES = ("tailrace settings", "TAILRACE_PORT_FLINK=28081 tailrace settings")


def run(arguments: argparse.Namespace, context: Context) -> Exit:
    console.table(
        ("setting", "value", "unit", "meaning"), map(_row(context), dataclasses.fields(context.settings))
    )
    return Exit.OK


def _row(context: Context):
    def row(field: dataclasses.Field) -> tuple[object, ...]:
        value = getattr(context.settings, field.name)
        return (
            variable(field),
            "-" if value == "" else value,
            field.metadata["unit"],
            field.metadata["meaning"],
        )

    return row
