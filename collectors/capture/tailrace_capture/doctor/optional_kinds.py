"""Checks what capture reads from Performance Schema, if the entry of the server asks for it."""

from collections.abc import Iterator

from tailrace_capture.doctor.accounts import grants_for
from tailrace_capture.doctor.examination import Examination
from tailrace_capture.doctor.finding import ERROR, OK, WARNING, Finding
from tailrace_capture.doctor.logging_checks import account_written
from tailrace_capture.snapshot import Snapshot

TOPIC = "performance schema"


def performance_schema(seen: Examination) -> Iterator[Finding]:
    """Checks the optional kinds that were read: `digests`, `digest_histograms`, `metadata_locks`."""
    for name, taken in seen.snapshots.items():
        if taken.kind.is_optional:
            yield _of_kind(seen, name, taken)


def _of_kind(seen: Examination, name: str, taken: Snapshot) -> Finding:
    if taken.status == "ok":
        return Finding(OK, TOPIC, f"{name} can be read")
    if taken.status == "denied":
        account = account_written(seen.account)
        return Finding(
            ERROR, TOPIC, f"{account} may not read {name}", grants_for(seen.product, account)[name]
        )
    if taken.fix:
        return Finding(ERROR, TOPIC, f"{name}: {taken.problem}", taken.fix)
    if taken.status == "absent":
        return Finding(WARNING, TOPIC, f"{name}: {taken.problem}", _without(name))
    return Finding(WARNING, TOPIC, f"{name}: {taken.outcome}")


def _without(name: str) -> tuple[str, ...]:
    """Returns the fix for a server that cannot have the kind."""
    return ("# sources.yaml, in the entry `source: server`; or upgrade the server", f"{name}: false")
