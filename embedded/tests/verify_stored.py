"""Manipulations of tables in which ClickHouse replaces rows, and what ClickHouse has of a history: the newest
version of each alert, and the signed ranges.
"""

import base64
import hashlib
import json
import random
from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, datetime
from typing import BinaryIO

import verify_histories as histories
from verify_histories import History
from verify_manipulations import Bundle, Manipulation, Place, first_leaf, resigned

from tailrace.verification import stored_ranges, stored_versions
from tailrace_verify import tiles
from tailrace_verify.check import Scope
from tailrace_verify.findings import Report
from tailrace_verify.leaves import Leaves
from tailrace_verify.rewinds import Rewinds

ALERTS, RANGES = "stored/alerts", "stored/signed_ranges"
DIGEST_BYTES = 32


class StoredRows:
    """Answers the queries of the verifier as a ClickHouse with these rows; `rows` are those after FINAL."""

    def __init__(self, bundle: Bundle) -> None:
        self._bundle = bundle

    def rows(self, query: str, parameters: Mapping[str, object] | None = None) -> list[dict[str, object]]:
        return json.loads(self._bundle[ALERTS])

    def copy(self, query: str, answer: BinaryIO, parameters: Mapping[str, object]) -> None:
        answer.write(self._bundle[RANGES])


def stored(history: History) -> Bundle:
    """Returns what ClickHouse has of a history."""
    alerts, ranges = {}, set()
    for document in map(json.loads, history.entries):
        if document["type"] == "versions":
            second = int(datetime.fromisoformat(document["ingested"][0]).timestamp())
            for key, minute, version, digest, _ in document["rows"]:
                at = int(datetime.fromisoformat(minute).timestamp())
                row = {"key": key, "minute": at, "version": version, "hash": digest, "second": second}
                alerts[key] = max(alerts.get(key, row), row, key=lambda each: each["version"])
        for record in histories.records(document):
            text = "\n".join(record[name] for name in ("payload", "key", "signature"))
            ranges.add(hashlib.sha256(text.encode()).digest())
    return {ALERTS: json.dumps(list(alerts.values())).encode(), RANGES: b"".join(sorted(ranges))}


def compare(bundle: Bundle, held: Leaves, report: Report) -> None:
    """Verifies the stored rows of a bundle."""
    rows, now = StoredRows(bundle), datetime.now(UTC)
    stored_versions.find(rows, "alerts", held.versions, Scope(), now, report)
    stored_ranges.find(rows, held.ranges, Scope(), Rewinds(), report)


def alert_replaced_by_another_version(
    history: History, bundle: Bundle, source: random.Random
) -> Place | None:
    """A row with the present time, which the log records as one of the job; the witness cosigns."""
    if not history.alerts:
        return None
    key = source.choice(sorted(history.alerts))
    old = history.alerts[key]
    ways = [{"count": old.count - 1}, {"facts": "ffff"}, {"fixed": "ffff"}, {"fixed": "ffff", "raised": 1}]
    ways += [{"level": old.level - 1}] * bool(old.level) + [{"is_suppressed": True}] * (not old.is_suppressed)
    forged = replace(old, version=old.version + 100, **source.choice(ways))
    made = histories.versions_entry(history.minute - 1, [forged.row(key, source)])
    resigned(history, bundle, [*history.entries, made], witness=True)
    return {"leaf": len(history.entries), "table": "alerts", "key": key, "minute": old.minute}


def version_of_an_alert_changed(history: History, bundle: Bundle, source: random.Random) -> Place | None:
    """The hash of an alert in the entries, but not in the tree."""
    found = [at for at, each in enumerate(history.entries) if each.startswith(b'{"type":"versions"')]
    if not found:
        return None
    at = source.choice(found)
    document = json.loads(history.entries[at])
    source.choice(document["rows"])[3] = source.randbytes(32).hex()
    name = next(
        name for name in bundle if name.startswith("tile/entries/") and 0 <= at - first_leaf(name) < 256
    )
    entries = tiles.unpack(bundle[name])
    entries[at - first_leaf(name)] = histories.entry(**document)
    bundle[name] = tiles.pack(entries)
    return {"leaf": at}


def _alert(bundle: Bundle, source: random.Random) -> tuple[list[dict[str, object]], int, Place] | None:
    rows = json.loads(bundle[ALERTS])
    if not rows:
        return None
    at = source.randrange(len(rows))
    minute = datetime.fromtimestamp(rows[at]["minute"], UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    return rows, at, {"table": "alerts", "minute": minute}


def stored_alert_changed(history: History, bundle: Bundle, source: random.Random) -> Place | None:
    if not (chosen := _alert(bundle, source)):
        return None
    rows, at, place = chosen
    rows[at]["hash"] = source.randbytes(DIGEST_BYTES).hex()
    bundle[ALERTS] = json.dumps(rows).encode()
    return place


def stored_alert_deleted(history: History, bundle: Bundle, source: random.Random) -> Place | None:
    if not (chosen := _alert(bundle, source)):
        return None
    rows, at, place = chosen
    del rows[at]
    bundle[ALERTS] = json.dumps(rows).encode()
    return place


def stored_alert_is_an_older(history: History, bundle: Bundle, source: random.Random) -> Place | None:
    if not (chosen := _alert(bundle, source)):
        return None
    rows, at, place = chosen
    rows[at]["version"] -= 1
    bundle[ALERTS] = json.dumps(rows).encode()
    return place


def stored_ranges_deleted(history: History, bundle: Bundle, source: random.Random) -> Place | None:
    """Some signed ranges; the place is that of one of them."""
    data = bundle[RANGES]
    digests = {data[at : at + DIGEST_BYTES] for at in range(0, len(data), DIGEST_BYTES)}
    found = [record for each in history.entries for record in histories.records(json.loads(each))]
    if not found:
        return None
    document = source.choice(found)
    signature = base64.b64encode(base64.b64decode(document["signature"])).decode()
    text = f"{document['payload']}\n{document['key']}\n{signature}"
    bundle[RANGES] = b"".join(sorted(digests - {hashlib.sha256(text.encode()).digest()}))
    payload = json.loads(document["payload"])
    return {"host": payload["host"], "key": document["key"], "sequence": payload["sequence"]}


OF_THE_LOG: tuple[Manipulation, ...] = (alert_replaced_by_another_version, version_of_an_alert_changed)
OF_CLICKHOUSE: tuple[Manipulation, ...] = (
    *(stored_alert_changed, stored_alert_deleted, stored_alert_is_an_older, stored_ranges_deleted),
)
