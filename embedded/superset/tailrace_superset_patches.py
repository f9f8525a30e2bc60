"""Removes work that Superset 6.1.0 repeats for every chart, every request, or every column of an import.

superset_config.py calls `apply_patches` when the application starts. The patches are written for and tested
with VERSIONS. With other versions of these packages nothing is patched, a warning is logged, and charts take
longer. Each function below patches one thing. None changes permissions: if Superset has row level security
rules, or a statement is not a plain one, Superset's own code runs.
"""

import logging
import re
from collections.abc import Callable
from contextvars import ContextVar
from functools import lru_cache, partial, wraps
from importlib.metadata import PackageNotFoundError, version
from types import FunctionType, SimpleNamespace

VERSIONS = {"apache-superset": "6.1.0", "clickhouse-connect": "1.12.0"}
ENGINE = "clickhousedb"
MAX_TEMPLATE = 100_000
"""Longest template, in characters, whose compiled form is cached; at most 256 are cached."""
MAX_CHECKED = 1024
"""The number of statements, apart from their strings, that are known to read only."""

_TOKEN = re.compile(
    r"""(?P<literal>'(?:[^'\\]|\\.|'')*')|"(?:[^"\\]|\\.)*"|`(?:[^`\\]|\\.)*`|--[^\r\n]*|(?P<unsure>[#$'"`]|/\*)""",
    re.DOTALL,
)
"""What may contain quotes. `unsure` begins what has no end, or ends elsewhere for another parser."""
_QUOTED = re.compile(
    r"""'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*"|`(?:[^`\\]|\\.)*`|--[^\n]*|/\*.*?\*/""", re.DOTALL
)
"""Strings, identifiers and comments. A semicolon in them does not end a statement."""
_log = logging.getLogger(__name__)


def apply_patches() -> None:
    """Applies all patches of this module, or none if a package has another version than in VERSIONS."""
    found = {package: _version(package) for package in VERSIONS}
    if found != VERSIONS:
        _log.warning(
            "charts are slower than they could be: tailrace_superset_patches is for %s, not %s",
            VERSIONS,
            found,
        )
        return
    read_permissions_once()
    check_datasets_once()
    skip_empty_row_level_security()
    skip_statement_rewrite()
    cache_database_name()
    compile_templates_once()
    parse_statements_once()
    write_columns_together()
    import_queries_without_tables()
    use_libyaml()
    check_retries_once()


def _version(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return "none"


def read_permissions_once() -> None:
    """Reads all permissions of a user's roles at the first check of a request.

    For a chart, Superset checks eleven permissions, some several times, and collects the names of four, each
    time with a query of five tables.
    """
    from flask import g, has_request_context
    from flask_appbuilder.security.sqla.manager import SecurityManager
    from superset.security.manager import SupersetSecurityManager

    exists = SecurityManager.exist_permission_on_roles
    view_names = SupersetSecurityManager.user_view_menu_names

    def read(manager, role_ids: list[int]) -> set[tuple[str, str]]:
        known, roles = g.setdefault("tailrace_permissions", {}), frozenset(role_ids)
        if roles not in known:
            known[roles] = _permissions_of(manager, roles)
        return known[roles]

    @wraps(exists)
    def exists_in_request(self, view_name: str, permission_name: str, role_ids: list[int]) -> bool:
        if not has_request_context():
            return exists(self, view_name, permission_name, role_ids)
        return (view_name, permission_name) in read(self, role_ids)

    @wraps(view_names)
    def view_names_in_request(self, permission_name: str) -> set[str]:
        if not has_request_context() or g.user.is_anonymous:
            return view_names(self, permission_name)
        roles = [role.id for role in self.get_user_roles(g.user)]
        return {view for view, permission in read(self, roles) if permission == permission_name}

    SecurityManager.exist_permission_on_roles = exists_in_request
    SupersetSecurityManager.user_view_menu_names = view_names_in_request


def _permissions_of(manager, roles: frozenset[int]) -> set[tuple[str, str]]:
    """Returns the names of view and permission of every permission of these roles."""
    from flask_appbuilder.security.sqla.models import assoc_permissionview_role as of_role

    both, view, permission = manager.permissionview_model, manager.viewmenu_model, manager.permission_model
    pairs = (
        manager.session.query(view.name, permission.name)
        .join(both, both.view_menu_id == view.id)
        .join(permission, both.permission_id == permission.id)
        .join(of_role, of_role.c.permission_view_id == both.id)
        .filter(of_role.c.role_id.in_(roles))
    )
    return {tuple(pair) for pair in pairs}


def check_datasets_once() -> None:
    """Checks once per dataset, not per time range and filter, that its SQL is one statement that only reads.

    Superset parses the SQL twice for each chart, in Python, and queries ClickHouse for the default schema, as
    a preparation for row level security. With such rules it still does. Superset uses
    `models.helpers.SQLScript` for this check only (`get_rendered_sql`, `get_from_clause`).
    """
    from superset.models import helpers
    from superset.sql.parse import SQLScript

    reading: dict[tuple[str, str], bool] = {}

    def only_reads(sql: str, engine: str) -> bool:
        known = (without_literals(sql), engine)
        if known not in reading:
            script = SQLScript(sql, engine)
            if len(reading) >= MAX_CHECKED:
                reading.clear()
            reading[known] = len(script.statements) == 1 and not script.has_mutation()
        return reading[known]

    def checked(sql: str, engine: str):
        if _has_rules() or not only_reads(sql.strip(), engine):
            return SQLScript(sql, engine)
        return SimpleNamespace(statements=(), has_mutation=lambda: False)

    helpers.SQLScript = checked


def without_literals(sql: str) -> str:
    """Returns a statement with empty strings: what it does depends on nothing else that a filter inserts.

    The statement itself if it contains, outside of strings, identifiers and comments, a sign from which on
    the strings of two parsers may differ.
    """
    if any(token["unsure"] for token in _TOKEN.finditer(sql)):
        return sql
    return _TOKEN.sub(lambda token: "''" if token["literal"] else token[0], sql)


def skip_empty_row_level_security() -> None:
    """Omits the search for row level security predicates, which are in a cache key, if no rule exists.

    Superset parses the dataset's SQL for its tables and queries the rules of each table (`utils.rls`).
    """
    from superset.utils import rls

    collect = rls.collect_rls_predicates_for_sql

    @wraps(collect)
    def collected(*arguments, **named) -> list[str]:
        return collect(*arguments, **named) if _has_rules() else []

    rls.collect_rls_predicates_for_sql = collected


def _has_rules() -> bool:
    """Whether Superset has row level security rules; queried once per request. Guests have own rules."""
    from flask import g
    from superset import db, security_manager
    from superset.connectors.sqla.models import RowLevelSecurityFilter

    if "tailrace_has_rules" not in g:
        any_rule = db.session.query(RowLevelSecurityFilter.id).first()
        g.tailrace_has_rules = any_rule is not None or security_manager.is_guest_user()
    return g.tailrace_has_rules


def skip_statement_rewrite() -> None:
    """Sends a chart's SQL to ClickHouse unchanged, unless a semicolon may end a statement in it.

    Superset parses the SQL to split it into statements and formats it again (`Database.get_df`). ClickHouse
    accepts one statement per request and rejects two. SQL Lab does not use this code (`superset.sql_lab`).
    """
    from superset.models import core

    def split(sql: str, engine: str):
        if engine != ENGINE or ";" in _QUOTED.sub("", sql):
            return core.SQLScript(sql, engine)
        return SimpleNamespace(statements=[SimpleNamespace(format=lambda: sql)])

    execute = core.Database._execute_sql_with_mutation_and_logging
    core.Database._execute_sql_with_mutation_and_logging = _with(execute, SQLScript=split)


def _with(function: Callable, **names: object) -> Callable:
    """Returns a copy of a function in which these global names have other values.

    Raises RuntimeError if the function does not use one of the names.
    """
    known = {**function.__globals__, **names}
    missing = names.keys() - set(function.__code__.co_names)
    if missing or function.__closure__:
        raise RuntimeError(f"{function.__qualname__} has changed: it does not use {', '.join(missing)}")
    changed = FunctionType(function.__code__, known, function.__name__, function.__defaults__)
    changed.__kwdefaults__ = function.__kwdefaults__
    return wraps(function)(changed)


def cache_database_name() -> None:
    """Takes the name of the database from the connection or its URL.

    SQLAlchemy queries ClickHouse for it for each engine, and Superset creates an engine for each statement,
    and one more for each chart's cache key.
    """
    from clickhouse_connect.cc_sqlalchemy.dialect import ClickHouseDialect
    from superset.databases.utils import make_url_safe
    from superset.db_engine_specs.clickhouse import ClickHouseConnectEngineSpec

    ask = ClickHouseDialect._get_default_schema_name
    ask_by_inspector = ClickHouseConnectEngineSpec.get_default_schema.__func__

    def of_connection(dialect, connection) -> str:
        raw = connection.connection  # the driver's connection; wrapped once SQLAlchemy has initialized it
        return getattr(raw, "dbapi_connection", raw).client.database or ask(dialect, connection)

    def of_address(spec, database, catalog: str | None) -> str | None:
        name = make_url_safe(database.sqlalchemy_uri).database or ""
        is_all = name.isidentifier() and not database.get_extra().get("engine_params")
        return name if is_all else ask_by_inspector(spec, database, catalog)

    ClickHouseDialect._get_default_schema_name = of_connection
    ClickHouseConnectEngineSpec.get_default_schema = classmethod(of_address)


def compile_templates_once() -> None:
    """Compiles the Jinja template of a dataset's SQL once instead of twice for each chart.

    Jinja's evaluation of constant expressions at compile time is off, because a filter may return another
    result for another database.
    """
    from superset import jinja_context

    class Environment(jinja_context.SandboxedEnvironment):
        def __init__(self, *arguments, **named) -> None:
            super().__init__(*arguments, **{**named, "optimized": False})

        def compile(self, source, *arguments, **named):
            if arguments or named or not isinstance(source, str) or len(source) > MAX_TEMPLATE:
                return super().compile(source, *arguments, **named)
            if source not in compiled:
                if len(compiled) >= 256:
                    compiled.clear()
                compiled[source] = super().compile(source)
            return compiled[source]

    compiled: dict[str, object] = {}
    jinja_context.SandboxedEnvironment = Environment


def parse_statements_once() -> None:
    """Parses a statement once instead of three times for each chart, if row level security rules exist.

    Superset modifies the parsed statement, so it gets a copy. Copying takes a tenth of the time.
    """
    from superset.sql.parse import SQLStatement

    parse = SQLStatement._parse.__func__

    @lru_cache(maxsize=32)
    def parsed(script: str, engine: str) -> tuple:
        return tuple(parse(SQLStatement, script, engine))

    def copies(cls, script: str, engine: str) -> list:
        return [each and each.copy() for each in parsed(script, engine)]

    SQLStatement._parse = classmethod(copies)


def write_columns_together() -> None:
    """Writes the columns and metrics of an imported dataset together, not each before the next.

    Superset looks for each in its database (`import_from_dict`), and SQLAlchemy writes what is pending before
    a query. Names in a dataset's file are unique: a pending column is never the one that is looked for.
    """
    from superset.connectors.sqla.models import SqlMetric, TableColumn

    for kind in (TableColumn, SqlMetric):
        kind.import_from_dict = classmethod(_without_autoflush(kind.import_from_dict.__func__))


def _without_autoflush(imported: Callable) -> Callable:
    @wraps(imported)
    def import_from_dict(cls, dict_rep, parent=None, *arguments, **named):
        from superset import db

        if parent is not None and parent.id is None:  # it becomes a part of the column
            db.session.flush()
        with db.session.no_autoflush:
            return imported(cls, dict_rep, parent, *arguments, **named)

    return import_from_dict


def import_queries_without_tables() -> None:
    """Does not ask ClickHouse for a table with the name of an imported dataset that is a query.

    Superset needs the answer only for datasets whose rows are in the import, too.
    """
    from superset.commands.importers.v1 import assets
    from superset.models.core import Database

    is_query = ContextVar("is_query", default=False)
    ask, import_dataset = Database.has_table, assets.import_dataset

    @wraps(ask)
    def has_table(*arguments, **named) -> bool:
        return is_query.get() or ask(*arguments, **named)

    @wraps(import_dataset)
    def imported(config, *arguments, **named):
        before = is_query.set(bool(config.get("sql")) and not config.get("data"))
        try:
            return import_dataset(config, *arguments, **named)
        finally:
            is_query.reset(before)

    Database.has_table, assets.import_dataset = has_table, imported


def use_libyaml() -> None:
    """Reads and writes YAML with libyaml, if installed: importing and exporting assets takes half the time.

    PyYAML's `safe_load` and `safe_dump` use Python code. The results are equal.
    """
    import yaml

    if yaml.__with_libyaml__:
        yaml.safe_load = partial(yaml.load, Loader=yaml.CSafeLoader)
        yaml.safe_dump = partial(yaml.dump, Dumper=yaml.CSafeDumper)


def check_retries_once() -> None:
    """Checks once per text whether a query only reads, so that the driver may repeat it.

    The driver checks each character of each query in Python, which takes 1 to 2 ms for a query of a page.
    """
    from clickhouse_connect.driver import _backendclient

    _backendclient._query_is_read_only = lru_cache(maxsize=256)(_backendclient._query_is_read_only)
