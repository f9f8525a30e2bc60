"""Options that were renamed. The old name works, with a warning, until a release removes it."""

from collections.abc import Callable, Sequence

NEW_NAMES = {
    "--beat": "--heartbeat-file",
    "--most": "--max-statements",
    "--threads-running": "--max-threads-running",
}
REMOVED_IN = "0.3.0"


class BothGivenError(ValueError):
    """The old and the new name of an option are given; the message names both."""


def with_new_names(words: Sequence[str], warn: Callable[[str], None]) -> list[str]:
    """Returns the words of a command line under the new names. Raises BothGivenError."""
    given = [word.partition("=")[0] for word in words]
    for old in sorted(NEW_NAMES.keys() & set(given)):
        new = NEW_NAMES[old]
        if new in given:
            raise BothGivenError(f"{old} is the old name of {new}, and both are given: remove {old}")
        warn(f"{old} is now called {new}; release {REMOVED_IN} removes the old name")
    return [NEW_NAMES.get(name, name) + word[len(name) :] for name, word in zip(given, words, strict=True)]
