"""Facts from results of MySQL 5.7 and 8.0; e2e/test_mysql.py queries real servers."""

import time
from collections.abc import Iterable

import pytest

from tailrace_capture import accounts, audit, grants, replication, snapshot
from tailrace_capture.facts import Fact
from tailrace_capture.product import Product, product_of
from tailrace_capture.server import ServerError

USER_57 = {
    "Host": "%",
    "User": "app",
    "plugin": "mysql_native_password",
    "account_locked": "N",
    "password_expired": "N",
    "password_lifetime": 90,
    "ssl_type": "ANY",
    "password_last_changed": "",
    "Select_priv": "Y",
    "Create_tmp_table_priv": "Y",
    "Grant_priv": "Y",
    "Super_priv": "N",
}
NOTHING = {"mysql.db": [], "mysql.tables_priv": [], "mysql.columns_priv": [], "mysql.procs_priv": []}


class Answers:
    """A server with these tables. It denies access to all others, as for an account with few privileges."""

    def __init__(self, version: str, tables: dict[str, list[dict]], variables: dict[str, str] | None = None):
        self.product: Product = product_of(version, "MySQL Community Server - GPL")
        self._tables = {**NOTHING, "mysql.proxies_priv": [], "information_schema.PLUGINS": [], **tables}
        self._variables = variables or {}

    def rows(self, statement: str) -> list[dict]:
        table = next((name for name in self._tables if f" {name}" in statement or name in statement), None)
        if table is None:
            raise ServerError("denied", 1142, f"SELECT command denied: {statement}")
        return self._tables[table]

    def columns(self, schema: str, table: str) -> dict[str, str]:
        rows = self._tables.get(f"{schema}.{table}", [])
        return {name.lower(): name for name in (rows[0] if rows else {})}

    def variables(self) -> dict[str, str]:
        return self._variables


def by_key(facts: Iterable[Fact]) -> dict[str, dict[str, str]]:
    return {fact.key: fact.attributes for fact in facts}


def test_an_account_of_mysql_without_its_authentication_string():
    row = {**USER_57, "changed_at": 1795307187}
    found = by_key(accounts.read(Answers("5.7.44", {"mysql.user": [row]})))["'app'@'%'"]

    assert found["password"] == "unknown"
    assert found["tls"] == "any"
    assert found["locked"] == "no"
    assert found["password_changed_at"] == "2026-11-22T00:26:27Z"
    assert found["password_lifetime_days"] == "90"
    assert found["role"] == "no"


def test_unreadable_accounts_are_denied():
    with pytest.raises(ServerError) as error:
        accounts.read(Answers("8.0.36", {}))
    assert error.value.status == "denied"


def test_mysql_57_has_no_roles_and_is_not_asked_for_their_tables():
    assert accounts.read_roles(Answers("5.7.44", {})) == []


def test_roles_of_mysql_8():
    edge = {"FROM_HOST": "%", "FROM_USER": "reader", "TO_HOST": "10.%", "TO_USER": "app"}
    default = {"HOST": "10.%", "USER": "app", "DEFAULT_ROLE_HOST": "%", "DEFAULT_ROLE_USER": "reader"}
    tables = {"mysql.role_edges": [{**edge, "WITH_ADMIN_OPTION": "Y"}], "mysql.default_roles": [default]}

    assert by_key(accounts.read_roles(Answers("8.0.36", tables))) == {
        "'reader'@'%' to 'app'@'10.%'": {
            "role": "'reader'@'%'",
            "grantee": "'app'@'10.%'",
            "admin_option": "yes",
            "default": "yes",
        }
    }


def test_global_privileges_of_57_are_read_without_tables_of_8():
    found = by_key(grants.LEVELS["global"](Answers("5.7.44", {"mysql.user": [USER_57]})))
    assert found["'app'@'%' global *.*"]["privileges"] == "CREATE TEMPORARY TABLES, SELECT"
    assert found["'app'@'%' global *.*"]["grant_option"] == "yes"


def test_dynamic_privileges_of_mysql_8():
    dynamic = [
        {"USER": "app", "HOST": "%", "PRIV": "BACKUP_ADMIN", "WITH_GRANT_OPTION": "Y"},
        {"USER": "ops", "HOST": "%", "PRIV": "CLONE_ADMIN", "WITH_GRANT_OPTION": "N"},
    ]
    tables = {"mysql.user": [USER_57], "mysql.global_grants": dynamic}
    found = by_key(grants.LEVELS["global"](Answers("8.0.36", tables)))

    assert "BACKUP_ADMIN WITH GRANT OPTION" in found["'app'@'%' global *.*"]["privileges"]
    assert found["'ops'@'%' global *.*"]["privileges"] == "CLONE_ADMIN"


def test_a_level_that_is_denied_hides_no_other():
    server = Answers("8.0.36", {"mysql.global_grants": []})
    snapshots = {kind.name: snapshot.take_snapshot(server, kind).status for kind in snapshot.ALWAYS}

    assert snapshots["grants_global"] == "denied"
    assert snapshots["grants_schema"] == "ok"


def test_a_server_without_an_audit_plugin_is_unaudited():
    tables = {"mysql.component": []}
    assert by_key(audit.read(Answers("8.0.36", tables)))["auditing"]["active"] == "no"
    assert by_key(audit.read(Answers("5.7.44", {})))["auditing"]["active"] == "no"
    assert by_key(audit.read(Answers("8.0.36", {})))["auditing"]["active"] == "unknown"


def test_the_filters_of_enterprise_audit():
    plugin = {"name": "audit_log", "version": "1.0", "status": "ACTIVE", "library": "audit_log.so"}
    tables = {
        "information_schema.PLUGINS": [plugin],
        "mysql.component": [],
        "mysql.audit_log_filter": [{"name": "all", "filter": '{"filter": {"log": true}}'}],
        "mysql.audit_log_user": [{"user": "%", "host": "", "name": "all"}],
    }
    found = by_key(audit.read(Answers("8.0.36", tables, {"audit_log_file": "audit.log"})))

    assert found["auditing"]["active"] == "yes"
    assert found["auditing"]["file"] == "audit.log"
    assert found["filter all"]["filter"] == '{"filter": {"log": true}}'
    assert found["filter of '%'"] == {"name": "all"}


def test_a_plugin_that_writes_nothing_is_not_auditing():
    plugin = {"name": "audit_log", "version": "1.0", "status": "ACTIVE", "library": "audit_log.so"}
    filters = {"mysql.audit_log_filter": [], "mysql.audit_log_user": []}
    server = Answers(
        "5.7.44", {"information_schema.PLUGINS": [plugin], **filters}, {"audit_log_policy": "NONE"}
    )
    found = by_key(audit.read(server))["auditing"]
    assert (found["active"], found["switched_off_by"]) == ("no", "audit_log_policy")


@pytest.mark.parametrize(
    ("version", "statement", "prefix", "uuid"),
    [
        ("5.7.44", "SHOW SLAVE STATUS", "Master", "Master_UUID"),
        ("8.4.2", "SHOW REPLICA STATUS", "Source", "Source_UUID"),
    ],
)
def test_channels_of_old_and_new_names(version, statement, prefix, uuid):
    row = {"Channel_Name": "main", f"{prefix}_Host": "db-1", uuid: "u", f"{prefix}_User": "repl"}
    found = by_key(replication.read(Answers(version, {statement: [row]}, {"log_bin": "ON"})))

    assert found["role"]["role"] == "replica"
    assert found["channel main"]["source_host"] == "db-1"
    assert found["channel main"]["source_uuid"] == "u"
    assert "repl" not in found["channel main"].values()


def test_gtid_sets_are_complete_and_without_line_ends():
    """SHOW GLOBAL VARIABLES ends after 1,024 characters."""
    variables = {"gtid_executed": "a:1-5,\nb:", "server_uuid": "a"}
    before = time.time()
    answers = Answers("8.0.36", {"@@GLOBAL.gtid_executed": [{"value": "a:1-5,\nb:1"}]}, variables)
    attributes = dict(replication.read_gtids(answers)[0].attributes)

    assert before - 0.001 <= float(attributes.pop("read_from")) <= float(attributes.pop("read_until"))
    assert attributes == {"gtid_executed": "a:1-5,b:1", "server_uuid": "a", "flavour": "mysql"}
