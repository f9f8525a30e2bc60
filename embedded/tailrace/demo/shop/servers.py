"""The five database servers of the shop, the logs that each writes, and their formats."""

from collections.abc import Mapping
from dataclasses import dataclass

from tailrace.demo.shop import audit_logs, error_logs, slow_logs
from tailrace.demo.shop.audit_logs import AuditFormat
from tailrace.demo.shop.error_logs import ErrorLogFormat
from tailrace.demo.shop.events import Journal
from tailrace.demo.shop.log import Log
from tailrace.demo.shop.slow_logs import SlowLogFormat
from tailrace.demo.shop.times import StoryTimes

MARIADB = "/usr/sbin/mariadbd, Version: 10.11.19-MariaDB-0+deb12u1-log (Debian 12)"
MYSQL = "/usr/sbin/mysqld, Version: 8.0.46 (MySQL Community Server - GPL)"
PERCONA = "/usr/sbin/mysqld, Version: 5.7.20-18-18-log (Percona Server (GPL), Release 18, Revision 7ce2b4c)"


@dataclass(frozen=True)
class Server:
    """A database server. A log that it does not write has no format."""

    instance: str
    cluster: str
    program: str
    slow: SlowLogFormat
    errors: ErrorLogFormat
    audit: AuditFormat | None = None
    audit_banner: bytes = b""

    def logs(self, journal: Journal, times: StoryTimes) -> list[Log]:
        """Returns the logs of everything in the journal that is past."""
        past = journal.until(times.now)
        events, executions = past.events, past.executions
        logs = [
            self._log("slowlog", slow_logs.banner(self.program), self.slow(executions)),
            self._log("errorlog", b"", self.errors(past.messages)),
        ]
        if self.audit:
            logs.append(self._log("audit", self.audit_banner, self.audit(self.instance, events)))
        return logs

    def _log(self, source: str, banner: bytes, entries: tuple) -> Log:
        return Log(self.instance, self.cluster, source, banner, entries)


SERVERS = (
    Server("shop-db-1", "shop", MARIADB, slow_logs.mariadb, error_logs.mariadb, audit_logs.server_audit),
    Server("shop-db-2", "shop", MARIADB, slow_logs.mariadb, error_logs.mariadb),
    Server(
        "catalog-db-1",
        "shop",
        PERCONA,
        slow_logs.percona,
        error_logs.percona,
        audit_logs.percona_xml,
        audit_logs.XML_BANNER,
    ),
    Server(
        "billing-db-1",
        "billing",
        MYSQL,
        slow_logs.mysql,
        error_logs.mysql,
        audit_logs.filter_json,
        audit_logs.JSON_BANNER,
    ),
    Server("billing-db-2", "billing", PERCONA, slow_logs.percona, error_logs.percona, audit_logs.percona_csv),
)

LOG_FILES: Mapping[str, str] = {"slowlog": "slow.log", "audit": "audit.log", "errorlog": "error.log"}
