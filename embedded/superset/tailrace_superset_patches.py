"""Spares Superset 6.1.0 work that it does again for every chart, with the same result each time.

superset_config.py calls `apply_patches` when the application starts. Written for, and tested with, VERSIONS;
with any other version of these packages nothing is replaced, a warning says so, and charts only take longer.
Each function below replaces one thing. None decides who may see what: wherever Superset has rules of its own
about rows, or a statement is not the plain case, Superset's own code runs.
"""

import logging
import re
from collections.abc import Callable
from functools import lru_cache, partial, wraps
from importlib.metadata import PackageNotFoundError, version
from types import FunctionType, SimpleNamespace

VERSIONS = {"apache-superset": "6.1.0", "clickhouse-connect": "1.12.0"}
ENGINE = "clickhousedb"
MAX_TEMPLATE = 100_000
"""Characters of a template that is kept compiled: 256 of them shall not fill the memory."""

_TIMES = re.compile(r"toDateTime\('\d{4}-\d\d-\d\d \d\d:\d\d:\d\d'")
_QUOTED = re.compile(
    r"""'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*"|`(?:[^`\\]|\\.)*`|--[^\n]*|/\*.*?\*/""", re.DOTALL
)
"""Strings, names and comments: what a semicolon may stand in without ending a statement."""
_log = logging.getLogger(__name__)


def apply_patches() -> None:
    """Replaces what is described below; nothing if a package has another version than VERSIONS."""
    found = {package: _version(package) for package in VERSIONS}
    if found != VERSIONS:
        _log.warning(
            "charts are slower than they could be: tailrace_superset_patches is for %s, not %s",
            VERSIONS,
            found,
        )
        return
    check_datasets_once()
    skip_empty_row_level_security()
    skip_statement_rewrite()
    cache_database_name()
    compile_templates_once()
    parse_statements_once()
    use_libyaml()


def _version(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return "none"


def check_datasets_once() -> None:
    """Has a dataset's SQL checked once for all times that are filled in: one statement, which only reads.

    Superset parses it twice for each chart, in Python, and asks ClickHouse for the default schema, to be
    ready for its own row level security. Where there are rules, it does. `models.helpers.SQLScript` is used
    for nothing but this (`get_rendered_sql`, `get_from_clause`).
    """
    from superset.models import helpers
    from superset.sql.parse import SQLScript

    @lru_cache(maxsize=1024)
    def only_reads(sql: str, engine: str) -> bool:
        script = SQLScript(sql, engine)
        return len(script.statements) == 1 and not script.has_mutation()

    def checked(sql: str, engine: str):
        if _has_rules() or not only_reads(
            _TIMES.sub("toDateTime('1970-01-01 00:00:00'", sql.strip()), engine
        ):
            return SQLScript(sql, engine)
        return SimpleNamespace(statements=(), has_mutation=lambda: False)

    helpers.SQLScript = checked


def skip_empty_row_level_security() -> None:
    """A chart's cache key holds the predicates of all rules about its rows: without rules, there are none.

    Superset parses the dataset's SQL for its tables, looks each up and asks for its rules (`utils.rls`).
    """
    from superset.utils import rls

    collect = rls.collect_rls_predicates_for_sql

    @wraps(collect)
    def collected(*arguments, **named) -> list[str]:
        return collect(*arguments, **named) if _has_rules() else []

    rls.collect_rls_predicates_for_sql = collected


def _has_rules() -> bool:
    """Whether Superset restricts anybody's rows; asked once in a request. Guests bring rules of their own."""
    from flask import g
    from superset import db, security_manager
    from superset.connectors.sqla.models import RowLevelSecurityFilter

    if "tailrace_has_rules" not in g:
        any_rule = db.session.query(RowLevelSecurityFilter.id).first()
        g.tailrace_has_rules = any_rule is not None or security_manager.is_guest_user()
    return g.tailrace_has_rules


def skip_statement_rewrite() -> None:
    """Gives ClickHouse a chart's SQL as it is, unless a semicolon may end a statement in it.

    Superset parses it to split it, and formats it again (`Database.get_df`). ClickHouse accepts one statement
    at a time and refuses two. SQL Lab does not use this path (`superset.sql_lab`).
    """
    from superset.models import core

    def split(sql: str, engine: str):
        if engine != ENGINE or ";" in _QUOTED.sub("", sql):
            return core.SQLScript(sql, engine)
        return SimpleNamespace(statements=[SimpleNamespace(format=lambda: sql)])

    execute = core.Database._execute_sql_with_mutation_and_logging
    core.Database._execute_sql_with_mutation_and_logging = _with(execute, SQLScript=split)


def _with(function: Callable, **names: object) -> Callable:
    """The same function, to which some of its module's names mean something else."""
    known = {**function.__globals__, **names}
    missing = names.keys() - set(function.__code__.co_names)
    if missing or function.__closure__:
        raise RuntimeError(
            f"{function.__qualname__} is not what it was: it does not use {', '.join(missing)}"
        )
    changed = FunctionType(function.__code__, known, function.__name__, function.__defaults__)
    changed.__kwdefaults__ = function.__kwdefaults__
    return wraps(function)(changed)


def cache_database_name() -> None:
    """A connection knows the database that it was made for, and so does its address.

    SQLAlchemy asks ClickHouse for it whenever Superset makes an engine, which is for each statement; Superset
    makes one more engine to learn it, for each chart's cache key.
    """
    from clickhouse_connect.cc_sqlalchemy.dialect import ClickHouseDialect
    from superset.databases.utils import make_url_safe
    from superset.db_engine_specs.clickhouse import ClickHouseConnectEngineSpec

    ask = ClickHouseDialect._get_default_schema_name
    ask_by_inspector = ClickHouseConnectEngineSpec.get_default_schema.__func__

    def of_connection(dialect, connection) -> str:
        its = connection.connection  # the driver's own while SQLAlchemy makes it, wrapped afterwards
        return getattr(its, "dbapi_connection", its).client.database or ask(dialect, connection)

    def of_address(spec, database, catalog: str | None) -> str | None:
        name = make_url_safe(database.sqlalchemy_uri).database or ""
        is_all = name.isidentifier() and not database.get_extra().get("engine_params")
        return name if is_all else ask_by_inspector(spec, database, catalog)

    ClickHouseDialect._get_default_schema_name = of_connection
    ClickHouseConnectEngineSpec.get_default_schema = classmethod(of_address)


def compile_templates_once() -> None:
    """Compiles the template of a dataset's SQL to Python once, not for each chart and twice.

    What is constant in a template is not computed ahead, as Jinja does by itself: a filter may give another
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
    """Parses a statement once where Superset has rules about rows: it parses it three times a chart.

    Superset changes what it gets. So it gets a copy, which takes a tenth of the time.
    """
    from superset.sql.parse import SQLStatement

    parse = SQLStatement._parse.__func__

    @lru_cache(maxsize=32)
    def parsed(script: str, engine: str) -> tuple:
        return tuple(parse(SQLStatement, script, engine))

    def copies(cls, script: str, engine: str) -> list:
        return [each and each.copy() for each in parsed(script, engine)]

    SQLStatement._parse = classmethod(copies)


def use_libyaml() -> None:
    """Reads and writes YAML by libyaml where it is there: half of the time of importing and exporting assets.

    PyYAML's `safe_load` and `safe_dump` do it in Python. Texts mean the same.
    """
    import yaml

    if yaml.__with_libyaml__:
        yaml.safe_load = partial(yaml.load, Loader=yaml.CSafeLoader)
        yaml.safe_dump = partial(yaml.dump, Dumper=yaml.CSafeDumper)
