"""Which digests a poll reads: the heaviest of the last polls, and no more than the server may search."""

import pytest

from tailrace_capture.digest_histograms import MAX_HEAVIEST, SEARCHED_DIGESTS, Weights
from tailrace_capture.digests import Counted

SECOND = 10**12


def counted(**seconds: float) -> list[Counted]:
    return [Counted(("shop", name), int(each * SECOND), "1") for name, each in seconds.items()]


def heaviest(weights: Weights, *names: str) -> list[str]:
    return [str(digest) for _, digest in weights.heaviest({("shop", name) for name in names})]


def test_what_was_counted_before_the_first_poll_has_no_weight():
    weights = Weights()
    weights.add(counted(old=1000, new=1))
    assert heaviest(weights, "old", "new") == []
    weights.add(counted(old=1000, new=3, first=1))
    assert heaviest(weights, "old", "new", "first") == ["new", "first"]


def test_a_digest_that_becomes_slow_is_chosen_at_once_and_stays_for_some_polls():
    weights = Weights()
    weights.add(counted(steady=0, slow=0))
    weights.add(counted(steady=1, slow=9))
    weights.add(counted(steady=2, slow=9))
    assert heaviest(weights, "steady", "slow") == ["slow", "steady"]
    for poll in range(3, 20):
        weights.add(counted(steady=poll, slow=9))
    assert heaviest(weights, "steady", "slow") == ["steady", "slow"]
    assert heaviest(weights, "slow") == ["slow"], "the other one was not executed lately"


def test_counters_that_begin_anew_count_from_zero():
    weights = Weights()
    weights.add(counted(a=100, b=100))
    weights.add(counted(a=5, b=103))
    assert heaviest(weights, "a", "b") == ["a", "b"]


@pytest.mark.parametrize(("digests", "read"), [(20, 19), (1_000, MAX_HEAVIEST), (20_000, 4), (200_000, 1)])
def test_a_poll_lets_the_server_search_a_limited_number_of_digests(digests, read):
    names = [f"d{number}" for number in range(digests)]
    weights = Weights()
    weights.add(counted(**dict.fromkeys(names, 1)))
    weights.add(counted(**{name: 1 + number for number, name in enumerate(names)}))
    found = heaviest(weights, *names)
    assert len(found) == read and found[0] == names[-1]
    assert read == 1 or read * digests <= SEARCHED_DIGESTS
