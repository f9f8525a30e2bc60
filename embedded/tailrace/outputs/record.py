"""Records for receivers, and the outcome of an attempt to deliver one."""

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

DELIVERED, FAILED, REFUSED = "delivered", "failed", "refused"


@dataclass(frozen=True)
class Outcome:
    """The outcome of one attempt. `outcome`: delivered, failed (retried) or refused (not retried)."""

    outcome: str
    detail: str
    retry_after: float | None = None
    """The seconds that the receiver asks to wait (Retry-After); None: it asks for nothing."""


@dataclass(slots=True)  # to create a frozen one costs several times as much
class Record:
    """An alert or an event in the format of a channel."""

    id: str
    """The same for every attempt to deliver the same state."""
    millis: int
    """Event time in milliseconds since 1970."""
    host: str
    """The instance; empty if unknown."""
    kind: str
    """alert, or the kind of the event: login, query, data_access or error."""
    format: str
    """The form of the document: ecs, ocsf, json or udm."""
    document: Mapping[str, object]
    """An object for JSON."""


class Receiver(ABC):
    """Delivers records. One object belongs to one thread; several objects may deliver to the same
    receiver."""

    @abstractmethod
    def send(self, records: Sequence[Record]) -> list[Outcome]:
        """Makes one attempt for each record, and returns one outcome per record in the same order.

        Raises nothing that can be expected: an unreachable receiver is an outcome. A problem that is not
        caused by a record, such as a wrong password, is `failed` and never `refused`."""

    @abstractmethod
    def show(self, record: Record) -> str:
        """Returns the text of what would be sent, without secrets."""

    def close(self) -> None:  # noqa: B027 - most receivers hold nothing open
        """Releases connections."""


def all_of(records: Sequence[Record], outcome: Outcome) -> list[Outcome]:
    """Returns one outcome for every record."""
    return [outcome] * len(records)
