"""The states of channels in ClickHouse: the delivery writes them; pages, commands and metrics read them."""

import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from tailrace.alerts.delivery.config import Channel, DeliveryConfig, HttpService, Output
from tailrace.clickhouse.client import ClickHouse, ClickHouseError, Row
from tailrace.clickhouse.query_files import text_of
from tailrace.outputs.backoff import Backoff, ChannelState
from tailrace.outputs.config import GoogleSecOps

TABLE = "tailrace.delivery_channels (channel, kind, state, since, failures, retry_at, detail)"
"""With the columns that the service may write."""
QUERY = "delivery_channels"
POLL_SECONDS = 2
EVERY_SECONDS = 600
"""A state that is not written again for three of these times is unknown."""
REMOVED, UNKNOWN = "removed", "unknown"
MAX_DETAIL = 500

Report = Callable[[str], None]


@dataclass(frozen=True)
class KnownChannel:
    """A channel with its last known state. Times in seconds since 1970."""

    name: str
    kind: str
    state: str
    """untried, working, failing, or unknown: the service has written nothing for half an hour."""
    since: int
    failures: int
    retry_at: int
    """0 if the channel is not paused."""
    detail: str
    at: int
    """When the service wrote this."""


def load(clickhouse: ClickHouse) -> list[KnownChannel]:
    """Returns the channels that the delivery has, by name. Raises OSError and ClickHouseError."""
    return [_known(row) for row in clickhouse.rows(text_of(QUERY))]


def _known(row: Row) -> KnownChannel:
    times = (int(row[f"{name}_seconds"]) for name in ("since", "retry", "at"))
    since, retry_at, at = times
    given = (row["channel"], row["kind"], row["state"], since, int(row["failures"]), retry_at)
    return KnownChannel(*given, row["detail"], at)


def kind_of(channel: Channel) -> str:
    """Returns the kind of a channel, as in alerts.yaml."""
    if isinstance(channel, HttpService):
        return channel.kind
    its = type(channel.receiver if isinstance(channel, Output) else channel)
    return "google_secops" if its is GoogleSecOps else its.__name__.lower()


class ChannelStates:
    """Writes the states of the channels of one file. `clock`: seconds since 1970."""

    def __init__(
        self,
        clickhouse: ClickHouse,
        config: DeliveryConfig,
        backoffs: Mapping[str, Backoff],
        report: Report,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self._clickhouse, self._backoffs, self._report, self._clock = clickhouse, backoffs, report, clock
        self._kinds = {channel.name: kind_of(channel) for channel in config.channels}
        self._written: dict[str, ChannelState] = {}
        self._written_at: float | None = None
        """When all states were written; None before the first time."""

    def run(self, stop: threading.Event) -> None:
        """Writes changes until it is stopped."""
        problem = ""
        while not stop.wait(POLL_SECONDS):
            before, problem = problem, self._pass()
            if problem != before:
                self._report(f"states of channels: {problem or 'they are recorded again'}")

    def _pass(self) -> str:
        try:
            self.write()
        except (OSError, ClickHouseError) as error:
            return f"cannot write to ClickHouse: {error}"
        return ""

    def write(self) -> None:
        """Writes the states that changed, all of them every ten minutes. Raises OSError, ClickHouseError."""
        states = {name: self._backoffs[name].state for name in self._kinds}
        now = self._clock()
        is_first = self._written_at is None
        is_full = self._written_at is None or now - self._written_at >= EVERY_SECONDS
        changed = {name: state for name, state in states.items() if is_full or self._written[name] != state}
        rows = [_row(name, self._kinds[name], state) for name, state in changed.items()]
        if is_first:
            rows += [_removed(known) for known in load(self._clickhouse) if known.name not in self._kinds]
        if rows:
            self._clickhouse.append(TABLE, rows)
        self._written |= changed
        if is_full:
            self._written_at = now


def _row(name: str, kind: str, state: ChannelState) -> Row:
    times = {"since": int(state.since), "retry_at": int(state.retry_at), "failures": state.failures}
    return {"channel": name, "kind": kind, "state": state.state, **times, "detail": state.detail[:MAX_DETAIL]}


def _removed(known: KnownChannel) -> Row:
    return {"channel": known.name, "kind": known.kind, "state": REMOVED, "since": int(time.time())}
