"""Executes a verification, for `tailrace verify` and `python -m tailrace_verify`."""

import argparse
import sys
import zipfile
from pathlib import Path

from tailrace_verify import archive, check, evidence, notes, output, pem, single, trust
from tailrace_verify.check import Scope
from tailrace_verify.files import Files, UnreadableError, opened
from tailrace_verify.findings import Report, Status
from tailrace_verify.options import JSON, configure
from tailrace_verify.proven_days import ProvenDays, ProvenDaysError
from tailrace_verify.trust import Trust

SIGNED = "evidence"
ZIP = b"PK"
"""The first bytes of a ZIP file."""


class InputError(ValueError):
    """An option has no meaningful value; the message is shown to the user."""


def run(arguments: argparse.Namespace) -> Status:
    """Verifies the bundle and prints the report. Raises InputError, UnreadableError, OSError."""
    if arguments.bundle is None:
        raise InputError("expected the path of a bundle")
    report = verified(arguments.bundle, arguments)
    show(report, arguments)
    return report.verdict


def show(report: Report, arguments: argparse.Namespace) -> None:
    sys.stdout.write(output.as_json(report) if arguments.output == JSON else output.text(report))


def verified(path: Path, arguments: argparse.Namespace) -> Report:
    """Verifies a directory, an archive, a ZIP file or the proof of one row.

    Of evidence it also verifies signature and files.
    """
    trusted, scope = trust_of(arguments), scope_of(arguments)
    if path.is_file() and single.is_proof(data := _start(path)):
        return single.verify(data, trusted)
    if path.is_file() and _is_evidence(path):
        return _of_evidence(path, trusted, scope, arguments)
    if archive.is_archive(path):
        return _of_archive(path, trusted, scope, arguments.proven_days)
    with opened(path) as files:
        return check.verify(_laid_out(files.proofs()), trusted, scope)


def _start(path: Path) -> bytes:
    with path.open("rb") as file:
        return file.read(single.MAX_BYTES)


def trust_of(arguments: argparse.Namespace) -> Trust:
    """Reads the keys that the options name. Raises InputError, OSError."""
    return Trust(
        _vkey(arguments.log_key) if arguments.log_key else None,
        tuple(map(_vkey, arguments.witness_key)),
        _hosts(arguments.host_keys) if arguments.host_keys else None,
        not arguments.without_witness,
        tuple(file.read_bytes() for file in arguments.checkpoint),
    )


def scope_of(arguments: argparse.Namespace) -> Scope | None:
    """Returns the period of the options. Raises InputError."""
    if not (arguments.first or arguments.end):
        return None
    try:
        first, end = (check.moment(text) if text else None for text in (arguments.first, arguments.end))
    except check.ScopeError as error:
        raise InputError(str(error)) from None
    if first and end and first >= end:
        raise InputError(f"the period is empty: expected --from before --to, found {first} and {end}")
    return Scope(first, end)


def _laid_out(files: Files) -> Files:
    """Accepts the directory of a running log, which has its keys beside the checkpoint."""
    names = {trust.LOG_KEY: "log.vkey"}
    return Files(lambda name: files.read(name) or files.read(names.get(name, name)), files.names)


def _is_evidence(path: Path) -> bool:
    try:
        with zipfile.ZipFile(path) as archive:
            return evidence.MANIFEST in archive.namelist()
    except (zipfile.BadZipFile, NotImplementedError):
        if not _start(path).startswith(ZIP):
            message = f"{path} is no bundle: expected a directory, a ZIP file or a proof"
            raise UnreadableError(message) from None
        return True  # a changed bundle: the verification states what it found


def _of_evidence(path: Path, trusted: Trust, scope: Scope | None, arguments: argparse.Namespace) -> Report:
    """One report of the signed bundle and of its proofs."""
    key = _public_key(arguments.public_key) if arguments.public_key else None
    found = evidence.verify(path, key, trusted, scope)
    report = found.proofs or Report()
    for each in found.checks:
        for fault in each.faults if each.name != evidence.PROVEN else ():
            report.tampered(SIGNED, fault, file=fault.split(":")[0])
    if not found.proofs and not found.faults:
        report.undetermined(SIGNED, "unchanged since its export, but without proofs of its rows")
    if found.key_from_bundle and not found.faults:
        report.undetermined(SIGNED, "the exporter's key is the bundle's own; give --public-key")
    report.counts["files"] = found.files
    report.about["exported"] = {
        name: found.about.get(name) for name in ("exported_by", "exported_at", "framework")
    }
    return report


def _of_archive(path: Path, trusted: Trust, scope: Scope | None, file: Path | None) -> Report:
    try:
        proven = ProvenDays(file)
    except ProvenDaysError as error:
        raise InputError(str(error)) from None
    report = archive.verify(path, trusted, scope, proven)
    proven.write()
    return report


def _vkey(file: Path) -> notes.Key:
    try:
        return notes.parse_vkey(file.read_text())
    except (notes.NoteError, UnicodeDecodeError) as error:
        raise InputError(f"{file}: {error}") from None


def _hosts(file: Path) -> dict[str, trust.HostKey]:
    try:
        return trust.parse_hosts(file.read_bytes())
    except trust.KeyFileError as error:
        raise InputError(f"{file}: {error}") from None


def _public_key(file: Path) -> object:
    try:
        return pem.read_public(file.read_bytes())
    except pem.SigningKeyError as error:
        raise InputError(f"{file}: {error}") from None


def main(words: list[str]) -> int:
    """Runs the command of the wheel; returns its exit code."""
    parser = argparse.ArgumentParser(
        prog="tailrace-verify", description="Verifies exports of Tailrace offline."
    )
    configure(parser)
    try:
        return run(parser.parse_args(words))
    except (InputError, UnreadableError, OSError) as error:
        print(f"tailrace-verify: {error}", file=sys.stderr)
        return Status.UNDETERMINED
