"""Creates a bundle: runs the queries, writes the report, signs the manifest, and records the export."""

import json
import os
import tempfile
import uuid
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from hashlib import sha256
from pathlib import Path

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from tailrace import __version__
from tailrace.clickhouse.client import ClickHouse
from tailrace.evidence import archive, coverage, oscal, page, pdf, results, signing
from tailrace.evidence.framework import Framework
from tailrace.evidence.parameters import parameters, retention
from tailrace.evidence.period import Period
from tailrace.evidence.report import PROVES, Report
from tailrace.evidence.results import Stored
from tailrace.plural import counted
from tailrace.verification import proofs
from tailrace_verify.notes import NoteError
from tailrace_verify.tiles import TileError

ACCOUNT = "auditor"
COLUMNS = (
    "export_id, actor, framework, period_from, period_to, manifest_sha256, key_fingerprint, file, files, "
    "rows, version"
)

READERS = 2
"""Requests to ClickHouse at a time: each spends most of its time on planning, which uses one core."""
EXISTS = "{} exists already; evidence is never overwritten"

README = """\
Evidence for {title}, {period}

report.html, report.pdf   the report: start here
results/NAME.csv          every row of every result; NULL is \\N, times are UTC. Names and statements are
                          unchanged from the logs: a spreadsheet takes text that begins with = for a formula,
                          so import it as text
results/NAME.parquet      the same rows with their types
queries/NAME.sql          the query of each result
oscal-assessment-results.json   which results are evidence for which controls, as OSCAL 1.1.2
about.json                period, versions, rows of each result
manifest.json, .sig       SHA-256 sums of all files, and the Ed25519 signature of the manifest
public-key.pem            the key of the signature; obtain its owner from another source than this bundle
transparency/             where the installation has a transparency log: rows of the period with their proofs;
                          `tailrace verify` checks them

{proves}
"""


class EvidenceError(RuntimeError):
    """The bundle cannot be created; the message is shown to the user."""


@dataclass(frozen=True)
class Exported:
    """The created bundle."""

    manifest_sha256: str
    key_fingerprint: str
    files: int
    rows: int
    warnings: Sequence[str]


@dataclass(frozen=True)
class Exporter:
    """Creates bundles of one installation."""

    clickhouse: ClickHouse
    key: Ed25519PrivateKey
    actor: str
    on_step: Callable[[str], None] = lambda _: None
    home: Path | None = None
    """The directory of the installation; if it has a transparency log, bundles contain proofs."""

    def export(self, framework: Framework, period: Period, output: Path) -> Exported:
        """Writes and records the bundle. On an error neither the file nor the record exists.

        Raises EvidenceError, ResultError, ClickHouseError, or OSError where the disk or ClickHouse fail.
        """
        if output.exists():
            raise EvidenceError(EXISTS.format(output))
        with tempfile.TemporaryDirectory(prefix=".evidence-", dir=output.absolute().parent) as draft:
            return self._export(framework, period, output, Path(draft))

    def _export(self, framework: Framework, period: Period, output: Path, draft: Path) -> Exported:
        content, packed = draft / "content", draft / "bundle.zip"
        content.mkdir()
        report = self._gather(framework, period, content)
        text = archive.manifest(content, _about(report))
        (content / archive.MANIFEST).write_bytes(text)
        (content / archive.SIGNATURE).write_bytes(self.key.sign(text))
        names = archive.files_of(content)
        self.on_step("packing")
        archive.write(content, names, packed)
        rows = sum(stored.rows for stored in report.stored.values())
        done = Exported(sha256(text).hexdigest(), report.key_fingerprint, len(names), rows, report.warnings)
        with _reserved(output):
            self._record(report, done, output)
            os.replace(packed, output)
        return done

    def _gather(self, framework: Framework, period: Period, content: Path) -> Report:
        stored, proof_step = self._read(framework, period, content)
        report = Report(
            framework=framework,
            period=period,
            actor=self.actor,
            made_at=datetime.now(UTC),
            key_fingerprint=signing.fingerprint(self.key.public_key()),
            versions=self._versions(retention()["audit_events"]),
            coverage=coverage.read(content, period),
            stored=stored,
        )
        self.on_step("writing the report")
        (content / "report.html").write_text(page.render(report), encoding="utf-8")
        pdf.write(report, content / "report.pdf")
        (content / oscal.FILE).write_text(oscal.text(report), encoding="utf-8")
        readme = README.format(title=framework.title, period=period, proves=PROVES)
        (content / "README.txt").write_text(readme, encoding="utf-8")
        (content / "about.json").write_text(json.dumps(_about(report, rows=True), indent=1) + "\n")
        (content / archive.PUBLIC_KEY).write_bytes(signing.public_pem(self.key))
        self.on_step(proof_step)
        return report

    def _read(self, framework: Framework, period: Period, content: Path) -> tuple[dict[str, Stored], str]:
        """Writes results and proofs side by side; returns the results by name, and the step of the proofs."""
        given = parameters(framework, period)
        stored: dict[str, Stored] = {}
        with ThreadPoolExecutor(READERS) as pool:
            proved = pool.submit(self._prove, period, content)
            each = pool.map(
                lambda result: results.store(self.clickhouse, result, given, content),
                framework.results.values(),
            )
            for done in each:
                self.on_step(f"{done.result.title}: {done.rows:,}")
                stored[done.name] = done
            return stored, proved.result()

    def _prove(self, period: Period, content: Path) -> str:
        """Writes the proofs; returns the step to show."""
        written = None
        if self.home is not None:
            try:
                written = proofs.write(self.clickhouse, self.home, period.first, period.end, content)
            except (TileError, NoteError) as error:
                raise EvidenceError(f"the transparency log cannot be read: {error}") from error
        if written is None:
            return "no proofs: there is no transparency log"
        return f"proofs: {counted(written.leaves, 'leaf', 'leaves')}, {counted(written.rows, 'row')}"

    def _versions(self, audit_days: int) -> dict[str, str]:
        (row,) = self.clickhouse.rows(
            "SELECT version() AS server, toString(max(number)) AS schema FROM tailrace.schema_migrations"
        )
        return {
            "Tailrace": __version__,
            "ClickHouse": str(row["server"]),
            "schema": f"migration {row['schema']}",
            "audit records kept, days": str(audit_days),
        }

    def _record(self, report: Report, done: Exported, output: Path) -> None:
        """Records the export before the bundle appears, after its file name is reserved."""
        period = report.period.parameters()
        row = {
            "export_id": str(uuid.uuid4()),
            "actor": self.actor,
            "framework": report.framework.name,
            "period_from": period["from"],
            "period_to": period["to"],
            "manifest_sha256": done.manifest_sha256,
            "key_fingerprint": done.key_fingerprint,
            "file": output.name,
            "files": done.files,
            "rows": done.rows,
            "version": __version__,
        }
        self.clickhouse.insert(f"tailrace.evidence_exports ({COLUMNS})", [row])


@contextmanager
def _reserved(output: Path) -> Iterator[None]:
    """Reserves the name with an empty file, which is deleted if the export fails.

    So the bundle never overwrites a file, also on file systems without hard links. Raises EvidenceError if
    the file exists, OSError if it cannot be written.
    """
    try:
        os.close(os.open(output, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600))
    except FileExistsError:
        raise EvidenceError(EXISTS.format(output)) from None
    try:
        yield
    except BaseException:
        output.unlink(missing_ok=True)
        raise


def _about(report: Report, rows: bool = False) -> dict[str, object]:
    about: dict[str, object] = {
        "framework": report.framework.name,
        "period": {"from": report.period.first.isoformat(), "to": report.period.end.isoformat()},
        "exported_at": report.made_at.isoformat(timespec="seconds"),
        "exported_by": report.actor,
        "key_fingerprint": report.key_fingerprint,
    }
    if rows:
        about["versions"] = report.versions
        about["warnings"] = report.warnings
        about["rows"] = {name: stored.rows for name, stored in report.stored.items()}
    return about
