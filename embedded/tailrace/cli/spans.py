"""Spans of time on the command line, such as 30m, 24h, 7d or 2w."""

import argparse
import re

UNITS = {"s": 1, "m": 60, "h": 3600, "d": 86_400, "w": 604_800}

_SPAN = re.compile(r"(\d+)([smhdw])")


def seconds(text: str) -> int:
    """Returns the seconds of a span. Raises ArgumentTypeError if it is none, or longer than ten years."""
    found = _SPAN.fullmatch(text)
    if not found or int(found[1]) == 0:
        raise argparse.ArgumentTypeError(f"expected a span such as 30m, 24h or 7d, found {text!r}")
    result = int(found[1]) * UNITS[found[2]]
    if result > 3660 * UNITS["d"]:
        raise argparse.ArgumentTypeError(f"{text} is more than ten years")
    return result
