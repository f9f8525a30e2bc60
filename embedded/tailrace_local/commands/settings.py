"""Lists every setting: its environment variable, unit, effective value, and meaning.

To change a setting, set its environment variable for the command that starts the component.
"""

import argparse
import dataclasses
from pathlib import Path

from tailrace import console
from tailrace.cli import output
from tailrace.cli.context import Context
from tailrace.cli.exit_codes import Exit
from tailrace.config.settings import as_text, variable

HELP = "list every TAILRACE_* setting with its value"
EXAMPLES = (
    "tailrace settings",
    "TAILRACE_PORT_FLINK=28081 tailrace settings",
    "tailrace settings --output csv > settings.csv",
)
SEE_ALSO = ("tailrace status", "docs/CONFIGURATION.md")
KEYS = {
    "": {
        "setting": "the environment variable",
        "value": "the effective value; null if it is empty",
        "unit": "the unit of the value; null if it has none",
        "meaning": "what it sets",
    }
}


def configure(parser: argparse.ArgumentParser) -> None:
    output.add_option(parser)


def run(arguments: argparse.Namespace, context: Context) -> Exit:
    rows = [_row(field, context) for field in dataclasses.fields(context.settings)]
    if arguments.output == output.JSON:
        output.write_json(rows)
    elif arguments.output == output.CSV:
        output.write_csv(KEYS[""], rows)
    else:
        console.table(list(KEYS[""]), map(_cells, rows))
    return Exit.OK


def _row(field: dataclasses.Field, context: Context) -> dict[str, object]:
    value = getattr(context.settings, field.name)
    return {
        "setting": variable(field),
        "value": output.known(as_text(value) if isinstance(value, Path) else value),
        "unit": output.known(field.metadata["unit"]),
        "meaning": field.metadata["meaning"],
    }


def _cells(row: dict[str, object]) -> tuple[object, ...]:
    return (row["setting"], "-" if row["value"] is None else row["value"], row["unit"] or "", row["meaning"])
