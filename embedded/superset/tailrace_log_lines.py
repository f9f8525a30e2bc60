"""Writes each message of Superset's log as one line of printable characters.

Messages contain what clients send: Flask-AppBuilder logs the user name of a failed login. A line end in it
would begin a forged entry, and an escape sequence would control the terminal of a person who reads the log.
"""

import logging


class OneLineRecord(logging.LogRecord):
    """A record whose message has no control characters. Tracebacks are not part of the message."""

    def getMessage(self) -> str:  # noqa: N802 - logging's name
        return printable(super().getMessage())


def printable(text: str) -> str:
    """Returns the text with escapes such as \\n for the characters that are not printable."""
    if text.isprintable():
        return text
    return "".join(sign if sign.isprintable() else sign.encode("unicode_escape").decode() for sign in text)


def install() -> None:
    """Uses OneLineRecord for all records from now on."""
    logging.setLogRecordFactory(OneLineRecord)
