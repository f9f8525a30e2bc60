"""Writes postings, rows and census like the job, so that tests can describe the history of a file."""

import uuid
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta

from tailrace.clickhouse.client import ClickHouse
from tailrace.ledger import balance as ledger_balance

NOW = datetime.now(UTC).replace(second=30, microsecond=0)
ENTRY_BYTES = 100


@dataclass
class LedgerRows:
    """The ledger of one file, written row by row and stored by `store`."""

    instance: str = "db1"
    log: str = "/log/slow.log"
    cluster: str = "shop"
    generation: int = 1
    at: datetime = NOW
    checkpoint: int = 1
    ledger: list[dict] = field(default_factory=list)
    events: list[dict] = field(default_factory=list)
    dead_letters: list[dict] = field(default_factory=list)

    def read(self, entries: int, begin: int = 0) -> "LedgerRows":
        """Adds entries of 100 bytes from an offset on: framed, parsed, stored, and included in the census."""
        end = begin + entries * ENTRY_BYTES
        self.post("ENTRY", begin, end, count=entries)
        self.post("EVENT", begin, end, count=entries, stage="PARSER")
        self.store_events(begin, entries)
        return self.reached(end)

    def reached(self, accounted: int, frontier: int | None = None, size: int | None = None) -> "LedgerRows":
        frontier = accounted if frontier is None else frontier
        self.post("FRONTIER", accounted, frontier, count=0, amount=0)
        return self.census(frontier if size is None else size)

    def post(
        self,
        kind: str,
        begin: int,
        end: int,
        count: int = 1,
        amount: int | None = None,
        stage: str = "FRAMER",
        detail: str = "",
    ) -> "LedgerRows":
        row = {
            "stage": stage,
            "kind": kind,
            "detail": detail,
            "from_offset": begin,
            "to_offset": end,
            "count": count,
            "bytes": end - begin if amount is None else amount,
        }
        self.ledger.append({**self._file(), **row, "at": _time(self.at)})
        return self

    def census(
        self, size: int, at: datetime | None = None, generation: int | None = None, inode: int = 7
    ) -> "LedgerRows":
        row = {"stage": "FRAMER", "kind": "CENSUS", "size": size, "inode": inode, "at": _time(at or self.at)}
        file = self._file()
        if generation is not None:
            file["generation"] = generation
        self.ledger.append({**file, **row})
        return self

    def store_events(self, begin: int, entries: int) -> "LedgerRows":
        for number in range(entries):
            place = {"entry_offset": begin + number * ENTRY_BYTES, "entry_bytes": ENTRY_BYTES}
            row = {"event_id": str(uuid.uuid4()), "event_time": _time(self.at), "query_time": 1, "weight": 1}
            self.events.append({**self._file(), **place, **row})
        return self

    def store_dead_letter(
        self, begin: int, end: int, stage: str, code: str, superseded: bool = False
    ) -> "LedgerRows":
        identity = uuid.uuid5(uuid.NAMESPACE_URL, f"{self.instance} {self.log} {begin} {stage} {code}")
        place = {"entry_offset": begin, "entry_bytes": end - begin}
        row = {"dead_letter_id": str(identity), "stage": stage, "code": code, "superseded": superseded}
        self.dead_letters.append({**self._file(), **place, **row, "seen_at": _time(self.at)})
        return self

    def reject(self, begin: int, end: int, stage: str, code: str) -> "LedgerRows":
        """Adds a dead letter with its posting."""
        self.post("DEAD_LETTER", begin, end, stage=stage, detail=code)
        return self.store_dead_letter(begin, end, stage, code)

    def take_back(self, begin: int, end: int, stage: str, code: str) -> "LedgerRows":
        """Adds a dead letter that a backfill has replaced with events."""
        self.post("DEAD_LETTER", begin, end, count=-1, amount=begin - end, stage=stage, detail=code)
        return self.store_dead_letter(begin, end, stage, code, superseded=True)

    def store(self, clickhouse: ClickHouse) -> None:
        for table, rows in self._tables():
            if rows:
                clickhouse.insert(f"tailrace.{table}", rows, async_insert=0)

    def _tables(self) -> Iterator[tuple[str, list[dict]]]:
        yield "ledger", self.ledger
        yield "query_events", self.events
        yield "dead_letters", self.dead_letters

    def _file(self) -> dict:
        return {
            "cluster": self.cluster,
            "instance": self.instance,
            "source": "slowlog",
            "log": self.log,
            "generation": self.generation,
            "after_checkpoint": self.checkpoint,
            "ingested_at": _seconds(NOW - timedelta(minutes=1)),
        }


def minutes_ago(minutes: float) -> datetime:
    return NOW - timedelta(minutes=minutes)


def _time(moment: datetime) -> str:
    return f"{moment:%Y-%m-%d %H:%M:%S.%f}"


def _seconds(moment: datetime) -> str:
    return f"{moment:%Y-%m-%d %H:%M:%S}"


def read(clickhouse: ClickHouse, file: LedgerRows) -> ledger_balance.LedgerBalance:
    file.store(clickhouse)
    return ledger_balance.read(clickhouse, patience_seconds=0)
