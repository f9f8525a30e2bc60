"""Silences: for a while, alerts of a rule or an entity are marked as silenced, and told to nobody.

What the detect job obeys is a record of the compacted topic tailrace.rules (schemas/rules.schema.json, key
`silence/<id>`); an empty record ends it. Who wanted it and why is appended to tailrace.silences first, so
that nothing is ever silenced of which nobody knows.
"""

import json
import re
import uuid
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime

from confluent_kafka import KafkaError, KafkaException, Producer

from tailrace.alerts.triage import RULE_IS, AlertError
from tailrace.clickhouse.client import ClickHouse, Row
from tailrace.config.resources import ROOT
from tailrace.kafka.client import KafkaClient

QUERY = ROOT / "sql" / "queries" / "alerts_silences.sql"
TOPIC = "tailrace.rules"
TIMEOUT_SECONDS = 20
PRODUCER = {
    "enable.idempotence": True,
    "message.timeout.ms": TIMEOUT_SECONDS * 1000,
    "log_level": 0,
}
COLUMNS = ("silence_id", "action", "rule", "entity", "until", "actor", "reason")
NOT_PUBLISHED = "could not be published: it never began"
IN_FORCE = ("in force", "unconfirmed")
AMBIGUOUS = (
    KafkaError._MSG_TIMED_OUT,
    KafkaError._TIMED_OUT,
    KafkaError._TRANSPORT,
    KafkaError.REQUEST_TIMED_OUT,
    KafkaError.NETWORK_EXCEPTION,
    KafkaError.NOT_ENOUGH_REPLICAS_AFTER_APPEND,
)
"""After these nobody knows whether the broker has the record."""

_UUID = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}")


class UnconfirmedError(AlertError):
    """Kafka may have taken the silence and may have not."""


@dataclass(frozen=True)
class Silence:
    """Which alerts to silence until when."""

    rule: str
    """Id of the rule; empty: any."""
    entity: Mapping[str, str]
    """Fields of the alert's entity with the values that they must have; none: any."""
    until: datetime
    actor: str
    reason: str


def producer(kafka: KafkaClient) -> Producer:
    """One whose broker answers. Raises AlertError."""
    connected = Producer(kafka.settings(PRODUCER))
    try:
        connected.list_topics(TOPIC, timeout=TIMEOUT_SECONDS)
    except KafkaException as error:
        raise AlertError(f"Kafka at {kafka.address} does not answer, nothing was changed: {error}") from error
    return connected


def suppress(clickhouse: ClickHouse, producer: Producer, silence: Silence) -> str:
    """Returns the new silence's id. Raises AlertError if Kafka does not take it.

    The history then says that it never began, or that nobody knows.
    """
    id_ = str(uuid.uuid4())
    _append(clickhouse, id_, "begin", silence, silence.reason)
    try:
        _publish(producer, id_, json.dumps(_record(id_, silence)).encode())
    except UnconfirmedError as error:
        _append(clickhouse, id_, "unconfirmed", silence, str(error))
        end_it = f"tailrace alerts unsilence {id_[:8]} --reason …"
        raise AlertError(f"{error}: it may be in force or not; this ends it: {end_it}") from error
    except AlertError:
        _append(clickhouse, id_, "end", silence, NOT_PUBLISHED)
        raise
    return id_


def lift(clickhouse: ClickHouse, producer: Producer, prefix: str, actor: str, reason: str) -> str:
    """Ends a silence before its time; returns its id. Raises AlertError."""
    row = _find(clickhouse, prefix)
    until = datetime.fromisoformat(str(row["until"])).replace(tzinfo=UTC)
    silence = Silence(str(row["rule"]), dict(row["entity"]), until, actor, reason)
    _publish(producer, str(row["id"]), None)
    _append(clickhouse, str(row["id"]), "end", silence, reason)
    return str(row["id"])


def history(clickhouse: ClickHouse, everything: bool = False) -> list[Row]:
    """Silences that are or may be in force, those that end first first; `everything`: also past ones."""
    rows = clickhouse.rows(QUERY.read_text())
    return [row for row in rows if everything or row["state"] in IN_FORCE]


def rule_id(clickhouse: ClickHouse, given: str) -> str:
    """The id of a rule that is given by id, title or a part of its title. Raises AlertError.

    Titles are known of rules that have fired; any other rule is given by its id.
    """
    rows = clickhouse.rows(
        f"SELECT DISTINCT rule_id, rule_title FROM tailrace.alerts WHERE {RULE_IS} ORDER BY rule_title",
        {"rule": given},
    )
    exact = {row["rule_id"] for row in rows if given in (row["rule_id"], row["rule_title"])}
    ids = exact or {row["rule_id"] for row in rows}
    if len(ids) == 1:
        return str(ids.pop())
    if ids:
        titles = ", ".join(sorted({str(row["rule_title"]) for row in rows})[:4])
        raise AlertError(f"{given!r} is a part of several rules' titles: {titles}; give the id of one")
    if _UUID.fullmatch(given.lower()):
        return given.lower()
    raise AlertError(f"no rule whose title holds {given!r} has fired; give the rule's id")


def _find(clickhouse: ClickHouse, prefix: str) -> Row:
    found = [row for row in history(clickhouse) if str(row["id"]).startswith(prefix.lower())]
    if not found:
        raise AlertError(
            f"no silence {prefix} is in force; tailrace alerts silences --all lists those before"
        )
    if len(found) > 1:
        raise AlertError(f"{prefix} is the beginning of several silences' ids")
    return found[0]


def _append(clickhouse: ClickHouse, id_: str, action: str, silence: Silence, reason: str) -> None:
    row = {
        "silence_id": id_,
        "action": action,
        "rule": silence.rule,
        "entity": dict(silence.entity),
        "until": f"{silence.until:%Y-%m-%d %H:%M:%S}",
        "actor": silence.actor,
        "reason": reason,
    }
    clickhouse.insert(f"tailrace.silences ({', '.join(COLUMNS)})", [row])


def _record(id_: str, silence: Silence) -> dict[str, object]:
    """As schemas/rules.schema.json describes it."""
    return {
        "id": id_,
        "rule": silence.rule,
        "entity": dict(silence.entity),
        "until": f"{silence.until:%Y-%m-%dT%H:%M:%SZ}",
        "actor": silence.actor,
        "reason": silence.reason,
        "at": f"{datetime.now(UTC):%Y-%m-%dT%H:%M:%SZ}",
    }


def _publish(producer: Producer, id_: str, value: bytes | None) -> None:
    refused: list[KafkaError] = []

    def delivered(error: KafkaError | None, _: object) -> None:
        if error is not None:
            refused.append(error)

    try:
        producer.produce(TOPIC, key=f"silence/{id_}", value=value, on_delivery=delivered)
        left = producer.flush(TIMEOUT_SECONDS + 1)
    except KafkaException as error:
        raise AlertError(f"Kafka did not take the silence: {error}") from error
    if left or any(error.code() in AMBIGUOUS for error in refused):
        raise UnconfirmedError(f"Kafka did not confirm the silence within {TIMEOUT_SECONDS} s")
    if refused:
        raise AlertError(f"Kafka did not take the silence: {refused[0].str()}")
