"""Certificates and Kafka passwords of a secured stack: shows them, and changes them while it runs.

A new authority takes three steps, so that collectors on other machines can follow:
  authority   makes the next authority; it is believed beside the present one. Copy the file with what is
              believed to the collectors
  renew       makes all certificates anew, by the next authority if there is one. By itself: before they end
  retire      believes only the new authority: certificates of the old one are refused from now on

`passwords` makes new ones for all accounts at Kafka; collectors elsewhere need theirs. Each step restarts the
parts that it touches, one after the other, and waits until all are healthy. Nothing is lost meanwhile: lines
wait in their files, and in Kafka.
"""

import argparse
from collections.abc import Callable, Sequence
from datetime import UTC, datetime

from tailrace.cli import console
from tailrace.cli.console import Steps
from tailrace.cli.context import Context, NotRunningError
from tailrace.cli.exit_codes import Exit
from tailrace.credentials import certificates
from tailrace.credentials.certificates import USAGES, CertificateError, Certificates
from tailrace.kafka import accounts as kafka_accounts

HELP = "certificates and Kafka passwords of a secured stack: show, renew"
EXAMPLES = (
    "tailrace credentials show",
    "tailrace credentials renew       # before the certificates end",
    "tailrace credentials passwords   # of all accounts at Kafka",
)

COLLECTORS = ("fluentbit", "facts")
"""Parts that have a password of Kafka and no certificate. One that met a broker of an unknown authority would
lose what it has read and not yet sent."""
KAFKA_AND_JOBS = ("kafka", "flink", "detect")
"""Parts that have certificates and believe those of others. A job loses nothing: it resumes from its
checkpoint."""
DASHBOARDS = ("superset", "reports")
"""Parts that have a certificate, and believe no other."""


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("action", choices=ACTIONS)


def run(arguments: argparse.Namespace, context: Context) -> Exit:
    held = Certificates(context.home)
    if not held.exist():
        raise CertificateError("this stack is not secured; `tailrace up --secure` makes certificates")
    ACTIONS[arguments.action](held, context)
    return Exit.OK


def _show(held: Certificates, context: Context) -> None:
    known = {f"authority {number}": each for number, each in enumerate(held.authorities(), 1)}
    known.update({name: held.certificate(name) for name in USAGES})
    now = datetime.now(UTC)
    console.table(
        ("certificate", "fingerprint", "signed by", "ends", "days left"),
        (
            (
                name,
                certificates.fingerprint(each),
                certificates.issuer(each, held.authorities()),
                f"{each.not_valid_after_utc:%Y-%m-%d}",
                (each.not_valid_after_utc - now).days,
            )
            for name, each in known.items()
        ),
        right=("days left",),
    )
    print(f"  what collectors elsewhere believe: {held.trust}")
    for account in kafka_accounts.accounts():
        print(f"  {account.user}: {context.home.secret_file(kafka_accounts.password_name(account.name))}")


def _authority(held: Certificates, context: Context) -> None:
    held.prepare_authority()
    _restart(context, COLLECTORS)
    print(f"  copy {held.trust} to the collectors on other machines, then: tailrace credentials renew")


def _renew(held: Certificates, context: Context) -> None:
    held.renew()
    _restart(context, (*KAFKA_AND_JOBS, *DASHBOARDS))


def _retire(held: Certificates, context: Context) -> None:
    held.retire_authority()
    _restart(context, (*KAFKA_AND_JOBS, *COLLECTORS))


def _passwords(held: Certificates, context: Context) -> None:
    for account in kafka_accounts.accounts():
        context.home.replace_secret(kafka_accounts.password_name(account.name))
    _restart(context, (*KAFKA_AND_JOBS, *COLLECTORS))


ACTIONS: dict[str, Callable[[Certificates, Context], None]] = {
    "show": _show,
    "authority": _authority,
    "renew": _renew,
    "retire": _retire,
    "passwords": _passwords,
}


def _restart(context: Context, parts: Sequence[str]) -> None:
    """One after the other. A stack that does not run reads what is new when it starts."""
    steps = Steps()
    try:
        context.restart(parts, steps.show)
    except NotRunningError:
        return
    steps.show("all", "healthy")
