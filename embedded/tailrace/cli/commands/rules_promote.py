"""Promotes a canary rule: removes the tag tailrace.canary from its file.

Nothing else in the file changes. Push the rules afterwards; then the rule raises ordinary alerts.
"""

import argparse
from pathlib import Path

from tailrace.cli.context import Context
from tailrace.cli.exit_codes import Exit
from tailrace.rules import promotion

HELP = "make a canary rule an ordinary one, in its file"
EXAMPLES = ('tailrace rules promote "Dump of a table by a person" --rules rules/',)
EXIT_CODES = {1: "no canary rule has this name, or several have it"}
SEE_ALSO = ("tailrace rules canary", "tailrace rules push", "docs/DETECTION.md")


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("rule", metavar="RULE", help="the rule's id, name or title")
    parser.add_argument(
        "--rules", type=Path, required=True, metavar="DIR", help="directory or file that contains the rule"
    )


def run(arguments: argparse.Namespace, context: Context) -> Exit:
    file = promotion.promote(arguments.rules, arguments.rule)
    print(f"{file}: the rule is no canary rule any more; activate it with: tailrace rules push DIR")
    return Exit.OK
