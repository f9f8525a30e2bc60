"""Tests the queries of the dashboard "Plans" on plans with known results."""

from datetime import UTC, datetime, timedelta

import pytest

NOW = datetime.now(UTC).replace(microsecond=0)
STATEMENT = 0xFFFF_0000_0000_0001
SHOWN = f"{STATEMENT:016X}"
BEFORE, SINCE = "AAAAAAAAAAAAAAAA", "BBBBBBBBBBBBBBBB"
TREE = (
    "query block\n  sort, filesort\n    join\n      c: ALL, 5,000 rows\n      o: ref by by_customer, 1 rows"
)
ADVICE = "missing index · c: no index can be used: consider one on (a) · reads 5,000 rows for a = ?"
RANGE = ((NOW - timedelta(hours=1)).isoformat(), (NOW + timedelta(minutes=1)).isoformat())


def at(minutes_ago: int) -> str:
    return f"{NOW - timedelta(minutes=minutes_ago):%Y-%m-%d %H:%M:%S}"


def plan(plan_hash: str, minutes_ago: int, **columns) -> dict:
    return {
        "instance": "db1",
        "query_id": STATEMENT,
        "plan_hash": plan_hash,
        "hash_rules": "plan-1",
        "source": "slowlog",
        "seen_at": at(minutes_ago),
        "tables": ["c", "o"],
        "access_types": ["ALL", "ref"],
        "indexes": ["", "by_customer"],
        "tree": TREE,
        "advice": [ADVICE],
        **columns,
    }


def execution(plan_hash: str, seconds: float) -> dict:
    times = {"event_time": at(5), "query_time": seconds, "weight": 2}
    return {"instance": "db1", "query_id": STATEMENT, "plan_hash": plan_hash, **times}


def insert_plans(user) -> None:
    writer = user("writer")
    writer.insert("tailrace.plans", [plan(BEFORE, 50), plan(SINCE, 9), plan(SINCE, 4), plan("C" * 16, 600)])
    executions = [execution(BEFORE, 0.5), execution(SINCE, 3), execution(SINCE, 4), execution("", 99)]
    writer.insert("tailrace.query_events", executions)
    change = {
        "instance": "db1",
        "query_id": STATEMENT,
        "changed_at": at(9),
        "old_plan": BEFORE,
        "new_plan": SINCE,
        "verdict": "pending",
        "updated_at": at(9),
    }
    judged = {**change, "verdict": "slower", "ratio": 7.5, "updated_at": at(8)}
    writer.insert("tailrace.plan_changes", [change, judged])
    text = {"query_id": STATEMENT, "rule_set": "tailrace-1", "fingerprint": "select ?", "seen_at": at(9)}
    writer.insert("tailrace.fingerprints", [text])


FIRST_ROWS = {"ask": insert_plans}


@pytest.fixture
def ask(admin, user, rendered):
    """Returns the rows of a query for the role of developers."""

    def run(name: str, **filters: list[str]) -> list[dict]:
        return user("reader_developer").rows(rendered(name, *RANGE, **filters))

    return run


def test_the_verdict_of_a_change_replaces_the_change(ask):
    (change,) = ask("plan_changes")

    assert (change["verdict"], change["ratio"]) == ("slower", 7.5)
    assert (change["query_id"], change["query"]) == (SHOWN, "select ?")


def test_plans_of_the_time_have_the_load_of_their_executions(ask):
    found = {row["plan_hash"]: row for row in ask("plans_by_load")}

    assert found.keys() == {BEFORE, SINCE}
    assert (found[SINCE]["seconds"], found[SINCE]["executions"]) == (14, 4)
    assert (found[BEFORE]["seconds"], found[BEFORE]["query"]) == (1, "select ?")
    assert found[SINCE]["accesses"] == "c ALL, o ref"
    assert found[SINCE]["advice"] == ADVICE
    assert found[SINCE]["advised"] == 1


def test_each_step_of_the_heaviest_plan_knows_the_one_that_it_gives_rows_to(ask):
    assert parents(ask("plan_steps")) == {
        "heaviest of 2 plans": "",
        f"plan {SINCE}": "heaviest of 2 plans",
        "sort, filesort": f"plan {SINCE}",
        "join": "sort, filesort",
        "c: ALL, 5,000 rows": "join",
        "o: ref by by_customer, 1 row": "join",
    }


def parents(rows: list[dict]) -> dict[str, str]:
    """Returns the parent of each step, by their texts."""
    labels = {row["node"]: row["label"] for row in rows}
    return {row["label"]: labels.get(row["parent"], "") for row in rows}


def test_executions_without_a_plan_are_those_of_the_plan_captured_before_them(ask, user):
    captured = {"instance": "db2", "query_id": 7, "status": "ok"}
    user("writer").insert(
        "tailrace.plan_captures",
        [
            {**captured, "captured_at": at(20), "plan_hash": "D" * 16},
            {**captured, "captured_at": at(10), "plan_hash": "E" * 16},
            {**captured, "captured_at": at(3), "plan_hash": "", "status": "denied"},
        ],
    )
    ran = {"instance": "db2", "query_id": 7, "weight": 1}
    times = [{**ran, "event_time": at(minutes), "query_time": minutes} for minutes in (30, 15, 12, 10, 2)]
    user("writer").insert("tailrace.query_events", times)
    known = [plan(letter * 16, 2, instance="db2", query_id=7, source="explain") for letter in "DE"]
    user("writer").insert("tailrace.plans", known)

    for query in ("advice_by_load", "plans_by_load"):
        found = {row["plan_hash"]: row["seconds"] for row in ask(query) if row["instance"] == "db2"}
        assert found == {"D" * 16: 15 + 12, "E" * 16: 10 + 2}
    assert parents(ask("plan_steps"))["heaviest of 4 plans"] == ""

    chosen = {"query_id": [f"{7:016X}"]}
    plans = {row["plan_hash"]: (row["seconds"], row["executions"]) for row in ask("query_plans", **chosen)}
    assert plans == {"D" * 16: (27, 2), "E" * 16: (12, 2)}
    periods = ask("query_plan_periods", **chosen)
    assert sum(row["executions"] for row in periods) == 4
    executions = [row for row in ask("query_executions", **chosen) if row["entries"]]
    assert sorted(row["plan_hash"][0] for row in executions) == ["(", "D", "D", "E", "E"]


def test_a_plan_is_listed_when_it_ran_even_if_it_was_stored_hours_before_or_after(ask, user):
    """`last_seen_at` is written at most once an hour of the job: hours early while old logs are read."""
    of_statement = {"instance": "db4", "query_id": 8}
    stored = {"D" * 16: [600], "E" * 16: [90, -30], "F" * 16: [90, -30]}
    rows = [plan(hash_, each, **of_statement) for hash_, minutes in stored.items() for each in minutes]
    user("writer").insert("tailrace.plans", rows)
    user("writer").insert(
        "tailrace.query_events", [{**execution(each * 16, 2), **of_statement} for each in "DE"]
    )

    listed = [row for row in ask("plans_by_load") if row["instance"] == "db4"]
    assert {row["plan_hash"]: row["time"] for row in listed} == {"D" * 16: at(5), "E" * 16: at(5)}
    of_it = {row["plan_hash"]: row["time"] for row in ask("query_plans", query_id=[f"{8:016X}"])}
    assert of_it == {"D" * 16: at(5), "E" * 16: at(-30)}
    for trees in ("query_plan_trees", "plan_steps"):
        drawn = {row["plan_hash"] for row in ask(trees, query_id=[f"{8:016X}"])}
        assert drawn == {"D" * 16, "E" * 16}


def test_the_tree_is_of_the_plan_in_the_filter(ask):
    steps = ask("plan_steps", plan_hash=[BEFORE])
    assert {row["plan_hash"] for row in steps} == {BEFORE}
    assert parents(steps)[f"plan {BEFORE}"] == "1 of 1 plan"
    assert ask("plan_steps", plan_hash=["D" * 16]) == []


def test_advice_is_weighted_by_the_time_of_its_plan(ask):
    found = {row["plan_hash"]: row for row in ask("advice_by_load")}

    assert {hash_: row["seconds"] for hash_, row in found.items()} == {SINCE: 14, BEFORE: 1}
    assert found[SINCE]["part"] == pytest.approx(14 / (14 + 1 + 198))
    said = [found[SINCE][column] for column in ("kind", "advice", "evidence")]
    assert said == ADVICE.split(" · ")
    assert found[SINCE]["query"] == "select ?"


@pytest.mark.parametrize("filters", [{}, {"query_id": [SHOWN]}, {"query_id": [SHOWN.lower()]}])
def test_a_statement_has_its_plans_with_their_cost_and_verdict(ask, filters):
    found = {row["plan_hash"]: row for row in ask("query_plans", **filters)}

    assert found.keys() == {BEFORE, SINCE}
    assert (found[SINCE]["p50"], found[SINCE]["p95"], found[SINCE]["verdict"]) == (
        3,
        4,
        "slower, 7.5 times as long",
    )
    assert (found[BEFORE]["executions"], found[BEFORE]["verdict"]) == (2, "")


def test_percentiles_of_plans_are_of_the_time_since_the_server_began_to_log_differently(ask, user, settings):
    settings(NOW - timedelta(hours=3), long_query_time="1", slow_query_log="ON")
    settings(NOW - timedelta(minutes=7), long_query_time="0.1", slow_query_log="ON")
    writer = user("writer")
    writer.insert("tailrace.query_events", [{**execution(BEFORE, 0.5), "event_time": at(30)}])
    writer.insert("tailrace.query_events", [{**execution("D" * 16, 9), "event_time": at(20)}])
    writer.insert("tailrace.plans", [plan("D" * 16, 20)])

    found = {row["plan_hash"]: row for row in ask("query_plans")}

    assert (found[BEFORE]["executions"], found[BEFORE]["p50"]) == (4, 0.5)
    assert (found["D" * 16]["executions"], found["D" * 16]["p50"], found["D" * 16]["p95"]) == (2, None, None)


def test_periods_of_plans_hold_their_executions(ask):
    found = {row["plan_hash"]: row for row in ask("query_plan_periods")}

    assert {hash_: row["executions"] for hash_, row in found.items()} == {BEFORE: 2, SINCE: 4}
    assert all(row["from_time"] <= at(5) < row["to_time"] for row in found.values())


def test_trees_of_a_statements_plans_hang_on_one_root(ask):
    found = parents(ask("query_plan_trees"))

    assert found["2 plans"] == ""
    assert found[f"plan {SINCE}"] == found[f"plan {BEFORE}"] == "2 plans"


def test_executions_of_the_heaviest_statement(ask):
    rows = [row for row in ask("query_executions") if row["entries"]]

    assert sum(row["query_time"] for row in rows) == 1 + 14 + 198
    assert {row["plan_hash"] for row in rows} == {BEFORE, SINCE, "(unknown)"}


def test_quiet_time_has_empty_rows_that_pass_the_filters(ask):
    rows = ask("query_executions", query_id=["0" * 16], user=["app"])

    assert {row["user"] for row in rows} == {"app"}
    assert sum(row["weight"] for row in rows) == 0


def test_what_a_statement_is(ask):
    (found,) = ask("query_statement")

    assert (found["query_id"], found["query"]) == (SHOWN, "select ?")
    assert found["elsewhere"].count("/superset/dashboard/") == 3
    of_range = f"?from={RANGE[0][:19]}Z&amp;to={RANGE[1][:19]}Z"
    assert f'<a href="/tailrace/queries/{SHOWN}/{of_range}">' in found["elsewhere"]
    assert f'<a href="/tailrace/queries/{SHOWN}/samples/{of_range}">' in found["elsewhere"]


@pytest.mark.parametrize(
    "query", ["query_statement", "query_plans", "query_plan_trees", "query_plan_periods", "query_calls"]
)
@pytest.mark.parametrize("chosen", ["0" * 15 + "7", "no id'); DROP"])
def test_of_an_unknown_statement_there_is_nothing(ask, query, chosen):
    assert ask(query, query_id=[chosen]) == []


def test_a_statement_was_last_seen_when_it_was_last_executed(ask, user):
    (fingerprint,) = user("reader_developer").rows(
        f"SELECT max(seen_at) AS at FROM tailrace.fingerprints WHERE query_id = {STATEMENT}"
    )
    assert fingerprint["at"] < at(5), "fingerprints are written once an hour"
    (found,) = ask("query_statement")

    assert found["last_seen"] == at(5)


@pytest.mark.parametrize("part", [SHOWN[1:], SHOWN[:5], SHOWN[-3:].lower(), f" {SHOWN[2:9]} "])
def test_a_part_of_an_id_finds_the_statement_that_took_the_most_time(ask, user, part):
    similar = {"query_id": STATEMENT - 0xF000, "rule_set": "tailrace-1"}
    user("writer").insert("tailrace.fingerprints", [similar])
    (found,) = ask("query_statement", query_id=[part])

    assert found["query_id"] == SHOWN
    assert sum(row["entries"] for row in ask("query_executions", query_id=[part])) == 4
