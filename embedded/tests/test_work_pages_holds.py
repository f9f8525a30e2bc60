"""The pages of legal holds without Superset: their forms by state and person, and what they state."""

import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import closing

import jinja2
import pytest

from tailrace.retention import holds, selectors
from tailrace.retention.holds import Hold
from tailrace.retention.selection import Selected, Selection
from tailrace.unix_socket import short_path
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


PAGE = {"restriction": "", "refusal": "", "reason": "", "text_length": 9}
"""What the page of a hold has in general."""


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
        **PAGE,
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
        found=hold_listing.summary(found) if found else None,
        columns=hold_listing.SELECTED,
        is_here=True,
        is_unknown=False,
        **{**PAGE, "refusal": SCRIPT},
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
    lines = "x\r\n" * 1000
    assert holding.wanted({"reason": lines + "xx"}).reason == "x\n" * 1000 + "xx"
    with pytest.raises(RefusedError, match="reason has 2002 characters; at most 2000"):
        holding.wanted({"selector": "user:x", "reason": lines + "xx"}).parsed()
    with pytest.raises(RefusedError, match=r"Expected KEY:VALUE .* found 'x'\."):
        Wanted(selector="x").parsed()


def test_without_the_service_nothing_is_recorded(tmp_path):
    missing = {holding.SOCKET: str(tmp_path / "none.sock")}
    for environment, message in (({}, "use tailrace hold"), (missing, "Nothing was recorded")):
        with pytest.raises(RefusedError, match=message):
            holding.place(Wanted("c", "user:x", "r", "user:x"), *OFFICER, environment)
        with pytest.raises(RefusedError, match=message):
            holding.release(hold(), holds.REQUEST, "r", *OFFICER, environment)


@pytest.fixture
def answering(tmp_path) -> Iterator[Callable[[bytes], dict[str, str]]]:
    """Returns the environment of a socket that reads one request, answers these bytes and closes."""
    with closing(socket.socket(socket.AF_UNIX)) as listening, short_path(tmp_path / "s.sock") as path:
        listening.bind(path)
        listening.listen()
        threads = []

        def environment(answer: bytes) -> dict[str, str]:
            def serve() -> None:
                connection, _ = listening.accept()
                with connection:
                    connection.recv(1 << 16)
                    connection.sendall(answer)

            threads.append(threading.Thread(target=serve))
            threads[-1].start()
            return {holding.SOCKET: str(tmp_path / "s.sock")}

        yield environment
        for thread in threads:
            thread.join()


@pytest.mark.parametrize(
    ("status", "said", "is_unknown"),
    [
        ("400 Bad Request", "Nothing was recorded", False),
        ("403 Forbidden", "Nothing was recorded", False),
        ("502 Bad Gateway", "outcome is unknown", True),
        ("", "outcome is unknown", True),
    ],
)
def test_nothing_was_recorded_only_if_the_service_refused(answering, status, said, is_unknown):
    body = b'{"error": "no quorum"}'
    answer = f"HTTP/1.1 {status}\r\nContent-Length: {len(body)}\r\n\r\n".encode() + body if status else b""
    with pytest.raises(RefusedError, match=said) as found:
        holding.release(hold(), holds.REQUEST, "r", *OFFICER, answering(answer))
    assert found.value.is_unknown == is_unknown


def test_rows_that_were_not_counted_are_unknown_and_keep_the_forms():
    found = hold_listing.uncounted("The query took too long.")
    common = {"found": found, "columns": hold_listing.SELECTED, "is_here": True, **PAGE}
    html = rendered(
        "hold_new.html", given=Wanted("c", "user:x", "r", hold="ab" * 16), is_unknown=True, **common
    )
    assert f'name="hold" value="{"ab" * 16}"' in html
    assert "unknown, they were not counted in time" in html and "Place the hold as ines" in html
    assert "selects no row" not in html
    facts = hold_listing.facts(hold(), None, "The query took too long.")
    assert dict(facts)["Applied"].startswith("unknown: The query")
    more = {"facts": facts, "record_columns": hold_listing.RECORD, "record": [], "waits": False}
    html = rendered("hold.html", hold=hold(), step=holds.REQUEST, **more, **common)
    assert "unknown, they were not counted in time" in html and "Request the release as ines" in html


def test_a_restricted_viewer_sees_the_reason_instead_of_a_form(answering):
    body = b'{"error": "access.yaml restricts it"}'
    answer = b"HTTP/1.1 403 Forbidden\r\nContent-Length: %d\r\n\r\n%b" % (len(body), body)
    reason = holding.refusal(OFFICER[1], answering(answer))
    assert reason == "Access.yaml restricts it." and holding.refusal(OFFICER[1], {}) == ""
    common = {"found": None, "columns": (), "is_here": True, **PAGE, "restriction": reason}
    html = rendered("hold_new.html", given=Wanted(), is_unknown=False, **common)
    assert reason in html and "<form" not in html
