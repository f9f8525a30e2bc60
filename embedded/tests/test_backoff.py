"""Pauses of a channel: doubling, jitter, caps, and what a receiver asks for."""

import json
import random
import time
from email.message import Message

import pytest

from e2e.limits import LIMIT_SECONDS
from e2e.siem_receivers import serving
from tailrace.alerts.delivery.http_sender import outcome_of
from tailrace.config.home import Home
from tailrace.config.settings import Settings
from tailrace.outputs import backoff
from tailrace.outputs.backoff import Backoff
from tailrace.outputs.guarded_http import opener_for
from tailrace.outputs.http import HttpClient
from tailrace.outputs.record import DELIVERED, FAILED, REFUSED, Outcome
from tailrace.programs.delivery import DeliveryProgram

NOW = 1_772_359_200.0
"""2026-03-01 10:00 UTC."""
FAILURE = Outcome(FAILED, "HTTP 503")


class Clock:
    def __init__(self) -> None:
        self.now = NOW

    def __call__(self) -> float:
        return self.now


def made(clock: Clock, patience: int = 1) -> Backoff:
    return Backoff(4, 60, patience, clock, lambda *_: 1.0)


def test_pauses_double_up_to_the_cap_with_jitter():
    middle = [backoff.pause_seconds(number, 4, 60, lambda *_: 1.0) for number in (1, 2, 3, 4, 5, 6, 1000)]
    assert middle == [4, 8, 16, 32, 60, 60, 60]
    spread = random.Random(7)
    found = [backoff.pause_seconds(3, 4, 60, spread.uniform) for _ in range(500)]
    assert 12 <= min(found) < 13 and 19 < max(found) <= 20 and len(set(found)) == 500


def test_a_pause_ends_with_its_time_and_a_success_ends_the_count():
    clock = Clock()
    its = made(clock)
    assert (its.state.state, its.wait_seconds()) == (backoff.UNTRIED, 0)
    its.record(FAILURE)
    clock.now += 1
    its.record(FAILURE)
    assert its.wait_seconds() == 8
    state = its.state
    assert (state.state, state.failures, state.since, state.detail) == (backoff.FAILING, 2, NOW, "HTTP 503")
    clock.now += 8
    assert its.wait_seconds() == 0
    its.record(Outcome(DELIVERED, "HTTP 200"))
    assert its.state == backoff.ChannelState(backoff.WORKING, NOW + 9)
    clock.now += 1
    its.record(Outcome(REFUSED, "HTTP 400"))
    assert (its.state.state, its.state.since) == (backoff.WORKING, NOW + 9), "a refusal is an answer"


def test_a_patient_channel_is_paused_after_several_failures_in_a_row():
    its = made(Clock(), patience=3)
    waits = []
    for _ in range(4):
        its.record(FAILURE)
        waits.append(its.wait_seconds())
    assert waits == [0, 0, 4, 8]


def test_what_a_receiver_asks_for_counts_at_once_and_is_not_shortened():
    its = made(Clock(), patience=3)
    its.record(Outcome(FAILED, "HTTP 429", 120.0))
    assert its.wait_seconds() == 120
    its.record(FAILURE)
    assert its.wait_seconds() == 120, "an attempt of another thread that was on its way"


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("120", 120),
        ("0", 0),
        (" 7 ", 7),
        ("86400", 3600),
        ("999999999999", None),
        ("-5", None),
        ("soon", None),
        ("", None),
        ("\u0663", None),
        ("Sun, 01 Mar 2026 10:01:30 GMT", 90),
        ("Sunday, 01-Mar-26 10:01:30 GMT", 90),
        ("Sun, 01 Mar 2026 09:00:00 GMT", 0),
        ("Sun, 99 Mar 2026 09:00:00 GMT", None),
    ],
)
def test_the_header_is_seconds_or_a_date(text, seconds):
    headers = Message()
    headers["retry-after"] = text
    assert backoff.wished_seconds(headers, NOW) == seconds
    assert backoff.wished_seconds(Message(), NOW) is None


@pytest.mark.parametrize("status", [408, 429, 500, 503])
def test_an_answer_over_http_carries_what_it_asks_for(status):
    with serving(lambda _: (status, {}, {"Retry-After": "33"})) as url:
        answer = HttpClient(LIMIT_SECONDS, None).post(url, {}, b"{}")
        opened = outcome_of(lambda: opener_for(url, None).open(url, b"{}", timeout=LIMIT_SECONDS))
    assert (answer.status, answer.retry_after) == (status, 33)
    assert (opened.outcome, opened.retry_after) == (FAILED, 33)


@pytest.mark.parametrize(
    ("state", "hours", "said"),
    [
        (backoff.FAILING, 1, "hook: HTTP 503"),
        (backoff.FAILING, 0, ""),  # a short outage needs no one
        (backoff.WORKING, 9, ""),
        (backoff.UNTRIED, 9, ""),
    ],
)
def test_the_delivery_reports_a_channel_that_fails_for_long(tmp_path, state, hours, said):
    home = Home(tmp_path)
    now = time.time()
    channel = {"state": state, "since": now - hours * 3600, "detail": "HTTP 503", "problem": "", "at": now}
    beat = home.data("delivery") / "beat"
    beat.parent.mkdir(parents=True, exist_ok=True)
    beat.write_text(json.dumps({"hook": channel}))
    program = DeliveryProgram(Settings(), home)
    assert (program.problem(), program.health().ok) == (said, True), "it is not restarted for its receiver"
