"""Errors whose message the command line prints as one sentence, without a traceback.

The entry point catches them, so it does not import every capability.
"""


class ReportedError(Exception):
    """The command cannot be executed; the message is shown to the user. Exit code 1."""


class NotRunningError(Exception):
    """No stack runs for this home directory; the message is shown to the user."""


class UsageError(ReportedError):
    """A setting or a file of the user is invalid; the message contains the place. Exit code 2."""
