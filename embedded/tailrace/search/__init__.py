"""Search: one grammar over the events of all logs and the alerts (docs/SEARCH.md).

    query = parse("user:etl table:cards status:!=0 last:24h")    parser.py: a SearchQuery, or a SearchError
    request = Request(query, SECURITY, now)                      request.py: what a role asks, and when
    page = listing(rows, request, limit=50)                      running.py: events, and the next cursor
    found = aggregated(rows, request)                            running.py: the rows of a pipe

`rows(sql, parameters)` runs one SELECT as the ClickHouse account of the role, and returns rows as mappings;
its parameters are texts and numbers. over_http.py makes one of a tailrace.clickhouse.client. The modules:

    errors.py         SearchError, with the position; DeniedError, with the missing right
    model.py          a query as dataclasses
    value_types.py    the types of fields, and texts as values of them
    verbs.py          the verbs of SQL, and those of a search with which no statement begins
    fields.py         the list of fields, as data
    sources.py        the tables that are searched, the columns of each field, and the rights of roles
    formatting.py     a query as text, which parses to the same query
    pipes.py          the words behind `|` as a pipe
    parser.py         a text as a query
    conditions.py     a condition as SQL with parameters
    request.py        a query with its role, its time range and the alert of `around:`
    compiler.py       one SELECT for a request
    paging.py         the cursor of a page
    running.py        reads pages, the newest time first
    reference.py      the tables of fields for `tailrace search --fields` and docs/SEARCH.md
"""

from tailrace.search.compiler import Statement, compiled
from tailrace.search.errors import DeniedError, SearchError
from tailrace.search.formatting import text_of
from tailrace.search.model import SearchQuery
from tailrace.search.parser import parse
from tailrace.search.request import Request
from tailrace.search.running import Page, aggregated, listing
from tailrace.search.sources import COMPLIANCE, DEVELOPERS, ROLES, SECURITY, Role
from tailrace.search.verbs import notes

__all__ = [
    "COMPLIANCE",
    "DEVELOPERS",
    "ROLES",
    "SECURITY",
    "DeniedError",
    "Page",
    "Request",
    "Role",
    "SearchError",
    "SearchQuery",
    "Statement",
    "aggregated",
    "compiled",
    "listing",
    "notes",
    "parse",
    "text_of",
]
