"""Errors that the command line tells in one sentence, without a traceback.

Its entry point catches these two: it must not import every capability to know their errors.
"""


class ReportedError(Exception):
    """What was asked for cannot be done; the message is the sentence to show. Exit code 1."""


class UsageError(ReportedError):
    """A setting, or a file that a person wrote, cannot be used; the message says where. Exit code 2."""
