"""Query ids of the digests of servers, by a sample of their statements."""

from pathlib import Path

from tailrace.fingerprint.client import FingerprintService, NoServiceError, RefusedError

UNKNOWN = 0
MAX_KNOWN = 200_000
"""Digests of all instances that are remembered. A digest of an instance always has the same query id."""


class QueryIds:
    """Asks the fingerprint service once per instance and digest.

    Instances may have the same digest with statements of different classes: the classes depend on the
    version and on sql_mode."""

    def __init__(self, socket: Path | None) -> None:
        """Without a socket all query ids are unknown."""
        self._service = FingerprintService(socket) if socket else None
        self._known: dict[str, dict[str, int]] = {}
        self._count = 0

    def of(self, instance: str, digest: str, sample: object) -> int:
        """Returns the query id; 0 if it is unknown: no sample, a refused one, or no answer of the service."""
        known = self._known.get(instance, {}).get(digest)
        if known is None and sample and self._service:
            try:
                known = self._service.fingerprint(str(sample)).query_id
            except (RefusedError, NoServiceError):
                return UNKNOWN
            self._remember(instance, digest, known)
        return UNKNOWN if known is None else known

    def _remember(self, instance: str, digest: str, query_id: int) -> None:
        if self._count >= MAX_KNOWN:
            self._forget_one()
        self._known.setdefault(instance, {})[digest] = query_id
        self._count += 1

    def _forget_one(self) -> None:
        """Removes the oldest digest of the instance with the most: it takes no place of another instance."""
        instance = max(self._known, key=lambda name: len(self._known[name]))
        digests = self._known[instance]
        del digests[next(iter(digests))]
        if not digests:
            del self._known[instance]
        self._count -= 1
