"""The passes of the puller."""

import re
import threading
from pathlib import Path

import tailrace_pull
from e2e.limits import LIMIT_SECONDS
from tailrace_pull import service
from tailrace_pull.log import PulledLog
from tailrace_pull.reading import Round
from tailrace_pull.service import Service, Watch
from tailrace_pull.state import LogState

LOG = PulledLog("db-1", "shop", "slowlog", "/rds/r/db-1/slowquery/mysql-slowquery.log")


class Sink:
    def ship(self, rounds: dict[PulledLog, Round]) -> None:
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
