"""What `python -m tailrace_pull check` finds about logs of a service."""

import pytest
from test_cloudwatch import client_of as logs_client
from test_rds_reading import LIVE
from test_rds_reading import client_of as rds_client

from e2e.pulling.fake_cloudwatch import FakeCloudWatch
from e2e.pulling.fake_rds import FakeRds
from tailrace_pull.check import Found, check
from tailrace_pull.config import Clients, Entry

GROUP = "/aws/rds/instance/prod/slowquery"


class Service(Clients):
    """An account with a server `prod`."""

    def __init__(self) -> None:
        super().__init__()
        self.rds, self.logs_service = FakeRds(1, 5000, 100), FakeCloudWatch(1, 7)
        self.rds.write(LIVE, b"x\n")
        self._clients = {"rds": rds_client(self.rds), "logs": logs_client(self.logs_service)}

    def client(self, service: str, entry: Entry) -> object:
        return self._clients[service]

    def found(self, kind: str, source: str = "slowlog", **keys: str) -> list[Found]:
        entry = Entry("db", "db", source, kind, "eu-central-1", "prod", **keys)
        return list(check(entry, self))

    def problems(self, kind: str, source: str = "slowlog", **keys: str) -> list[str]:
        return [each.message for each in self.found(kind, source, **keys) if each.severity != "ok"]


@pytest.fixture
def service() -> Service:
    return Service()


def test_a_log_that_can_be_read_has_no_problem(service):
    service.rds.exports = ["slowquery"]
    assert service.problems("rds") == service.problems("cloudwatch") == []
    assert [each.message for each in service.found("cloudwatch")][:2] == [
        f"db slowlog: the log group {GROUP} can be read",
        "db slowlog: prod publishes slowquery to CloudWatch Logs",
    ]


def test_settings_name_the_parameter_group(service):
    service.rds.parameters |= {"slow_query_log": "0", "log_output": "TABLE"}
    assert service.problems("rds") == [
        "db slowlog: slow_query_log is OFF in parameter group shop",
        "db slowlog: log_output is TABLE in parameter group shop",
    ]
    service.rds.parameters |= {"log_output": None}
    assert [each.severity for each in service.found("rds", "general", file=LIVE)] == [
        "ok",
        "error",
        "unknown",
    ]
    assert "db general: general_log is not set in parameter group shop" in service.problems("rds", "general")


def test_a_log_that_is_not_published_is_named_with_its_kind(service):
    service.logs_service.is_missing = True
    assert service.problems("cloudwatch") == [
        f"db slowlog: there is no log group {GROUP}",
        "db slowlog: prod does not publish slowquery to CloudWatch Logs",
    ]
    assert service.problems("cloudwatch", log_group="/other") == [
        "db slowlog: there is no log group /other",
    ]


def test_a_missing_permission_to_read_settings_is_unknown_and_no_error(service):
    service.rds.denied = {"DescribeDBParameters"}
    (found,) = [each for each in service.found("rds") if each.severity != "ok"]
    assert (found.severity, found.fix) == ("unknown", "optional: add rds:DescribeDBParameters")
    service.rds.denied = {"DescribeDBLogFiles", "DescribeDBInstances"}
    assert [(each.severity, each.fix) for each in service.found("rds")] == [
        ("error", "add rds:DescribeDBLogFiles: docs/PULL.md#permissions"),
        ("unknown", "optional: add rds:DescribeDBInstances"),
    ]


def test_a_missing_file_is_an_error(service):
    assert service.problems("rds", "errorlog") == [
        "db errorlog: prod has no file error/mysql-error-running.log"
    ]


def test_a_log_table_that_cannot_be_read_names_the_option_file(tmp_path):
    options = tmp_path / "db.cnf"
    options.write_text(f"[client]\nuser=tailrace\nsocket={tmp_path / 'none.sock'}\n")
    options.chmod(0o600)
    (problem,) = check(Entry("db", "db", "slowlog", "table", defaults_file=str(options)), Clients())
    assert problem.severity == "error"
    assert problem.fix == f"correct {options}, or the account on the server: docs/PULL.md#log-tables"


def test_a_file_with_a_password_that_everybody_can_read_is_a_warning(service, tmp_path):
    file = tmp_path / "db.cnf"
    file.write_text("[client]\nuser=x\nhost=127.0.0.1\nport=1\n")
    entry = Entry("db", "db", "slowlog", "table", defaults_file=str(file))
    for mode, severities in ((0o644, ["error", "warning"]), (0o640, ["error"])):
        file.chmod(mode)
        found = list(check(entry, service))
        assert [each.severity for each in found] == severities
    file.chmod(0o644)
    *_, found = check(entry, service)
    assert "every user of this machine can read it (mode 644)" in found.message
    assert found.fix == f"chmod 600 {file}"


def test_an_error_log_without_a_file_cannot_be_turned_on(service):
    ((error_log,), (audit_log,)) = (
        [each.fix for each in service.found("rds", source) if each.severity == "error"]
        for source in ("errorlog", "audit")
    )
    assert error_log.startswith("correct `file`") and audit_log.startswith("turn the log on, or correct")
