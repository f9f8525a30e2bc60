"""Queries charts of Superset in this process. The last line of its output is JSON: the cost of each, errors
of a page without a server, and clients behind a proxy.

Run it with Superset's Python and variables. SUPERSET_HOME contains a copy of the metadata, which it changes.
"""

import json
import re
import socket
import sys
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from threading import Barrier, get_ident
from uuid import uuid4

from superset.app import create_app

SLUG = "slow-queries"
TWO = "SELECT 'a' AS instance; SELECT 'b' AS instance"
WRITES = "INSERT INTO query_events (instance) SELECT 'a' AS instance"
NAMED = "SELECT instance, event_time AS time FROM tailrace.query_events WHERE instance IN ('{}')"
PLAIN = "SELECT instance, event_time AS time FROM query_events"
DAY, WEEK = "2026-01-01T00:00:00 : 2026-01-02T00:00:00", "2026-01-01T00:00:00 : 2026-01-08T00:00:00"
calls: Counter = Counter()


def count(owner: object, name: str, what: str) -> None:
    """Counts calls of `owner.name` in `calls`."""
    original = getattr(owner, name)

    def counted(*arguments, **named):
        calls[what] += 1
        return original(*arguments, **named)

    setattr(owner, name, counted)


def count_all() -> None:
    import jinja2
    import sqlglot
    import yaml
    from clickhouse_connect.cc_sqlalchemy.dialect import ClickHouseDialect
    from clickhouse_connect.dbapi import connection
    from superset.db_engine_specs.base import BaseEngineSpec

    count(sqlglot, "parse", "parsed")
    count(jinja2.Environment, "_parse", "compiled")
    count(connection, "create_client", "clients")
    count(BaseEngineSpec, "get_default_schema", "inspected")
    count(ClickHouseDialect, "do_execute", "executed")
    count(yaml.composer.Composer, "get_single_node", "yaml read in Python")
    count(yaml.serializer.Serializer, "serialize", "yaml written in Python")


@contextmanager
def asked_as_admin(application):
    from flask import g
    from superset import security_manager
    from superset.utils.core import override_user

    with application.test_request_context("/"):
        admin = security_manager.find_user("admin")
        g.user = admin
        with override_user(admin):
            yield


def asked(application, time_range: str, change=lambda dataset: None, column: str = "instance") -> dict:
    """Returns the cost of a chart of the dashboard's first virtual dataset, its SQL and its cache key."""
    from superset import db
    from superset.charts.schemas import ChartDataQueryContextSchema

    with asked_as_admin(application):
        dataset = its_dataset()
        change(dataset)
        db.session.commit()
        query = {
            "columns": [column],
            "metrics": [],
            "row_limit": 5,
            "filters": [],
            "time_range": time_range,
            "granularity": dataset.main_dttm_col,
        }
        context = ChartDataQueryContextSchema().load(
            {"datasource": {"id": dataset.id, "type": "table"}, "queries": [query], "force": True}
        )
        calls.clear()
        answer = context.get_df_payload(context.queries[0], force_cached=False)
        return {
            "calls": dict(calls),
            "sql": answer["query"],
            "key": answer["cache_key"],
            "error": answer["error"],
            "rows": answer["rowcount"],
        }


def users(database) -> tuple[dict[str, list[str]], list[str]]:
    """Returns the cost of twelve concurrent users with three queries each, and their sessions."""
    from sqlalchemy import create_engine
    from sqlalchemy.engine import make_url
    from sqlalchemy.pool import NullPool
    from tailrace_audited_connection import connection

    address = make_url(database.sqlalchemy_uri_decrypted)
    together, names, sessions = Barrier(12), [f"user {number}" for number in range(12)], []

    def ask(name: str) -> list[str]:
        uri, parameters = connection(address, {"poolclass": NullPool}, name, None, None)
        raw = create_engine(uri, **parameters).raw_connection()
        sessions.append(raw.dbapi_connection.client.params["session_id"])
        cursor, said = raw.cursor(), []
        for _ in range(3):
            together.wait(60)
            cursor.execute("SELECT getSetting('log_comment'), sleep(0.1)")
            said.append(cursor.fetchall()[0][0])
        raw.close()
        return said

    with ThreadPoolExecutor(len(names)) as threads:
        return dict(zip(names, threads.map(ask, names), strict=True)), sessions


def unanswered(application) -> list[str]:
    """Returns the errors of a page that finds no server: of a query, and of queries at the same time."""
    from flask import g
    from superset.models.core import Database

    from tailrace_pages.store import Store

    with socket.socket() as closed, asked_as_admin(application):
        closed.bind(("127.0.0.1", 0))
        address = f"clickhousedb://reader:none@127.0.0.1:{closed.getsockname()[1]}/tailrace"
        g.tailrace_databases = {"nobody": Database(database_name="nobody", sqlalchemy_uri=address)}
        store = Store("nobody")

        def at_once() -> None:
            with store.at_once():
                pass

        return [raised_by(lambda: store.rows("SELECT 1")), raised_by(at_once)]


def refused(application) -> list[str]:
    """Returns the errors of a page whose query takes too long, finds too many rows, or reads no table."""
    from tailrace_pages.store import Store

    slow = "SELECT count() FROM numbers(1000000000000) SETTINGS max_execution_time = 1"
    with asked_as_admin(application):
        store = Store("tailrace")
        return [
            raised_by(lambda sql=sql: store.rows(sql))
            for sql in (slow, "SELECT number FROM numbers(300000)", "SELECT 1 FROM nothing")
        ]


def error_pages(application) -> list[dict]:
    """Returns the pages of errors: of one that may pass, also on a form, and of one that stays."""
    from tailrace_pages.page_errors import BusyError, UnavailableError
    from tailrace_pages.registration import _error_page

    found = []
    for error, method in ((BusyError, "GET"), (BusyError, "POST"), (UnavailableError, "GET")):
        asked = {"path": "/tailrace/alerts/", "query_string": "range=7d", "method": method}
        with application.test_request_context(**asked, headers={"Accept": "text/html"}):
            answer = _error_page(error("It is busy."))
            links = re.findall(r'href="(/tailrace/alerts/[^"]*)"', answer.get_data(as_text=True))
            found.append(
                {"status": answer.status_code, "wait": answer.headers.get("Retry-After"), "links": links}
            )
    return found


def clients(application) -> list[list[str]]:
    """Returns client and scheme, as views see them, of a request by a trusted proxy, and by another one."""
    from flask import request

    seen: list[list[str]] = []
    first = application.before_request_funcs.setdefault(None, [])
    first.insert(0, lambda: seen.append([request.remote_addr, request.scheme]))
    named = {"X-Forwarded-For": "203.0.113.9, 192.0.2.7", "X-Forwarded-Proto": "https"}
    for peer in ("10.42.0.1", "192.0.2.66"):
        application.test_client().get("/health", headers=named, environ_base={"REMOTE_ADDR": peer})
    del first[0]
    return seen


def raised_by(read) -> str:
    try:
        read()
    except Exception as error:  # the test names the expected one
        return f"{type(error).__name__}: {error}"
    return ""


def permissions(application) -> dict:
    """Permissions of all roles as in a request, and as Superset queries them one by one."""
    from sqlalchemy import event
    from superset import db, security_manager

    manager = security_manager._get_current_object()
    queried = type(manager).exist_permission_on_roles.__wrapped__
    statements: list[str] = []
    with application.test_request_context("/"):
        all_of_them = db.session.query(manager.permissionview_model).order_by("id")
        pairs = [(each.view_menu.name, each.permission.name) for each in all_of_them]
        roles = {role.name: [role.id] for role in db.session.query(manager.role_model)}
        some = [*pairs[::12], ("nothing", "can_read"), ("Chart", "nothing")]
        wanted = {name: [queried(manager, *pair, role) for pair in some] for name, role in roles.items()}
        here = get_ident()  # schedule-access reads permissions, too, in its own thread

        def note(*asked) -> None:
            if get_ident() == here:
                statements.append(asked[2])

        event.listen(db.engine, "before_cursor_execute", note)
        found = {
            name: [manager.exist_permission_on_roles(*pair, role) for pair in some]
            for name, role in roles.items()
        }
    return {
        "wanted": wanted,
        "found": found,
        "statements": list(statements),
        "granted": granted(application, manager, pairs),
        "views": views(application, manager, {permission for _, permission in pairs}),
    }


def views(application, manager, names: set[str]) -> dict[str, list[bool]]:
    """Whether a user of each set of roles has views by each permission, if they are those that Superset
    queries. A user asks for all of them in one request."""
    from flask import g

    queried, answers = type(manager).user_view_menu_names.__wrapped__, {}
    with application.app_context():
        users = {frozenset(user.roles): user.username for user in manager.get_all_users()}.values()
    for user in users:
        with application.test_request_context("/"):
            g.user = manager.find_user(user)
            for name in names:
                found = manager.user_view_menu_names(name)
                assert found == queried(manager, name), f"{user}: {name}: {found}"
                answers.setdefault(user, []).append(bool(found))
    return answers


def granted(application, manager, pairs: list[tuple[str, str]]) -> list[bool]:
    """Whether a role has a permission that it lacked: in the request that grants it, and in the next one."""
    from superset import db

    with application.test_request_context("/"):
        role = manager.find_role("Tailrace developer").id
        lacked = next(pair for pair in pairs if not manager.exist_permission_on_roles(*pair, [role]))
        view, permission = lacked
        both = manager.find_permission_view_menu(permission, view)
        manager.add_permission_role(manager.find_role("Tailrace developer"), both)
        db.session.commit()
        before = manager.exist_permission_on_roles(*lacked, [role])
    with application.test_request_context("/"):
        return [before, manager.exist_permission_on_roles(*lacked, [role])]


def yaml_read_again() -> dict:
    """An asset with signs that YAML quotes, written and read as exports and imports do."""
    import yaml
    from superset.commands.importers.v1.utils import load_yaml

    asset = {"title": 'ü → 😀: "it\'s" #1', "sql": "SELECT 1\n  -- a\ttab\n\n", "on": ["yes", None, 1.5]}
    calls.clear()
    again = load_yaml("asset.yaml", yaml.safe_dump(asset, sort_keys=False))
    return {"calls": dict(calls), "asset": asset, "again": again, "keys": list(again)}


def imported(application, columns: int) -> dict[str, int]:
    """Returns the cost of importing a new dataset with this number of columns."""
    from superset import db
    from superset.commands.importers.v1 import assets

    with asked_as_admin(application):
        database = its_dataset().database
        config = {
            "table_name": f"{columns} columns",
            "uuid": str(uuid4()),
            "database_id": database.id,
            "schema": database.get_default_schema(None),
            "sql": PLAIN,
            "columns": [{"column_name": f"column {number}"} for number in range(columns)],
            "metrics": [{"metric_name": "count", "expression": "COUNT(*)"}],
        }
        calls.clear()
        dataset = assets.import_dataset(config, overwrite=True)
        db.session.commit()
        cost = dict(calls)
        assert len(dataset.columns) == columns and len(dataset.metrics) == 1
    return cost


def its_dataset():
    from superset import db
    from superset.models.dashboard import Dashboard

    dashboard = db.session.query(Dashboard).filter_by(slug=SLUG).one()
    virtual = (each for each in dashboard.datasources if each.sql and "instance" in each.column_names)
    fit = (each for each in virtual if "tailrace.query_events" in each.sql)
    return min(fit, key=lambda dataset: dataset.id)


def results_of_the_database(application) -> dict:
    """Returns the result of the dataset's database without a chart."""
    with asked_as_admin(application):
        database = its_dataset().database
        said = {
            "one of two": database.get_df("SELECT 1 AS number; SELECT 2 AS number")["number"].to_list(),
            "one with a sign": database.get_df("SELECT '%%;' AS sign")["sign"].to_list(),
            "one as it is": database.get_df("SELECT '%' AS sign -- as it is\n")["sign"].to_list(),
            "schema": database.get_default_schema(None),
        }
        with database.get_inspector() as inspector:
            said["inspected schema"] = inspector.default_schema_name
        said["users"], said["sessions"] = users(database)
    return said


def main() -> None:
    application = create_app()
    count_all()
    said = {"yaml": yaml_read_again(), "first": asked(application, DAY), "again": asked(application, WEEK)}
    with asked_as_admin(application):
        kept = its_dataset().sql

    def with_sql(sql: str):
        return lambda dataset: setattr(dataset, "sql", sql)

    said["named"] = [asked(application, DAY, with_sql(NAMED.format(name))) for name in ("db-1", "it''s; #2")]
    said["two statements"] = asked(application, DAY, with_sql(TWO))
    said["writes"] = asked(application, DAY, with_sql(WRITES))
    said["nothing"] = asked(
        application, DAY, with_sql("SELECT ';' AS instance, toDateTime('2026-01-01 12:00:00') AS time")
    )
    said.update(results_of_the_database(application))
    said["unanswered"], said["clients"] = unanswered(application), clients(application)
    said["refused"], said["error pages"] = refused(application), error_pages(application)
    said["permissions"] = permissions(application)
    from sqlalchemy.orm import Session

    count(Session, "_flush", "written")
    said["imported"] = [imported(application, columns) for columns in (4, 8)]
    restrict(application)
    said["restricted"] = asked(application, DAY, with_sql(PLAIN))
    with asked_as_admin(application):
        rule().clause = "instance = 'another'"
        from superset import db

        db.session.commit()
    said["restricted otherwise"] = asked(application, DAY, with_sql(PLAIN))
    said["restricted again"] = asked(application, DAY, with_sql(kept))
    sys.stdout.write("\n" + json.dumps(said))


def restrict(application) -> None:
    """Creates a row-level security rule on the table below the dataset, not on the dataset."""
    from superset import db
    from superset.connectors.sqla.models import RowLevelSecurityFilter, SqlaTable

    with asked_as_admin(application):
        database = its_dataset().database
        table = SqlaTable(
            table_name="query_events", schema=database.get_default_schema(None), database=database
        )
        db.session.add(table)
        db.session.add(
            RowLevelSecurityFilter(
                name="of the test", filter_type="Base", clause="instance = 'nobody'", roles=[], tables=[table]
            )
        )
        db.session.commit()


def rule():
    from superset import db
    from superset.connectors.sqla.models import RowLevelSecurityFilter

    return db.session.query(RowLevelSecurityFilter).one()


if __name__ == "__main__":
    main()
