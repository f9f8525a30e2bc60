"""Values of options that several commands have: spans of time and shares."""

import argparse
import re

UNITS = {"s": 1, "m": 60, "h": 3600, "d": 86_400, "w": 604_800}
_SPAN = re.compile(r"(\d+)([smhdw])")


def seconds(text: str) -> int:
    """Returns the seconds of a span, at most ten years. Raises ArgumentTypeError."""
    found = _SPAN.fullmatch(text)
    if not found or int(found[1]) == 0:
        raise argparse.ArgumentTypeError(f"expected a span such as 30m, 24h or 7d, found {text!r}")
    result = int(found[1]) * UNITS[found[2]]
    if result > 3660 * UNITS["d"]:
        raise argparse.ArgumentTypeError(f"{text} is more than ten years")
    return result


def percent(text: str) -> float:
    """Returns a share from 0 to 1 of a number from 1 to 100. Raises ArgumentTypeError."""
    if not text.isdigit() or not 1 <= int(text) <= 100:
        raise argparse.ArgumentTypeError(f"expected a number from 1 to 100, found {text!r}")
    return int(text) / 100
