"""The parts of the alert inbox that need no server: filters, forms, saved filters, sentences."""

import re
import uuid
from datetime import UTC, datetime
from pathlib import Path
from types import SimpleNamespace

import jinja2
import pytest

from tailrace.alerts import suppressions, triage
from tailrace.alerts.triage import AlertError, UnconfirmedError
from tailrace.clickhouse.row_policies import Restriction
from tailrace_pages import formats, saved_filters
from tailrace_pages.alerts import (
    active_suppressions,
    details,
    filters,
    gaps,
    handling,
    listing,
    restrictions,
)
from tailrace_pages.page_errors import BadAddressError, NotFoundError, UnavailableError

ID = "7f51d5a4fd9f6347f8595fb466e35d56"
ALERT = {
    "rule_title": "Dump-like read",
    "user": "mallory",
    "src_ip": "10.1.20.17",
    "program": "mysqldump",
    "instance": "shop-db-1",
    "entity_key": "user=mallory",
    "alert_count": 3,
    "window_from": datetime(2026, 3, 1, 12, tzinfo=UTC),
    "event_time": datetime(2026, 3, 1, 12, 5, tzinfo=UTC),
}


def test_the_default_shows_what_is_to_be_done():
    found = filters.parse({})
    assert found["state"] == "active"
    assert found.arguments() == {}
    assert found.parameters("erin")["by_assignee"] == ""


def test_filters_survive_a_link():
    given = {"state": "closed", "verdict": "benign", "rule": "dump", "field": "user", "value": "o'brien"}
    assert filters.parse(given).arguments() == given
    assert filters.parse({**given, "unknown": "x"}).arguments() == given


@pytest.mark.parametrize(("given", "name"), [("me", "erin"), ("nobody", ""), ("ann", "ann")])
def test_an_assignee_is_a_name_me_or_nobody(given, name):
    found = filters.parse({"assignee": given}).parameters("erin")
    assert (found["by_assignee"], found["assignee"]) == ("yes", name)


@pytest.mark.parametrize(
    "given", [{"state": "odd"}, {"level": "fatal"}, {"verdict": "x"}, {"field": "user"}, {"value": "x"}]
)
def test_a_filter_that_does_not_exist_is_refused(given):
    with pytest.raises(BadAddressError, match=r"\.$"):
        filters.parse(given)


def test_the_suppressions_of_an_alert_are_those_that_cover_its_next_ones():
    alert = {"rule_id": "r1", "entity": {"user": "etl", "host": "10.0.0.9"}}
    pairs = [("r1", {}), ("", {"user": "etl"}), ("r1", {"user": "ann"}), ("r2", {}), ("r1", alert["entity"])]
    rows = [{"rule": rule, "entity": entity} for rule, entity in pairs]
    assert active_suppressions.of_alert(rows, alert) == [rows[0], rows[1], rows[4]]
    assert active_suppressions.of_rule(rows, "r2") == [rows[3], rows[1]], "that of every rule is one, too"
    other_case = {"rule": "r1", "entity": {"user": "ETL"}}
    assert active_suppressions.of_alert([other_case], alert) == [other_case]
    said = [active_suppressions.what(row, "Login" if row["rule"] else "") for row in rows[:2]]
    assert said == ["the rule Login for every entity", "every rule for user etl"]


def test_every_active_state_of_the_command_line_is_shown():
    assert active_suppressions.STATES == suppressions.ACTIVE


def test_every_preset_is_a_filter():
    for given in filters.PRESETS.values():
        assert filters.parse(given).arguments() == given


def test_a_page_of_the_list_goes_through_the_severities_in_order():
    latest = {"low": ["l1", "l2"], "critical": ["c1", "c2", "c3"], "high": []}
    found = listing.Overview({"low": 2, "critical": 3}, 0, latest)
    for level, page, ids in (
        ("", 1, ["c1", "c2", "c3"]),
        ("", 2, ["c3", "l1", "l2"]),
        ("low", 1, ["l1", "l2"]),
        ("medium", 1, []),
        ("medium or lower", 1, ["l1", "l2"]),
    ):
        assert found.ids(filters.parse({"level": level}).levels, page, 2) == ids


@pytest.mark.parametrize(
    ("name", "title"),
    [("operation", "Operation"), ("median_before_ms", "Median before (ms)"), ("other_ip", "Other address")],
)
def test_facts_have_titles_not_raw_names(name, title):
    empty = dict.fromkeys(("database", "cluster", "late", "tags", "rule_file"), "")
    times = dict.fromkeys(("detected_at", "updated_at"), ALERT["event_time"])
    alert = {**ALERT, **empty, **times, "metric": 1, "facts": {name: "accounts"}}
    assert (title, "accounts", "") in details.facts(alert, has_entities=False)


@pytest.mark.parametrize(
    ("stored", "shown"),
    [
        ("gte 10", "at least 10"),
        ("gt 1 and lte 20", "more than 1 and at most 20"),
        ("refused_login and login", "refused_login and login"),
    ],
)
def test_the_condition_of_a_correlation_is_in_words(stored, shown):
    assert details.fact_value("condition", stored) == shown
    assert details.fact_value("explanation", "gte 10") == "gte 10"


def test_forms_are_checked_before_anything_is_done():
    form = handling.wanted({"action": "close", "verdict": "benign", "reason": " planned "}, [ID], "erin")
    assert (form.action.actor, form.action.reason, form.action.verdict) == ("erin", "planned", "benign")
    assert handling.wanted({"action": "assign"}, [ID], "erin").action.assignee == "erin"
    assert handling.wanted({"action": "ack", "verdict": "benign"}, [ID], "erin").action.verdict == ""
    taken = handling.wanted({"action": "take", "assignee": "sam"}, [ID], "erin").actions
    assert [(each.action, each.assignee) for each in taken] == [("assign", "erin"), ("ack", "")]
    for given in (
        {},
        {"action": "drop"},
        {"action": "close", "verdict": "odd"},
        {"action": "ack", "reason": "x" * 9999},
    ):
        with pytest.raises(BadAddressError):
            handling.wanted(given, [ID], "erin")
    with pytest.raises(BadAddressError, match="at most 200"):
        handling.wanted({"action": "ack"}, [ID] * 201, "erin")
    for id_ in ("", "7f51", ID.upper(), f"{ID}0", "' OR 1", f"{ID}\n"):
        with pytest.raises(NotFoundError):
            handling.wanted({"action": "ack"}, [id_], "erin")


def test_an_action_needs_an_alert_and_a_reason():
    with pytest.raises(AlertError, match="No alert"):
        handling.act(None, handling.wanted({"action": "ack"}, [], "erin"))
    with pytest.raises(AlertError, match="Close needs a reason"):
        handling.act(None, handling.wanted({"action": "close"}, [ID], "erin"))
    for act in (handling.act, handling.act_where_possible):
        with pytest.raises(AlertError, match="Close needs a verdict: true positive, false positive, benign"):
            act(None, handling.wanted({"action": "close", "reason": "planned"}, [ID], "erin"))
    with pytest.raises(BadAddressError):
        handling.suppress(None, ID, {"scope": "world", "span": "1 day", "reason": "x"}, "erin", ())
    with pytest.raises(AlertError, match="Suppress needs a reason"):
        handling.suppress(None, ID, {"scope": "rule", "span": "1 day"}, "erin", ())


@pytest.mark.parametrize(
    ("scope", "entity", "restricted", "may"),
    [
        ("rule", {"instance": "db-1"}, {"instance"}, False),
        ("rule", {"user": "etl"}, (), True),
        ("both", {"user": "etl"}, {"instance"}, False),
        ("entity", {"user": "etl", "instance": "db-1"}, {"instance"}, True),
        ("entity", {"instance": "DB-1"}, {"instance"}, False),
        ("both", {"instance": "db-1"}, {"instance", "database"}, False),
    ],
)
def test_a_restricted_audience_suppresses_only_what_it_sees(scope, entity, restricted, may):
    alert = {"entity": entity, "cluster": "shop", "instance": "db-1", "database": ""}
    if may:
        restrictions.require_within(alert, scope, restricted)
        return
    with pytest.raises(AlertError, match="sees only a part of the servers"):
        restrictions.require_within(alert, scope, restricted)


@pytest.mark.parametrize(
    ("entity", "restricted", "offered"),
    [
        ({"user": "etl"}, (), ["both", "entity", "rule"]),
        ({"instance": "db-1"}, {"instance"}, ["both", "entity"]),
        ({"user": "etl"}, {"instance"}, []),
    ],
)
def test_only_permitted_suppressions_are_offered(entity, restricted, offered):
    alert = {"entity": entity, "cluster": "shop", "instance": "db-1", "database": ""}
    assert restrictions.permitted(alert, handling.SCOPES, restricted) == offered


def test_a_rule_is_suppressed_everywhere_only_by_who_sees_all_servers():
    form = {"span": "1 day", "reason": "noisy"}
    with pytest.raises(AlertError, match="must name the cluster and the instance of the alert"):
        handling.suppress_rule("r1", form, "erin", {"instance", "cluster"})


@pytest.mark.parametrize("values", [{"instance": ("db-1",)}, {"cluster": ("a",), "database": ("", "b")}])
def test_the_restricted_columns_are_those_of_access_yaml(values):
    restriction = Restriction(values)
    datasets = [("cluster", "instance", "database"), ("cluster", "instance"), ("query_id",), ()]
    clauses = [restriction.dataset_filter(columns) for columns in datasets]
    assert restrictions.named_in(clauses) == values.keys()
    assert restrictions.named_in([]) == set() and restrictions.named_in(["1 = 0"]) == restrictions.COLUMNS


class Sees:
    """A store with the suppressions of the viewer's account."""

    def __init__(self, *ids: str) -> None:
        self._rows = [{"id": id_, "state": "in force"} for id_ in ids]

    def rows(self, query: str) -> list[dict]:
        return self._rows


def test_a_suppression_that_the_viewer_does_not_see_is_not_ended(monkeypatch):
    monkeypatch.delenv("SUPERSET_ANALYST_URL", raising=False)
    id_, form = str(uuid.UUID(int=8)), {"reason": "done"}
    with pytest.raises(AlertError, match="your role does not see it"):
        handling.end_suppression(Sees(str(uuid.UUID(int=9))), id_, form, "erin")
    with pytest.raises(UnavailableError, match="no account"):
        handling.end_suppression(Sees(id_), id_, form, "erin")


def test_a_superset_without_the_account_only_shows(monkeypatch):
    monkeypatch.delenv("SUPERSET_ANALYST_URL", raising=False)
    monkeypatch.delenv("SUPERSET_KAFKA", raising=False)
    assert not handling.can_act() and not handling.can_suppress()
    with pytest.raises(UnavailableError, match="no account"):
        handling.suppress_alert({**ALERT, "rule_id": "r"}, "rule", 1, "test", "erin")


def test_kafka_is_reached_with_its_account(monkeypatch, tmp_path):
    monkeypatch.setenv("SUPERSET_ANALYST_URL", "http://127.0.0.1:1")
    monkeypatch.setenv("SUPERSET_KAFKA", "kafka:9092")
    assert handling._kafka().properties == {}
    (tmp_path / "password").write_text("secret\n")
    monkeypatch.setenv("SUPERSET_KAFKA_PROPERTIES", '{"sasl.username": "tailrace-rules"}')
    monkeypatch.setenv("SUPERSET_KAFKA_PASSWORD_FILE", str(tmp_path / "password"))
    found = handling._kafka()
    assert found.address == "kafka:9092"
    assert found.properties == {"sasl.username": "tailrace-rules", "sasl.password": "secret"}


def test_a_refusal_does_not_name_commands():
    error = AlertError("7f51d5a4 is closed; reopen it first: tailrace alerts reopen 7f51d5a4 --reason …")
    assert handling.failure(error) == "7f51d5a4 is closed. Nothing was changed."


def test_an_unknown_outcome_is_not_called_unchanged():
    error = UnconfirmedError("Kafka did not confirm it: it may or may not have ended; end it again")
    said = "Kafka did not confirm it: it may or may not have ended; end it again."
    assert handling.failure(error) == said


def test_saved_filters_have_names_and_a_limit():
    saved = saved_filters.with_one({}, "  my   alerts ", {"assignee": "me"})
    assert saved == {"my alerts": {"assignee": "me"}}
    for name in ("", "  ", "x" * 61):
        with pytest.raises(BadAddressError):
            saved_filters.with_one(saved, name, {})
    full = {str(number): {} for number in range(saved_filters.AT_MOST)}
    with pytest.raises(BadAddressError, match="remove one"):
        saved_filters.with_one(full, "one more", {})
    assert saved_filters.with_one(full, "7", {"state": "open"})["7"] == {"state": "open"}


def test_the_sentence_says_what_is_known():
    assert details.sentence(ALERT) == (
        "Dump-like read: user mallory from 10.1.20.17 with mysqldump on shop-db-1, "
        "matched 3 times, from 2026-03-01 12:00:00 to 2026-03-01 12:05:00 UTC."
    )
    without = {**ALERT, "user": "", "src_ip": "", "program": "", "instance": "", "alert_count": 1}
    without["window_from"] = without["event_time"]
    assert details.sentence(without) == (
        "Dump-like read: user mallory, matched once, at 2026-03-01 12:05:00 UTC."
    )
    assert "An unknown user from 10.1.20.17" in details.sentence({**ALERT, "user": ""})


@pytest.mark.parametrize(
    ("row", "text"),
    [
        ({"state": "open", "silenced": False, "verdict": ""}, "open"),
        ({"state": "open", "silenced": True, "verdict": ""}, "suppressed"),
        ({"state": "acknowledged", "silenced": True, "verdict": ""}, "acknowledged"),
        ({"state": "closed", "silenced": True, "verdict": "benign"}, "closed: benign"),
        ({"state": "closed", "silenced": False, "verdict": ""}, "closed"),
    ],
)
def test_states_in_words(row, text):
    assert listing.shown_state(row) == text


class Unavailable:
    """A store that does not answer in time."""

    def row(self, query: str, **parameters):
        raise UnavailableError("The query took too long.")


def test_an_alert_about_a_gap_is_shown_without_the_state_of_its_range():
    facts = {"log": "audit.log", "generation": "1", "from_offset": "100", "to_offset": "900"}
    found = gaps.read(Unavailable(), {**ALERT, "facts": facts}, True)
    assert found.text.startswith("What is still missing of the lost bytes is unknown")
    assert not found.is_repaired and list(found.addresses) == ["Gaps by file", "Evidence of lost bytes"]


def template(name: str) -> str:
    return (Path(handling.__file__).parents[1] / "templates/tailrace_pages" / name).read_text()


def test_the_enter_key_in_the_field_of_the_reason_adds_a_comment():
    """A browser submits with the first button of a form."""
    buttons = re.findall(r'<button name="action" value="(\w+)"', template("alerts/forms.html"))
    assert (buttons[0], sorted(buttons)) == (
        "comment",
        ["ack", "assign", "close", "comment", "reopen", "take"],
    )


def test_a_browser_asks_for_the_verdict_of_a_close():
    """No verdict is chosen in advance, and the value of the first choice is not one."""
    (choices,) = re.findall(r'<select name="verdict">(.*?)</select>', template("alerts/forms.html"), re.S)
    assert re.search("<option[^>]*>[^<]*", choices)[0] == '<option value="">choose one'
    assert "selected" not in choices
    assert '<button name="action" value="close" data-needs="reason verdict">' in template("alerts/forms.html")


@pytest.mark.parametrize("name", ["alerts/alert.html", "alerts/forms.html", "rules/rule.html"])
def test_a_browser_asks_for_the_reason_of_a_suppression(name):
    """Otherwise the page is loaded again, and the chosen duration is lost."""
    (field,) = re.findall(r'<input name="reason" size="24"[^>]*>', template(name))
    assert "required" in field


def rendered(source: str, **context: object) -> str:
    """Returns a template with what rendering.py gives to all."""
    environment = jinja2.Environment(
        loader=jinja2.PackageLoader("tailrace_pages"), autoescape=True, undefined=jinja2.StrictUndefined
    )
    environment.globals.update(formats=formats, link=lambda name, **_: name, csrf_token=lambda: "token")
    frame = {"viewer": SimpleNamespace(name="erin"), "verdicts": triage.VERDICTS}
    return environment.from_string(source).render(**{**frame, **context})


@pytest.mark.parametrize(
    ("state", "verdict", "buttons"),
    [
        (triage.OPEN, "", ["comment", "take", "ack", "assign", "close"]),
        (triage.ACKNOWLEDGED, "", ["comment", "assign", "close"]),
        (triage.CLOSED, "benign", ["comment", "reopen"]),
        (triage.CLOSED, "", ["comment", "close", "reopen"]),
    ],
)
def test_an_alert_offers_the_actions_that_its_state_allows(state, verdict, buttons):
    imported = '{% import "tailrace_pages/alerts/forms.html" as forms with context %}'
    call = imported + '{{ forms.actions("This alert") }}'
    shown = rendered(call, allowed=triage.actions_in(state, verdict))
    assert re.findall(r'<button name="action" value="(\w+)"', shown) == buttons
    every = rendered(call, allowed=tuple(handling.ACTIONS))
    assert sorted(re.findall(r'<button name="action" value="(\w+)"', every)) == sorted(handling.ACTIONS)


def test_a_fact_leads_to_the_query_that_the_alert_is_about():
    empty = dict.fromkeys(("database", "cluster", "late", "tags", "rule_file"), "")
    times = dict.fromkeys(("detected_at", "updated_at"), ALERT["event_time"])
    about = {"entity": {"query_id": "5b54b1a5b885aaaa"}, "entity_key": "query_id=5b54b1a5b885aaaa"}
    alert = {**ALERT, **empty, **times, "metric": 1, "facts": {}, **about}
    (address,) = [
        where for name, _, where in details.facts(alert, False, has_queries=True) if name == "Entity"
    ]
    assert address.startswith("/tailrace/queries/5B54B1A5B885AAAA/?from=")
    assert [where for name, _, where in details.facts(alert, False) if name == "Entity"] == [""]


@pytest.mark.parametrize(
    ("sent", "known", "events", "shown"),
    [
        (184_302, 2, 2, "184,302"),
        (5, 1, 3, "at least 5, known for 1 of 3 events"),
        (0, 0, 1, "unknown: the log of these events does not contain it"),
    ],
)
def test_rows_sent_are_never_more_certain_than_the_logs(sent, known, events, shown):
    assert details.rows_sent(sent, known, events) == shown


def test_an_active_suppression_is_not_called_no_action():
    source, keys = template("alerts/alert.html"), ("suppressions", "history", "can_act")
    empty = re.search(r"{{ (parts\.empty\(\(.New alerts of its rule.*?)}}", source)[1]
    imported = '{% import "tailrace_pages/parts.html" as parts with context %}'
    for suppressions_, said in (([{}], True), ([], False)):
        given = dict(zip(keys, (suppressions_, [], True), strict=True))
        shown = rendered(f"{imported}{{{{ {empty} }}}}", **given)
        assert ("New alerts of its rule and entity are suppressed." in shown) == said
