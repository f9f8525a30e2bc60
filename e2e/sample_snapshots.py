"""Generates the sample of capture's snapshots of a real MariaDB: the shop's, in the hour of its intrusion.

The accounts of e2e/sample_intrusion.py and a few unused ones are created while the server's clock passes the
preceding year. Capture polls at the start of the hour, after a privilege was granted and the audit log's
statements were shortened (both are in no audit log), after the attacker created an account, and at the end
of the hour. Its output is samples/mariadb-10.11.19.shop.snapshots.jsonl.

    PYTHONPATH=collectors/capture python -m e2e.sample_snapshots    as root, with the development environment
"""

import os
import socket
import tempfile
from collections.abc import Iterable
from datetime import timedelta
from pathlib import Path

import pymysql

from e2e.attack_day.mariadb import Installation, Server
from e2e.sample_intrusion import ANNA, BILLING, OWN, REPORT, SCHEMA, START, TOM, WEB, Account
from tailrace.demo import feed as demo_feed
from tailrace_capture.dsn import Dsn
from tailrace_capture.service import Schedule, Target, Watcher
from tailrace_capture.snapshot import Identity
from tailrace_capture.spool import Spool
from tailrace_capture.state_file import StateFile

PORT = int(os.environ.get("E2E_FIRST_PORT", "21130")) + 40
FORGOTTEN = (
    "CREATE USER 'batch_2019'@'10.20.3.%' IDENTIFIED BY 'batch-1'",
    "GRANT SELECT, DELETE ON shop.* TO 'batch_2019'@'10.20.3.%'",
    "CREATE USER 'former_dba'@'10.20.9.%' IDENTIFIED BY 'former-1' ACCOUNT LOCK",
    "GRANT ALL ON *.* TO 'former_dba'@'10.20.9.%' WITH GRANT OPTION",
    "CREATE USER 'kiosk'@'10.20.4.%'",
    "GRANT SELECT ON shop.orders TO 'kiosk'@'10.20.4.%'",
    "CREATE ROLE auditors",
    "GRANT SELECT ON payroll.* TO auditors",
)
UNLOGGED = (
    "SET GLOBAL server_audit_logging = 0",
    f"GRANT SELECT ON payroll.* TO '{REPORT.user}'@'%'",
    "SET GLOBAL server_audit_query_log_limit = 128",
    "SET GLOBAL server_audit_logging = 1",
)
STRANGE = (
    f"CREATE USER '{OWN.user}'@'%' IDENTIFIED BY '{OWN.password}'",
    f"GRANT SELECT ON shop.* TO '{OWN.user}'@'%'",
)


def main() -> None:
    installation = Installation.install(
        Path(os.environ.get("TAILRACE_CACHE") or Path.home() / ".cache" / "tailrace")
    )
    with tempfile.TemporaryDirectory() as directory:
        server = Server(installation, Path(directory), START - timedelta(days=420), PORT, "127.0.0.1")
        server.create()
        server.start()
        try:
            lines = _year(server, Path(directory))
        finally:
            server.stop()
    (demo_feed.SAMPLES / demo_feed.SHOP_SNAPSHOTS).write_bytes(_at_home(lines, server))


def _year(server: Server, directory: Path) -> bytes:
    _run(server, [*SCHEMA, *FORGOTTEN, *_made(TOM)])
    server.clock.set(START - timedelta(days=60))
    for account in (WEB, BILLING, REPORT, ANNA):
        _run(server, _made(account))
    password = directory / "password"
    password.touch()
    target = Target(
        Identity("shop", "shop-orders-1"), Dsn("root", socket=str(server.socket), tls="off"), password
    )
    spool = directory / "spool"
    watcher = Watcher(
        target, Spool(spool, "snapshots"), StateFile(directory / "memory.json"), Schedule(full=3540)
    )
    for minutes, statements in ((0, ()), (20, UNLOGGED), (42, STRANGE), (60, ())):
        server.clock.set(START + timedelta(minutes=minutes))
        _run(server, statements)
        watcher.poll(server.clock.now().timestamp())
        if watcher.problem:
            raise RuntimeError(f"the server does not say everything: {watcher.problem}")
    return b"".join(file.read_bytes() for file in sorted(spool.iterdir()))


def _at_home(lines: bytes, server: Server) -> bytes:
    """The host name in the snapshots, instead of that of the machine that generated the sample."""
    here, name = socket.gethostname(), b"shop-orders-1"
    places = {
        f"{server.directory}/data": b"/var/lib/mysql",
        f"{server.directory}/logs": b"/var/log/mysql",
        f"{server.directory}/mariadb.sock": b"/run/mysqld/mysqld.sock",
        f"{server.installation.root}/usr": b"/usr",
        f'"{PORT}"': b'"3306"',
        f"'{here}'": b"'" + name + b"'",
        f'"{here}"': b'"' + name + b'"',
        f'"{here}.log"': b'"' + name + b'.log"',
    }
    for place, usual in places.items():
        lines = lines.replace(place.encode(), usual)
    return lines


def _made(account: Account) -> list[str]:
    name = f"'{account.user}'@'%'"
    made = f"CREATE USER {name} IDENTIFIED BY '{account.password}'"
    return [made, *(f"GRANT {grant} TO {name}" for grant in account.grants)]


def _run(server: Server, statements: Iterable[str]) -> None:
    with pymysql.connect(unix_socket=str(server.socket), user="root", autocommit=True) as connection:
        for statement in statements:
            connection.cursor().execute(statement)


if __name__ == "__main__":
    main()
