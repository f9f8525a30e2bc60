"""A real server of which the doctor says what Performance Schema lacks. The fixes work unchanged."""

import json
from pathlib import Path

import pymysql

from tailrace_capture import targets
from tailrace_capture.doctor import listed
from tailrace_capture.doctor.finding import ERROR, WARNING, Finding

READER, ACCOUNT = "listed_reader", "'listed_reader'@'localhost'"
KINDS = ("digests", "digest_histograms", "metadata_locks")
CONSUMERS = "UPDATE performance_schema.setup_consumers SET ENABLED = '{}' WHERE NAME = '{}'"
MDL_OFF = (
    "UPDATE performance_schema.setup_instruments SET ENABLED = 'NO' WHERE NAME = 'wait/lock/metadata/sql/mdl'"
)
OFF = ("global_instrumentation", "statements_digest")
TOO_OLD = "digest_histograms: histograms of statements exist in MySQL 8.0 and later only"


class ListedServer:
    """A server whose entry in sources.yaml has all kinds of Performance Schema."""

    def __init__(self, socket: Path, directory: Path) -> None:
        self._admin = pymysql.connect(unix_socket=str(socket), user="root", autocommit=True)
        (directory / "password").write_text("x")
        entry = {"instance": "noted", "dsn": f"mysql://{READER}@localhost/?socket={socket}"}
        entry["password_file"] = str(directory / "password")
        self.entry = {**entry, **dict.fromkeys(KINDS, True)}
        (directory / "servers.json").write_text(json.dumps([self.entry]))
        (self._target,) = targets.from_file(directory / "servers.json")
        self.run(f"CREATE USER {ACCOUNT} IDENTIFIED BY 'x'")

    def run(self, *statements: str) -> None:
        with self._admin.cursor() as cursor:
            for statement in statements:
                cursor.execute(statement)

    def findings(self, severity: str) -> list[Finding]:
        """Returns what the doctor says about the kinds of Performance Schema."""
        found = [each for each in listed.check(self._target) if each.topic == "performance schema"]
        return [each for each in found if each.severity == severity]

    def problems(self) -> set[str]:
        """Returns the messages of the errors, without the account."""
        return {each.message.removeprefix(f"{ACCOUNT} ") for each in self.findings(ERROR)}

    def fix(self) -> None:
        """Runs the statements of the fixes unchanged."""
        lines = [line for each in self.findings(ERROR) for line in each.fix]
        self.run(*(line for line in lines if line.startswith(("GRANT ", "UPDATE "))))

    def close(self) -> None:
        self.run(*(CONSUMERS.format("YES", name) for name in OFF), f"DROP USER {ACCOUNT}")
        self._admin.close()


def check_performance_schema(socket: Path, directory: Path, has_histograms: bool) -> None:
    """Each missing grant, consumer and instrument of a MySQL is found, and its fix corrects it."""
    server = ListedServer(socket, directory)
    try:
        kinds = [kind for kind in KINDS if has_histograms or kind != "digest_histograms"]
        assert server.problems() == {f"may not read {kind}" for kind in kinds}
        server.fix()
        server.run(*(CONSUMERS.format("NO", name) for name in OFF), MDL_OFF)
        assert server.problems() >= {
            "digests: the consumer global_instrumentation is disabled",
            "metadata_locks: the instrument of metadata locks is off",
        }
        server.fix()
        assert "digests: the consumer statements_digest is disabled" in server.problems()
        server.fix()
        assert server.problems() == set()
        assert [each.message for each in server.findings(WARNING)] == ([] if has_histograms else [TOO_OLD])
    finally:
        server.close()
