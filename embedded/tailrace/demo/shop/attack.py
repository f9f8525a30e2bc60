"""An attacker tries one password with 40 accounts, then the password of one account, and logs in."""

from tailrace.demo.shop.events import ACCESS_DENIED, Execution, Journal, Login, Message, Session
from tailrace.demo.shop.times import SPRAY_FROM, StoryTimes, iso

ADDRESS = "203.0.113.66"
ACCOUNT = "reporting"
PASSWORDS = 4
"""Refused passwords of ACCOUNT before the login, the one of the spray included."""
SECONDS_BETWEEN = 8

ACCOUNTS = (
    *("root", "admin", "backup", "test", "shop", "web", "app", "api", "dev", "ops", "dba", "mysql", "guest"),
    *(
        "oracle",
        "postgres",
        "support",
        "sales",
        "finance",
        "billing",
        "orders",
        "catalog",
        "warehouse",
        "anna",
    ),
    *("ben", "carla", "david", "emma", "felix", "greta", "henry", "ines", "jonas", "karin", "lukas", "maria"),
    *("nina", "oskar", "paula", "reporting", "sofia"),
)

TOUR = (
    ("SELECT @@version, CURRENT_USER()", 1),
    ("SHOW DATABASES", 5),
    ("SELECT schema_name FROM information_schema.schemata", 5),
    ("SELECT table_schema, table_name, table_rows FROM information_schema.tables", 214),
    ("SELECT table_name, column_name FROM information_schema.columns WHERE table_schema = 'shop'", 96),
    ("SELECT grantee, privilege_type FROM information_schema.user_privileges", 61),
    ("SELECT routine_name FROM information_schema.routines", 3),
    ("SELECT id, name, email, phone FROM customers LIMIT 20", 20),
)
"""Statements after the login, and the rows that they return."""


def add(times: StoryTimes, journal: Journal) -> dict[str, object]:
    """Adds the attack to the journal of a server; returns what the manifest contains of it."""
    at, connection = times.at(SPRAY_FROM), 9800
    begin = at
    for user in (*ACCOUNTS, *(ACCOUNT,) * (PASSWORDS - 1)):
        _refuse(journal, at, connection, user)
        at, connection = at + SECONDS_BETWEEN, connection + 1
    session = Session(connection, ACCOUNT, ADDRESS, "shop")
    ran = [
        Execution(at + 1 + number * 12, session, sql, 0.004, rows, rows)
        for number, (sql, rows) in enumerate(TOUR)
    ]
    journal.session(session, ran)
    return {
        "instance": "shop-db-1",
        "address": ADDRESS,
        "from": iso(begin),
        "to": iso(at - SECONDS_BETWEEN),
        "accounts": len(ACCOUNTS),
        "refused_logins": len(ACCOUNTS) + PASSWORDS - 1,
        "login_at": iso(at),
        "user": ACCOUNT,
        "connection": connection,
        "statements": len(ran),
    }


def _refuse(journal: Journal, at: float, connection: int, user: str) -> None:
    journal.events.append(Login(at, Session(connection, user, ADDRESS, ""), ACCESS_DENIED))
    text = f"Access denied for user '{user}'@'{ADDRESS}' (using password: YES)"
    journal.messages.append(Message(at, connection, "Warning", text))
