"""The pure code of the page Setup: states of sources, problems with their fixes, rules that cannot fire."""

from datetime import UTC, datetime

import pytest

from tailrace.sources import log_fixes
from tailrace_capture.doctor import logging_checks
from tailrace_pages.setup import changes, findings, listing, rules, servers
from tailrace_pages.setup.servers import Found, by_instance

AT = datetime(2026, 11, 24, 8, 30, tzinfo=UTC)
MYSQL = {
    "slow_query_log": "ON",
    "slow_query_log_file": "slow.log",
    "log_output": "FILE",
    "long_query_time": "0.5",
    "log_slow_extra": "ON",
    "log_error": "/var/log/mysql/error.log",
    "log_error_verbosity": "3",
    "general_log": "OFF",
}
NO_TRACES = {"spans": 0, "last_span": None, "services": 0}


def log(source: str = "audit", state: str = "arriving", lag: int | None = 0, instance: str = "db1") -> dict:
    whose = {"instance": instance, "cluster": "shop", "source": source, "log": f"/log/{source}.log"}
    times = {"read_at": AT, "census_at": AT, "lag_seconds": lag}
    return {**whose, **times, "state": state, "unread_bytes": 1234}


def snapshot(kind: str = "settings", status: str = "ok", is_silent: bool = False) -> dict:
    known = {"product": "mysql", "version": "8.4.3", "error": "", "snapshot_at": AT, "cluster": "shop"}
    return {**known, "instance": "db1", "kind": kind, "status": status, "is_silent": is_silent}


def settings(audit: dict | None = None, **changed: str) -> list[dict]:
    facts = [("settings", name, {"value": value}) for name, value in {**MYSQL, **changed}.items()]
    if audit is not None:
        facts.append(("audit", "auditing", audit))
    facts.append(("server", "server", {"datadir": "/var/lib/mysql"}))
    return [{"kind": kind, "key": key, "attributes": attributes} for kind, key, attributes in facts]


def entry(source: str = "audit", last: datetime | None = None, log: str | None = None) -> dict:
    """An entry of sources.yaml of which nothing arrived for a week."""
    whose = {"instance": "db1", "cluster": "shop", "source": source}
    return {
        **whose,
        "log": f"/log/{source}.log" if log is None else log,
        "listed_since": AT,
        "last_arrived_at": last,
    }


def found(logs=(), snapshots=(), facts=None, sees_all: bool = True, rule_counts=None, listed=()) -> Found:
    product = findings.product(list(snapshots))
    states = {} if facts is None else {"db1": findings.state_of(product, facts)}
    rows = [by_instance(logs), by_instance(listed), {}, by_instance(snapshots)]
    return Found(*rows, states, rule_counts or {}, sees_all)


def source(kind: str, its: Found):
    return next(each for each in servers.server("db1", its).sources if each.kind == kind)


def test_a_server_with_everything_has_no_problem():
    audit = {"active": "yes", "by": "audit_log", "file": "audit.log", "not_readable": ""}
    logs = [log(kind) for kind in ("audit", "slowlog", "errorlog")]
    server = servers.server("db1", found(logs, [snapshot()], settings(audit)))
    assert [(each.kind, each.state, each.problems) for each in server.sources] == [
        ("audit", "arriving", 0),
        ("slowlog", "arriving", 0),
        ("errorlog", "arriving", 0),
        ("general", "not needed", 0),
        ("snapshots", "arriving", 0),
    ]
    assert (server.cluster, server.product.text, server.problems) == ("shop", "8.4.3", 0)


def test_a_log_that_is_off_has_the_statement_that_enables_it():
    its = source("slowlog", found(snapshots=[snapshot()], facts=settings(slow_query_log="OFF")))
    assert its.state == "not watched"
    assert [(each.message, each.fix) for each in its.findings] == [
        ("it is off", ("SET PERSIST slow_query_log = ON;",))
    ]


def test_a_log_that_is_on_and_not_listed_has_its_entry_of_the_list():
    its = source("slowlog", found(snapshots=[snapshot()], facts=settings()))
    (finding,) = its.findings
    assert "sources.yaml does not list it" in finding.message
    assert finding.fix[1:] == (
        '- instance: "db1"',
        '  cluster: "shop"',
        "  source: slowlog",
        '  path: "/var/lib/mysql/slow.log"',
    )


def test_auditing_that_is_off_unknown_or_hidden():
    off = source("audit", found(snapshots=[snapshot()], facts=settings({"active": "no"})))
    assert off.findings[0].message == "the activity of users is not logged"
    assert off.state == "no audit log", "as in the evidence, whatever the server says"
    unknown = source("audit", found(snapshots=[snapshot()], facts=settings()))
    assert unknown.findings[0].message == f"{findings.NO_AUDIT_LOG}; {findings.WRITES_UNKNOWN}"
    assert unknown.findings[0].fix
    assert unknown.state == "no audit log"
    hidden = source("audit", found(snapshots=[snapshot()], facts=settings(), sees_all=False))
    assert [each.message for each in hidden.findings][1:] == [findings.HIDDEN["audit"]]
    assert hidden.problems == 1 and hidden.findings[0].message == findings.NO_AUDIT_LOG
    read = source("audit", found([log("general")], facts=settings(), snapshots=[snapshot()], sees_all=False))
    assert (read.problems, read.state) == (0, "not watched")


PRODUCTS = {
    "MariaDB": ("10.11.19-MariaDB-log", "MariaDB Server"),
    "Percona": ("8.4.3-3", "Percona Server (GPL), Release 3"),
    "Percona 8.0": ("8.0.36-28", "Percona Server (GPL), Release 28"),
    "MySQL": ("8.4.3", "MySQL Community Server - GPL"),
}


@pytest.mark.parametrize(
    ("product", "contains", "listed"),
    [
        (
            "MariaDB",
            (
                "INSTALL SONAME 'server_audit';",
                "plugin_load_add = server_audit",
                "server_audit_events = CONNECT,QUERY,TABLE",
                "server_audit_logging = ON",
            ),
            ("  source: audit", '  path: "/srv/data/server_audit.log"'),
        ),
        (
            "Percona",
            ("SELECT audit_log_filter_set_user('%', 'all');",),
            ("  source: audit", '  path: "/srv/data/audit_filter.log"'),
        ),
        (
            "Percona 8.0",
            ("INSTALL PLUGIN audit_log SONAME 'audit_log.so';", "audit_log_format = JSON"),
            ("  source: audit", '  path: "/srv/data/audit.log"'),
        ),
        (
            "MySQL",
            (
                "# - Percona Server: component audit_log_filter since 8.4, plugin audit_log before",
                "# - MySQL Enterprise Edition: MySQL Enterprise Audit, with audit_log_format = JSON",
                "SET PERSIST general_log_file = 'general.log';",
            ),
            ("  source: general", '  path: "/srv/data/general.log"'),
        ),
    ],
)
@pytest.mark.parametrize("audit", [None, {"active": "no"}, {"active": "unknown", "not_readable": "plugins"}])
def test_a_server_without_an_audit_log_has_the_lines_that_add_one(product, contains, listed, audit):
    version, comment = PRODUCTS[product]
    of_product = {**snapshot(), "version": version, "product": comment}
    facts = [
        *settings(audit)[:-1],
        {"kind": "server", "key": "server", "attributes": {"datadir": "/srv/data"}},
    ]
    its = source("audit", found([log("slowlog")], [of_product], facts))
    (lines,) = [each.fix for each in its.findings if each.fix[-5:-2] == ENTRY]
    assert {*contains} <= {*lines} and lines[-2:] == listed
    assert its.problems == 1


ENTRY = ("# sources.yaml", '- instance: "db1"', '  cluster: "shop"')


def test_a_server_of_an_unknown_product_has_the_lines_of_each():
    its = source("audit", found([log("slowlog")]))
    (lines,) = [each.fix for each in its.findings if each.fix[-5:-2] == ENTRY]
    assert {"INSTALL SONAME 'server_audit';", "INSTALL PLUGIN audit_log SONAME 'audit_log.so';"} <= {*lines}
    assert any(line.startswith("# MariaDB: `source: audit`") for line in lines)


def test_a_server_that_writes_or_has_an_audit_log_needs_no_lines_that_add_one():
    for audit in (
        {"active": "yes", "by": "audit_log", "file": "audit.log"},
        {"active": "no", "by": "server_audit", "switched_off_by": "server_audit_logging"},
    ):
        its = source("audit", found([log("slowlog")], [snapshot()], settings(audit)))
        assert not any("INSTALL" in line for each in its.findings for line in each.fix)
    read = source("audit", found([log("general")], [snapshot()], settings({"active": "no"})))
    assert not any("source: general" in line for each in read.findings for line in each.fix)


def test_a_server_without_settings_whose_activity_nobody_reads_has_a_problem():
    its = source("audit", found([log("slowlog")]))
    assert (its.problems, its.state) == (1, "no audit log")
    assert its.findings[0].message == f"{findings.NO_AUDIT_LOG}; {findings.WRITES_UNKNOWN}"
    assert not any("is unknown: no snapshot contains it" in each.message for each in its.findings)
    assert source("errorlog", found([log("slowlog")])).problems == 0


def test_the_settings_of_the_slow_log_are_stated():
    def stated(**changed: str) -> str | None:
        return servers.server("db1", found(snapshots=[snapshot()], facts=settings(**changed))).slow_log

    assert stated() == "on (slow_query_log = ON), threshold 0.5 s (long_query_time)"
    assert stated(slow_query_log="OFF") == "off (slow_query_log = OFF)"
    assert servers.server("db1", found([log()])).slow_log is None


def test_unknown_settings_are_not_reported_as_off():
    its = source("slowlog", found([log("slowlog")]))
    assert its.problems == 0 and "are unknown" in its.findings[0].message
    assert findings.state_of(findings.product([snapshot()]), []) is None


def test_a_listed_server_that_never_sent_anything_is_shown_with_the_time_and_the_steps():
    (server,) = servers.servers(found(listed=[entry(), entry("slowlog"), entry("server", log="")]))
    states = {each.kind: each.state for each in server.sources}
    assert states == {
        "audit": "never arrived",
        "slowlog": "never arrived",
        "errorlog": "not watched",
        "general": "not watched",
        "snapshots": "never arrived",
    }
    (audit,) = server.sources[0].findings[:1]
    assert audit.message == (
        "/log/audit.log is listed in sources.yaml since 2026-11-24 08:30 UTC, and it never sent anything"
    )
    assert audit.fix[0] == "tailrace doctor" and log_fixes.ABSENT in audit.fix
    assert "tailrace logs capture" in server.sources[-1].findings[0].fix
    assert (server.cluster, server.problems, server.watched()) == ("shop", 3, [])
    numbers = {each["title"]: each for each in listing.headline([server], NO_TRACES)}
    assert (numbers["Servers"]["value"], numbers["Servers"]["note"]) == ("1", "1 never sent anything")
    assert numbers["Sources silent or behind"]["value"] == "3"


def test_a_listed_log_that_went_silent_more_than_a_week_ago_is_listed_and_silent():
    its = source("audit", found(listed=[entry(last=AT)]))
    assert its.state == "silent"
    assert "nothing arrived since 2026-11-24 08:30 UTC" in its.findings[0].message
    assert not any("sources.yaml does not list it" in each.message for each in its.findings)


def test_a_second_log_of_a_kind_that_never_arrived_is_not_hidden_by_the_first():
    its = source("audit", found([log()], listed=[entry(log="/log/second.log")]))
    assert (its.state, its.problems, its.lag_seconds) == ("never arrived", 1, None)
    (server,) = servers.servers(found([log()], listed=[entry(log="/log/second.log")]))
    assert not server.never_arrived


def test_settings_that_only_the_slow_log_is_known_of():
    product = findings.product([snapshot()])
    known = {"slow_query_log": "ON", "log_output": "FILE", "long_query_time": "10", "log_slow_extra": ""}
    state = findings.slow_state_of(product, known)
    found_ = findings.of_log("slowlog", state, sees_all=False)
    assert [each.message for each in found_] == ["long_query_time is 10 s: faster statements are not logged"]
    assert findings.slow_state_of(product, {}) is None


@pytest.mark.parametrize(
    ("state", "severity", "fix"),
    [("silent", "error", "tailrace logs census fluentbit"), ("behind", "warning", "tailrace status")],
)
def test_the_worst_log_of_a_kind_counts(state, severity, fix):
    its = source("audit", found([log(), log(state=state, lag=None)]))
    assert (its.state, its.lag_seconds) == (state, None)
    worst = its.findings[0]
    assert worst.severity == severity and any(fix in line for line in worst.fix)


def test_snapshots_that_a_server_refuses_have_the_grant():
    its = source("snapshots", found(snapshots=[snapshot(), snapshot("grants_schema", "denied")]))
    assert (its.state, its.findings[0].message) == ("partial", "grants_schema: denied")
    assert its.findings[0].fix == ("GRANT SELECT ON mysql.db TO 'tailrace'@'%';",)
    assert source("snapshots", found([log()])).state == "not watched"
    assert source("snapshots", found(snapshots=[snapshot(is_silent=True)])).state == "silent"


def rule(name: str, reason: str = "it is for another kind of log", **columns) -> dict:
    unable = {"can_fire": False, "missing_fields": [], "missing_classes": [], "fires_on": []}
    return {"rule_id": name, "rule_title": name, "level": "high", "reason": reason, **unable, **columns}


def test_fields_of_which_one_suffices_have_one_change():
    """The rule about refused logins without a password needs one of two fields, not the log of each."""
    row = rule("a", missing_fields=["attribute.using_password", "detail.using_password"])
    assert rules.change(row, []).startswith("the error log with refused logins: log_error_verbosity = 3")
    assert ";" not in rules.change(row, [])


def test_rules_are_grouped_by_what_would_change_them():
    rows = [
        rule("a"),
        rule("b"),
        rule("c", "this log lacks rows_sent", missing_fields=["rows_sent"]),
        rule("d", "x", missing_classes=["message"], missing_fields=["detail.user"]),
        rule("fires", can_fire=True),
    ]
    made = rules.groups(rows, ["audit", "general"])
    assert [(len(group.rules), group.missing, group.change) for group in made] == [
        (2, "", "Slow query log or Error log of this server"),
        (1, "rows_sent", "the slow query log"),
        (1, "events of the class message, detail.user", "the error log"),
    ]
    assert [row["rule_id"] for row in listing.rule_rows(made)] == ["a", "b", "c", "d"]


def test_the_log_on_which_a_rule_fires_elsewhere_is_named():
    (group,) = rules.groups([rule("a", fires_on=["audit", "errorlog"])], ["audit"])
    assert group.change == "Error log of this server"


def test_every_field_has_a_log_that_contains_it():
    for name in ("program", "tag.route", "connection_attribute.x", "login", "src_ip", "unlisted"):
        assert rules.change(rule("a", missing_fields=[name]), [])


SETTINGS = {
    "mysql": ("Percona", "MariaDB", "server_audit", "log_warnings", "log_slow_verbosity"),
    "percona": ("Enterprise", "server_audit", "log_warnings", "log_slow_extra"),
    "mariadb": ("MySQL", "Percona", "audit_log_policy", "log_error_verbosity", "log_slow_extra", "JSON"),
}
"""Of other products."""


@pytest.mark.parametrize("product", SETTINGS)
def test_advice_names_settings_of_the_product_only(product):
    wanted = [rule("a", missing_classes=[name]) for name in changes.CLASSES]
    fields = (
        "program",
        "proxy_user",
        "connection_type",
        "rows_affected",
        "bytes_sent",
        "detail.using_password",
    )
    wanted += [rule("b", missing_fields=[name]) for name in fields]
    texts = [rules.change(row, [], product) for row in wanted]
    assert all(texts)
    assert [text for text in texts if any(name in text for name in SETTINGS[product])] == []
    assert any("audit_log_policy" in rules.change(row, []) for row in wanted), "if the product is unknown"


def test_what_the_audit_log_of_a_product_cannot_write_is_said_to_be_impossible():
    started = rule("a", missing_classes=["server"], missing_fields=["attribute.startup_options"])
    (group,) = rules.groups([started], ["audit"], "mariadb")
    assert group.change == changes.NO_EVENTS
    assert rules.change(started, [], "percona").endswith("audit_log_policy = ALL")
    assert rules.change(rule("b", missing_fields=["program"]), [], "mariadb") == changes.NO_FIELD
    both = rule("c", missing_fields=["program", "rows_sent"])
    assert rules.change(both, [], "mariadb") == changes.NO_FIELD, "the slow query log alone does not help"


def test_a_csv_row_for_each_problem_and_each_source_without_one():
    its = found([log(), log("slowlog", "silent")], [snapshot()], settings())
    rows = listing.csv_rows(servers.servers(its))
    assert {row["source"] for row in rows} == set(servers.TITLES.values())
    assert all(column.key in row for row in rows for column in listing.CSV_SOURCES)
    assert all(
        column.key in row
        for row in listing.server_rows(servers.servers(its), str)
        for column in (*listing.SERVERS, listing.RULES)
    )


def test_rules_are_unknown_to_audiences_that_may_not_read_them():
    assert listing.rules_text(servers.server("db1", found([log()]))) is None
    counted = found([log()], rule_counts={"db1": {"rules": 140, "able": 98}})
    assert listing.rules_text(servers.server("db1", counted)) == "98 of 140"


def test_unknown_auditing_of_mariadb_has_a_next_step():
    """No grant makes MariaDB's snapshots contain the state of auditing, so doctor has to say more."""
    mariadb = {**snapshot(), "product": "mariadb", "version": "10.11.14-MariaDB-log"}
    its = found([log("slowlog")], [mariadb], settings())
    finding, _ = source("audit", its).findings
    assert findings.WRITES_UNKNOWN in finding.message and finding.fix == findings.DOCTOR
    assert listing.product_text(servers.server("db1", its)) == "MariaDB 10.11.14-MariaDB-log"


def test_standard_error_is_a_problem_only_if_its_file_is_not_read():
    def messages(facts, *logs) -> list[str]:
        return [each.message for each in source("errorlog", found(logs, [snapshot()], facts)).findings]

    to_terminal = settings(log_error="stderr")
    assert logging_checks.STANDARD_ERROR in messages(to_terminal)
    assert messages(to_terminal, log("errorlog")) == []
    without = [each for each in settings() if each["key"] != "log_error"]
    assert logging_checks.STANDARD_ERROR not in messages(without), "the setting is unknown"


def test_requests_that_no_puller_counts_are_unknown():
    known = {"log": "/a", "received_bytes": 10, "line_bytes": 5, "known_seconds": 86400}
    counted, uncounted = {**known, "requests": 3}, {**known, "requests": None}
    assert [row["monthly_requests"] for row in listing.cost_rows([counted, uncounted])] == [90, None]
    both = listing.headline([], NO_TRACES, [counted, uncounted])[-1]
    assert both["value"] == "3" and "requests are not counted for 1 log" in both["note"]
    assert listing.headline([], NO_TRACES, [uncounted])[-1]["value"] == "unknown"
