"""The grammar of the search: the meaning of texts, error messages, and queries as texts."""

import random
import re
from datetime import UTC, datetime, timedelta
from itertools import pairwise

import pytest

from tailrace.config.resources import REPOSITORY
from tailrace.search import (
    DEVELOPERS,
    SECURITY,
    DeniedError,
    Request,
    SearchError,
    notes,
    parse,
    reference,
    running,
    text_of,
)
from tailrace.search.compiler import compiled, searched_logs
from tailrace.search.fields import BY_NAME, FIELDS
from tailrace.search.model import (
    All,
    Any,
    Around,
    Between,
    Comparison,
    Count,
    Last,
    Not,
    SearchQuery,
    Text,
    Timeline,
    Top,
    Value,
)
from tailrace.search.paging import Cursor, cursor
from tailrace.search.request import Alert
from tailrace.search.verbs import VERBS

NOW = datetime(2026, 11, 24, 12, tzinfo=UTC)
ALERT = "0123456789abcdef0123456789abcdef"
USER = Comparison("user", "=", (Value("etl"),))
CARDS = Comparison("table", "=", (Value("cards"),))
FAILED = Comparison("status", "!=", (Value("0"),))


@pytest.mark.parametrize(
    ("text", "query"),
    [
        ("", SearchQuery()),
        ("user:etl table:cards status:!=0 last:24h", SearchQuery(All((USER, CARDS, FAILED)), Last(86_400))),
        ("USER:etl", SearchQuery(USER)),
        ("account:etl", SearchQuery(USER)),
        ("user:etl AND table:cards", SearchQuery(All((USER, CARDS)))),
        ("user:etl table:cards OR status:!=0", SearchQuery(Any((All((USER, CARDS)), FAILED)))),
        ("user:etl (table:cards OR status:!=0)", SearchQuery(All((USER, Any((CARDS, FAILED)))))),
        ("-user:etl NOT table:cards", SearchQuery(All((Not(USER), Not(CARDS))))),
        ('drop "from a\\"b"', SearchQuery(All((Text("drop"), Text('from a"b'))))),
        ('"user:etl"', SearchQuery(Text("user:etl"))),
        ("or", SearchQuery(Text("or"))),
        ("user:etl,app", SearchQuery(Comparison("user", "=", (Value("etl"), Value("app"))))),
        ("user:e*", SearchQuery(Comparison("user", "=", (Value("e*", True),)))),
        ('user:"e*"', SearchQuery(Comparison("user", "=", (Value("e*"),)))),
        ('user:""', SearchQuery(Comparison("user", "=", (Value(""),)))),
        ("client:fe80::1", SearchQuery(Comparison("client", "=", (Value("fe80::1"),)))),
        ("duration:>=1.5s", SearchQuery(Comparison("duration", ">=", (Value("1.5s"),)))),
        ("rows_sent:5..10", SearchQuery(Comparison("rows_sent", "..", (Value("5"), Value("10"))))),
        ("last:7d | top user", SearchQuery(None, Last(604_800), pipe=Top("user", 10))),
        ("| top db 3", SearchQuery(pipe=Top("database", 3))),
        ("user:etl | timeline 5m", SearchQuery(USER, pipe=Timeline(300))),
        ("|count", SearchQuery(pipe=Count())),
        (
            "from:2026-11-24T10:00 user:etl",
            SearchQuery(USER, between=Between(NOW - timedelta(hours=2), None)),
        ),
        (f"around:{ALERT.upper()}~2h", SearchQuery(around=Around(ALERT, 7200))),
    ],
)
def test_a_text_means(text, query):
    assert parse(text) == query
    assert parse(text_of(query)) == query


def test_a_login_is_the_kind_that_pages_call_so():
    searches = [
        compiled(Request(parse(f"kind:{kind}"), SECURITY, NOW)) for kind in ("connection", "login", "Logout")
    ]
    assert searches[0] == searches[1] == searches[2]
    assert "connection" in searches[0].parameters.values()


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("verb:selct", ["No statement of MySQL or MariaDB begins with SELCT; did you mean SELECT"]),
        ("user:a -(verb:DROP,GRNT OR verb:Revoke)", ["begins with GRNT; did you mean GRANT?"]),
        ("verb:QQQ", ["No statement of MySQL or MariaDB begins with QQQ."]),
        ('verb:"create user"', ['verb:CREATE "create user" finds the statements with this text']),
        ("verb:S*,select,!=ADMIN", ["begins with !=ADMIN"]),
        ('verb:!=select verb:"" verb:" " user:selct | top verb', []),
    ],
)
def test_verbs_with_which_no_statement_begins_are_reported_with_similar_ones(text, found):
    """They are searched: audit logs record statements that the server did not understand, too."""
    noted = notes(parse(text))
    assert len(noted) == len(found)
    assert all(part in note for part, note in zip(found, noted, strict=True)), noted


def test_the_verbs_of_all_golden_statements_are_known():
    golden = REPOSITORY / "stream-jobs" / "query-core" / "src" / "test" / "resources" / "golden"
    verbs = {
        found
        for file in golden.rglob("expected.json")
        for found in re.findall(r'"verb":"(\w+)"', file.read_text())
    }
    assert {"SELECT", "XA", "ADMIN"} <= verbs <= VERBS


@pytest.mark.parametrize(
    ("text", "position", "message"),
    [
        ("usr:etl", 1, "there is no field 'usr'; did you mean 'user'"),
        ("user:etl tabel:cards", 10, "there is no field 'tabel'; did you mean 'table'"),
        ("qqqqqq:1", 1, "writes. Text with a colon needs quotes."),
        ('kind:"replication eror"', 1, "did you mean 'replication error'"),
        ('kind:"other, warning"', 1, "messages that *Errors* names `other` are values of `level`"),
        ("user:", 6, "expected a name after `user:`, found the end"),
        ("user:a,", 8, "expected a name after `user:`, found the end"),
        ("user:>a", 1, "user is a name, which `>` does not compare"),
        ("status:x", 1, "status:x is not a whole number"),
        ("status:9999999999999999999", 1, "is not a whole number"),
        ("kind:logn", 1, "there is no value of kind 'logn'"),
        ("log:sluw", 1, "did you mean 'slow'?"),
        ("query:xyz", 1, "16 hexadecimal digits"),
        ("duration:>fast", 1, "a duration such as 1.5, 200ms or 3s"),
        ("duration:>1,2", 1, "compares one value, found 2"),
        ("(user:a", 8, "expected `)`, found the end"),
        ("user:a )", 8, "expected the end, or `|` with a pipe, found `)`"),
        ('user:"a', 8, "expected a closing quote"),
        ('"a', 3, "expected a closing quote"),
        ("user:a OR", 10, "expected a field such as `user:etl`, or a text, found the end"),
        ("a OR last:1h", 1, "expected a condition on both sides of OR"),
        ("-last:1h", 2, "`last:` cannot be within parentheses or negated"),
        ("last:1h last:2h", 9, "`last:` is there twice"),
        ("last:soon", 6, "expected a time such as 90m, 24h or 7d"),
        ("last:0h", 6, "expected a time"),
        ("from:yesterday", 6, "expected a day or a time such as 2026-11-24T14:00"),
        ("from:2026-11-24 to:2026-11-23", 0, "`from:` is not before `to:`"),
        ("last:1h from:2026-11-24", 0, "not both"),
        ("around:12", 8, "expected the id of an alert"),
        (f"around:{ALERT} last:1h", 0, "sets the time range"),
        (f"around:{ALERT}~30d", 41, "at most 7d"),
        ("a |", 4, "expected top, timeline, count after `|`"),
        ("a | tpo user", 5, "there is no pipe 'tpo'; did you mean 'top'?"),
        ("a | top", 8, "expected a field after `| top`"),
        ("a | top duration", 9, "there is no field that `| top` groups by"),
        ("a | top user 0", 14, "expected a number from 1 to 1000"),
        ("a | timeline", 13, "expected the width of a bar"),
        ("a | count user", 11, "expected the end after `| count`, found `user`"),
        ("a | count | count", 11, "a search has one pipe"),
        ("a\x00", 2, "U+0000"),
        ("\ud800", 1, "U+D800"),
        ("x" * 2001, 2001, "at most 2000 characters"),
        ("(" * 30, 21, "at most 20 parentheses"),
        ("a " * 51, 101, "at most 50 conditions"),
    ],
)
def test_a_mistake_is_named_with_its_place(text, position, message):
    with pytest.raises(SearchError) as error:
        parse(text)
    assert message in str(error.value)
    assert error.value.position == position


PIECES = (
    *(
        "user:",
        "table:",
        "status:",
        "duration:",
        "log:",
        "kind:",
        "query:",
        "reads:",
        "last:",
        "from:",
        "usr:",
    ),
    *(
        "etl",
        "0",
        "1.5s",
        "slow",
        "failed",
        "24h",
        "2026-11-24",
        "a*",
        "..",
        ",",
        "!=",
        ">",
        "<=",
        "=",
        "-",
        "--",
    ),
    *(
        "(",
        ")",
        '"',
        '"a b"',
        "\\",
        "\\\\",
        " ",
        " ",
        " ",
        " ",
        "OR",
        "AND",
        "NOT",
        " | ",
        "top",
        "timeline",
        "5m",
    ),
    *(
        "count",
        "é",
        "\n",
        "\t",
        "%",
        "_",
        "'",
        "{p0:String}",
        "\x07",
        "::",
        "~",
        "around:",
        ALERT,
        "\u2028",
        "*",
    ),
)


def test_any_text_is_a_query_or_a_mistake_and_a_query_is_the_same_as_text():
    """Random texts of pieces of the grammar, the same in every run."""
    chosen, queries = random.Random(1), 0
    for _ in range(4000):
        text = "".join(chosen.choice(PIECES) for _ in range(chosen.randint(1, 12)))
        try:
            query = parse(text)
        except SearchError:
            continue
        queries += 1
        assert parse(text_of(query)) == query, text
        statement_of(query)
    assert queries > 200


def statement_of(query: SearchQuery) -> None:
    """Compiles a query and checks that no text of it is in the statement."""
    alert = Alert("shop", "db1", "etl", "", (), NOW, NOW) if query.around else None
    try:
        statement = compiled(Request(query, SECURITY, NOW, alert))
    except SearchError:
        return
    assert all(
        f"{{{name}:" in statement.sql
        for name in statement.parameters
        if not name.endswith(("since", "until"))
    )
    assert "é" not in statement.sql


def test_values_are_parameters_and_never_text():
    query = parse(
        'user:"x\') OR 1=1 --" "\'; DROP TABLE x" table:"a.b\'" flag:f\' class:c"\'"'.replace("f' ", '"f\'" ')
    )
    statement = compiled(Request(query, SECURITY, NOW))
    assert "DROP" not in statement.sql and "1=1" not in statement.sql
    assert "x') OR 1=1 --" in statement.parameters.values()


@pytest.mark.parametrize(
    ("text", "right"),
    [
        ("log:audit", "SELECT on tailrace.audit_events"),
        ("-log:general", "SELECT on tailrace.audit_events"),
        ("kind:connection", "SELECT on tailrace.audit_events"),
        ("log:alert", "SELECT on tailrace.alerts"),
        ("rule:x", "SELECT on tailrace.alerts"),
        ("(user:a OR class:pci)", "SELECT on tailrace.data_access"),
        ("program:mysql", "SELECT on tailrace."),
        ("| top program", "SELECT on tailrace."),
        (f"around:{ALERT}", "SELECT on tailrace.alerts"),
    ],
)
def test_the_message_to_a_role_without_a_right_names_it(text, right):
    with pytest.raises(DeniedError) as error:
        Request(parse(text), DEVELOPERS, NOW)
    assert (
        error.value.right.startswith(right) and right in str(error.value) and "developers" in str(error.value)
    )


def test_only_tables_that_can_match_are_read():
    logs = {
        text: searched_logs(Request(parse(text), SECURITY, NOW))
        for text in ("log:slow", "-log:slow", "level:x")
    }
    assert logs == {
        "log:slow": {"slow"},
        "-log:slow": {"audit", "general", "error", "alert"},
        "level:x": {"error", "alert"},
    }
    assert searched_logs(Request(parse("user:a"), DEVELOPERS, NOW)) == {"slow", "error"}


def test_windows_cover_the_range_once_the_latest_first():
    since = NOW - timedelta(days=90)
    found = list(running.windows(since, NOW))
    assert found[0] == (NOW - running.FIRST_WINDOW, NOW)
    assert found[-1][0] == since and len(found) < 6
    assert all(later[0] == earlier[1] for later, earlier in pairwise(found))


def test_a_timeline_has_a_limit_of_bars():
    with pytest.raises(SearchError, match="at most 5000 bars"):
        Request(parse("last:90d | timeline 1m"), SECURITY, NOW)


def test_a_cursor_is_opaque_and_checked():
    place = Cursor(1_795_700_000_123_456, "7fd41259-f773-4653-949d-80567690f3a5")
    assert cursor(place.text()) == place
    for text in ("", "x", "é", place.text()[:-3], "MTIzLmFiYw"):
        with pytest.raises(SearchError, match="cursor"):
            cursor(text)


def test_every_field_has_a_column_and_the_names_are_unique():
    assert len(BY_NAME) == sum(1 + len(each.other_names) for each in FIELDS)
    for row in reference.fields():
        assert row["logs"] and row["columns"] and {"compliance", "security"} <= set(row["roles"]), row[
            "field"
        ]


def test_the_manual_has_the_current_fields():
    page = (REPOSITORY / "docs" / "SEARCH.md").read_text()
    assert reference.written(page) == page, "run: make cli-reference"


@pytest.mark.parametrize(
    ("written", "stored"),
    [
        ("2001:0DB8:0:1:0:0:0:BEEF", "2001:db8:0:1::beef"),
        ("::ffff:10.0.3.9", "10.0.3.9"),
        ("10.0.3.9", "10.0.3.9"),
        ("Web-1.Example", "Web-1.Example"),
    ],
)
def test_any_form_of_an_address_finds_a_client(written, stored):
    statement = compiled(Request(parse(f"client:{written}"), SECURITY, NOW))

    assert stored in statement.parameters.values()
