"""Tests the risk scores of users, clients and instances: what counts, how it decays, and the explanation."""

import uuid
from datetime import UTC, datetime, timedelta

import pytest

from e2e.alert_rows import alert, written
from tailrace.alerts import risk, triage
from tailrace.alerts.risk import Risk
from tailrace.alerts.triage import Action

NOW = datetime.now(UTC).replace(microsecond=0)
DAYS = 24 * 60
OF_USER = {"instance": "db1", "user": "etl", "src_ip": "10.0.0.1"}


@pytest.fixture
def raised(admin, user):
    """Inserts an alert of exactly some days before NOW; closes it if a verdict is given; returns its id."""

    def insert(days_ago: float, verdict: str | None = None, **fields) -> str:
        at = written(NOW - timedelta(days=days_ago))
        given = {"entity": OF_USER, "user": "Etl", "src_ip": "10.0.0.1", "instance": "db1", "level": "medium"}
        row = alert(**{**given, "event_time": at, "window_from": at, **fields})
        admin.insert("tailrace.alerts", [row])
        id_ = row["alert_id"].replace("-", "")
        if verdict is not None:
            triage.record_action(user("analyst"), [id_], Action("close", "erin", "test", verdict=verdict))
        return id_

    return insert


@pytest.fixture
def scored(user):
    def read(audience: str = "security", half_life_days: int = 7, now: datetime = NOW) -> Risk:
        def rows(query: str, **parameters) -> list[dict]:
            return user(f"reader_{audience}").rows(query, parameters)

        return Risk(rows, half_life_days, now)

    return read


def scores(found: Risk) -> dict[tuple[str, str], float]:
    return {(row["kind"], row["name"]): round(row["score"], 3) for row in found.entities()}


def test_a_score_is_halved_after_each_half_life(raised, scored):
    raised(0)
    raised(7, level="high")
    assert scores(scored()) == dict.fromkeys(
        (("user", "Etl"), ("client", "10.0.0.1"), ("instance", "db1")), 25.0
    )
    assert scores(scored(now=NOW + timedelta(days=7)))["user", "Etl"] == 12.5
    assert scores(scored(half_life_days=1))["user", "Etl"] == round(10 + 30 / 128, 3)


def test_verdicts_decide_what_counts(raised, scored):
    for verdict in ("benign", "false positive"):
        raised(0, verdict, level="critical")
    raised(0, silenced=True, level="critical")
    assert scored().entities() == []
    raised(0, "true positive")
    raised(0, "")
    assert scores(scored())["user", "Etl"] == 30, "20 for the true positive, 10 without a verdict"


def test_sensitive_data_doubles_the_points(raised, scored, admin):
    event = str(uuid.uuid4())
    id_ = raised(0, event_ids=["f" * 32, event], level="high")
    touched = {"event_id": event, "event_time": written(NOW), "instance": "db1", "data_class": ["pci", "pii"]}
    admin.insert("tailrace.data_access", [touched])
    (row,) = scored().contributions("user", "etl")
    assert (row["id"], row["points"], row["data_classes"]) == (id_, 60, ["pci", "pii"])
    assert risk.why(row) == "30 (high) * 2 (pci, pii) * 1 (age)"


def test_an_alert_about_one_actor_counts_for_this_one_only(raised, scored):
    raised(0, entity={"src_ip": "10.0.0.1"})
    assert scores(scored()) == {("client", "10.0.0.1"): 10, ("instance", "db1"): 10}
    raised(0, entity={"user": "etl"})
    raised(0, entity={"user": "etl", "host": "app-1"}, src_ip="")
    raised(0, entity={"instance": "db1"})
    found = scores(scored())
    assert found == {
        ("user", "Etl"): 30,
        ("client", "10.0.0.1"): 20,
        ("client", "app-1"): 10,
        ("instance", "db1"): 40,
    }


def test_the_explanation_adds_up_and_names_every_alert(raised, scored):
    ids = {raised(days, level=level) for days, level in ((1, "low"), (3, "critical"), (69, "high"))}
    raised(71)
    rows = scored().contributions("user", "ETL")
    assert {row["id"] for row in rows} == ids, "alerts older than ten half-lives count nothing"
    (entity,) = scored().entities("user")
    assert entity["score"] == risk.score(rows) == risk.score(rows[::-1])
    assert (entity["top_rule"], entity["alerts"]) == ("Dump-like read", 3)
    assert scored("compliance").entities("user") == [entity]
