"""Trends: a leak is found, noise and restarts are not one, and too little data is unknown."""

from random import Random

from e2e.soak.trends import trend

SHARE = 0.1
LEAST = 1.0


def _series(hours: float, per_hour: float, noise: float, seed: int = 1, start: float = 0.0):
    random = Random(seed)
    return [
        (start + n / 120, 1000 + per_hour * n / 120 + random.gauss(0, noise)) for n in range(int(hours * 120))
    ]


def test_a_leak_grows_and_its_slope_is_measured():
    found = trend([_series(2, 20, 15)])
    assert found
    assert found.verdict(SHARE, LEAST) == "grows"
    assert found.low < 20 < found.high
    assert abs(found.per_hour - 20) < 5


def test_noise_of_a_long_run_is_flat():
    found = trend([_series(8, 0, 10)])
    assert found
    assert found.verdict(SHARE, LEAST) == "flat"


def test_a_short_noisy_run_is_unknown():
    found = trend([_series(0.6, 0, 50)])
    assert found
    assert found.verdict(SHARE, LEAST) == "unknown"


def test_too_few_points_have_no_trend():
    assert trend([]) is None
    assert trend([_series(0.3, 0, 1)]) is None


def test_a_restart_hides_no_leak():
    """Each process grows from the same start: the whole series is level, each of its segments is not."""
    lives = [_series(1, 40, 2, seed, float(seed)) for seed in range(4)]
    found = trend(lives)
    assert found
    assert found.verdict(SHARE, LEAST) == "grows"
    assert abs(found.per_hour - 40) < 5


def test_a_jump_at_a_restart_is_no_trend():
    lives = [
        [(hour, value + 500 * number) for hour, value in _series(3, 0, 2, number, 3.0 * number)]
        for number in range(3)
    ]
    found = trend(lives)
    assert found
    assert found.verdict(SHARE, LEAST) == "flat"


def test_an_intended_limit_is_at_least_the_absolute_one():
    found = trend([[(n / 120, 4 + n / 12000) for n in range(480)]])
    assert found
    assert found.verdict(0.01, 5.0) == "flat"
    assert found.verdict(0.01, 0.1) == "grows"
