"""Pushes a directory of rules to the detect job. They replace all active rules.

The rules are checked first, as by `tailrace rules check`. The job checks them again and reports the result.
A rejected push changes nothing.
"""

import argparse
import subprocess
from pathlib import Path

from tailrace.cli.context import UNKNOWN_STATE, Context
from tailrace.cli.exit_codes import Exit
from tailrace.plural import counted
from tailrace.rules import push as rule_push
from tailrace.rules.push import RulesError

EXPIRED = " expired on "
"""In the message of `rules check` about an exception."""

HELP = "activate rules without a restart"
EXAMPLES = ("tailrace rules push rules/",)
EXIT_CODES = {1: "a rule was refused, or the job reported no result", 3: "the stack is not running"}
SEE_ALSO = ("tailrace rules", "tailrace detect", "docs/DETECTION.md")

DETECTION_JOB = "detect"
TAKES_RULES = ("healthy", "unhealthy", UNKNOWN_STATE)
"""States of a job that may run; without rules it is unhealthy."""


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "directory", type=Path, metavar="DIR", help="directory of the rules and detectors.yaml"
    )
    parser.add_argument(
        "--wait",
        type=float,
        default=60,
        metavar="S",
        help="seconds to wait for another push and for the job's result (default: 60)",
    )
    parser.add_argument("--no-check", action="store_true", help="skip the local check")


def run(arguments: argparse.Namespace, context: Context) -> Exit:
    texts = rule_push.files(arguments.directory)
    if not arguments.no_check:
        _check(arguments.directory, context)
    with rule_push.push_lock(context.home.run, arguments.wait):
        return _push(texts, arguments, context)


def _push(texts: dict[str, str], arguments: argparse.Namespace, context: Context) -> Exit:
    state = context.component_state(DETECTION_JOB)
    client = context.kafka("rules")
    clickhouse = context.clickhouse("reader_security")
    rule_push.promote_last_candidate(client, clickhouse)
    push = rule_push.push(client, texts)
    print(f"pushed {counted(len(texts), 'file')} of {arguments.directory} as {push.id}")
    if state not in TAKES_RULES:
        print("the detect job is not running: it will apply the rules at its next start")
        return Exit.OK
    return _report(rule_push.promote_candidate(client, clickhouse, push, arguments.wait))


def _check(directory: Path, context: Context) -> None:
    """An expired exception does not block a push, because the new rules may be urgent."""
    command = ["java", "-jar", context.java_command_line(), "rules", "check", "--allow-expired", directory]
    checked = subprocess.run(command, capture_output=True, text=True)
    if checked.returncode:
        raise RulesError(f"nothing was pushed:\n{(checked.stderr + checked.stdout).strip()}")
    for line in checked.stderr.splitlines():
        if EXPIRED in line:
            print(f"warning: {line}")


def _report(outcome: rule_push.Outcome | None) -> Exit:
    if outcome is None:
        raise RulesError("the job has not reported a result of the push; see: tailrace logs detect")
    if not outcome.accepted:
        raise RulesError(
            f"the job rejected the push, and the previous rules stay active:\n{outcome.message}\n"
            "see: tailrace rules check DIR"
        )
    print(
        f"active: {counted(outcome.rules, 'rule')}, {counted(outcome.detectors, 'detector')}, "
        f"{counted(outcome.classes, 'data class', 'data classes')}"
    )
    return Exit.OK
