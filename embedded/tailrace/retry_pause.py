"""How long to wait before another attempt."""

MOST_DOUBLINGS = 30


def doubled(first: float, longest: float, failures: int) -> float:
    """Returns the pause after the failure with this number, from 1 on; seconds.

    It begins with `first` and doubles up to `longest`.
    """
    return min(longest, first * 2.0 ** min(max(0, failures - 1), MOST_DOUBLINGS))
