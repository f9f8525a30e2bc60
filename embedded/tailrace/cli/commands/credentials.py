"""Shows the certificates and Kafka passwords of a secured stack, and changes them while it runs.

A new authority takes three steps, so that collectors on other machines can follow:
  authority   creates the next authority, which is trusted in addition to the present one. Copy
              the file with the trusted authorities to the collectors
  renew       creates all certificates again, signed by the next authority if there is one.
              `tailrace status` asks for this in the last 30 days before a certificate expires
  retire      trusts only the new authority: certificates of the old one are refused from now on

`passwords` creates new passwords for all Kafka accounts; copy them to collectors on other machines. Each step
restarts the components that it affects and waits until all are healthy. It stops Kafka's clients before
Kafka, so that Fluent Bit can send its queue. No data is lost: lines wait in their files and in Kafka.
"""

import argparse
from collections.abc import Callable, Sequence
from datetime import UTC, datetime

from tailrace import console
from tailrace.cli import output
from tailrace.cli.context import Context
from tailrace.cli.exit_codes import Exit
from tailrace.console import Steps
from tailrace.credentials import certificates
from tailrace.credentials.certificates import USAGES, CertificateError, Certificates
from tailrace.errors import NotRunningError
from tailrace.kafka import accounts as kafka_accounts

HELP = "show and renew certificates and Kafka passwords of a secured stack"
EXAMPLES = (
    "tailrace credentials show",
    "tailrace credentials renew       # before the certificates expire",
    "tailrace credentials passwords   # of all Kafka accounts",
)
EXIT_CODES = {1: "the stack is not secured, or a step failed"}
SEE_ALSO = ("tailrace up", "docs/SECURITY.md")
KEYS = {
    "": {
        "certificate": "authority N, or the component of the certificate",
        "fingerprint": "the fingerprint",
        "signed_by": "the authority that has signed it",
        "ends": "the day on which it expires, UTC",
        "days_left": "days until then",
    }
}

COLLECTORS = ("fluentbit", "facts")
"""Components with a Kafka password and without a certificate. A collector that meets a broker of an unknown
authority would lose lines that it has read and not yet sent."""
KAFKA_AND_JOBS = ("kafka", "flink", "detect")
"""Components with certificates that verify those of others. A job loses nothing: it resumes from its
checkpoint."""
SERVERS_AND_JOBS = ("clickhouse", *KAFKA_AND_JOBS)
DASHBOARDS = ("superset", "reports", "api")
"""Components with a certificate that verify that of ClickHouse only."""


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("action", choices=ACTIONS, help="what to do")
    output.add_option(parser)


def run(arguments: argparse.Namespace, context: Context) -> Exit:
    held = Certificates(context.home)
    if not held.exist():
        raise CertificateError("this stack is not secured; `tailrace up --secure` creates certificates")
    held.complete()
    if arguments.action == "show":
        _show(held, context, arguments.output)
    else:
        ACTIONS[arguments.action](held, context)
    return Exit.OK


def _show(held: Certificates, context: Context, form: str) -> None:
    rows = _rows(held)
    if form == output.JSON:
        output.write_json(rows)
    elif form == output.CSV:
        output.write_csv(KEYS[""], rows)
    else:
        _show_table(rows, held, context)


def _rows(held: Certificates) -> list[dict[str, object]]:
    known = {f"authority {number}": each for number, each in enumerate(held.authorities(), 1)}
    known.update({name: held.certificate(name) for name in USAGES})
    now = datetime.now(UTC)
    return [
        {
            "certificate": name,
            "fingerprint": certificates.fingerprint(each),
            "signed_by": certificates.issuer(each, held.authorities()),
            "ends": f"{each.not_valid_after_utc:%Y-%m-%d}",
            "days_left": (each.not_valid_after_utc - now).days,
        }
        for name, each in known.items()
    ]


def _show_table(rows: list[dict[str, object]], held: Certificates, context: Context) -> None:
    header = [key.replace("_", " ") for key in KEYS[""]]
    console.table(header, [list(row.values()) for row in rows], right=("days left",))
    print(f"  authorities to copy to collectors elsewhere: {held.trust}")
    for account in kafka_accounts.accounts():
        print(f"  {account.user}: {context.home.secret_file(kafka_accounts.password_name(account.name))}")


def _authority(held: Certificates, context: Context) -> None:
    held.prepare_authority()
    _restart(context, COLLECTORS)
    print(f"  copy {held.trust} to the collectors on other machines, then: tailrace credentials renew")


def _renew(held: Certificates, context: Context) -> None:
    held.renew()
    _restart(context, (*SERVERS_AND_JOBS, *DASHBOARDS))


def _retire(held: Certificates, context: Context) -> None:
    held.retire_authority()
    _restart(context, (*SERVERS_AND_JOBS, *COLLECTORS, *DASHBOARDS))


def _passwords(held: Certificates, context: Context) -> None:
    for account in kafka_accounts.accounts():
        context.home.replace_secret(kafka_accounts.password_name(account.name))
    _restart(context, (*KAFKA_AND_JOBS, *COLLECTORS))


ACTIONS: dict[str, Callable[[Certificates, Context], None] | None] = {
    "show": None,
    "authority": _authority,
    "renew": _renew,
    "retire": _retire,
    "passwords": _passwords,
}


def _restart(context: Context, parts: Sequence[str]) -> None:
    """Restarts components, clients before Kafka. A stopped stack reads the new files at its next start."""
    steps = Steps()
    try:
        context.restart(parts, steps.show)
    except NotRunningError:
        return
    steps.show("all", "healthy")
