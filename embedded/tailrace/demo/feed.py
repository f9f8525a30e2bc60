"""Writes the demo's logs: the real logs of samples/ with their times moved into the last hour, the spans of
an application that used one of the servers, and the snapshots that capture took of it."""

import json
import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from confluent_kafka import Producer

from tailrace.config.home import Home
from tailrace.config.resources import ROOT
from tailrace.config.settings import Settings
from tailrace.demo import time_shift
from tailrace.demo.time_shift import Move
from tailrace.kafka.client import KafkaClient
from tailrace.programs.capture import spool_of
from tailrace.sources import sources_file
from tailrace.sources.sources_file import Source

SAMPLES = ROOT / "samples"
SPAN_SECONDS = 3600
MIN_SPAN_SECONDS = 60
SHOP_LOG = "mariadb-10.11.19.shop.slow.log"
SHOP_AUDIT = "mariadb-10.11.19.shop.server_audit.log"
SHOP_ERRORS = "mariadb-10.11.19.shop.error.log"
STOCK_LOG = "mariadb-10.11.19.stock.slow.log"
STOCK_ERRORS = "mariadb-10.11.19.stock.error.log"
SHOP_SPANS = "shop.spans.jsonl"
SHOP_SNAPSHOTS = "mariadb-10.11.19.shop.snapshots.jsonl"
PASSWORD_CHANGED = "password_changed_at"
SIDES = ("before", "after")
SPANS_TOPIC = "otlp_spans"
SEND_SECONDS = 30
NANOS = 1_000_000_000


@dataclass(frozen=True)
class Sample:
    """One file of samples/ and the server that wrote it."""

    file: str
    cluster: str
    instance: str
    source: str
    run: str = ""
    """The run of a server that wrote several logs: their times are moved together."""

    def watched(self, home: Home) -> Source:
        """The log that the demo watches: watch/<instance>/<slow, audit or error>.log."""
        name = {"slowlog": "slow.log", "audit": "audit.log", "errorlog": "error.log"}[self.source]
        return Source(self.instance, self.source, home.watch / self.instance / name, self.cluster)


FILES = (
    Sample("mysql-8.0.46.slow.log", "shop", "shop-mysql-8.0", "slowlog"),
    Sample("mariadb-10.11.19.slow.log", "shop", "shop-mariadb-10.11", "slowlog"),
    Sample("mariadb-10.11.19.server_audit.log", "shop", "shop-mariadb-10.11", "audit"),
    Sample(SHOP_LOG, "shop", "shop-orders-1", "slowlog"),
    Sample(SHOP_AUDIT, "shop", "shop-orders-1", "audit", run="intrusion"),
    Sample(SHOP_ERRORS, "shop", "shop-orders-1", "errorlog", run="intrusion"),
    Sample(STOCK_LOG, "shop", "shop-stock-1", "slowlog", run="bad hour"),
    Sample(STOCK_ERRORS, "shop", "shop-stock-1", "errorlog", run="bad hour"),
    Sample("pxc-5.7.20.slow.log", "billing", "billing-pxc-5.7", "slowlog"),
    Sample("pxc-5.7.20.audit.json.log", "billing", "billing-pxc-5.7", "audit"),
)


def watch(settings: Settings, home: Home) -> bool:
    """Adds the demo's logs to sources.yaml; returns whether the file changed. Raises SourcesError."""
    sources_file.make_empty(settings.sources)
    listed = sources_file.load(settings.sources)
    missing = [sample.watched(home) for sample in FILES if sample.watched(home) not in listed]
    if missing:
        sources_file.add(settings.sources, missing)
    return bool(missing)


@dataclass(frozen=True)
class Fed:
    """The fed data: bytes of logs, and the spans to send, one message each."""

    written: int
    spans: list[bytes]


def feed(home: Home) -> Fed:
    """Appends every sample to its log, so that the last entry is at about the current time."""
    now, written, spans = time.time(), 0, []
    for sample in FILES:
        log = sample.watched(home).path
        move = time_shift.linear_move(*_time_range(sample), end=now, span=_span(log, now))
        written += _append(b"".join(time_shift.moved(_lines(sample), move)), log)
        if sample.file == SHOP_LOG:
            spans = [_moved(message, move) for message in (SAMPLES / SHOP_SPANS).read_bytes().splitlines()]
        if sample.file == SHOP_AUDIT:
            _spool_snapshots(home, move, _time_range(sample)[0], now)
    return Fed(written, spans)


def _lines(sample: Sample) -> list[bytes]:
    return (SAMPLES / sample.file).read_bytes().splitlines(keepends=True)


def _time_range(sample: Sample) -> tuple[float, float]:
    """Returns the time range of all logs of the sample's run, in seconds since 1970 UTC."""
    together = [each for each in FILES if sample.run and each.run == sample.run] or [sample]
    ranges = [time_shift.time_range(_lines(each)) for each in together]
    return min(first for first, _ in ranges), max(last for _, last in ranges)


def send(kafka: KafkaClient, spans: Iterable[bytes]) -> int:
    """Sends messages as the OpenTelemetry Collector would; returns how many Kafka did not confirm in time."""
    producer = Producer(kafka.settings({"acks": "all"}))
    for message in spans:
        producer.produce(SPANS_TOPIC, message)
    return producer.flush(SEND_SECONDS)


def _spool_snapshots(home: Home, move: Move, first: float, now: float) -> None:
    """Writes the snapshots of the server to capture's spool, moved with the server's logs. Facts from before
    the logs stay at the same distance to them."""

    def moved(seconds: float) -> float:
        return move(seconds) if seconds >= first else seconds + move(first) - first

    snapshots = [json.loads(line) for line in (SAMPLES / SHOP_SNAPSHOTS).read_bytes().splitlines()]
    for snapshot in snapshots:
        snapshot["at"] = moved(snapshot["at"])
        for fact in snapshot["facts"]:
            fact["since"] = moved(fact["since"])
        known = [fact["attributes"] for fact in snapshot["facts"]]
        for attributes in (*known, *(change[side] for change in snapshot["changes"] for side in SIDES)):
            if changed := attributes.get(PASSWORD_CHANGED):
                at = moved(datetime.fromisoformat(changed).timestamp())
                attributes[PASSWORD_CHANGED] = f"{datetime.fromtimestamp(at, UTC):%Y-%m-%dT%H:%M:%SZ}"
    spool = spool_of(home)
    spool.mkdir(mode=0o700, parents=True, exist_ok=True)
    lines = "".join(f"{json.dumps(snapshot)}\n" for snapshot in snapshots)
    (spool / f"snapshots-demo-{now:.0f}.jsonl").write_text(lines)


def _append(content: bytes, log: Path) -> int:
    log.parent.mkdir(parents=True, exist_ok=True)
    with log.open("ab") as file:
        file.write(content)
    return len(content)


def _moved(message: bytes, move: Move) -> bytes:
    """Moves a trace by the offset of the second in which it began, the unit of the log: durations stay."""
    request = json.loads(message)
    began = min(int(span["startTimeUnixNano"]) for span in _spans(request)) // NANOS
    by = int((move(began) - began) * NANOS)
    for span in _spans(request):
        for name in ("startTimeUnixNano", "endTimeUnixNano"):
            span[name] = str(int(span[name]) + by)
    return json.dumps(request).encode()


def _spans(request: dict[str, Any]) -> Iterator[dict[str, Any]]:
    for of_resource in request["resourceSpans"]:
        for of_scope in of_resource["scopeSpans"]:
            yield from of_scope["spans"]


def _span(log: Path, now: float) -> float:
    """Returns one hour, or less if the log was fed within the last hour: times in a log must not decrease."""
    fed = log.stat().st_mtime if log.exists() else 0.0
    return max(MIN_SPAN_SECONDS, min(SPAN_SECONDS, now - fed))
