"""The trend of a resource over hours: a robust slope with its confidence interval, and a verdict."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import combinations
from math import sqrt

Point = tuple[float, float]
"""Hours since any common time, and a value."""

BIN_HOURS = 1 / 12
"""Samples within five minutes are averaged, because neighbouring samples are not independent."""
FEWEST_POINTS = 6
Z95 = 1.96
DAY_HOURS = 24


@dataclass(frozen=True)
class Trend:
    """A slope per hour, in the unit of the values, and the interval that contains it with 95 % confidence."""

    median: float
    per_hour: float
    low: float
    high: float
    points: int

    def verdict(self, share_per_day: float, least: float) -> str:
        """Returns `flat`, `grows`, or `unknown` if the interval contains the limit.

        The limit is a share of the median per day, and at least `least` per day.
        """
        limit = max(share_per_day * self.median, least) / DAY_HOURS
        if self.high <= limit:
            return "flat"
        return "grows" if self.low > limit else "unknown"


def trend(segments: Iterable[Sequence[Point]]) -> Trend | None:
    """Returns the Theil-Sen slope over all segments; None with too few points.

    A segment is the life of one process. Only points of the same segment are compared: the values of a
    restarted process start again. The interval is that of Sen with the variance of the seasonal Kendall test.
    """
    binned = [points for points in map(_binned, segments) if len(points) > 1]
    count = sum(len(points) for points in binned)
    if count < FEWEST_POINTS:
        return None
    slopes = sorted(
        (later[1] - earlier[1]) / (later[0] - earlier[0])
        for points in binned
        for earlier, later in combinations(points, 2)
    )
    variance = sum(len(points) * (len(points) - 1) * (2 * len(points) + 5) / 18 for points in binned)
    margin = Z95 * sqrt(variance)
    values = [value for points in binned for _, value in points]
    last = len(slopes) - 1
    return Trend(
        median=_quantile(sorted(values), (len(values) - 1) / 2),
        per_hour=_quantile(slopes, last / 2),
        low=_quantile(slopes, (len(slopes) - margin) / 2 - 1),
        high=_quantile(slopes, (len(slopes) + margin) / 2),
        points=count,
    )


def _binned(points: Sequence[Point]) -> list[Point]:
    bins: dict[int, list[Point]] = {}
    for point in points:
        bins.setdefault(int(point[0] / BIN_HOURS), []).append(point)
    return [
        (sum(hour for hour, _ in found) / len(found), sum(value for _, value in found) / len(found))
        for _, found in sorted(bins.items())
    ]


def _quantile(ordered: Sequence[float], position: float) -> float:
    """Returns the value at a position of the ordered values, interpolated; the ends beyond them."""
    position = min(max(position, 0.0), len(ordered) - 1.0)
    below = int(position)
    above = min(below + 1, len(ordered) - 1)
    return ordered[below] + (ordered[above] - ordered[below]) * (position - below)
