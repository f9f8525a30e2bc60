"""Signs what an RDS delivered that rotates, cuts and fails, with transactions that fail, and restarts."""

import base64
import hashlib
import json
import random
from collections import defaultdict
from contextlib import suppress
from pathlib import Path

import pytest
from signing_logs import divided, each_range, expected_hash
from test_rds_reading import LIVE, Puller, Writer, client_of, whole_lines

from e2e.pulling.fake_rds import FakeRds
from tailrace_pull.log import PulledLog
from tailrace_pull.rds import RdsLogs
from tailrace_pull.reading import Round
from tailrace_pull.remote import RemoteError
from tailrace_pull.signing import RoundSigner
from tailrace_pull.state import LogState, StateError
from tailrace_signing import keys

LOG = PulledLog("db-2", "shop", "slowlog", "/rds/eu/db-2/slow.log")


class SigningPuller(Puller):
    """Signs each round; some transactions fail, and after some the process begins again."""

    def __init__(self, logs: RdsLogs, key_file: Path, chance: random.Random) -> None:
        super().__init__(logs)
        self.key_file, self.chance = key_file, chance
        self.signer = RoundSigner("pull-test", key_file)
        self.records: list[dict] = []
        self.stored = b""

    def visit(self, max_bytes: int = 1 << 20) -> Round:
        before, numbers = self.state, set(self.numbers)
        runs = {number: dict(found) for number, found in self.runs.items()}
        done = super().visit(max_bytes)
        signed = list(self.signer.sign({LOG: done}))
        if self.chance.random() < 0.2:
            self.signer.abort()
            self.state, self.runs, self.numbers = before, runs, numbers
            return Round(0, before, is_complete=False)
        self.records += signed
        self.state = LogState.from_json(done.state.to_json())
        self.stored = self.signer.state()
        self.signer.confirm()
        if self.chance.random() < 0.2:
            self.signer = RoundSigner("pull-test", self.key_file)
            self.signer.restore(self.stored)
        return done


@pytest.mark.parametrize("seed", range(2))
def test_the_ranges_of_what_was_received_are_signed_once_and_without_a_hole(tmp_path, seed):
    chance = random.Random(seed)
    fake = FakeRds(seed, 5000, chance.choice((3, 20)), 0.1)
    writer = Writer(fake, seed)
    fake.between_calls = writer.act
    key = keys.create(tmp_path / "key")
    puller = SigningPuller(RdsLogs(client_of(fake), "shop-db-1", LIVE), tmp_path / "key", chance)
    for _ in range(40):
        with suppress(RemoteError):
            puller.visit(chance.choice((1000, 1 << 20)))
    fake.settle()
    writer.finish()
    puller.visit_until_read()

    payloads = chain(puller.records, key)
    last: dict[int, dict[int, dict]] = defaultdict(dict)
    for payload in payloads:
        before = last[payload["inode"]].get(payload["from"])
        assert before is None or (payload["to"] >= before["to"] and not before["closed"])
        last[payload["inode"]][payload["from"]] = payload
    files = [content for content in writer.written if whole_lines(content)]
    for number, written in zip(sorted(puller.numbers), files, strict=True):
        assert stretches(last[number]) == received(puller.runs[number])
        for each in last[number].values():
            assert each["sha256"] == expected_hash(written[each["from"] : each["to"]])
            assert each["closed"] or each is last[number][max(last[number])]


def chain(records: list[dict], key: keys.HostKey) -> list[dict]:
    previous, payloads = "", []
    for number, record in enumerate(records, 1):
        assert keys.is_valid(base64.b64decode(key.public_key), record["payload"], record["signature"])
        payloads += each_range(json.loads(record["payload"]), record.get("earlier_ranges", ""))
        assert (payloads[-1]["sequence"], payloads[-1]["previous"]) == (number, previous)
        previous = hashlib.sha256(record["payload"].encode()).hexdigest()
    return payloads


def stretches(ranges: dict[int, dict]) -> list[tuple[int, int]]:
    return joined((each["from"], each["to"]) for _, each in sorted(ranges.items()))


def received(runs: dict[int, bytes]) -> list[tuple[int, int]]:
    return joined((offset, offset + len(lines)) for offset, lines in sorted(runs.items()))


def joined(parts) -> list[tuple[int, int]]:
    """Joins parts that are adjacent; fails if they overlap."""
    result: list[tuple[int, int]] = []
    for start, end in parts:
        assert not result or start >= result[-1][1]
        if result and start == result[-1][1]:
            start = result.pop()[0]
        result.append((start, end))
    return result


def test_the_ranges_of_a_file_are_those_that_the_census_would_sign(tmp_path):
    keys.create(tmp_path / "key")
    signer = RoundSigner("pull-test", tmp_path / "key")
    text = b"".join(b"%d%s\n" % (number, b"x" * (number % 700)) for number in range(300))
    fake = FakeRds(1, 5000, 20, 0)
    fake.write(LIVE, text)
    puller = Puller(RdsLogs(client_of(fake), "shop-db-1", LIVE))
    found = {}
    for _ in range(100):
        done = puller.visit(7000)
        for record in signer.sign({LOG: done}):
            for each in each_range(json.loads(record["payload"]), record.get("earlier_ranges", "")):
                found[each["from"]] = {name: each[name] for name in ("from", "to", "closed", "sha256")}
        puller.state = LogState.from_json(done.state.to_json())
        if done.is_complete:
            break
    assert list(found.values()) == divided(text, ended=False)


def test_a_state_of_another_key_is_not_continued_and_a_newer_one_not_read(tmp_path):
    keys.create(tmp_path / "key")
    signer = RoundSigner("pull-test", tmp_path / "key")
    signer.restore(json.dumps({"version": 2, "key": "0" * 16, "sequence": 7, "previous": "ab"}).encode())
    assert json.loads(signer.state())["sequence"] == 0
    with pytest.raises(StateError, match="version 5"):
        signer.restore(json.dumps({"version": 5}).encode())
