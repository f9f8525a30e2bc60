"""The identity of a log in sources.yaml and in the ledger."""

from tailrace.sources.sources_file import Source

LogKey = tuple[str, str, str]
"""Instance, source and path."""


def key_of(log: Source) -> LogKey:
    return log.instance, log.source, str(log.path)
