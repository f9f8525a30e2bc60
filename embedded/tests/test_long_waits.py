"""Long waits of tests are reported."""

import warnings

import pytest

from e2e import limits
from e2e.limits import LongWaitWarning
from e2e.stack import wait_until


def test_a_long_wait_is_a_warning_at_its_place(monkeypatch):
    monkeypatch.setattr(limits, "LONG_SECONDS", -1)
    with pytest.warns(LongWaitWarning, match="waited 0 s for an answer") as found:
        wait_until(lambda: True, "an answer")
    assert found[0].filename == __file__


def test_a_short_wait_is_none():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        wait_until(lambda: True, "an answer")


def test_a_wait_in_vain_ends():
    with pytest.raises(AssertionError, match="waited 0 s for an answer"):
        wait_until(lambda: False, "an answer", seconds=0)
