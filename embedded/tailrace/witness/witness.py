"""Cosigns a log's checkpoint if it is consistent with the last one: no rollback and no second history."""

import base64
import hashlib
import threading
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from http import HTTPStatus
from pathlib import Path

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from tailrace.transparency import files
from tailrace.transparency.files import Write
from tailrace_verify import merkle, notes
from tailrace_verify.notes import Checkpoint, Key, Note, NoteError
from tailrace_verify.tiles import HASH_BYTES

MAX_PROOF = 63
TEXT, SIZE = "text/plain; charset=utf-8", "text/x.tlog.size"


@dataclass(frozen=True)
class Answer:
    status: HTTPStatus
    text: str
    kind: str = TEXT


@dataclass(frozen=True)
class Submission:
    """A parsed request: the size that the log expects to be cosigned, the proof, and the checkpoint."""

    old: int
    proof: list[bytes]
    note: Note
    checkpoint: Checkpoint


class Witness:
    """One witness with its key. `directory` has the last cosigned checkpoint of each log, as a signed note.

    `logs` are the keys of trusted logs; a key's name is the log's origin.
    """

    def __init__(
        self,
        name: str,
        key: Ed25519PrivateKey,
        logs: Iterable[Key],
        directory: Path,
        write: Write = files.write,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self._name, self._key = name, key
        self._logs = {log.name: log for log in logs}
        self._directory, self._write, self._clock = directory, write, clock
        self._lock = threading.Lock()

    @property
    def key(self) -> Key:
        return notes.key_of(self._name, self._key, notes.COSIGNATURE)

    def add_checkpoint(self, body: bytes) -> Answer:
        """Answers `POST /add-checkpoint`. Raises OSError if the state cannot be written; nothing is cosigned
        then."""
        try:
            submission = parse(body)
        except NoteError as error:
            return _refused(HTTPStatus.BAD_REQUEST, str(error))
        origin = submission.checkpoint.origin
        if origin not in self._logs:
            return _refused(HTTPStatus.NOT_FOUND, f"{origin!r} is no log of this witness")
        if not notes.verify(submission.note, self._logs[origin]):
            return _refused(HTTPStatus.FORBIDDEN, "the checkpoint has no valid signature of its log")
        with self._lock:
            return self._cosign(submission)

    def checkpoint(self, origin_hash: str) -> Answer:
        """Answers `GET /ORIGIN HASH/checkpoint`: the last cosigned checkpoint."""
        for origin in self._logs:
            if hashlib.sha256(origin.encode()).hexdigest() == origin_hash and self._file(origin).exists():
                return Answer(HTTPStatus.OK, self._file(origin).read_text())
        return _refused(HTTPStatus.NOT_FOUND, "no checkpoint of such a log was cosigned")

    def last(self, origin: str) -> Checkpoint:
        """Returns the last cosigned checkpoint of a log; one of size 0 if there is none.

        Raises NoteError if the file does not have the signature of this witness."""
        file = self._file(origin)
        if not file.exists():
            return Checkpoint(origin, 0, merkle.EMPTY)
        note = notes.parse(file.read_bytes())
        checkpoint = notes.parse_checkpoint(note.text)
        if checkpoint.origin != origin or notes.cosigned_at(note, self.key) is None:
            raise NoteError(f"{file} is no checkpoint that this witness has cosigned")
        return checkpoint

    def _cosign(self, submission: Submission) -> Answer:
        checkpoint, last = submission.checkpoint, self.last(submission.checkpoint.origin)
        if submission.old > checkpoint.size:
            return _refused(HTTPStatus.BAD_REQUEST, "the old size is larger than the checkpoint")
        if submission.old != last.size:
            return Answer(HTTPStatus.CONFLICT, f"{last.size}\n", SIZE)
        if problem := _inconsistency(last, submission):
            return _refused(HTTPStatus.UNPROCESSABLE_ENTITY, problem)
        line = notes.cosign(submission.note.text, self._name, self._key, int(self._clock()))
        log = self._logs[checkpoint.origin]
        self._write(
            self._file(checkpoint.origin),
            notes.assemble(submission.note.text, [*_lines(submission.note, log), line]),
        )
        return Answer(HTTPStatus.OK, line)

    def _file(self, origin: str) -> Path:
        return self._directory / hashlib.sha256(origin.encode()).hexdigest()


def parse(body: bytes) -> Submission:
    """Parses a request of add-checkpoint. Raises NoteError."""
    head, separator, signed = body.partition(b"\n\n")
    if not separator:
        raise NoteError("expected an old size, proof lines, an empty line and a checkpoint")
    first, *proof = head.decode("ascii", "replace").split("\n")
    if len(proof) > MAX_PROOF:
        raise NoteError(f"more than {MAX_PROOF} lines of proof")
    note = notes.parse(signed)
    return Submission(
        _old_size(first), [_hash(line) for line in proof], note, notes.parse_checkpoint(note.text)
    )


def _old_size(line: str) -> int:
    word, _, number = line.partition(" ")
    digits = number[:20]
    if word != "old" or not (digits.isascii() and digits.isdecimal()) or str(int(digits)) != number:
        raise NoteError("expected the line `old SIZE`")
    return int(number)


def _hash(line: str) -> bytes:
    try:
        found = base64.b64decode(line, validate=True)
    except ValueError:
        raise NoteError("a line of the proof is not base64") from None
    if len(found) != HASH_BYTES:
        raise NoteError("a line of the proof is no hash")
    return found


def _inconsistency(last: Checkpoint, submission: Submission) -> str:
    """Returns why the checkpoint does not continue the last one; empty if it does."""
    new = submission.checkpoint
    if new.size == 0 and new.root != merkle.EMPTY:
        return "a tree without leaves has another root"
    if new.size == last.size and new.root != last.root:
        return f"another tree of {last.size} leaves was cosigned: the log has two histories"
    if merkle.verify_consistency(last.size, last.root, new.size, new.root, submission.proof):
        return ""
    return f"the proof does not lead from the {last.size} leaves that were cosigned to this checkpoint"


def _lines(note: Note, key: Key) -> list[str]:
    """Returns the signature lines of a key."""
    return [
        f"{notes.PREFIX}{each.name} {base64.b64encode(each.key_id + each.signature).decode()}\n"
        for each in note.signatures
        if (each.name, each.key_id) == (key.name, key.key_id)
    ]


def _refused(status: HTTPStatus, text: str) -> Answer:
    return Answer(status, f"{text}\n")
