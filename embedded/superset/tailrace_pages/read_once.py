"""A property that is read once per object, in any thread."""

from collections.abc import Callable
from threading import RLock
from typing import Any


class read_once:  # noqa: N801 - a decorator
    """Like functools.cached_property, which in Python 3.11 has one lock for all objects of a class: the pages
    of two requests would wait for each other's queries. Here each object has its own locks, so that a second
    thread waits for the first one instead of sending the same query."""

    def __init__(self, read: Callable[[Any], Any]) -> None:
        self._read = read
        self._name = read.__name__
        self.__doc__ = read.__doc__

    def __get__(self, its: Any, owner: type | None = None) -> Any:
        if its is None:
            return self
        known = its.__dict__
        with known.setdefault(f"lock of {self._name}", RLock()):
            if self._name not in known:
                known[self._name] = self._read(its)
            return known[self._name]
