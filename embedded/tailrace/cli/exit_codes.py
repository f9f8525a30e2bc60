"""The exit codes of bin/tailrace. They are documented only here; `tailrace --help` prints them."""

from enum import IntEnum


class Exit(IntEnum):
    """Exit codes that scripts may rely on."""

    meaning: str

    def __new__(cls, code: int, meaning: str) -> "Exit":
        member = int.__new__(cls, code)
        member._value_ = code
        member.meaning = meaning
        return member

    OK = 0, "success"
    FAILED = 1, "failure, or a missing requirement; the message says which"
    USAGE = 2, "unknown command, option or setting, or an invalid value"
    NOT_RUNNING = 3, "the stack or the requested component is not running"
    INTERRUPTED = 130, "interrupted by Ctrl-C"
