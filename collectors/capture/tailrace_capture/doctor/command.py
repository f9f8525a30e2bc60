"""The command: connects, examines, prints, and optionally writes sources.yaml."""

import argparse
import csv
import json
import os
import sys
from pathlib import Path
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from tailrace_capture.doctor import checks, sources
from tailrace_capture.doctor.examination import Examination, Explainer, examine
from tailrace_capture.doctor.finding import ERROR, INFO, OK, SEVERITIES, WARNING, Finding, in_order
from tailrace_capture.doctor.host import Host
from tailrace_capture.doctor.sources import Access, WriteError
from tailrace_capture.dsn import DsnError, parse, password_of
from tailrace_capture.server import ServerError, connect
from tailrace_capture.targets import ConfigurationError

PROGRAM = "tailrace-doctor"
STATEMENT_SECONDS = 10.0
TABLE, JSON, CSV = "table", "json", "csv"
FORMATS = (TABLE, JSON, CSV)
OF_PERFORMANCE_SCHEMA = {
    "digests": "the counters of statements in Performance Schema",
    "digest_histograms": "the histograms of their latency (implies --digests)",
    "metadata_locks": "waits for metadata locks",
}
"""What each optional kind is; the keys are those of sources.yaml."""
COLUMNS = ("severity", "topic", "message", "fix")
COLOURS = {ERROR: "31", WARNING: "33", INFO: "36", OK: "32"}
DESCRIPTION = """Connects to a server and lists what prevents Tailrace from reading it, with fixes.

The password comes from --password-file, from TAILRACE_SERVER_PASSWORD or from a prompt. Nothing is changed
on the server. Run it on the server's machine, so that it can also check files, disk space and logrotate."""
EPILOG = """Without --server `tailrace doctor`, with or without --json, checks the logs of sources.yaml.

examples:
  tailrace doctor --server 'mysql://tailrace@localhost/?socket=/run/mysqld/mysqld.sock' --password-file secret
  tailrace doctor --server mysql://tailrace@db-1/ --json | jq '.findings[] | select(.severity == "error")'
  tailrace doctor --server mysql://tailrace@localhost/ --write --instance shop-db-1 --cluster shop

exit codes:
    0  no error (with --strict: also no warning)
    1  Tailrace cannot read everything, or the connection failed
    2  wrong usage"""


def configure(parser: argparse.ArgumentParser) -> None:
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.description, parser.epilog = DESCRIPTION, EPILOG
    parser.add_argument(
        "--server", required=True, metavar="DSN", help="the server: mysql://user@host:port/?socket=…"
    )
    parser.add_argument("--password-file", type=Path, metavar="FILE", help="the account's password")
    parser.add_argument(
        "--output",
        choices=FORMATS,
        default=TABLE,
        metavar="FORMAT",
        help=f"form of the output (default: {TABLE})",
    )
    parser.add_argument(
        "--json", dest="output", action="store_const", const=JSON, help="the same as --output json"
    )
    parser.add_argument("--strict", action="store_true", help="also exit 1 for warnings")
    _configure_entry(parser)
    parser.set_defaults(run=run)


def _configure_entry(parser: argparse.ArgumentParser) -> None:
    """Adds the options of the entry in sources.yaml."""
    parser.add_argument("--write", action="store_true", help="add the server and its logs to sources.yaml")
    parser.add_argument(
        "--sources",
        type=Path,
        default=Path("sources.yaml"),
        metavar="FILE",
        help="the list (default: sources.yaml)",
    )
    parser.add_argument(
        "--tz", default="", metavar="ZONE", help="IANA zone of the server at its start, if it is unknown"
    )
    for kind, what in OF_PERFORMANCE_SCHEMA.items():
        option = f"--{kind.replace('_', '-')}"
        text = f"also check {what}, and write {kind}: true"
        parser.add_argument(option, action="store_true", help=text)
    parser.add_argument("--explain-dsn", metavar="DSN", help="account for EXPLAIN: also checked and written")
    parser.add_argument(
        "--explain-password-file", type=Path, metavar="FILE", help="the password of that account"
    )
    parser.add_argument(
        "--instance", default="", help="the server's name in the list (default: its host name)"
    )
    parser.add_argument("--cluster", default="", help="its cluster in the list (default: the instance)")


def run(arguments: argparse.Namespace) -> int:
    """Runs the command; returns the exit code. Raises ConfigurationError."""
    seen, found = _examined(arguments)
    wanted, added = [], []
    if seen is not None:
        name = arguments.instance or seen.variable("hostname") or parse(arguments.server).host
        asked = Access(arguments.server, arguments.password_file)
        explained = (
            Access(arguments.explain_dsn, arguments.explain_password_file) if arguments.explain_dsn else None
        )
        wanted = sources.entries(seen, name, arguments.cluster, asked, explained)
        if arguments.write:
            added = _added(arguments.sources, wanted)
    if arguments.output == JSON:
        _print_json(seen, found, wanted, added)
    elif arguments.output == CSV:
        _print_csv(found)
    else:
        _print(seen, found)
        _print_sources(arguments, wanted, added)
    failing = {ERROR, WARNING} if arguments.strict else {ERROR}
    return 1 if any(finding.severity in failing for finding in found) else 0


def _examined(arguments: argparse.Namespace) -> tuple[Examination | None, list[Finding]]:
    try:
        _require_zone(arguments.tz)
        dsn = parse(arguments.server)
        password = password_of(arguments.password_file, ask=True)
        if arguments.explain_dsn:
            parse(arguments.explain_dsn)
    except DsnError as error:
        raise ConfigurationError(str(error)) from None
    more: list[Finding] = []
    explainer = _explainer(arguments, more)
    try:
        server = connect(dsn, password, STATEMENT_SECONDS, PROGRAM)
        try:
            seen = examine(server, Host(), arguments.tz, explainer, _optional(arguments))
        finally:
            server.close()
    except ServerError as error:
        return None, [unreachable(dsn.where, error)]
    return seen, in_order([*more, *checks.findings(seen)])


def _optional(arguments: argparse.Namespace) -> list[str]:
    """Returns the optional kinds to check."""
    needed = {"digests"} if arguments.digest_histograms else set()
    return [kind for kind in OF_PERFORMANCE_SCHEMA if kind in needed or getattr(arguments, kind)]


def _explainer(arguments: argparse.Namespace, found: list[Finding]) -> Explainer | None:
    """Returns the account for EXPLAIN; appends a connection error to `found`."""
    if not arguments.explain_dsn:
        return None
    dsn = parse(arguments.explain_dsn)
    try:
        server = connect(dsn, password_of(arguments.explain_password_file), STATEMENT_SECONDS, PROGRAM)
        try:
            return Explainer.of(server)
        finally:
            server.close()
    except ServerError as error:
        found.append(unreachable(f"{dsn.user} at {dsn.where}", error))
        return None


def _require_zone(zone: str) -> None:
    try:
        ZoneInfo(zone or "UTC")
    except (ZoneInfoNotFoundError, ValueError):
        raise ConfigurationError(f"--tz: expected an IANA zone such as Europe/Berlin, not {zone!r}") from None


def unreachable(where: str, error: ServerError) -> Finding:
    """Returns what prevents a connection."""
    hints = {
        "denied": "# does the account exist for this host? SELECT user, host FROM mysql.user;",
        "gone": "# is it running and listening there? bind_address, skip_networking, firewall",
    }
    fix = (hints[error.status],) if error.status in hints else ()
    return Finding(ERROR, "connection", f"{where}: {error.status}: {error}", fix)


def _added(file: Path, wanted: list[sources.Entry]) -> list[sources.Entry]:
    try:
        return sources.add(file, wanted)
    except (WriteError, OSError) as error:
        raise ConfigurationError(str(error)) from None


def _print_json(
    seen: Examination | None, found: list[Finding], wanted: list[sources.Entry], added: list[sources.Entry]
) -> None:
    document = {
        "product": seen.product.name if seen else "",
        "version": seen.product.text if seen else "",
        "findings": [finding.to_json() for finding in found],
        "sources": wanted,
        "added": added,
    }
    print(json.dumps(document, indent=2, ensure_ascii=False))


def _print_csv(found: list[Finding]) -> None:
    """Prints one record per finding; the lines of a fix are in one field."""
    writer = csv.writer(sys.stdout)
    writer.writerow(COLUMNS)
    for finding in found:
        fix = "\n".join(map(_plain, finding.fix))
        writer.writerow((finding.severity, finding.topic, _plain(finding.message), fix))


def _print(seen: Examination | None, found: list[Finding]) -> None:
    if seen is not None:
        print(f"{seen.product.name} {seen.product.text} on {seen.variable('hostname')}\n")
    for finding in found:
        print(f"{_styled(finding.severity):<8} {finding.topic}: {_plain(finding.message)}")
        for line in finding.fix:
            print(f"           {_plain(line)}")
    counts = {severity: sum(each.severity == severity for each in found) for severity in SEVERITIES}
    print("\n" + ", ".join(f"{count} {severity}" for severity, count in counts.items()))


def _print_sources(
    arguments: argparse.Namespace, wanted: list[sources.Entry], added: list[sources.Entry]
) -> None:
    if arguments.write:
        print(f"{arguments.sources}: entries added: {len(added)} of {len(wanted)}")
    elif wanted:
        print("\nfor sources.yaml (--write adds it):\n")
        print("".join(map(sources.written, wanted)), end="")


def _plain(text: str) -> str:
    """Returns text of a server on one line and without control codes, which terminals interpret."""
    return "".join(sign if sign.isprintable() else "\N{REPLACEMENT CHARACTER}" for sign in text)


def _styled(severity: str) -> str:
    padded = f"{severity:<8}"
    coloured = sys.stdout.isatty() and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"
    return f"\033[{COLOURS[severity]}m{padded}\033[0m" if coloured else padded
