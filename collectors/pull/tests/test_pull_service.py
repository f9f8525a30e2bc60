"""The passes of the puller."""

import re
import threading
from pathlib import Path

import tailrace_pull
from e2e.limits import LIMIT_SECONDS
from tailrace_pull import costs, service
from tailrace_pull.costs import Cost
from tailrace_pull.log import PulledLog
from tailrace_pull.reading import Round
from tailrace_pull.service import Clock, Service, Watch
from tailrace_pull.shipping import ShippingError
from tailrace_pull.state import LogState

LOG = PulledLog("db-1", "shop", "slowlog", "/rds/r/db-1/slowquery/mysql-slowquery.log")


class Sink:
    def ship(self, rounds: dict[PulledLog, Round], its_costs: dict[PulledLog, Cost]) -> None:
        pass


class LongLog:
    """A log whose visit ends when `may_end` is set."""

    def __init__(self) -> None:
        self.may_end = threading.Event()

    def visit(self, state: LogState, *_: object) -> Round:
        assert self.may_end.wait(LIMIT_SECONDS)
        return Round(1.0, state)


class FaultyLog:
    """A log whose reader has a fault."""

    def visit(self, *_: object) -> Round:
        raise ValueError("select secret")


def test_a_fault_of_a_reader_is_a_problem_of_its_log_and_the_others_are_read():
    log, other, lines = LongLog(), PulledLog("db-2", "shop", "slowlog", "/a"), []
    log.may_end.set()
    faulty, good = Watch(other, FaultyLog(), LogState()), Watch(LOG, log, LogState())
    its = Service([faulty, good], Sink(), lines.append)
    its.run(lambda _: its.stop())
    assert faulty.problem.startswith("unexpected ValueError in test_pull_service.py:")
    assert (faulty.problem_kind, lines) == ("failed", [f"db-2 slowlog: {faulty.problem}"])
    assert good.visited_at == 1.0


def test_a_puller_shows_that_it_runs_while_a_visit_is_long(monkeypatch):
    """It is restarted otherwise, before anything of the visit is stored."""
    monkeypatch.setattr(service, "MAX_WAIT_SECONDS", 0.01)
    log, beats = LongLog(), []

    def beat(_: object) -> None:
        beats.append(log.may_end.is_set())
        if len(beats) == 3:
            log.may_end.set()

    Service([Watch(LOG, log, LogState())], Sink(), print).run(beat, until_read=True)
    assert beats[:3] == [False] * 3 and beats[-1]


def test_the_docstring_of_the_package_names_each_module():
    modules = {file.stem for file in Path(tailrace_pull.__file__).parent.glob("[a-z]*.py")}
    assert modules <= set(re.findall(r"\w+", tailrace_pull.__doc__))


class PaidLog:
    """A log whose visit costs two requests."""

    def visit(self, state: LogState, *_: object) -> Round:
        costs.count(requests=2, received=100)
        return Round(1.0, state)


class PaidSink:
    """Refuses the second transaction, and notes the costs of the others."""

    def __init__(self, its_clock: "FastClock") -> None:
        self.clock, self.calls, self.costs = its_clock, 0, []

    def ship(self, rounds: dict[PulledLog, Round], its_costs: dict[PulledLog, Cost]) -> None:
        self.calls += 1
        self.clock.at += 400.0
        if self.calls == 3:
            raise ShippingError("no")
        self.costs += its_costs.values()


class FastClock(Clock):
    at = 1000.0

    def now(self) -> float:
        return self.at

    def monotonic(self) -> float:
        return self.at

    def wait(self, event: threading.Event, seconds: float) -> None:
        self.at += seconds


def test_each_request_is_in_one_report_of_costs_also_if_kafka_refused_one():
    clock = FastClock()
    sink = PaidSink(clock)
    watch = Watch(LOG, PaidLog(), LogState())
    its = Service([watch], sink, lambda _: None, clock)
    its.run(lambda _: its.stop() if sink.calls == 6 else None)
    assert [each.since for each in sink.costs] == [1000.0, *(each.at for each in sink.costs[:-1])]
    assert all(each.at - each.since >= costs.PERIOD_SECONDS for each in sink.costs[1:])
    reported = sum(each.requests for each in sink.costs)
    assert len(sink.costs) >= 3 and reported == watch.reported.requests <= watch.meter.requests
    assert sum(each.received for each in sink.costs) == 50 * reported


def test_requests_outside_of_a_visit_are_not_counted():
    costs.count(requests=1)
    with costs.metered(meter := costs.Meter()):
        costs.count(requests=1, received=2)
    assert meter == costs.Meter(1, 2)
