"""A property that is read once per object, in any thread."""

from collections.abc import Callable
from typing import Any


class read_once:  # noqa: N801 - a decorator
    """Like functools.cached_property, which in Python 3.11 has one lock for all objects of a class: the pages
    of two requests would wait for each other's queries. Two threads that begin at the same time both read."""

    def __init__(self, read: Callable[[Any], Any]) -> None:
        self._read = read
        self.__doc__ = read.__doc__

    def __get__(self, its: Any, owner: type | None = None) -> Any:
        if its is None:
            return self
        value = its.__dict__[self._read.__name__] = self._read(its)
        return value
