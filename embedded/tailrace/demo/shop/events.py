"""What happens on a database server: logins, statements, messages. The log formats write these."""

from collections.abc import Iterable
from dataclasses import dataclass, field, replace

ACCESS_DENIED = 1045
DEADLOCK = 1213


@dataclass(frozen=True)
class Session:
    """One connection of a client."""

    connection: int
    user: str
    address: str
    database: str
    program: str = ""


@dataclass(frozen=True)
class Execution:
    """One statement that the server ran. Times in seconds."""

    at: float
    session: Session
    sql: str
    seconds: float = 0.0002
    rows_sent: int = 0
    rows_examined: int = 0
    rows_affected: int = 0
    lock_seconds: float = 0.00004
    error: int = 0
    plan: tuple[str, ...] = ()
    """Rows of EXPLAIN, as MariaDB's slow log writes them."""

    @property
    def verb(self) -> str:
        return self.sql.partition(" ")[0].lower()


@dataclass(frozen=True)
class Login:
    """A login; refused if `error` is not 0."""

    at: float
    session: Session
    error: int = 0


@dataclass(frozen=True)
class Logout:
    at: float
    session: Session


Event = Execution | Login | Logout


@dataclass(frozen=True)
class Message:
    """A message of the error log: complete lines, without the time."""

    at: float
    thread: int
    level: str
    text: str
    events: int = 1
    """The number of events in which Tailrace divides the lines."""


@dataclass
class Journal:
    """Everything that happened on one server, in any order."""

    events: list[Event] = field(default_factory=list)
    messages: list[Message] = field(default_factory=list)

    def session(self, session: Session, executions: Iterable[Execution], stay: float = 20.0) -> None:
        """Adds a whole session: login, statements, logout `stay` seconds after the last statement."""
        ran = sorted(executions, key=lambda execution: execution.at)
        if not ran:
            return
        self.events.append(Login(ran[0].at - 1, session))
        self.events += [replace(execution, session=session) for execution in ran]
        self.events.append(Logout(ran[-1].at + ran[-1].seconds + stay, session))

    def until(self, end: float) -> "Journal":
        """Returns the journal of what happened before `end`, in order of time."""
        return Journal(
            sorted((event for event in self.events if event.at < end), key=lambda event: event.at),
            sorted((message for message in self.messages if message.at < end), key=lambda it: it.at),
        )

    @property
    def executions(self) -> list[Execution]:
        return [event for event in self.events if isinstance(event, Execution)]
