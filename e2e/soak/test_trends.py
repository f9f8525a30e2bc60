"""Trends: a leak is found, noise and restarts are not one, and too little data is unknown."""

from random import Random

from e2e.soak.__main__ import TOO_SMALL, _verdict
from e2e.soak.measurements import LOGS, Sample, Samples
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


def test_a_checkpoint_may_grow_with_the_logs_but_not_beyond(tmp_path):
    """2 GB of logs in four hours: of 4 MB, 1 MB is what the job keeps for them."""
    for name, megabytes, verdict in (("kept", 1.0, "flat"), ("leaks", 4.0, "grows")):
        samples = Samples(tmp_path / name)
        for n in range(480):
            hours = n / 120
            of_logs = Sample(1, hours * 3600, LOGS, "MB", 0, hours, 500 * hours)
            size = Sample(1, hours * 3600, "checkpoint of flink", "MB", 0, hours, 20 + megabytes * hours / 4)
            samples.add([of_logs, size])
        (lives,) = (found for (kind, _), found in samples.series().items() if kind == size.name)
        found = trend(samples.beyond_logs(size.name, lives))
        assert found
        assert found.verdict(SHARE, LEAST) == verdict
        whole = trend(lives)
        assert whole
        assert whole.verdict(SHARE, LEAST) == "grows"


def test_a_heap_that_is_collected_all_the_time_is_too_small():
    rare, often = ([[(n / 120, share) for n in range(480)]] for share in (3.0, 26.0))
    assert _verdict("collections of x", "%", trend(rare), trend(rare)) == "flat"
    assert _verdict("collections of x", "%", trend(often), trend(often)) == TOO_SMALL
