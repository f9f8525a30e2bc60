"""Collects all data for the checks once."""

import os
from collections.abc import Collection
from dataclasses import dataclass

from tailrace_capture.doctor.host import Host
from tailrace_capture.product import Product
from tailrace_capture.server import Server, ServerError
from tailrace_capture.snapshot import KINDS, Snapshot, take_snapshot


@dataclass(frozen=True)
class Log:
    """A log that the server writes. `source` as in sources.yaml; `path` absolute, empty if it is not a
    file."""

    source: str
    is_on: bool
    path: str


@dataclass(frozen=True)
class Explainer:
    """The account for EXPLAIN."""

    name: str
    grants: tuple[str, ...]

    @staticmethod
    def of(server: Server) -> "Explainer":
        """Reads the account of a connection. Raises ServerError."""
        return Explainer(_account(server), tuple(_grants(server)))


@dataclass(frozen=True)
class Examination:
    """A server, and the machine on which the doctor runs."""

    product: Product
    variables: dict[str, str]
    snapshots: dict[str, Snapshot]
    grants: tuple[str, ...]
    """The rows of SHOW GRANTS of this account, without authentication strings."""
    account: str
    host: Host
    is_local: bool
    """Whether the doctor runs on the server's machine."""
    zone: str = ""
    """The IANA zone of the server's local times, if the user specifies it."""
    explainer: "Explainer | None" = None

    def variable(self, *names: str) -> str:
        """Returns the first existing one of these variables; empty if there is none."""
        return next((self.variables[name] for name in names if name in self.variables), "")

    def is_on(self, *names: str) -> bool:
        return self.variable(*names).upper() in ("ON", "1", "YES")

    def path(self, *names: str) -> str:
        """Returns a path in a variable: relative ones are below the data directory."""
        value = self.variable(*names)
        return os.path.join(self.variable("datadir"), value) if value else ""

    def fact(self, kind: str, key: str) -> dict[str, str]:
        """Returns a fact's attributes; none if it is missing."""
        found = self.snapshots.get(kind)
        facts = {fact.key: fact.attributes for fact in found.facts} if found else {}
        return facts.get(key, {})

    def logs(self) -> list[Log]:
        """Returns the logs that Tailrace reads."""
        to_file = "FILE" in self.variable("log_output").upper()
        audit_file = self.path("server_audit_file_path", "audit_log_filter.file", "audit_log_file")
        error_file = self.path("log_error")
        return [
            Log("slowlog", self.is_on("slow_query_log"), self.path("slow_query_log_file") if to_file else ""),
            Log("audit", self.fact("audit", "auditing").get("active") == "yes", audit_file),
            Log("errorlog", True, "" if error_file.endswith("stderr") else error_file),
            Log("general", self.is_on("general_log"), self.path("general_log_file") if to_file else ""),
        ]


def examine(
    server: Server,
    host: Host,
    zone: str = "",
    explainer: Explainer | None = None,
    optional: Collection[str] = (),
) -> Examination:
    """Reads all data once; `optional`: names of optional kinds that are also read. Raises ServerError if the
    server stops meanwhile."""
    kinds = [kind for kind in KINDS if not kind.is_optional or kind.name in optional]
    snapshots = {kind.name: take_snapshot(server, kind) for kind in kinds}
    variables = server.variables()
    return Examination(
        product=server.product,
        variables=variables,
        snapshots=snapshots,
        grants=tuple(_grants(server)),
        account=_account(server),
        host=host,
        is_local=host.is_called(variables.get("hostname", "")),
        zone=zone,
        explainer=explainer,
    )


def _account(server: Server) -> str:
    (row,) = server.rows("SELECT CURRENT_USER() AS account")
    return str(row["account"])


def _grants(server: Server) -> list[str]:
    """Returns the grants without password hashes, which MariaDB shows in them."""
    try:
        rows = server.rows("SHOW GRANTS")
    except ServerError:
        return []
    return [str(next(iter(row.values()))).partition(" IDENTIFIED ")[0] for row in rows]
