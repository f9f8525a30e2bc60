"""Manipulations of the signed ranges of a bundle, as in verify_manipulations."""

import hashlib
import json
import random

import verify_histories as histories
from verify_histories import History
from verify_manipulations import Bundle, Manipulation, Place, resigned


def _ranges(history: History) -> list[int]:
    """The leaves of signed ranges that another record of the same chain follows."""
    last = {host.name: host.sequence for host in history.hosts}
    found = []
    for index, each in enumerate(history.entries):
        document = json.loads(each)
        if document["type"] == "signed_range" and history.entries.count(each) == 1:
            payload = json.loads(document["payload"])
            if "from" in payload and payload["sequence"] < last[payload["host"]]:
                found.append(index)
    return found


def _range_at(history: History, source: random.Random) -> tuple[int, dict] | None:
    if not (found := _ranges(history)):
        return None
    index = source.choice(found)
    return index, json.loads(json.loads(history.entries[index])["payload"])


def range_dropped(history: History, bundle: Bundle, source: random.Random) -> Place | None:
    """The range never came into the log, which the witness cosigned."""
    if not (chosen := _range_at(history, source)):
        return None
    index, payload = chosen
    resigned(history, bundle, history.entries[:index] + history.entries[index + 1 :], witness=True)
    return {"host": payload["host"], "sequence": payload["sequence"]}


def range_replayed(history: History, bundle: Bundle, source: random.Random) -> Place | None:
    if not (chosen := _range_at(history, source)):
        return None
    index, payload = chosen
    at = source.randrange(index + 1, len(history.entries) + 1)
    entries = [*history.entries[:at], history.entries[index], *history.entries[at:]]
    resigned(history, bundle, entries, witness=True)
    return {"leaf": at, "host": payload["host"], "sequence": payload["sequence"], **histories.span(payload)}


def ranges_swapped(history: History, bundle: Bundle, source: random.Random) -> Place | None:
    """Two records exchange their payloads, and keep their signatures."""
    found = _ranges(history)
    if len(found) < 2:
        return None
    first, second = source.sample(found, 2)
    entries = list(history.entries)
    one, two = json.loads(entries[first]), json.loads(entries[second])
    one["payload"], two["payload"] = two["payload"], one["payload"]
    entries[first], entries[second] = histories.entry(**one), histories.entry(**two)
    resigned(history, bundle, entries, witness=True)
    return {"leaf": first}


def range_changed(history: History, bundle: Bundle, source: random.Random) -> Place | None:
    if not (chosen := _range_at(history, source)):
        return None
    index, payload = chosen
    document = json.loads(history.entries[index])
    document["payload"] = json.dumps({**payload, "sha256": source.randbytes(32).hex()})
    entries = list(history.entries)
    entries[index] = histories.entry(**document)
    resigned(history, bundle, entries, witness=True)
    return {"leaf": index, "path": payload["path"], **histories.span(payload)}


def _joined_at(history: History, source: random.Random) -> tuple[int, list[bytes], int] | None:
    """A leaf with several records, each of these as an entry, and one that another of the leaf follows."""
    found = [at for at, each in enumerate(history.entries) if b'"signed_ranges"' in each[:30]]
    found = [at for at in found if history.entries.count(history.entries[at]) == 1]
    if not found:
        return None
    index = source.choice(found)
    each = histories.records(json.loads(history.entries[index]))
    entries = [histories.entry(type="signed_range", **record) for record in each]
    return index, entries, source.randrange(len(entries) - 1)


def joined_range_dropped(history: History, bundle: Bundle, source: random.Random) -> Place | None:
    """One record of a leaf with several never came into the log."""
    if not (chosen := _joined_at(history, source)):
        return None
    index, each, at = chosen
    payload = json.loads(json.loads(each[at])["payload"])
    entries = list(history.entries)
    entries[index] = histories.joined(each[:at] + each[at + 1 :])
    resigned(history, bundle, entries, witness=True)
    return {"host": payload["host"], "sequence": payload["sequence"]}


def joined_range_changed(history: History, bundle: Bundle, source: random.Random) -> Place | None:
    if not (chosen := _joined_at(history, source)):
        return None
    index, each, at = chosen
    document = json.loads(each[at])
    payload = json.loads(document["payload"])
    document["payload"] = json.dumps({**payload, "earlier_root": source.randbytes(32).hex()})
    entries = list(history.entries)
    entries[index] = histories.joined([*each[:at], histories.entry(**document), *each[at + 1 :]])
    resigned(history, bundle, entries, witness=True)
    return {"leaf": index, "sequence": payload["sequence"]}


def bytes_changed_on_their_way(history: History, bundle: Bundle, source: random.Random) -> Place | None:
    """A record of Kafka was changed: the log has the mismatch, and the attacker adds a denial."""
    if not (chosen := _range_at(history, source)):
        return None
    index, payload = chosen
    document = json.loads(history.entries[index])
    sha256 = hashlib.sha256(document["payload"].encode()).hexdigest()
    result = {"type": "range_result", "key": document["key"], "payload_sha256": sha256}
    result["sequence"] = payload["sequence"]
    span = histories.span(payload)
    if source.random() < 0.5:
        span["to"] -= (span["to"] - span["from"]) // 2
        result |= span  # the job names the ranges that differ
    made = [histories.entry(**result, status=status) for status in ("mismatch", "verified")]
    entries = [*history.entries, *made]
    resigned(history, bundle, entries, witness=True)
    place = {name: payload[name] for name in ("host", "sequence", "path")}
    return {"leaf": len(history.entries), **place, **span}


ALL: tuple[Manipulation, ...] = (
    *(range_dropped, range_replayed, ranges_swapped, range_changed),
    *(joined_range_dropped, joined_range_changed, bytes_changed_on_their_way),
)
