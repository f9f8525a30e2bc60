"""Schedules of people who lost the account or the role, on a real ClickHouse: they stop, with a reason."""

from collections.abc import Collection, Mapping
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from tailrace.alerts.delivery.config import DeliveryConfig
from tailrace.api import tokens
from tailrace.search.scheduled import access, saved, slots
from tailrace.search.scheduled.library import Library
from tailrace.search.scheduled.runner import Runner
from tailrace.search.scheduled.saved import SavedSearch, Schedule

HOUR = timedelta(hours=1)
SCOPES = ("saved_searches:read", "schedules:write")


@pytest.fixture
def analyst(_migrated, server):
    server.empty_tables("scheduled_searches", "search_runs", "api_token_actions")
    return server.user("analyst")


def save(analyst, owner: str = "eve", role: str = "security", **changed: object) -> None:
    search = SavedSearch(owner, "mine", role, "log:slow", Schedule(HOUR, ("hook",)))
    saved.store(analyst, replace(search, **changed))


def suspend(analyst, **accounts: Collection[str]) -> int:
    """Suspends what accounts with these roles may not run."""

    def known(names: Collection[str]) -> Mapping[str, Collection[str]]:
        return {name: roles for name, roles in accounts.items() if name in names}

    return access.suspend(analyst, known, lambda _: None)


def only(analyst) -> SavedSearch:
    (found,) = saved.load(analyst)
    return found


def reason(analyst) -> str:
    return only(analyst).schedule.suspended


@pytest.mark.parametrize(
    ("accounts", "expected"),
    [
        ({"eve": ["security", "developers"]}, ""),
        ({"eve": ["developers"]}, "eve may no longer schedule searches in the role security"),
        ({"eve": []}, "eve may no longer schedule searches in the role security"),
        ({"bob": ["security"]}, "eve has no account and no valid token"),
    ],
)
def test_a_schedule_runs_only_in_a_role_that_its_owner_has_now(server, analyst, accounts, expected):
    save(analyst)
    assert suspend(analyst, **accounts) == bool(expected)
    assert reason(analyst) == expected
    later = datetime.now(UTC) + 3 * HOUR
    runner = Runner(server.user("delivery"), server.user, DeliveryConfig("", ()), {}, lambda _: None)
    runner.run_due(later)
    rows = server.user("delivery").rows("SELECT outcome FROM tailrace.search_runs")
    assert [row["outcome"] for row in rows][-1:] == ([] if expected else ["failed"]), "no channel is there"
    if expected:
        assert slots.state_of(only(analyst), later) == slots.SUSPENDED
        assert suspend(analyst, **accounts) == 0, "it is suspended once"


def test_a_suspension_is_a_row_of_its_own_that_stays_when_the_owner_resumes(analyst):
    save(analyst)
    suspend(analyst, eve=[])
    its = Library(analyst, "eve", "security")
    its.schedule(only(analyst).id, Schedule(2 * HOUR, ("hook",), paused=True), ["hook"])
    assert reason(analyst), "another interval does not hide the reason"
    its.pause(only(analyst).id, False)
    assert only(analyst).runs and suspend(analyst, eve=["security"]) == 0
    rows = analyst.rows("SELECT suspended, account FROM tailrace.scheduled_searches ORDER BY at")
    assert [bool(row["suspended"]) for row in rows] == [False, True, True, False]
    assert {row["account"] for row in rows} == {"analyst"}


def test_an_owner_with_a_valid_token_of_the_role_needs_no_account(server, analyst):
    admin, now = server.user("admin"), datetime.now(UTC)

    def token(role: str, scopes: Collection[str]) -> tokens.Token:
        return tokens.create(admin, tokens.Wanted("eve", role, scopes, 1, "test"), now)[1]

    save(analyst)
    token("developer", SCOPES)
    token("security", SCOPES[:1])
    assert suspend(analyst) == 1, "neither the other role nor the other scope permits it"
    given = token("security", SCOPES)
    save(analyst)
    assert suspend(analyst) == 0
    tokens.revoke(admin, str(given.id), "test", "")
    assert suspend(analyst) == 1


def test_a_search_of_an_operator_needs_no_account_until_its_owner_has_one(analyst):
    save(analyst, needs_account=False)
    assert suspend(analyst) == 0 and not only(analyst).needs_account
    assert suspend(analyst, eve=["security"]) == 0 and only(analyst).needs_account
    assert suspend(analyst) == 1 and reason(analyst) == "eve has no account and no valid token"


def test_the_owner_of_a_row_of_an_earlier_release_needs_an_account(server, analyst):
    row = {"owner": "eve", "name": "mine", "action": "save", "role": "security", "search": "log:slow"}
    row |= {"every_seconds": 3600, "channels": ["hook"]}
    server.user("admin").insert("tailrace.scheduled_searches", [row])
    assert suspend(analyst) == 1
