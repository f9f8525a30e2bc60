"""The pages of legal holds without Superset: their forms by state and person, and what they state."""

import jinja2
import pytest

from tailrace.retention import holds, selectors
from tailrace.retention.holds import Hold
from tailrace.retention.selection import Selected, Selection
from tailrace_pages import formats
from tailrace_pages.columns import least_width
from tailrace_pages.page_errors import BadAddressError
from tailrace_pages.retention import hold_listing, holding
from tailrace_pages.retention.holding import RefusedError, Wanted

OFFICER = ("ines", "tailrace_audit")
SCRIPT = "<script>alert(1)</script>"
SELECTOR = selectors.parse("user:etl")
FOUND = Selection(
    [Selected("audit_events", "Audit", 2), Selected("alerts", "Alerts", 0)], ["ledger"], ["query_samples"]
)


def hold(state: str = "active", requested_by: str = "", **more) -> Hold:
    return Hold(
        "ab" * 16, SCRIPT, SELECTOR, state, "2026-11-01 10:00:00", "ines", SCRIPT, None, requested_by, **more
    )


REQUESTED = hold("release requested", "Ines ", requested_because=SCRIPT)


@pytest.mark.parametrize(
    ("given", "name", "step"),
    [
        (hold(), "ines", holds.REQUEST),
        (hold(), "omar", holds.REQUEST),
        (REQUESTED, "ines", ""),
        (REQUESTED, "omar", holds.CONFIRM),
        (hold("released", "ines", released_by="omar"), "eva", ""),
    ],
)
def test_the_next_step_depends_on_state_and_person(given, name, step):
    assert holding.next_step(given, name) == step


@pytest.mark.parametrize(
    ("given", "is_here", "shown", "hidden"),
    [
        (hold(), True, "Request the release as ines", "Confirm"),
        (hold(), False, "tailrace hold release abababab", "<form"),
        (REQUESTED, True, "until another person confirms it", "<form"),
        (hold("release requested", SCRIPT), True, "Confirm the release as ines", "Request the release"),
        (hold("released", "omar", released_by="eva"), True, "released", "<form"),
    ],
)
def test_the_form_of_a_hold(given, is_here, shown, hidden):
    html = rendered(
        "hold.html",
        hold=given,
        facts=hold_listing.facts(given, []),
        found=hold_listing.summary(FOUND),
        columns=hold_listing.SELECTED,
        record_columns=hold_listing.RECORD,
        record=hold_listing.record_rows([recorded(holds.PLACE), recorded("another")]),
        step=holding.next_step(given, "ines"),
        waits=given.is_in_force and given.is_requested_by("ines"),
        is_here=is_here,
    )
    assert shown in html and hidden not in html
    assert SCRIPT not in html and "&lt;script&gt;" in html


@pytest.mark.parametrize(
    ("given", "unapplied", "said"),
    [
        (hold(), None, "unknown"),
        (hold(), [], "yes"),
        (
            REQUESTED,
            ["alerts", "audit_events"],
            "not yet: the next run of retention changes the TTL of alerts, ",
        ),
        (hold("released", "ines", released_by="omar"), None, None),
    ],
)
def test_a_hold_is_applied_or_not_or_this_is_unknown(given, unapplied, said):
    found = dict(hold_listing.facts(given, unapplied)).get("Applied")
    assert found is None if said is None else found.startswith(said)


def recorded(action: str) -> dict:
    return {"action": action, "moment": "m", "actor": SCRIPT, "reason": SCRIPT, "account": "auditor"}


@pytest.mark.parametrize("found", [None, FOUND, Selection([], ["ledger"], [])])
def test_only_what_was_previewed_can_be_placed(found):
    html = rendered(
        "hold_new.html",
        given=Wanted(SCRIPT, f'"{SCRIPT}', SCRIPT),
        refusal=SCRIPT,
        found=hold_listing.summary(found) if found else None,
        columns=hold_listing.SELECTED,
        is_here=True,
        text_length=9,
    )
    assert SCRIPT not in html and ("Place the hold as ines" in html) == bool(found)
    assert ("query_samples" in html) == ("2 rows now" in html) == (found is FOUND)
    assert ("selects no row" in html) == (found is not None and not found.rows)


def rendered(template: str, **context) -> str:
    """Returns the content of a page of a hold, without its frame."""
    frame = jinja2.DictLoader({"tailrace_pages/base.html": "{% block content %}{% endblock %}"})
    pages = jinja2.ChoiceLoader([frame, jinja2.PackageLoader("tailrace_pages")])
    environment = jinja2.Environment(loader=pages, autoescape=True, undefined=jinja2.StrictUndefined)
    own = {"formats": formats, "least_width": least_width, "csrf_token": lambda: "token"}
    environment.globals.update(
        own, link=lambda name, **_: name, changed=lambda **_: "/", viewer={"name": "ines"}
    )
    return environment.get_template(f"tailrace_pages/retention/{template}").render(context)


def test_a_form_has_known_actions_and_texts_of_a_limited_length():
    assert holding.wanted({"case": " c ", "selector": "user:x"}) == Wanted("c", "user:x")
    for wrong in ({"action": "x"}, {}):
        with pytest.raises(BadAddressError, match="there are preview, place"):
            holding.action(wrong)
    with pytest.raises(BadAddressError, match="at most 2000"):
        holding.wanted({"reason": "x" * 2001})
    with pytest.raises(RefusedError, match=r"Expected KEY:VALUE .* found 'x'\."):
        Wanted(selector="x").parsed()


def test_without_the_service_nothing_is_recorded(tmp_path):
    missing = {holding.SOCKET: str(tmp_path / "none.sock")}
    for environment, message in (({}, "use tailrace hold"), (missing, "Nothing was recorded")):
        with pytest.raises(RefusedError, match=message):
            holding.place(Wanted("c", "user:x", "r", "user:x"), *OFFICER, environment)
        with pytest.raises(RefusedError, match=message):
            holding.release(hold(), holds.REQUEST, "r", *OFFICER, environment)
