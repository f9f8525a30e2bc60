"""Percentiles of the benchmarks of this package."""


def percentile(values: list[float], level: float) -> float:
    """Returns the nearest-rank percentile; `level` is from 0 to 1."""
    ordered = sorted(values)
    return ordered[max(0, -(-int(level * 100) * len(ordered) // 100) - 1)]
