"""The exit codes of bin/tailrace, documented here only; `tailrace --help` prints them."""

from enum import IntEnum


class Exit(IntEnum):
    """What a script may rely on."""

    meaning: str

    def __new__(cls, code: int, meaning: str) -> "Exit":
        member = int.__new__(cls, code)
        member._value_ = code
        member.meaning = meaning
        return member

    OK = 0, "done; for `books` and `demo`: the books balance"
    FAILED = 1, "it failed, the machine lacks something, or the books do not balance; a sentence says what"
    USAGE = 2, "unknown command, option or setting, or a value that cannot be used"
    NOT_RUNNING = 3, "the stack, or the part that was asked for, is not running"
    INTERRUPTED = 130, "ended by Ctrl-C"
