"""Sets of numbers without many holes, as sorted intervals [first, last]."""

from bisect import bisect_left

Intervals = list[list[int]]


def add(intervals: Intervals, number: int) -> bool:
    """Adds a number; returns false if it was there already."""
    at = bisect_left(intervals, [number + 1])
    before = intervals[at - 1] if at else None
    if before and number <= before[1]:
        return False
    is_after_before = bool(before) and before[1] == number - 1
    is_before_next = at < len(intervals) and intervals[at][0] == number + 1
    if is_after_before:
        before[1] = intervals.pop(at)[1] if is_before_next else number
    elif is_before_next:
        intervals[at][0] = number
    else:
        intervals.insert(at, [number, number])
    return True
