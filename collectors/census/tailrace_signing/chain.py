"""The payloads of a key as a chain: each has a number and the hash of the one before."""

import hashlib
import json
import time
from collections.abc import Mapping
from typing import Any

from tailrace_signing.journal import State
from tailrace_signing.keys import HostKey

ENCODER = json.JSONEncoder(separators=(",", ":"))


class Chain:
    """Continues the chain of a state, without changing that state."""

    def __init__(self, host: str, key: HostKey, state: State) -> None:
        self.host = host
        self._key = key
        self.sequence = state.sequence
        self.previous = state.previous

    def record(self, content: Mapping[str, Any], earlier_ranges: str = "") -> "dict[str, str]":
        """Returns the next record (schemas/signed-range.schema.json). `host` is there only to be the key of
        the Kafka message; readers take that of the payload. `earlier_ranges`: see Signed."""
        payload = ENCODER.encode(
            {
                "host": self.host,
                "sequence": self.sequence + 1,
                "previous": self.previous,
                "at": int(time.time() * 1_000_000),
                **content,
            }
        )
        self.sequence += 1
        self.previous = hashlib.sha256(payload.encode()).hexdigest()
        signature = self._key.sign(payload)
        record = {"host": self.host, "payload": payload, "key": self._key.id, "signature": signature}
        return {**record, "earlier_ranges": earlier_ranges} if earlier_ranges else record

    def rotate(self, key: HostKey) -> "dict[str, str]":
        """Returns the record by which the old key hands over to a new one; later records are signed by it."""
        record = self.record({"new_key": key.public_key})
        self._key = key
        return record

    def state(self, files: "dict[str, dict[str, Any]]") -> State:
        """Returns the state after the records."""
        return State(self._key.id, self.sequence, self.previous, files)
