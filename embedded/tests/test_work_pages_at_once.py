"""Tests queries of a page at the same time (at_once.py) and properties that are read once (read_once.py)."""

import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from e2e.limits import LIMIT_SECONDS
from e2e.stack import wait_until
from tailrace_pages import at_once
from tailrace_pages.read_once import read_once


class Connections:
    """Counts connections, each with a client of its own."""

    def __init__(self) -> None:
        self.opened = self.open = 0

    @contextmanager
    def __call__(self) -> Iterator[str]:
        self.opened += 1
        self.open += 1
        yield f"client {self.opened}"
        self.open -= 1

    def client(self) -> str:
        """Returns the client that a query in this thread uses."""
        with at_once.client(self) as its:
            return its


def test_readings_run_at_the_same_time_with_one_client_each():
    """The driver refuses two queries of one client at the same time."""
    connections, all_here = Connections(), threading.Barrier(4)

    def client() -> str:
        all_here.wait(LIMIT_SECONDS)
        return connections.client()

    with at_once.readings(connections) as start:
        begun = [start(client) for _ in range(3)]
        clients = {client(), *(each() for each in begun)}
        assert clients == {f"client {number}" for number in range(1, 5)}
        assert connections.open == 4
    assert connections.open == 0
    assert connections.client() == "client 5", "after the block, the thread of the request connects again"


def test_a_client_is_lent_again():
    connections = Connections()
    with at_once.readings(connections) as start:
        for _ in range(2 * at_once.SPARE):
            assert start(connections.client)() != connections.client()
    assert connections.opened == 2


def test_a_client_is_lent_to_queries_of_its_own_account_only():
    own, other = Connections(), Connections()

    def clients() -> tuple[str, str]:
        return own.client(), other.client()

    with at_once.readings(own) as start:
        assert clients() == ("client 1", "client 1") and other.opened == 1
        assert start(clients)() == ("client 2", "client 2") and other.opened == 2
    assert other.open == 0


def test_without_a_free_thread_a_reading_runs_in_the_thread_of_its_request():
    done, here = threading.Event(), threading.get_ident()
    with at_once.readings(Connections()) as busy, at_once.readings(Connections()) as start:
        begun = [busy(lambda: done.wait(LIMIT_SECONDS)) for _ in range(at_once.SPARE)]
        assert start(threading.get_ident)() == here
        done.set()
        assert all(each() for each in begun)
    with at_once.readings(Connections()) as start:
        assert start(threading.get_ident)() != here


def test_an_error_of_a_reading_reaches_the_page_and_frees_the_thread():
    def refused() -> None:
        raise ValueError("refused")

    for _ in range(at_once.SPARE + 1):
        connections = Connections()
        with pytest.raises(ValueError, match="refused"), at_once.readings(connections) as start:
            start(refused)()
    with at_once.readings(Connections()) as start:
        assert start(threading.get_ident)() != threading.get_ident()


class Page:
    def __init__(self, read) -> None:
        self.read = read

    @read_once
    def rows(self) -> list[int]:
        return self.read()


def test_a_property_is_read_once_and_another_page_does_not_wait_for_it():
    begun, end, reads = threading.Event(), threading.Event(), []

    def slow() -> list[int]:
        reads.append(1)
        begun.set()
        assert end.wait(LIMIT_SECONDS)
        return [1]

    first, second = Page(slow), Page(lambda: [2])
    thread = threading.Thread(target=lambda: first.rows)
    thread.start()
    assert begun.wait(LIMIT_SECONDS)
    assert second.rows == [2], "while the first is being read"
    end.set()
    thread.join(LIMIT_SECONDS)
    assert first.rows is first.rows and first.rows == [1] and reads == [1]


def test_a_second_thread_waits_for_the_value_that_the_first_one_reads():
    begun, end, reads = threading.Event(), threading.Event(), []

    def slow() -> list[int]:
        reads.append(1)
        begun.set()
        assert end.wait(LIMIT_SECONDS)
        return [1]

    def has_come() -> bool:
        frame = sys._current_frames().get(second.ident)
        return len(reads) > 1 or (frame is not None and frame.f_code is read_once.__get__.__code__)

    page, found = Page(slow), []
    first, second = (threading.Thread(target=lambda: found.append(page.rows)) for _ in range(2))
    first.start()
    assert begun.wait(LIMIT_SECONDS)
    second.start()
    try:
        wait_until(has_come, "the second thread asks for the property")
    finally:
        end.set()
    for thread in (first, second):
        thread.join(LIMIT_SECONDS)
    assert reads == [1] and found[0] is found[1]


def test_a_property_that_failed_is_read_again():
    answers = iter([ValueError("refused"), [1]])

    def read() -> list[int]:
        answer = next(answers)
        if isinstance(answer, Exception):
            raise answer
        return answer

    page = Page(read)
    with pytest.raises(ValueError, match="refused"):
        _ = page.rows
    assert page.rows == [1]
