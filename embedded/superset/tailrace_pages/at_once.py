"""Runs several queries of a page at the same time: ClickHouse answers most of them with one core.

Threads have no request. Therefore `readings` opens their connections in the thread of the request, and lends
each thread one; store.Store uses it there:

    with store().at_once() as start:
        classes = start(lambda: reading.classes)
        others = reading.others
        shown(others, classes())
"""

import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, ExitStack, contextmanager, nullcontext
from typing import Any, TypeVar

SPARE = 8
"""Readings of all requests of a process that run at the same time in threads of their own. Further ones run
in the threads of their requests. ClickHouse refuses more than 32 queries of an account at the same time, and
Superset has 16 threads for requests."""

T = TypeVar("T")
Start = Callable[[Callable[[], T]], Callable[[], T]]
"""Starts a reading. The result waits for it, returns its value, and raises its error."""

_spare = threading.BoundedSemaphore(SPARE)
_lent = threading.local()


def client(connection: Callable[[], AbstractContextManager[Any]]) -> AbstractContextManager[Any]:
    """Gives the ClickHouse client that this thread was lent of the same `connection`, or that of a new one.

    A client belongs to one account: another `connection` may be that of another audience.
    """
    origin, lent = getattr(_lent, "client", (None, None))
    return nullcontext(lent) if origin == connection else connection()


@contextmanager
def readings(connection: Callable[[], AbstractContextManager[Any]]) -> Iterator[Start]:
    """Gives a function that starts readings; the end of the block waits for all of them.

    `connection` opens a connection and gives its client. The thread of the request keeps one in the block.
    """
    idle: list[Any] = []
    with ExitStack() as connections, ThreadPoolExecutor(SPARE) as threads:

        def start(read: Callable[[], T]) -> Callable[[], T]:
            if not _spare.acquire(blocking=False):
                value = read()
                return lambda: value
            try:
                lent = idle.pop() if idle else connections.enter_context(connection())
                return threads.submit(_read, connection, lent, read, idle).result
            except BaseException:
                _spare.release()
                raise

        with _lending(connection, connections.enter_context(connection())):
            yield start


def _read(connection: Callable[[], Any], lent: Any, read: Callable[[], T], idle: list[Any]) -> T:
    try:
        with _lending(connection, lent):
            return read()
    finally:
        idle.append(lent)
        _spare.release()


@contextmanager
def _lending(connection: Callable[[], Any], lent: Any) -> Iterator[None]:
    before = getattr(_lent, "client", (None, None))
    _lent.client = (connection, lent)
    try:
        yield
    finally:
        _lent.client = before
