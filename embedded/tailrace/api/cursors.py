"""Cursors: the place in a list after a page, as a text that only this installation can make.

A cursor contains the last row of the page and the end of the time range, and is signed together with the
operation, the role and the filters: with other filters, or changed, it is refused.
"""

import base64
import binascii
import hashlib
import hmac
import json
from collections.abc import Mapping
from dataclasses import dataclass

from tailrace.api.problems import Problem

SIGNATURE_BYTES = 16
MAX_LENGTH = 2000
"""Characters of a cursor."""


@dataclass(frozen=True)
class Cursors:
    """Signs and reads cursors with one key."""

    key: bytes

    def write(self, place: Mapping[str, object], context: Mapping[str, object]) -> str:
        """Returns the cursor of a place in the list that `context` (operation, role, filters) defines."""
        content = json.dumps(place, sort_keys=True, separators=(",", ":")).encode()
        signed = self._signature(content, context) + content
        return base64.urlsafe_b64encode(signed).decode().rstrip("=")

    def read(self, cursor: str, context: Mapping[str, object]) -> dict[str, object]:
        """Returns the place. Raises Problem for a cursor of another list, or of nobody."""
        try:
            padded = cursor.encode("ascii") + b"=" * (-len(cursor) % 4)
            signed = base64.b64decode(padded, altchars=b"-_", validate=True)
        except (UnicodeEncodeError, binascii.Error):
            signed = b""
        signature, content = signed[:SIGNATURE_BYTES], signed[SIGNATURE_BYTES:]
        if not content or not hmac.compare_digest(signature, self._signature(content, context)):
            raise Problem(
                400,
                "invalid-cursor",
                "The cursor is not one of this list",
                "Pass the cursor of the page before unchanged, with the same filters and a token of the "
                "same role.",
            )
        return json.loads(content)

    def _signature(self, content: bytes, context: Mapping[str, object]) -> bytes:
        about = json.dumps(context, sort_keys=True, default=str).encode()
        made = hmac.new(self.key, hashlib.sha256(about).digest() + content, hashlib.sha256)
        return made.digest()[:SIGNATURE_BYTES]
