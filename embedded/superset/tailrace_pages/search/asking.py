"""The search of an address: `?q=` with the time range of the page, unless the search names a time."""

import re
from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime
from ipaddress import ip_address

from tailrace.erasure.pseudonyms import is_pseudonym, of_pseudonym
from tailrace.search import (
    COMPLIANCE,
    DEVELOPERS,
    SECURITY,
    DeniedError,
    Request,
    Role,
    SearchQuery,
    parse,
)
from tailrace.search.model import EQUAL, All, Between, Comparison, Text, Timeline, Top, Value
from tailrace.search.request import Rows
from tailrace_pages.time_range import TimeRange

ROLES: dict[str, Role] = {"tailrace": DEVELOPERS, "tailrace_audit": COMPLIANCE, "tailrace_security": SECURITY}
"""By the audience of a viewer (viewer.AUDIENCES)."""
EXAMPLES = (
    ("user:root", "everything that a user did"),
    ("client:10.0.0.9", "everything that a client address did"),
    ("status:!=0", "failed statements and refused logins"),
    (
        "kind:refused | top client",
        "clients with the most refused logins; a login in an audit log and an error log counts twice",
    ),
    ("kind:refused log:audit | top client", "the same in audit logs only, each login once"),
    ("duration:>1s | top query", "slow statements"),
    ("rows_sent:>10000", "statements that sent many rows to their client, in slow query logs"),
    ("verb:DROP,TRUNCATE,ALTER", "changes of the schema"),
    (
        '(verb:GRANT,REVOKE OR "create user" OR "or replace user" OR "drop user" OR "alter user" OR '
        '"rename user" OR "set password" OR "create role" OR "drop role" OR "set default role") -log:alert',
        "changes of accounts, roles and privileges",
    ),
    ("| timeline 5m", "events over time"),
)


def examples(audience: str, now: datetime) -> list[tuple[str, str]]:
    """Returns the examples that a viewer of an audience may run, with what they find."""
    return [(text, what) for text, what in EXAMPLES if _is_permitted(text, audience, now)]


def _is_permitted(text: str, audience: str, now: datetime) -> bool:
    try:
        Request(parse(text), ROLES[audience], now)
    except DeniedError:
        return False
    return True


NAMED_BY_TEXT = ("user", "client", "table", "instance")
"""Fields whose value a person may type without the field."""


def meant(query: SearchQuery) -> list[SearchQuery]:
    """Returns searches for the events of a user, client, table or server, if the search consists of one text.

    A text is only found in statements, messages and titles: the login of an address has none.
    """
    if not isinstance(query.where, Text) or query.pipe is not None:
        return []
    value, fields = query.where.text, NAMED_BY_TEXT
    if is_pseudonym(value):
        return [replace(query, where=Comparison(of_pseudonym(value).kind, EQUAL, (Value(value),)))]
    try:
        ip_address(value)
        fields = ("client",)
    except ValueError:
        if re.search(r"\s", value):
            return []
    return [replace(query, where=Comparison(field, EQUAL, (Value(value),))) for field in fields]


OTHER_WORDS = {"replica": "slave", "source": "master"}
"""Words of today, and those that older servers and MariaDB write in messages."""


def with_other_words(query: SearchQuery) -> SearchQuery | None:
    """Returns the search with the words of OTHER_WORDS in place of today's; None if it has none of them."""
    texts = query.where.conditions if isinstance(query.where, All) else (query.where,)
    changed = tuple(Text(_other_words(each.text)) if isinstance(each, Text) else each for each in texts)
    if changed == tuple(texts):
        return None
    return replace(query, where=All(changed) if isinstance(query.where, All) else changed[0])


def _other_words(text: str) -> str:
    pattern = rf"\b({'|'.join(OTHER_WORDS)})\b"
    return re.sub(pattern, lambda found: OTHER_WORDS[found[0].lower()], text, flags=re.IGNORECASE)


MOST_WORDS = 4


def words(query: SearchQuery) -> list[str]:
    """Returns the words of a search that consists of 2 to MOST_WORDS texts: one of them may name a server."""
    texts = query.where.conditions if isinstance(query.where, All) else ()
    if query.pipe is not None or len(texts) > MOST_WORDS or not all(isinstance(each, Text) for each in texts):
        return []
    return [each.text for each in texts]


def of_instances(query: SearchQuery, names: Sequence[str]) -> SearchQuery:
    """Returns the search for the number of events of each of the named servers."""
    named = Comparison("instance", EQUAL, tuple(map(Value, names)))
    return replace(query, where=named, pipe=Top("instance", MOST_WORDS))


def with_instance(query: SearchQuery, name: str) -> list[SearchQuery]:
    """Returns the search of `words` with one of them as the name of the server, and that for its events."""
    named = Comparison("instance", EQUAL, (Value(name),))
    texts = [named if each.text == name else each for each in query.where.conditions]
    return [replace(query, where=All(tuple(texts))), replace(query, where=named)]


def has_time(query: SearchQuery) -> bool:
    """Whether the search names its time, so that the range of the page does not apply."""
    return bool(query.last or query.between or query.around)


def within(query: SearchQuery, span: TimeRange) -> SearchQuery:
    """Returns the search in the range of the page, unless it has a time of its own."""
    return query if has_time(query) else replace(query, between=Between(span.since, span.until))


def request_of(query: SearchQuery, audience: str, now: datetime, rows: Rows) -> Request:
    """Returns what a viewer of an audience asks. Raises SearchError."""
    return Request(query, ROLES[audience], now).with_alert(rows)


def span_of(request: Request) -> TimeRange:
    """Returns the time range of a request in whole seconds, for the page and its links."""
    since, until = (end.replace(microsecond=0) for end in request.span)
    return TimeRange(since, until)


def bar_seconds(query: SearchQuery) -> int:
    """Returns the width of a bar of `| timeline`; 0 for another search."""
    return query.pipe.seconds if isinstance(query.pipe, Timeline) else 0


def servers(query: SearchQuery) -> dict[str, list[str]]:
    """Returns `clusters` and `servers` of which every found event has one; none if it can be any."""
    return {"clusters": _required(query, "cluster"), "servers": _required(query, "instance")}


def _required(query: SearchQuery, field: str) -> list[str]:
    """Returns the values of a field of which every found event has one; none if it can be any value."""
    conditions = query.where.conditions if isinstance(query.where, All) else (query.where,)
    for each in conditions:
        if isinstance(each, Comparison) and (each.field, each.operator) == (field, EQUAL):
            is_pattern = any(value.is_pattern for value in each.values)
            return [] if is_pattern else [value.text for value in each.values]
    return []
