"""Reads from ClickHouse which alerts a channel must deliver, and records the outcome of each attempt there.

A channel starts when its first row is written. It does not deliver alerts that were stored before.
"""

import uuid
from dataclasses import dataclass

from tailrace.alerts.delivery.config import Selection
from tailrace.alerts.triage import uuid_of
from tailrace.clickhouse.client import ClickHouse, Row
from tailrace.clickhouse.parameters import encoded, encoded_value
from tailrace.clickhouse.query_files import text_of
from tailrace.outputs.record import DELIVERED, FAILED, Outcome
from tailrace.outputs.record import REFUSED as REFUSED  # senders import it from here

QUERY = "alerts_due"
COLUMNS = ("alert_id", "channel", "count", "attempt", "outcome", "detail")
NO_ALERT = str(uuid.UUID(int=0))
MAX_DETAIL = 500

GIVEN_UP = "given up"
RESOLVED = "resolved"
"""The receiver has resolved the alert because it was closed."""
SUMMARY = "in a summary"
"""The start of the detail of an alert that was sent with others in one mail."""


@dataclass(frozen=True)
class Due:
    """An alert that a channel must deliver now."""

    alert: Row
    """Its row of tailrace.alerts."""
    attempt: int
    """1 for the first attempt."""
    trying_seconds: int
    """Seconds since the first attempt."""
    is_closed: bool = False
    """Whether the receiver is to resolve it, because the alert was closed."""
    is_closed_there: bool = False
    """Whether the receiver itself reported that it was closed."""

    @property
    def id(self) -> str:
        """32 hexadecimal digits."""
        return str(self.alert["alert_id"]).replace("-", "")

    @property
    def idempotency_key(self) -> str:
        """A key that is the same for every attempt to deliver the same state: receivers drop duplicates."""
        return f"{self.id}-{self.alert['count']}"


class Progress:
    """One channel's progress. Every method raises OSError or ClickHouseError if ClickHouse is unavailable."""

    def __init__(
        self, clickhouse: ClickHouse, channel: str, selection: Selection, resolves: bool = False
    ) -> None:
        self._clickhouse = clickhouse
        self._channel = channel
        self._selection = selection
        self._resolves = resolves
        self._begun = 0

    def due(self, window_seconds: int, most: int) -> list[Due]:
        """Returns alerts that were stored or grew within the window and are due now, least attempted
        first."""
        selection = self._selection
        rows = self._clickhouse.rows(
            text_of(QUERY),
            {
                "channel": self._channel,
                "window": window_seconds,
                "begun": self._begin(),
                "levels": encoded_value(tuple(selection.levels)),
                "rules": encoded_value(tuple(selection.rules)),
                "repeat": selection.repeat_interval,
                "first_retry": selection.retry_initial,
                "longest_retry": selection.retry_max,
                "resolves": int(self._resolves),
                "most": most,
            },
        )
        alerts = self._alerts([str(row["alert_id"]) for row in rows])
        return [
            Due(
                alerts[row["alert_id"]],
                int(row["attempt"]),
                int(row["trying_seconds"]),
                bool(int(row["is_closed"])),
                bool(int(row["is_closed_there"])),
            )
            for row in rows
            if row["alert_id"] in alerts  # its retention may have ended between the two queries
        ]

    def _alerts(self, ids: list[str]) -> dict[object, Row]:
        """Returns complete alerts by id. Only due ones are read; most passes have none."""
        if not ids:
            return {}
        rows = self._clickhouse.rows(
            "SELECT *, detected_at FROM tailrace.alerts FINAL WHERE has({ids:Array(UUID)}, alert_id)",
            encoded({"ids": ids}),
        )
        return {row["alert_id"]: row for row in rows}

    def record(self, tried: list[Due], outcome: Outcome, token: str) -> None:
        """Records the outcome of the attempt for each alert, once for each token of `new_token`."""
        self._insert(
            [
                {
                    "alert_id": uuid_of(due.id),
                    "count": due.alert["count"],
                    "attempt": due.attempt,
                    "outcome": self._final(due, outcome),
                    "detail": outcome.detail[:MAX_DETAIL],
                }
                for due in tried
            ],
            token,
        )

    def mails(self) -> tuple[int, int]:
        """Returns the number of single-alert mails in the last hour, and the seconds since the last summary.

        If there was no summary, the seconds are a very large number.
        """
        (row,) = self._clickhouse.rows(
            "WITH startsWith(detail, {summary:String}) AS in_summary "
            "SELECT countIf(NOT in_summary AND at > now64(6) - INTERVAL 1 HOUR) AS n, "
            "toUnixTimestamp(now()) - toUnixTimestamp(maxIf(at, in_summary)) AS seconds "
            "FROM tailrace.alert_deliveries WHERE channel = {channel:String} AND outcome = 'delivered'",
            {"channel": self._channel, "summary": SUMMARY},
        )
        return int(row["n"]), int(row["seconds"])

    def _final(self, due: Due, outcome: Outcome) -> str:
        hopeless = outcome.outcome == FAILED and due.trying_seconds >= self._selection.retry_timeout
        if hopeless:
            return GIVEN_UP
        return RESOLVED if due.is_closed and outcome.outcome == DELIVERED else outcome.outcome

    def _begin(self) -> int:
        """Returns the start of the channel, in seconds since 1970 by ClickHouse's clock."""
        if not self._begun:
            self._begun = self._first_row()
        if not self._begun:
            self._insert([{"alert_id": NO_ALERT, "count": 0, "attempt": 0, "outcome": "begun", "detail": ""}])
            self._begun = self._first_row()
        return self._begun

    def _first_row(self) -> int:
        (row,) = self._clickhouse.rows(
            "SELECT toUnixTimestamp(min(alert_deliveries.at)) AS begun FROM tailrace.alert_deliveries "
            "WHERE channel = {channel:String}",
            {"channel": self._channel},
        )
        return int(row["begun"])

    def _insert(self, rows: list[dict], token: str = "") -> None:
        table = f"tailrace.alert_deliveries ({', '.join(COLUMNS)})"
        self._clickhouse.append(table, [{"channel": self._channel, **row} for row in rows], token)
