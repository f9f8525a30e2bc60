"""Suspends schedules of people who no longer have an account or the role of the search.

The dashboards know the accounts, and ClickHouse knows the tokens. A suspension is a row of
scheduled_searches, with its reason; the owner resumes the schedule after getting the role again. A search
that an operator saved with the command needs no account, until its owner has one.
"""

from collections.abc import Callable, Collection, Mapping
from dataclasses import replace

from tailrace.clickhouse.client import ClickHouse
from tailrace.clickhouse.query_files import text_of
from tailrace.search.scheduled import saved
from tailrace.search.scheduled.saved import SavedSearch
from tailrace.search.sources import ROLES

Accounts = Mapping[str, Collection[str]]
"""Names with the roles of search.ROLES in which they may schedule searches now; none for an account that may
not."""
AccountsOf = Callable[[Collection[str]], Accounts]
"""Returns the active accounts of the dashboards among these names."""


def suspend(clickhouse: ClickHouse, accounts_of: AccountsOf, report: Callable[[str], None]) -> int:
    """Suspends what may no longer run; returns the number of searches.

    `clickhouse` is the access of the user `analyst`. Raises OSError and ClickHouseError, and what
    `accounts_of` raises: then nothing is suspended.
    """
    searches = [each for each in saved.load(clickhouse) if each.runs]
    if not searches:
        return 0
    known = _with_tokens(accounts_of({each.owner for each in searches}), clickhouse)
    number = 0
    for search in searches:
        if reason := problem(search, known):
            stopped = replace(search.schedule, paused=True, suspended=reason)
            saved.store(clickhouse, replace(search, schedule=stopped))
            report(f"the schedule of {search.name!r} of {search.owner!r} is suspended: {reason}")
            number += 1
        elif search.owner in known and not search.needs_account:
            saved.store(clickhouse, replace(search, needs_account=True))
    return number


def problem(search: SavedSearch, accounts: Accounts) -> str:
    """Returns why a search may not run with the rights its owner has now; empty if it may."""
    if search.owner not in accounts:
        return f"{search.owner} has no account and no valid token" if search.needs_account else ""
    if search.role not in accounts[search.owner]:
        return f"{search.owner} may no longer schedule searches in the role {search.role}"
    return ""


def _with_tokens(accounts: Accounts, clickhouse: ClickHouse) -> Accounts:
    roles = {each.account.removeprefix("reader_"): name for name, each in ROLES.items()}
    known = {name: set(held) for name, held in accounts.items()}
    for row in clickhouse.rows(text_of("schedule_tokens")):
        if row["role"] in roles:
            known.setdefault(row["owner"], set()).add(roles[row["role"]])
    return known
