"""What the dashboard "Plans" asks, on plans whose answers are known."""

from datetime import UTC, datetime, timedelta

import jinja2
import pytest

from tailrace.settings import REPOSITORY

QUERIES = REPOSITORY / "sql" / "queries"
NOW = datetime.now(UTC).replace(microsecond=0)
STATEMENT = 0xFFFF_0000_0000_0001
SHOWN = f"{STATEMENT:016X}"
BEFORE, SINCE = "AAAAAAAAAAAAAAAA", "BBBBBBBBBBBBBBBB"
TREE = (
    "query block\n  sort, filesort\n    join\n      c: ALL, 5,000 rows\n      o: ref by by_customer, 7 rows"
)
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
        "advice": ["c: no index can be used"],
        **columns,
    }


def execution(plan_hash: str, seconds: float) -> dict:
    times = {"event_time": at(5), "query_time": seconds, "weight": 2}
    return {"instance": "db1", "query_id": STATEMENT, "plan_hash": plan_hash, **times}


@pytest.fixture
def ask(admin, user):
    """Answers of a query to somebody who may read what developers may."""
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
    told = {**change, "verdict": "slower", "ratio": 7.5, "updated_at": at(8)}
    writer.insert("tailrace.plan_changes", [change, told])
    text = {"query_id": STATEMENT, "rule_set": "tailrace-1", "fingerprint": "select ?", "seen_at": at(9)}
    writer.insert("tailrace.fingerprints", [text])

    def run(name: str) -> list[dict]:
        template = jinja2.Template((QUERIES / f"{name}.sql").read_text())
        return user("reader_developer").rows(template.render(from_dttm=RANGE[0], to_dttm=RANGE[1]))

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
    assert found[SINCE]["advice"] == "c: no index can be used"


def test_each_step_of_a_plan_knows_the_one_that_it_gives_rows_to(ask):
    steps = {row["node"]: row for row in ask("plan_steps") if row["plan_hash"] == SINCE}
    parents = {row["label"]: steps[row["parent"]]["label"] if row["parent"] else "" for row in steps.values()}

    assert parents == {
        "query block": "",
        "sort, filesort": "query block",
        "join": "sort, filesort",
        "c: ALL, 5,000 rows": "join",
        "o: ref by by_customer, 7 rows": "join",
    }
