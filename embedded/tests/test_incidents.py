"""Which alerts are one incident, in any order of arrival; no server is started."""

import random
from datetime import UTC, datetime, timedelta

from tailrace.alerts import incidents

NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)


def alert(id_: str, minutes: float, account: str = "", client: str = "", **fields) -> dict:
    at = NOON + timedelta(minutes=minutes)
    given = {"cluster": "shop", "instance": "db1", "level": "low", "tags": [], "state": "open"}
    given |= {"id": id_, "began": at, "event_time": at, "account": account, "client": client}
    return {**given, "rule_title": id_, **fields}


def sets(found) -> list[list[str]]:
    return sorted(each.ids for each in found)


def test_alerts_of_one_user_close_in_time_are_one_incident():
    alerts = [alert("a", 0, "ann"), alert("b", 60, "Ann"), alert("c", 121, "ann"), alert("d", 30, "ben")]
    assert sets(incidents.grouped(alerts)) == [["a", "b"], ["c"], ["d"]]


def test_a_long_alert_covers_the_pause_behind_it():
    long = alert("a", 0, "ann", event_time=NOON + timedelta(hours=5))
    alerts = [long, alert("b", 10, "ann"), alert("c", 350, "ann")]
    assert sets(incidents.grouped(alerts)) == [["a", "b", "c"]]


def test_an_alert_with_user_and_client_links_the_alerts_of_both():
    guessed = [alert("a", 0, client="10.0.0.9"), alert("c", 20, account="ann")]
    assert sets(incidents.grouped(guessed)) == [["a"], ["c"]]
    assert sets(incidents.grouped([*guessed, alert("b", 10, "ann", "10.0.0.9")])) == [["a", "b", "c"]]


def test_users_of_other_clusters_and_alerts_without_an_actor_are_apart():
    alerts = [alert("a", 0, "ann"), alert("b", 0, "ann", cluster="other"), alert("c", 0), alert("d", 1)]
    assert sets(incidents.grouped(alerts)) == [["a"], ["b"], ["c", "d"]]
    apart = [alert("c", 0), alert("d", 1, instance="db2")]
    assert sets(incidents.grouped(apart)) == [["c"], ["d"]]


def test_the_result_does_not_depend_on_the_order():
    generator = random.Random(7)
    names, clients = ("ann", "ben", "eve", ""), ("10.0.0.1", "10.0.0.2", "")
    alerts = [
        alert(f"{n:03}", generator.randrange(3000), generator.choice(names), generator.choice(clients))
        for n in range(200)
    ]
    expected = sets(incidents.grouped(alerts))
    assert sum(map(len, expected)) == 200
    for _ in range(5):
        generator.shuffle(alerts)
        assert sets(incidents.grouped(alerts)) == expected


def test_an_incident_has_the_highest_level_its_tactics_in_order_and_its_state():
    alerts = [
        alert("b", 5, "ann", level="critical", tags=["attack.exfiltration"], state="acknowledged"),
        alert("a", 0, "ann", tags=["attack.initial-access", "attack.t1110"], state="closed"),
        alert("c", 9, "ann", level="high", tags=["attack.initial-access"], state="closed"),
    ]
    (found,) = incidents.grouped(alerts)
    assert (found.id, found.level, found.state) == ("a", "critical", "acknowledged")
    assert found.tactics == ["Initial Access", "Exfiltration"]
    assert (found.began, found.ended) == (NOON, NOON + timedelta(minutes=9))


def test_the_most_severe_come_first_then_the_latest():
    alerts = [alert("a", 0, "u1"), alert("b", 9, "u2"), alert("c", 3, "u3", level="high")]
    assert [each.id for each in incidents.grouped(alerts)] == ["c", "b", "a"]
