"""Query ids of the digests of servers, by a sample of their statements."""

from pathlib import Path

from tailrace.fingerprint.client import FingerprintService, NoServiceError, RefusedError

UNKNOWN = 0
MAX_KNOWN = 200_000
"""Digests that are remembered. A digest always has the same query id."""


class QueryIds:
    """Asks the fingerprint service once per digest."""

    def __init__(self, socket: Path | None) -> None:
        """Without a socket all query ids are unknown."""
        self._service = FingerprintService(socket) if socket else None
        self._known: dict[str, int] = {}

    def of(self, digest: str, sample: object) -> int:
        """Returns the query id; 0 if it is unknown: no sample, a refused one, or no answer of the service."""
        if digest not in self._known and sample and self._service:
            try:
                found = self._service.fingerprint(str(sample)).query_id
            except (RefusedError, NoServiceError):
                return UNKNOWN
            if len(self._known) >= MAX_KNOWN:
                self._known.clear()
            self._known[digest] = found
        return self._known.get(digest, UNKNOWN)
