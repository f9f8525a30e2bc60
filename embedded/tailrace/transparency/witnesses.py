"""Asks witnesses for cosignatures: C2SP tlog-witness, add-checkpoint."""

import base64
import http.client
import urllib.error
import urllib.request
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from tailrace.errors import ReportedError
from tailrace_verify import notes
from tailrace_verify.notes import Key, NoteError

TIMEOUT_SECONDS = 20
MAX_ANSWER = 1 << 16


class WitnessError(ReportedError):
    """A witness gave no cosignature; the message states why."""


class WitnessRefusedError(WitnessError):
    """The witness knows another history of the log, or does not trust it."""


class OtherSizeError(WitnessError):
    """The witness has cosigned another size than the request names."""

    def __init__(self, name: str, size: int) -> None:
        super().__init__(f"{name} has cosigned {size} leaves")
        self.size = size


@dataclass(frozen=True)
class Witness:
    """A witness: the prefix of its URL, and its public key."""

    url: str
    key: Key

    def cosign(self, old: int, proof: Sequence[bytes], signed: bytes) -> str:
        """Returns the verified signature line of the witness on a signed checkpoint.

        Raises OtherSizeError, WitnessRefusedError, WitnessError.
        """
        lines = [f"old {old}", *(base64.b64encode(each).decode() for each in proof), "", ""]
        answer = self._post("\n".join(lines).encode() + signed)
        note = notes.parse(signed)
        try:
            cosigned = notes.parse(signed + answer)
        except NoteError as error:
            raise WitnessError(f"{self.key.name} answers with no signature: {error}") from None
        if notes.cosigned_at(cosigned, self.key) is None:
            raise WitnessError(f"{self.key.name} answers with a signature that is not of its key")
        own = [
            each
            for each in cosigned.signatures[len(note.signatures) :]
            if (each.name, each.key_id) == (self.key.name, self.key.key_id)
        ]
        encoded = base64.b64encode(own[0].key_id + own[0].signature).decode()
        return f"{notes.PREFIX}{own[0].name} {encoded}\n"

    def _post(self, body: bytes) -> bytes:
        request = urllib.request.Request(f"{self.url.rstrip('/')}/add-checkpoint", body)
        try:
            with urllib.request.urlopen(request, timeout=TIMEOUT_SECONDS) as response:
                return response.read(MAX_ANSWER)
        except urllib.error.HTTPError as error:
            raise self._refusal(error.code, error.read(MAX_ANSWER).decode(errors="replace").strip()) from None
        except (OSError, http.client.HTTPException) as error:
            raise WitnessError(f"{self.key.name} at {self.url} does not answer: {error}") from None

    def _refusal(self, status: int, text: str) -> WitnessError:
        name = self.key.name
        if status == 409 and text.isascii() and text.isdecimal():
            return OtherSizeError(name, int(text))
        if status in (403, 404, 422):
            return WitnessRefusedError(f"{name} refuses the checkpoint ({status}): {text[:200]}")
        return WitnessError(f"{name} answers with status {status}: {text[:200]}")


def load(file: Path) -> list[Witness]:
    """Reads the list of witnesses, one `URL VKEY` a line. Raises ReportedError, OSError."""
    found = []
    for number, line in enumerate(file.read_text().splitlines(), 1):
        words = line.split()
        if not words or words[0].startswith("#"):
            continue
        try:
            (url, vkey) = words
            found.append(Witness(url, notes.parse_vkey(vkey)))
        except ValueError as error:
            raise ReportedError(
                f"{file}:{number}: expected URL and verifier key of a witness: {error}"
            ) from None
    return found
