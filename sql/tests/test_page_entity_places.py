"""Tests the order of records in one second, alerts of a session, and clients with several forms."""

from datetime import timedelta

from entity_rows import BEGIN, HOUR, minutes_in, reading
from security_rows import alert_of, audit, denied_message, login, slow

from tailrace_pages.entities.kinds import SESSION

__all__ = ["reading"]  # fixture


def test_records_of_one_second_are_in_the_order_of_their_log(stored, reading):
    at, places = minutes_in(5 * HOUR), [(1, 900), (1, 2000), (1, 10000), (2, 0), (2, 70)]
    ids = [f"{number:08x}-0000-4000-8000-000000000000" for number in (5, 3, 4, 1, 2)]
    commands = ["CONNECT", "DISCONNECT", "CONNECT", "DISCONNECT", "CONNECT"]
    its = {"user": "ann", "event_class": "connection", "log": "/log/audit.log"}
    stored(
        "audit_events",
        *(
            audit(at, event_id=id_, command=command, generation=generation, entry_offset=offset, **its)
            for id_, command, (generation, offset) in zip(ids, commands, places, strict=True)
        ),
    )
    of_session = reading(SESSION, cluster="shop", instance="db1", connection=7)
    for its_reading in (reading("user", "ann"), of_session):
        assert [row["id"] for row in its_reading.page("", None)[0]] == ids[::-1]
        before, seen = None, []
        for _ in range(len(ids)):
            (row,), before = its_reading.page("", before, 1)
            seen.append(row["id"])
        assert seen == ids[::-1] and before is None


def test_alerts_and_the_latest_record_of_a_session(stored, reading):
    at = minutes_in(2 * HOUR)
    its = slow(at, 5, connection_id=17)
    message = {**denied_message(at, 9), "thread_id": 17}
    others = audit(at, 5, connection_id=18), audit(at, 20, connection_id=17, instance="db2")
    stored("audit_events", login(at, connection_id=17), *others)
    stored("query_events", its)
    stored("error_events", message)
    stored(
        "alerts",
        alert_of(its, rule_title="its", cluster="shop"),
        alert_of(message, rule_title="message", cluster="shop"),
        *(alert_of(each, rule_title="other", cluster="shop") for each in others),
    )
    of_session = reading(SESSION, cluster="shop", instance="db1", connection=17)
    found = {row["rule_title"]: row["relation"] for row in of_session.alerts}
    assert found == dict.fromkeys(("its", "message"), "names its records")
    assert of_session.latest() == BEGIN + timedelta(hours=2, seconds=9)
    assert reading(SESSION, instance="db1", connection=99).latest() is None


def test_an_alert_about_a_client_is_found_in_every_form_of_its_address(stored, reading):
    record = audit(minutes_in(3 * HOUR), user="ann")
    stored(
        "alerts",
        alert_of(record, rule_title="column", src_ip="10.0.3.9", event_ids=[]),
        alert_of(record, rule_title="entity", entity={"src_ip": "10.0.3.9"}, event_ids=[]),
        alert_of(record, rule_title="other", src_ip="10.0.3.8", event_ids=[]),
    )
    for address in ("10.0.3.9", "::ffff:10.0.3.9", "::FFFF:0a00:0309"):
        found = {row["rule_title"]: row["relation"] for row in reading("client", address).alerts}
        assert found == {"column": "about it", "entity": "about it"}, address
