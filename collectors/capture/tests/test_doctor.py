"""Findings of the doctor for products and versions that tests cannot start."""

import dataclasses
import getpass
import grp
import re
from pathlib import Path

import pytest

from tailrace_capture import audit
from tailrace_capture.doctor import checks, logrotate, sources
from tailrace_capture.doctor.accounts import grants_for
from tailrace_capture.doctor.examination import Examination, Explainer
from tailrace_capture.doctor.finding import ERROR, INFO, OK, WARNING, Finding
from tailrace_capture.doctor.host import Host
from tailrace_capture.doctor.sources import Access, WriteError
from tailrace_capture.facts import Fact
from tailrace_capture.product import product_of
from tailrace_capture.snapshot import ALWAYS, Snapshot

MYSQL_8 = ("8.0.36", "MySQL Community Server - GPL")
MYSQL_57 = ("5.7.44", "MySQL Community Server (GPL)")
PERCONA_84 = ("8.4.2-2", "Percona Server (GPL), Release 2")
MARIADB = ("10.11.19-MariaDB", "Debian 12")

GOOD = {
    "hostname": "elsewhere",
    "datadir": "/var/lib/mysql/",
    "log_output": "FILE",
    "slow_query_log": "ON",
    "slow_query_log_file": "slow.log",
    "long_query_time": "0.500000",
    "log_error": "/var/log/mysql/error.log",
    "system_time_zone": "UTC",
}


def seen(product=MARIADB, auditing="yes", host: Host | None = None, **variables: str) -> Examination:
    facts = {"audit": [Fact("auditing", {"active": auditing, "by": "SERVER_AUDIT", "file": "audit.log"})]}
    return Examination(
        product=product_of(*product),
        variables={**GOOD, "log_slow_verbosity": "query_plan,innodb", **variables},
        snapshots={kind.name: Snapshot(kind, facts.get(kind.name, [])) for kind in ALWAYS},
        grants=("GRANT USAGE ON *.* TO `tailrace`@`localhost`",),
        account="tailrace@localhost",
        host=host or Host(),
        is_local=host is not None,
    )


def found(check: checks.Check, examination: Examination, severity: str) -> list[Finding]:
    return [finding for finding in check(examination) if finding.severity == severity]


def test_a_well_configured_server_has_no_problems():
    assert {finding.severity for finding in checks.findings(seen())} == {OK, INFO}


@pytest.mark.parametrize(
    ("product", "fix"),
    [
        (MYSQL_8, ("SET PERSIST slow_query_log = ON;",)),
        (
            MYSQL_57,
            ("SET GLOBAL slow_query_log = ON;", "# my.cnf, to keep it", "[mysqld]", "slow_query_log = ON"),
        ),
        (
            MARIADB,
            ("SET GLOBAL slow_query_log = ON;", "# my.cnf, to keep it", "[mariadbd]", "slow_query_log = ON"),
        ),
    ],
)
def test_fixes_are_those_of_the_product_and_version(product, fix):
    (error,) = found(checks.slow_log, seen(product, slow_query_log="OFF"), ERROR)
    assert error.fix == fix


@pytest.mark.parametrize(
    ("check", "variables", "severity", "part"),
    [
        (checks.slow_log, {"log_output": "TABLE"}, ERROR, "not written to a file"),
        (checks.slow_log, {"log_output": "NONE"}, ERROR, "not written to a file"),
        (checks.slow_log, {"log_output": "FILE,TABLE"}, INFO, "grow without limit"),
        (checks.slow_log, {"long_query_time": "10.000000"}, WARNING, "long_query_time is 10 s"),
        (checks.slow_log, {"min_examined_row_limit": "100"}, WARNING, "fewer rows"),
        (checks.slow_log, {"log_slow_rate_limit": "20"}, WARNING, "one statement of 20"),
        (
            checks.slow_log,
            {"log_slow_verbosity": ""},
            INFO,
            "empty: the log lacks sorts and temporary tables",
        ),
        (checks.slow_log, {"log_slow_verbosity": "query_plan"}, INFO, "query_plan: the log lacks pages"),
        (checks.audit_log, {"server_audit_output_type": "syslog"}, ERROR, "syslog"),
        (checks.audit_log, {"server_audit_query_log_limit": "1024"}, WARNING, "truncated after 1024"),
        (checks.audit_log, {"server_audit_events": "QUERY_DML"}, WARNING, "logins are not logged"),
        (checks.audit_log, {"server_audit_excl_users": "app"}, WARNING, "the activity of these accounts"),
        (checks.error_log, {"log_error": "stderr"}, WARNING, "standard error"),
        (checks.error_log, {"log_warnings": "1"}, WARNING, "refused logins"),
        (checks.time_zone, {"system_time_zone": "CEST"}, WARNING, "CEST"),
        (checks.time_zone, {"system_time_zone": "CEST", "log_timestamps": "UTC"}, OK, "UTC"),
    ],
)
def test_finds(check, variables, severity, part):
    assert [each for each in found(check, seen(**variables), severity) if part in each.message]


@pytest.mark.parametrize(
    ("verbosity", "lacks"),
    [
        ("microtime", ["sorts and temporary tables, and pages that InnoDB read"]),
        ("microtime,query_plan", ["pages that InnoDB read"]),
        ("standard", ["sorts and temporary tables"]),
        ("microtime,query_plan,innodb", []),
        ("full", []),
    ],
)
def test_what_the_slow_log_of_percona_lacks(verbosity, lacks):
    infos = found(checks.slow_log, seen(PERCONA_84, log_slow_verbosity=verbosity), INFO)
    assert [each.message.partition("the log lacks ")[2] for each in infos] == lacks


def test_percona_logs_its_sampling_rate():
    rates = {"log_slow_rate_limit": "20", "log_slow_rate_type": "session", "log_slow_verbosity": "full"}
    (info,) = found(checks.slow_log, seen(PERCONA_84, **rates), INFO)
    assert "one session of 20" in info.message


def test_an_audit_plugin_that_nobody_knows_makes_auditing_unknown():
    plugins = (
        ("SERVER_AUDIT", "DISABLED", "server_audit.so"),
        ("SQL_ERROR_LOG", "ACTIVE", "sql_errlog.so"),
        ("sha2_cache_cleaner", "ACTIVE", ""),  # built into MySQL 8.0
        ("harbor", "ACTIVE", "harbor.so"),
        ("harbor_old", "DISABLED", "harbor.so"),
    )
    facts = [
        Fact(f"plugin {name}", {"name": name, "status": status, "library": library})
        for name, status, library in plugins
    ]
    assert audit._others(facts) == ["harbor"]
    assert audit._active_state([], [], ["harbor"]) == "unknown"
    assert audit._active_state([], [], []) == "no"
    assert audit._active_state(["SERVER_AUDIT"], [], ["harbor"]) == "yes"
    assert audit._active_state(["SERVER_AUDIT"], ["server_audit_logging"], ["harbor"]) == "no"
    examination = seen(auditing="unknown")
    examination.fact("audit", "auditing")["other_plugins"] = "harbor"
    (warning,) = found(checks.audit_log, examination, WARNING)
    assert "harbor" in warning.message


@pytest.mark.parametrize(
    ("product", "part"),
    [
        (MARIADB, "INSTALL SONAME 'server_audit';"),
        (PERCONA_84, "audit_log_filter"),
        (("8.0.36-28", "Percona Server (GPL), Release 28"), "INSTALL PLUGIN audit_log"),
        (MYSQL_8, "MySQL Community has no audit log"),
    ],
)
def test_an_unaudited_server_is_an_error_with_its_fix(product, part):
    (error,) = found(checks.audit_log, seen(product, auditing="no"), ERROR)
    assert part in "\n".join(error.fix)


def test_an_unreadable_kind_comes_with_its_grant():
    examination = seen(MYSQL_8)
    kind = examination.snapshots["grants_schema"].kind
    examination.snapshots["grants_schema"] = Snapshot(kind, [], "denied", "no")
    (warning,) = found(checks.permissions, examination, WARNING)

    assert "GRANT SELECT ON mysql.db TO 'tailrace'@'localhost';" in warning.fix
    lines = [line for group in grants_for(examination.product, "'t'@'%'").values() for line in group]
    assert not any("authentication_string" in line for line in lines)


@pytest.mark.parametrize("product", [MYSQL_57, MYSQL_8, PERCONA_84, MARIADB, ("10.4.1-MariaDB", "")])
def test_grants_permit_reading_only(product):
    lines = [line for group in grants_for(product_of(*product), "'t'@'%'").values() for line in group]

    allowed = (
        *("GRANT SELECT ", "GRANT REFERENCES ON `shop`.* "),
        *("GRANT REPLICATION CLIENT ON ", "GRANT SLAVE MONITOR ON "),
    )
    assert all(line.startswith(allowed) for line in lines)
    assert all(
        re.search(r" ON (mysql|performance_schema)\.\w", line)
        for line in lines
        if line.startswith("GRANT SELECT ")
    )
    assert not any("global_priv" in line for line in lines) or "MariaDB" in product[0]


def test_an_account_with_more_privileges_is_reported():
    examination = seen()
    root = Examination(**{**vars(examination), "grants": ("GRANT ALL PRIVILEGES ON *.* TO `root`@`%`",)})
    assert "ALL PRIVILEGES" in found(checks.permissions, root, WARNING)[0].message


LOGROTATE = """\
# comment { with a brace
weekly
compress
/var/log/other.log { missingok }
"/var/log/mysql/*.log" /var/lib/mysql/slow.log
{
    daily
    copytruncate
    postrotate
        mysqladmin flush-logs }
    endscript
}
/var/lib/mysql/general.log {
    delaycompress
    nocopytruncate
    postrotate
        mysql -e 'FLUSH GENERAL LOGS'
    endscript
}
"""


def machine(root: Path, text: str) -> Host:
    (root / "etc/logrotate.d").mkdir(parents=True)
    (root / "etc/logrotate.d/mysql").write_text(text)
    (root / "etc/logrotate.d/mysql.dpkg-old").write_text("/var/lib/mysql/slow.log { delaycompress }")
    (root / "etc/timezone").write_text("Europe/Berlin\n")
    (root / "var/lib/mysql").mkdir(parents=True)
    (root / "var/lib/mysql/slow.log").write_text("x")
    return Host(root)


def test_reads_what_logrotate_reads():
    other, mysql, general = logrotate.parse("mysql", LOGROTATE)

    assert other.patterns == ("/var/log/other.log",)
    assert mysql.patterns == ("/var/log/mysql/*.log", "/var/lib/mysql/slow.log")
    assert mysql.directives == {"weekly", "compress", "daily", "copytruncate"}
    assert "flush-logs" in mysql.scripts
    assert "copytruncate" not in general.directives


def test_copytruncate_is_refused_with_the_reason(tmp_path):
    host = machine(tmp_path, LOGROTATE)
    errors = found(checks.files, seen(host=host, slow_query_log_file="slow.log"), ERROR)

    (error,) = [each for each in errors if each.topic == "rotation" and "slow.log" in each.message]
    assert "lost with every collector" in error.message
    assert "    nocopytruncate" in error.fix


@pytest.mark.parametrize(
    ("stanza", "severity", "part"),
    [
        ("compress\n delaycompress\n postrotate\n mysqladmin flush-logs\n endscript", OK, "by rename"),
        ("compress\n postrotate\n mysqladmin flush-logs\n endscript", WARNING, "compressed immediately"),
        ("daily", WARNING, "the server is not notified"),
    ],
)
def test_rotation_by_rename(tmp_path, stanza, severity, part):
    host = machine(tmp_path, f"/var/lib/mysql/slow.log {{\n{stanza}\n}}\n")
    messages = [each.message for each in found(checks.files, seen(host=host), severity)]
    assert any(part in message for message in messages)


def test_each_mysqladmin_has_its_own_flush(tmp_path):
    host = machine(
        tmp_path,
        "/var/lib/mysql/slow.log {\n daily\n postrotate\n mysqladmin flush-slow-log\n endscript\n}\n",
    )
    mysql = seen(product=("8.4.3", "MySQL Community Server - GPL"), host=host)
    (error,) = [each for each in found(checks.files, mysql, ERROR) if each.topic == "rotation"]
    assert "        mysqladmin flush-logs slow" in error.fix
    assert not [each for each in found(checks.files, seen(host=host), ERROR) if each.topic == "rotation"]


def test_refused_logins_of_mysql_are_logged_from_three_on():
    eight = ("8.4.3", "MySQL Community Server - GPL")
    two = seen(product=eight, log_error_verbosity="2")
    assert any("refused logins" in each.message for each in found(checks.error_log, two, WARNING))
    three = seen(product=eight, log_error_verbosity="3")
    assert not any("refused logins" in each.message for each in found(checks.error_log, three, WARNING))


def test_a_server_is_listed_once_however_it_is_addressed(tmp_path):
    file = tmp_path / "sources.yaml"
    entry = {"instance": "db-1", "cluster": "shop", "source": "server", "dsn": "mysql://t@localhost/"}
    assert sources.add(file, [entry]) == [entry]
    assert sources.add(file, [{**entry, "dsn": "mysql://t@127.0.0.1/"}]) == []
    other = {**entry, "instance": "db-10"}
    assert sources.add(file, [other]) == [other]


def test_a_missing_log_is_reported(tmp_path):
    host = machine(tmp_path, "")
    topics = [each.topic for each in found(checks.files, seen(host=host), WARNING)]
    assert "errorlog" in topics
    assert "slowlog" not in topics


def test_entries_for_the_list_of_sources(tmp_path):
    host = machine(tmp_path, "")
    examination = seen(host=host, system_time_zone="CET", auditing="no")
    access = Access("mysql://t@localhost/", tmp_path / "secret")
    entries = sources.entries(examination, "db-1", "shop", access)

    assert [(entry["source"], entry.get("path"), entry.get("tz")) for entry in entries] == [
        ("slowlog", "/var/lib/mysql/slow.log", "Europe/Berlin"),
        ("errorlog", "/var/log/mysql/error.log", "Europe/Berlin"),
        ("server", None, None),
    ]
    file = tmp_path / "sources.yaml"
    assert sources.add(file, entries) == entries
    assert sources.add(file, entries) == []
    file.write_text("[{instance: a}]")
    with pytest.raises(WriteError, match="begin with"):
        sources.add(file, entries)


def test_the_groups_and_permissions_that_make_a_log_readable(tmp_path):
    host = machine(tmp_path, "")
    log = tmp_path / "var/lib/mysql/slow.log"
    log.parent.chmod(0o2750)
    log.chmod(0o600)
    group, user = grp.getgrgid(log.stat().st_gid).gr_name, getpass.getuser()
    assert host.commands_for_access("/var/lib/mysql/slow.log") == (
        f"usermod --append --groups {group} {user}",
        f"chmod g+r {log}",
    )
    log.parent.chmod(0o700)
    log.chmod(0o640)
    assert host.commands_for_access("/var/lib/mysql/slow.log")[1:] == (f"chmod g+rx {log.parent}",)


def test_a_zone_is_accepted_only_with_the_abbreviation_of_the_server(tmp_path):
    host = machine(tmp_path, "")
    assert checks.zone_of(seen(host=host, system_time_zone="CEST")) == "Europe/Berlin"
    assert checks.zone_of(seen(host=host, system_time_zone="EST")) == ""
    assert checks.zone_of(seen(host=host, system_time_zone="UTC")) == "UTC"
    (tmp_path / "proc/77").mkdir(parents=True)
    (tmp_path / "proc/77/environ").write_bytes(b"A=1\0TZ=:America/New_York\0B=2\0")
    (tmp_path / "var/lib/mysql/db.pid").write_text("77\n")
    elsewhere = seen(host=host, system_time_zone="EST", pid_file="db.pid")
    assert checks.zone_of(elsewhere) == "America/New_York"
    assert "America/New_York (EST)" in found(checks.time_zone, elsewhere, OK)[0].message


def test_the_account_for_explain_reads_data_and_nothing_else():
    def of(*grants: str) -> Finding:
        (finding,) = checks.plans(dataclasses.replace(seen(), explainer=Explainer("e@localhost", grants)))
        return finding

    usage = "GRANT USAGE ON *.* TO `e`@`localhost`"
    assert of(usage, "GRANT SELECT ON `shop`.* TO `e`@`localhost`").severity == OK
    assert of(usage, "GRANT SELECT (`id`, `state`) ON `shop`.`orders` TO `e`@`localhost`").severity == OK
    assert "can read no schema" in of(usage).message
    assert of(usage, "GRANT SELECT ON `my\\_ql`.* TO `e`@`localhost`").severity == OK
    for wide in (
        "GRANT SELECT ON `%`.* TO `e`@`localhost`",
        "GRANT SELECT ON `m_sq%`.* TO `e`@`localhost`",
        "GRANT `reader` TO `e`@`localhost`",
        "GRANT SELECT ON *.* TO `e`@`localhost`",
        "GRANT SELECT ON `mysql`.* TO `e`@`localhost`",
        "GRANT SELECT, EXECUTE ON `shop`.* TO `e`@`localhost`",
        "GRANT SELECT, SHOW VIEW ON `shop`.* TO `e`@`localhost`",
        "GRANT SELECT ON `shop`.* TO `e`@`localhost` WITH GRANT OPTION",
    ):
        assert (of(usage, wide).severity, wide in of(usage, wide).message) == (WARNING, True)
        assert of(usage, wide).fix[0].startswith("REVOKE ALL PRIVILEGES, GRANT OPTION FROM ")
    assert "REVOKE `reader` FROM 'e'@'localhost';" in of(usage, "GRANT `reader` TO `e`@`localhost`").fix
