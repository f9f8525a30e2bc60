"""Pushes of rules: the directory's files as one record of tailrace.rules, so that a push is atomic.

schemas/rules.schema.json describes the record. What the detect job made of it is in tailrace.rule_pushes.
"""

import getpass
import json
import socket
import time
import uuid
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from confluent_kafka import Consumer, KafkaException, Producer, TopicPartition

from tailrace.clickhouse import ClickHouse
from tailrace.settings import REPOSITORY

OWN = REPOSITORY / "rules"
"""The rules of this repository."""

TOPIC = "tailrace.rules"
KEY = "bundle"
VERSION = 1
MOST_BYTES = 19_000_000
"""The topic takes 20 MB."""

TIMEOUT_SECONDS = 30
RETRY_SECONDS = 0.1
POLL_SECONDS = 0.2


class RulesError(RuntimeError):
    """Rules cannot be pushed; the message says why."""


@dataclass(frozen=True)
class Outcome:
    """What the detect job made of a push."""

    accepted: bool
    rules: int
    detectors: int
    classes: int
    message: str


def files(directory: Path) -> dict[str, str]:
    """The texts of a directory's YAML files by their paths below it. Raises RulesError."""
    if not directory.is_dir():
        raise RulesError(f"{directory} is no directory")
    found = {}
    for path in sorted((*directory.rglob("*.yml"), *directory.rglob("*.yaml"))):
        if path.is_dir():
            continue
        try:
            found[path.relative_to(directory).as_posix()] = path.read_text(encoding="utf-8")
        except UnicodeDecodeError as error:
            raise RulesError(f"{path}: expected UTF-8: {error.reason}") from None
        except OSError as error:
            raise RulesError(f"{path} cannot be read: {error.strerror}") from None
    if not found:
        raise RulesError(f"{directory} holds no .yml or .yaml file")
    return found


def push(kafka: str, texts: dict[str, str]) -> str:
    """Writes a push; returns its id. Raises RulesError."""
    push_id = str(uuid.uuid4())
    record = {
        "version": VERSION,
        "push_id": push_id,
        "pushed_at": datetime.now(UTC).isoformat(),
        "pushed_by": f"{getpass.getuser()}@{socket.gethostname()}",
        "files": texts,
    }
    value = json.dumps(record, ensure_ascii=False).encode()
    if len(value) > MOST_BYTES:
        raise RulesError(f"the rules are {len(value)} bytes; a push has at most {MOST_BYTES}")
    _produce(kafka, value)
    return push_id


def _produce(kafka: str, value: bytes) -> None:
    failures = []
    producer = Producer(
        {
            "bootstrap.servers": kafka,
            "message.max.bytes": 20_000_000,
            "message.timeout.ms": TIMEOUT_SECONDS * 1000,
            "log_level": 0,
            "error_cb": _ignore,
        }
    )
    producer.produce(TOPIC, value, KEY, on_delivery=lambda error, _: error and failures.append(error.str()))
    left = producer.flush(TIMEOUT_SECONDS + 5)
    if failures or left:
        raise RulesError(
            f"Kafka at {kafka} did not take the push: {failures[0] if failures else 'no answer'}"
        )


def push_first(kafka: str) -> None:
    """Pushes the repository's rules where nothing was ever pushed. Raises RulesError."""
    if _is_empty(kafka):
        push(kafka, files(OWN))


def _is_empty(kafka: str) -> bool:
    consumer = Consumer(
        {"bootstrap.servers": kafka, "group.id": "tailrace-rules", "log_level": 0, "error_cb": _ignore}
    )
    deadline = time.monotonic() + TIMEOUT_SECONDS
    try:
        while True:
            try:
                low, high = consumer.get_watermark_offsets(TopicPartition(TOPIC, 0), timeout=TIMEOUT_SECONDS)
                return low == high
            except KafkaException as error:  # of a topic that was just made nobody is the leader yet
                if time.monotonic() > deadline:
                    raise RulesError(f"{TOPIC} cannot be read: {error.args[0].str()}") from None
                time.sleep(RETRY_SECONDS)
    finally:
        consumer.close()


def await_outcome(clickhouse: ClickHouse, push_id: str, seconds: float) -> Outcome | None:
    """What the job made of a push; None if it says nothing in that time."""
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        found = clickhouse.rows(
            "SELECT accepted, rules, detectors, classes, message FROM tailrace.rule_pushes "
            "WHERE push_id = {push:String} ORDER BY at LIMIT 1",
            {"push": push_id},
        )
        if found:
            return Outcome(**found[0])
        time.sleep(POLL_SECONDS)
    return None


def _ignore(error: object) -> None:
    """The client's background errors say again what the call itself raises."""
