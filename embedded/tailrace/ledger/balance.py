"""Balances the ledger: compares three independent accounts of the bytes of every log file.

For each file (instance, source, log, generation):

1. The framer's postings tile the file from 0 to `accounted` without hole or overlap.
2. Every entry that the framer cut is an event or a dead letter: of the parser, or of the sink if ClickHouse
   refused the event.
3. Every event and dead letter that was posted has been inserted, as ClickHouse itself counted.

The arithmetic is in sql/queries/ledger_*.sql; this module runs the queries and names the imbalances. A
recorded gap balances. Callers decide whether gaps are acceptable (`LedgerBalance.balances`, `.is_complete`).
For a log without a census, the ledger covers only the lines that arrived: such a log is unknown
(tailrace.ledger.unknown_logs).
"""

import dataclasses
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import cached_property
from itertools import groupby
from typing import Any

from tailrace.clickhouse.client import ClickHouse, ClickHouseError, Row
from tailrace.clickhouse.query_files import text_of
from tailrace.ledger.records import (
    Account,
    CoverageInterval,
    Detail,
    Gap,
    GapRepair,
    Imbalance,
    LogFile,
    UnreadFile,
)
from tailrace.ledger.unknown_logs import NONE_LISTED, LogProgress, UnknownLog, unknown
from tailrace.migrations.runner import load_retention
from tailrace.sources.log_key import LogKey

MAIN_SELECT = "\nSELECT\n"
"""The start of the main query of ledger_tiling.sql, after its common table expressions."""
ANY_EDGE = """
SELECT count() AS edges
FROM (
    SELECT 1 FROM edges
    UNION ALL
    SELECT 1 FROM postings WHERE abs(bytes) != toInt64(to_offset - from_offset))
"""
"""The condition under which ledger_tiling.sql returns rows."""

RETENTION_SLACK = timedelta(days=2)
"""Rows this close to the end of their retention may be deleted: ClickHouse drops data parts by the day."""

POLL_SECONDS = 0.5
ACCESS_DENIED = 497

PATIENCE_SECONDS = 4


@dataclass(frozen=True)
class LedgerBalance:
    """The state of the ledger at one moment."""

    at: datetime
    accounts: Sequence[Account]
    unread: Sequence[UnreadFile]
    details: Sequence[Detail]
    gaps: Sequence[Gap]
    imbalances: Sequence[Imbalance]
    minutes: Sequence[CoverageInterval] = ()
    unknown: Sequence[UnknownLog] = ()
    """Logs without a census, and listed logs of which no line has arrived."""
    repairs: Sequence[GapRepair] = ()
    """The last result of the automatic repair for each range."""

    @property
    def balances(self) -> bool:
        """Returns whether the three equations hold, regardless of gaps and unread bytes."""
        return not self.imbalances

    @cached_property
    def behind(self) -> int:
        """Returns the unread bytes of all files."""
        return sum(a.behind for a in self.accounts) + sum(f.size for f in self.unread)

    @property
    def is_complete(self) -> bool:
        """Returns whether it balances, and no log or requested minute is missing, behind or unknown."""
        seen = not self.unknown and all(interval.state == "covered" for interval in self.minutes)
        return self.balances and not self.gaps and not self.behind and seen

    @property
    def hold_anything(self) -> bool:
        """Returns whether the ledger contains any file; an empty ledger proves nothing."""
        return bool(self.accounts or self.unread)

    def loss(self, gap: Gap) -> str:
        """Returns why the automatic repair could not fill an open gap; empty if it has not given up."""
        reasons = (each.reason for each in self._lost.get(gap.file, ()) if each.overlaps(gap))
        return next(reasons, "")

    @cached_property
    def _lost(self) -> dict[LogFile, list[GapRepair]]:
        """Returns the ranges that cannot be repaired, by file. After an outage many logs have gaps."""
        found: dict[LogFile, list[GapRepair]] = {}
        for each in self.repairs:
            if each.state == "lost":
                found.setdefault(each.file, []).append(each)
        return found

    def covers(self, moment: float) -> bool:
        """Returns whether every server has a census since `moment`, and all recorded bytes were read."""
        times: dict[str, float] = {}
        for instance, at in self._census_times():
            times[instance] = max(times.get(instance, 0), at)
        return bool(times) and not self.behind and min(times.values()) >= moment

    def _census_times(self) -> Iterator[tuple[str, float]]:
        for account in self.accounts:
            yield account.file.instance, account.census_at
        for file in self.unread:
            yield file.instance, file.census_at

    def to_json(self) -> dict:
        """Returns a dict for `json.dumps`: names as in this module, times in ISO 8601 UTC."""
        return {
            "at": self.at.isoformat(),
            "balances": self.balances,
            "complete": self.is_complete,
            "behind_bytes": self.behind,
            "files": [_account_json(account) for account in self.accounts],
            "unread": [_plain(file) for file in self.unread],
            "details": [_plain(detail) for detail in self.details],
            "gaps": [{**_plain(gap), "loss": self.loss(gap)} for gap in self.gaps],
            "imbalances": [{**_plain(wrong), "text": str(wrong)} for wrong in self.imbalances],
            "minutes": [_plain(interval) for interval in self.minutes],
            "unknown": [_plain(log) for log in self.unknown],
        }


def read(
    clickhouse: ClickHouse,
    instance: str = "",
    minutes: int = 0,
    patience_seconds: float = PATIENCE_SECONDS,
    listed: Mapping[LogKey, float] = NONE_LISTED,
) -> LedgerBalance:
    """Reads the ledger for one server or for all.

    While the job writes, a read may fall between two related inserts. If the ledger does not balance, it is
    read again for up to `patience_seconds`, until it balances.

    `minutes`: number of minutes of coverage; 0 omits it. `listed`: the watched logs, and since when. The user
    needs access to the tables of the ledger. Only for one who also reads all events, missing rows are located
    in their file. Raises ClickHouseError, OSError.
    """
    deadline = time.monotonic() + patience_seconds
    while True:
        ledger = _read_logs(clickhouse, instance, minutes, listed)
        if ledger.balances or time.monotonic() >= deadline:
            return ledger
        time.sleep(POLL_SECONDS)


def _read_logs(
    clickhouse: ClickHouse, instance: str, minutes: int, listed: Mapping[LogKey, float]
) -> LedgerBalance:
    reader = _Reader(clickhouse, instance)
    accounts = reader.accounts()
    now = datetime.now(UTC)
    return LedgerBalance(
        at=now,
        accounts=accounts,
        unread=[UnreadFile(**row) for row in reader.rows("unread")],
        details=[_of(Detail, row) for row in reader.rows("details")],
        gaps=[_of(Gap, row) for row in reader.rows("gaps")],
        imbalances=reader.imbalances({account.file for account in accounts if account.aged}),
        minutes=reader.minutes(minutes) if minutes else (),
        unknown=reader.unknown(listed, now.timestamp()),
        repairs=[_of(GapRepair, row) for row in reader.rows("repairs")],
    )


def balance(
    clickhouse: ClickHouse,
    wait_seconds: float,
    instance: str = "",
    minutes: int = 0,
    on_read: Callable[[LedgerBalance], None] = lambda _: None,
    covered_to: float | None = None,
    listed: Mapping[LogKey, float] = NONE_LISTED,
) -> LedgerBalance:
    """Reads the ledger until it balances and covers everything that the files contained at a time.

    `covered_to` is that time in seconds since 1970 UTC; the default is the time of the call. Gives up after
    `wait_seconds` and returns the last result, which the caller must check. `on_read` is called for every
    read.
    """
    begin = time.time()
    while True:
        ledger = _read_logs(clickhouse, instance, 0, listed)
        on_read(ledger)
        covered = not ledger.unknown and ledger.covers(begin if covered_to is None else covered_to)
        settled = ledger.balances and covered
        if settled or time.time() - begin >= wait_seconds:
            return _read_logs(clickhouse, instance, minutes, listed) if minutes else ledger
        time.sleep(POLL_SECONDS)


def await_postings(clickhouse: ClickHouse, seconds: float = 10) -> None:
    """Waits until the ledger can be read up to the newest posting, for at most `seconds`.

    Reads omit the newest checkpoint while its rows arrive, and so lack gaps of the last seconds.
    """
    (row,) = clickhouse.rows("SELECT toInt64(max(after_checkpoint)) AS newest FROM tailrace.ledger")
    deadline = time.monotonic() + seconds
    while _Reader(clickhouse, "").through() < row["newest"] and time.monotonic() < deadline:
        time.sleep(POLL_SECONDS)


def gaps(clickhouse: ClickHouse, instance: str = "") -> list[Gap]:
    """Returns the missing ranges, ordered by file and offset."""
    return [_of(Gap, row) for row in _Reader(clickhouse, instance).rows("gaps")]


def unknown_logs(
    clickhouse: ClickHouse, listed: Mapping[LogKey, float], timeout: float = 300
) -> list[UnknownLog]:
    """Returns the logs without a census of all servers."""
    text = text_of("ledger_log_progress")
    return _unknown(clickhouse.rows(text, {"instance": ""}, timeout), listed, "", time.time())


def _unknown(
    times: Iterable[Row], listed: Mapping[LogKey, float], instance: str, now: float
) -> list[UnknownLog]:
    wanted = {key: since for key, since in listed.items() if instance in ("", key[0])}
    return unknown((LogProgress(**row) for row in times), wanted, now)


def coverage(
    clickhouse: ClickHouse, first: datetime, end: datetime, instance: str = ""
) -> list[CoverageInterval]:
    """Returns the minutes of [first, end), as intervals of one state. Both are truncated to whole minutes."""
    parameters = {"instance": instance, "from": _minute(first), "to": _minute(end)}
    rows = clickhouse.rows(text_of("ledger_minutes"), parameters)
    return list(_coverage_intervals(rows))


class _Reader:
    """Runs the queries of the ledger for one server or for all."""

    def __init__(self, clickhouse: ClickHouse, instance: str) -> None:
        self._clickhouse = clickhouse
        self._parameters = {"instance": instance}
        self._parameters["through"] = self.rows("through")[0]["through"]

    def rows(self, query: str, **more: object) -> list[Row]:
        return self._run(_query(query), **more)

    def _run(self, text: str, **more: object) -> list[Row]:
        return self._clickhouse.rows(text, {**self._parameters, **more})

    def through(self) -> int:
        """The newest checkpoint whose postings are complete."""
        return self._parameters["through"]

    def accounts(self) -> list[Account]:
        oldest = datetime.now(UTC) - timedelta(days=load_retention()["ledger"]) + RETENTION_SLACK
        rows = self.rows("accounts", oldest=f"{oldest:%Y-%m-%d %H:%M:%S}")
        return [_of(Account, {**row, "aged": bool(row["aged"])}) for row in rows]

    def imbalances(self, aged: set[LogFile]) -> list[Imbalance]:
        found = [
            *map(_tiling, self._tiling()),
            *(wrong for row in self.rows("parsing") for wrong in self._parsing(row)),
            *(wrong for row in self.rows("receipts") for wrong in self._receipts(row)),
        ]
        unique = {wrong: None for wrong in found if wrong.file not in aged}
        return sorted(unique, key=lambda wrong: (wrong.file, wrong.equation, wrong.from_offset or 0))

    def _tiling(self) -> list[Row]:
        """Looks for edges first: the complete query reads the postings more than twice as often."""
        common, _, _ = _query("tiling").partition(MAIN_SELECT)
        (found,) = self._run(common + ANY_EDGE)
        return self.rows("tiling") if found["edges"] else []

    def unknown(self, listed: Mapping[LogKey, float], now: float) -> list[UnknownLog]:
        return _unknown(self.rows("log_progress"), listed, self._parameters["instance"], now)

    def minutes(self, count: int) -> list[CoverageInterval]:
        end = datetime.now(UTC)
        return coverage(self._clickhouse, end - timedelta(minutes=count), end, self._parameters["instance"])

    def _parsing(self, row: Row) -> Iterator[Imbalance]:
        yield from _amounts(2, row, "entries of the framer against events and dead letters of the parser")
        yield from self._where(row)

    def _receipts(self, row: Row) -> Iterator[Imbalance]:
        what = "events" if row["kind"] == "EVENT" else f"dead letters of the {row['stage'].lower()}"
        yield from _amounts(3, row, f"{what} posted against rows inserted")
        if row["stage"] in ("PARSER", "SINK") and row["generation"]:
            yield from self._where(row)

    def _where(self, row: Row) -> Iterator[Imbalance]:
        """Yields the places of missing rows in a file; nothing for a user who does not read all events."""
        file = LogFile.of(row)
        for place in self._places(file):
            fault = "entries against stored events and dead letters"
            yield Imbalance(
                2,
                file,
                fault,
                place["expected"],
                place["found"],
                "rows",
                place["from_offset"],
                place["to_offset"],
            )

    def _places(self, file: LogFile) -> list[Row]:
        try:
            return self.rows("rows", **dataclasses.asdict(file))
        except ClickHouseError as error:
            if error.code != ACCESS_DENIED:
                raise
            return []


_FAULTS_OF_TILING = {
    "hole": "nothing was posted",
    "undone": "all postings were reversed",
    "overlap": "posted more than once",
    "reversed": "reversed more often than posted",
    "beyond": "posted beyond the end of the file's account",
    "uneven": "the number of bytes differs from the length of the range",
}


def _query(name: str) -> str:
    return text_of(f"ledger_{name}")


def _tiling(row: Row) -> Imbalance:
    fault = _FAULTS_OF_TILING[row["fault"]]
    kinds = f" ({', '.join(row['kinds'])})" if row["kinds"] else ""
    return Imbalance(
        1,
        LogFile.of(row),
        fault + kinds,
        row["expected"],
        row["found"],
        "bytes",
        row["from_offset"],
        row["to_offset"],
    )


def _amounts(equation: int, row: Row, fault: str) -> Iterator[Imbalance]:
    for expected, found, unit in (("expected", "found", "rows"), ("expected_bytes", "found_bytes", "bytes")):
        if row[expected] != row[found]:
            yield Imbalance(equation, LogFile.of(row), fault, row[expected], row[found], unit)


def _of(record: type, row: Row) -> Any:
    names = {field.name for field in dataclasses.fields(record)}
    return record(file=LogFile.of(row), **{name: row[name] for name in names - {"file"}})


def _coverage_intervals(rows: Iterable[Row]) -> Iterator[CoverageInterval]:
    def same(row: Row) -> tuple:
        return row["instance"], row["source"], row["log"], row["state"]

    for (instance, source, log, state), run in groupby(rows, same):
        of_run = list(run)
        first = datetime.fromtimestamp(of_run[0]["minute_at"], UTC)
        sums = [sum(row[name] for row in of_run) for name in ("grown_bytes", "behind_bytes", "missing_bytes")]
        yield CoverageInterval(instance, source, log, state, first, len(of_run), *sums)


def _minute(moment: datetime) -> str:
    return f"{moment.astimezone(UTC):%Y-%m-%d %H:%M}:00"


def _account_json(account: Account) -> dict:
    return {**_plain(account), "pending": account.pending, "behind": account.behind}


def _plain(record: Any) -> dict:
    plain = dataclasses.asdict(record)
    plain = {**plain.pop("file", {}), **plain}
    for name, value in plain.items():
        if isinstance(value, datetime):
            plain[name] = value.isoformat()
        elif name.endswith("_at"):
            plain[name] = datetime.fromtimestamp(value, UTC).isoformat() if value else None
    return plain
