"""What the tests of signed ranges share: a host with a signer, and the check of what it signed."""

import base64
import hashlib
import json
import re
from collections.abc import Callable, Hashable
from dataclasses import dataclass, field
from pathlib import Path
from types import SimpleNamespace

from tailrace_signing import keys
from tailrace_signing.ranges import divide
from tailrace_signing.signer import RangeSigner

CONTRACT = json.loads(
    (Path(__file__).resolve().parents[2] / "schemas" / "contracts" / "signed_range.json").read_text()
)


def content(pieces: list) -> bytes:
    """Returns the bytes of a case of the contract."""
    return b"".join(text.encode("latin-1") * times for text, times in pieces)


def divided(whole: bytes, ended: bool, start: int = 0) -> list[dict]:
    found = divide(lambda offset, size: whole[offset : offset + size], start, len(whole), ended)
    return [
        {"from": each.start, "to": each.end, "closed": each.closed, "sha256": each.sha256} for each in found
    ]


def expected_hash(part: bytes) -> str:
    """The rule of the hash, written once more."""
    return hashlib.sha256(re.sub(rb"\r+\n", b"\n", part)).hexdigest()


@dataclass
class Chains:
    """The records of a spool, checked: signatures, numbers and links."""

    payloads: list[dict] = field(default_factory=list)
    """Without repetitions, in order; one for each range of a record."""
    keys: list[str] = field(default_factory=list)
    """The key of each payload."""

    @classmethod
    def of(cls, spool: Path, public_keys: dict[str, bytes]) -> "Chains":
        """Fails if two payloads have a number, one is missing, or a link or a signature is wrong."""
        by_number: dict[int, tuple[str, str, str]] = {}
        for record in records(spool):
            assert keys.is_valid(public_keys[record["key"]], record["payload"], record["signature"])
            number = json.loads(record["payload"])["sequence"]
            found = (record["payload"], record["key"], record.get("earlier_ranges", ""))
            assert by_number.setdefault(number, found) == found, "a fork"
        assert list(by_number) == sorted(by_number), "out of order"
        assert not by_number or sorted(by_number) == list(range(1, max(by_number) + 1)), "a hole"
        result, previous = cls(), ""
        for payload, key, earlier in by_number.values():
            each = each_range(json.loads(payload), earlier)
            result.payloads += each
            result.keys += [key] * len(each)
            assert result.payloads[-1]["previous"] == previous
            previous = hashlib.sha256(payload.encode()).hexdigest()
        return result

    def ranges(self, file_of: Callable[[dict], Hashable]) -> dict[Hashable, list[dict]]:
        """Returns the last record of each range by file, in order; fails unless they are contiguous from 0
        on."""
        files: dict[Hashable, list[dict]] = {}
        for payload in self.payloads:
            if "new_key" in payload:
                continue
            file = files.setdefault(file_of(payload), [])
            if file and payload["from"] == file[-1]["from"]:
                assert payload["to"] >= file[-1]["to"]
                assert not file[-1]["closed"]
                file.pop()
            if file:
                assert file[-1]["closed"]
            assert payload["from"] == (file[-1]["to"] if file else 0), "not contiguous"
            file.append(payload)
        return files


def each_range(payload: dict, earlier_ranges: str) -> list[dict]:
    """Returns the payload once for each range that its record signs, as if it had a record of its own."""
    listed = base64.b64decode(earlier_ranges)
    ends = ["earlier_from", "earlier_root"]
    alone = {name: value for name, value in payload.items() if name not in ends}
    found, start = [], payload.get("earlier_from", payload.get("from"))
    for at in range(0, len(listed), 36):
        end = start + int.from_bytes(listed[at : at + 4], "big")
        sha256 = listed[at + 4 : at + 36].hex()
        found.append({**alone, "from": start, "to": end, "closed": True, "sha256": sha256})
        start = end
    assert ("earlier_root" in payload) == bool(found)
    assert start == payload.get("from")
    if found:
        entries = [listed[at : at + 36] for at in range(0, len(listed), 36)]
        assert expected_root(entries).hex() == payload["earlier_root"]
    return [*found, alone]


def expected_root(entries: list[bytes]) -> bytes:
    """The rule of the root, written once more as RFC 6962 defines it."""
    if len(entries) == 1:
        return hashlib.sha256(b"\0" + entries[0]).digest()
    split = 1 << (len(entries) - 1).bit_length() - 1
    return hashlib.sha256(b"\1" + expected_root(entries[:split]) + expected_root(entries[split:])).digest()


def records(spool: Path) -> list[dict]:
    """Returns the records of the hourly files in order of time; every line must be complete."""
    lines = [line for path in sorted(spool.glob("signed-*T??.jsonl")) for line in path.open()]
    assert all(line.endswith("\n") for line in lines)
    return [json.loads(line) for line in lines]


def new_host(directory: Path, name: str = "db-host-1") -> SimpleNamespace:
    """Returns spool, key file and a function that starts a signer, as after a restart of the census."""
    spool = directory / "census" / "spool"
    spool.mkdir(parents=True, exist_ok=True)
    key_file = directory / "host.pem"
    key = keys.create(key_file)
    problems: list[str] = []
    return SimpleNamespace(
        spool=spool,
        key_file=key_file,
        public_keys={key.id: base64.b64decode(key.public_key)},
        problems=problems,
        start=lambda: RangeSigner(name, key_file, spool, problems.append),
    )
